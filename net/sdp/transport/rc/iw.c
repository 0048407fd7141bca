// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: connections over iWARP, by iw_cm.
 *
 * On iWARP a connection is a TCP connection between the adapters. Hello and
 * HelloAck are private data of the MPA request and reply that begin it. All
 * ports of SDP share one TCP port, and the request names the port of SDP in
 * front of the Hello: so SDP and TCP keep separate ports on iWARP, too, and the
 * listener's own TCP socket is in nobody's way (wire section 5).
 *
 * Connecting side: cm_connect.c resolves the route -> rc_iw_request() -> a
 * thread calls iw_cm_connect() -> CONNECT_REPLY. On soft-iWARP the call waits
 * for TCP's handshake, for minutes if the host does not answer. So it has a
 * thread of its own, which ends the wait on a signal. Accepting side:
 * CONNECT_REQUEST at the listener of the device -> link made -> up->incoming ->
 * iw_cm_accept() -> ESTABLISHED. A connection ends for both sides with CLOSE.
 *
 * The accepting side sends nothing before the first message of the connecting
 * side has arrived, as MPA demands: before that, the peer may not have taken
 * the reply yet. So the connecting side sends a message at once
 * (sdp_link.greets), and the accepting side is established by it.
 *
 * iw_cm calls handlers in process context, one after the other. To destroy an
 * id is to wait for its handlers (in 6.1 since 6.1.103), and for a connect or
 * an accept until it has been answered. So link.c destroys the id of a link
 * only after that (rc_iw_disconnect()). No handler takes rc_mutex.
 *
 * What iWARP lacks, compared with ib_cm: a completed send has not arrived but
 * is TCP's, and a write is not answered. So a probe is a read, and before the
 * connection ends a read shows that all sends have arrived. A queue pair that
 * only registers memory would need a connection: data goes in messages.
 *
 * soft-iWARP uses TCP sockets of the kernel, which are in the initial network
 * namespace: it serves no other one.
 */
#include <linux/inetdevice.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/iw_cm.h>

#include "../../proto/wire_bytes.h"
#include "../origin.h"
#include "../rdma_addr.h"
#include "rc.h"

/* Port of SDP and two bytes of zeros, in front of the Hello. */
#define IW_PORT_LEN	4
#define IW_REQUEST_LEN	(IW_PORT_LEN + SDP_HELLO_LEN)
/* Requests of a device that wait for our handler. */
#define IW_BACKLOG	256
/* Interval at which a released link looks whether its request is answered. */
#define IW_ANSWER_WAIT	(HZ / 50)
/* Threads that connect at a time. soft-iWARP may keep each for minutes. */
#define IW_CONNECTS_MOST	256

static atomic_t iw_connects = ATOMIC_INIT(0);

/* Why a request was refused; in a rejection, behind "SDP". */
enum iw_refusal {
	IW_REFUSED = 1,
	IW_BUSY,
	IW_UNREACHABLE,
};

#define IW_REJECT_LEN	4

/**
 * struct rc_iw - a link's connection over iWARP
 * @rc: the link
 * @id: the connection in iw_cm; NULL once it is destroyed
 * @local: connecting side: our address, with a TCP port that rdma_cm keeps; or
 *	without, if the host's TCP chooses one
 * @peer: connecting side: the peer's address, with its TCP port
 * @last: the read behind all sends has been posted; like @closed, only the
 *	link's work item uses it
 * @last_done: the read has ended
 * @last_cqe: completes the read
 * @closed: the connection is being closed by us
 * @connect: connecting side: thread that sends the request, with a reference
 * @request: connecting side: private data of the request
 *
 * Allocated with the id, and freed with the link.
 */
struct rc_iw {
	struct rc_link *rc;
	struct iw_cm_id *id;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	bool last;
	bool last_done;
	struct ib_cqe last_cqe;
	bool closed;
	struct task_struct *connect;
	u8 request[IW_REQUEST_LEN];
};

static void iw_set_port(struct sockaddr_storage *ss, u16 port)
{
	if (ss->ss_family == AF_INET)
		((struct sockaddr_in *)ss)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
}

static enum iw_refusal iw_refusal(int err)
{
	switch (err) {
	case -ECONNREFUSED:
	case -EPROTO:
		return IW_REFUSED;
	case -EHOSTUNREACH:
		return IW_UNREACHABLE;
	default:
		return IW_BUSY;
	}
}

/*
 * The positive errno for a request that has failed. Drivers report a rejection
 * as a reset, or as an invalid reply. soft-iWARP loses the reason if it sees
 * the end of the TCP connection first. Then we ask again: a host without AF_SDP
 * would have refused the TCP connection itself.
 */
static int iw_refused_error(const struct iw_cm_event *event)
{
	const u8 *data = event->private_data;
	u8 why = IW_BUSY;

	if (event->status == -ETIMEDOUT)
		return ETIMEDOUT;
	if (event->private_data_len == IW_REJECT_LEN && !memcmp(data, "SDP", 3))
		why = data[3];
	switch (why) {
	case IW_BUSY:
		return EAGAIN;
	case IW_UNREACHABLE:
		return EHOSTUNREACH;
	default:
		return ECONNREFUSED;
	}
}

/* The request has been answered, or has failed: a released link goes on. */
static void iw_answered(struct rc_link *rc)
{
	clear_bit(RC_ASKED, &rc->flags);
	if (test_bit(RC_RELEASED, &rc->flags))
		rc_link_wake(rc);
}

/* A peer that answers no reads cannot answer a probe. */
static void iw_connected(struct rc_link *rc, const struct iw_cm_event *event)
{
	if (!event->ord)
		set_bit(RC_NO_PROBES, &rc->flags);
	rc_cm_connected(rc);
}

static void iw_reply_received(struct rc_link *rc,
			      const struct iw_cm_event *event)
{
	if (event->status) {
		rc_link_fail(rc, iw_refused_error(event), "rejected");
		return;
	}
	iw_connected(rc, event);
	if (!test_bit(RC_RELEASED, &rc->flags))
		rc->link.up->hello_ack(&rc->link, event->private_data,
				       event->private_data_len);
}

/* Events of a link's id. The link exists until the id is destroyed. */
static int iw_link_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct rc_link *rc = id->context;

	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		iw_reply_received(rc, event);
		iw_answered(rc);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		/* For the owner it is, by the peer's first message. */
		iw_connected(rc, event);
		iw_answered(rc);
		break;
	case IW_CM_EVENT_CLOSE:
		rc_link_poke(rc, RC_PEER_ENDED);
		break;
	default:
		break;
	}
	/* Another value would make iw_cm destroy the id. */
	return 0;
}

/* The call of iw_cm is over: a released link goes on. */
static void iw_called(struct rc_link *rc)
{
	/* Pairs with rc_iw_disconnect(): iw_cm does not use the id any more. */
	clear_bit_unlock(RC_CALLING, &rc->flags);
	if (test_bit(RC_RELEASED, &rc->flags))
		rc_link_wake(rc);
}

static struct rc_iw *iw_alloc(struct rc_link *rc)
{
	struct rc_iw *iw = kzalloc(sizeof(*iw), GFP_KERNEL);

	if (!iw)
		return NULL;
	iw->rc = rc;
	rc->iw = iw;
	return iw;
}

/* Reads that we answer at a time, and that we send. */
static u32 iw_ird(const struct rc_device *dev)
{
	return min(RC_RD_ATOMIC, dev->ib->attrs.max_qp_rd_atom);
}

static u32 iw_ord(const struct rc_device *dev)
{
	return min(RC_RD_ATOMIC, dev->ib->attrs.max_qp_init_rd_atom);
}

/*
 * The thread has a reference to the link and to the module, and iw_cm uses the
 * id until the call returns (RC_CALLING).
 */
static int iw_connect_thread(void *data)
{
	struct rc_iw *iw = data;
	struct rc_link *rc = iw->rc;
	struct iw_cm_conn_param param = {
		.private_data = iw->request,
		.private_data_len = sizeof(iw->request),
		.ord = iw_ord(rc->dev),
		.ird = iw_ird(rc->dev),
		.qpn = rc->qp->qp_num,
	};
	int err = -ECONNABORTED;

	allow_kernel_signal(SIGTERM);
	iw->id->local_addr = iw->local;
	iw->id->remote_addr = iw->peer;
	if (!test_bit(RC_RELEASED, &rc->flags))
		err = iw_cm_connect(iw->id, &param);
	if (err) {
		rc_link_fail(rc, sdp_route_error(err), "connect request");
		iw_answered(rc);
	}
	iw_called(rc);
	rc_link_put(rc);
	atomic_dec(&iw_connects);
	module_put_and_kthread_exit(0);
}

/* Begin to connect. Returns 0 or an errno. */
static int iw_start(struct rc_iw *iw)
{
	struct rc_link *rc = iw->rc;
	struct task_struct *task;

	if (atomic_inc_return(&iw_connects) > IW_CONNECTS_MOST)
		task = ERR_PTR(-EAGAIN);
	else
		task = kthread_create(iw_connect_thread, iw, "sdp_iw_connect");
	if (IS_ERR(task)) {
		atomic_dec(&iw_connects);
		return PTR_ERR(task);
	}
	iw->connect = get_task_struct(task);
	__module_get(THIS_MODULE);
	refcount_inc(&rc->refs);
	set_bit(RC_CALLING, &rc->flags);
	set_bit(RC_ASKED, &rc->flags);
	wake_up_process(task);
	return 0;
}

/**
 * rc_iw_request() - ask the peer for a connection
 * @rc: link; rdma_cm has resolved its route, and keeps the adapter's TCP port
 *	until the link ends
 * @hello: the Hello
 *
 * Return: 0 or an errno.
 */
int rc_iw_request(struct rc_link *rc, const u8 *hello)
{
	struct rdma_addr *addr = &rc->rdma->route.addr;
	struct rc_iw *iw = iw_alloc(rc);
	struct iw_cm_id *id;

	if (!iw)
		return -ENOMEM;
	id = iw_create_cm_id(rc->dev->ib, iw_link_event, rc);
	if (IS_ERR(id))
		return PTR_ERR(id);
	if (rc->wish.tos) {
		id->tos = rc->wish.tos;
		id->tos_set = true;
	}
	iw->id = id;
	rc->link.greets = true;
	iw->local = addr->src_addr;
	if (id->device->iw_driver_flags & IW_F_NO_PORT_MAP)
		iw_set_port(&iw->local, 0);
	iw->peer = addr->dst_addr;
	iw_set_port(&iw->peer, rc_iw_tcp_port());
	put16(iw->request, rc->peer.port);
	memcpy(iw->request + IW_PORT_LEN, hello, SDP_HELLO_LEN);
	return iw_start(iw);
}

/*
 * The interface that has the address at which a request has arrived, with a
 * reference, or NULL. The adapter, or the TCP of the host, has checked both
 * addresses.
 */
static struct net_device *iw_origin_dev(struct net *net,
					const struct sdp_endpoint *local)
{
	struct net_device *ndev = NULL;

	if (sdp_is_v4(local))
		return ip_dev_find(net, sdp_v4(local));
#if IS_ENABLED(CONFIG_IPV6)
	if (local->scope)
		return dev_get_by_index(net, local->scope);
	rcu_read_lock();
	ndev = ipv6_dev_find(net, &local->ip, NULL);
	if (ndev)
		dev_hold(ndev);
	rcu_read_unlock();
#endif
	return ndev;
}

/* Do the addresses in a Hello match those of its TCP connection? */
static bool iw_hello_true(const struct sdp_incoming *in)
{
	struct sdp_endpoint local = { }, peer = { };

	sdp_ip_from_wire(&local, in->hello.dst, in->hello.ip_version);
	sdp_ip_from_wire(&peer, in->hello.src, in->hello.ip_version);
	return ipv6_addr_equal(&local.ip, &in->local.ip) &&
	       ipv6_addr_equal(&peer.ip, &in->peer.ip);
}

/* Parse a request and check its addresses. Returns 0 or an errno. */
static int iw_read_request(const struct iw_cm_event *event,
			   struct net_device *ndev, struct sdp_incoming *in)
{
	const u8 *data = event->private_data;
	enum sdp_violation bad = SDP_BAD_HELLO;

	if (event->private_data_len > IW_PORT_LEN)
		bad = sdp_hello_parse(data + IW_PORT_LEN,
				      event->private_data_len - IW_PORT_LEN,
				      &in->hello);
	/* No rails join over iWARP, and none join a connection over it. */
	if (!bad && (in->hello.rails.join || !iw_hello_true(in) ||
		     !sdp_origin_possible(ndev, in)))
		bad = SDP_BAD_HELLO;
	in->hello.rails.most = 0;
	if (bad) {
		rc_up->malformed(in->net, bad);
		return -EPROTO;
	}
	in->local.port = get16(data);
	in->peer.port = in->hello.port;
	in->ifindex = ndev->ifindex;
	if (ipv6_addr_type(&in->local.ip) & IPV6_ADDR_LINKLOCAL)
		in->local.scope = in->ifindex;
	in->peer.scope = in->local.scope;
	return in->local.port ? 0 : -ECONNREFUSED;
}

/* Accept for the owner of the link, who may release it at any time. */
static void iw_accept(struct rc_link *rc, struct sdp_incoming *in,
		      const struct iw_cm_event *event)
{
	struct iw_cm_conn_param param = {
		.private_data = in->ack,
		.private_data_len = SDP_HELLO_ACK_LEN,
		.ord = min_t(u32, event->ird, iw_ord(rc->dev)),
		.ird = min_t(u32, event->ord ?: U8_MAX, iw_ird(rc->dev)),
		.qpn = rc->qp->qp_num,
	};
	int err = iw_cm_accept(rc->iw->id, &param);

	if (err) {
		rc_link_fail(rc, -err, "connect reply");
		iw_answered(rc);
	}
	iw_called(rc);
}

/*
 * Make a link for a request, find its owner and accept. Returns 0, or an errno
 * with which the caller refuses the request.
 */
static int iw_accept_request(struct rc_device *dev, struct iw_cm_id *id,
			     const struct iw_cm_event *event,
			     struct sdp_incoming *in)
{
	struct rc_link *rc = rc_link_alloc(in->net);
	int err = -ENOMEM;

	if (!rc)
		return -ENOMEM;
	rc->local = in->local;
	rc->peer = in->peer;
	rc->port = rdma_start_port(dev->ib);
	if (!rc_device_add_link(dev, rc)) {
		rc_link_discard(rc);
		return -ENETDOWN;
	}
	if (iw_alloc(rc)) {
		/*
		 * The id first: once the link has an owner, it may be released
		 * at any time. It stays until the call below is over.
		 */
		rc->iw->id = id;
		id->context = rc;
		id->cm_handler = iw_link_event;
		set_bit(RC_CALLING, &rc->flags);
		set_bit(RC_ASKED, &rc->flags);
		err = rc_incoming(&rc->link, in);
	}
	if (err) {
		if (rc->iw)
			rc->iw->id = NULL;
		rc_link_discard(rc);
		return err;
	}
	/* The link may be freed as soon as it is released and accepted. */
	refcount_inc(&rc->refs);
	rc_link_owned(rc);
	iw_accept(rc, in, event);
	rc_link_put(rc);
	return 0;
}

static int iw_request_from(struct rc_device *dev, struct iw_cm_id *id,
			   const struct iw_cm_event *event,
			   struct sdp_incoming *in)
{
	struct net *net = read_pnet(&dev->ib->coredev.rdma_net);
	struct net_device *ndev;
	int err = -ECONNREFUSED;

	sdp_from_sockaddr(&in->local, &event->local_addr);
	sdp_from_sockaddr(&in->peer, &event->remote_addr);
	ndev = iw_origin_dev(net, &in->local);
	if (!ndev)
		return -EHOSTUNREACH;
	if (rc_iw_serves(dev->ib, rdma_start_port(dev->ib), ndev))
		in->net = sdp_origin_net(dev->ib, ndev);
	if (in->net) {
		err = iw_read_request(event, ndev, in);
		if (!err)
			err = iw_accept_request(dev, id, event, in);
		put_net(in->net);
	}
	dev_put(ndev);
	return err;
}

/*
 * A request has arrived at the listener of a device. Returns an errno if it is
 * refused; then iw_cm destroys the id.
 */
static int iw_listen_event(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct sdp_incoming *in;
	int err = -ENOMEM;
	u8 why[IW_REJECT_LEN] = "SDP";

	if (event->event != IW_CM_EVENT_CONNECT_REQUEST)
		return 0;
	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (in)
		err = iw_request_from(id->context, id, event, in);
	kfree(in);
	if (err) {
		why[3] = iw_refusal(err);
		iw_cm_reject(id, why, sizeof(why));
	}
	return err;
}

static struct iw_cm_id *iw_listen(struct rc_device *dev, int family)
{
	struct iw_cm_id *id = iw_create_cm_id(dev->ib, iw_listen_event, dev);
	int err;

	if (IS_ERR(id))
		return id;
	id->local_addr.ss_family = family;
	id->afonly = family == AF_INET6;
	iw_set_port(&id->local_addr, rc_iw_tcp_port());
	err = iw_cm_listen(id, IW_BACKLOG);
	if (!err)
		return id;
	iw_destroy_cm_id(id);
	return ERR_PTR(err);
}

/**
 * struct iw_listening - a device that begins to listen
 * @dev: the device
 * @done: it listens, or has failed to
 */
struct iw_listening {
	struct rc_device *dev;
	struct completion done;
};

static void iw_cannot_listen(struct rc_device *dev, int err)
{
	ibdev_warn_ratelimited(dev->ib,
			       "sdp: no listener at TCP port %u: error %d\n",
			       rc_iw_tcp_port(), -err);
}

static int iw_listen_thread(void *data)
{
	static const int families[RC_IW_FAMILIES] = { AF_INET, AF_INET6 };
	struct iw_listening *listening = data;
	struct rc_device *dev = listening->dev;
	struct iw_cm_id *id;
	int i;

	for (i = 0; i < RC_IW_FAMILIES; i++) {
		if (dev->iw[i])
			continue;
		id = iw_listen(dev, families[i]);
		if (!IS_ERR(id))
			dev->iw[i] = id;
		else if (PTR_ERR(id) != -EAFNOSUPPORT)
			iw_cannot_listen(dev, PTR_ERR(id));
	}
	kthread_complete_and_exit(&listening->done, 0);
}

/**
 * rc_iw_listen() - accept requests on an iWARP device
 * @dev: device; nothing happens if it is of another kind, or accepts already
 *
 * It accepts until it goes, even when no socket listens any more: iw_cm loses
 * the memory of requests that wait while their listener is destroyed. If a
 * program has the TCP port, for instance, the device is used all the same: it
 * can connect. The next call tries again. May sleep. Under rc_mutex.
 *
 * A thread of the kernel is in the initial network namespace, and so are then
 * the sockets of soft-iWARP. A work item would not do: items of all kinds take
 * rc_mutex, or wait for what does.
 *
 * Return: 0 or an errno, if there is no thread.
 */
int rc_iw_listen(struct rc_device *dev)
{
	struct iw_listening listening = { .dev = dev };
	struct task_struct *task;

	if (!rc_iw_used(dev->ib, rdma_start_port(dev->ib)) ||
	    (dev->iw[0] && dev->iw[1]))
		return 0;
	init_completion(&listening.done);
	task = kthread_run(iw_listen_thread, &listening, "sdp_iw_listen");
	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&listening.done);
	return 0;
}

/**
 * rc_iw_unlisten() - undo rc_iw_listen()
 * @dev: device
 *
 * May sleep: waits for handlers. Under rc_mutex.
 */
void rc_iw_unlisten(struct rc_device *dev)
{
	int i;

	for (i = 0; i < RC_IW_FAMILIES; i++) {
		if (dev->iw[i])
			iw_destroy_cm_id(dev->iw[i]);
		dev->iw[i] = NULL;
	}
}

/* Are sends not TCP's yet? An adapter may drop them when we close. */
static bool iw_unsent(const struct rc_link *rc)
{
	/* Pairs with rc_ring_completed(). */
	return smp_load_acquire(&rc->tx.tail) != rc->tx.head;
}

static void iw_last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_iw *iw = container_of(wc->wr_cqe, struct rc_iw, last_cqe);

	WRITE_ONCE(iw->last_done, true);
	rc_link_wake(iw->rc);
}

/* Post a read without data behind all sends: its answer follows them. */
static bool iw_post_last(struct rc_link *rc)
{
	struct ib_sge nothing = { };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &rc->iw->last_cqe,
			.sg_list = &nothing,
			.num_sge = 1,
			.opcode = IB_WR_RDMA_READ,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	rc->iw->last_cqe.done = iw_last_done;
	rc->iw->last = true;
	return !ib_post_send(rc->qp, &wr.wr, NULL);
}

/* Is there something that may still arrive at the peer? */
static bool iw_on_its_way(struct rc_link *rc)
{
	if (test_bit(RC_FLUSHED, &rc->flags) ||
	    test_bit(RC_FAILED_SAID, &rc->flags) ||
	    time_after(jiffies, rc->closing + RC_DREQ_LEAST))
		return false;
	if (iw_unsent(rc))
		return true;
	if (test_bit(RC_NO_PROBES, &rc->flags))
		return false;
	if (!rc->iw->last && !iw_post_last(rc))
		return false;
	return !READ_ONCE(rc->iw->last_done);
}

/**
 * rc_iw_disconnect() - end the connection of a released link
 * @rc: link over iWARP
 *
 * Return: time until the next call, in jiffies; 0 when rc_iw_stop() may be
 * called.
 */
unsigned long rc_iw_disconnect(struct rc_link *rc)
{
	long wait;

	if (!rc->iw->id)
		return 0;
	/* iw_cm uses the id in a call, or would make us wait for the answer. */
	if (test_bit_acquire(RC_CALLING, &rc->flags)) {
		if (rc->iw->connect)
			send_sig(SIGTERM, rc->iw->connect, 1);
		return IW_ANSWER_WAIT;
	}
	if (test_bit(RC_ASKED, &rc->flags))
		return IW_ANSWER_WAIT;
	if (!test_bit(RC_CONNECTED, &rc->flags) ||
	    test_bit(RC_PEER_ENDED, &rc->flags) || READ_ONCE(rc->dev->going))
		return 0;
	if (!test_and_set_bit(RC_CLOSING, &rc->flags))
		rc->closing = jiffies;
	if (!rc->iw->closed) {
		if (iw_on_its_way(rc))
			return IW_ANSWER_WAIT;
		rc->iw->closed = true;
		rc->closing = jiffies;
		iw_cm_disconnect(rc->iw->id, 0);
	}
	wait = rc->closing + RC_DREQ_LEAST - jiffies;
	return max(wait, 0L);
}

/**
 * rc_iw_stop() - destroy the connection of a link
 * @rc: link over iWARP; afterwards no handler reaches it any more
 *
 * May sleep.
 */
void rc_iw_stop(struct rc_link *rc)
{
	if (rc->iw->id)
		iw_destroy_cm_id(rc->iw->id);
	rc->iw->id = NULL;
}

/**
 * rc_iw_free() - free what a link over iWARP has
 * @iw: the connection, whose id is destroyed; or NULL
 */
void rc_iw_free(struct rc_iw *iw)
{
	if (iw && iw->connect)
		put_task_struct(iw->connect);
	kfree(iw);
}
