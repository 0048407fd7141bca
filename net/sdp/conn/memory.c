// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of all sockets together: counted as the kernel counts that of TCP, charged to
 * memory cgroups, bounded by net.sdp.mem.
 *
 * What is counted is what a socket really holds: written bytes until they have arrived
 * (sk_wmem_queued), received bytes until they are read (sk_rmem_alloc), and the receives
 * that are posted for the peer. Data that has arrived is never dropped, its peer has been
 * told that it is safe; so memory that is short shows earlier: writers wait, and fewer
 * receives are posted, which is fewer credits for the peer. A few receives and the first
 * bytes of a write are always granted, so that every connection can get going again.
 *
 * Buffers that are kept for a moment to be used again (timer.c) are not counted; none are
 * kept while memory is short.
 *
 * Most charges are made under the socket's @lock, where nothing may sleep.
 * There the kernel lets a memory cgroup go beyond its limit, and leaves it to
 * others to reclaim. So the limit is looked at here, and callers that may sleep
 * reclaim.
 *
 * sk_forward_alloc, what a socket has been granted and does not use, is covered by the
 * socket's @lock.
 */
#include <linux/memcontrol.h>
#include <linux/percpu_counter.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "sock.h"

atomic_long_t sdp_memory_allocated ____cacheline_aligned_in_smp;
DEFINE_PER_CPU(int, sdp_memory_per_cpu_fw_alloc);
struct percpu_counter sdp_sockets_allocated;
unsigned long sdp_memory_pressure;

/* What a socket is granted even when memory is short: only the first number is used. */
int sdp_memory_least[3] = { 4096, 4096, 4096 };

/**
 * sdp_memory_enter_pressure() - the kernel finds that memory may be short
 * @sk: the socket that noticed
 *
 * It is when net.sdp.mem is nearly used up, of which the kernel does not know
 * the number (sdp_mem_limits).
 */
void sdp_memory_enter_pressure(struct sock *sk)
{
	if (sk_memory_allocated(sk) > READ_ONCE(sdp_mem[1]))
		sdp_memory_failed(sk);
}

/**
 * sdp_memory_failed() - memory is short, for so much or as there is none left
 * @sk: the socket that noticed
 */
void sdp_memory_failed(struct sock *sk)
{
	if (READ_ONCE(sdp_memory_pressure))
		return;
	WRITE_ONCE(sdp_memory_pressure, 1);
	SDP_INC(sock_net(sk), MemoryPressure);
}

/**
 * sdp_memory_leave_pressure() - there is enough memory again
 * @sk: the socket that noticed
 */
void sdp_memory_leave_pressure(struct sock *sk)
{
	WRITE_ONCE(sdp_memory_pressure, 0);
}

/**
 * sdp_memory_is_short() - is this a time to keep nothing, and to let nothing grow?
 * @sk: socket
 *
 * Return: whether net.sdp.mem is nearly used up, or its memory cgroup is being reclaimed from.
 */
bool sdp_memory_is_short(const struct sock *sk)
{
	return sk_under_memory_pressure(sk);
}

/* Bytes that the receiving half holds now. */
static int receive_bytes(const struct sdp_sock *ssk)
{
	return (ssk->link ? ssk->posted_bytes : 0) + ssk->ring_bytes +
	       atomic_read(&ssk->sk.sk_rmem_alloc);
}

/**
 * sdp_memory_beyond_limit() - has its memory cgroup more than it may have?
 * @sk: socket
 *
 * Return: whether that group, or one that it is in, is charged for more than
 * its memory.max. One that is at its limit, because of its page cache, is not.
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
 * sdp_memory_reclaim() - take memory back for a cgroup beyond its limit
 * @sk: socket
 *
 * A charge that may sleep does so; it has to be larger than what a processor
 * keeps charged in advance. No process is killed for it.
 *
 * Context: sleeps.
 * Return: whether the group was beyond its limit and is not any more.
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

static void note_short(struct sdp_sock *ssk, bool is_short)
{
	ssk->rx_short = is_short;
	if (is_short)
		SDP_INC(sock_net(&ssk->sk), MemoryShort);
}

/* May the receiving half have @more bytes beyond what the socket has? */
static bool granted(struct sdp_sock *ssk, int more)
{
	note_short(ssk, sdp_memory_beyond_limit(&ssk->sk) ||
		   !__sk_mem_schedule(&ssk->sk, more, SK_MEM_RECV));
	return !ssk->rx_short;
}

/**
 * sdp_memory_of_receive() - what a posted receive holds
 * @ssk: socket, locked, with a link
 * @size: its bytes
 *
 * Return: bytes, with what surrounds them.
 */
int sdp_memory_of_receive(const struct sdp_sock *ssk, u32 size)
{
	return ssk->link->ops->hands_over ? 0 : SKB_TRUESIZE(size);
}

/**
 * sdp_memory_for_receives() - how many more receives may be posted?
 * @ssk: socket, locked
 * @want: receives
 * @size: bytes of each
 *
 * Return: as many, or fewer when memory is short, but enough for the connection to go on.
 */
u16 sdp_memory_for_receives(struct sdp_sock *ssk, u16 want, u32 size)
{
	struct sock *sk = &ssk->sk;
	u16 posted = ssk->engine.credit.posted;
	/* With fewer, a peer down to its last credit could never be granted T more (D4, D5). */
	int least = max(0, ssk->engine.credit.threshold + 1 - posted);

	while (want > least) {
		int more = receive_bytes(ssk) +
			   want * sdp_memory_of_receive(ssk, size) -
			   ssk->rx_charged - sk->sk_forward_alloc;

		if (more <= 0 || granted(ssk, more))
			break;
		want = max_t(int, want / 2, least);
	}
	return want;
}

/**
 * sdp_memory_settle() - bring the receiving half's charge in line with what it holds
 * @ssk: socket, locked
 */
void sdp_memory_settle(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	int now = receive_bytes(ssk);
	int more = now - ssk->rx_charged;
	int lacking;

	ssk->rx_charged = now;
	if (more <= 0) {
		if (more)
			sk_mem_uncharge(sk, -more);
		return;
	}
	/* It is here, whether it is granted or not; then the next receives are not posted. */
	lacking = more - sk->sk_forward_alloc;
	if (lacking > 0)
		note_short(ssk, !__sk_mem_schedule(sk, lacking, SK_MEM_RECV) ||
			   sdp_memory_beyond_limit(sk));
	sk_mem_charge(sk, more);
}

/**
 * sdp_memory_for_write() - may a writer add to the send buffer?
 * @ssk: socket, locked
 * @bytes: how much, with what surrounds it
 *
 * Return: false when it has to wait until some of what it wrote has arrived.
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
 * sdp_memory_sent() - the send buffer has grown, or shrunk
 * @ssk: socket, locked
 * @bytes: by how much
 */
void sdp_memory_sent(struct sdp_sock *ssk, int bytes)
{
	struct sock *sk = &ssk->sk;

	sk_wmem_queued_add(sk, bytes);
	if (bytes > 0)
		sk_mem_charge(sk, bytes);
	else
		sk_mem_uncharge(sk, -bytes);
}

/**
 * sdp_memory_inherit() - an accepted socket is charged to its listener's cgroup
 * @child: new socket; it was made by a work item, in nobody's name
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
 * sdp_memory_end() - the socket is being freed
 * @ssk: socket; its queues are empty
 */
void sdp_memory_end(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	atomic_set(&sk->sk_rmem_alloc, 0);
	sdp_memory_settle(ssk);
	sdp_memory_sent(ssk, -sk->sk_wmem_queued);
	sk_mem_reclaim_final(sk);
	sk_sockets_allocated_dec(sk);
}

/**
 * sdp_memory_init() - limits by the machine's size, as TCP has them
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
	/* A page of memory for each at the least, but enough for a busy server anywhere. */
	sdp_max_orphans = clamp(limit / 4, 4096UL, (unsigned long)INT_MAX);
	return percpu_counter_init(&sdp_sockets_allocated, 0, GFP_KERNEL);
}

/**
 * sdp_memory_exit() - undo sdp_memory_init(); there are no sockets any more
 */
void sdp_memory_exit(void)
{
	percpu_counter_destroy(&sdp_sockets_allocated);
}
