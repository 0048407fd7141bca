/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring events and checks of fuzz_engine.c, used with FUZZ_RINGS.
 *
 * Both ends know rings, with any pair of schemes. For every input it checks:
 *
 * - A message goes right behind the last one, into the ring that the peer has advertised.
 * - By RDMA it does not go beyond the space that the peer has reported free.
 * - By NIC no more messages are in flight than the adapter may hold back.
 * - No message is accepted in our ring that overwrites unread bytes, or that ends beyond both
 *   mappings of the ring.
 * - A ring is made only on request, and advertised once.
 */
#ifndef SDP_UNIT_FUZZ_RINGS_H
#define SDP_UNIT_FUZZ_RINGS_H

#define RING_MAX	32768U

static void know_rings(struct sdp_engine_config *cfg, struct sdp_hello *theirs, struct input *in)
{
	u8 schemes = byte(in);

	cfg->ring_max = SDP_RING_SIZE_MIN << (schemes & 3);
	cfg->ring_max = min(cfg->ring_max, RING_MAX);
	cfg->ring_window = SDP_RING_WINDOW_MIN << (schemes >> 6);
	cfg->scheme = (schemes >> 2) % SDP_SCHEMES;
	theirs->rings = true;
	theirs->window = SDP_RING_WINDOW_MIN << (byte(in) & 3);
	theirs->scheme = (schemes >> 4) % SDP_SCHEMES;
}

static void judge_ring_wanted(struct judge *j, u32 len)
{
	CHECK(FUZZ_RINGS && !j->making && !j->next && len && len <= RING_MAX && len > j->size);
	j->making = len;
}

static void judge_ring_over(struct judge *j, u32 left)
{
	CHECK(FUZZ_RINGS && left <= 1 && (!left || j->next));
	j->size = left ? j->next : 0;
	j->next = 0;
	j->came = 0;
	j->read = 0;
}

/* Check a sent message against both rings: the ring requests, and its place in the peer's ring. */
static void judge_ring_sent(struct judge *j, const struct sdp_msg *sent, u32 credit)
{
	const struct sdp_ring_place *to = &sent->to;
	u32 window = j->e.ring_out.window;

	CHECK(FUZZ_RINGS || !to->rkey);
	if (sdp_engine_by_nic(&j->e) && (to->rkey || !credit)) {
		u32 windows = j->ring.len / window;

		CHECK(j->on_the_way <= (windows ? (windows - 1) / 2 : SDP_RING_PIPE_FIRST));
		CHECK(sent->h.mid != SDP_MID_SRC_AVAIL && sent->h.mid != SDP_MID_SINK_AVAIL);
	}
	if (sent->h.mid == SDP_MID_RING_AVAIL) {
		CHECK(j->ring_answers++ < j->ring_asks);
		CHECK(sent->ring.len == j->next);
	} else if (sent->h.mid == SDP_MID_RING_ASK) {
		CHECK(!j->asks && sent->size <= RING_MAX);
		CHECK(sent->size ? sent->size > j->ring.len : j->ring.len);
		j->asks = sent->size;
		if (!sent->size)
			j->ring.len = 0;
	}
	if (!to->rkey)
		return;
	CHECK(j->ring.len && to->rkey == j->ring.rkey && sent->h.mid == SDP_MID_DATA);
	CHECK(sent->payload_len && to->va == j->ring.va + (j->head & (j->ring.len - 1)));
	CHECK((to->imm & 0xfffff) == sent->h.len);
	j->head += sent->h.len;
	if (sdp_engine_by_nic(&j->e))
		CHECK(sent->h.len <= window);
	else
		CHECK(j->head - j->freed <= j->ring.len);
}

static void fill_in_ring(const struct judge *j, struct sdp_msg *m, u8 choice)
{
	if (m->h.mid == SDP_MID_RING_ASK) {
		m->size = choice & 1 ? SDP_RING_SIZE_MIN << (choice >> 1 & 7) : choice >> 1;
		return;
	}
	m->ring.len = choice & 1 ? j->e.ring_out.ask >> (choice >> 1 & 1) : choice >> 1;
	m->ring.rkey = 5;
	m->ring.va = choice & 0x80 ? ~0ULL - choice : 0x100000;
}

/*
 * Decide whether the message arrives in our ring, and ask the engine for its place. The place must
 * be behind all unread bytes and inside the two mappings. The engine may refuse the message; the
 * connection has failed then. Returns true when the message goes into the ring.
 */
static bool place(struct judge *j, struct input *in, u32 bytes)
{
	const struct sdp_ring_in *ring = &j->e.ring_in;
	struct sdp_actions acts = { 0 };
	u8 choice = byte(in);
	u32 imm, at, n;
	bool odd = ring->odd != (ring->shown && choice & 4);

	if (!(choice & 1) || !j->e.credit.posted || j->e.dead)
		return false;
	imm = (odd ? 0x80000000U : 0) | bytes;
	if (choice & 2)
		imm = (u32)word(in) << 16 | word(in);
	j->placed = true;
	if (sdp_engine_ring_place(&j->e, imm, &at, &n, &acts)) {
		judge_actions(j, &acts, 0);
		CHECK(j->over);
		return true;
	}
	judge_actions(j, &acts, 0);
	CHECK(j->size && at == (j->came & (j->size - 1)) && n == (imm & 0xfffff));
	CHECK(n > SDP_BSDH_LEN && at + n <= 2 * j->size);
	j->came += n;
	CHECK(j->came - j->read <= j->size);
	return true;
}

/* Account for a message about rings that the engine has accepted. */
static void note_ring(struct judge *j, const struct sdp_msg *msg)
{
	if (msg->h.flags & SDP_FLAG_FREED && j->ring.len)
		j->freed = msg->freed;
	if (msg->h.mid == SDP_MID_RING_ASK && msg->size)
		j->ring_asks++;
	if (msg->h.mid != SDP_MID_RING_AVAIL)
		return;
	CHECK(j->asks);
	j->asks = false;
	if (!msg->ring.len)
		return;
	CHECK(msg->ring.len > j->ring.len && msg->ring.len <= RING_MAX);
	j->ring = msg->ring;
	j->head = 0;
	j->freed = 0;
}

/* Make the ring that the peer has asked for, refuse it, or read from our ring. */
static void look_at_rings(struct judge *j, struct input *in)
{
	struct sdp_region ring = { .rkey = 6, .va = 0x200000 };
	u8 choice = byte(in);

	if (j->making && choice & 1) {
		ring.len = choice & 2 ? 0 : j->making >> (choice >> 2 & 1);
		sdp_engine_ring_made(&j->e, &ring);
		j->next = j->e.ring_in.next.len;
		CHECK(!j->next || j->next == ring.len);
		j->making = 0;
	} else {
		u32 n = min((u32)choice * 32, j->came - j->read);

		j->read += n;
		sdp_engine_ring_read(&j->e, n);
	}
}

#endif /* SDP_UNIT_FUZZ_RINGS_H */
