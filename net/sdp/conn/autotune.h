/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_AUTOTUNE_H
#define SDP_CONN_AUTOTUNE_H

#include "sock.h"

void sdp_autotune_init(struct sdp_sock *ssk);
void sdp_autotune_emptied(struct sdp_sock *ssk);
void sdp_autotune_arrived(struct sdp_sock *ssk);
void sdp_autotune_sending(struct sdp_sock *ssk);
void sdp_autotune_receiving(struct sdp_sock *ssk);
void sdp_autotune_regrow(struct sdp_sock *ssk);

#endif /* SDP_CONN_AUTOTUNE_H */
