/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_REFILL_H
#define SDP_CONN_REFILL_H

#include "sock.h"

void sdp_refill_reuse(struct sdp_sock *ssk, struct sdp_link *link,
		      struct sk_buff *skb);
void sdp_refill(struct sdp_sock *ssk);

#endif /* SDP_CONN_REFILL_H */
