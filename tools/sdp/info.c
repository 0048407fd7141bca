// SPDX-License-Identifier: GPL-2.0
/* struct sdp_info of a connection, as JSON and text: modes, credit, buffers, bytes by path. */
#include <linux/sdp.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "output.h"

static const char *mode_name(__u8 mode)
{
	static const char *const names[] = {
		[SDP_INFO_BUFFERED]	= "buffered",
		[SDP_INFO_COMBINED]	= "combined",
		[SDP_INFO_PIPELINED]	= "pipelined",
	};

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "unknown";
}

static void set(json_t *to, const char *name, __u64 value)
{
	json_object_set_new(to, name, sdp_need(json_integer((json_int_t)value)));
}

/* @read: bytes of @by_rdma that the receiver has read by RDMA; the sender has written the others */
static json_t *direction(__u8 mode, __u64 messages, __u64 bytes, __u64 by_rdma, __u64 read)
{
	json_t *to = sdp_need(json_object());

	json_object_set_new(to, "mode", json_string(mode_name(mode)));
	set(to, "messages", messages);
	set(to, "bytes_in_messages", bytes - by_rdma);
	set(to, "bytes_by_rdma", by_rdma);
	set(to, "bytes_by_rdma_read", read);
	set(to, "bytes_by_rdma_write", by_rdma - read);
	return to;
}

static const char *flow_name(__u32 flow)
{
	static const char *const names[] = { "credit", "rdma", "nic" };

	return flow < sizeof(names) / sizeof(names[0]) ? names[flow] : "unknown";
}

static json_t *rings(const struct sdp_info *i)
{
	json_t *to = sdp_need(json_object());

	json_object_set_new(to, "out", json_string(flow_name(i->tx_flow)));
	json_object_set_new(to, "in", json_string(flow_name(i->rx_flow)));
	set(to, "out_size", i->tx_ring);
	set(to, "out_used", i->tx_ring_used);
	set(to, "in_size", i->rx_ring);
	set(to, "in_used", i->rx_ring_used);
	set(to, "bytes_sent", i->ring_sent);
	set(to, "bytes_received", i->ring_received);
	set(to, "writes", i->ring_writes);
	set(to, "full", i->ring_full);
	return to;
}

/**
 * sdp_info_json() - convert a struct sdp_info to JSON
 * @bytes: a struct sdp_info, possibly of an older or newer module
 * @len: its size in bytes
 *
 * Return: an object, for the caller to release.
 */
json_t *sdp_info_json(const void *bytes, size_t len)
{
	json_t *info = sdp_need(json_object());
	struct sdp_info i = {};

	memcpy(&i, bytes, len < sizeof(i) ? len : sizeof(i));
	json_object_set_new(info, "transport", sdp_escaped(i.transport, sizeof(i.transport)));
	json_object_set_new(info, "out", direction(i.tx_mode, i.msgs_sent, i.bytes_sent,
						   i.rdma_sent, i.rdma_read_by_peer));
	json_object_set_new(info, "in", direction(i.rx_mode, i.msgs_received, i.bytes_received,
						  i.rdma_received, i.rdma_read));
	set(info, "credit", i.credit);
	set(info, "posted", i.posted);
	set(info, "peer_credit", i.peer_credit);
	set(info, "recv_size", i.recv_size);
	set(info, "send_size", i.send_size);
	set(info, "recv_buffers", i.recv_buffers);
	set(info, "send_slots", i.send_slots);
	set(info, "bytes_unsent", i.bytes_unsent);
	set(info, "bytes_unarrived", i.bytes_unarrived);
	set(info, "bytes_unread", i.bytes_unread);
	set(info, "split_sends", i.split_sends);
	set(info, "split_largest", i.split_largest);
	set(info, "resizes", i.resizes);
	set(info, "resizes_refused", i.resizes_refused);
	set(info, "probes", i.probes);
	set(info, "rdma_threshold", i.rdma_threshold);
	set(info, "learning", i.learning);
	set(info, "sinkavail_rx", i.sinkavail_rx);
	set(info, "sinkavail_tx", i.sinkavail_tx);
	set(info, "sinkavail_stale", i.sinkavail_stale);
	set(info, "srcavail_sent", i.srcavail_sent);
	set(info, "srcavail_crossed", i.srcavail_crossed);
	set(info, "scans_fired", i.scans_fired);
	json_object_set_new(info, "rings", rings(&i));
	set(info, "rails", i.rails);
	set(info, "rails_lost", i.rails_lost);
	set(info, "rail_msgs_resent", i.rail_msgs_resent);
	set(info, "rail_msgs_held", i.rail_msgs_held);
	return info;
}

static long long number(const json_t *from, const char *name)
{
	return json_integer_value(json_object_get(from, name));
}

static char *direction_text(const char *name, const json_t *from)
{
	return sdp_text("%s: %s, %lld messages with %lld bytes, %lld by RDMA"
			" (%lld read, %lld written)", name,
			json_string_value(json_object_get(from, "mode")),
			number(from, "messages"), number(from, "bytes_in_messages"),
			number(from, "bytes_by_rdma"), number(from, "bytes_by_rdma_read"),
			number(from, "bytes_by_rdma_write"));
}

static char *rings_text(const json_t *from)
{
	return sdp_text("flow control: out %s, in %s; rings: out %lld of %lld bytes,"
			" in %lld of %lld; %lld writes with %lld bytes, full %lld; received %lld",
			json_string_value(json_object_get(from, "out")),
			json_string_value(json_object_get(from, "in")),
			number(from, "out_used"), number(from, "out_size"),
			number(from, "in_used"), number(from, "in_size"), number(from, "writes"),
			number(from, "bytes_sent"), number(from, "full"),
			number(from, "bytes_received"));
}

/**
 * sdp_info_text() - format the numbers in a few lines
 * @info: of sdp_info_json()
 *
 * Return: text for the caller to free.
 */
char *sdp_info_text(const json_t *info)
{
	char *out = direction_text("out", json_object_get(info, "out"));
	char *in = direction_text("in", json_object_get(info, "in"));
	char *by = rings_text(json_object_get(info, "rings"));
	char *text;

	text = sdp_text("    %s\n    %s\n    %s\n"
			"    credit: %lld, the peer's %lld; receives: %lld of %lld posted, %lld bytes"
			" each, the peer's %lld; slots: %lld\n"
			"    RDMA from %lld bytes; SrcAvail: %lld sent, %lld crossed; SinkAvail:"
			" %lld out, %lld in, %lld stale; scans: %lld\n"
			"    unsent %lld, unarrived %lld, unread %lld bytes; split %lld, resized %lld,"
			" refused %lld, probes %lld",
			out, in, by, number(info, "credit"), number(info, "peer_credit"),
			number(info, "posted"), number(info, "recv_buffers"),
			number(info, "recv_size"), number(info, "send_size"),
			number(info, "send_slots"), number(info, "rdma_threshold"),
			number(info, "srcavail_sent"), number(info, "srcavail_crossed"),
			number(info, "sinkavail_rx"), number(info, "sinkavail_tx"),
			number(info, "sinkavail_stale"), number(info, "scans_fired"),
			number(info, "bytes_unsent"), number(info, "bytes_unarrived"),
			number(info, "bytes_unread"), number(info, "split_sends"),
			number(info, "resizes"), number(info, "resizes_refused"),
			number(info, "probes"));
	free(out);
	free(in);
	free(by);
	return text;
}
