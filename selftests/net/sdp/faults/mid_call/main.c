// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with a missing page in their memory: only the bytes that they report have moved.
 *
 * No byte is lost or duplicated, whether the page stays missing or comes back a moment later. TCP
 * does the same.
 *
 * The test takes minutes on the debug kernel.
 */
#include <pthread.h>
#include <sys/uio.h>

#include "pattern.h"

#define PAGE		4096
#define ROOM		(512 * 1024)

static const size_t goods[] = {
	1, 100, 511, 513, 1024, 1025, 1503, 1505, 3000, 4096, 10000, 32751, 32753, 70000, 200000,
};

/**
 * struct stream - one direction of a connection
 * @to: the end that writes
 * @from: the end that reads
 * @map: memory with a missing page, of the end that is tested
 * @same: the same memory, with all its pages
 * @gone: the page that comes and goes
 * @stop: the page is to come and go no more
 * @reader: the thread that reads, of a stream whose writer is tested
 */
struct stream {
	int to;
	int from;
	unsigned char *map;
	unsigned char *same;
	unsigned char *gone;
	volatile bool stop;
	pthread_t reader;
};

static void allow(unsigned char *page, int prot)
{
	need_errno(!mprotect(page, PAGE, prot), "mprotect");
}

/* Reads everything and checks each byte. Returns the number of bytes. */
static void *honest_reader(void *arg)
{
	static unsigned char data[ROOM];
	struct stream *s = arg;
	long at = 0;
	ssize_t n;

	while ((n = recv(s->from, data, ROOM, 0)) > 0) {
		pattern_check(at, data, n);
		at += n;
	}
	need_errno(!n, "recv");
	return (void *)at;
}

static struct stream begin(const struct pair *p)
{
	struct stream s = { .to = p->c, .from = p->s };
	int fd = memfd_create("midway", 0);

	need_errno(fd >= 0 && !ftruncate(fd, ROOM), "memfd");
	s.map = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	s.same = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need_errno(s.map != MAP_FAILED && s.same != MAP_FAILED, "mmap");
	close(fd);
	s.gone = s.map + ROOM / 2;
	return s;
}

static void begin_reading(struct stream *s)
{
	need(!pthread_create(&s->reader, NULL, honest_reader, s), "pthread_create");
}

/* Ends the stream: the reader has had the @at bytes that were taken. */
static void end_reading(struct stream *s, long at)
{
	void *got;

	need_errno(!shutdown(s->to, SHUT_WR), "shutdown");
	pthread_join(s->reader, &got);
	need((long)got == at, "%ld bytes were counted, %ld have come", at, (long)got);
}

/* Writes @good bytes and a page behind them that is missing. Returns how many were taken. */
static size_t write_to_hole(struct stream *s, long at, size_t good, bool vector)
{
	unsigned char *hole = s->map + ROOM / 2, *p = vector ? s->map : hole - good;
	struct iovec iov[] = {
		{ .iov_base = p, .iov_len = good },
		{ .iov_base = hole, .iov_len = PAGE },
		{ .iov_base = hole + PAGE, .iov_len = 1000 },
	};
	ssize_t n;

	memcpy(p, pattern(at), good);
	allow(hole, PROT_NONE);
	n = vector ? writev(s->to, iov, 3) : write(s->to, p, good + PAGE + 1000);
	allow(hole, PROT_READ | PROT_WRITE);
	if (n < 0) {
		need(errno == EFAULT, "%zu bytes: %s", good, errno_text(errno));
		return 0;
	}
	need(n && (size_t)n <= good, "%zd bytes of %zu have gone", n, good);
	return n;
}

static int write_holes(void *arg)
{
	bool vector = arg;
	struct pair p = pair_make();
	struct stream s = begin(&p);
	unsigned int i;
	long at = 0;

	begin_reading(&s);
	for (i = 0; i < 3 * ARRAY_SIZE(goods); i++) {
		size_t rest = 1 + i * 100;

		at += write_to_hole(&s, at, goods[i % ARRAY_SIZE(goods)], vector);
		/* A write after that works. */
		memcpy(s.map, pattern(at), rest);
		send_all(s.to, s.map, rest);
		at += rest;
	}
	printf("# %ld bytes\n", at);
	end_reading(&s, at);
	return EXIT_OK;
}

static void *come_and_go(void *arg)
{
	struct stream *s = arg;

	while (!s->stop) {
		allow(s->gone, PROT_NONE);
		sched_yield();
		allow(s->gone, PROT_READ | PROT_WRITE);
		sched_yield();
	}
	return NULL;
}

/* The page may come back during the call. */
static int write_flicker(void *arg)
{
	unsigned int rounds = scaled(3000), i, faults = 0, parts = 0;
	struct pair p = pair_make();
	struct stream s = begin(&p);
	pthread_t other;
	long at = 0;

	begin_reading(&s);
	need(!pthread_create(&other, NULL, come_and_go, &s), "pthread_create");
	for (i = 0; i < rounds; i++) {
		size_t n = goods[i % ARRAY_SIZE(goods)] + PAGE, from = ROOM / 2 - n / 2;
		ssize_t done;

		memcpy(s.same + from, pattern(at), n);
		done = write(s.to, s.map + from, n);
		need(done > 0 || errno == EFAULT, "write: %s", errno_text(errno));
		faults += done < 0;
		parts += done > 0 && (size_t)done < n;
		at += done > 0 ? done : 0;
	}
	s.stop = true;
	pthread_join(other, NULL);
	printf("# %u writes: %u not begun, %u in part\n", rounds, faults, parts);
	need(faults + parts, "the memory was there for each write");
	end_reading(&s, at);
	return EXIT_OK;
}

struct writing {
	int fd;
	long bytes;
};

static void *honest_writer(void *arg)
{
	struct writing *w = arg;
	unsigned int i = 0;
	long at, n;

	for (at = 0; at < w->bytes; at += n) {
		n = goods[i++ % ARRAY_SIZE(goods)];
		if (n > w->bytes - at)
			n = w->bytes - at;
		pattern_write(w->fd, at, n);
	}
	return NULL;
}

/* Reads into memory of which a part is missing. */
static int read_holes(void *arg)
{
	bool vector = arg;
	struct pair p = pair_make();
	struct stream s = begin(&p);
	struct writing w = { .fd = p.s, .bytes = scaled(80) * 100000L };
	unsigned char *hole = s.map + ROOM / 2;
	unsigned int i, faults = 0;
	pthread_t writer;
	long at = 0;

	s.from = p.c;
	need(!pthread_create(&writer, NULL, honest_writer, &w), "pthread_create");
	for (i = 0; at < w.bytes; i++) {
		size_t good = goods[i % ARRAY_SIZE(goods)];
		unsigned char *to = vector ? s.map : hole - good;
		struct iovec iov[] = {
			{ .iov_base = to, .iov_len = good },
			{ .iov_base = hole, .iov_len = PAGE },
		};
		/* Every second read has all of its memory, so that the stream advances. */
		bool missing = i & 1;
		ssize_t n;

		if (missing)
			allow(hole, PROT_NONE);
		n = vector ? readv(s.from, iov, 2) : read(s.from, to, good + PAGE);
		if (missing)
			allow(hole, PROT_READ | PROT_WRITE);
		if (n < 0) {
			need(missing && errno == EFAULT, "read: %s", errno_text(errno));
			faults++;
			continue;
		}
		need(n, "the end after %ld bytes", at);
		need(!missing || (size_t)n <= good, "%zd bytes into %zu", n, good);
		pattern_check(at, to, (size_t)n < good ? (size_t)n : good);
		if ((size_t)n > good)
			pattern_check(at + good, hole, n - good);
		at += n;
	}
	pthread_join(writer, NULL);
	printf("# %u reads, %u of them without a byte\n", i, faults);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "write_vector", write_holes, 60, V4_SETS, false, (void *)1 },
	{ "write_buffer", write_holes, 60, V4_SETS, false, NULL },
	{ "write_flicker", write_flicker, 100, V4_SETS, false, NULL },
	{ "read_vector", read_holes, 60, V4_SETS, false, (void *)1 },
	{ "read_buffer", read_holes, 60, V4_SETS, false, NULL },
};

PATTERN_MAIN(tests)
