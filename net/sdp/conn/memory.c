// SPDX-License-Identifier: GPL-2.0
/*
 * Memory accounting: net.sdp.mem, memory cgroups, shortage.
 *
 * The memory of all sockets is counted as the kernel counts that of TCP,
 * charged to memory cgroups and limited by net.sdp.mem. A socket is charged
 * for what it really holds:
 *
 *	sk_wmem_queued	written bytes until they have arrived
 *	sk_rmem_alloc	received bytes until they are read
 *	posted_bytes	receives that are posted for the peer
 *	ring_bytes	rings that the peer writes into
 *
 * Received data is never dropped, because the peer has been told that it has
 * arrived. So a shortage takes effect earlier: writers wait, and we post fewer
 * receives, which gives the peer fewer credits. A few receives and the first
 * bytes of a write are always granted, so that no connection gets stuck.
 *
 * Buffers that are kept for a moment to be reused (timer.c) are not counted.
 * None are kept while memory is short.
 *
 * Most charges are made under the socket's @lock, where nothing may sleep.
 * There the kernel lets a memory cgroup exceed its limit, and leaves it to
 * others to reclaim. So we compare the cgroup with its limit ourselves, and
 * callers that may sleep reclaim (sdp_memory_reclaim()).
 *
 * The socket's @lock covers sk_forward_alloc, the memory that has been granted
 * to the socket and is not in use.
 */
#include <linux/memcontrol.h>
#include <linux/percpu_counter.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "memory.h"

atomic_long_t sdp_memory_allocated ____cacheline_aligned_in_smp;
DEFINE_PER_CPU(int, sdp_memory_per_cpu_fw_alloc);
struct percpu_counter sdp_sockets_allocated;
unsigned long sdp_memory_pressure;

/*
 * Bytes that a socket is granted even when memory is short. The kernel and we
 * use the first number only.
 */
int sdp_memory_least[3] = { 4096, 4096, 4096 };

/**
 * sdp_memory_enter_pressure() - the kernel finds that memory may be short
 * @sk: socket whose charge has made the kernel check
 *
 * Memory is short above the second number of net.sdp.mem. The kernel does not
 * get this number (sdp_mem_limits in base/netns.c), so it calls this for each
 * charge above the first one.
 */
void sdp_memory_enter_pressure(struct sock *sk)
{
	if (sk_memory_allocated(sk) > READ_ONCE(sdp_mem[1]))
		sdp_memory_note_shortage(sk);
}

/**
 * sdp_memory_note_shortage() - memory is short from now on
 * @sk: socket that has met the shortage
 *
 * Called when too much of net.sdp.mem is in use, or when an allocation has
 * failed.
 */
void sdp_memory_note_shortage(struct sock *sk)
{
	if (READ_ONCE(sdp_memory_pressure))
		return;
	WRITE_ONCE(sdp_memory_pressure, 1);
	SDP_INC(sock_net(sk), MemoryPressure);
}

/**
 * sdp_memory_leave_pressure() - there is enough memory again
 * @sk: socket whose charge has made the kernel check
 */
void sdp_memory_leave_pressure(struct sock *sk)
{
	WRITE_ONCE(sdp_memory_pressure, 0);
}

/**
 * sdp_memory_is_short() - should buffers neither be kept nor grow?
 * @sk: socket
 *
 * Return: true when SDP is under memory pressure (above the second number of
 * net.sdp.mem, until below the first), or when the kernel reclaims from the
 * socket's memory cgroup.
 */
bool sdp_memory_is_short(const struct sock *sk)
{
	return sk_under_memory_pressure(sk);
}

/* Bytes that the receiving half holds now. */
static int memory_receive_bytes(const struct sdp_sock *ssk)
{
	return (ssk->link ? ssk->posted_bytes : 0) + ssk->ring_bytes +
	       atomic_read(&ssk->sk.sk_rmem_alloc);
}

/**
 * sdp_memory_beyond_limit() - does a memory cgroup exceed its limit?
 * @sk: socket
 *
 * A cgroup that is exactly at its limit, as page cache often makes it, does not
 * exceed it.
 *
 * Return: true when the socket's cgroup or one of its ancestors is charged for
 * more than its memory.max.
 */
bool sdp_memory_beyond_limit(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *group;

	for (group = sk->sk_memcg; group; group = parent_mem_cgroup(group))
		if (page_counter_read(&group->memory) >
		    READ_ONCE(group->memory.max))
			return true;
#endif
	return false;
}

/**
 * sdp_memory_reclaim() - reclaim memory for a cgroup that exceeds its limit
 * @sk: socket
 *
 * An allocation that may sleep makes the kernel reclaim from the cgroup. It
 * must be larger than the batch that each CPU keeps charged in advance, else
 * it would be taken from there. It does not invoke the OOM killer.
 *
 * Context: Process context, may sleep.
 * Return: true when the cgroup has exceeded its limit and does so no longer.
 */
bool sdp_memory_reclaim(struct sock *sk)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *before;

	if (!sdp_memory_beyond_limit(sk))
		return false;
	before = set_active_memcg(sk->sk_memcg);
	kvfree(kvmalloc((MEMCG_CHARGE_BATCH + 1) * PAGE_SIZE,
			GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN));
	set_active_memcg(before);
	return !sdp_memory_beyond_limit(sk);
#else
	return false;
#endif
}

static void rx_note_short(struct sdp_sock *ssk, bool is_short)
{
	ssk->rx_short = is_short;
	if (is_short)
		SDP_INC(sock_net(&ssk->sk), MemoryShort);
}

/* Ask for @more bytes for the receiving half, beyond what the socket has. */
static bool memory_granted(struct sdp_sock *ssk, int more)
{
	rx_note_short(ssk,
		      sdp_memory_beyond_limit(&ssk->sk) ||
		      !__sk_mem_schedule(&ssk->sk, more, SK_MEM_RECV));
	return !ssk->rx_short;
}

/**
 * sdp_memory_of_receive() - memory that one posted receive holds
 * @ssk: socket, locked, with a link
 * @size: size of its buffer, in bytes
 *
 * Return: bytes, with the overhead of its skb; 0 if the receives of the
 * transport hold none.
 */
int sdp_memory_of_receive(const struct sdp_sock *ssk, u32 size)
{
	return ssk->link->ops->pools ? 0 : SKB_TRUESIZE(size);
}

/**
 * sdp_memory_for_receives() - get memory for further receives
 * @ssk: socket, locked, with a link
 * @want: number of receives to be posted
 * @size: size of each one's buffer, in bytes
 *
 * Return: number of receives that may be posted. When memory is short it is
 * less than @want, but enough that the connection does not get stuck.
 */
u16 sdp_memory_for_receives(struct sdp_sock *ssk, u16 want, u32 size)
{
	struct sock *sk = &ssk->sk;
	u16 posted = ssk->engine.credit.posted;
	/*
	 * A credit update grants at least credit.threshold receives. With fewer
	 * receives than this, we could never send one to a peer that is down to
	 * its last credit (D4, D5).
	 */
	int least = max(0, ssk->engine.credit.threshold + 1 - posted);

	while (want > least) {
		int more = memory_receive_bytes(ssk) +
			   want * sdp_memory_of_receive(ssk, size) -
			   ssk->rx_charged - sk->sk_forward_alloc;

		if (more <= 0 || memory_granted(ssk, more))
			break;
		want = max_t(int, want / 2, least);
	}
	return want;
}

/**
 * sdp_memory_settle() - charge the receiving half for what it holds now
 * @ssk: socket, locked
 */
void sdp_memory_settle(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	int now = memory_receive_bytes(ssk);
	int more = now - ssk->rx_charged;
	int lacking;

	ssk->rx_charged = now;
	if (more <= 0) {
		if (more)
			sk_mem_uncharge(sk, -more);
		return;
	}
	/*
	 * The memory is in use already, so it is charged whether it is granted
	 * or not. If it is not granted, the next receives are not posted.
	 */
	lacking = more - sk->sk_forward_alloc;
	if (lacking > 0)
		rx_note_short(ssk,
			      !__sk_mem_schedule(sk, lacking, SK_MEM_RECV) ||
			      sdp_memory_beyond_limit(sk));
	sk_mem_charge(sk, more);
}

/**
 * sdp_memory_for_write() - may a writer add to the send buffer?
 * @ssk: socket, locked
 * @bytes: memory to add, with the overhead of its skb
 *
 * Return: true when it may, even if memory is short but little is written;
 * false when it has to wait until some of what it has written has arrived.
 */
bool sdp_memory_for_write(struct sdp_sock *ssk, int bytes)
{
	struct sock *sk = &ssk->sk;

	if ((bytes <= sk->sk_forward_alloc || !sdp_memory_beyond_limit(sk)) &&
	    sk_wmem_schedule(sk, bytes))
		return true;
	SDP_INC(sock_net(sk), MemoryShort);
	return sk->sk_wmem_queued < sdp_memory_least[0];
}

/**
 * sdp_memory_charge_tx() - the send buffer has grown or shrunk
 * @ssk: socket, locked
 * @bytes: change in bytes, negative when the buffer has shrunk
 */
void sdp_memory_charge_tx(struct sdp_sock *ssk, int bytes)
{
	struct sock *sk = &ssk->sk;

	sk_wmem_queued_add(sk, bytes);
	if (bytes > 0)
		sk_mem_charge(sk, bytes);
	else
		sk_mem_uncharge(sk, -bytes);
}

/**
 * sdp_memory_inherit() - charge a child socket to its listener's memory cgroup
 * @child: new socket. A work item has made it, so it has no cgroup of its own
 * @parent: listener
 */
void sdp_memory_inherit(struct sock *child, const struct sock *parent)
{
#ifdef CONFIG_MEMCG
	if (!parent->sk_memcg || child->sk_memcg)
		return;
	css_get(&parent->sk_memcg->css);
	child->sk_memcg = parent->sk_memcg;
#endif
}

/**
 * sdp_memory_end() - uncharge a socket that is being freed
 * @ssk: socket; its queues are empty, and nobody else uses it
 */
void sdp_memory_end(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	atomic_set(&sk->sk_rmem_alloc, 0);
	sdp_memory_settle(ssk);
	sdp_memory_charge_tx(ssk, -sk->sk_wmem_queued);
	sk_mem_reclaim_final(sk);
	sk_sockets_allocated_dec(sk);
}

/**
 * sdp_memory_init() - derive the limits from the machine's memory, as TCP does
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_memory_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 16, 128UL);

	sdp_mem[0] = limit / 4 * 3;
	sdp_mem[1] = limit;
	sdp_mem[2] = sdp_mem[0] * 2;
	sdp_mem_changed();
	/* Four pages of the limit for each, but enough for a busy server. */
	sdp_max_orphans = clamp(limit / 4, 4096UL, (unsigned long)INT_MAX);
	return percpu_counter_init(&sdp_sockets_allocated, 0, GFP_KERNEL);
}

/**
 * sdp_memory_exit() - undo sdp_memory_init(); no sockets are left
 */
void sdp_memory_exit(void)
{
	percpu_counter_destroy(&sdp_sockets_allocated);
}
