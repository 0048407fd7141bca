/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pair simulator: two engines, what surrounds them, and a judge.
 *
 *	application   write, read, stop reading, shut down
 *	owner         keeps segments, posts receives, sends whatever the engine allows
 *	engine        the product code, unchanged
 *	transport     reliable and in order; messages fly, land in a posted receive, are
 *	              handed in; sends complete late, several at a time; the link ends
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
	bool post_first;	/* what held no payload is posted again before anything is sent */
};

struct sim_wire_msg {
	u16 len;
	u8 bytes[SIM_BYTES];
};

/* What the judge knows of one side, from the wire and from its own deeds. */
struct sim_truth {
	u32 sent;		/* messages: LSSQ */
	u32 received;		/* LRSQ */
	u32 peer_received;	/* the last MSeqAck seen */
	u32 limit;		/* what the peer granted, by D1 */
	u32 last_data;		/* newest own message with payload */
	u32 disconn;		/* own DisConn */
	u32 grants;		/* receives posted since the Hello */
	u32 updates;		/* credit updates sent */
	s32 theirs;		/* D3 */
	u16 posted;
	u16 target;
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
	u32 flush;		/* empty messages that may go after a shrink */
	bool flushed;		/* ... after which nothing large may be left */
	bool refused;		/* no memory for the peer's request */
	bool shrinks;		/* may ask for less right now */
};

struct sim_side {
	struct sdp_engine e;
	struct sim_truth t;
	struct sim_sizes z;
	u32 landed;		/* of own messages */
	u32 completed;
	u64 written;		/* stream offsets, own direction */
	u64 taken;		/* given to the engine */
	u64 delivered;		/* peer's direction */
	u64 read;
	u16 seg[SIM_SEGMENTS];
	u16 seg_max[SIM_SEGMENTS];
	u16 segs;
	u32 seg_urgent;		/* bit i: segment i ends with an urgent byte */
	u32 urgent_at[SIM_MSGS];	/* where in the own stream they end, low bits */
	u32 urgent_written;
	u32 urgent_delivered;	/* of the peer's */
	u32 urgent_told;
	u16 unread[SIM_MSGS];	/* lengths of received messages that hold a buffer */
	u16 unread_first;
	u16 unread_n;
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
	u64 sent[6];		/* data, credit updates, DisConns; of resize: requests,
				 * answers, flushes
				 */
	struct sim_side side[2];
};

void sim_start(struct sim *s, const struct sim_config *cfg);
bool sim_may(const struct sim *s, const struct sim_step *step);
void sim_do(struct sim *s, const struct sim_step *step);
void sim_copy(struct sim *to, const struct sim *from);
void sim_settle(struct sim *s, u32 readers);
void sim_traffic(struct sim *s);
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

u16 sim_threshold(u16 target, u16 wish);
u16 sim_can_post(const struct sim *s, u32 side);

static inline u32 sim_in_flight(const struct sim_side *me)
{
	return me->t.sent - me->landed;
}

#endif /* SDP_UNIT_SIM_H */
