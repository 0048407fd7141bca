/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of the resize tests: two engines whose receives may grow.
 *
 * The helpers pass the messages of a resize from one engine to the other.
 */
#ifndef SDP_UNIT_RESIZING_H
#define SDP_UNIT_RESIZING_H

#include "fixture.h"

#define PAGES(n)	(SDP_BSDH_LEN + (n) * 4096U)
#define LARGEST		PAGES(3)
#define LEVEL		3
#define POSTED		5

static const struct sdp_engine_config growing = {
	.recv_size = RECV_SIZE, .recv_size_max = LARGEST, .split_level = LEVEL,
	.recv_target = 12, .send_slots = 100,
};

static const struct sdp_tx_view nothing;

static inline struct world *joined(TEST_CTX, const struct sdp_engine_config *a,
				   const struct sdp_engine_config *b)
{
	struct world *w = &world;
	struct sdp_hello hello = { .ip_version = 4, .port = 1 };

	memset(w, 0, sizeof(*w));
	sdp_engine_init(&w->a, a);
	sdp_engine_init(&w->b, b);
	sdp_engine_posted(&w->a, POSTED);
	sdp_engine_posted(&w->b, POSTED);
	sdp_engine_hello(&w->a, &hello);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &hello));
	hello_answered(TEST_SELF, w);
	sdp_engine_established(&w->b, &w->acts);
	return w;
}

/* MID that an engine sends if the application has nothing to send; 0 for none. */
static inline u8 next_mid(struct world *w, const struct sdp_engine *e)
{
	return sdp_engine_next(e, &nothing, &w->tx) == SDP_NEXT_SEND ? w->tx.mid : 0;
}

/* @from sends a message to @to. The receive that it uses is not posted again. */
static inline void use_up(struct world *w, struct sdp_engine *from, struct sdp_engine *to, u8 mid,
			  u32 payload)
{
	u32 bytes = emit(w, from, mid, payload);

	receive_bytes(w, to, w->buf, bytes);
}

/*
 * @from sends the message that it has ready, which must be @mid. @to receives it and posts its
 * receive again. Returns the size in the message.
 */
static inline u32 say(TEST_CTX, struct world *w, struct sdp_engine *from, struct sdp_engine *to,
		      u8 mid)
{
	EXPECT_EQ(mid, next_mid(w, from));
	pass(w, from, to, mid, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(mid, w->msg.h.mid);
	EXPECT_EQ(w->sent.size, w->msg.size);
	return w->msg.size;
}

static inline void split(struct sdp_engine *e, u32 n, u32 bytes)
{
	while (n--)
		sdp_engine_split(e, bytes);
}

/* @to receives a message about sizes, as a peer could send it. */
static inline void foreign(struct world *w, struct sdp_engine *to, u8 mid, u32 size)
{
	struct sdp_msg m = from_peer(to, mid, 0);

	m.size = size;
	receive_msg(w, to, &m);
	sdp_engine_posted(to, 1);
}

/* @from asks for receives that hold a write of @bytes. The older receives of @to stay posted. */
static inline void ask(TEST_CTX, struct world *w, struct sdp_engine *from, struct sdp_engine *to,
		       u32 bytes)
{
	split(from, LEVEL, bytes);
	say(TEST_SELF, w, from, to, SDP_MID_CHRCVBUF);
}

/* Use up the receives that were posted before a request. The request itself has used one. */
static inline void use_up_old(struct world *w, struct sdp_engine *from, struct sdp_engine *to)
{
	u32 i;

	for (i = 0; i < POSTED - 1; i++)
		pass(w, from, to, SDP_MID_DATA, 0);
}

/* A connection on which a may send messages with up to @bytes of payload. */
static inline struct world *grown(TEST_CTX, u32 bytes)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, bytes);
	use_up_old(w, &w->a, &w->b);
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	EXPECT_LE(SDP_BSDH_LEN + bytes, w->a.resize.send_size);
	return w;
}

/* Such a connection after a time without data: a asks for the first size, and b receives that. */
static inline struct world *shrinking(TEST_CTX)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	sdp_engine_shrink_end(&w->a);
	return w;
}

#endif /* SDP_UNIT_RESIZING_H */
