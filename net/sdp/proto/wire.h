/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SDP messages: identifiers, decoded fields and legal ranges.
 *
 * Only wire.c knows byte offsets. All other code uses the structures
 * below, in host byte order and validated: a message for which
 * sdp_wire_parse() returned %SDP_VALID has a complete header, a Len equal
 * to the number of bytes received, and every field in its range. Whether
 * the message is legal in the present state is for the engine to decide.
 */
#ifndef SDP_PROTO_WIRE_H
#define SDP_PROTO_WIRE_H

#include "base.h"

/*
 * Message identifiers. The high nibble is 0 for control messages and 0xF
 * for messages that may carry payload.
 */
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
	/* Project extension: only when both Hellos announce rings (ring.h). */
	SDP_MID_RING_ASK	 = 0x40,
	SDP_MID_RING_AVAIL	 = 0x41,
	/* Project extension: rails (wire_rails.h), below the engine. */
	SDP_MID_RAIL_ADDRS	 = 0x42,
	SDP_MID_RAIL_GONE	 = 0x43,
	SDP_MID_RAIL_ACK	 = 0x44,
	SDP_MID_SINK_AVAIL	 = 0xFD,
	SDP_MID_SRC_AVAIL	 = 0xFE,
	SDP_MID_DATA		 = 0xFF,
};

#define SDP_FLAG_OOB_PRES	0x01	/* the last payload byte is urgent */
#define SDP_FLAG_OOB_PEND	0x02	/* an urgent byte will follow */
#define SDP_FLAG_REQ_PIPE	0x04	/* the sink would like Pipelined mode */
#define SDP_FLAG_FREED		0x08	/* Data carries @freed; rings only */
#define SDP_FLAG_KEYS		0x10	/* SrcAvail carries @keys; rails only */
#define SDP_FLAGS_ALL		0x07	/* legal on every connection */
#define SDP_FREED_LEN		4	/* bytes SDP_FLAG_FREED adds */
#define SDP_KEYS_LEN		44	/* bytes SDP_FLAG_KEYS adds */

#define SDP_BSDH_LEN		16	/* base header of every message */
#define SDP_REGION_LEN		16	/* length, key and address */
#define SDP_HEADER_MAX		76	/* BSDH and longest extended header */
#define SDP_HELLO_LEN		92	/* sent: whole CM REQ private data */
#define SDP_HELLO_LEN_MIN	64	/* accepted: no reserved tail */
#define SDP_HELLO_ACK_LEN	196	/* sent: whole CM REP private data */
#define SDP_HELLO_ACK_LEN_MIN	24

#define SDP_VERSION		0x22	/* major 2, minor 2 */
#define SDP_VERSION_MAJOR	2

#define SDP_SERVICE_ID		0x0000000000010000ULL	/* | host-order port */

/* Limits on the sizes and counts that we accept from a peer. */
#define SDP_BUFS_MAX		8192	/* posted receives */
#define SDP_HELLO_BUFS_MIN	2	/* with fewer, no Data ever (D5) */
#define SDP_RECV_SIZE_MIN	64
#define SDP_RECV_SIZE_MAX	(1U << 20)
#define SDP_REGION_MAX		(1U << 30)	/* bytes advertised at once */

/*
 * How the source of one direction is kept from overrunning its sink
 * (G1-G5): by message credits alone, or with a ring of the sink's memory
 * into which the source writes by RDMA.
 */
enum sdp_scheme {
	SDP_BY_CREDIT,
	SDP_BY_RDMA,	/* the source writes only into space reported free */
	SDP_BY_NIC,	/* the transport holds what finds no posted receive */
	SDP_SCHEMES
};

/*
 * A ring's size is a power of two, in bytes. With %SDP_BY_NIC, a window is the
 * ring space behind each posted receive, in bytes.
 */
#ifndef SDP_RING_SIZE_MIN	/* selftests/unit/search.c: smaller */
#define SDP_RING_SIZE_MIN	8192
#define SDP_RING_WINDOW_MIN	256
#endif
#define SDP_RING_SIZE_MAX	(1U << 19)
#define SDP_RING_WINDOW_MAX	(1U << 16)

/* Violations of the protocol by a peer. Each kind has its own counter. */
enum sdp_violation {
	SDP_VALID = 0,
	SDP_BAD_LEN,		/* short, long, or Len is not the byte count */
	SDP_BAD_HELLO,		/* bad version, size, port, address or rings */
	SDP_BAD_MID,		/* unknown message, or one not agreed on */
	SDP_BAD_FLAGS,		/* reserved flag, or not for this message */
	SDP_BAD_FIELD,		/* extended header out of range */
	SDP_BAD_PAYLOAD,	/* payload not allowed, or missing */
	SDP_BAD_SEQ,		/* MSeq does not follow the last one */
	SDP_BAD_ACK,		/* acknowledgment outside what we sent */
	SDP_BAD_BUFS,		/* Bufs out of range, or a grant withdrawn */
	SDP_BAD_CREDIT,		/* more than we granted, or no ring space */
	SDP_BAD_STATE,		/* legal message in the wrong state */
	SDP_BAD_KEY,		/* invalidates a key we never gave the peer */
	SDP_VIOLATION_KINDS
};

/**
 * struct sdp_bsdh - base header (BSDH), common to all messages
 * @mid: &enum sdp_mid
 * @flags: SDP_FLAG_*
 * @bufs: receives that the sender has posted now, an absolute count (PR)
 * @len: bytes of the whole message: BSDH, extended header and payload
 * @mseq: sequence number of this message
 * @mseq_ack: sequence number of the last message that the sender received
 *	(LRSQ)
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
 * @len: length in bytes, at most %SDP_REGION_MAX
 * @rkey: key that grants the access
 * @va: address of the first byte
 */
struct sdp_region {
	u32 len;
	u32 rkey;
	u64 va;
};

/* Most rails of a connection (rail.h). */
#define SDP_RAILS_MAX		8

/**
 * struct sdp_rail_keys - keys of a region that several rails lead to
 * @rails: rails that have a key, as a bit mask; 0: the region has only its own
 *	key, which is that of the first rail
 * @attempt: struct sdp_hello_rails.attempt of the rail that the key belongs to:
 *	another one may have joined with the same number since
 * @rkey: the keys; all of them grant the access at the same address
 */
struct sdp_rail_keys {
	u8 rails;
	u8 attempt[SDP_RAILS_MAX];
	u32 rkey[SDP_RAILS_MAX];
};

/**
 * struct sdp_ring_place - destination of a message in the peer's ring
 * @rkey: key of the ring; 0 for a message that goes as a Send
 * @imm: immediate data of the RDMA write
 * @va: address in the peer's memory
 */
struct sdp_ring_place {
	u32 rkey;
	u32 imm;
	u64 va;
};

/* Modes in a ModeChange. */
#define SDP_MODE_BUFFERED	0
#define SDP_MODE_COMBINED	1
#define SDP_MODE_PIPELINED	2

/**
 * struct sdp_msg - one decoded message
 * @h: base header
 * @src: SrcAvail: the whole source buffer, with the bytes that SrcAvail
 *	itself carries
 * @sink: SinkAvail: the buffer that a reader has supplied
 * @ring: RingAvail: the ring; its length is 0 when there is none
 * @count: RdmaWrCompl, RdmaRdCompl: number of bytes moved
 * @size: ChRcvBuf: receive buffer size wished for; ChRcvBufAck: actual
 *	receive buffer size; RingAsk: ring size wished for, 0 to give the
 *	ring back; all in bytes
 * @service_id: SuspComm: service id to which the session shall move
 * @mode: ModeChange: SDP_MODE_*
 * @mode_send_half: ModeChange: true when the sending half of the receiver
 *	of the message changes, false when its receiving half does
 * @non_discards: SinkAvail: number of messages with payload that its sender
 *	has received and that discarded no SinkAvail
 * @keys: SrcAvail with %SDP_FLAG_KEYS: the keys of @src
 * @freed: with %SDP_FLAG_FREED: bytes of the ring that have been read since
 *	the ring was made, modulo 2^32
 * @payload: offset of the payload in the message
 * @payload_len: payload length in bytes
 * @revoke: outgoing message: key of the peer that Send with Invalidate may
 *	revoke together with this message, or 0
 * @to: outgoing message: where in the peer's ring it goes, when @to.rkey is
 *	not 0
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
	struct sdp_rail_keys keys;
	u32 freed;
	u32 payload;
	u32 payload_len;
	u32 revoke;
	struct sdp_ring_place to;
};

#define SDP_RAIL_TOKEN	16	/* bytes */

/**
 * struct sdp_hello_rails - what Hello and HelloAck say about rails
 * @most: most rails that the sender uses for a connection, 0 if it does not
 *	know rails
 * @join: Hello: this is no new connection but one more rail of connection @id
 * @rail: @join: number of the rail, 1 to %SDP_RAILS_MAX - 1
 * @attempt: @join: number of the attempt to join, modulo 256; tells the rail
 *	from earlier ones of the same number
 * @id: HelloAck, and Hello with @join: number of the connection
 * @token: as @id: shows that the sender knows the connection
 */
struct sdp_hello_rails {
	u8 most;
	bool join;
	u8 rail;
	u8 attempt;
	u32 id;
	u8 token[SDP_RAIL_TOKEN];
};

/**
 * struct sdp_hello - Hello or HelloAck; a HelloAck has only some fields
 * @bufs: receives posted before the message was sent
 * @version: major version in the high nibble, minor in the low one
 * @ip_version: 4 or 6 (Hello)
 * @cap: capability bits, SDP_CAP_*
 * @max_adverts: number of advertisements of any kind that the sender can
 *	hold, not 0
 * @wanted_recv_size: receive buffer size wished for at the peer, in bytes
 *	(Hello)
 * @recv_size: the sender's own receive buffer size in bytes, with BSDH
 * @port: port of the connecting side, host order (Hello)
 * @src: address of the connecting side; IPv4 in the last 4 bytes (Hello)
 * @dst: address connected to; IPv4 in the last 4 bytes (Hello)
 * @rings: the sender knows rings; said in bytes that are otherwise reserved
 * @scheme: with @rings: scheme that the sender wishes for its own data,
 *	&enum sdp_scheme
 * @window: with @rings: window in bytes that the sender wishes for
 *	%SDP_BY_NIC
 * @held: number of SinkAvails that the sender can hold. A sender that gives
 *	it reports each SinkAvail once and does not write into it again. 0
 *	when the sender does not say so, see sinkavail_rx.h
 * @rails: rails
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
	struct sdp_hello_rails rails;
};

#define SDP_CAP_INVALIDATE	0x1	/* peer may use Send with Invalidate */
#define SDP_CAP_EXT_ADVERTS	0x2	/* ExtMaxAdverts is present */

bool sdp_wire_peek(const u8 *buf, u32 bytes, struct sdp_bsdh *h);
u32 sdp_wire_weight(const u8 *buf, u32 bytes);
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
