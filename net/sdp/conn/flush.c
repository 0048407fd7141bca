// SPDX-License-Identifier: GPL-2.0
/*
 * Setting ring_flush = 0: only calls of applications flush (G2, G7).
 *
 * With net.sdp.ring_flush = 0, data that gathers while the peer's ring is full
 * is sent when the application calls again, even if the ring has room before
 * that. RDMA-based flow control in a user-space library behaves like this,
 * because it makes progress only while the application is in a call. The
 * setting exists for measurements only. It applies to flow control by RDMA, and
 * a connection reads it when it starts (sdp_sock.tx_lazy).
 *
 * Send and receive calls run between sdp_flush_begin() and sdp_flush_end();
 * sdp_sock.callers is the number of threads in such a call.
 */
#include "conn.h"
#include "flush.h"
#include "output.h"

/**
 * sdp_flush_begin() - a call of the application begins: send waiting data
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
 * sdp_flush_end() - the call ends: from now on data waits for the next call
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
 * Return: true if it waits. False with the default setting.
 */
bool sdp_flush_waits(const struct sdp_sock *ssk)
{
	return ssk->tx_lazy && !ssk->callers && !ssk->engine.shutdown &&
	       ssk->engine.ring_out.scheme == SDP_BY_RDMA;
}
