/* SPDX-License-Identifier: GPL-2.0 */
/* Accept queue of a listener. */
#ifndef SDP_CONN_ACCEPT_QUEUE_H
#define SDP_CONN_ACCEPT_QUEUE_H

#include "sock.h"

bool sdp_accept_queue_full(const struct sdp_sock *parent);
int sdp_accept_queue_enter(struct sdp_sock *parent, struct sdp_sock *child,
			   u16 port);
bool sdp_accept_queue_leave(struct sdp_sock *parent, struct sdp_sock *child);
void sdp_accept_queue_drop(struct sdp_sock *child);
void sdp_accept_queue_forget_link(struct sdp_sock *child);
void sdp_accept_queue_ready(struct sdp_sock *child);
void sdp_accept_queue_failed(struct sdp_sock *child);
struct sdp_sock *sdp_accept_queue_take(struct sdp_sock *parent);
struct sdp_sock *sdp_accept_queue_take_any(struct sdp_sock *parent);

#endif /* SDP_CONN_ACCEPT_QUEUE_H */
