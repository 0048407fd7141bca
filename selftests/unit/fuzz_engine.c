// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: one engine with a correct owner and an arbitrary peer.
 *
 * An input is a list of events. A message of the peer is either raw input bytes, or a message
 * whose header is made acceptable, so that the fuzzer gets past the first checks. For every input
 * the target checks:
 *
 * - One event leads to few actions, and payload lies inside its message.
 * - The stream ends once, and nothing is delivered after its end.
 * - No message is sent without credit or after the end of the connection. None is longer than
 *   the peer's last stated buffer size.
 * - ChRcvBufAck only answers a request, and states a size that every posted receive has.
 * - Only one ChRcvBuf is unanswered at a time.
 * - No data overtakes a SrcAvail, and no RDMA read leaves the advertised region.
 * - Modes change only as either end may change them. Buffered has no SrcAvail.
 * - An advertised buffer ends once, and an RDMA write is reported before data that follows it.
 *
 * With FUZZ_RINGS (target fuzz_rings) both ends know rings; fuzz_rings.h has the checks for them.
 */
#include <stdlib.h>

#include "fuzz_check.h"
#include "engine.h"

#define RECV_SIZE	256
#define RECV_SIZE_MAX	4500	/* a resize may grow receives to this size */
#define SLOTS		5

#ifndef FUZZ_RINGS
#define FUZZ_RINGS	0
#endif

/* Sizes of the posted receives, indexed by the running number of the receive. */
static u16 receives[SDP_BUFS_MAX];

/* The input, consumed from its front. Reads as zeros after its end. */
struct input {
	const u8 *p;
	size_t left;
};

struct judge {
	struct sdp_engine e;
	u32 on_the_way;		/* messages sent and not completed */
	u32 posted;		/* number of receives posted since the start */
	u32 requests;		/* number of ChRcvBuf received */
	u32 answers;		/* number of ChRcvBufAck sent */
	u32 asked;		/* number of ChRcvBuf sent */
	u32 may_ask;		/* most ChRcvBuf that may have been sent */
	u32 most;		/* longest message that the peer can receive */
	u32 established;
	u32 ends;		/* number of SDP_ACT_EOF */
	u32 disconnects;
	bool disconn_sent;
	bool over;
	struct sdp_region ours;	/* our SrcAvail's region, if @next_mid */
	u32 inlined;
	bool next_mid;
	bool out;		/* our SrcAvail has been sent and is open */
	u32 out_seq;		/* MSeq of our SrcAvail, if @out */
	u32 ack;		/* MSeqAck of the last message received */
	struct sdp_region theirs; /* the peer's SrcAvail, if @open */
	u32 got;
	u32 unreported;
	u32 reading;
	bool open;
	u16 after;		/* answers in a row that change the mode */
	u8 tx;			/* modes of both halves, by the messages */
	u8 rx;
	struct buffer {
		u32 id;
		u32 len;
		bool sent;
		bool rest;	/* a part of it has been written */
	} buffers[SDP_SINKAVAILS_MAX]; /* our SinkAvails */
	bool one;		/* the peer gets only one buffer at a time */
	u32 n_buffers;
	u32 written;		/* bytes written to the peer, not reported */
	bool large;		/* a reader has a large buffer, while in Buffered */
	bool placed;		/* the message being received lies in a ring */
	u32 making;		/* largest ring that the peer asks for, or 0 */
	u32 ring_asks;		/* number of RingAsk received */
	u32 ring_answers;
	bool asks;		/* our RingAsk is not answered */
	struct sdp_region ring;	/* the peer's ring */
	u32 head;		/* bytes written into the peer's ring */
	u32 freed;		/* bytes of it that the peer has freed */
	u32 size;		/* size of our ring */
	u32 next;
	u32 came;		/* bytes that have been put into our ring */
	u32 read;
};

static u8 byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static u16 word(struct input *in)
{
	u16 high = byte(in);

	return (u16)(high << 8 | byte(in));
}

/* A number from @low to @high. A function, because min() would read the input twice. */
static u16 number(struct input *in, u32 low, u32 high)
{
	u32 n = low + byte(in);

	return (u16)min(n, high);
}

static void judge_actions(struct judge *j, const struct sdp_actions *acts, u32 bytes);

#include "fuzz_rings.h"

/* Our SrcAvail is over: the peer has at least the inlined bytes and at most the region. */
static void judge_srcavail_over(struct judge *j, u32 len)
{
	bool pipelined = j->tx == SDP_MODE_PIPELINED;

	CHECK(j->next_mid && len >= j->inlined && len <= j->ours.len);
	CHECK(pipelined || (j->out && !sdp_seq_after(j->out_seq, j->ack)));
	CHECK(j->out || !len);
	CHECK(!sdp_engine_srcavail_tx_open(&j->e));
	j->next_mid = false;
	j->out = false;
}

/* Remove one of our advertised buffers from the list. Returns it. */
static struct buffer buffer_over(struct judge *j, u32 id)
{
	struct buffer b;
	u32 i = 0;

	while (i < j->n_buffers && j->buffers[i].id != id)
		i++;
	CHECK(i < j->n_buffers);
	b = j->buffers[i];
	j->n_buffers--;
	memmove(j->buffers + i, j->buffers + i + 1, (j->n_buffers - i) * sizeof(b));
	return b;
}

static void judge_written(struct judge *j, const struct sdp_action *a)
{
	struct buffer *b = j->buffers;

	CHECK(j->established && !j->ends && !j->open);
	CHECK(j->n_buffers && b->id == a->id && b->sent && a->len && a->len <= b->len);
	CHECK(!a->rest || (j->one && a->len < b->len));
	b->len -= a->len;
	b->rest = true;
	if (!a->rest)
		buffer_over(j, a->id);
}

/* SrcAvail carries the beginning of the data in Combined, and no data in Pipelined. */
static void judge_srcavail_arrived(struct judge *j, const struct sdp_action *a, bool delivered)
{
	CHECK(delivered == (j->rx == SDP_MODE_COMBINED) && j->rx != SDP_MODE_BUFFERED);
	CHECK(!j->open && a->len && a->len == sdp_engine_srcavail_rx_left(&j->e));
	CHECK(a->len <= SDP_REGION_MAX);
	j->open = true;
	j->got = delivered ? a[-1].len : 0;
}

static void judge_actions(struct judge *j, const struct sdp_actions *acts, u32 bytes)
{
	CHECK(acts->n <= 4 + SDP_SINKAVAILS_MAX);
	CHECK(!acts->n || !j->over);
	for (u32 i = 0; i < acts->n; i++) {
		const struct sdp_action *a = &acts->list[i];

		CHECK(!j->over);
		switch (a->kind) {
		case SDP_ACT_ESTABLISHED:
			CHECK(!j->established++);
			break;
		case SDP_ACT_DELIVER:
			CHECK(j->established && !j->ends);
			CHECK(a->len && a->offset >= SDP_BSDH_LEN && a->len <= bytes);
			CHECK(a->offset + a->len == bytes && (j->placed || bytes <= RECV_SIZE_MAX));
			CHECK(!j->open);
			break;
		case SDP_ACT_SRCAVAIL:
			judge_srcavail_arrived(j, a, i && a[-1].kind == SDP_ACT_DELIVER);
			break;
		case SDP_ACT_SINKAVAIL_WRITTEN:
			judge_written(j, a);
			break;
		case SDP_ACT_SINKAVAIL_OVER:
			buffer_over(j, a->id);
			break;
		case SDP_ACT_SRCAVAIL_OVER:
			judge_srcavail_over(j, a->len);
			break;
		case SDP_ACT_URGENT:
			CHECK(j->established && !j->ends);
			break;
		case SDP_ACT_RING_WANTED:
			judge_ring_wanted(j, a->len);
			break;
		case SDP_ACT_RING_OVER:
			judge_ring_over(j, a->len);
			break;
		case SDP_ACT_EOF:
			CHECK(j->established && !j->ends++ && !j->open && !j->n_buffers);
			break;
		case SDP_ACT_DISCONNECT:
			CHECK(j->ends && j->disconn_sent && !j->disconnects++);
			break;
		case SDP_ACT_END:
			CHECK(j->ends && j->disconn_sent);
			j->over = true;
			break;
		case SDP_ACT_FAIL:
			CHECK(a->error > 0);
			CHECK(a->violation < SDP_VIOLATION_KINDS);
			j->over = true;
			break;
		}
	}
	CHECK(j->over == j->e.dead);
}

static void post(struct judge *j, u16 n)
{
	u32 size = sdp_engine_post_size(&j->e);

	CHECK(size >= RECV_SIZE && size <= RECV_SIZE_MAX);
	for (u32 i = 0; i < n; i++)
		receives[j->posted++ % SDP_BUFS_MAX] = (u16)size;
	sdp_engine_posted(&j->e, n);
}

/* Check a sent message against the receive sizes of both sides. */
static void judge_resize(struct judge *j, const struct sdp_msg *sent)
{
	CHECK(sent->to.rkey || sent->h.len <= j->most);
	if (sent->h.mid == SDP_MID_CHRCVBUF) {
		CHECK(j->asked++ < j->may_ask);
		CHECK(sent->size <= RECV_SIZE_MAX);
		j->most = min(j->most, sent->size);
	}
	if (sent->h.mid != SDP_MID_CHRCVBUF_ACK)
		return;
	CHECK(j->answers++ < j->requests);
	CHECK(sent->size >= RECV_SIZE && sent->size <= RECV_SIZE_MAX);
	for (u32 i = j->posted - j->e.credit.posted; i != j->posted; i++)
		CHECK(receives[i % SDP_BUFS_MAX] >= sent->size);
}

/*
 * Account for a received message about receive sizes. A ChRcvBufAck allows one more request. So
 * does the peer's ChRcvBuf, because it may have made our own request void.
 */
static void note_resize(struct judge *j, const struct sdp_msg *msg)
{
	if (msg->h.mid == SDP_MID_CHRCVBUF) {
		j->requests++;
		j->may_ask++;
	} else if (msg->h.mid == SDP_MID_CHRCVBUF_ACK) {
		j->may_ask++;
		j->most = max(j->most, msg->size);
	}
}

/* Check a sent message against the SrcAvails of both sides. */
static void judge_advert(struct judge *j, const struct sdp_msg *sent, u32 head_bytes)
{
	CHECK(!j->out || (!sent->payload_len && sent->h.mid != SDP_MID_DISCONN));
	switch (sent->h.mid) {
	case SDP_MID_SRC_AVAIL:
		CHECK(j->next_mid && !head_bytes && sent->payload_len == j->inlined);
		CHECK(!memcmp(&sent->src, &j->ours, sizeof(j->ours)));
		j->out = true;
		j->out_seq = sent->h.mseq;
		break;
	case SDP_MID_SRC_CANCEL:
		CHECK(j->out);
		break;
	case SDP_MID_RDMA_RD_COMPL:
		CHECK(j->open && sent->count && sent->count == j->unreported);
		j->unreported = 0;
		j->open = j->got != j->theirs.len;
		break;
	case SDP_MID_SENDSM:
		CHECK(j->open && !j->reading && !j->unreported && j->got < j->theirs.len);
		j->open = false;
		break;
	}
}

/* Wire section 8: mode changes that the source may make. */
static bool source_may(u8 from, u8 to)
{
	return from == SDP_MODE_COMBINED ? to != SDP_MODE_COMBINED :
	       from == SDP_MODE_PIPELINED && to == SDP_MODE_COMBINED;
}

/* Check a sent message against the SinkAvails of both sides. */
static void judge_buffers(struct judge *j, const struct sdp_msg *sent)
{
	u32 i = 0;

	CHECK(!j->written || (!sent->payload_len && sent->h.mid != SDP_MID_DISCONN));
	switch (sent->h.mid) {
	case SDP_MID_SINK_AVAIL:
		while (i < j->n_buffers && j->buffers[i].sent)
			i++;
		CHECK(i < j->n_buffers && sent->sink.len == j->buffers[i].len);
		CHECK(j->rx == SDP_MODE_PIPELINED && !j->ends && !j->reading);
		CHECK(!j->open || (!j->got && !sent->payload_len));
		j->buffers[i].sent = true;
		j->open = false;
		break;
	case SDP_MID_SINK_CANCEL:
		CHECK(j->n_buffers && j->buffers[0].sent);
		break;
	case SDP_MID_RDMA_WR_COMPL:
		CHECK(j->written && sent->count == j->written);
		j->written = 0;
		break;
	case SDP_MID_SINK_CANCEL_ACK:
		CHECK(!j->written);
		break;
	}
}

/* Check a sent message against the modes of both halves. */
static void judge_mode(struct judge *j, const struct sdp_msg *sent)
{
	CHECK(j->tx != SDP_MODE_BUFFERED || sent->h.mid != SDP_MID_SRC_AVAIL);
	if (sent->h.mid != SDP_MID_MODE_CHANGE)
		return;
	if (sent->mode_send_half) {
		CHECK(sent->mode == SDP_MODE_COMBINED && j->rx == SDP_MODE_BUFFERED);
		CHECK(j->large && !j->ends);
		j->rx = sent->mode;
		j->large = false;
	} else {
		CHECK(j->after && source_may(j->tx, sent->mode));
		CHECK(!j->next_mid && !j->disconn_sent && !j->written);
		j->tx = sent->mode;
	}
}

/* Account for a mode change of the peer that the engine has accepted. */
static void note_mode(struct judge *j, const struct sdp_msg *msg)
{
	if (msg->h.mid == SDP_MID_MODE_CHANGE && msg->mode_send_half) {
		CHECK(j->tx == SDP_MODE_BUFFERED && msg->mode == SDP_MODE_COMBINED);
		j->tx = msg->mode;
	} else if (msg->h.mid == SDP_MID_MODE_CHANGE) {
		CHECK(source_may(j->rx, msg->mode) && !j->open && !j->ends && !j->n_buffers);
		j->rx = msg->mode;
	}
	CHECK(sdp_engine_tx_mode(&j->e) == j->tx && sdp_engine_rx_mode(&j->e) == j->rx);
	CHECK(sdp_engine_sinkavails_out(&j->e) == j->n_buffers);
}

/* Send all messages that the engine allows, with a view from the input. */
static void pump(struct judge *j, struct input *in)
{
	struct sdp_tx_view view = { .head_bytes = byte(in) };
	struct sdp_tx_msg tx;
	u8 flags = byte(in);

	view.head_full = flags & 1;
	view.hold = flags & 2;
	view.urgent = flags & 4;
	if (FUZZ_RINGS)
		view.head_bytes *= 32;
	view.lazy = FUZZ_RINGS && flags & 16;
	view.head_declined = flags & 32;
	view.head_urgent = view.urgent && view.head_full && view.head_bytes &&
			   flags & 8;
	while (sdp_engine_next(&j->e, &view, &tx) == SDP_NEXT_SEND) {
		u32 credit = sdp_credit_available(&j->e.credit);
		u32 payload = tx.mid == SDP_MID_SRC_AVAIL ? tx.payload_max :
			      min(view.head_bytes, tx.payload_max);
		bool answer = tx.mid >= SDP_MID_SENDSM && tx.mid <= SDP_MID_SINK_CANCEL_ACK &&
			      tx.mid != SDP_MID_MODE_CHANGE && tx.mid != SDP_MID_SRC_CANCEL;
		struct sdp_msg sent, seen;
		u8 buf[SDP_HEADER_MAX];
		u32 header = sdp_engine_commit(&j->e, &tx, payload, buf, &sent);

		CHECK(j->established && !j->over && j->on_the_way++ < SLOTS);
		answer = answer || (tx.mid == SDP_MID_SINK_AVAIL && j->open);
		if (!sdp_engine_by_nic(&j->e)) {
			CHECK(credit >= 1 && credit <= 0x10000);
			CHECK(credit >= 2 || answer || (tx.mid == SDP_MID_DATA && !payload));
		}
		judge_ring_sent(j, &sent, credit);
		CHECK(!j->disconn_sent || !payload);
		CHECK(!(sent.h.flags & SDP_FLAG_OOB_PEND) == !view.urgent);
		CHECK(!(sent.h.flags & SDP_FLAG_OOB_PRES) ||
		      (view.head_urgent && payload && payload == view.head_bytes));
		CHECK(sdp_wire_parse(buf, header + payload, &seen) == SDP_VALID);
		CHECK(!memcmp(&seen.h, &sent.h, sizeof(seen.h)));
		judge_resize(j, &sent);
		judge_advert(j, &sent, view.head_bytes);
		judge_buffers(j, &sent);
		judge_mode(j, &sent);
		if (tx.mid == SDP_MID_DISCONN) {
			CHECK(!j->disconn_sent);
			j->disconn_sent = true;
		}
		CHECK(tx.mid != SDP_MID_SINK_AVAIL || !payload || payload == view.head_bytes);
		if (tx.mid != SDP_MID_SRC_AVAIL && payload) {
			view.head_bytes = 0;
			view.head_urgent = false;
		}
	}
}

/* Fill in the extended header: often with valid values, so that the engine accepts it. */
static void fill_in(const struct judge *j, struct sdp_msg *m, struct input *in)
{
	switch (m->h.mid) {
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
		m->size = SDP_RECV_SIZE_MIN + word(in) % (RECV_SIZE_MAX + 100);
		break;
	case SDP_MID_MODE_CHANGE:
		m->mode = byte(in) % 3;
		m->mode_send_half = m->mode == SDP_MODE_COMBINED && !(byte(in) & 1);
		break;
	case SDP_MID_RDMA_RD_COMPL:
		m->count = word(in);
		if (m->count & 1)
			m->count = j->ours.len - j->inlined;
		break;
	case SDP_MID_RDMA_WR_COMPL:
		m->count = byte(in) + 1;
		break;
	case SDP_MID_SINK_AVAIL:
		m->sink.len = 1 + word(in);
		m->sink.rkey = 9;
		m->sink.va = 4096;
		m->non_discards = j->e.sinkavail_tx.non_discards + !(byte(in) & 7);
		break;
	case SDP_MID_RING_ASK:
	case SDP_MID_RING_AVAIL:
		fill_in_ring(j, m, byte(in));
		break;
	case SDP_MID_SRC_AVAIL:
		m->src.len = m->payload_len + ((u32)word(in) << (byte(in) & 16));
		m->src.rkey = 1;
		m->src.va = byte(in) & 1 ? 4096 : ~0ULL - m->src.len - byte(in);
		break;
	}
}

/* Receive a message: raw bytes, or one with correct counts and other fields from the input. */
static void receive(struct judge *j, struct input *in, bool raw)
{
	struct sdp_actions acts = { 0 };
	const struct sdp_credit *c = &j->e.credit;
	struct sdp_msg msg, m = { 0 };
	u8 buf[RECV_SIZE_MAX + 1024] = { 0 };
	u32 bytes;
	s32 bufs;

	if (raw) {
		bytes = byte(in);
		for (u32 i = 0; i < bytes; i++)
			buf[i] = byte(in);
	} else {
		u8 mid = byte(in), choice = byte(in);

		m.h.mid = mid & 0x80 ? SDP_MID_DATA : mid & 0x40 ? SDP_MID_SRC_AVAIL :
			  mid & 0x20 ? SDP_MID_SINK_AVAIL : mid & 0x0f;
		if (FUZZ_RINGS && mid & 0x10)
			m.h.mid = SDP_MID_RING_ASK + (mid & 1);
		m.h.flags = choice & 0x20 ? byte(in) : 0;
		m.payload_len = choice & 0x10 ? byte(in) + (choice & 0x0f) : 0;
		m.payload_len *= choice & 0x80 ? 20 : 1;
		fill_in(j, &m, in);
		m.h.mseq = c->rx_seq + 1;
		m.h.mseq_ack = choice & 0x40 ? c->tx_seq : c->tx_acked;
		m.freed = FUZZ_RINGS ? j->e.ring_out.head - (byte(in) & 1) * byte(in) : 0;
		/* The peer must not take back a grant, so this is the least valid Bufs. */
		bufs = (s32)(c->tx_limit - m.h.mseq_ack);
		m.h.bufs = (u16)(max(bufs, 0) + (choice & 0x0f));
		if (!sdp_wire_header_len(m.h.mid))
			m.h.mid = SDP_MID_DISCONN;
		bytes = sdp_wire_build(buf, &m) + m.payload_len;
	}
	if (!FUZZ_RINGS || !place(j, in, bytes))
		sdp_engine_receive(&j->e, buf, bytes, &msg, &acts);
	else if (!j->over)
		sdp_engine_receive_placed(&j->e, buf, bytes, &msg, &acts);
	else
		return;
	j->ack = msg.h.mseq_ack;
	judge_actions(j, &acts, bytes);
	j->placed = false;
	if (j->over)
		return;
	note_ring(j, &msg);
	note_resize(j, &msg);
	note_mode(j, &msg);
	if (msg.h.mid == SDP_MID_SRC_AVAIL)
		j->theirs = msg.src;
}

static bool connect_engine(struct judge *j, struct input *in)
{
	struct sdp_engine_config cfg = {
		.recv_size = RECV_SIZE, .recv_target = byte(in), .threshold = byte(in),
		.recv_size_max = byte(in) & 1 ? RECV_SIZE_MAX : 0, .split_level = 1,
		.send_slots = SLOTS, .mode_after = byte(in) & 3,
	};
	struct sdp_hello ours = { .ip_version = 4, .port = 1 }, theirs = {
		.bufs = SDP_HELLO_BUFS_MIN + byte(in), .recv_size = SDP_RECV_SIZE_MIN + byte(in),
		.max_adverts = 1, .held = SDP_SINKAVAILS_MAX,
	};
	struct sdp_actions acts = { 0 };
	u8 how = byte(in);
	bool active = how & 1;

	j->one = how & 2;
	if (j->one)
		theirs.held = 0;
	if (FUZZ_RINGS)
		know_rings(&cfg, &theirs, in);
	sdp_engine_init(&j->e, &cfg);
	post(j, number(in, 2, sdp_engine_receives_wanted(&j->e)));
	j->most = theirs.recv_size;
	j->after = cfg.mode_after;
	j->tx = SDP_MODE_COMBINED;
	j->rx = SDP_MODE_COMBINED;
	j->may_ask = 1;
	if (active) {
		sdp_engine_hello(&j->e, &ours);
		if (byte(in) & 1)
			receive(j, in, false);
		sdp_engine_hello_ack_received(&j->e, &theirs, &acts);
	} else {
		if (sdp_engine_hello_received(&j->e, &theirs))
			return false;
		sdp_engine_hello_ack(&j->e, &ours);
	}
	judge_actions(j, &acts, 0);
	return true;
}

/* Begin a SrcAvail, or withdraw the present one. */
static void srcavail(struct judge *j, struct input *in)
{
	struct sdp_region region = { .rkey = 7, .va = 0x10000 };
	u32 most = sdp_engine_srcavail_inline_max(&j->e);

	if (!sdp_engine_may_srcavail(&j->e)) {
		sdp_engine_srcavail_cancel(&j->e);
		CHECK(j->over || sdp_engine_srcavail_tx_open(&j->e) == j->out);
		j->next_mid = j->out;
		return;
	}
	CHECK(!j->next_mid && j->established && !j->disconn_sent && !j->open);
	CHECK(j->tx != SDP_MODE_BUFFERED && !j->written);
	j->inlined = most ? number(in, 1, most) : 0;
	CHECK(!j->inlined == (j->tx == SDP_MODE_PIPELINED));
	region.len = j->inlined + 1 + word(in);
	j->ours = region;
	j->next_mid = true;
	sdp_engine_srcavail(&j->e, &region, j->inlined);
	CHECK(sdp_engine_srcavail_tx_open(&j->e));
}

/* Begin an RDMA read from the peer's SrcAvail, end the one in flight, or decline. */
static void look_at_srcavail(struct judge *j, struct input *in)
{
	u32 bytes = word(in), left = sdp_engine_srcavail_rx_left(&j->e);
	struct sdp_region from;

	CHECK(!left || (j->open && !j->over && left == j->theirs.len - j->got));
	CHECK(sdp_engine_srcavail_rx_reading(&j->e) == (j->reading && !j->over));
	CHECK(sdp_engine_srcavail_rx_read(&j->e) == (j->open && !j->over ? j->got : 0));
	if (bytes % 8 == 7) {
		sdp_engine_srcavail_decline(&j->e);
		CHECK(!sdp_engine_srcavail_rx_left(&j->e));
	} else if (j->reading) {
		sdp_engine_rdma_read_end(&j->e, bytes & 1);
		j->got += bytes & 1 ? j->reading : 0;
		j->unreported += bytes & 1 ? j->reading : 0;
		j->reading = 0;
	} else if (sdp_engine_rdma_read_begin(&j->e, bytes, &from)) {
		CHECK(bytes && bytes <= left && from.len == bytes && from.rkey == 1);
		CHECK(from.va == j->theirs.va + j->got);
		CHECK(from.va + from.len <= j->theirs.va + j->theirs.len);
		j->reading = bytes;
	} else {
		CHECK(!bytes || bytes > left);
	}
}

/* Advertise a buffer, cancel or drop buffers, or write into a buffer of the peer. */
static void look_at_buffers(struct judge *j, struct input *in, struct sdp_actions *acts)
{
	struct sdp_region region = { .rkey = 3, .va = 0x20000 };
	u32 what = byte(in), least = sdp_engine_may_sinkavail(&j->e);
	u32 room = sdp_engine_may_rdma_write(&j->e), bytes;

	CHECK(!least || (j->rx == SDP_MODE_PIPELINED && !j->ends && !j->over &&
			 j->n_buffers < (j->one ? 1 : SDP_SINKAVAILS_MAX) && !j->reading));
	CHECK(!room || (j->tx == SDP_MODE_PIPELINED && !j->disconn_sent && !j->over &&
			!j->next_mid && !j->written));
	if (what < 8) {
		sdp_engine_sinkavail_cancel(&j->e, acts);
	} else if (what < 12 && j->n_buffers && j->buffers[0].rest && !j->over) {
		sdp_engine_sinkavail_drop(&j->e, j->buffers[0].id);
		buffer_over(j, j->buffers[0].id);
		CHECK(sdp_engine_sinkavails_out(&j->e) == j->n_buffers);
	} else if (what < 16) {
		sdp_engine_want_pipelined(&j->e);
	} else if (what < 24) {
		sdp_engine_sinkavail_missed(&j->e);
		if (what & 1)
			sdp_engine_srcavail_unread(&j->e);
	} else if (what < 128) {
		struct buffer b = { .len = least + byte(in) };

		region.len = b.len;
		b.id = sdp_engine_sinkavail(&j->e, &region);
		CHECK(!b.id == !least);
		if (b.id)
			j->buffers[j->n_buffers++] = b;
	} else {
		bytes = what & 1 ? room : word(in);
		if (!sdp_engine_rdma_write(&j->e, bytes, &region)) {
			CHECK(!bytes || bytes > room);
			return;
		}
		CHECK(region.len == bytes && bytes <= room);
		j->written = bytes;
	}
}

static void event(struct judge *j, struct input *in)
{
	struct sdp_actions acts = { 0 };
	u16 n;

	switch (byte(in) % (FUZZ_RINGS ? 26 : 22)) {
	case 0:
		receive(j, in, true);
		break;
	case 1 ... 4:
		receive(j, in, false);
		break;
	case 5:
		post(j, number(in, 0, sdp_engine_receives_wanted(&j->e)));
		break;
	case 6:
		n = number(in, 0, j->on_the_way);
		j->on_the_way -= n;
		sdp_engine_sent(&j->e, n, &acts);
		break;
	case 7:
		sdp_engine_established(&j->e, &acts);
		break;
	case 8:
		sdp_engine_shutdown(&j->e);
		break;
	case 9:
		n = word(in) % SDP_BUFS_MAX;
		sdp_engine_set_target(&j->e, n, word(in));
		break;
	case 10:
		if (byte(in) < 16)
			sdp_engine_abort(&j->e, EIO, &acts);
		break;
	case 11:
		if (byte(in) < 32)
			sdp_engine_link_ended(&j->e, &acts);
		break;
	case 12:
		sdp_engine_split(&j->e, sdp_engine_payload_max(&j->e) + 1 + word(in));
		break;
	case 13:
		sdp_engine_shrink(&j->e);
		pump(j, in);
		sdp_engine_shrink_end(&j->e);
		break;
	case 14:
		sdp_engine_resize_refuse(&j->e);
		break;
	case 15:
		srcavail(j, in);
		break;
	case 16 ... 17:
		look_at_srcavail(j, in);
		break;
	case 18:
		sdp_engine_large_recv(&j->e);
		j->large = j->large || j->rx == SDP_MODE_BUFFERED;
		break;
	case 19 ... 21:
		look_at_buffers(j, in, &acts);
		break;
	case 22 ... 23:
		look_at_rings(j, in);
		break;
	case 24:
		sdp_engine_ring_full(&j->e);
		break;
	case 25:
		sdp_engine_ring_leave(&j->e);
		pump(j, in);
		sdp_engine_ring_stay(&j->e);
		break;
	}
	judge_actions(j, &acts, 0);
	pump(j, in);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { .p = data, .left = size };
	struct judge j = { 0 };

	if (!connect_engine(&j, &in))
		return 0;
	while (in.left)
		event(&j, &in);
	return 0;
}
