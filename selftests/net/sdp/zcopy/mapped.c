// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_ZEROCOPY_RECEIVE: what RDMA has brought is mapped into the reader's memory, and not copied.
 *
 * A program that uses it for TCP gets the same bytes by SDP. What has been mapped stays as it is
 * until the program unmaps it, or maps something else there.
 */
#include <setjmp.h>

#include "killing.h"
#include "reading.h"
#include "receive.h"

#define PIECE	(1 << 18)
#define PAGE	4096L

#define CLEAN	1		/* TCP_RECEIVE_ZEROCOPY_FLAG_TLB_CLEAN_HINT */

static bool clean_hint;

/*
 * Gets some of the next @len bytes of the stream from @at on: maps pages at @to, or reads what
 * cannot be mapped. Returns the number of bytes, and in *mapped how many of them have been mapped.
 */
static long take(int fd, unsigned char *to, long at, long len, long *mapped)
{
	static unsigned char buf[PATTERN_LARGEST];
	struct receive r = { .address = (unsigned long)to, .length = len,
			     .flags = clean_hint ? CLEAN : 0 };
	ssize_t n;

	need(poll_for(fd, POLLIN, WAIT_MS), "nothing at byte %ld", at);
	need_errno(!receive(fd, &r), "TCP_ZEROCOPY_RECEIVE");
	need(r.length <= len, "%u bytes mapped of %ld", r.length, len);
	pattern_check(at, to, r.length);
	*mapped = r.length;
	if (r.length || !r.skip)
		return r.length;
	n = recv(fd, buf, r.skip < len ? r.skip : len, MSG_DONTWAIT);
	need(n > 0, "recv of %u bytes: %zd, %s", r.skip, n, errno_text(errno));
	pattern_check(at, buf, n);
	return n;
}

/* Reads @len bytes of the stream from @at on. Returns how many of them have been mapped. */
static long take_all(int fd, unsigned char *to, long at, long len)
{
	long end = at + len, all = 0, mapped;

	while (at < end) {
		at += take(fd, to, at, end - at < PIECE ? end - at : PIECE, &mapped);
		all += mapped;
	}
	return all;
}

static void reads_mapped(void *arg)
{
	const struct pattern_reader *r = arg;

	close(r->other);
	printf("# %ld of %ld bytes mapped\n",
	       take_all(r->fd, receive_window(r->fd, PIECE), 0, r->len), r->len);
}

static void make_roomy(const struct pair *p)
{
	int size = 1 << 20;

	need_errno(!setsockopt(p->c, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)),
		   "SO_SNDBUFFORCE");
}

/* Writes the stream by large calls that do not wait. */
static void write_nowait(int fd, long len)
{
	long at = 0;
	ssize_t n;

	while (at < len) {
		n = send(fd, pattern(at), PIECE, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			poll_for(fd, POLLOUT, WAIT_MS);
		else
			at += n;
	}
}

/* What has come by loopback is in no pages of its own. */
static int stream(void *arg)
{
	struct pair p = pair_make();
	struct pattern_reader r = { p.s, p.c, (slow_kernel() ? 12 : 40) * (long)PIECE, 0, 0 };
	bool by_rdma = set == &addrsets[SET_RC4] || set == &addrsets[SET_RC6];
	pid_t pid;

	make_roomy(&p);
	counters_mark();
	pid = helper_start(reads_mapped, &r);
	write_nowait(p.c, r.len);
	helper_end(pid);
	if (use_sdp && by_rdma)
		need(since_mark("BytesMapped") > r.len / 4 * 3, "%lld bytes mapped",
		     since_mark("BytesMapped"));
	else if (use_sdp)
		need(!since_mark("BytesMapped"), "%lld bytes mapped", since_mark("BytesMapped"));
	return EXIT_OK;
}

static void fails(int fd, struct receive r, socklen_t size, int error, const char *what)
{
	need(receive_sized(fd, &r, size) < 0 && errno == error, "%s: %s", what, errno_text(errno));
}

static int refused(void *arg)
{
	struct addr where;
	int listening = listener(1, &where);
	struct pair p = pair_make();
	unsigned char *to = receive_window(p.s, PIECE), *own = malloc(PIECE);
	struct receive good = { .address = (unsigned long)to, .length = PIECE };
	struct receive bad = good;
	char larger[sizeof(good) + 8] = "";
	socklen_t size = sizeof(larger);

	/* TCP looks for the mapping when there is a page to map. */
	send_all(p.c, pattern(0), 10000);
	need(await_bytes(p.s, 10000) == 10000, "%d bytes have come", queued_bytes(p.s));
	bad.address += 8;
	fails(p.s, bad, sizeof(bad), EINVAL, "an unaligned address");
	bad.address = 0;
	fails(p.s, bad, sizeof(bad), EINVAL, "nothing mapped there");
	bad.address = (unsigned long)(own + PAGE - 1) & -PAGE;
	fails(p.s, bad, sizeof(bad), EINVAL, "other memory");
	bad = good;
	bad.reserved = 1;
	fails(p.s, bad, sizeof(bad), EINVAL, "a reserved field");
	fails(p.s, good, 11, EINVAL, "too short");
	memcpy(larger, &good, sizeof(good));
	larger[sizeof(good) + 3] = 1;
	need(getsockopt(p.s, SOL_TCP, TCP_ZEROCOPY_RECEIVE, larger, &size) < 0 &&
	     errno == EINVAL, "unknown fields: %s", errno_text(errno));
	larger[sizeof(good) + 3] = 0;
	need_errno(!getsockopt(p.s, SOL_TCP, TCP_ZEROCOPY_RECEIVE, larger, &size), "more room");
	need(size == sizeof(good), "%u bytes", size);
	fails(listening, good, sizeof(good), ENOTCONN, "a listener");
	need(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, p.s, 0) == MAP_FAILED &&
	     errno == EPERM, "writable: %s", errno_text(errno));
	need(mmap(NULL, PIECE, PROT_READ | PROT_EXEC, MAP_SHARED, p.s, 0) == MAP_FAILED &&
	     errno == EPERM, "executable: %s", errno_text(errno));
	need(mprotect(to, PIECE, PROT_READ | PROT_WRITE) < 0 && errno == EACCES,
	     "writable later: %s", errno_text(errno));
	return EXIT_OK;
}

/* What is too little to map is copied, if the program has given memory for it. */
static int copied(void *arg)
{
	const long len = 3 * PAGE;
	static unsigned char buf[PAGE];
	struct pair p = pair_make();
	struct receive r = {
		.address = (unsigned long)receive_window(p.s, PIECE), .length = PIECE,
		.copybuf_address = (unsigned long)buf, .copybuf_len = sizeof(buf),
	};

	send_all(p.c, pattern(0), 1000);
	need(await_bytes(p.s, 1000) == 1000, "%d bytes have come", queued_bytes(p.s));
	need_errno(!receive(p.s, &r), "TCP_ZEROCOPY_RECEIVE");
	need(!r.length && !r.skip && r.copybuf_len == 1000 && !r.inq,
	     "%u mapped, %u to skip, %d copied, %u left", r.length, r.skip, r.copybuf_len, r.inq);
	pattern_check(0, buf, 1000);
	/* There is no room for a page, so all of it is to be read. */
	send_all(p.c, pattern(0), len);
	need(await_bytes(p.s, len) == len, "%d bytes have come", queued_bytes(p.s));
	r.length = PAGE / 2;
	r.copybuf_len = 0;
	need_errno(!receive(p.s, &r), "with room for half a page");
	need(!r.length && r.skip, "%u mapped, %u to skip", r.length, r.skip);
	pattern_read(p.s, 0, len, PAGE);
	return EXIT_OK;
}

/* Without room for a copy, the call says how much to read. At the end of the stream it fails. */
static int ended(void *arg)
{
	struct pair p = pair_make();
	struct receive r = {
		.address = (unsigned long)receive_window(p.s, PIECE), .length = PIECE,
	};

	need_errno(!receive(p.s, &r), "with nothing there");
	need(!r.length && !r.skip, "%u mapped, %u to skip of nothing", r.length, r.skip);
	send_all(p.c, pattern(0), 1000);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	need(await_bytes(p.s, 1000) == 1000, "%d bytes have come", queued_bytes(p.s));
	r.length = PIECE;
	need_errno(!receive(p.s, &r), "with 1000 bytes");
	need(!r.length && r.skip == 1000, "%u mapped, %u to skip", r.length, r.skip);
	pattern_read(p.s, 0, 1000, 1000);
	need(poll_for(p.s, POLLIN, WAIT_MS), "no end");
	r.length = PIECE;
	need(receive(p.s, &r) < 0 && errno == EIO, "at the end: %s", errno_text(errno));
	return EXIT_OK;
}

/* Writes @len bytes from @at on. Returns when they have been advertised, or sent. */
static void write_background(int fd, long at, long len)
{
	need_errno(send(fd, pattern(at), len, MSG_DONTWAIT | MSG_NOSIGNAL) == len, "send");
}

#define WINDOWS	24

/* No mapped page changes, and none is lost when the socket is closed. */
static int kept(void *arg)
{
	struct pair p = pair_make();
	long at[WINDOWS], mapped[WINDOWS], before, pos = 0, n;
	unsigned char *to[WINDOWS];
	int i, j;

	make_roomy(&p);
	/* Nothing is declined, however late the reader is. */
	setting_set("scan_ms", NO_SCAN_MS);
	before = memory_free();
	for (i = 0; i < WINDOWS; i++) {
		to[i] = receive_window(p.s, PIECE);
		write_background(p.c, pos, PIECE);
		for (j = 0; j < PIECE; j += n) {
			n = take(p.s, to[i], pos + j, PIECE - j, &mapped[i]);
			if (mapped[i])
				break;
		}
		at[i] = pos + j;
		need(mapped[i] > PIECE / 2, "%ld bytes mapped in window %d", mapped[i], i);
		pos += PIECE;
		pattern_read(p.s, at[i] + mapped[i], pos - at[i] - mapped[i], PIECE);
	}
	for (i = 0; i < WINDOWS; i++)
		pattern_check(at[i], to[i], mapped[i]);
	close(p.s);
	close(p.c);
	for (i = 0; i < WINDOWS; i++) {
		pattern_check(at[i], to[i], mapped[i]);
		need_errno(!munmap(to[i], PIECE), "munmap");
	}
	await_memory(before, 16L * PIECE);
	return EXIT_OK;
}

/* Maps some of the next PIECE bytes, and reads the others. Returns where in *at it has mapped. */
static long map_some(const struct pair *p, unsigned char *to, long pos, long *at)
{
	long mapped = 0, n;

	write_background(p->c, pos, PIECE);
	for (*at = pos; !mapped; *at += mapped ? 0 : n)
		n = take(p->s, to, *at, pos + PIECE - *at, &mapped);
	pattern_read(p->s, *at + mapped, pos + PIECE - *at - mapped, PIECE);
	return mapped;
}

/* Pages that are in a pipe when the program maps others in their place do not change either. */
static int in_a_pipe(void *arg)
{
	static unsigned char buf[PIECE];
	struct pair p = pair_make();
	unsigned char *to = receive_window(p.s, PIECE);
	struct iovec iov = { to, 4 * PAGE };
	long at, last = 0;
	int pipes[2], i;

	/* Nothing is declined, however late the reader is. */
	setting_set("scan_ms", NO_SCAN_MS);
	make_roomy(&p);
	need_errno(!pipe(pipes), "pipe");
	for (i = 0; i < 12; i++, last = at) {
		need(map_some(&p, to, i * (long)PIECE, &at) >= 4 * PAGE, "little is mapped");
		if (i)
			need_errno(read(pipes[0], buf, 4 * PAGE) == 4 * PAGE, "read a pipe");
		need_errno(vmsplice(pipes[1], &iov, 1, 0) == 4 * PAGE, "vmsplice");
		if (i)
			pattern_check(last, buf, 4 * PAGE);
	}
	return EXIT_OK;
}

/* The mapping of another socket will do, but not one of a file. */
static int elsewhere(void *arg)
{
	struct pair p = pair_make(), other = pair_make();
	struct receive r = { .length = PIECE };
	int file = pattern_file(PIECE);

	/* Nothing is declined, however late the reader is. */
	setting_set("scan_ms", NO_SCAN_MS);
	make_roomy(&p);
	write_background(p.c, 0, PIECE);
	need(take_all(p.s, receive_window(other.s, PIECE), 0, PIECE) > PIECE / 2, "not mapped");
	send_all(p.c, pattern(0), 10000);
	need(await_bytes(p.s, 10000) == 10000, "%d bytes have come", queued_bytes(p.s));
	r.address = (unsigned long)mmap(NULL, PIECE, PROT_READ, MAP_SHARED, file, 0);
	need(receive(p.s, &r) < 0 && errno == EINVAL, "a file's: %s", errno_text(errno));
	pattern_read(p.s, 0, 10000, 10000);
	return EXIT_OK;
}

struct mapper {
	struct pair p;
	unsigned char *to;
	_Atomic bool over;
};

static void *remaps(void *arg)
{
	struct mapper *m = arg;

	while (!m->over) {
		munmap(m->to, PIECE);
		need_errno(mmap(m->to, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, m->p.s, 0) ==
			   m->to, "mmap");
	}
	return NULL;
}

/* Another thread unmaps and maps the window all the time: no byte is lost or comes twice. */
static int remapped(void *arg)
{
	struct mapper m = { .p = pair_make() };
	struct receive r;
	long at, sent, end = scaled(80) * (long)PIECE;
	static unsigned char buf[PATTERN_LARGEST];
	pthread_t thread;
	ssize_t n;

	make_roomy(&m.p);
	m.to = receive_window(m.p.s, PIECE);
	need(!pthread_create(&thread, NULL, remaps, &m), "pthread_create");
	for (at = 0, sent = 0; at < end;) {
		n = send(m.p.c, pattern(sent), PIECE, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += n > 0 ? n : 0;
		r = (struct receive){ .address = (unsigned long)m.to, .length = PIECE };
		if (receive(m.p.s, &r)) {
			need_errno(errno == EINVAL, "TCP_ZEROCOPY_RECEIVE");
			continue;
		}
		at += r.length;
		n = r.skip ? recv(m.p.s, buf, r.skip, MSG_DONTWAIT) : 0;
		if (n > 0) {
			pattern_check(at, buf, n);
			at += n;
		}
	}
	m.over = true;
	pthread_join(thread, NULL);
	return EXIT_OK;
}

/* The program maps the socket before it is connected, and its child uses the mapping. */
static void child_reads(void *arg)
{
	const struct pattern_reader *r = arg;
	unsigned char *to = (unsigned char *)(unsigned long)r->piece;

	need(take_all(r->fd, to, 0, r->len) > r->len / 2, "not mapped");
}

static int mapped_early(void *arg)
{
	struct addr where;
	int fd = listener(1, &where), client = fresh(0), size = 1 << 20;
	unsigned char *to = receive_window(client, PIECE);
	struct pattern_reader r = { client, -1, 8L * PIECE, (unsigned long)to, 0 };
	struct pair p = { .s = client };
	pid_t pid;

	connect_to(client, &where);
	p.c = accept_from(fd);
	set_int(p.c, SOL_SOCKET, SO_SNDBUFFORCE, size);
	pid = helper_start(child_reads, &r);
	write_nowait(p.c, r.len);
	helper_end(pid);
	return EXIT_OK;
}

/* The program says that nothing is mapped, which is wrong. */
static int not_clean(void *arg)
{
	struct pair p = pair_make();
	unsigned char *to = receive_window(p.s, PIECE);
	long at, pos, mapped;

	make_roomy(&p);
	clean_hint = true;
	for (pos = 0; pos < 4L * PIECE; pos += PIECE) {
		mapped = map_some(&p, to, pos, &at);
		pattern_check(at, to, mapped);
	}
	return EXIT_OK;
}

static sigjmp_buf faulted;

static void on_fault(int sig)
{
	siglongjmp(faulted, sig);
}

struct inherited {
	unsigned char *to;
	long at, mapped;
	int told[2];
};

/* A child has its parent's pages until the parent maps others at that place. */
static void looks(void *arg)
{
	struct inherited *i = arg;
	char byte;

	pattern_check(i->at, i->to, i->mapped);
	need_errno(write(i->told[1], "", 1) == 1 && read(i->told[1], &byte, 1) == 1, "tell");
	signal(SIGBUS, on_fault);
	if (!sigsetjmp(faulted, 1)) {
		byte = *(volatile unsigned char *)i->to;
		need(false, "there is a page: %d", byte);
	}
}

static int inherited(void *arg)
{
	struct pair p = pair_make();
	struct inherited i = { .to = receive_window(p.s, PIECE) };
	long at, mapped;
	char byte;
	pid_t pid;

	need_errno(!socketpair(AF_UNIX, SOCK_STREAM, 0, i.told), "socketpair");
	make_roomy(&p);
	i.mapped = map_some(&p, i.to, 0, &i.at);
	pid = helper_start(looks, &i);
	need_errno(read(i.told[0], &byte, 1) == 1, "await the child");
	mapped = map_some(&p, i.to, PIECE, &at);
	need_errno(write(i.told[0], "", 1) == 1, "tell the child");
	helper_end(pid);
	pattern_check(at, i.to, mapped);
	return EXIT_OK;
}

static void maps_on(void *arg)
{
	const struct pair *p = arg;
	struct receive r;
	static char buf[PIECE];
	unsigned char *to = receive_window(p->s, PIECE);

	close(p->c);
	for (;;) {
		poll_for(p->s, POLLIN, WAIT_MS);
		r = (struct receive){ .address = (unsigned long)to, .length = PIECE };
		if (receive(p->s, &r) || r.err)
			return;
		if (!r.length && recv(p->s, buf, r.skip ? r.skip : 1, MSG_DONTWAIT) == 0)
			return;
	}
}

static int killed(void *arg)
{
	struct talk talk = { endless_nowait.at_c, maps_on };

	talks_killed(&talk, scaled(100), 30, 112358);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "stream", stream, 60, ALL_SETS, .sdp_only = false, .arg = NULL },
	{ "refused", refused, 30, TWO_SETS, .sdp_only = false, .arg = NULL },
	{ "copied", copied, 30, TWO_SETS, .sdp_only = false, .arg = NULL },
	{ "ended", ended, 30, TWO_SETS, .sdp_only = false, .arg = NULL },
	CASE(kept, 60, RC),
	CASE(in_a_pipe, 30, RC),
	CASE(elsewhere, 30, RC),
	CASE(remapped, 60, RC),
	CASE(mapped_early, 30, RC),
	CASE(not_clean, 30, RC),
	CASE(inherited, 30, RC),
	CASE(killed, 90, RC),
};

PATTERN_MAIN(tests)
