/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, per namespace and per CPU, shown in /proc/net/sdpstat.
 *
 * One list: the counters' enum and their names are both made of it.
 */
#ifndef SDP_STATS_H
#define SDP_STATS_H

#define SDP_STATS(_)							\
	_(ActiveOpens)			/* connects begun */		\
	_(PassiveOpens)			/* requests taken */		\
	_(CurrEstab)			/* established now */		\
	_(ConnRefused)			/* connects refused */		\
	_(ConnTimeout)			/* connects without an answer */ \
	_(ConnRetries)			/* connects tried again: the backlog was full */ \
	_(BacklogFull)			/* requests sent away */	\
	_(NoResources)			/* the same, for lack of memory or a queue pair */ \
	_(PortSteps)			/* sockets visited in ports */ \
	_(MsgsSent)							\
	_(MsgsReceived)							\
	_(BytesSent)			/* payload */			\
	_(BytesReceived)						\
	_(DataSent)			/* messages with payload */	\
	_(CreditUpdatesSent)						\
	_(CreditUpdatesReceived)					\
	_(SplitSends)			/* writes that did not fit into one message */ \
	_(ResizesAsked)			/* other receive buffer sizes wished for at peers */ \
	_(ResizesGranted)						\
	_(ResizesRefused)						\
	_(ResizesAnswered)		/* peers' wishes answered */	\
	_(SrcAvailSent)			/* large writes offered for RDMA */ \
	_(SrcAvailRead)			/* those that peers have read */ \
	_(SrcAvailRefused)		/* those that they wanted in messages */ \
	_(SrcAvailCrossed)		/* a reader's memory came instead: C8 */ \
	_(SrcAvailCancelled)						\
	_(SrcAvailReceived)						\
	_(SrcAvailDeclined)		/* those that we wanted in messages */ \
	_(ModeBuffered)			/* directions that use messages only from now on */ \
	_(ModeCombined)			/* ... that may use RDMA again */ \
	_(ModePipelined)		/* ... whose readers' memory is advertised from now on */ \
	_(SinkAvailSent)			/* readers' memory advertised to writers */ \
	_(SinkAvailPiggybacked)			/* ... together with data: C6 */ \
	_(SinkAvailReceived)		/* peers' readers' memory */	\
	_(SinkAvailCancelled)		/* ... and taken back */ \
	_(SinkAvailStale)			/* peers', void when they came: C7 */ \
	_(SinkAvailAwaited)			/* writers that waited for some */ \
	_(SinkAvailMissed)			/* ... and none came */	\
	_(ScansRun)			/* looks of the scanner at offers */ \
	_(ScansFired)			/* because nobody read them for long */ \
	_(ScansCancelled)		/* own offers left unread for long */ \
	_(MapsFailed)			/* memory that could not be registered for RDMA */ \
	_(RdmaReadBytes)			/* by RDMA, from peers */	\
	_(RdmaReadsVoid)			/* that the device called done, and nothing had come */ \
	_(RdmaReadBytesByPeer)			/* by RDMA, by peers */		\
	_(RdmaWriteBytes)			/* by RDMA, to peers */		\
	_(RdmaWriteBytesByPeer)			/* by RDMA, by peers */		\
	_(RingsMade)			/* for peers to write into */	\
	_(RingsRefused)			/* for lack of memory, or too small */ \
	_(RingsOver)			/* given back, or replaced */	\
	_(RingWrites)			/* messages written into peers' rings */ \
	_(RingBytesWritten)		/* their payload */		\
	_(RingReads)			/* messages that came in rings */ \
	_(RingBytesRead)		/* their payload */		\
	_(RingUnasked)			/* of those written, without a receive granted */ \
	_(RingFull)			/* times that data had to wait for room in a ring */ \
	_(RingSplits)			/* segments longer than a message in a ring may be */ \
	_(RingUpdatesSent)		/* messages only to say that a ring is read */ \
	_(CreditStalls)			/* times that data had to wait for credit */ \
	_(PartialHeld)			/* times that a small write gathered */ \
	_(SendCompletions)		/* completions handled */	\
	_(BytesReferenced)		/* sent without being copied */	\
	_(Coalesced)			/* small messages copied together */ \
	_(NoMemory)			/* receives or messages put off */ \
	_(MemoryShort)			/* net.sdp.mem, or a cgroup, allowed no more */ \
	_(MemoryPressure)		/* times that net.sdp.mem came near its end */ \
	_(BuffersGrown)			/* times that a send or receive buffer doubled */ \
	_(WakeReadIssued)						\
	_(WakeReadSkipped)						\
	_(WakeUrgentIssued)						\
	_(WakeUrgentSkipped)						\
	_(WakeWriteIssued)						\
	_(WakeWriteSkipped)						\
	_(Aborts)			/* connections ended from this side */ \
	_(Failures)			/* connections ended by an error */ \
	_(AddressRemoved)		/* ended with their own address */ \
	_(KeepaliveProbes)		/* questions whether a peer is there */ \
	_(SilentPeers)			/* connections ended because it was not */ \
	_(OrphanTimeouts)		/* closed sockets that ran out of time */ \
	_(OrphansRefused)		/* reset at the close: there were too many */ \
	_(PolicyMet)			/* new undecided sockets */	\
	_(PolicyConnects)		/* the policy's: sockets of TCP's that became SDP */ \
	_(PolicyListens)						\
	_(PolicyAccepts)						\
	_(FellRoute)			/* that should have: enum sdp_fallback */ \
	_(FellRefused)							\
	_(FellTimeout)							\
	_(FellBusy)							\
	_(FellRemembered)						\
	_(FellResources)						\
	_(FellOption)							\
	_(FellPort)							\
	_(FellError)							\
	_(FellMtu)							\
	_(BadLen)			/* what peers did wrong: enum sdp_violation */ \
	_(BadHello)							\
	_(BadMid)							\
	_(BadFlags)							\
	_(BadField)							\
	_(BadPayload)							\
	_(BadSeq)							\
	_(BadAck)							\
	_(BadBufs)							\
	_(BadCredit)							\
	_(BadState)							\
	_(BadKey)

enum sdp_stat {
#define SDP_STAT_ENUM(name) SDP_STAT_##name,
	SDP_STATS(SDP_STAT_ENUM)
#undef SDP_STAT_ENUM
	SDP_STAT_COUNT
};

/**
 * struct sdp_mib - the counters of one CPU
 * @count: by &enum sdp_stat; a gauge is the sum over all CPUs
 */
struct sdp_mib {
	unsigned long count[SDP_STAT_COUNT];
};

#endif /* SDP_STATS_H */
