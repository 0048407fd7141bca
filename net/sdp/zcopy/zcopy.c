// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA from and to the application's memory: what all four ways share.
 *
 * The four ways are srcavail_send.c, srcavail_recv.c, sinkavail_recv.c and
 * sinkavail_send.c. This file has the threshold from which RDMA pays, the
 * registration of memory, and the waits that end without help of the peer's
 * application.
 *
 * Readers and writers call it, without the socket's @lock.
 */
#include "../conn/conn.h"
#include "zcopy.h"

/* A kill of the task has no effect on a transfer that is younger than this. */
#define ZCOPY_KILL_JIFFIES	(2 * HZ)
/* Interval at which a wait looks again while no rail works. */
#define ZCOPY_CUT_OFF_JIFFIES	(HZ / 20 + 1)
/* Time that the peer's kernel has to answer a cancel. */
#define ZCOPY_CANCEL_JIFFIES	(10 * HZ)

/*
 * With several rails, messages keep all of them busy all the time. RDMA reads
 * do so only for the length of a transfer, and then wait for the next one. So
 * each rail has to get twice as much as is worth RDMA by a single one (H1).
 */
static u32 threshold_by_rails(u32 bytes, u32 rails)
{
	u64 all = 2ULL * rails * bytes;

	if (rails < 2)
		return bytes;
	return min_t(u64, all, max_t(u32, bytes, SDP_MEM_MAX));
}

/**
 * sdp_zcopy_threshold() - smallest transfer for which RDMA is used (B1)
 * @ssk: socket
 *
 * Return: bytes, as set for the socket, or else for the namespace, or else as
 * measured for the device of its connection; more with several rails; 0 for
 * never.
 */
u32 sdp_zcopy_threshold(const struct sdp_sock *ssk)
{
	int set = READ_ONCE(ssk->opt.rdma_threshold);

	if (set < 0)
		set = READ_ONCE(
			sdp_net(sock_net(&ssk->sk))->settings.rdma_threshold);
	return threshold_by_rails(set >= 0 ? set : READ_ONCE(ssk->rdma_worth),
				  READ_ONCE(ssk->rdma_rails));
}

/**
 * sdp_zcopy_worth() - is a transfer large enough for RDMA? (B1)
 * @ssk: socket
 * @bytes: size of the transfer
 *
 * Return: true when it is, and the connection can do RDMA.
 */
bool sdp_zcopy_worth(const struct sdp_sock *ssk, size_t bytes)
{
	u32 threshold = sdp_zcopy_threshold(ssk);

	return ssk->rdma && threshold && bytes >= threshold;
}

/**
 * sdp_zcopy_room() - how many bytes may a background write take now?
 * @ssk: socket
 *
 * Return: free bytes of the send buffer, or as many as are worth RDMA: like
 * TCP, a write that finds any room may exceed SO_SNDBUF by a segment. 0 or less
 * if there is no room.
 */
int sdp_zcopy_room(const struct sdp_sock *ssk)
{
	int size = READ_ONCE(ssk->sk.sk_sndbuf);
	int room = size - READ_ONCE(ssk->sk.sk_wmem_queued);
	u32 least = sdp_zcopy_threshold(ssk);

	return room > 0 && least <= (u32)size ? max_t(int, room, least) : room;
}

/**
 * sdp_zcopy_fits() - do bytes have room in the send buffer?
 * @ssk: socket
 * @bytes: all that is left of a write
 *
 * Return: true if its writer need not wait until the peer has them (B6).
 */
bool sdp_zcopy_fits(const struct sdp_sock *ssk, size_t bytes)
{
	int room = sdp_zcopy_room(ssk);

	return room > 0 && bytes <= (size_t)room;
}

/**
 * sdp_zcopy_map() - register memory for one transfer
 * @ssk: socket, not locked
 * @link: its link, in use
 * @pages: pages, range and use
 *
 * May sleep.
 *
 * Return: the memory, which link->ops->unmap() releases; or an ERR_PTR, and
 * then the bytes have to go in messages.
 */
struct sdp_mem *sdp_zcopy_map(struct sdp_sock *ssk, struct sdp_link *link,
			      const struct sdp_pages *pages)
{
	struct sdp_mem *mem = link->ops->map(link, pages);

	if (IS_ERR(mem))
		SDP_INC(sock_net(&ssk->sk), MapsFailed);
	return mem;
}

/**
 * sdp_zcopy_await() - wait until an RDMA read or write has ended
 * @ssk: socket, not locked
 * @link: its link, in use
 * @mem: memory that move() was called for
 *
 * The device uses the pages until then, so this waits even if the connection is
 * lost meanwhile. If the task is killed, the connection fails, which ends the
 * transfer.
 */
void sdp_zcopy_await(struct sdp_sock *ssk, struct sdp_link *link,
		     struct sdp_mem *mem)
{
	struct sdp_todo todo = { };

	if (wait_for_completion_timeout(&mem->done, ZCOPY_KILL_JIFFIES) ||
	    !wait_for_completion_killable(&mem->done))
		return;
	sdp_conn_lock(ssk);
	if (ssk->link == link)
		sdp_conn_fail(ssk, ECONNRESET, "killed during RDMA", &todo);
	sdp_conn_unlock(ssk, &todo);
	/* The end of the link's queue pair completes the transfer. */
	wait_for_completion(&mem->done);
}

/* Have all rails of the connection failed, so that it waits for one (H6)? */
static bool zcopy_cut_off(struct sdp_sock *ssk)
{
	const struct sdp_link *link;
	bool cut_off;

	sdp_conn_lock(ssk);
	link = ssk->link;
	cut_off = link && READ_ONCE(link->many) && !READ_ONCE(link->rails);
	spin_unlock_bh(&ssk->lock);
	return cut_off;
}

/**
 * sdp_zcopy_await_answer() - wait until an advertisement has ended
 * @ssk: socket, not locked
 * @over: true once it has ended. It must also become true when the connection
 *	ends
 *
 * Called when the advertisement has been cancelled, or has ended already. The
 * peer's kernel answers a cancel. If it does not within ZCOPY_CANCEL_JIFFIES,
 * the connection fails. The time does not count in which no rail works: the
 * cancel could not be sent. A kill of the task then fails the connection.
 *
 * No other signal ends this wait. It is rare and short, so it polls instead of
 * having a wait queue.
 */
void sdp_zcopy_await_answer(struct sdp_sock *ssk, const bool *over)
{
	unsigned long end = jiffies + ZCOPY_CANCEL_JIFFIES;
	struct sdp_todo todo = { };

	while (time_before(jiffies, end)) {
		long wait = 1;

		/* Pairs with the release that sets it. */
		if (smp_load_acquire(over))
			return;
		if (zcopy_cut_off(ssk)) {
			if (fatal_signal_pending(current))
				break;
			end = jiffies + ZCOPY_CANCEL_JIFFIES;
			wait = ZCOPY_CUT_OFF_JIFFIES;
		}
		schedule_timeout_uninterruptible(wait);
	}
	sdp_conn_lock(ssk);
	if (!*over)
		sdp_conn_fail(ssk, ETIMEDOUT, "peer did not answer a cancel", &todo);
	sdp_conn_unlock(ssk, &todo);
}
