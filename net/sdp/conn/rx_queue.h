/* SPDX-License-Identifier: GPL-2.0 */
/* Receive queue: received payload until the application reads it. */
#ifndef SDP_CONN_RX_QUEUE_H
#define SDP_CONN_RX_QUEUE_H

#include "sock.h"

/**
 * struct sdp_rx_piece - bytes of the receive queue that can be read at once
 * @skb: buffer that they are in
 * @offset: offset of the first one in @skb
 * @avail: number of bytes
 * @hole: bytes before @offset to be skipped: 1 for an urgent byte, else 0
 * @stamp: time when the last byte of @skb came, as of now: a later message may
 *	be appended to @skb at any time
 */
struct sdp_rx_piece {
	struct sk_buff *skb;
	u32 offset;
	u32 avail;
	u32 hole;
	ktime_t stamp;
};

ktime_t sdp_rx_stamp(const struct sdp_sock *ssk);
void sdp_rx_queue_message(struct sdp_sock *ssk, struct sk_buff *skb,
			  const struct sdp_action *a, u32 bytes,
			  struct sdp_todo *todo);
void sdp_rx_queue_rdma(struct sdp_sock *ssk, struct sk_buff *skb, u32 n);
void sdp_rx_passed(struct sdp_sock *ssk, u32 n);
bool sdp_rx_next(struct sdp_sock *ssk, u32 skip, bool begun,
		 struct sdp_rx_piece *p);
void sdp_rx_consume(struct sdp_sock *ssk, struct sk_buff *skb, u32 n);
bool sdp_rx_over(const struct sdp_sock *ssk);
void sdp_rx_was_read(struct sdp_sock *ssk, u32 n, struct sdp_todo *todo);
bool sdp_rx_full(const struct sdp_sock *ssk);
int sdp_rx_splice(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		  u32 len, struct pipe_inode_info *pipe);

#endif /* SDP_CONN_RX_QUEUE_H */
