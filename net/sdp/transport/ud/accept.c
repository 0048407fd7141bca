// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: the accepting side, and answers for which nothing is kept.
 *
 * An Open without the right cookie gets a Challenge, and a datagram for a link
 * that there is not gets a Reset. Both need an address handle, which may sleep,
 * so a work item answers. Its queue is short: a flood of such datagrams costs
 * no memory, and what finds the queue full is dropped. Opens with the right
 * cookie have a queue and a work item of their own, because their senders have
 * shown that they receive what is sent to their address.
 *
 * The rest is as in the RC transport: Hello parsed -> interface and namespace
 * found -> addresses checked -> link made -> up->incoming -> OpenAck.
 */
#include <crypto/algapi.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "../../base/netns.h"
#include "../origin.h"
#include "ud.h"

/* How long a cookie is good for: this and the next period (jiffies). */
#define COOKIE_PERIOD	(15 * HZ)

static siphash_key_t cookie_key[2];

/**
 * ud_cookie_init() - draw the secret of the cookies
 */
void ud_cookie_init(void)
{
	get_random_bytes(cookie_key, sizeof(cookie_key));
}

/* What a cookie depends on. */
struct cookie_of {
	union ib_gid from;
	union ib_gid to;
	u32 from_qp;
	u32 to_qp;
	u32 id;
	u32 seq;
	u64 period;
} __aligned(SIPHASH_ALIGNMENT);

static bool cookie_make(const struct ud_ask *ask, u64 period, u8 *cookie)
{
	struct cookie_of of = {
		.from_qp = ask->wc.src_qp,
		.to_qp = ask->qp->qp->qp_num,
		.id = ask->d.from,
		.seq = ask->d.seq,
		.period = period,
	};
	u64 half;
	u32 i;

	if (!ud_grh_gids((const u8 *)&ask->grh, &ask->wc, &of.from, &of.to))
		return false;
	for (i = 0; i < 2; i++) {
		half = siphash(&of, sizeof(of), &cookie_key[i]);
		memcpy(cookie + 8 * i, &half, sizeof(half));
	}
	return true;
}

static u64 cookie_period(void)
{
	return div_u64(get_jiffies_64(), COOKIE_PERIOD);
}

static bool cookie_valid(const struct ud_ask *ask)
{
	u64 period = cookie_period();
	u8 cookie[SDP_COOKIE_LEN];
	u32 i;

	for (i = 0; i < 2; i++) {
		if (cookie_make(ask, period - i, cookie) &&
		    !crypto_memneq(cookie, ask->body, sizeof(cookie)))
			return true;
	}
	return false;
}

/* Has the queue room for another datagram? Under ud_port.lock. */
static bool queue_takes(struct ud_port *port, bool shows)
{
	u32 *count = shows ? &port->showing : &port->asking;

	if (*count >= (shows ? UD_SHOWS_MOST : UD_ASKS_MOST))
		return false;
	++*count;
	return true;
}

/**
 * ud_accept_queue() - let the work item of the port answer a datagram
 * @qp: queue pair that it has arrived at
 * @wc: its completion
 * @rx: its bytes
 * @d: its header: an Open, or one of a link that there is not
 *
 * Called in softirq.
 */
void ud_accept_queue(struct ud_qp *qp, const struct ib_wc *wc,
		     const struct ud_rx *rx, const struct sdp_datagram *d)
{
	struct ud_ask *ask = kmalloc(sizeof(*ask), GFP_ATOMIC | __GFP_NOWARN);
	struct ud_port *port = qp->port;
	bool shows = false, taken;

	if (!ask)
		return;
	ask->qp = qp;
	ask->wc = *wc;
	ask->d = *d;
	memcpy(&ask->grh, rx->grh, sizeof(ask->grh));
	if (d->type == SDP_DATAGRAM_OPEN) {
		memcpy(ask->body, rx->data + SDP_DATAGRAM_LEN, SDP_OPEN_LEN);
		shows = cookie_valid(ask);
	}
	spin_lock_bh(&port->lock);
	taken = queue_takes(port, shows);
	if (taken)
		list_add_tail(&ask->node, shows ? &port->shows : &port->asks);
	spin_unlock_bh(&port->lock);
	if (taken) {
		queue_work(ud_wq, shows ? &port->show_work : &port->ask_work);
	} else {
		SDP_INC(&init_net, DatagramsDropped);
		kfree(ask);
	}
}

/* The next datagram of @asks or @shows, or NULL. */
static struct ud_ask *ask_take(struct ud_port *port, bool shows)
{
	struct ud_ask *ask;

	spin_lock_bh(&port->lock);
	ask = list_first_entry_or_null(shows ? &port->shows : &port->asks,
				       struct ud_ask, node);
	if (ask) {
		list_del(&ask->node);
		--*(shows ? &port->showing : &port->asking);
	}
	spin_unlock_bh(&port->lock);
	return ask;
}

/* Send an answer. If no slot is free it is lost, as any other may be. */
static void answer(const struct ud_ask *ask, struct ud_peer *peer, u8 type,
		   const u8 *body, u32 len)
{
	struct sdp_datagram d = {
		.type = type,
		.window = SDP_WINDOW_ACCEPTING,
		.to = ask->d.from,
		.from = ask->d.to,
		.seq = ask->d.ack,
		.ack = ask->d.seq,
	};
	struct ud_qp *qp = ask->qp;
	struct ud_tx *tx;

	spin_lock_bh(&qp->send_lock);
	tx = ud_qp_slot(qp);
	if (tx) {
		sdp_datagram_build(tx->data, &d);
		memcpy(tx->data + SDP_DATAGRAM_LEN, body, len);
		ud_qp_post(qp, tx, peer, ask->wc.src_qp,
			   SDP_DATAGRAM_LEN + len, false);
	}
	spin_unlock_bh(&qp->send_lock);
}

static void challenge(const struct ud_ask *ask, struct ud_peer *peer)
{
	u8 cookie[SDP_COOKIE_LEN];

	if (cookie_make(ask, cookie_period(), cookie))
		answer(ask, peer, SDP_DATAGRAM_CHALLENGE, cookie,
		       sizeof(cookie));
}

static void reject(const struct ud_ask *ask, struct ud_peer *peer, int err)
{
	u8 body[SDP_OPEN_REJECT_LEN];

	switch (err) {
	case -ECONNREFUSED:
		sdp_open_reject_build(body, SDP_OPEN_NO_LISTENER);
		break;
	case -EPROTO:
	case -EHOSTUNREACH:
		sdp_open_reject_build(body, SDP_OPEN_UNSUITABLE);
		break;
	default:
		sdp_open_reject_build(body, SDP_OPEN_BUSY);
		break;
	}
	answer(ask, peer, SDP_DATAGRAM_OPEN_REJECT, body, sizeof(body));
}

/* The link that an Open has made already, with a reference; or NULL. */
static struct ud_link *link_of_open(struct ud_port *port,
				    const struct ud_ask *ask,
				    const struct ud_peer *peer)
{
	struct ud_link *l;

	spin_lock_bh(&port->lock);
	hlist_for_each_entry(l, &port->by_peer[ask->d.from % UD_BUCKETS],
			     peer_node) {
		if (l->their_id == ask->d.from && l->qpn == ask->wc.src_qp &&
		    !memcmp(&l->peer->gid, &peer->gid, sizeof(peer->gid)) &&
		    refcount_inc_not_zero(&l->refs)) {
			spin_unlock_bh(&port->lock);
			return l;
		}
	}
	spin_unlock_bh(&port->lock);
	return NULL;
}

/* The Open has come again, so the OpenAck may have been lost. */
static bool open_again(struct ud_port *port, const struct ud_ask *ask,
		       const struct ud_peer *peer)
{
	struct ud_link *l = link_of_open(port, ask, peer);

	if (!l)
		return false;
	spin_lock_bh(&l->lock);
	if (l->phase == UD_CONFIRMING) {
		l->answer_due = true;
		ud_look(l);
	}
	spin_unlock_bh(&l->lock);
	ud_qp_run(l->qp);
	ud_link_put(l);
	return true;
}

/* Addresses and port of a request. Returns what is wrong with it. */
static enum sdp_violation read_hello(const struct ud_ask *ask,
				     const struct sdp_open *open,
				     const struct ud_peer *peer,
				     struct sdp_incoming *in)
{
	const u8 *hello = ask->body + SDP_OPEN_LEN - SDP_HELLO_LEN;
	enum sdp_violation bad;

	bad = sdp_hello_parse(hello, SDP_HELLO_LEN, &in->hello);
	if (bad)
		return bad;
	sdp_ip_from_wire(&in->local, in->hello.dst, in->hello.ip_version);
	sdp_ip_from_wire(&in->peer, in->hello.src, in->hello.ip_version);
	in->local.port = open->service_id & 0xffff;
	in->peer.port = in->hello.port;
	/* On RoCE a GID is an IP address. */
	if ((open->service_id & ~0xffffULL) != SDP_SERVICE_ID ||
	    in->hello.rails.join ||
	    memcmp(&in->local.ip, &peer->own, sizeof(peer->own)) ||
	    memcmp(&in->peer.ip, &peer->gid, sizeof(peer->gid)))
		return SDP_BAD_HELLO;
	return SDP_VALID;
}

static int check_origin(struct net_device *ndev, struct sdp_incoming *in)
{
	if (!sdp_origin_possible(ndev, in))
		return -EPROTO;
	if (!sdp_origin_reachable(ndev, in))
		return -EHOSTUNREACH;
	in->ifindex = ndev->ifindex;
	if (ipv6_addr_type(&in->local.ip) & IPV6_ADDR_LINKLOCAL)
		in->local.scope = in->ifindex;
	in->peer.scope = in->local.scope;
	return 0;
}

/* Make a link for a request, with windows, but without owner. */
static struct ud_link *make_link(struct ud_port *port, struct ud_ask *ask,
				 const struct sdp_open *open,
				 struct net_device *ndev, struct ud_peer *peer,
				 const struct sdp_incoming *in)
{
	struct ud_link *l = ud_link_alloc(in->net);
	u32 mtu = ib_mtu_enum_to_int(iboe_get_mtu(READ_ONCE(ndev->mtu)));

	if (!l)
		return NULL;
	l->ack = kmalloc(SDP_HELLO_ACK_LEN, GFP_KERNEL);
	if (!l->ack) {
		ud_link_put(l);
		return NULL;
	}
	l->local = in->local;
	l->remote = in->peer;
	l->qpn = ask->wc.src_qp;
	l->their_id = ask->d.from;
	l->size = min3(port->size, (u32)open->size, mtu);
	refcount_inc(&peer->refs);
	l->peer = peer;
	if (ud_port_attach(port, ask->qp, l))
		return l;
	ud_link_discard(l);
	return NULL;
}

/* The peer may send from now on, unless the owner has released the link. */
static void confirm(struct ud_link *l, const struct ud_ask *ask,
		    const struct sdp_open *open, const struct sdp_incoming *in)
{
	spin_lock_bh(&l->lock);
	if (l->phase == UD_RESOLVING) {
		ud_open_window(l, &ask->d, open->rtt, false);
		memcpy(l->ack, in->ack, SDP_HELLO_ACK_LEN);
		l->phase = UD_CONFIRMING;
		l->answer_due = true;
		ud_look(l);
	}
	spin_unlock_bh(&l->lock);
	ud_qp_run(ask->qp);
}

/* Give the link an owner, and send the OpenAck. */
static int accept_link(struct ud_link *l, struct ud_ask *ask,
		       const struct sdp_open *open, struct sdp_incoming *in)
{
	int err;

	/* The owner may release the link as soon as it has it. */
	refcount_inc(&l->refs);
	ud_link_enter(l);
	err = ud_up->incoming(&l->link, in);
	ud_link_leave(l);
	if (err) {
		ud_link_discard(l);
	} else {
		/* First: what the peer sends then has to reach the owner. */
		ud_link_owned(l);
		confirm(l, ask, open, in);
	}
	ud_link_put(l);
	return err;
}

static int accept_from(struct ud_port *port, struct ud_ask *ask,
		       struct net_device *ndev, struct ud_peer *peer,
		       struct sdp_incoming *in)
{
	enum sdp_violation bad;
	struct sdp_open open;
	struct ud_link *l;
	int err;

	bad = sdp_open_parse(ask->body, &open);
	/* Port 0 is for rails; a program may try to connect to it. */
	if (!bad && !(open.service_id & 0xffff))
		return -ECONNREFUSED;
	if (!bad)
		bad = read_hello(ask, &open, peer, in);
	err = bad ? -EPROTO : check_origin(ndev, in);
	if (err) {
		ud_up->malformed(in->net, bad ? bad : SDP_BAD_HELLO);
		return err;
	}
	l = make_link(port, ask, &open, ndev, peer, in);
	return l ? accept_link(l, ask, &open, in) : -ENOMEM;
}

/* An Open with the right cookie. Returns 0 or an errno to refuse it with. */
static int accept_open(struct ud_port *port, struct ud_ask *ask,
		       struct net_device *ndev, struct ud_peer *peer)
{
	struct sdp_incoming *in;
	int err = -ECONNREFUSED;

	if (open_again(port, ask, peer))
		return 0;
	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	in->net = sdp_origin_net(port->dev->ib, ndev);
	if (in->net) {
		err = accept_from(port, ask, ndev, peer, in);
		put_net(in->net);
	}
	kfree(in);
	return err;
}

/* The interface of one of our addresses, with a reference; or NULL. */
static struct net_device *ndev_of(const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(sgid_attr->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/* @attr is the address of the sender. */
static void handle_show(struct ud_port *port, struct ud_ask *ask,
			struct rdma_ah_attr *attr)
{
	struct net_device *ndev = ndev_of(attr->grh.sgid_attr);
	struct ud_peer *peer = ud_peer_get(port, attr);
	int err;

	if (ndev && peer) {
		err = accept_open(port, ask, ndev, peer);
		if (err)
			reject(ask, peer, err);
	}
	if (peer)
		ud_peer_put(peer);
	dev_put(ndev);
}

static void handle_ask(struct ud_port *port, struct ud_ask *ask,
		       struct rdma_ah_attr *attr)
{
	struct ud_peer *peer = ud_peer_get(port, attr);

	if (!peer)
		return;
	if (ask->d.type == SDP_DATAGRAM_OPEN)
		challenge(ask, peer);
	else
		answer(ask, peer, SDP_DATAGRAM_RESET, NULL, 0);
	ud_peer_put(peer);
}

static void handle(struct ud_port *port, struct ud_ask *ask, bool shows)
{
	struct rdma_ah_attr attr;

	/*
	 * To wait for the neighbour of a forged address would keep others
	 * waiting, too. An Open comes again when its sender has answered ARP.
	 */
	if (!ud_neighbour_known(port, ask))
		return;
	if (ib_init_ah_attr_from_wc(port->dev->ib, port->number, &ask->wc,
				    &ask->grh, &attr))
		return;
	/* An IPv4 header leaves the place of these undefined. */
	attr.grh.traffic_class = 0;
	attr.grh.flow_label = 0;
	if (shows)
		handle_show(port, ask, &attr);
	else
		handle_ask(port, ask, &attr);
	rdma_destroy_ah_attr(&attr);
}

static void work_off(struct ud_port *port, bool shows)
{
	struct ud_ask *ask;

	while (!READ_ONCE(port->dev->going) && (ask = ask_take(port, shows))) {
		handle(port, ask, shows);
		kfree(ask);
	}
}

/**
 * ud_ask_work() - work item of a port: answer datagrams without keeping state
 * @work: ud_port.ask_work
 */
void ud_ask_work(struct work_struct *work)
{
	work_off(container_of(work, struct ud_port, ask_work), false);
}

/**
 * ud_show_work() - work item of a port: accept Opens with a cookie
 * @work: ud_port.show_work
 */
void ud_show_work(struct work_struct *work)
{
	work_off(container_of(work, struct ud_port, show_work), true);
}

/* Bytes of a datagram by the interface that a request has come by, now. */
static u32 mtu_of(const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev = sgid_attr ? ndev_of(sgid_attr) : NULL;
	u32 mtu = SDP_DATAGRAM_SIZE_MIN;

	if (ndev)
		mtu = ib_mtu_enum_to_int(iboe_get_mtu(READ_ONCE(ndev->mtu)));
	dev_put(ndev);
	return mtu;
}

/**
 * sdp_ud_sidr() - answer a peer that asks for our queue pairs
 * @ib: device
 * @cm: CM id of the request
 * @event: the request, of a service id at which a socket listens
 *
 * May sleep: the first request makes the queue pairs.
 *
 * Return: an errno, so that the CM destroys @cm.
 */
int sdp_ud_sidr(struct ib_device *ib, struct ib_cm_id *cm,
		const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_req_event_param *req =
		&event->param.sidr_req_rcvd;
	struct ib_cm_sidr_rep_param rep = { .status = IB_SIDR_UNSUPPORTED };
	struct sdp_service service = { };
	struct ud_port *port = NULL;
	u8 data[SDP_SERVICE_LEN];

	/* Port 0 is for rails only. */
	if (be64_to_cpu(req->service_id) != SDP_SERVICE_ID)
		port = ud_port_get(ib, req->port);
	if (port) {
		service.size = min(port->size, mtu_of(req->sgid_attr));
		for (; service.qps < port->qps; service.qps++)
			service.qpn[service.qps] =
				port->qp[service.qps].qp->qp_num;
		sdp_service_build(data, &service);
		rep.status = IB_SIDR_SUCCESS;
		rep.qp_num = service.qpn[0];
		rep.qkey = UD_QKEY;
		rep.private_data = data;
		rep.private_data_len = sizeof(data);
	}
	ib_send_cm_sidr_rep(cm, &rep);
	if (port)
		ud_port_put(port);
	return -ECONNREFUSED;
}
