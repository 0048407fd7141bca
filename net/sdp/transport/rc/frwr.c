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
 * A request that fails, or is lost, ends the queue pair, as any error of one
 * does. A work item then makes another one, along the path of the newest
 * connection. That may take tens of seconds, when the device has lost
 * completions. Until then large writes of the device go in messages; what was
 * registered before stays so, and is deregistered when it is over.
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

	return ib_modify_qp(dev->reg_qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				    IB_QP_ACCESS_FLAGS);
}

/* Through INIT and RTR to RTS. */
static int connect_to_itself(struct rc_device *dev,
			     const struct rc_reg_path *path)
{
	struct ib_qp_attr attr = path->attr;
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = get_random_u32() & 0xffffff,
	};
	int err;

	attr.dest_qp_num = dev->reg_qp->qp_num;
	/* A packet from elsewhere, for this queue pair, shall not be taken for the next one. */
	attr.rq_psn = rts.sq_psn;
	err = to_init(dev, path->port);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &attr, path->mask);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &rts,
				   IB_QP_STATE | IB_QP_TIMEOUT |
					   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
					   IB_QP_SQ_PSN |
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

	dev->reg_cq = ib_alloc_cq_any(dev->ib, dev, 2 * REG_DEPTH + 1,
				      IB_POLL_SOFTIRQ);
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

/* The path outlives the connection that it is of. */
static void keep_path(struct rc_device *dev, u32 port,
		      const struct ib_qp_attr *rtr, int mask)
{
	struct rc_reg_path path = {
		.attr = *rtr, .port = port, .mask = mask & ~IB_QP_ALT_PATH,
	};

	rdma_copy_ah_attr(&path.attr.ah_attr, &rtr->ah_attr);
	spin_lock_bh(&dev->lock);
	swap(dev->reg_path, path);
	spin_unlock_bh(&dev->lock);
	rdma_destroy_ah_attr(&path.attr.ah_attr);
}

static bool take_path(struct rc_device *dev, struct rc_reg_path *path)
{
	spin_lock_bh(&dev->lock);
	*path = dev->reg_path;
	rdma_copy_ah_attr(&path->attr.ah_attr, &dev->reg_path.attr.ah_attr);
	spin_unlock_bh(&dev->lock);
	return path->mask;
}

/* Make the queue pair; there is none. With reg_lock for writing. */
static void make(struct rc_device *dev)
{
	struct rc_reg_path path;

	WRITE_ONCE(dev->reg_made, jiffies);
	if (!take_path(dev, &path) || create(dev))
		goto put;
	if (connect_to_itself(dev, &path)) {
		/*
		 * Nothing was posted; and soft-RoCE may not complete what a
		 * drain would post.
		 */
		dev->reg_drain.lost = true;
		goto put;
	}
	WRITE_ONCE(dev->reg_ready, true);
	if (!dev->measured)
		rc_worth_start(dev);
	dev->measured = true;
put:
	rdma_destroy_ah_attr(&path.attr.ah_attr);
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

/* The queue pair has failed, or could not be connected. */
static void make_again(struct work_struct *work)
{
	struct rc_device *dev = container_of(to_delayed_work(work),
					     struct rc_device, reg_work);

	/* While it works nobody shall find the lock taken. */
	if (READ_ONCE(dev->reg_ready) || READ_ONCE(dev->going))
		return;
	down_write(&dev->reg_lock);
	if (!dev->reg_ready) {
		if (dev->reg_qp)
			drain_and_destroy(dev);
		make(dev);
	}
	up_write(&dev->reg_lock);
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
	INIT_DELAYED_WORK(&dev->reg_work, make_again);
	dev->reg_made = jiffies - RC_REG_PAUSE;
	dev->invalidates = rc_mem_invalidates(dev->ib);
	rc_worth_init(dev);
}

/**
 * rc_reg_want() - somebody would register memory: make the queue pair again
 * @dev: device, whose queue pair does not work
 *
 * However often it fails, at most once each RC_REG_PAUSE. Does not sleep.
 */
void rc_reg_want(struct rc_device *dev)
{
	long wait = READ_ONCE(dev->reg_made) + RC_REG_PAUSE - jiffies;

	if (READ_ONCE(dev->reg_path.mask) && !READ_ONCE(dev->going))
		queue_delayed_work(rc_wq, &dev->reg_work,
				   clamp(wait, 0L, (long)RC_REG_PAUSE));
}

/**
 * rc_reg_start() - a connection stands: see to the device's queue pair
 * @dev: device
 * @port: port number of the connection
 * @rtr: attributes with which its queue pair went to RTR
 * @mask: which of them are set
 *
 * Without one no memory can be registered, and everything goes in messages.
 *
 * Called by handlers of the CM, which must not wait long: the first queue pair
 * takes no longer to make than the connection's own. To make another one is the
 * work item's task, as it has to wait for the end of the one before.
 */
void rc_reg_start(struct rc_device *dev, u32 port, const struct ib_qp_attr *rtr,
		  int mask)
{
	if (!rc_mem_able(dev->ib))
		return;
	keep_path(dev, port, rtr, mask);
	if (READ_ONCE(dev->reg_ready))
		return;
	if (!down_write_trylock(&dev->reg_lock)) {
		rc_reg_want(dev);
		return;
	}
	if (!dev->reg_qp)
		make(dev);
	up_write(&dev->reg_lock);
	if (!READ_ONCE(dev->reg_ready))
		rc_reg_want(dev);
}

/**
 * rc_reg_cancel() - a device goes: its queue pair is not made any more
 * @dev: device, said to be going
 */
void rc_reg_cancel(struct rc_device *dev)
{
	cancel_delayed_work_sync(&dev->reg_work);
}

/**
 * rc_reg_stop() - a device goes
 * @dev: device; nobody registers memory any more
 */
void rc_reg_stop(struct rc_device *dev)
{
	/* The last registration may have asked for a new queue pair. */
	rc_reg_cancel(dev);
	if (dev->reg_qp)
		drain_and_destroy(dev);
	rdma_destroy_ah_attr(&dev->reg_path.attr.ah_attr);
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
	rc_reg_want(dev);
	ibdev_warn_ratelimited(dev->ib,
			       "sdp: a registration has not completed\n");
}

/* Post what is to be done, @op at its end, and wait for that. With reg_lock for reading. */
static int post_and_wait(struct rc_device *dev, const struct ib_send_wr *first,
			 struct reg_op *op)
{
	const struct ib_send_wr *bad = first;
	int err = ib_post_send(dev->reg_qp, first, &bad);

	if (err && bad == first) {
		/* The device says that it does not do that. */
		if (first->opcode == IB_WR_LOCAL_INV && err != -ENOMEM)
			WRITE_ONCE(dev->invalidates, false);
		return err;
	}
	/* Or what comes before it has been posted, and it has not. */
	if (err || !rc_drain_await(&op->done, dev->reg_cq)) {
		give_up(dev, op);
		return err ?: -EIO;
	}
	if (op->status == IB_WC_SUCCESS)
		return 0;
	/* It is in error now, and all that is posted later would be for nothing. */
	WRITE_ONCE(dev->reg_ready, false);
	rc_reg_want(dev);
	ibdev_warn_ratelimited(dev->ib, "sdp: a registration has failed (%s)\n",
			       ib_wc_status_msg(op->status));
	return -EIO;
}

/* Carry out @first and, if it is another one, @last after it. */
static int run(struct rc_device *dev, struct ib_send_wr *first,
	       struct ib_send_wr *last)
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
	/* Else it is being made again, which can take too long to wait for. */
	if (down_read_trylock(&dev->reg_lock)) {
		if (READ_ONCE(dev->reg_ready))
			err = post_and_wait(dev, first, op);
		/* The next one with the lock for writing frees it. */
		if (op->lost)
			op = NULL;
		up_read(&dev->reg_lock);
	}
	kfree(op);
	up(&dev->reg_room);
	return err;
}

/**
 * rc_reg_mr() - let a memory region, with the pages it was given, be used
 * @dev: device
 * @mr: region, with the key that it shall have
 * @stale: a key that it still has, to be invalidated first; or 0
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
