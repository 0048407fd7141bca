// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets with io_uring: every result is as with TCP, and no byte is lost or out of place.
 */
#include "answers.h"
#include "info.h"
#include "pattern.h"
#include "pinned.h"
#include "uring.h"

#define BUFFERS		16
#define BUFFER_SIZE	4096
#define GROUP		5

static void answer_result(const char *what, int res)
{
	answer_error(what, res < 0 ? -1 : res, res < 0 ? -res : 0);
}

/* Makes one request and records its result as an answer. @prepare works on sqe. */
#define ASK_RING(prepare) do {							\
	struct io_uring_sqe *sqe = request(asked);				\
										\
	prepare;								\
	answer_result(#prepare, complete(asked).res);				\
} while (0)

/* The same for a request that cannot complete before @event. */
#define ASK_RING_LATER(prepare, event) do {					\
	struct io_uring_sqe *sqe = request(asked);				\
	struct done early;							\
										\
	prepare;								\
	submit();								\
	need(!completion(&early, 30), "%s completes at once with %d", #prepare,	\
	     early.res);							\
	event;									\
	answer_result(#prepare, complete(asked).res);				\
} while (0)

/*
 * connect and accept requests, either of them first; a port without a listener; a multishot accept.
 */
static void ask_connecting(void)
{
	struct addr where, nobody;
	int listening = listener(8, &where), c = fresh(0), gone = listener(1, &nobody);
	struct done cqe;
	int i;

	close(gone);
	ASK_RING(io_uring_prep_connect(sqe, c, &nobody.sa, nobody.len));
	close(c);
	c = fresh(0);
	ASK_RING(io_uring_prep_connect(sqe, c, &where.sa, where.len));
	ASK_RING(io_uring_prep_connect(sqe, c, &where.sa, where.len));
	io_uring_prep_accept(request(1000), listening, NULL, NULL, SOCK_CLOEXEC);
	cqe = complete(1000);
	answer("accepted", cqe.res >= 0);
	close(c);
	close(cqe.res);

	io_uring_prep_accept(request(1001), listening, NULL, NULL, 0);
	submit();
	need(!completion(&cqe, 30), "accept completes at once with %d", cqe.res);
	c = fresh(0);
	connect_to(c, &where);
	answer("accepted", complete(1001).res >= 0);

	io_uring_prep_multishot_accept(request(1002), listening, NULL, NULL, 0);
	submit();
	for (i = 0; i < 3; i++) {
		c = fresh(0);
		connect_to(c, &where);
		cqe = complete(1002);
		answer("accepted", cqe.res >= 0);
		answer("and will again", !!(cqe.flags & IORING_CQE_F_MORE));
	}
	io_uring_prep_cancel64(request(1003), 1002, 0);
	submit();
	for (i = 0; i < 2; i++) {
		need(completion(&cqe, WAIT_MS), "no end of the accepts");
		if (cqe.id == 1002)
			answer_result("end of the accepts", cqe.res);
	}
	close(listening);
}

/* Reads the data that is there and the data that arrives meanwhile. */
static void read_away(int fd)
{
	static char buf[16384];

	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		pause_ms(5);
}

/* send and recv requests with a peer that is there, late, full, has ended or has reset. */
static void ask_moving(void)
{
	static unsigned char buf[8192];
	struct pair p = pair_make();
	struct iovec iov[2] = { { buf, 3 }, { buf + 3, 100 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct done cqe;

	ASK_RING(io_uring_prep_send(sqe, p.c, pattern(0), 10, 0));
	need(await_bytes(p.s, 10) == 10, "not all has come");
	ASK_RING(io_uring_prep_recv(sqe, p.s, buf, 4, MSG_PEEK));
	ASK_RING(io_uring_prep_recv(sqe, p.s, buf, 100, 0));
	pattern_check(0, buf, 10);
	ASK_RING(io_uring_prep_recv(sqe, p.s, buf, 100, MSG_DONTWAIT));
	ASK_RING_LATER(io_uring_prep_recv(sqe, p.s, buf, 100, 0),
		       send_all(p.c, pattern(10), 20));
	pattern_check(10, buf, 20);
	ASK_RING_LATER(io_uring_prep_recvmsg(sqe, p.s, &msg, 0), send_all(p.c, pattern(0), 50));
	pattern_check(0, buf, 50);
	ASK_RING_LATER(io_uring_prep_read(sqe, p.s, buf, 100, 0), send_all(p.c, pattern(0), 7));
	/* A part of the data is there. */
	send_all(p.c, pattern(0), 1000);
	ASK_RING_LATER(io_uring_prep_recv(sqe, p.s, buf, 3000, MSG_WAITALL),
		       send_all(p.c, pattern(1000), 2000));
	pattern_check(0, buf, 3000);
	ASK_RING(io_uring_prep_write(sqe, p.c, pattern(0), 500, 0));
	ASK_RING(io_uring_prep_sendmsg(sqe, p.c, &msg, 0));
	drain(p.s, 603);

	/* Cancelled by its number. */
	io_uring_prep_recv(request(1), p.s, buf, 100, 0);
	submit();
	io_uring_prep_cancel64(request(2), 1, 0);
	submit();
	need(completion(&cqe, WAIT_MS), "no completion");
	answer_result("one of the two", cqe.res);
	need(completion(&cqe, WAIT_MS), "no completion");
	answer_result("the other", cqe.res);

	ASK_RING_LATER(io_uring_prep_poll_add(sqe, p.s, POLLIN), send_all(p.c, pattern(0), 1));
	drain(p.s, 1);
	ASK_RING_LATER(io_uring_prep_recv(sqe, p.s, buf, 100, 0), shutdown(p.c, SHUT_WR));
	ASK_RING(io_uring_prep_recv(sqe, p.s, buf, 100, 0));
	ASK_RING(io_uring_prep_send(sqe, p.c, buf, 100, MSG_NOSIGNAL));
	ASK_RING(io_uring_prep_shutdown(sqe, p.s, SHUT_WR));
	close(p.s);
	close(p.c);

	p = pair_make();
	send_all(p.s, pattern(0), 10);
	need(await_bytes(p.c, 10) == 10, "nothing has come");
	ASK_RING_LATER(io_uring_prep_recv(sqe, p.s, buf, 100, 0), close(p.c));
	ASK_RING(io_uring_prep_send(sqe, p.s, buf, 100, MSG_NOSIGNAL));
	close(p.s);

	/* A writer without room continues when there is room. */
	p = pair_sized(16384);
	fill_ends(p.c, p.s);
	ASK_RING_LATER(io_uring_prep_send(sqe, p.c, pattern(0), 1, 0),
		       read_away(p.s));
}

/* The result of a send_zc, and its notification, which comes later or not at all. */
static void ask_lent(const char *what, unsigned long id)
{
	struct done cqe = complete(id);
	bool more = cqe.flags & IORING_CQE_F_MORE;

	answer_result(what, cqe.res);
	answer("to be notified", more);
	if (!more)
		return;
	need(completion(&cqe, WAIT_MS) && cqe.id == id, "no notification of %s", what);
	need(cqe.flags & IORING_CQE_F_NOTIF, "not a notification of %s", what);
	answer_result("notification", cqe.res);
}

/* send_zc and sendmsg_zc from ordinary and from registered memory. */
static void ask_lending(void)
{
	struct iovec whole = { pattern_bytes, PATTERN_LARGEST };
	struct iovec iov[2] = { { pattern_bytes, 5000 }, { pattern_bytes + 5000, 3000 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct pair p = pair_make();
	int i;

	io_uring_prep_send_zc(request(1), p.c, pattern(0), 6000, 0, 0);
	ask_lent("send_zc", 1);
	pattern_read(p.s, 0, 6000, 6000);
	io_uring_prep_send_zc(request(2), p.c, pattern(0), 10, 0, 0);
	ask_lent("a small send_zc", 2);
	pattern_read(p.s, 0, 10, 10);
	io_uring_prep_sendmsg_zc(request(3), p.c, &msg, 0);
	ask_lent("sendmsg_zc", 3);
	pattern_read(p.s, 0, 8000, 8000);

	need(!io_uring_register_buffers(&ring, &whole, 1), "io_uring_register_buffers");
	for (i = 0; i < 3; i++) {
		io_uring_prep_send_zc_fixed(request(4), p.c, pattern(0) + i, 20000, 0, 0, 0);
		ask_lent("send_zc of registered memory", 4);
		pattern_read(p.s, i, 20000, 20000);
	}
	io_uring_unregister_buffers(&ring);
	io_uring_prep_send_zc(request(5), p.c, NULL, 6000, 0, 0);
	ask_lent("send_zc of no memory", 5);
	shutdown(p.c, SHUT_WR);
	io_uring_prep_send_zc(request(6), p.c, pattern(0), 6000, MSG_NOSIGNAL, 0);
	ask_lent("send_zc after the end", 6);
}

static void ask_everything(void)
{
	ask_connecting();
	ask_moving();
	ask_lending();
}

static int results(void *arg)
{
	ring_open();
	return answers_compare(ask_everything);
}

/* One multishot recv takes all data into buffers that the kernel chooses. */
static int recv_multishot(void *arg)
{
	long at = 0, total = scaled(1 << 20);
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS, .bgid = GROUP };
	static unsigned char memory[BUFFERS][BUFFER_SIZE];
	struct io_uring_buf_ring *buffers;
	struct pair p = pair_make();
	struct done cqe;
	bool armed = false, over = false;
	pid_t sender;
	int i;

	fflush(stdout);
	sender = fork();
	need_errno(sender >= 0, "fork");
	if (!sender) {
		pattern_write(p.c, 0, total);
		_exit(EXIT_OK);
	}
	close(p.c);
	ring_open();
	need(!posix_memalign((void **)&buffers, 4096, BUFFERS * sizeof(struct io_uring_buf)),
	     "no memory");
	reg.ring_addr = (unsigned long)buffers;
	need(!io_uring_register_buf_ring(&ring, &reg, 0), "io_uring_register_buf_ring");
	io_uring_buf_ring_init(buffers);
	for (i = 0; i < BUFFERS; i++)
		io_uring_buf_ring_add(buffers, memory[i], BUFFER_SIZE, i,
				      io_uring_buf_ring_mask(BUFFERS), i);
	io_uring_buf_ring_advance(buffers, BUFFERS);
	while (!over) {
		if (!armed) {
			struct io_uring_sqe *sqe = request(1);

			io_uring_prep_recv_multishot(sqe, p.s, NULL, 0, 0);
			sqe->flags |= IOSQE_BUFFER_SELECT;
			sqe->buf_group = GROUP;
			submit();
		}
		need(completion(&cqe, WAIT_MS), "nothing after %ld bytes", at);
		armed = cqe.flags & IORING_CQE_F_MORE;
		if (cqe.res == -ENOBUFS)
			continue;
		need(cqe.res >= 0, "recv: %s after %ld bytes", errno_text(-cqe.res), at);
		over = !cqe.res;
		if (over)
			break;
		i = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
		pattern_check(at, memory[i], cqe.res);
		at += cqe.res;
		io_uring_buf_ring_add(buffers, memory[i], BUFFER_SIZE, i,
				      io_uring_buf_ring_mask(BUFFERS), 0);
		io_uring_buf_ring_advance(buffers, 1);
	}
	need(at == total, "%ld of %ld bytes", at, total);
	helper_end(sender);
	return EXIT_OK;
}

/* Several zero-copy sends in flight at the same time, linked so that they stay in order. */
static int send_zc_train(void *arg)
{
	enum { TRAIN = 4, PIECE = 40000 };
	long at = 0, total = scaled(6 << 20) / (TRAIN * PIECE) * (TRAIN * PIECE);
	struct pair p = pair_make();
	struct pattern_reader r = { .fd = p.s, .other = p.c, .len = total, .piece = 1 << 16 };
	pid_t reader = helper_start(pattern_reader_main, &r);
	int i, results_left, notes_left;

	close(p.s);
	ring_open();
	while (at < total) {
		for (i = 0; i < TRAIN; i++, at += PIECE) {
			struct io_uring_sqe *sqe = request(i);

			io_uring_prep_send_zc(sqe, p.c, pattern(at), PIECE, MSG_WAITALL, 0);
			if (i < TRAIN - 1)
				sqe->flags |= IOSQE_IO_LINK;
		}
		submit();
		results_left = TRAIN;
		notes_left = 0;
		while (results_left || notes_left) {
			struct done cqe;

			need(completion(&cqe, WAIT_MS), "%d results, %d notifications missing",
			     results_left, notes_left);
			if (cqe.flags & IORING_CQE_F_NOTIF) {
				notes_left--;
				continue;
			}
			need(cqe.res == PIECE, "send_zc: %d (%s)", cqe.res,
			     cqe.res < 0 ? errno_text(-cqe.res) : "short");
			results_left--;
			notes_left += !!(cqe.flags & IORING_CQE_F_MORE);
		}
	}
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(reader);
	return EXIT_OK;
}

/* A process exits with requests in flight. */
static void abandon(void *arg)
{
	static unsigned char buf[1 << 18];
	struct pair *p = arg;
	int i;

	ring_open();
	set_int(p->c, SOL_SOCKET, SO_SNDBUF, 16384);
	for (i = 0; i < 4; i++) {
		io_uring_prep_recv(request(1), p->c, buf, sizeof(buf), 0);
		io_uring_prep_send_zc(request(2), p->c, buf, sizeof(buf), 0, 0);
	}
	submit();
	pause_ms(20);
}

static int abandoned(void *arg)
{
	int i;

	for (i = 0; i < 5; i++) {
		struct pair p = pair_make();

		helper_end(helper_start(abandon, &p));
		close(p.c);
		close(p.s);
	}
	return EXIT_OK;
}

#define LARGE		(1 << 18)
#define LARGE_TIMES	10

/* A writer of large pieces, one each time it is told to. At the end it writes a long one. */
struct piecewise {
	struct pair p;
	int tell[2];
	int more;
	pid_t pid;
	long at;			/* what has been read */
};

static void piecewise_writer(void *arg)
{
	const struct piecewise *w = arg;
	long at;
	char c;

	close(w->p.s);
	for (at = 0; at < (long)LARGE_TIMES * LARGE; at += LARGE) {
		need(read(w->tell[0], &c, 1) == 1, "not told to write");
		send_all(w->p.c, pattern(at), LARGE);
	}
	need(read(w->tell[0], &c, 1) == 1, "not told to write");
	for (; at < (long)(LARGE_TIMES + w->more) * LARGE; at += LARGE)
		send_all(w->p.c, pattern(at), LARGE);
}

/* Starts the writer in another process; @w belongs to the reader afterwards. */
static void piecewise_start(struct piecewise *w)
{
	w->p = pair_make();
	need_errno(!pipe(w->tell), "pipe");
	w->pid = helper_start(piecewise_writer, w);
	close(w->p.c);
	ring_open();
}

static void piecewise_tell(const struct piecewise *w)
{
	need(write(w->tell[1], "w", 1) == 1, "the writer is gone");
}

static void piecewise_end(const struct piecewise *w)
{
	helper_end(w->pid);
	await_unpinned();
}

static void recv_begin(const struct piecewise *w, unsigned char *buf, long len, int flags,
		       unsigned int how)
{
	struct io_uring_sqe *sqe = request(1);

	io_uring_prep_recv(sqe, w->p.s, buf, len, flags);
	sqe->flags |= how;
	submit();
}

/*
 * Submits a receive of @len bytes before the writer is told to begin. Unless it waits for all
 * bytes, further receives follow for the rest.
 */
static void recv_posted(struct piecewise *w, long len, int flags, unsigned int how)
{
	static unsigned char buf[4 * LARGE];
	struct done cqe;
	long got = 0;

	recv_begin(w, buf, len, flags, how);
	need(!completion(&cqe, 30), "recv completes at once with %d", cqe.res);
	piecewise_tell(w);
	do {
		if (got)
			recv_begin(w, buf + got, len - got, flags, how);
		need(completion(&cqe, WAIT_MS), "recv does not complete");
		need(cqe.res > 0, "recv: %s", errno_text(-cqe.res));
		got += cqe.res;
	} while (got < len && !(flags & MSG_WAITALL));
	need(got == len, "recv: %ld instead of %ld", got, len);
	pattern_check(w->at, buf, len);
	w->at += len;
}

/* Receives all pieces, and then the long one, of which it waits for all bytes. */
static void recv_pieces(struct piecewise *w, int flags, unsigned int how, unsigned int how_at_last)
{
	while (w->at < (long)LARGE_TIMES * LARGE)
		recv_posted(w, LARGE, flags, how);
	recv_posted(w, w->more * LARGE, MSG_WAITALL, how_at_last);
}

/*
 * A large receive waits in the ring and not in the socket: io_uring polls and then makes a
 * non-blocking receive, in a worker (IOSQE_ASYNC) as well. So the data is read by RDMA, but the
 * memory is not advertised beforehand, and the direction stays in Combined mode.
 */
static int recv_large(void *arg)
{
	const unsigned int how = *(unsigned int *)arg;
	struct piecewise w = { .more = 4 };
	long long posts = counter("SinkAvailSent");
	struct sdp_info info;

	/* No deadlock scan fires, however late the reader is. */
	setting_set("scan_ms", 600000);
	piecewise_start(&w);
	recv_pieces(&w, 0, how, how);
	info = info_of(w.p.s);
	need(info.rx_mode == SDP_INFO_COMBINED, "mode %u", info.rx_mode);
	need(info.rdma_received >= (LARGE_TIMES + 4) * (LARGE - 4096ULL), "%llu bytes by RDMA",
	     (unsigned long long)info.rdma_received);
	need(counter("SinkAvailSent") == posts, "memory was advertised");
	piecewise_end(&w);
	return EXIT_OK;
}

/* Without RDMA read the data comes in messages, as for every reader that polls. */
static int recv_unread(void *arg)
{
	struct piecewise w = { .more = 4 };

	setting_set("rdma_read", 0);
	piecewise_start(&w);
	recv_pieces(&w, MSG_WAITALL, 0, IOSQE_ASYNC);
	piecewise_end(&w);
	return EXIT_OK;
}

/*
 * The first attempt of a large receive, which finds nothing, counts as a large reader (C3). Where
 * all data went in messages, the peer sends SrcAvails again, and the data is read by RDMA.
 */
static int recv_brings_back(void *arg)
{
	struct piecewise w = { .more = 0 };
	struct sdp_info before, after;

	setting_set("scan_ms", 600000);
	piecewise_start(&w);
	for (; info_of(w.p.s).rx_mode != SDP_INFO_BUFFERED; w.at += LARGE) {
		need(w.at < (LARGE_TIMES - 2L) * LARGE, "small reads are not learnt");
		piecewise_tell(&w);
		pattern_read(w.p.s, w.at, LARGE, 1000);
	}
	recv_posted(&w, LARGE, 0, 0);
	before = info_of(w.p.s);
	need(before.rx_mode == SDP_INFO_COMBINED, "mode %u", before.rx_mode);
	/* The writer has also received the change of the mode. */
	while (w.at < (long)LARGE_TIMES * LARGE)
		recv_posted(&w, LARGE, 0, 0);
	after = info_of(w.p.s);
	need(after.rdma_read - before.rdma_read >= LARGE - 4096, "%llu bytes read by RDMA",
	     (unsigned long long)(after.rdma_read - before.rdma_read));
	piecewise_tell(&w);
	piecewise_end(&w);
	return EXIT_OK;
}

static unsigned int inline_first, by_worker = IOSQE_ASYNC;

static const struct test tests[] = {
	{ "results", results, 30, ALL_SETS, .arg = NULL },
	{ "recv_multishot", recv_multishot, 20, V4_SETS, .arg = NULL },
	{ "send_zc_train", send_zc_train, 30, V4_SETS, .arg = NULL },
	{ "abandoned", abandoned, 20, V4_SETS, .arg = NULL },
	{ "recv_large", recv_large, 30, RC | NOT_SHORT, .sdp_only = true, .arg = &inline_first },
	{ "recv_large_async", recv_large, 30, RC | NOT_SHORT, .sdp_only = true,
	  .arg = &by_worker },
	{ "recv_brings_back", recv_brings_back, 30, RC | NOT_SHORT, .sdp_only = true,
	  .arg = NULL },
	{ "recv_unread", recv_unread, 30, RC, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
