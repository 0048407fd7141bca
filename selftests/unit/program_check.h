/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares a data gather/scatter program with a simple interpreter (H2, H3).
 *
 * program_draw() makes a program from bytes. reference_run() does it operation by operation and
 * byte by byte, and knows nothing of sums. program_differs() compares: what is refused, where each
 * byte lies, and the state after any number of bytes, moved or dry. Used by the unit tests, by
 * sim_program.c and by the fuzzer.
 */
#ifndef SDP_UNIT_PROGRAM_CHECK_H
#define SDP_UNIT_PROGRAM_CHECK_H

#include "program.h"

#define TRACE_MAX	4096
#define STEPS_MAX	200000
#define MEMORY		600

/**
 * struct program_bytes - what decides about a program and about how it is run
 * @next: next byte
 * @left: number of bytes left; zeros follow
 */
struct program_bytes {
	const u8 *next;
	u32 left;
};

static struct {
	u32 ops;
	u8 code[SDP_PROGRAM_OPS_MAX];
	s64 n[SDP_PROGRAM_OPS_MAX];
	s64 at;
	u32 steps;
	u32 bytes;
	bool outside;
	s64 trace[TRACE_MAX];
} reference;

static union {
	struct sdp_program p;
	u8 room[sizeof(struct sdp_program) +
		(SDP_PROGRAM_OPS_MAX + 1) * sizeof(struct sdp_program_op)];
} drawn;

/* Number of programs that were run to their end, and of strips found in them. */
static u64 programs_run, strips_found;

/* States at the ends of the pieces, as for parts that come in any order. */
static struct sdp_program_state kept[TRACE_MAX + 1];

static u8 draw_byte(struct program_bytes *b)
{
	if (!b->left)
		return 0;
	b->left--;
	return *b->next++;
}

static s64 draw_number(struct program_bytes *b, u32 code, u32 i)
{
	u8 n = draw_byte(b);

	switch (code) {
	case SDP_PROGRAM_COPY:
		return n % 12;
	case SDP_PROGRAM_SKIP:
		return n % 24 - 8;
	case SDP_PROGRAM_SEEK:
		return n;
	case SDP_PROGRAM_LOOP:
		return n % 5;
	case SDP_PROGRAM_CALL:
		return i + n % 16;
	default:
		return 0;
	}
}

static void draw_op(u32 code, s64 n)
{
	if (reference.ops == SDP_PROGRAM_OPS_MAX)
		return;
	reference.code[reference.ops] = code;
	reference.n[reference.ops] = n;
	reference.ops++;
}

static void draw_ends(u32 *open)
{
	for (; *open; --*open)
		draw_op(SDP_PROGRAM_END, 0);
}

/* Let each call lead to the beginning of a procedure, if one follows. */
static void draw_calls(struct program_bytes *b)
{
	u32 i, to, skip;

	for (i = 0; i < reference.ops; i++) {
		if (reference.code[i] != SDP_PROGRAM_CALL)
			continue;
		skip = draw_byte(b) % 4;
		reference.code[i] = SDP_PROGRAM_SKIP;
		for (to = i + 2; to < reference.ops; to++) {
			if (reference.code[to - 1] != SDP_PROGRAM_RETURN)
				continue;
			reference.code[i] = SDP_PROGRAM_CALL;
			reference.n[i] = to;
			if (!skip--)
				break;
		}
	}
}

/* A program as it comes, or one in which each loop has its end and each call leads somewhere. */
static bool program_draw(struct program_bytes *b)
{
	/* COPY more often than the others. */
	static const u8 codes[] = { 0, 1, 2, 3, 4, 5, 6, 0, 1, 3, 4, 0 };
	u8 first = draw_byte(b);
	bool formed = first & 128;
	u32 ops = first % 64, open = 0, i;

	memset(&reference, 0, sizeof(reference));
	memset(&drawn, 0, sizeof(drawn.p));
	for (i = 0; i < ops; i++) {
		u32 code = codes[draw_byte(b) % sizeof(codes)];
		s64 n = draw_number(b, code, i);

		if (formed && code == SDP_PROGRAM_RETURN)
			draw_ends(&open);
		if (formed && code == SDP_PROGRAM_END && !open)
			continue;
		open += (code == SDP_PROGRAM_LOOP) - (code == SDP_PROGRAM_END);
		draw_op(code, n);
	}
	if (formed) {
		draw_ends(&open);
		draw_calls(b);
	}
	for (i = 0; i < reference.ops; i++)
		if (sdp_program_add(&drawn.p, reference.code[i], reference.n[i]))
			return false;
	return true;
}

static u32 reference_code(u32 i)
{
	return i < reference.ops ? reference.code[i] : SDP_PROGRAM_RETURN;
}

/* The END of the loop at @i; 0 if there is none before a RETURN. */
static u32 reference_end(u32 i)
{
	u32 open = 0;

	for (i++; i < reference.ops; i++) {
		if (reference.code[i] == SDP_PROGRAM_RETURN)
			return 0;
		if (reference.code[i] == SDP_PROGRAM_LOOP)
			open++;
		else if (reference.code[i] == SDP_PROGRAM_END && !open--)
			return i;
	}
	return 0;
}

/* How deep loops and calls go from @i on, to the end of its sequence; beyond 8 it is the same. */
static u32 reference_depth(u32 i, u32 above)
{
	u32 deepest = above;

	if (above > SDP_PROGRAM_DEPTH_MAX)
		return above;
	for (;; i++) {
		u32 code = reference_code(i), depth = above;

		if (code == SDP_PROGRAM_RETURN || code == SDP_PROGRAM_END)
			return deepest;
		if (code == SDP_PROGRAM_LOOP) {
			depth = reference_depth(i + 1, above + 1);
			i = reference_end(i);
		} else if (code == SDP_PROGRAM_CALL) {
			depth = reference_depth(reference.n[i], above + 1);
		}
		deepest = max(deepest, depth);
	}
}

static bool reference_well_formed(void)
{
	u32 i, open = 0;

	for (i = 0; i < reference.ops; i++) {
		s64 n = reference.n[i];

		if (reference.code[i] == SDP_PROGRAM_LOOP) {
			open++;
			if (!reference_end(i))
				return false;
		} else if (reference.code[i] == SDP_PROGRAM_END && !open--) {
			return false;
		} else if (reference.code[i] == SDP_PROGRAM_CALL &&
			   (n <= i || n >= reference.ops ||
			    reference.code[n - 1] != SDP_PROGRAM_RETURN)) {
			return false;
		}
	}
	for (i = 0; i < reference.ops; i++)
		if (reference_depth(i, 0) > SDP_PROGRAM_DEPTH_MAX)
			return false;
	return true;
}

static void reference_copy(s64 n)
{
	for (; n-- && reference.bytes < TRACE_MAX; reference.at++) {
		reference.outside |= reference.at < 0 || reference.at >= MEMORY;
		reference.trace[reference.bytes++] = reference.at;
	}
}

static void reference_run(u32 i)
{
	for (;; i++) {
		s64 n = i < reference.ops ? reference.n[i] : 0;
		u32 code = reference_code(i);

		if (code == SDP_PROGRAM_RETURN || code == SDP_PROGRAM_END ||
		    reference.bytes == TRACE_MAX || reference.steps++ == STEPS_MAX)
			return;
		if (code == SDP_PROGRAM_COPY)
			reference_copy(n);
		else if (code == SDP_PROGRAM_SKIP)
			reference.at += n;
		else if (code == SDP_PROGRAM_SEEK)
			reference.at = n;
		else if (code == SDP_PROGRAM_CALL)
			reference_run(n);
		if (code == SDP_PROGRAM_LOOP) {
			while (n--)
				reference_run(i + 1);
			i = reference_end(i);
		}
	}
}

/* Dry runs that begin somewhere before @k bytes lead to the same state as the bytes moved. */
static const char *dry_differs(struct program_bytes *b, u32 k)
{
	u32 i = draw_byte(b) % (k + 1);
	struct sdp_program_state s;

	sdp_program_begin(&drawn.p, &s);
	if (sdp_program_dry(&drawn.p, &s, k) != k || memcmp(&s, &kept[k], sizeof(s)))
		return "a dry run from the beginning";
	while (i && kept[i].done != i)
		i--;
	s = kept[i];
	if (sdp_program_dry(&drawn.p, &s, k - i) != k - i || memcmp(&s, &kept[k], sizeof(s)))
		return "a dry run from the middle";
	return NULL;
}

/* A strip at a state has the places of the next bytes, as many as it says. */
static const char *strip_differs(const struct sdp_program_state *s)
{
	struct sdp_program_strip strip;
	u32 k = s->done;
	u64 i, j;

	if (!sdp_program_find_strip(&drawn.p, s, &strip))
		return NULL;
	strips_found++;
	if (!strip.n || !strip.width || k + strip.n * strip.width > reference.bytes)
		return "bytes of a strip";
	for (i = 0; i < strip.n; i++)
		for (j = 0; j < strip.width; j++)
			if (reference.trace[k++] != strip.at + (s64)(i * strip.stride + j))
				return "position of a byte of a strip";
	return NULL;
}

/* Move all bytes, in pieces of any size. */
static const char *move_differs(struct program_bytes *b)
{
	struct sdp_program_state *s = &kept[0], now;
	const char *what;
	u32 k = 0, i;
	u64 n;
	s64 at;

	memset(kept, 0xff, (reference.bytes + 1) * sizeof(kept[0]));
	sdp_program_begin(&drawn.p, s);
	while (k < reference.bytes) {
		u64 most = 1 + draw_byte(b) % 40;

		now = kept[k];
		n = sdp_program_move(&drawn.p, &now, most, &at);
		if (!n || n > most || k + n > reference.bytes)
			return "number of bytes";
		for (i = 0; i < n; i++)
			if (reference.trace[k + i] != at + i)
				return "position of a byte";
		k += n;
		kept[k] = now;
		if (now.done != k)
			return "bytes done";
		what = dry_differs(b, k) ?: strip_differs(&now);
		if (what)
			return what;
	}
	now = kept[k];
	if (sdp_program_move(&drawn.p, &now, 1, &at) || sdp_program_dry(&drawn.p, &now, 1))
		return "the end of the program";
	return memcmp(&now, &kept[k], sizeof(now)) ? "the state at the end" : NULL;
}

/* Make a program from @data and run it. Returns what differs, or NULL. */
static const char *program_differs(const u8 *data, u32 bytes)
{
	struct program_bytes b = { data, bytes };
	int err;

	if (!program_draw(&b))
		return "an operation is refused";
	err = sdp_program_verify(&drawn.p, MEMORY);
	if (!reference_well_formed())
		return err == -EINVAL ? NULL : "a malformed program is taken";
	reference_run(0);
	if (reference.bytes == TRACE_MAX || reference.steps >= STEPS_MAX)
		return NULL;
	if (err != (reference.outside ? -EFAULT : 0))
		return "what is outside of the memory";
	if (sdp_program_length(&drawn.p) != reference.bytes)
		return "length of the message";
	if (err)
		return NULL;
	programs_run++;
	return move_differs(&b);
}

#endif /* SDP_UNIT_PROGRAM_CHECK_H */
