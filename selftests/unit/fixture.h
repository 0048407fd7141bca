/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of the engine tests: two connected engines and the messages of a peer.
 *
 * Some of these messages follow the protocol, others break it.
 */
#ifndef SDP_UNIT_FIXTURE_H
#define SDP_UNIT_FIXTURE_H

#include "engine.h"
#include "test.h"

#define RECV_SIZE	1536
#define PAYLOAD_MAX	(RECV_SIZE - SDP_BSDH_LEN)

/**
 * struct world - two engines and what the last event led to
 * @a: the connecting side
 * @b: the accepting side
 * @acts: actions of the last event
 * @msg: the last message received
 * @sent: the last message sent
 * @tx: the message that sdp_engine_next() allowed
 * @buf: header of the message that was built last
 */
struct world {
	struct sdp_engine a, b;
	struct sdp_actions acts;
	struct sdp_msg msg;
	struct sdp_msg sent;
	struct sdp_tx_msg tx;
	u8 buf[SDP_HEADER_MAX];
};

/* Static, because a kernel stack is small. Each test initializes it first. */
static struct world world;

static const struct sdp_engine_config usual = {
	.recv_size = RECV_SIZE, .recv_target = 12, .send_slots = 16,
};

static inline void make_engine(struct sdp_engine *e, u16 posted)
{
	sdp_engine_init(e, &usual);
	sdp_engine_posted(e, posted);
}

/* Hello has travelled from a to b. b has accepted it, but HelloAck is not sent yet. */
static inline struct world *hello_exchanged(TEST_CTX, u16 posted_a, u16 posted_b)
{
	struct world *w = &world;
	struct sdp_hello hello = { .ip_version = 4, .port = 1 };

	memset(w, 0, sizeof(*w));
	make_engine(&w->a, posted_a);
	make_engine(&w->b, posted_b);
	sdp_engine_hello(&w->a, &hello);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &hello));
	return w;
}

static inline void hello_answered(TEST_CTX, struct world *w)
{
	struct sdp_hello ack = { 0 };

	sdp_engine_hello_ack(&w->b, &ack);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	EXPECT_EQ(1, w->acts.n);
	EXPECT_EQ(SDP_ACT_ESTABLISHED, w->acts.list[0].kind);
}

/* A connection that is established on both sides. */
static inline struct world *connected_with(TEST_CTX, u16 posted_a, u16 posted_b)
{
	struct world *w = hello_exchanged(TEST_SELF, posted_a, posted_b);

	hello_answered(TEST_SELF, w);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_established(&w->b, &w->acts);
	EXPECT_EQ(1, w->acts.n);
	return w;
}

static inline struct world *connected(TEST_CTX)
{
	return connected_with(TEST_SELF, 12, 12);
}

/* Move the sequence numbers of a's messages up by @base. None may have been sent yet. */
static inline void start_at(struct world *w, u32 base)
{
	w->a.credit.tx_seq += base;
	w->a.credit.tx_acked += base;
	w->a.credit.tx_limit += base;
	w->a.sent_seq += base;
	w->a.partial_seq += base;
	w->b.credit.rx_seq += base;
	w->b.credit.rx_limit += base;
}

/* The next message of a correct peer of @e that has received all messages of @e. */
static inline struct sdp_msg from_peer(const struct sdp_engine *e, u8 mid, u32 payload)
{
	struct sdp_msg m = {
		.h = {
			.mid = mid, .bufs = (u16)sdp_credit_available(&e->credit),
			.mseq = e->credit.rx_seq + 1, .mseq_ack = e->credit.tx_seq,
		},
		.payload_len = payload,
	};

	return m;
}

/* Pass the bytes to an engine as its next message. */
static inline void receive_bytes(struct world *w, struct sdp_engine *to, const u8 *buf, u32 bytes)
{
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_receive(to, buf, bytes, &w->msg, &w->acts);
}

static inline void receive_msg(struct world *w, struct sdp_engine *to, const struct sdp_msg *m)
{
	u32 header = sdp_wire_build(w->buf, m);

	receive_bytes(w, to, w->buf, header + m->payload_len);
}

/* @to receives a message that is correct in its credits, sequence number and acknowledgment. */
static inline void receive_right(struct world *w, struct sdp_engine *to, u8 mid, u32 payload)
{
	struct sdp_msg m = from_peer(to, mid, payload);

	receive_msg(w, to, &m);
}

/* @from sends @mid, whether or not the other engine can take it. Returns the message's length. */
static inline u32 emit(struct world *w, struct sdp_engine *from, u8 mid, u32 payload)
{
	struct sdp_tx_msg tx = {
		.mid = mid, .payload_max = payload,
		.partial = mid == SDP_MID_DATA && payload < PAYLOAD_MAX,
	};

	return sdp_engine_commit(from, &tx, payload, w->buf, &w->sent) + payload;
}

/* @from sends a message. @to receives it and posts its receive again. */
static inline void pass(struct world *w, struct sdp_engine *from, struct sdp_engine *to, u8 mid,
			u32 payload)
{
	u32 bytes = emit(w, from, mid, payload);

	receive_bytes(w, to, w->buf, bytes);
	sdp_engine_posted(to, 1);
}

static inline void completed(struct world *w, struct sdp_engine *e, u16 n)
{
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_sent(e, n, &w->acts);
}

static inline void link_ended(struct world *w, struct sdp_engine *e)
{
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_link_ended(e, &w->acts);
}

static inline void aborted(struct world *w, struct sdp_engine *e, int error)
{
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_abort(e, error, &w->acts);
}

/* The last event led to exactly these actions. */
static inline void expect_acts(TEST_CTX, const struct world *w, u32 n, int first, int second)
{
	EXPECT_EQ(n, w->acts.n);
	if (n > 0)
		EXPECT_EQ(first, (int)w->acts.list[0].kind);
	if (n > 1)
		EXPECT_EQ(second, (int)w->acts.list[1].kind);
}

#define EXPECT_NO_ACTS(w)		expect_acts(TEST_SELF, w, 0, 0, 0)
#define EXPECT_ACT(w, a)		expect_acts(TEST_SELF, w, 1, a, 0)
#define EXPECT_ACTS(w, a, b)		expect_acts(TEST_SELF, w, 2, a, b)

/* The last event ended the connection with this error and this violation. */
static inline void expect_fail(TEST_CTX, const struct world *w, int error, enum sdp_violation what)
{
	const struct sdp_action *last;

	EXPECT_GE(w->acts.n, 1U);
	if (!w->acts.n)
		return;
	last = &w->acts.list[w->acts.n - 1];
	EXPECT_EQ(SDP_ACT_FAIL, last->kind);
	EXPECT_EQ(error, last->error);
	EXPECT_EQ(what, last->violation);
}

#define EXPECT_FAIL(w, error, what)	expect_fail(TEST_SELF, w, error, what)

#endif /* SDP_UNIT_FIXTURE_H */
