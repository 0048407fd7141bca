/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cell of the matrix: one call on one socket in one state, and how it is observed.
 *
 * The first run of a state, with TCP, is the reference. In the second run, with AF_SDP, data may
 * take longer to arrive. So an observation of something in flight waits until it is as in the
 * reference, or until a deadline. In the reference run, what was sent has to be acknowledged
 * first.
 */
#ifndef SDP_TEST_MATRIX_H
#define SDP_TEST_MATRIX_H

#include "observe.h"

/* The tables leave out fields that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* How long a result may take to become the same as in the reference. */
#define PATIENCE_MS	1000
/* Time limit of a call that has to wait. */
#define BLOCK_MS	12

/* Properties of states. They decide which calls need a socket of their own. */
enum {
	S_FREE	 = 1 << 0,	/* no connection, no listener */
	S_LISTEN = 1 << 1,
	S_LINK	 = 1 << 2,	/* a connection, or what is left of one */
	S_ROOM	 = 1 << 3,	/* the peer reads what is sent */
	S_BREAK	 = 1 << 4,	/* the peer answers data by a reset */
	S_INPUT	 = 1 << 5,	/* there is data to read */
	S_ERROR	 = 1 << 6,	/* an error is pending */
	S_FULL	 = 1 << 7,	/* the connection takes no more bytes */
	S_ANY	 = (1 << 8) - 1,
};

struct cell {
	const struct state *state;
	int fd;			/* the socket in this state */
	int peer;		/* the other end, or -1 */
};

struct state {
	const char *name;
	void (*build)(struct cell *x);
	unsigned int kind;
	bool accepted;		/* @fd is the accepted end */
};

struct call {
	const char *name;
	long (*run)(struct cell *x, const struct call *c);
	unsigned int alters;	/* kinds of states that it changes */
	int a, b;		/* for @run */
	const void *p;
	bool sends;		/* if the peer reads the data, the state is as before */
};

static const struct log *reference;	/* NULL while it is being made */

/* Of each process: a listener that accepts, one that does not, and an address without one. */
static int hub;
static struct addr hub_at, spare_at, nobody_at;
static char *forbidden;			/* memory without any access */

/* What a call has yielded besides its return value. */
static char note[160];

__attribute__((format(printf, 1, 2)))
static inline void noted(const char *fmt, ...)
{
	size_t used = strlen(note);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note + used, sizeof(note) - used, fmt, ap);
	va_end(ap);
}

/* Appends received bytes to the note: the first ones, if there are many. */
static inline void noted_bytes(const void *data, long len)
{
	const unsigned char *p = data;
	long i;

	for (i = 0; i < len && i < 16; i++)
		noted(isprint(p[i]) ? "%s%c" : "%s\\x%02x", i ? "" : " \"", p[i]);
	if (len > 0)
		noted(i < len ? "\"..." : "\"");
}

static inline void noted_address(const struct addr *a, socklen_t len)
{
	unsigned int port = len ? addr_port(a) : 0;
	char host[INET6_ADDRSTRLEN] = "?";

	if (!len) {
		noted(" no address");
		return;
	}
	if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	else if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	noted(" family %d, [%s]:%s, %u bytes", a->sa.sa_family, host,
	      !port ? "0" : port == addr_port(&hub_at) ? "listener's port" : "a port", len);
}

/* Takes from the reference what the next observation should be. False: there is nothing. */
static inline bool reference_value(char *value, size_t size)
{
	static const char *line;
	static size_t here;
	const char *sep, *end;

	if (!reference)
		return false;
	if (!line)
		line = reference->text;
	for (; here < obs->used; here++) {
		if (obs->text[here] != '\n')
			continue;
		end = strchr(line, '\n');
		line = end ? end + 1 : "";
	}
	end = strchr(line, '\n');
	sep = strstr(line, " = ");
	if (!end || !sep || sep > end)
		return false;
	snprintf(value, size, "%.*s", (int)(end - sep - 3), sep + 3);
	return true;
}

static inline unsigned int mask_now(int fd)
{
	return (unsigned short)poll_for(fd, EVERY_EVENT, 0);
}

/* Describes the poll mask and the number of readable bytes. */
static inline void view(int fd, char *text, size_t size)
{
	int bytes = queued_bytes(fd);

	events_text(mask_now(fd), text, size);
	if (bytes > 4096)
		strncat(text, ", many bytes", size - strlen(text) - 1);
	else if (bytes > 0)
		snprintf(text + strlen(text), size - strlen(text), ", %d bytes", bytes);
}

static inline void rec_view(const char *label, int fd)
{
	long long end = now_ms() + PATIENCE_MS;
	char want[300], text[120];
	bool known = reference_value(want, sizeof(want));

	view(fd, text, sizeof(text));
	while (known && strcmp(text, want) && now_ms() < end) {
		pause_ms(1);
		view(fd, text, sizeof(text));
	}
	rec(label, "%s", text);
}

/* Everything sent has arrived, or nothing more will arrive. */
static inline bool at_rest(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	return fd < 0 || unsent_bytes(fd) <= 0 || getpeername(fd, &a.sa, &a.len);
}

/* TCP delays its acknowledgements. This makes it send them now, and changes nothing else. */
static inline void hasten(int fd)
{
	if (fd >= 0 && !use_sdp)
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &(int){ 1 }, sizeof(int));
}

static inline void rest(const struct cell *x)
{
	long long end = now_ms() + PATIENCE_MS;

	hasten(x->fd);
	hasten(x->peer);
	while (!(at_rest(x->fd) && at_rest(x->peer)) && now_ms() < end)
		pause_ms(1);
}

static inline void settle(const struct cell *x)
{
	if (!reference && !(x->state->kind & S_FULL))
		rest(x);
}

/*
 * In the reference run, the peer has to notice the end of a connection, unless unread bytes precede
 * it.
 */
static inline void settle_end(const struct cell *x)
{
	if (!reference && x->peer >= 0 && !(x->state->kind & S_FULL))
		poll_for(x->peer, POLLRDHUP, PATIENCE_MS);
}

/*
 * As settle_end(), but the end may be a reset. A peer that knows of the stream's end does not show
 * whether a reset will follow, so this waits for a while.
 */
static inline void settle_reset(const struct cell *x)
{
	const short told = POLLERR | POLLHUP;
	int i;

	settle_end(x);
	if (!reference && x->peer >= 0 && !(x->state->kind & S_FULL))
		for (i = 0; i < 30 && !(poll_for(x->peer, POLLRDHUP, 0) & told); i++)
			pause_ms(1);
}

/* Makes the call and records its result, what it noted, and whether it raised SIGPIPE. */
static inline void rec_call(struct cell *x, const struct call *c)
{
	long ret;
	int error;

	note[0] = 0;
	pipes = 0;
	errno = 0;
	ret = c->run(x, c);
	error = errno;
	if (pipes)
		noted(" SIGPIPE");
	if (ret < 0)
		rec(c->name, "-%s%s", errno_text(error), note);
	else
		rec(c->name, "%ld%s", ret, note);
}

__attribute__((format(printf, 2, 3)))
static inline const char *labelled(const struct call *c, const char *fmt, ...)
{
	static char text[120];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s: ", c->name);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	return text;
}

static inline void rec_recv_now(const char *label, int fd)
{
	char b[64];
	ssize_t n = recv(fd, b, sizeof(b), MSG_DONTWAIT);
	int error = errno;

	note[0] = 0;
	noted_bytes(b, n);
	if (n < 0)
		rec(label, "-%s", errno_text(error));
	else
		rec(label, "%zd%s", n, note);
}

/* Records what the peer sees, and reads what the peer can read. */
static inline void rec_peer(const struct cell *x, const struct call *c)
{
	if (x->peer < 0)
		return;
	rec_view(labelled(c, "peer"), x->peer);
	if (!(x->state->kind & S_FULL))
		rec_recv_now(labelled(c, "peer's recv"), x->peer);
}

/* Records the state in which the call has left the socket. */
static inline void rec_after(const struct cell *x, const struct call *c)
{
	if (x->fd >= 0)
		rec_view(labelled(c, "mask"), x->fd);
	rec_peer(x, c);
	if (x->fd < 0) {
		if (x->peer >= 0)
			rec_so_error(labelled(c, "peer's SO_ERROR"), x->peer);
		return;
	}
	rec_so_error(labelled(c, "SO_ERROR"), x->fd);
	rec_recv_now(labelled(c, "recv"), x->fd);
	REC(labelled(c, "send"), send(x->fd, "z", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

#endif /* SDP_TEST_MATRIX_H */
