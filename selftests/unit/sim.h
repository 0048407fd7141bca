/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pair simulator: two engines, what surrounds them, and a judge.
 *
 *	application   write, read, stop reading, shut down
 *	owner         keeps segments, posts receives, sends whatever the engine allows;
 *	              advertises large sends, reads or declines what the peer advertises;
 *	              advertises buffers, writes into the peer's
 *	engine        the product code, unchanged
 *	transport     reliable and in order; messages fly, land in a posted receive, are
 *	              handed in; sends complete late, several at a time; the link ends. What
 *	              finds no receive is held back, and all that was sent later waits behind it
 *
 * Everything that may happen at some moment is one struct sim_step, so a schedule is a list
 * of steps: drawn at random (pair.c) or enumerated (search.c). The judge looks at every
 * message with counts of its own, made from the wire alone, and knows nothing of the
 * engine's fields.
 */
#ifndef SDP_UNIT_SIM_H
#define SDP_UNIT_SIM_H

#include "engine.h"

/* How much a simulation can hold; the exhaustive search makes these small. */
#ifndef SIM_MSGS
#define SIM_MSGS	128	/* messages on the way, each direction */
#define SIM_BYTES	8704	/* of one message */
#define SIM_SEGMENTS	32	/* of unsent bytes */
#endif

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

enum sim_kind {
	SIM_WRITE,		/* arg bytes; more: MSG_MORE; urgent: MSG_OOB */
	SIM_READ,		/* arg bytes */
	SIM_LAND,		/* the oldest message that side has in flight reaches a receive */
	SIM_RECEIVE,		/* side is handed the oldest message that has landed */
	SIM_COMPLETE,		/* arg of side's sends complete */
	SIM_POST,		/* arg receives are posted */
	SIM_UNHOLD,		/* what MSG_MORE held is let go */
	SIM_SHUTDOWN,
	SIM_TARGET,		/* arg receives, arg2 threshold */
	SIM_ESTABLISHED,	/* the transport tells the accepting side */
	SIM_LINK_ENDED,		/* the transport tells side */
	SIM_ABORT,
	SIM_SHRINK,		/* idle for long: the owner gives large receives back */
	SIM_REFUSE,		/* no memory for the larger receives that the peer wants */
	SIM_OFFER,		/* arg bytes are written and advertised, arg2 of them go along */
	SIM_WITHDRAW,		/* ... and that is taken back */
	SIM_RDMA,		/* a read of arg bytes of what the peer advertises begins */
	SIM_RDMA_MOVE,		/* arg bytes of it are moved */
	SIM_RDMA_END,		/* it has ended; arg: it has failed */
	SIM_DECLINE,		/* no room for what the peer advertises, or for the rest */
	SIM_LATE,		/* as another implementation: a cancel that has crossed the last
				 * answer is answered as well
				 */
	SIM_LARGE,		/* a reader has read all there is, and waits with a large buffer */
	SIM_WANT,		/* its buffer had been there before what the peer advertises */
	SIM_BUFFER,		/* arg bytes are posted and advertised, to be written into */
	SIM_UNBUFFER,		/* ... and all of these are taken back */
	SIM_PUT,		/* arg bytes are written into the peer's oldest buffer */
	SIM_PUT_MOVE,		/* ... by the RDMA hardware, before the next message lands */
	SIM_MISS,		/* no buffer came in time for a large write; arg: what was
				 * advertised was taken back, for nobody read it
				 */
	SIM_RING,		/* the ring that the peer wants is made; arg: it is half as large,
				 * or there is none
				 */
	SIM_LEAVE,		/* idle for long: the owner gives the peer's ring back */
	SIM_CALL,		/* the program calls, which is all that lets lazy data go */
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
	u16 room[2];		/* receives posted or holding unread data, at most */
	u16 slots[2];
	u16 segment[2];		/* bytes of a full segment, 0 for what the peer takes */
	u16 segments[2];	/* SO_SNDBUF, so to say */
	u32 recv_size[2];
	u32 recv_size_max[2];
	u16 split_level[2];
	u32 seq[2];		/* where sequence numbers start, to cross a wrap */
	bool adverts[2];	/* large writes may be advertised */
	u16 mode_after[2];	/* declined in a row: all goes in messages */
	bool late[2];		/* answers a cancel that has crossed the last answer as well */
	bool pipelined[2];	/* their sending half begins in Pipelined */
	u8 buffers[2];		/* readers post so many buffers at most */
	bool revocable[2];	/* keys may be taken back with the last word */
	bool post_first;	/* what held no payload is posted again before anything is sent */
	u32 ring_max[2];	/* largest ring, 0 for not knowing rings */
	u32 window[2];
	u8 scheme[2];		/* for their data, as they wish */
	bool lazy[2];		/* data by rdma waits until the program calls */
};

struct sim_wire_msg {
	u16 len;
	struct sdp_ring_place to;	/* not 0: it is written there */
	u8 bytes[SIM_BYTES];
};

/* What the judge knows of one side, from the wire and from its own deeds. */
struct sim_truth {
	u32 sent;		/* messages: LSSQ */
	u32 received;		/* LRSQ */
	u32 peer_received;	/* the last MSeqAck seen */
	u32 limit;		/* what the peer granted, by D1 */
	u32 last_data;		/* newest own message with payload */
	u32 last_partial;	/* ... that could have had more */
	u32 disconn;		/* own DisConn */
	u32 grants;		/* receives posted since the Hello */
	u32 updates;		/* credit updates sent */
	s32 theirs;		/* D3 */
	u16 posted;
	u16 target;
	u16 target_max;		/* the largest ever in force: there is room for so many */
	u16 threshold;
	u16 threshold_min;	/* the smallest ever in force */
};

/* ... and of sizes, all with the header. */
struct sim_sizes {
	u16 recv[SIM_MSGS];	/* of the receives posted, by their number */
	u32 may_send;		/* what the peer has said, or we asked for if that was less */
	u32 back_to;		/* after long idleness */
	u32 told;		/* what we have said */
	u32 asked;		/* our request, 0 when there is none or it is void */
	u32 wants;		/* a request that shall be sent as soon as possible */
	u32 owes;		/* the peer's request that waits for our answer */
	u32 owes_after;		/* so many receives must have been used up before that */
	u32 level;
	u32 splits;
	u32 largest;
	u32 kept;		/* receives that our last answer did not tell of */
	u32 flush;		/* empty messages that may go after a shrink */
	bool flushed;		/* ... after which nothing large may be left */
	bool refused;		/* no memory for the peer's request */
	u16 posted_most;	/* receives that the peer has said it has, at once */
	bool put_off;		/* it has refused, and has not had more since */
	bool shrinks;		/* may ask for less right now */
};

/* ... of what this side advertises. */
struct sim_advert {
	bool offered;		/* to the engine */
	bool out;		/* the message has gone, the key is valid */
	bool withdrawn;
	bool cancel_sent;
	bool over_due;		/* the peer has said so, the engine not yet */
	bool pipe_due;		/* ... and that the rest would be taken by a write */
	u64 at;			/* in the own stream */
	u32 len;
	u32 inlined;
	u32 read;		/* by the peer's reports */
	u32 seq;		/* its message */
	u32 key;
};

/* ... and of what the peer does, from the wire. */
struct sim_offered {
	bool open;
	bool told;		/* the owner knows of it */
	bool declined;		/* by the owner, or cancelled */
	u32 len;
	u32 key;
	u64 va;
	u32 got;
	u32 reading;		/* bytes of the read that goes on */
	u32 moved;		/* ... that are here */
	u32 unreported;
	bool pipe;		/* what is said of it asks for Pipelined */
	bool crossed;		/* a cancel came when all had been reported */
};

/* ... and of the modes of its halves, from the wire. */
struct sim_modes {
	u8 tx;
	u8 rx;
	u8 toward;		/* what the last transfers speak for */
	u32 alike;		/* ... so many in a row */
	u32 missed;		/* large writes in a row without a buffer */
	bool due;		/* the mode has to be changed to that */
	bool large;		/* a reader waits, so the peer has to be told */
};

/* ... of a buffer that its reader has posted. */
struct sim_buffer {
	u32 id;
	u32 key;
	u32 len;
	u32 seq;		/* the message that says so; 0 until then */
	u32 filled;		/* by the peer's RDMA hardware */
	u64 from;		/* those bytes stand there in the peer's stream */
};

struct sim_buffers {
	struct sim_buffer list[SDP_SINKAVAILS_MAX];
	u8 n;
	bool cancel;		/* they are not wanted any more */
	bool cancel_sent;
	u32 came;		/* messages with payload that have discarded none */
};

/* ... and of those of the peer, as the wire tells of them. */
struct sim_place {
	u32 key;
	u32 len;
	u32 behind;		/* of a write: the messages sent before */
	u64 at;			/* ... and what it takes from the own stream */
};

struct sim_places {
	struct sim_place list[SDP_SINKAVAILS_MAX];
	struct sim_place put[SDP_SINKAVAILS_MAX];	/* given to the hardware, which has not done it */
	u8 n;
	u8 puts;
	u32 unreported;
	u32 key;		/* ... they are in its buffer */
	bool owes_ack;
	u32 went;		/* messages with payload that have discarded none */
};

/* A ring of a side's, of no bytes if there is none; bytes are counted from its making. */
struct sim_home {
	u32 key;
	u32 size;
	u32 landed;		/* written by the peer's hardware */
	u32 came;		/* ... and handed in */
	u32 read;
	u32 told;
};

/* Both directions' rings: what memory there is, and what the wire says of the peer's. */
struct sim_rings {
	struct sim_home cur;
	struct sim_home next;	/* made, and nothing has come in it yet */
	u32 wanted;		/* the peer waits for one of so many bytes at most */
	bool owes;		/* an answer to that */
	bool shown;
	u32 size;		/* of the peer's: */
	u32 key;
	u32 head;
	u32 freed;
	u32 asked;
	u32 refusals;
	bool stalled;
	bool tells;		/* the peer has to be told of what is read of ours */
	u32 cap;		/* the ring that receives have to fit (G4) */
	u16 target;		/* ... of which so many are wished for */
	u16 threshold;
};

/* The address of the beginning of a ring. */
#define SIM_RING_VA(key)	((u64)(key) << 24)

/* The address of the beginning of a side's stream. */
#define SIM_VA		0x7f0000000000ULL
#define SIM_SENT	28

struct sim_side {
	struct sdp_engine e;
	struct sim_truth t;
	struct sim_sizes z;
	struct sim_advert ad;
	struct sim_offered of;
	struct sim_modes mo;
	struct sim_buffers bu;
	struct sim_places pl;
	struct sim_rings ri;
	bool discards[SIM_MSGS];	/* own messages: each takes the place of a buffer */
	u32 landed;		/* of own messages */
	u32 completed;
	u64 written;		/* stream offsets, own direction */
	u64 taken;		/* given to the engine */
	u64 delivered;		/* peer's direction */
	u64 read;
	u32 rest;		/* of what was advertised, to be sent before the segments */
	u16 seg[SIM_SEGMENTS];
	u16 seg_max[SIM_SEGMENTS];
	u16 segs;
	u32 seg_urgent;		/* bit i: segment i ends with an urgent byte */
	u32 urgent_at[SIM_MSGS];	/* where in the own stream they end, low bits */
	u32 urgent_written;
	u32 urgent_delivered;	/* of the peer's */
	u32 urgent_told;
	u16 unread[SIM_MSGS];	/* lengths of received messages that hold a buffer */
	u16 unread_ring[SIM_MSGS];	/* ... and the bytes of our ring that they hold */
	u16 unread_first;
	u16 unread_n;
	u16 unread_plain;		/* of these, in receives */
	bool hold;
	bool shutdown;
	bool disconn_sent;
	bool established;
	bool eof;
	bool disconnect;	/* engine asked to end the link */
	bool ended;
	bool failed;
	struct sim_wire_msg wire[SIM_MSGS];	/* the last: see sim_copy() */
};

struct sim {
	struct sim_config cfg;
	bool link_down;
	bool aborted;
	u64 steps;
	bool declines;		/* what is to be settled is declined, not read */
	bool posts;		/* ... or written into a buffer */
	bool wants;		/* ... and the buffer had been there before */
	bool calls;		/* the program is in a call */
	u32 keys;		/* made so far */
	u64 sent[SIM_SENT];	/* data, credit updates, DisConns; of resize: requests,
				 * answers, flushes; of advertisements: these, reports,
				 * SendSms, cancels, credits to answer; of modes:
				 * changes by the source, by the sink; of buffers: these,
				 * with payload, written, discarded, stale, cancels, answers
				 * to them; of modes: to Pipelined; of rings: messages in
				 * them, beyond what was granted, requests, rings, refusals,
				 * given back, told of what is free
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

/* Called once when the judge finds a fault, after its cause was printed. Does not return. */
extern void (*sim_on_fault)(const struct sim *s);

/*
 * Judge by the outcome alone: bytes, overruns, who is stuck; not whether updates and segments went
 * when they should. Shows what the rules are good for (mutants.sh).
 */
extern bool sim_outcome_only;

void sim_offer(struct sim *s, u32 side, u32 len, u32 inlined);
void sim_withdraw(struct sim *s, u32 side);
void sim_offer_over(struct sim *s, u32 side, u32 taken);
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
