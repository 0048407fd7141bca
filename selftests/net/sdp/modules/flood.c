// SPDX-License-Identifier: GPL-2.0
/*
 * Floods: thousands of requests that never become connections.
 *
 * They have no queue pairs: a REQ only names a number, so an attempt costs the attacker next to
 * nothing.
 *
 * A silent flood holds every answered attempt without a message until it is freed, so that only
 * the peer's own time limit ends it. A leaving flood gives up each attempt, with a REJ, soon after
 * it was made, so that the next one finds room. A silent flood may ask for so long a timeout
 * (flood-held) that the peer's CM waits for hours.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "hostile.h"

/* Number of unanswered requests: fewer than the CM's receives on either side. */
#define WINDOW		32
#define COUNT_MAX	100000
/*
 * Numbers of queue pairs that do not exist. Each flood uses others, as a repeated one counts as
 * stale.
 */
#define QPN_FIRST	0x400000

/**
 * struct attempt - one request
 * @flood: its flood
 * @cm: CM id while the attempt is held
 * @answered: it has been counted; later events do not count
 */
struct attempt {
	struct hostile_flood *flood;
	struct ib_cm_id *cm;
	bool answered;
};

/**
 * struct hostile_flood - all requests of a flood
 * @attempts: array of @count attempts
 * @count: number of attempts
 * @pending: attempts without an answer
 * @replies: attempts answered by a REP
 * @rejects: attempts answered by a REJ
 * @lost: attempts not answered in time
 * @room: woken when an attempt is answered
 */
struct hostile_flood {
	struct attempt *attempts;
	u32 count;
	atomic_t pending;
	atomic_t replies;
	atomic_t rejects;
	atomic_t lost;
	wait_queue_head_t room;
};

static u32 next_qpn = QPN_FIRST;

static void answered(struct attempt *a, atomic_t *how)
{
	if (a->answered)
		return;
	a->answered = true;
	atomic_inc(how);
	atomic_dec(&a->flood->pending);
	wake_up(&a->flood->room);
}

static int flood_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct attempt *a = cm->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		answered(a, &a->flood->replies);
		break;
	case IB_CM_REJ_RECEIVED:
		answered(a, &a->flood->rejects);
		break;
	case IB_CM_REQ_ERROR:
		answered(a, &a->flood->lost);
		break;
	default:
		break;
	}
	return 0;
}

static int one_request(struct hostile *h, const struct hostile_req *what, struct attempt *a)
{
	struct ib_cm_req_param req;
	struct ib_cm_id *cm;

	hostile_req_param(h, what, &req);
	req.qp_num = next_qpn++;
	req.max_cm_retries = 0;
	a->flood = h->flood;
	cm = ib_create_cm_id(h->rdma->device, flood_event, a);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	a->cm = cm;
	atomic_inc(&h->flood->pending);
	return ib_send_cm_req(cm, &req);
}

static void give_up(struct attempt *a)
{
	if (!a->cm)
		return;
	/* No handler runs afterwards. */
	ib_destroy_cm_id(a->cm);
	a->cm = NULL;
	answered(a, &a->flood->lost);
}

/**
 * hostile_flood() - send requests as fast as they are answered
 * @h: connection, resolved
 * @what: contents of all requests
 * @count: number of requests
 * @leaves: give each one up when %WINDOW more have been sent
 *
 * Return: 0 or an errno.
 */
int hostile_flood(struct hostile *h, const struct hostile_req *what, u32 count, bool leaves)
{
	struct hostile_flood *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int err = 0;
	u32 i;

	if (!f)
		return -ENOMEM;
	h->flood = f;
	f->count = min(count, COUNT_MAX);
	init_waitqueue_head(&f->room);
	f->attempts = kvcalloc(f->count, sizeof(*f->attempts), GFP_KERNEL);
	if (!f->attempts)
		return -ENOMEM;
	for (i = 0; !err && i < f->count; i++) {
		if (leaves && i >= WINDOW)
			give_up(&f->attempts[i - WINDOW]);
		if (wait_event_timeout(f->room, atomic_read(&f->pending) < WINDOW, 20 * HZ))
			err = one_request(h, what, &f->attempts[i]);
		else
			err = -ETIMEDOUT;
	}
	wait_event_timeout(f->room, !atomic_read(&f->pending), 20 * HZ);
	return err;
}

/**
 * hostile_flood_verdict() - write the result of a flood
 * @h: connection that flooded
 * @text: buffer
 * @room: its size in bytes
 *
 * Return: bytes written.
 */
int hostile_flood_verdict(struct hostile *h, char *text, size_t room)
{
	struct hostile_flood *f = h->flood;

	return scnprintf(text, room, "requests %u replies %d rejects %d lost %d\n", f->count,
			 atomic_read(&f->replies), atomic_read(&f->rejects),
			 atomic_read(&f->lost));
}

/**
 * hostile_flood_free() - give up all attempts
 * @h: connection, with or without a flood
 */
void hostile_flood_free(struct hostile *h)
{
	struct hostile_flood *f = h->flood;
	u32 i;

	if (!f)
		return;
	for (i = 0; f->attempts && i < f->count; i++)
		give_up(&f->attempts[i]);
	kvfree(f->attempts);
	kfree(f);
}
