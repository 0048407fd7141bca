// SPDX-License-Identifier: GPL-2.0
/*
 * Flow-control mode: counts transfers and changes the mode.
 *
 * mode.h describes the modes and why their changes never cross.
 */
#include "mode.h"

/**
 * sdp_mode_init() - initialize one end's view of a half connection
 * @m: mode to fill; begins in Combined (C1)
 * @after: source: number of transfers in a row that change the mode (C2), 0
 *	for never; the sink passes 0
 */
void sdp_mode_init(struct sdp_mode *m, u16 after)
{
	memset(m, 0, sizeof(*m));
	m->mode = SDP_MODE_COMBINED;
	m->after = after;
}

/* Is this change one that the source makes? */
static bool source_may(u8 from, u8 to)
{
	if (from == SDP_MODE_COMBINED)
		return to == SDP_MODE_BUFFERED || to == SDP_MODE_PIPELINED;
	return from == SDP_MODE_PIPELINED && to == SDP_MODE_COMBINED;
}

/* Is this change one that the sink makes? */
static bool sink_may(u8 from, u8 to)
{
	return from == SDP_MODE_BUFFERED && to == SDP_MODE_COMBINED;
}

/**
 * sdp_mode_may_srcavail() - does the mode let the source send SrcAvail?
 * @m: mode of the source's half
 *
 * Return: true when it does.
 */
bool sdp_mode_may_srcavail(const struct sdp_mode *m)
{
	return m->mode != SDP_MODE_BUFFERED && !m->wanted;
}

/* Count one transfer that speaks for @mode. */
static void mode_count(struct sdp_mode *m, u8 mode)
{
	if (m->toward != mode)
		m->alike = 0;
	m->toward = mode;
	if (m->after && ++m->alike >= m->after)
		m->wanted = true;
}

/**
 * sdp_mode_srcavail_read() - the peer has read a whole SrcAvail (C2)
 * @m: mode of the source's half
 * @pipe: the answer had REQ_PIPE: the peer would rather be written to
 *
 * In Pipelined a source that waits for SinkAvails waits in vain when the
 * reader never supplies its buffer before SrcAvail comes. So reads without
 * REQ_PIPE speak for Combined.
 */
void sdp_mode_srcavail_read(struct sdp_mode *m, bool pipe)
{
	u8 mode;

	pipe = pipe && !m->no_writes;
	mode = pipe ? SDP_MODE_PIPELINED : SDP_MODE_COMBINED;
	if (mode != m->mode)
		mode_count(m, mode);
	else
		m->alike = 0;
}

/**
 * sdp_mode_srcavail_declined() - the peer wants a SrcAvail in messages (C2, C3)
 * @m: mode of the source's half
 * @pipe: the answer had REQ_PIPE: the peer would have taken a write
 *
 * The peer has declined all of the SrcAvail, or its rest. In Combined, N in a
 * row mean that the reader reads small, or with @pipe that the sink cannot
 * read by RDMA. In Pipelined a single one without @pipe ends the mode, because
 * only Combined can find out whether the reader reads small.
 */
void sdp_mode_srcavail_declined(struct sdp_mode *m, bool pipe)
{
	pipe = pipe && !m->no_writes;
	if (m->mode == SDP_MODE_COMBINED) {
		mode_count(m, pipe ? SDP_MODE_PIPELINED : SDP_MODE_BUFFERED);
	} else if (!pipe) {
		m->toward = SDP_MODE_COMBINED;
		m->wanted = true;
	}
}

/**
 * sdp_mode_written() - the source has written into a buffer of the peer
 * @m: mode of the source's half, Pipelined
 *
 * Pipelined works as intended. So nothing counts against it any more, and a
 * change that was wanted is not made.
 */
void sdp_mode_written(struct sdp_mode *m)
{
	m->alike = 0;
	m->missed = 0;
	m->wanted = false;
}

/**
 * sdp_mode_sinkavail_missed() - no SinkAvail came in time (C2)
 * @m: mode of the source's half, Pipelined; nothing is advertised
 *
 * After N such large writes, with none between that found a SinkAvail, the
 * reader is not one that supplies its buffer first.
 */
void sdp_mode_sinkavail_missed(struct sdp_mode *m)
{
	if (!m->after || m->wanted || ++m->missed < m->after)
		return;
	m->toward = SDP_MODE_COMBINED;
	m->wanted = true;
}

/**
 * sdp_mode_discarded() - a message has discarded a SinkAvail (C2)
 * @m: mode of the source's half, Pipelined
 */
void sdp_mode_discarded(struct sdp_mode *m)
{
	mode_count(m, SDP_MODE_COMBINED);
}

/**
 * sdp_mode_avoid_pipelined() - the source cannot write by RDMA any more
 * @m: mode of the source's half
 * @idle: nothing is advertised, so the mode may change
 */
void sdp_mode_avoid_pipelined(struct sdp_mode *m, bool idle)
{
	if (m->toward == SDP_MODE_PIPELINED) {
		m->toward = SDP_MODE_COMBINED;
		m->alike = 0;
		m->wanted = false;
	}
	m->no_writes = true;
	if (m->mode != SDP_MODE_PIPELINED || !idle)
		return;
	m->toward = SDP_MODE_COMBINED;
	m->wanted = true;
}

/**
 * sdp_mode_large_recv() - a reader waits with a large buffer (C3)
 * @m: mode of the sink's half; no effect unless it is Buffered
 */
void sdp_mode_large_recv(struct sdp_mode *m)
{
	m->toward = SDP_MODE_COMBINED;
	m->wanted = m->mode == SDP_MODE_BUFFERED;
}

static void set(struct sdp_mode *m, u8 mode)
{
	m->mode = mode;
	m->wanted = false;
	m->alike = 0;
	m->missed = 0;
}

/**
 * sdp_mode_change_sent() - note that our ModeChange is being sent
 * @m: mode of the half; @wanted is set
 *
 * Return: the new mode, SDP_MODE_*.
 */
u8 sdp_mode_change_sent(struct sdp_mode *m)
{
	set(m, m->toward);
	return m->mode;
}

/**
 * sdp_mode_changed_by_source() - process ModeChange of our receiving half
 * @m: mode of that half
 * @mode: the new mode, SDP_MODE_*
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when the source may not change to
 * @mode now.
 */
enum sdp_violation sdp_mode_changed_by_source(struct sdp_mode *m, u8 mode)
{
	if (!source_may(m->mode, mode))
		return SDP_BAD_STATE;
	set(m, mode);
	return SDP_VALID;
}

/**
 * sdp_mode_changed_by_sink() - process ModeChange of our sending half
 * @m: mode of that half
 * @mode: the new mode, SDP_MODE_*
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when the sink may not change to
 * @mode now.
 */
enum sdp_violation sdp_mode_changed_by_sink(struct sdp_mode *m, u8 mode)
{
	if (!sink_may(m->mode, mode))
		return SDP_BAD_STATE;
	set(m, mode);
	return SDP_VALID;
}
