// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_INFO and SDP_INFO: state and counters of a connection.
 *
 * struct tcp_info gets the fields that have a meaning for SDP; a segment is a
 * message. TCP's measurements of the network (round-trip times, losses) stay 0:
 * only the device could make them. Both structures are cut to the length that
 * user space passes.
 */
#include <linux/tcp.h>

#include "info.h"
#include "sockopt.h"
#include "../zcopy/zcopy.h"

static u32 info_ms_since(unsigned long when)
{
	return when ? jiffies_to_msecs(jiffies - when) : 0;
}

static void info_fill_tcp(struct sdp_sock *ssk, struct tcp_info *info)
{
	const struct sdp_engine *e = &ssk->engine;

	info->tcpi_state = ssk->sk.sk_state;
	info->tcpi_pacing_rate = ~0ULL;
	info->tcpi_max_pacing_rate = ~0ULL;
	if (info->tcpi_state == TCP_LISTEN) {
		info->tcpi_unacked = ssk->sk.sk_ack_backlog;
		info->tcpi_sacked = ssk->sk.sk_max_ack_backlog;
		return;
	}
	info->tcpi_probes = ssk->probes;
	info->tcpi_bytes_sent = ssk->bytes_sent;
	info->tcpi_bytes_acked = ssk->bytes_sent - ssk->tx_inflight;
	info->tcpi_bytes_received = ssk->bytes_received;
	info->tcpi_segs_out = ssk->sent;
	info->tcpi_segs_in = ssk->received;
	info->tcpi_data_segs_out = ssk->data_sent;
	info->tcpi_data_segs_in = ssk->data_received;
	info->tcpi_delivered = e->sent_seq;
	info->tcpi_notsent_bytes = sdp_unsent(ssk);
	info->tcpi_last_data_sent = info_ms_since(ssk->last_sent);
	info->tcpi_last_data_recv = info_ms_since(ssk->last_received);
	info->tcpi_last_ack_recv = info_ms_since(ssk->heard);
	if (!e->resize.send_size)
		return;
	info->tcpi_snd_mss = sdp_engine_payload_max(e);
	info->tcpi_rcv_mss = e->resize.recv_size - SDP_BSDH_LEN;
	info->tcpi_advmss = info->tcpi_rcv_mss;
	info->tcpi_unacked = e->credit.tx_seq - e->sent_seq;
	info->tcpi_snd_cwnd =
		info->tcpi_unacked + sdp_credit_available(&e->credit);
	info->tcpi_snd_wnd =
		sdp_credit_available(&e->credit) * info->tcpi_snd_mss;
	info->tcpi_rcv_space = READ_ONCE(ssk->sk.sk_rcvbuf);
}

/**
 * sdp_tcp_info_get() - TCP_INFO of a socket
 * @ssk: socket; its lock is taken here
 * @info: filled in
 */
void sdp_tcp_info_get(struct sdp_sock *ssk, struct tcp_info *info)
{
	memset(info, 0, sizeof(*info));
	sdp_conn_lock(ssk);
	info_fill_tcp(ssk, info);
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_tcp_info() - getsockopt(2) of TCP_INFO
 * @ssk: socket
 * @value: user buffer for a struct tcp_info
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Takes the socket's lock.
 *
 * Return: 0 or a negative errno.
 */
int sdp_tcp_info(struct sdp_sock *ssk, char __user *value, int __user *len)
{
	struct tcp_info info;

	sdp_tcp_info_get(ssk, &info);
	return sdp_option_copy(value, len, &info, sizeof(info));
}

/*
 * SDP_INFO's number for the mode of one direction. Without a link it is that of
 * Combined, the mode in which every connection begins.
 */
static u8 info_mode(const struct sdp_sock *ssk, u8 mode)
{
	switch (ssk->link ? mode : SDP_MODE_COMBINED) {
	case SDP_MODE_BUFFERED:
		return SDP_INFO_BUFFERED;
	case SDP_MODE_PIPELINED:
		return SDP_INFO_PIPELINED;
	default:
		return SDP_INFO_COMBINED;
	}
}

static void info_fill_rails(struct sdp_link *link, struct sdp_info *info)
{
	struct sdp_rails_look look;

	if (!link->ops->look)
		return;
	link->ops->look(link, &look);
	info->rails = look.rails;
	info->rails_lost = look.lost;
	info->rail_msgs_resent = look.resent;
	info->rail_msgs_held = look.held;
}

/**
 * sdp_info_fill() - fill in the state and counters of a connection
 * @ssk: socket, locked
 * @info: result; fields without a value are 0
 */
void sdp_info_fill(struct sdp_sock *ssk, struct sdp_info *info)
{
	const struct sdp_engine *e = &ssk->engine;
	const char *device;

	memset(info, 0, sizeof(*info));
	info->version = SDP_INFO_VERSION;
	info->state = ssk->sk.sk_state;
	info->tx_mode = info_mode(ssk, sdp_engine_tx_mode(e));
	info->rx_mode = info_mode(ssk, sdp_engine_rx_mode(e));
	info->credit = sdp_credit_available(&e->credit);
	info->posted = e->credit.posted;
	info->peer_credit = e->credit.theirs;
	info->recv_size = e->resize.recv_size;
	info->send_size = e->resize.send_size;
	info->recv_buffers = e->credit.target;
	info->send_slots = e->send_slots;
	info->bytes_unsent = sdp_unsent(ssk);
	info->bytes_unarrived = ssk->tx_inflight;
	info->bytes_unread = sdp_readable(ssk);
	info->probes = ssk->probes;
	info->msgs_sent = ssk->sent;
	info->msgs_received = ssk->received;
	info->bytes_sent = ssk->bytes_sent;
	info->bytes_received = ssk->bytes_received;
	info->split_sends = ssk->split_sends;
	info->resizes = ssk->resizes;
	info->rdma_sent = ssk->rdma_sent;
	info->rdma_received = ssk->rdma_received;
	info->rdma_threshold = ssk->rdma ? sdp_zcopy_threshold(ssk) : 0;
	info->learning = e->tx_mode.alike;
	info->sinkavail_rx = sdp_engine_sinkavails_out(e);
	info->sinkavail_tx = e->sinkavail_tx.n;
	info->sinkavail_stale = e->sinkavail_tx.stale;
	info->srcavail_sent = ssk->srcavail_sent;
	info->srcavail_crossed = ssk->srcavail_crossed;
	info->scans_fired = ssk->scans_fired;
	info->tx_flow = e->ring_out.scheme;
	info->rx_flow = e->ring_in.scheme;
	info->tx_ring = ssk->link ? e->ring_out.ring.len : 0;
	info->rx_ring = ssk->link ? e->ring_in.size : 0;
	if (e->ring_out.scheme == SDP_BY_RDMA)
		info->tx_ring_used = e->ring_out.head - e->ring_out.freed;
	info->rx_ring_used = sdp_ring_in_used(&e->ring_in);
	info->ring_sent = ssk->ring_sent;
	info->ring_received = ssk->ring_received;
	info->ring_writes = ssk->ring_writes;
	info->ring_full = ssk->ring_full;
	info->rdma_read_by_peer = ssk->rdma_read_by_peer;
	info->rdma_read = ssk->rdma_read;
	info->resizes_refused = ssk->resizes_refused;
	info->split_largest = e->resize.largest;
	if (!ssk->link)
		return;
	info_fill_rails(ssk->link, info);
	strscpy(info->transport, ssk->link->ops->name, sizeof(info->transport));
	device = ssk->link->ops->device(ssk->link);
	if (device)
		strscpy(info->device, device, sizeof(info->device));
}

/**
 * sdp_info() - getsockopt(2) of SDP_INFO
 * @ssk: socket
 * @value: user buffer for a struct sdp_info
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Takes the socket's lock.
 *
 * Return: 0 or a negative errno.
 */
int sdp_info(struct sdp_sock *ssk, char __user *value, int __user *len)
{
	struct sdp_info info;

	sdp_conn_lock(ssk);
	sdp_info_fill(ssk, &info);
	spin_unlock_bh(&ssk->lock);
	return sdp_option_copy(value, len, &info, sizeof(info));
}
