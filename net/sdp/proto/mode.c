// SPDX-License-Identifier: GPL-2.0
/*
 * The flow-control mode of a half connection: see mode.h.
 */
#include "mode.h"

/**
 * sdp_mode_init() - both ends of both halves begin in Combined (C1)
 * @m: to fill
 * @after: source: so many transfers in a row speak for a change (C2), 0 for never
 */
void sdp_mode_init(struct sdp_mode *m, u16 after)
{
	memset(m, 0, sizeof(*m));
	m->mode = SDP_MODE_COMBINED;
	m->after = after;
}

/* Which changes are the source's to make? */
static bool source_may(u8 from, u8 to)
{
	if (from == SDP_MODE_COMBINED)
		return to == SDP_MODE_BUFFERED || to == SDP_MODE_PIPELINED;
	return from == SDP_MODE_PIPELINED && to == SDP_MODE_COMBINED;
}

/* ... and the sink's? */
static bool sink_may(u8 from, u8 to)
{
	return from == SDP_MODE_BUFFERED && to == SDP_MODE_COMBINED;
}

/**
 * sdp_mode_may_srcavail() - may the source advertise something?
 * @m: mode of its half
 *
 * Return: true when it may.
 */
bool sdp_mode_may_srcavail(const struct sdp_mode *m)
{
	return m->mode != SDP_MODE_BUFFERED && !m->wanted;
}

/* One more transfer of the same kind as the last ones, or the first of another. */
static void speaks_for(struct sdp_mode *m, u8 mode)
{
	if (m->toward != mode)
		m->alike = 0;
	m->toward = mode;
	if (m->after && ++m->alike >= m->after)
		m->wanted = true;
}

/**
 * sdp_mode_srcavail_read() - the peer has read all of an advertisement (C2)
 * @m: mode of the source's half
 * @pipe: and would rather have been written to
 *
 * In Pipelined a reader that never has its buffer there first makes the source wait for nothing.
 */
void sdp_mode_srcavail_read(struct sdp_mode *m, bool pipe)
{
	u8 mode = pipe ? SDP_MODE_PIPELINED : SDP_MODE_COMBINED;

	if (mode != m->mode)
		speaks_for(m, mode);
	else
		m->alike = 0;
}

/**
 * sdp_mode_srcavail_declined() - the peer wants an advertisement, or its rest, in messages (C2, C3)
 * @m: mode of the source's half
 * @pipe: it would have taken a write
 *
 * So often in a row: it is one that reads small, or cannot read by RDMA. In Pipelined one that
 * reads small has to be learnt from the beginning.
 */
void sdp_mode_srcavail_declined(struct sdp_mode *m, bool pipe)
{
	if (m->mode == SDP_MODE_COMBINED) {
		speaks_for(m, pipe ? SDP_MODE_PIPELINED : SDP_MODE_BUFFERED);
	} else if (!pipe) {
		m->toward = SDP_MODE_COMBINED;
		m->wanted = true;
	}
}

/**
 * sdp_mode_written() - a buffer of the peer's is filled by RDMA: it is all as it should be
 * @m: mode of the source's half, Pipelined
 */
void sdp_mode_written(struct sdp_mode *m)
{
	m->alike = 0;
	m->missed = 0;
	m->wanted = false;
}

/**
 * sdp_mode_sinkavail_missed() - no buffer came in time for a large write (C2)
 * @m: mode of the source's half, Pipelined; nothing is advertised
 *
 * After N such writes with none between that found a buffer, the reader is not
 * one that is there first.
 */
void sdp_mode_sinkavail_missed(struct sdp_mode *m)
{
	if (!m->after || m->wanted || ++m->missed < m->after)
		return;
	m->toward = SDP_MODE_COMBINED;
	m->wanted = true;
}

/**
 * sdp_mode_discarded() - a message was sent though a buffer of the peer's was there (C2)
 * @m: mode of the source's half, Pipelined
 */
void sdp_mode_discarded(struct sdp_mode *m)
{
	speaks_for(m, SDP_MODE_COMBINED);
}

/**
 * sdp_mode_large_recv() - a reader waits with a large buffer (C3)
 * @m: mode of the sink's half
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
 * sdp_mode_change_sent() - ModeChange is being sent
 * @m: mode of the half, whose change is wanted
 *
 * Return: the new mode.
 */
u8 sdp_mode_change_sent(struct sdp_mode *m)
{
	set(m, m->toward);
	return m->mode;
}

/**
 * sdp_mode_changed_by_source() - ModeChange of our receiving half has arrived
 * @m: mode of that half
 * @mode: the new one
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE.
 */
enum sdp_violation sdp_mode_changed_by_source(struct sdp_mode *m, u8 mode)
{
	if (!source_may(m->mode, mode))
		return SDP_BAD_STATE;
	set(m, mode);
	return SDP_VALID;
}

/**
 * sdp_mode_changed_by_sink() - ModeChange of our sending half has arrived
 * @m: mode of that half
 * @mode: the new one
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE.
 */
enum sdp_violation sdp_mode_changed_by_sink(struct sdp_mode *m, u8 mode)
{
	if (!sink_may(m->mode, mode))
		return SDP_BAD_STATE;
	set(m, mode);
	return SDP_VALID;
}
