// SPDX-License-Identifier: GPL-2.0
/*
 * A stream to a reader in a process of its own, which checks each byte.
 */
#include "flow.h"

/* Reads and checks all that comes. Returns what the last read() did, and in @at the length. */
ssize_t read_stream(const struct flow *f, long *at)
{
	static unsigned char buf[PATTERN_LARGEST];
	ssize_t n;

	close(f->out);
	for (*at = 0; (n = read(f->in, buf, sizeof(buf))) > 0; *at += n)
		pattern_check(*at, buf, n);
	return n;
}

/* The reader tells the writer how much has come. */
void flow_answer(const struct flow *f, long at)
{
	need(write(f->in, &at, sizeof(at)) == sizeof(at), "the answer: %s", errno_text(errno));
}

static void read_to_end(void *arg)
{
	const struct flow *f = arg;
	long at;
	ssize_t n = read_stream(f, &at);

	need_errno(!n, "read");
	flow_answer(f, at);
}

/* @reader is what the process at the other end does. */
struct flow flow_to(struct pair p, bool back, void (*reader)(void *f))
{
	struct flow f = { .p = p, .out = back ? p.s : p.c, .in = back ? p.c : p.s };

	counters_mark();
	f.reader = helper_start(reader, &f);
	close(f.in);
	return f;
}

struct flow flow_of(struct pair p, bool back)
{
	return flow_to(p, back, read_to_end);
}

struct flow flow_begin(bool back)
{
	return flow_of(pair_make(), back);
}

void flow_more(struct flow *f, long len)
{
	pattern_write(f->out, f->at, len);
	f->at += len;
}

/* Sends until as many rails as that have joined, or been lost, at both ends together. */
void flow_until(struct flow *f, const char *what, long long want)
{
	long end = now_ms() + 1000 * patience(30);

	while (since_mark(what) < want) {
		flow_more(f, CHUNK);
		need(now_ms() < end, "%s is %lld of %lld after %ld bytes", what, since_mark(what),
		     want, f->at);
	}
}

/* Ends the stream. All bytes have arrived when the reader says how many. */
void flow_over(const struct flow *f)
{
	long got;

	need_errno(!shutdown(f->out, SHUT_WR), "shutdown");
	recv_all(f->out, &got, sizeof(got));
	need(got == f->at, "%ld bytes of %ld have arrived", got, f->at);
}

void flow_end(struct flow *f)
{
	flow_over(f);
	helper_end(f->reader);
	close(f->out);
}
