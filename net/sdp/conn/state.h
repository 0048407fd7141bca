/* SPDX-License-Identifier: GPL-2.0 */
/* State and mode of a connection, as user space sees them. */
#ifndef SDP_CONN_STATE_H
#define SDP_CONN_STATE_H

#include "sock.h"

void sdp_set_state(struct sdp_sock *ssk, int state);
void sdp_conn_follow_state(struct sdp_sock *ssk);
void sdp_conn_note_mode(struct sdp_sock *ssk, const struct sdp_msg *msg,
			bool ours);

#endif /* SDP_CONN_STATE_H */
