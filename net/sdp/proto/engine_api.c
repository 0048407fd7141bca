// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: what its owner asks and wishes between events. What comes of a wish is
 * a message of sdp_engine_next().
 */
#include "engine_internal.h"

/**
 * sdp_engine_set_target() - change how many receives shall be posted
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
 * sdp_engine_receives_wanted() - how many receives shall be posted now
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
 * @n: how many
 */
void sdp_engine_posted(struct sdp_engine *e, u16 n)
{
	sdp_credit_posted(&e->credit, n);
}

/**
 * sdp_engine_post_size() - which size shall receives have that are posted now? (E2)
 * @e: engine
 *
 * Return: bytes, BSDH included.
 */
u32 sdp_engine_post_size(const struct sdp_engine *e)
{
	return e->resize.posting;
}

/**
 * sdp_engine_resize_refuse() - larger receives, as the peer wants them, cannot be had (E2)
 * @e: engine
 *
 * Nothing happens if the peer has been told already that it has them.
 */
void sdp_engine_resize_refuse(struct sdp_engine *e)
{
	sdp_resize_refuse(&e->resize);
}

/**
 * sdp_engine_split() - a send of the application did not fit into one message (E1)
 * @e: engine, after its Hello exchange
 * @bytes: size of the send
 */
void sdp_engine_split(struct sdp_engine *e, u32 bytes)
{
	/* In a ring it will not be split, or not for the size of a receive. */
	if (e->ring_out.scheme == SDP_BY_CREDIT || e->ring_out.refusals)
		sdp_resize_split(&e->resize, bytes);
	else
		sdp_ring_out_was_full(&e->ring_out);
}

/**
 * sdp_engine_may_decay() - are requests for larger receives put off?
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
 * @e: engine; half as many split sends as before lead to the next request
 */
void sdp_engine_decay(struct sdp_engine *e)
{
	sdp_resize_decay(&e->resize);
}

/* May there be anything new to send, with no advertisement before it? */
static bool may_add(const struct sdp_engine *e)
{
	return !e->dead && sdp_conn_may_send(e->state) && !e->shutdown &&
	       e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE;
}

/**
 * sdp_engine_may_shrink() - could we ask the peer for its first, smaller receives?
 * @e: engine
 *
 * Not while something is advertised: what goes along with it has been cut to the present size.
 *
 * Return: true when that makes sense, now or later.
 */
bool sdp_engine_may_shrink(const struct sdp_engine *e)
{
	return may_add(e) && sdp_resize_may_shrink(&e->resize);
}

/**
 * sdp_engine_shrink() - nothing was sent for long: the peer may have smaller receives again
 * @e: engine; nothing is unsent, and nobody is about to add something of the present size
 *
 * What is sent next asks for it. sdp_engine_shrink_end() has to be called before anything can
 * be added, because a request that is sent binds us at once.
 *
 * Return: true when there is something to ask for.
 */
bool sdp_engine_shrink(struct sdp_engine *e)
{
	return sdp_engine_may_shrink(e) && sdp_resize_shrink(&e->resize);
}

/**
 * sdp_engine_shrink_end() - if the request could not be sent it is not wanted any more
 * @e: engine
 */
void sdp_engine_shrink_end(struct sdp_engine *e)
{
	sdp_resize_shrink_end(&e->resize);
}

/**
 * sdp_engine_may_srcavail() - could a send be advertised now? (B2)
 * @e: engine
 *
 * Not in Buffered mode (C3), one at a time, and not while the peer's own advertisement is open: two
 * programs that both write before they read would wait until each is asked for messages (C9).
 * In Pipelined only if there is no buffer to write into. And never where the adapters hold messages
 * back: the answer could be behind them, and our writer would have to wait for our reader (G4).
 *
 * Return: true when it could.
 */
bool sdp_engine_may_srcavail(const struct sdp_engine *e)
{
	return may_add(e) && !e->srcavail_rx.open &&
	       sdp_mode_may_srcavail(&e->tx_mode) && !e->sinkavail_tx.n &&
	       !e->sinkavail_tx.written && !e->credit.unasked;
}

/**
 * sdp_engine_srcavail_inline_max() - how much can go along with an advertisement?
 * @e: engine, after its Hello exchange
 *
 * Return: bytes; 0 in Pipelined, where nothing may.
 */
u32 sdp_engine_srcavail_inline_max(const struct sdp_engine *e)
{
	if (e->tx_mode.mode == SDP_MODE_PIPELINED)
		return 0;
	return e->resize.send_size - sdp_wire_header_len(SDP_MID_SRC_AVAIL);
}

/**
 * sdp_engine_srcavail() - advertise a send instead of sending all of it (B2, C4, wire section 8)
 * @e: engine; sdp_engine_may_srcavail()
 * @region: all of it, which the peer may read until OFFER_OVER or the end of the connection
 * @inlined: bytes of its beginning that go along: less than all, at most
 *	sdp_engine_srcavail_inline_max(), and at least 1 unless that is 0
 *
 * It goes when everything that is ready to be sent has gone, which does not wait to become
 * more; until then nothing may be added to that. What is added while it is out waits, and is
 * to follow the rest of it, if there is one.
 */
void sdp_engine_srcavail(struct sdp_engine *e, const struct sdp_region *region,
			 u32 inlined)
{
	sdp_srcavail_tx_begin(&e->srcavail_tx, region, inlined);
}

/**
 * sdp_engine_srcavail_tx_open() - is something advertised, or about to be?
 * @e: engine
 *
 * Return: true until it is over.
 */
bool sdp_engine_srcavail_tx_open(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_tx.state != SDP_SRCAVAIL_TX_IDLE;
}

/**
 * sdp_engine_srcavail_tx_read() - how much has the peer read of our offer? (C9)
 * @e: engine
 *
 * May be asked without the owner's lock, to see whether it changes.
 *
 * Return: bytes that it has reported; meaningless when nothing is advertised.
 */
u32 sdp_engine_srcavail_tx_read(const struct sdp_engine *e)
{
	return READ_ONCE(e->srcavail_tx.read);
}

/**
 * sdp_engine_srcavail_cancel() - what is advertised shall not be read any more (C9, wire section 8)
 * @e: engine
 *
 * If the peer does not know of it, it is over at once, without an action: then
 * sdp_engine_srcavail_tx_open() says so. Otherwise the peer is asked, and OFFER_OVER follows.
 */
void sdp_engine_srcavail_cancel(struct sdp_engine *e)
{
	sdp_srcavail_tx_cancel(&e->srcavail_tx);
}

/**
 * sdp_engine_srcavail_rx_left() - how much of what the peer advertises can be read now? (B3)
 * @e: engine
 *
 * Return: bytes; 0 while a read goes on.
 */
u32 sdp_engine_srcavail_rx_left(const struct sdp_engine *e)
{
	return e->dead ? 0 : sdp_srcavail_rx_left(&e->srcavail_rx);
}

/**
 * sdp_engine_srcavail_rx_reading() - does a read of what the peer advertises go on?
 * @e: engine
 *
 * Return: true when it does.
 */
bool sdp_engine_srcavail_rx_reading(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_rx.reading;
}

/**
 * sdp_engine_srcavail_rx_read() - how much of what the peer advertises is here? (C9)
 * @e: engine
 *
 * Return: bytes, what came along included; 0 when nothing is advertised.
 */
u32 sdp_engine_srcavail_rx_read(const struct sdp_engine *e)
{
	return !e->dead && e->srcavail_rx.open ? e->srcavail_rx.got : 0;
}

/**
 * sdp_engine_rdma_read_begin() - the owner wants to read from the peer's memory (B4)
 * @e: engine
 * @bytes: how many, at most sdp_engine_srcavail_rx_left()
 * @from: where they are
 *
 * Return: true when the read may begin; sdp_engine_rdma_read_end() has to follow.
 */
bool sdp_engine_rdma_read_begin(struct sdp_engine *e, u32 bytes,
				struct sdp_region *from)
{
	return !e->dead &&
	       sdp_srcavail_rx_read_begin(&e->srcavail_rx, bytes, from);
}

/**
 * sdp_engine_rdma_read_end() - the read has ended
 * @e: engine
 * @ok: the bytes are here, which the peer will be told; otherwise none of them is
 */
void sdp_engine_rdma_read_end(struct sdp_engine *e, bool ok)
{
	sdp_srcavail_rx_read_end(&e->srcavail_rx, ok);
}

/**
 * sdp_engine_srcavail_decline() - what the peer advertises, or the rest of it, shall come as data (B3)
 * @e: engine
 *
 * The peer is told when no read goes on. Nothing happens if all is read, or there is nothing.
 */
void sdp_engine_srcavail_decline(struct sdp_engine *e)
{
	sdp_srcavail_rx_decline(&e->srcavail_rx);
}

/* Is there nothing of the peer's, or nothing that has been begun, so that a buffer can go? */
static bool may_show_buffer(const struct sdp_engine *e)
{
	return !e->dead && !e->credit.unasked &&
	       sdp_conn_may_receive(e->state) &&
	       e->rx_mode.mode == SDP_MODE_PIPELINED &&
	       (!e->srcavail_rx.open ||
		sdp_srcavail_rx_untouched(&e->srcavail_rx));
}

/**
 * sdp_engine_may_sinkavail() - may a buffer be advertised, and how long has it to be? (C5)
 * @e: engine
 *
 * In Pipelined, as many as both sides can hold, and none while a cancel is not settled. It shall
 * not be shorter than a message, which could come in its place (wire section 8).
 *
 * Return: bytes at least, 0 when none may be.
 */
u32 sdp_engine_may_sinkavail(const struct sdp_engine *e)
{
	if (!may_show_buffer(e) || !sdp_sinkavail_rx_room(&e->sinkavail_rx))
		return 0;
	return sdp_engine_sinkavail_least(e);
}

/**
 * sdp_engine_sinkavail() - advertise a buffer that a reader has posted (C5)
 * @e: engine
 * @region: the buffer, which the peer may write into until WRITTEN or ADVERT_OVER with its id, or
 *	the end of the connection
 *
 * All that came before has been read, or at least goes somewhere else. If the peer has something
 * to be read, the buffer is the answer to that (C8), unless a read of it begins before it could go.
 * If it is expected to be asked for, it is told together with that (C6).
 *
 * Return: its id; 0 if it may not be, or is too short.
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
 * sdp_engine_sinkavails_out() - how many buffers are advertised, or about to be?
 * @e: engine
 *
 * Return: so many are not over.
 */
u32 sdp_engine_sinkavails_out(const struct sdp_engine *e)
{
	return e->dead ? 0 : e->sinkavail_rx.n;
}

/**
 * sdp_engine_sinkavail_cancel() - no buffer is wanted any more
 * @e: engine
 * @acts: ADVERT_OVER for those that the peer does not know of
 *
 * The others end when the peer has heard of it: with ADVERT_OVER, or WRITTEN if it was faster.
 * Until then nothing can be advertised.
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
 * sdp_engine_sinkavail_drop() - the rest of a buffer is out of the peer's reach
 * @e: engine
 * @id: the buffer, of which WRITTEN has left a rest; nothing happens if it is
 *	over meanwhile
 *
 * The peer must not be able to write into it any more, for what it reports from
 * now on is about another one. To be called if there has been no answer to
 * sdp_engine_sinkavail_cancel() for long: a peer that was done with the buffer
 * gives none.
 */
void sdp_engine_sinkavail_drop(struct sdp_engine *e, u32 id)
{
	if (!e->dead && e->sinkavail_rx.got && e->sinkavail_rx.list[0].id == id)
		sdp_sinkavail_rx_end(&e->sinkavail_rx);
	sdp_engine_keep_back(e);
}

/**
 * sdp_engine_may_rdma_write() - how much may be written into a buffer of the peer's now? (B4)
 * @e: engine; what goes into it follows all that was handed over before
 *
 * Return: bytes, 0 when there is none, or when something is to be sent before.
 */
u32 sdp_engine_may_rdma_write(const struct sdp_engine *e)
{
	return may_add(e) ? sdp_sinkavail_tx_room(&e->sinkavail_tx) : 0;
}

/**
 * sdp_engine_rdma_write() - something large is written into the peer's oldest buffer (B4, C5)
 * @e: engine; nothing is unsent
 * @bytes: how many, at most sdp_engine_may_rdma_write()
 * @to: where to
 *
 * The owner gives an RDMA write of so many bytes to the transport, behind all messages so far, and
 * then sends what sdp_engine_next() yields. The buffer is used up, even if there is room left
 * in it (C7).
 *
 * Return: false, and no change, when so many may not be written.
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
 * sdp_engine_sinkavail_missed() - no buffer of the peer's came in time for a large write
 * @e: engine
 *
 * Or it would not have, had the owner waited: the write was advertised, and the
 * answer took longer. Counts in Pipelined only, with nothing advertised at
 * either end: whatever is there now may still be used.
 */
void sdp_engine_sinkavail_missed(struct sdp_engine *e)
{
	if (may_add(e) && e->tx_mode.mode == SDP_MODE_PIPELINED &&
	    !e->sinkavail_tx.n && !e->sinkavail_tx.written)
		sdp_mode_sinkavail_missed(&e->tx_mode);
}

/**
 * sdp_engine_srcavail_unread() - an offer was withdrawn that nobody has read (C9)
 * @e: engine; that is over
 *
 * The peer's end could have declined it, and its mode is learnt as if it had.
 */
void sdp_engine_srcavail_unread(struct sdp_engine *e)
{
	if (may_add(e) && sdp_mode_may_srcavail(&e->tx_mode) &&
	    !e->sinkavail_tx.n && !e->sinkavail_tx.written)
		sdp_mode_srcavail_declined(&e->tx_mode, false);
}

/**
 * sdp_engine_sinkavail_least() - how long has a buffer to be, to be advertised?
 * @e: engine
 *
 * Not shorter than a message, which could come in its place (wire section 8).
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
 * Return: whether the peer knows SendSm with REQ_PIPE in Pipelined as a wish
 * for the beginning in a message, and a buffer for the rest. An end that has
 * the extension "HELD" does; others want all of it in messages.
 */
bool sdp_engine_asks_first(const struct sdp_engine *e)
{
	return e->sinkavail_rx.once;
}

/**
 * sdp_engine_want_pipelined() - a buffer was there before what the peer advertises now (C1, B5)
 * @e: engine; something is advertised: OFFERED, and our last word about it has not been sent
 *
 * Or it could not be read by RDMA, and would be taken by a write. Whatever is said of this
 * advertisement from now on says that as well, and the peer draws its conclusions.
 */
void sdp_engine_want_pipelined(struct sdp_engine *e)
{
	e->srcavail_rx.pipe = e->srcavail_rx.open;
}

/**
 * sdp_engine_large_recv() - a reader waits with a large buffer (C3)
 * @e: engine
 *
 * What is large is for the owner to say. If the peer sends all in messages it is told, once, so
 * that it advertises again.
 */
void sdp_engine_large_recv(struct sdp_engine *e)
{
	sdp_mode_large_recv(&e->rx_mode);
}

/**
 * sdp_engine_tx_mode() - the mode of our sending half (C1)
 * @e: engine
 *
 * Return: SDP_MODE_*.
 */
u8 sdp_engine_tx_mode(const struct sdp_engine *e)
{
	return e->tx_mode.mode;
}

/**
 * sdp_engine_rx_mode() - the mode of our receiving half (C1)
 * @e: engine
 *
 * Return: SDP_MODE_*.
 */
u8 sdp_engine_rx_mode(const struct sdp_engine *e)
{
	return e->rx_mode.mode;
}
