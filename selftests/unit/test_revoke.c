// SPDX-License-Identifier: GPL-2.0
/*
 * Send with Invalidate: the message that ends the use of the peer's memory revokes its key.
 *
 * Only if both ends have stated in their Hello that they can do this (wire section 4, Cap).
 */
#include "pipelining.h"

static const struct sdp_engine_config revocable = {
	.recv_size = RECV_SIZE, .recv_target = 12, .send_slots = 100, .mode_after = N,
	.revocable = true,
};

/* wire 4: both ends must state it. An end whose adapter cannot do it does not send it either. */
TEST(sdp_engine_hello__revocable)
{
	struct world *w = joined(TEST_SELF, &learning, &revocable);

	EXPECT_FALSE(w->a.may_revoke);
	EXPECT_FALSE(w->b.may_revoke);
	w = joined(TEST_SELF, &revocable, &learning);
	EXPECT_FALSE(w->a.may_revoke);
	EXPECT_FALSE(w->b.may_revoke);
	w = joined(TEST_SELF, &revocable, &revocable);
	EXPECT_TRUE(w->a.may_revoke);
	EXPECT_TRUE(w->b.may_revoke);
}

/* C4: the last report revokes the key, an earlier one does not. */
TEST(sdp_engine_commit__revokes_what_is_read)
{
	struct world *w = joined(TEST_SELF, &revocable, &revocable);
	struct sdp_region from;

	srcavail(TEST_SELF, w);
	EXPECT_EQ(0, w->sent.revoke);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 1, &from));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_EQ(0, w->sent.revoke);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST - 1, &from));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_EQ(region.rkey, w->sent.revoke);
}

/* B3: after SendSm the sink does not read any more. */
TEST(sdp_engine_commit__revokes_what_is_declined)
{
	struct world *w = joined(TEST_SELF, &revocable, &revocable);

	srcavail_declined(TEST_SELF, w, false);
	EXPECT_EQ(region.rkey, w->sent.revoke);
}

static struct world *written(TEST_CTX, const struct sdp_engine_config *sink)
{
	struct world *w = joined(TEST_SELF, &revocable, sink);
	struct sdp_region to;
	u32 i;

	for (i = 0; i < N; i++)
		srcavail_read(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_TRUE(sdp_engine_sinkavail(&w->b, &buffer));
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_EQ(0, w->sent.revoke);
	EXPECT_TRUE(sdp_engine_rdma_write(&w->a, 17, &to));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	return w;
}

/* C5, C7: a buffer ends with its report, however much was written. */
TEST(sdp_engine_commit__revokes_what_is_written)
{
	struct world *w = written(TEST_SELF, &revocable);

	EXPECT_EQ(buffer.rkey, w->sent.revoke);
}

/* wire 4: no key is revoked if one of the ends does not allow it. */
TEST(sdp_engine_commit__revokes_nothing)
{
	struct world *w = written(TEST_SELF, &learning);

	EXPECT_EQ(0, w->sent.revoke);
	w = joined(TEST_SELF, &learning, &revocable);
	srcavail_read(TEST_SELF, w, false);
	EXPECT_EQ(0, w->sent.revoke);
	srcavail_declined(TEST_SELF, w, false);
	EXPECT_EQ(0, w->sent.revoke);
}

TEST_MAIN
