// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests with memory that blocks the kernel: only the program's own calls wait.
 */
#include <linux/userfaultfd.h>
#include <sys/mman.h>

#include "guard.h"

/*
 * Maps two pages. An access to @s->page, the second one, blocks until let_go(). Skips the test if
 * there is no userfaultfd.
 */
void slow_memory(struct slow *s)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *pages;

	s->faults = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (s->faults < 0)
		exit(EXIT_SKIPPED);
	need_errno(!ioctl(s->faults, UFFDIO_API, &api), "UFFDIO_API");
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need_errno(pages != MAP_FAILED, "mmap");
	memset(pages, 0, 4096);
	s->page = pages + 4096;
	range.range.start = (unsigned long)s->page;
	range.range.len = 4096;
	need_errno(!ioctl(s->faults, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
}

/* Makes @call in a thread, and waits until its memory blocks it. */
void hold(struct slow *s, void *(*call)(void *slow))
{
	s->holder = start_thread(call, s);
	need(poll_for(s->faults, POLLIN, WAIT_MS) & POLLIN, "its memory is not slow");
}

/* The call that is blocked goes on and ends. */
void let_go(struct slow *s)
{
	struct uffdio_zeropage zero = { .range = { (unsigned long)s->page, 4096 } };

	need_errno(!ioctl(s->faults, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
	pthread_join(s->holder, NULL);
}

static void *set_slowly(void *arg)
{
	struct slow *s = arg;

	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, s->page, sizeof(int));
	return NULL;
}

static bool ends_within(pid_t pid, int ms)
{
	long long end = now_ms() + ms;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (now_ms() > end)
			return false;
		pause_ms(5);
	}
	return true;
}

/*
 * A process that shares a socket with another one, whose call is blocked on its memory, can still
 * be killed.
 */
int slow_memory_of_others(void *arg)
{
	static const char *const names[] = { "shutdown", "connect", "listen" };
	struct slow s = { 0 };
	bool ended;
	pid_t pid;
	size_t i;

	by_names();
	listener_of(NOBODY, 1, &s.where);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		as(BOTH_SIDE);
		s.fd = stream(0);
		slow_memory(&s);
		hold(&s, set_slowly);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			if (!i)
				shutdown(s.fd, SHUT_RDWR);
			else if (i == 1)
				connect(s.fd, &s.where.sa, s.where.len);
			else
				listen(s.fd, 1);
			_exit(EXIT_OK);
		}
		need(!ends_within(pid, quiet_ms()), "%s does not wait", names[i]);
		need_errno(!kill(pid, SIGKILL), "kill");
		ended = ends_within(pid, WAIT_MS);
		let_go(&s);
		need(ended, "%s cannot be killed", names[i]);
		close(s.faults);
		close(s.fd);
	}
	return EXIT_OK;
}

/* Half of the value is before the slow page, so the kernel reads it with the socket locked. */
void *linger_slowly(void *arg)
{
	struct slow *s = arg;

	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, (char *)s->page - sizeof(int),
		   sizeof(struct linger));
	return NULL;
}

/* A connect to @peer is in progress, and @call holds up its socket. */
static void hold_connecting(struct slow *s, const struct silent *peer, void *(*call)(void *slow))
{
	slow_memory(s);
	s->fd = connecting_to(&peer->where);
	hold(s, call);
}

/* Accepts the two connections in front of this one in the SDP listener's queue. */
static void make_room(const struct silent *peer)
{
	close(accept_from(peer->sdp));
	close(accept_from(peer->sdp));
}

/*
 * The work item that decides a connect finds the socket locked by its program. It does not wait for
 * the lock, which would block other processes that use the socket and other connects. It tries
 * again later.
 */
int held(void *arg)
{
	enum held_end how = (enum held_end)(long)arg;
	struct silent peer = silent_for(how == FALLS_BACK ? 5 * quiet_ms() : 60000);
	struct slow s = { 0 };
	bool ended;
	pid_t pid;

	hold_connecting(&s, &peer, linger_slowly);
	if (how == CONNECTED) {
		make_room(&peer);
		need(poll_for(peer.sdp, POLLIN, WAIT_MS) & POLLIN, "it does not connect");
	} else {
		pause_ms(5 * quiet_ms());
	}
	pause_ms(quiet_ms());
	fflush(stdout);
	pid = fork();
	if (!pid) {
		poll_for(s.fd, POLLOUT, 0);
		_exit(EXIT_OK);
	}
	ended = ends_within(pid, WAIT_MS);
	let_go(&s);
	need(ended, "somebody waits for the memory with the socket's lock");
	need(poll_for(s.fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	set_nonblock(s.fd, false);
	close(accept_and_talk(how == CONNECTED ? peer.sdp : peer.tcp, s.fd,
			      how == CONNECTED ? BY_SDP : BY_TCP));
	return EXIT_OK;
}

#define WORK		TRACING "events/workqueue/workqueue_execute_start/enable"

/*
 * While a program's memory blocks its own call, the work item tries again from time to time, but
 * not at each tick: many such programs would keep the CPUs busy.
 */
int held_asked_rarely(void *arg)
{
	int ms = slow_kernel() ? 6000 : 2000;
	bool by_sock = arg;
	struct silent peer = silent_for(ms);
	struct slow s = { 0 };
	char last[300];
	int n;

	hold_connecting(&s, &peer, by_sock ? linger_slowly : set_slowly);
	tracing_begin(WORK);
	/* Count from the end of the time for SDP. */
	pause_ms(ms);
	trace_anew();
	pause_ms(2000);
	n = traced("sdp_attempt_work", last);
	write_file(WORK, "0");
	let_go(&s);
	printf("# it was looked at %d times in 2 s\n", n);
	need(n >= 3, "it was looked at %d times", n);
	need(n <= 40, "it was looked at %d times in 2 s", n);
	need(poll_for(s.fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	set_nonblock(s.fd, false);
	close(accept_and_talk(peer.tcp, s.fd, BY_TCP));
	return EXIT_OK;
}

/*
 * A connection by SDP is established and reset before the work item looks at it. The program sees
 * the reset, and there is no second attempt by TCP.
 */
int held_reset(void *arg)
{
	struct silent peer;
	struct slow s = { 0 };
	int error, other;

	by_names();
	peer = silent_peer();
	hold_connecting(&s, &peer, set_slowly);
	make_room(&peer);
	other = accept_from(peer.sdp);
	linger_zero(other);
	close(other);
	pause_ms(quiet_ms());
	let_go(&s);
	need(poll_for(s.fd, POLLIN, WAIT_MS) & POLLERR, "no error");
	error = get_int(s.fd, SOL_SOCKET, SO_ERROR);
	need(error == ECONNRESET, "SO_ERROR: %s", errno_text(error));
	need_protocol(s.fd, BY_SDP, "it");
	need(!poll_for(peer.tcp, POLLIN, quiet_ms()), "it has connected again, by TCP");
	return EXIT_OK;
}
