// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters that a connection starts with: limits of link and engine.
 *
 * The parameters follow from the settings of the namespace, the options of the
 * socket and what the transport prefers. active.c and passive.c call first
 * sdp_params_of_link(), then the link's prepare(), which may lower the limits,
 * then sdp_params_start().
 */
#include <linux/log2.h>

#include "demand.h"
#include "params.h"
#include "refill.h"

/*
 * Least number of windows in a ring. With fewer, the sender could not fill one
 * window while the receiver reads another.
 */
#define RING_WINDOWS_MIN	4
/*
 * Retries of a message that our adapter holds back (SDP_FLOW_NIC): no limit on
 * their number, one every 0.64 ms (12 is the code of this time). A reader
 * empties a ring of 64 KiB in less time, and a thousand or two small packets
 * per second are no load. soft-RoCE rounds the time up to a jiffy.
 */
#define RNR_RETRY_UNLIMITED	7
#define RNR_TIMER	12

/**
 * sdp_flow_wish() - flow control that a socket asks for when it sends (G6)
 * @ssk: socket
 *
 * The Hello and the HelloAck tell the peer; both ends then agree on a scheme.
 *
 * Return: enum sdp_flow, as set for the socket or else for the namespace.
 */
int sdp_flow_wish(struct sdp_sock *ssk)
{
	int set = READ_ONCE(ssk->opt.flow_control);

	return set >= 0 ? set :
			  READ_ONCE(sdp_net(sock_net(&ssk->sk))
					    ->settings.flow_control);
}

/**
 * sdp_rails_wish() - most rails that a socket wants for a connection (H1)
 * @ssk: socket
 *
 * Return: number of rails, as set for the socket or else for the namespace.
 */
int sdp_rails_wish(struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->opt.rails) ?:
	       READ_ONCE(sdp_net(sock_net(&ssk->sk))->settings.rails);
}

/**
 * sdp_service_wish() - what a socket wants to carry its connection
 * @ssk: socket
 *
 * Return: enum sdp_service_kind, as set for the socket or else for the
 * namespace.
 */
int sdp_service_wish(struct sdp_sock *ssk)
{
	int set = READ_ONCE(ssk->opt.service);

	return set >= 0 ? set :
			  READ_ONCE(sdp_net(sock_net(&ssk->sk))
					    ->settings.service);
}

/*
 * Least number of receives that SO_RCVBUF is divided into, if the application
 * has set it. Each of them has room for at least RCVBUF_PAYLOAD_MIN bytes, even
 * if SO_RCVBUF is smaller.
 */
#define RCVBUF_RECEIVES	4
#define RCVBUF_PAYLOAD_MIN	1024

/*
 * The peer may fill every posted receive, whether the application reads or not.
 * If the transport prefers large receives, they may together hold more than the
 * application has set by SO_RCVBUF. Then make them smaller and fewer.
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
 * sdp_params_of_link() - choose the limits of a new link
 * @ssk: socket; its tx_user_pages is set too
 * @ops: transport of the link
 * @config: result, for the link's prepare()
 */
void sdp_params_of_link(struct sdp_sock *ssk, const struct sdp_transport *ops,
			struct sdp_link_config *config)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	ssk->tx_user_pages = !ops->hands_over && !ops->keeps;
	config->recv_size = ops->recv_size ?: READ_ONCE(set->recv_buffer_size);
	/* A transport that prefers a size keeps it. */
	config->recv_size_max =
		ops->recv_size ? 0 : READ_ONCE(set->recv_buffer_max);
	/* A resize costs receives: an eighth more room is not worth that. */
	if (config->recv_size_max <= config->recv_size + config->recv_size / 8)
		config->recv_size_max = 0;
	config->recv_max = ops->recv_buffers ?: READ_ONCE(set->recv_buffers);
	config->send_slots = READ_ONCE(set->send_buffers);
	config->tx_frags = config->recv_size <= SDP_BUF_LINEAR_MAX ?
				   SDP_TX_FRAGS_SMALL : SDP_TX_FRAGS;
	if (ops->recv_size)
		fit_rcvbuf(ssk, config);
	config->rdma = ops->use;
	config->retry = READ_ONCE(set->retry_count);
	config->rnr_retry = READ_ONCE(set->rnr_retry_count);
	config->rnr_timer = 0;
	/* The peer's application may read nothing for as long as it likes. */
	if (sdp_flow_wish(ssk) == SDP_FLOW_NIC) {
		config->rnr_retry = RNR_RETRY_UNLIMITED;
		config->rnr_timer = RNR_TIMER;
	}
}

/*
 * Returns the largest size of a receive ring of ours in bytes, a power of two,
 * or 0 for no ring. The peer sees a ring twice in a row, because a message may
 * run over its end. So twice the size must fit into one memory region.
 */
static u32 ring_size(const struct sdp_settings *set)
{
	u32 size = READ_ONCE(set->ring_size);

	BUILD_BUG_ON((int)SDP_FLOW_NIC != SDP_BY_NIC);
	BUILD_BUG_ON((int)SDP_FLOW_RDMA != SDP_BY_RDMA);
	BUILD_BUG_ON(2 * SDP_RING_SIZE_MAX > SDP_MEM_MAX);
	size = size ? rounddown_pow_of_two(size) : 0;
	return size >= max_t(u32, SDP_RING_SIZE_MIN, PAGE_SIZE) ? size : 0;
}

/**
 * sdp_params_start() - start a connection's engine and post the first receives
 * @ssk: socket, locked; its link is prepared
 * @config: limits of the link, as prepare() has left them
 * @target: number of receives to post, for a child that is not yet accepted;
 *	0: as many as the connection keeps without a demand (demand.c)
 *
 * Implements A1: the receives are posted before the peer can send. If memory is
 * short fewer are posted, so the caller checks the number.
 */
void sdp_params_start(struct sdp_sock *ssk,
		      const struct sdp_link_config *config, u16 target)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	struct sdp_engine_config engine = {
		.recv_size = config->recv_size,
		.recv_size_max = config->recv_size_max,
		.split_level = READ_ONCE(set->resize_after),
		.threshold = READ_ONCE(set->credit_threshold),
		.send_slots = config->send_slots,
		.mode_after = READ_ONCE(set->mode_after),
		.revocable = config->rdma && READ_ONCE(set->invalidate),
		.ring_max = config->rdma && !ssk->link->ops->keeps ?
				    ring_size(set) : 0,
		.scheme = sdp_flow_wish(ssk),
		.rails = ssk->link->ops->keeps,
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
	sdp_demand_start(ssk, engine.scheme, target);
	engine.recv_target = target ? min(target, config->recv_max) :
				      sdp_demand_receives(ssk);
	ssk->recv_largest = config->recv_size;
	ssk->posted_bytes = 0;
	WRITE_ONCE(ssk->rx_ring_full, false);
	WRITE_ONCE(ssk->sinkavail_missed, false);
	ssk->tx_first = false;
	WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
	ssk->sinkavail_stale = 0;
	sdp_engine_init(&ssk->engine, &engine);
	sdp_refill(ssk);
}
