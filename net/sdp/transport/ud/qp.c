// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: queue pair of a port with its buffers.
 *
 * Each queue pair has send slots and receive buffers of its own. All of them
 * are mapped for the device as long as they exist; a datagram is copied into a
 * slot, and from a buffer into the message that it is a part of. So a buffer is
 * posted again at once, and nobody has to wait for an adapter before a message
 * may be freed. A datagram that finds no receive is lost; the window sends it
 * again.
 *
 * A queue pair has more receives the more links use it (ud_qp_grow()).
 */
#include <linux/delay.h>
#include <linux/irq_poll.h>
#include <linux/slab.h>

#include "ud.h"

/* How long qp_empty() waits for requests that are flushed, in looks. */
#define END_LOOKS	250
#define END_WAIT_MS	20
/* Time between two repairs. */
#define REPAIR_PAUSE	(HZ / 5)

/*
 * A device that has failed to send one datagram, for example because there is
 * no route any more, may put the queue pair into an error state, in which it
 * carries nothing of any link. A work item repairs it.
 */
static void qp_broke(struct ud_qp *qp)
{
	long pause = clamp((long)(qp->repaired + REPAIR_PAUSE - jiffies), 0L,
			   (long)REPAIR_PAUSE);

	if (!test_and_set_bit(0, &qp->broken) && !READ_ONCE(qp->dead))
		queue_delayed_work(ud_wq, &qp->repair, pause);
}

static bool rx_post(struct ud_qp *qp, struct ud_rx *rx)
{
	struct ib_sge sge[2] = {
		{
			.addr = rx->grh_dma, .length = sizeof(struct ib_grh),
			.lkey = qp->port->pd->local_dma_lkey,
		}, {
			.addr = rx->dma, .length = UD_RX_SIZE,
			.lkey = qp->port->pd->local_dma_lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &rx->cqe, .sg_list = sge, .num_sge = 2,
	};

	return !READ_ONCE(qp->dead) && !test_bit(0, &qp->broken) &&
	       !ib_post_recv(qp->qp, &wr, NULL);
}

/* The receive is not posted any more. */
static void rx_ended(struct ud_qp *qp, struct ud_rx *rx)
{
	rx->posted = false;
	qp_broke(qp);
	/* Release: ud_qp_stop() and the repair may use the receive now. */
	atomic_dec_return_release(&qp->rx_posted);
}

static void rx_begin(struct ud_qp *qp, struct ud_rx *rx)
{
	atomic_inc(&qp->rx_posted);
	rx->posted = true;
	if (!rx_post(qp, rx))
		rx_ended(qp, rx);
}

static void rx_arrived(struct ud_qp *qp, const struct ib_wc *wc,
		       struct ud_rx *rx)
{
	struct ib_device *ib = qp->port->dev->ib;

	ib_dma_sync_single_for_cpu(ib, rx->grh_dma, sizeof(struct ib_grh),
				   DMA_FROM_DEVICE);
	ib_dma_sync_single_for_cpu(ib, rx->dma, UD_RX_SIZE, DMA_FROM_DEVICE);
	ud_handlers->received(qp, wc, rx);
	ib_dma_sync_single_for_device(ib, rx->grh_dma, sizeof(struct ib_grh),
				      DMA_FROM_DEVICE);
	ib_dma_sync_single_for_device(ib, rx->dma, UD_RX_SIZE,
				      DMA_FROM_DEVICE);
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ud_rx *rx = container_of(wc->wr_cqe, struct ud_rx, cqe);
	struct ud_qp *qp = rx->qp;

	/* One that came after qp_empty() had given it up. */
	if (!rx->posted)
		return;
	if (wc->status != IB_WC_SUCCESS)
		qp_broke(qp);
	else if (!READ_ONCE(qp->dead))
		rx_arrived(qp, wc, rx);
	if (wc->status != IB_WC_SUCCESS || !rx_post(qp, rx))
		rx_ended(qp, rx);
}

/* Free a slot. Under @send_lock. */
static void tx_free(struct ud_qp *qp)
{
	struct ud_tx *tx = &qp->tx[qp->tail++ % UD_TX_SLOTS];

	ud_peer_put(tx->peer);
	tx->peer = NULL;
}

/*
 * The device cannot send to the peer: there is no route, or our address is
 * gone. Each attempt would break the queue pair again. Under @send_lock.
 */
static void peer_failed(struct ud_peer *peer)
{
	WRITE_ONCE(peer->paused, jiffies + UD_PEER_PAUSE);
	WRITE_ONCE(peer->failed, true);
}

/* Is what is sent to the peer lost for now? */
static bool peer_paused(struct ud_peer *peer)
{
	return READ_ONCE(peer->failed) &&
	       time_before(jiffies, READ_ONCE(peer->paused));
}

/* Datagrams complete in order: so have those before this one. */
static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ud_tx *tx = container_of(wc->wr_cqe, struct ud_tx, cqe);
	struct ud_qp *qp = tx->qp;

	spin_lock_bh(&qp->send_lock);
	if (tx->peer && wc->status != IB_WC_SUCCESS &&
	    wc->status != IB_WC_WR_FLUSH_ERR)
		peer_failed(tx->peer);
	while (tx->peer && qp->tail != qp->head)
		tx_free(qp);
	spin_unlock_bh(&qp->send_lock);
	if (wc->status == IB_WC_SUCCESS)
		ud_handlers->room(qp);
	else
		qp_broke(qp);
}

/**
 * ud_qp_slot() - a free slot of the send queue
 * @qp: queue pair; its @send_lock is held
 *
 * Return: the slot, or NULL if all are in use.
 */
struct ud_tx *ud_qp_slot(struct ud_qp *qp)
{
	if (qp->dead || test_bit(0, &qp->broken) ||
	    qp->head - qp->tail == UD_TX_SLOTS)
		return NULL;
	return &qp->tx[qp->head % UD_TX_SLOTS];
}

/**
 * ud_qp_post() - post a datagram
 * @qp: queue pair; its @send_lock is held
 * @tx: what ud_qp_slot() has returned, filled
 * @peer: address handle
 * @qpn: the peer's queue pair
 * @bytes: length of the datagram
 * @more: another one is posted before @send_lock is dropped
 *
 * A datagram that cannot be posted is lost, as any other may be; so is one to a
 * peer that the device has just failed to send to.
 */
void ud_qp_post(struct ud_qp *qp, struct ud_tx *tx, struct ud_peer *peer,
		u32 qpn, u32 bytes, bool more)
{
	struct ib_sge sge = {
		.addr = tx->dma, .length = bytes,
		.lkey = qp->port->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &tx->cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
		},
		.ah = peer->ah,
		.remote_qpn = qpn,
		.remote_qkey = UD_QKEY,
	};

	if (peer_paused(peer))
		return;
	/* The last free slot has to ask: none is left to do so. */
	tx->signaled = !more || ++qp->unsignaled >= UD_TX_SLOTS / 4 ||
		       qp->head + 1 - qp->tail == UD_TX_SLOTS;
	if (tx->signaled) {
		qp->unsignaled = 0;
		wr.wr.send_flags = IB_SEND_SIGNALED;
	}
	ib_dma_sync_single_for_device(qp->port->dev->ib, tx->dma, bytes,
				      DMA_TO_DEVICE);
	refcount_inc(&peer->refs);
	tx->peer = peer;
	if (ib_post_send(qp->qp, &wr.wr, NULL)) {
		tx->peer = NULL;
		ud_peer_put(peer);
		qp_broke(qp);
		return;
	}
	qp->head++;
}

/* A buffer of @bytes, mapped for the device. */
static u8 *buffer_make(struct ib_device *ib, u32 bytes,
		       enum dma_data_direction dir, u64 *dma)
{
	u8 *data = kmalloc(bytes, GFP_KERNEL);

	if (!data)
		return NULL;
	*dma = ib_dma_map_single(ib, data, bytes, dir);
	if (!ib_dma_mapping_error(ib, *dma))
		return data;
	kfree(data);
	return NULL;
}

static void buffer_free(struct ib_device *ib, u8 *data, u32 bytes,
			enum dma_data_direction dir, u64 dma)
{
	if (!data)
		return;
	ib_dma_unmap_single(ib, dma, bytes, dir);
	kfree(data);
}

static bool rx_make(struct ud_qp *qp, struct ud_rx *rx)
{
	struct ib_device *ib = qp->port->dev->ib;

	rx->cqe.done = rx_done;
	rx->qp = qp;
	rx->grh = buffer_make(ib, sizeof(struct ib_grh), DMA_FROM_DEVICE,
			      &rx->grh_dma);
	rx->data = buffer_make(ib, UD_RX_SIZE, DMA_FROM_DEVICE, &rx->dma);
	return rx->grh && rx->data;
}

static void rx_free(struct ud_qp *qp, struct ud_rx *rx)
{
	struct ib_device *ib = qp->port->dev->ib;

	buffer_free(ib, rx->grh, sizeof(struct ib_grh), DMA_FROM_DEVICE,
		    rx->grh_dma);
	buffer_free(ib, rx->data, UD_RX_SIZE, DMA_FROM_DEVICE, rx->dma);
	memset(rx, 0, sizeof(*rx));
}

/* Receives that a queue pair can have at most. */
static u32 rx_most(const struct ib_device *ib)
{
	return min3(UD_RX_MOST, ib->attrs.max_qp_wr,
		    ib->attrs.max_cqe - UD_TX_SLOTS);
}

/**
 * ud_qp_grow() - let a queue pair have more receives
 * @qp: queue pair
 * @want: number of receives; it has as many as there is memory for, and room
 *	in the queue
 *
 * May sleep.
 */
void ud_qp_grow(struct ud_qp *qp, u32 want)
{
	u32 most = rx_most(qp->port->dev->ib);

	mutex_lock(&qp->rx_mutex);
	while (qp->rx_made < min(want, most)) {
		struct ud_rx *rx = &qp->rx[qp->rx_made];

		if (!rx_make(qp, rx)) {
			rx_free(qp, rx);
			break;
		}
		qp->rx_made++;
		rx_begin(qp, rx);
	}
	mutex_unlock(&qp->rx_mutex);
}

static int qp_to_rts(struct ud_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = qp->port->number,
		.qkey = UD_QKEY,
	};
	int err;

	err = ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_QKEY);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(qp->qp, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* Is a datagram in flight that has asked for a completion? */
static bool tx_awaited(struct ud_qp *qp)
{
	bool awaited = false;
	u32 i;

	spin_lock_bh(&qp->send_lock);
	for (i = qp->tail; i != qp->head && !awaited; i++)
		awaited = qp->tx[i % UD_TX_SLOTS].signaled;
	spin_unlock_bh(&qp->send_lock);
	return awaited;
}

/* Has everything completed of which that can be told? */
static bool qp_idle(struct ud_qp *qp)
{
	return !tx_awaited(qp) && !atomic_read_acquire(&qp->rx_posted);
}

/* What has not completed by now never will, or is ignored then. */
static void qp_forget(struct ud_qp *qp)
{
	u32 i;

	spin_lock_bh(&qp->send_lock);
	while (qp->tail != qp->head)
		tx_free(qp);
	qp->unsignaled = 0;
	spin_unlock_bh(&qp->send_lock);
	mutex_lock(&qp->rx_mutex);
	for (i = 0; i < qp->rx_made; i++)
		qp->rx[i].posted = false;
	atomic_set(&qp->rx_posted, 0);
	mutex_unlock(&qp->rx_mutex);
}

/*
 * Let the handler of completions run once more, and wait until it is not even
 * requesting the next notification. The queue pair is in RESET, so no other
 * completion comes. One that is handled later would be taken for that of a
 * request which is posted to the same slot after a repair, and ib_free_cq()
 * does not wait for the end of the handler.
 */
static void cq_quiet(struct ib_cq *cq)
{
	do {
		local_bh_disable();
		irq_poll_sched(&cq->iop);
		local_bh_enable();
		while (test_bit(IRQ_POLL_F_SCHED, &cq->iop.state))
			msleep(END_WAIT_MS);
		synchronize_rcu();
	} while (test_bit(IRQ_POLL_F_SCHED, &cq->iop.state));
}

/*
 * End all requests: afterwards none is in flight. Waits until all are flushed,
 * but not for ever: soft-RoCE may lose a completion.
 */
static void qp_empty(struct ud_qp *qp)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	int i;

	ib_modify_qp(qp->qp, &error, IB_QP_STATE);
	/* At least one wait, for datagrams that have not asked. */
	for (i = 0; i < END_LOOKS && (!i || !qp_idle(qp)); i++)
		msleep(END_WAIT_MS);
	ib_modify_qp(qp->qp, &reset, IB_QP_STATE);
	/* As rc_qp_quiet() tells, soft-RoCE may be receiving a packet. */
	synchronize_rcu();
	cq_quiet(qp->cq);
	qp_forget(qp);
}

/* What was in flight is lost; the windows of its links send it again. */
static void qp_repair(struct work_struct *work)
{
	struct ud_qp *qp = container_of(to_delayed_work(work), struct ud_qp,
					repair);
	u32 i;

	if (READ_ONCE(qp->dead))
		return;
	qp_empty(qp);
	qp->repaired = jiffies;
	if (qp_to_rts(qp)) {
		if (!READ_ONCE(qp->dead))
			queue_delayed_work(ud_wq, &qp->repair, REPAIR_PAUSE);
		return;
	}
	clear_bit(0, &qp->broken);
	mutex_lock(&qp->rx_mutex);
	for (i = 0; i < qp->rx_made; i++) {
		if (!qp->rx[i].posted)
			rx_begin(qp, &qp->rx[i]);
	}
	mutex_unlock(&qp->rx_mutex);
	ud_handlers->room(qp);
}

/* May be called in hard interrupt context. */
static void qp_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_QP_FATAL)
		qp_broke(context);
}

static int qp_create(struct ud_qp *qp, u32 number)
{
	struct ib_device *ib = qp->port->dev->ib;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = qp,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
		.cap = {
			.max_send_wr = UD_TX_SLOTS,
			.max_recv_wr = rx_most(ib),
			.max_send_sge = 1,
			.max_recv_sge = UD_RX_PIECES,
		},
	};
	struct ib_cq *cq;
	struct ib_qp *ibqp;

	cq = ib_alloc_cq(ib, qp, UD_TX_SLOTS + rx_most(ib),
			 number % ib->num_comp_vectors, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	qp->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	ibqp = ib_create_qp(qp->port->pd, &attr);
	if (IS_ERR(ibqp))
		return PTR_ERR(ibqp);
	qp->qp = ibqp;
	return qp_to_rts(qp);
}

static int tx_make(struct ud_qp *qp)
{
	u32 i;

	for (i = 0; i < UD_TX_SLOTS; i++) {
		struct ud_tx *tx = &qp->tx[i];

		tx->cqe.done = tx_done;
		tx->qp = qp;
		tx->data = buffer_make(qp->port->dev->ib, qp->port->size,
				       DMA_TO_DEVICE, &tx->dma);
		if (!tx->data)
			return -ENOMEM;
	}
	return 0;
}

/**
 * ud_qp_make() - make a queue pair of a port, ready to send
 * @qp: queue pair, all zeros
 * @port: its port
 * @number: its number in the port
 *
 * It receives nothing before ud_qp_grow(). May sleep. The caller holds
 * ud_device.mutex. After an error, ud_qp_end() frees what there is.
 *
 * Return: 0 or an errno.
 */
int ud_qp_make(struct ud_qp *qp, struct ud_port *port, u32 number)
{
	int err;

	qp->port = port;
	spin_lock_init(&qp->send_lock);
	spin_lock_init(&qp->ready_lock);
	INIT_LIST_HEAD(&qp->ready);
	mutex_init(&qp->rx_mutex);
	INIT_DELAYED_WORK(&qp->repair, qp_repair);
	qp->tx = kvcalloc(UD_TX_SLOTS, sizeof(*qp->tx), GFP_KERNEL);
	qp->rx = kvcalloc(UD_RX_MOST, sizeof(*qp->rx), GFP_KERNEL);
	if (!qp->tx || !qp->rx)
		return -ENOMEM;
	err = tx_make(qp);
	if (!err)
		err = qp_create(qp, number);
	return err;
}

/**
 * ud_qp_stop() - end all requests of a queue pair
 * @qp: queue pair, or what ud_qp_make() has left of it; nothing is posted to it
 *	afterwards
 *
 * May sleep.
 */
void ud_qp_stop(struct ud_qp *qp)
{
	spin_lock_bh(&qp->send_lock);
	WRITE_ONCE(qp->dead, true);
	spin_unlock_bh(&qp->send_lock);
	cancel_delayed_work_sync(&qp->repair);
	if (qp->qp)
		qp_empty(qp);
}

/**
 * ud_qp_end() - destroy a queue pair and free its buffers
 * @qp: queue pair, or what ud_qp_make() has left of it; no link uses it
 *
 * May sleep.
 */
void ud_qp_end(struct ud_qp *qp)
{
	u32 i;

	if (!qp->dead)
		ud_qp_stop(qp);
	/* A handler that had not seen @dead yet may have queued it. */
	cancel_delayed_work_sync(&qp->repair);
	if (qp->qp)
		ib_destroy_qp(qp->qp);
	if (qp->cq)
		ib_free_cq(qp->cq);
	for (i = 0; qp->tx && i < UD_TX_SLOTS; i++) {
		struct ud_tx *tx = &qp->tx[i];

		buffer_free(qp->port->dev->ib, tx->data, qp->port->size,
			    DMA_TO_DEVICE, tx->dma);
	}
	for (i = 0; i < qp->rx_made; i++)
		rx_free(qp, &qp->rx[i]);
	kvfree(qp->tx);
	kvfree(qp->rx);
}
