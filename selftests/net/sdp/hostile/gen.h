/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases drawn from a seed. What a case says depends on seed and number only, so that one that
 * went wrong can be asked for again; when it says it, and how far it gets, also on the peer.
 */
#ifndef SDP_HOSTILE_GEN_H
#define SDP_HOSTILE_GEN_H

#include <linux/prandom.h>

#include "hostile.h"

/* What a case does that it should not, or the last thing that it says. */
#define GEN_KINDS(_)			\
	_(HELLO_SHORT,	"hello-short")	\
	_(HELLO_LEN,	"hello-len")	\
	_(HELLO_VERSION, "hello-version")	\
	_(HELLO_RANDOM,	"hello-random")	\
	_(HELLO_FIELDS,	"hello-fields")	\
	_(GOES_AT_ONCE,	"goes-at-once")	\
	_(NO_RTU,	"no-rtu")	\
	_(REJECTS,	"rejects")	\
	_(GOES,		"goes-before-rtu")	\
	_(TALKS_EARLY,	"talks-before-rtu")	\
	_(DISCONNECTS,	"disconnects")	\
	_(SILENT,	"silent")	\
	_(ACK_SHORT,	"ack-short")	\
	_(ACK_LEN,	"ack-len")	\
	_(ACK_VERSION,	"ack-version")	\
	_(ACK_RANDOM,	"ack-random")	\
	_(ACK_FIELDS,	"ack-fields")	\
	_(RIGHT,	"right")	\
	_(SPOILED,	"spoiled")	\
	_(CUT,		"cut")		\
	_(PADDED,	"padded")	\
	_(GARBAGE,	"garbage")	\
	_(REPLAYED,	"replayed")	\
	_(SKIPPED,	"skipped")	\
	_(BURST,	"burst")	\
	_(IMM,		"write-imm")	\
	_(REVOKE,	"revoke")	\
	_(RDMA,		"rdma")		\
	_(REST,		"rest")		\
	_(EXPOSE,	"expose")	\
	_(STINGY,	"stingy")	\
	_(RING_ASK,	"ring-ask")	\
	_(RING_AVAIL,	"ring-avail")	\
	_(RING_FREED,	"ring-freed")	\
	_(RING_WRITE,	"ring-write")

#define GEN_KIND_ENUM(kind, name) GEN_##kind,
enum gen_kind {
	GEN_KINDS(GEN_KIND_ENUM)
	GEN_KIND_COUNT,
};

/**
 * struct gen_rings - what a case knows of rings
 * @agreed: both ends know them
 * @in: scheme of what we say
 * @out: scheme of what the peer says
 * @window: the smaller one of both
 * @asks: so often we have asked for a ring of the peer's
 * @answers: so often it has answered, as far as we have seen
 * @shown: the last answer was a ring, and nothing is in it yet
 * @next: that ring
 * @region: the one that we write into, of no bytes if there is none
 * @odd: the first one of the connection, the third ..
 * @head: bytes written into it
 * @lost: one has been given back that may not have been there
 * @own_answers: so often we have told of a ring of ours
 * @own_count: so many of them were rings
 * @own_odd: the last one was the first, the third ..
 * @own_freed: what we have said is free of it
 * @given: so often the peer had given one back by then
 */
struct gen_rings {
	bool agreed;
	u8 in;
	u8 out;
	u32 window;
	u32 asks;
	u32 answers;
	bool shown;
	struct sdp_region next;
	struct sdp_region region;
	bool odd;
	u32 head;
	bool lost;
	u32 own_answers;
	u32 own_count;
	bool own_odd;
	u32 own_freed;
	u32 given;
};

/**
 * struct gen - a case
 * @rnd: what is drawn
 * @number: which one
 * @h: its connection
 * @limit: newest message that the peer was told it may send
 * @bytes: length of the last message
 * @why: what obliges the peer to end the connection, or NULL
 * @step: how many things it has done
 * @kind: the kind of the last one
 * @rings: what it knows of rings
 */
struct gen {
	struct rnd_state rnd;
	u32 number;
	struct hostile *h;
	u32 limit;
	u32 bytes;
	const char *why;
	u32 step;
	enum gen_kind kind;
	struct gen_rings rings;
};

/* What can come of a case; the last one is what must not. */
enum gen_end {
	GEN_REFUSED,		/* by the peer, before there was a connection */
	GEN_LEFT,		/* we have ended it */
	GEN_ENDED,		/* the peer had to end it, and has */
	GEN_BROKE,		/* the queue pair has failed */
	GEN_HELD,		/* it is left alone, and ended later */
	GEN_NO_ANSWER,
	GEN_UNHEARD,		/* the peer had to end it, nothing was heard of it */
	GEN_WRONG,
	GEN_ENDS,
};

/* gen.c */
void gen_begin(struct gen *g, u64 seed, u32 number);
u32 gen_draw(struct gen *g, u32 below);
void gen_spoil(struct gen *g, u8 *p, u32 size);
enum gen_end gen_verdict(struct gen *g, int err);
void gen_over(const struct gen *g, enum gen_end end);
struct hostile *gen_lane(void);

/* gen_msg.c */
u8 gen_draw_mid(struct gen *g);
void gen_make(struct gen *g, u8 mid);
void gen_spoil_field(struct gen *g);
void gen_judge(struct gen *g, u32 bytes, bool placed);
int gen_say(struct gen *g);
int gen_step_right(struct gen *g);
int gen_talk(struct gen *g);

/* gen_ring.c */
void gen_rings_wish(struct gen *g, struct sdp_hello *hello);
void gen_rings_agree(struct gen *g, const struct sdp_hello *own);
bool gen_ring_told(struct gen *g, struct sdp_region *region);
const char *gen_rings_judge(struct gen *g, const struct sdp_msg *msg);
int gen_rings_begin(struct gen *g);
int gen_step_ring_ask(struct gen *g);
int gen_step_ring_avail(struct gen *g);
int gen_step_ring_freed(struct gen *g);
int gen_step_ring_write(struct gen *g);

/* gen_accept.c */
int gen_accept(u64 seed, u32 first, u32 count, u16 port);
void gen_accept_stop(void);
void gen_accept_exit(void);

#endif /* SDP_HOSTILE_GEN_H */
