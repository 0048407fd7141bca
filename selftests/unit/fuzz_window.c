// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: both halves of a connection by datagrams, with a hostile peer (I1 to I4), and
 * the codec of datagrams.
 *
 * Bit 1 of the first byte of an input is set if the rest is a datagram. What is accepted must be
 * the same after it is built again. Otherwise the rest is what the peer sends and what happens here
 * meanwhile, and bit 0 says whether the numbers of packets wrap soon. Each byte is something that
 * happens; behind 0xff follows the header of a datagram. Its numbers count from our window on, or
 * nearly no input would meet it.
 */
#include <stdlib.h>

#include "fuzz_check.h"
#include "opening.h"
#include "window.h"

/* The body of a datagram that opens a connection. A receiver ignores the bytes that are zero. */
static void check_body(enum sdp_datagram_type type, const u8 *body)
{
	u8 again[SDP_OPEN_ACK_LEN], want[SDP_OPEN_ACK_LEN];
	enum sdp_open_reject why;
	struct sdp_open o;
	u16 size;

	if (type == SDP_DATAGRAM_OPEN && !sdp_open_parse(body, &o)) {
		sdp_open_build(again, &o);
		memcpy(want, body, 32);
		memset(want + 26, 0, 2);
		CHECK(!memcmp(want, again, 32));
	} else if (type == SDP_DATAGRAM_OPEN_ACK && !sdp_open_ack_parse(body, &size)) {
		sdp_open_ack_build(again, size);
		CHECK(!memcmp(body, again, 2));
	} else if (type == SDP_DATAGRAM_OPEN_REJECT && !sdp_open_reject_parse(body, &why)) {
		sdp_open_reject_build(again, why);
		CHECK(!memcmp(body, again, 2));
	}
}

static void check_datagram(const u8 *data, u32 bytes)
{
	u8 again[SDP_DATAGRAM_LEN];
	struct sdp_datagram d;
	/* A buffer of exactly this length, so that ASan sees a read beyond it. */
	u8 *exact = malloc(bytes ? bytes : 1);

	memcpy(exact, data, bytes);
	if (!sdp_datagram_parse(exact, bytes, &d)) {
		sdp_datagram_build(again, &d);
		CHECK(!memcmp(exact, again, sizeof(again)));
		check_body(d.type, exact + SDP_DATAGRAM_LEN);
	}
	free(exact);
}

static struct sdp_window w;
static u32 now, passed_on;

static void check_tx(void)
{
	CHECK(w.tx.sent - w.tx.acked <= w.tx.top - w.tx.acked);
	CHECK(w.tx.top - w.tx.acked <= w.tx.next - w.tx.acked);
	CHECK(w.tx.next - w.tx.acked <= SDP_WINDOW_CONNECTING);
	CHECK(w.tx.theirs && w.tx.theirs <= SDP_WINDOW_CONNECTING);
	CHECK(w.tx.congestion.packets && w.tx.congestion.packets <= SDP_WINDOW_CONNECTING);
	CHECK(sdp_rto_us(&w.tx.rto) >= SDP_RTO_MIN_US && sdp_rto_us(&w.tx.rto) <= SDP_RTO_MAX_US);
	/* Something may be sent, is on the way, or there is nothing. */
	CHECK(sdp_window_tx_may_send(&w.tx) || w.tx.acked != w.tx.top || w.tx.acked == w.tx.next);
}

static void check_rx(void)
{
	CHECK(w.rx.chunk.arrived < SDP_CHUNK_PACKETS_MAX && !sdp_chunk_whole(&w.rx.chunk));
	CHECK(sdp_window_rx_ack(&w.rx) - w.rx.next < SDP_CHUNK_PACKETS_MAX);
	CHECK(w.rx.next == passed_on);
}

/* A datagram from the peer. Returns false when it ends the connection. */
static bool hear(const struct sdp_datagram *d)
{
	struct sdp_window before = w;
	enum sdp_packet what = sdp_window_arrived(&w, d, d->to & 1, now);

	if (what == SDP_PACKET_WHOLE) {
		CHECK(d->seq == before.rx.next && w.rx.next == before.rx.next + d->packets);
		passed_on += d->packets;
	}
	CHECK((what == SDP_PACKET_NONE) == (d->type != SDP_DATAGRAM_DATA) ||
	      what == SDP_PACKET_WRONG || what == SDP_PACKET_BAD_ACK);
	return what != SDP_PACKET_WRONG && what != SDP_PACKET_BAD_ACK;
}

/* Sends one datagram, if there is one. Its message begins with it. */
static void speak(void)
{
	enum sdp_datagram_type type;
	struct sdp_datagram d;
	u8 buf[SDP_DATAGRAM_LEN];
	u32 packets;

	if (!sdp_window_next(&w, now, &type))
		return;
	packets = min(w.tx.next - w.tx.sent, (u32)SDP_CHUNK_PACKETS_MAX);
	if (type == SDP_DATAGRAM_DATA)
		sdp_window_packet(&w, &d, w.tx.sent, packets, now);
	else
		sdp_window_control(&w, &d, type, now);
	sdp_datagram_build(buf, &d);
	CHECK(sdp_datagram_parse(buf, sizeof(buf) + (type == SDP_DATAGRAM_DATA), &d) == SDP_VALID);
	CHECK(!sdp_window_next(&w, now, &type) || type != SDP_DATAGRAM_ACK);
}

/* What happens here. Returns false at the end of the connection. */
static bool happen(u8 what)
{
	u32 packets = what % SDP_CHUNK_PACKETS_MAX + 1;

	switch (what >> 6) {
	case 0:
	case 1:
		if (sdp_window_tx_may_add(&w.tx, packets))
			sdp_window_tx_add(&w.tx, packets);
		return true;
	case 2:
		for (; packets; packets--)
			speak();
		return true;
	default:
		now += (u32)(what & 63) << 12;
		return sdp_window_expired(&w, now);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct sdp_window_config c = {
		.tx_window = SDP_WINDOW_CONNECTING, .their_window = SDP_WINDOW_CONNECTING,
		.rx_window = SDP_WINDOW_ACCEPTING, .retries = 7,
	};
	struct sdp_datagram d;
	const u8 *header;
	bool more = true;
	u32 base;
	size_t at = 1;

	if (!size)
		return 0;
	if (data[0] & 2) {
		check_datagram(data + 1, (u32)size - 1);
		return 0;
	}
	base = data[0] & 1 ? 0xffffffe0U : 1000;
	now = base;
	passed_on = base;
	c.tx_seq = base;
	c.rx_seq = base;
	sdp_window_init(&w, &c);
	while (more && at < size) {
		if (data[at] != 0xff) {
			more = happen(data[at++]);
		} else {
			header = data + at + 1;
			at += 1 + SDP_DATAGRAM_LEN;
			/* Data has a packet. */
			if (at > size ||
			    sdp_datagram_parse(header, SDP_DATAGRAM_LEN + !(*header & 15), &d))
				continue;
			d.seq += w.rx.next;
			d.ack += w.tx.acked;
			more = hear(&d);
		}
		check_tx();
		check_rx();
	}
	return 0;
}
