/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recording of what an oracle scenario observes, for comparison of TCP and AF_SDP.
 *
 * Each observation is one line "label = value" in a log that the parent process reads. There is one
 * log of the run on TCP and one of the run on AF_SDP, and they must be equal. A value therefore
 * must not depend on timing or on port numbers: scenarios wait for the state that they describe,
 * and ports get names (p1, p2, ...) in the order in which they are first seen.
 */
#ifndef SDP_TEST_OBSERVE_H
#define SDP_TEST_OBSERVE_H

#include "sock.h"
#include <ctype.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>

struct log {
	size_t used;
	char text[128 * 1024];
};

extern struct log *obs;

/* Data to send, or a buffer for received data that is not compared. */
extern char scratch[8192];

extern int scratch_int;

struct scenario {
	const char *name;
	void (*run)(void);
	bool few;		/* slow: runs on one address set of each transport only */
};

struct scenario_list {
	const struct scenario *list;
	size_t count;
};

#define SCENARIO_LIST(array)	{ array, ARRAY_SIZE(array) }
#define SCENARIO(fn)		{ .name = #fn, .run = fn }
#define SLOW_SCENARIO(fn)	{ .name = #fn, .run = fn, .few = true }

__attribute__((format(printf, 2, 3)))
void rec(const char *label, const char *fmt, ...);
bool logs_compare(const char *name, struct log *const logs[2],
		  bool (*same)(const char *name, const char *label, const char *tcp,
			       const char *sdp));
struct log *log_make(void);
long rec_ret(const char *label, long ret);

/* Makes the call, records its result or errno, and returns the result. */
#define REC(label, call) rec_ret(label, (call))

int rec_fd(const char *label, int fd);

#define REC_FD(label, call) rec_fd(label, (call))

void rec_bool(const char *label, bool value);
void rec_bytes(const char *label, const void *data, size_t len);
ssize_t rec_recv(const char *label, int fd, size_t len, int flags);

#define EVERY_EVENT \
	(POLLIN | POLLPRI | POLLOUT | POLLRDNORM | POLLRDBAND | POLLWRNORM | POLLWRBAND | POLLRDHUP)

void events_text(unsigned int mask, char *text, size_t size);
void rec_events(const char *label, unsigned int mask);
void rec_mask(const char *label, int fd);
void rec_mask_at(const char *label, int fd, short want);
void rec_addr(const char *label, const struct addr *a, socklen_t len);
void rec_sockname(const char *label, int fd);
void rec_peername(const char *label, int fd);
void rec_peername_gone(const char *label, int fd);
int try_int(int fd, int level, int option);
void rec_int(const char *label, int fd, int level, int option);
void rec_so_error(const char *label, int fd);

extern volatile sig_atomic_t ticks, pipes;

void on_tick(int sig);
void on_pipe(int sig);
void handle(int sig, void (*handler)(int), int flags);
void ticks_start(void (*handler)(int), int flags);
void ticks_stop(void);
bool took_at_least(long long start, int ms);
void await_queue(int listening, unsigned int waiting);

/*
 * A connection attempt that stays in progress, because the listener's queue has room for one
 * connection and is full. @fd is a fresh socket that has not called connect() yet.
 */
struct stuck {
	int listening, filler, fd;
	struct addr where;
};

struct stuck stuck_make(int flags);

/* A thread that makes one call, which another thread has to end. */
struct caller {
	pthread_t thread;
	_Atomic pid_t tid;
	int fd;
	long (*call)(int fd);
	long ret;
	int error;
};

void caller_start(struct caller *c, long (*call)(int fd), int fd);
void caller_end(const char *label, struct caller *c);

#endif /* SDP_TEST_OBSERVE_H */
