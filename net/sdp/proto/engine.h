/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol engine: the interface for its owner.
 *
 * There is one engine per connection. Its owner is struct sdp_sock (conn/) in
 * the kernel and a simulator in the tests. The owner calls one function per
 * event. The engine appends what has to be done to a list of actions, which the
 * owner carries out in order. After every event the owner also sends all
 * messages that may be sent:
 *
 *	while (sdp_engine_next(e, &view, &msg) == SDP_NEXT_SEND)
 *		payload = as much as is ready, at most msg.payload_max
 *		sdp_engine_commit(e, &msg, payload, header, &sent)
 *		hand header and payload to the transport
 *
 * Life cycle: init; Hello and HelloAck, in either direction; established;
 * traffic; then either both DisConns and SDP_ACT_END, or SDP_ACT_FAIL. The
 * engine owns no memory and is dead after SDP_ACT_END or SDP_ACT_FAIL. The
 * owner makes all calls under its lock (sdp_sock.lock in the kernel), unless a
 * function says otherwise.
 *
 * Combined mode: the owner may advertise a large send instead of sending it,
 * with sdp_engine_srcavail(). SrcAvail carries the beginning of the data. The
 * peer's owner gets SDP_ACT_SRCAVAIL. It reads by RDMA and reports, or
 * declines. Then our owner gets SDP_ACT_SRCAVAIL_OVER.
 *
 * The answers decide about the mode (mode.h). After several SrcAvails in a row
 * that were declined, all data travels in messages (Buffered mode), until the
 * peer's owner says with sdp_engine_large_recv() that a reader waits with a
 * large buffer. The peer's owner calls sdp_engine_want_pipelined() for a
 * SrcAvail that arrives when a reader's buffer already waits. Several of these
 * in a row lead to Pipelined mode.
 *
 * Pipelined mode, receiving half: the owner advertises the buffers of waiting
 * readers with sdp_engine_sinkavail(). The peer may write into a buffer until
 * SDP_ACT_SINKAVAIL_WRITTEN, SDP_ACT_SINKAVAIL_OVER or the end of the
 * connection. If SDP_ACT_SINKAVAIL_WRITTEN leaves a rest, the owner cancels it,
 * and ends it with sdp_engine_sinkavail_drop() if the peer does not answer.
 *
 * Pipelined mode, sending half: with a large write and nothing unsent before
 * it, the owner asks sdp_engine_may_rdma_write(). It calls
 * sdp_engine_rdma_write(), gives the RDMA write to the transport, and sends the
 * message of sdp_engine_next() behind the write in the same queue. If the peer
 * has advertised no buffer, the owner may advertise as in Combined mode, except
 * that SrcAvail carries no data. SDP_ACT_SRCAVAIL_OVER with 0 bytes then means
 * that the peer has advertised a buffer meanwhile, or has declined.
 *
 * Rings (ring.h): if both ends know rings, data may go into a ring of the
 * peer's memory. The owner of the receiving half gets SDP_ACT_RING_WANTED,
 * makes a ring and calls sdp_engine_ring_made(). SDP_ACT_RING_OVER tells which
 * rings the peer does not write into any more. If sdp_engine_commit() fills in
 * @to of the message, the owner sends it by RDMA write with immediate data. At
 * the other end the owner asks sdp_engine_ring_place() where the message lies,
 * passes it to sdp_engine_receive_placed(), and reports what has been read of
 * the ring with sdp_engine_ring_read().
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
 * struct sdp_engine_config - parameters of a connection
 * @recv_size: bytes of each of our receive buffers, BSDH included
 * @recv_size_max: bytes that a receive buffer of either side may grow to by a
 *	resize; 0 for fixed sizes
 * @split_level: number of split sends that lead to a resize, and of full rings
 *	that lead to a larger ring
 * @recv_target: receives to keep posted
 * @threshold: credit threshold T, 0 for half of @recv_target
 * @send_slots: messages that the transport can hold at once
 * @mode_after: number of transfers of the same kind in a row that change the
 *	mode, or show the kind of the application (piggyback.h); 0 for never
 * @revocable: either end may use Send with Invalidate for the message that ends
 *	the use of a key
 * @ring_max: largest ring to make or to ask for, bytes; 0 for no rings
 * @ring_window: window that we wish for with %SDP_BY_NIC, bytes
 * @scheme: scheme that we wish for our data, &enum sdp_scheme
 * @rails: the transport spreads a connection over several rails if the peer
 *	does, too
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
	bool rails;
};

/**
 * struct sdp_engine - protocol state of one connection
 * @credit: credits of both directions
 * @resize: buffer sizes of both directions
 * @srcavail_tx: the SrcAvail of our sending half
 * @srcavail_rx: the SrcAvail that our receiving half has received
 * @sinkavail_rx: the SinkAvails that our receiving half sends
 * @piggyback: whether our SinkAvails wait to travel with data
 * @sinkavail_tx: the SinkAvails that our sending half has received
 * @ring_out: the peer's ring for our data
 * @ring_in: our ring for the peer's data
 * @tx_mode: mode of our sending half
 * @rx_mode: mode of our receiving half
 * @state: connection state
 * @send_slots: messages that the transport can still take
 * @sent_seq: MSeq of our newest message that the transport has completed
 * @partial_seq: MSeq of our newest message that could have carried more
 * @disc_seq: MSeq of our DisConn, once sent
 * @ring_max: as configured
 * @ring_window: as configured
 * @scheme: as configured
 * @target_wish: receives that the owner wishes for; a ring may allow fewer
 * @rings: both ends know rings
 * @may_rails: as configured
 * @rails: both ends know rails, so SrcAvail may have a key for each
 * @revocable: as configured
 * @may_revoke: @revocable, and the peer has said the same
 * @urgent_announced: the peer has announced an urgent byte that has not come
 *	yet
 * @greets: our first message is due, even an empty one
 * @shutdown: the application will write no more
 * @dead: %SDP_ACT_END or %SDP_ACT_FAIL has been issued
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
	bool may_rails;
	bool rails;
	bool revocable;
	bool may_revoke;
	bool urgent_announced;
	bool greets;
	bool shutdown;
	bool dead;
};

/**
 * enum sdp_action_kind - what the owner has to do because of an event
 * @SDP_ACT_ESTABLISHED: the connection is established
 * @SDP_ACT_DELIVER: pass payload to the application: @offset, @len, @urgent
 * @SDP_ACT_URGENT: an urgent byte will come, maybe with the next action
 * @SDP_ACT_SRCAVAIL: @len bytes may be read by RDMA; they follow the data that
 *	has been delivered
 * @SDP_ACT_SRCAVAIL_OVER: our SrcAvail has ended; the peer has the first @len
 *	bytes of the region
 * @SDP_ACT_SINKAVAIL_WRITTEN: @len bytes are in our buffer @id; they follow the
 *	data that has been delivered
 * @SDP_ACT_SINKAVAIL_OVER: the peer will not write into our buffer @id
 * @SDP_ACT_RING_WANTED: make a ring of at most @len bytes
 * @SDP_ACT_RING_OVER: the peer writes into none of our rings but the newest
 *	@len (0 or 1)
 * @SDP_ACT_EOF: the peer will send no more
 * @SDP_ACT_DISCONNECT: both halves are closed: end the link in good order
 * @SDP_ACT_END: the link has ended in good order
 * @SDP_ACT_FAIL: the connection has failed: @error, @violation
 */
enum sdp_action_kind {
	SDP_ACT_ESTABLISHED,
	SDP_ACT_DELIVER,
	SDP_ACT_URGENT,
	SDP_ACT_SRCAVAIL,
	SDP_ACT_SRCAVAIL_OVER,
	SDP_ACT_SINKAVAIL_WRITTEN,
	SDP_ACT_SINKAVAIL_OVER,
	SDP_ACT_RING_WANTED,
	SDP_ACT_RING_OVER,
	SDP_ACT_EOF,
	SDP_ACT_DISCONNECT,
	SDP_ACT_END,
	SDP_ACT_FAIL,
};

/**
 * struct sdp_action - one thing that the owner has to do
 * @kind: what to do
 * @offset: DELIVER: offset of the payload in the message
 * @len: DELIVER, SRCAVAIL, SRCAVAIL_OVER, SINKAVAIL_WRITTEN, RING_WANTED:
 *	bytes; RING_OVER: number of rings
 * @id: SINKAVAIL_WRITTEN, SINKAVAIL_OVER: return value of
 *	sdp_engine_sinkavail()
 * @urgent: DELIVER: the last byte is urgent
 * @crossed: SRCAVAIL_OVER: the peer has advertised a buffer instead (C8)
 * @pipe: SRCAVAIL_OVER: the peer has declined, but would take the rest, or the
 *	data behind the beginning, by RDMA write (B5, C10)
 * @rest: SINKAVAIL_WRITTEN: the buffer has not ended, see
 *	sdp_engine_sinkavail_drop()
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

/*
 * Most actions of one event: each of our buffers may end, besides a few others
 * such as URGENT, DELIVER, SRCAVAIL_OVER and FAIL.
 */
#define SDP_ACTIONS_MAX	(SDP_SINKAVAILS_MAX + 8)

/**
 * struct sdp_actions - the actions of one event, in order
 * @n: number of actions in @list
 * @list: the actions
 */
struct sdp_actions {
	u32 n;
	struct sdp_action list[SDP_ACTIONS_MAX];
};

/**
 * struct sdp_tx_view - what the application has ready to be sent
 * @head_bytes: bytes of the oldest unsent segment, 0 when there is none
 * @head_full: that segment will not grow: it has its maximum size, or another
 *	segment follows
 * @head_urgent: its last byte is urgent; the segment is full then
 * @head_declined: it has bytes of a send whose SrcAvail the peer has declined
 * @head_cut: messages are cut from that segment, so it is not sent as a whole
 * @behind: unsent data waits for an RDMA transfer of the owner that comes
 *	before it, so DisConn does not follow yet
 * @urgent: an urgent byte is somewhere in the unsent data
 * @hold: the application is about to add data (MSG_MORE, or a copy in progress)
 * @lazy: data waits until the application calls again (G2 without asynchronous
 *	flush)
 */
struct sdp_tx_view {
	u32 head_bytes;
	bool head_full;
	bool head_urgent;
	bool head_declined;
	bool head_cut;
	bool behind;
	bool urgent;
	bool hold;
	bool lazy;
};

/**
 * enum sdp_next - whether there is a message to send, or why not
 * @SDP_NEXT_SEND: there is one
 * @SDP_NEXT_IDLE: nothing to send, or nothing that may follow our advertisement
 * @SDP_NEXT_NO_CREDIT: D2: wait until the peer grants more
 * @SDP_NEXT_NO_SLOT: wait until the transport completes a message
 * @SDP_NEXT_NO_ROOM: G3, G5: wait for room in the ring or in the adapter
 * @SDP_NEXT_GATHER: a partial segment waits until our last partial message has
 *	arrived at the peer
 */
enum sdp_next {
	SDP_NEXT_SEND,
	SDP_NEXT_IDLE,
	SDP_NEXT_NO_CREDIT,
	SDP_NEXT_NO_SLOT,
	SDP_NEXT_NO_ROOM,
	SDP_NEXT_GATHER,
};

/**
 * struct sdp_tx_msg - a message that may be sent now
 * @mid: its kind, &enum sdp_mid
 * @flags: SDP_FLAG_*
 * @payload_max: most payload bytes that it may carry, 0 for none; a message
 *	other than Data must carry all of them
 * @ring: it goes into the peer's ring; a segment that is longer than
 *	@payload_max is split
 * @partial: it could have waited for more data, so small writes gather behind
 *	it
 * @declined: its payload is data that the peer wants in messages
 */
struct sdp_tx_msg {
	u8 mid;
	u8 flags;
	u32 payload_max;
	bool ring;
	bool partial;
	bool declined;
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
void sdp_engine_srcavail_by_rails(struct sdp_engine *e,
				  const struct sdp_rail_keys *keys);
bool sdp_engine_srcavail_tx_open(const struct sdp_engine *e);
u32 sdp_engine_srcavail_tx_read(const struct sdp_engine *e);
void sdp_engine_srcavail_cancel(struct sdp_engine *e);
u32 sdp_engine_srcavail_rx_left(const struct sdp_engine *e);
bool sdp_engine_srcavail_rx_reading(const struct sdp_engine *e);
u32 sdp_engine_srcavail_rx_read(const struct sdp_engine *e);
const struct sdp_rail_keys *
sdp_engine_srcavail_keys(const struct sdp_engine *e);
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
void sdp_engine_rdma_write_where(const struct sdp_engine *e, u32 bytes,
				 struct sdp_region *to);
bool sdp_engine_rdma_write(struct sdp_engine *e, u32 bytes,
			   struct sdp_region *to);

void sdp_engine_sinkavail_missed(struct sdp_engine *e);
void sdp_engine_srcavail_unread(struct sdp_engine *e);
void sdp_engine_want_pipelined(struct sdp_engine *e);
void sdp_engine_avoid_pipelined(struct sdp_engine *e);
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
void sdp_engine_greet(struct sdp_engine *e);
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
