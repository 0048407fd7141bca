// SPDX-License-Identifier: GPL-2.0
/*
 * Data gather/scatter programs: verification, moving and dry run (H2, H3).
 *
 * program.h describes them.
 */
#include "program.h"

/* Pieces of memory behind each other that are joined at most. */
#define PROGRAM_JOIN_MAX	64

/**
 * struct program_ends - loops whose END has been seen, from behind
 * @n: number of them
 * @op: the END of each
 */
struct program_ends {
	u32 n;
	u32 op[SDP_PROGRAM_DEPTH_MAX];
};

/**
 * sdp_program_add() - add an operation behind the last one
 * @p: program; has room for one more
 * @code: enum sdp_program_code
 * @n: number of the operation
 *
 * Return: 0, or -EINVAL if there is no such operation.
 */
int sdp_program_add(struct sdp_program *p, u32 code, s64 n)
{
	bool negative = code == SDP_PROGRAM_SKIP;
	bool counts = code != SDP_PROGRAM_END && code != SDP_PROGRAM_RETURN;
	struct sdp_program_op *op = &p->op[p->ops];

	if (p->ops >= SDP_PROGRAM_OPS_MAX || code > SDP_PROGRAM_RETURN ||
	    n >= SDP_PROGRAM_FAR || n <= -SDP_PROGRAM_FAR ||
	    (n < 0 && !negative) || (n && !counts))
		return -EINVAL;
	memset(op, 0, sizeof(*op));
	op->code = code;
	op->n = n;
	p->ops++;
	return 0;
}

/* The END of a loop, which stands in front of the operations seen so far. */
static bool verify_end(struct program_ends *ends, u32 i)
{
	if (ends->n == SDP_PROGRAM_DEPTH_MAX)
		return false;
	ends->op[ends->n++] = i;
	return true;
}

static bool verify_loop(struct sdp_program *p, struct program_ends *ends,
			u32 i)
{
	struct sdp_program_op *op = &p->op[i];

	if (!ends->n)
		return false;
	op->end = ends->op[--ends->n];
	op->own = p->op[i + 1].rest;
	op->own.depth++;
	return sdp_program_sum_times(&op->own, op->n);
}

static bool verify_call(struct sdp_program *p, u32 i)
{
	struct sdp_program_op *op = &p->op[i];

	if (op->n <= i || op->n >= p->ops ||
	    p->op[op->n - 1].code != SDP_PROGRAM_RETURN)
		return false;
	op->own = p->op[op->n].rest;
	op->own.depth++;
	return true;
}

/* Find out what operation @i does. Those behind it have been verified. */
static bool verify_own(struct sdp_program *p, struct program_ends *ends, u32 i)
{
	struct sdp_program_op *op = &p->op[i];

	sdp_program_sum_none(&op->own);
	switch (op->code) {
	case SDP_PROGRAM_COPY:
		sdp_program_sum_copy(&op->own, op->n);
		return true;
	case SDP_PROGRAM_SKIP:
		sdp_program_sum_skip(&op->own, op->n);
		return true;
	case SDP_PROGRAM_SEEK:
		sdp_program_sum_seek(&op->own, op->n);
		return true;
	case SDP_PROGRAM_LOOP:
		return verify_loop(p, ends, i);
	case SDP_PROGRAM_CALL:
		return verify_call(p, i);
	case SDP_PROGRAM_END:
		return verify_end(ends, i);
	default:
		/* What is called does not end within a loop of its own. */
		return !ends->n;
	}
}

/* The operation behind @i in the same sequence. */
static u32 program_next(const struct sdp_program *p, u32 i)
{
	return p->op[i].code == SDP_PROGRAM_LOOP ? p->op[i].end + 1 : i + 1;
}

static bool verify_op(struct sdp_program *p, struct program_ends *ends, u32 i)
{
	struct sdp_program_op *op = &p->op[i];

	if (!verify_own(p, ends, i) ||
	    op->own.depth > SDP_PROGRAM_DEPTH_MAX)
		return false;
	op->rest = op->own;
	return op->code == SDP_PROGRAM_END ||
	       op->code == SDP_PROGRAM_RETURN ||
	       sdp_program_sum_then(&op->rest,
				    &p->op[program_next(p, i)].rest);
}

/**
 * sdp_program_verify() - make a program ready for use (H2)
 * @p: program; has room for one operation more
 * @memory: size in bytes of the memory that it is for
 *
 * The program begins at operation 0 and position 0.
 *
 * Return: 0; -EINVAL if it is malformed, nests too deep, moves 2^56 bytes or
 * more, or leads as far away; -EFAULT if it moves bytes outside the memory.
 */
int sdp_program_verify(struct sdp_program *p, u64 memory)
{
	struct sdp_program_op *last = &p->op[p->ops];
	struct program_ends ends = { };
	u32 i;

	memset(last, 0, sizeof(*last));
	last->code = SDP_PROGRAM_RETURN;
	sdp_program_sum_none(&last->own);
	last->rest = last->own;
	for (i = p->ops; i--;)
		if (!verify_op(p, &ends, i))
			return -EINVAL;
	if (ends.n)
		return -EINVAL;
	return sdp_program_sum_within(&p->op[0].rest, memory) ? 0 : -EFAULT;
}

/**
 * sdp_program_length() - bytes of the whole message
 * @p: verified program
 *
 * Return: number of bytes.
 */
u64 sdp_program_length(const struct sdp_program *p)
{
	return p->op[0].rest.bytes;
}

static void run_push(struct sdp_program_state *s, u32 op, s64 left)
{
	s->frame[s->depth].op = op;
	s->frame[s->depth].left = left;
	s->depth++;
}

/* Leave the innermost loop or call. */
static void run_pop(struct sdp_program_state *s)
{
	s->depth--;
	memset(&s->frame[s->depth], 0, sizeof(s->frame[s->depth]));
}

/* Do what moves @bytes of the message, and leads to @at, as a whole. */
static void run_pass(struct sdp_program_state *s, u64 bytes, s64 at, u64 *left)
{
	s->done += bytes;
	s->at = at;
	*left -= bytes;
}

/* At an END: repeat the loop as often as there is enough @left for. */
static void run_end(const struct sdp_program *p, struct sdp_program_state *s,
		    u64 *left)
{
	struct sdp_program_frame *f = &s->frame[s->depth - 1];
	const struct sdp_program_sum *body = &p->op[f->op + 1].rest;
	s64 n = min(sdp_div(*left, body->bytes), (u64)f->left);

	run_pass(s, n * body->bytes, sdp_program_sum_from(body, s->at, n),
		 left);
	if (n < f->left) {
		f->left -= n + 1;
		s->op = f->op + 1;
	} else {
		run_pop(s);
		s->op++;
	}
}

/* Begin a loop or a call. */
static void run_enter(const struct sdp_program *p, struct sdp_program_state *s)
{
	const struct sdp_program_op *op = &p->op[s->op];

	if (op->code == SDP_PROGRAM_CALL) {
		run_push(s, s->op, 0);
		s->op = op->n;
	} else {
		run_push(s, s->op, op->n - 1);
		s->op++;
	}
}

/* Move along an operation whose bytes lie behind each other. */
static void run_along(const struct sdp_program *p, struct sdp_program_state *s,
		      u64 *left)
{
	u64 rest = p->op[s->op].own.bytes - s->part;
	u64 n = min(rest, *left);

	run_pass(s, n, s->at + n, left);
	s->part += n;
	if (n == rest) {
		s->part = 0;
		s->op = program_next(p, s->op);
	}
}

/* One step. Returns false if there is none before the next byte. */
static bool run_step(const struct sdp_program *p, struct sdp_program_state *s,
		     u64 *left)
{
	const struct sdp_program_op *op = &p->op[s->op];

	if (op->code == SDP_PROGRAM_END) {
		run_end(p, s, left);
	} else if (op->code == SDP_PROGRAM_RETURN) {
		if (!s->depth) {
			s->op = p->ops;
			return false;
		}
		s->op = s->frame[s->depth - 1].op + 1;
		run_pop(s);
	} else if (!s->part && op->own.bytes <= *left) {
		run_pass(s, op->own.bytes,
			 sdp_program_sum_from(&op->own, s->at, 1), left);
		s->op = program_next(p, s->op);
	} else if (op->own.dense) {
		if (!*left)
			return false;
		run_along(p, s, left);
	} else {
		run_enter(p, s);
	}
	return true;
}

/**
 * sdp_program_dry() - continue without moving bytes (H3)
 * @p: verified program
 * @s: state; becomes that behind the bytes
 * @bytes: bytes of the message to pass
 *
 * Return: number of bytes passed; less than @bytes at the end of the program.
 */
u64 sdp_program_dry(const struct sdp_program *p, struct sdp_program_state *s,
		    u64 bytes)
{
	u64 left = bytes;

	while (run_step(p, s, &left))
		;
	return bytes - left;
}

/**
 * sdp_program_begin() - the state in front of the first byte
 * @p: verified program
 * @s: to fill in
 */
void sdp_program_begin(const struct sdp_program *p,
		       struct sdp_program_state *s)
{
	memset(s, 0, sizeof(*s));
	sdp_program_dry(p, s, 0);
}

/**
 * sdp_program_move() - find the next bytes, as far as they lie together
 * @p: verified program
 * @s: state; becomes that behind the bytes
 * @bytes: most bytes to find
 * @at: to fill in: position of the first
 *
 * Return: number of bytes; 0 at the end of the program.
 */
u64 sdp_program_move(const struct sdp_program *p, struct sdp_program_state *s,
		     u64 bytes, s64 *at)
{
	u64 n = 0;
	u32 i;

	*at = s->at;
	for (i = 0; i < PROGRAM_JOIN_MAX && n < bytes && s->op < p->ops &&
	     s->at == *at + (s64)n; i++)
		n += sdp_program_dry(p, s, min(p->op[s->op].own.bytes - s->part,
					       bytes - n));
	return n;
}

/**
 * sdp_program_find_strip() - are the next bytes pieces at equal distances?
 * @p: verified program
 * @s: state; not changed
 * @strip: to fill in: the next piece, and those that follow it
 *
 * They are when the next byte begins the only piece of the body of a loop.
 *
 * Return: true if they are.
 */
bool sdp_program_find_strip(const struct sdp_program *p,
			    const struct sdp_program_state *s,
			    struct sdp_program_strip *strip)
{
	const struct sdp_program_op *op = &p->op[s->op];
	const struct sdp_program_frame *f;
	const struct sdp_program_sum *body;

	if (s->op == p->ops || !s->depth || s->part || !op->own.dense)
		return false;
	/* Of a call, which is done once, there may be one piece. */
	f = &s->frame[s->depth - 1];
	body = &p->op[f->op + 1].rest;
	if (body->seeks || body->bytes != op->own.bytes)
		return false;
	strip->at = s->at;
	strip->width = body->bytes;
	strip->stride = body->shift;
	strip->n = f->left + 1;
	return true;
}
