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

/* A poll as a request of io_uring, number 1. */
void uring_arm(int fd, int events)
{
	io_uring_prep_poll_add(request(1), fd, events);
	submit();
}

/* Returns the events that it reports within @ms, or 0. */
int uring_result(int ms)
{
	struct done cqe = { 0 };

	if (!completion(&cqe, ms))
		return 0;
	need(cqe.res > 0, "poll by io_uring: %s", errno_text(-cqe.res));
	return cqe.res;
}

/* The same by aio. The context is the process's. */
aio_context_t aio;
struct iocb aio_poll;

void aio_begin(void)
{
	if (syscall(SYS_io_setup, 4, &aio))
		_exit(EXIT_SKIPPED);
}

void aio_arm(int fd, int events)
{
	struct iocb *one = &aio_poll;

	aio_poll = (struct iocb){
		.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = fd, .aio_buf = events,
	};
	need_errno(syscall(SYS_io_submit, aio, 1, &one) == 1, "io_submit");
}

int aio_result(int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	struct io_event event = { 0 };
	long n = syscall(SYS_io_getevents, aio, 1, 1, &event, &ts);

	need_errno(n >= 0, "io_getevents");
	need(!n || event.res > 0, "poll by aio: %lld", (long long)event.res);
	return event.res;
}
