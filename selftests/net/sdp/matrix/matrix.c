// SPDX-License-Identifier: GPL-2.0
#include "matrix.h"

/* How long a result may take to become the same as in the reference. */
#define PATIENCE_MS	1000

const struct log *reference;	/* NULL while it is being made */

int hub;

struct addr hub_at, spare_at, nobody_at;

char *forbidden;			/* memory without any access */

char note[160];

/* Appends to the note. This and the functions below leave errno as it is. */
__attribute__((format(printf, 1, 2)))
void noted(const char *fmt, ...)
{
	size_t used = strlen(note);
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note + used, sizeof(note) - used, fmt, ap);
	va_end(ap);
	errno = error;
}

/* Appends received bytes to the note: the first ones, if there are many. */
void noted_bytes(const void *data, long len)
{
	const unsigned char *p = data;
	long i;

	for (i = 0; i < len && i < 16; i++)
		noted(isprint(p[i]) ? "%s%c" : "%s\\x%02x", i ? "" : " \"", p[i]);
	if (len > 0)
		noted(i < len ? "\"..." : "\"");
}

void noted_address(const struct addr *a, socklen_t len)
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
static bool reference_value(char *value, size_t size)
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

static unsigned int mask_now(int fd)
{
	return (unsigned short)poll_for(fd, EVERY_EVENT, 0);
}

/* Describes the poll mask and the number of readable bytes. */
static void view(int fd, char *text, size_t size)
{
	int bytes = queued_bytes(fd);

	events_text(mask_now(fd), text, size);
	if (bytes > 4096)
		strncat(text, ", many bytes", size - strlen(text) - 1);
	else if (bytes > 0)
		snprintf(text + strlen(text), size - strlen(text), ", %d bytes", bytes);
}

static void rec_view(const char *label, int fd)
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
static bool at_rest(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	return fd < 0 || unsent_bytes(fd) <= 0 || getpeername(fd, &a.sa, &a.len);
}

/* TCP delays its acknowledgements. This makes it send them now, and changes nothing else. */
static void hasten(int fd)
{
	if (fd >= 0 && !use_sdp)
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &(int){ 1 }, sizeof(int));
}

void rest(const struct cell *x)
{
	long long end = now_ms() + PATIENCE_MS;

	hasten(x->fd);
	hasten(x->peer);
	while (!(at_rest(x->fd) && at_rest(x->peer)) && now_ms() < end)
		pause_ms(1);
}

void settle(const struct cell *x)
{
	if (!reference && !(x->state->kind & S_FULL))
		rest(x);
}

/*
 * In the reference run, the peer has to notice the end of a connection, unless unread bytes precede
 * it.
 */
void settle_end(const struct cell *x)
{
	if (!reference && x->peer >= 0 && !(x->state->kind & S_FULL))
		poll_for(x->peer, POLLRDHUP, PATIENCE_MS);
}

/*
 * As settle_end(), but the end may be a reset. A peer that knows of the stream's end does not show
 * whether a reset will follow, so this waits for a while. A full connection holds back the stream's
 * end, but no reset.
 */
void settle_reset(const struct cell *x)
{
	const short told = POLLERR | POLLHUP;
	int i, most = x->state->kind & S_FULL ? quiet_ms() : 30;

	settle_end(x);
	if (!reference && x->peer >= 0)
		for (i = 0; i < most && !(poll_for(x->peer, POLLRDHUP, 0) & told); i++)
			pause_ms(1);
}

static void rec_noted(const char *label, long ret)
{
	if (ret < 0)
		rec(label, "-%s%s", errno_text(errno), note);
	else
		rec(label, "%ld%s", ret, note);
}

/* Makes the call and records its result, what it noted, and whether it raised SIGPIPE. */
void rec_call(struct cell *x, const struct call *c)
{
	long ret;

	note[0] = 0;
	pipes = 0;
	errno = 0;
	ret = c->run(x, c);
	if (pipes)
		noted(" SIGPIPE");
	rec_noted(c->name, ret);
}

__attribute__((format(printf, 2, 3)))
static const char *labelled(const struct call *c, const char *fmt, ...)
{
	static char text[120];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s: ", c->name);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	return text;
}

static void rec_recv_now(const char *label, int fd)
{
	char b[64];
	ssize_t n = recv(fd, b, sizeof(b), MSG_DONTWAIT);

	note[0] = 0;
	noted_bytes(b, n);
	rec_noted(label, n);
}

/* Records what the peer sees, and reads what the peer can read. */
void rec_peer(const struct cell *x, const struct call *c)
{
	if (x->peer < 0)
		return;
	rec_view(labelled(c, "peer"), x->peer);
	if (!(x->state->kind & S_FULL))
		rec_recv_now(labelled(c, "peer's recv"), x->peer);
}

/* Records the state in which the call has left the socket. */
void rec_after(const struct cell *x, const struct call *c)
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
