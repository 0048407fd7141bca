/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of the mode and Pipelined tests: engine a is the source, engine b the sink.
 *
 * The reader of b supplies its buffers before anything is written.
 */
#ifndef SDP_UNIT_PIPELINING_H
#define SDP_UNIT_PIPELINING_H

#include "advertising.h"

#define N		3

static const struct sdp_engine_config learning = {
	.recv_size = RECV_SIZE, .recv_target = 12, .send_slots = 100, .mode_after = N,
};

static const struct sdp_region buffer = {
	.len = 4000, .rkey = 0x01020304, .va = 0x1122334455667788ULL,
};

static inline struct world *learners(TEST_CTX)
{
	return joined(TEST_SELF, &learning, &learning);
}

/* @to receives a ModeChange, as a peer could send it. @byte: byte 0 of its extended header. */
static inline void change(struct world *w, struct sdp_engine *to, u8 byte)
{
	struct sdp_msg m = from_peer(to, SDP_MID_MODE_CHANGE, 0);

	m.mode = byte >> 4 & 7;
	m.mode_send_half = byte >> 7;
	receive_msg(w, to, &m);
	sdp_engine_posted(to, 1);
}

/* a sends a SrcAvail as its mode requires, and b receives it. */
static inline void srcavail(TEST_CTX, struct world *w)
{
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	sdp_engine_srcavail(&w->a, &region, min(INLINED, sdp_engine_srcavail_inline_max(&w->a)));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
}

/* a sends a SrcAvail, and b reads all of it. @pipe: the answer has REQ_PIPE. */
static inline void srcavail_read(TEST_CTX, struct world *w, bool pipe)
{
	struct sdp_region from;

	srcavail(TEST_SELF, w);
	if (pipe)
		sdp_engine_want_pipelined(&w->b);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, sdp_engine_srcavail_rx_left(&w->b), &from));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
}

/* a sends a SrcAvail, and b declines it. @pipe: the answer has REQ_PIPE. */
static inline void srcavail_declined(TEST_CTX, struct world *w, bool pipe)
{
	srcavail(TEST_SELF, w);
	if (pipe)
		sdp_engine_want_pipelined(&w->b);
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	EXPECT_ACT(w, SDP_ACT_SRCAVAIL_OVER);
}

/* Both ends of a's sending half are in this mode. */
static inline void expect_mode(TEST_CTX, const struct world *w, u8 mode)
{
	EXPECT_EQ(mode, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(mode, sdp_engine_rx_mode(&w->b));
}

/* A connection with a's sending half in Pipelined at both ends, and all receives posted again. */
static inline struct world *pipelined(TEST_CTX)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++)
		srcavail_read(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
	return w;
}

/* A reader of b supplies a buffer. SinkAvail is not sent yet. Returns the buffer's id. */
static inline u32 post_buffer(TEST_CTX, struct world *w)
{
	u32 id = sdp_engine_sinkavail(&w->b, &buffer);

	EXPECT_NE(0, id);
	return id;
}

/* A reader of b supplies a buffer, and a receives the SinkAvail. Returns the buffer's id. */
static inline u32 posted_buffer(TEST_CTX, struct world *w)
{
	u32 id = post_buffer(TEST_SELF, w);

	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	return id;
}

/* a writes @bytes into b's oldest buffer, and has not sent RdmaWrCompl yet. */
static inline void write_bytes(TEST_CTX, struct world *w, u32 bytes)
{
	struct sdp_region to;

	EXPECT_TRUE(sdp_engine_rdma_write(&w->a, bytes, &to));
	EXPECT_EQ(bytes, to.len);
	EXPECT_EQ(buffer.rkey, to.rkey);
	EXPECT_EQ(buffer.va, to.va);
}

/* The last event ended exactly @n buffers with SDP_ACT_SINKAVAIL_OVER, ids @first and up. */
static inline void expect_over(TEST_CTX, const struct world *w, u32 n, u32 first)
{
	u32 i;

	EXPECT_EQ(n, w->acts.n);
	for (i = 0; i < n && i < w->acts.n; i++) {
		EXPECT_EQ(SDP_ACT_SINKAVAIL_OVER, (int)w->acts.list[i].kind);
		EXPECT_EQ(first + i, w->acts.list[i].id);
	}
}

#define EXPECT_WRITTEN(w, which, bytes)						\
	do {									\
		EXPECT_ACT_LEN(w, SDP_ACT_SINKAVAIL_WRITTEN, bytes);			\
		EXPECT_EQ(which, (w)->acts.list[0].id);				\
	} while (0)

/* A message in flight: sent by one engine now, received by the other one later. */
struct flying {
	u8 header[SDP_HEADER_MAX];
	u32 bytes;
};

/* @from sends the message that it has ready, which must be @mid, with all the payload allowed. */
static inline struct flying launch(TEST_CTX, struct world *w, struct sdp_engine *from, u8 mid)
{
	struct flying f;

	EXPECT_EQ(mid, next_mid(w, from));
	f.bytes = emit_srcavail_arrived(w, from);
	memcpy(f.header, w->buf, sizeof(f.header));
	return f;
}

static inline struct flying launch_data(struct world *w, struct sdp_engine *from, u32 payload)
{
	struct flying f = { .bytes = emit(w, from, SDP_MID_DATA, payload) };

	memcpy(f.header, w->buf, sizeof(f.header));
	return f;
}

static inline void land(struct world *w, struct sdp_engine *to, const struct flying *f)
{
	receive_bytes(w, to, f->header, f->bytes);
	sdp_engine_posted(to, 1);
}

#endif /* SDP_UNIT_PIPELINING_H */
