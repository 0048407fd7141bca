// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the accepting side, from REQ to REP; and the CM events of a link.
 *
 * CM handlers run in process context, one at a time per CM id. They never wait for the work item
 * of a link that has an owner, which waits for them.
 */
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "rc.h"

/* The namespace of the interface; a reference is taken. */
static struct net *request_net(struct ib_device *ib, struct net_device *ndev)
{
	struct net *net = NULL;

	rcu_read_lock();
	/* One that is down may be on its way to another namespace. */
	if (ndev->flags & IFF_UP)
		net = maybe_get_net(dev_net(ndev));
	rcu_read_unlock();
	if (net && !rdma_dev_access_netns(ib, net)) {
		put_net(net);
		net = NULL;
	}
	return net;
}

/* What the peer says. Whether its addresses can be true is not known yet. */
static enum sdp_violation read_hello(const struct ib_cm_event *event,
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
	return event->param.req_rcvd.qp_type == IB_QPT_RC ? SDP_VALID :
							    SDP_BAD_HELLO;
}

/*
 * Returns 0, or why the request is refused; what is the peer's fault is
 * counted.
 */
static int check_origin(const struct ib_cm_req_event_param *req,
			struct ib_device *ib, struct net_device *ndev,
			struct sdp_incoming *in, enum sdp_violation bad)
{
	int err = 0;

	if (bad) {
		err = -EPROTO;
	} else if (!rc_origin_true(req, ib, ndev, in)) {
		bad = SDP_BAD_HELLO;
		err = -EPROTO;
	} else if (!rc_origin_reachable(ndev, in)) {
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
 * The CM refuses what does not fit its state, which a message of the peer may have changed since
 * the event at hand: the peer has given up, and its message will be the next event.
 */
static int cm_error(int err)
{
	return err == -EINVAL ? ECONNRESET : -err;
}

/* The answer has come, or none will. If the link was released meanwhile, its work item goes on. */
static void answered(struct rc_link *rc)
{
	/* Fully ordered, pairs with the barrier in await_answer(). */
	if (test_and_clear_bit(RC_AWAITED, &rc->flags))
		rc_link_wake(rc);
}

static int send_rep(struct rc_link *rc, const struct ib_cm_req_event_param *req,
		    const struct sdp_incoming *in)
{
	struct ib_device *ib = rc->dev->ib;
	struct ib_cm_rep_param rep = {
		.qp_num			= rc->qp->qp_num,
		.starting_psn		= rc->psn,
		.private_data		= in->ack,
		.private_data_len	= SDP_HELLO_ACK_LEN,
		.responder_resources	= min_t(int, req->responder_resources,
						rc_device_reads(rc->dev)),
		.initiator_depth	= min3((int)req->initiator_depth, RC_RD_ATOMIC,
					       ib->attrs.max_qp_init_rd_atom),
		.flow_control		= req->flow_control,
		.rnr_retry_count	= min_t(u8, req->rnr_retry_count, rc->config.rnr_retry),
	};
	int err = rc_qp_ready(rc);

	if (err)
		return err;
	/* Before, because the link may be released as soon as it is sent. */
	rc->asked = jiffies;
	/* Fully ordered: if the link is released already, nobody waits for an answer. */
	test_and_set_bit(RC_ASKED, &rc->flags);
	if (test_bit(RC_RELEASED, &rc->flags)) {
		clear_bit(RC_ASKED, &rc->flags);
		answered(rc);
		return 0;
	}
	err = ib_send_cm_rep(rc->cm, &rep);
	if (err)
		clear_bit(RC_ASKED, &rc->flags);
	return err;
}

static enum ib_cm_rej_reason reject_reason(int err)
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
 * rc_reject() - refuse a request
 * @cm: its id
 * @reason: why
 *
 * Return: what the handler shall return, so that the CM destroys the id.
 */
int rc_reject(struct ib_cm_id *cm, enum ib_cm_rej_reason reason)
{
	ib_send_cm_rej(cm, reason, NULL, 0, NULL, 0);
	return -ECONNREFUSED;
}

static int accept_request(struct rc_listener *l, struct ib_cm_id *cm,
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
	 * Once it has an owner, the link may be released at any time, and its work item
	 * destroys the CM id, which waits for this handler.
	 */
	rc->cm = cm;
	cm->context = rc;
	cm->cm_handler = rc_cm_event;
	err = rc_up->incoming(&rc->link, in);
	if (err) {
		rc->cm = NULL;
		rc_link_discard(rc);
		return err;
	}
	rc_link_owned(rc);
	err = send_rep(rc, req, in);
	if (err) {
		/* First: until the queue pair is drained, the peer would repeat its REQ in vain. */
		rc_reject(cm, reject_reason(err));
		rc_link_fail(rc, cm_error(err), "connect reply");
	}
	return 0;
}

static int request_from(struct rc_listener *l, struct ib_cm_id *cm,
			const struct ib_cm_req_event_param *req,
			struct net_device *ndev, struct sdp_incoming *in,
			enum sdp_violation bad)
{
	int err;

	in->net = request_net(l->dev->ib, ndev);
	if (!in->net)
		return -ECONNREFUSED;
	err = check_origin(req, l->dev->ib, ndev, in, bad);
	if (!err && !rc_origin_mtu_fits(req, l->dev->ib, ndev))
		err = -EMSGSIZE;
	if (!err)
		err = accept_request(l, cm, req, in);
	put_net(in->net);
	return err;
}

static int request_received(struct rc_listener *l, struct ib_cm_id *cm,
			    const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *req = &event->param.req_rcvd;
	struct sdp_incoming *in = kzalloc(sizeof(*in), GFP_KERNEL);
	struct net_device *ndev;
	enum sdp_violation bad;
	int err = -ECONNREFUSED;

	if (!in)
		return rc_reject(cm, reject_reason(-ENOMEM));
	bad = read_hello(event, l, in);
	ndev = rc_origin_dev(req, l->dev->ib, &in->local);
	if (ndev)
		err = request_from(l, cm, req, ndev, in, bad);
	dev_put(ndev);
	kfree(in);
	return err ? rc_reject(cm, reject_reason(err)) : 0;
}

/**
 * rc_listen_event() - CM handler of a listener
 * @cm: id of the new request
 * @event: what has come
 *
 * Return: 0, or an errno to have @cm destroyed.
 */
int rc_listen_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct rc_listener *l = cm->context;

	if (event->event != IB_CM_REQ_RECEIVED)
		return -EINVAL;
	return request_received(l, cm, event);
}

/* A full backlog is the one refusal that asking again can change. */
static int reject_error(enum ib_cm_rej_reason reason)
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

/* The queue pair may be in error already: a peer may misbehave before its RTU comes. */
static void connected(struct rc_link *rc)
{
	set_bit(RC_CONNECTED, &rc->flags);
	/* Who flushes sees that it is connected, or is seen here: pairs with flushed(). */
	smp_mb__after_atomic();
	if (test_bit(RC_FLUSHED, &rc->flags))
		rc_link_wake(rc);
}

/* Without memory the work item does it, again and again. */
static int send_rtu(struct rc_link *rc)
{
	int err = ib_send_cm_rtu(rc->cm, NULL, 0);

	if (err != -ENOMEM)
		return err;
	rc_link_poke(rc, RC_RTU);
	return 0;
}

/*
 * The peer may send as soon as it has our RTU, and its first message must not come to somebody
 * who does not know yet how it answered: so the RTU goes last.
 */
static int take_reply(struct rc_link *rc, const struct ib_cm_event *event)
{
	int err;

	if (test_bit(RC_RELEASED, &rc->flags))
		return ib_send_cm_rej(rc->cm, IB_CM_REJ_CONSUMER_DEFINED, NULL,
				      0, NULL, 0);
	err = rc_qp_ready(rc);
	if (err)
		return err;
	connected(rc);
	rc_up->hello_ack(&rc->link, event->private_data,
			 IB_CM_REP_PRIVATE_DATA_SIZE);
	return send_rtu(rc);
}

static void reply_received(struct rc_link *rc, const struct ib_cm_event *event)
{
	int err;

	set_bit(RC_ANSWERING, &rc->flags);
	/* Fully ordered: who sees that there is an answer sees that it is dealt with. */
	test_and_clear_bit(RC_ASKED, &rc->flags);
	err = take_reply(rc, event);
	clear_bit(RC_ANSWERING, &rc->flags);
	if (err)
		rc_link_fail(rc, cm_error(err), "connect reply");
	answered(rc);
}

static void rejected(struct rc_link *rc, const struct ib_cm_event *event)
{
	clear_bit(RC_ASKED, &rc->flags);
	if (test_bit(RC_CONNECTED, &rc->flags) ||
	    test_bit(RC_TOLD, &rc->flags) || test_bit(RC_RELEASED, &rc->flags))
		rc_link_poke(rc, RC_PEER_ENDED);
	else
		rc_link_fail(rc, reject_error(event->param.rej_rcvd.reason),
			     "rejected");
}

/**
 * rc_cm_event() - CM handler of a link
 * @cm: its id
 * @event: what has come
 *
 * Return: 0; the link's work item destroys the id.
 */
int rc_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct rc_link *rc = cm->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		reply_received(rc, event);
		break;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		connected(rc);
		rc_up->established(&rc->link);
		answered(rc);
		break;
	case IB_CM_REJ_RECEIVED:
		rejected(rc, event);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
		/* There will be no answer. */
		clear_bit(RC_ASKED, &rc->flags);
		rc_link_fail(rc, ETIMEDOUT, "no answer");
		break;
	case IB_CM_DREQ_RECEIVED:
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
