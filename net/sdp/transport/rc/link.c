// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: life and end of a link.
 *
 * Everything that must not happen in a CM handler, in softirq or under the owner's lock
 * is done by the link's one work item: flags say what, the item does it in a fixed order
 * and never runs beside itself. Only the stop has an item of its own, and the first one
 * waits for it. All resources are freed in one place, link_destroy(), in
 * reverse order of their making; the link itself when nobody refers to it any more.
 *
 * An end from our side: release() -> (answer to a fresh REQ or REP) -> DREQ -> (DREP, or
 *	some repetitions) -> stop -> (packets and device events under way) -> destroy.
 * An end from the peer's: DREQ -> DREP, drain (what had arrived is handed in), up->ended
 *	-> the owner releases -> stop -> (the same) -> destroy.
 * A device that goes away: up->failed -> the owner releases -> stop, and so on.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "rc.h"

static bool device_going(const struct rc_link *rc)
{
	return rc->dev && READ_ONCE(rc->dev->going);
}

static void drop_rdma_id(struct rc_link *rc)
{
	/* Waits for a handler that runs; none can start afterwards. */
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
	rc_up->released(&rc->link);
	rc_link_put(rc);
}

/*
 * Afterwards nothing reaches the link. A few at a time: who destroys a CM id, or drains, waits for
 * work items of others that many would keep from running. (In 7.2 ib_destroy_cm_id() looks each
 * tick, besides being woken, if the peer's REQ has named no retries or no time.)
 */
static void stop_work(struct work_struct *work)
{
	struct rc_link *rc = container_of(work, struct rc_link, stop);

	drop_rdma_id(rc);
	rc_qp_stop(rc);
	if (rc->cm)
		ib_destroy_cm_id(rc->cm);
	rc->cm = NULL;
	/* Last: up to here a handler may have entered it. */
	rc_device_leave(rc);
	rc_link_poke(rc, RC_AT_REST);
	rc_link_put(rc);
}

/* Returns how long to wait for the next call; that after the stop is the other item's. */
static unsigned long link_end(struct rc_link *rc)
{
	if (!test_and_set_bit(RC_STOPPED, &rc->flags)) {
		refcount_inc(&rc->refs);
		queue_work(rc_stop_wq, &rc->stop);
	}
	if (!test_bit(RC_AT_REST, &rc->flags))
		return 0;
	/*
	 * Users have been told that the link is over, and wait for nothing but it. Who walks the
	 * device's list is one of them: the owner hears of it before the last word.
	 */
	if (!rc_qp_quiet(rc) || atomic_read_acquire(&rc->users))
		return RC_QUIET_WAIT;
	link_destroy(rc);
	return 0;
}

/*
 * A REQ or REP has to be answered before we can go. To destroy its id now would send a REJ, once.
 * The peer's CM works on several CPUs; if it comes to the REJ first, it does not know yet whom
 * that is about. It takes a REP that follows for a connection, whose end nobody will tell it; and
 * a REQ for one to come, which keeps a place in a backlog until all its REPs are sent.
 *
 * Returns how long to wait for the answer. It may come just now: either its handler or this
 * function takes RC_AWAITED back, and goes on. Others may wake the item before that: then it waits
 * for the rest.
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
	/* Pairs with rc_cm_event(): one of us sees what the other has set. */
	smp_mb__after_atomic();
	if (test_bit(RC_CONNECTED, &rc->flags) &&
	    test_and_clear_bit(RC_AWAITED, &rc->flags))
		return 0;
	return wait;
}

/*
 * The CM takes a DREQ that gets no memory for sent: it is in TIMEWAIT then, out of which nothing
 * goes, and a peer that only reads is never told. So it may have of the kernel's reserve, which is
 * for what gives memory back; the end of a connection does, at both ends. If not even that has any,
 * a peer finds out when it sends, or by keepalive: as when the RST of a TCP is lost.
 */
static int send_dreq(struct rc_link *rc)
{
	unsigned int before = memalloc_noreclaim_save();
	int err = ib_send_cm_dreq(rc->cm, NULL, 0);

	memalloc_noreclaim_restore(before);
	return err;
}

/*
 * The CM repeats a DREQ, but not once its id is destroyed. It may get lost, and then nothing else
 * tells the peer: not even after both DisConns, if it was the first one to send its own. Returns
 * how long to wait for the answer.
 */
static unsigned long await_drep(const struct rc_link *rc)
{
	unsigned long most = RC_DREQ_LEAST;
	long wait;

	/* Else it is not repeated in time. */
	if (rc->cm_wait < RC_DREQ_MOST)
		most = clamp_t(unsigned long, RC_DREQ_TIMES * rc->cm_wait, most,
			       RC_DREQ_MOST);
	wait = rc->closing + most - jiffies;
	return max(wait, 0L);
}

/*
 * Tell the peer, unless it knows. Returns how long to wait for its answer.
 *
 * Whether the connection stands is for the CM to say, and it refuses if not: our own flag
 * comes after its state, and an id destroyed in between would send a DREQ whose answer the
 * CM does not take, so that ib_destroy_cm_id() waits until all its repetitions are sent.
 */
static unsigned long disconnect(struct rc_link *rc)
{
	unsigned long wait;

	if (!rc->cm || test_bit(RC_PEER_ENDED, &rc->flags) || device_going(rc))
		return 0;
	wait = await_answer(rc);
	if (wait)
		return wait;
	/* The owner knows the answer, and has let go at once; the CM will know it in a moment. */
	if (test_bit(RC_ANSWERING, &rc->flags))
		return 1;
	/* Likewise if it is from us that the CM knows: see tell_cm(). */
	if (test_bit(RC_TOLD, &rc->flags) &&
	    !test_bit(RC_CONNECTED, &rc->flags))
		return 1;
	if (test_and_set_bit(RC_CLOSING, &rc->flags))
		return await_drep(rc);
	rc->closing = jiffies;
	return send_dreq(rc) ? 0 : await_drep(rc);
}

/*
 * The queue pair is in error, and nobody has said why: a device's event may be on its way, as when
 * a port goes down. Returns how long to wait for it; after that there is no other reason to give.
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
	wait = rc->flushed_at + RC_REASON_WAIT - jiffies;
	if (wait > 0)
		return wait;
	rc_link_fail(rc, ECONNRESET, "queue pair in error");
	return 0;
}

/* After how long the CM will have sent our REP a few times, if there is no RTU. */
static unsigned long rtu_wait(const struct rc_link *rc)
{
	return max_t(unsigned long, RC_RTU_REPS * rc->cm_wait, RC_ANSWER_WAIT);
}

/*
 * A message has come, and no RTU, which may be lost: in the end the CM is told, or it would end the
 * connection. Returns how long to wait for the RTU before that.
 *
 * From this word on the CM calls the connection established, but it goes on repeating our REP until
 * it comes to its own event. What ends the connection in between, a DREQ of the peer's as well,
 * leaves it at that: the id is then not to be destroyed before the last repetition, and how long
 * that takes is for the peer's REQ to say, up to days. So that moment is put off until the REP has
 * been repeated a few times, which makes a peer that lives send its RTU again; who wants an id to
 * be kept for long has to be there for about as long. And no DREQ of ours goes before that event.
 */
static unsigned long tell_cm(struct rc_link *rc)
{
	long wait;
	int err;

	/* Only with this flag is it certain that nobody is just making the id. */
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
 * There was no memory for our RTU. The connection stands, but its peer repeats the REP until it
 * hears of that. If the CM refuses by now, its own event says why.
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

/* Everything there is to do. Returns how long to wait before it is looked at again, or 0. */
static unsigned long link_step(struct rc_link *rc)
{
	unsigned long wait;

	if (test_and_clear_bit(RC_START, &rc->flags) &&
	    !test_bit(RC_RELEASED, &rc->flags))
		rc_resolve(rc);
	if (test_bit(RC_ROUTE_DONE, &rc->flags))
		drop_rdma_id(rc);
	if (test_and_clear_bit(RC_BROKEN, &rc->flags))
		rc_link_fail(rc, ECONNRESET, "queue pair");
	if (test_and_clear_bit(RC_UNPROBED, &rc->flags))
		rc_up->alive(&rc->link);
	if (test_and_clear_bit(RC_UNMAPPED, &rc->flags))
		rc_link_fail(rc, ETIMEDOUT, "no DMA mapping");
	if (test_bit(RC_PEER_ENDED, &rc->flags) &&
	    !test_and_set_bit(RC_ENDED_SAID, &rc->flags)) {
		rc_qp_drain(rc);
		rc_up->ended(&rc->link);
	}
	wait = send_rtu(rc);
	if (!test_bit(RC_RELEASED, &rc->flags)) {
		if (!wait)
			wait = tell_cm(rc);
		return min_not_zero(wait, await_reason(rc));
	}
	/* A REQ is being made just now, or there is none. */
	drop_rdma_id(rc);
	/* Each wait ends when the answer has come, or its time is over. */
	wait = disconnect(rc);
	return wait ?: link_end(rc);
}

/*
 * The item has a reference while it is queued. Somebody's flag may be seen, and be the link's
 * end, before that somebody has queued the item for it: then there is nothing left to do.
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
 * rc_link_alloc() - a link without device or resources
 * @net: namespace
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
	INIT_WORK(&rc->stop, stop_work);
	return rc;
}

/**
 * rc_link_put() - drop a reference
 * @rc: link
 */
void rc_link_put(struct rc_link *rc)
{
	if (refcount_dec_and_test(&rc->refs))
		kfree(rc);
}

/**
 * rc_link_discard() - free a link that never got an owner
 * @rc: link; its CM id is somebody else's to destroy
 */
void rc_link_discard(struct rc_link *rc)
{
	/* An event may have queued the item, for which there is nothing left to do. */
	set_bit(RC_GONE, &rc->flags);
	flush_delayed_work(&rc->work);
	/* What is flushed now has nobody to be told. */
	set_bit(RC_STOPPED, &rc->flags);
	if (rc->dev) {
		rc_qp_settle(rc);
		rc_qp_destroy(rc);
		rc_device_del_link(rc);
	}
	rc_link_put(rc);
}

/* The caller's reference becomes the item's. */
static void queue_item(struct rc_link *rc)
{
	if (mod_delayed_work(rc_wq, &rc->work, 0))
		rc_link_put(rc);
}

/**
 * rc_link_poke() - let the work item see a flag
 * @rc: link
 * @flag: set before the item runs
 */
void rc_link_poke(struct rc_link *rc, enum rc_flag flag)
{
	/* First: once the flag is seen, the link may go at any time. */
	refcount_inc(&rc->refs);
	set_bit(flag, &rc->flags);
	queue_item(rc);
}

/**
 * rc_link_wake() - let the work item look again now, instead of after its wait
 * @rc: link; a reference is held
 */
void rc_link_wake(struct rc_link *rc)
{
	refcount_inc(&rc->refs);
	queue_item(rc);
}

/**
 * rc_link_fail() - the link is broken; said once
 * @rc: link; a reference is held
 * @error: positive errno
 * @place: where
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
		rc_up->failed(&rc->link, error, place);
}

/**
 * rc_link_owned() - a link has got its owner, who hears of what has happened before
 * @rc: link
 *
 * A device's events find a link before its owner is made.
 */
void rc_link_owned(struct rc_link *rc)
{
	set_bit(RC_OWNED, &rc->flags);
	/* Pairs with rc_link_fail(): one of us sees what the other has set. */
	smp_mb__after_atomic();
	if (test_bit_acquire(RC_FAILED_WHY, &rc->flags))
		rc_up->failed(&rc->link, rc->error, rc->place);
}

static void rc_release(struct sdp_link *link, bool abort)
{
	rc_link_poke(to_rc(link), RC_RELEASED);
}

static void rc_use(struct sdp_link *link)
{
	atomic_inc(&to_rc(link)->users);
}

/* The link may be gone afterwards; all that was done in between comes before that. */
static void rc_unuse(struct sdp_link *link)
{
	atomic_dec_return_release(&to_rc(link)->users);
}

static const char *rc_device_name(const struct sdp_link *link)
{
	const struct rc_link *rc = container_of(link, struct rc_link, link);
	const struct rc_device *dev = READ_ONCE(rc->dev);

	return dev ? dev_name(&dev->ib->dev) : NULL;
}

const struct sdp_transport sdp_rc = {
	.name		= "rc",
	.create		= rc_create,
	.connect	= rc_connect,
	.prepare	= rc_prepare,
	.post		= rc_post,
	.recycle	= rc_recycle,
	.trim		= rc_trim,
	.send		= rc_send,
	.resend		= rc_resend,
	.probe		= rc_probe,
	.use		= rc_use,
	.unuse		= rc_unuse,
	.map		= rc_map,
	.unmap		= rc_unmap,
	.move		= rc_move,
	.release	= rc_release,
	.device		= rc_device_name,
	.listen		= rc_listen,
	.unlisten	= rc_unlisten,
};
