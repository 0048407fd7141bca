// SPDX-License-Identifier: GPL-2.0
/*
 * One connection: unlock, failure and detachment of its link.
 *
 * A connection consists of a socket's engine (proto/, the protocol state),
 * queues, and link (transport/, the end of a queue pair or of loopback). Every
 * event (a message arrives, an application writes, a send completes, a timer
 * fires) is handled in the same steps:
 *
 *	sdp_conn_lock()
 *	tell the engine, and carry out its actions
 *	sdp_conn_progress(): refill receives, send what may be sent
 *	sdp_conn_unlock(): wake, deliver, release
 *
 * Only sdp_conn_fail() ends a connection with an error, and only
 * sdp_conn_detach() gives up the link of an established one.
 */
#include <linux/module.h>

#include "accept_queue.h"
#include "conn.h"
#include "keepalive.h"
#include "memory.h"
#include "orphan.h"
#include "rdma_buf.h"
#include "ring.h"
#include "scan.h"
#include "state.h"
#include "timer.h"
#include "urgent.h"
#include "wake.h"
#include "zcopy_ops.h"
#include "../base/trace.h"

/*
 * Release a detached link, and end the socket if its application has closed it.
 * The link's reference may be the socket's last one.
 */
static void release_link(struct sdp_sock *ssk, struct sdp_link *link,
			 bool abort)
{
	if (sock_flag(&ssk->sk, SOCK_DEAD)) {
		sk_stop_timer(&ssk->sk, &ssk->sk.sk_timer);
		sdp_sock_end(ssk);
	}
	link->ops->release(link, abort);
}

/* Publish the engine's state for readers and writers, which do not lock. */
static void note_rdma(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	const struct sdp_engine *e = &ssk->engine;
	u32 room = ssk->link ? sdp_engine_may_rdma_write(e) : 0;

	if (ssk->link && READ_ONCE(ssk->link->many)) {
		sdp_engine_avoid_pipelined(&ssk->engine);
		room = 0;
	}
	WRITE_ONCE(ssk->srcavail_rx_left,
		   ssk->link ? sdp_engine_srcavail_rx_left(e) : 0);
	WRITE_ONCE(ssk->rx_reads, ssk->link && ssk->rdma && ssk->link->reads &&
		   READ_ONCE(sdp_net(sock_net(&ssk->sk))->settings.rdma_read));
	WRITE_ONCE(ssk->rdma_worth, ssk->link ? ssk->link->worth : 0);
	WRITE_ONCE(ssk->rdma_rails,
		   ssk->link ? READ_ONCE(ssk->link->rails) : 0);
	WRITE_ONCE(ssk->rx_mode, sdp_engine_rx_mode(e));
	WRITE_ONCE(ssk->tx_mode, sdp_engine_tx_mode(e));
	WRITE_ONCE(ssk->may_srcavail, ssk->link && sdp_engine_may_srcavail(e));
	/*
	 * The peer has advertised a buffer. The large write that has the turn
	 * may be waiting for one. No other write uses it, so without a turn
	 * nobody is woken.
	 */
	if (room && !ssk->sinkavail_tx_room && ssk->tx_turn)
		todo->wake |= SDP_WAKE_WRITE;
	/* So may it for the end of background writes (socket/send.c). */
	if (ssk->background_over && ssk->tx_turn)
		todo->wake |= SDP_WAKE_WRITE;
	ssk->background_over = false;
	WRITE_ONCE(ssk->sinkavail_tx_room, room);
	if (room) {
		WRITE_ONCE(ssk->sinkavail_missed, false);
		WRITE_ONCE(ssk->reader_late, false);
	}
	WRITE_ONCE(ssk->rx_least, sdp_engine_sinkavail_least(e));
}

/**
 * sdp_conn_unlock() - drop the lock, and do the work that @todo has noted
 * @ssk: socket, locked
 * @todo: what to do
 *
 * The last step releases a detached link, which ends the link's reference to
 * the socket. A caller without a reference of its own, such as an up-call, must
 * not use the socket afterwards.
 */
void sdp_conn_unlock(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	sdp_memory_settle(ssk);
	note_rdma(ssk, todo);
	spin_unlock_bh(&ssk->lock);
	if (todo->kick)
		todo->kick->ops->kick(todo->kick);
	if (todo->sigurg)
		sdp_urgent_signal(ssk);
	if (todo->wake & SDP_WAKE_READ)
		sk->sk_data_ready(sk);
	if (todo->wake & SDP_WAKE_URGENT)
		sdp_wake(ssk, SDP_WAKE_URGENT);
	if (todo->wake & SDP_WAKE_WRITE)
		sk->sk_write_space(sk);
	if (todo->wake & SDP_WAKE_STATE)
		sk->sk_state_change(sk);
	if (todo->wake & SDP_WAKE_ERROR)
		sk_error_report(sk);
	/*
	 * accept() may hand out the socket from here on. As the wake-ups come
	 * before, its application does not get them.
	 */
	if (todo->accepted)
		sdp_accept_queue_ready(ssk);
	if (todo->forget)
		sdp_accept_queue_failed(ssk);
	if (todo->release)
		release_link(ssk, todo->release, todo->abort);
}

/**
 * sdp_conn_detach() - separate the link from the socket
 * @ssk: socket, locked; may have no link
 * @abort: the connection is aborted, not closed in order
 * @todo: notes the link for sdp_conn_unlock(), which releases it
 *
 * The transport ends the link asynchronously. Also ends what needs a link: the
 * rings, the timers, the scan, and the orphan's count.
 */
void sdp_conn_detach(struct sdp_sock *ssk, bool abort, struct sdp_todo *todo)
{
	if (!ssk->link)
		return;
	todo->release = ssk->link;
	todo->abort = abort;
	ssk->link = NULL;
	ssk->rdma = false;
	sdp_orphan_over(ssk);
	sdp_rings_retire(ssk, 0);
	sdp_keepalive_stop(ssk);
	sdp_timer_stop(ssk);
	sdp_scan_stop(ssk);
}

/**
 * sdp_conn_purge() - drop all unsent data and end all advertisements
 * @ssk: socket, locked; its connection is over
 */
void sdp_conn_purge(struct sdp_sock *ssk)
{
	struct sk_buff *skb;

	/* Before its memory may be freed with the segments. */
	sdp_zcopy_ops.srcavail_tx_over(ssk, 0);
	while ((skb = __skb_dequeue(&ssk->tx_queue))) {
		if (sdp_buf_cb(skb)->background)
			sdp_zcopy_ops.background_drop(skb);
		kfree_skb(skb);
	}
	__skb_queue_purge(&ssk->tx_blocks);
	sdp_rdma_bufs_free(ssk);
	sdp_zcopy_ops.sinkavail_rx_end(ssk);
	sdp_memory_charge_tx(ssk, -ssk->sk.sk_wmem_queued);
	ssk->tx_outq = 0;
	ssk->tx_urgent = 0;
	ssk->tx_inflight = 0;
	ssk->tx_hold = false;
	WRITE_ONCE(ssk->background, 0);
	ssk->background_writing = NULL;
	WRITE_ONCE(ssk->background_open, NULL);
	WRITE_ONCE(ssk->reader_late, false);
}

/**
 * sdp_conn_fail() - end a connection with an error
 * @ssk: socket, locked
 * @error: positive errno for the application
 * @place: what has failed, a constant string for people
 * @todo: notes the wake-up of all waiters, the release of the link, and that a
 *	child which accept() has not got leaves the accept queue
 *
 * Every failure of a connection comes here; only the first one has an effect.
 */
void sdp_conn_fail(struct sdp_sock *ssk, int error, const char *place,
		   struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_state == TCP_CLOSE && !ssk->link)
		return;
	/* As TCP: a reset is EPIPE once the peer has closed its half. */
	if (error == ECONNRESET && sk->sk_state == TCP_CLOSE_WAIT)
		error = EPIPE;
	SDP_INC(sock_net(sk), Failures);
	trace_sdp_error(sk, ssk->local.port, ssk->peer.port, error, place);
	todo->forget = sk->sk_state == TCP_SYN_RECV || ssk->deferred;
	ssk->deferred = false;
	ssk->engine.dead = true;
	ssk->first_error = place;
	WRITE_ONCE(sk->sk_err, error);
	/*
	 * Pairs with sdp_poll() and with a waiting connect(), which read
	 * without the lock and in the reverse order: if they see the end of the
	 * connection, they see its error too.
	 */
	smp_wmb();
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sdp_set_state(ssk, TCP_CLOSE);
	sdp_conn_purge(ssk);
	sdp_conn_detach(ssk, true, todo);
	todo->wake |= SDP_WAKE_STATE | SDP_WAKE_ERROR;
}

/**
 * sdp_conn_use_link() - keep the link of an established connection for RDMA
 * @ssk: socket, not locked
 *
 * The link's device and queue pair stay until the caller calls unuse(), even if
 * the socket gives up the link.
 *
 * Return: the link, or NULL if there is none that can do RDMA.
 */
struct sdp_link *sdp_conn_use_link(struct sdp_sock *ssk)
{
	struct sdp_link *link = NULL;

	sdp_conn_lock(ssk);
	if (ssk->rdma && sdp_is_established(ssk))
		link = ssk->link;
	if (link)
		link->ops->use(link);
	spin_unlock_bh(&ssk->lock);
	return link;
}
