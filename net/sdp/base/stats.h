/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a namespace, as /proc/net/sdpstat and netlink show them.
 *
 * Each CPU has its own; a value is their sum. enum sdp_stat and the names that
 * users see are both made from SDP_STATS. sdp.rst describes each counter.
 *
 * Code relies on the order in three places: Fell* is in the order of enum
 * sdp_fallback, Bad* in that of enum sdp_violation, and each Wake*Skipped
 * follows its Wake*Issued. A violation ends the connection, or refuses the
 * request, that it is counted for.
 */
#ifndef SDP_BASE_STATS_H
#define SDP_BASE_STATS_H

#define SDP_STATS(_)							\
	_(ActiveOpens)		/* connects begun */			\
	_(PassiveOpens)		/* requests answered with a HelloAck */	\
	_(CurrEstab)		/* sockets in TCP_ESTABLISHED now (a gauge) */ \
	_(ConnRefused)		/* connects that ended in ECONNREFUSED */ \
	_(ConnTimeout)		/* connects that ended in ETIMEDOUT */	\
	_(ConnRetries)		/* attempts repeated: peer busy or silent */ \
	_(BacklogFull)		/* requests refused: backlog full */	\
	_(NoResources)		/* requests refused: no memory or QP */	\
	_(PortSteps)		/* sockets visited by port lookups */	\
	_(MsgsSent)		/* messages sent, except Hello/HelloAck */ \
	_(MsgsReceived)		/* messages received, even invalid ones */ \
	_(BytesSent)		/* payload bytes sent in messages */	\
	_(BytesReceived)	/* payload bytes received in messages */ \
	_(DataSent)		/* messages sent with payload */	\
	_(CreditUpdatesSent)	/* Data messages sent without payload */ \
	_(CreditUpdatesReceived) /* Data messages received without payload */ \
	_(SplitSends)		/* writes that did not fit one message */ \
	_(ResizesAsked)		/* ChRcvBuf sent */			\
	_(ResizesGranted)	/* ChRcvBufAck with the size we asked for */ \
	_(ResizesRefused)	/* ChRcvBufAck with another size */	\
	_(ResizesAnswered)	/* ChRcvBufAck sent */			\
	_(SrcAvailSent)		/* SrcAvail sent */			\
	_(SrcAvailRead)		/* SrcAvail sent and fully read by the peer */ \
	_(SrcAvailRefused)	/* SrcAvail sent and answered by SendSm */ \
	_(SrcAvailCrossed)	/* SrcAvail sent, voided by a SinkAvail: C8 */ \
	_(SrcAvailCancelled)	/* SrcAvail sent and cancelled by us */	\
	_(SrcAvailReceived)	/* SrcAvail received */			\
	_(SrcAvailDeclined)	/* SendSm sent */			\
	_(ModeBuffered)		/* changes of a direction to Buffered */ \
	_(ModeCombined)		/* changes of a direction to Combined */ \
	_(ModePipelined)	/* changes of a direction to Pipelined */ \
	_(SinkAvailSent)	/* SinkAvail sent */			\
	_(SinkAvailPiggybacked)	/* SinkAvail sent with payload: C6 */	\
	_(SinkAvailReceived)	/* SinkAvail received */		\
	_(SinkAvailCancelled)	/* SinkAvail cancelled by our reader */	\
	_(SinkAvailStale)	/* SinkAvail received, but unusable: C7 */ \
	_(SinkAvailAwaited)	/* large writes that waited for a SinkAvail */ \
	_(SinkAvailMissed)	/* waits for a SinkAvail that did not come */ \
	_(BackgroundWrites)	/* writes taken for RDMA in the background */ \
	_(BackgroundBytes)	/* bytes of these writes */		\
	_(ScansRun)		/* runs of the scanner for unread SrcAvail */ \
	_(ScansFired)		/* SrcAvail declined: no reader came */	\
	_(ScansCancelled)	/* SrcAvail cancelled: unread for too long */ \
	_(MapsFailed)		/* memory that could not be mapped for RDMA */ \
	_(RdmaReadBytes)	/* bytes that we read by RDMA */	\
	_(RdmaReadsVoid)	/* RDMA reads completed without data */	\
	_(RdmaReadBytesByPeer)	/* bytes that peers read by RDMA */	\
	_(RdmaWriteBytes)	/* bytes that we wrote by RDMA */	\
	_(RdmaWriteBytesByPeer)	/* bytes that peers wrote by RDMA */	\
	_(RingsMade)		/* receive rings made */		\
	_(RingsRefused)		/* receive rings that we did not make */ \
	_(RingsOver)		/* receive rings given up or replaced */ \
	_(RingWrites)		/* messages written into peers' rings */ \
	_(RingBytesWritten)	/* payload bytes written into peers' rings */ \
	_(RingReads)		/* messages received in our rings */	\
	_(RingBytesRead)	/* payload bytes received in our rings */ \
	_(RailsJoined)		/* further rails of connections */ \
	_(RailsRested)		/* rails that have ended as nothing moved */ \
	_(RailsLost)		/* rails that have died, the others go on */ \
	_(RailMsgsResent)	/* messages sent again by another rail */ \
	_(RailMsgsHeld)		/* messages that came before an earlier one */ \
	_(RailMsgsDropped)	/* messages that have come twice */ \
	_(RailPieces)		/* parts of RDMA reads, each by one rail */ \
	_(RailPiecesAgain)	/* parts that a rail has not read */ \
	_(DatagramsSent)	/* packets of messages sent as datagrams */ \
	_(DatagramsAgain)	/* those that had to be sent again */	\
	_(DatagramAcks)		/* acknowledgments sent by themselves */ \
	_(DatagramNacks)	/* requests to send packets again */	\
	_(DatagramProbes)	/* questions what has arrived */	\
	_(DatagramsDropped)	/* datagrams that are no link's, or forged */ \
	_(RingUnasked)		/* ring writes beyond the granted credit */ \
	_(RingFull)		/* times that sending stopped: ring full */ \
	_(RingSplits)		/* segments split to fit a ring message */ \
	_(RingUpdatesSent)	/* empty messages that report free space */ \
	_(CreditStalls)		/* times that sending stopped: no credit */ \
	_(PartialHeld)		/* times that a partial message was held */ \
	_(SendCompletions)	/* send completions handled */		\
	_(BytesReferenced)	/* bytes sent by reference, without a copy */ \
	_(BytesMapped)		/* bytes received by TCP_ZEROCOPY_RECEIVE */ \
	_(Coalesced)		/* received messages copied together */	\
	_(NoMemory)		/* work put off for lack of memory */	\
	_(MemoryShort)		/* refusals by net.sdp.mem or a cgroup */ \
	_(MemoryPressure)	/* times that memory pressure began */	\
	_(BuffersGrown)		/* times that a socket buffer was doubled */ \
	_(WakeReadIssued)	/* arrivals of data that woke a waiter */ \
	_(WakeReadSkipped)	/* arrivals of data without a waiter */	\
	_(WakeUrgentIssued)	/* urgent bytes that woke a waiter */	\
	_(WakeUrgentSkipped)	/* urgent bytes without a waiter */	\
	_(WakeWriteIssued)	/* times that free room woke a waiter */ \
	_(WakeWriteSkipped)	/* times that room grew without a waiter */ \
	_(Aborts)		/* connections reset by us */		\
	_(Failures)		/* connections and connects that failed */ \
	_(AddressRemoved)	/* connections ended: own address removed */ \
	_(KeepaliveProbes)	/* probes whether the peer is up */	\
	_(SilentPeers)		/* connections ended: peer silent */	\
	_(OrphanTimeouts)	/* orphans ended by their timeout */	\
	_(OrphansRefused)	/* orphans reset: too many of them */	\
	_(PolicyMet)		/* new TCP sockets that may become SDP */ \
	_(PolicyConnects)	/* TCP sockets that connect by SDP */	\
	_(PolicyListens)	/* TCP sockets that listen by SDP */	\
	_(PolicyAccepts)	/* SDP accepts of TCP+SDP listeners */	\
	_(FellRoute)		/* fallback to TCP: no RDMA device */	\
	_(FellRefused)		/* fallback to TCP: no SDP listener */	\
	_(FellTimeout)		/* fallback to TCP: no answer in time */ \
	_(FellBusy)		/* fallback to TCP: peer's backlog full */ \
	_(FellRemembered)	/* fallback to TCP: peer silent lately */ \
	_(FellResources)	/* fallback to TCP: no memory or QP */	\
	_(FellOption)		/* fallback to TCP: an option of TCP only */ \
	_(FellPort)		/* fallback to TCP: address or port taken */ \
	_(FellError)		/* fallback to TCP: any other error */	\
	_(FellMtu)		/* fallback to TCP: peer's MTU too small */ \
	_(BadLen)		/* violation: wrong length */		\
	_(BadHello)		/* violation: unusable or forged Hello */ \
	_(BadMid)		/* violation: unknown message */	\
	_(BadFlags)		/* violation: reserved or misplaced flag */ \
	_(BadField)		/* violation: extended header out of range */ \
	_(BadPayload)		/* violation: missing or illegal payload */ \
	_(BadSeq)		/* violation: MSeq not the next one */	\
	_(BadAck)		/* violation: MSeqAck outside what we sent */ \
	_(BadBufs)		/* violation: Bufs out of range or lowered */ \
	_(BadCredit)		/* violation: message without credit */	\
	_(BadState)		/* violation: message illegal in the state */ \
	_(BadKey)		/* violation: invalidated a key not its own */

/* One number per counter: SDP_STAT_ActiveOpens, ... */
enum sdp_stat {
#define SDP_STAT_ENUM(name) SDP_STAT_##name,
	SDP_STATS(SDP_STAT_ENUM)
#undef SDP_STAT_ENUM
	SDP_STAT_COUNT
};

/**
 * struct sdp_mib - the counters of one CPU
 * @count: indexed by &enum sdp_stat. One CPU's part of a gauge may wrap below 0
 */
struct sdp_mib {
	unsigned long count[SDP_STAT_COUNT];
};

#endif /* SDP_BASE_STATS_H */
