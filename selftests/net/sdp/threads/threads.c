// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

/* Runs the body on TCP first: what TCP does not guarantee is not required of SDP. */
int tcp_first(void *arg)
{
	const struct body *body = arg;
	bool sdp = use_sdp;

	use_sdp = false;
	body->run();
	if (!sdp)
		return EXIT_OK;
	use_sdp = true;
	body->run();
	return EXIT_OK;
}

const char *family_name(void)
{
	return use_sdp ? "SDP" : "TCP";
}

pthread_t thread_start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, body, arg), "pthread_create");
	return thread;
}

/* Waits until @count reaches @n; the time limit of the test bounds it. */
void await_count(atomic_int *count, int n)
{
	while (atomic_load(count) < n)
		pause_ms(1);
}

/* A listener whose queue is full with @queued, so that the next connect has to wait. */
int full_listener(struct addr *where, int queued[2])
{
	int fd = listener(1, where), i;		/* a queue of n takes n + 1 */

	for (i = 0; i < 2; i++) {
		queued[i] = fresh(0);
		connect_to(queued[i], where);
	}
	return fd;
}

static void no_action(int sig)
{
}

/* Makes signals interrupt calls: without SA_RESTART the kernel restarts none of them. */
void catch_signals(void)
{
	struct sigaction action = { .sa_handler = no_action };

	need_errno(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	need_errno(!sigaction(SIGALRM, &action, NULL), "sigaction");
}

/* Sends @sig to the calling thread at short intervals, until timer_delete(). */
timer_t pelted_with(int sig)
{
	/* At shorter intervals a slow kernel would only deliver signals. */
	long period = slow_kernel() ? 20000000 : 500000;
	struct itimerspec when = { .it_interval.tv_nsec = period, .it_value.tv_nsec = period };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
	timer_t timer;

	event._sigev_un._tid = gettid();
	need_errno(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	need_errno(!timer_settime(timer, 0, &when, NULL), "timer_settime");
	return timer;
}
