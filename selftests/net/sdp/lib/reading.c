// SPDX-License-Identifier: GPL-2.0
#include "reading.h"

/* On a busy host a reader may need more time than a writer waits by default. */
#define PATIENT_MS	1000

/* More than both directions need to learn the mode. */
#define PINGS		10

/* Echoes the stream, @piece bytes at a time. */
static void echoes(void *arg)
{
	struct pattern_reader *r = arg;
	static unsigned char buf[PATTERN_LARGEST];
	long at;

	close(r->other);
	for (at = 0; at < r->len; at += r->piece) {
		recv_all(r->fd, buf, r->piece);
		pattern_check(at, buf, r->piece);
		send_all(r->fd, buf, r->piece);
	}
}

static void ping(int fd, long at, long size)
{
	static unsigned char buf[PATTERN_LARGEST];

	send_all(fd, pattern(at), size);
	recv_all(fd, buf, size);
	pattern_check(at, buf, size);
}

/*
 * Makes what is learnt depend on what readers do and in which order, but not on how fast they are:
 * a slow reader does not count as late.
 */
void only_order_counts(void)
{
	setting_set("mode_after", AFTER);
	setting_set("scan_ms", NO_SCAN_MS);
	setting_set("reader_wait_ms", PATIENT_MS);
}

void ping_pong(const struct pair *p, int n, long size)
{
	struct pattern_reader r = { p->s, p->c, n * size, size, 0 };
	pid_t pid = helper_start(echoes, &r);
	int i;

	for (i = 0; i < n; i++)
		ping(p->c, i * size, size);
	helper_end(pid);
}

/*
 * A pair in Pipelined mode, both ways; @at bytes have gone through it each way, in writes of @size.
 */
struct pair pair_pipelined(long size, long *at)
{
	struct pair p;

	only_order_counts();
	p = pair_make();
	ping_pong(&p, PINGS, size);
	need(info_of(p.c).tx_mode == SDP_INFO_PIPELINED &&
	     info_of(p.s).rx_mode == SDP_INFO_PIPELINED &&
	     info_of(p.s).tx_mode == SDP_INFO_PIPELINED, "modes %u and %u", info_of(p.c).tx_mode,
	     info_of(p.s).tx_mode);
	*at = PINGS * size;
	return p;
}

/*
 * A pair whose writers have to wait for their readers, because a large write has no room in the
 * send buffer. There is room for it at the reader.
 */
struct pair pair_that_waits(void)
{
	struct pair p = pair_sized(1 << 20);

	set_int(p.c, SOL_SOCKET, SO_SNDBUF, 1 << 14);
	set_int(p.s, SOL_SOCKET, SO_SNDBUF, 1 << 14);
	return p;
}

/* Waits until the peer has all bytes: after shutdown() they would go in messages. */
void await_all_sent(int fd)
{
	long long end = now_ms() + WAIT_MS;
	int queued;

	for (;; pause_ms(1)) {
		need_errno(!ioctl(fd, SIOCOUTQ, &queued), "SIOCOUTQ");
		if (!queued)
			return;
		need(now_ms() < end, "%d bytes have not left", queued);
	}
}

void await_counter_above(const char *name, long long more_than)
{
	long long end = now_ms() + WAIT_MS;

	while (counter(name) <= more_than)
		need(now_ms() < end, "%s is still %lld", name, counter(name));
}

void *reads(void *arg)
{
	struct reading *r = arg;

	r->tid = gettid();
	r->n = recv(r->fd, r->buf, r->len, r->flags);
	r->error = errno;
	return NULL;
}

/* Starts the thread. Returns when it sleeps in recv(). */
void reading_begin(struct reading *r, int fd, unsigned char *buf, long len, int flags)
{
	*r = (struct reading){ .fd = fd, .buf = buf, .len = len, .flags = flags };
	need(r->buf && !pthread_create(&r->thread, NULL, reads, r), "pthread_create");
	while (!r->tid)
		pause_ms(1);
	await_asleep(r->tid);
}

/* Like reading_begin() in Pipelined mode. Returns when the peer has the SinkAvail. */
void reading_post(struct reading *r, int fd, unsigned char *buf, long len, int flags)
{
	long long posts = counter("SinkAvailReceived");

	reading_begin(r, fd, buf, len, flags);
	await_counter_above("SinkAvailReceived", posts);
}

void reading_end(struct reading *r, ssize_t n, int error)
{
	pthread_join(r->thread, NULL);
	need(r->n == n && (n >= 0 || r->error == error), "recv: %zd, %s", r->n,
	     errno_text(r->error));
}
