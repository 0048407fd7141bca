/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers of the kernel that RDMA transfers read from or write to. */
#ifndef SDP_CONN_RDMA_BUF_H
#define SDP_CONN_RDMA_BUF_H

#include "sock.h"

/**
 * sdp_rdma_bufs_free() - free all buffers that are kept
 * @ssk: socket, locked
 */
static inline void sdp_rdma_bufs_free(struct sdp_sock *ssk)
{
	__skb_queue_purge(&ssk->rdma_bufs);
	ssk->rdma_bufs_bytes = 0;
}

struct sk_buff *sdp_rdma_buf_get(struct sdp_sock *ssk, u32 bytes);
void sdp_rdma_buf_put(struct sdp_sock *ssk, const struct sdp_link *link,
		      struct sk_buff *skb);

#endif /* SDP_CONN_RDMA_BUF_H */
