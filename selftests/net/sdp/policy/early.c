// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of accept() in one thread while another calls listen() on the same socket.
 *
 * Before 6.6 the kernel reads the operations (sock->ops) of the listener twice during accept().
 */
#include <sched.h>
#include <sys/mount.h>

#include "policy.h"

static struct {
	pthread_barrier_t start, end;
	int listening, fd;
	atomic_bool over;
} early;

/*
 * Makes accept() slower between the two reads, by a stack trace for some of the functions that it
 * calls there. On kernels without this tracer the race is hit by chance only.
 */
static void slow_accept(bool on)
{
	static const char *const parts[] = {
		"sock_alloc_file", "alloc_file_pseudo", "d_alloc_pseudo", "__d_alloc",
		"alloc_empty_file", "security_file_alloc", "d_instantiate",
		"security_socket_accept",
	};
	char line[100];
	size_t i;
	int fd;

	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		fd = open("/sys/kernel/tracing/set_ftrace_filter", O_WRONLY | O_APPEND);
		if (fd < 0)
			return;
		snprintf(line, sizeof(line), "%s%s:stacktrace", on ? "" : "!", parts[i]);
		if (write(fd, line, strlen(line)) < 0 && on)
			printf("# %s is not slower: %s\n", parts[i], errno_text(errno));
		close(fd);
	}
}

static void run_on(int processor)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(processor, &only);
	need_errno(!sched_setaffinity(0, sizeof(only), &only), "affinity");
}

/* Preempts the accepting thread again and again, to make more interleavings happen in one call. */
static void *gets_between(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct timespec rest = { .tv_nsec = 30000 };
	unsigned int seed = 3;
	int spin;

	run_on(0);
	need_errno(!sched_setscheduler(0, SCHED_FIFO, &first), "FIFO");
	while (!early.over) {
		nanosleep(&rest, NULL);
		for (spin = next_random(&seed) % 60000; spin; spin--)
			__asm__ volatile("");
	}
	return NULL;
}

/* Calls accept() from before listen() until it returns a socket. */
static void *accepts_early(void *arg)
{
	int s;

	run_on(0);
	for (;;) {
		pthread_barrier_wait(&early.start);
		if (early.over)
			return NULL;
		do {
			s = accept(early.listening, NULL, NULL);
			need(s >= 0 || errno == EINVAL, "accept: %s", errno_text(errno));
		} while (s < 0);
		early.fd = s;
		pthread_barrier_wait(&early.end);
	}
}

static void *reads_end(void *arg)
{
	char c;

	need(recv((int)(long)arg, &c, 1, 0) == 0, "recv: %s", errno_text(errno));
	return NULL;
}

/* A thread that waits in a call on the new socket does not keep others from ending it. */
static void end_while_reading(int fd)
{
	pthread_t thread = start_thread(reads_end, (void *)(long)fd);

	pause_ms(2);
	need_errno(!shutdown(fd, SHUT_RDWR), "shutdown");
	pthread_join(thread, NULL);
}

/*
 * accept() runs while the socket begins to listen: the new socket has the protocol of the listener.
 */
static int race_accept(void *arg)
{
	const enum kind kind = (enum kind)(long)arg;
	const int by = kind == TCP_ONLY ? BY_TCP : BY_SDP;
	const char *name = kind == TCP_ONLY ? TCP_SIDE : SDP_SIDE;
	int i, n = scaled(1000), c, spin;
	struct addr where;
	long users = idle_users();
	unsigned int seed = 99;
	pthread_t thread, between;

	by_names();
	pthread_barrier_init(&early.start, NULL, 2);
	pthread_barrier_init(&early.end, NULL, 2);
	slow_accept(true);
	thread = start_thread(accepts_early, NULL);
	between = start_thread(gets_between, NULL);
	for (i = 0; i < n; i++) {
		/* Either nothing was called on the socket before, or bind(). */
		early.listening = i % 2 ? bound() : stream(0);
		as(kind == PAIR ? BOTH_SIDE : name);
		pthread_barrier_wait(&early.start);
		for (spin = next_random(&seed) % 20000; spin; spin--)
			__asm__ volatile("");
		need_errno(!listen(early.listening, 4), "listen");
		where = name_of(early.listening);
		where = server_addr(addr_port(&where));
		c = connected_as(name, &where);
		pthread_barrier_wait(&early.end);
		both_talk(c, early.fd, by);
		if (i % 4 == 0)
			end_while_reading(early.fd);
		close(early.fd);
		close(c);
		close(early.listening);
	}
	early.over = true;
	pthread_barrier_wait(&early.start);
	pthread_join(thread, NULL);
	pthread_join(between, NULL);
	slow_accept(false);
	await_users(users);
	return EXIT_OK;
}

/* Connects again and again, from before listen(). */
static void *connects_early(void *arg)
{
	const struct addr *where = arg;
	int fd, error;

	run_on(1);
	for (;;) {
		pthread_barrier_wait(&early.start);
		if (early.over)
			return NULL;
		for (;;) {
			fd = stream(0);
			error = connect_as(SDP_SIDE, fd, where);
			if (!error)
				break;
			need(error == ECONNREFUSED, "connect: %s", errno_text(error));
			close(fd);
		}
		early.fd = fd;
		pthread_barrier_wait(&early.end);
	}
}

/* A connection arrives while the socket begins to listen: an edge-triggered epoll reports it. */
static int race_listen_edge(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int i, n = scaled(300), ep = epoll_create1(0), mask;
	pthread_t thread, between;
	struct addr where;
	long long end;

	by_names();
	pthread_barrier_init(&early.start, NULL, 2);
	pthread_barrier_init(&early.end, NULL, 2);
	thread = start_thread(connects_early, &where);
	between = start_thread(gets_between, NULL);
	run_on(0);
	for (i = 0; i < n; i++) {
		as(SDP_SIDE);
		early.listening = bound();
		where = name_of(early.listening);
		need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, early.listening, &e), "epoll_ctl");
		epoll_wait(ep, &e, 1, 0);
		pthread_barrier_wait(&early.start);
		need_errno(!listen(early.listening, 4), "listen");
		end = now_ms() + 6 * WAIT_MS;
		do {
			mask = epoll_wait(ep, &e, 1, WAIT_MS) == 1 ? (int)e.events : 0;
			need(mask || !(poll_for(early.listening, POLLIN, 0) & POLLIN),
			     "round %d: an edge is lost", i);
			need(now_ms() < end, "round %d: nobody comes", i);
		} while (!(mask & EPOLLIN));
		e.events = EPOLLIN | EPOLLET;
		pthread_barrier_wait(&early.end);
		close(accept_from(early.listening));
		close(early.fd);
		close(early.listening);
	}
	early.over = true;
	pthread_barrier_wait(&early.start);
	pthread_join(thread, NULL);
	pthread_join(between, NULL);
	return EXIT_OK;
}

#define EARLY(name, kind) \
	{ "race_accept_" name, race_accept, 90, ONE_SET | NOT_SHORT, true, (void *)(long)(kind) }

static const struct test tests[] = {
	EARLY("tcp", TCP_ONLY),
	EARLY("sdp", SDP_ONLY),
	EARLY("pair", PAIR),
	CASE(race_listen_edge, 90, TWO_SETS | NOT_SHORT),
};

const struct test_list early_tests = TEST_LIST(tests);
