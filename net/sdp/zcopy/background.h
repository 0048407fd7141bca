/* SPDX-License-Identifier: GPL-2.0 */
/* Background writes: RDMA of large writes whose call has returned. */
#ifndef SDP_ZCOPY_BACKGROUND_H
#define SDP_ZCOPY_BACKGROUND_H

#include "../conn/sock.h"

int sdp_background_send(struct sdp_sock *ssk, struct msghdr *msg, long timeo);
void sdp_background_next(struct sdp_sock *ssk, struct sk_buff *head);
struct sk_buff *sdp_background_cut(struct sdp_sock *ssk, u32 max);
void sdp_background_drop(struct sk_buff *skb);

#endif /* SDP_ZCOPY_BACKGROUND_H */
