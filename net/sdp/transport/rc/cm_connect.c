// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the connecting side, up to its REQ.
 *
 * The link's work item calls rc_resolve(). From there on the handler of an
 * rdma_cm id drives the connect: address resolved -> route resolved ->
 * up->hello -> REQ. The rdma_cm id only resolves the address to a device and
 * the route to a path. rdma_cm's own exchange would put a header of 36 bytes in
 * front of the Hello, so the Hello travels as the private data of a plain ib_cm
 * REQ (wire section 5). cm_accept.c handles the answer.
 *
 * A connect that fails calls rc_link_fail(); the owner then releases the link,
 * and link.c frees both CM ids.
 */
#include <rdma/ib_cache.h>

#include "../rdma_addr.h"
#include "rc.h"

/*
 * Time limit of one address resolution (ms). If a neighbour answers before
 * ib_core has begun to wait for the answer, ib_core notices that only when the
 * time limit expires. With a short limit the owner soon retries, until its own
 * deadline, and the retry finds the neighbour's entry at once.
 */
#define RC_ADDRESS_MS	500

static int rc_send_req(struct rc_link *rc, const u8 *hello)
{
	struct rdma_route *route = &rc->rdma->route;
	struct ib_cm_req_param req = {
		.primary_path = &route->path_rec[0],
		.ppath_sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = cpu_to_be64(SDP_SERVICE_ID | rc->peer.port),
		.qp_num = rc->qp->qp_num,
		.qp_type = IB_QPT_RC,
		.starting_psn = rc->psn,
		.private_data = hello,
		.private_data_len = SDP_HELLO_LEN,
		.responder_resources = rc_device_reads(rc->dev),
		.initiator_depth = min(RC_RD_ATOMIC,
				       rc->dev->ib->attrs.max_qp_init_rd_atom),
		.remote_cm_response_timeout = RC_CM_TIMEOUT,
		.local_cm_response_timeout = RC_CM_TIMEOUT,
		.flow_control = 1,
		.retry_count = rc->config.retry,
		.rnr_retry_count = rc->config.rnr_retry,
		.max_cm_retries = RC_CM_RETRIES,
	};
	struct ib_cm_id *cm = ib_create_cm_id(rc->dev->ib, rc_cm_event, rc);
	int err;

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	rc->cm = cm;
	/* As ib_cm computes it: two packet lifetimes and the peer's time. */
	rc->cm_wait = 2 * rc_cm_time(route->path_rec[0].packet_life_time) +
		      rc_cm_time(RC_CM_TIMEOUT);
	rc->asked = jiffies;
	set_bit(RC_ASKED, &rc->flags);
	err = ib_send_cm_req(cm, &req);
	if (err)
		clear_bit(RC_ASKED, &rc->flags);
	return err;
}

/* Attach the link to the device of its route, and send the Hello in a REQ. */
static int rc_route_resolved(struct rc_link *rc)
{
	struct rdma_cm_id *id = rc->rdma;
	bool iw = rc_iw_used(id->device, id->port_num);
	u8 hello[SDP_HELLO_LEN];
	int err;

	if ((!iw && !rdma_cap_ib_cm(id->device, id->port_num)) ||
	    (iw && !rc_iw_reaches(id->device, rc->net)) ||
	    !rdma_dev_access_netns(id->device, rc->net))
		return -ENODEV;
	rc->port = id->port_num;
	if (!iw)
		rc->pkey = be16_to_cpu(id->route.path_rec->pkey);
	sdp_from_sockaddr(&rc->local, &id->route.addr.src_addr);
	if (!rc_device_find_add_link(id->device, rc))
		return -ENODEV;
	err = rc->link.up->hello(&rc->link, &rc->local, hello);
	if (err)
		return err;
	return iw ? rc_iw_request(rc, hello) : rc_send_req(rc, hello);
}

/* Fail the link if a step towards the REQ has returned an error. */
static void rc_resolve_step(struct rc_link *rc, int err, const char *place)
{
	if (err)
		rc_link_fail(rc, sdp_route_error(err), place);
}

/*
 * Always returns 0, for an errno would make rdma_cm destroy the id. Only the
 * link's work item destroys it (RC_ROUTE_DONE). If the device is removed, its
 * pointer stays valid until then.
 */
static int rc_resolve_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rc_link *rc = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rc_resolve_step(rc, rdma_resolve_route(id, rc->wish.timeout_ms),
				"resolve route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rc_resolve_step(rc, rc_route_resolved(rc), "connect request");
		/* On iWARP the id keeps our TCP port. */
		if (!rc->iw)
			rc_link_poke(rc, RC_ROUTE_DONE);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rc_link_fail(rc, sdp_route_error(event->status),
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
 * rc_create() - make a link that will connect
 * @net: namespace
 * @local: source address, may be a wildcard
 * @peer: destination address and port
 *
 * May sleep. The caller becomes the owner and sets link->owner.
 *
 * Return: the link, or NULL when memory is short.
 */
struct sdp_link *rc_create(struct net *net, const struct sdp_endpoint *local,
			   const struct sdp_endpoint *peer)
{
	struct rc_link *rc = rc_link_alloc(net);

	if (!rc)
		return NULL;
	rc->local = *local;
	rc->peer = *peer;
	set_bit(RC_OWNED, &rc->flags);
	return &rc->link;
}

/**
 * rc_resolve() - start to resolve the address of the peer
 * @rc: link
 *
 * Called by the link's work item. The next steps follow in rdma_cm's event
 * handler.
 */
void rc_resolve(struct rc_link *rc)
{
	struct sockaddr_storage src, dst;
	unsigned int ms = min_t(unsigned int, rc->wish.timeout_ms,
				RC_ADDRESS_MS);
	bool any = sdp_is_any(&rc->local);
	struct rdma_cm_id *id;

	id = rdma_create_id(rc->net, rc_resolve_event, rc, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id)) {
		rc_link_fail(rc, -PTR_ERR(id), "create rdma_cm id");
		return;
	}
	rc->rdma = id;
	id->route.addr.dev_addr.bound_dev_if = rc->wish.ifindex;
	if (rc->wish.tos)
		rdma_set_service_type(id, rc->wish.tos);
	sdp_to_sockaddr(&src, &rc->local);
	sdp_to_sockaddr(&dst, &rc->peer);
	rc_resolve_step(rc,
			rdma_resolve_addr(id,
					  any ? NULL : (struct sockaddr *)&src,
					  (struct sockaddr *)&dst, ms),
			"resolve address");
}

/**
 * rc_connect() - start to connect
 * @link: the link; under its owner's lock
 * @wish: restrictions for the path
 */
void rc_connect(struct sdp_link *link, const struct sdp_path_wish *wish)
{
	to_rc(link)->wish = *wish;
	rc_link_poke(to_rc(link), RC_START);
}
