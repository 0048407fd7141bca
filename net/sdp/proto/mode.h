/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow-control mode of one half connection, as one end sees it.
 *
 * The mode follows what the reader does (requirements C1-C8, wire section 8):
 *
 *	Combined	The source advertises large sends (SrcAvail). How the
 *			peer takes them shows what the reader does: this is
 *			also the discovery state of C1.
 *	Buffered	The source sends Data only.
 *	Pipelined	The sink advertises buffers (SinkAvail) and the source
 *			writes into them. The source advertises a large send
 *			only when it has no buffer to write into.
 *
 *	from		to		sender	byte	reason
 *	Combined	Buffered	source	0x00	N SrcAvails in a row
 *							were declined
 *	Combined	Pipelined	source	0x20	N SrcAvails in a row
 *							had REQ_PIPE answers
 *	Pipelined	Combined	source	0x10	see below
 *	Buffered	Combined	sink	0x90	a reader waits with a
 *							large buffer
 *
 * REQ_PIPE on the answer to a SrcAvail means that the reader had supplied its
 * buffer before the SrcAvail came, or that the sink cannot read by RDMA and
 * would take writes (B5). On SendSm in Pipelined it means that the reader
 * wants a small part first, in a message, and has a large buffer for the rest
 * (C10).
 *
 * The source leaves Pipelined when
 *	- a SrcAvail is declined without REQ_PIPE; Combined then learns whether
 *	  the reader is a small one,
 *	- N SrcAvails in a row were read without REQ_PIPE,
 *	- N messages have discarded a SinkAvail with no RDMA write between them,
 *	  because the application makes small sends; messages with the rest of
 *	  a declined SrcAvail do not count,
 *	- for N large writes in a row no SinkAvail came in time, whatever the
 *	  answers to their SrcAvails said, or
 *	- it cannot write by RDMA any more. Then REQ_PIPE means nothing to it.
 *
 * An end changes its mode when it sends ModeChange or receives it. Both ends
 * agree whenever no ModeChange is in flight, because two changes of the same
 * half never cross:
 *	- While both ends are in Combined or Pipelined, only the source sends
 *	  ModeChange. It may send several, and they arrive in order.
 *	- After the source has sent 0x00 (to Buffered) it sends no ModeChange
 *	  until 0x90 arrives. Until 0x00 arrives, the sink is in another mode
 *	  and sends none either.
 *	- Then both ends are in Buffered, and only the sink may send ModeChange,
 *	  once. After it has sent 0x90 the sink is in Combined and sends none.
 *	  The source stays in Buffered until 0x90 arrives.
 * So the right to change moves with the messages and is never at both ends.
 *
 * A SrcAvail does not cross a ModeChange either. The source changes only
 * while no SrcAvail is out. Then only a late SendSm can be in flight, which
 * the source recognizes (srcavail_tx.h). After 0x00 the source sends no
 * SrcAvail until 0x90 arrives, and the sink has been in Combined since it sent
 * 0x90. So a SrcAvail that reaches a sink in Buffered is a violation.
 *
 * A SinkAvail can cross 0x10. The source ignores one that was sent before the
 * sink had 0x10 (sinkavail_tx.h), and the sink ends all its SinkAvails when
 * 0x10 arrives.
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner.
 */
#ifndef SDP_PROTO_MODE_H
#define SDP_PROTO_MODE_H

#include "wire.h"

/**
 * struct sdp_mode - one end's view of a half connection
 * @mode: present mode, SDP_MODE_*
 * @wanted: this end is to send ModeChange to @toward
 * @toward: with @wanted: mode of that ModeChange; otherwise the mode that the
 *	last transfers speak for
 * @after: source: number of transfers in a row that change the mode (N of
 *	C2), 0 for never
 * @alike: source: number of transfers in a row that speak for @toward
 * @missed: source, Pipelined: number of large writes in a row for which no
 *	SinkAvail came in time
 * @no_writes: source: it cannot write by RDMA, so Pipelined is of no use
 */
struct sdp_mode {
	u8 mode;
	bool wanted;
	u8 toward;
	u16 after;
	u16 alike;
	u16 missed;
	bool no_writes;
};

void sdp_mode_init(struct sdp_mode *m, u16 after);
bool sdp_mode_may_srcavail(const struct sdp_mode *m);
void sdp_mode_srcavail_read(struct sdp_mode *m, bool pipe);
void sdp_mode_srcavail_declined(struct sdp_mode *m, bool pipe);
void sdp_mode_written(struct sdp_mode *m);
void sdp_mode_discarded(struct sdp_mode *m);
void sdp_mode_sinkavail_missed(struct sdp_mode *m);
void sdp_mode_avoid_pipelined(struct sdp_mode *m, bool idle);
void sdp_mode_large_recv(struct sdp_mode *m);
u8 sdp_mode_change_sent(struct sdp_mode *m);
enum sdp_violation sdp_mode_changed_by_source(struct sdp_mode *m, u8 mode);
enum sdp_violation sdp_mode_changed_by_sink(struct sdp_mode *m, u8 mode);

#endif /* SDP_PROTO_MODE_H */
