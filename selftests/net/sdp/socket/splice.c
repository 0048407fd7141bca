// SPDX-License-Identifier: GPL-2.0
/*
 * splice, sendfile, vmsplice and tee on sockets: data that bypasses the program.
 */
#include "answers.h"
#include "info.h"
#include "mappings.h"
#include <sys/sendfile.h>

#define FILE_LEN	(3L << 20)
#define RC_SETS	(1u << SET_RC4)

struct pipe_ends {
	int out, in;		/* read from, written to */
};

/* A pipe with room for @pages pages, or of the default size if that is 0. */
static struct pipe_ends pipe_make(int pages)
{
	struct pipe_ends p;
	int fd[2];

	need_errno(!pipe(fd), "pipe");
	p = (struct pipe_ends){ fd[0], fd[1] };
	if (pages)
		need_errno(fcntl(p.in, F_SETPIPE_SZ, pages * PAGE) >= 0, "F_SETPIPE_SZ");
	return p;
}

static void pipe_close(struct pipe_ends p)
{
	close(p.out);
	close(p.in);
}

/* Sends bytes [@from, @from + @len) of a file to a socket, in calls of random lengths. */
static void send_file(int to, int file, long from, long len, unsigned int seed, long largest)
{
	off_t at = from;

	while (at < from + len) {
		long left = from + len - at, want = random_up_to(&seed, largest);
		off_t before = at;
		ssize_t n;

		if (want > left)
			want = left;
		n = sendfile(to, file, &at, want);
		need(n > 0, "sendfile of %ld bytes at %ld: %s", want, (long)before,
		     errno_text(errno));
		need(at == before + n && n <= want, "%zd bytes, but the offset moved by %ld", n,
		     (long)(at - before));
	}
}

/* Moves @len bytes through the pipe @p. */
static void splice_all(int from, int to, struct pipe_ends p, long len, long largest,
		       unsigned int flags)
{
	while (len) {
		ssize_t n = splice(from, NULL, p.in, NULL, len < largest ? len : largest, flags);
		ssize_t left;

		need_errno(n >= 0, "splice into the pipe");
		need(n, "the input ended, %ld bytes are missing", len);
		for (left = n; left;) {
			ssize_t m = splice(p.out, NULL, to, NULL, left, flags);

			need_errno(m > 0, "splice out of the pipe");
			left -= m;
		}
		len -= n;
	}
}

/* Bytes that AF_SDP has sent by reference; -1 on TCP, which does not count them. */
static long long referenced(void)
{
	return use_sdp ? counter("BytesReferenced") : -1;
}

/*
 * Returns whether messages have become longer than what two single pages fill. This does not happen
 * on loopback.
 */
static bool longer_than_pages(int fd)
{
	struct sdp_info info = info_of(fd);

	return strcmp(info.transport, "loop") && info.send_size > 2 * PAGE + 16;
}

/* From a file to a socket. @arg is the size of the largest call. */
static int sendfile_out(void *arg)
{
	long len = scaled(FILE_LEN), largest = (long)arg;
	struct pair p = pair_make();
	struct pattern_reader r = { .fd = p.s, .other = p.c, .len = len, .piece = 1 << 17 };
	pid_t reader = helper_start(pattern_reader_main, &r);
	int file = pattern_file(len);
	long long before = referenced();

	send_file(p.c, file, 0, len, 7, largest);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(reader);
	need(!use_sdp || largest < PAGE || longer_than_pages(p.c) ||
	     referenced() - before >= len * 9 / 10,
	     "only %lld of %ld bytes went without a copy", referenced() - before, len);
	close(file);
	return EXIT_OK;
}

/* Messages that stay short refer to the pages of the file. */
static int sendfile_refers(void *arg)
{
	setting_set("recv_buffer_max", 0);
	return sendfile_out(arg);
}

/* Single pages are copied into long messages; by reference they would make many short messages. */
static int sendfile_copies(void *arg)
{
	long long before = referenced();

	setting_set("recv_buffer_size", 65552);
	/* RDMA would move them from the file's pages (lent.c). */
	setting_set("rdma_threshold", 0);
	sendfile_out(arg);
	need(referenced() == before, "%lld bytes went by reference", referenced() - before);
	return EXIT_OK;
}

/* A large folio is one piece, so its message can be as long as any. */
static int large_folios(void *arg)
{
	struct pipe_ends pipe = pipe_make(0);
	struct memory m;
	struct pair p;
	long long before;
	long at;

	if (!map_transparent(&m))
		return EXIT_SKIPPED;
	setting_set("recv_buffer_size", 65552);
	p = pair_make();
	before = referenced();
	memcpy(m.base, pattern(0), PATTERN_LARGEST);
	for (at = 0; at < PATTERN_LARGEST; at += 16 * PAGE) {
		struct iovec iov = { m.base + at, 16 * PAGE };

		need_errno(vmsplice(pipe.in, &iov, 1, 0) == 16 * PAGE, "vmsplice");
		need_errno(splice(pipe.out, NULL, p.c, NULL, 16 * PAGE, 0) == 16 * PAGE, "splice");
		pattern_read(p.s, at, 16 * PAGE, 16 * PAGE);
	}
	need(referenced() - before >= PATTERN_LARGEST * 9 / 10, "only %lld bytes went by reference",
	     referenced() - before);
	pipe_close(pipe);
	unmap(&m);
	return EXIT_OK;
}

/* Offsets and lengths around the boundaries of pages and messages. */
static int sendfile_borders(void *arg)
{
	static const int places[] = { 0, 1, 255, 256, 1519, 1520, 1521, 4095, 4096, 4097, 8192 };
	struct pair p = pair_make();
	int file = pattern_file(4 * PAGE);
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		for (j = 1; j < ARRAY_SIZE(places); j++) {
			off_t at = places[i];
			ssize_t n = sendfile(p.c, file, &at, places[j]);

			need(n == places[j], "sendfile: %zd instead of %d", n, places[j]);
			pattern_read(p.s, places[i], n, 1 << 16);
		}
	}
	/*
	 * Beyond the end of the file there is nothing, and a call that crosses the end stops there.
	 */
	need(sendfile(p.c, file, &(off_t){ 4 * PAGE }, 10) == 0, "bytes behind the end");
	need(sendfile(p.c, file, &(off_t){ 4 * PAGE - 10 }, 100) == 10, "not the last 10 bytes");
	pattern_read(p.s, 4 * PAGE - 10, 10, 100);
	return EXIT_OK;
}

struct sender {
	int fd, other;
	long len;
};

static void sender_main(void *arg)
{
	struct sender *s = arg;

	close(s->other);
	pattern_write(s->fd, 0, s->len);
	need_errno(!shutdown(s->fd, SHUT_WR), "shutdown");
	need(read(s->fd, &(char){ 0 }, 1) == 0, "not the end");
}

/* From a socket through a pipe into a file. @arg is the size of the pipe in pages. */
static int splice_in(void *arg)
{
	long len = scaled(FILE_LEN);
	struct pair p = pair_make();
	struct sender s = { .fd = p.c, .other = p.s, .len = len };
	pid_t sender = helper_start(sender_main, &s);
	struct pipe_ends pipe = pipe_make((long)arg);
	int file = memfd_create("copy", 0);

	need_errno(file >= 0, "memfd_create");
	close(p.c);
	splice_all(p.s, file, pipe, len, 1 << 18, SPLICE_F_MOVE);
	need(splice(p.s, NULL, pipe.in, NULL, 100, 0) == 0, "no end of stream");
	close(p.s);
	helper_end(sender);
	need(lseek(file, 0, SEEK_SET) == 0, "lseek");
	pattern_read(file, 0, len, PATTERN_LARGEST);
	close(file);
	pipe_close(pipe);
	return EXIT_OK;
}

/* A proxy: from a socket through a pipe to another socket, without a copy in user space. */
static int proxy(void *arg)
{
	long len = scaled(FILE_LEN);
	struct pair in = pair_make(), out = pair_make();
	struct sender s = { .fd = in.c, .other = in.s, .len = len };
	struct pattern_reader r = { .fd = out.s, .other = out.c, .len = len, .piece = 1 << 15 };
	pid_t sender, reader;
	struct pipe_ends pipe = pipe_make((long)arg);

	sender = helper_start(sender_main, &s);
	reader = helper_start(pattern_reader_main, &r);
	close(in.c);
	close(out.s);
	splice_all(in.s, out.c, pipe, len, 1 << 16, SPLICE_F_MOVE | SPLICE_F_MORE);
	need_errno(!shutdown(out.c, SHUT_WR), "shutdown");
	helper_end(reader);
	close(in.s);
	helper_end(sender);
	pipe_close(pipe);
	return EXIT_OK;
}

/*
 * Data in a pipe does not change while the connection continues: a buffer with pages in a pipe must
 * not be used for a receive again.
 */
static int pages_held(void *arg)
{
	enum { HELD = 3000, ROUNDS = 40 };
	struct pair p = pair_make();
	struct pipe_ends pipes[8];
	long at = 0, held[8];
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(pipes); i++) {
		pipes[i] = pipe_make(0);
		pattern_write(p.c, at, HELD);
		need(await_bytes(p.s, HELD) == HELD, "not all has come");
		held[i] = splice(p.s, NULL, pipes[i].in, NULL, HELD, 0);
		need(held[i] > 0, "splice: %s", errno_text(errno));
		pattern_read(p.s, at + held[i], HELD - held[i], HELD);
		at += HELD;
	}
	for (n = 0; n < ROUNDS; n++) {
		static const char zeros[20000];
		char buf[20000];

		send_all(p.c, zeros, sizeof(zeros));
		recv_all(p.s, buf, sizeof(buf));
	}
	for (i = 0; i < ARRAY_SIZE(pipes); i++) {
		pattern_read(pipes[i].out, i * (long)HELD, held[i], HELD);
		pipe_close(pipes[i]);
	}
	/* The connection has ended, the pages are still in the pipe. */
	pipes[0] = pipe_make(0);
	pattern_write(p.c, 0, HELD);
	need(await_bytes(p.s, HELD) == HELD, "not all has come");
	held[0] = splice(p.s, NULL, pipes[0].in, NULL, HELD, 0);
	close(p.s);
	close(p.c);
	pattern_read(pipes[0].out, 0, held[0], HELD);
	return EXIT_OK;
}

/* User memory as pages of a pipe, and from there to a socket. Some pieces are very small. */
static int vmsplice_out(void *arg)
{
	enum { LEN = 64 * PAGE };
	struct pipe_ends pipe = pipe_make(0);
	unsigned char *mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
	struct pair p = pair_make();
	unsigned int seed = 3;
	long at = 0;

	need(mem != MAP_FAILED, "mmap");
	memcpy(mem, pattern(0), LEN);
	while (at < LEN) {
		long len = next_random(&seed) % 4 ? random_up_to(&seed, 5 * PAGE) :
						    random_up_to(&seed, 300);
		struct iovec iov = { mem + at, len < LEN - at ? len : LEN - at };
		ssize_t n = vmsplice(pipe.in, &iov, 1, 0);

		need(n > 0, "vmsplice: %s", errno_text(errno));
		need(splice(pipe.out, NULL, p.c, NULL, n, 0) == n, "splice: %s",
		     errno_text(errno));
		pattern_read(p.s, at, n, LEN);
		at += n;
	}
	pipe_close(pipe);
	return EXIT_OK;
}

/* tee() of one input to two readers. */
static int tee_in(void *arg)
{
	enum { LEN = 12000 };
	struct pipe_ends first = pipe_make(0), second = pipe_make(0);
	struct pair p = pair_make(), to = pair_make();
	long at, n;

	pattern_write(p.c, 0, LEN);
	for (at = 0; at < LEN; at += n) {
		n = splice(p.s, NULL, first.in, NULL, LEN - at, 0);
		need(n > 0, "splice: %s", errno_text(errno));
		need(tee(first.out, second.in, n, 0) == n, "tee: %s", errno_text(errno));
		pattern_read(first.out, at, n, LEN);
		need(splice(second.out, NULL, to.c, NULL, n, 0) == n, "splice to a socket");
		pattern_read(to.s, at, n, LEN);
	}
	return EXIT_OK;
}

/* Connections with other message sizes. */
static int message_sizes(void *arg)
{
	static const long sizes[] = { 256, 4096, 16384, 65536 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		setting_set("recv_buffer_size", sizes[i]);
		sendfile_out((void *)(long)(1 << 18));
		sendfile_borders(NULL);
		splice_in((void *)16);
		pages_held(NULL);
		vmsplice_out(NULL);
		settings_reset();
	}
	return EXIT_OK;
}

/*
 * Slow or absent readers: a non-blocking sendfile takes what there is room for, then returns
 * EAGAIN.
 */
static int sendfile_nonblocking(void *arg)
{
	int file = pattern_file(1 << 20);
	struct pair p = pair_sized(32768);
	long at = 0, total = 3 << 20;
	bool full = false;
	off_t off = 0;

	set_nonblock(p.c, true);
	while (at < total) {
		ssize_t n = sendfile(p.c, file, &off, 100000);

		if (n > 0)
			continue;
		need(n == 0 || errno == EAGAIN, "sendfile: %s", errno_text(errno));
		full |= n < 0;
		if (!n)
			off = 0;
		/*
		 * The file is sent repeatedly; the position in the stream follows from what was
		 * read.
		 */
		while (at < total && queued_bytes(p.s) > 0) {
			/* More data may arrive between two calls of queued_bytes(). */
			long part = (1 << 20) - at % (1 << 20), queued = queued_bytes(p.s);

			if (part > queued)
				part = queued;
			pattern_read(p.s, at % (1 << 20), part, part);
			at += part;
		}
		/*
		 * Data that arrived meanwhile may have filled the reader's buffer: then the reader
		 * continues.
		 */
		if (at < total)
			need(poll_for(p.c, POLLOUT, WAIT_MS) || queued_bytes(p.s) > 0,
			     "no room to write any more, at %ld; unsent %d, now %d", at,
			     unsent_bytes(p.c), poll_for(p.c, POLLOUT, 0));
	}
	need(full, "never full");
	return EXIT_OK;
}

/* The peer of a reader that sleeps in splice(2): first bytes come, then the end. */
static void late_peer(void *arg)
{
	struct pair *p = arg;

	close(p->s);
	await_asleep(getppid());
	send_all(p->c, pattern(0), 5);
	await_asleep(getppid());
	shutdown(p->c, SHUT_WR);
	need(read(p->c, &(char){ 0 }, 1) == 0, "not the end");
}

static int splice_blocks(void *arg)
{
	struct pair p = pair_make();
	struct pipe_ends pipe = pipe_make(0);
	pid_t peer = helper_start(late_peer, &p);

	close(p.c);
	need(splice(p.s, NULL, pipe.in, NULL, 100, 0) == 5, "not the five bytes");
	need(splice(p.s, NULL, pipe.in, NULL, 100, 0) == 0, "not the end");
	pattern_read(pipe.out, 0, 5, 5);
	close(p.s);
	helper_end(peer);
	return EXIT_OK;
}

static void ask_reading(void)
{
	struct pipe_ends pipe = pipe_make(1), gone = pipe_make(0);
	int fd = fresh(0), listening = listener(1, NULL);
	struct pair p = pair_make();
	long long start;

	ASK(splice(fd, NULL, pipe.in, NULL, 10, 0));
	ASK(splice(listening, NULL, pipe.in, NULL, 10, 0));
	ASK(splice(p.s, &(off64_t){ 0 }, pipe.in, NULL, 10, 0));
	ASK(splice(p.s, NULL, pipe.in, NULL, 0, 0));
	set_nonblock(p.s, true);
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	set_nonblock(p.s, false);
	set_timeout(p.s, SO_RCVTIMEO, 300);
	start = now_ms();
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	answer("waited", now_ms() - start >= 150);
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, SPLICE_F_NONBLOCK));
	answer("waited, told not to", now_ms() - start >= 300);

	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 1000);
	send_all(p.c, pattern(0), 6000);
	need(await_bytes(p.s, 6000) == 6000, "not all has come");
	ASK(splice(p.s, NULL, pipe.in, NULL, 30, 0));
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, SPLICE_F_NONBLOCK));
	answer("left", queued_bytes(p.s));
	pattern_read(pipe.out, 0, 30, 30);
	close(gone.out);
	ASK(splice(p.s, NULL, gone.in, NULL, 10, 0));
	answer("left", queued_bytes(p.s));
	drain(p.s, 5970);
	shutdown(p.c, SHUT_WR);
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	close(p.c);
	close(p.s);

	p = pair_make();
	set_int(p.c, SOL_SOCKET, SO_RCVBUF, 4096);
	send_all(p.s, pattern(0), 100);
	need(await_bytes(p.c, 100) == 100, "nothing has come");
	close(p.c);	/* with unread data: a reset */
	need(poll_for(p.s, POLLERR, WAIT_MS), "no reset");
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
	close(p.s);
	p = pair_make();
	shutdown(p.s, SHUT_RD);
	ASK(splice(p.s, NULL, pipe.in, NULL, 10, 0));
}

static void ask_writing(void)
{
	struct pipe_ends pipe = pipe_make(0);
	int fd = fresh(0), listening = listener(1, NULL), file = pattern_file(10000);
	struct pair p = pair_make();

	ASK(sendfile(fd, file, &(off_t){ 0 }, 10));
	ASK(sendfile(listening, file, &(off_t){ 0 }, 10));
	ASK(sendfile(p.c, p.s, NULL, 10) < 0 ? -1 : 0);
	ASK(sendfile(p.c, file, &(off_t){ 0 }, 0));
	ASK(sendfile(p.c, file, &(off_t){ 9990 }, 100));
	ASK(write(pipe.in, pattern(0), 100));
	ASK(splice(pipe.out, NULL, fd, NULL, 10, 0));
	ASK(splice(pipe.out, NULL, p.c, &(off64_t){ 0 }, 10, 0));
	ASK(splice(pipe.out, NULL, p.c, NULL, 10, 0));
	ASK(splice(pipe.out, NULL, p.c, NULL, 1000, SPLICE_F_MORE));
	ASK(splice(pipe.out, NULL, p.c, NULL, 1000, SPLICE_F_NONBLOCK));
	answer("arrived", await_bytes(p.s, 110));
	ASK(write(pipe.in, pattern(0), 100));
	shutdown(p.c, SHUT_WR);
	ASK(sendfile(p.c, file, &(off_t){ 0 }, 10));
	ASK(splice(pipe.out, NULL, p.c, NULL, 10, 0));
	answer("in the pipe", queued_bytes(pipe.out));
	close(p.s);
	close(p.c);
	p = pair_make();
	send_all(p.c, pattern(0), 10);
	need(await_bytes(p.s, 10) == 10, "nothing has come");
	close(p.s);
	need(poll_for(p.c, POLLERR, WAIT_MS), "no reset");
	ASK(sendfile(p.c, file, &(off_t){ 0 }, 10));
	ASK(sendfile(p.c, file, &(off_t){ 0 }, 10));
	close(p.c);
	close(file);
}

static void ask_everything(void)
{
	ask_reading();
	ask_writing();
}

/* Every return value and errno is as with TCP. */
static int as_tcp(void *arg)
{
	return answers_compare(ask_everything);
}

#define TINY_BUFFER	4096

/*
 * Small buffers at both ends hold back a sendfile of 256 KiB, and a copied write likewise, until
 * the peer reads. A peer that reads a little and closes ends it with an error. @arg: copied write
 */
static int little_room(void *arg)
{
	const long len = 256 << 10;
	int file = pattern_file(len), error = 0;
	struct pair p = pair_sized(TINY_BUFFER);
	long long end = now_ms() + WAIT_MS;
	static char block[256 << 10];
	long sent = 0;
	ssize_t n;

	set_nonblock(p.c, true);
	do {
		off_t at = sent;

		n = arg ? send(p.c, block, len - sent, MSG_NOSIGNAL) :
			  sendfile(p.c, file, &at, len - sent);
		if (n > 0)
			sent += n;
		need(sent < len, "all of it fits");
	} while (n > 0 || poll_for(p.c, POLLOUT, quiet_ms()));
	need(errno == EAGAIN, "%s", errno_text(errno));
	printf("# %ld bytes taken\n", sent);
	drain(p.s, 1024);
	close(p.s);
	while (!error && now_ms() < end) {
		n = arg ? send(p.c, block, 4096, MSG_NOSIGNAL) :
			  sendfile(p.c, file, &(off_t){ sent }, 4096);
		if (n < 0 && errno != EAGAIN)
			error = errno;
		else
			sent = (sent + (n > 0 ? n : 0)) % (len - 4096);
	}
	need(error == EPIPE || error == ECONNRESET, "at the end: %s", errno_text(error));
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "as_tcp", as_tcp, 20, ALL_SETS, .arg = NULL },
	{ "sendfile_out", sendfile_out, 20, ALL_SETS, .arg = (void *)(1L << 18) },
	{ "sendfile_refers", sendfile_refers, 20, RC_SETS, .sdp_only = true,
	  .arg = (void *)(1L << 18) },
	{ "sendfile_copies", sendfile_copies, 20, RC_SETS, .sdp_only = true,
	  .arg = (void *)(1L << 18) },
	{ "large_folios", large_folios, 20, RC_SETS, .sdp_only = true, .arg = NULL },
	{ "sendfile_small_calls", sendfile_out, 20, V4_SETS, .arg = (void *)3000L },
	{ "sendfile_borders", sendfile_borders, 20, V4_SETS, .arg = NULL },
	{ "sendfile_nonblocking", sendfile_nonblocking, 30, V4_SETS, .arg = NULL },
	{ "little_room", little_room, 30, V4_SETS, .arg = NULL },
	{ "little_room_copied", little_room, 30, V4_SETS, .arg = (void *)1L },
	{ "splice_in", splice_in, 20, ALL_SETS, .arg = (void *)0L },
	{ "splice_in_tiny_pipe", splice_in, 30, V4_SETS, .arg = (void *)1L },
	{ "proxy", proxy, 30, V4_SETS, .arg = (void *)0L },
	{ "proxy_tiny_pipe", proxy, 40, V4_SETS, .arg = (void *)1L },
	{ "pages_held", pages_held, 20, V4_SETS, .arg = NULL },
	{ "splice_blocks", splice_blocks, 20, V4_SETS, .arg = NULL },
	{ "vmsplice_out", vmsplice_out, 20, V4_SETS, .arg = NULL },
	{ "tee_in", tee_in, 20, V4_SETS, .arg = NULL },
	{ "message_sizes", message_sizes, 60, V4_SETS, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
