// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzing the engine: an owner that keeps its rules, and a peer that keeps none.
 *
 * An input is a list of events; messages are either bytes as they stand in the input or
 * ones whose header is made acceptable, so that the fuzzer gets deep. What must hold
 * whatever the peer says: at most three actions; payload inside the message; one end of
 * stream and nothing after it; never a message without credit, or longer than the peer said
 * last; answers only to requests, and only what every posted receive has; one request at a
 * time; silence after the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define CHECK(what)								\
	do {									\
		if (!(what)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();						\
		}								\
	} while (0)

#define RECV_SIZE	256
#define RECV_SIZE_MAX	4500	/* what it may grow to */
#define SLOTS		5

/* Sizes of the receives posted, by their number. */
static u16 receives[SDP_BUFS_MAX];

/* The input, read from its front; zeros when it is used up. */
struct input {
	const u8 *p;
	size_t left;
};

struct judge {
	struct sdp_engine e;
	u32 on_the_way;		/* sent and not completed */
	u32 posted;		/* receives, ever */
	u32 requests;		/* ChRcvBuf received */
	u32 answers;		/* ... and answered */
	u32 asked;		/* ChRcvBuf sent */
	u32 may_ask;		/* ... at most */
	u32 most;		/* no message may be longer */
	u32 established;
	u32 ends;		/* of the stream */
	u32 disconnects;
	bool disconn_sent;
	bool over;
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

/* From @low up to @high; min() would take two bytes for one. */
static u16 number(struct input *in, u32 low, u32 high)
{
	u32 n = low + byte(in);

	return (u16)min(n, high);
}

static void judge_actions(struct judge *j, const struct sdp_actions *acts, u32 bytes)
{
	CHECK(acts->n <= 3);
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
			CHECK(a->offset + a->len == bytes && bytes <= RECV_SIZE_MAX);
			break;
		case SDP_ACT_URGENT:
			CHECK(j->established && !j->ends);
			break;
		case SDP_ACT_EOF:
			CHECK(j->established && !j->ends++);
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

/* What is sent about sizes keeps to what is so. */
static void judge_resize(struct judge *j, const struct sdp_msg *sent)
{
	CHECK(sent->h.len <= j->most);
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

/* An answer allows a request, and so does one of the peer's, which may have made ours void. */
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

/* Let it send what it likes to. */
static void pump(struct judge *j, struct input *in)
{
	struct sdp_tx_view view = { .head_bytes = byte(in) };
	struct sdp_tx_msg tx;
	u8 flags = byte(in);

	view.head_full = flags & 1;
	view.hold = flags & 2;
	view.urgent = flags & 4;
	view.head_urgent = view.urgent && view.head_full && flags & 8;
	while (sdp_engine_next(&j->e, &view, &tx) == SDP_NEXT_SEND) {
		u32 credit = sdp_credit_available(&j->e.credit);
		u32 payload = min(view.head_bytes, tx.payload_max);
		struct sdp_msg sent, seen;
		u8 buf[SDP_HEADER_MAX];
		u32 header = sdp_engine_commit(&j->e, &tx, payload, buf, &sent);

		CHECK(j->established && !j->over && j->on_the_way++ < SLOTS);
		CHECK(credit >= 1 && credit <= 0x10000);
		CHECK(credit >= 2 || (tx.mid == SDP_MID_DATA && !payload));
		CHECK(!j->disconn_sent || !payload);
		CHECK(!(sent.h.flags & SDP_FLAG_OOB_PEND) == !view.urgent);
		CHECK(!(sent.h.flags & SDP_FLAG_OOB_PRES) ||
		      (view.head_urgent && payload && payload == view.head_bytes));
		CHECK(sdp_wire_parse(buf, header + payload, &seen) == SDP_VALID);
		CHECK(!memcmp(&seen.h, &sent.h, sizeof(seen.h)));
		judge_resize(j, &sent);
		if (tx.mid == SDP_MID_DISCONN) {
			CHECK(!j->disconn_sent);
			j->disconn_sent = true;
		}
		if (payload)
			view.head_bytes = 0;
	}
}

/* A message: raw, or with the counts that the engine expects and a choice of the rest. */
static void receive(struct judge *j, struct input *in, bool raw)
{
	struct sdp_actions acts = { 0 };
	const struct sdp_credit *c = &j->e.credit;
	struct sdp_msg msg, m = { 0 };
	u8 buf[RECV_SIZE_MAX + 1024] = { 0 };
	u32 bytes;

	if (raw) {
		bytes = byte(in);
		for (u32 i = 0; i < bytes; i++)
			buf[i] = byte(in);
	} else {
		u8 mid = byte(in), choice = byte(in);

		m.h.mid = mid & 0x80 ? SDP_MID_DATA : mid & 0x0f;
		m.h.flags = choice & 0x20 ? byte(in) : 0;
		m.payload_len = choice & 0x10 ? byte(in) + (choice & 0x0f) : 0;
		m.payload_len *= choice & 0x80 ? 20 : 1;
		if (m.h.mid == SDP_MID_CHRCVBUF || m.h.mid == SDP_MID_CHRCVBUF_ACK)
			m.size = SDP_RECV_SIZE_MIN + word(in) % (RECV_SIZE_MAX + 100);
		m.h.mseq = c->rx_seq + 1;
		m.h.mseq_ack = choice & 0x40 ? c->tx_seq : c->tx_acked;
		m.h.bufs = (u16)(c->tx_limit - m.h.mseq_ack + (choice & 0x0f));
		if (!sdp_wire_header_len(m.h.mid))
			m.h.mid = SDP_MID_DISCONN;
		bytes = sdp_wire_build(buf, &m) + m.payload_len;
	}
	sdp_engine_receive(&j->e, buf, bytes, &msg, &acts);
	judge_actions(j, &acts, bytes);
	if (!j->over)
		note_resize(j, &msg);
}

static bool connect_engine(struct judge *j, struct input *in)
{
	struct sdp_engine_config cfg = {
		.recv_size = RECV_SIZE, .recv_target = byte(in), .threshold = byte(in),
		.recv_size_max = byte(in) & 1 ? RECV_SIZE_MAX : 0, .split_level = 1,
		.send_slots = SLOTS,
	};
	struct sdp_hello ours = { .ip_version = 4, .port = 1 }, theirs = {
		.bufs = SDP_HELLO_BUFS_MIN + byte(in), .recv_size = SDP_RECV_SIZE_MIN + byte(in),
		.max_adverts = 1,
	};
	struct sdp_actions acts = { 0 };
	bool active = byte(in) & 1;

	sdp_engine_init(&j->e, &cfg);
	post(j, number(in, 2, sdp_engine_receives_wanted(&j->e)));
	j->most = theirs.recv_size;
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

static void event(struct judge *j, struct input *in)
{
	struct sdp_actions acts = { 0 };
	u16 n;

	switch (byte(in) % 15) {
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
