// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvail that we send: the peer writes into a reader's memory.
 *
 * This is for large reads of a direction in Pipelined mode (B4, C5). A reader
 * that would have to wait, and has much room, pins its pages, has them
 * registered and advertises them (SinkAvail). Then it waits as every reader
 * does, but without rx_mutex.
 *
 * The peer reports a write by RdmaWrCompl, which comes in order with messages.
 * So the bytes written are next in the stream when it arrives. Anything else
 * ends the advertisement: data in a message, the end of the stream, a change of
 * the mode. The reader then checks again what it can read. Only one write goes
 * into an advertised buffer, however short it is (C7).
 *
 * A peer that is not AF_SDP may write and report several times into one buffer,
 * and we cannot know in advance (proto/sinkavail_rx.h). After the peer's first
 * report the reader cancels the rest and waits for the answer, but only for
 * SINKAVAIL_REST_JIFFIES: a peer that was done with the buffer does not answer.
 * Then the memory is unmapped, so that the peer cannot reach it. Only after
 * that does the engine forget the buffer, and another one may be advertised.
 *
 * Several readers may have their memory advertised. The peer fills it in the
 * order in which they came. A reader that may not wait any longer (signal,
 * timeout) cancels its SinkAvail, and with it those of all other readers,
 * because the wire has no other cancel. It waits for the answer, which the
 * peer's kernel gives without its application. What was written meanwhile
 * counts as read. When the call returns, the peer cannot reach the memory.
 */
#include "../conn/conn.h"
#include "../conn/output.h"
#include "../conn/rx_queue.h"
#include "../conn/wake.h"
#include "pin.h"
#include "sinkavail_recv.h"
#include "zcopy.h"

/**
 * struct sdp_sinkavail_recv - a reader's memory while the peer may write to it
 * @node: in sdp_sock.sinkavail_rx until it is over
 * @id: the engine's id of the buffer, 0 if it has not been advertised
 * @mem: the memory; NULL once it is being unmapped
 * @got: bytes that the peer has written so far
 * @told: the peer has reported a write, or @over is set
 * @over: the peer does not write into the memory any more
 *
 * Lives on the reader's stack. The socket's lock covers it until it is over.
 */
struct sdp_sinkavail_recv {
	struct list_head node;
	u32 id;
	struct sdp_mem *mem;
	u32 got;
	bool told;
	bool over;
};

/* Time that a reader waits for an answer which the peer may not give. */
#define SINKAVAIL_REST_JIFFIES	(HZ / 4)

/*
 * The peer does not write into a buffer any more. Called with the socket's
 * lock; nothing accesses @p afterwards. The caller wakes readers.
 */
static void sinkavail_over(struct sdp_sock *ssk, struct sdp_sinkavail_recv *p)
{
	if (p->mem)
		p->mem->settled = !ssk->engine.dead;
	list_del(&p->node);
	WRITE_ONCE(p->told, true);
	/* Pairs with sinkavail_await_over() and sinkavail_unmap(). */
	smp_store_release(&p->over, true);
	WRITE_ONCE(ssk->sinkavail_rx_over, ssk->sinkavail_rx_over + 1);
}

/**
 * sdp_sinkavail_recv_over() - a SinkAvail has ended, or the peer has written
 * @ssk: socket, locked
 * @id: the engine's id of the buffer
 * @got: number of bytes written into it; they come next in the stream
 * @rest: it has not ended: the peer may write more into it
 *
 * The caller wakes readers.
 */
void sdp_sinkavail_recv_over(struct sdp_sock *ssk, u32 id, u32 got, bool rest)
{
	struct sdp_sinkavail_recv *p;

	if (got) {
		sdp_rx_passed(ssk, got);
		SDP_ADD(sock_net(&ssk->sk), RdmaWriteBytesByPeer, got);
		ssk->bytes_received += got;
		ssk->rdma_received += got;
		ssk->last_received = jiffies;
	}
	list_for_each_entry(p, &ssk->sinkavail_rx, node) {
		if (p->id != id)
			continue;
		p->got += got;
		if (!rest) {
			sinkavail_over(ssk, p);
			return;
		}
		/* Pairs with sdp_zcopy_await_answer(). */
		smp_store_release(&p->told, true);
		WRITE_ONCE(ssk->sinkavail_rx_over, ssk->sinkavail_rx_over + 1);
		return;
	}
}

/**
 * sdp_sinkavail_recv_end() - the connection is over, and all its SinkAvails
 * @ssk: socket, locked
 *
 * The caller wakes readers.
 */
void sdp_sinkavail_recv_end(struct sdp_sock *ssk)
{
	struct sdp_sinkavail_recv *p, *next;

	list_for_each_entry_safe(p, next, &ssk->sinkavail_rx, node)
		sinkavail_over(ssk, p);
}

/*
 * Cancel all SinkAvails. Those that have not been sent are over at once. Called
 * with the socket's lock.
 */
static void sinkavail_cancel(struct sdp_sock *ssk)
{
	struct sdp_actions acts = { };
	u32 i;

	sdp_engine_sinkavail_cancel(&ssk->engine, &acts);
	for (i = 0; i < acts.n; i++)
		sdp_sinkavail_recv_over(ssk, acts.list[i].id, 0, false);
}

/**
 * sdp_sinkavail_recv_check() - cancel a SinkAvail that must not be sent now
 * @ssk: socket, locked; its receive queue has unread bytes
 *
 * Called before messages are sent. A SinkAvail that still waits for credit must
 * not be sent after bytes have come that nobody has read: the peer's write
 * would overtake them. A SinkAvail that has been sent needs no check: the peer
 * drops it when it sends data.
 */
void sdp_sinkavail_recv_check(struct sdp_sock *ssk)
{
	if (sdp_sinkavail_rx_waiting(&ssk->engine.sinkavail_rx))
		sinkavail_cancel(ssk);
}

/*
 * Advertise a reader's memory. Returns false if it may not be advertised now,
 * for example because data has come meanwhile.
 */
static bool sinkavail_advertise(struct sdp_sock *ssk, struct sdp_link *link,
				struct sdp_sinkavail_recv *p)
{
	struct sdp_todo todo = { };
	bool may;
	u32 least;

	sdp_conn_lock(ssk);
	least = sdp_engine_may_sinkavail(&ssk->engine);
	may = ssk->link == link && !READ_ONCE(link->many) && !ssk->rx_bytes &&
	      !ssk->sk.sk_err && !(ssk->sk.sk_shutdown & RCV_SHUTDOWN) &&
	      least && p->mem->region.len >= least;
	if (may)
		p->id = sdp_engine_sinkavail(&ssk->engine, &p->mem->region);
	if (p->id) {
		list_add_tail(&p->node, &ssk->sinkavail_rx);
		p->mem->settled = false;
		if (READ_ONCE(ssk->rx_body) == SDP_BODY_PROMISED)
			WRITE_ONCE(ssk->rx_body, SDP_BODY_SEEN);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	return p->id;
}

/* Is there data, a SrcAvail to read, or the end of the input? */
static bool sinkavail_other_news(struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->rx_bytes) ||
	       (READ_ONCE(ssk->srcavail_rx_left) && READ_ONCE(ssk->rx_reads)) ||
	       sdp_rx_over(ssk);
}

/*
 * Condition for sdp_wait(): there is other news, or @sinkavail_rx_over is not
 * @number any more, because something has happened to some reader's SinkAvail.
 */
static bool sinkavail_any_news(struct sdp_sock *ssk, u32 number)
{
	return READ_ONCE(ssk->sinkavail_rx_over) != number ||
	       sinkavail_other_news(ssk);
}

static bool sinkavail_is_told(struct sdp_sock *ssk,
			      const struct sdp_sinkavail_recv *p, u32 *number)
{
	bool is;

	sdp_conn_lock(ssk);
	is = p->told;
	*number = ssk->sinkavail_rx_over;
	spin_unlock_bh(&ssk->lock);
	return is;
}

/*
 * Wait for a report about @p, its end, or other news. What happens to another
 * reader's SinkAvail does not end the wait. Returns 0 or an errno.
 */
static int sinkavail_await_news(struct sdp_sock *ssk,
				const struct sdp_sinkavail_recv *p, long *timeo)
{
	int err = 0;
	u32 number;

	while (!err && !sinkavail_is_told(ssk, p, &number) &&
	       !sinkavail_other_news(ssk))
		err = sdp_wait(ssk, SDP_READ, timeo, sinkavail_any_news,
			       number);
	return err;
}

/*
 * Wait until the SinkAvail of @p is over. Called when it has been cancelled or
 * is over already. The peer answers a cancel, unless it has reported a write
 * and was done with the buffer then. So after a report we do not wait for long.
 */
static void sinkavail_await_over(struct sdp_sock *ssk,
				 struct sdp_sinkavail_recv *p)
{
	unsigned long end;

	sdp_zcopy_await_answer(ssk, &p->told);
	end = jiffies + SINKAVAIL_REST_JIFFIES;
	/* Pairs with sinkavail_over(). */
	while (!smp_load_acquire(&p->over) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}

/*
 * Wait for news, and then end the SinkAvail. Returns 0, or the errno that has
 * ended the wait.
 */
static int sinkavail_await_end(struct sdp_sock *ssk,
			       struct sdp_sinkavail_recv *p, long *timeo)
{
	struct sdp_todo todo = { };
	int err;

	err = sinkavail_await_news(ssk, p, timeo);
	sdp_conn_lock(ssk);
	if (!p->over) {
		SDP_INC(sock_net(&ssk->sk), SinkAvailCancelled);
		sinkavail_cancel(ssk);
		todo.wake |= SDP_WAKE_READ;
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	sinkavail_await_over(ssk, p);
	return err;
}

/*
 * Unmap the memory, so that the peer cannot write into it any more. If the
 * SinkAvail is not over, the engine then forgets the buffer: what the peer
 * reports from then on is about another one.
 */
static void sinkavail_unmap(struct sdp_sock *ssk, struct sdp_link *link,
			    struct sdp_sinkavail_recv *p)
{
	struct sdp_mem *mem = p->mem;
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	p->mem = NULL;
	spin_unlock_bh(&ssk->lock);
	link->ops->unmap(link, mem);
	/* Pairs with sinkavail_over(). */
	if (smp_load_acquire(&p->over))
		return;
	sdp_conn_lock(ssk);
	if (!p->over) {
		sdp_engine_sinkavail_drop(&ssk->engine, p->id);
		sinkavail_over(ssk, p);
		todo.wake |= SDP_WAKE_READ;
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_sinkavail_recv_fits() - could a reader's memory be advertised?
 * @ssk: socket
 * @to: the memory; only its first region can be advertised (sdp_pin_span())
 * @room: bytes of it
 *
 * Checks the size only, not the mode: socket/recv.c calls this in every mode to
 * learn whether readers have such memory before the data comes (enum
 * sdp_comes).
 *
 * Return: true when the memory is worth RDMA and not too short for the peer.
 */
bool sdp_sinkavail_recv_fits(const struct sdp_sock *ssk,
			     const struct iov_iter *to, size_t room)
{
	if (!sdp_zcopy_worth(ssk, room))
		return false;
	room = sdp_pin_span(to, room);
	return room >= READ_ONCE(ssk->rx_least) && sdp_zcopy_worth(ssk, room);
}

/*
 * May the memory be advertised now? sinkavail_advertise() checks again, but
 * only after a registration.
 */
static bool sinkavail_worth(struct sdp_sock *ssk, const struct iov_iter *to,
			    size_t room, long timeo)
{
	u32 least;

	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED || !timeo)
		return false;
	sdp_conn_lock(ssk);
	least = ssk->link && !READ_ONCE(ssk->link->many) ?
			sdp_engine_may_sinkavail(&ssk->engine) : 0;
	spin_unlock_bh(&ssk->lock);
	return least && sdp_sinkavail_recv_fits(ssk, to, room);
}

/**
 * sdp_sinkavail_recv() - advertise a reader's memory, and wait (C5)
 * @ssk: socket, with rx_mutex, which is dropped meanwhile; there is nothing to
 *	read
 * @to: the reader's memory; advanced
 * @room: bytes of it
 * @timeo: how long to wait, jiffies; reduced by the time waited
 * @result: set if true is returned: bytes that the peer has written; 0 when
 *	there may be something to read now; or an errno
 *
 * Return: true when the reader has waited; false when the memory could not be
 * advertised, and the reader has to wait in the usual way.
 */
bool sdp_sinkavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t room,
			long *timeo, int *result)
{
	struct sdp_sinkavail_recv p = { };
	struct sdp_pinned pin;
	struct sdp_link *link;
	bool posted = false;

	if (!sinkavail_worth(ssk, to, room, *timeo) ||
	    !sdp_pin(&pin, to, room, SDP_MEM_PEER_WRITES))
		return false;
	/*
	 * Other readers may read or wait meanwhile. The mutex is taken again
	 * only after the memory is unmapped and unpinned, so a reader that
	 * holds the mutex for long does not delay that.
	 */
	mutex_unlock(&ssk->rx_mutex);
	link = sdp_conn_use_link(ssk);
	p.mem = link ? sdp_zcopy_map(ssk, link, &pin.mem) : ERR_PTR(-ENOTCONN);
	if (!IS_ERR(p.mem)) {
		posted = sinkavail_advertise(ssk, link, &p);
		if (posted)
			*result = sinkavail_await_end(ssk, &p, timeo);
		p.over |= !posted;
		sinkavail_unmap(ssk, link, &p);
	}
	if (link)
		link->ops->unuse(link);
	sdp_unpin(&pin);
	mutex_lock(&ssk->rx_mutex);
	if (p.got) {
		iov_iter_advance(to, p.got);
		*result = p.got;
	}
	return posted;
}
