/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test points in the Test Anything Protocol, and test bodies that run in child processes.
 *
 * A body may block forever, crash, change its user id or get signals. So it runs in a child with
 * its own process group, and the parent waits for it with a deadline. A body that hangs is a failed
 * point, never a hung run. After TAP_MAX_HANGS of them the run ends, because waiting for every
 * further deadline would show nothing new.
 */
#ifndef SDP_TEST_TAP_H
#define SDP_TEST_TAP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,		/* what the test runners take for "skipped" */
};

extern unsigned int tap_passed, tap_failed, tap_skipped, tap_hangs;

long long now_ms(void);
void pause_ms(int ms);
const char *errno_text(int error);
bool short_form(void);
void tap_start(void);
void tap_left_out(const char *what);
__attribute__((format(printf, 2, 3)))
void tap_point(bool ok, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void tap_skip(const char *why, const char *fmt, ...);
int tap_finish(void);
__attribute__((format(printf, 1, 2), noreturn))
void give_up(const char *fmt, ...);

#define need(cond, fmt, ...) do {						\
	if (!(cond))								\
		give_up("%s:%d: " fmt, __func__, __LINE__, ##__VA_ARGS__);	\
} while (0)

/* Like need(), for calls that set errno. */
#define need_errno(cond, what) \
	need(cond, "%s: %s", what, errno_text(errno))

struct child {
	pid_t pid;
	int pidfd;
};

struct child child_start(int (*body)(void *arg), void *arg);
int child_wait(struct child *child, long long deadline, char why[80]);
void tap_bail_if_hopeless(void);
__attribute__((format(printf, 4, 5)))
void tap_run(int (*body)(void *arg), void *arg, int seconds, const char *fmt, ...);

#endif /* SDP_TEST_TAP_H */
