/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SDP wire: what the messages are, where their fields sit, which values are legal.
 *
 * wire.c alone knows byte offsets. Everybody else sees the structures below, in host
 * byte order and already checked: a message that left sdp_wire_parse() with %SDP_VALID
 * has a complete header, a length equal to what the transport received, and no field
 * outside its range. What is legal only in some state is the engine's to judge.
 */
#ifndef SDP_PROTO_WIRE_H
#define SDP_PROTO_WIRE_H

#include "base.h"

/* Message identifiers. A high nibble of 0 is control, 0xF is data-bearing. */
enum sdp_mid {
	SDP_MID_HELLO		 = 0x00,
	SDP_MID_HELLO_ACK	 = 0x01,
	SDP_MID_DISCONN		 = 0x02,
	SDP_MID_ABORT		 = 0x03,
	SDP_MID_SENDSM		 = 0x04,
	SDP_MID_RDMA_WR_COMPL	 = 0x05,
	SDP_MID_RDMA_RD_COMPL	 = 0x06,
	SDP_MID_MODE_CHANGE	 = 0x07,
	SDP_MID_SRC_CANCEL	 = 0x08,
	SDP_MID_SINK_CANCEL	 = 0x09,
	SDP_MID_SINK_CANCEL_ACK	 = 0x0A,
	SDP_MID_CHRCVBUF	 = 0x0B,
	SDP_MID_CHRCVBUF_ACK	 = 0x0C,
	SDP_MID_SUSPEND		 = 0x0D,
	SDP_MID_SUSPEND_ACK	 = 0x0E,
	/* Only when both have said in their Hello that they know rings; see ring.h. */
	SDP_MID_RING_ASK	 = 0x40,
	SDP_MID_RING_AVAIL	 = 0x41,
	SDP_MID_SINK_AVAIL	 = 0xFD,
	SDP_MID_SRC_AVAIL	 = 0xFE,
	SDP_MID_DATA		 = 0xFF,
};

#define SDP_FLAG_OOB_PRES	0x01	/* the last payload byte is urgent */
#define SDP_FLAG_OOB_PEND	0x02	/* an urgent byte will follow */
#define SDP_FLAG_REQ_PIPE	0x04	/* the sink would like Pipelined mode */
#define SDP_FLAG_FREED		0x08	/* Data: how much of the ring is free again; rings only */
#define SDP_FLAGS_ALL		0x07	/* those that every connection knows */
#define SDP_FREED_LEN		4	/* what that flag adds to the header */

#define SDP_BSDH_LEN		16	/* the header of every message */
#define SDP_HEADER_MAX		36	/* BSDH and the longest extended header */
#define SDP_HELLO_LEN		92	/* as sent: the whole CM REQ private data */
#define SDP_HELLO_LEN_MIN	64	/* without the reserved tail; accepted */
#define SDP_HELLO_ACK_LEN	196	/* as sent: the whole CM REP private data */
#define SDP_HELLO_ACK_LEN_MIN	24

#define SDP_VERSION		0x22	/* major 2, minor 2 */
#define SDP_VERSION_MAJOR	2

#define SDP_SERVICE_ID		0x0000000000010000ULL	/* | port in host order */

/* Sane bounds for what a peer says of itself. */
#define SDP_BUFS_MAX		8192	/* receives posted */
#define SDP_HELLO_BUFS_MIN	2	/* fewer could never carry data (D5) */
#define SDP_RECV_SIZE_MIN	64
#define SDP_RECV_SIZE_MAX	(1U << 20)
#define SDP_REGION_MAX		(1U << 30)	/* memory advertised at once */

/*
 * How the data of one direction is kept from running over its sink (G1-G5): by message credits
 * alone, or in a ring of the sink's memory into which the source writes by RDMA.
 */
enum sdp_scheme {
	SDP_BY_CREDIT,
	SDP_BY_RDMA,	/* never more than the sink has said is free */
	SDP_BY_NIC,	/* as far as the sink has posted receives, which the adapters see to */
	SDP_SCHEMES
};

/* Rings are a power of two of bytes; a window is what each receive of %SDP_BY_NIC stands for. */
#ifndef SDP_RING_SIZE_MIN	/* the exhaustive search makes them smaller */
#define SDP_RING_SIZE_MIN	8192
#define SDP_RING_WINDOW_MIN	256
#endif
#define SDP_RING_SIZE_MAX	(1U << 19)
#define SDP_RING_WINDOW_MAX	(1U << 16)

/* What can be wrong with something a peer sent; each is counted by itself. */
enum sdp_violation {
	SDP_VALID = 0,
	SDP_BAD_LEN,		/* short, long, or Len unequal to the bytes received */
	SDP_BAD_HELLO,		/* version, addresses, sizes or adverts of the Hello */
	SDP_BAD_MID,		/* no such message */
	SDP_BAD_FLAGS,		/* reserved flag, or a flag on the wrong message */
	SDP_BAD_FIELD,		/* extended header out of range */
	SDP_BAD_PAYLOAD,	/* payload where there may be none, or none where there must be */
	SDP_BAD_SEQ,		/* MSeq is not the successor of the last one */
	SDP_BAD_ACK,		/* MSeqAck outside what was sent */
	SDP_BAD_BUFS,		/* Bufs out of range, or a grant taken back */
	SDP_BAD_CREDIT,		/* more messages than were granted */
	SDP_BAD_STATE,		/* a legal message in the wrong state */
	SDP_BAD_KEY,		/* it took back a key that the peer was not told of */
	SDP_VIOLATION_KINDS
};

/**
 * struct sdp_bsdh - base header, common to all messages
 * @mid: &enum sdp_mid
 * @flags: SDP_FLAG_*
 * @bufs: receives posted by the sender of the message, an absolute count (PR)
 * @len: bytes of the whole message: this header, extended header, payload
 * @mseq: sequence number of this message
 * @mseq_ack: sequence number of the last message received by its sender (LRSQ)
 */
struct sdp_bsdh {
	u8 mid;
	u8 flags;
	u16 bufs;
	u32 len;
	u32 mseq;
	u32 mseq_ack;
};

/**
 * struct sdp_region - memory that its owner advertises for RDMA
 * @len: bytes, at most %SDP_REGION_MAX
 * @rkey: the key that allows access
 * @va: where it begins
 */
struct sdp_region {
	u32 len;
	u32 rkey;
	u64 va;
};

/**
 * struct sdp_ring_place - where a message goes that is written into the peer's ring
 * @rkey: key of the ring; 0 for a message that is sent
 * @va: where in the peer's memory
 * @imm: immediate data that goes along
 */
struct sdp_ring_place {
	u32 rkey;
	u32 imm;
	u64 va;
};

/* Which half connection of the receiver of a ModeChange is meant, and its new mode. */
#define SDP_MODE_BUFFERED	0
#define SDP_MODE_COMBINED	1
#define SDP_MODE_PIPELINED	2

/**
 * struct sdp_msg - one message, decoded
 * @h: base header
 * @src: SrcAvail: the whole source buffer, bytes sent along included
 * @sink: SinkAvail: the posted buffer
 * @non_discards: SinkAvail: data-bearing messages received and not discarded
 * @freed: with %SDP_FLAG_FREED: bytes of the ring read since it was made, modulo 2^32
 * @count: RdmaWrCompl, RdmaRdCompl: bytes moved
 * @size: ChRcvBuf, ChRcvBufAck: receive buffer size wished for, or actual; RingAsk: ring size
 *	wished for, 0 to give it back
 * @ring: RingAvail: the ring; of no bytes when there is none
 * @service_id: SuspComm: where the session goes on
 * @mode: ModeChange: SDP_MODE_*
 * @mode_send_half: ModeChange: the receiver's sending half changes
 * @payload: offset of the payload in the message
 * @payload_len: its bytes
 * @revoke: a message to be sent: the key that it may take from the peer with it, or 0
 * @to: ... where in the peer's memory it goes, if @to.rkey is not 0
 */
struct sdp_msg {
	struct sdp_bsdh h;
	union {
		struct sdp_region src;
		struct sdp_region sink;
		struct sdp_region ring;
		u32 count;
		u32 size;
		u64 service_id;
		struct {
			u8 mode;
			bool mode_send_half;
		};
	};
	u32 non_discards;
	u32 freed;
	u32 payload;
	u32 payload_len;
	u32 revoke;
	struct sdp_ring_place to;
};

/**
 * struct sdp_hello - Hello, or HelloAck where only some fields exist
 * @bufs: receives posted before the message went out
 * @version: major and minor nibble
 * @ip_version: 4 or 6 (Hello)
 * @cap: capability bits, SDP_CAP_*
 * @max_adverts: advertisements of any kind that the sender can hold, not 0
 * @wanted_recv_size: receive buffer size wished for at the peer (Hello)
 * @recv_size: the sender's own receive buffer size, BSDH included
 * @port: the connecting side's port, host order (Hello)
 * @src: the connecting side's address; IPv4 in the last 4 bytes (Hello)
 * @dst: the address connected to (Hello)
 * @rings: the sender knows rings, which it says in bytes that are reserved otherwise
 * @scheme: with @rings: what it wishes for its own data, &enum sdp_scheme
 * @window: with @rings: window that it wishes for %SDP_BY_NIC
 * @held: SinkAvails that the sender can hold; it reports once of each, and is
 *	done with it then. 0 when it does not say so: see sinkavail_rx.h
 */
struct sdp_hello {
	u16 bufs;
	u8 version;
	u8 ip_version;
	u8 cap;
	u8 max_adverts;
	u32 wanted_recv_size;
	u32 recv_size;
	u16 port;
	u8 src[16];
	u8 dst[16];
	bool rings;
	u8 scheme;
	u32 window;
	u8 held;
};

#define SDP_CAP_INVALIDATE	0x1	/* the peer may use Send with Invalidate */
#define SDP_CAP_EXT_ADVERTS	0x2	/* ExtMaxAdverts is present */

u32 sdp_wire_header_len(u8 mid);
u32 sdp_wire_msg_header_len(const struct sdp_bsdh *h);
enum sdp_violation sdp_wire_parse(const u8 *buf, u32 bytes,
				  struct sdp_msg *msg);
u32 sdp_wire_build(u8 *buf, const struct sdp_msg *msg);

enum sdp_violation sdp_hello_parse(const u8 *buf, u32 bytes,
				   struct sdp_hello *hello);
void sdp_hello_build(u8 buf[SDP_HELLO_LEN], const struct sdp_hello *hello);
enum sdp_violation sdp_hello_ack_parse(const u8 *buf, u32 bytes,
				       struct sdp_hello *ack);
void sdp_hello_ack_build(u8 buf[SDP_HELLO_ACK_LEN],
			 const struct sdp_hello *ack);

const char *sdp_mid_name(u8 mid);
const char *sdp_violation_name(enum sdp_violation what);

#endif /* SDP_PROTO_WIRE_H */
