/* SPDX-License-Identifier: GPL-2.0 */
/* Segments of the send queue. */
#ifndef SDP_CONN_SEGMENT_H
#define SDP_CONN_SEGMENT_H

#include "sock.h"

bool sdp_segment_full(const struct sdp_sock *ssk, const struct sk_buff *skb);
void sdp_segment_trim(struct sdp_sock *ssk, struct sk_buff *skb);
bool sdp_segment_split(struct sdp_sock *ssk, struct sk_buff *skb, u32 n);

#endif /* SDP_CONN_SEGMENT_H */
