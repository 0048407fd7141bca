// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: up-calls of the rails' links.
 *
 * Those of the first rail while it is the only one are the bundle's own. After
 * that, an end or a failure of a rail is the bundle's only if no other is left.
 */
#include "rails.h"

static int up_hello(struct sdp_link *link, const struct sdp_endpoint *local,
		    u8 buf[SDP_HELLO_LEN])
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;
	struct sdp_hello hello = { };
	int err;

	if (rail->number)
		return rails_join_hello(rail, local, buf);
	spin_lock_bh(&b->lock);
	b->local = *local;
	rail->local = *local;
	spin_unlock_bh(&b->lock);
	err = b->link.up->hello(&b->link, local, buf);
	if (err)
		return err;
	hello.rails.most = b->wish;
	sdp_hello_put_rails(buf, &hello);
	return 0;
}

static void up_hello_ack(struct sdp_link *link, const u8 *buf, u32 bytes)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;
	struct sdp_hello ack;

	if (rail->number) {
		rails_join_up(rail);
		return;
	}
	if (!sdp_hello_ack_parse(buf, bytes, &ack)) {
		spin_lock_bh(&b->lock);
		b->most = min(ack.rails.most, b->wish);
		b->id = ack.rails.id;
		b->peer_size = ack.recv_size;
		memcpy(b->token, ack.rails.token, SDP_RAIL_TOKEN);
		rail->up = true;
		b->up_at[0] = rail->peer.ip;
		spin_unlock_bh(&b->lock);
		if (ack.rails.most > 1)
			rails_seek(b);
	}
	b->link.greets = link->greets;
	b->link.reads = link->reads;
	b->link.worth = link->worth;
	b->link.up->hello_ack(&b->link, buf, bytes);
}

/* The accepting side of a rail is connected, as the CM or a message says. */
static void rail_is_up(struct rail *rail)
{
	struct rails *b = rail->all;

	if (READ_ONCE(rail->up))
		return;
	if (rail->number) {
		rails_join_up(rail);
		return;
	}
	b->link.reads = rail->link->reads;
	b->link.worth = rail->link->worth;
	spin_lock_bh(&b->lock);
	rail->up = true;
	spin_unlock_bh(&b->lock);
}

static void up_established(struct sdp_link *link)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;

	rail_is_up(rail);
	if (!rail->number)
		b->link.up->established(&b->link);
}

static void up_received(struct sdp_link *link, struct sk_buff *skb, u32 bytes)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;
	struct sdp_sent sent = { };

	rail_is_up(rail);
	/* A buffer of the UD transport is of no use to other rails. */
	if (link->ops == &sdp_ud)
		sdp_buf_cb(skb)->reused = false;
	__skb_queue_head_init(&sent.blocks);
	spin_lock_bh(&b->lock);
	rails_rx_message(rail, skb, bytes);
	rails_tx_collect(b, &sent);
	rails_rx_pass(b);
	spin_unlock_bh(&b->lock);
	if (sent.messages || !skb_queue_empty(&sent.blocks))
		b->link.up->sent(&b->link, &sent);
}

/* There are no rings, so nothing can be placed: the peer has made it up. */
static void up_placed(struct sdp_link *link, struct sk_buff *skb, u32 imm)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;

	kfree_skb(skb);
	b->link.up->malformed(b->net, SDP_BAD_STATE);
	spin_lock_bh(&b->lock);
	rail->posted--;
	rails_fail(b, EPROTO, sdp_violation_name(SDP_BAD_STATE));
	rails_rx_pass(b);
	spin_unlock_bh(&b->lock);
}

static void up_sent(struct sdp_link *link, struct sdp_sent *sent)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;

	spin_lock_bh(&b->lock);
	rails_tx_completed(rail, sent);
	rails_tx_collect(b, sent);
	spin_unlock_bh(&b->lock);
	if (sent->messages || !skb_queue_empty(&sent->blocks))
		b->link.up->sent(&b->link, sent);
}

/* The end of the piece follows (rdma.c). */
static void up_read_done(struct sdp_link *link, int error)
{
}

static void up_alive(struct sdp_link *link)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;

	spin_lock_bh(&b->lock);
	rail->probing = false;
	b->probing = false;
	rails_auto_alive(rail);
	spin_unlock_bh(&b->lock);
	b->link.up->alive(&b->link);
}

static void up_malformed(struct net *net, enum sdp_violation what)
{
	sdp_rails_owner->malformed(net, what);
}

static void up_failed(struct sdp_link *link, int error, const char *place)
{
	struct rail *rail = link->owner;

	if (!rails_lost(rail, error, place))
		rail->all->link.up->failed(&rail->all->link, error, place);
}

/*
 * All rails end at the same time when the peer ends the connection. The owner
 * is told when it has got what has come by any of them.
 */
static void up_ended(struct sdp_link *link)
{
	struct rail *rail = link->owner;
	struct rails *b = rail->all;

	if (READ_ONCE(link->one_of_many) ||
	    (rail->number && !READ_ONCE(rail->up))) {
		spin_lock_bh(&b->lock);
		rails_auto_ended(rail);
		spin_unlock_bh(&b->lock);
		up_failed(link, ECONNRESET, "rail ended by the peer");
		return;
	}
	spin_lock_bh(&b->lock);
	rail->ended = true;
	rails_watch_end(b);
	rails_rx_pass(b);
	spin_unlock_bh(&b->lock);
}

static void up_released(struct sdp_link *link)
{
	struct rail *rail = link->owner;

	if (rail)
		rails_detach(rail);
}

/* Up-calls of the links of all rails. */
const struct sdp_link_events rails_up = {
	.hello		= up_hello,
	.hello_ack	= up_hello_ack,
	.established	= up_established,
	.received	= up_received,
	.placed		= up_placed,
	.sent		= up_sent,
	.read		= up_read_done,
	.alive		= up_alive,
	.malformed	= up_malformed,
	.failed		= up_failed,
	.ended		= up_ended,
	.released	= up_released,
};
