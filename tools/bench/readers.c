// SPDX-License-Identifier: GPL-2.0
/* The ways in which sockbench's server reads a stream. */
#include <err.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "readers.h"
#include "strides.h"

#define FIRST_PIECE	100u
#define HEADER		16u
/* Most bytes that are mapped by one call. */
#define WINDOW		(1 << 18)

/* Belongs to a thread, once it has read with it. */
static _Thread_local struct io_uring ring;
static _Thread_local int ring_open;

static const char *const names[] = {
	[PLAIN] = "recv", [WAITALL] = "waitall", [POLLED] = "poll", [POLLED_BLOCKING] = "pollrecv",
	[MAPPED] = "map", [PIECES] = "readv", [URING] = "uring", [BODY] = "body",
	[SEVERAL] = "threads", [UNPACKS] = "unpack", [SCATTERS] = "scatter",
};

int reader_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static ssize_t in_pieces(int fd, char *buf, size_t len)
{
	size_t first = len < FIRST_PIECE ? len : FIRST_PIECE;
	struct iovec iov[] = { { buf, first }, { buf + first, len - first } };

	return readv(fd, iov, 2);
}

static ssize_t by_ring(int fd, char *buf, size_t len)
{
	struct io_uring_cqe *cqe;
	int n;

	if (!ring_open && io_uring_queue_init(4, &ring, 0))
		errx(1, "no io_uring");
	ring_open = 1;
	io_uring_prep_recv(io_uring_get_sqe(&ring), fd, buf, len, 0);
	n = io_uring_submit_and_wait(&ring, 1);
	if (n >= 0)
		n = io_uring_wait_cqe(&ring, &cqe);
	if (!n) {
		n = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	errno = n < 0 ? -n : 0;
	return n < 0 ? -1 : n;
}

/* Maps what has come; what cannot be mapped is read. Touches each page, as a reader does. */
static ssize_t by_mapping(int fd, char *buf, size_t len)
{
	static _Thread_local volatile char *window;
	struct tcp_zerocopy_receive r = { .length = len < WINDOW ? len : WINDOW };
	socklen_t size = sizeof(r);
	unsigned int at;

	if (!window)
		window = mmap(NULL, WINDOW, PROT_READ, MAP_SHARED, fd, 0);
	if (window == MAP_FAILED)
		err(1, "mmap of a socket");
	r.address = (unsigned long)window;
	if (getsockopt(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &r, &size))
		return errno == EIO ? 0 : -1;
	for (at = 0; at < r.length; at += 4096)
		(void)window[at];
	if (r.length || !r.recv_skip_hint) {
		errno = EAGAIN;
		return r.length ? (ssize_t)r.length : -1;
	}
	return recv(fd, buf, r.recv_skip_hint < len ? r.recv_skip_hint : len, MSG_DONTWAIT);
}

/* The remainder of the current message; before that the remainder of its header. */
static size_t rest_of_message(uint64_t at, size_t size)
{
	at %= size;
	return at < HEADER && HEADER < size ? HEADER - at : size - at;
}

/* A whole message, apart into a column of the matrix. */
static ssize_t in_columns(const struct reader *r, char *buf, size_t rest)
{
	ssize_t n = recv(r->fd, buf + r->size - rest, rest, MSG_WAITALL);

	if (n == (ssize_t)rest)
		strides_unpack(buf);
	return n;
}

ssize_t reader_receive(const struct reader *r, char *buf, size_t len, uint64_t at)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	size_t rest;

	switch (r->kind) {
	case WAITALL:
		return recv(r->fd, buf, len, MSG_WAITALL);
	case POLLED:
	case POLLED_BLOCKING:
		if (poll(&p, 1, -1) < 0)
			return -1;
		return recv(r->fd, buf, len, r->kind == POLLED ? MSG_DONTWAIT : 0);
	case MAPPED:
		if (poll(&p, 1, -1) < 0)
			return -1;
		return by_mapping(r->fd, buf, len);
	case PIECES:
		return in_pieces(r->fd, buf, len);
	case URING:
		return by_ring(r->fd, buf, len);
	case BODY:
		rest = rest_of_message(at, r->size);
		return recv(r->fd, buf, rest < len ? rest : len, 0);
	case UNPACKS:
		return in_columns(r, buf, r->size - at % r->size);
	case SCATTERS:
		return strides_scatter(r->fd, at % r->size, MSG_WAITALL);
	default:
		return recv(r->fd, buf, len, 0);
	}
}

void reader_end(void)
{
	if (ring_open)
		io_uring_queue_exit(&ring);
	ring_open = 0;
}

/* Each thread of the crowd. The last one that ends also wakes the waiter. */
static void *take(void *arg)
{
	struct crowd *c = arg;
	char *buf = malloc(c->room);
	ssize_t n;

	if (!buf)
		err(1, "no memory for a thread");
	do {
		n = recv(c->fd, buf, c->room, 0);
		pthread_mutex_lock(&c->lock);
		c->got += n > 0 ? n : 0;
		c->running -= n <= 0;
		if (c->got >= c->total || !c->running)
			pthread_cond_signal(&c->news);
		pthread_mutex_unlock(&c->lock);
	} while (n > 0);
	free(buf);
	return NULL;
}

void crowd_start(struct crowd *c, int fd, size_t room)
{
	*c = (struct crowd){ .fd = fd, .room = room, .total = UINT64_MAX, .running = CROWD };
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->news, NULL);
	for (int i = 0; i < CROWD; i++) {
		errno = pthread_create(&c->thread[i], NULL, take, c);
		if (errno)
			err(1, "thread for a reader");
	}
}

uint64_t crowd_await(struct crowd *c, uint64_t total)
{
	uint64_t got;

	pthread_mutex_lock(&c->lock);
	c->total = total;
	while (c->got < total && c->running)
		pthread_cond_wait(&c->news, &c->lock);
	got = c->got;
	pthread_mutex_unlock(&c->lock);
	return got;
}

void crowd_end(struct crowd *c)
{
	for (int i = 0; i < CROWD; i++)
		pthread_join(c->thread[i], NULL);
}
