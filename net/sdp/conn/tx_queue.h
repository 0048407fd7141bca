/* SPDX-License-Identifier: GPL-2.0 */
/* Send queue: written bytes in segments, one per future message. */
#ifndef SDP_CONN_TX_QUEUE_H
#define SDP_CONN_TX_QUEUE_H

#include "sock.h"

/* Flags of sdp_tx_add(). */
#define SDP_TX_MORE	BIT(0)	/* hold the segment back: more will follow */
#define SDP_TX_URGENT	BIT(1)	/* the last byte is urgent */

int sdp_tx_error(const struct sock *sk);
struct sk_buff *sdp_tx_claim(struct sdp_sock *ssk, size_t left,
			     const struct sdp_refs *refs, bool first,
			     bool *fresh);
int sdp_tx_add(struct sdp_sock *ssk, struct sk_buff *skb, bool fresh,
	       u32 old_truesize, int n, int how);
void sdp_tx_arrived(struct sdp_sock *ssk, u32 bytes, struct sdp_todo *todo);
void sdp_tx_turn_take(struct sdp_sock *ssk, bool *mine);
void sdp_tx_turn_end(struct sdp_sock *ssk);
void sdp_tx_push(struct sdp_sock *ssk);

#endif /* SDP_CONN_TX_QUEUE_H */
