/* SPDX-License-Identifier: GPL-2.0 */
/* Orphans: connections that outlive their application. */
#ifndef SDP_CONN_ORPHAN_H
#define SDP_CONN_ORPHAN_H

#include "sock.h"

void sdp_orphan_progress(struct sdp_sock *ssk);
void sdp_orphan_timer(struct sdp_sock *ssk);
void sdp_orphan_begin(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_orphan_over(struct sdp_sock *ssk);

#endif /* SDP_CONN_ORPHAN_H */
