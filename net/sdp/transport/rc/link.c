// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: life cycle and teardown of a link.
 *
 * A link has a work item, rc_link.work. It does everything that must not
 * happen in a CM handler, in softirq or under the owner's lock. Flags tell
 * what to do; the item does it in a fixed order and never runs concurrently
 * with itself. Only the stop has an item of its own, rc_link.stop, and the
 * first item waits for it. link_destroy() frees all resources, in reverse
 * order of their creation. rc_link_put() frees the link itself with its last
 * reference.
 *
 * We end the link:
 *	release() -> wait for the answer to a fresh REQ or REP -> send DREQ ->
 *	DREP, or a few repetitions of the DREQ -> stop -> wait until packets and
 *	device events in flight are over -> destroy
 *
 * The peer ends the link:
 *	DREQ -> send DREP, drain (hands received messages to the owner) ->
 *	up->ended -> release() -> stop -> wait as above -> destroy
 *
 * The device is removed:
 *	up->failed -> release() -> stop -> wait as above -> destroy
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "rc.h"

static bool link_device_going(const struct rc_link *rc)
{
	return rc->dev && READ_ONCE(rc->dev->going);
}

static void link_drop_rdma_id(struct rc_link *rc)
{
	/* Waits for a handler that runs. None can start afterwards. */
	if (rc->rdma)
		rdma_destroy_id(rc->rdma);
	rc->rdma = NULL;
}

static void link_destroy(struct rc_link *rc)
{
	set_bit(RC_GONE, &rc->flags);
	if (rc->dev) {
		rc_qp_destroy(rc);
		rc_device_del_link(rc);
	}
	rc->link.up->released(&rc->link);
	rc_link_put(rc);
}

/*
 * Send a DREQ, with access to the kernel's memory reserve.
 *
 * The CM treats a DREQ that it has no memory for as sent: its id is in
 * TIMEWAIT, sends nothing any more, and a peer that only reads is never told.
 * The reserve is meant for work that frees memory; the end of a connection
 * frees memory at both ends. If the reserve is empty as well, the peer finds
 * out when it sends, or by keepalive, as with a lost RST of TCP.
 */
static int send_dreq(struct rc_link *rc)
{
	unsigned int before = memalloc_noreclaim_save();
	u8 rail = RC_DREQ_RAIL;
	int err;

	if (test_bit(RC_ONE_RAIL, &rc->flags))
		err = ib_send_cm_dreq(rc->cm, &rail, sizeof(rail));
	else
		err = ib_send_cm_dreq(rc->cm, NULL, 0);

	memalloc_noreclaim_restore(before);
	return err;
}

/*
 * Stop a link: afterwards no handler reaches it any more. Only a few links are
 * stopped at a time (RC_STOPS_MOST). Destroying a CM id and draining wait for
 * work items of others, and too many stops would keep these from running. (In
 * Linux 7.2 ib_destroy_cm_id() also polls each tick if the peer's REQ names no
 * retries or no timeout.)
 */
static void link_stop_work(struct work_struct *work)
{
	struct rc_link *rc = container_of(work, struct rc_link, stop);

	link_drop_rdma_id(rc);
	rc_qp_stop(rc);
	/*
	 * If the device is being removed, no DREQ has been sent, and the one of
	 * ib_destroy_cm_id() does not say that the connection goes on.
	 */
	if (rc->cm && test_bit(RC_ONE_RAIL, &rc->flags) &&
	    !test_and_set_bit(RC_CLOSING, &rc->flags))
		send_dreq(rc);
	if (rc->cm)
		ib_destroy_cm_id(rc->cm);
	rc->cm = NULL;
	if (rc->iw)
		rc_iw_stop(rc);
	/* Last: a handler of the device may enter the link until here. */
	rc_device_leave(rc);
	rc_link_poke(rc, RC_AT_REST);
	rc_link_put(rc);
}

/*
 * Stop and destroy a link. Returns the time to wait before the next call, or 0
 * if the link is destroyed, or if the stop item will queue this one.
 */
static unsigned long link_end(struct rc_link *rc)
{
	if (!test_and_set_bit(RC_STOPPED, &rc->flags)) {
		refcount_inc(&rc->refs);
		queue_work(rc_stop_wq, &rc->stop);
	}
	if (!test_bit(RC_AT_REST, &rc->flags))
		return 0;
	/*
	 * All users know that the link has ended and wait for nothing else, so
	 * they finish soon. Tasks that walk rc_device.links are users as well,
	 * so that their up->failed precedes up->released.
	 */
	if (!rc_qp_quiet(rc) || atomic_read_acquire(&rc->users))
		return RC_QUIET_WAIT;
	link_destroy(rc);
	return 0;
}

/*
 * Wait for the answer to a fresh REQ or REP before the link goes away.
 *
 * Destroying the CM id now would send a REJ, and only once. The peer's CM
 * works on several CPUs. If it processes the REJ before our REQ or REP, it
 * cannot tell which connection the REJ is about, and drops it. If it then
 * processes our REP, it considers the connection established, and nothing tells
 * it of the end. If it then processes our REQ, the request occupies its backlog
 * until it has sent its REP the last time.
 *
 * Returns the time to wait for the answer. If the answer arrives just now,
 * either its handler or this function clears RC_AWAITED and continues. If
 * another event wakes the work item, it waits for the rest of the time.
 */
static unsigned long await_answer(struct rc_link *rc)
{
	long wait = rc->asked + RC_ANSWER_WAIT - jiffies;

	if (wait <= 0) {
		clear_bit(RC_AWAITED, &rc->flags);
		return 0;
	}
	if (!test_and_clear_bit(RC_ASKED, &rc->flags))
		return test_bit(RC_AWAITED, &rc->flags) ? wait : 0;
	set_bit(RC_AWAITED, &rc->flags);
	/* Pairs with rc_cm_event(): one side sees the other's flag. */
	smp_mb__after_atomic();
	if (test_bit(RC_CONNECTED, &rc->flags) &&
	    test_and_clear_bit(RC_AWAITED, &rc->flags))
		return 0;
	return wait;
}

/*
 * Return the time to wait for the DREP. The CM resends a DREQ only until its
 * id is destroyed. If all DREQs are lost, nothing else tells the peer that the
 * link has ended. An exchange of DisConns does not either, if the peer sent its
 * own first.
 */
static unsigned long await_drep(const struct rc_link *rc)
{
	unsigned long most = RC_DREQ_LEAST;
	long wait;

	/* A longer interval means no repetition within the limit. */
	if (rc->cm_wait < RC_DREQ_MOST)
		most = clamp_t(unsigned long, RC_DREQ_TIMES * rc->cm_wait, most,
			       RC_DREQ_MOST);
	wait = rc->closing + most - jiffies;
	return max(wait, 0L);
}

/*
 * A rail that has died says so when its port carries packets again: the
 * connection goes on by others, so there is no hurry. soft-RoCE ends its queue
 * pair for MADs, for good, when a MAD finds no route or is dropped. A port that
 * goes down is noticed late, and routes come back later than the port, so it
 * has to be up twice in a row. Returns the time until the next look.
 */
static unsigned long await_port(struct rc_link *rc)
{
	struct ib_port_attr attr;
	bool was_up = rc->port_up;

	if (!test_bit(RC_ONE_RAIL, &rc->flags) ||
	    rc->port_looks == RC_PORT_LOOKS)
		return 0;
	rc->port_looks++;
	rc->port_up = !ib_query_port(rc->dev->ib, rc->port, &attr) &&
		      attr.state == IB_PORT_ACTIVE &&
		      rc_route_carries(rc->net, &rc->local);
	if (!rc->port_up || !was_up)
		return RC_PORT_WAIT;
	rc->port_looks = RC_PORT_LOOKS;
	return 0;
}

/*
 * Tell the peer that the link ends, unless it knows. Returns the time to wait
 * for its answer.
 *
 * The CM decides whether the connection is established, and refuses the DREQ
 * if it is not. RC_CONNECTED is set later than the CM's state. If we relied on
 * the flag, the id might be destroyed in between. ib_destroy_cm_id() would then
 * send a DREQ whose answer the CM does not accept, and would wait until all
 * repetitions are sent.
 */
static unsigned long link_disconnect(struct rc_link *rc)
{
	unsigned long wait;

	if (rc->iw)
		return rc_iw_disconnect(rc);
	if (!rc->cm || test_bit(RC_PEER_ENDED, &rc->flags) ||
	    link_device_going(rc))
		return 0;
	wait = await_port(rc);
	if (!wait)
		wait = await_answer(rc);
	if (wait)
		return wait;
	/*
	 * The owner has called release() while the handler still processes the
	 * REP. The CM accepts a DREQ as soon as the handler has sent the RTU.
	 */
	if (test_bit(RC_ANSWERING, &rc->flags))
		return 1;
	/* Likewise if the CM learned of the connection from tell_cm(). */
	if (test_bit(RC_TOLD, &rc->flags) &&
	    !test_bit(RC_CONNECTED, &rc->flags))
		return 1;
	if (test_and_set_bit(RC_CLOSING, &rc->flags))
		return await_drep(rc);
	rc->closing = jiffies;
	return send_dreq(rc) ? 0 : await_drep(rc);
}

/*
 * If the queue pair is in error without a known reason, wait: a device event
 * that tells the reason may follow, for instance when a port goes down. Returns
 * the time to wait for that event; afterwards fails the link without it.
 */
static unsigned long await_reason(struct rc_link *rc)
{
	long wait;

	if (!test_bit(RC_FLUSHED, &rc->flags) ||
	    !test_bit(RC_CONNECTED, &rc->flags) ||
	    test_bit(RC_PEER_ENDED, &rc->flags) ||
	    test_bit(RC_FAILED_SAID, &rc->flags))
		return 0;
	if (!rc->flushed_at)
		rc->flushed_at = jiffies | 1;
	wait = rc->flushed_at - jiffies;
	wait += rc->iw ? RC_REASON_WAIT_IW : RC_REASON_WAIT;
	if (wait > 0)
		return wait;
	rc_link_fail(rc, ECONNRESET, "queue pair in error, no reason reported");
	return 0;
}

/*
 * Return the time after which the CM has sent our REP a few times if no RTU
 * arrived.
 */
static unsigned long rtu_wait(const struct rc_link *rc)
{
	return max_t(unsigned long, RC_RTU_REPS * rc->cm_wait, RC_ANSWER_WAIT);
}

/*
 * Tell the CM that the connection is established: a message has arrived but no
 * RTU, which may be lost. The CM would end the connection otherwise. Returns
 * the time to wait for the RTU before that.
 *
 * After ib_cm_notify() the CM calls the connection established, but resends
 * our REP until it has processed its own event. If the connection ends in
 * between, even by a DREQ of the peer, the CM keeps resending, and the id
 * cannot be destroyed before the last repetition. The peer's REQ determines
 * how long that takes: up to days. So we first wait until the REP has been
 * resent a few times. A live peer answers a REP with another RTU. And a peer
 * whose REQ makes an id stay for long has to be present for about as long. We
 * send no DREQ before the CM's event.
 */
static unsigned long tell_cm(struct rc_link *rc)
{
	long wait;
	int err;

	/* Check this flag first: without it, rc->cm may not be set yet. */
	if (!test_bit(RC_TELL_CM, &rc->flags))
		return 0;
	wait = rc->asked + rtu_wait(rc) - jiffies;
	if (wait > 0 && !test_bit(RC_CONNECTED, &rc->flags))
		return wait;
	clear_bit(RC_TELL_CM, &rc->flags);
	if (test_bit(RC_CONNECTED, &rc->flags))
		return 0;
	set_bit(RC_TOLD, &rc->flags);
	err = ib_cm_notify(rc->cm, IB_EVENT_COMM_EST);
	if (!err)
		return 0;
	clear_bit(RC_TOLD, &rc->flags);
	if (err != -ENOMEM)
		return 0;
	set_bit(RC_TELL_CM, &rc->flags);
	return RC_MEMORY_WAIT;
}

/*
 * Resend an RTU that failed for lack of memory. Returns the time until the
 * next attempt, or 0. The connection is established, but the peer resends its
 * REP until the RTU arrives. If the CM refuses the RTU now, an event of the CM
 * tells why.
 */
static unsigned long send_rtu(struct rc_link *rc)
{
	if (!test_bit(RC_RTU, &rc->flags))
		return 0;
	if (ib_send_cm_rtu(rc->cm, NULL, 0) == -ENOMEM)
		return RC_MEMORY_WAIT;
	clear_bit(RC_RTU, &rc->flags);
	return 0;
}

/* Do what the flags ask for. Returns the time until the next call, or 0. */
static unsigned long link_step(struct rc_link *rc)
{
	unsigned long wait;

	if (test_and_clear_bit(RC_START, &rc->flags) &&
	    !test_bit(RC_RELEASED, &rc->flags))
		rc_resolve(rc);
	if (test_bit(RC_ROUTE_DONE, &rc->flags))
		link_drop_rdma_id(rc);
	if (test_and_clear_bit(RC_BROKEN, &rc->flags))
		rc_link_fail(rc, ECONNRESET, "queue pair");
	if (test_and_clear_bit(RC_UNPROBED, &rc->flags))
		rc->link.up->alive(&rc->link);
	if (test_and_clear_bit(RC_UNMAPPED, &rc->flags))
		rc_link_fail(rc, ETIMEDOUT, "DMA mapping failed");
	if (test_bit(RC_PEER_ENDED, &rc->flags) &&
	    !test_and_set_bit(RC_ENDED_SAID, &rc->flags)) {
		rc_qp_drain(rc);
		rc->link.up->ended(&rc->link);
	}
	wait = send_rtu(rc);
	if (!test_bit(RC_RELEASED, &rc->flags)) {
		if (!wait)
			wait = tell_cm(rc);
		return min_not_zero(wait, await_reason(rc));
	}
	/* Waits for a handler that just sends a REQ; none can start later. */
	link_drop_rdma_id(rc);
	/* The connection goes on, and waits for what this rail was moving. */
	if (test_bit(RC_ONE_RAIL, &rc->flags) && !rc_qp_end_moves(rc))
		return link_end(rc);
	/* Each wait ends when the answer arrives or the time is over. */
	wait = link_disconnect(rc);
	return wait ?: link_end(rc);
}

/*
 * The item holds a reference while it is queued. A task sets its flag before
 * it queues the item, so an earlier run may see the flag and destroy the link.
 * RC_GONE tells the later run that nothing is left to do.
 */
static void link_work(struct work_struct *work)
{
	struct rc_link *rc =
		container_of(to_delayed_work(work), struct rc_link, work);
	unsigned long wait = 0;

	if (!test_bit(RC_GONE, &rc->flags))
		wait = test_bit(RC_STOPPED, &rc->flags) ? link_end(rc) :
							  link_step(rc);
	if (!wait || !queue_delayed_work(rc_wq, &rc->work, wait))
		rc_link_put(rc);
}

/**
 * rc_link_alloc() - allocate a link without device and resources
 * @net: network namespace
 *
 * May sleep.
 *
 * Return: the link, which rc_link_discard() or the work item frees; or NULL.
 */
struct rc_link *rc_link_alloc(struct net *net)
{
	struct rc_link *rc = kzalloc(sizeof(*rc), GFP_KERNEL);

	if (!rc)
		return NULL;
	rc->link.ops = &sdp_rc;
	rc->link.up = rc_up;
	rc->net = net;
	rc->psn = get_random_u32() & 0xffffff;
	refcount_set(&rc->refs, 1);
	__skb_queue_head_init(&rc->kept);
	__skb_queue_head_init(&rc->spare);
	INIT_LIST_HEAD(&rc->dev_node);
	INIT_DELAYED_WORK(&rc->work, link_work);
	INIT_WORK(&rc->stop, link_stop_work);
	return rc;
}

/**
 * rc_link_put() - drop a reference to a link
 * @rc: link, freed with the last reference
 */
void rc_link_put(struct rc_link *rc)
{
	if (!refcount_dec_and_test(&rc->refs))
		return;
	rc_iw_free(rc->iw);
	kfree(rc);
}

/**
 * rc_link_discard() - free a link that never had an owner
 * @rc: link; the caller disposes of its CM id
 *
 * May sleep.
 */
void rc_link_discard(struct rc_link *rc)
{
	/* An event may have queued the item. Nothing is left for it to do. */
	set_bit(RC_GONE, &rc->flags);
	flush_delayed_work(&rc->work);
	/* No owner can be told of the receives that are flushed now. */
	set_bit(RC_STOPPED, &rc->flags);
	if (rc->dev) {
		rc_qp_settle(rc);
		rc_qp_destroy(rc);
		rc_device_del_link(rc);
	}
	rc_link_put(rc);
}

/* Queue the work item at once. Consumes a reference of the caller. */
static void link_queue_work(struct rc_link *rc)
{
	if (mod_delayed_work(rc_wq, &rc->work, 0))
		rc_link_put(rc);
}

/**
 * rc_link_poke() - set a flag and run the work item
 * @rc: link
 * @flag: the work item sees this flag
 *
 * Callable from any context. The link may be freed on return.
 */
void rc_link_poke(struct rc_link *rc, enum rc_flag flag)
{
	/* First: as soon as the flag is set, another run may free the link. */
	refcount_inc(&rc->refs);
	set_bit(flag, &rc->flags);
	link_queue_work(rc);
}

/**
 * rc_link_wake() - run the work item now instead of after its wait
 * @rc: link; the caller holds a reference
 *
 * Callable from any context.
 */
void rc_link_wake(struct rc_link *rc)
{
	refcount_inc(&rc->refs);
	link_queue_work(rc);
}

/**
 * rc_link_fail() - report that a link is broken, once
 * @rc: link; the caller holds a reference
 * @error: positive errno
 * @place: place of the failure, a static string
 *
 * Calls the owner's failed(), so the caller must not hold the owner's lock.
 */
void rc_link_fail(struct rc_link *rc, int error, const char *place)
{
	if (test_and_set_bit(RC_FAILED_SAID, &rc->flags))
		return;
	rc->error = error;
	rc->place = place;
	/* Fully ordered, pairs with rc_link_owned(). */
	test_and_set_bit(RC_FAILED_WHY, &rc->flags);
	if (test_bit(RC_OWNED, &rc->flags))
		rc->link.up->failed(&rc->link, error, place);
}

/**
 * rc_link_owned() - mark a link as owned and report an earlier failure
 * @rc: link
 *
 * Events of the device reach a link before its owner exists.
 */
void rc_link_owned(struct rc_link *rc)
{
	set_bit(RC_OWNED, &rc->flags);
	/* Pairs with rc_link_fail(): one side sees the other's flag. */
	smp_mb__after_atomic();
	if (test_bit_acquire(RC_FAILED_WHY, &rc->flags))
		rc->link.up->failed(&rc->link, rc->error, rc->place);
}
