// SPDX-License-Identifier: GPL-2.0
/*
 * What the four ways of RDMA (srcavail_send.c, srcavail_recv.c, sinkavail_recv.c, sinkavail_send.c) have in common: when it is worth
 * it, the link's use, and the waits that end without the peer's program.
 */
#include "../conn/sock.h"

/* Who is killed waits so long for the fabric before it ends the connection. */
#define PATIENCE	(2 * HZ)
/* How long a peer's kernel may take to answer a cancel. */
#define CANCEL_JIFFIES	(10 * HZ)

/**
 * sdp_rdma_threshold() - from what size on is memory worth an RDMA transfer? (B1)
 * @ssk: socket
 *
 * Return: bytes, as set for the socket, or else for the namespace, or else as measured for the
 * device of its connection; 0 for never.
 */
u32 sdp_rdma_threshold(const struct sdp_sock *ssk)
{
	int set = READ_ONCE(ssk->opt.rdma_threshold);

	if (set < 0)
		set = READ_ONCE(
			sdp_net(sock_net(&ssk->sk))->settings.rdma_threshold);
	return set >= 0 ? set : READ_ONCE(ssk->rdma_worth);
}

/**
 * sdp_rdma_worth() - is so much memory worth an RDMA transfer? (B1)
 * @ssk: socket
 * @bytes: how much
 *
 * Return: true when it is.
 */
bool sdp_rdma_worth(const struct sdp_sock *ssk, size_t bytes)
{
	u32 threshold = sdp_rdma_threshold(ssk);

	return ssk->rdma && threshold && bytes >= threshold;
}

/**
 * sdp_link_use() - keep the link of a connection that stands, whatever becomes of it
 * @ssk: socket
 *
 * Return: a link that can do RDMA, whose unuse() has to follow; or NULL.
 */
struct sdp_link *sdp_link_use(struct sdp_sock *ssk)
{
	struct sdp_link *link = NULL;

	sdp_stream_lock(ssk);
	if (ssk->rdma && sdp_stands(ssk))
		link = ssk->link;
	if (link)
		link->ops->use(link);
	spin_unlock_bh(&ssk->lock);
	return link;
}

/**
 * sdp_map() - have memory registered for one transfer
 * @ssk: socket, without any lock
 * @link: the link, in use
 * @pages: what, where, and what for
 *
 * Return: the memory, or an ERR_PTR: then its bytes go in messages.
 */
struct sdp_mem *sdp_map(struct sdp_sock *ssk, struct sdp_link *link,
			const struct sdp_pages *pages)
{
	struct sdp_mem *mem = link->ops->map(link, pages);

	if (IS_ERR(mem))
		SDP_INC(sock_net(&ssk->sk), MapsFailed);
	return mem;
}

/**
 * sdp_await_move() - wait until a read or write has ended, whatever becomes of the connection
 * @ssk: socket, without any lock
 * @link: the link, in use
 * @mem: what move() was called for
 */
void sdp_await_move(struct sdp_sock *ssk, struct sdp_link *link,
		    struct sdp_mem *mem)
{
	struct sdp_todo todo = { };

	if (wait_for_completion_timeout(&mem->done, PATIENCE) ||
	    !wait_for_completion_killable(&mem->done))
		return;
	sdp_stream_lock(ssk);
	if (ssk->link == link)
		sdp_stream_fail(ssk, ECONNRESET, "killed during RDMA", &todo);
	sdp_stream_unlock(ssk, &todo);
	/* With the link's queue pair it ends as well. */
	wait_for_completion(&mem->done);
}

/**
 * sdp_await_answer() - a cancel has been sent, or nothing has to be: wait for the end
 * @ssk: socket, without any lock
 * @over: becomes true at the end; a connection without one comes to an end of its own
 *
 * Rare, and short: no queue is made for sleepers that no signal ends.
 */
void sdp_await_answer(struct sdp_sock *ssk, const bool *over)
{
	unsigned long end = jiffies + CANCEL_JIFFIES;
	struct sdp_todo todo = { };

	while (time_before(jiffies, end)) {
		/* Who sees the end sees what came with it. */
		if (smp_load_acquire(over))
			return;
		schedule_timeout_uninterruptible(1);
	}
	sdp_stream_lock(ssk);
	if (!*over)
		sdp_stream_fail(ssk, ETIMEDOUT, "no answer to a cancel", &todo);
	sdp_stream_unlock(ssk, &todo);
}
