/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_URGENT_H
#define SDP_CONN_URGENT_H

#include "sock.h"

void sdp_urgent_mark_last(struct sdp_sock *ssk);
void sdp_urgent_announced(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_urgent_arrived(struct sdp_sock *ssk, u8 byte, u32 len,
			struct sdp_todo *todo);
void sdp_urgent_signal(struct sdp_sock *ssk);
bool sdp_urgent_at_mark(const struct sdp_sock *ssk, u32 seq);
u32 sdp_urgent_bound(const struct sdp_sock *ssk, u32 seq, u32 *avail);
void sdp_urgent_passed(struct sdp_sock *ssk);
void sdp_urgent_forget(struct sdp_sock *ssk);
int sdp_urgent_recv(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    int flags);
u32 sdp_urgent_inq(struct sdp_sock *ssk);

#endif /* SDP_CONN_URGENT_H */
