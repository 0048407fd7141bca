// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: the connecting side, up to its first Open.
 *
 * As the RC transport does, rdma_cm resolves the peer's address to a device and
 * a path. Then ib_cm asks the peer's CM for the queue pairs of its datagram
 * service (SIDR), by the service id of the port that we connect to, unless a
 * connection to this peer exists already (peer.c). A peer that
 * has no such service, or where nobody listens, refuses at once. The owner then
 * tries the RC transport, which finds out which of these is the case.
 *
 * The handlers of both ids run in process context. The link's work item
 * destroys the ids, which waits for their handlers.
 */
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "../rdma_addr.h"
#include "ud.h"

/* Time limit of an address resolution (ms); see cm_connect.c. */
#define ADDRESS_MS	500

/* What a failure of a step means to the owner: try the RC transport. */
#define NO_SERVICE	EPROTONOSUPPORT

/*
 * The queue pairs are known: get the Hello, and send the first Open, which is
 * repeated up to @retries times.
 */
static void open_begin(struct ud_link *l, const struct sdp_service *service,
		       u8 retries)
{
	struct ud_connect *c = l->connect;
	int err = -ECONNABORTED;

	l->size = min_t(u32, l->size, service->size);
	l->qpn = service->qpn[get_random_u32() % service->qps];
	if (ud_link_enter(l)) {
		err = l->link.up->hello(&l->link, &l->local, c->hello);
		ud_link_leave(l);
	}
	if (err) {
		ud_link_fail(l, -err, "datagram connect");
		return;
	}
	spin_lock_bh(&l->lock);
	if (l->phase == UD_RESOLVING) {
		l->phase = UD_OPENING;
		sdp_opening_init(&c->opening, retries ?: l->retries);
		ud_look(l);
	}
	spin_unlock_bh(&l->lock);
	ud_qp_run(l->qp);
}

static void sidr_replied(struct ud_link *l, const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_rep_event_param *rep =
		&event->param.sidr_rep_rcvd;
	struct sdp_service service;

	if (rep->status != IB_SIDR_SUCCESS || rep->qkey != UD_QKEY ||
	    sdp_service_parse(event->private_data,
			      IB_CM_SIDR_REP_PRIVATE_DATA_SIZE, &service)) {
		ud_link_fail(l, NO_SERVICE, "no datagram service");
		return;
	}
	ud_peer_learn(l->peer, &service);
	open_begin(l, &service, 0);
}

/* Returns 0, so that the CM keeps the id; the work item destroys it. */
static int sidr_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct ud_link *l = cm->context;

	switch (event->event) {
	case IB_CM_SIDR_REP_RECEIVED:
		sidr_replied(l, event);
		ud_link_poke(l, UD_ASKED);
		break;
	case IB_CM_SIDR_REQ_ERROR:
		ud_link_fail(l, ETIMEDOUT, "no answer to SIDR");
		ud_link_poke(l, UD_ASKED);
		break;
	default:
		break;
	}
	return 0;
}

static int send_sidr(struct ud_link *l)
{
	struct rdma_route *route = &l->connect->rdma->route;
	struct ib_cm_sidr_req_param req = {
		.path = &route->path_rec[0],
		.sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = cpu_to_be64(SDP_SERVICE_ID | l->remote.port),
		.timeout_ms = UD_SIDR_MS,
		.max_cm_retries = UD_SIDR_TRIES,
	};
	struct ib_cm_id *cm = ib_create_cm_id(l->connect->rdma->device,
					      sidr_event, l);

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	l->connect->cm = cm;
	return ib_send_cm_sidr_req(cm, &req);
}

static struct ud_peer *peer_of_route(struct ud_port *port,
				     struct rdma_cm_id *id)
{
	struct rdma_route *route = &id->route;
	struct rdma_ah_attr attr;
	struct ud_peer *peer;

	if (ib_init_ah_attr_from_path(id->device, id->port_num,
				      &route->path_rec[0], &attr,
				      route->addr.dev_addr.sgid_attr))
		return NULL;
	peer = ud_peer_get(port, &attr);
	rdma_destroy_ah_attr(&attr);
	return peer;
}

/* Attach the link to the port of its route, and ask for the queue pairs. */
static int use_port(struct ud_link *l, struct ud_port *port)
{
	struct rdma_cm_id *id = l->connect->rdma;
	struct ud_qp *qp = &port->qp[get_random_u32() % port->qps];
	struct sdp_service service;

	l->peer = peer_of_route(port, id);
	if (!l->peer)
		return -NO_SERVICE;
	l->size = min_t(u32, port->size,
			ib_mtu_enum_to_int(id->route.path_rec->mtu));
	sdp_from_sockaddr(&l->local, &id->route.addr.src_addr);
	if (!ud_port_attach(port, qp, l))
		return -ENODEV;
	/* An earlier connection has asked. */
	if (!ud_peer_service(l->peer, &service))
		return send_sidr(l);
	open_begin(l, &service, UD_KNOWN_RETRIES);
	return 0;
}

static int route_resolved(struct ud_link *l)
{
	struct rdma_cm_id *id = l->connect->rdma;
	struct ud_port *port;
	int err;

	if (!rdma_dev_access_netns(id->device, l->net))
		return -ENODEV;
	port = ud_port_get(id->device, id->port_num);
	if (!port)
		return -NO_SERVICE;
	err = use_port(l, port);
	ud_port_put(port);
	return err;
}

static void step(struct ud_link *l, int err, const char *place)
{
	if (err)
		ud_link_fail(l, sdp_route_error(err), place);
}

/* Always returns 0: only the link's work item destroys the id. */
static int resolve_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct ud_link *l = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		step(l, rdma_resolve_route(id, l->connect->wish.timeout_ms),
		     "resolve route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		step(l, route_resolved(l), "service request");
		ud_link_poke(l, UD_ROUTED);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		ud_link_fail(l, sdp_route_error(event->status),
			     rdma_event_msg(event->event));
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		ud_link_fail(l, ENETDOWN, "device removed");
		ud_link_poke(l, UD_ROUTED);
		break;
	default:
		break;
	}
	return 0;
}

/**
 * ud_resolve() - start to resolve the address of the peer
 * @l: link
 *
 * Called by the link's work item. The next steps follow in handlers.
 */
void ud_resolve(struct ud_link *l)
{
	const struct sdp_path_wish *wish = &l->connect->wish;
	bool any = sdp_is_any(&l->local);
	struct sockaddr_storage src, dst;
	struct rdma_cm_id *id;

	id = rdma_create_id(l->net, resolve_event, l, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(id)) {
		ud_link_fail(l, -PTR_ERR(id), "create rdma_cm id");
		return;
	}
	l->connect->rdma = id;
	id->route.addr.dev_addr.bound_dev_if = wish->ifindex;
	if (wish->tos)
		rdma_set_service_type(id, wish->tos);
	sdp_to_sockaddr(&src, &l->local);
	sdp_to_sockaddr(&dst, &l->remote);
	step(l, rdma_resolve_addr(id, any ? NULL : (struct sockaddr *)&src,
				  (struct sockaddr *)&dst,
				  min_t(unsigned int, wish->timeout_ms,
					ADDRESS_MS)),
	     "resolve address");
}

/* Is nothing left that needs what only a connecting link has? */
static bool opened(struct ud_link *l)
{
	bool open;

	spin_lock_bh(&l->lock);
	open = l->phase != UD_RESOLVING && l->phase != UD_OPENING;
	spin_unlock_bh(&l->lock);
	return open && !l->connect->rdma && !l->connect->cm;
}

/**
 * ud_resolve_forget() - destroy the ids of a link that are not needed any more
 * @l: link
 * @all: needed or not
 *
 * Called by the link's work item. Waits for handlers.
 */
void ud_resolve_forget(struct ud_link *l, bool all)
{
	struct ud_connect *c = l->connect;

	if (!c)
		return;
	if (c->rdma && (all || test_bit(UD_ROUTED, &l->flags))) {
		rdma_destroy_id(c->rdma);
		c->rdma = NULL;
	}
	if (c->cm && (all || test_bit(UD_ASKED, &l->flags))) {
		ib_destroy_cm_id(c->cm);
		c->cm = NULL;
	}
	if (!opened(l))
		return;
	l->connect = NULL;
	kfree(c);
}
