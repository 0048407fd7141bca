/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SDP: the interface for applications.
 *
 * A socket can be created in three ways:
 *
 *	int fd = socket(AF_SDP, SOCK_STREAM, 0);
 *	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);
 *	int fd = socket(AF_INET6, SOCK_STREAM, IPPROTO_SDP);
 *
 * They differ in their addresses only. An AF_SDP socket takes both struct
 * sockaddr_in and struct sockaddr_in6. An AF_INET or AF_INET6 socket takes what
 * a TCP socket of that family takes. System calls and socket options work as
 * with TCP. Options that TCP does not have are at level SOL_SDP.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#include <linux/types.h>

#ifndef AF_SDP
#define AF_SDP	27	/* in a struct sockaddr_in it means AF_INET */
#define PF_SDP	AF_SDP
#endif

#ifndef IPPROTO_SDP
#define IPPROTO_SDP	257	/* for AF_INET and AF_INET6 sockets */
#endif

#ifndef SOL_SDP
#define SOL_SDP	1025	/* level for getsockopt() and setsockopt() */
#endif

/* Options of level SOL_SDP. */
#define SDP_INFO	1	/* struct sdp_info; get only */
/*
 * int, 0 or 1: allows MSG_ZEROCOPY, as SO_ZEROCOPY does. For kernels before
 * 6.6, which refuse SO_ZEROCOPY to this address family.
 */
#define SDP_ZEROCOPY	2
/*
 * int, bytes: a write of at least this size uses RDMA if possible. 0: no write
 * does. -1 (default): use net.sdp.rdma_threshold. get returns the value in
 * force.
 */
#define SDP_RDMA_THRESHOLD	3
/*
 * int, enum sdp_flow: flow control for the data that this socket sends.
 * -1 (default): use net.sdp.flow_control. Set it before connect(), or on a
 * listener for its connections; later it fails with EISCONN.
 */
#define SDP_FLOW_CONTROL	4
/*
 * int, 0 or 1: recvmsg() takes a program from its control buffer. As control
 * message of sendmsg() and, with this option, recvmsg(): struct
 * sdp_program_hdr and its operations.
 */
#define SDP_PROGRAM	5
/*
 * int, 1 to 8: most rails of the connection. 0 (default): use net.sdp.rails.
 * Set it before connect(), or on a listener for its connections; later it fails
 * with EISCONN. get returns the value in force.
 */
#define SDP_RAILS	6
/*
 * int, enum sdp_service_kind: what carries the connection. -1 (default): use
 * net.sdp.service. Set it before connect(); later it fails with EISCONN. A
 * listener takes both kinds. get returns the value in force.
 */
#define SDP_SERVICE	7

/*
 * Option of level SOL_IP for SDP and TCP sockets of AF_INET and AF_INET6; get
 * only. int, enum sdp_fallback: the reason why a policy rule for SDP did not
 * make this socket SDP. SDP_FELL_NOT: the socket is SDP, or listens by both SDP
 * and TCP. Fails with ENODATA for a TCP socket with no known reason.
 */
#define IP_SDP_FALLBACK	1728

/**
 * enum sdp_fallback - why a socket is TCP although a policy rule wanted SDP
 * @SDP_FELL_NOT: no fallback
 * @SDP_FELL_ROUTE: the route to the address uses no RDMA device
 * @SDP_FELL_REFUSED: the peer has no SDP listener for the address and port
 * @SDP_FELL_TIMEOUT: the peer did not answer in time
 * @SDP_FELL_BUSY: the peer's backlog was full until the time was over
 * @SDP_FELL_REMEMBERED: not tried, because the peer recently did not answer
 * @SDP_FELL_RESOURCES: no memory or no queue pair
 * @SDP_FELL_OPTION: the application uses an option that only TCP has
 * @SDP_FELL_PORT: SDP cannot use the address, or the port is in use by another
 *	SDP socket that listens or may listen
 * @SDP_FELL_ERROR: any other error
 * @SDP_FELL_MTU: the peer's network interface has a smaller MTU
 * @SDP_FALLBACKS: number of values; later versions add values before it
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
 * enum sdp_service_kind - what carries the messages of a connection
 * @SDP_SERVICE_RC: a reliable-connected queue pair of its own
 * @SDP_SERVICE_UD: datagrams of queue pairs that all connections share; if the
 *	peer has no such service, @SDP_SERVICE_RC
 * @SDP_SERVICE_AUTO: as @SDP_SERVICE_UD; while a connection is busy it has
 *	queue pairs of its own as well
 */
enum sdp_service_kind {
	SDP_SERVICE_RC,
	SDP_SERVICE_UD,
	SDP_SERVICE_AUTO,
};

/**
 * enum sdp_flow - how the sender of a direction is kept from overrunning the
 *	receiver
 * @SDP_FLOW_CREDIT: each message uses a receive buffer that the receiver has
 *	granted
 * @SDP_FLOW_RDMA: the sender writes messages into a ring in the receiver's
 *	memory by RDMA, as far as the ring has room
 * @SDP_FLOW_NIC: like @SDP_FLOW_RDMA, but the sending adapter waits for room in
 *	the ring; used only when both ends ask for it, otherwise @SDP_FLOW_RDMA
 */
enum sdp_flow {
	SDP_FLOW_CREDIT,
	SDP_FLOW_RDMA,
	SDP_FLOW_NIC,
};

/**
 * enum sdp_info_mode - how data travels in one direction of a connection
 * @SDP_INFO_BUFFERED: in messages
 * @SDP_INFO_COMBINED: in messages; the receiver reads large writes by RDMA
 * @SDP_INFO_PIPELINED: in messages; the sender writes by RDMA into buffers of
 *	readers, which the receiver advertises
 */
enum sdp_info_mode {
	SDP_INFO_BUFFERED,
	SDP_INFO_COMBINED,
	SDP_INFO_PIPELINED,
};

/**
 * enum sdp_op_code - what an operation of a program does
 * @SDP_OP_COPY: move the next @n bytes from or to the position, which goes on
 *	by @n
 * @SDP_OP_SKIP: add @n to the position; the only one that may be negative
 * @SDP_OP_SEEK: go to position @n
 * @SDP_OP_LOOP: do @n times what is in front of the matching @SDP_OP_END
 * @SDP_OP_END: end of a loop
 * @SDP_OP_CALL: do what begins at operation number @n, up to its
 *	@SDP_OP_RETURN. @n is larger than the number of the call, and a
 *	@SDP_OP_RETURN stands in front of operation @n
 * @SDP_OP_RETURN: end of the program, or of what is called
 */
enum sdp_op_code {
	SDP_OP_COPY,
	SDP_OP_SKIP,
	SDP_OP_SEEK,
	SDP_OP_LOOP,
	SDP_OP_END,
	SDP_OP_CALL,
	SDP_OP_RETURN,
};

/* Largest number of operations, and of loops and calls within each other. */
#define SDP_OPS_MAX		256
#define SDP_OPS_DEPTH_MAX	8

/**
 * struct sdp_op - operation of a program
 * @code: enum sdp_op_code
 * @reserved: 0
 * @n: number; its amount is below 2^56
 */
struct sdp_op {
	__u32 code;
	__u32 reserved;
	__s64 n;
};

/**
 * struct sdp_program_hdr - program that says where in memory the bytes of a
 *	call lie
 * @offset: bytes of the program that are passed over, for the rest of a
 *	transfer
 * @length: largest number of bytes to transfer; 0: up to the end of the program
 * @ops: number of operations
 * @reserved: 0
 * @op: operations
 *
 * The memory is that of the call's iovec, as if its elements lay behind each
 * other. The program begins at position 0.
 */
struct sdp_program_hdr {
	__u64 offset;
	__u64 length;
	__u32 ops;
	__u32 reserved;
	struct sdp_op op[];
};

#define SDP_INFO_VERSION	7

/**
 * struct sdp_info - state and counters of a connection (option SDP_INFO)
 * @version: %SDP_INFO_VERSION of the module
 * @state: state of the socket as in tcpi_state, TCP_ESTABLISHED and so on
 * @tx_mode: enum sdp_info_mode of the direction to the peer
 * @rx_mode: enum sdp_info_mode of the direction from the peer
 * @credit: number of messages that may be sent now
 * @posted: number of receives that are posted now
 * @peer_credit: number of messages that the peer may send, by what it has been
 *	told
 * @recv_size: size of a local receive buffer in bytes, message header included
 * @send_size: size of a receive buffer of the peer in bytes, message header
 *	included
 * @recv_buffers: number of receives to keep posted now; more may be posted
 * @send_slots: number of messages that the transport can take now
 * @bytes_unsent: bytes written and not yet handed to the transport
 * @bytes_unarrived: bytes handed to the transport and not known to have
 *	arrived
 * @bytes_unread: bytes arrived and not yet read by the application
 * @probes: number of keepalive probes sent since the peer last showed life
 * @msgs_sent: number of messages sent, those without payload included
 * @msgs_received: number of messages received, those without payload included
 * @bytes_sent: payload bytes handed to the transport
 * @bytes_received: payload bytes arrived
 * @transport: "rc", "loop", "ud" for datagrams of shared queue pairs, or
 *	"rails" for RDMA links of which there may be several; empty without a
 *	connection
 * @device: name of the RDMA device, of the first link if there are several, or
 *	"loop"; empty without a connection
 * @split_sends: number of writes that did not fit into one message
 * @resizes: number of times that the peer changed @send_size to the size that
 *	it was asked for
 * @rdma_sent: bytes of @bytes_sent that went by RDMA instead of in messages
 * @rdma_received: bytes of @bytes_received that came by RDMA instead of in
 *	messages
 * @rdma_threshold: reads and writes of at least this many bytes use RDMA if
 *	possible; 0: none do
 * @learning: number of large transfers in a row that speak for another
 *	@tx_mode
 * @sinkavail_rx: number of buffers of local readers that are, or are about to
 *	be, advertised to the peer for RDMA writes (SinkAvail)
 * @sinkavail_tx: number of buffers of the peer's readers that may be written
 *	into
 * @sinkavail_stale: number of advertised buffers of the peer's readers that
 *	could no longer be used when the advertisement arrived
 * @srcavail_sent: number of large writes advertised to the peer for RDMA reads
 *	(SrcAvail)
 * @srcavail_crossed: number of large writes among @srcavail_sent that went into
 *	an advertised buffer instead, because both advertisements crossed
 * @scans_fired: number of times that no local reader came for a large write of
 *	the peer, which was then asked to send it in messages
 * @tx_flow: enum sdp_flow in use in the direction to the peer
 * @rx_flow: enum sdp_flow in use in the direction from the peer
 * @tx_ring: size of the peer's ring in bytes; 0: there is none now
 * @rx_ring: size of the local ring in bytes; 0: there is none now
 * @tx_ring_used: bytes in the peer's ring that the peer has not reported as
 *	read; 0 with SDP_FLOW_NIC
 * @rx_ring_used: bytes in the local ring that have not been read, message
 *	headers included
 * @ring_sent: bytes of @bytes_sent that went by a ring
 * @ring_received: bytes of @bytes_received that came by a ring
 * @ring_writes: number of messages written into a ring
 * @ring_full: number of times that data had to wait for room in the ring
 * @rdma_read_by_peer: bytes of @rdma_sent that the peer read; this side wrote
 *	the others
 * @rdma_read: bytes of @rdma_received that this side read; the peer wrote the
 *	others
 * @resizes_refused: number of times that the peer answered a request for
 *	another @send_size with a different size
 * @split_largest: size in bytes of the largest write that did not fit into one
 *	message, since the peer was last asked for another @send_size
 * @rails: number of RDMA links that are connected now, of a connection that may
 *	have several (net.sdp.rails); 0 for others
 * @rails_lost: number of links that have failed while the connection went on
 *	by others
 * @rail_msgs_resent: messages that were sent again by another link
 * @rail_msgs_held: messages that arrived before an earlier one and had to wait
 *
 * Later versions may add members at the end. getsockopt() cuts the structure to
 * the length that the application passes, and returns the length written.
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
	__u32 rails;
	__u32 rails_lost;
	__u32 rail_msgs_resent;
	__u32 rail_msgs_held;
};

#endif /* _UAPI_LINUX_SDP_H */
