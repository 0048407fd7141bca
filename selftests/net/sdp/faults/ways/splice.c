// SPDX-License-Identifier: GPL-2.0
/*
 * splice and sendfile, for sweeps over their allocations.
 *
 * What a call has moved before it got no memory stays moved; the rest is still where it was.
 */
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "splice.h"

/* A new ring has room for this. */
#define PIECE	10000

/* A pipe. In s->fd there is a file in which each byte of the stream is at its offset. */
static int ends[2];

void setup_splice(struct state *s)
{
	s->p = pair_make();
	need_errno(!pipe(ends), "pipe");
	s->fd = memfd_create("stream", 0);
	need_errno(s->fd >= 0, "memfd_create");
}

/* Bytes are copied from a ring into a pipe. */
void setup_ring_splice(struct state *s)
{
	setup_ring_rdma(s);
	need_errno(!pipe(ends), "pipe");
}

void prepare_splice_out(struct state *s)
{
	fill_data(s, PIECE);
	send_all(s->p.c, s->data, PIECE);
	s->sent += PIECE;
	need(await_bytes(s->p.s, PIECE) == PIECE, "not there");
	s->done = 0;
}

int run_splice_out(struct state *s)
{
	ssize_t n = splice(s->p.s, NULL, ends[1], NULL, s->sent - s->got, 0);

	need(n, "it has ended");
	if (n > 0)
		s->done = n;
	return n < 0 ? -1 : 0;
}

/* Checks what is in the pipe, and what is left in the socket. */
void after_splice_out(struct state *s)
{
	size_t n = s->done;

	need(read(ends[0], s->data, n) == (ssize_t)n, "read: %s", errno_text(errno));
	need_bytes(s->data, s->got, n);
	s->got += n;
	after_send(s);
}

/* Puts s->done bytes into the pipe. */
void prepare_splice_in(struct state *s)
{
	fill_data(s, PIECE);
	need(write(ends[1], s->data, PIECE) == PIECE, "write: %s", errno_text(errno));
	s->done = PIECE;
}

int run_splice_in(struct state *s)
{
	ssize_t n = splice(ends[0], NULL, s->p.c, NULL, s->done, 0);

	need(n, "nothing was moved");
	if (n < 0)
		return -1;
	s->sent += n;
	s->done -= n;
	return 0;
}

void after_splice_in(struct state *s)
{
	while (s->done)
		need_errno(!run_splice_in(s), "splice");
	after_send(s);
}

void prepare_sendfile(struct state *s)
{
	fill_data(s, PIECE);
	need(pwrite(s->fd, s->data, PIECE, s->sent) == PIECE, "pwrite: %s", errno_text(errno));
	s->done = PIECE;
}

int run_sendfile(struct state *s)
{
	off_t at = s->sent;
	ssize_t n = sendfile(s->p.c, s->fd, &at, s->done);

	need(n, "nothing was sent");
	if (n < 0)
		return -1;
	need(at == (off_t)s->sent + n, "it is at %ld", (long)at);
	s->sent += n;
	s->done -= n;
	return 0;
}

void after_sendfile(struct state *s)
{
	while (s->done)
		need_errno(!run_sendfile(s), "sendfile");
	after_send(s);
}
