// SPDX-License-Identifier: GPL-2.0
/*
 * Data gather/scatter programs of sendmsg() and recvmsg(): every byte comes from where the program
 * says, and goes there, whatever the shape, the size and the way (H2, H3).
 *
 * Each test compares with what an application does without programs: it packs the bytes itself.
 */
#include "info.h"
#include "pattern.h"
#include "reading.h"
#include "sdp_program.h"
#include "uring.h"

#define ROWS		3000L		/* more than one batch of pieces */
#define PITCH		1000L
#define MATRIX		(ROWS * PITCH)

static unsigned char *matrix_new(long len, bool filled)
{
	unsigned char *m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
	long at, n;

	need_errno(m != MAP_FAILED, "mmap");
	for (at = 0; filled && at < len; at += n) {
		n = len - at < PATTERN_LARGEST ? len - at : PATTERN_LARGEST;
		memcpy(m + at, pattern(at), n);
	}
	return m;
}

/**
 * struct shape - bytes in a matrix of ROWS lines
 * @p: program
 * @bytes: number of bytes
 * @at: the position of each
 */
struct shape {
	struct sdp_program p;
	long bytes;
	int *at;
};

static void shape_piece(struct shape *s, long at, long n)
{
	s->at = realloc(s->at, (s->bytes + n) * sizeof(*s->at));
	need_errno(s->at, "realloc");
	while (n--)
		s->at[s->bytes++] = at++;
}

/* @width bytes of each line, beginning with byte @at. */
static void shape_column(struct shape *s, long at, long width)
{
	long row;

	memset(s, 0, sizeof(*s));
	sdp_program_init(&s->p);
	need_errno(!sdp_program_strided(&s->p, at, ROWS, width, PITCH), "sdp_program_strided");
	for (row = 0; row < ROWS; row++)
		shape_piece(s, row * PITCH + at, width);
}

/* A box of 20 x 30 x 70 in an array of 30 x 50 x 200 elements of 10 bytes. */
static void shape_box(struct shape *s)
{
	const uint64_t size[] = { 30, 50, 200 }, part[] = { 20, 30, 70 }, first[] = { 5, 11, 120 };
	uint64_t i, j;

	memset(s, 0, sizeof(*s));
	sdp_program_init(&s->p);
	need_errno(!sdp_program_subarray(&s->p, 3, size, part, first, 10), "sdp_program_subarray");
	for (i = 0; i < part[0]; i++)
		for (j = 0; j < part[1]; j++)
			shape_piece(s, (((first[0] + i) * size[1] + first[1] + j) * size[2] +
					first[2]) * 10, part[2] * 10);
}

/* Blocks in any order, some of which lie equally far apart. */
static void shape_blocks(struct shape *s, unsigned int *seed)
{
	struct sdp_block block[100];
	int i = 0, n, k;

	memset(s, 0, sizeof(*s));
	sdp_program_init(&s->p);
	while (i < 100) {
		uint64_t at = random_up_to(seed, MATRIX / 2), len = random_up_to(seed, 300);
		long apart = random_up_to(seed, 2000) - 1000L;

		n = random_up_to(seed, 4) > 1 ? 20 : 1 + random_up_to(seed, 2);
		for (k = 0; k < n && i < 100; k++) {
			block[i].at = at + 20000 + k * apart;
			block[i].len = len;
			shape_piece(s, block[i].at, len);
			i++;
		}
	}
	need_errno(!sdp_program_blocks(&s->p, block, 100), "sdp_program_blocks");
}

/* What an application without programs would send. */
static void shape_pack(const struct shape *s, const unsigned char *memory, unsigned char *packed)
{
	long i;

	for (i = 0; i < s->bytes; i++)
		packed[i] = memory[s->at[i]];
}

/* Compare all of the memory with what an application would have unpacked into it. */
static void shape_check(const struct shape *s, const unsigned char *memory,
			const unsigned char *packed, long len)
{
	unsigned char *want = matrix_new(len, false);
	long i;

	for (i = 0; i < s->bytes; i++)
		want[s->at[i]] = packed[i];
	for (i = 0; i < len; i++)
		need(memory[i] == want[i], "byte %ld is %d, not %d", i, memory[i], want[i]);
	munmap(want, len);
}

/* Send or receive all of the program, however many calls it takes. */
static void program_all(int fd, const struct shape *s, const struct iovec *iov, int iovs, bool send,
			int flags)
{
	long done = 0;

	while (done < s->bytes) {
		ssize_t n = send ? sdp_program_send(fd, &s->p, iov, iovs, done, 0, flags) :
				   sdp_program_recv(fd, &s->p, iov, iovs, done, 0, flags);

		if (n < 0 && errno == EAGAIN && (flags & MSG_DONTWAIT)) {
			poll_for(fd, send ? POLLOUT : POLLIN, WAIT_MS);
			continue;
		}
		need(n > 0, "%s: %zd after %ld of %ld bytes, %s", send ? "send" : "recv", n, done,
		     s->bytes, errno_text(errno));
		done += n;
	}
	need(done == s->bytes, "%ld bytes of %ld", done, s->bytes);
}

struct sending {
	int fd;
	const struct shape *s;
	struct iovec iov[3];
	int flags;
};

static void sends(void *arg)
{
	const struct sending *w = arg;

	program_all(w->fd, w->s, w->iov, 3, true, w->flags);
}

/*
 * Both ends by one program: the same bytes are at the same places. The memory is in one piece at
 * both ends, or in several.
 */
static void both_ends_of(const struct shape *s, long len, int flags, bool single)
{
	struct pair p = pair_make();
	unsigned char *from = matrix_new(len, true), *to = matrix_new(len, false);
	unsigned char *packed = malloc(s->bytes);
	struct sending w = { .fd = p.c, .s = s, .flags = flags };
	struct iovec iov[3];
	pid_t pid;

	need_errno(packed && !sdp_program_enable(p.s), "SDP_PROGRAM");
	/* Elements that meet inside of pieces, and an empty one. */
	w.iov[0] = (struct iovec){ from, single ? len : 12345 };
	w.iov[1] = (struct iovec){ from + 12345, 0 };
	w.iov[2] = (struct iovec){ from + 12345, single ? 0 : len - 12345 };
	iov[0] = (struct iovec){ to, single ? len : 0 };
	iov[1] = (struct iovec){ to, single ? 0 : 23457 };
	iov[2] = (struct iovec){ to + 23457, single ? 0 : len - 23457 };
	pid = helper_start(sends, &w);
	program_all(p.s, s, iov, 3, false, flags);
	helper_end(pid);
	shape_pack(s, from, packed);
	shape_check(s, to, packed, len);
	close(p.c);
	close(p.s);
	munmap(from, len);
	munmap(to, len);
	free(packed);
}

static void both_ends(const struct shape *s, long len, int flags)
{
	both_ends_of(s, len, flags, false);
}

/* Columns of any width, at any address, in memory of one piece: they are copied as strips. */
static int strips(void *arg)
{
	static const int widths[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 100, 255, 256, 257 };
	struct shape s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		shape_column(&s, 8 * i + i % 3, widths[i]);
		both_ends_of(&s, MATRIX, i % 2 ? MSG_DONTWAIT : 0, true);
		free(s.at);
	}
	return EXIT_OK;
}

/* Lines from the last to the first: the distance is negative. */
static int strip_backwards(void *arg)
{
	struct shape s = { .bytes = 0 };
	long row;

	sdp_program_init(&s.p);
	need_errno(!sdp_program_op(&s.p, SDP_OP_SEEK, (ROWS - 1) * PITCH + 4) &&
		   !sdp_program_op(&s.p, SDP_OP_LOOP, ROWS) &&
		   !sdp_program_op(&s.p, SDP_OP_COPY, 12) &&
		   !sdp_program_op(&s.p, SDP_OP_SKIP, -PITCH - 12) &&
		   !sdp_program_op(&s.p, SDP_OP_END, 0), "sdp_program_op");
	for (row = ROWS; row--;)
		shape_piece(&s, row * PITCH + 4, 12);
	both_ends_of(&s, MATRIX, 0, true);
	return EXIT_OK;
}

/* One column: pieces of a number. More than one batch of them. */
static int column(void *arg)
{
	struct shape s;

	shape_column(&s, 8 * 17, 8);
	both_ends(&s, MATRIX, 0);
	return EXIT_OK;
}

static int column_nonblocking(void *arg)
{
	struct shape s;

	shape_column(&s, 8 * 17, 8);
	both_ends(&s, MATRIX, MSG_DONTWAIT);
	shape_column(&s, 1, PITCH - 3);
	both_ends(&s, MATRIX, MSG_DONTWAIT);
	return EXIT_OK;
}

/* Nearly all of each line: larger than the buffers of a connection. */
static int rectangle(void *arg)
{
	struct shape s;

	shape_column(&s, 1, PITCH - 3);
	both_ends(&s, MATRIX, 0);
	shape_column(&s, 0, PITCH);
	both_ends(&s, MATRIX, 0);
	return EXIT_OK;
}

static int box(void *arg)
{
	struct shape s;

	shape_box(&s);
	both_ends(&s, 30 * 50 * 200 * 10, 0);
	return EXIT_OK;
}

static int blocks(void *arg)
{
	unsigned int seed = getpid();
	struct shape s;
	int i;

	printf("# seed %u\n", seed);
	fflush(stdout);
	for (i = 0; i < scaled(8); i++) {
		shape_blocks(&s, &seed);
		both_ends(&s, MATRIX, i & 1 ? MSG_DONTWAIT : 0);
		free(s.at);
	}
	return EXIT_OK;
}

/* A program at one end only: the other end reads and writes packed bytes. */
static int one_end(void *arg)
{
	struct pair p = pair_make();
	unsigned char *memory = matrix_new(MATRIX, true), *packed, *got;
	struct iovec iov = { memory, MATRIX };
	struct shape s;

	shape_column(&s, 3, 5);
	packed = malloc(s.bytes);
	got = malloc(s.bytes);
	need_errno(packed && got, "malloc");
	shape_pack(&s, memory, packed);
	program_all(p.c, &s, &iov, 1, true, 0);
	recv_all(p.s, got, s.bytes);
	need(!memcmp(got, packed, s.bytes), "what was gathered differs");

	send_all(p.s, packed, s.bytes);
	memset(memory, 0, MATRIX);
	need_errno(!sdp_program_enable(p.c), "SDP_PROGRAM");
	program_all(p.c, &s, &iov, 1, false, MSG_WAITALL);
	shape_check(&s, memory, packed, MATRIX);
	return EXIT_OK;
}

/* H3: parts of a message in any order, each from its own byte on. */
static int parts(void *arg)
{
	struct pair p = pair_make();
	unsigned char *from = matrix_new(MATRIX, true), *to = matrix_new(MATRIX, false), *packed;
	struct iovec source = { from, MATRIX }, target = { to, MATRIX };
	static const long order[] = { 3, 0, 4, 1, 2 };
	struct shape s;
	size_t i;

	shape_column(&s, 3, 7);
	packed = malloc(s.bytes);
	need_errno(packed && !sdp_program_enable(p.s), "SDP_PROGRAM");
	shape_pack(&s, from, packed);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		long part = s.bytes / 5 + 1, at = order[i] * part;
		long n = at + part > s.bytes ? s.bytes - at : part;

		need(sdp_program_send(p.c, &s.p, &source, 1, at, part, 0) == n, "send: %s",
		     errno_text(errno));
		need(sdp_program_recv(p.s, &s.p, &target, 1, at, part, MSG_WAITALL) == n,
		     "recv: %s", errno_text(errno));
	}
	shape_check(&s, to, packed, MATRIX);
	/* Behind the end there is nothing, and nothing to wait for. */
	need(!sdp_program_send(p.c, &s.p, &source, 1, s.bytes, 0, 0), "sent behind the end");
	need(!sdp_program_recv(p.s, &s.p, &target, 1, s.bytes + 5, 0, 0), "read behind the end");
	return EXIT_OK;
}

/* What the writer of told() does: packed bytes, behind the program that says where they go. */
static void tells(void *arg)
{
	const struct sending *w = arg;
	struct shape s;

	shape_column(&s, 11, 3);
	need_errno(!sdp_program_tell(w->fd, &s.p, s.bytes), "sdp_program_tell");
	send_all(w->fd, w->iov[0].iov_base, s.bytes);
	shape_blocks(&s, (unsigned int[]){ 7 });
	need_errno(!sdp_program_tell(w->fd, &s.p, s.bytes), "sdp_program_tell");
	send_all(w->fd, w->iov[0].iov_base, s.bytes);
	send_all(w->fd, "This is no program at all.", 26);
}

/* H5: the writer's program says where in the reader's memory the bytes go. */
static int told(void *arg)
{
	struct pair p = pair_make();
	unsigned char *packed = matrix_new(MATRIX, true), *to = matrix_new(MATRIX, false);
	struct sending w = { .fd = p.c, .iov[0] = { packed, MATRIX } };
	struct iovec iov = { to, MATRIX }, small = { to, 1000 };
	struct shape want[2], heard = { .at = NULL };
	uint64_t length;
	pid_t pid;
	int i;

	shape_column(&want[0], 11, 3);
	shape_blocks(&want[1], (unsigned int[]){ 7 });
	need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
	pid = helper_start(tells, &w);
	for (i = 0; i < 2; i++) {
		need(sdp_program_hear(p.s, &heard.p, &length) == 1, "sdp_program_hear: %s",
		     errno_text(errno));
		need((long)length == want[i].bytes, "%lu bytes", (unsigned long)length);
		/* Nobody's program moves bytes outside of the memory. */
		need(sdp_program_recv(p.s, &heard.p, &small, 1, 0, 0, 0) < 0 && errno == EFAULT,
		     "memory too small: %s", errno_text(errno));
		memset(to, 0, MATRIX);
		heard.bytes = length;
		program_all(p.s, &heard, &iov, 1, false, 0);
		shape_check(&want[i], to, packed, MATRIX);
	}
	need(sdp_program_hear(p.s, &heard.p, &length) < 0 && errno == EPROTO, "no program: %s",
	     errno_text(errno));
	helper_end(pid);
	close(p.c);
	recv(p.s, to, 100, 0);
	need(!sdp_program_hear(p.s, &heard.p, &length), "the end of the stream");
	close(p.s);
	return EXIT_OK;
}

/* MSG_PEEK leaves the bytes; MSG_TRUNC does not store them; a short message ends a read. */
static int flags(void *arg)
{
	struct pair p = pair_make();
	unsigned char *to = matrix_new(MATRIX, false);
	struct iovec target = { to, MATRIX };
	struct shape s;
	ssize_t n;

	shape_column(&s, 3, 7);
	need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
	send_all(p.c, pattern(0), 100);
	await_bytes(p.s, 100);
	n = sdp_program_recv(p.s, &s.p, &target, 1, 0, 10, MSG_PEEK);
	need(n == 10, "peek: %zd", n);
	need(!memcmp(to + 3, pattern(0), 7) && !memcmp(to + PITCH + 3, pattern(7), 3), "peeked");
	memset(to, 0, 2 * PITCH);
	n = sdp_program_recv(p.s, &s.p, &target, 1, 0, 14, MSG_TRUNC);
	need(n == 14 && !to[3], "truncated: %zd", n);
	n = sdp_program_recv(p.s, &s.p, &target, 1, 0, 0, 0);
	need(n == 86, "the rest: %zd", n);
	shape_check(&(struct shape){ .bytes = 86, .at = s.at }, to, pattern(14), MATRIX);
	n = sdp_program_recv(p.s, &s.p, &target, 1, 0, 0, MSG_DONTWAIT);
	need(n == -1 && errno == EAGAIN, "no bytes: %zd", n);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	n = sdp_program_recv(p.s, &s.p, &target, 1, 0, 0, 0);
	need(!n, "the end: %zd", n);
	return EXIT_OK;
}

#define BATCH		(1024L * 8)	/* bytes of as many pieces as are found at a time */

/* A read of up to @len bytes, by a program or plainly. */
static ssize_t read_either(int fd, bool program, const struct shape *s, long len, int flags)
{
	static unsigned char memory[MATRIX];
	struct iovec iov = { memory, MATRIX };

	return program ? sdp_program_recv(fd, &s->p, &iov, 1, 0, len, flags) :
			 recv(fd, memory, len, flags);
}

/* The peer resets behind a whole batch: the bytes and the error are those of a plain read. */
static int reset_behind_batch(void *arg)
{
	ssize_t got[2], next[2];
	struct shape s;
	int way, error[2];

	shape_column(&s, 0, 8);
	for (way = 0; way < 2; way++) {
		struct pair p = pair_make();

		need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
		send_all(p.c, pattern(0), BATCH);
		await_bytes(p.s, BATCH);
		linger_zero(p.c);
		close(p.c);
		need(poll_for(p.s, POLLHUP, WAIT_MS) & POLLHUP, "no reset");
		got[way] = read_either(p.s, way, &s, s.bytes, 0);
		next[way] = read_either(p.s, way, &s, s.bytes, 0);
		error[way] = errno;
		close(p.s);
	}
	need(got[0] == got[1] && next[0] == next[1] && (next[0] >= 0 || error[0] == error[1]),
	     "plainly %zd, %zd %s; by a program %zd, %zd %s", got[0], next[0],
	     errno_text(error[0]), got[1], next[1], errno_text(error[1]));
	return EXIT_OK;
}

/* A read ends at the urgent mark, also behind a whole batch. */
static int urgent_behind_batch(void *arg)
{
	struct shape s;
	int way, mark;

	shape_column(&s, 0, 8);
	for (way = 0; way < 2; way++) {
		struct pair p = pair_make();
		ssize_t n;

		need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
		send_all(p.c, pattern(0), BATCH);
		need_errno(send(p.c, "!", 1, MSG_OOB) == 1, "MSG_OOB");
		send_all(p.c, pattern(BATCH), 1000);
		await_bytes(p.s, BATCH);
		need(poll_for(p.s, POLLPRI, WAIT_MS) & POLLPRI, "no urgent data");
		n = read_either(p.s, way, &s, s.bytes, 0);
		need(n == BATCH, "read %zd", n);
		need_errno(!ioctl(p.s, SIOCATMARK, &mark), "SIOCATMARK");
		need(mark, "not at the mark");
		n = read_either(p.s, way, &s, 1000, MSG_WAITALL);
		need(n == 1000, "behind the mark: %zd", n);
	}
	return EXIT_OK;
}

struct two_sends {
	int fd;
	pid_t reader;
};

static void sends_two(void *arg)
{
	const struct two_sends *t = arg;

	send_all(t->fd, pattern(0), 10000);
	await_asleep(t->reader);
	send_all(t->fd, pattern(10000), 10000);
}

/* SO_RCVLOWAT counts for the whole call. */
static int lowat(void *arg)
{
	struct pair p = pair_make();
	struct two_sends t = { p.c, getpid() };
	struct shape s;
	ssize_t n;
	pid_t pid;

	shape_column(&s, 0, 8);
	need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 20000);
	pid = helper_start(sends_two, &t);
	n = read_either(p.s, true, &s, s.bytes, 0);
	need(n == 20000, "read %zd", n);
	helper_end(pid);
	return EXIT_OK;
}

/* Make a call with a control message of SOL_SDP, and say what it returns. */
static int raw(int fd, bool send, int type, size_t cut, const struct sdp_program_hdr *hdr,
	       const struct sdp_op *op, int flags)
{
	static char memory[100];
	union sdp_program_control control;
	struct iovec iov = { memory, sizeof(memory) };
	size_t len = sizeof(*hdr) + (op ? sizeof(*op) : 0);
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	ssize_t n;

	memset(&control, 0, sizeof(control));
	control.cmsg.cmsg_level = SOL_SDP;
	control.cmsg.cmsg_type = type;
	control.cmsg.cmsg_len = CMSG_LEN(len) - cut;
	memcpy(CMSG_DATA(&control.cmsg), hdr, sizeof(*hdr));
	if (op)
		memcpy(CMSG_DATA(&control.cmsg) + sizeof(*hdr), op, sizeof(*op));
	msg.msg_controllen = CMSG_SPACE(len);
	n = send ? sendmsg(fd, &msg, flags) : recvmsg(fd, &msg, flags);
	return n < 0 ? -errno : n;
}

/* Programs that are refused, with nothing sent or received. */
static int refused(void *arg)
{
	const struct sdp_op copy = { SDP_OP_COPY, 0, 100 }, outside = { SDP_OP_COPY, 0, 101 };
	const struct sdp_op odd = { SDP_OP_COPY, 1, 100 }, unknown = { SDP_OP_RETURN + 1, 0, 0 };
	const struct sdp_op open = { SDP_OP_LOOP, 0, 2 };
	const struct sdp_program_hdr one = { .ops = 1 }, two = { .ops = 2 };
	const struct sdp_program_hdr many = { .ops = 257 }, reserved = { .ops = 1, .reserved = 1 };
	const struct {
		int want, type;
		size_t cut;
		const struct sdp_program_hdr *hdr;
		const struct sdp_op *op;
	} cases[] = {
		{ -EFAULT, SDP_PROGRAM, 0, &one, &outside },
		{ -EINVAL, SDP_PROGRAM, 0, &one, &odd },
		{ -EINVAL, SDP_PROGRAM, 0, &one, &unknown },
		{ -EINVAL, SDP_PROGRAM, 0, &one, &open },
		{ -EINVAL, SDP_PROGRAM, 0, &one, NULL },
		{ -EINVAL, SDP_PROGRAM, 0, &two, &copy },
		{ -EINVAL, SDP_PROGRAM, 0, &many, &copy },
		{ -EINVAL, SDP_PROGRAM, 0, &reserved, &copy },
		{ -EINVAL, SDP_PROGRAM, 1, &one, &copy },
		{ -EINVAL, SDP_PROGRAM, sizeof(copy) + 1, &one, &copy },
	};
	struct pair p = pair_make();
	size_t i;
	int n;

	send_all(p.s, pattern(0), 200);
	for (i = 0; i < 200; i += n) {
		/* Without the option, a read does not look into its control buffer. */
		n = raw(p.c, false, SDP_PROGRAM, 0, &one, &outside, 0);
		need(n > 0, "a read returns %d", n);
	}
	need_errno(!sdp_program_enable(p.c), "SDP_PROGRAM");
	send_all(p.s, pattern(0), 200);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		n = raw(p.c, true, cases[i].type, cases[i].cut, cases[i].hdr, cases[i].op, 0);
		need(n == cases[i].want, "send %zu: %s", i, errno_text(-n));
		n = raw(p.c, false, cases[i].type, cases[i].cut, cases[i].hdr, cases[i].op, 0);
		need(n == cases[i].want, "recv %zu: %s", i, errno_text(-n));
	}
	n = raw(p.c, true, SDP_PROGRAM + 1, 0, &one, &copy, 0);
	need(n == -EINVAL, "another control message: %d", n);
	n = raw(p.c, true, SDP_PROGRAM, 0, &one, &copy, MSG_ZEROCOPY);
	need(n == -EINVAL, "MSG_ZEROCOPY: %d", n);
	need(poll_for(p.s, POLLIN, 0) == 0, "something was sent");
	n = raw(p.c, false, SDP_PROGRAM, 0, &one, &copy, 0);
	need(n == 100, "what was sent: %d", n);
	return EXIT_OK;
}

/* Memory that goes away: what lies before it is sent or received, as with an iovec. */
static int unmapped(void *arg)
{
	const long page = sysconf(_SC_PAGESIZE), len = 4 * page;
	struct pair p = pair_make();
	unsigned char *memory = matrix_new(len, true);
	struct iovec iov = { memory, len };
	struct sdp_program program;
	ssize_t n;

	sdp_program_init(&program);
	sdp_program_strided(&program, 0, 4, 100, page);
	need_errno(!munmap(memory + 2 * page, 2 * page), "munmap");
	need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
	n = sdp_program_send(p.c, &program, &iov, 1, 0, 0, 0);
	need(n == 200 || (n == -1 && errno == EFAULT), "send: %zd, %s", n, errno_text(errno));
	n = sdp_program_send(p.c, &program, &iov, 1, 200, 0, 0);
	need(n == -1 && errno == EFAULT, "send: %zd, %s", n, errno_text(errno));
	return EXIT_OK;
}

/* The same with a column: nothing of what lies behind the hole is taken from the stream. */
static int unmapped_strip(void *arg)
{
	const long page = sysconf(_SC_PAGESIZE), len = 8 * page, before = 5 * page / 64 * 8;
	struct pair p = pair_make();
	unsigned char *memory = matrix_new(len, true);
	struct iovec iov = { memory, len };
	struct sdp_program program;
	unsigned char rest[1000];
	ssize_t n;
	long i;

	sdp_program_init(&program);
	sdp_program_strided(&program, 24, len / 64, 8, 64);
	need_errno(!mprotect(memory + 5 * page, page, PROT_NONE), "mprotect");
	need_errno(!sdp_program_enable(p.s), "SDP_PROGRAM");
	n = sdp_program_send(p.c, &program, &iov, 1, 0, 0, 0);
	need(n == before, "send: %zd of %ld, %s", n, before, errno_text(errno));
	n = sdp_program_send(p.c, &program, &iov, 1, before, 0, 0);
	need(n == -1 && errno == EFAULT, "send: %zd, %s", n, errno_text(errno));
	recv_all(p.s, memory + 6 * page, before);
	for (i = 0; i < before; i++)
		need(memory[6 * page + i] == memory[24 + i / 8 * 64 + i % 8], "byte %ld", i);
	send_all(p.c, pattern(0), before + sizeof(rest));
	await_bytes(p.s, before + sizeof(rest));
	n = sdp_program_recv(p.s, &program, &iov, 1, 0, 0, MSG_WAITALL);
	need(n == before, "recv: %zd of %ld, %s", n, before, errno_text(errno));
	for (i = 0; i < before; i++)
		need(memory[24 + i / 8 * 64 + i % 8] == pattern(0)[i], "byte %ld was put", i);
	n = sdp_program_recv(p.s, &program, &iov, 1, before, 0, MSG_WAITALL);
	need(n == -1 && errno == EFAULT, "recv: %zd, %s", n, errno_text(errno));
	recv_all(p.s, rest, sizeof(rest));
	pattern_check(before, rest, sizeof(rest));
	return EXIT_OK;
}

struct packed_reader {
	int fd;
	const unsigned char *packed;
	long bytes;
};

static void reads_packed(void *arg)
{
	const struct packed_reader *r = arg;
	unsigned char *got = malloc(r->bytes);

	need_errno(got, "malloc");
	recv_all(r->fd, got, r->bytes);
	need(!memcmp(got, r->packed, r->bytes), "what was gathered differs");
}

/* All of a program by requests of io_uring, which repeats a short call by itself. */
static void ring_all(int fd, const struct shape *s, const struct iovec *iov, bool send)
{
	union sdp_program_control control;
	struct msghdr msg;
	long done = 0;

	while (done < s->bytes) {
		struct io_uring_sqe *sqe = request(1);
		struct done cqe;

		sdp_program_message(&msg, &control, &s->p, iov, 1, done, 0);
		if (send)
			io_uring_prep_sendmsg(sqe, fd, &msg, MSG_WAITALL);
		else
			io_uring_prep_recvmsg(sqe, fd, &msg, MSG_WAITALL);
		cqe = complete(1);
		need(cqe.res > 0, "%s: %s", send ? "sendmsg" : "recvmsg", errno_text(-cqe.res));
		done += cqe.res;
	}
	need(done == s->bytes, "%ld bytes of %ld", done, s->bytes);
}

/* io_uring does not repeat a call for the rest of the memory, of which a program knows nothing. */
static int uring(void *arg)
{
	struct pair p = pair_make();
	unsigned char *from = matrix_new(MATRIX, true), *to = matrix_new(MATRIX, false), *packed;
	struct iovec source = { from, MATRIX }, target = { to, MATRIX };
	struct packed_reader r = { .fd = p.s };
	struct sending w = { .fd = p.c };
	struct shape s;
	pid_t pid;

	shape_column(&s, 1, 900);
	packed = malloc(s.bytes);
	need_errno(packed && !sdp_program_enable(p.s), "SDP_PROGRAM");
	shape_pack(&s, from, packed);
	ring_open();
	r.packed = packed;
	r.bytes = s.bytes;
	pid = helper_start(reads_packed, &r);
	ring_all(p.c, &s, &source, true);
	helper_end(pid);
	w.s = &s;
	w.iov[0] = source;
	pid = helper_start(sends, &w);
	ring_all(p.s, &s, &target, false);
	helper_end(pid);
	shape_check(&s, to, packed, MATRIX);
	return EXIT_OK;
}

/* Large pieces go by RDMA, as those of an iovec do. */
static int by_rdma(void *arg)
{
	const long width = 64 << 10, rows = 32, apart = 100 << 10, len = rows * apart;
	struct shape s = { 0 };
	long row;

	sdp_program_init(&s.p);
	sdp_program_strided(&s.p, 0, rows, width, apart);
	for (row = 0; row < rows; row++)
		shape_piece(&s, row * apart, width);
	counters_mark();
	both_ends(&s, len, 0);
	need(since_mark("RdmaReadBytes") + since_mark("RdmaWriteBytes") >= s.bytes / 2,
	     "%lld bytes by RDMA", since_mark("RdmaReadBytes") + since_mark("RdmaWriteBytes"));
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(column, 30, ALL_SETS),
	CASE(strips, 60, ALL_SETS),
	CASE(strip_backwards, 30, TWO_SETS),
	CASE(column_nonblocking, 60, ALL_SETS),
	CASE(rectangle, 60, ALL_SETS),
	CASE(box, 30, TWO_SETS),
	CASE(blocks, 60, TWO_SETS),
	CASE(one_end, 30, ALL_SETS),
	CASE(parts, 30, ALL_SETS),
	CASE(told, 30, ALL_SETS),
	CASE(flags, 20, ALL_SETS),
	CASE(reset_behind_batch, 20, ALL_SETS),
	CASE(urgent_behind_batch, 20, ALL_SETS),
	CASE(lowat, 20, TWO_SETS),
	CASE(refused, 20, ALL_SETS),
	CASE(unmapped, 20, ALL_SETS),
	CASE(unmapped_strip, 20, ALL_SETS),
	CASE(uring, 60, TWO_SETS),
	CASE(by_rdma, 30, RC),
};

PATTERN_MAIN(tests)
