// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: RDMA reads and writes, from and to memory of mr.c.
 *
 * A link reads one thing at a time, and writes one. Memory that is registered takes one request.
 * Else its pages are named piece by piece, with the key that a device keeps for that, in as many
 * requests as there are pieces to be named; only the last one asks for a completion.
 *
 * The completion is found by the link, not by the memory, as the link outlives every request of
 * its queue pair.
 */
#include "rc.h"

static void tell_ended(struct sdp_mem *mem)
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
		mem->error = rc_seal_broken(to_rc_mem(mem)) ? 0 : -EAGAIN;
	}
	if (move == &rc->reading)
		rc_up->read(&rc->link, mem->error);
	tell_ended(mem);
}

static void read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, reading.cqe);

	move_done(rc, &rc->reading, wc);
}

static void write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, writing.cqe);

	move_done(rc, &rc->writing, wc);
}

/* It has failed, and what follows is flushed: the last one's completion comes too. */
static void part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		rc_send_failed(rc, wc);
}

/**
 * rc_move_init() - prepare a link for reads and writes
 * @rc: link
 */
void rc_move_init(struct rc_link *rc)
{
	INIT_LIST_HEAD(&rc->exposed);
	spin_lock_init(&rc->exposed_lock);
	rc->part_cqe.done = part_done;
	rc->reading.cqe.done = read_done;
	rc->writing.cqe.done = write_done;
}

/* Pieces of one request; some adapters do not read into as many as they write from. */
static u32 request_pieces(const struct rc_link *rc, enum sdp_mem_use use)
{
	u32 most = rc->tx.sges;

	return use == SDP_MEM_READ_INTO ?
		       min_t(u32, most, rc->dev->ib->attrs.max_sge_rd) :
		       most;
}

/**
 * rc_move_pieces() - in how many pieces may memory be that is not registered?
 * @rc: link, prepared
 * @use: what for
 *
 * Return: so many; 0 when the peer has to reach it.
 */
u32 rc_move_pieces(const struct rc_link *rc, enum sdp_mem_use use)
{
	return sdp_mem_exposed(use) ?
		       0 :
		       RC_MOVE_REQUESTS * request_pieces(rc, use);
}

/* Returns whether all has been posted; of @m is known what has been without that. */
static bool post_pieces(struct rc_link *rc, struct rc_mem *m,
			struct ib_rdma_wr *wr, u32 left)
{
	struct ib_cqe *last = wr->wr.wr_cqe;
	struct ib_sge *sge = wr->wr.sg_list;
	u32 most = request_pieces(rc, m->use);
	struct scatterlist *sg;
	u32 bytes = 0, posted = 0;
	int i, n = 0;

	for_each_sgtable_dma_sg(&m->sgt, sg, i) {
		sge[n].addr = sg_dma_address(sg);
		sge[n].length = min(left, sg_dma_len(sg));
		sge[n].lkey = rc->dev->pd->local_dma_lkey;
		bytes += sge[n].length;
		left -= sge[n++].length;
		if (left && n < most)
			continue;
		wr->wr.num_sge = n;
		wr->wr.wr_cqe = left ? &rc->part_cqe : last;
		wr->wr.send_flags = left ? 0 : IB_SEND_SIGNALED;
		rc_seal(rc, m, posted, posted + bytes);
		/* The last one's completion may free the memory at once. */
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

static bool post_region(struct rc_link *rc, struct rc_mem *m,
			struct ib_rdma_wr *wr, u32 len)
{
	rc_seal(rc, m, 0, len);
	wr->wr.sg_list[0] = (struct ib_sge) {
		.addr = m->mem.region.va, .length = len, .lkey = m->region->mr->lkey,
	};
	wr->wr.num_sge = 1;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	return !ib_post_send(rc->qp, &wr->wr, NULL);
}

/**
 * rc_move() - read from the peer's memory into ours, or write from ours into the peer's
 * @link: the link, connected; under its owner's lock; nothing else is being moved that way
 * @mem: mapped for one of these, and as long as @remote at least
 * @remote: the peer's memory
 *
 * Return: true when @mem's completion will come, and up->read() for a read; else the link is
 * broken.
 */
bool rc_move(struct sdp_link *link, struct sdp_mem *mem,
	     const struct sdp_region *remote)
{
	struct rc_link *rc = to_rc(link);
	struct rc_mem *m = to_rc_mem(mem);
	bool read = m->use == SDP_MEM_READ_INTO;
	struct rc_move *move = read ? &rc->reading : &rc->writing;
	struct ib_sge sge[1 + SDP_TX_FRAGS];
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &move->cqe, .sg_list = sge,
			.opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
		},
		.remote_addr = remote->va,
		.rkey = remote->rkey,
	};

	move->mem = mem;
	if (m->region ? post_region(rc, m, &wr, remote->len) :
			post_pieces(rc, m, &wr, remote->len))
		return true;
	/* What is on its way ends with the queue pair, and rc_unmap() waits for that. */
	if (!m->partly)
		move->mem = NULL;
	rc_link_poke(rc, RC_BROKEN);
	return false;
}

static void lost(struct rc_move *move)
{
	struct sdp_mem *mem = move->mem;

	move->mem = NULL;
	if (!mem)
		return;
	mem->error = -EIO;
	tell_ended(mem);
}

/**
 * rc_move_drained() - whatever was posted has been completed, or never will be
 * @rc: link, drained; its owner posts nothing any more
 */
void rc_move_drained(struct rc_link *rc)
{
	lost(&rc->reading);
	lost(&rc->writing);
}
