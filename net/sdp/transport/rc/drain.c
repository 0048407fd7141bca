// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: draining a queue pair within a time limit.
 *
 * A queue pair in the error state completes all posted requests in order. So
 * we post one more request to each queue. When both have completed, nothing
 * else will. ib_drain_qp() does the same but waits without limit. A device
 * that loses a completion (soft-RoCE sometimes does) would keep the
 * connection, its socket, the device and the module forever. Here the wait is
 * limited. When it runs out, completions are lost, and the queue pair is
 * quiesced in another way, after which nothing refers to the link:
 *
 *	RESET		the device completes no more requests of the queue pair
 *	empty queue	earlier completions are handled, or just being handled
 *	grace period	handlers run in softirq, so the last ones have ended
 *
 * If only a notification was lost, and not the completion, the wait recovers
 * from that: it polls the completion queue after each interval.
 *
 * When a virtual machine resumes after a pause, its clock may be far ahead. So
 * we wait for many short intervals rather than until a point in time. A pause
 * then costs only one of the intervals.
 */
#include <linux/delay.h>

#include "rc.h"

/* Ten seconds in total. A posted request completes in far less than one. */
#define DRAIN_WAITS		100
#define DRAIN_WAIT		(HZ / 10)
/*
 * Limit of rc_drain_lost_over() calls for a completion queue that never gets
 * empty, because other queue pairs use it. By then its old entries are handled.
 */
#define DRAIN_LOOKS		500

static void drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_drain_mark *mark =
		container_of(wc->wr_cqe, struct rc_drain_mark, cqe);

	complete(&mark->done);
}

static bool drain_post_marks(struct rc_drain *d, struct ib_qp *qp)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct ib_recv_wr recv = { .wr_cqe = &d->recv.cqe };
	struct ib_rdma_wr send = {
		.wr = {
			.wr_cqe = &d->send.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	d->send.cqe.done = drain_done;
	d->recv.cqe.done = drain_done;
	init_completion(&d->send.done);
	init_completion(&d->recv.done);
	return !ib_modify_qp(qp, &error, IB_QP_STATE) &&
	       !ib_post_send(qp, &send.wr, NULL) &&
	       !ib_post_recv(qp, &recv, NULL);
}

/* Poll the completion queue as if the device had sent a notification. */
static void cq_kick(struct ib_cq *cq)
{
	cq->comp_handler(cq, cq->cq_context);
}

/**
 * rc_drain_await() - wait for a request to complete, within a time limit
 * @done: the request completes this
 * @cq: its completion queue, polled in softirq
 *
 * May sleep.
 *
 * Return: false when the time ran out: the completion is lost.
 */
bool rc_drain_await(struct completion *done, struct ib_cq *cq)
{
	int i;

	for (i = 0; i < DRAIN_WAITS; i++) {
		if (wait_for_completion_timeout(done, DRAIN_WAIT))
			return true;
		cq_kick(cq);
	}
	return false;
}

/**
 * rc_drain() - drain a queue pair
 * @d: drain state of the queue pair, zeroed before the first call; it lives as
 *	long as the queue pair
 * @qp: queue pair, beyond RESET; both its queues use one completion queue,
 *	which is polled in softirq
 *
 * May sleep. A driver with a drain method of its own has to limit the time
 * itself.
 *
 * Return: true when all completions are handled; false when some are lost:
 * rc_drain_lost_over() then tells when none can arrive any more.
 */
bool rc_drain(struct rc_drain *d, struct ib_qp *qp)
{
	if (d->lost)
		return false;
	if (qp->device->ops.drain_sq || qp->device->ops.drain_rq) {
		ib_drain_qp(qp);
		return true;
	}
	if (drain_post_marks(d, qp) &&
	    rc_drain_await(&d->send.done, qp->send_cq) &&
	    rc_drain_await(&d->recv.done, qp->recv_cq))
		return true;
	rc_drain_failed(d, qp);
	return false;
}

/**
 * rc_drain_failed() - note that a queue pair has lost completions
 * @d: drain state
 * @qp: queue pair; rc_drain() returns false for it from now on
 */
void rc_drain_failed(struct rc_drain *d, struct ib_qp *qp)
{
	d->lost = true;
	dev_warn_ratelimited(&qp->device->dev,
			     "sdp: queue pair %u lost completions, resetting it\n",
			     qp->qp_num);
}

/**
 * rc_drain_lost_over() - may completions that were lost still arrive?
 * @d: drain state; rc_drain() has returned false
 * @cq: completion queue of the queue pair, which is in RESET
 *
 * Return: true when none can arrive after one more grace period; false when
 * the caller has to ask again.
 */
bool rc_drain_lost_over(struct rc_drain *d, struct ib_cq *cq)
{
	if (d->looks++ >= DRAIN_LOOKS ||
	    ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				 IB_CQ_REPORT_MISSED_EVENTS) <= 0)
		return true;
	cq_kick(cq);
	return false;
}

/**
 * rc_drain_reset() - drain and reset a queue pair, and wait until it is quiet
 * @d: drain state
 * @qp: queue pair; only tasks that wait with a limit need its completions
 *
 * May sleep. The queue pair may be destroyed afterwards even if a peer that
 * guesses its number sends packets to it; rc_qp_quiet() tells why. Its
 * completion queue may be freed as well. ib_free_cq() does not wait for the
 * softirq that has handled the last completion and is still requesting the
 * next notification. The grace period covers that.
 */
void rc_drain_reset(struct rc_drain *d, struct ib_qp *qp)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	bool drained = rc_drain(d, qp);

	ib_modify_qp(qp, &reset, IB_QP_STATE);
	while (!drained && !rc_drain_lost_over(d, qp->send_cq))
		msleep(20);
	synchronize_rcu();
}
