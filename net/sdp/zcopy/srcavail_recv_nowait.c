// SPDX-License-Identifier: GPL-2.0
/*
 * Reading by RDMA what the peer has offered, for readers who must not wait.
 *
 * A read that waits for the fabric waits for the other machine, which may be gone, or may mean
 * harm. So it is only begun, into a buffer of the kernel, and the call returns with what there is,
 * or EAGAIN. When the bytes are here they are queued like a message, and readers are woken. As long
 * as they are on their way they do not count as readable: who polls sleeps.
 *
 * The reader's memory takes no part in it, which costs a copy. As much is read as the reader had
 * room for, one piece after the other.
 *
 * A completion comes in softirq; what it ends may sleep (a registration), so a work item does that
 * and begins the next piece. Until then the engine takes the read for unfinished, and nothing else
 * can happen to the offer.
 */
#include <linux/slab.h>

#include "../conn/sock.h"

/* Bytes of a piece; in pages of this order it needs no registration. */
#define PIECE_MAX	65536
#define PIECE_PAGES	(PIECE_MAX / PAGE_SIZE)
#define PIECE_ORDER	3

/**
 * struct sdp_srcavail_recv_nowait - a piece on its way
 * @ssk: socket, with a reference
 * @link: the link, in use
 * @mem: memory of @skb, known to the device
 * @skb: where to
 * @n: bytes
 * @more: bytes that the reader has room for behind it
 * @work: ends it
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

static void ended(struct sdp_mem *mem)
{
	struct sdp_srcavail_recv_nowait *s = mem->arg;

	queue_work(sdp_wq, &s->work);
}

static void stage_free(struct sdp_srcavail_recv_nowait *s)
{
	s->link->ops->unuse(s->link);
	kfree_skb(s->skb);
	sock_put(&s->ssk->sk);
	kfree(s);
}

/*
 * Returns whether @work will run. If not, @busy says whether that is because somebody else has
 * begun a read, which will wake readers as well.
 */
static bool begin(struct sdp_srcavail_recv_nowait *s, bool *busy)
{
	struct sdp_sock *ssk = s->ssk;
	struct sdp_region from;
	bool begun = false;

	sdp_stream_lock(ssk);
	*busy = sdp_engine_srcavail_rx_reading(&ssk->engine);
	if (ssk->link == s->link &&
	    sdp_engine_rdma_read_begin(&ssk->engine, s->n, &from)) {
		s->mem->ended = ended;
		s->mem->arg = s;
		begun = s->link->ops->move(s->link, s->mem, &from);
		if (!begun) {
			/* Whatever of it has been posted is waited for by unmap(). */
			s->mem->ended = NULL;
			sdp_engine_rdma_read_end(&ssk->engine, false);
		}
		sdp_alive_watch(ssk);
	}
	/* What is on its way is not readable. */
	WRITE_ONCE(ssk->srcavail_rx_left,
		   ssk->link ? sdp_engine_srcavail_rx_left(&ssk->engine) : 0);
	spin_unlock_bh(&ssk->lock);
	return begun;
}

static bool make(struct sdp_srcavail_recv_nowait *s)
{
	struct page *pages[PIECE_PAGES];
	struct sdp_pages mem = { .pages = pages,
				 .len = s->n,
				 .use = SDP_MEM_READ_INTO };

	s->skb = sdp_buf_pages(s->n, PIECE_ORDER, pages, &mem.n,
			       s->ssk->sk.sk_allocation);
	if (!s->skb)
		return false;
	s->mem = sdp_map(s->ssk, s->link, &mem);
	return !IS_ERR(s->mem);
}

static void done(struct work_struct *work)
{
	struct sdp_srcavail_recv_nowait *s =
		container_of(work, struct sdp_srcavail_recv_nowait, work);
	struct sdp_sock *ssk = s->ssk;
	int error = s->mem->error;
	bool on = false;
	struct sdp_todo todo = { };

	s->link->ops->unmap(s->link, s->mem);
	sdp_stream_lock(ssk);
	if (ssk->link == s->link) {
		sdp_engine_rdma_read_end(&ssk->engine, !error);
		if (!error) {
			sdp_queue_read(ssk, s->skb, s->n);
			s->skb = NULL;
			sdp_was_read(ssk, s->n, &todo);
			on = s->more;
		} else if (error == -EAGAIN) {
			/* They are still to be had, and so readable again. */
			SDP_INC(sock_net(&ssk->sk), RdmaReadsVoid);
			todo.wake |= SDP_WAKE_READ;
		}
		sdp_stream_progress(ssk, &todo);
		on = on && !sdp_queue_full(ssk);
	}
	sdp_stream_unlock(ssk, &todo);
	if (on)
		sdp_srcavail_recv_nowait(ssk, s->more);
	stage_free(s);
}

/**
 * sdp_srcavail_recv_nowait() - begin to read what the peer offers, and do not wait for it
 * @ssk: socket
 * @room: bytes that the reader has room for
 *
 * Return: false when it cannot be; true when something is being read.
 */
bool sdp_srcavail_recv_nowait(struct sdp_sock *ssk, u32 room)
{
	u32 n = min3(room, READ_ONCE(ssk->srcavail_rx_left), (u32)PIECE_MAX);
	struct sdp_srcavail_recv_nowait *s;
	bool busy = false;

	s = n ? kzalloc(sizeof(*s), GFP_KERNEL | __GFP_NOWARN) : NULL;
	if (!s)
		return false;
	s->link = sdp_link_use(ssk);
	if (!s->link) {
		kfree(s);
		return false;
	}
	sock_hold(&ssk->sk);
	s->ssk = ssk;
	s->n = n;
	s->more = room - n;
	INIT_WORK(&s->work, done);
	if (make(s)) {
		if (begin(s, &busy))
			return true;
		s->link->ops->unmap(s->link, s->mem);
	}
	stage_free(s);
	return busy;
}
