// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of shutdown and close in one thread while others wait in a call on the socket.
 *
 * The waiting calls return what they return with TCP, and the peer sees what it sees with TCP.
 * shutdown() wakes the calls. close() does not: a waiting call keeps the socket open, as any file,
 * until the event comes that it waits for.
 */
#include "threads.h"
#include "info.h"

enum { WAITERS = 2, UNSENT = 1 << 20, SAID = 400 };

enum blocking_call { CALL_RECV, CALL_WAITALL, CALL_SEND, CALL_POLL, CALL_ACCEPT, CALL_POLL_LISTENER,
	    CALL_CONNECT };

static const char *const call_names[] = {
	[CALL_RECV] = "recv", [CALL_WAITALL] = "recv MSG_WAITALL", [CALL_SEND] = "send",
	[CALL_POLL] = "poll", [CALL_ACCEPT] = "accept", [CALL_POLL_LISTENER] = "poll a listener",
	[CALL_CONNECT] = "connect",
};

enum { CLOSE = -1 };	/* in addition to SHUT_RD, SHUT_WR and SHUT_RDWR */

struct waiter {
	enum blocking_call call;
	int fd;
	struct addr where;
	_Atomic pid_t tid;
	pthread_t thread;
	char said[80];
};

/* A socket with its waiters, and what else a case needs. */
struct blocked {
	struct waiter waiters[WAITERS];
	struct addr where;
	int count;
	int fd, peer;		/* the socket that is waited on; the other end, or -1 */
	int listening;		/* or -1 */
	int queued[2];
	int clients[2];		/* of a listener, or -1 */
	long filled;		/* bytes sent before anybody waited */
	char *said;		/* what happened, for comparison */
};

static void waiter_says(struct waiter *w, long result)
{
	if (result < 0)
		snprintf(w->said, sizeof(w->said), "%s", errno_text(errno));
	else
		snprintf(w->said, sizeof(w->said), "%ld", result);
}

static void wait_in_send(struct waiter *w)
{
	static char block[UNSENT];
	ssize_t n = send(w->fd, block, UNSENT, MSG_NOSIGNAL);

	/* How many bytes go into a full connection is not compared. */
	if (n > 0)
		snprintf(w->said, sizeof(w->said), n < UNSENT ? "a part" : "all");
	else
		waiter_says(w, n);
}

static void wait_in_poll(struct waiter *w)
{
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN | POLLRDHUP };
	int n = poll(&pfd, 1, -1);

	snprintf(w->said, sizeof(w->said), "%d, events %#x", n, pfd.revents);
}

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;
	char data[4];
	int fd;

	w->tid = gettid();
	switch (w->call) {
	case CALL_RECV:
		waiter_says(w, recv(w->fd, data, 1, 0));
		break;
	case CALL_WAITALL:
		waiter_says(w, recv(w->fd, data, sizeof(data), MSG_WAITALL));
		break;
	case CALL_SEND:
		wait_in_send(w);
		break;
	case CALL_POLL:
	case CALL_POLL_LISTENER:
		wait_in_poll(w);
		break;
	case CALL_ACCEPT:
		fd = accept(w->fd, NULL, NULL);
		waiter_says(w, fd < 0 ? -1 : 0);
		close(fd);
		break;
	case CALL_CONNECT:
		waiter_says(w, connect(w->fd, &w->where.sa, w->where.len));
	}
	return NULL;
}

static void blocked_prepare(struct blocked *b, enum blocking_call call)
{
	struct pair p;

	b->listening = -1;
	b->peer = -1;
	switch (call) {
	case CALL_ACCEPT:
	case CALL_POLL_LISTENER:
		b->fd = listener(4, &b->where);
		/*
		 * Made now: later they could get the number of the closed socket, which poll()
		 * looks up again.
		 */
		b->clients[0] = fresh(0);
		b->clients[1] = fresh(0);
		return;
	case CALL_CONNECT:
		b->listening = full_listener(&b->where, b->queued);
		b->fd = fresh(0);
		return;
	default:
		p = pair_sized(32768);
		b->fd = p.c;
		b->peer = p.s;
	}
	if (call == CALL_SEND)
		b->filled = fill_ends(b->fd, b->peer);
	if (call == CALL_WAITALL)	/* a part of the data is there */
		send_all(b->peer, "ab", 2);
}

static void blocked_start(struct blocked *b, enum blocking_call call)
{
	int i;

	/*
	 * Two waiters for whole pieces could share the data in either way. With two threads in
	 * connect(), the result of the second one differs between versions of TCP.
	 */
	b->count = call == CALL_WAITALL || call == CALL_CONNECT ? 1 : WAITERS;
	blocked_prepare(b, call);
	for (i = 0; i < b->count; i++) {
		struct waiter *w = &b->waiters[i];

		*w = (struct waiter){ .call = call, .fd = b->fd, .where = b->where };
		w->thread = thread_start(waiter_main, w);
		while (!w->tid)
			pause_ms(1);
		await_asleep(w->tid);
	}
}

__attribute__((format(printf, 2, 3)))
static void blocked_note(struct blocked *b, const char *fmt, ...)
{
	size_t len = strlen(b->said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->said + len, SAID - len, fmt, ap);
	va_end(ap);
}

/*
 * Reads to the end of the stream. Notes how it ends, and the number of bytes unless it is @usual.
 */
static void note_end(struct blocked *b, int fd, const char *who, long usual)
{
	static char data[65536];
	long total = 0;
	ssize_t n;

	do {
		if (!poll_for(fd, POLLIN, WAIT_MS)) {
			blocked_note(b, "; %s: no end", who);
			return;
		}
		n = recv(fd, data, sizeof(data), 0);
		total += n > 0 ? n : 0;
	} while (n > 0);
	blocked_note(b, "; %s: %s", who, n ? errno_text(errno) : "end");
	if (usual >= 0 && total != usual)
		blocked_note(b, " after %ld of %ld bytes", total, usual);
}

/* After close(): checks that no call has returned, then makes the event happen. */
static void blocked_release(struct blocked *b, enum blocking_call call)
{
	int i;

	for (i = 0; i < b->count; i++)
		await_asleep(b->waiters[i].tid);
	switch (call) {
	case CALL_RECV:
	case CALL_WAITALL:
	case CALL_POLL:
		send_all(b->peer, "xy", 2);
		break;
	case CALL_SEND:
		note_end(b, b->peer, "peer", b->filled + WAITERS * UNSENT);
		break;
	case CALL_POLL_LISTENER:
		/* The client may be reset before it is established: the waiters wake at once. */
		connect(b->clients[0], &b->where.sa, b->where.len);
		break;
	case CALL_ACCEPT:
		connect_to(b->clients[0], &b->where);
		connect_to(b->clients[1], &b->where);
		break;
	case CALL_CONNECT:
		for (i = 0; i < 2; i++)
			close(accept_from(b->listening));
		b->peer = accept_from(b->listening);
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct waiter *)a)->said, ((const struct waiter *)b)->said);
}

static void blocked_join(struct blocked *b)
{
	struct timespec end;
	int i;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_MS / 1000;
	for (i = 0; i < b->count; i++)
		if (pthread_timedjoin_np(b->waiters[i].thread, NULL, &end))
			strcpy(b->waiters[i].said, "still waiting");
	/* Which of the waiters was the first is not compared. */
	qsort(b->waiters, b->count, sizeof(b->waiters[0]), compare_texts);
	for (i = 0; i < b->count; i++)
		blocked_note(b, "; %s", b->waiters[i].said);
}

/* Notes what others see of a socket that was closed or shut down. */
static void note_others(struct blocked *b, enum blocking_call call, int how)
{
	int i, fd;

	/* After a send the end was noted already. A socket after SHUT_RD tells its peer nothing. */
	if (b->peer >= 0 && !(how == CLOSE && call == CALL_SEND) && how != SHUT_RD)
		note_end(b, b->peer, "peer", -1);
	if (call != CALL_ACCEPT && call != CALL_POLL_LISTENER)
		return;
	for (i = 0; how == CLOSE && call == CALL_ACCEPT && i < 2; i++)
		note_end(b, b->clients[i], "client", -1);
	fd = fresh(0);
	blocked_note(b, "; then connect: %s",
		     connect(fd, &b->where.sa, b->where.len) ? errno_text(errno) : "0");
	close(fd);
}

static void blocked_end(struct blocked *b)
{
	int i;

	close(b->peer);
	close(b->listening);
	for (i = 0; i < 2; i++) {
		close(b->queued[i]);
		close(b->clients[i]);
	}
}

static void blocked_run(enum blocking_call call, int how, char said[SAID])
{
	struct blocked b = { .said = said, .queued = { -1, -1 }, .clients = { -1, -1 } };

	said[0] = 0;
	blocked_start(&b, call);
	if (how == CLOSE) {
		close(b.fd);
		blocked_release(&b, call);
	} else {
		blocked_note(&b, "; shutdown: %s", shutdown(b.fd, how) ? errno_text(errno) : "0");
	}
	blocked_join(&b);
	note_others(&b, call, how);
	if (how != CLOSE)
		close(b.fd);
	blocked_end(&b);
}

static const struct {
	enum blocking_call call;
	int how;
} blocked_cases[] = {
	{ CALL_RECV, SHUT_RDWR }, { CALL_RECV, SHUT_RD }, { CALL_RECV, CLOSE },
	{ CALL_WAITALL, SHUT_RDWR }, { CALL_WAITALL, SHUT_RD }, { CALL_WAITALL, CLOSE },
	{ CALL_SEND, SHUT_RDWR }, { CALL_SEND, SHUT_WR }, { CALL_SEND, CLOSE },
	{ CALL_POLL, SHUT_RDWR }, { CALL_POLL, SHUT_RD }, { CALL_POLL, CLOSE },
	{ CALL_ACCEPT, SHUT_RDWR }, { CALL_ACCEPT, SHUT_RD }, { CALL_ACCEPT, CLOSE },
	{ CALL_POLL_LISTENER, SHUT_RDWR }, { CALL_POLL_LISTENER, SHUT_RD },
	{ CALL_POLL_LISTENER, CLOSE }, { CALL_CONNECT, SHUT_RDWR }, { CALL_CONNECT, CLOSE },
};

static const char *how_name(int how)
{
	static const char *const names[] = {
		[SHUT_RD] = "SHUT_RD", [SHUT_WR] = "SHUT_WR", [SHUT_RDWR] = "SHUT_RDWR",
	};

	return how == CLOSE ? "close" : names[how];
}

int closed_by_another(void *arg)
{
	char tcp[SAID], sdp[SAID];
	bool with_sdp = use_sdp;
	int differences = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked_cases); i++) {
		enum blocking_call call = blocked_cases[i].call;
		int how = blocked_cases[i].how;
		const char *name = call_names[call];

		use_sdp = false;
		blocked_run(call, how, tcp);
		use_sdp = with_sdp;
		blocked_run(call, how, sdp);
		if (!strcmp(tcp, sdp)) {
			printf("# %s, %s%s\n", name, how_name(how), tcp);
			continue;
		}
		printf("# differs: %s, %s\n#   TCP%s\n#   %s%s\n", name, how_name(how), tcp,
		       family_name(), sdp);
		differences++;
	}
	return differences ? EXIT_FAILED : EXIT_OK;
}
