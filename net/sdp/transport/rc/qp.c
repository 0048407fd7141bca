// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: queue pair, posting, sending, completions.
 *
 * Receives and sends are rings of buffers. A reliable connection completes
 * requests in the order of posting, so one cqe per direction suffices: a
 * completion belongs to the tail of the ring. Both directions share one
 * completion queue. Heads advance under the owner's lock, tails in the
 * completion handler. rc_post() stops when the receive ring is full. The send
 * ring never overflows, because the engine limits the messages in flight.
 */
#include <rdma/ib_cache.h>

#include "rc.h"

/* Maximum number of bytes in received buffers that are kept for reuse. */
#define SPARE_BYTES	(512 * 1024)

/*
 * Note that a mapping has failed. Bounce buffers or addresses of an IOMMU are
 * used up for the moment, and each mapping that ends makes room. The link is
 * broken if all mappings fail for RC_UNMAPPED_MOST. A longer pause between two
 * failures (RC_UNMAPPED_PAUSE) starts that time again.
 */
static void link_map_failed(struct rc_link *rc, struct rc_unmapped *u)
{
	if (!u->failing || time_after(jiffies, u->last + RC_UNMAPPED_PAUSE))
		u->since = jiffies;
	u->failing = true;
	u->last = jiffies;
	if (time_after(jiffies, u->since + RC_UNMAPPED_MOST))
		rc_link_poke(rc, RC_UNMAPPED);
}

/* Let the work item tell the CM, once: the CM's locks are not for softirq. */
static void comm_established(struct rc_link *rc)
{
	if (!test_and_set_bit(RC_EARLY, &rc->flags))
		rc_link_poke(rc, RC_TELL_CM);
}

/* Return whether the link is ending, or has no owner any more. */
static bool link_ending(const struct rc_link *rc)
{
	return test_bit(RC_RELEASED, &rc->flags) ||
	       test_bit(RC_PEER_ENDED, &rc->flags) ||
	       test_bit(RC_STOPPED, &rc->flags);
}

/*
 * Handle a flushed request: the queue pair is in error. If neither side has
 * ended the connection, this is a failure. An adapter may have refused a peer
 * that accessed memory with a wrong key. soft-RoCE may have given up a request
 * that it reports as carried out. Not every adapter sends an event. The work
 * item reports the failure, after a delay in which a better reason may arrive.
 */
static void flushed(struct rc_link *rc)
{
	/*
	 * Fully ordered, pairs with the barrier after RC_CONNECTED is set: one
	 * side sees the other's flag.
	 */
	if (!link_ending(rc) && !test_and_set_bit(RC_FLUSHED, &rc->flags) &&
	    test_bit(RC_CONNECTED, &rc->flags))
		rc_link_wake(rc);
}

static void rx_failed(struct rc_link *rc, enum ib_wc_status status)
{
	/* The buffer stays in the ring. rc_qp_destroy() frees it. */
	rc->flushed++;
	/* A message longer than its receive; LOC_QP_OP_ERR on soft-RoCE. */
	if (status == IB_WC_LOC_LEN_ERR || status == IB_WC_LOC_QP_OP_ERR)
		rc_up->malformed(rc->net, SDP_BAD_LEN);
	if (status != IB_WC_WR_FLUSH_ERR)
		rc_completion_failed(rc, EPROTO, status);
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
	msg = rc_ring_tail(&rc->rx);
	rc_msg_unmap(rc, msg, DMA_FROM_DEVICE);
	skb = msg->skb;
	msg->skb = NULL;
	rc_ring_completed(&rc->rx);

	/* A message before the RTU: tell the CM, or it ends the connection. */
	if (unlikely(!test_bit(RC_CONNECTED, &rc->flags)) && !rc->iw)
		comm_established(rc);
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		rc_mem_revoked(rc, wc->ex.invalidate_rkey);
	/* A write with immediate data uses up a receive and leaves it empty. */
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		rc->link.up->placed(&rc->link, skb,
				    be32_to_cpu(wc->ex.imm_data));
	else
		rc->link.up->received(&rc->link, skb, wc->byte_len);
}

/**
 * rc_send_failed() - handle a failed send, write or read
 * @rc: link
 * @wc: completion with an error status
 *
 * The link is broken. Either the peer's machine does not answer, or has no
 * receive posted, or refuses access to its memory. Or our own adapter cannot
 * continue: soft-RoCE first fails requests when its network goes down, and
 * sends the event with the reason later. Called in softirq.
 */
void rc_send_failed(struct rc_link *rc, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR ||
	    wc->status == IB_WC_LOC_QP_OP_ERR)
		flushed(rc);
	else
		rc_completion_failed(rc, wc->status == IB_WC_RETRY_EXC_ERR ?
				     ETIMEDOUT : ECONNRESET, wc->status);
}

/* Free the oldest messages up to the first signaled one: they have arrived. */
static void tx_arrived(struct rc_link *rc)
{
	struct sdp_sent sent = { };
	bool last;

	__skb_queue_head_init(&sent.blocks);
	do {
		struct rc_msg *msg = rc_ring_tail(&rc->tx);

		rc_msg_unmap(rc, msg, DMA_TO_DEVICE);
		last = msg->signaled;
		sent.messages++;
		sent.payload += sdp_buf_cb(msg->skb)->payload;
		sent.truesize += msg->skb->truesize;
		if (sdp_buf_cb(msg->skb)->reused)
			__skb_queue_tail(&sent.blocks, msg->skb);
		else
			consume_skb(msg->skb);
		msg->skb = NULL;
		rc_ring_completed(&rc->tx);
	} while (!last);
	rc->link.up->sent(&rc->link, &sent);
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, tx_cqe);

	if (wc->status == IB_WC_SUCCESS)
		tx_arrived(rc);
	else
		rc_send_failed(rc, wc);
}

static void mark_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, mark_cqe);

	/* First, because tx_arrived() may end in another tx_mark(). */
	WRITE_ONCE(rc->marked, false);
	if (wc->status == IB_WC_SUCCESS)
		tx_arrived(rc);
	else
		rc_send_failed(rc, wc);
}

static void probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc =
		container_of(wc->wr_cqe, struct rc_link, probe_cqe);

	if (wc->status == IB_WC_SUCCESS)
		rc->link.up->alive(&rc->link);
	else
		rc_send_failed(rc, wc);
}

/*
 * An adapter may call this in hard interrupt context, so the owner's lock
 * cannot be taken here.
 */
static void qp_event(struct ib_event *event, void *context)
{
	struct rc_link *rc = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		if (!rc->iw)
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
 * Move the queue pair to INIT. The peer may read and write memory that we
 * expose for that, and no other; its probes have no data. On a
 * closed device (key_opens_all() in device.c) the peer may neither read nor
 * write.
 */
static int qp_to_init(struct rc_link *rc)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = rc->port,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ,
	};
	int err;

	if (rc->dev->closed)
		attr.qp_access_flags = 0;
	if (rdma_protocol_iwarp(rc->dev->ib, rc->port))
		return ib_modify_qp(rc->qp, &attr,
				    IB_QP_STATE | IB_QP_ACCESS_FLAGS);
	err = ib_find_cached_pkey(rc->dev->ib, rc->port, rc->pkey,
				  &attr.pkey_index);
	if (err)
		return err;
	return ib_modify_qp(rc->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

/* Devices report a lack of queue pairs in various ways; rxe by EINVAL. */
static int qp_limit_error(int err)
{
	return err == -ENOMEM ? err : -ENOBUFS;
}

static int qp_create(struct rc_link *rc)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= qp_event,
		.qp_context	= rc,
		.send_cq	= rc->cq,
		.recv_cq	= rc->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	= rc->tx.size + RC_SENDS_MORE,
			/* + 1: drain. */
			.max_recv_wr	= rc->rx.size + 1,
			.max_send_sge	= rc->tx.sges,
			.max_recv_sge	= rc->rx.sges,
		},
	};
	struct ib_qp *qp = ib_create_qp(rc->dev->pd, &attr);
	int err;

	if (IS_ERR(qp))
		return qp_limit_error(PTR_ERR(qp));
	rc->qp = qp;
	err = qp_to_init(rc);
	if (err) {
		/* A queue pair that never reached INIT cannot be drained. */
		ib_destroy_qp(qp);
		rc->qp = NULL;
	}
	return err;
}

/**
 * rc_prepare() - create queue pair and rings of a link, in state INIT
 * @link: the link; its device is known
 * @config: limits; lowered to what the device supports
 *
 * May sleep.
 *
 * Return: 0; -ENOMEM or -ENOBUFS when the device has no room; or another errno.
 * What has been allocated is freed with the link.
 */
int rc_prepare(struct sdp_link *link, struct sdp_link_config *config)
{
	struct rc_link *rc = to_rc(link);
	struct ib_cq *cq;
	u16 rx_sges;
	int err;

	rc_fit(rc->dev->ib, config);
	config->rdma = config->rdma && !rc->dev->closed &&
		       rc_mem_able(rc->dev->ib);
	rx_sges = sdp_buf_pieces(config->recv_size, config->recv_size_max);
	rc->config = *config;
	rc_move_init(rc);
	rc->rx_cqe.done = rx_done;
	rc->tx_cqe.done = tx_done;
	rc->mark_cqe.done = mark_done;
	rc->probe_cqe.done = probe_done;
	/* One more while a reader's memory is advertised: see credit.h. */
	err = rc_ring_alloc(&rc->rx, config->recv_max + config->rdma,
			    rx_sges);
	if (!err)
		err = rc_ring_alloc(&rc->tx, config->send_slots,
				    1 + config->tx_frags);
	if (err)
		return err;

	rc->cqes = rc->rx.size + rc->tx.size + RC_CQES_MORE;
	cq = ib_cq_pool_get(rc->dev->ib, rc->cqes, -1, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return qp_limit_error(PTR_ERR(cq));
	rc->cq = cq;
	return qp_create(rc);
}

/*
 * Return whether a probe might break the connection. A peer that answers no
 * RDMA reads may allow no remote access at all, as we do on a closed device;
 * its queue pair would refuse the probe. If our own device cannot read, the
 * peer states 0 reads in any case, and we probe it. A closed device sends no
 * probes: its peer most likely has a device of the same kind, which may not
 * state it.
 */
static bool probe_refused(const struct rc_link *rc, u8 peer_reads)
{
	return rc->dev->closed ||
	       (!peer_reads && rc->dev->ib->attrs.max_qp_init_rd_atom);
}

static int qp_to_state(struct rc_link *rc, enum ib_qp_state state)
{
	const struct ib_device *dev = rc->dev->ib;
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = ib_cm_init_qp_attr(rc->cm, &attr, &mask);
	if (err)
		return err;
	/*
	 * The CM of the accepting side learns our starting PSN only from our
	 * REP, which is sent later. Likewise it does not know yet that the
	 * device supports fewer reads than the peer has asked for.
	 */
	attr.rq_psn = rc->psn;
	if (state == IB_QPS_RTS && probe_refused(rc, attr.max_rd_atomic))
		set_bit(RC_NO_PROBES, &rc->flags);
	attr.max_rd_atomic = min3((int)attr.max_rd_atomic, RC_RD_ATOMIC,
				  dev->attrs.max_qp_init_rd_atom);
	attr.max_dest_rd_atomic = min_t(int, attr.max_dest_rd_atomic,
					rc_device_reads(rc->dev));
	/* The peer may ask for fewer retries, not for more: 7 never ends. */
	attr.rnr_retry = min(attr.rnr_retry, rc->config.rnr_retry);
	if (state == IB_QPS_RTR && rc->config.rnr_timer)
		attr.min_rnr_timer = rc->config.rnr_timer;
	err = ib_modify_qp(rc->qp, &attr, mask);
	if (!err && state == IB_QPS_RTR && rc->config.rdma)
		rc_reg_start(rc->dev, rc->port, &attr, mask);
	/* max_rd_atomic is 0 unless both sides can do RDMA reads. */
	if (state == IB_QPS_RTS) {
		rc->link.reads = attr.max_rd_atomic;
		rc->link.worth = READ_ONCE(rc->dev->worth);
	}
	return err;
}

/**
 * rc_qp_ready() - move the queue pair to RTR and RTS
 * @rc: link; its CM id knows the peer's queue pair
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rc_qp_ready(struct rc_link *rc)
{
	int err = qp_to_state(rc, IB_QPS_RTR);

	/*
	 * If soft-RoCE lacks memory to enter RTR, the queue pair completes
	 * nothing any more. So do not wait for a drain; the queue pair has
	 * carried nothing.
	 */
	if (err)
		rc->drain.lost = true;
	return err ? err : qp_to_state(rc, IB_QPS_RTS);
}

/* Return a spare buffer of @size, or NULL. Frees those of another size. */
static struct sk_buff *rx_take_spare(struct rc_link *rc, u32 size)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&rc->spare)) &&
	       sdp_buf_cb(skb)->size != size)
		kfree_skb(skb);
	return skb;
}

static bool rx_post_one(struct rc_link *rc, u32 size)
{
	struct ib_sge sge[SDP_RECV_SGE_MAX];
	struct ib_recv_wr wr = { .wr_cqe = &rc->rx_cqe, .sg_list = sge };
	struct rc_msg *msg = rc_ring_head(&rc->rx);
	struct sk_buff *skb = rx_take_spare(rc, size);

	if (!skb)
		skb = sdp_buf_alloc(size, rc->rx.sges, GFP_ATOMIC);
	if (!skb)
		return false;
	sdp_buf_cb(skb)->reused = true;
	msg->skb = skb;
	wr.num_sge = rc_msg_map(rc, msg, sge, DMA_FROM_DEVICE);
	if (!wr.num_sge) {
		link_map_failed(rc, &rc->rx_unmapped);
		goto drop;
	}
	rc->rx_unmapped.failing = false;
	rc_ring_posted(&rc->rx);
	if (!ib_post_recv(rc->qp, &wr, NULL))
		return true;
	rc_ring_not_posted(&rc->rx);
	rc_msg_unmap(rc, msg, DMA_FROM_DEVICE);
drop:
	msg->skb = NULL;
	kfree_skb(skb);
	return false;
}

/**
 * rc_post() - post receives
 * @link: the link, prepared; under its owner's lock
 * @n: number of receives
 * @size: bytes of each
 *
 * Return: number of posted receives; less than @n when memory is short or
 * cannot be mapped just now, or the ring is full.
 */
u16 rc_post(struct sdp_link *link, u16 n, u32 size)
{
	struct rc_link *rc = to_rc(link);
	u16 done;

	for (done = 0; done < n; done++) {
		if (rc_ring_full(&rc->rx) || !rx_post_one(rc, size))
			break;
	}
	return done;
}

/**
 * rc_recycle() - take back a received buffer
 * @link: the link; under its owner's lock
 * @skb: the buffer as up->received() or up->placed() passed it; taken
 */
void rc_recycle(struct sdp_link *link, struct sk_buff *skb)
{
	struct rc_link *rc = to_rc(link);
	u32 most = min_t(u32, rc->rx.size, SPARE_BYTES / sdp_buf_cb(skb)->size);

	/* The reader may return a full ring of buffers at once, not more. */
	if (skb_queue_len(&rc->spare) >= most) {
		kfree_skb(skb);
		return;
	}
	sdp_buf_reset(skb);
	__skb_queue_tail(&rc->spare, skb);
}

/**
 * rc_trim() - free the buffers that are kept for reuse
 * @link: the link; under its owner's lock
 */
void rc_trim(struct sdp_link *link)
{
	__skb_queue_purge(&to_rc(link)->spare);
}

/*
 * Return whether a send asks for a completion. It does if no other send
 * follows at once, because the owner may wait for the completion before it
 * sends what gathers meanwhile. Of other sends, one per quarter of the ring
 * does. On iWARP each does: no write can ask for it later (tx_mark()), and
 * soft-iWARP completes others before TCP has let go of their pages.
 */
static bool tx_wants_completion(struct rc_link *rc, bool flush)
{
	if (!flush && !rc->iw && ++rc->unsignaled < max(rc->tx.size / 4, 1))
		return false;
	rc->unsignaled = 0;
	return true;
}

/* A write into the peer's ring, a Send with Invalidate, or a plain Send. */
static void tx_set_operation(struct ib_rdma_wr *wr, const struct sdp_buf_cb *cb)
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

/*
 * Map and post a message. Returns false, and leaves @skb to the caller, when
 * it cannot be mapped just now.
 */
static bool tx_post(struct rc_link *rc, struct sk_buff *skb, bool flush)
{
	struct ib_sge sge[1 + SDP_TX_FRAGS];
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &rc->tx_cqe, .sg_list = sge }
	};
	struct rc_msg *msg = rc_ring_head(&rc->tx);

	tx_set_operation(&wr, sdp_buf_cb(skb));
	msg->skb = skb;
	wr.wr.num_sge = rc_msg_map(rc, msg, sge, DMA_TO_DEVICE);
	if (!wr.wr.num_sge) {
		msg->skb = NULL;
		link_map_failed(rc, &rc->tx_unmapped);
		return false;
	}
	rc->tx_unmapped.failing = false;
	msg->signaled = tx_wants_completion(rc, flush);
	wr.wr.send_flags = msg->signaled ? IB_SEND_SIGNALED : 0;
	rc_ring_posted(&rc->tx);
	if (!ib_post_send(rc->qp, &wr.wr, NULL))
		return true;
	rc_ring_not_posted(&rc->tx);
	rc_msg_unmap(rc, msg, DMA_TO_DEVICE);
	msg->skb = NULL;
	kfree_skb(skb);
	rc_link_poke(rc, RC_BROKEN);
	return true;
}

/*
 * Make the messages in flight complete, because a message is kept. The newest
 * messages have not asked for a completion, and hold their mappings until a
 * later one completes. But none follows while the kept message lacks just these
 * mappings. So post a write without data that asks for a completion. (Not to a
 * peer that would refuse it: drivers of such devices map nothing.) At most one
 * such write is in flight. Its completion makes the owner retry the kept
 * messages, which leads here again if the retry fails.
 */
static void tx_mark(struct rc_link *rc)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &rc->mark_cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (!rc->unsignaled || READ_ONCE(rc->marked) ||
	    test_bit(RC_NO_PROBES, &rc->flags))
		return;
	rc->unsignaled = 0;
	rc->tx.slots[rc_ring_newest(&rc->tx)].signaled = true;
	WRITE_ONCE(rc->marked, true);
	if (ib_post_send(rc->qp, &wr.wr, NULL))
		rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_send() - send a message, or write it into the peer's ring
 * @link: the link, connected; under its owner's lock
 * @skb: header and payload; taken
 * @flush: no other message follows at once
 *
 * Messages leave in order: while one is kept, all later ones are kept, too.
 * The ring has room for all of them, because the engine counts each message
 * from this call until it has arrived.
 */
void rc_send(struct sdp_link *link, struct sk_buff *skb, bool flush)
{
	struct rc_link *rc = to_rc(link);

	if (!link->kept && tx_post(rc, skb, flush))
		return;
	link->kept = true;
	__skb_queue_tail(&rc->kept, skb);
	tx_mark(rc);
}

/**
 * rc_resend() - send kept messages until one cannot be mapped
 * @link: the link, connected; under its owner's lock
 *
 * Each message asks for a completion, which lets the next mapping succeed.
 */
void rc_resend(struct sdp_link *link)
{
	struct rc_link *rc = to_rc(link);
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&rc->kept))) {
		if (tx_post(rc, skb, true))
			continue;
		__skb_queue_head(&rc->kept, skb);
		tx_mark(rc);
		return;
	}
	link->kept = false;
}

/**
 * rc_probe() - ask the peer's queue pair for a sign of life
 * @link: the link, connected; under its owner's lock
 *
 * A probe is an RDMA write without data, on iWARP a read: there a write is not
 * answered. The peer's adapter answers it: it checks neither address nor key,
 * uses up no receive and involves no software.
 * But the peer's queue pair has to allow remote access. If it might not
 * (probe_refused()), no probe is sent and the peer counts as alive.
 */
void rc_probe(struct sdp_link *link)
{
	struct rc_link *rc = to_rc(link);
	struct ib_sge nothing = { };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &rc->probe_cqe,
			.sg_list = &nothing,
			.num_sge = rc->iw ? 1 : 0,
			.opcode = rc->iw ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (test_bit(RC_NO_PROBES, &rc->flags))
		rc_link_poke(rc, RC_UNPROBED);
	else if (ib_post_send(rc->qp, &wr.wr, NULL))
		rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_qp_drain() - drain the queue pair when the peer has ended the link
 * @rc: link
 *
 * All completions have been handled on return, so the owner has all messages
 * that had arrived. If the device has lost a completion, the engine detects the
 * missing message like every other loss. No message arrives later. Until it
 * calls release(), the owner may still post, and each post fails by a
 * completion of its own. So such a link is drained again by rc_qp_stop(), when
 * nobody posts any more. May sleep.
 */
void rc_qp_drain(struct rc_link *rc)
{
	if (rc->qp)
		rc_drain(&rc->drain, rc->qp);
}

/**
 * rc_qp_end_moves() - end the RDMA reads and writes of a released link
 * @rc: link; its owner posts nothing any more
 *
 * May sleep.
 *
 * Return: false if completions are lost, so that a move may still be in flight
 * until the queue pair has been stopped.
 */
bool rc_qp_end_moves(struct rc_link *rc)
{
	if (!rc_moving(rc))
		return true;
	if (!rc_drain(&rc->drain, rc->qp))
		return false;
	/* Those that were posted only in part. */
	rc_move_drained(rc);
	return true;
}

/*
 * Drain the queue pair. Returns whether everything has completed. All failed
 * receives are counted, so a missing one shows that completions are lost.
 */
static bool qp_drained(struct rc_link *rc)
{
	if (!rc_drain(&rc->drain, rc->qp))
		return false;
	if (rc->rx.head - rc->rx.tail != rc->flushed)
		rc_drain_failed(&rc->drain, rc->qp);
	return !rc->drain.lost;
}

/**
 * rc_qp_stop() - drain the queue pair of a released link
 * @rc: link; its owner posts nothing any more
 *
 * May sleep.
 */
void rc_qp_stop(struct rc_link *rc)
{
	if (!rc->qp)
		return;
	if (qp_drained(rc))
		rc_move_drained(rc);
	rc->stopped = start_poll_synchronize_rcu();
}

/**
 * rc_qp_quiet() - reset a stopped queue pair until it may be destroyed
 * @rc: link; rc_qp_stop() has been called
 *
 * In the receive path of soft-RoCE, the packet that is queued holds the
 * reference to the queue pair. The path touches the queue pair once more after
 * it has queued the packet, when a task on another CPU may have consumed the
 * packet already. ib_destroy_qp() waits only for the reference and frees too
 * early. Packets are received in an RCU read-side section. So a grace period
 * after the queue pair has stopped accepting packets, none is in that path any
 * more. In the error state the queue pair still accepts packets, as the peer
 * resends what is not acknowledged. In RESET it drops them at once.
 *
 * To enter RESET, soft-RoCE waits until its tasks of the queue pair are idle.
 * It spins meanwhile, for up to a tick if the tasks need this CPU. So we reset
 * the queue pair a grace period after the stop, when they are idle.
 *
 * If the device has lost completions, more waits follow: see drain.c.
 *
 * Return: true when rc_qp_destroy() may be called; false when the caller has
 * to ask again.
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
 * rc_qp_settle() - drain the queue pair of a link without owner, until quiet
 * @rc: link
 *
 * The queue pair has carried nothing, so the drain suffices unless completions
 * are lost. May sleep.
 */
void rc_qp_settle(struct rc_link *rc)
{
	if (!rc->qp || qp_drained(rc))
		return;
	rc->stopped = start_poll_synchronize_rcu();
	while (!rc_qp_quiet(rc))
		schedule_timeout_uninterruptible(RC_QUIET_WAIT);
}

/**
 * rc_qp_destroy() - free what rc_prepare() and posting have created
 * @rc: link without owner; its queue pair is drained and quiet, or never went
 *	beyond INIT
 */
void rc_qp_destroy(struct rc_link *rc)
{
	if (rc->qp)
		ib_destroy_qp(rc->qp);
	if (rc->cq)
		ib_cq_pool_put(rc->cq, rc->cqes);
	rc_ring_free(rc, &rc->rx, DMA_FROM_DEVICE);
	rc_ring_free(rc, &rc->tx, DMA_TO_DEVICE);
	__skb_queue_purge(&rc->kept);
	__skb_queue_purge(&rc->spare);
}
