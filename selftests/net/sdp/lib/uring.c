// SPDX-License-Identifier: GPL-2.0
#include "uring.h"

#define ENTRIES		64

struct io_uring ring;

void ring_open(void)
{
	int err = io_uring_queue_init(ENTRIES, &ring, 0);

	if (err == -ENOSYS || err == -EPERM)
		_exit(EXIT_SKIPPED);
	need(!err, "io_uring_queue_init: %s", errno_text(-err));
}

struct io_uring_sqe *request(unsigned long id)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	need(sqe, "the submission queue is full");
	io_uring_sqe_set_data64(sqe, id);
	return sqe;
}

void submit(void)
{
	int n = io_uring_submit(&ring);

	need(n >= 0, "io_uring_submit: %s", errno_text(-n));
}

/* Gets the next completion within @ms. Returns false if there is none. */
bool completion(struct done *result, int ms)
{
	struct __kernel_timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	struct io_uring_cqe *cqe;
	int err = io_uring_wait_cqe_timeout(&ring, &cqe, &ts);

	if (err == -ETIME)
		return false;
	need(!err, "io_uring_wait_cqe_timeout: %s", errno_text(-err));
	*result = (struct done){ cqe->user_data, cqe->res, cqe->flags };
	io_uring_cqe_seen(&ring, cqe);
	return true;
}

/* Submits the prepared request and waits for its completion. */
struct done complete(unsigned long id)
{
	struct done cqe;

	submit();
	need(completion(&cqe, WAIT_MS), "request %lu does not complete", id);
	need(cqe.id == id, "completion of %lu instead of %lu", cqe.id, id);
	return cqe;
}
