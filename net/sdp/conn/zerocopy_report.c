// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of MSG_ZEROCOPY, in the order of the writes.
 *
 * The kernel puts a report into the error queue as soon as nobody refers to the
 * write's memory. A message ends that in the order of the stream, but the
 * memory of a background write is unmapped later, by a work item. Programs are
 * used to TCP, whose reports come in order, and take memory for free that comes
 * before what has been reported. So the segments refer to a report of ours,
 * which keeps the kernel's one until those of all earlier writes have gone.
 *
 * A report is in sdp_sock.reports, under @reports_lock, from its allocation
 * until it is over and all before it have gone. The kernel's report holds the
 * socket meanwhile.
 */
#include <linux/errqueue.h>
#include <linux/slab.h>

#include "zerocopy_report.h"

/* The oldest report, taken off the list, if it is over; or NULL. */
static struct sdp_report *reports_take(struct sdp_sock *ssk)
{
	struct sdp_report *r = list_first_entry_or_null(
		&ssk->reports, struct sdp_report, node);

	if (!r || !r->over)
		return NULL;
	list_del(&r->node);
	return r;
}

/*
 * Pass on the reports that are over, up to the first that is not. If another
 * CPU does that at the moment, it goes on with ours, as only one may keep the
 * order. Called with @reports_lock, which is dropped meanwhile.
 */
static void reports_pass_on(struct sdp_sock *ssk, unsigned long *flags)
{
	struct sdp_report *r;

	if (ssk->reports_passing)
		return;
	ssk->reports_passing = true;
	while ((r = reports_take(ssk))) {
		spin_unlock_irqrestore(&ssk->reports_lock, *flags);
		net_zcopy_put(r->own);
		kfree(r);
		spin_lock_irqsave(&ssk->reports_lock, *flags);
	}
	ssk->reports_passing = false;
}

/* Somebody refers to the memory no longer; any context. */
static void report_put(struct sk_buff *skb, struct ubuf_info *ubuf,
		       bool success)
{
	struct sdp_report *r = container_of(ubuf, struct sdp_report, ubuf);
	struct sdp_sock *ssk = r->ssk;
	unsigned long flags;

	if (!success)
		uarg_to_msgzc(r->own)->zerocopy = 0;
	if (!refcount_dec_and_test(&ubuf->refcnt))
		return;
	/* The last report to go may have the last reference to the socket. */
	sock_hold(&ssk->sk);
	spin_lock_irqsave(&ssk->reports_lock, flags);
	r->over = true;
	/* Nobody hears of a write that has failed, so it need not wait. */
	if (r->undone)
		list_move(&r->node, &ssk->reports);
	reports_pass_on(ssk, &flags);
	spin_unlock_irqrestore(&ssk->reports_lock, flags);
	sock_put(&ssk->sk);
}

SDP_UBUF_OPS(report_ops, report_put);

/**
 * sdp_report_new() - begin the report of a write
 * @ssk: socket, with tx_mutex, so that its number and its place agree
 * @bytes: length of the write; its pages count against RLIMIT_MEMLOCK
 *
 * Return: the report with one reference, which net_zcopy_put() drops; or NULL
 * if memory is short or too much of it is lent or not reported yet.
 */
struct sdp_report *sdp_report_new(struct sdp_sock *ssk, size_t bytes)
{
	struct sdp_report *r = kzalloc(sizeof(*r), ssk->sk.sk_allocation);
	unsigned long flags;

	if (!r)
		return NULL;
	r->own = sdp_zerocopy_alloc(&ssk->sk, bytes);
	if (!r->own) {
		kfree(r);
		return NULL;
	}
	r->ssk = ssk;
	sdp_ubuf_set_ops(&r->ubuf, report_ops);
	r->ubuf.flags = SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN;
	refcount_set(&r->ubuf.refcnt, 1);
	spin_lock_irqsave(&ssk->reports_lock, flags);
	list_add_tail(&r->node, &ssk->reports);
	spin_unlock_irqrestore(&ssk->reports_lock, flags);
	return r;
}

/**
 * sdp_report_undo() - the write has taken no byte: there is no report
 * @r: the newest report of its socket; takes the caller's reference
 *
 * Called with tx_mutex. The next write gets its number. A segment that refers
 * to the report, because its copy has failed, keeps it for a while.
 */
void sdp_report_undo(struct sdp_report *r)
{
	net_zcopy_put_abort(r->own, false);
	r->undone = true;
	net_zcopy_put(&r->ubuf);
}
