// SPDX-License-Identifier: GPL-2.0
/*
 * SDP message codec: decodes, validates and encodes headers.
 *
 * Each field is read and written at an explicit offset, never through a
 * structure laid over the buffer. So alignment, padding and byte order
 * do not matter. Each field is read once, so the result is consistent even if
 * the peer could change the buffer meanwhile.
 */
#include "wire_bytes.h"
#include "wire_rails.h"

/*
 * BSDH:
 *	 0                   1                   2                   3
 *	+-------+-------+---------------+------------------------------+
 *	| MID   | Flags | Bufs          | Len                          |
 *	+-------+-------+---------------+------------------------------+
 *	| MSeq                          | MSeqAck                      |
 *	+-------------------------------+------------------------------+
 */
static void get_bsdh(const u8 *p, struct sdp_bsdh *h)
{
	h->mid = p[0];
	h->flags = p[1];
	h->bufs = get16(p + 2);
	h->len = get32(p + 4);
	h->mseq = get32(p + 8);
	h->mseq_ack = get32(p + 12);
}

static void put_bsdh(u8 *p, const struct sdp_bsdh *h)
{
	p[0] = h->mid;
	p[1] = h->flags;
	put16(p + 2, h->bufs);
	put32(p + 4, h->len);
	put32(p + 8, h->mseq);
	put32(p + 12, h->mseq_ack);
}

/**
 * sdp_wire_peek() - the base header of a message, not checked
 * @buf: its first min(@bytes, %SDP_BSDH_LEN) bytes
 * @bytes: its length
 * @h: filled in
 *
 * Return: false if the message is shorter than a base header.
 */
bool sdp_wire_peek(const u8 *buf, u32 bytes, struct sdp_bsdh *h)
{
	if (bytes < SDP_BSDH_LEN)
		return false;
	get_bsdh(buf, h);
	return true;
}

/**
 * sdp_wire_weight() - bytes that a message moves, or announces to move by RDMA
 * @buf: its first min(@bytes, %SDP_HEADER_MAX) bytes
 * @bytes: its length
 *
 * Return: number of bytes; of a message that is not valid, any number.
 */
u32 sdp_wire_weight(const u8 *buf, u32 bytes)
{
	bool advert = bytes >= SDP_BSDH_LEN + SDP_REGION_LEN &&
		      (buf[0] == SDP_MID_SRC_AVAIL ||
		       buf[0] == SDP_MID_SINK_AVAIL);

	return bytes + (advert ? get32(buf + SDP_BSDH_LEN) : 0);
}

/**
 * sdp_wire_header_len() - header length of a message without flags
 * @mid: identifier of a message that goes as a Send (not Hello, HelloAck)
 *
 * Return: bytes of BSDH and extended header, or 0 for an unknown message.
 */
u32 sdp_wire_header_len(u8 mid)
{
	switch (mid) {
	case SDP_MID_DISCONN:
	case SDP_MID_ABORT:
	case SDP_MID_SENDSM:
	case SDP_MID_SRC_CANCEL:
	case SDP_MID_SINK_CANCEL:
	case SDP_MID_SINK_CANCEL_ACK:
	case SDP_MID_SUSPEND_ACK:
	case SDP_MID_DATA:
		return SDP_BSDH_LEN;
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_MODE_CHANGE:
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
	case SDP_MID_RING_ASK:
		return SDP_BSDH_LEN + 4;
	case SDP_MID_SUSPEND:
		return SDP_BSDH_LEN + 8;
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_RING_AVAIL:
		return SDP_BSDH_LEN + SDP_REGION_LEN;
	case SDP_MID_SINK_AVAIL:
		return SDP_BSDH_LEN + SDP_REGION_LEN + 4;
	default:
		return 0;
	}
}

/**
 * sdp_wire_msg_header_len() - header length of a message with its flags
 * @h: base header
 *
 * Return: bytes of BSDH and extended header, or 0 for an unknown message.
 */
u32 sdp_wire_msg_header_len(const struct sdp_bsdh *h)
{
	u32 len = sdp_wire_header_len(h->mid);

	if (h->mid == SDP_MID_DATA && (h->flags & SDP_FLAG_FREED))
		len += SDP_FREED_LEN;
	if (h->mid == SDP_MID_SRC_AVAIL && (h->flags & SDP_FLAG_KEYS))
		len += SDP_KEYS_LEN;
	return len;
}

static bool mid_may_have_payload(u8 mid)
{
	return mid >= SDP_MID_SINK_AVAIL;
}

static enum sdp_violation check_flags(const struct sdp_msg *msg)
{
	u8 flags = msg->h.flags;

	if (flags & ~(SDP_FLAGS_ALL | SDP_FLAG_FREED | SDP_FLAG_KEYS))
		return SDP_BAD_FLAGS;
	/* The urgent byte is the last payload byte of a Data message. */
	if ((flags & SDP_FLAG_OOB_PRES) &&
	    (msg->h.mid != SDP_MID_DATA || !msg->payload_len))
		return SDP_BAD_FLAGS;
	if ((flags & SDP_FLAG_FREED) && msg->h.mid != SDP_MID_DATA)
		return SDP_BAD_FLAGS;
	if ((flags & SDP_FLAG_KEYS) && msg->h.mid != SDP_MID_SRC_AVAIL)
		return SDP_BAD_FLAGS;
	return SDP_VALID;
}

static enum sdp_violation get_region(const u8 *p, struct sdp_region *r)
{
	r->len = get32(p);
	r->rkey = get32(p + 4);
	r->va = get64(p + 8);
	if (!r->len || r->len > SDP_REGION_MAX)
		return SDP_BAD_FIELD;
	return r->va + r->len > r->va ? SDP_VALID : SDP_BAD_FIELD;
}

/*
 * The keys of a region for several rails:
 *	0 bit mask of rails   1 reserved   4 attempts (8)   12 keys (8 * 4)
 */
static enum sdp_violation get_keys(const u8 *p, struct sdp_rail_keys *k)
{
	u32 i;

	k->rails = p[0];
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		k->attempt[i] = p[4 + i];
		k->rkey[i] = get32(p + 12 + 4 * i);
	}
	return k->rails ? SDP_VALID : SDP_BAD_FIELD;
}

static void put_keys(u8 *p, const struct sdp_rail_keys *k)
{
	u32 i;

	p[0] = k->rails;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		p[4 + i] = k->attempt[i];
		put32(p + 12 + 4 * i, k->rkey[i]);
	}
}

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

/* 0 stands for "no ring" and is a legal size. */
static enum sdp_violation check_ring_size(u32 size)
{
	if (!size)
		return SDP_VALID;
	return power_of_two(size) && size >= SDP_RING_SIZE_MIN &&
			       size <= SDP_RING_SIZE_MAX ?
		       SDP_VALID :
		       SDP_BAD_FIELD;
}

/*
 * A ring is mapped twice, one copy behind the other, so that a message may
 * run over its end. The peer's address range is twice as long as the ring.
 */
static enum sdp_violation get_ring(const u8 *p, struct sdp_region *r)
{
	r->len = get32(p);
	r->rkey = get32(p + 4);
	r->va = get64(p + 8);
	if (check_ring_size(r->len))
		return SDP_BAD_FIELD;
	return r->va + 2 * r->len >= r->va ? SDP_VALID : SDP_BAD_FIELD;
}

/*
 * Byte 0 of the ModeChange header: bit 7 is the half, bits 6:4 are the mode.
 * Only four values name a transition that exists: the source changes to
 * Buffered (0x00), Combined (0x10) or Pipelined (0x20), and the sink changes
 * from Buffered to Combined (0x90).
 */
static enum sdp_violation get_mode(const u8 *p, struct sdp_msg *msg)
{
	u8 b = p[0];

	msg->mode = b >> 4 & 7;
	msg->mode_send_half = b >> 7;
	return b == 0x00 || b == 0x10 || b == 0x20 || b == 0x90 ? SDP_VALID :
								  SDP_BAD_FIELD;
}

static enum sdp_violation get_recv_size(const u8 *p, u32 *size)
{
	*size = get32(p);
	return *size >= SDP_RECV_SIZE_MIN && *size <= SDP_RECV_SIZE_MAX ?
		       SDP_VALID :
		       SDP_BAD_FIELD;
}

static enum sdp_violation get_src_avail(const u8 *p, struct sdp_msg *msg)
{
	enum sdp_violation bad = get_region(p, &msg->src);

	/* The region includes the inlined bytes, and more. */
	if (!bad && msg->src.len <= msg->payload_len)
		bad = SDP_BAD_FIELD;
	if (!bad && (msg->h.flags & SDP_FLAG_KEYS))
		bad = get_keys(p + SDP_REGION_LEN, &msg->keys);
	return bad;
}

static enum sdp_violation get_extended(const u8 *p, struct sdp_msg *msg)
{
	switch (msg->h.mid) {
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
		msg->count = get32(p);
		return SDP_VALID;
	case SDP_MID_MODE_CHANGE:
		return get_mode(p, msg);
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
		return get_recv_size(p, &msg->size);
	case SDP_MID_RING_ASK:
		msg->size = get32(p);
		return check_ring_size(msg->size);
	case SDP_MID_RING_AVAIL:
		return get_ring(p, &msg->ring);
	case SDP_MID_DATA:
		if (msg->h.flags & SDP_FLAG_FREED)
			msg->freed = get32(p);
		return SDP_VALID;
	case SDP_MID_SUSPEND:
		msg->service_id = get64(p);
		return SDP_VALID;
	case SDP_MID_SRC_AVAIL:
		return get_src_avail(p, msg);
	case SDP_MID_SINK_AVAIL:
		msg->non_discards = get32(p + SDP_REGION_LEN);
		return get_region(p, &msg->sink);
	default:
		return SDP_VALID;
	}
}

/**
 * sdp_wire_parse() - decode and validate a received message
 * @buf: the first bytes of the message; at least
 *	min(@bytes, %SDP_HEADER_MAX) of them are readable
 * @bytes: length of the message, as the transport reports it
 * @msg: filled in; complete only when the result is %SDP_VALID
 *
 * The message came as a Send or was written into a ring. Hello and HelloAck
 * have parsers of their own.
 *
 * Return: %SDP_VALID, or the violation (wire sections 1, 2, 6, 7).
 */
enum sdp_violation sdp_wire_parse(const u8 *buf, u32 bytes, struct sdp_msg *msg)
{
	enum sdp_violation bad;
	u32 header;

	memset(msg, 0, sizeof(*msg));
	if (bytes < SDP_BSDH_LEN)
		return SDP_BAD_LEN;
	get_bsdh(buf, &msg->h);
	if (msg->h.len != bytes)
		return SDP_BAD_LEN;
	header = sdp_wire_msg_header_len(&msg->h);
	if (!header)
		return SDP_BAD_MID;
	if (bytes < header)
		return SDP_BAD_LEN;
	if (bytes > header && !mid_may_have_payload(msg->h.mid))
		return SDP_BAD_PAYLOAD;
	if (msg->h.bufs > SDP_BUFS_MAX)
		return SDP_BAD_BUFS;
	msg->payload = header;
	msg->payload_len = bytes - header;
	bad = check_flags(msg);
	return bad ? bad : get_extended(buf + SDP_BSDH_LEN, msg);
}

static void put_region(u8 *p, const struct sdp_region *r)
{
	put32(p, r->len);
	put32(p + 4, r->rkey);
	put64(p + 8, r->va);
}

/**
 * sdp_wire_build() - encode the headers of a message
 * @buf: room for %SDP_HEADER_MAX bytes
 * @msg: message to encode; @h.len and @payload are ignored and computed from
 *	@h.mid, @h.flags and @payload_len
 *
 * Return: number of bytes written, after which the payload follows.
 */
u32 sdp_wire_build(u8 *buf, const struct sdp_msg *msg)
{
	u32 header = sdp_wire_msg_header_len(&msg->h);
	struct sdp_bsdh h = msg->h;
	u8 *p = buf + SDP_BSDH_LEN;

	h.len = header + msg->payload_len;
	put_bsdh(buf, &h);
	memset(p, 0, header - SDP_BSDH_LEN);
	switch (h.mid) {
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
		put32(p, msg->count);
		break;
	case SDP_MID_MODE_CHANGE:
		p[0] = (u8)(msg->mode_send_half << 7 | msg->mode << 4);
		break;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
	case SDP_MID_RING_ASK:
		put32(p, msg->size);
		break;
	case SDP_MID_RING_AVAIL:
		put_region(p, &msg->ring);
		break;
	case SDP_MID_DATA:
		if (h.flags & SDP_FLAG_FREED)
			put32(p, msg->freed);
		break;
	case SDP_MID_SUSPEND:
		put64(p, msg->service_id);
		break;
	case SDP_MID_SRC_AVAIL:
		put_region(p, &msg->src);
		if (h.flags & SDP_FLAG_KEYS)
			put_keys(p + SDP_REGION_LEN, &msg->keys);
		break;
	case SDP_MID_SINK_AVAIL:
		put_region(p, &msg->sink);
		put32(p + SDP_REGION_LEN, msg->non_discards);
		break;
	}
	return header;
}

/*
 * Hello, after the BSDH (absolute offsets):
 *	16 version   17 IPV:4 Cap:4   18 reserved   19 MaxAdverts
 *	20 DesRemRcvSz			24 LocalRcvSz
 *	28 LocalPort  30 reserved	32 SrcIP (16)	48 DstIP (16)
 *	64 reserved   66 ExtMaxAdverts	68 reserved to 92, see get_rings() and
 *					   get_held(), and wire_rails.c
 */

/* The first 12 of the 16 bytes of an IPv4 address are zero on the wire. */
static bool ipv4_padded(const u8 a[16])
{
	static const u8 zero[12];

	return !memcmp(a, zero, sizeof(zero));
}

/* Checks the fields that Hello and HelloAck have in common. */
static bool hello_fields_ok(const struct sdp_hello *h)
{
	return (h->version >> 4) == SDP_VERSION_MAJOR && h->max_adverts &&
	       h->recv_size >= SDP_RECV_SIZE_MIN &&
	       h->recv_size <= SDP_RECV_SIZE_MAX;
}

/*
 * The ring extension of Hello and HelloAck, in bytes that the standard
 * reserves. Bytes with another beginning or another version belong to
 * somebody else and are ignored:
 *	0 "RING"   4 version   5 scheme   6 reserved   8 window
 */
#define RINGS_MAGIC	0x52494E47
#define RINGS_VERSION	1
#define RINGS_LEN	12
#define HELLO_RINGS	68
#define HELLO_ACK_RINGS	24

static enum sdp_violation get_rings(const u8 *p, struct sdp_hello *h)
{
	if (get32(p) != RINGS_MAGIC || p[4] != RINGS_VERSION)
		return SDP_VALID;
	h->rings = true;
	h->scheme = p[5];
	h->window = get32(p + 8);
	return h->scheme < SDP_SCHEMES && h->window >= SDP_RING_WINDOW_MIN &&
	       h->window <= SDP_RING_WINDOW_MAX ? SDP_VALID : SDP_BAD_HELLO;
}

static void put_rings(u8 *p, const struct sdp_hello *h)
{
	if (!h->rings)
		return;
	put32(p, RINGS_MAGIC);
	p[4] = RINGS_VERSION;
	p[5] = h->scheme;
	put32(p + 8, h->window);
}

/*
 * The extension with the number of SinkAvails held, after the ring
 * extension and with the same rules:
 *	0 "HELD"   4 version   5 SinkAvails held   6 reserved
 */
#define HELD_MAGIC	0x48454C44
#define HELD_VERSION	1
#define HELD_LEN	8
#define HELLO_HELD	80
#define HELLO_ACK_HELD	36

static u8 get_held(const u8 *p)
{
	return get32(p) == HELD_MAGIC && p[4] == HELD_VERSION ? p[5] : 0;
}

static void put_held(u8 *p, const struct sdp_hello *h)
{
	if (!h->held)
		return;
	put32(p, HELD_MAGIC);
	p[4] = HELD_VERSION;
	p[5] = h->held;
}

static enum sdp_violation check_hello_bsdh(const struct sdp_bsdh *h, u8 mid,
					   u32 len, u32 len_min)
{
	if (h->mid != mid)
		return SDP_BAD_MID;
	if (h->len != len && h->len != len_min)
		return SDP_BAD_LEN;
	if (h->flags)
		return SDP_BAD_FLAGS;
	if (h->mseq || h->mseq_ack)
		return SDP_BAD_SEQ;
	if (h->bufs < SDP_HELLO_BUFS_MIN || h->bufs > SDP_BUFS_MAX)
		return SDP_BAD_BUFS;
	return SDP_VALID;
}

/**
 * sdp_hello_parse() - decode and validate a Hello
 * @buf: private data of the connection request, or NULL
 * @bytes: its length; the CM always passes the whole field
 * @hello: filled in; complete only when the result is %SDP_VALID
 *
 * Return: %SDP_VALID, or the violation (wire section 3).
 */
enum sdp_violation sdp_hello_parse(const u8 *buf, u32 bytes,
				   struct sdp_hello *hello)
{
	enum sdp_violation bad;
	struct sdp_bsdh h;

	memset(hello, 0, sizeof(*hello));
	if (!buf || bytes < SDP_HELLO_LEN_MIN)
		return SDP_BAD_LEN;
	get_bsdh(buf, &h);
	bad = check_hello_bsdh(&h, SDP_MID_HELLO, SDP_HELLO_LEN,
			       SDP_HELLO_LEN_MIN);
	if (bad)
		return bad;
	if (h.len > bytes)
		return SDP_BAD_LEN;
	hello->bufs = h.bufs;
	hello->version = buf[16];
	hello->ip_version = buf[17] >> 4;
	hello->cap = buf[17] & 0xF;
	hello->max_adverts = buf[19];
	hello->wanted_recv_size = get32(buf + 20);
	hello->recv_size = get32(buf + 24);
	hello->port = get16(buf + 28);
	memcpy(hello->src, buf + 32, 16);
	memcpy(hello->dst, buf + 48, 16);

	if (!hello_fields_ok(hello) || !hello->port)
		return SDP_BAD_HELLO;
	if (h.len >= HELLO_RINGS + RINGS_LEN &&
	    get_rings(buf + HELLO_RINGS, hello))
		return SDP_BAD_HELLO;
	if (h.len >= HELLO_HELD + HELD_LEN)
		hello->held = get_held(buf + HELLO_HELD);
	if (h.len == SDP_HELLO_LEN)
		sdp_hello_get_rails(buf, hello);
	if (hello->ip_version == 4)
		return ipv4_padded(hello->src) && ipv4_padded(hello->dst) ?
			SDP_VALID : SDP_BAD_HELLO;
	return hello->ip_version == 6 ? SDP_VALID : SDP_BAD_HELLO;
}

/**
 * sdp_hello_build() - encode a Hello
 * @buf: filled in: the whole private data of the connection request
 * @hello: fields to encode
 */
void sdp_hello_build(u8 buf[SDP_HELLO_LEN], const struct sdp_hello *hello)
{
	struct sdp_bsdh h = { .mid = SDP_MID_HELLO,
			      .bufs = hello->bufs,
			      .len = SDP_HELLO_LEN };

	memset(buf, 0, SDP_HELLO_LEN);
	put_bsdh(buf, &h);
	buf[16] = hello->version;
	buf[17] = (u8)(hello->ip_version << 4 | hello->cap);
	buf[19] = hello->max_adverts;
	put32(buf + 20, hello->wanted_recv_size);
	put32(buf + 24, hello->recv_size);
	put16(buf + 28, hello->port);
	memcpy(buf + 32, hello->src, 16);
	memcpy(buf + 48, hello->dst, 16);
	put_rings(buf + HELLO_RINGS, hello);
	put_held(buf + HELLO_HELD, hello);
	sdp_hello_put_rails(buf, hello);
}

/**
 * sdp_hello_ack_parse() - decode and validate a HelloAck
 * @buf: private data of the connection reply, or NULL
 * @bytes: its length
 * @ack: filled in as far as HelloAck has the fields; complete only when the
 *	result is %SDP_VALID
 *
 * Return: %SDP_VALID, or the violation (wire section 4).
 */
enum sdp_violation sdp_hello_ack_parse(const u8 *buf, u32 bytes,
				       struct sdp_hello *ack)
{
	enum sdp_violation bad;
	struct sdp_bsdh h;

	memset(ack, 0, sizeof(*ack));
	if (!buf || bytes < SDP_HELLO_ACK_LEN_MIN)
		return SDP_BAD_LEN;
	get_bsdh(buf, &h);
	bad = check_hello_bsdh(&h, SDP_MID_HELLO_ACK, SDP_HELLO_ACK_LEN,
			       SDP_HELLO_ACK_LEN_MIN);
	if (bad)
		return bad;
	if (h.len > bytes)
		return SDP_BAD_LEN;
	ack->bufs = h.bufs;
	ack->version = buf[16];
	ack->cap = buf[17] & 0xF;
	ack->max_adverts = buf[19];
	ack->recv_size = get32(buf + 20);
	if (!hello_fields_ok(ack))
		return SDP_BAD_HELLO;
	if (h.len >= HELLO_ACK_HELD + HELD_LEN)
		ack->held = get_held(buf + HELLO_ACK_HELD);
	if (h.len == SDP_HELLO_ACK_LEN)
		sdp_hello_ack_get_rails(buf, ack);
	return h.len >= HELLO_ACK_RINGS + RINGS_LEN ?
		       get_rings(buf + HELLO_ACK_RINGS, ack) :
		       SDP_VALID;
}

/**
 * sdp_hello_ack_build() - encode a HelloAck
 * @buf: filled in: the whole private data of the connection reply
 * @ack: fields to encode
 */
void sdp_hello_ack_build(u8 buf[SDP_HELLO_ACK_LEN], const struct sdp_hello *ack)
{
	struct sdp_bsdh h = {
		.mid = SDP_MID_HELLO_ACK,
		.bufs = ack->bufs,
		.len = SDP_HELLO_ACK_LEN,
	};

	memset(buf, 0, SDP_HELLO_ACK_LEN);
	put_bsdh(buf, &h);
	buf[16] = ack->version;
	buf[17] = ack->cap;
	buf[19] = ack->max_adverts;
	put32(buf + 20, ack->recv_size);
	put_rings(buf + HELLO_ACK_RINGS, ack);
	put_held(buf + HELLO_ACK_HELD, ack);
	sdp_hello_ack_put_rails(buf, ack);
}

/**
 * sdp_mid_name() - name of a message, for people
 * @mid: message identifier
 *
 * Return: a constant string.
 */
const char *sdp_mid_name(u8 mid)
{
	static const char * const control[] = {
		"Hello", "HelloAck", "DisConn", "AbortConn", "SendSm",
		"RdmaWrCompl", "RdmaRdCompl", "ModeChange", "SrcAvailCancel",
		"SinkAvailCancel", "SinkCancelAck", "ChRcvBuf", "ChRcvBufAck",
		"SuspComm", "SuspCommAck",
	};
	static const char * const rings[] = { "RingAsk", "RingAvail" };
	static const char * const rails[] = { "RailAddrs", "RailGone",
					      "RailAck" };
	static const char * const data[] = { "SinkAvail", "SrcAvail", "Data" };

	if (mid == SDP_MID_RING_ASK || mid == SDP_MID_RING_AVAIL)
		return rings[mid - SDP_MID_RING_ASK];
	if (mid >= SDP_MID_RAIL_ADDRS && mid <= SDP_MID_RAIL_ACK)
		return rails[mid - SDP_MID_RAIL_ADDRS];
	if (mid < sizeof(control) / sizeof(control[0]))
		return control[mid];
	return mid >= SDP_MID_SINK_AVAIL ? data[mid - SDP_MID_SINK_AVAIL] :
					   "unknown";
}

/**
 * sdp_violation_name() - name of a violation, as the statistics print it
 * @what: the violation
 *
 * Return: a constant string.
 */
const char *sdp_violation_name(enum sdp_violation what)
{
	static const char * const names[SDP_VIOLATION_KINDS] = {
		"Valid", "BadLen", "BadHello", "BadMid", "BadFlags", "BadField",
		"BadPayload", "BadSeq", "BadAck", "BadBufs", "BadCredit",
		"BadState", "BadKey",
	};

	return what < SDP_VIOLATION_KINDS ? names[what] : "unknown";
}
