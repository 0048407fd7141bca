// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: a device's queue pair for registering memory.
 *
 * Fast registration goes through a queue pair, any one of the protection domain. This one is
 * connected to itself and carries nothing else, because on a connection's own
 *
 *	- a registration would wait for whatever the peer does not acknowledge;
 *	- soft-RoCE carries a registration out again when it has to send again what was posted
 *	  before it, fails to, and ends the connection;
 *	- every connection would need room for it.
 *
 * It allows the other end nothing, as there is none.
 *
 * It is made when the first connection of a device stands: that one knows an address to connect
 * to. Its requests are waited for, each by itself; they are local, so that takes no longer than
 * the device needs. It has a bound all the same, for a device that loses completions.
 *
 * A request that fails, or is lost, ends the queue pair, as any error of one does. Large writes of
 * the device go in messages then, until the next connection that stands has made another one; what
 * was registered before stays so, and is deregistered when it is over.
 */
#include <linux/random.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "rc.h"

/* Registrations under way at once; more wait. */
#define REG_DEPTH	64

/**
 * struct reg_op - one request, of who waits for it
 * @cqe: finds it
 * @before: completes what is to be done before it, if that fails
 * @done: completed
 * @status: how
 * @lost: not waited for any more: it is in the device's list
 * @node: there, until nothing of the queue pair can complete
 */
struct reg_op {
	struct ib_cqe cqe;
	struct ib_cqe before;
	struct completion done;
	enum ib_wc_status status;
	bool lost;
	struct list_head node;
};

static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct reg_op *op = container_of(wc->wr_cqe, struct reg_op, cqe);

	op->status = wc->status;
	complete(&op->done);
}

/* What follows fails, too, and tells. */
static void before_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static struct reg_op *new_op(void)
{
	struct reg_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op)
		return NULL;
	op->cqe.done = reg_done;
	op->before.done = before_done;
	init_completion(&op->done);
	return op;
}

static int to_init(struct rc_device *dev, u32 port)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = port,
	};

	return ib_modify_qp(dev->reg_qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

/* Through INIT and RTR to RTS, along the path of the connection that @rtr is of. */
static int connect_to_itself(struct rc_device *dev, u32 port, const struct ib_qp_attr *rtr,
			     int mask)
{
	struct ib_qp_attr attr = *rtr;
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = get_random_u32() & 0xffffff,
	};
	int err;

	attr.dest_qp_num = dev->reg_qp->qp_num;
	/* A packet from elsewhere, for this queue pair, shall not be taken for the next one. */
	attr.rq_psn = rts.sq_psn;
	err = to_init(dev, port);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &attr, mask);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &rts, IB_QP_STATE | IB_QP_TIMEOUT |
				   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
				   IB_QP_MAX_QP_RD_ATOMIC);
	return err;
}

static void destroy(struct rc_device *dev)
{
	ib_destroy_qp(dev->reg_qp);
	ib_free_cq(dev->reg_cq);
	dev->reg_qp = NULL;
}

static int create(struct rc_device *dev)
{
	struct ib_qp_init_attr attr = {
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	= 2 * REG_DEPTH,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};
	struct ib_qp *qp;

	dev->reg_cq = ib_alloc_cq_any(dev->ib, dev, 2 * REG_DEPTH + 1, IB_POLL_SOFTIRQ);
	if (IS_ERR(dev->reg_cq))
		return PTR_ERR(dev->reg_cq);
	attr.send_cq = dev->reg_cq;
	attr.recv_cq = dev->reg_cq;
	qp = ib_create_qp(dev->pd, &attr);
	if (IS_ERR(qp)) {
		ib_free_cq(dev->reg_cq);
		return PTR_ERR(qp);
	}
	dev->reg_qp = qp;
	memset(&dev->reg_drain, 0, sizeof(dev->reg_drain));
	return 0;
}

/**
 * rc_reg_init() - prepare a device for making its queue pair
 * @dev: device
 */
void rc_reg_init(struct rc_device *dev)
{
	init_rwsem(&dev->reg_lock);
	sema_init(&dev->reg_room, REG_DEPTH);
	INIT_LIST_HEAD(&dev->reg_lost);
	rc_worth_init(dev);
}

/* Nobody uses it, and nobody will. */
static void drain_and_destroy(struct rc_device *dev)
{
	struct reg_op *op, *next;

	rc_drain_reset(&dev->reg_drain, dev->reg_qp);
	list_for_each_entry_safe(op, next, &dev->reg_lost, node)
		kfree(op);
	INIT_LIST_HEAD(&dev->reg_lost);
	destroy(dev);
}

/**
 * rc_reg_start() - a connection stands: make the device's queue pair, if there is none that works
 * @dev: device
 * @port: port number of the connection
 * @rtr: attributes with which its queue pair went to RTR
 * @mask: which of them are set
 *
 * Without one no memory can be registered, and everything goes in messages.
 */
void rc_reg_start(struct rc_device *dev, u32 port, const struct ib_qp_attr *rtr, int mask)
{
	bool broken;

	if (READ_ONCE(dev->reg_ready) || !rc_mem_able(dev->ib))
		return;
	down_write(&dev->reg_lock);
	if (dev->reg_ready)
		goto unlock;
	broken = dev->reg_qp;
	if (broken)
		drain_and_destroy(dev);
	if (create(dev))
		goto unlock;
	if (connect_to_itself(dev, port, rtr, mask)) {
		/* Nothing was posted; and soft-RoCE may not complete what a drain would post. */
		dev->reg_drain.lost = true;
		drain_and_destroy(dev);
		goto unlock;
	}
	WRITE_ONCE(dev->reg_ready, true);
	if (!broken)
		rc_worth_start(dev);
unlock:
	up_write(&dev->reg_lock);
}

/**
 * rc_reg_stop() - a device goes
 * @dev: device; nobody registers memory any more
 */
void rc_reg_stop(struct rc_device *dev)
{
	if (dev->reg_qp)
		drain_and_destroy(dev);
}

/*
 * It may still complete, so it stays; and nothing is to be carried out any more for who gives up:
 * the queue pair ends, unless it has already. With reg_lock for reading.
 */
static void give_up(struct rc_device *dev, struct reg_op *op)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	bool works;

	op->lost = true;
	spin_lock_bh(&dev->lock);
	list_add(&op->node, &dev->reg_lost);
	works = READ_ONCE(dev->reg_ready);
	WRITE_ONCE(dev->reg_ready, false);
	spin_unlock_bh(&dev->lock);
	if (works)
		ib_modify_qp(dev->reg_qp, &error, IB_QP_STATE);
	ibdev_warn_ratelimited(dev->ib, "sdp: a registration has not completed\n");
}

/* Post what is to be done, @op at its end, and wait for that. With reg_lock for reading. */
static int post_and_wait(struct rc_device *dev, const struct ib_send_wr *first, struct reg_op *op)
{
	const struct ib_send_wr *bad = first;
	int err = ib_post_send(dev->reg_qp, first, &bad);

	if (err && bad == first)
		return err;
	/* Or what comes before it has been posted, and it has not. */
	if (err || !rc_drain_await(&op->done, dev->reg_cq)) {
		give_up(dev, op);
		return err ?: -EIO;
	}
	if (op->status == IB_WC_SUCCESS)
		return 0;
	/* It is in error now, and all that is posted later would be for nothing. */
	WRITE_ONCE(dev->reg_ready, false);
	ibdev_warn_ratelimited(dev->ib, "sdp: a registration has failed (%s)\n",
			       ib_wc_status_msg(op->status));
	return -EIO;
}

/* Carry out @first and, if it is another one, @last after it. */
static int run(struct rc_device *dev, struct ib_send_wr *first, struct ib_send_wr *last)
{
	struct reg_op *op;
	int err = -EIO;

	/* Not to wait until there is another one. */
	if (!READ_ONCE(dev->reg_ready))
		return err;
	op = new_op();
	if (!op)
		return -ENOMEM;
	/* Completes only when it fails, and then before what follows it. */
	first->wr_cqe = &op->before;
	last->wr_cqe = &op->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	/* First: while one waits for it, the queue pair may be lost. */
	down(&dev->reg_room);
	down_read(&dev->reg_lock);
	if (READ_ONCE(dev->reg_ready))
		err = post_and_wait(dev, first, op);
	/* One that is lost is freed by who has the lock for writing next. */
	if (!op->lost)
		kfree(op);
	up_read(&dev->reg_lock);
	up(&dev->reg_room);
	return err;
}

/**
 * rc_reg_mr() - let a memory region, with the pages it was given, be used
 * @dev: device
 * @mr: region, with the key that it shall have
 * @stale: a key that it still has, to be ended first; or 0
 * @access: IB_ACCESS_*
 *
 * Return: 0 or an errno.
 */
int rc_reg_mr(struct rc_device *dev, struct ib_mr *mr, u32 stale, int access)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR, .mr = mr, .key = mr->rkey, .access = access,
	};
	struct ib_send_wr inv = {
		.next = &reg.wr, .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = stale,
	};

	return run(dev, stale ? &inv : &reg.wr, &reg.wr);
}
