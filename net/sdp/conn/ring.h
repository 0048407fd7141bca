/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_RING_H
#define SDP_CONN_RING_H

#include "sock.h"

void sdp_ring_wanted(struct sdp_sock *ssk);
void sdp_rings_retire(struct sdp_sock *ssk, u32 left);
void sdp_ring_work(struct work_struct *work);
void sdp_ring_note_fill(struct sdp_sock *ssk);
void sdp_ring_header(const struct sdp_sock *ssk, u32 at, u32 bytes,
		     u8 to[SDP_HEADER_MAX]);
struct sk_buff *sdp_ring_message(struct sdp_sock *ssk, struct sk_buff *empty,
				 u32 at, u32 bytes);
int sdp_ring_splice(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		    u32 len, struct pipe_inode_info *pipe);
bool sdp_ring_read(struct sdp_sock *ssk, struct sk_buff *skb, u32 n, bool all);

#endif /* SDP_CONN_RING_H */
