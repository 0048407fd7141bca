/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_RESIZE_H
#define SDP_CONN_RESIZE_H

#include "sock.h"

void sdp_resize_note_send(struct sdp_sock *ssk, size_t bytes, u32 open);
void sdp_resize_note_rdma(struct sdp_sock *ssk, size_t bytes);
u32 sdp_resize_post_size(struct sdp_sock *ssk);
bool sdp_resize_give_back(struct sdp_sock *ssk);
void sdp_resize_note_sent(struct sdp_sock *ssk, const struct sdp_msg *msg);
void sdp_resize_note_received(struct sdp_sock *ssk, const struct sdp_msg *msg);

#endif /* SDP_CONN_RESIZE_H */
