// SPDX-License-Identifier: GPL-2.0
#include "tap.h"

#define TAP_MAX_HANGS	6

unsigned int tap_passed, tap_failed, tap_skipped, tap_hangs;

long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

void pause_ms(int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* The name of an errno, for messages and logs. */
const char *errno_text(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "unknown errno";
}

/*
 * `make check` runs fewer rounds and cases than `make check-all`; each test prints what it leaves
 * out.
 */
bool short_form(void)
{
	const char *wanted = getenv("SDP_SHORT");

	return wanted && *wanted;
}

void tap_start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
}

void tap_left_out(const char *what)
{
	if (short_form())
		printf("# short form: %s\n", what);
}

static unsigned int tap_next(void)
{
	return tap_passed + tap_failed + tap_skipped + 1;
}

__attribute__((format(printf, 2, 3)))
void tap_point(bool ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u ", ok ? "" : "not ", tap_next());
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (ok)
		tap_passed++;
	else
		tap_failed++;
}

__attribute__((format(printf, 2, 3)))
void tap_skip(const char *why, const char *fmt, ...)
{
	va_list ap;

	printf("ok %u ", tap_next());
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" # SKIP %s\n", why);
	tap_skipped++;
}

/* Prints the plan and the sums. Returns the exit status of the program. */
int tap_finish(void)
{
	printf("1..%u\n", tap_next() - 1);
	printf("# %u passed, %u failed, %u skipped\n", tap_passed, tap_failed, tap_skipped);
	if (tap_failed)
		return EXIT_FAILED;
	return tap_passed ? EXIT_OK : EXIT_SKIPPED;
}

/* Ends a test body as failed and prints the reason as a TAP comment. Any thread may call it. */
__attribute__((format(printf, 1, 2), noreturn))
void give_up(const char *fmt, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# %s\n", text);
	fflush(stdout);
	_exit(EXIT_FAILED);
}

/* Runs @body(@arg) in a child, whose exit status is the return value of @body. */
struct child child_start(int (*body)(void *arg), void *arg)
{
	struct child child;

	fflush(stdout);
	child.pid = fork();
	if (child.pid < 0) {
		printf("Bail out! fork: %s\n", errno_text(errno));
		exit(EXIT_FAILED);
	}
	if (!child.pid) {
		int status;

		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		status = body(arg);
		fflush(stdout);
		_exit(status);
	}
	setpgid(child.pid, child.pid);
	child.pidfd = pidfd_open(child.pid, 0);
	return child;
}

static bool child_ended(const struct child *child, long long deadline)
{
	struct pollfd pfd = { .fd = child->pidfd, .events = POLLIN };
	long long left = deadline - now_ms();

	return poll(&pfd, 1, left > 0 ? left : 0) == 1;
}

/*
 * Waits for a child until @deadline (a time of now_ms()). Returns its exit status, or -1 and the
 * reason in @why if it hung or was killed by a signal. The whole process group has gone afterwards.
 */
int child_wait(struct child *child, long long deadline, char why[80])
{
	bool hung = !child_ended(child, deadline);
	int status = 0;

	why[0] = 0;
	kill(-child->pid, SIGKILL);
	if (hung) {
		tap_hangs++;
		snprintf(why, 80, "did not end in time");
		if (!child_ended(child, now_ms() + 10000)) {
			tap_point(false, "process %d cannot be killed: it is stuck in the kernel",
				  child->pid);
			printf("Bail out! see /proc/%d/stack\n", child->pid);
			exit(EXIT_FAILED);
		}
	}
	waitpid(child->pid, &status, 0);
	close(child->pidfd);
	if (hung)
		return -1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	snprintf(why, 80, "killed by signal %d", WTERMSIG(status));
	return -1;
}

void tap_bail_if_hopeless(void)
{
	if (tap_hangs < TAP_MAX_HANGS)
		return;
	printf("Bail out! %u tests did not end in time\n", tap_hangs);
	exit(EXIT_FAILED);
}

/* A whole test point: runs @body with a limit in seconds and prints the result. */
__attribute__((format(printf, 4, 5)))
void tap_run(int (*body)(void *arg), void *arg, int seconds, const char *fmt, ...)
{
	struct child child = child_start(body, arg);
	char name[160], why[80];
	long long start = now_ms();
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	status = child_wait(&child, start + seconds * 1000LL, why);
	if (status == EXIT_SKIPPED) {
		tap_skip("not for this case", "%s", name);
		return;
	}
	if (why[0])
		printf("# %s: %s (limit %d s)\n", name, why, seconds);
	tap_point(status == EXIT_OK, "%s", name);
	printf("# %s took %lld ms\n", name, now_ms() - start);
	tap_bail_if_hopeless();
}
