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
#include <sys/mman.h>
#include <sys/uio.h>

#include "cases.h"

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
 */
struct stream {
	int to;
	int from;
	unsigned char *map;
	unsigned char *same;
	unsigned char *gone;
	volatile bool stop;
};

/* The byte at an offset of the stream. */
static unsigned char byte_at(unsigned long long at)
{
	return at * 7 + at / 251;
}

static void put_bytes(unsigned char *p, unsigned long long at, size_t n)
{
	while (n--)
		*p++ = byte_at(at++);
}

static void need_bytes(const unsigned char *p, unsigned long long at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		need(p[i] == byte_at(at + i), "byte %llu is not what was written", at + i);
}

static unsigned char *map_room(void)
{
	unsigned char *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	need_errno(p != MAP_FAILED, "mmap");
	memset(p, 0, ROOM);
	return p;
}

static void allow(unsigned char *page, int prot)
{
	need_errno(!mprotect(page, PAGE, prot), "mprotect");
}

/* Reads everything and checks each byte. Returns the number of bytes. */
static void *honest_reader(void *arg)
{
	struct stream *s = arg;
	unsigned char *data = map_room();
	unsigned long long at = 0;
	ssize_t n;

	while ((n = recv(s->from, data, ROOM, 0)) > 0) {
		need_bytes(data, at, n);
		at += n;
	}
	need_errno(!n, "recv");
	munmap(data, ROOM);
	return (void *)(uintptr_t)at;
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

/* Writes @good bytes and a page behind them that is missing. Returns how many were taken. */
static size_t write_to_hole(struct stream *s, unsigned long long at, size_t good, bool vector)
{
	unsigned char *hole = s->map + ROOM / 2, *p = vector ? s->map : hole - good;
	struct iovec iov[] = {
		{ .iov_base = p, .iov_len = good },
		{ .iov_base = hole, .iov_len = PAGE },
		{ .iov_base = hole + PAGE, .iov_len = 1000 },
	};
	ssize_t n;

	put_bytes(p, at, good);
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
	unsigned long long at = 0;
	pthread_t reader;
	unsigned int i;
	void *got;

	need(!pthread_create(&reader, NULL, honest_reader, &s), "pthread_create");
	for (i = 0; i < 3 * ARRAY_SIZE(goods); i++) {
		size_t rest;

		at += write_to_hole(&s, at, goods[i % ARRAY_SIZE(goods)], vector);
		/* A write after that works. */
		rest = 1 + i * 100;
		put_bytes(s.map, at, rest);
		send_all(s.to, s.map, rest);
		at += rest;
	}
	printf("# %llu bytes\n", at);
	need_errno(!shutdown(s.to, SHUT_WR), "shutdown");
	pthread_join(reader, &got);
	need((uintptr_t)got == at, "%llu bytes were counted, %lu have come", at,
	     (unsigned long)(uintptr_t)got);
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
	pthread_t reader, other;
	unsigned long long at = 0;
	void *got;

	need(!pthread_create(&reader, NULL, honest_reader, &s), "pthread_create");
	need(!pthread_create(&other, NULL, come_and_go, &s), "pthread_create");
	for (i = 0; i < rounds; i++) {
		size_t n = goods[i % ARRAY_SIZE(goods)] + PAGE, from = ROOM / 2 - n / 2;
		ssize_t done;

		put_bytes(s.same + from, at, n);
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
	need_errno(!shutdown(s.to, SHUT_WR), "shutdown");
	pthread_join(reader, &got);
	need((uintptr_t)got == at, "%llu bytes were counted, %lu have come", at,
	     (unsigned long)(uintptr_t)got);
	return EXIT_OK;
}

struct writing {
	int fd;
	unsigned long long bytes;
};

static void *honest_writer(void *arg)
{
	struct writing *w = arg;
	unsigned char *data = map_room();
	unsigned long long at = 0;
	unsigned int i = 0;

	while (at < w->bytes) {
		size_t n = goods[i++ % ARRAY_SIZE(goods)];

		if (n > w->bytes - at)
			n = w->bytes - at;
		put_bytes(data, at, n);
		send_all(w->fd, data, n);
		at += n;
	}
	munmap(data, ROOM);
	return NULL;
}

/* Reads into memory of which a part is missing. */
static int read_holes(void *arg)
{
	bool vector = arg;
	struct pair p = pair_make();
	struct stream s = begin(&p);
	struct writing w = { .fd = p.s, .bytes = scaled(80) * 100000ULL };
	unsigned char *hole = s.map + ROOM / 2;
	unsigned int i, faults = 0;
	unsigned long long at = 0;
	pthread_t writer;

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
		need(n, "the end after %llu bytes", at);
		need(!missing || (size_t)n <= good, "%zd bytes into %zu", n, good);
		need_bytes(to, at, (size_t)n < good ? (size_t)n : good);
		if ((size_t)n > good)
			need_bytes(hole, at + good, n - good);
		at += n;
	}
	pthread_join(writer, NULL);
	printf("# %u reads, %u of them without a byte\n", i, faults);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "write_vector", write_holes, 60, V4_SETS, .sdp_only = false, .arg = (void *)1 },
	{ "write_buffer", write_holes, 60, V4_SETS, .sdp_only = false, .arg = NULL },
	{ "write_flicker", write_flicker, 100, V4_SETS, .sdp_only = false, .arg = NULL },
	{ "read_vector", read_holes, 60, V4_SETS, .sdp_only = false, .arg = (void *)1 },
	{ "read_buffer", read_holes, 60, V4_SETS, .sdp_only = false, .arg = NULL },
};

TEST_MAIN(tests)
