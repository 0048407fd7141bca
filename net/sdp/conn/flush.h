/* SPDX-License-Identifier: GPL-2.0 */
/* Setting ring_flush = 0: only calls of the application flush. */
#ifndef SDP_CONN_FLUSH_H
#define SDP_CONN_FLUSH_H

#include "sock.h"

void sdp_flush_begin(struct sdp_sock *ssk);
void sdp_flush_end(struct sdp_sock *ssk);
bool sdp_flush_waits(const struct sdp_sock *ssk);

#endif /* SDP_CONN_FLUSH_H */
