// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: messages to be sent, and the turns of links at a queue pair.
 *
 * A message waits until the window has room for its packets (ud_link.unsent),
 * gets their numbers, and is kept until the peer has acknowledged all of them
 * (ud_link.sent). A link with something to send is in the list of its queue
 * pair. A task that finds a free slot there lets the links of the list take
 * turns.
 */
#include "ud.h"

/* The next link of the list, with the list's reference; or NULL. */
static struct ud_link *ready_take(struct ud_qp *qp)
{
	struct ud_link *l;

	spin_lock(&qp->ready_lock);
	l = list_first_entry_or_null(&qp->ready, struct ud_link, ready_node);
	if (l)
		list_del_init(&l->ready_node);
	spin_unlock(&qp->ready_lock);
	return l;
}

/* Under the lock of the link. */
static void ready_add(struct ud_link *l)
{
	struct ud_qp *qp = l->qp;

	spin_lock(&qp->ready_lock);
	if (list_empty(&l->ready_node)) {
		refcount_inc(&l->refs);
		list_add_tail(&l->ready_node, &qp->ready);
	}
	spin_unlock(&qp->ready_lock);
}

/**
 * ud_look() - see whether a link has something to send, now or later
 * @l: link, locked; ud_qp_run() has to follow
 */
void ud_look(struct ud_link *l)
{
	u32 now = ud_now();

	if (l->phase == UD_FORGOTTEN || !l->qp)
		return;
	if (ud_wants(l, now))
		ready_add(l);
	ud_arm(l, now);
}

/* Send some datagrams of a link. Under ud_qp.send_lock. */
static void take_turn(struct ud_qp *qp, struct ud_link *l)
{
	u32 i, bytes, now;
	struct ud_tx *tx;
	bool more = true;

	spin_lock(&l->lock);
	for (i = 0; i < UD_TURN && more; i++) {
		tx = ud_qp_slot(qp);
		now = ud_now();
		bytes = tx ? ud_build(l, tx->data, now) : 0;
		if (!bytes)
			break;
		more = ud_wants(l, now);
		ud_qp_post(qp, tx, l->peer, l->qpn, bytes,
			   more && i + 1 < UD_TURN);
	}
	ud_look(l);
	spin_unlock(&l->lock);
}

/**
 * ud_qp_run() - let the links of a queue pair send what they have
 * @qp: queue pair
 *
 * Called with no lock but, perhaps, an owner's.
 */
void ud_qp_run(struct ud_qp *qp)
{
	struct ud_link *l;

	spin_lock_bh(&qp->send_lock);
	while (ud_qp_slot(qp) && (l = ready_take(qp))) {
		take_turn(qp, l);
		ud_link_put(l);
	}
	spin_unlock_bh(&qp->send_lock);
}

/* Give numbers to the messages that the window has room for. */
static void number_unsent(struct ud_link *l)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&l->unsent))) {
		struct sdp_buf_cb *cb = sdp_buf_cb(skb);

		if (!sdp_window_tx_may_add(&l->window.tx, cb->packets))
			return;
		cb->seq = sdp_window_tx_add(&l->window.tx, cb->packets);
		__skb_unlink(skb, &l->unsent);
		__skb_queue_tail(&l->sent, skb);
	}
}

/**
 * ud_send() - send a message
 * @link: the link, connected; under its owner's lock
 * @skb: header and payload; taken
 * @flush: no other message follows at once; unused, because ud_kick() follows
 */
void ud_send(struct sdp_link *link, struct sk_buff *skb, bool flush)
{
	struct ud_link *l = to_ud(link);
	u32 packets = sdp_chunk_packets(skb->len, ud_payload(l));

	spin_lock_bh(&l->lock);
	sdp_buf_cb(skb)->packets = packets;
	if (l->phase == UD_OPEN && packets <= SDP_CHUNK_PACKETS_MAX) {
		__skb_queue_tail(&l->unsent, skb);
		number_unsent(l);
		skb = NULL;
	}
	spin_unlock_bh(&l->lock);
	/* Only a peer that takes longer messages than it may causes this. */
	if (packets > SDP_CHUNK_PACKETS_MAX)
		ud_link_poke(l, UD_BROKEN);
	kfree_skb(skb);
}

/**
 * ud_kick() - send what ud_send() has taken
 * @link: the link; the reference of hold() is dropped
 */
void ud_kick(struct sdp_link *link)
{
	struct ud_link *l = to_ud(link);

	spin_lock_bh(&l->lock);
	ud_look(l);
	spin_unlock_bh(&l->lock);
	if (l->qp)
		ud_qp_run(l->qp);
	ud_link_put(l);
}

/**
 * ud_probe() - ask the peer for a sign of life
 * @link: the link, connected; under its owner's lock
 *
 * The peer's transport answers a Probe, and it uses up no credit.
 */
void ud_probe(struct sdp_link *link)
{
	struct ud_link *l = to_ud(link);

	spin_lock_bh(&l->lock);
	l->probing = true;
	l->probes = 0;
	l->window.probe = true;
	ud_look(l);
	spin_unlock_bh(&l->lock);
	ud_qp_run(l->qp);
}

/**
 * ud_hasten() - ask the peer to acknowledge at once what was sent
 * @link: the link, connected; under its owner's lock
 */
void ud_hasten(struct sdp_link *link)
{
	struct ud_link *l = to_ud(link);

	spin_lock_bh(&l->lock);
	if (l->phase == UD_OPEN && sdp_window_hasten(&l->window))
		ud_look(l);
	spin_unlock_bh(&l->lock);
	ud_qp_run(l->qp);
}

/**
 * ud_acked() - release the messages that have arrived at the peer
 * @l: link, locked; a datagram has told what has arrived
 * @sent: filled in
 *
 * Return: true if there are some, and nothing is left to be acknowledged.
 */
bool ud_acked(struct ud_link *l, struct sdp_sent *sent)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&l->sent))) {
		const struct sdp_buf_cb *cb = sdp_buf_cb(skb);

		if (sdp_seq_after(cb->seq + cb->packets, l->window.tx.acked))
			break;
		if (l->cursor == skb)
			l->cursor = NULL;
		__skb_unlink(skb, &l->sent);
		sent->messages++;
		sent->payload += cb->payload;
		sent->truesize += skb->truesize;
		if (cb->reused)
			__skb_queue_tail(&sent->blocks, skb);
		else
			consume_skb(skb);
	}
	number_unsent(l);
	return sent->messages && skb_queue_empty(&l->sent);
}

/**
 * ud_link_timer() - the timer of a link has expired
 * @timer: ud_link.timer; its reference is dropped
 */
void ud_link_timer(struct timer_list *timer)
{
	struct ud_link *l = timer_container_of(l, timer, timer);
	bool dead, released;

	spin_lock_bh(&l->lock);
	dead = l->phase != UD_FORGOTTEN && !ud_expired(l, ud_now());
	if (dead && l->phase == UD_OPENING)
		ud_peer_learn(l->peer, NULL);
	if (dead)
		l->dead = true;
	else
		ud_look(l);
	spin_unlock_bh(&l->lock);
	released = test_bit(UD_RELEASED, &l->flags);
	if (dead && released)
		ud_link_wake(l);
	else if (dead)
		ud_link_fail(l, ETIMEDOUT, "no answer to datagrams");
	else if (l->qp)
		ud_qp_run(l->qp);
	ud_link_put(l);
}
