/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow-control mode of one half connection, as one of its ends sees it (requirements C1-C8,
 * wire section 8). It follows what the reader does:
 *
 *	            N advertisements in a row were           N in a row were declined:
 *	            answered with REQ_PIPE (0x20)            (0x00)
 *	          +------------------------------+     +-----------------------------+
 *	          v                              |     |                             v
 *	      PIPELINED                     --> COMBINED                          BUFFERED
 *	          |                              ^     ^                             |
 *	          +------------------------------+     +-----------------------------+
 *	            the reader has changed (0x10)            a reader waits with a large
 *	                                                     buffer: the sink says so (0x90)
 *
 *	Combined	large sends are advertised (SrcAvail): how they are taken shows what the
 *			reader does. This is also the discovery that C1 speaks of.
 *	Buffered	data only
 *	Pipelined	the sink advertises buffers (SinkAvail), the source writes into them; it
 *			advertises itself only when there is none
 *
 * REQ_PIPE, on the answers to an advertisement: its reader had posted the buffer before it came,
 * or cannot read by RDMA and would take writes (B5). With SendSm in Pipelined
 * it means: the reader wants little first, in a message, and has a large buffer
 * for the rest (C10). The source leaves Pipelined when an advertisement is
 * declined without REQ_PIPE, so that a small reader is learnt as ever; when N
 * in a row were read without it; when N messages have discarded a buffer, with
 * no large transfer between: then it sends small; or when no buffer came in
 * time for N writes, whatever the answers to their advertisements say.
 *
 * An end changes when it sends ModeChange, or receives it. Both ends agree whenever nothing is
 * on the way, because two changes of one half never cross:
 *
 *	While both are in Combined or in Pipelined only the source may speak, as often as it
 *	likes, and its changes arrive in order. From the moment it has said Buffered until 0x90
 *	arrives it is silent; the sink is in another mode until 0x00 arrives, and silent, too. Then
 *	both are in Buffered, and only the sink may speak, once: then it is in Combined and silent,
 *	and the source in Buffered until 0x90 arrives. So the right to speak goes back and forth
 *	with the messages, and is never at both ends.
 *
 * Nor does an advertisement of the source's cross a change. It changes when none is out, so
 * nothing that belongs to one is on the way, but a late SendSm, which the source can tell
 * (srcavail_tx.h). After 0x00 it advertises nothing until 0x90 arrives, and the sink has been in
 * Combined again since it sent that: SrcAvail meets a sink in Buffered only by mistake.
 *
 * One of the sink's can cross 0x10. The source ignores what was sent by someone who had not got
 * that (sinkavail_tx.h), and the sink regards all as over when it gets it.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_MODE_H
#define SDP_PROTO_MODE_H

#include "wire.h"

/**
 * struct sdp_mode - one end's view of a half connection
 * @mode: SDP_MODE_*
 * @wanted: ModeChange is to be sent from here
 * @toward: ... to this mode; or the one that the last transfers speak for
 * @after: source: so many transfers in a row speak for a change, 0 for never (C2)
 * @alike: source: so many have
 * @missed: source, Pipelined: writes in a row that no buffer came for in time
 */
struct sdp_mode {
	u8 mode;
	bool wanted;
	u8 toward;
	u16 after;
	u16 alike;
	u16 missed;
};

void sdp_mode_init(struct sdp_mode *m, u16 after);
bool sdp_mode_may_srcavail(const struct sdp_mode *m);
void sdp_mode_srcavail_read(struct sdp_mode *m, bool pipe);
void sdp_mode_srcavail_declined(struct sdp_mode *m, bool pipe);
void sdp_mode_written(struct sdp_mode *m);
void sdp_mode_discarded(struct sdp_mode *m);
void sdp_mode_sinkavail_missed(struct sdp_mode *m);
void sdp_mode_large_recv(struct sdp_mode *m);
u8 sdp_mode_change_sent(struct sdp_mode *m);
enum sdp_violation sdp_mode_changed_by_source(struct sdp_mode *m, u8 mode);
enum sdp_violation sdp_mode_changed_by_sink(struct sdp_mode *m, u8 mode);

#endif /* SDP_PROTO_MODE_H */
