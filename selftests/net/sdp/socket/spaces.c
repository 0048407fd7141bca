// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces do not delay each other's connects, which are made in order.
 *
 * Thousands of loopback connects that wait in one namespace do not delay a connect in another one.
 * Within a namespace connects are made in the order in which they were requested.
 */
#include "cases.h"
#include "info.h"
#include "machine.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_bool over;

/* Occupies a CPU, so that nothing else runs on it. */
static void *keeps_processor(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET((long)arg, &only);
	need_errno(!sched_setaffinity(0, sizeof(only), &only), "affinity");
	need_errno(!sched_setscheduler(0, SCHED_FIFO, &first), "FIFO");
	while (!over)
		;
	return NULL;
}

/*
 * While no other thread runs, kernel threads included, @n connects are requested in one namespace
 * (@here) and then one in another namespace (@there). So this one is certainly the last.
 */
struct flood {
	int *fds, n;
	struct addr here, there;
	int last;
};

static int asked(const struct addr *where)
{
	int fd = fresh(SOCK_NONBLOCK);

	need(!connect(fd, &where->sa, where->len) || errno == EINPROGRESS, "connect: %s",
	     errno_text(errno));
	return fd;
}

static void ask_all(struct flood *f, int home, int away)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct sched_param usual = { };
	long processors = sysconf(_SC_NPROCESSORS_ONLN), i;
	pthread_t keepers[64];
	cpu_set_t only, all;

	need(processors <= 64, "too many processors");
	need_errno(!sched_getaffinity(0, sizeof(all), &all), "affinity");
	CPU_ZERO(&only);
	CPU_SET(0, &only);
	need_errno(!sched_setaffinity(0, sizeof(only), &only), "affinity");
	need_errno(!sched_setscheduler(0, SCHED_FIFO, &first), "FIFO");
	for (i = 1; i < processors; i++)
		need(!pthread_create(&keepers[i], NULL, keeps_processor, (void *)i), "thread");
	for (i = 0; i < f->n; i++)
		f->fds[i] = asked(&f->here);
	need_errno(!setns(away, CLONE_NEWNET), "the other namespace");
	f->last = asked(&f->there);
	over = true;
	for (i = 1; i < processors; i++)
		pthread_join(keepers[i], NULL);
	need_errno(!sched_setaffinity(0, sizeof(all), &all), "affinity");
	/* This thread still has the highest priority when the last connect is made. */
	need(poll_for(f->last, POLLOUT, 3 * WAIT_MS) == POLLOUT, "the last connect is not made");
	need_errno(!setns(home, CLONE_NEWNET), "the first namespace");
	need_errno(!sched_setscheduler(0, SCHED_OTHER, &usual), "OTHER");
}

static int namespace_here(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	need_errno(fd >= 0, "/proc/thread-self/ns/net");
	return fd;
}

/* The number of connects that have an outcome. */
static int answered(const struct flood *f)
{
	struct pollfd *all = calloc(f->n, sizeof(*all));
	int i, n;

	need(all, "calloc");
	for (i = 0; i < f->n; i++)
		all[i] = (struct pollfd){ .fd = f->fds[i], .events = POLLOUT };
	n = poll(all, f->n, 0);
	need_errno(n >= 0, "poll");
	free(all);
	return n;
}

/* Floods once. Returns how many connects were made before the one elsewhere. */
static int made_before(struct flood *f, int home, int away, int crowd, int listening)
{
	int done, i;

	over = false;
	ask_all(f, home, away);
	done = answered(f);
	printf("# %d of %d were made before the one elsewhere\n", done, f->n);
	close(accept_from(listening));
	close(f->last);
	/* They are made in order. */
	for (i = 0; i < f->n; i++) {
		struct addr own = name_of(f->fds[i]), peer = { .len = sizeof(peer.ss) };
		int s = accept_from(crowd);

		need_errno(!getpeername(s, &peer.sa, &peer.len), "getpeername");
		need(addr_port(&own) == addr_port(&peer), "in place %d one comes from port %u", i,
		     addr_port(&peer));
		close(s);
		close(f->fds[i]);
	}
	return done;
}

/*
 * The one elsewhere is made by another worker. If the host holds the processor of that worker, the
 * others are made meanwhile. With one worker for all it would be the last one each time.
 */
static int flooded(void *arg)
{
	const int n = slow_kernel() ? 500 : 3000;
	struct rlimit room = { n + 100, n + 100 };
	struct flood f = { .n = n, .fds = calloc(n, sizeof(int)) };
	int away = namespace_here(), home, crowd, listening, i;

	need(f.fds, "calloc");
	need_errno(!setrlimit(RLIMIT_NOFILE, &room), "RLIMIT_NOFILE");
	listening = listener(8, &f.there);
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	loopback_up();
	home = namespace_here();
	crowd = listener(n + 1, &f.here);
	for (i = 0; i < 3; i++)
		if (made_before(&f, home, away, crowd, listening) < n - n / 10)
			return EXIT_OK;
	need(false, "a connect elsewhere has waited for nearly all of %d, three times", n);
	return EXIT_FAILED;
}

static const struct test tests[] = {
	{ "flooded", flooded, 60, 1u << SET_LO4 | 1u << SET_LO6, true, NULL },
};

TEST_MAIN(tests)
