// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes and reads by RDMA from and into every kind of memory (B4, B5, C4, C5).
 *
 * Also from several kinds in one call, and where memory ends early. Every byte arrives in its
 * place, none is written anywhere else, and no page stays pinned.
 */
#include "moving.h"

/* Transfers from @from to @to by RDMA. The reader waits before the write begins. */
static void transfer(const struct pair *p, enum route way, const struct memory *from,
		     const struct memory *to, long at)
{
	long long read = counter("RdmaReadBytes"), placed = counter("RdmaWriteBytesByPeer");
	struct sdp_info before = info_of(p->s), after;
	struct reading r;

	window_fill(from, at);
	window_surround(to);
	reading_for(&r, way, p->s, window(to), WINDOW);
	send_all(p->c, window(from), WINDOW);
	reading_end(&r, WINDOW, 0);
	window_check(to, at);
	pattern_check(at, window(from), WINDOW);
	need_moved(way, read, placed, WINDOW);
	after = info_of(p->s);
	need(after.rdma_received - before.rdma_received >= WINDOW - FIRST &&
	     after.rdma_received == info_of(p->c).rdma_sent, "SDP_INFO does not say so");
}

/* From one kind to the ordinary one, from the ordinary one to this kind, and within this kind. */
static int moves(void *arg)
{
	map_fn map = *(map_fn *)arg;
	enum route way;
	int turn;

	for (way = READ; way < WAYS; way++) {
		long at;
		struct pair p = pair_for(way, &at);

		for (turn = 1; turn < 4; turn++, at += WINDOW) {
			map_fn map_from = turn & 1 ? map : map_anonymous;
			map_fn map_to = turn & 2 ? map : map_anonymous;
			struct memory from, to;

			if (!map_from(&from) || !map_to(&to))
				return EXIT_SKIPPED;
			transfer(&p, way, &from, &to, at);
			await_unpinned();
			unmap(&from);
			unmap(&to);
		}
		pair_close(&p);
	}
	return EXIT_OK;
}

/* Checks what is on the disk, not what a page in memory has. */
static void disk_check(const struct memory *m, long at)
{
	static unsigned char buf[WINDOW];

	need_errno(!fsync(m->file) && !posix_fadvise(m->file, 0, 0, POSIX_FADV_DONTNEED), "fsync");
	need_errno(pread(m->file, buf, WINDOW, WINDOW_AT) == WINDOW, "pread");
	pattern_check(at, buf, WINDOW);
}

/*
 * A shared mapping of a file on a disk, as the source and then as the target. Newer kernels refuse
 * to pin such pages for writing: then the data is copied there. Either way it reaches the disk.
 */
static int disk_shared(void *arg)
{
	struct memory disk, other;
	struct reading r;
	enum route way;

	for (way = READ; way < WAYS; way++) {
		long at;
		struct pair p = pair_for(way, &at);

		if (!map_disk_shared(&disk) || !map_anonymous(&other))
			return EXIT_SKIPPED;
		transfer(&p, way, &disk, &other, at);
		await_unpinned();
		memset(window(&disk), 0, WINDOW);
		window_surround(&disk);
		reading_begin(&r, p.s, window(&disk), WINDOW, MSG_WAITALL);
		at += WINDOW;
		window_fill(&other, at);
		send_all(p.c, window(&other), WINDOW);
		reading_end(&r, WINDOW, 0);
		window_check(&disk, at);
		await_unpinned();
		munmap(disk.base, 2 * HUGE);
		disk_check(&disk, at);
		close(disk.file);
		unmap(&other);
		lives(&p, at + WINDOW);
		pair_close(&p);
	}
	return EXIT_OK;
}

/* Memory that nobody may pin is copied: as the source, as the target, and as both. */
static int secret(void *arg)
{
	enum route way;
	int turn;

	for (way = READ; way < WAYS; way++) {
		for (turn = 1; turn < 4; turn++) {
			map_fn map_from = turn & 1 ? map_secret : map_anonymous;
			map_fn map_to = turn & 2 ? map_secret : map_anonymous;
			struct memory from, to;
			struct reading r;
			long at;
			struct pair p = pair_for(way, &at);

			if (!map_from(&from) || !map_to(&to))
				return EXIT_SKIPPED;
			window_fill(&from, at);
			window_surround(&to);
			reading_begin(&r, p.s, window(&to), WINDOW, MSG_WAITALL);
			send_all(p.c, window(&from), WINDOW);
			reading_end(&r, WINDOW, 0);
			to.file = -1;		/* window_check() is not to map it again */
			window_check(&to, at);
			lives(&p, at + WINDOW);
			pair_close(&p);
		}
	}
	return EXIT_OK;
}

/* Sends @memory, which another thread reads, and compares what has arrived. */
static void sends_what_is_there(const struct pair *p, enum route way, const unsigned char *memory,
				long len)
{
	long long read = counter("RdmaReadBytes"), placed = counter("RdmaWriteBytesByPeer");
	static unsigned char buf[WINDOW];
	struct reading r;

	reading_for(&r, way, p->s, buf, len);
	send_all(p->c, memory, len);
	reading_end(&r, len, 0);
	need(!memcmp(buf, memory, len), "other bytes than those of the memory");
	need_moved(way, read, placed, len);
}

/* The longest mapping of code in this process. @len: its length. */
static const unsigned char *program_text(long *len)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end, from = 0;
	char line[512], rights[8];

	need_errno(f, "/proc/self/maps");
	*len = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 ||
		    strcmp(rights, "r-xp") || !strchr(line, '/') || (long)(end - start) <= *len)
			continue;
		from = start;
		*len = end - start;
	}
	fclose(f);
	return (unsigned char *)from;
}

static const int file_flags[] = { MAP_SHARED, MAP_PRIVATE };

/* Maps a file read-only. It begins as the stream does. */
static unsigned char *map_read_only(int flags)
{
	int fd = pattern_file(WINDOW + 1);
	unsigned char *m = mmap(NULL, WINDOW + 1, PROT_READ, flags, fd, 0);

	need_errno(m != MAP_FAILED, "mmap");
	close(fd);
	return m;
}

/* Read-only mappings of files are a source like any other; so is code that is executed. */
static int read_only_source(void *arg)
{
	const unsigned char *text;
	enum route way;
	long len;
	size_t i;

	text = program_text(&len);
	if (len > WINDOW)
		len = WINDOW;
	for (way = READ; way < WAYS; way++) {
		long at;
		struct pair p = pair_for(way, &at);

		for (i = 0; i < ARRAY_SIZE(file_flags); i++) {
			unsigned char *m = map_read_only(file_flags[i]);

			sends_what_is_there(&p, way, m + 1, WINDOW);
			munmap(m, WINDOW + 1);
		}
		need(len > 1 << 17, "no program of more than %ld bytes here", len);
		sends_what_is_there(&p, way, text + 1, len - 1);
		pair_close(&p);
	}
	return EXIT_OK;
}

/* A read into a read-only mapping fails, and no byte is lost. */
static int read_only_target(void *arg)
{
	enum route way;
	size_t i;

	for (way = READ; way < WAYS; way++) {
		for (i = 0; i < ARRAY_SIZE(file_flags); i++) {
			unsigned char *m = map_read_only(file_flags[i]);
			struct memory from;
			struct writing w;
			struct reading r;
			long at;
			struct pair p = pair_for(way, &at);

			need_errno(map_anonymous(&from), "mmap");
			window_fill(&from, at + 1);
			reading_begin(&r, p.s, m, WINDOW, 0);
			writing_start(&w, p.c, &from, WINDOW);
			reading_end(&r, -1, EFAULT);
			pattern_read(p.s, at + 1, WINDOW, WINDOW);
			writing_end(&w, WINDOW);
			pattern_check(0, m, WINDOW);
			munmap(m, WINDOW + 1);
			lives(&p, at);
			pair_close(&p);
		}
	}
	return EXIT_OK;
}

/* Memory that nobody has written to yet is full of zeros. */
static int untouched(void *arg)
{
	static const map_fn maps[] = { map_anonymous, map_huge, map_tmpfs_shared,
				       map_tmpfs_private };
	enum route way;
	size_t i;

	for (way = READ; way < WAYS; way++) {
		long at;
		struct pair p = pair_for(way, &at);

		for (i = 0; i < ARRAY_SIZE(maps); i++) {
			map_fn map = maps[i];
			struct memory m;

			if (!map(&m))
				continue;
			sends_what_is_there(&p, way, window(&m), WINDOW);
			unmap(&m);
		}
		pair_close(&p);
	}
	return EXIT_OK;
}

/* One call with memory of several kinds, each piece large. The pieces of the other end differ. */
static int several(void *arg)
{
	static const map_fn maps[] = { map_huge, map_tmpfs_shared, map_transparent,
				       map_tmpfs_private };
	static const size_t out[] = { 150000, 250001, 100000, 99999 };
	static const size_t in[] = { 300000, 200000, 100000 };
	struct memory m[4];
	enum route way;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(m); i++)
		need(maps[i](&m[i]) || map_anonymous(&m[i]), "mmap");
	for (way = READ; way < WAYS; way++) {
		struct iovec to[ARRAY_SIZE(in)];
		struct msghdr msg = { .msg_iov = to, .msg_iovlen = ARRAY_SIZE(in) };
		struct writing w = { .pieces = ARRAY_SIZE(out) };
		long at, from;
		struct pair p = pair_for(way, &at);
		long long before = moved();

		for (i = 0, from = at; i < ARRAY_SIZE(out); from += out[i++]) {
			w.iov[i] = (struct iovec){ m[i].base + 11, out[i] };
			memcpy(w.iov[i].iov_base, pattern(from), out[i]);
		}
		for (k = 0; k < ARRAY_SIZE(in); k++)
			to[k] = (struct iovec){ m[3 - k].base + HUGE - 7, in[k] };
		writing_begin(&w, p.s);
		need(recvmsg(p.c, &msg, MSG_WAITALL) == 600000, "recvmsg: %s", errno_text(errno));
		writing_end(&w, 600000);
		for (k = 0; k < ARRAY_SIZE(in); at += in[k++])
			pattern_check(at, m[3 - k].base + HUGE - 7, in[k]);
		need(moved() - before > 400000, "only %lld bytes by RDMA", moved() - before);
		pair_close(&p);
	}
	return EXIT_OK;
}

/* A window that ends with the first of its two huge pages. Returns the length that is left. */
static long map_short(struct memory *m, long at)
{
	need_errno(map_anonymous(m), "mmap");
	window_fill(m, at);
	need_errno(!munmap(m->base + HUGE, HUGE), "munmap");
	return HUGE - WINDOW_AT;
}

/* Where the writer's memory ends, the write ends. */
static int writer_ends_early(void *arg)
{
	static unsigned char buf[WINDOW];
	enum route way;

	for (way = READ; way < WAYS; way++) {
		struct memory m;
		struct reading r;
		long at, most;
		struct pair p = pair_for(way, &at);
		ssize_t n;

		most = map_short(&m, at);
		reading_for(&r, way, p.s, buf, WINDOW);
		n = send(p.c, window(&m), WINDOW, MSG_NOSIGNAL);
		need(n == most, "send: %zd instead of %ld, %s", n, most, errno_text(errno));
		send_all(p.c, pattern(at + n), WINDOW - n);
		reading_end(&r, WINDOW, 0);
		pattern_check(at, buf, WINDOW);
		lives(&p, at + WINDOW);
		pair_close(&p);
	}
	return EXIT_OK;
}

/* Where the reader's memory ends, the read ends. A later read into other memory gets the rest. */
static int reader_ends_early(void *arg)
{
	enum route way;

	for (way = READ; way < WAYS; way++) {
		struct memory m, from;
		struct writing w;
		struct reading r;
		long at, most;
		struct pair p = pair_for(way, &at);

		need_errno(map_anonymous(&from), "mmap");
		window_fill(&from, at);
		most = map_short(&m, 0);
		reading_for(&r, way, p.s, window(&m), WINDOW);
		writing_start(&w, p.c, &from, WINDOW);
		reading_end(&r, most, 0);
		pattern_check(at, window(&m), most);
		pattern_read(p.s, at + most, WINDOW - most, WINDOW);
		writing_end(&w, WINDOW);
		lives(&p, at + WINDOW);
		pair_close(&p);
	}
	return EXIT_OK;
}

static map_fn huge = map_huge, huge_shared = map_huge_shared, transparent = map_transparent,
	      tmpfs_shared = map_tmpfs_shared, tmpfs_private = map_tmpfs_private,
	      disk_private = map_disk_private, crossing = map_crossing;

static const struct test tests[] = {
	{ "huge", moves, 30, RC, .sdp_only = true, .arg = &huge },
	{ "huge_shared", moves, 30, RC, .sdp_only = true, .arg = &huge_shared },
	{ "transparent", moves, 30, RC, .sdp_only = true, .arg = &transparent },
	{ "tmpfs_shared", moves, 30, RC, .sdp_only = true, .arg = &tmpfs_shared },
	{ "tmpfs_private", moves, 30, RC, .sdp_only = true, .arg = &tmpfs_private },
	{ "disk_private", moves, 30, RC, .sdp_only = true, .arg = &disk_private },
	{ "disk_shared", disk_shared, 30, RC, .sdp_only = true, .arg = NULL },
	{ "crossing", moves, 30, RC, .sdp_only = true, .arg = &crossing },
	{ "several", several, 30, RC, .sdp_only = true, .arg = NULL },
	{ "secret", secret, 30, RC, .sdp_only = true, .arg = NULL },
	{ "read_only_source", read_only_source, 30, RC, .sdp_only = true, .arg = NULL },
	{ "read_only_target", read_only_target, 30, RC, .sdp_only = true, .arg = NULL },
	{ "untouched", untouched, 30, RC, .sdp_only = true, .arg = NULL },
	{ "writer_ends_early", writer_ends_early, 30, RC, .sdp_only = true, .arg = NULL },
	{ "reader_ends_early", reader_ends_early, 30, RC, .sdp_only = true, .arg = NULL },
};

int main(int argc, char **argv)
{
	pattern_make();
	huge_pages_get();
	disk_get();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
