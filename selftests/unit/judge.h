/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judge of the pair simulator: the protocol's rules, checked without the engine.
 *
 * The judge knows the messages on the wire and what the simulator itself has done.
 */
#ifndef SDP_UNIT_JUDGE_H
#define SDP_UNIT_JUDGE_H

#include <stdio.h>

#include "sim.h"

void judge_start(struct sim *s);
void judge_send(struct sim *s, u32 side, const u8 *header, u32 payload, bool full,
		const struct sdp_ring_place *to);
void judge_no_send(struct sim *s, u32 side, enum sdp_next why);
void judge_receive(struct sim *s, u32 side, const u8 *header);
void judge_actions(struct sim *s, u32 side, const struct sdp_actions *acts);
void judge_deliver(struct sim *s, u32 side, const u8 *bytes, u32 len);
void judge_urgent(struct sim *s, u32 side, const struct sdp_action *a);
void judge_eof(struct sim *s, u32 side);
void judge_link_down(struct sim *s);
void judge_settled(const struct sim *s, u32 readers);

bool judge_ring_sent(struct sim *s, u32 side, const u8 *header);
void judge_ring_message(struct sim *s, u32 side, const u8 *header, u32 len,
			const struct sdp_ring_place *to);
void judge_ring_received(struct sim *s, u32 side, const u8 *header);
void judge_ring_early(const struct sim *s, u32 side);
void judge_ring_room(const struct sim *s, u32 side);
bool judge_ring_takes(const struct sim *s, u32 side);
bool judge_ring_update(const struct sim_side *me);
bool judge_ring_tells(const struct sim *s, u32 side);
void judge_ring_settled(const struct sim *s);
u32 judge_pipe(const struct sim *s, u32 side);

void judge_lands(struct sim *s, u32 side);
void judge_resize_start(struct sim *s);
void judge_posted(struct sim *s, u32 side, u16 n, u32 size);
void judge_split(struct sim *s, u32 side, u32 bytes);
void judge_shrink(struct sim *s, u32 side, bool begun);
void judge_refuse(struct sim *s, u32 side);
void judge_fits(struct sim *s, u32 side, u32 len);
void judge_resize_sent(struct sim *s, u32 side, const u8 *header);
void judge_resize_received(struct sim *s, u32 side, const u8 *header);
void judge_resize_silent(struct sim *s, u32 side);
void judge_resize_settled(const struct sim *s, u32 side);

bool judge_may_advertise(const struct sim *s, u32 side);
void judge_may_srcavail(struct sim *s, u32 side);
bool judge_advert_sent(struct sim *s, u32 side, const u8 *header, u32 payload);
void judge_advert_received(struct sim *s, u32 side, const u8 *header);
void judge_srcavail_arrived(struct sim *s, u32 side, u32 len);
void judge_srcavail_pipe(struct sim *s, u32 side, bool pipe);
void judge_srcavail_over(struct sim *s, u32 side, u32 taken);
void judge_access(struct sim *s, u32 side, u32 bytes);
void judge_advert_silent(struct sim *s, u32 side, bool could);
void judge_advert_settled(const struct sim *s, u32 side);

void judge_mode_start(struct sim *s);
bool judge_mode_sent(struct sim *s, u32 side, const u8 *header);
void judge_mode_received(struct sim *s, u32 side, const u8 *header);
void judge_mode_answered(struct sim *s, u32 side, bool read, bool pipe);
void judge_mode_put(struct sim *s, u32 side);
void judge_mode_discarded(struct sim *s, u32 side);
void judge_mode_missed(struct sim *s, u32 side);
void judge_mode_unread(struct sim *s, u32 side);
void judge_large(struct sim *s, u32 side);
void judge_mode_silent(struct sim *s, u32 side, bool could);
void judge_mode_settled(const struct sim *s);

bool judge_may_miss(const struct sim *s, u32 side, bool unread);
bool judge_may_put(const struct sim *s, u32 side);
bool judge_may_post(const struct sim *s, u32 side);
void judge_revoke(struct sim *s, u32 side, u8 mid, u32 key);
void judge_put(struct sim *s, u32 side, u32 bytes, const struct sdp_region *to);
void judge_put_moves(struct sim *s, u32 side, const struct sim_place *put);
bool judge_buffer_sent(struct sim *s, u32 side, const u8 *header, u32 payload);
void judge_buffer_payload(struct sim *s, u32 side);
void judge_buffer_received(struct sim *s, u32 side, const u8 *header);
void judge_buffer_over(struct sim *s, u32 side, const struct sim_buffer *b);
void judge_buffer_silent(struct sim *s, u32 side, bool could);
void judge_buffer_settled(const struct sim *s, u32 readers);

const u8 *pattern(u32 side, u64 offset);

#define PATTERN_MAX	9216	/* readable bytes at the result of pattern() */

/* fault(s, format, ...): report a broken rule and end the program. */
#define fault(s, ...)	(fault_begin(s), fprintf(stderr, __VA_ARGS__), fault_end(s))

/* A fault that by itself neither loses data nor blocks a side. Ignored with sim_outcome_only. */
#define rule(...)	do { if (!sim_outcome_only) fault(__VA_ARGS__); } while (0)

static inline u32 be(const u8 *p, int bytes)
{
	u32 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* Number of payload bytes in a message, by its header. */
static inline u32 judge_payload(const u8 *header)
{
	u32 more = header[1] & SDP_FLAG_FREED ? SDP_FREED_LEN : 0;

	return be(header + 4, 4) - sdp_wire_header_len(header[0]) - more;
}

/*
 * May this message use the credit that is reserved for answers? It answers the peer's SrcAvail or
 * SinkAvail, or cancels our SinkAvails.
 */
static inline bool judge_answer(const struct sim_side *me, const u8 *header)
{
	switch (header[0]) {
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_SENDSM:
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_SINK_CANCEL_ACK:
	case SDP_MID_SINK_CANCEL:
		return true;
	case SDP_MID_SINK_AVAIL:
		return me->of.open;
	}
	return false;
}

/* Can SinkAvails of ours be out that may still be cancelled, after this message if there is one? */
static inline bool judge_may_cancel(const struct sim_side *me, const u8 *header)
{
	if (header && header[0] == SDP_MID_SINK_AVAIL)
		return true;
	return me->bu.n && me->bu.list[0].seq && !me->bu.cancel_sent &&
	       !(header && header[0] == SDP_MID_SINK_CANCEL);
}

/* Does this answer close the peer's SrcAvail? */
static inline bool judge_last_answer(const struct sim_side *me, const u8 *header)
{
	return header[0] == SDP_MID_SENDSM || header[0] == SDP_MID_SINK_AVAIL ||
	       (header[0] == SDP_MID_RDMA_RD_COMPL && me->of.got == me->of.len);
}

/* D1: our present send credit, by the peer's last message. */
static inline u32 judge_credit(const struct sim_truth *t)
{
	return t->limit - t->sent;
}

/* Is any credit left? By NIC more messages than granted may have been sent. */
static inline bool judge_granted(const struct sim_truth *t)
{
	return (s32)judge_credit(t) > 0;
}

void fault_begin(const struct sim *s);
_Noreturn void fault_end(const struct sim *s);

#endif /* SDP_UNIT_JUDGE_H */
