// SPDX-License-Identifier: GPL-2.0
/*
 * A simulation as text, for people, and as a number, for the search.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim.h"

static const char * const kinds[SIM_KINDS] = {
	"write", "read", "land", "receive", "complete", "post", "unhold", "shutdown",
	"target", "established", "link-ended", "abort", "shrink", "refuse",
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
	}
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static u64 key_engine(u64 h, const struct sdp_engine *e)
{
	const struct sdp_credit *c = &e->credit;
	bool data_open = sdp_seq_after(e->data_seq, e->sent_seq) &&
			 sdp_seq_after(e->data_seq, c->tx_acked);

	h = mix(h, (u64)(c->tx_limit - c->tx_seq) << 32 | (c->tx_acked - c->tx_seq));
	h = mix(h, (u64)(c->rx_limit - c->rx_seq) << 32 | (e->sent_seq - c->tx_seq));
	h = mix(h, (u64)c->posted << 48 | (u64)c->target << 32 | c->theirs << 16 | c->threshold);
	h = mix(h, data_open ? e->data_seq - c->tx_seq : 1);
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
	h = mix(h, (u64)z->largest << 32 | z->flush);
	h = mix(h, (s32)(z->owes_after - me->t.received) > 0 ? z->owes_after - me->t.received : 0);
	h = mix(h, z->flushed | z->refused << 1);
	for (u32 i = me->t.received; i != posted; i++)
		h = mix(h, z->recv[i % SIM_MSGS]);
	for (u32 i = 0; i < me->segs; i++)
		h = mix(h, me->seg_max[i]);
	return h;
}

/*
 * Equal for two simulations that differ only in how much has gone through them: sequence
 * numbers count from the newest, and bytes are not looked at, because the judge has seen that
 * they are what their position says.
 */
u64 sim_key(const struct sim *s)
{
	u64 h = s->link_down << 1 | s->aborted;

	for (u32 i = 0; i < 2; i++) {
		const struct sim_side *me = &s->side[i], *peer = &s->side[!i];

		h = key_engine(h, &me->e);
		if (s->cfg.recv_size_max[0] | s->cfg.recv_size_max[1])
			h = key_sizes(h, s, i);
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
			h = mix(h, msg.h.mseq_ack - peer->e.credit.tx_seq);
			if (msg.h.mid == SDP_MID_CHRCVBUF || msg.h.mid == SDP_MID_CHRCVBUF_ACK)
				h = mix(h, msg.size);
		}
	}
	return h;
}
