/* SPDX-License-Identifier: GPL-2.0 */
/* The messages of a connection, in the order that the engine allows. */
#ifndef SDP_CONN_OUTPUT_H
#define SDP_CONN_OUTPUT_H

#include "sock.h"

void sdp_conn_progress(struct sdp_sock *ssk, struct sdp_todo *todo);

#endif /* SDP_CONN_OUTPUT_H */
