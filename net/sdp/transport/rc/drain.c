// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the end of a queue pair's completions.
 *
 * A queue pair in the error state completes whatever was posted, in order. So two more requests are
 * posted, and when these have completed nothing else will. That is what ib_drain_qp() does; but it
 * waits without end, and a device that loses a completion (soft-RoCE does, now and then) would
 * keep the connection, its socket, the device and the module for ever. Here the wait has a bound.
 * When it is over, completions are lost, and the queue pair is done with in another way:
 *
 *	RESET		the device completes nothing of it any more
 *	empty queue	what it had completed before is handled, or is just being handled
 *	grace period	handlers run in softirq: those are over, too
 *
 * after which nothing refers to the link. A notification that was lost, and not the completion, is
 * made good meanwhile.
 *
 * A machine that stood still, as virtual ones do, finds its clock far ahead when it goes on. So it
 * is not the clock that is waited for but many short waits, of which that costs one.
 */
#include <linux/delay.h>

#include "rc.h"

/* Together ten seconds; what is posted is completed in far less than one. */
#define WAITS		100
#define WAIT		(HZ / 10)
/* So often the completion queue may be busy with others; then all that is old in it is handled. */
#define LOOKS		500

static void drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_drain_mark *mark =
		container_of(wc->wr_cqe, struct rc_drain_mark, cqe);

	complete(&mark->done);
}

static bool post_marks(struct rc_drain *d, struct ib_qp *qp)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	struct ib_recv_wr recv = { .wr_cqe = &d->recv.cqe };
	struct ib_rdma_wr send = {
		.wr = {
			.wr_cqe = &d->send.cqe, .opcode = IB_WR_RDMA_WRITE,
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

/* As if the device had said that there is something in the queue. */
static void kick(struct ib_cq *cq)
{
	cq->comp_handler(cq, cq->cq_context);
}

/**
 * rc_drain_await() - wait for a request, with a bound
 * @done: completed by it
 * @cq: where it completes; polled in softirq
 *
 * Return: false when it has not: its completion is lost.
 */
bool rc_drain_await(struct completion *done, struct ib_cq *cq)
{
	int i;

	for (i = 0; i < WAITS; i++) {
		if (wait_for_completion_timeout(done, WAIT))
			return true;
		kick(cq);
	}
	return false;
}

/**
 * rc_drain() - stop a queue pair; all its completions have been handled afterwards, or are lost
 * @d: what drains it, as long as the queue pair is there; zeroed at first
 * @qp: queue pair, beyond RESET; both its queues complete in one, polled in softirq
 *
 * Some drivers have a way of their own, which is theirs to bound.
 *
 * Return: false when completions are lost: rc_drain_lost_over() tells when none can come any more.
 */
bool rc_drain(struct rc_drain *d, struct ib_qp *qp)
{
	if (d->lost)
		return false;
	if (qp->device->ops.drain_sq || qp->device->ops.drain_rq) {
		ib_drain_qp(qp);
		return true;
	}
	if (post_marks(d, qp) && rc_drain_await(&d->send.done, qp->send_cq) &&
	    rc_drain_await(&d->recv.done, qp->recv_cq))
		return true;
	rc_drain_failed(d, qp);
	return false;
}

/**
 * rc_drain_failed() - completions of a queue pair are lost
 * @d: what has drained it
 * @qp: queue pair; rc_drain() says false of it from now on
 */
void rc_drain_failed(struct rc_drain *d, struct ib_qp *qp)
{
	d->lost = true;
	dev_warn_ratelimited(&qp->device->dev,
			     "sdp: queue pair %u has lost completions, it is reset\n", qp->qp_num);
}

/**
 * rc_drain_lost_over() - of a queue pair that is reset, can completions still come?
 * @d: what has drained it, in vain
 * @cq: its completion queue
 *
 * Return: true when none can, a grace period from now on; else ask again.
 */
bool rc_drain_lost_over(struct rc_drain *d, struct ib_cq *cq)
{
	if (d->looks++ >= LOOKS ||
	    ib_req_notify_cq(cq,
			     IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0)
		return true;
	kick(cq);
	return false;
}

/**
 * rc_drain_reset() - the same as rc_drain(), and where that is in vain, all that follows
 * @d: see there
 * @qp: queue pair; nothing but waiting callers hears of its completions
 *
 * It may be destroyed afterwards, whatever a peer that guesses its number sends: rc_qp_quiet()
 * tells why. And its completion queue may be freed. ib_free_cq() does not wait for the softirq that
 * has handled the last completion and still asks for the next one; a grace period does.
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
