/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data gather/scatter programs: where in memory the bytes of a message lie
 * (H2, H3).
 *
 * A program is a list of operations on a position in memory:
 *
 *	COPY n		the next n bytes of the message lie here
 *	SKIP n		go n bytes on, or back
 *	SEEK n		go to position n
 *	LOOP n ... END	do what is between n times
 *	CALL i		do what begins at operation i, up to its RETURN
 *	RETURN		the end of the program, or of what was called
 *
 * A call leads forward, to an operation behind a RETURN. So nothing calls
 * itself, and a program ends. The last RETURN may be left out.
 *
 * struct sdp_program_state is a point of a program between two bytes of the
 * message. From a state the program continues by moving bytes, or by a dry run,
 * which moves none and tells only the state behind them. A dry run takes a time
 * that depends on the program and not on the number of bytes, because it takes
 * loops and calls as a whole: sdp_program_verify() finds out, for each
 * operation, what all from there to the end of its loop or procedure does.
 *
 * Several parts of one message can so be gathered and scattered in any order.
 * There is one state only for each number of bytes, however it was reached.
 *
 * Pure arithmetic, without locks. The program is the caller's, who adds its
 * operations, verifies it, and does not change it afterwards.
 */
#ifndef SDP_PROTO_PROGRAM_H
#define SDP_PROTO_PROGRAM_H

#include "program_sum.h"

#define SDP_PROGRAM_OPS_MAX	256
/* Loops and calls that may be within each other. */
#define SDP_PROGRAM_DEPTH_MAX	8

/* The numbers of enum sdp_op in the interface for applications. */
enum sdp_program_code {
	SDP_PROGRAM_COPY,
	SDP_PROGRAM_SKIP,
	SDP_PROGRAM_SEEK,
	SDP_PROGRAM_LOOP,
	SDP_PROGRAM_END,
	SDP_PROGRAM_CALL,
	SDP_PROGRAM_RETURN,
};

/**
 * struct sdp_program_op - one operation
 * @code: what it does
 * @end: LOOP: the operation that ends it
 * @n: its number
 * @own: what it does; of a loop, all times; of a call, what is called
 * @rest: what it and those behind it do, up to the end of the loop, of the
 *	procedure or of the program
 */
struct sdp_program_op {
	u8 code;
	u16 end;
	s64 n;
	struct sdp_program_sum own;
	struct sdp_program_sum rest;
};

/**
 * struct sdp_program - a program
 * @ops: number of operations
 * @op: the operations; the caller has room for one more, which marks the end
 */
struct sdp_program {
	u32 ops;
	struct sdp_program_op op[];
};

/**
 * struct sdp_program_frame - a loop or call that is not over
 * @op: the operation
 * @left: LOOP: times that it is still to be done after this one
 */
struct sdp_program_frame {
	u32 op;
	s64 left;
};

/**
 * struct sdp_program_state - a point of a program
 * @done: bytes of the message before it
 * @at: position in memory of the next byte
 * @part: bytes of operation @op before it
 * @op: operation that moves the next byte; the number of operations at the end
 * @depth: number of frames
 * @frame: loops and calls that are not over, the outermost first; zero beyond
 *	@depth
 */
struct sdp_program_state {
	u64 done;
	s64 at;
	u64 part;
	u32 op;
	u32 depth;
	struct sdp_program_frame frame[SDP_PROGRAM_DEPTH_MAX];
};

/**
 * struct sdp_program_strip - pieces of the same length at equal distances
 * @at: position of the first
 * @width: bytes of each
 * @stride: from the first byte of one to that of the next
 * @n: number of pieces
 */
struct sdp_program_strip {
	s64 at;
	u64 width;
	s64 stride;
	u64 n;
};

int sdp_program_add(struct sdp_program *p, u32 code, s64 n);
int sdp_program_verify(struct sdp_program *p, u64 memory);
u64 sdp_program_length(const struct sdp_program *p);
void sdp_program_begin(const struct sdp_program *p,
		       struct sdp_program_state *s);
u64 sdp_program_dry(const struct sdp_program *p, struct sdp_program_state *s,
		    u64 bytes);
u64 sdp_program_move(const struct sdp_program *p, struct sdp_program_state *s,
		     u64 bytes, s64 *at);
bool sdp_program_find_strip(const struct sdp_program *p,
			    const struct sdp_program_state *s,
			    struct sdp_program_strip *strip);

#endif /* SDP_PROTO_PROGRAM_H */
