/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pair simulator: two engines, their surroundings and a judge.
 *
 *	application   writes, reads, stops reading, shuts down
 *	owner         keeps segments, posts receives, sends what the engine allows;
 *	              sends SrcAvails, reads or declines those of the peer;
 *	              sends SinkAvails, writes into the buffers of the peer
 *	engine        the product code, unchanged
 *	transport     reliable and in order; a message is in flight, lands in a posted
 *	              receive and is received by the engine; sends complete late, several at
 *	              a time; the link ends. A message without a receive is held back, with all
 *	              messages behind it
 *
 * Each possible event is a struct sim_step, so a schedule is a list of steps. pair.c draws them at
 * random, search.c enumerates them. The judge checks every message against its own counts, which
 * come from the wire alone. Only for C6 does it trust the engine's state (judge_sinkavail.c).
 */
#ifndef SDP_UNIT_SIM_H
#define SDP_UNIT_SIM_H

#include "engine.h"

/* Capacity of a simulation; the exhaustive search uses smaller values. */
#ifndef SIM_MSGS
#define SIM_MSGS	128	/* messages in flight, each direction */
#define SIM_BYTES	8704	/* bytes of one message */
#define SIM_SEGMENTS	32	/* unsent segments */
#endif

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

enum sim_kind {
	SIM_WRITE,		/* arg bytes; more: MSG_MORE; urgent: MSG_OOB */
	SIM_READ,		/* arg bytes */
	SIM_LAND,		/* side's oldest message in flight reaches a receive */
	SIM_RECEIVE,		/* side's engine receives the oldest landed message */
	SIM_COMPLETE,		/* arg of side's sends complete */
	SIM_POST,		/* arg receives are posted */
	SIM_UNHOLD,		/* the application ends a MSG_MORE sequence */
	SIM_SHUTDOWN,
	SIM_TARGET,		/* arg receives, arg2 threshold */
	SIM_ESTABLISHED,	/* the transport tells the accepting side */
	SIM_LINK_ENDED,		/* the transport tells side */
	SIM_ABORT,
	SIM_SHRINK,		/* idle for long: ask for small receives again */
	SIM_REFUSE,		/* no memory for the larger receives of a request */
	SIM_SRCAVAIL,		/* write of arg bytes by SrcAvail, arg2 of them inlined */
	SIM_WITHDRAW,		/* withdraw that SrcAvail */
	SIM_RDMA,		/* begin an RDMA read of arg bytes of the peer's SrcAvail */
	SIM_RDMA_MOVE,		/* arg bytes of that read arrive */
	SIM_RDMA_END,		/* that read ends; arg: it fails */
	SIM_DECLINE,		/* no buffer for the peer's SrcAvail or its rest */
	SIM_LATE,		/* answer a cancel that has crossed the last answer,
				 * as some other implementations do
				 */
	SIM_LARGE,		/* a reader has read all data, waits with a large buffer */
	SIM_WANT,		/* the reader's buffer was there before the SrcAvail */
	SIM_BUFFER,		/* send SinkAvail for a buffer, arg bytes over the minimum */
	SIM_UNBUFFER,		/* cancel all SinkAvails */
	SIM_PUT,		/* RDMA write of arg bytes into the peer's oldest buffer */
	SIM_PUT_MOVE,		/* the hardware does that write before the next message */
	SIM_MISS,		/* a large write found no buffer in time; arg: our
				 * SrcAvail was withdrawn because it was not read
				 */
	SIM_RING,		/* make the ring that the peer asks for; arg 1: half
				 * as large, 2: none
				 */
	SIM_LEAVE,		/* idle for long: give the peer's ring back */
	SIM_CALL,		/* a call of the application, which lets lazy data go */
	SIM_KINDS
};

struct sim_step {
	u8 kind;
	u8 side;
	bool more;
	bool urgent;
	u16 arg;
	u16 arg2;
};

struct sim_config {
	u16 target[2];
	u16 threshold[2];
	u16 first[2];		/* receives posted before the Hello */
	u16 room[2];		/* most receives posted or holding unread data */
	u16 slots[2];
	u16 segment[2];		/* bytes of a full segment; 0: as a message takes */
	u16 segments[2];	/* most unsent segments, like SO_SNDBUF */
	u32 recv_size[2];
	u32 recv_size_max[2];
	u16 split_level[2];
	u32 seq[2];		/* first sequence numbers, to test a wrap */
	bool adverts[2];	/* large writes may use SrcAvail */
	u16 mode_after[2];	/* transfers in a row that change the mode; 0: never */
	bool late[2];		/* also answers a cancel that has crossed the answer */
	bool pipelined[2];	/* its sending half begins in Pipelined */
	u8 buffers[2];		/* most SinkAvails at once */
	bool revocable[2];	/* may use Send with Invalidate */
	bool post_first;	/* post receives of messages without payload before sending */
	u32 ring_max[2];	/* largest ring in bytes; 0: does not know rings */
	u32 window[2];
	u8 scheme[2];		/* wish for its own data */
	bool lazy[2];		/* data by RDMA waits for a call of the application */
};

struct sim_wire_msg {
	u16 len;
	struct sdp_ring_place to;	/* place in the peer's ring; rkey 0 for none */
	u8 bytes[SIM_BYTES];
};

/* What the judge knows of one side, from the wire and from the steps. */
struct sim_truth {
	u32 sent;		/* messages: LSSQ */
	u32 received;		/* messages: LRSQ */
	u32 peer_received;	/* last MSeqAck seen */
	u32 limit;		/* newest message that the peer has granted (D1) */
	u32 last_data;		/* newest own message with payload */
	u32 last_partial;	/* newest own message that could have carried more */
	u32 disconn;		/* own DisConn */
	u32 grants;		/* receives posted since the Hello */
	u32 updates;		/* credit updates sent */
	s32 theirs;		/* the peer's credit (D3) */
	u16 posted;
	u16 target;
	u16 target_max;		/* the largest target so far, which there is memory for */
	u16 threshold;
	u16 threshold_min;	/* the smallest threshold so far */
};

/* Receive sizes of both directions, BSDH included. */
struct sim_sizes {
	u16 recv[SIM_MSGS];	/* sizes of posted receives, by running number */
	u32 may_send;		/* size that the peer has stated, or our smaller request */
	u32 back_to;		/* @may_send after a shrink */
	u32 told;		/* size that we have stated */
	u32 asked;		/* our open request; 0: none, or it is void */
	u32 wants;		/* size of a request that is to be sent; 0: none */
	u32 owes;		/* the peer's request that we have to answer */
	u32 owes_after;		/* number of receives to use up before that answer */
	u32 level;
	u32 splits;
	u32 largest;
	u32 kept;		/* receives that our last answer has not granted */
	u32 flush;		/* empty messages that may follow a shrink */
	bool flushed;		/* a shrink is done: no larger receive may remain */
	bool refused;		/* no memory for the peer's request */
	u16 posted_most;	/* most receives that the peer has ever reported */
	bool put_off;		/* the peer has refused, and @posted_most has not grown */
	bool shrinks;		/* the owner's shrink is in progress */
};

/* The SrcAvail of this side. */
struct sim_advert {
	bool next_mid;		/* sdp_engine_srcavail() was called, and it is not over */
	bool out;		/* SrcAvail has been sent, so the key is valid */
	bool withdrawn;
	bool cancel_sent;
	bool over_due;		/* the final answer came; the engine has to report that */
	bool pipe_due;		/* that answer has REQ_PIPE, so a write would be taken */
	u64 at;			/* offset in the own stream */
	u32 len;
	u32 inlined;
	u32 read;		/* bytes read, by the peer's reports */
	u32 seq;		/* number of its message */
	u32 key;
};

/* The peer's SrcAvail, by the wire. */
struct sim_srcavail_arrived {
	bool open;
	bool told;		/* the owner knows of it */
	bool declined;		/* by the owner, or by the peer's cancel */
	u32 len;
	u32 key;
	u64 va;
	u32 got;
	u32 reading;		/* bytes of the RDMA read in flight */
	u32 moved;		/* bytes of that read that have arrived */
	u32 unreported;
	bool pipe;		/* our answers to it have REQ_PIPE */
	bool crossed;		/* a cancel has crossed our final report */
};

/* Modes of both halves of this side, by the wire. */
struct sim_modes {
	u8 tx;
	u8 rx;
	u8 toward;		/* mode that the last transfers speak for */
	u32 alike;		/* number of transfers in a row that speak for @toward */
	u32 missed;		/* large writes in a row that found no buffer */
	bool due;		/* ModeChange to @toward is to be sent */
	bool large;		/* a large reader waits: ModeChange is to be sent */
};

/* A buffer that this side's reader advertises. */
struct sim_buffer {
	u32 id;
	u32 key;
	u32 len;
	u32 seq;		/* number of its SinkAvail; 0: not sent */
	u32 filled;		/* bytes written by the peer's RDMA hardware */
	u64 from;		/* offset of these bytes in the peer's stream */
};

struct sim_buffers {
	struct sim_buffer list[SDP_SINKAVAILS_MAX];
	u8 n;
	bool cancel;		/* the owner cancels all SinkAvails */
	bool cancel_sent;
	u32 came;		/* NonDiscards: messages that have discarded none */
};

/* A buffer of the peer, by the wire; or an RDMA write into one. */
struct sim_place {
	u32 key;
	u32 len;
	u32 behind;		/* of a write: number of messages sent before it */
	u64 at;			/* of a write: offset of its bytes in the own stream */
};

struct sim_places {
	struct sim_place list[SDP_SINKAVAILS_MAX];
	struct sim_place put[SDP_SINKAVAILS_MAX];	/* RDMA writes not yet done */
	u8 n;
	u8 puts;
	u32 unreported;
	u32 key;		/* key of the buffer that @unreported bytes are in */
	bool owes_ack;
	u32 went;		/* NonDiscards: messages that have discarded none */
};

/* A ring of this side; of size 0 if there is none. Byte counts begin when the ring is made. */
struct sim_home {
	u32 key;
	u32 size;
	u32 landed;		/* bytes written by the peer's hardware */
	u32 came;		/* bytes that the engine has received */
	u32 read;
	u32 told;
};

/* Rings of both directions: the own rings, and the peer's by the wire. */
struct sim_rings {
	struct sim_home cur;
	struct sim_home next;	/* made, and no message has come in it yet */
	u32 wanted;		/* most bytes of the ring that the peer asks for */
	bool owes;		/* RingAvail has to answer that request */
	bool shown;
	u32 size;		/* this and the next six members: the peer's ring */
	u32 key;
	u32 head;
	u32 freed;
	u32 asked;
	u32 refusals;
	bool stalled;
	bool tells;		/* the peer has to be told what is read */
	u32 cap;		/* ring size that limits the number of receives (G4) */
	u16 target;		/* number of receives wished for */
	u16 threshold;
};

/* Address of the first byte of a ring. */
#define SIM_RING_VA(key)	((u64)(key) << 24)

/* Address of the first byte of a side's stream. */
#define SIM_VA		0x7f0000000000ULL
#define SIM_SENT	28

struct sim_side {
	struct sdp_engine e;
	struct sim_truth t;
	struct sim_sizes z;
	struct sim_advert ad;
	struct sim_srcavail_arrived of;
	struct sim_modes mo;
	struct sim_buffers bu;
	struct sim_places pl;
	struct sim_rings ri;
	bool discards[SIM_MSGS];	/* which own messages discard a buffer */
	u32 landed;		/* number of own messages that have landed */
	u32 completed;
	u64 written;		/* stream offset, own direction */
	u64 taken;		/* bytes given to the engine */
	u64 delivered;		/* stream offset, peer's direction */
	u64 read;
	u32 rest;		/* rest of an ended SrcAvail, sent before the segments */
	u16 seg[SIM_SEGMENTS];
	u16 seg_max[SIM_SEGMENTS];
	u16 segs;
	u32 seg_urgent;		/* bit i: segment i ends with an urgent byte */
	u32 urgent_at[SIM_MSGS];	/* own stream offsets of urgent bytes, low bits */
	u32 urgent_written;
	u32 urgent_delivered;	/* urgent bytes of the peer */
	u32 urgent_told;
	u16 unread[SIM_MSGS];	/* lengths of received messages that hold a buffer */
	u16 unread_ring[SIM_MSGS];	/* bytes of our ring that these messages hold */
	u16 unread_first;
	u16 unread_n;
	u16 unread_plain;		/* number of these messages that hold a receive */
	bool hold;
	bool shutdown;
	bool disconn_sent;
	bool established;
	bool eof;
	bool disconnect;	/* the engine has asked to end the link */
	bool ended;
	bool failed;
	struct sim_wire_msg wire[SIM_MSGS];	/* the last member, see sim_copy() */
};

struct sim {
	struct sim_config cfg;
	bool link_down;
	bool aborted;
	u64 steps;
	bool declines;		/* sim_settle() declines SrcAvails */
	bool posts;		/* sim_settle() answers SrcAvails with a buffer */
	bool wants;		/* sim_settle() answers SrcAvails with REQ_PIPE */
	bool calls;		/* the application is in a call */
	u32 keys;		/* number of keys made so far */
	u64 sent[SIM_SENT];	/* 0 data, 1 credit updates, 2 DisConns;
				 * resize: 3 requests, 4 answers, 5 flushes;
				 * SrcAvail: 6 sent, 7 reports, 8 SendSms, 9 cancels,
				 * 10 updates that let the peer answer;
				 * modes: 11 changes by the source, 12 by the sink;
				 * SinkAvail: 13 sent, 14 with payload, 15 written,
				 * 16 discarded, 17 stale, 18 cancels, 19 acks of these;
				 * 20 changes to Pipelined;
				 * rings: 21 messages in them, 22 messages beyond the grant,
				 * 23 requests, 24 rings, 25 refusals, 26 given back,
				 * 27 updates that tell what was read
				 */
	struct sim_side side[2];
};

void sim_start(struct sim *s, const struct sim_config *cfg);
bool sim_may(const struct sim *s, const struct sim_step *step);
void sim_do(struct sim *s, const struct sim_step *step);
void sim_copy(struct sim *to, const struct sim *from);
void sim_settle(struct sim *s, u32 readers);
void sim_traffic(struct sim *s);
void sim_learn(struct sim *s);
bool sim_all_over(const struct sim *s);
u64 sim_key(const struct sim *s);
void sim_print_step(const struct sim_step *step);
void sim_print(const struct sim *s);

/* Called once for a fault, after its cause was printed. Does not return. */
extern void (*sim_on_fault)(const struct sim *s);

/*
 * Check only the outcome: lost or wrong bytes, overruns, blocked sides. Do not check whether
 * updates and segments go at the right time. Shows which of the rules matter for the outcome
 * (mutants.sh).
 */
extern bool sim_outcome_only;

void sim_srcavail(struct sim *s, u32 side, u32 len, u32 inlined);
void sim_withdraw(struct sim *s, u32 side);
void sim_srcavail_over(struct sim *s, u32 side, u32 taken);
void sim_rdma_begin(struct sim *s, u32 side, u32 bytes);
void sim_rdma_move(struct sim *s, u32 side, u32 bytes);
void sim_rdma_end(struct sim *s, u32 side, bool ok);
void sim_decline(struct sim *s, u32 side);
void sim_late(struct sim *s, u32 side);
void sim_send(struct sim *s, u32 side, const struct sdp_tx_msg *tx, bool full);
bool sim_may_advert(const struct sim *s, const struct sim_step *step, bool open);
void sim_do_advert(struct sim *s, const struct sim_step *step);

void sim_buffer_init(struct sim *s);
bool sim_may_buffer(const struct sim *s, const struct sim_step *step, bool open);
void sim_do_buffer(struct sim *s, const struct sim_step *step);
void sim_buffer_written(struct sim *s, u32 side, const struct sdp_action *a);
void sim_buffer_over(struct sim *s, u32 side, u32 id);
void sim_put_rest(struct sim *s, u32 side);
void sim_puts_land(struct sim *s, u32 side);

bool sim_may_ring(const struct sim *s, const struct sim_step *step, bool open);
void sim_do_ring(struct sim *s, const struct sim_step *step);
void sim_rings_over(struct sim *s, u32 side, u32 left);
void sim_ring_written(struct sim *s, u32 side, const struct sim_wire_msg *m);
bool sim_ring_place(struct sim *s, u32 side, const struct sim_wire_msg *m,
		    struct sdp_actions *acts);
void sim_ring_read(struct sim *s, u32 side, u32 bytes, bool all);
u16 sim_receives(const struct sim *s, u32 side, u16 wish);
void sim_target(struct sim *s, u32 side, u16 target, u16 threshold);
bool sim_by_nic(const struct sim *s);
bool sim_by_rdma(const struct sim *s, u32 side);

u16 sim_threshold(u16 target, u16 wish);
u16 sim_can_post(const struct sim *s, u32 side);

/* Could one more receive be posted? */
static inline bool sim_room(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];

	return me->t.posted + me->unread_plain < s->cfg.room[side] &&
	       me->t.posted + me->unread_n < SIM_MSGS;
}

static inline u32 sim_in_flight(const struct sim_side *me)
{
	return me->t.sent - me->landed;
}

/* Is there a receive for the oldest message that @side has in flight? */
static inline bool sim_finds_receive(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];

	return peer->t.posted > me->landed - peer->t.received;
}

#endif /* SDP_UNIT_SIM_H */
