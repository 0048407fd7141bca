// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: RDMA reads and writes.
 *
 * mr.c provides the local memory. A link has at most one read and one write in
 * flight. Registered memory takes one request. Other memory is addressed piece
 * by piece with the device's local key, in up to RC_MOVE_REQUESTS requests.
 * Only the last request asks for a completion.
 *
 * The completion handler finds the link, not the memory, because the link
 * outlives every request of its queue pair.
 */
#include "rc.h"

static void move_tell_ended(struct sdp_mem *mem)
{
	if (mem->ended)
		mem->ended(mem);
	else
		complete(&mem->done);
}

static void move_done(struct rc_link *rc, struct rc_move *move,
		      const struct ib_wc *wc)
{
	struct sdp_mem *mem = move->mem;

	move->mem = NULL;
	if (wc->status != IB_WC_SUCCESS) {
		rc_send_failed(rc, wc);
		mem->error = -EIO;
	} else {
		mem->error = rc_seals_overwritten(to_rc_mem(mem)) ? 0 : -EAGAIN;
	}
	if (move == &rc->reading)
		rc->link.up->read(&rc->link, mem->error);
	move_tell_ended(mem);
}

static void move_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, reading.cqe);

	move_done(rc, &rc->reading, wc);
}

static void move_write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, writing.cqe);

	move_done(rc, &rc->writing, wc);
}

/*
 * A request before the last one failed. The queue pair flushes the later ones,
 * so the last one completes as well and ends the move.
 */
static void move_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rc_send_failed(rc, wc);
}

/**
 * rc_move_init() - prepare a link for RDMA reads and writes
 * @rc: link
 */
void rc_move_init(struct rc_link *rc)
{
	INIT_LIST_HEAD(&rc->exposed);
	spin_lock_init(&rc->exposed_lock);
	rc->part_cqe.done = move_part_done;
	rc->reading.cqe.done = move_read_done;
	rc->writing.cqe.done = move_write_done;
}

/* Largest number of pieces per request; reads may allow fewer than writes. */
static u32 move_request_pieces(const struct rc_link *rc, enum sdp_mem_use use)
{
	u32 most = rc->tx.sges;

	return use == SDP_MEM_READ_INTO ?
	       min_t(u32, most, rc->dev->ib->attrs.max_sge_rd) : most;
}

/**
 * rc_move_pieces() - number of pieces up to which memory needs no registration
 * @rc: link, prepared
 * @use: purpose of the memory
 *
 * Return: number of pieces; 0 when the peer accesses the memory.
 */
u32 rc_move_pieces(const struct rc_link *rc, enum sdp_mem_use use)
{
	return sdp_mem_exposed(use) ? 0 :
	       RC_MOVE_REQUESTS * move_request_pieces(rc, use);
}

/*
 * Post @left bytes of memory without a region, behind m->mem.skip. Returns true
 * when all requests are posted. Otherwise m->partly tells whether some are.
 */
static bool move_post_pieces(struct rc_link *rc, struct rc_mem *m,
			     struct ib_rdma_wr *wr, u32 left)
{
	u32 skip = m->head + m->mem.skip, begin = m->mem.skip;
	struct ib_cqe *last = wr->wr.wr_cqe;
	struct ib_sge *sge = wr->wr.sg_list;
	u32 most = move_request_pieces(rc, m->use);
	struct scatterlist *sg;
	u32 bytes = 0, posted = 0;
	int i, n = 0;

	for_each_sgtable_dma_sg(&m->sgt, sg, i) {
		if (skip >= sg_dma_len(sg)) {
			skip -= sg_dma_len(sg);
			continue;
		}
		sge[n].addr = sg_dma_address(sg) + skip;
		sge[n].length = min(left, sg_dma_len(sg) - skip);
		skip = 0;
		sge[n].lkey = rc->dev->pd->local_dma_lkey;
		bytes += sge[n].length;
		left -= sge[n++].length;
		if (left && n < most)
			continue;
		wr->wr.num_sge = n;
		wr->wr.wr_cqe = left ? &rc->part_cqe : last;
		wr->wr.send_flags = left ? 0 : IB_SEND_SIGNALED;
		rc_seal(rc, m, begin + posted, begin + posted + bytes);
		/* Before the post: a completion of the last one may free @m. */
		m->partly = left;
		if (ib_post_send(rc->qp, &wr->wr, NULL)) {
			m->partly = posted;
			return false;
		}
		if (!left)
			return true;
		posted += bytes;
		wr->remote_addr += bytes;
		bytes = 0;
		n = 0;
	}
	return false;
}

static bool move_post_region(struct rc_link *rc, struct rc_mem *m,
			     struct ib_rdma_wr *wr, u32 len)
{
	rc_seal(rc, m, m->mem.skip, m->mem.skip + len);
	wr->wr.sg_list[0] = (struct ib_sge) {
		.addr = m->mem.region.va + m->mem.skip,
		.length = len,
		.lkey = m->region->mr->lkey,
	};
	wr->wr.num_sge = 1;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	return !ib_post_send(rc->qp, &wr->wr, NULL);
}

/**
 * rc_move() - read from the peer's memory, or write to it
 * @link: the link, connected; under its owner's lock
 * @mem: our memory, mapped for %SDP_MEM_READ_INTO, %SDP_MEM_WRITE_FROM or
 *	%SDP_MEM_PEER_READS, and behind @mem->skip at least as long as @remote
 * @remote: the peer's memory
 * @keys: ignored
 *
 * The caller has no other move of the same kind in flight.
 *
 * Return: true when the move will complete @mem, and before that, for a read,
 * call up->read() unless the link ends first; false when the link is broken.
 */
bool rc_move(struct sdp_link *link, struct sdp_mem *mem,
	     const struct sdp_region *remote, const struct sdp_rail_keys *keys)
{
	struct rc_link *rc = to_rc(link);
	struct rc_mem *m = to_rc_mem(mem);
	bool read = m->use == SDP_MEM_READ_INTO, partly;
	struct rc_move *move = read ? &rc->reading : &rc->writing;
	struct ib_sge sge[1 + SDP_TX_FRAGS];
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &move->cqe,
			.sg_list = sge,
			.opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		},
		.remote_addr = remote->va,
		.rkey = remote->rkey,
	};

	/* One that failed in part. The link is broken, and will be stopped. */
	if (move->mem)
		return false;
	move->mem = mem;
	m->seals = 0;
	m->partly = false;
	if (m->region ? move_post_region(rc, m, &wr, remote->len) :
			move_post_pieces(rc, m, &wr, remote->len))
		return true;
	/*
	 * If m->partly is set, requests are in flight, and move->mem stays:
	 * rc_move_drained() ends the move. The caller waits for that if it is a
	 * read. It must not take a write for one that is in flight, so
	 * rc_unmap() waits.
	 */
	partly = m->partly;
	if (!partly)
		move->mem = NULL;
	if (read)
		m->partly = false;
	rc_link_poke(rc, RC_BROKEN);
	return read && partly;
}

/**
 * rc_moving() - is an RDMA read or write in flight?
 * @rc: link
 *
 * Return: true if so, or if one has just ended.
 */
bool rc_moving(const struct rc_link *rc)
{
	return READ_ONCE(rc->reading.mem) || READ_ONCE(rc->writing.mem);
}

static void move_lost(struct rc_move *move)
{
	struct sdp_mem *mem = move->mem;

	move->mem = NULL;
	if (!mem)
		return;
	mem->error = -EIO;
	move_tell_ended(mem);
}

/**
 * rc_move_drained() - fail the moves that will never complete
 * @rc: link; all completions are handled or lost, and its owner posts nothing
 *	any more
 */
void rc_move_drained(struct rc_link *rc)
{
	move_lost(&rc->reading);
	move_lost(&rc->writing);
}
