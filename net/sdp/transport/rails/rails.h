/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transport over rails: structures and functions that its files share.
 *
 * One connection, several RC links (rc/), its rails: messages are spread over
 * them, and go again by the others when a rail dies (H1, H6). The first one may
 * be a link by datagrams instead (ud/). The owner sees one link. proto/rails.h
 * says which message goes by which rail; this folder has the messages and the
 * links.
 *
 *	bundle.c	life of the bundle, and the operations of the transport
 *	up.c		up-calls of the rails' links
 *	tx.c		sends messages, and keeps them until acknowledged
 *	rx.c		passes messages on in order
 *	watch.c		rails that make no progress, and rails that have died
 *	join.c		one more rail: announced, connected, accepted
 *	look.c		what is shown of the rails
 *	rdma.c		memory of all rails, and RDMA by all of them
 *	auto.c		connections that begin by datagrams
 *
 * A bundle begins with one rail, and then costs a lock and a call for each
 * message. It asks for others when the connection has moved some data. From
 * then on (@many) messages and RDMA reads are spread over all rails, and no
 * memory is advertised any more for writes.
 *
 * Locks: struct rails.lock is taken under the owner's lock, and takes the place
 * of the owner's lock for the links of the rails. No up-call to the owner runs
 * under it.
 */
#ifndef SDP_TRANSPORT_RAILS_H
#define SDP_TRANSPORT_RAILS_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "../../base/netns.h"
#include "../../base/stats.h"
#include "../../proto/rails.h"
#include "../../proto/wire_rails.h"
#include "../buf.h"
#include "../transport.h"

/* Receives of each rail for messages about rails, which have no credit. */
#define RAILS_SPARE	4
/* Most of them that a rail sends at a time. */
#define RAILS_NOTES	2
/* Time for the address and the route of a rail, and until it has joined. */
#define RAILS_RESOLVE_MS	2000
#define RAILS_JOIN		(5 * HZ)
/* Bytes that a connection moves before it asks for other rails. */
#define RAILS_AFTER	(256 * 1024)
/* The same while its receives may grow; after that their size is fixed. */
#define RAILS_AFTER_SMALL	(16 * 1024 * 1024)
/* It waits so long for that. */
#define RAILS_GROWTH	(3 * HZ)
/* Interval at which the rails are judged while they are busy. */
#define RAILS_WATCH	(HZ / 50 + 1)
/* If nobody has looked for so long, it is not the rails that stood still. */
#define RAILS_STILL	(HZ / 2)
/* An acknowledgment by itself, when nothing else has been sent for so long. */
#define RAILS_ACK	(HZ / 25)
/* How long a peer that has ended one rail may take for the others. */
#define RAILS_END	HZ
/* Most addresses of this host that are looked at. */
#define RAILS_ADDRESSES	24
/* Time that the peer waits before it repeats what found no receive: 0.64 ms. */
#define RAILS_RNR_TIMER	12
/* Between two attempts to join a rail: doubled each time, up to the last. */
#define RAILS_RETRY	HZ
#define RAILS_RETRY_LAST	(30 * HZ)
/* Time from the last change of a path to the next attempt to join. */
#define RAILS_SETTLE	(HZ / 2)
/* The same from the first change in a row. */
#define RAILS_SETTLE_MOST	(2 * HZ)
/* Retry while no rail is left. */
#define RAILS_RETRY_CUT_OFF	(HZ / 5)
/* Refusals for so long mean that the peer does not know the connection. */
#define RAILS_REFUSED	HZ
/* Interval at which a connection without rails is looked at. */
#define RAILS_WATCH_CUT_OFF	(HZ / 4 + 1)

/* A rail that does not read its piece for so long, at least, has died. */
#define RAILS_PIECE	HZ

struct rails;
struct rails_mem;

/**
 * struct rail - one link of a bundle
 * @link: the link; the rail is freed when it is released
 * @all: the bundle; the rail has a reference to it
 * @local: our address
 * @peer: the peer's address
 * @number: number of the rail; the same at both ends
 * @attempt: number of the attempt by which it has joined; the same at both ends
 * @since: connecting side: when the attempt to join began (jiffies)
 * @prepared: receives may be posted
 * @probing: a probe has not been answered
 * @up: it is connected
 * @leaving: release() has been called
 * @ended: the peer has ended it together with all others
 * @replaced: the peer joins another one in its place, so it knows
 * @rests: it is ended because the connection rests
 * @posted: receives that it has posted
 * @notes: messages about rails in flight
 * @sent: bytes of the messages sent by it
 * @received: bytes of those that have come by it
 */
struct rail {
	struct sdp_link *link;
	struct rails *all;
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	u8 number;
	u8 attempt;
	unsigned long since;
	bool prepared;
	bool probing;
	bool up;
	bool leaving;
	bool ended;
	bool replaced;
	bool rests;
	u16 posted;
	u16 notes;
	u64 sent;
	u64 received;
};

/**
 * struct rails_many - what a bundle has from its second rail on
 * @state: which message goes by which rail
 * @begun: messages are sent by all rails; before, they wait in @unsent for
 *	those that went by the first rail alone
 * @marker: a message on the first rail whose completion shows that these have
 *	arrived
 * @unsent: messages of the owner that no rail has taken yet
 * @kept: messages that are not acknowledged, by MSeq
 * @held: messages ahead of the next one, by MSeq
 * @counted: newest message that the owner has been told of as sent
 * @dropped: newest message that is not kept any more
 * @told_at: time of the last acknowledgment that was sent (jiffies)
 * @looked_at: time when the rails were judged last (jiffies)
 * @gone: rails whose death the peer is to be told of, as a bit mask
 */
struct rails_many {
	struct sdp_rails state;
	bool begun;
	struct sk_buff *marker;
	struct sk_buff_head unsent;
	struct sk_buff *kept[SDP_ORDER_WINDOW_MAX];
	struct sk_buff *held[SDP_ORDER_WINDOW_MAX];
	u32 counted;
	u32 dropped;
	unsigned long told_at;
	unsigned long looked_at;
	u8 gone;
};

/**
 * struct rails - a bundle: the rails of one connection
 * @link: what the owner sees
 * @net: network namespace
 * @refs: one for the owner until release(), one per rail, one per queued work
 * @lock: covers what follows
 * @rail: the rails
 * @config: limits of each of them, without what is added for messages about
 *	rails
 * @size: bytes of the receives that are posted now
 * @joining: accepting side: numbers of rails that are being prepared, as a bit
 *	mask
 * @granted: receives that the owner has posted
 * @small: receives of the first rail that are posted and smaller than @size
 * @connects: we are the connecting side, which joins the rails
 * @alone: no other rail is wanted
 * @datagrams: the first rail's link is by datagrams: other rails are wanted
 *	only while the connection is busy
 * @busy: connecting side: it is, or has been a moment ago
 * @busy_at: when it was last (jiffies)
 * @resting: connecting side: it is not any more; the first rail has been probed
 * @first_alive: it has answered
 * @counted_from: when the count of @counted began (jiffies)
 * @counted: bytes of messages since then
 * @released: the owner has called release()
 * @wish: most rails that our side wants
 * @most: most rails of the connection, 0 while the peer may not know rails
 * @id: number of the connection, from the accepting side
 * @token: as @id
 * @peer_size: bytes of the peer's first receives
 * @local: our address on the first rail
 * @peer: the peer's
 * @addrs: addresses that the accepting side has announced
 * @n_addrs: number of these
 * @up_at: the peer's addresses at which rails have been up, by number
 * @node: accepting side: entry in the table of bundles
 * @seeker: entry in the list of those that are told when paths change
 * @tx_seq: newest message sent
 * @rx_seq: newest message passed on; with @many in @many->state
 * @acked: newest of our messages that the peer has acknowledged, before @many
 * @moved: bytes of messages so far, until @asked
 * @ripe: when enough had moved to ask for other rails (jiffies); or 0
 * @asked: other rails have been asked for
 * @many: from the second rail on
 * @attempts: connecting side: attempts to join so far
 * @reading: memory that rails are reading into, or NULL
 * @piece_limit: how long a piece of each rail may take (jiffies), but at least
 *	%RAILS_PIECE
 * @unreported: an RDMA write has begun, and the message that reports it has not
 *	been sent: it has to go by the same rail, so no other one may join
 * @mems_lock: covers @mems
 * @mems: all memory that is mapped
 * @drop: unmaps what dead rails have mapped
 * @ready: messages to be passed on, in order
 * @passing: a task passes on what is in @ready
 * @lost: rails that have failed and not ended the connection
 * @resent: messages sent again by another rail
 * @held: messages that had to wait for an earlier one
 * @error: positive errno with which the bundle has failed, or 0
 * @place: where it has failed, or, with @cut_off, the last rail
 * @last_error: positive errno of that rail
 * @failed_said: the owner knows
 * @ending: the peer has begun to end the rails at this time (jiffies), or 0
 * @end_due: the owner is to be told of it, after what is in @ready
 * @ended_said: the owner knows
 * @copies: sdp_rc_copies() when it was made
 * @probing: the owner waits for the answer to a probe
 * @retry: time until the next attempt to join
 * @looks: accepting side: looks at our addresses still to come after a change
 * @cut_off: all rails have failed at this time (jiffies), and the connection
 *	waits for one to join again; or 0
 * @cut_off_wait: for how long it does
 * @refused: time of the first in a row of refused attempts (jiffies), or 0
 * @join: announces addresses, or joins rails
 * @rest: connecting side: ends rails when the connection rests
 * @watch: judges the rails
 * @end: frees the bundle
 */
struct rails {
	struct sdp_link link;
	struct net *net;
	refcount_t refs;
	spinlock_t lock;
	struct rail *rail[SDP_RAILS_MAX];
	struct sdp_link_config config;
	u32 size;
	u8 joining;
	u16 granted;
	u16 small;
	bool connects;
	bool alone;
	bool datagrams;
	bool busy;
	bool resting;
	bool first_alive;
	unsigned long busy_at;
	unsigned long counted_from;
	u32 counted;
	bool released;
	u8 wish;
	u8 most;
	u32 id;
	u8 token[SDP_RAIL_TOKEN];
	u32 peer_size;
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	struct in6_addr addrs[SDP_RAIL_ADDRS_MAX];
	u32 n_addrs;
	struct in6_addr up_at[SDP_RAILS_MAX];
	struct hlist_node node;
	struct list_head seeker;
	u32 tx_seq;
	u32 rx_seq;
	u32 acked;
	u32 moved;
	unsigned long ripe;
	bool asked;
	struct rails_many *many;
	u8 attempts;
	struct rails_mem *reading;
	unsigned long piece_limit[SDP_RAILS_MAX];
	bool unreported;
	struct mutex mems_lock;
	struct list_head mems;
	struct work_struct drop;
	struct sk_buff_head ready;
	bool passing;
	u32 lost;
	u32 resent;
	u32 held;
	int error;
	const char *place;
	int last_error;
	bool failed_said;
	unsigned long ending;
	bool end_due;
	bool ended_said;
	u32 copies;
	bool probing;
	unsigned long retry;
	u8 looks;
	unsigned long cut_off;
	unsigned long cut_off_wait;
	unsigned long refused;
	struct delayed_work join;
	struct delayed_work rest;
	struct delayed_work watch;
	struct work_struct end;
};

static inline struct rails *to_rails(const struct sdp_link *link)
{
	return container_of(link, struct rails, link);
}

/* bundle.c */
struct rails *rails_alloc(struct net *net, const struct sdp_transport *first);
u8 rails_wish(const struct rails *b, u8 rails);
struct rail *rails_attach(struct rails *b, struct sdp_link *link, u8 number);
void rails_detach(struct rail *rail);
u32 rails_count(const struct rails *b);
u32 rails_count_up(const struct rails *b);
void rails_tell_number(struct rails *b);
void rails_probe_one(struct rail *rail);
void rails_put(struct rails *b);
void rails_queue(struct rails *b, struct delayed_work *work,
		 unsigned long delay);
int rails_prepare_link(struct sdp_link *link, struct sdp_link_config *config);
void rails_fill(struct rail *rail);
void rails_resend_kept(struct rails *b);

extern struct workqueue_struct *rails_wq;

/* up.c */
extern const struct sdp_link_events rails_up;

/* tx.c */
void rails_tx_begin(struct rails *b);
void rails_tx_send(struct rails *b, struct sk_buff *skb, bool flush);
void rails_tx_pump(struct rails *b);
enum sdp_violation rails_tx_acked(struct rails *b, u32 ack);
void rails_tx_completed(struct rail *rail, struct sdp_sent *sent);
void rails_tx_collect(struct rails *b, struct sdp_sent *sent);
bool rails_tx_note(struct rails *b, struct rail *rail,
		   struct sdp_rail_msg *msg);
void rails_tx_ack(struct rails *b, bool idle);
void rails_tx_gone(struct rails *b);
void rails_tx_purge(struct rails *b);

/* rx.c */
void rails_rx_message(struct rail *rail, struct sk_buff *skb, u32 bytes);
void rails_rx_pass(struct rails *b);
void rails_fail(struct rails *b, int error, const char *place);
void rails_rx_purge(struct rails *b);

/* watch.c */
void rails_watch_work(struct work_struct *work);
void rails_kill(struct rail *rail);
bool rails_lost(struct rail *rail, int error, const char *place);
bool rails_give_up(struct rail *rail, int error, const char *place,
		   unsigned long least);
bool rails_copied(const struct rails *b);
void rails_watch_start(struct rails *b);
void rails_watch_end(struct rails *b);

/* look.c */
void rails_look(struct sdp_link *link, struct sdp_rails_look *look);
bool rails_look_at(struct sdp_link *link, u8 number,
		   struct sdp_rail_look *look);

/* join.c */
extern const struct sdp_link_events *sdp_rails_owner;

int rails_listen(struct net *net, u16 port);
void rails_unlisten(struct net *net, u16 port);
void rails_join_work(struct work_struct *work);
void rails_join_soon(struct rails *b, unsigned long delay);
bool rails_joins_left(const struct rails *b);
void rails_join_count(struct rails *b, u32 bytes);
void rails_join_addrs(struct rails *b, struct sdp_rail_msg *msg);
int rails_join_hello(struct rail *rail, const struct sdp_endpoint *local,
		     u8 buf[SDP_HELLO_LEN]);
void rails_join_up(struct rail *rail);
void rails_join_forget(struct rails *b);

/* rdma.c */
struct sdp_mem *rails_map(struct sdp_link *link, const struct sdp_pages *pages);
void rails_unmap(struct sdp_link *link, struct sdp_mem *mem);
bool rails_move(struct sdp_link *link, struct sdp_mem *mem,
		const struct sdp_region *remote,
		const struct sdp_rail_keys *keys);
struct rail *rails_rdma_late(struct rails *b);
void rails_rdma_drop(struct rails *b);
void rails_drop_work(struct work_struct *work);
void rails_rdma_excuse(struct rails *b);

/* auto.c */
void rails_auto_count(struct rails *b, u32 bytes);
bool rails_auto_wants(struct rails *b);
void rails_auto_alive(struct rail *rail);
void rails_rest_work(struct work_struct *work);
void rails_auto_ended(struct rail *rail);

/* paths.c */
void rails_seek(struct rails *b);
void rails_seek_end(struct rails *b);
unsigned long rails_settle_wait(void);

#endif /* SDP_TRANSPORT_RAILS_H */
