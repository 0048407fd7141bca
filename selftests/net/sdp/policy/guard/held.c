// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests with memory that blocks the kernel: only the program's own calls wait.
 */
#include <linux/userfaultfd.h>
#include <sys/mman.h>

#include "guard.h"

/*
 * Maps two pages. An access to @s->page, the second one, blocks until slow_memory_goes_on().
 * Returns false if there is no userfaultfd.
 */
bool slow_memory(struct slow *s)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *pages;

	s->faults = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (s->faults < 0)
		return false;
	need_errno(!ioctl(s->faults, UFFDIO_API, &api), "UFFDIO_API");
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need_errno(pages != MAP_FAILED, "mmap");
	memset(pages, 0, 4096);
	s->page = pages + 4096;
	range.range.start = (unsigned long)s->page;
	range.range.len = 4096;
	need_errno(!ioctl(s->faults, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	return true;
}

void slow_memory_goes_on(struct slow *s)
{
	struct uffdio_zeropage zero = { .range = { (unsigned long)s->page, 4096 } };

	need_errno(!ioctl(s->faults, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
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
	pthread_t thread;
	bool ended;
	pid_t pid;
	size_t i;

	by_names();
	listener_of(NOBODY, 1, &s.where);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		as(BOTH_SIDE);
		s.fd = stream(0);
		if (!slow_memory(&s))
			return EXIT_SKIPPED;
		thread = start_thread(set_slowly, &s);
		need(poll_for(s.faults, POLLIN, WAIT_MS) & POLLIN, "its memory is not slow");
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
		slow_memory_goes_on(&s);
		pthread_join(thread, NULL);
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
	struct silent peer;
	struct slow s = { 0 };
	pthread_t thread;
	bool ended;
	int error;
	pid_t pid;

	by_names();
	peer = silent_peer();
	setting_set("fallback_ms", how == FALLS_BACK ? 5 * quiet_ms() : 60000);
	s.fd = stream(SOCK_NONBLOCK);
	if (!slow_memory(&s))
		return EXIT_SKIPPED;
	error = connect_as(BOTH_SIDE, s.fd, &peer.where);
	need(error == EINPROGRESS, "connect: %s", errno_text(error));
	thread = start_thread(linger_slowly, &s);
	need(poll_for(s.faults, POLLIN, WAIT_MS) & POLLIN, "its memory is not slow");
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
	slow_memory_goes_on(&s);
	pthread_join(thread, NULL);
	need(ended, "somebody waits for the memory with the socket's lock");
	need(poll_for(s.fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	set_nonblock(s.fd, false);
	close(accept_and_talk(how == CONNECTED ? peer.sdp : peer.tcp, s.fd,
			      how == CONNECTED ? BY_SDP : BY_TCP));
	return EXIT_OK;
}

#define WORK		TRACING "events/workqueue/workqueue_execute_start/enable"
#define DECIDES		"sdp_attempt_work"

/* The number of times that the work item has run. */
static int decisions(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[400];
	int n = 0;

	need_errno(f, "trace");
	while (fgets(line, sizeof(line), f))
		n += line[0] != '#' && strstr(line, DECIDES);
	fclose(f);
	return n;
}

/*
 * While a program's memory blocks its own call, the work item tries again from time to time, but
 * not at each tick: many such programs would keep the CPUs busy.
 */
int held_asked_rarely(void *arg)
{
	int ms = slow_kernel() ? 6000 : 2000;
	bool by_sock = arg;
	struct slow s = { 0 };
	struct silent peer;
	pthread_t thread;
	int error, n;

	by_names();
	peer = silent_peer();
	setting_set("fallback_ms", ms);
	s.fd = stream(SOCK_NONBLOCK);
	if (!slow_memory(&s) || !tracing_begin(WORK))
		return EXIT_SKIPPED;
	error = connect_as(BOTH_SIDE, s.fd, &peer.where);
	need(error == EINPROGRESS, "connect: %s", errno_text(error));
	thread = start_thread(by_sock ? linger_slowly : set_slowly, &s);
	need(poll_for(s.faults, POLLIN, WAIT_MS) & POLLIN, "its memory is not slow");
	/* Count from the end of the time for SDP. */
	pause_ms(ms);
	trace_anew();
	pause_ms(2000);
	n = decisions();
	tracing_write(WORK, "0");
	slow_memory_goes_on(&s);
	pthread_join(thread, NULL);
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
	pthread_t thread;
	int error, other;

	by_names();
	peer = silent_peer();
	s.fd = stream(SOCK_NONBLOCK);
	if (!slow_memory(&s))
		return EXIT_SKIPPED;
	error = connect_as(BOTH_SIDE, s.fd, &peer.where);
	need(error == EINPROGRESS, "connect: %s", errno_text(error));
	thread = start_thread(set_slowly, &s);
	need(poll_for(s.faults, POLLIN, WAIT_MS) & POLLIN, "its memory is not slow");
	make_room(&peer);
	other = accept_from(peer.sdp);
	linger_zero(other);
	close(other);
	pause_ms(quiet_ms());
	slow_memory_goes_on(&s);
	pthread_join(thread, NULL);
	need(poll_for(s.fd, POLLIN, WAIT_MS) & POLLERR, "no error");
	error = get_int(s.fd, SOL_SOCKET, SO_ERROR);
	need(error == ECONNRESET, "SO_ERROR: %s", errno_text(error));
	need_protocol(s.fd, BY_SDP, "it");
	need(!poll_for(peer.tcp, POLLIN, quiet_ms()), "it has connected again, by TCP");
	return EXIT_OK;
}
