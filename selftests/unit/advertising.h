/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of the SrcAvail tests: engine a is the source, engine b the sink.
 */
#ifndef SDP_UNIT_ADVERTISING_H
#define SDP_UNIT_ADVERTISING_H

#include "resizing.h"

#define LEN		1000U
#define INLINED		100U
#define REST		(LEN - INLINED)

static const struct sdp_region region = {
	.len = LEN, .rkey = 0x0a0b0c0d, .va = 0x0123456789abcdefULL,
};

/*
 * Commit the message that next_mid() has found, with all the payload that it may carry. Returns its
 * length.
 */
static inline u32 emit_srcavail_arrived(struct world *w, struct sdp_engine *from)
{
	u32 payload = w->tx.payload_max;

	return sdp_engine_commit(from, &w->tx, payload, w->buf, &w->sent) + payload;
}

/*
 * @from sends the message that it has ready, which must be @mid. @to receives it and posts its
 * receive again.
 */
static inline void tell(TEST_CTX, struct world *w, struct sdp_engine *from, struct sdp_engine *to,
			u8 mid)
{
	EXPECT_EQ(mid, next_mid(w, from));
	receive_bytes(w, to, w->buf, emit_srcavail_arrived(w, from));
	sdp_engine_posted(to, 1);
}

/* A connection on which a has sent a SrcAvail and b has received it. */
static inline struct world *advertised(TEST_CTX)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	return w;
}

/* @to receives a RdmaRdCompl of @count bytes, as a peer could send it. */
static inline void report(struct world *w, struct sdp_engine *to, u32 count)
{
	struct sdp_msg m = from_peer(to, SDP_MID_RDMA_RD_COMPL, 0);

	m.count = count;
	receive_msg(w, to, &m);
	sdp_engine_posted(to, 1);
}

/* The last event led to exactly one action, with @bytes as its length. */
#define EXPECT_ACT_LEN(w, a, bytes)						\
	do {									\
		EXPECT_ACT(w, a);						\
		EXPECT_EQ(bytes, (w)->acts.list[0].len);			\
	} while (0)

#endif /* SDP_UNIT_ADVERTISING_H */
