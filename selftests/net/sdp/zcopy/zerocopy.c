// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY: the data arrives, and the error queue says when memory may be reused.
 *
 * The reports have the same numbers as TCP's.
 */
#include "info.h"
#include "pattern.h"
#include "reports.h"
#include <linux/sdp.h>
#include <sys/epoll.h>

#define BLOCK	(64 * 1024)

static bool zerocopy_on(int fd)
{
	int one = 1;

	if (!setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		return true;
	need(use_sdp && errno == EOPNOTSUPP, "SO_ZEROCOPY: %s", errno_text(errno));
	return false;
}

/* A connection whose first end has zero-copy enabled. */
static struct pair lending_pair(void)
{
	struct pair p = pair_make();

	lend(p.c);
	return p;
}

static unsigned char *memory(long len)
{
	unsigned char *mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

	need(mem != MAP_FAILED, "mmap");
	return mem;
}

static bool is_loop(void)
{
	return set == &addrsets[SET_LO4] || set == &addrsets[SET_LO6];
}

/* The options: which are accepted, with which values, and that an accepted socket inherits them. */
static int options(void *arg)
{
	struct addr where;
	int fd = fresh(0), listening, value, c, s;
	socklen_t len = sizeof(value);

	printf("# SO_ZEROCOPY is %s\n", zerocopy_on(fd) ? "taken" : "refused");
	lend(fd);
	value = 2;
	need(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &value, sizeof(value)) < 0, "2 is taken");
	if (use_sdp) {
		need(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &value, sizeof(value)) < 0 &&
		     errno == EINVAL, "SDP_ZEROCOPY takes 2");
		need(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &value, 3) < 0 && errno == EINVAL,
		     "SDP_ZEROCOPY takes 3 bytes");
		need(setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, NULL, sizeof(value)) < 0 &&
		     errno == EFAULT, "SDP_ZEROCOPY takes NULL");
	}
	/* The kernel still handles the other options of this level. */
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	need(!getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len) && value == 1, "SO_KEEPALIVE");
	need(setsockopt(fd, SOL_SOCKET, 9999, &value, sizeof(value)) < 0 && errno == ENOPROTOOPT,
	     "option 9999: %s", errno_text(errno));
	listening = listener(1, &where);
	lend(listening);
	c = fresh(0);
	connect_to(c, &where);
	s = accept_from(listening);
	need(!getsockopt(s, SOL_SOCKET, SO_ZEROCOPY, &value, &len) && value == 1, "not inherited");
	return EXIT_OK;
}

/*
 * Many sends are reported in order. Memory is overwritten after its report, and the data arrives
 * unchanged.
 */
static int reported(void *arg)
{
	enum { SLOTS = 4 };
	const long sends = slow_kernel() ? 12 : 60;
	struct pair p = lending_pair();
	struct pattern_reader r = { .fd = p.s, .other = p.c, .len = sends * BLOCK,
				    .piece = 50000, .pause_first = 50 };
	unsigned char *mem = memory(SLOTS * BLOCK);
	pid_t reader = helper_start(pattern_reader_main, &r);
	struct reports done = { 0 };
	long i;

	for (i = 0; i < sends; i++) {
		unsigned char *slot = mem + i % SLOTS * BLOCK;
		long sent = 0;

		/*
		 * The earlier send from this slot must have been reported before the slot is
		 * reused.
		 */
		if (i >= SLOTS)
			reports_await(p.c, &done, i - SLOTS + 1);
		memcpy(slot, pattern(i * BLOCK), BLOCK);
		while (sent < BLOCK) {
			ssize_t n = send(p.c, slot + sent, BLOCK - sent, MSG_ZEROCOPY);

			need(n == BLOCK, "send: %zd %s", n, errno_text(errno));
			sent += n;
		}
	}
	reports_await(p.c, &done, sends);
	memset(mem, 0, SLOTS * BLOCK);
	need(done.count == sends && !report_take(p.c, &done), "a report too many");
	need(!(poll_for(p.c, POLLOUT, 0) & POLLERR), "POLLERR without a report");
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(reader);
	/* Over loopback TCP copies as well. */
	need(is_loop() ? done.copied == sends : !use_sdp || !done.copied, "%ld of %ld were copied",
	     done.copied, sends);
	return EXIT_OK;
}

/*
 * A report is signalled by POLLERR, to poll and to edge-triggered epoll, without any other error.
 */
static int told(void *arg)
{
	struct pair p = lending_pair();
	struct reports done = { 0 };
	unsigned char *mem = memory(BLOCK);
	struct epoll_event e = { .events = EPOLLET };
	int error = -1, ep = epoll_create1(0), i;
	socklen_t len = sizeof(error);

	need(!report_take(p.c, &done), "a report of nothing");
	need(send(p.c, mem, 10000, MSG_ZEROCOPY) == 10000, "send: %s", errno_text(errno));
	need(poll_for(p.c, 0, WAIT_MS) & POLLERR, "no POLLERR");
	need(!getsockopt(p.c, SOL_SOCKET, SO_ERROR, &error, &len) && !error, "SO_ERROR %d", error);
	need(poll_for(p.c, 0, 0) == POLLERR, "POLLERR ended without a look at the queue");
	need(send(p.c, mem, 10, 0) == 10, "send: %s", errno_text(errno));
	reports_await(p.c, &done, 1);
	need(!poll_for(p.c, 0, 0), "POLLERR after the last report");
	drain(p.s, 10010);

	need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, p.c, &e), "EPOLL_CTL_ADD");
	for (i = 0; i < 3; i++) {
		need(!epoll_wait(ep, &e, 1, 0), "an event without a new report");
		need(send(p.c, mem, 10000, MSG_ZEROCOPY) == 10000, "send: %s", errno_text(errno));
		need(epoll_wait(ep, &e, 1, WAIT_MS) == 1 && e.events == EPOLLERR,
		     "not told of report %d", i);
	}
	reports_await(p.c, &done, 4);
	return EXIT_OK;
}

/*
 * A send without the flag, without the option or without data is not reported, nor is one that
 * fails.
 */
static int not_reported(void *arg)
{
	struct pair p = pair_make();
	struct reports done = { 0 };
	unsigned char *mem = memory(BLOCK);
	long n;

	need(send(p.c, mem, 5000, MSG_ZEROCOPY) == 5000, "send: %s", errno_text(errno));
	lend(p.c);
	need(send(p.c, mem, 5000, 0) == 5000, "send: %s", errno_text(errno));
	need(send(p.c, mem, 0, MSG_ZEROCOPY) == 0, "send: %s", errno_text(errno));
	need(send(p.c, NULL, 5000, MSG_ZEROCOPY) < 0 && errno == EFAULT, "send of NULL");
	drain(p.s, 10000);
	pause_ms(quiet_ms());
	need(!report_take(p.c, &done), "a report of nothing");

	/* A call that fails for lack of room gets no number. */
	n = fill_ends(p.c, p.s);
	need(send(p.c, mem, 5000, MSG_ZEROCOPY | MSG_DONTWAIT) < 0 && errno == EAGAIN,
	     "send: %s", errno_text(errno));
	drain(p.s, n);
	need(send(p.c, mem, 5000, MSG_ZEROCOPY) == 5000, "send: %s", errno_text(errno));
	drain(p.s, 5000);
	reports_await(p.c, &done, 1);
	shutdown(p.c, SHUT_WR);
	need(send(p.c, mem, 10, MSG_ZEROCOPY | MSG_NOSIGNAL) < 0 && errno == EPIPE, "send: %s",
	     errno_text(errno));
	need(!report_take(p.c, &done), "a report of nothing");
	return EXIT_OK;
}

/* Zero-copy and copied sends, small and large, from any address: the stream stays in order. */
static int mixed(void *arg)
{
	long total = scaled(6 << 20), at = 0;
	struct pair p = lending_pair();
	struct pattern_reader r = { .fd = p.s, .other = p.c, .len = total, .piece = 1 << 16 };
	pid_t reader = helper_start(pattern_reader_main, &r);
	struct reports done = { 0 };
	unsigned int seed = 11;
	long lent = 0;

	while (at < total) {
		long len = random_up_to(&seed, 1u << random_up_to(&seed, 17));
		int flags = next_random(&seed) % 3 ? MSG_ZEROCOPY : 0;
		struct iovec iov[3];
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
		ssize_t n;

		if (len > total - at)
			len = total - at;
		iov[0] = (struct iovec){ (void *)pattern(at), len / 3 };
		iov[1] = (struct iovec){ (void *)pattern(at + len / 3), len / 2 };
		iov[2] = (struct iovec){ (void *)pattern(at + len / 3 + len / 2),
					 len - len / 3 - len / 2 };
		n = sendmsg(p.c, &msg, flags | (next_random(&seed) % 8 ? 0 : MSG_MORE));
		/* The limit of unread reports and of pinned memory is reached. */
		if (n < 0 && errno == ENOBUFS) {
			reports_await(p.c, &done, lent);
			continue;
		}
		need(n > 0, "sendmsg: %s", errno_text(errno));
		lent += !!flags;
		at += n;
		if (lent % 50 == 0)
			reports_await(p.c, &done, lent);
	}
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	reports_await(p.c, &done, lent);
	need(done.count == lent, "%ld reports of %ld sends", done.count, lent);
	helper_end(reader);
	printf("# %ld sends lent memory, %ld of them were copied\n", lent, done.copied);
	return EXIT_OK;
}

/* Either side ends the connection while sends are not reported yet. */
static int ended(void *arg)
{
	unsigned char *mem = memory(1 << 20);
	int i;

	for (i = 0; i < 12; i++) {
		struct pair p = lending_pair();
		struct reports done = { 0 };

		set_nonblock(p.c, true);
		need(send(p.c, mem, 1 << 20, MSG_ZEROCOPY | MSG_NOSIGNAL) > 0, "send: %s",
		     errno_text(errno));
		if (i % 3 == 0) {
			close(p.c);
			close(p.s);
			continue;
		}
		close(p.s);	/* unread data: a reset */
		if (i % 3 == 1) {
			need(poll_for(p.c, POLLIN, WAIT_MS), "no reset");
			reports_await(p.c, &done, 1);
		}
		close(p.c);
	}
	return EXIT_OK;
}

/* Other message sizes, small and large. */
static int message_sizes(void *arg)
{
	static const long sizes[] = { 256, 4096, 16384, 65536 };
	size_t i;

	for (i = slow_kernel() ? 2 : 0; i < ARRAY_SIZE(sizes); i++) {
		setting_set("recv_buffer_size", sizes[i]);
		reported(NULL);
		mixed(NULL);
		settings_reset();
	}
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "options", options, 10, V4_SETS, .arg = NULL },
	{ "reported", reported, 20, ALL_SETS, .arg = NULL },
	{ "told", told, 20, V4_SETS, .arg = NULL },
	{ "not_reported", not_reported, 20, V4_SETS, .arg = NULL },
	{ "mixed", mixed, 40, ALL_SETS, .arg = NULL },
	{ "ended", ended, 40, V4_SETS, .arg = NULL },
	{ "message_sizes", message_sizes, 60, V4_SETS, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
