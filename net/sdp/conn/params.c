// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection begins with: the limits of its link and of its engine, by the settings, the
 * options and what suits the transport.
 */
#include <linux/log2.h>

#include "sock.h"

/* A ring of fewer windows could not have one filled while another is read. */
#define RING_WINDOWS_MIN	4
/*
 * What the adapters hold back is tried again for ever, every 0.64 ms: a ring of 64 KiB is read in
 * less, and a thousand packets of a few bytes in a second are no load. (soft-RoCE makes it a tick.)
 */
#define RNR_FOR_EVER	7
#define RNR_TIMER	12

/**
 * sdp_flow_wish() - how shall data that is sent be kept from running over the peer? (G6)
 * @ssk: socket
 *
 * Return: enum sdp_flow, as set for the socket, or else for the namespace.
 */
int sdp_flow_wish(struct sdp_sock *ssk)
{
	int set = READ_ONCE(ssk->opt.flow_control);

	return set >= 0 ? set :
			  READ_ONCE(sdp_net(sock_net(&ssk->sk))
					    ->settings.flow_control);
}

/* SO_RCVBUF, as set by a program, holds at least so many messages. */
#define RCVBUF_RECEIVES	4
/* Unless it is tiny: this is the least that one of them may carry. */
#define RCVBUF_PAYLOAD_MIN	1024

/*
 * A peer may fill every receive that it was told of, whether somebody reads or
 * not. Where a transport has large ones, all of them hold more than a program
 * may have set by SO_RCVBUF: then they are smaller, and fewer.
 */
static void fit_rcvbuf(struct sdp_sock *ssk, struct sdp_link_config *config)
{
	u32 bytes = READ_ONCE(ssk->sk.sk_rcvbuf), payload;

	if (!(ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK))
		return;
	payload = max_t(u32, rounddown_pow_of_two(bytes / RCVBUF_RECEIVES),
			RCVBUF_PAYLOAD_MIN);
	config->recv_size = min_t(u32, config->recv_size,
				  SDP_BSDH_LEN + payload);
	payload = config->recv_size - SDP_BSDH_LEN;
	config->recv_max = clamp_t(u32, bytes / payload, RCVBUF_RECEIVES,
				   config->recv_max);
}

/**
 * sdp_stream_config() - limits of a new link, by the settings and what suits it
 * @ssk: socket
 * @ops: transport
 * @config: filled in
 */
void sdp_stream_config(struct sdp_sock *ssk, const struct sdp_transport *ops,
		       struct sdp_link_config *config)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	ssk->tx_user_pages = !ops->hands_over;
	config->recv_size = ops->recv_size ?: READ_ONCE(set->recv_buffer_size);
	/* A transport that knows what suits it needs no other size. */
	config->recv_size_max =
		ops->recv_size ? 0 : READ_ONCE(set->recv_buffer_max);
	/* Nor is a little more worth a resize, after which there are fewer of them. */
	if (config->recv_size_max <= config->recv_size + config->recv_size / 8)
		config->recv_size_max = 0;
	config->recv_max = ops->recv_buffers ?: READ_ONCE(set->recv_buffers);
	config->send_slots = READ_ONCE(set->send_buffers);
	config->tx_frags = config->recv_size <= SDP_BUF_LINEAR_MAX ?
				   SDP_TX_FRAGS_SMALL :
				   SDP_TX_FRAGS;
	if (ops->recv_size)
		fit_rcvbuf(ssk, config);
	config->rdma = ops->use;
	config->retry = READ_ONCE(set->retry_count);
	config->rnr_retry = READ_ONCE(set->rnr_retry_count);
	config->rnr_timer = 0;
	/* The peer's program may not read for as long as it likes. */
	if (sdp_flow_wish(ssk) == SDP_FLOW_NIC) {
		config->rnr_retry = RNR_FOR_EVER;
		config->rnr_timer = RNR_TIMER;
	}
}

/* A power of two, and what the transport can show to the peer twice in a row. */
static u32 ring_size(const struct sdp_settings *set)
{
	u32 size = READ_ONCE(set->ring_size);

	BUILD_BUG_ON((int)SDP_FLOW_NIC != SDP_BY_NIC ||
		     (int)SDP_FLOW_RDMA != SDP_BY_RDMA);
	BUILD_BUG_ON(2 * SDP_RING_SIZE_MAX > SDP_MEM_MAX);
	size = size ? rounddown_pow_of_two(size) : 0;
	return size >= max_t(u32, SDP_RING_SIZE_MIN, PAGE_SIZE) ? size : 0;
}

/**
 * sdp_stream_start() - a new engine, and its first receives (A1)
 * @ssk: socket, locked; its link is prepared
 * @config: limits of the link
 * @target: receives to post now
 */
void sdp_stream_start(struct sdp_sock *ssk,
		      const struct sdp_link_config *config, u16 target)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	struct sdp_engine_config engine = {
		.recv_size = config->recv_size,
		.recv_size_max = config->recv_size_max,
		.split_level = READ_ONCE(set->resize_after),
		.recv_target = min(target, config->recv_max),
		.threshold = READ_ONCE(set->credit_threshold),
		.send_slots = config->send_slots,
		.mode_after = READ_ONCE(set->mode_after),
		.revocable = config->rdma && READ_ONCE(set->invalidate),
		.ring_max = config->rdma ? ring_size(set) : 0,
		.scheme = sdp_flow_wish(ssk),
	};

	engine.ring_window = min(READ_ONCE(set->ring_window),
				 engine.ring_max / RING_WINDOWS_MIN);
	if (engine.ring_window < SDP_RING_WINDOW_MIN)
		engine.ring_max = 0;

	ssk->tx_frags = config->tx_frags;
	ssk->tx_lazy = !READ_ONCE(set->ring_flush);
	ssk->callers = 0;
	ssk->rdma = config->rdma;
	ssk->coalesce = READ_ONCE(set->coalesce);
	ssk->recv_max = config->recv_max;
	ssk->recv_largest = config->recv_size;
	ssk->posted_bytes = 0;
	WRITE_ONCE(ssk->rx_ring_full, false);
	WRITE_ONCE(ssk->sinkavail_missed, false);
	ssk->tx_first = false;
	WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
	ssk->sinkavail_stale = 0;
	sdp_engine_init(&ssk->engine, &engine);
	sdp_stream_replenish(ssk);
}
