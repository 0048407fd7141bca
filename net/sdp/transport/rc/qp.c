// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the queue pair of a link.
 *
 * Receives and sends are rings of buffers. A reliable connection completes in the order
 * of posting, so one cqe per direction is enough: a completion is for the ring's tail.
 * Heads move under the owner's lock, tails in the completion handler of the one CQ that
 * serves both; they never meet, because the engine posts no more than the rings hold.
 */
#include <rdma/ib_cache.h>

#include "rc.h"

/* What buffers hold that wait to be posted again, at most. */
#define SPARE_BYTES	(512 * 1024)

static struct rc_msg *slot(struct rc_ring *ring, u32 index)
{
	return &ring->slots[index % ring->size];
}

static int ring_alloc(struct rc_ring *ring, u16 size, u16 sges)
{
	int i;

	ring->slots = kcalloc(size, sizeof(*ring->slots), GFP_KERNEL);
	ring->dma = kcalloc(size * sges, sizeof(*ring->dma), GFP_KERNEL);
	if (!ring->slots || !ring->dma)
		return -ENOMEM;
	for (i = 0; i < size; i++)
		ring->slots[i].dma = &ring->dma[i * sges];
	ring->size = size;
	ring->sges = sges;
	return 0;
}

/* Bytes of the linear part that the device sees: data to send, or room to receive. */
static u32 linear_bytes(const struct sk_buff *skb, enum dma_data_direction dir)
{
	if (dir == DMA_TO_DEVICE)
		return skb_headlen(skb);
	return skb->data_len ? skb_headlen(skb) : sdp_buf_cb(skb)->size;
}

static void unmap(struct rc_link *rc, struct rc_msg *msg,
		  enum dma_data_direction dir)
{
	struct ib_device *ib = rc->dev->ib;
	struct sk_buff *skb = msg->skb;
	u32 linear = linear_bytes(skb, dir);
	u64 *dma = msg->dma;
	int i;

	if (linear)
		ib_dma_unmap_single(ib, *dma++, linear, dir);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		ib_dma_unmap_page(ib, *dma++,
				  skb_frag_size(&skb_shinfo(skb)->frags[i]),
				  dir);
}

/**
 * rc_map_piece() - map a piece of a message for the device
 * @ib: device
 * @page: where it begins
 * @offset: where in that page
 * @sge: its length is set; its address is filled in
 * @dir: who writes to it
 *
 * A function of its own, so that a test can make it fail: soft-RoCE's mappings
 * never do.
 *
 * Return: false when it cannot be mapped just now.
 */
noinline bool rc_map_piece(struct ib_device *ib, struct page *page, u32 offset,
			   struct ib_sge *sge, enum dma_data_direction dir)
{
	sge->addr = ib_dma_map_page(ib, page, offset, sge->length, dir);
	return !ib_dma_mapping_error(ib, sge->addr);
}

static bool map_piece(struct rc_link *rc, struct ib_sge *sge, struct page *page,
		      u32 offset, u32 len, enum dma_data_direction dir)
{
	sge->length = len;
	sge->lkey = rc->dev->pd->local_dma_lkey;
	return rc_map_piece(rc->dev->ib, page, offset, sge, dir);
}

/* Map all pieces of msg->skb into @sge; returns their number, or 0 with nothing mapped. */
static int map(struct rc_link *rc, struct rc_msg *msg, struct ib_sge *sge,
	       enum dma_data_direction dir)
{
	struct ib_device *ib = rc->dev->ib;
	struct sk_buff *skb = msg->skb;
	u32 linear = linear_bytes(skb, dir);
	int n = 0, i;

	if (linear) {
		if (!map_piece(rc, sge, virt_to_page(skb->data),
			       offset_in_page(skb->data), linear, dir))
			return 0;
		msg->dma[n++] = sge->addr;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++, n++) {
		skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		if (!map_piece(rc, &sge[n], skb_frag_page(frag),
			       skb_frag_off(frag), skb_frag_size(frag), dir))
			goto undo;
		msg->dma[n] = sge[n].addr;
	}
	return n;

undo:
	while (i-- > 0)
		ib_dma_unmap_page(ib, msg->dma[--n],
				  skb_frag_size(&skb_shinfo(skb)->frags[i]),
				  dir);
	if (linear)
		ib_dma_unmap_single(ib, msg->dma[0], linear, dir);
	return 0;
}

/*
 * A mapping has failed, for the moment: bounce buffers or an IOMMU's addresses
 * are used up, and each mapping that ends makes room. If all fail for long, the
 * link is broken. Time in which nothing was tried does not count.
 */
static void not_mapped(struct rc_link *rc, struct rc_unmapped *u)
{
	if (!u->failing || time_after(jiffies, u->last + RC_UNMAPPED_PAUSE))
		u->since = jiffies;
	u->failing = true;
	u->last = jiffies;
	if (time_after(jiffies, u->since + RC_UNMAPPED_MOST))
		rc_link_poke(rc, RC_UNMAPPED);
}

/* The CM's locks are not made for softirq, so the work item tells it; once. */
static void comm_established(struct rc_link *rc)
{
	if (!test_and_set_bit(RC_EARLY, &rc->flags))
		rc_link_poke(rc, RC_TELL_CM);
}

/* We end it ourselves, or it has no owner (any more). */
static bool ends_anyway(const struct rc_link *rc)
{
	return test_bit(RC_RELEASED, &rc->flags) ||
	       test_bit(RC_PEER_ENDED, &rc->flags) ||
	       test_bit(RC_STOPPED, &rc->flags);
}

/*
 * The queue pair is in error, though nobody has ended the connection: an adapter has refused a peer
 * that reached for memory with a wrong key, or soft-RoCE has given up a request that it calls
 * carried out. Not every adapter says so by an event. What else is wrong is said first: this is
 * left to the work item.
 */
static void flushed(struct rc_link *rc)
{
	/* Fully ordered; pairs with the barrier in connected(), which looks if this is early. */
	if (!ends_anyway(rc) && !test_and_set_bit(RC_FLUSHED, &rc->flags) &&
	    test_bit(RC_CONNECTED, &rc->flags))
		rc_link_wake(rc);
}

static void rx_failed(struct rc_link *rc, enum ib_wc_status status)
{
	/* The buffer stays in the ring; rc_qp_destroy() frees it. */
	rc->flushed++;
	/* Longer than the receive; the second one is how soft-RoCE says it. */
	if (status == IB_WC_LOC_LEN_ERR || status == IB_WC_LOC_QP_OP_ERR)
		rc_up->malformed(rc->net, SDP_BAD_LEN);
	if (status != IB_WC_WR_FLUSH_ERR)
		rc_up->failed(&rc->link, EPROTO, ib_wc_status_msg(status));
	else
		flushed(rc);
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, rx_cqe);
	struct rc_msg *msg;
	struct sk_buff *skb;

	if (wc->status != IB_WC_SUCCESS) {
		rx_failed(rc, wc->status);
		return;
	}
	msg = slot(&rc->rx, rc->rx.tail);
	unmap(rc, msg, DMA_FROM_DEVICE);
	skb = msg->skb;
	msg->skb = NULL;
	/* The slot is free only now; pairs with rc_post(). */
	smp_store_release(&rc->rx.tail, rc->rx.tail + 1);

	/* A message before the RTU: the CM must know, or it ends the connection. */
	if (unlikely(!test_bit(RC_CONNECTED, &rc->flags)))
		comm_established(rc);
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		rc_mem_revoked(rc, wc->ex.invalidate_rkey);
	/* A write with immediate data uses up a receive and leaves it empty. */
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		rc_up->placed(&rc->link, skb, be32_to_cpu(wc->ex.imm_data));
	else
		rc_up->received(&rc->link, skb, wc->byte_len);
}

/**
 * rc_send_failed() - a send, write or read has failed, and with it the link
 * @rc: link
 * @wc: completion
 *
 * The peer's machine is silent, or it has no receive posted, or its memory is not what it says. Or
 * our own adapter cannot go on: soft-RoCE says that first when its network goes down, and only then
 * comes the event that tells why.
 */
void rc_send_failed(struct rc_link *rc, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR ||
	    wc->status == IB_WC_LOC_QP_OP_ERR)
		flushed(rc);
	else
		rc_up->failed(&rc->link,
			      wc->status == IB_WC_RETRY_EXC_ERR ? ETIMEDOUT :
								  ECONNRESET,
			      ib_wc_status_msg(wc->status));
}

/* The oldest messages have arrived, up to one that a completion comes for. */
static void arrived(struct rc_link *rc)
{
	struct sdp_sent sent = { };
	bool last;

	__skb_queue_head_init(&sent.blocks);
	do {
		struct rc_msg *msg = slot(&rc->tx, rc->tx.tail);

		unmap(rc, msg, DMA_TO_DEVICE);
		last = msg->signaled;
		sent.messages++;
		sent.payload += sdp_buf_cb(msg->skb)->payload;
		sent.truesize += msg->skb->truesize;
		if (sdp_buf_cb(msg->skb)->again)
			__skb_queue_tail(&sent.blocks, msg->skb);
		else
			consume_skb(msg->skb);
		msg->skb = NULL;
		rc->tx.tail++;
	} while (!last);
	rc_up->sent(&rc->link, &sent);
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, tx_cqe);

	if (wc->status == IB_WC_SUCCESS)
		arrived(rc);
	else
		rc_send_failed(rc, wc);
}

static void mark_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, mark_cqe);

	/* Before the owner's lock is taken: see mark(). */
	WRITE_ONCE(rc->marked, false);
	if (wc->status == IB_WC_SUCCESS)
		arrived(rc);
	else
		rc_send_failed(rc, wc);
}

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, probe_cqe);

	if (wc->status == IB_WC_SUCCESS)
		rc_up->alive(&rc->link);
	else
		rc_send_failed(rc, wc);
}

/* An adapter calls it from its interrupt, where the owner's lock cannot be taken. */
static void qp_event(struct ib_event *event, void *context)
{
	struct rc_link *rc = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		comm_established(rc);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		rc_link_poke(rc, RC_BROKEN);
		break;
	default:
		break;
	}
}

/*
 * The peer may read and write what is exposed to it for that, and nothing else. Its probes are
 * writes of nothing. On a closed device (key_opens_all() in device.c) the
 * peer may neither read nor write.
 */
static int to_init(struct rc_link *rc)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = rc->port,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	int err;

	if (rc->dev->closed)
		attr.qp_access_flags = 0;
	err = ib_find_cached_pkey(rc->dev->ib, rc->port, rc->pkey,
				  &attr.pkey_index);
	if (err)
		return err;
	return ib_modify_qp(rc->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				    IB_QP_ACCESS_FLAGS);
}

/* A device that has no more of them says so in its own way; soft-RoCE calls it an argument. */
static int no_more(int err)
{
	return err == -ENOMEM ? err : -ENOBUFS;
}

static int create_qp(struct rc_link *rc)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= qp_event,
		.qp_context	= rc,
		.send_cq	= rc->cq,
		.recv_cq	= rc->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			/* One more each, to drain with; probe, mark, moves. */
			.max_send_wr	= rc->tx.size + 3 + 2 * RC_MOVE_REQUESTS,
			.max_recv_wr	= rc->rx.size + 1,
			.max_send_sge	= rc->tx.sges,
			.max_recv_sge	= rc->rx.sges,
		},
	};
	struct ib_qp *qp = ib_create_qp(rc->dev->pd, &attr);
	int err;

	if (IS_ERR(qp))
		return no_more(PTR_ERR(qp));
	rc->qp = qp;
	err = to_init(rc);
	if (err) {
		/* One that never was in INIT cannot be drained. */
		ib_destroy_qp(qp);
		rc->qp = NULL;
	}
	return err;
}

/**
 * rc_prepare() - queue pair and rings of a link, in the state INIT
 * @link: the link; its device is known
 * @config: limits; lowered to what the device can
 *
 * Return: 0 or an errno; what was made is freed with the link.
 */
int rc_prepare(struct sdp_link *link, struct sdp_link_config *config)
{
	struct rc_link *rc = to_rc(link);
	struct ib_cq *cq;
	u16 rx_sges;
	int err;

	rx_sges = sdp_buf_pieces(config->recv_size, config->recv_size_max);
	if (rx_sges > rc->dev->ib->attrs.max_recv_sge) {
		config->recv_size_max = 0;
		rx_sges = sdp_buf_pieces(config->recv_size, 0);
	}
	config->tx_frags = min_t(int, config->tx_frags,
				 rc->dev->ib->attrs.max_send_sge - 1);
	config->rdma = config->rdma && !rc->dev->closed &&
		       rc_mem_able(rc->dev->ib);
	rc->config = *config;
	rc_move_init(rc);
	rc->rx_cqe.done = rx_done;
	rc->tx_cqe.done = tx_done;
	rc->mark_cqe.done = mark_done;
	rc->probe_cqe.done = probe_done;
	if (rx_sges > rc->dev->ib->attrs.max_recv_sge || !config->tx_frags)
		return -EOPNOTSUPP;
	/* One more while a reader's memory is advertised: see credit.h. */
	err = ring_alloc(&rc->rx, config->recv_max + config->rdma, rx_sges);
	if (!err)
		err = ring_alloc(&rc->tx, config->send_slots,
				 1 + config->tx_frags);
	if (err)
		return err;

	rc->cqes = rc->rx.size + rc->tx.size + 4 + 2 * RC_MOVE_REQUESTS;
	cq = ib_cq_pool_get(rc->dev->ib, rc->cqes, -1, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return no_more(PTR_ERR(cq));
	rc->cq = cq;
	return create_qp(rc);
}

/*
 * Would a probe break the connection? A peer that answers no RDMA reads may
 * give no remote access at all, as we do on a closed device, and its queue pair
 * would refuse the probe. If our own device cannot read, the peer says 0
 * whatever it can do, and is probed all the same. A closed device sends no
 * probes: its peer most likely has a device of the same kind, which may not say
 * so.
 */
static bool probe_refused(const struct rc_link *rc, u8 peer_reads)
{
	return rc->dev->closed ||
	       (!peer_reads && rc->dev->ib->attrs.max_qp_init_rd_atom);
}

static int to_state(struct rc_link *rc, enum ib_qp_state state)
{
	const struct ib_device *dev = rc->dev->ib;
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = ib_cm_init_qp_attr(rc->cm, &attr, &mask);
	if (err)
		return err;
	/*
	 * The CM of the accepting side learns it only from our REP, which is sent later; and so it
	 * does that the device can do with fewer reads than the peer has offered.
	 */
	attr.rq_psn = rc->psn;
	if (state == IB_QPS_RTS && probe_refused(rc, attr.max_rd_atomic))
		set_bit(RC_NO_PROBES, &rc->flags);
	attr.max_rd_atomic = min3((int)attr.max_rd_atomic, RC_RD_ATOMIC,
				  dev->attrs.max_qp_init_rd_atom);
	attr.max_dest_rd_atomic = min_t(int, attr.max_dest_rd_atomic,
					rc_device_reads(rc->dev));
	/* The peer may want fewer retries, but not more: seven are for ever. */
	attr.rnr_retry = min(attr.rnr_retry, rc->config.rnr_retry);
	if (state == IB_QPS_RTR && rc->config.rnr_timer)
		attr.min_rnr_timer = rc->config.rnr_timer;
	err = ib_modify_qp(rc->qp, &attr, mask);
	if (!err && state == IB_QPS_RTR && rc->config.rdma)
		rc_reg_start(rc->dev, rc->port, &attr, mask);
	/* Both sides had a say in that. */
	if (state == IB_QPS_RTS) {
		rc->link.reads = attr.max_rd_atomic;
		rc->link.worth = READ_ONCE(rc->dev->worth);
	}
	return err;
}

/**
 * rc_qp_ready() - the CM knows the other queue pair: go to RTR and RTS
 * @rc: link
 *
 * Return: 0 or an errno.
 */
int rc_qp_ready(struct rc_link *rc)
{
	int err = to_state(rc, IB_QPS_RTR);

	/* soft-RoCE that gets no memory for it completes nothing any more; nothing was carried. */
	if (err)
		rc->drain.lost = true;
	return err ? err : to_state(rc, IB_QPS_RTS);
}

/* A buffer to be posted again; those of another size have served. */
static struct sk_buff *take_spare(struct rc_link *rc, u32 size)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&rc->spare)) &&
	       sdp_buf_cb(skb)->size != size)
		kfree_skb(skb);
	return skb;
}

static bool post_one(struct rc_link *rc, u32 size)
{
	struct ib_sge sge[SDP_RECV_SGE_MAX];
	struct ib_recv_wr wr = { .wr_cqe = &rc->rx_cqe, .sg_list = sge };
	struct rc_msg *msg = slot(&rc->rx, rc->rx.head);
	struct sk_buff *skb = take_spare(rc, size);

	if (!skb)
		skb = sdp_buf_alloc(size, rc->rx.sges, GFP_ATOMIC);
	if (!skb)
		return false;
	sdp_buf_cb(skb)->again = true;
	msg->skb = skb;
	wr.num_sge = map(rc, msg, sge, DMA_FROM_DEVICE);
	if (!wr.num_sge) {
		not_mapped(rc, &rc->rx_unmapped);
		goto drop;
	}
	rc->rx_unmapped.failing = false;
	rc->rx.head++;
	if (!ib_post_recv(rc->qp, &wr, NULL))
		return true;
	rc->rx.head--;
	unmap(rc, msg, DMA_FROM_DEVICE);
drop:
	msg->skb = NULL;
	kfree_skb(skb);
	return false;
}

/**
 * rc_post() - post receives
 * @link: the link, prepared; under its owner's lock
 * @n: how many
 * @size: bytes of each
 *
 * Return: how many were posted; fewer when memory is short, or cannot be mapped
 * just now.
 */
u16 rc_post(struct sdp_link *link, u16 n, u32 size)
{
	struct rc_link *rc = to_rc(link);
	u16 done;

	for (done = 0; done < n; done++) {
		/* Pairs with rx_done(). */
		u32 tail = smp_load_acquire(&rc->rx.tail);

		if (rc->rx.head - tail >= rc->rx.size || !post_one(rc, size))
			break;
	}
	return done;
}

/**
 * rc_recycle() - take a received buffer back
 * @link: the link; under its owner's lock
 * @skb: the buffer as it came
 */
void rc_recycle(struct sdp_link *link, struct sk_buff *skb)
{
	struct rc_link *rc = to_rc(link);
	u32 most = min_t(u32, rc->rx.size, SPARE_BYTES / sdp_buf_cb(skb)->size);

	/* So many can lie unread while as many are posted in their place. */
	if (skb_queue_len(&rc->spare) >= most) {
		kfree_skb(skb);
		return;
	}
	sdp_buf_reset(skb);
	__skb_queue_tail(&rc->spare, skb);
}

/**
 * rc_trim() - free the buffers that wait to be posted again
 * @link: the link; under its owner's lock
 */
void rc_trim(struct sdp_link *link)
{
	__skb_queue_purge(&to_rc(link)->spare);
}

/*
 * A completion is asked for when nothing follows at once (the owner waits for it to
 * send what gathers meanwhile), else for every fourth part of the ring.
 */
static bool wants_completion(struct rc_link *rc, bool flush)
{
	if (!flush && ++rc->unsignaled < max(rc->tx.size / 4, 1))
		return false;
	rc->unsignaled = 0;
	return true;
}

/* A message into the peer's ring; one that takes a key back; or any other. */
static void set_operation(struct ib_rdma_wr *wr, const struct sdp_buf_cb *cb)
{
	if (cb->to.rkey) {
		wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		wr->wr.ex.imm_data = cpu_to_be32(cb->to.imm);
		wr->remote_addr = cb->to.va;
		wr->rkey = cb->to.rkey;
	} else if (cb->revoke) {
		wr->wr.opcode = IB_WR_SEND_WITH_INV;
		wr->wr.ex.invalidate_rkey = cb->revoke;
	} else {
		wr->wr.opcode = IB_WR_SEND;
	}
}

/* Returns false, and leaves @skb, when it cannot be mapped just now. */
static bool post_send(struct rc_link *rc, struct sk_buff *skb, bool flush)
{
	struct ib_sge sge[1 + SDP_TX_FRAGS];
	struct ib_rdma_wr wr = { .wr = { .wr_cqe = &rc->tx_cqe,
					 .sg_list = sge } };
	struct rc_msg *msg = slot(&rc->tx, rc->tx.head);

	set_operation(&wr, sdp_buf_cb(skb));
	msg->skb = skb;
	wr.wr.num_sge = map(rc, msg, sge, DMA_TO_DEVICE);
	if (!wr.wr.num_sge) {
		msg->skb = NULL;
		not_mapped(rc, &rc->tx_unmapped);
		return false;
	}
	rc->tx_unmapped.failing = false;
	msg->signaled = wants_completion(rc, flush);
	wr.wr.send_flags = msg->signaled ? IB_SEND_SIGNALED : 0;
	rc->tx.head++;
	if (!ib_post_send(rc->qp, &wr.wr, NULL))
		return true;
	rc->tx.head--;
	unmap(rc, msg, DMA_TO_DEVICE);
	msg->skb = NULL;
	kfree_skb(skb);
	rc_link_poke(rc, RC_BROKEN);
	return true;
}

/*
 * A message is kept. Those before it, for which no completion was asked, must
 * not hold until then what is mapped for them: it may be what the kept one
 * lacks. So a completion is asked for the last of them, by a write of nothing.
 * (Not to a peer that would refuse it: drivers of such devices map nothing.)
 * Only one such write is under way. Its completion ends with another trial of
 * the owner's, which comes here again.
 */
static void mark(struct rc_link *rc)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &rc->mark_cqe, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (!rc->unsignaled || READ_ONCE(rc->marked) ||
	    test_bit(RC_NO_PROBES, &rc->flags))
		return;
	rc->unsignaled = 0;
	slot(&rc->tx, rc->tx.head - 1)->signaled = true;
	WRITE_ONCE(rc->marked, true);
	if (ib_post_send(rc->qp, &wr.wr, NULL))
		rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_send() - send a message, or write it into the peer's ring
 * @link: the link, connected; under its owner's lock
 * @skb: header and payload; taken
 * @flush: nothing follows at once
 *
 * Messages leave in order: what comes after one that is kept is kept, too. The
 * ring has room for all of them, because the engine counts a message from here
 * on until it has arrived.
 */
void rc_send(struct sdp_link *link, struct sk_buff *skb, bool flush)
{
	struct rc_link *rc = to_rc(link);

	if (!link->kept && post_send(rc, skb, flush))
		return;
	link->kept = true;
	__skb_queue_tail(&rc->kept, skb);
	mark(rc);
}

/**
 * rc_resend() - send what is kept, as far as it can be mapped now
 * @link: the link, connected; under its owner's lock
 *
 * Each completion is asked for: it lets the next mapping succeed.
 */
void rc_resend(struct sdp_link *link)
{
	struct rc_link *rc = to_rc(link);
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&rc->kept))) {
		if (post_send(rc, skb, true))
			continue;
		__skb_queue_head(&rc->kept, skb);
		mark(rc);
		return;
	}
	link->kept = false;
}

/**
 * rc_probe() - ask the other queue pair for a sign of life
 * @link: the link, connected; under its owner's lock
 *
 * A write of nothing: no address and no key are looked at, no receive is used up, and no
 * software takes part at the other end. But the peer's queue pair has to allow
 * remote access. Where it would not (probe_refused()) no probe is sent, and the
 * peer counts as alive.
 */
void rc_probe(struct sdp_link *link)
{
	struct rc_link *rc = to_rc(link);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &rc->probe_cqe, .opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (test_bit(RC_NO_PROBES, &rc->flags))
		rc_link_poke(rc, RC_UNPROBED);
	else if (ib_post_send(rc->qp, &wr.wr, NULL))
		rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_qp_drain() - stop the queue pair; all its completions have been handled afterwards
 * @rc: link
 *
 * What had arrived has been handed to the owner, unless the device has lost its completion, which
 * the engine finds out like every other loss; what had not will never be. Until it lets go the
 * owner may still post, which fails in a completion of its own: so an end that the peer began is
 * drained twice, the second time when nobody posts any more.
 */
void rc_qp_drain(struct rc_link *rc)
{
	if (rc->qp)
		rc_drain(&rc->drain, rc->qp);
}

/* Returns whether all has been completed; of the receives each one is known. */
static bool drained(struct rc_link *rc)
{
	if (!rc_drain(&rc->drain, rc->qp))
		return false;
	if (rc->rx.head - rc->rx.tail != rc->flushed)
		rc_drain_failed(&rc->drain, rc->qp);
	return !rc->drain.lost;
}

/**
 * rc_qp_stop() - drain the queue pair
 * @rc: link; its owner has let go, and posts nothing
 */
void rc_qp_stop(struct rc_link *rc)
{
	if (!rc->qp)
		return;
	if (drained(rc))
		rc_move_drained(rc);
	rc->stopped = start_poll_synchronize_rcu();
}

/**
 * rc_qp_quiet() - is the queue pair out of the device's reach?
 * @rc: link; stopped
 *
 * soft-RoCE's receive path holds its reference to a queue pair by the packet it queues, and
 * still touches the queue pair afterwards, when a task on another processor may have consumed
 * the packet. ib_destroy_qp() waits for the reference alone, and frees too early. Receiving
 * happens in an RCU read-side section, so packets that met the queue pair before it stopped
 * taking them are over after a grace period. It takes them in the error state too, as a peer
 * repeats what is not acknowledged; in RESET they are dropped at once.
 *
 * If the device has lost completions, more has to be waited for: see drain.c.
 *
 * To get there soft-RoCE waits for its tasks of the queue pair, and spins meanwhile, up to a tick
 * if they need this processor. So that comes a grace period later, when they rest.
 *
 * Return: whether rc_qp_destroy() may be called; else ask again.
 */
bool rc_qp_quiet(struct rc_link *rc)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };

	if (!rc->qp)
		return true;
	if (!poll_state_synchronize_rcu(rc->stopped))
		return false;
	if (rc->reset && (!rc->drain.lost || rc->over)) {
		rc_move_drained(rc);
		return true;
	}
	if (rc->reset)
		rc->over = rc_drain_lost_over(&rc->drain, rc->cq);
	else
		ib_modify_qp(rc->qp, &reset, IB_QP_STATE);
	rc->reset = true;
	rc->stopped = start_poll_synchronize_rcu();
	return false;
}

/**
 * rc_qp_settle() - drain the queue pair of a link that nobody owns, and wait until it is quiet
 * @rc: link
 *
 * It has not carried anything, so the first is enough but where completions are lost.
 */
void rc_qp_settle(struct rc_link *rc)
{
	if (!rc->qp || drained(rc))
		return;
	rc->stopped = start_poll_synchronize_rcu();
	while (!rc_qp_quiet(rc))
		schedule_timeout_uninterruptible(RC_QUIET_WAIT);
}

static void ring_free(struct rc_link *rc, struct rc_ring *ring,
		      enum dma_data_direction dir)
{
	for (; ring->tail != ring->head; ring->tail++) {
		struct rc_msg *msg = slot(ring, ring->tail);

		unmap(rc, msg, dir);
		kfree_skb(msg->skb);
	}
	kfree(ring->slots);
	kfree(ring->dma);
}

/**
 * rc_qp_destroy() - free everything that rc_prepare() and posting have made
 * @rc: link; drained and quiet (or never beyond INIT), its owner has let go
 */
void rc_qp_destroy(struct rc_link *rc)
{
	if (rc->qp)
		ib_destroy_qp(rc->qp);
	if (rc->cq)
		ib_cq_pool_put(rc->cq, rc->cqes);
	ring_free(rc, &rc->rx, DMA_FROM_DEVICE);
	ring_free(rc, &rc->tx, DMA_TO_DEVICE);
	__skb_queue_purge(&rc->kept);
	__skb_queue_purge(&rc->spare);
}
