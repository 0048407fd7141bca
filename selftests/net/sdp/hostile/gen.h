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
	_(STINGY,	"stingy")

#define GEN_KIND_ENUM(kind, name) GEN_##kind,
enum gen_kind {
	GEN_KINDS(GEN_KIND_ENUM)
	GEN_KIND_COUNT,
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
int gen_talk(struct gen *g);

/* gen_accept.c */
int gen_accept(u64 seed, u32 first, u32 count, u16 port);
void gen_accept_stop(void);
void gen_accept_exit(void);

#endif /* SDP_HOSTILE_GEN_H */
