// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the per-device queue pair that registers memory.
 *
 * A fast registration is a request on a queue pair, which may be any one of
 * the protection domain. Each device has one for that purpose alone, connected
 * to itself. A connection's own queue pair would have three drawbacks:
 *
 * - a registration would wait for everything that the peer does not
 *   acknowledge;
 * - when soft-RoCE has to resend requests that were posted before a
 *   registration, it carries the registration out again, which fails and ends
 *   the connection;
 * - every connection would need room for registrations.
 *
 * The queue pair allows no remote access, as it has no peer.
 *
 * It is created when the first connection of a device is established, whose
 * path gives an address to connect to. A task waits for each of its requests.
 * Requests are local, so they take no longer than the device needs. The wait is
 * limited even so, because a device may lose completions.
 *
 * A request that fails or is lost ends the queue pair, as any error of a queue
 * pair does. A work item then creates another one, on the path of the newest
 * connection. This may take tens of seconds if the device has lost
 * completions. Until then, large writes on the device travel in messages.
 * Earlier registrations stay valid and are deregistered after the transfer.
 */
#include <linux/random.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "rc.h"

/* Maximum number of concurrent registrations. More wait. */
#define REG_DEPTH	64

/**
 * struct reg_op - a request, owned by the task that waits for it
 * @cqe: completes the request
 * @before: completes the invalidation posted before the request, on error
 * @done: the request has completed
 * @status: result of the request
 * @lost: the task has given up; the request is in rc_device.reg_lost
 * @node: entry in rc_device.reg_lost until the queue pair is drained
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

/* Nothing to do: the following request is flushed and reports the failure. */
static void reg_before_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static struct reg_op *reg_op_new(void)
{
	struct reg_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op)
		return NULL;
	op->cqe.done = reg_done;
	op->before.done = reg_before_done;
	init_completion(&op->done);
	return op;
}

static int reg_to_init(struct rc_device *dev, u32 port)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = port,
	};

	return ib_modify_qp(dev->reg_qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

/* Move the queue pair through INIT and RTR to RTS, connected to itself. */
static int reg_connect(struct rc_device *dev, const struct rc_reg_path *path)
{
	struct ib_qp_attr attr = path->attr;
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = get_random_u32() & 0xffffff,
	};
	int err;

	attr.dest_qp_num = dev->reg_qp->qp_num;
	/* Random, so that a forged packet is not accepted as the next one. */
	attr.rq_psn = rts.sq_psn;
	err = reg_to_init(dev, path->port);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &attr, path->mask);
	if (!err)
		err = ib_modify_qp(dev->reg_qp, &rts,
				   IB_QP_STATE | IB_QP_TIMEOUT |
				   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				   IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
	return err;
}

static void reg_destroy(struct rc_device *dev)
{
	ib_destroy_qp(dev->reg_qp);
	ib_free_cq(dev->reg_cq);
	dev->reg_qp = NULL;
}

/* Registrations at a time: the device may have no room for %REG_DEPTH. */
static int reg_depth(const struct ib_device *ib)
{
	return min3(REG_DEPTH, ib->attrs.max_qp_wr / 2,
		    (ib->attrs.max_cqe - 1) / 2);
}

static int reg_create(struct rc_device *dev)
{
	int depth = reg_depth(dev->ib);
	struct ib_qp_init_attr attr = {
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	= 2 * depth,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};
	struct ib_qp *qp;

	dev->reg_cq = ib_alloc_cq_any(dev->ib, dev, 2 * depth + 1,
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

/* Save a path. Its GID reference lets it outlive the connection. */
static void reg_save_path(struct rc_device *dev, u32 port,
			  const struct ib_qp_attr *rtr, int mask)
{
	struct rc_reg_path path = {
		.attr = *rtr,
		.port = port,
		.mask = mask & ~IB_QP_ALT_PATH,
	};

	rdma_copy_ah_attr(&path.attr.ah_attr, &rtr->ah_attr);
	spin_lock_bh(&dev->lock);
	swap(dev->reg_path, path);
	spin_unlock_bh(&dev->lock);
	rdma_destroy_ah_attr(&path.attr.ah_attr);
}

static bool reg_get_path(struct rc_device *dev, struct rc_reg_path *path)
{
	spin_lock_bh(&dev->lock);
	*path = dev->reg_path;
	rdma_copy_ah_attr(&path->attr.ah_attr, &dev->reg_path.attr.ah_attr);
	spin_unlock_bh(&dev->lock);
	return path->mask;
}

/* Create the queue pair on the saved path. Called with reg_lock for writing. */
static void reg_make(struct rc_device *dev)
{
	struct rc_reg_path path;

	WRITE_ONCE(dev->reg_made, jiffies);
	if (!reg_get_path(dev, &path) || reg_create(dev))
		goto put;
	if (reg_connect(dev, &path)) {
		/*
		 * Do not wait for a drain. Nothing was posted, and soft-RoCE
		 * may not complete the requests of a drain.
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

/*
 * Drain and destroy the queue pair. Called with reg_lock for writing, or when
 * nobody registers memory any more.
 */
static void reg_drain_and_destroy(struct rc_device *dev)
{
	struct reg_op *op, *next;

	rc_drain_reset(&dev->reg_drain, dev->reg_qp);
	list_for_each_entry_safe(op, next, &dev->reg_lost, node)
		kfree(op);
	INIT_LIST_HEAD(&dev->reg_lost);
	reg_destroy(dev);
}

/* Recreate a queue pair that failed, or that could not be connected. */
static void reg_make_again(struct work_struct *work)
{
	struct rc_device *dev = container_of(to_delayed_work(work),
					     struct rc_device, reg_work);

	/* Do not take the lock from users while the queue pair works. */
	if (READ_ONCE(dev->reg_ready) || READ_ONCE(dev->going))
		return;
	down_write(&dev->reg_lock);
	if (!dev->reg_ready) {
		if (dev->reg_qp)
			reg_drain_and_destroy(dev);
		reg_make(dev);
	}
	up_write(&dev->reg_lock);
}

/**
 * rc_reg_init() - prepare a device for creating its registration queue pair
 * @dev: device
 */
void rc_reg_init(struct rc_device *dev)
{
	init_rwsem(&dev->reg_lock);
	sema_init(&dev->reg_room, reg_depth(dev->ib));
	INIT_LIST_HEAD(&dev->reg_lost);
	INIT_DELAYED_WORK(&dev->reg_work, reg_make_again);
	dev->reg_made = jiffies - RC_REG_PAUSE;
	dev->invalidates = rc_mem_invalidates(dev->ib);
	rc_worth_init(dev);
}

/**
 * rc_reg_want() - ask the work item to recreate the registration queue pair
 * @dev: device whose queue pair does not work
 *
 * Callers may repeat this: the work item tries at most once per %RC_REG_PAUSE.
 * Does not sleep.
 */
void rc_reg_want(struct rc_device *dev)
{
	long wait = READ_ONCE(dev->reg_made) + RC_REG_PAUSE - jiffies;

	if (READ_ONCE(dev->reg_path.mask) && !READ_ONCE(dev->going))
		queue_delayed_work(rc_wq, &dev->reg_work,
				   clamp(wait, 0L, (long)RC_REG_PAUSE));
}

/**
 * rc_reg_start() - create the registration queue pair for a new connection
 * @dev: device
 * @port: port number of the connection
 * @rtr: attributes with which its queue pair went to RTR
 * @mask: attributes that are set
 *
 * Without that queue pair no memory can be registered, and all data travels in
 * messages.
 *
 * Called by CM handlers, which must not wait for long. Creating the first
 * queue pair takes no longer than creating the connection's own. Only the work
 * item recreates one, as it has to drain the previous one.
 */
void rc_reg_start(struct rc_device *dev, u32 port, const struct ib_qp_attr *rtr,
		  int mask)
{
	if (!rc_mem_able(dev->ib))
		return;
	reg_save_path(dev, port, rtr, mask);
	if (READ_ONCE(dev->reg_ready))
		return;
	if (!down_write_trylock(&dev->reg_lock)) {
		rc_reg_want(dev);
		return;
	}
	if (!dev->reg_qp)
		reg_make(dev);
	up_write(&dev->reg_lock);
	if (!READ_ONCE(dev->reg_ready))
		rc_reg_want(dev);
}

/**
 * rc_reg_cancel() - stop recreating a removed device's queue pair
 * @dev: device with @going set
 *
 * May sleep.
 */
void rc_reg_cancel(struct rc_device *dev)
{
	cancel_delayed_work_sync(&dev->reg_work);
}

/**
 * rc_reg_stop() - destroy a removed device's registration queue pair
 * @dev: device; nobody registers memory any more
 *
 * May sleep.
 */
void rc_reg_stop(struct rc_device *dev)
{
	/* The last registration may have asked for a new queue pair. */
	rc_reg_cancel(dev);
	if (dev->reg_qp)
		reg_drain_and_destroy(dev);
	rdma_destroy_ah_attr(&dev->reg_path.attr.ah_attr);
}

/*
 * Give up a request. It may still complete, so @op stays allocated. The device
 * must not carry it out any more, so this moves the queue pair to the error
 * state, unless it has failed already. Called with reg_lock for reading.
 */
static void reg_give_up(struct rc_device *dev, struct reg_op *op)
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
			       "sdp: memory registration timed out\n");
}

/*
 * Post a chain of requests, of which @op is the last, and wait for @op. Called
 * with reg_lock for reading.
 */
static int reg_post_and_wait(struct rc_device *dev,
			     const struct ib_send_wr *first, struct reg_op *op)
{
	const struct ib_send_wr *bad = first;
	int err = ib_post_send(dev->reg_qp, first, &bad);

	if (err && bad == first) {
		/* The device states that it cannot invalidate keys. */
		if (first->opcode == IB_WR_LOCAL_INV && err != -ENOMEM)
			WRITE_ONCE(dev->invalidates, false);
		return err;
	}
	/* On an error here, the first request is posted and the last is not. */
	if (err || !rc_drain_await(&op->done, dev->reg_cq)) {
		reg_give_up(dev, op);
		return err ?: -EIO;
	}
	if (op->status == IB_WC_SUCCESS)
		return 0;
	/* The queue pair is in error: later requests would all fail. */
	WRITE_ONCE(dev->reg_ready, false);
	rc_reg_want(dev);
	ibdev_warn_ratelimited(dev->ib, "sdp: memory registration failed (%s)\n",
			       ib_wc_status_msg(op->status));
	return -EIO;
}

/* Carry out @first, and then @last unless they are the same request. */
static int reg_run(struct rc_device *dev, struct ib_send_wr *first,
		   struct ib_send_wr *last)
{
	struct reg_op *op;
	int err = -EIO;

	/* Fail rather than wait for a new queue pair. */
	if (!READ_ONCE(dev->reg_ready))
		return err;
	op = reg_op_new();
	if (!op)
		return -ENOMEM;
	/* @first has a cqe of its own: on error it completes before @last. */
	first->wr_cqe = &op->before;
	last->wr_cqe = &op->cqe;
	last->send_flags = IB_SEND_SIGNALED;
	/* Check reg_ready after this: the queue pair may fail in this wait. */
	down(&dev->reg_room);
	/* Contended: the work item recreates the queue pair. Do not wait. */
	if (down_read_trylock(&dev->reg_lock)) {
		if (READ_ONCE(dev->reg_ready))
			err = reg_post_and_wait(dev, first, op);
		/* reg_drain_and_destroy() frees a lost request. */
		if (op->lost)
			op = NULL;
		up_read(&dev->reg_lock);
	}
	kfree(op);
	up(&dev->reg_room);
	return err;
}

/**
 * rc_reg_mr() - register a memory region that ib_map_mr_sg() has prepared
 * @dev: device
 * @mr: region, with its new key
 * @stale: previous key that is still valid, to be invalidated first; or 0
 * @access: access flags, IB_ACCESS_*
 *
 * May sleep.
 *
 * Return: 0; -EIO if the queue pair does not work or the request failed; or
 * another errno.
 */
int rc_reg_mr(struct rc_device *dev, struct ib_mr *mr, u32 stale, int access)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	struct ib_send_wr inv = {
		.next = &reg.wr,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = stale,
	};

	return reg_run(dev, stale ? &inv : &reg.wr, &reg.wr);
}
