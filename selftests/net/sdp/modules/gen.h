/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random cases of the hostile peer.
 *
 * Seed and number alone determine what a case sends, so that a failed case can be repeated. They
 * do not determine the timing, nor how far a case gets, which depends on the peer too.
 */
#ifndef SDP_HOSTILE_GEN_H
#define SDP_HOSTILE_GEN_H

#include <linux/prandom.h>

#include "hostile.h"

/* The fault of a case, or the kind of its last message. */
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
 * struct gen_rings - state of the rings of a case
 * @agreed: both ends support rings
 * @in: scheme of our direction
 * @out: scheme of the peer's direction
 * @window: the smaller window of both ends
 * @asks: number of times that we have asked for a ring
 * @answers: number of the peer's answers that we have seen
 * @shown: the last answer was a ring, and we have written nothing into it yet
 * @next: that ring
 * @region: the ring that we write into; length 0 if there is none
 * @odd: @region is the first, third, ... ring of the connection
 * @head: bytes written into @region
 * @lost: a ring was given back whose answer had not arrived, so the count of rings is unknown
 * @own_answers: number of RingAvail messages that we have sent
 * @own_count: number of those that carried a ring
 * @own_odd: the last one was the first, third, ... ring
 * @own_freed: bytes that we have reported as freed in it
 * @given: number of rings that the peer had given back when the last one was announced
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
 * @rnd: random state
 * @number: number of the case
 * @h: its connection
 * @limit: number of the newest message that the peer may send
 * @bytes: length of the last message
 * @why: reason why the peer must end the connection, or NULL
 * @step: number of steps taken
 * @kind: kind of the last step
 * @rings: state of the rings
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

/* Results of a case. GEN_WRONG is a failure of AF_SDP. */
enum gen_end {
	GEN_REFUSED,		/* by the peer, before there was a connection */
	GEN_LEFT,		/* we ended it */
	GEN_ENDED,		/* the peer had to end it, and did */
	GEN_BROKE,		/* the queue pair failed */
	GEN_HELD,		/* kept open without traffic, and ended later */
	GEN_NO_ANSWER,
	GEN_UNHEARD,		/* the peer had to end it, and we got no message about that */
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
