// SPDX-License-Identifier: GPL-2.0
/*
 * Without asynchronous flush (net.sdp.ring_flush = 0): what gathers while the peer's ring is full
 * leaves when the program calls again, and not before, though there may be room for it long since.
 *
 * That is how RDMA-based flow control behaves where the protocol lives in a library, which works
 * only while the program is in it. Here it is there to be measured, and for nothing else.
 */
#include "sock.h"

/**
 * sdp_flush_begin() - the program calls: what waits for that may go
 * @ssk: socket
 */
void sdp_flush_begin(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	if (likely(!READ_ONCE(ssk->tx_lazy)))
		return;
	sdp_stream_lock(ssk);
	ssk->callers++;
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_flush_end() - the call is over
 * @ssk: socket
 */
void sdp_flush_end(struct sdp_sock *ssk)
{
	if (likely(!READ_ONCE(ssk->tx_lazy)))
		return;
	sdp_stream_lock(ssk);
	if (ssk->callers)
		ssk->callers--;
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_flush_waits() - has what is to be sent to wait for the program?
 * @ssk: socket, locked
 *
 * Who has said that no more follows calls no more.
 *
 * Return: true when it has.
 */
bool sdp_flush_waits(const struct sdp_sock *ssk)
{
	return ssk->tx_lazy && !ssk->callers && !ssk->engine.shutdown &&
	       ssk->engine.ring_out.scheme == SDP_BY_RDMA;
}
