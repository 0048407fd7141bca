// SPDX-License-Identifier: GPL-2.0
/*
 * Data integrity: every byte arrives in its place, for all sizes of writes and reads.
 *
 * Both directions are busy, readers are slow, and message buffers have other numbers and sizes.
 */
#include "pattern.h"
#include <pthread.h>

/* One direction of a connection, at one end. */
struct flow {
	int fd;
	unsigned int seed;	/* for the sizes and ways of the calls */
	unsigned int start;	/* where in the pattern the stream begins */
	long total;
	long done;
	unsigned int largest;	/* bytes of one call */
	int pause_first;	/* a slow reader: this many first calls have 1 ms between them */
	bool shut;		/* the writer ends the stream */
	pthread_t thread;
};

static const unsigned char *expected(const struct flow *f, long at)
{
	return pattern(f->start + at);
}

static void check_bytes(const struct flow *f, long at, const unsigned char *data, long len)
{
	const unsigned char *want = expected(f, at);
	long i;

	if (!memcmp(data, want, len))
		return;
	for (i = 0; data[i] == want[i]; i++)
		;
	give_up("byte %ld of %ld is %#x instead of %#x (seed %u, %ld bytes in this call)", at + i,
		f->total, data[i], want[i], f->seed, len);
}

/* Cuts @len bytes at @base into pieces of random sizes, some of them empty. */
static int cut(struct iovec iov[4], unsigned int *seed, unsigned char *base, long len)
{
	int i;

	for (i = 0; i < 4; i++) {
		iov[i].iov_base = base;
		iov[i].iov_len = i == 3 ? len : (long)(next_random(seed) % (len + 1));
		base += iov[i].iov_len;
		len -= iov[i].iov_len;
	}
	return 4;
}

static ssize_t write_somehow(const struct flow *f, unsigned int *seed, long len)
{
	unsigned char *data = (unsigned char *)expected(f, f->done);
	struct msghdr msg = { 0 };
	struct iovec iov[4];

	switch (next_random(seed) % 5) {
	case 0:
		return write(f->fd, data, len);
	case 1:
		return writev(f->fd, iov, cut(iov, seed, data, len));
	case 2:
		msg.msg_iov = iov;
		msg.msg_iovlen = cut(iov, seed, data, len);
		return sendmsg(f->fd, &msg, MSG_NOSIGNAL);
	case 3:
		if (f->done + len < f->total)
			return send(f->fd, data, len, MSG_NOSIGNAL | MSG_MORE);
	}
	return send(f->fd, data, len, MSG_NOSIGNAL);
}

/* Mostly small sizes, now and then the largest. */
static long some_size(unsigned int *seed, unsigned int largest, long left)
{
	unsigned int bits = next_random(seed) % 21, max = 1u << bits;
	long size = random_up_to(seed, max < largest ? max : largest);

	return size < left ? size : left;
}

static void *writer(void *arg)
{
	struct flow *f = arg;
	unsigned int seed = f->seed;

	while (f->done < f->total) {
		ssize_t n = write_somehow(f, &seed, some_size(&seed, f->largest,
								 f->total - f->done));

		need(n > 0, "write: %s after %ld of %ld bytes", errno_text(errno), f->done,
		     f->total);
		f->done += n;
	}
	if (f->shut)
		need_errno(!shutdown(f->fd, SHUT_WR), "shutdown");
	return NULL;
}

static ssize_t peek_and_read(const struct flow *f, unsigned char *buf, long len)
{
	ssize_t n = recv(f->fd, buf, len, MSG_PEEK);

	if (n <= 0)
		return n;
	check_bytes(f, f->done, buf, n);
	memset(buf, 0, n);
	return recv(f->fd, buf, n, 0);
}

static ssize_t read_somehow(const struct flow *f, unsigned int *seed, unsigned char *buf, long len)
{
	struct iovec iov[4];
	ssize_t n;

	switch (next_random(seed) % 6) {
	case 0:
		return read(f->fd, buf, len);
	case 1:
		return readv(f->fd, iov, cut(iov, seed, buf, len));
	case 2:
		return recv(f->fd, buf, len, MSG_WAITALL);
	case 3:
		return peek_and_read(f, buf, len);
	case 4:
		n = recv(f->fd, buf, len, MSG_DONTWAIT);
		if (n >= 0 || errno != EAGAIN)
			return n;
		need(poll_for(f->fd, POLLIN, WAIT_MS), "nothing came after %ld bytes", f->done);
	}
	return recv(f->fd, buf, len, 0);
}

static void *reader(void *arg)
{
	struct flow *f = arg;
	unsigned char *buf = malloc(PATTERN_LARGEST);
	unsigned int seed = f->seed;

	need(buf, "no memory");
	while (f->done < f->total) {
		long len = some_size(&seed, f->largest, f->total - f->done);
		ssize_t n;

		if (f->pause_first) {
			f->pause_first--;
			pause_ms(1);
		}
		n = read_somehow(f, &seed, buf, len);
		need(n >= 0, "read: %s after %ld of %ld bytes", errno_text(errno), f->done,
		     f->total);
		need(n, "the stream ended after %ld of %ld bytes", f->done, f->total);
		check_bytes(f, f->done, buf, n);
		f->done += n;
	}
	if (f->shut)
		need(recv(f->fd, buf, 1, 0) == 0, "more than the %ld bytes sent", f->total);
	free(buf);
	return NULL;
}

static void flow_start(struct flow *f, void *(*side)(void *))
{
	need(!pthread_create(&f->thread, NULL, side, f), "pthread_create");
}

static void flow_end(struct flow *f)
{
	pthread_join(f->thread, NULL);
	need(f->done == f->total, "%ld of %ld bytes", f->done, f->total);
}

/* Data in both directions of a connection, each writer and reader in its own thread. */
struct load {
	long total;
	unsigned int largest_write, largest_read;
	int pause_first;
};

static void run_load(const struct load *load, struct pair p, unsigned int seed)
{
	struct flow w[2], r[2];
	int i;

	for (i = 0; i < 2; i++) {
		w[i] = (struct flow){ .fd = i ? p.s : p.c, .seed = seed + i,
				      .start = 1000 * seed + i,
				      .total = scaled(load->total), .largest = load->largest_write,
				      .shut = true };
		r[i] = w[i];
		r[i].fd = i ? p.c : p.s;
		r[i].seed += 100;
		r[i].largest = load->largest_read;
		r[i].pause_first = load->pause_first;
		flow_start(&w[i], writer);
		flow_start(&r[i], reader);
	}
	for (i = 0; i < 2; i++) {
		flow_end(&w[i]);
		flow_end(&r[i]);
	}
	close(p.c);
	close(p.s);
}

static int both_directions(void *arg)
{
	unsigned int seed;

	for (seed = 1; seed <= 4; seed++)
		run_load(arg, pair_make(), seed);
	return EXIT_OK;
}

static int small_socket_buffers(void *arg)
{
	run_load(arg, pair_sized(4096), 5);
	run_load(arg, pair_sized(16384), 6);
	return EXIT_OK;
}

/* One send() of exactly @len bytes. */
static void one_write(int from, int to, long len, unsigned int seed)
{
	struct flow f = { .fd = to, .seed = seed, .start = seed * 7919, .total = len,
			  .largest = PATTERN_LARGEST };

	flow_start(&f, reader);
	send_all(from, expected(&f, 0), len);
	flow_end(&f);
}

/* Every size around the boundaries of messages, one after the other, in both directions. */
static int sizes(void *arg)
{
	static const int borders[] = {
		2, 16, 256, 512, MSG_PAYLOAD, 1536, 2 * MSG_PAYLOAD, 4096, 12 * MSG_PAYLOAD,
		16 * MSG_PAYLOAD, 32768, 65536, 128 * 1024, PATTERN_LARGEST - 1,
	};
	struct pair p = pair_make();
	unsigned int seed = 1;
	size_t i;
	long len;

	for (i = 0; i < ARRAY_SIZE(borders); i++) {
		for (len = borders[i] - 1; len <= borders[i] + 1; len++) {
			one_write(p.c, p.s, len, seed++);
			one_write(p.s, p.c, len, seed++);
		}
	}
	return EXIT_OK;
}

/* Single bytes, written and read one by one; and small writes that large reads collect. */
static int tiny_writes(void *arg)
{
	struct load bytes = { .total = 4000, .largest_write = 1, .largest_read = 1 };
	struct load joined = { .total = 20000, .largest_write = 3, .largest_read = 1 << 16 };

	run_load(&bytes, pair_make(), 7);
	run_load(&joined, pair_make(), 8);
	return EXIT_OK;
}

/*
 * Small writes from pages that are not in memory yet, and from an unmapped address, while other
 * writes are in flight.
 */
static int absent_memory(void *arg)
{
	enum { PAGE = 4096, PAGES = 64, SIZE = 80, LEN = PAGE * PAGES };
	int file = pattern_file(LEN), i;
	struct pair p = pair_make();
	unsigned char got[SIZE], *map;

	map = mmap(NULL, LEN + PAGE, PROT_READ, MAP_PRIVATE, file, 0);
	need_errno(map != MAP_FAILED && !munmap(map + LEN, PAGE), "map");
	for (i = 1; i < PAGES; i++) {
		need_errno(write(p.c, map + i * PAGE - SIZE / 2, SIZE) == SIZE, "write");
		need(write(p.c, map + LEN, SIZE) == -1 && errno == EFAULT,
		     "a write of nothing that is there: %s", errno_text(errno));
		need_errno(!madvise(map, LEN, MADV_DONTNEED), "madvise");
	}
	for (i = 1; i < PAGES; i++) {
		recv_all(p.s, got, SIZE);
		need(!memcmp(got, pattern(i * PAGE - SIZE / 2), SIZE), "write %d came wrong", i);
	}
	need(queued_bytes(p.s) == 0, "more came than was written");
	return EXIT_OK;
}

struct worker {
	struct pair p;
	const struct load *load;
	unsigned int seed;
};

static void worker_main(void *arg)
{
	const struct worker *w = arg;

	run_load(w->load, w->p, w->seed);
}

/* Several processes, each with its own connection, at the same time. */
static int processes(void *arg)
{
	enum { COUNT = 6 };
	struct worker workers[COUNT];
	pid_t pids[COUNT];
	int i;

	for (i = 0; i < COUNT; i++)
		workers[i] = (struct worker){ .p = pair_make(), .load = arg, .seed = 20 + i };
	for (i = 0; i < COUNT; i++)
		pids[i] = helper_start(worker_main, &workers[i]);
	for (i = 0; i < COUNT; i++)
		helper_end(pids[i]);
	return EXIT_OK;
}

/* Other numbers and sizes of message buffers. The parent process restores the settings. */
static int message_buffers(void *arg)
{
	static const struct {
		const char *name;
		long value;
	} cases[] = {
		{ "recv_buffers", 3 }, { "recv_buffers", 64 }, { "recv_buffer_size", 256 },
		{ "recv_buffer_size", 16384 }, { "recv_buffer_size", 32784 },
		{ "recv_buffer_size", 65536 }, { "recv_buffer_size", 65552 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		long long start = now_ms();

		setting_set(cases[i].name, cases[i].value);
		run_load(arg, pair_make(), 30 + i);
		printf("# %s = %ld: %lld ms\n", cases[i].name, cases[i].value, now_ms() - start);
		settings_reset();
	}
	setting_set("recv_buffers", 3);
	setting_set("recv_buffer_size", 256);
	run_load(arg, pair_make(), 40);
	return EXIT_OK;
}

/* Full messages and a small rest, many times: all of the send buffer becomes free again. */
static int remainders(void *arg)
{
	enum { FULL = 1 << 16, ROUNDS = 60 };
	struct pair p;
	int i;

	setting_set("recv_buffer_size", FULL + 16);
	p = pair_sized(1 << 17);
	set_timeout(p.c, SO_SNDTIMEO, WAIT_MS);
	for (i = 0; i < ROUNDS; i++) {
		send_all(p.c, pattern(0), FULL + 14);
		drain(p.s, FULL + 14);
	}
	return EXIT_OK;
}

static struct load mixed_load = {
	.total = 4 << 20, .largest_write = PATTERN_LARGEST, .largest_read = PATTERN_LARGEST,
};
static struct load small_load = { .total = 200000, .largest_write = 5000, .largest_read = 5000 };
static struct load slow_load = { .total = 1 << 20, .largest_write = PATTERN_LARGEST,
				 .largest_read = 1 << 15, .pause_first = 400 };
static struct load short_load = {
	.total = 1 << 20, .largest_write = 1 << 18, .largest_read = PATTERN_LARGEST,
};

static const struct test tests[] = {
	{ "sizes", sizes, 20, ALL_SETS, .arg = NULL },
	{ "both_directions", both_directions, 30, ALL_SETS, .arg = &mixed_load },
	{ "small_socket_buffers", small_socket_buffers, 30, ALL_SETS, .arg = &small_load },
	{ "tiny_writes", tiny_writes, 20, V4_SETS, .arg = NULL },
	{ "absent_memory", absent_memory, 20, V4_SETS, .arg = NULL },
	{ "slow_reader", both_directions, 30, V4_SETS, .arg = &slow_load },
	{ "processes", processes, 40, V4_SETS, .arg = &short_load },
	{ "remainders", remainders, 30, V4_SETS, .sdp_only = true, .arg = NULL },
	{ "message_buffers", message_buffers, 60, V4_SETS, .sdp_only = true, .arg = &short_load },
};

PATTERN_MAIN(tests)
