// SPDX-License-Identifier: GPL-2.0
/*
 * Pair simulator: its state as text, and as a key for the search.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim.h"

static const char * const kinds[SIM_KINDS] = {
	"write", "read", "land", "receive", "complete", "post", "unhold", "shutdown",
	"target", "established", "link-ended", "abort", "shrink", "refuse",
	"srcavail", "withdraw", "rdma", "rdma-move", "rdma-end", "decline", "late", "large",
	"want", "buffer", "unbuffer", "put", "put-move", "miss", "ring", "leave", "call",
};

void sim_print_step(const struct sim_step *step)
{
	fprintf(stderr, "#   %u %-11s %u%s", step->side, kinds[step->kind], step->arg,
		step->more ? " more" : step->urgent ? " urgent" : "");
	if (step->arg2)
		fprintf(stderr, " %u", step->arg2);
	fprintf(stderr, "\n");
}

static void print_sizes(const struct sim_side *me)
{
	const struct sdp_resize *r = &me->e.resize;
	const struct sim_sizes *z = &me->z;

	fprintf(stderr, "#   sizes: may send %u, told %u, asked %u, wants %u, owes %u, level %u\n",
		z->may_send, z->told, z->asked, z->wants, z->owes, z->level);
	fprintf(stderr, "#   engine receives %u, limit %u, posts %u, old %u, answer %u\n",
		r->recv_size, r->recv_limit, r->posting, r->old, r->answer);
	fprintf(stderr, "#   engine sends %u, ask %u of %u%s, flush %u\n",
		r->send_size, r->ask, r->asked, r->stray ? ", stray" : "", r->flush);
}

static void print_rings(const struct sim_side *me)
{
	const struct sdp_ring_out *o = &me->e.ring_out;
	const struct sdp_ring_in *in = &me->e.ring_in;
	const struct sim_rings *ri = &me->ri;

	fprintf(stderr, "#   own ring of %u: landed %u, came %u, read %u, told %u; next %u%s\n",
		ri->cur.size, ri->cur.landed, ri->cur.came, ri->cur.read, ri->cur.told,
		ri->next.size, ri->shown ? " shown" : "");
	fprintf(stderr, "#   %u wanted; the peer's of %u: head %u, freed %u, asked %u\n",
		ri->wanted, ri->size, ri->head, ri->freed, ri->asked);
	fprintf(stderr, "#   engine: in %u by %u, out %u by %u%s%s%s\n", in->size, in->scheme,
		o->ring.len, o->scheme, o->asking ? ", asking" : "", o->asked ? ", asked" : "",
		in->answer ? ", owes an answer" : "");
}

static void print_adverts(const struct sim_side *me)
{
	const struct sdp_srcavail_tx *so = &me->e.srcavail_tx;
	const struct sdp_srcavail_rx *si = &me->e.srcavail_rx;
	const struct sim_srcavail_arrived *of = &me->of;

	if (me->ad.next_mid || me->rest)
		fprintf(stderr, "#   advertises %u, %u along, read %u%s%s%s; rest %u\n",
			me->ad.len, me->ad.inlined, me->ad.read,
			me->ad.out ? ", out" : "", me->ad.withdrawn ? ", withdrawn" : "",
			me->ad.cancel_sent ? ", cancelled" : "", me->rest);
	if (of->open)
		fprintf(stderr, "#   next_mid %u, got %u, reading %u, moved %u, unreported %u%s\n",
			of->len, of->got, of->reading, of->moved, of->unreported,
			of->declined ? ", declined" : "");
	fprintf(stderr, "#   modes: sends in %u%s, receives in %u%s; %u speak for %u\n",
		me->e.tx_mode.mode, me->e.tx_mode.wanted ? ", to be changed" : "",
		me->e.rx_mode.mode, me->e.rx_mode.wanted ? ", to be changed" : "",
		me->mo.alike, me->mo.toward);
	fprintf(stderr, "#   buffers: %u, first sent as %u%s%s, %u came\n", me->bu.n,
		me->bu.list[0].seq, me->bu.cancel ? ", cancelled" : "",
		me->bu.cancel_sent ? " and sent" : "", me->bu.came);
	fprintf(stderr, "#   may write into %u, %u not done, %u unreported%s, %u went\n", me->pl.n,
		me->pl.puts, me->pl.unreported, me->pl.owes_ack ? ", answer owed" : "",
		me->pl.went);
	fprintf(stderr, "#   engine buffers: %u, %u sent, %u seen, cancel %u\n",
		me->e.sinkavail_rx.n, me->e.sinkavail_rx.sent, me->e.sinkavail_rx.seen,
		me->e.sinkavail_rx.cancel);
	fprintf(stderr, "#   engine may write into %u, %u unreported\n", me->e.sinkavail_tx.n,
		me->e.sinkavail_tx.written);
	fprintf(stderr, "#   engine source %u, sink %s%s, got %u, reading %u, unreported %u\n",
		so->state, si->open ? "open" : "closed", si->declined ? ", declined" : "",
		si->got, si->reading, si->unreported);
}

void sim_print(const struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		const struct sim_side *me = &s->side[i];
		const struct sdp_credit *c = &me->e.credit;

		fprintf(stderr, "# side %u: target %u threshold %u room %u slots %u recv %u\n", i,
			me->t.target, me->t.threshold, s->cfg.room[i], s->cfg.slots[i],
			s->cfg.recv_size[i]);
		fprintf(stderr, "#   engine %s: credit %u, theirs %u, posted %u, slots %u\n",
			sdp_conn_state_name(me->e.state), sdp_credit_available(c), c->theirs,
			c->posted, me->e.send_slots);
		fprintf(stderr, "#   sent %u, landed %u, completed %u, acked %u, received %u\n",
			me->t.sent, me->landed, me->completed, me->t.peer_received, me->t.received);
		fprintf(stderr, "#   bytes written %" PRIu64 ", sent %" PRIu64 ", delivered %"
			PRIu64 ", read %" PRIu64 "; %u segments unsent, %u messages unread%s%s%s\n",
			me->written, me->taken, me->delivered, me->read, me->segs, me->unread_n,
			me->hold ? ", held" : "", me->shutdown ? ", shut down" : "",
			me->eof ? ", end seen" : "");
		print_sizes(me);
		print_adverts(me);
		if (s->cfg.ring_max[0])
			print_rings(me);
	}
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/*
 * Distance of two sequence numbers, for the key. By NIC it does not matter how far a sender is
 * beyond its grant, nor how old the last acknowledgement is, once it is older than all messages in
 * flight.
 */
static u32 near(const struct sdp_engine *e, u32 from, u32 to)
{
	return e->credit.unasked ? max((s32)(to - from), -4) : to - from;
}

static u64 key_engine(u64 h, const struct sdp_engine *e)
{
	const struct sdp_credit *c = &e->credit;
	bool partial_open = sdp_seq_after(e->partial_seq, e->sent_seq) &&
			 sdp_seq_after(e->partial_seq, c->tx_acked);

	h = mix(h, (u64)near(e, c->tx_seq, c->tx_limit) << 32 | near(e, c->tx_seq, c->tx_acked));
	h = mix(h, (u64)near(e, c->rx_seq, c->rx_limit) << 32 | (e->sent_seq - c->tx_seq));
	h = mix(h, (u64)c->posted << 48 | (u64)c->target << 32 | c->theirs << 16 | c->threshold);
	h = mix(h, partial_open ? e->partial_seq - c->tx_seq : 1);
	h = mix(h, e->disc_seq ? max((s32)(e->disc_seq - c->tx_seq), -64) : 1);
	return mix(h, (u64)e->state << 32 | e->send_slots << 16 | e->shutdown << 1 | e->dead);
}

static u64 key_sizes(u64 h, const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	const struct sdp_resize *r = &me->e.resize;
	const struct sim_sizes *z = &me->z;
	u32 posted = s->cfg.first[side] + me->t.grants;

	h = mix(h, (u64)r->send_size << 32 | r->send_first);
	h = mix(h, (u64)r->recv_size << 32 | r->recv_limit);
	h = mix(h, (u64)r->posting << 32 | r->answer);
	h = mix(h, (u64)r->asked << 32 | r->ask << 8 | r->stray);
	h = mix(h, (u64)r->largest << 32 | r->flush);
	h = mix(h, (u64)r->level << 32 | r->splits << 16 | r->old);
	h = mix(h, (u64)z->may_send << 32 | z->back_to);
	h = mix(h, (u64)z->told << 32 | z->asked);
	h = mix(h, (u64)z->wants << 32 | z->owes);
	h = mix(h, (u64)z->level << 32 | z->splits);
	h = mix(h, (u64)r->posted_most << 32 | z->posted_most << 2 | r->refused << 1 | z->put_off);
	h = mix(h, (u64)z->largest << 32 | z->flush);
	h = mix(h, (s32)(z->owes_after - me->t.received) > 0 ? z->owes_after - me->t.received : 0);
	h = mix(h, z->flushed | z->refused << 1 | z->kept << 2);
	for (u32 i = me->t.received; i != posted; i++)
		h = mix(h, z->recv[i % SIM_MSGS]);
	for (u32 i = 0; i < me->segs; i++)
		h = mix(h, me->seg_max[i]);
	return h;
}

static u64 key_adverts(u64 h, const struct sim_side *me)
{
	const struct sdp_srcavail_tx *so = &me->e.srcavail_tx;
	const struct sdp_srcavail_rx *si = &me->e.srcavail_rx;
	const struct sim_advert *ad = &me->ad;
	const struct sim_srcavail_arrived *of = &me->of;

	/* Fields of an advertisement that is over do not matter. */
	if (ad->next_mid) {
		h = mix(h, 1 | ad->out << 1 | ad->withdrawn << 2 | ad->cancel_sent << 3);
		h = mix(h, (u64)ad->len << 32 | ad->inlined);
		h = mix(h, ad->read);
	}
	if (of->open || of->reading) {
		h = mix(h, 1 | of->open << 1 | of->declined << 2 | of->pipe << 3);
		h = mix(h, (u64)of->len << 32 | of->got);
		h = mix(h, (u64)of->reading << 32 | of->moved);
		h = mix(h, of->unreported);
	}
	if (so->state != SDP_SRCAVAIL_TX_IDLE) {
		h = mix(h, so->state);
		h = mix(h, (u64)so->region.len << 32 | so->inlined);
		h = mix(h, so->read);
	}
	if (si->open) {
		h = mix(h, 1 | si->declined << 1);
		h = mix(h, (u64)si->region.len << 32 | si->got);
		h = mix(h, (u64)si->reading << 32 | si->unreported);
	}
	return mix(h, me->rest);
}

/* Which SrcAvail of @to this answer belongs to. */
static u64 key_answer(u64 h, const struct sdp_srcavail_tx *to, const struct sdp_msg *msg)
{
	bool seen = !sdp_seq_after(to->seq, msg->h.mseq_ack);
	bool late = !sdp_seq_after(to->late_seq, msg->h.mseq_ack);

	h = mix(h, seen << 1 | (to->late && late));
	return msg->h.mid == SDP_MID_RDMA_RD_COMPL ? mix(h, msg->count) : h;
}

static u64 key_modes(u64 h, const struct sim_side *me)
{
	const struct sdp_mode *tx = &me->e.tx_mode, *rx = &me->e.rx_mode;

	h = mix(h, tx->mode | tx->wanted << 4 | rx->mode << 8 | rx->wanted << 12);
	h = mix(h, (u64)tx->alike << 32 | me->mo.alike);
	h = mix(h, tx->alike || tx->wanted ? tx->toward : 0);
	h = mix(h, tx->missed);
	return mix(h, me->mo.tx | me->mo.rx << 4 | me->mo.large << 8 | me->mo.due << 9);
}

/* Buffers are identified by their age, because keys always grow. */
static u64 key_buffers(u64 h, const struct sim_side *me, const struct sim_side *peer)
{
	const struct sdp_sinkavail_rx *a = &me->e.sinkavail_rx;
	const struct sdp_sinkavail_tx *t = &me->e.sinkavail_tx;
	const struct sdp_piggyback *r = &me->e.piggyback;
	const struct sim_buffers *bu = &me->bu;
	const struct sim_places *pl = &me->pl;

	h = mix(h, a->n | a->sent << 4 | a->seen << 8 | a->cancel << 12);
	h = mix(h, t->n | t->cancelled << 4 | t->left << 5 | (u64)t->written << 32);
	h = mix(h, t->left ? t->left_seq - me->e.credit.tx_seq : 0);
	h = mix(h, a->cancel >= SDP_CANCEL_SENT ? a->cancel_seq - me->e.credit.tx_seq : 0);
	h = mix(h, a->non_discards - peer->e.sinkavail_tx.non_discards);
	h = mix(h, r->holds | r->asked << 1 | (u64)r->row << 16 | (u64)r->needed << 32);
	h = mix(h, r->asked && sdp_seq_after(r->seq, peer->e.credit.rx_seq) ?
		   r->seq - me->e.credit.tx_seq : 1);
	h = mix(h, bu->n | bu->cancel << 4 | bu->cancel_sent << 5);
	for (u32 i = 0; i < bu->n; i++) {
		/*
		 * Which acknowledgement will cover this SinkAvail. After that its number does not
		 * matter.
		 */
		h = mix(h, i < a->seen ? 1 : i < a->sent ? bu->list[i].seq - me->t.sent : 2);
		h = mix(h, (u64)bu->list[i].len << 32 | bu->list[i].filled);
	}
	h = mix(h, pl->n | pl->puts << 4 | pl->owes_ack << 8 | (u64)pl->unreported << 32);
	for (u32 i = 0; i < pl->n; i++)
		h = mix(h, pl->list[i].key - (peer->bu.n ? peer->bu.list[0].key : 0));
	for (u32 i = 0; i < pl->puts; i++)
		h = mix(h, (u64)(pl->put[i].behind - me->t.sent) << 32 | pl->put[i].len);
	return h;
}

/* The position in the ring does not matter, because a message may run over the end. */
static u64 key_home(u64 h, const struct sim_home *home, bool tells)
{
	h = mix(h, (u64)home->size << 32 | (home->landed - home->read));
	h = mix(h, home->came - home->read);
	return tells ? mix(h, home->read - home->told) : h;
}

static u64 key_rings(u64 h, const struct sim_side *me)
{
	const struct sdp_ring_out *o = &me->e.ring_out;
	const struct sdp_ring_in *in = &me->e.ring_in;
	const struct sim_rings *ri = &me->ri;
	bool tells = !me->e.credit.unasked;

	h = key_home(key_home(h, &ri->cur, tells), &ri->next, tells);
	h = mix(h, ri->wanted | ri->owes << 20 | ri->shown << 21 | ri->stalled << 22 |
		ri->tells << 23);
	h = mix(h, (u64)ri->size << 32 | (tells ? ri->head - ri->freed : !ri->head));
	h = mix(h, (u64)ri->asked << 32 | ri->refusals);
	h = mix(h, (u64)o->ask << 32 | o->asking | o->asked << 1 | o->level << 8);
	h = mix(h, (u64)o->pause << 32 | o->refusals << 16 | min(o->full, (u32)o->level));
	h = mix(h, (u64)o->ring.len << 32 | (tells ? o->head - o->freed : !o->head));
	h = mix(h, (u64)in->cap << 32 | in->making << 4 | in->answer | in->shown << 1);
	h = mix(h, (u64)in->next.len << 32 | in->size);
	h = mix(h, (u64)(in->head - in->read) << 32 | (tells ? in->read - in->told : 0));
	for (u32 j = 0; j < me->unread_n; j++)
		h = mix(h, me->unread_ring[(me->unread_first + j) % SIM_MSGS]);
	return h;
}

/*
 * Equal for two simulations that differ only in the amount of data transferred so far. Sequence
 * numbers count from the newest. Payload is left out, because the judge has compared it with the
 * stream.
 */
u64 sim_key(const struct sim *s)
{
	u64 h = s->link_down << 1 | s->aborted;

	for (u32 i = 0; i < 2; i++) {
		const struct sim_side *me = &s->side[i], *peer = &s->side[!i];

		h = key_engine(h, &me->e);
		if (s->cfg.recv_size_max[0] | s->cfg.recv_size_max[1])
			h = key_sizes(h, s, i);
		if (s->cfg.adverts[0] | s->cfg.adverts[1])
			h = key_adverts(h, me);
		if (s->cfg.mode_after[0] | s->cfg.mode_after[1] |
		    s->cfg.pipelined[0] | s->cfg.pipelined[1])
			h = key_modes(h, me);
		if (s->cfg.buffers[0] | s->cfg.buffers[1])
			h = key_buffers(h, me, peer);
		if (s->cfg.ring_max[0])
			h = key_rings(h, me);
		if (s->cfg.late[!i])
			h = mix(h, me->e.srcavail_tx.late << 1 | peer->of.crossed);
		h = mix(h, (u64)(me->t.sent - me->landed) << 32 | (me->t.sent - me->completed));
		h = mix(h, me->hold | me->shutdown << 1 | me->established << 2 | me->eof << 3 |
			me->ended << 4 | me->failed << 5 | me->disconn_sent << 6 | me->segs << 8 |
			me->unread_n << 16);
		for (u32 j = 0; j < me->segs; j++)
			h = mix(h, me->seg[j]);
		for (u32 j = 0; j < me->unread_n; j++)
			h = mix(h, me->unread[(me->unread_first + j) % SIM_MSGS]);
		for (u32 j = peer->t.received; j != me->t.sent; j++) {
			const struct sim_wire_msg *m = &me->wire[j % SIM_MSGS];
			struct sdp_msg msg;

			sdp_wire_parse(m->bytes, m->len, &msg);
			h = mix(h, (u64)msg.h.mid << 48 | (u64)m->len << 32 | msg.h.bufs);
			h = mix(h, near(&peer->e, peer->e.credit.tx_seq, msg.h.mseq_ack));
			if (msg.h.mid == SDP_MID_CHRCVBUF || msg.h.mid == SDP_MID_CHRCVBUF_ACK)
				h = mix(h, msg.size);
			else if (msg.h.mid == SDP_MID_RDMA_RD_COMPL || msg.h.mid == SDP_MID_SENDSM)
				h = key_answer(h, &peer->e.srcavail_tx, &msg);
			else if (msg.h.mid == SDP_MID_MODE_CHANGE)
				h = mix(h, msg.mode_send_half | msg.mode << 1);
			else if (msg.h.mid == SDP_MID_RDMA_WR_COMPL)
				h = mix(h, msg.count);
			else if (msg.h.mid == SDP_MID_SINK_AVAIL)
				h = mix(h, msg.non_discards - peer->e.sinkavail_tx.non_discards);
			else if (msg.h.mid == SDP_MID_SRC_AVAIL)
				h = mix(h, msg.src.len);
			h = mix(h, msg.h.flags | me->discards[j % SIM_MSGS] << 8 |
				!!m->to.rkey << 16);
			if (msg.h.mid == SDP_MID_RING_ASK)
				h = mix(h, msg.size);
			else if (msg.h.mid == SDP_MID_RING_AVAIL)
				h = mix(h, msg.ring.len);
			if (msg.h.flags & SDP_FLAG_FREED)
				h = mix(h, msg.freed - peer->ri.freed);
		}
	}
	return h;
}
