// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the codec of messages, Hello and HelloAck.
 *
 * Everything that is accepted must be the same after it is built and parsed again. Nothing outside
 * the received bytes may be read (ASan checks this).
 *
 * The first byte of an input selects the kind of the rest: 0 a message as it is, 1 a message whose
 * Len is corrected to pass the first check, 2 a Hello, 3 a HelloAck.
 */
#include <stdlib.h>

#include "fuzz_check.h"
#include "wire_rails.h"

static void check_accepted(const struct sdp_msg *m, u32 bytes)
{
	CHECK(m->h.len == bytes);
	CHECK(m->payload + m->payload_len == bytes);
	CHECK(m->payload == sdp_wire_msg_header_len(&m->h));
	CHECK(m->h.bufs <= SDP_BUFS_MAX);
	CHECK(!m->payload_len || m->h.mid >= SDP_MID_SINK_AVAIL);
	CHECK(!(m->h.flags & ~(SDP_FLAGS_ALL | SDP_FLAG_FREED | SDP_FLAG_KEYS)));
	CHECK(!(m->h.flags & SDP_FLAG_FREED) || m->h.mid == SDP_MID_DATA);
	CHECK(!(m->h.flags & SDP_FLAG_KEYS) || m->h.mid == SDP_MID_SRC_AVAIL);
	CHECK(!(m->h.flags & SDP_FLAG_OOB_PRES) || (m->h.mid == SDP_MID_DATA && m->payload_len));
}

/* A sender writes zeros to these bytes, and a receiver ignores them. */
static void clear_reserved(u8 *data, const struct sdp_bsdh *h)
{
	if (h->mid == SDP_MID_MODE_CHANGE)
		memset(data + SDP_BSDH_LEN + 1, 0, 3);
	if (h->flags & SDP_FLAG_KEYS)
		memset(data + SDP_BSDH_LEN + SDP_REGION_LEN + 1, 0, 3);
}

static void fuzz_message(u8 *data, u32 bytes)
{
	struct sdp_msg first, second;
	u8 again[SDP_HEADER_MAX];
	u32 header;

	if (sdp_wire_parse(data, bytes, &first))
		return;
	check_accepted(&first, bytes);
	header = sdp_wire_build(again, &first);
	CHECK(header == first.payload);
	clear_reserved(data, &first.h);
	CHECK(!memcmp(data, again, header));
	CHECK(sdp_wire_parse(again, bytes, &second) == SDP_VALID);
	CHECK(!memcmp(&first, &second, sizeof(first)));
}

static void check_hello(const struct sdp_hello *h)
{
	CHECK(h->bufs >= SDP_HELLO_BUFS_MIN && h->bufs <= SDP_BUFS_MAX);
	CHECK(h->recv_size >= SDP_RECV_SIZE_MIN && h->recv_size <= SDP_RECV_SIZE_MAX);
	CHECK(h->version >> 4 == SDP_VERSION_MAJOR && h->max_adverts);
}

static void fuzz_hello(const u8 *data, u32 bytes)
{
	struct sdp_hello first, second;
	u8 again[SDP_HELLO_LEN];

	if (sdp_hello_parse(data, bytes, &first))
		return;
	check_hello(&first);
	CHECK(first.port && (first.ip_version == 4 || first.ip_version == 6));
	sdp_hello_build(again, &first);
	CHECK(sdp_hello_parse(again, sizeof(again), &second) == SDP_VALID);
	CHECK(!memcmp(&first, &second, sizeof(first)));
}

static void fuzz_hello_ack(const u8 *data, u32 bytes)
{
	struct sdp_hello first, second;
	u8 again[SDP_HELLO_ACK_LEN];

	if (sdp_hello_ack_parse(data, bytes, &first))
		return;
	check_hello(&first);
	sdp_hello_ack_build(again, &first);
	CHECK(sdp_hello_ack_parse(again, sizeof(again), &second) == SDP_VALID);
	CHECK(!memcmp(&first, &second, sizeof(first)));
}

static void fuzz_rail_msg(const u8 *data, u32 bytes)
{
	struct sdp_rail_msg first, second;
	u8 again[SDP_RAIL_MSG_MAX];

	if (bytes < SDP_BSDH_LEN || bytes > SDP_RAIL_MSG_MAX || !sdp_mid_is_rails(data[0]) ||
	    sdp_rail_msg_parse(data, bytes, &first))
		return;
	CHECK(sdp_rail_msg_build(again, &first) == bytes);
	CHECK(sdp_rail_msg_parse(again, bytes, &second) == SDP_VALID);
	CHECK(!memcmp(&first, &second, sizeof(first)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 bytes = (u32)size - 1;
	u8 *exact;

	if (!size)
		return 0;
	/* A buffer of exactly this length, so that ASan sees a read beyond it. */
	exact = malloc(bytes ? bytes : 1);
	if (!exact)
		return 0;
	memcpy(exact, data + 1, bytes);
	switch (data[0] & 3) {
	case 1:
		if (bytes >= 8) {
			exact[4] = 0;
			exact[5] = bytes >> 16 & 0xff;
			exact[6] = bytes >> 8 & 0xff;
			exact[7] = bytes & 0xff;
		}
		/* fall through */
	case 0:
		fuzz_message(exact, bytes);
		fuzz_rail_msg(exact, bytes);
		break;
	case 2:
		fuzz_hello(exact, bytes);
		break;
	case 3:
		fuzz_hello_ack(exact, bytes);
		break;
	}
	free(exact);
	return 0;
}
