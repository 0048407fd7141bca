/* SPDX-License-Identifier: GPL-2.0 */
/* Detection of a peer that is gone. */
#ifndef SDP_CONN_KEEPALIVE_H
#define SDP_CONN_KEEPALIVE_H

#include "sock.h"

void sdp_keepalive_init(struct sdp_sock *ssk);
void sdp_keepalive_heard(struct sdp_sock *ssk);
void sdp_keepalive_start(struct sdp_sock *ssk);
void sdp_keepalive_stop(struct sdp_sock *ssk);
void sdp_keepalive_watch(struct sdp_sock *ssk);
void sdp_keepalive_changed(struct sdp_sock *ssk);
void sdp_keepalive_set(struct sock *sk, int on);
int sdp_keepidle(struct sdp_sock *ssk);
int sdp_keepintvl(struct sdp_sock *ssk);
int sdp_keepcnt(struct sdp_sock *ssk);

#endif /* SDP_CONN_KEEPALIVE_H */
