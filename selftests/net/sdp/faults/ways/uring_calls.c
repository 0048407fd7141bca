// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of io_uring, for sweeps over their allocations.
 *
 * If io_uring has no memory for a request, it does not take it: io_uring_submit() returns -EAGAIN,
 * and the request stays in the queue.
 */
#include "uring_calls.h"

/* A new request, or NULL if the last one was not taken: that one is still in the queue. */
static struct io_uring_sqe *request_once(void)
{
	return io_uring_sq_ready(&ring) ? NULL : request(0);
}

static int submit_failing(void)
{
	int n = io_uring_submit(&ring);

	if (n > 0)
		return 0;
	need(n, "nothing was submitted");
	errno = n == -EAGAIN ? ENOBUFS : -n;
	return -1;
}

/* Turns a completion into the return value and errno of a system call. */
static int result_of(const struct done *done)
{
	if (done->res >= 0)
		return done->res;
	errno = -done->res;
	return -1;
}

static int call_uring(void)
{
	struct done done;

	if (submit_failing())
		return -1;
	need(completion(&done, WAIT_MS), "no completion");
	return result_of(&done);
}

static int send_uring(struct state *s, size_t n)
{
	struct io_uring_sqe *sqe = request_once();
	int done;

	fill_data(s, n);
	if (sqe)
		io_uring_prep_send(sqe, s->p.c, s->data, n, 0);
	done = call_uring();
	if (done > 0)
		s->sent += done;
	return done < 0 ? -1 : 0;
}

int run_uring_send(struct state *s)		{ return send_uring(s, 100); }

int run_uring_send_pages(struct state *s)	{ return send_uring(s, 20000); }

static int take_uring(struct state *s, int done)
{
	need_bytes(s->data, s->got, done);
	if (done > 0)
		s->got += done;
	return done < 0 ? -1 : 0;
}

int run_uring_recv(struct state *s)
{
	struct io_uring_sqe *sqe = request_once();

	if (sqe)
		io_uring_prep_recv(sqe, s->p.s, s->data, s->sent - s->got, 0);
	return take_uring(s, call_uring());
}

int run_uring_accept(struct state *s)
{
	struct io_uring_sqe *sqe = request_once();

	if (sqe)
		io_uring_prep_accept(sqe, s->listening, NULL, NULL, 0);
	s->fd = call_uring();
	return s->fd;
}

/*
 * io_uring keeps a stock of requests. The first request allocates it, so it is made outside the
 * sweep.
 */
void setup_uring(struct state *s)
{
	ring_open();
	s->p = pair_make();
	need_errno(!run_uring_send(s), "send");
	after_send(s);
}

void setup_uring_accept(struct state *s)
{
	ring_open();
	setup_listener(s);
	prepare_accept(s);
	need_errno(run_uring_accept(s) >= 0, "accept");
	after_accept(s);
}

/* Requests for which there is no data or connection yet: they wait, or fail at once. */
static int submit_waiting(void)
{
	struct done done;

	if (submit_failing())
		return -1;
	return completion(&done, 0) ? result_of(&done) : 0;
}

int run_uring_recv_waiting(struct state *s)
{
	struct io_uring_sqe *sqe = request_once();

	if (sqe)
		io_uring_prep_recv(sqe, s->p.s, s->data, LARGE, 0);
	return submit_waiting();
}

void after_uring_recv_waiting(struct state *s)
{
	struct done done;
	unsigned char more[100];
	size_t i;

	for (i = 0; i < sizeof(more); i++)
		more[i] = byte_at(s->sent + i);
	send_all(s->p.c, more, sizeof(more));
	s->sent += sizeof(more);
	need(completion(&done, WAIT_MS), "no completion");
	need(done.res > 0 && !take_uring(s, done.res), "recv: %s", errno_text(-done.res));
	after_send(s);
}

int run_uring_accept_waiting(struct state *s)
{
	struct io_uring_sqe *sqe = request_once();

	if (sqe)
		io_uring_prep_accept(sqe, s->listening, NULL, NULL, 0);
	return submit_waiting();
}

void after_uring_accept_waiting(struct state *s)
{
	struct done done;

	prepare_accept(s);
	need(completion(&done, WAIT_MS), "no completion");
	need(done.res >= 0, "accept: %s", errno_text(-done.res));
	s->fd = done.res;
	after_accept(s);
}
