/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol engine: one per connection, events in, actions out.
 *
 * The owner (conn/conn.c in the kernel, a simulator in the tests) calls one function
 * per event. What has to be done because of it is appended to a list of actions, which
 * the owner carries out in order. After every event the owner also sends what may go:
 *
 *	while (sdp_engine_next(e, &view, &msg) == SDP_NEXT_SEND)
 *		payload = as much as is ready, at most msg.payload_max
 *		sdp_engine_commit(e, &msg, payload, header)
 *		hand header and payload to the transport
 *
 * Life: init, Hello and HelloAck (in either direction), established, traffic, then
 * either both DisConns and SDP_ACT_END, or SDP_ACT_FAIL. The engine owns no memory
 * and is dead after END or FAIL. All calls are made under the owner's lock.
 *
 * A large send may be advertised instead of being sent (Combined mode): sdp_engine_srcavail(),
 * and the message that goes out carries the beginning. The peer's owner sees OFFERED, and
 * answers by reads and reports or by declining; then ours sees OFFER_OVER.
 *
 * How the peer's reader takes that decides whether it goes on so: after some that were
 * declined all goes in messages (Buffered mode), until the peer's owner says that a reader
 * waits with a large buffer, sdp_engine_large_recv(). After some of which the peer's owner said
 * that the buffer had been there before, sdp_engine_want_pipelined(), the reader leads:
 *
 * In Pipelined mode the owner of the receiving half advertises the buffers that readers have
 * posted, sdp_engine_sinkavail(). Each one ends with WRITTEN or ADVERT_OVER, or with the
 * connection; until then the peer may write into it. WRITTEN can leave a rest:
 * then the owner takes that back, and ends it by sdp_engine_sinkavail_drop() if
 * the peer says nothing. The owner of the sending half asks
 * sdp_engine_may_rdma_write() when it has something large and nothing unsent before it, tells
 * sdp_engine_rdma_write(), gives the RDMA write to the transport, and then sends what
 * sdp_engine_next() yields, behind it in the same queue. If nothing may be written it may offer as
 * in Combined, but nothing goes along; OFFER_OVER with 0 bytes means that a buffer has been
 * advertised meanwhile, or that it was declined.
 *
 * If both ends know rings, data may go into a ring of the peer's memory (ring.h). The owner of the
 * receiving half sees RING_WANTED, makes one and says sdp_engine_ring_made(); RING_OVER says what
 * is not written into any more. A message for which sdp_engine_commit() fills in a place is written
 * there by RDMA, with immediate data, in the place of a send. At the other end the owner asks
 * sdp_engine_ring_place() where it lies, and hands it in by sdp_engine_receive_placed(); what has
 * been read of it is told by sdp_engine_ring_read().
 */
#ifndef SDP_PROTO_ENGINE_H
#define SDP_PROTO_ENGINE_H

#include "sinkavail_rx.h"
#include "conn.h"
#include "credit.h"
#include "mode.h"
#include "resize.h"
#include "piggyback.h"
#include "ring.h"
#include "srcavail_rx.h"
#include "srcavail_tx.h"
#include "sinkavail_tx.h"

/**
 * struct sdp_engine_config - what a connection is made with
 * @recv_size: bytes of each of our receive buffers, BSDH included
 * @recv_size_max: what either side's may grow to by a resize, 0 for fixed sizes
 * @split_level: split sends that lead to a resize
 * @recv_target: receives to keep posted
 * @threshold: credit threshold T, 0 for half of @recv_target
 * @send_slots: messages the transport can hold at once
 * @mode_after: so many large sends in a row that were taken alike change the mode, 0 for never
 * @revocable: keys may be taken back with the message that ends their use, at either end
 * @ring_max: largest ring to make, or to ask for; 0 for not knowing rings
 * @ring_window: window that BY_NIC shall have
 * @scheme: for our data, &enum sdp_scheme
 */
struct sdp_engine_config {
	u32 recv_size;
	u32 recv_size_max;
	u16 split_level;
	u16 recv_target;
	u16 threshold;
	u16 send_slots;
	u16 mode_after;
	bool revocable;
	u32 ring_max;
	u32 ring_window;
	u8 scheme;
};

/**
 * struct sdp_engine - protocol state of one connection
 * @credit: both directions' credits
 * @resize: both directions' buffer sizes
 * @srcavail_tx: what we have advertised
 * @srcavail_rx: what the peer has advertised
 * @sinkavail_rx: what our receiving half has advertised
 * @piggyback: whether these are better told of together with data
 * @sinkavail_tx: where our sending half may write
 * @ring_out: ring of the peer's that our data goes into
 * @ring_in: ring of ours that the peer's data goes into
 * @tx_mode: mode of our sending half
 * @rx_mode: mode of our receiving half
 * @state: connection state
 * @send_slots: messages the transport can still take
 * @sent_seq: newest own message that the transport has completed
 * @partial_seq: newest own message that could have had more payload
 * @disc_seq: our DisConn, once sent
 * @ring_max: as configured
 * @ring_window: likewise
 * @scheme: likewise
 * @target_wish: receives that the owner would like to have
 * @rings: both know rings
 * @revocable: as configured
 * @may_revoke: so is the peer
 * @urgent_announced: the peer has said that an urgent byte will come, and it has not yet
 * @shutdown: the application will write no more
 * @dead: END or FAIL has been said
 */
struct sdp_engine {
	struct sdp_credit credit;
	struct sdp_resize resize;
	struct sdp_srcavail_tx srcavail_tx;
	struct sdp_srcavail_rx srcavail_rx;
	struct sdp_sinkavail_rx sinkavail_rx;
	struct sdp_piggyback piggyback;
	struct sdp_sinkavail_tx sinkavail_tx;
	struct sdp_ring_out ring_out;
	struct sdp_ring_in ring_in;
	struct sdp_mode tx_mode;
	struct sdp_mode rx_mode;
	enum sdp_conn_state state;
	u16 send_slots;
	u32 sent_seq;
	u32 partial_seq;
	u32 disc_seq;
	u32 ring_max;
	u32 ring_window;
	u8 scheme;
	u16 target_wish;
	bool rings;
	bool revocable;
	bool may_revoke;
	bool urgent_announced;
	bool shutdown;
	bool dead;
};

enum sdp_action_kind {
	SDP_ACT_ESTABLISHED,	/* the connection stands */
	SDP_ACT_DELIVER,	/* @offset, @len, @urgent: payload for the application */
	SDP_ACT_URGENT,		/* an urgent byte is on its way, or comes with the next action */
	SDP_ACT_SRCAVAIL,	/* @len: bytes that may be read by RDMA, after what is delivered */
	SDP_ACT_SRCAVAIL_OVER,	/* @len: bytes of our advertised region that the peer has got */
	SDP_ACT_SINKAVAIL_WRITTEN,	/* @id, @len: bytes are in our buffer, after what is delivered */
	SDP_ACT_SINKAVAIL_OVER,	/* @id: nobody will write into our buffer any more */
	SDP_ACT_RING_WANTED,	/* @len: make a ring of so many bytes, or fewer */
	SDP_ACT_RING_OVER,	/* all rings of ours but the newest @len are over */
	SDP_ACT_EOF,		/* the peer will send no more */
	SDP_ACT_DISCONNECT,	/* both halves are closed: end the link in good order */
	SDP_ACT_END,		/* the link has ended in good order */
	SDP_ACT_FAIL,		/* @error, @violation: the connection has failed */
};

/**
 * struct sdp_action - one thing to do
 * @kind: what
 * @offset: DELIVER: where in the message
 * @len: DELIVER, OFFERED, OFFER_OVER, WRITTEN, RING_WANTED: bytes; RING_OVER: rings
 * @id: WRITTEN, ADVERT_OVER: what sdp_engine_sinkavail() has returned
 * @rest: WRITTEN: the buffer is not over: see sdp_engine_sinkavail_drop()
 * @urgent: DELIVER: the last of them is urgent
 * @crossed: OFFER_OVER: because a buffer of the peer's came (C8)
 * @pipe: OFFER_OVER: it was declined, but the rest, or what follows the
 *	beginning, would be taken by a write (B5, C10)
 * @error: FAIL: errno (positive)
 * @violation: FAIL: what the peer did wrong, or %SDP_VALID
 */
struct sdp_action {
	enum sdp_action_kind kind;
	u32 offset;
	u32 len;
	u32 id;
	bool urgent;
	bool crossed;
	bool pipe;
	bool rest;
	int error;
	enum sdp_violation violation;
};

/* Urgent, delivered, an offer over; all our buffers over; failed: more than that is never. */
#define SDP_ACTIONS_MAX	(SDP_SINKAVAILS_MAX + 8)

/**
 * struct sdp_actions - what one event led to, in order
 * @n: how many
 * @list: the actions
 */
struct sdp_actions {
	u32 n;
	struct sdp_action list[SDP_ACTIONS_MAX];
};

/**
 * struct sdp_tx_view - what the application has ready to be sent
 * @head_bytes: bytes of the oldest unsent segment, 0 when there is none
 * @head_full: that segment will not grow: it is at its maximum or another one follows
 * @head_urgent: its last byte is urgent; it is full then
 * @urgent: an urgent byte is somewhere in what is unsent
 * @hold: the application is about to add to it (MSG_MORE, or a copy in progress)
 * @lazy: data waits for the application to call again (G2 without asynchronous flush)
 */
struct sdp_tx_view {
	u32 head_bytes;
	bool head_full;
	bool head_urgent;
	bool urgent;
	bool hold;
	bool lazy;
};

/* Why sdp_engine_next() has or has not a message to send. */
enum sdp_next {
	SDP_NEXT_SEND,
	SDP_NEXT_IDLE,		/* nothing to send, or nothing that may follow an advertisement */
	SDP_NEXT_NO_CREDIT,	/* D2: kept until the peer grants more */
	SDP_NEXT_NO_SLOT,	/* kept until the transport completes something */
	SDP_NEXT_NO_ROOM,	/* G3, G5: kept until the ring, or the adapter, has room */
	SDP_NEXT_GATHER,	/* a partial segment waits for the one before to arrive */
};

/**
 * struct sdp_tx_msg - a message that may be sent now
 * @mid: its kind
 * @flags: SDP_FLAG_*
 * @payload_max: how much payload it may carry, 0 for none; all of it unless it is Data
 * @ring: it goes into the peer's ring. Then a segment may be longer than that, and is to be split
 * @partial: small writes gather behind it, for it could have waited for them
 */
struct sdp_tx_msg {
	u8 mid;
	u8 flags;
	u32 payload_max;
	bool ring;
	bool partial;
};

void sdp_engine_init(struct sdp_engine *e,
		     const struct sdp_engine_config *config);
void sdp_engine_hello(struct sdp_engine *e, struct sdp_hello *hello);
enum sdp_violation sdp_engine_hello_received(struct sdp_engine *e,
					     const struct sdp_hello *hello);
void sdp_engine_hello_ack(struct sdp_engine *e, struct sdp_hello *ack);
void sdp_engine_hello_ack_received(struct sdp_engine *e,
				   const struct sdp_hello *ack,
				   struct sdp_actions *acts);
void sdp_engine_established(struct sdp_engine *e, struct sdp_actions *acts);

void sdp_engine_set_target(struct sdp_engine *e, u16 target, u16 threshold);
u16 sdp_engine_receives_wanted(const struct sdp_engine *e);
void sdp_engine_posted(struct sdp_engine *e, u16 n);
u32 sdp_engine_post_size(const struct sdp_engine *e);
void sdp_engine_resize_refuse(struct sdp_engine *e);
void sdp_engine_split(struct sdp_engine *e, u32 bytes);
bool sdp_engine_may_decay(const struct sdp_engine *e);
void sdp_engine_decay(struct sdp_engine *e);
bool sdp_engine_may_shrink(const struct sdp_engine *e);
bool sdp_engine_shrink(struct sdp_engine *e);
void sdp_engine_shrink_end(struct sdp_engine *e);

bool sdp_engine_may_srcavail(const struct sdp_engine *e);
u32 sdp_engine_srcavail_inline_max(const struct sdp_engine *e);
void sdp_engine_srcavail(struct sdp_engine *e, const struct sdp_region *region,
			 u32 inlined);
bool sdp_engine_srcavail_tx_open(const struct sdp_engine *e);
u32 sdp_engine_srcavail_tx_read(const struct sdp_engine *e);
void sdp_engine_srcavail_cancel(struct sdp_engine *e);
u32 sdp_engine_srcavail_rx_left(const struct sdp_engine *e);
bool sdp_engine_srcavail_rx_reading(const struct sdp_engine *e);
u32 sdp_engine_srcavail_rx_read(const struct sdp_engine *e);
bool sdp_engine_rdma_read_begin(struct sdp_engine *e, u32 bytes,
				struct sdp_region *from);
void sdp_engine_rdma_read_end(struct sdp_engine *e, bool ok);
void sdp_engine_srcavail_decline(struct sdp_engine *e);

u32 sdp_engine_sinkavail_least(const struct sdp_engine *e);
bool sdp_engine_asks_first(const struct sdp_engine *e);
u32 sdp_engine_may_sinkavail(const struct sdp_engine *e);
u32 sdp_engine_sinkavail(struct sdp_engine *e, const struct sdp_region *region);
u32 sdp_engine_sinkavails_out(const struct sdp_engine *e);
void sdp_engine_sinkavail_cancel(struct sdp_engine *e,
				 struct sdp_actions *acts);
void sdp_engine_sinkavail_drop(struct sdp_engine *e, u32 id);
u32 sdp_engine_may_rdma_write(const struct sdp_engine *e);
bool sdp_engine_rdma_write(struct sdp_engine *e, u32 bytes,
			   struct sdp_region *to);

void sdp_engine_sinkavail_missed(struct sdp_engine *e);
void sdp_engine_srcavail_unread(struct sdp_engine *e);
void sdp_engine_want_pipelined(struct sdp_engine *e);
void sdp_engine_large_recv(struct sdp_engine *e);
u8 sdp_engine_tx_mode(const struct sdp_engine *e);
u8 sdp_engine_rx_mode(const struct sdp_engine *e);

void sdp_engine_ring_made(struct sdp_engine *e, const struct sdp_region *ring);
enum sdp_violation sdp_engine_ring_place(struct sdp_engine *e, u32 imm, u32 *at,
					 u32 *bytes, struct sdp_actions *acts);
bool sdp_engine_ring_read(struct sdp_engine *e, u32 bytes);
bool sdp_engine_by_nic(const struct sdp_engine *e);
bool sdp_engine_held_back(const struct sdp_engine *e);
void sdp_engine_ring_full(struct sdp_engine *e);
bool sdp_engine_ring_leave(struct sdp_engine *e);
void sdp_engine_ring_stay(struct sdp_engine *e);

void sdp_engine_receive(struct sdp_engine *e, const u8 *buf, u32 bytes,
			struct sdp_msg *msg, struct sdp_actions *acts);
void sdp_engine_receive_placed(struct sdp_engine *e, const u8 *buf, u32 bytes,
			       struct sdp_msg *msg, struct sdp_actions *acts);
void sdp_engine_sent(struct sdp_engine *e, u16 n, struct sdp_actions *acts);
void sdp_engine_shutdown(struct sdp_engine *e);
void sdp_engine_abort(struct sdp_engine *e, int error,
		      struct sdp_actions *acts);
void sdp_engine_link_ended(struct sdp_engine *e, struct sdp_actions *acts);

enum sdp_next sdp_engine_next(const struct sdp_engine *e,
			      const struct sdp_tx_view *view,
			      struct sdp_tx_msg *msg);
u32 sdp_engine_commit(struct sdp_engine *e, const struct sdp_tx_msg *tx,
		      u32 payload, u8 *buf, struct sdp_msg *sent);
u32 sdp_engine_payload_max(const struct sdp_engine *e);
bool sdp_engine_all_arrived(const struct sdp_engine *e);

#endif /* SDP_PROTO_ENGINE_H */
