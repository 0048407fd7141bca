/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What user space needs to know of AF_SDP.
 *
 *	int fd = socket(AF_SDP, SOCK_STREAM, 0);
 *	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);
 *	int fd = socket(AF_INET6, SOCK_STREAM, IPPROTO_SDP);
 *
 * The same sockets; the first one takes addresses of both families, struct sockaddr_in
 * and struct sockaddr_in6, the others keep to their own family's rules. Everything else
 * is as with TCP. What TCP does not have is at the level SOL_SDP.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#include <linux/types.h>

#ifndef AF_SDP
#define AF_SDP	27	/* in a 16-byte address it is read as AF_INET */
#define PF_SDP	AF_SDP
#endif

#ifndef IPPROTO_SDP
#define IPPROTO_SDP	257	/* of AF_INET and AF_INET6 */
#endif

#ifndef SOL_SDP
#define SOL_SDP	1025	/* level of getsockopt */
#endif

/* Options of SOL_SDP. */
#define SDP_INFO	1	/* get: struct sdp_info */
/* int: as SO_ZEROCOPY, which kernels before 6.6 refuse to this family */
#define SDP_ZEROCOPY	2
/* int: writes of so many bytes go by RDMA if they can; 0: none, -1: as net.sdp.rdma_threshold */
#define SDP_RDMA_THRESHOLD	3
/* int: enum sdp_flow, for what this socket sends; -1: as net.sdp.flow_control. Before connecting */
#define SDP_FLOW_CONTROL	4

/*
 * Option of SOL_IP, on SDP's and TCP's sockets of AF_INET and AF_INET6. get: int, enum
 * sdp_fallback. SDP_FELL_NOT: it is SDP, or listens by both. Fails with ENODATA when it is TCP
 * and nothing else is known of it
 */
#define IP_SDP_FALLBACK	1728

/**
 * enum sdp_fallback - why a connection is by TCP that should have been by SDP
 * @SDP_FELL_NOT: it is not
 * @SDP_FELL_ROUTE: no RDMA device leads there
 * @SDP_FELL_REFUSED: nobody listens there for SDP
 * @SDP_FELL_TIMEOUT: no answer in time
 * @SDP_FELL_BUSY: its backlog was full, all that time
 * @SDP_FELL_REMEMBERED: there was none shortly before
 * @SDP_FELL_RESOURCES: memory, queue pairs
 * @SDP_FELL_OPTION: something was set, or asked for, that only TCP has
 * @SDP_FELL_PORT: no such address for SDP, or another SDP socket listens, or may, at the port
 * @SDP_FELL_ERROR: any other error
 * @SDP_FELL_MTU: the peer's interface takes only shorter packets than ours
 *	sends
 * @SDP_FALLBACKS: their number; grows with later versions
 */
enum sdp_fallback {
	SDP_FELL_NOT,
	SDP_FELL_ROUTE,
	SDP_FELL_REFUSED,
	SDP_FELL_TIMEOUT,
	SDP_FELL_BUSY,
	SDP_FELL_REMEMBERED,
	SDP_FELL_RESOURCES,
	SDP_FELL_OPTION,
	SDP_FELL_PORT,
	SDP_FELL_ERROR,
	SDP_FELL_MTU,
	SDP_FALLBACKS
};

/**
 * enum sdp_flow - how data of one direction is kept from running over its receiver
 * @SDP_FLOW_CREDIT: each message needs a receive buffer of its own, which has been granted
 * @SDP_FLOW_RDMA: the sender writes into a ring at the receiver, where there is room
 * @SDP_FLOW_NIC: likewise, but the adapters wait for room; only if both ends ask for it, else it
 *	is @SDP_FLOW_RDMA
 */
enum sdp_flow {
	SDP_FLOW_CREDIT,
	SDP_FLOW_RDMA,
	SDP_FLOW_NIC,
};

/* How data travels in one direction of a connection. */
enum sdp_info_mode {
	SDP_INFO_BUFFERED,
	SDP_INFO_COMBINED,
	SDP_INFO_PIPELINED,
};

#define SDP_INFO_VERSION	6

/**
 * struct sdp_info - a connection in numbers; later versions may add members at the end
 * @version: %SDP_INFO_VERSION of the module
 * @state: as tcpi_state: TCP_ESTABLISHED and so on
 * @tx_mode: enum sdp_info_mode of the direction out
 * @rx_mode: enum sdp_info_mode of the direction in
 * @credit: messages that may be sent now
 * @posted: receives posted now
 * @peer_credit: messages that the peer may send, as far as it has been told
 * @recv_size: bytes of an own receive buffer, message header included
 * @send_size: bytes of a receive buffer of the peer
 * @recv_buffers: receives to be kept posted
 * @send_slots: messages that the transport can take now
 * @bytes_unsent: written, and not yet handed to the transport
 * @bytes_unarrived: handed to the transport, not known to have arrived
 * @bytes_unread: arrived here, not yet read
 * @probes: keepalive probes without a sign of life since
 * @msgs_sent: messages, those without payload included
 * @msgs_received: likewise
 * @bytes_sent: payload handed to the transport
 * @bytes_received: payload that has arrived here
 * @transport: "rc" or "loop", empty without a connection
 * @device: name of the device
 * @split_sends: sends that did not fit into one message
 * @resizes: times that the peer has changed @send_size as asked
 * @rdma_sent: those bytes of @bytes_sent that went by RDMA, not in messages
 * @rdma_received: likewise
 * @rdma_threshold: writes, and reads, of so many bytes go by RDMA if they can; 0: none
 * @learning: of the direction out: so many transfers in a row speak for another mode
 * @sinkavail_rx: buffers of readers here that the peer may write into, or soon may
 * @sinkavail_tx: buffers of readers there
 * @sinkavail_stale: of those that have come, so many were void on arrival
 * @srcavail_sent: large writes offered to the peer
 * @srcavail_crossed: ... that met a buffer of the peer's reader on its way
 * @scans_fired: the peer's offers that no reader came for in time
 * @tx_flow: enum sdp_flow of the direction out, as agreed
 * @rx_flow: ... of the direction in
 * @tx_ring: bytes of the peer's ring that is written into; 0: there is none now
 * @rx_ring: bytes of the own ring
 * @tx_ring_used: of the peer's ring, as far as it has said; 0 with SDP_FLOW_NIC
 * @rx_ring_used: bytes in the own ring that have not been read, message headers included
 * @ring_sent: those bytes of @bytes_sent that went by a ring
 * @ring_received: likewise
 * @ring_writes: messages written into a ring
 * @ring_full: times that data had to wait for room in it
 * @rdma_read_by_peer: those bytes of @rdma_sent that the peer has read; the others were written
 * @rdma_read: those of @rdma_received that were read here; the others the peer has written
 * @resizes_refused: times that the peer has kept @send_size though it was asked for another one
 * @split_largest: bytes of the largest send since the last such request that did not fit into one
 *	message
 */
struct sdp_info {
	__u8 version;
	__u8 state;
	__u8 tx_mode;
	__u8 rx_mode;
	__u32 credit;
	__u32 posted;
	__u32 peer_credit;
	__u32 recv_size;
	__u32 send_size;
	__u32 recv_buffers;
	__u32 send_slots;
	__u32 bytes_unsent;
	__u32 bytes_unarrived;
	__u32 bytes_unread;
	__u32 probes;
	__u64 msgs_sent;
	__u64 msgs_received;
	__u64 bytes_sent;
	__u64 bytes_received;
	char transport[16];
	char device[64];
	__u32 split_sends;
	__u32 resizes;
	__u64 rdma_sent;
	__u64 rdma_received;
	__u32 rdma_threshold;
	__u32 learning;
	__u32 sinkavail_rx;
	__u32 sinkavail_tx;
	__u32 sinkavail_stale;
	__u32 srcavail_sent;
	__u32 srcavail_crossed;
	__u32 scans_fired;
	__u32 tx_flow;
	__u32 rx_flow;
	__u32 tx_ring;
	__u32 rx_ring;
	__u32 tx_ring_used;
	__u32 rx_ring_used;
	__u64 ring_sent;
	__u64 ring_received;
	__u32 ring_writes;
	__u32 ring_full;
	__u64 rdma_read_by_peer;
	__u64 rdma_read;
	__u32 resizes_refused;
	__u32 split_largest;
};

#endif /* _UAPI_LINUX_SDP_H */
