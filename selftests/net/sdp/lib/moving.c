// SPDX-License-Identifier: GPL-2.0
#include "moving.h"

/* Makes a connection that goes this @way. */
struct pair pair_for(enum route way, long *at)
{
	setting_set("scan_ms", NO_SCAN_MS);
	setting_set("rdma_read", way != WRITE_ONLY);
	/* If a larger write is declined, its rest in messages may count as small writes. */
	if (way != READ)
		return pair_pipelined(1 << 16, at);
	setting_set("mode_after", NEVER);
	*at = 0;
	return pair_make();
}

void pair_close(const struct pair *p)
{
	close(p->c);
	close(p->s);
	await_unpinned();
}

/* Number of bytes that have gone by RDMA, either way. */
long long moved(void)
{
	return counter("RdmaReadBytes") + counter("RdmaWriteBytesByPeer");
}

void need_moved(enum route way, long long read, long long placed, long n)
{
	read = counter("RdmaReadBytes") - read;
	placed = counter("RdmaWriteBytesByPeer") - placed;
	if (way == READ)
		need(read >= n - FIRST && !placed, "%lld of %ld bytes read, %lld written", read, n,
		     placed);
	else
		need(placed == n && !read, "%lld of %ld bytes written, %lld read", placed, n, read);
}

void reading_for(struct reading *r, enum route way, int fd, unsigned char *to, long len)
{
	if (way == READ)
		reading_begin(r, fd, to, len, MSG_WAITALL);
	else
		reading_post(r, fd, to, len, MSG_WAITALL);
}

/* The connection works: sends something small, both ways. */
void lives(const struct pair *p, long at)
{
	send_all(p->c, pattern(at), SMALL);
	pattern_read(p->s, at, SMALL, SMALL);
	send_all(p->s, pattern(at), SMALL);
	pattern_read(p->c, at, SMALL, SMALL);
}

void *writes(void *arg)
{
	struct writing *w = arg;
	struct msghdr msg = { .msg_iov = w->iov, .msg_iovlen = w->pieces };

	w->n = sendmsg(w->fd, &msg, MSG_NOSIGNAL);
	w->error = errno;
	return NULL;
}

void writing_begin(struct writing *w, int fd)
{
	w->fd = fd;
	need(!pthread_create(&w->thread, NULL, writes, w), "pthread_create");
}

void writing_end(struct writing *w, ssize_t n)
{
	pthread_join(w->thread, NULL);
	need(w->n == n, "sendmsg: %zd instead of %zd, %s", w->n, n, errno_text(w->error));
}

/*
 * Begins to write from the window of @m. When await_srcavail() returns, the pages are pinned, and
 * stay pinned until the peer reads.
 */
void writing_start(struct writing *w, int fd, const struct memory *m, long len)
{
	*w = (struct writing){ .iov = { { window(m), len } }, .pieces = 1 };
	writing_begin(w, fd);
}

void await_srcavail(int fd, long len)
{
	need(await_bytes(fd, len) >= len, "only %d bytes can be read", queued_bytes(fd));
}
