// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail that we receive: RDMA reads for non-blocking readers.
 *
 * To wait for the fabric is to wait for the peer's machine, which may be gone
 * or hostile. So a non-blocking call only begins an RDMA read into a kernel
 * buffer, and returns with what is there or with EAGAIN. When the bytes arrive
 * they are queued like a message, and readers are woken. Bytes in flight do not
 * count as readable, so a poller sleeps until then.
 *
 * The reader's memory takes no part in this, which costs a copy. As many bytes
 * are read as the reader had room for, one piece after the other; or more, as
 * far as the receive buffer has room. A program that polls is likely to call
 * again, and one large read costs less than many of the size of its calls.
 *
 * The completion comes in softirq context, but unmapping the buffer and mapping
 * the next one may sleep. So a work item ends the read and begins the next
 * piece. Until then the engine regards the read as in flight, and nothing else
 * can happen to the SrcAvail.
 */
#include <linux/slab.h>

#include "../conn/conn.h"
#include "../conn/keepalive.h"
#include "../conn/output.h"
#include "../conn/rdma_buf.h"
#include "../conn/rx_queue.h"
#include "srcavail_recv_nowait.h"
#include "zcopy.h"

/*
 * Largest read. Its buffer consists of so few address ranges, as a rule, that
 * the device needs no registration of memory.
 */
#define NOWAIT_MAX	262144
/* Largest read where memory is too fragmented for that. */
#define NOWAIT_SMALL	65536
#define NOWAIT_PAGES	(NOWAIT_MAX / PAGE_SIZE)

/**
 * struct sdp_srcavail_recv_nowait - an RDMA read that nobody waits for
 * @ssk: socket, with a reference
 * @link: its link, in use
 * @mem: memory of @skb, mapped for the device
 * @skb: buffer to read into, until it is queued
 * @n: bytes to read
 * @more: bytes that the reader has room for in addition
 * @work: ends the read, once it has completed
 */
struct sdp_srcavail_recv_nowait {
	struct sdp_sock *ssk;
	struct sdp_link *link;
	struct sdp_mem *mem;
	struct sk_buff *skb;
	u32 n;
	u32 more;
	struct work_struct work;
};

/* The read has completed; any context. */
static void nowait_completed(struct sdp_mem *mem)
{
	struct sdp_srcavail_recv_nowait *s = mem->arg;

	queue_work(sdp_wq, &s->work);
}

static void nowait_free(struct sdp_srcavail_recv_nowait *s)
{
	s->link->ops->unuse(s->link);
	kfree_skb(s->skb);
	sock_put(&s->ssk->sk);
	kfree(s);
}

/*
 * Begin the read. Returns true if it is in flight; then @work will end it.
 * @busy is set to whether another read was in flight, whose end wakes readers,
 * too.
 */
static bool nowait_begin(struct sdp_srcavail_recv_nowait *s, bool *busy)
{
	struct sdp_sock *ssk = s->ssk;
	const struct sdp_rail_keys *keys;
	struct sdp_region from;
	bool begun = false;

	sdp_conn_lock(ssk);
	*busy = sdp_engine_srcavail_rx_reading(&ssk->engine);
	if (ssk->link == s->link &&
	    sdp_engine_rdma_read_begin(&ssk->engine, s->n, &from)) {
		s->mem->ended = nowait_completed;
		s->mem->arg = s;
		keys = sdp_engine_srcavail_keys(&ssk->engine);
		begun = s->link->ops->move(s->link, s->mem, &from, keys);
		if (!begun) {
			s->mem->ended = NULL;
			sdp_engine_rdma_read_end(&ssk->engine, false);
		}
		sdp_keepalive_watch(ssk);
	}
	/* Bytes in flight are not readable. */
	WRITE_ONCE(ssk->srcavail_rx_left,
		   ssk->link ? sdp_engine_srcavail_rx_left(&ssk->engine) : 0);
	spin_unlock_bh(&ssk->lock);
	return begun;
}

/* Allocate and map the buffer. nowait_free() frees it, also after a failure. */
static bool nowait_map(struct sdp_srcavail_recv_nowait *s)
{
	struct page *pages[NOWAIT_PAGES];
	struct sdp_pages mem = { .pages = pages,
				 .len = s->n,
				 .use = SDP_MEM_READ_INTO };

	s->skb = sdp_rdma_buf_get(s->ssk, s->n);
	if (!s->skb && s->n > NOWAIT_SMALL) {
		s->more += s->n - NOWAIT_SMALL;
		s->n = NOWAIT_SMALL;
		mem.len = s->n;
		s->skb = sdp_rdma_buf_get(s->ssk, s->n);
	}
	if (!s->skb)
		return false;
	mem.n = sdp_buf_list_pages(s->skb, s->n, pages);
	s->mem = sdp_zcopy_map(s->ssk, s->link, &mem);
	return !IS_ERR(s->mem);
}

/* The read has ended: queue its bytes, and begin to read the next piece. */
static void nowait_work(struct work_struct *work)
{
	struct sdp_srcavail_recv_nowait *s =
		container_of(work, struct sdp_srcavail_recv_nowait, work);
	struct sdp_sock *ssk = s->ssk;
	int error = s->mem->error;
	bool on = false;
	struct sdp_todo todo = { };

	s->link->ops->unmap(s->link, s->mem);
	sdp_conn_lock(ssk);
	if (ssk->link == s->link) {
		sdp_engine_rdma_read_end(&ssk->engine, !error);
		if (!error) {
			sdp_rx_queue_rdma(ssk, s->skb, s->n);
			s->skb = NULL;
			sdp_rx_was_read(ssk, s->n, &todo);
			on = s->more;
		} else {
			/* The bytes can be read again, so they are readable. */
			SDP_ADD(sock_net(&ssk->sk), RdmaReadsVoid,
				error == -EAGAIN);
			todo.wake |= SDP_WAKE_READ;
		}
		sdp_conn_progress(ssk, &todo);
		on = on && !sdp_rx_full(ssk);
	}
	sdp_conn_unlock(ssk, &todo);
	if (on)
		sdp_srcavail_recv_nowait(ssk, s->more);
	nowait_free(s);
}

/* Number of bytes to read next for a call that has room for @room. */
static u32 nowait_bytes(const struct sdp_sock *ssk, u32 room)
{
	const struct sock *sk = &ssk->sk;
	int ahead = READ_ONCE(sk->sk_rcvbuf) - atomic_read(&sk->sk_rmem_alloc);

	if (ahead > 0)
		room = max_t(u32, room, ahead);
	return min3(room, READ_ONCE(ssk->srcavail_rx_left), (u32)NOWAIT_MAX);
}

/* Is a read in flight? Meanwhile nothing is left to read. */
static bool nowait_busy(struct sdp_sock *ssk)
{
	bool busy;

	sdp_conn_lock(ssk);
	busy = ssk->link && sdp_engine_srcavail_rx_reading(&ssk->engine);
	spin_unlock_bh(&ssk->lock);
	return busy;
}

/**
 * sdp_srcavail_recv_nowait() - begin to read from the peer's SrcAvail
 * @ssk: socket, not locked
 * @room: bytes that the reader has room for
 *
 * Called by a reader with rx_mutex, and by the work item. Does not wait for the
 * end of the read, which wakes readers. May sleep to allocate and register
 * memory.
 *
 * Return: true when an RDMA read is in flight, this one or another; false when
 * none can be begun.
 */
bool sdp_srcavail_recv_nowait(struct sdp_sock *ssk, u32 room)
{
	u32 n = nowait_bytes(ssk, room);
	struct sdp_srcavail_recv_nowait *s;
	bool busy = false;

	if (!n)
		return nowait_busy(ssk);
	s = kzalloc(sizeof(*s), GFP_KERNEL | __GFP_NOWARN);
	if (!s)
		return false;
	s->link = sdp_conn_use_link(ssk);
	if (!s->link) {
		kfree(s);
		return false;
	}
	sock_hold(&ssk->sk);
	s->ssk = ssk;
	s->n = n;
	s->more = room - min(room, n);
	INIT_WORK(&s->work, nowait_work);
	if (nowait_map(s)) {
		if (nowait_begin(s, &busy))
			return true;
		s->link->ops->unmap(s->link, s->mem);
	}
	nowait_free(s);
	return busy;
}
