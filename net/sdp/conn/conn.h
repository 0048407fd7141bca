/* SPDX-License-Identifier: GPL-2.0 */
/* One connection: unlock, failure and detachment of its link. */
#ifndef SDP_CONN_CONN_H
#define SDP_CONN_CONN_H

#include "sock.h"

/**
 * struct sdp_todo - what sdp_conn_unlock() does after it has dropped the lock
 * @wake: events to wake waiters for, SDP_WAKE_*
 * @kick: link whose deliveries are due; held by its hold(); or NULL
 * @release: link to release, or NULL
 * @abort: with @release: abort the link
 * @accepted: child socket: accept() may take it now
 * @sigurg: send SIGURG
 * @forget: child socket: its request has failed; take it off the accept queue
 *
 * It is on the stack of the thread that has the lock, zero at first.
 */
struct sdp_todo {
	u32 wake;
	struct sdp_link *kick;
	struct sdp_link *release;
	bool abort;
	bool accepted;
	bool sigurg;
	bool forget;
};

void sdp_conn_unlock(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_conn_detach(struct sdp_sock *ssk, bool abort, struct sdp_todo *todo);
void sdp_conn_purge(struct sdp_sock *ssk);
void sdp_conn_fail(struct sdp_sock *ssk, int error, const char *place,
		   struct sdp_todo *todo);
struct sdp_link *sdp_conn_use_link(struct sdp_sock *ssk);

#endif /* SDP_CONN_CONN_H */
