// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the connecting side, up to its REQ.
 *
 * rdma_cm resolves the address to a device and the route to a path; its id is used for
 * nothing else, because its own exchange would put a header of 36 bytes before ours.
 * The Hello then travels as the private data of a plain ib_cm REQ (wire section 5).
 */
#include <net/inet_sock.h>
#include <rdma/ib_cache.h>

#include "rc.h"

/*
 * How long an address is waited for before it is asked for anew (ms). ib_core does not hear of an
 * answer that comes before it listens, and looks again only when that time is over; the owner tries
 * again as long as it likes. A neighbour that is known by then is found at once.
 */
#define ADDRESS_MS	500

const struct sdp_link_events *rc_up;
struct workqueue_struct *rc_wq;
struct workqueue_struct *rc_stop_wq;

/**
 * rc_to_sockaddr() - an address as the RDMA core knows it, without its port
 * @ss: filled in
 * @e: the address
 */
void rc_to_sockaddr(struct sockaddr_storage *ss, const struct sdp_endpoint *e)
{
	memset(ss, 0, sizeof(*ss));
	if (sdp_is_v4(e)) {
		struct sockaddr_in *in = (struct sockaddr_in *)ss;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = sdp_v4(e);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

		in6->sin6_family = AF_INET6;
		in6->sin6_addr = e->ip;
		in6->sin6_scope_id = e->scope;
	}
}

static void from_sockaddr(struct sdp_endpoint *e,
			  const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET) {
		sdp_set_v4(e,
			   ((const struct sockaddr_in *)ss)->sin_addr.s_addr);
	} else {
		e->ip = ((const struct sockaddr_in6 *)ss)->sin6_addr;
		e->scope = ((const struct sockaddr_in6 *)ss)->sin6_scope_id;
	}
}

/* "No device" means, to a user of sockets, that there is no way to that network. */
static int route_error(int err)
{
	switch (err) {
	case -ENODEV:
	case -EADDRNOTAVAIL:
		return ENETUNREACH;
	case 0:
	case -EINVAL:
		return EHOSTUNREACH;
	default:
		return -err;
	}
}

static int send_req(struct rc_link *rc, const u8 *hello)
{
	struct rdma_route *route = &rc->rdma->route;
	struct ib_cm_req_param req = {
		.primary_path		= &route->path_rec[0],
		.ppath_sgid_attr	= route->addr.dev_addr.sgid_attr,
		.service_id		= cpu_to_be64(SDP_SERVICE_ID | rc->peer.port),
		.qp_num			= rc->qp->qp_num,
		.qp_type		= IB_QPT_RC,
		.starting_psn		= rc->psn,
		.private_data		= hello,
		.private_data_len	= SDP_HELLO_LEN,
		.responder_resources	= rc_device_reads(rc->dev),
		.initiator_depth	= min(RC_RD_ATOMIC, rc->dev->ib->attrs.max_qp_init_rd_atom),
		.remote_cm_response_timeout = RC_CM_TIMEOUT,
		.local_cm_response_timeout = RC_CM_TIMEOUT,
		.flow_control		= 1,
		.retry_count		= rc->config.retry,
		.rnr_retry_count	= rc->config.rnr_retry,
		.max_cm_retries		= RC_CM_RETRIES,
	};
	struct ib_cm_id *cm = ib_create_cm_id(rc->dev->ib, rc_cm_event, rc);
	int err;

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	rc->cm = cm;
	/* As ib_cm reckons: there and back, and the peer's own time in between. */
	rc->cm_wait = 2 * rc_cm_time(route->path_rec[0].packet_life_time) +
		      rc_cm_time(RC_CM_TIMEOUT);
	rc->asked = jiffies;
	set_bit(RC_ASKED, &rc->flags);
	err = ib_send_cm_req(cm, &req);
	if (err)
		clear_bit(RC_ASKED, &rc->flags);
	return err;
}

static int route_resolved(struct rc_link *rc)
{
	struct rdma_cm_id *id = rc->rdma;
	u8 hello[SDP_HELLO_LEN];
	int err;

	if (!rdma_cap_ib_cm(id->device, id->port_num) ||
	    !rdma_dev_access_netns(id->device, rc->net))
		return -ENODEV;
	rc->port = id->port_num;
	rc->pkey = be16_to_cpu(id->route.path_rec->pkey);
	from_sockaddr(&rc->local, &id->route.addr.src_addr);
	if (!rc_device_find_add_link(id->device, rc))
		return -ENODEV;
	err = rc_up->hello(&rc->link, &rc->local, hello);
	return err ? err : send_req(rc, hello);
}

static void resolve_step(struct rc_link *rc, int err, const char *place)
{
	if (err)
		rc_link_fail(rc, route_error(err), place);
}

/*
 * Always returns 0: the id is destroyed by the link's work item, so that one place owns
 * it. The device pointer of a removed device stays valid until then.
 */
static int resolve_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rc_link *rc = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		resolve_step(rc, rdma_resolve_route(id, rc->wish.timeout_ms),
			     "resolve route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		resolve_step(rc, route_resolved(rc), "connect request");
		rc_link_poke(rc, RC_ROUTE_DONE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rc_link_fail(rc, route_error(event->status),
			     rdma_event_msg(event->event));
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rc_link_fail(rc, ENETDOWN, "device removed");
		rc_link_poke(rc, RC_ROUTE_DONE);
		break;
	default:
		break;
	}
	return 0;
}

/**
 * rc_create() - a link that will connect
 * @net: namespace
 * @local: source address, may be a wildcard
 * @peer: where to
 *
 * Return: the link or NULL.
 */
struct sdp_link *rc_create(struct net *net, const struct sdp_endpoint *local,
			   const struct sdp_endpoint *peer)
{
	struct rc_link *rc = rc_link_alloc(net);

	if (!rc)
		return NULL;
	rc->local = *local;
	rc->peer = *peer;
	/* The caller is. */
	set_bit(RC_OWNED, &rc->flags);
	return &rc->link;
}

/**
 * rc_resolve() - find device and path; the rest follows from rdma_cm's events
 * @rc: link; called by its work item
 */
void rc_resolve(struct rc_link *rc)
{
	struct sockaddr_storage src, dst;
	unsigned int ms = min_t(unsigned int, rc->wish.timeout_ms, ADDRESS_MS);
	bool any = sdp_is_any(&rc->local);
	struct rdma_cm_id *id;

	id = rdma_create_id(rc->net, resolve_event, rc, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		rc_link_fail(rc, -PTR_ERR(id), "create id");
		return;
	}
	rc->rdma = id;
	id->route.addr.dev_addr.bound_dev_if = rc->wish.ifindex;
	if (rc->wish.tos)
		rdma_set_service_type(id, rc->wish.tos);
	rc_to_sockaddr(&src, &rc->local);
	rc_to_sockaddr(&dst, &rc->peer);
	resolve_step(rc,
		     rdma_resolve_addr(id, any ? NULL : (struct sockaddr *)&src,
				       (struct sockaddr *)&dst, ms),
		     "resolve address");
}

/**
 * rc_connect() - start connecting
 * @link: the link; under its owner's lock
 * @wish: how to get there
 */
void rc_connect(struct sdp_link *link, const struct sdp_path_wish *wish)
{
	to_rc(link)->wish = *wish;
	rc_link_poke(to_rc(link), RC_START);
}

/**
 * sdp_rc_init() - make the RC transport usable
 * @up: the layer above
 *
 * Return: 0 or an errno.
 */
int sdp_rc_init(const struct sdp_link_events *up)
{
	int err;

	rc_up = up;
	rc_wq = alloc_workqueue("sdp_rc", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rc_wq)
		return -ENOMEM;
	err = -ENOMEM;
	rc_stop_wq = alloc_workqueue("sdp_rc_stop", WQ_UNBOUND | WQ_MEM_RECLAIM,
				     RC_STOPS_MOST);
	if (!rc_stop_wq)
		goto no_queue;
	err = rc_device_init();
	if (err)
		goto no_devices;
	err = rc_fork_init();
	if (!err)
		return 0;
	rc_device_exit();
no_devices:
	destroy_workqueue(rc_stop_wq);
no_queue:
	destroy_workqueue(rc_wq);
	return err;
}

/**
 * sdp_rc_exit() - undo sdp_rc_init(); there are no sockets any more
 */
void sdp_rc_exit(void)
{
	rc_fork_exit();
	rc_device_exit();
	destroy_workqueue(rc_stop_wq);
	destroy_workqueue(rc_wq);
}
