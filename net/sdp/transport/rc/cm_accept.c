// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the accepting side, and ib_cm events of both sides.
 *
 * A REQ that arrives at a listener: Hello parsed -> interface and namespace
 * found -> addresses and MTU checked (origin.c) -> link made -> up->incoming
 * -> REP. Any failure before the REP is answered by a REJ. After that,
 * rc_cm_event() handles the events of the link's CM id, as it does on the
 * connecting side: REP, RTU, REJ, DREQ and timeouts.
 *
 * The CM calls handlers in process context, one at a time per CM id. A handler
 * never waits for the work item of a link that has an owner, because the work
 * item waits for the handler when it destroys the CM id.
 */
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "../origin.h"
#include "rc.h"

/*
 * Parse the Hello of a request. Returns what is wrong with the request, if
 * anything. rc_check_origin() checks whether the addresses can be true.
 */
static enum sdp_violation rc_read_hello(const struct ib_cm_event *event,
					struct rc_listener *l,
					struct sdp_incoming *in)
{
	enum sdp_violation bad;

	bad = sdp_hello_parse(event->private_data, IB_CM_REQ_PRIVATE_DATA_SIZE,
			      &in->hello);
	if (bad)
		return bad;
	sdp_ip_from_wire(&in->local, in->hello.dst, in->hello.ip_version);
	sdp_ip_from_wire(&in->peer, in->hello.src, in->hello.ip_version);
	in->local.port = l->port;
	in->peer.port = in->hello.port;
	/* Rails join at port 0. */
	if (in->hello.rails.join && l->port)
		return SDP_BAD_HELLO;
	return event->param.req_rcvd.qp_type == IB_QPT_RC ? SDP_VALID :
							    SDP_BAD_HELLO;
}

/*
 * Check that the addresses of a request can be true, and set their scope. @bad
 * is the result of rc_read_hello(). Returns 0, or the errno with which the
 * request is refused; the violation is then counted.
 */
static int rc_check_origin(const struct ib_cm_req_event_param *req,
			   struct ib_device *ib, struct net_device *ndev,
			   struct sdp_incoming *in, enum sdp_violation bad)
{
	int err = 0;

	if (bad) {
		err = -EPROTO;
	} else if (!rc_origin_true(req, ib, ndev, in)) {
		bad = SDP_BAD_HELLO;
		err = -EPROTO;
	} else if (!sdp_origin_reachable(ndev, in)) {
		bad = SDP_BAD_HELLO;
		err = -EHOSTUNREACH;
	}
	if (err) {
		rc_up->malformed(in->net, bad);
		return err;
	}
	in->ifindex = ndev->ifindex;
	if (ipv6_addr_type(&in->local.ip) & IPV6_ADDR_LINKLOCAL)
		in->local.scope = in->ifindex;
	in->peer.scope = in->local.scope;
	return 0;
}

/*
 * The positive errno for an error of an ib_cm call. -EINVAL means that the call
 * does not fit the state of the CM id: a message of the peer has changed the
 * state since the event that we handle. The peer has given up, and its message
 * is the next event.
 */
static int rc_cm_error(int err)
{
	return err == -EINVAL ? ECONNRESET : -err;
}

/*
 * Our REQ or REP has been answered, or never will be. If the link was released
 * and its work item waits for the answer, the work item continues now.
 */
static void rc_cm_answered(struct rc_link *rc)
{
	/*
	 * Fully ordered; pairs with the barrier in link.c after RC_AWAITED is
	 * set.
	 */
	if (test_and_clear_bit(RC_AWAITED, &rc->flags))
		rc_link_wake(rc);
}

static int rc_send_rep(struct rc_link *rc,
		       const struct ib_cm_req_event_param *req,
		       const struct sdp_incoming *in)
{
	struct ib_device *ib = rc->dev->ib;
	struct ib_cm_rep_param rep = {
		.qp_num = rc->qp->qp_num,
		.starting_psn = rc->psn,
		.private_data = in->ack,
		.private_data_len = SDP_HELLO_ACK_LEN,
		.responder_resources = min_t(int, req->responder_resources,
					     rc_device_reads(rc->dev)),
		.initiator_depth = min3((int)req->initiator_depth, RC_RD_ATOMIC,
					ib->attrs.max_qp_init_rd_atom),
		.flow_control = req->flow_control,
		.rnr_retry_count = min_t(u8, req->rnr_retry_count,
					 rc->config.rnr_retry),
	};
	int err = rc_qp_ready(rc);

	if (err)
		return err;
	/* Set this first: the link may be released once the REP is sent. */
	rc->asked = jiffies;
	/*
	 * Fully ordered: either link.c sees RC_ASKED and waits for the answer,
	 * or we see RC_RELEASED here and send no REP.
	 */
	test_and_set_bit(RC_ASKED, &rc->flags);
	if (test_bit(RC_RELEASED, &rc->flags)) {
		clear_bit(RC_ASKED, &rc->flags);
		rc_cm_answered(rc);
		return 0;
	}
	err = ib_send_cm_rep(rc->cm, &rep);
	if (err)
		clear_bit(RC_ASKED, &rc->flags);
	return err;
}

static enum ib_cm_rej_reason rc_reject_reason(int err)
{
	switch (err) {
	case -ECONNREFUSED:
		return IB_CM_REJ_INVALID_SERVICE_ID;
	case -EPROTO:
		return IB_CM_REJ_CONSUMER_DEFINED;
	case -EHOSTUNREACH:
		return IB_CM_REJ_INVALID_GID;
	case -EMSGSIZE:
		return IB_CM_REJ_INVALID_MTU;
	default:
		return IB_CM_REJ_NO_RESOURCES;
	}
}

/**
 * rc_reject() - refuse a request by a REJ
 * @cm: CM id of the request
 * @reason: reason code of the REJ
 *
 * Return: the errno that the CM handler returns; the CM then destroys @cm.
 */
int rc_reject(struct ib_cm_id *cm, enum ib_cm_rej_reason reason)
{
	ib_send_cm_rej(cm, reason, NULL, 0, NULL, 0);
	return -ECONNREFUSED;
}

/*
 * Make a link for a request, find its owner and send the REP. Returns 0, or an
 * errno with which the caller refuses the request.
 */
static int rc_accept_request(struct rc_listener *l, struct ib_cm_id *cm,
			     const struct ib_cm_req_event_param *req,
			     struct sdp_incoming *in)
{
	struct rc_link *rc = rc_link_alloc(in->net);
	int err;

	if (!rc)
		return -ENOMEM;
	rc->local = in->local;
	rc->peer = in->peer;
	rc->port = req->port;
	rc->pkey = be16_to_cpu(req->primary_path->pkey);
	rc->cm_wait = rc_cm_time(req->remote_cm_response_timeout);
	if (!rc_device_add_link(l->dev, rc)) {
		rc_link_discard(rc);
		return -ENETDOWN;
	}
	/*
	 * Set the CM id first: once the link has an owner, it may be released
	 * at any time. Its work item then destroys the CM id, which waits for
	 * this handler.
	 */
	rc->cm = cm;
	cm->context = rc;
	cm->cm_handler = rc_cm_event;
	err = rc_incoming(&rc->link, in);
	if (err) {
		rc->cm = NULL;
		rc_link_discard(rc);
		return err;
	}
	rc_link_owned(rc);
	err = rc_send_rep(rc, req, in);
	if (err) {
		/*
		 * Send the REJ first. After rc_link_fail() the queue pair is
		 * drained before the CM id is destroyed. Without the REJ, the
		 * peer would resend its REQ all that time.
		 */
		rc_reject(cm, rc_reject_reason(err));
		rc_link_fail(rc, rc_cm_error(err), "connect reply");
	}
	return 0;
}

static int rc_request_from(struct rc_listener *l, struct ib_cm_id *cm,
			   const struct ib_cm_req_event_param *req,
			   struct net_device *ndev, struct sdp_incoming *in,
			   enum sdp_violation bad)
{
	int err;

	in->net = sdp_origin_net(l->dev->ib, ndev);
	if (!in->net)
		return -ECONNREFUSED;
	err = rc_check_origin(req, l->dev->ib, ndev, in, bad);
	if (!err && !rc_origin_mtu_fits(req, l->dev->ib, ndev))
		err = -EMSGSIZE;
	if (!err)
		err = rc_accept_request(l, cm, req, in);
	put_net(in->net);
	return err;
}

static int rc_request_received(struct rc_listener *l, struct ib_cm_id *cm,
			       const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *req = &event->param.req_rcvd;
	struct sdp_incoming *in = kzalloc(sizeof(*in), GFP_KERNEL);
	struct net_device *ndev;
	enum sdp_violation bad;
	int err = -ECONNREFUSED;

	if (!in)
		return rc_reject(cm, rc_reject_reason(-ENOMEM));
	bad = rc_read_hello(event, l, in);
	ndev = rc_origin_dev(req, l->dev->ib, &in->local);
	/* Port 0 is for nothing else; a program may try to connect to it. */
	if (ndev && (bad || l->port || in->hello.rails.join))
		err = rc_request_from(l, cm, req, ndev, in, bad);
	dev_put(ndev);
	kfree(in);
	return err ? rc_reject(cm, rc_reject_reason(err)) : 0;
}

/**
 * rc_listen_event() - CM event handler of a listener
 * @cm: CM id of the new request; its context is the listener
 * @event: the event
 *
 * Return: 0, or an errno that makes the CM destroy @cm.
 */
int rc_listen_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct rc_listener *l = cm->context;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		return rc_request_received(l, cm, event);
	case IB_CM_SIDR_REQ_RECEIVED:
		return rc_sidr(l->dev->ib, cm, event);
	default:
		return -EINVAL;
	}
}

/*
 * Return the positive errno for the peer's REJ. EAGAIN, for a full backlog or
 * missing resources, is the only one after which a new attempt may succeed.
 */
static int rc_reject_error(enum ib_cm_rej_reason reason)
{
	switch (reason) {
	case IB_CM_REJ_NO_RESOURCES:
	case IB_CM_REJ_NO_QP:
	case IB_CM_REJ_STALE_CONN:
		return EAGAIN;
	case IB_CM_REJ_TIMEOUT:
		return ETIMEDOUT;
	case IB_CM_REJ_INVALID_GID:
	case IB_CM_REJ_INVALID_LID:
		return EHOSTUNREACH;
	case IB_CM_REJ_INVALID_MTU:
		return EMSGSIZE;
	default:
		return ECONNREFUSED;
	}
}

/**
 * rc_cm_connected() - note that the CM has a connection, or is about to
 * @rc: link
 *
 * The queue pair may be in error already: the peer can send, and cause an
 * error, before its RTU arrives.
 */
void rc_cm_connected(struct rc_link *rc)
{
	set_bit(RC_CONNECTED, &rc->flags);
	/*
	 * Pairs with qp.c, which sets RC_FLUSHED and then tests RC_CONNECTED:
	 * one of the two sees the other's flag and wakes the work item.
	 */
	smp_mb__after_atomic();
	if (test_bit(RC_FLUSHED, &rc->flags))
		rc_link_wake(rc);
}

/* Send the RTU; if memory is short, the work item sends it later. */
static int rc_cm_send_rtu(struct rc_link *rc)
{
	int err = ib_send_cm_rtu(rc->cm, NULL, 0);

	if (err != -ENOMEM)
		return err;
	rc_link_poke(rc, RC_RTU);
	return 0;
}

/*
 * Handle the REP that the connecting side has got. Send the RTU last: the peer
 * may send as soon as it has the RTU, and the owner must have the HelloAck
 * before the first message.
 */
static int rc_take_reply(struct rc_link *rc, const struct ib_cm_event *event)
{
	int err;

	if (test_bit(RC_RELEASED, &rc->flags))
		return ib_send_cm_rej(rc->cm, IB_CM_REJ_CONSUMER_DEFINED, NULL,
				      0, NULL, 0);
	err = rc_qp_ready(rc);
	if (err)
		return err;
	rc_cm_connected(rc);
	rc->link.up->hello_ack(&rc->link, event->private_data,
			 IB_CM_REP_PRIVATE_DATA_SIZE);
	return rc_cm_send_rtu(rc);
}

static void rc_reply_received(struct rc_link *rc,
			      const struct ib_cm_event *event)
{
	int err;

	set_bit(RC_ANSWERING, &rc->flags);
	/*
	 * Fully ordered: link.c sees RC_ASKED cleared only after RC_ANSWERING
	 * is set, and so sends no DREQ while we handle the REP.
	 */
	test_and_clear_bit(RC_ASKED, &rc->flags);
	err = rc_take_reply(rc, event);
	clear_bit(RC_ANSWERING, &rc->flags);
	if (err)
		rc_link_fail(rc, rc_cm_error(err), "connect reply");
	rc_cm_answered(rc);
}

static void rc_cm_rejected(struct rc_link *rc, const struct ib_cm_event *event)
{
	clear_bit(RC_ASKED, &rc->flags);
	if (test_bit(RC_CONNECTED, &rc->flags) ||
	    test_bit(RC_TOLD, &rc->flags) || test_bit(RC_RELEASED, &rc->flags))
		rc_link_poke(rc, RC_PEER_ENDED);
	else
		rc_link_fail(rc, rc_reject_error(event->param.rej_rcvd.reason),
			     "rejected");
}

/* The peer's DREQ. The field for private data is zero where it says nothing. */
static void rc_peer_disconnects(struct rc_link *rc, const u8 *data)
{
	if (data && *data == RC_DREQ_RAIL)
		WRITE_ONCE(rc->link.one_of_many, true);
}

/**
 * rc_cm_event() - CM event handler of a link, of either side
 * @cm: CM id of the link; its context is the link
 * @event: the event
 *
 * Return: 0, so that the CM keeps the id; the link's work item destroys it.
 */
int rc_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct rc_link *rc = cm->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		rc_reply_received(rc, event);
		break;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		rc_cm_connected(rc);
		rc->link.up->established(&rc->link);
		rc_cm_answered(rc);
		break;
	case IB_CM_REJ_RECEIVED:
		rc_cm_rejected(rc, event);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
		clear_bit(RC_ASKED, &rc->flags);
		rc_link_fail(rc, ETIMEDOUT, "no answer");
		break;
	case IB_CM_DREQ_RECEIVED:
		rc_peer_disconnects(rc, event->private_data);
		ib_send_cm_drep(cm, NULL, 0);
		fallthrough;
	case IB_CM_DREP_RECEIVED:
	case IB_CM_DREQ_ERROR:
	case IB_CM_TIMEWAIT_EXIT:
		rc_link_poke(rc, RC_PEER_ENDED);
		break;
	default:
		break;
	}
	return 0;
}
