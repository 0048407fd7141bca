// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: what the owner asks and wishes between events.
 *
 * These functions send nothing. A call that asks for a message records that,
 * and sdp_engine_next() chooses the message later.
 */
#include "engine_internal.h"

/**
 * sdp_engine_set_target() - change the number of receives to keep posted
 * @e: engine
 * @target: receives
 * @threshold: T, 0 for half of @target
 */
void sdp_engine_set_target(struct sdp_engine *e, u16 target, u16 threshold)
{
	e->target_wish = target;
	sdp_credit_set_target(&e->credit,
			      sdp_ring_in_receives_max(&e->ring_in, target),
			      threshold);
}

/**
 * sdp_engine_receives_wanted() - how many receives shall be posted now?
 * @e: engine
 *
 * Return: receives, 0 once the engine is dead.
 */
u16 sdp_engine_receives_wanted(const struct sdp_engine *e)
{
	if (e->dead)
		return 0;
	return sdp_ring_in_receives(&e->ring_in, sdp_credit_wanted(&e->credit),
				    e->credit.posted);
}

/**
 * sdp_engine_posted() - receives have been posted
 * @e: engine
 * @n: number of receives
 */
void sdp_engine_posted(struct sdp_engine *e, u16 n)
{
	sdp_credit_posted(&e->credit, n);
}

/**
 * sdp_engine_post_size() - size of receives that are posted now (E2)
 * @e: engine
 *
 * Return: bytes, BSDH included.
 */
u32 sdp_engine_post_size(const struct sdp_engine *e)
{
	return e->resize.posting;
}

/**
 * sdp_engine_resize_refuse() - the larger receives are not available (E2)
 * @e: engine
 *
 * Nothing happens if the peer has already been told that it has them.
 */
void sdp_engine_resize_refuse(struct sdp_engine *e)
{
	sdp_resize_refuse(&e->resize);
}

/**
 * sdp_engine_split() - a send did not fit into one message (E1)
 * @e: engine, after its Hello exchange
 * @bytes: size of the application's send
 */
void sdp_engine_split(struct sdp_engine *e, u32 bytes)
{
	/* With rings, larger receives help only if the peer refuses a ring. */
	if (e->ring_out.scheme == SDP_BY_CREDIT || e->ring_out.refusals)
		sdp_resize_split(&e->resize, bytes);
	else
		sdp_ring_out_was_full(&e->ring_out);
}

/**
 * sdp_engine_may_decay() - do refusals delay requests for larger receives?
 * @e: engine
 *
 * Return: true when sdp_engine_decay() would make a difference.
 */
bool sdp_engine_may_decay(const struct sdp_engine *e)
{
	return e->resize.level > e->resize.level_first;
}

/**
 * sdp_engine_decay() - time has passed since the last refusal or the last call
 * @e: engine
 *
 * Half as many split sends as before lead to the next request.
 */
void sdp_engine_decay(struct sdp_engine *e)
{
	sdp_resize_decay(&e->resize);
}

/* May data be added to the stream, with no SrcAvail of ours before it? */
static bool may_add(const struct sdp_engine *e)
{
	return !e->dead && sdp_conn_may_send(e->state) && !e->shutdown &&
	       e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE;
}

/**
 * sdp_engine_may_shrink() - could the peer's receives get their first size?
 * @e: engine
 *
 * Not while our SrcAvail is open: its inline data was cut to the present size.
 *
 * Return: true when we could ask for it, now or later.
 */
bool sdp_engine_may_shrink(const struct sdp_engine *e)
{
	return may_add(e) && sdp_resize_may_shrink(&e->resize);
}

/**
 * sdp_engine_shrink() - nothing was sent for long: shrink the peer's receives
 * @e: engine; nothing is unsent, and no writer is about to add data of the
 *	present size
 *
 * If this returns true, sdp_engine_next() yields the request. Once it is sent,
 * we may only send messages of the smaller size. If the request could not be
 * sent, the owner must call sdp_engine_shrink_end() before a writer can add
 * data.
 *
 * Return: true when there is a request to send.
 */
bool sdp_engine_shrink(struct sdp_engine *e)
{
	return sdp_engine_may_shrink(e) && sdp_resize_shrink(&e->resize);
}

/**
 * sdp_engine_shrink_end() - drop the request if it could not be sent
 * @e: engine
 */
void sdp_engine_shrink_end(struct sdp_engine *e)
{
	sdp_resize_shrink_end(&e->resize);
}

/* Longest header that our SrcAvail may have. */
static u32 srcavail_header(const struct sdp_engine *e)
{
	return sdp_wire_header_len(SDP_MID_SRC_AVAIL) +
	       (e->rails ? SDP_KEYS_LEN : 0);
}

/**
 * sdp_engine_may_srcavail() - may a send be advertised now? (B2)
 * @e: engine
 *
 * Not in Buffered mode (C3), and one at a time. Not while the peer's SrcAvail
 * is open: two applications that both write before they read would both wait
 * until the other end declines (C9). In Pipelined only if the peer has
 * advertised no buffer. Never where the adapters hold messages back: they could
 * hold back the answer behind data, and our writer would have to wait for our
 * reader (G4). Not if the peer's receives are too small for its header.
 *
 * Return: true when it may.
 */
bool sdp_engine_may_srcavail(const struct sdp_engine *e)
{
	return may_add(e) && !e->srcavail_rx.open &&
	       sdp_mode_may_srcavail(&e->tx_mode) && !e->sinkavail_tx.n &&
	       e->resize.send_size > srcavail_header(e) &&
	       !e->sinkavail_tx.written && !e->credit.unasked;
}

/**
 * sdp_engine_srcavail_inline_max() - how much data may SrcAvail carry?
 * @e: engine, after its Hello exchange
 *
 * Return: bytes; 0 in Pipelined.
 */
u32 sdp_engine_srcavail_inline_max(const struct sdp_engine *e)
{
	if (e->tx_mode.mode == SDP_MODE_PIPELINED)
		return 0;
	return e->resize.send_size - srcavail_header(e);
}

/**
 * sdp_engine_srcavail() - advertise a send (B2, C4, wire section 8)
 * @e: engine, for which sdp_engine_may_srcavail() is true
 * @region: all of the send; the peer may read it until SRCAVAIL_OVER or the end
 *	of the connection
 * @inlined: bytes of its beginning that SrcAvail carries: less than all, at
 *	most sdp_engine_srcavail_inline_max(), and at least 1 unless that is 0
 *
 * SrcAvail is sent after all data that is ready. That data does not wait to
 * grow, and the owner adds nothing to it until SrcAvail has been sent. Data
 * that is added while SrcAvail is out waits until it has ended. If the peer has
 * not read all of the advertised send, the rest comes first.
 */
void sdp_engine_srcavail(struct sdp_engine *e, const struct sdp_region *region,
			 u32 inlined)
{
	sdp_srcavail_tx_begin(&e->srcavail_tx, region, inlined);
}

/**
 * sdp_engine_srcavail_by_rails() - advertise it by several rails (H1)
 * @e: engine, after sdp_engine_srcavail()
 * @keys: keys of the region for each rail; none without rails
 */
void sdp_engine_srcavail_by_rails(struct sdp_engine *e,
				  const struct sdp_rail_keys *keys)
{
	e->srcavail_tx.keys = *keys;
}

/**
 * sdp_engine_srcavail_tx_open() - is a send advertised, or about to be?
 * @e: engine
 *
 * Return: true until the SrcAvail has ended.
 */
bool sdp_engine_srcavail_tx_open(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_tx.state != SDP_SRCAVAIL_TX_IDLE;
}

/**
 * sdp_engine_srcavail_tx_read() - how much has the peer read? (C9)
 * @e: engine
 *
 * May be called without the owner's lock, to see whether the value changes.
 *
 * Return: bytes that the peer has reported; meaningless when nothing is
 * advertised.
 */
u32 sdp_engine_srcavail_tx_read(const struct sdp_engine *e)
{
	return READ_ONCE(e->srcavail_tx.read);
}

/**
 * sdp_engine_srcavail_cancel() - cancel our SrcAvail (C9, wire section 8)
 * @e: engine
 *
 * If the peer does not know of it, it ends at once, without an action: then
 * sdp_engine_srcavail_tx_open() is false. Otherwise SrcAvailCancel is sent, and
 * SRCAVAIL_OVER follows.
 */
void sdp_engine_srcavail_cancel(struct sdp_engine *e)
{
	sdp_srcavail_tx_cancel(&e->srcavail_tx);
}

/**
 * sdp_engine_srcavail_rx_left() - how much may be read by RDMA now? (B3)
 * @e: engine
 *
 * Return: bytes of the peer's SrcAvail; 0 while a read is in flight.
 */
u32 sdp_engine_srcavail_rx_left(const struct sdp_engine *e)
{
	return e->dead ? 0 : sdp_srcavail_rx_left(&e->srcavail_rx);
}

/**
 * sdp_engine_srcavail_rx_reading() - is an RDMA read in flight?
 * @e: engine
 *
 * Return: true when it is.
 */
bool sdp_engine_srcavail_rx_reading(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_rx.reading;
}

/**
 * sdp_engine_srcavail_rx_read() - how much of the peer's SrcAvail is here? (C9)
 * @e: engine
 *
 * Return: bytes, those that SrcAvail carried included; 0 when nothing is
 * advertised.
 */
u32 sdp_engine_srcavail_rx_read(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_rx.open ? e->srcavail_rx.got : 0;
}

/**
 * sdp_engine_srcavail_keys() - keys of the peer's SrcAvail for each rail (H1)
 * @e: engine; a SrcAvail of the peer is open
 *
 * Return: the keys, valid until it has ended.
 */
const struct sdp_rail_keys *
sdp_engine_srcavail_keys(const struct sdp_engine *e)
{
	return &e->srcavail_rx.keys;
}

/**
 * sdp_engine_rdma_read_begin() - begin to read the peer's memory by RDMA (B4)
 * @e: engine
 * @bytes: number of bytes, at most sdp_engine_srcavail_rx_left()
 * @from: set to where they are
 *
 * Return: true when the read may begin; sdp_engine_rdma_read_end() must follow.
 */
bool sdp_engine_rdma_read_begin(struct sdp_engine *e, u32 bytes,
				struct sdp_region *from)
{
	return !e->dead &&
	       sdp_srcavail_rx_read_begin(&e->srcavail_rx, bytes, from);
}

/**
 * sdp_engine_rdma_read_end() - the RDMA read has ended
 * @e: engine
 * @ok: all bytes are here, and the peer will be told; otherwise none of them is
 */
void sdp_engine_rdma_read_end(struct sdp_engine *e, bool ok)
{
	sdp_srcavail_rx_read_end(&e->srcavail_rx, ok);
}

/**
 * sdp_engine_srcavail_decline() - decline the peer's SrcAvail, or its rest (B3)
 * @e: engine
 *
 * SendSm is sent when no read is in flight, and the peer sends the rest in
 * messages. Nothing happens if all has been read, or if no SrcAvail is open.
 */
void sdp_engine_srcavail_decline(struct sdp_engine *e)
{
	sdp_srcavail_rx_decline(&e->srcavail_rx);
}

/*
 * May SinkAvail be sent? No SrcAvail of the peer may be open, except one that
 * we have neither begun to read nor answered.
 */
static bool may_show_buffer(const struct sdp_engine *e)
{
	return !e->dead && !e->credit.unasked &&
	       sdp_conn_may_receive(e->state) &&
	       e->rx_mode.mode == SDP_MODE_PIPELINED &&
	       (!e->srcavail_rx.open ||
		sdp_srcavail_rx_untouched(&e->srcavail_rx));
}

/**
 * sdp_engine_may_sinkavail() - may a buffer be advertised, and how long? (C5)
 * @e: engine
 *
 * In Pipelined only, as many buffers as both sides can hold, and none before a
 * cancel is settled (sinkavail_rx.h).
 *
 * Return: least bytes of the buffer, see sdp_engine_sinkavail_least(); 0 when
 * no buffer may be advertised.
 */
u32 sdp_engine_may_sinkavail(const struct sdp_engine *e)
{
	if (!may_show_buffer(e) || !sdp_sinkavail_rx_room(&e->sinkavail_rx))
		return 0;
	return sdp_engine_sinkavail_least(e);
}

/**
 * sdp_engine_sinkavail() - advertise the buffer of a reader (C5)
 * @e: engine
 * @region: the buffer; the peer may write into it until SINKAVAIL_WRITTEN or
 *	SINKAVAIL_OVER with its id, or the end of the connection
 *
 * The buffer is for data that has not arrived yet: earlier data has been read,
 * or goes somewhere else. If a SrcAvail of the peer is open, SinkAvail is the
 * answer to it (C8), unless a read of it begins before SinkAvail can be sent.
 * If we expect the application to send a request first, SinkAvail travels with
 * the request (C6).
 *
 * Return: the id of the buffer; 0 if it may not be advertised or is too short.
 */
u32 sdp_engine_sinkavail(struct sdp_engine *e, const struct sdp_region *region)
{
	u32 least = sdp_engine_may_sinkavail(e);

	if (!least || region->len < least)
		return 0;
	if (!e->sinkavail_rx.n)
		sdp_piggyback_posted(&e->piggyback);
	return sdp_sinkavail_rx_add(&e->sinkavail_rx, region);
}

/**
 * sdp_engine_sinkavails_out() - number of buffers that we advertise
 * @e: engine
 *
 * Return: number of buffers that have not ended, unsent SinkAvails included.
 */
u32 sdp_engine_sinkavails_out(const struct sdp_engine *e)
{
	return e->dead ? 0 : e->sinkavail_rx.n;
}

/**
 * sdp_engine_sinkavail_cancel() - cancel all our SinkAvails
 * @e: engine
 * @acts: SINKAVAIL_OVER for the buffers that the peer does not know of
 *
 * The other buffers end when the peer has received the cancel: with
 * SINKAVAIL_OVER, or with SINKAVAIL_WRITTEN if its write was faster. Until then
 * no buffer can be advertised.
 */
void sdp_engine_sinkavail_cancel(struct sdp_engine *e, struct sdp_actions *acts)
{
	u32 id;

	if (e->dead)
		return;
	while ((id = sdp_sinkavail_rx_recall(&e->sinkavail_rx)))
		sdp_engine_act(acts, SDP_ACT_SINKAVAIL_OVER)->id = id;
	sdp_sinkavail_rx_cancel(&e->sinkavail_rx);
}

/**
 * sdp_engine_sinkavail_drop() - end a buffer whose cancel is not answered
 * @e: engine
 * @id: the buffer, of which SINKAVAIL_WRITTEN has left a rest; nothing happens
 *	if it has ended meanwhile
 *
 * The owner calls this if sdp_engine_sinkavail_cancel() has had no answer for
 * long: a peer that was done with the buffer gives none. The owner must have
 * revoked the peer's access to the buffer, because the engine takes the peer's
 * next report for one about the next buffer.
 */
void sdp_engine_sinkavail_drop(struct sdp_engine *e, u32 id)
{
	if (!e->dead && e->sinkavail_rx.got && e->sinkavail_rx.list[0].id == id)
		sdp_sinkavail_rx_end(&e->sinkavail_rx);
	sdp_engine_keep_back(e);
}

/**
 * sdp_engine_may_rdma_write() - how much may be written into a buffer now? (B4)
 * @e: engine
 *
 * The write follows all data that the owner has sent before.
 *
 * Return: bytes in the peer's oldest buffer; 0 when there is none, or when a
 * message must be sent before the write.
 */
u32 sdp_engine_may_rdma_write(const struct sdp_engine *e)
{
	return may_add(e) ? sdp_sinkavail_tx_room(&e->sinkavail_tx) : 0;
}

/**
 * sdp_engine_rdma_write_where() - where would an RDMA write go? (B4, C5)
 * @e: engine
 * @bytes: number of bytes, at most sdp_engine_may_rdma_write(), and not 0
 * @to: set to where they go
 *
 * The owner gives the write to the transport, behind all messages so far. If
 * the transport takes it, the owner calls sdp_engine_rdma_write(). Otherwise
 * nothing has happened, and the bytes can go in messages.
 */
void sdp_engine_rdma_write_where(const struct sdp_engine *e, u32 bytes,
				 struct sdp_region *to)
{
	*to = e->sinkavail_tx.list[0];
	to->len = bytes;
}

/**
 * sdp_engine_rdma_write() - write into the peer's oldest buffer (B4, C5)
 * @e: engine; nothing is unsent
 * @bytes: number of bytes, at most sdp_engine_may_rdma_write()
 * @to: set to where they go
 *
 * The transport has an RDMA write of @bytes, behind all messages so far. The
 * owner then sends what sdp_engine_next() yields. The buffer is used up, even
 * if there is room left in it (C7).
 *
 * Return: true, or false and no change when @bytes may not be written.
 */
bool sdp_engine_rdma_write(struct sdp_engine *e, u32 bytes,
			   struct sdp_region *to)
{
	if (!may_add(e) || !sdp_sinkavail_tx_write(&e->sinkavail_tx, bytes, to))
		return false;
	sdp_mode_written(&e->tx_mode);
	return true;
}

/**
 * sdp_engine_sinkavail_missed() - no buffer came in time for a large write
 * @e: engine
 *
 * The owner calls this for a large write that found no buffer of the peer. It
 * does so even if the write did not wait for one but was advertised by
 * SrcAvail, which takes longer. Counts in Pipelined only, and only if neither
 * our SrcAvail nor a SinkAvail of the peer is open, because an open one may
 * still be used.
 */
void sdp_engine_sinkavail_missed(struct sdp_engine *e)
{
	if (may_add(e) && e->tx_mode.mode == SDP_MODE_PIPELINED &&
	    !e->sinkavail_tx.n && !e->sinkavail_tx.written)
		sdp_mode_sinkavail_missed(&e->tx_mode);
}

/**
 * sdp_engine_srcavail_unread() - we cancelled a SrcAvail that was not read (C9)
 * @e: engine; the SrcAvail has ended
 *
 * Counts for the mode as if the peer had declined the SrcAvail.
 */
void sdp_engine_srcavail_unread(struct sdp_engine *e)
{
	if (may_add(e) && sdp_mode_may_srcavail(&e->tx_mode) &&
	    !e->sinkavail_tx.n && !e->sinkavail_tx.written)
		sdp_mode_srcavail_declined(&e->tx_mode, false);
}

/**
 * sdp_engine_sinkavail_least() - least size of a buffer that is advertised
 * @e: engine
 *
 * Not less than the payload of a message, because the peer may send a message
 * instead of a write (wire section 8).
 *
 * Return: bytes.
 */
u32 sdp_engine_sinkavail_least(const struct sdp_engine *e)
{
	return e->resize.recv_size - SDP_BSDH_LEN;
}

/**
 * sdp_engine_asks_first() - may a decline ask for the beginning only? (C10)
 * @e: engine
 *
 * In Pipelined, SendSm with REQ_PIPE asks for the beginning of the send in a
 * message; the reader has a buffer for the rest. A peer whose Hello has the
 * extension "HELD" understands that. Other peers send all of it in messages.
 *
 * Return: true if the peer understands it.
 */
bool sdp_engine_asks_first(const struct sdp_engine *e)
{
	return e->sinkavail_rx.held;
}

/**
 * sdp_engine_want_pipelined() - ask the peer for Pipelined mode (C1, B5)
 * @e: engine; nothing happens if no SrcAvail of the peer is open
 *
 * The owner calls this when a reader had supplied its buffer before the
 * SrcAvail came, or when we cannot read by RDMA but would take a write. From
 * now on our answers to this SrcAvail carry REQ_PIPE.
 */
void sdp_engine_want_pipelined(struct sdp_engine *e)
{
	e->srcavail_rx.pipe = e->srcavail_rx.open;
}

/**
 * sdp_engine_avoid_pipelined() - we cannot write by RDMA any more
 * @e: engine
 *
 * Our sending half leaves Pipelined, as soon as no advertisement of either side
 * is open, and does not enter it again. May be called any number of times.
 */
void sdp_engine_avoid_pipelined(struct sdp_engine *e)
{
	bool idle = may_add(e) && !e->sinkavail_tx.written;

	sdp_mode_avoid_pipelined(&e->tx_mode, idle);
}

/**
 * sdp_engine_large_recv() - a reader waits with a large buffer (C3)
 * @e: engine
 *
 * The owner decides what is large. If the peer is in Buffered mode, one
 * ModeChange tells it to advertise again.
 */
void sdp_engine_large_recv(struct sdp_engine *e)
{
	sdp_mode_large_recv(&e->rx_mode);
}

/**
 * sdp_engine_tx_mode() - mode of our sending half (C1)
 * @e: engine
 *
 * Return: SDP_MODE_*.
 */
u8 sdp_engine_tx_mode(const struct sdp_engine *e)
{
	return e->tx_mode.mode;
}

/**
 * sdp_engine_rx_mode() - mode of our receiving half (C1)
 * @e: engine
 *
 * Return: SDP_MODE_*.
 */
u8 sdp_engine_rx_mode(const struct sdp_engine *e)
{
	return e->rx_mode.mode;
}
