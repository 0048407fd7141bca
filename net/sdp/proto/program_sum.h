/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a part of a data gather/scatter program (program.h) does as a whole.
 *
 * The sum of a sequence of operations follows from those of its parts, and that
 * of a loop from that of its body, without doing it. All numbers stay below
 * SDP_PROGRAM_FAR, so two of them can be added.
 */
#ifndef SDP_PROTO_PROGRAM_SUM_H
#define SDP_PROTO_PROGRAM_SUM_H

#include "base.h"

/* Positions, and the bytes of a message, are smaller than this. */
#define SDP_PROGRAM_FAR		((s64)1 << 56)

/**
 * struct sdp_program_range - bytes in memory
 * @from: first position
 * @to: position behind the last; not above @from if there are none
 */
struct sdp_program_range {
	s64 from;
	s64 to;
};

/**
 * struct sdp_program_sum - what a sequence of operations does
 * @bytes: bytes of the message that it moves
 * @shift: what it adds to the position; without @seeks
 * @to: the position behind it; with @seeks
 * @near: what it touches, from the position in front of it
 * @fixed: what it touches wherever it begins, since it seeks
 * @seeks: the position behind it does not depend on the one in front of it
 * @dense: it moves the bytes at the position, and goes on by as many
 * @depth: loops and calls in it that are within each other
 */
struct sdp_program_sum {
	u64 bytes;
	s64 shift;
	s64 to;
	struct sdp_program_range near;
	struct sdp_program_range fixed;
	bool seeks;
	bool dense;
	u8 depth;
};

void sdp_program_sum_none(struct sdp_program_sum *s);
void sdp_program_sum_copy(struct sdp_program_sum *s, s64 n);
void sdp_program_sum_skip(struct sdp_program_sum *s, s64 n);
void sdp_program_sum_seek(struct sdp_program_sum *s, s64 to);
bool sdp_program_sum_then(struct sdp_program_sum *s,
			  const struct sdp_program_sum *next);
bool sdp_program_sum_times(struct sdp_program_sum *s, s64 n);
s64 sdp_program_sum_from(const struct sdp_program_sum *s, s64 at, s64 times);
bool sdp_program_sum_within(const struct sdp_program_sum *s, u64 memory);

#endif /* SDP_PROTO_PROGRAM_SUM_H */
