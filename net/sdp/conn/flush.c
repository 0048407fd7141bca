// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control by RDMA without asynchronous flush (G2, G7).
 *
 * With net.sdp.ring_flush = 0, data that gathers while the peer's ring is full
 * is sent when the application calls again, even if the ring has room before
 * that. So behaves RDMA-based flow control in a user-space library, which makes
 * progress only while the application is in a call. The setting exists for
 * measurements only. A connection reads it when it starts (sdp_sock.tx_lazy).
 *
 * Send and receive calls run between sdp_flush_begin() and sdp_flush_end();
 * sdp_sock.callers is the number of threads in such a call.
 */
#include "conn.h"
#include "flush.h"
#include "output.h"

/**
 * sdp_flush_begin() - an application's call begins: send what waits for it
 * @ssk: socket, not locked
 */
void sdp_flush_begin(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	if (likely(!READ_ONCE(ssk->tx_lazy)))
		return;
	sdp_conn_lock(ssk);
	ssk->callers++;
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_flush_end() - the call ends: data waits for the next one
 * @ssk: socket, not locked
 */
void sdp_flush_end(struct sdp_sock *ssk)
{
	if (likely(!READ_ONCE(ssk->tx_lazy)))
		return;
	sdp_conn_lock(ssk);
	if (ssk->callers)
		ssk->callers--;
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_flush_waits() - does unsent data wait for the application's next call?
 * @ssk: socket, locked
 *
 * After shutdown(SHUT_WR) no further send call will flush the queue, so nothing
 * waits.
 *
 * Return: true if it waits.
 */
bool sdp_flush_waits(const struct sdp_sock *ssk)
{
	return ssk->tx_lazy && !ssk->callers && !ssk->engine.shutdown &&
	       ssk->engine.ring_out.scheme == SDP_BY_RDMA;
}
