// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a large transfer by RDMA that is changed or shared during the transfer.
 *
 * Forked children write to their copies; another thread unmaps, replaces, protects or drops a part.
 * The transfer is about the pages that were there when it began. No other memory changes, and no
 * page stays pinned (requirements B4, B5, C4, C5).
 */
#include "moving.h"

/**
 * struct other - a forked child with a copy of the memory
 * @pid: its process
 * @tell: pipe to the child
 * @said: pipe from the child
 */
struct other {
	pid_t pid;
	int tell[2], said[2];
};

#define OTHERS	0xee

static void need_all(const unsigned char *p, unsigned char what, long len)
{
	need(p[0] == what && !memcmp(p, p + 1, len - 1), "not all bytes are %#x", what);
}

/*
 * The child: first writes to its own memory when told to, and later checks that this memory has
 * what it must have.
 */
static void other_main(const struct other *o, const struct memory *m, long at)
{
	char c = 0;

	need(read(o->tell[0], &c, 1) == 1, "the first word");
	if (!m->shared)
		memset(window(m), OTHERS, WINDOW);
	need(write(o->said[1], &c, 1) == 1 && read(o->tell[0], &c, 1) == 1, "the second word");
	if (m->shared)
		pattern_check(at, window(m), WINDOW);
	else
		need_all(window(m), OTHERS, WINDOW);
	_exit(EXIT_OK);
}

static struct other other_start(const struct memory *m, long at)
{
	struct other o;

	need_errno(!pipe(o.tell) && !pipe(o.said), "pipe");
	fflush(stdout);
	o.pid = fork();
	need_errno(o.pid >= 0, "fork");
	if (!o.pid)
		other_main(&o, m, at);
	return o;
}

static void other_writes(const struct other *o)
{
	char c;

	need(write(o->tell[1], "w", 1) == 1 && read(o->said[0], &c, 1) == 1, "the child is gone");
}

static void other_ends(const struct other *o)
{
	int i;

	need(write(o->tell[1], "l", 1) == 1, "the child is gone");
	helper_end(o->pid);
	for (i = 0; i < 2; i++) {
		close(o->tell[i]);
		close(o->said[i]);
	}
}

static const map_fn forkable[] = { map_anonymous, map_huge, map_transparent, map_tmpfs_private,
				   map_tmpfs_shared, map_huge_shared };

/* All kinds of memory by all routes, with a new connection for each. */
static void each_forkable(void (*what)(const struct pair *p, enum route way,
				       const struct memory *m, long at))
{
	enum route way;
	size_t i;

	for (way = READ; way < WAYS; way++) {
		for (i = 0; i < ARRAY_SIZE(forkable); i++) {
			map_fn map = forkable[i];
			struct memory m;
			long at;
			struct pair p = pair_for(way, &at);

			if (map(&m)) {
				what(&p, way, &m, at);
				unmap(&m);
			}
			pair_close(&p);
		}
	}
}

/*
 * Two children, made before and after the writer's pages are pinned, write to the memory. The peer
 * gets what the parent had in its memory.
 */
static void fork_at_writer(const struct pair *p, enum route way, const struct memory *m, long at)
{
	long long bytes = moved();
	static unsigned char buf[WINDOW];
	struct other before, after;
	struct writing w;

	window_fill(m, at);
	before = other_start(m, at);
	writing_start(&w, p->c, m, WINDOW);
	await_srcavail(p->s, WINDOW);
	after = other_start(m, at);
	other_writes(&before);
	other_writes(&after);
	recv_all(p->s, buf, WINDOW);
	pattern_check(at, buf, WINDOW);
	writing_end(&w, WINDOW);
	pattern_check(at, window(m), WINDOW);
	other_ends(&before);
	other_ends(&after);
	need(moved() - bytes >= WINDOW - FIRST, "%lld bytes by RDMA", moved() - bytes);
}

static int forked_writer(void *arg)
{
	each_forkable(fork_at_writer);
	return EXIT_OK;
}

/* The data is in the parent's memory and not in the children's copies. */
static void fork_at_reader(const struct pair *p, enum route way, const struct memory *m, long at)
{
	long long read = counter("RdmaReadBytes"), placed = counter("RdmaWriteBytesByPeer");
	struct other before, after;
	struct reading r;

	memset(window(m), 0, WINDOW);
	window_surround(m);
	before = other_start(m, at);
	reading_for(&r, way, p->s, window(m), WINDOW);
	after = other_start(m, at);
	other_writes(&before);
	other_writes(&after);
	send_all(p->c, pattern(at), WINDOW);
	reading_end(&r, WINDOW, 0);
	pattern_check(at, window(m), WINDOW);
	other_ends(&before);
	other_ends(&after);
	need_moved(way, read, placed, WINDOW);
}

static int forked_reader(void *arg)
{
	each_forkable(fork_at_reader);
	return EXIT_OK;
}

/* What another thread does to a part in the middle of the window. */
enum deed { UNMAP, REPLACE, PROTECT, DROP, PUNCH, DEEDS };

#define HOLE_AT		(HUGE - 20 * PAGE)
#define HOLE		(40 * PAGE)
/* The offset of the hole in the window. */
#define HOLE_IN		(HOLE_AT - WINDOW_AT)
#define NEW		0x55

static bool deed_do(enum deed deed, const struct memory *m)
{
	unsigned char *p = m->base + HOLE_AT;

	switch (deed) {
	case UNMAP:
		return !munmap(p, HOLE);
	case REPLACE:
		if (!map_at(p, HOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1))
			return false;
		memset(p, NEW, HOLE);
		return true;
	case PROTECT:
		return !mprotect(p, HOLE, PROT_NONE);
	case DROP:
		return !madvise(p, HOLE, MADV_DONTNEED);
	default:
		/* Only shared files have a hole to punch. */
		return m->file < 0 || !m->shared || !madvise(p, HOLE, MADV_REMOVE);
	}
}

static const map_fn thinned[] = { map_anonymous, map_transparent, map_tmpfs_private,
				  map_tmpfs_shared };

typedef void (*deed_fn)(const struct pair *p, const struct memory *m, enum deed deed, long at);

/* All deeds on one kind of memory, with one connection. */
static void each_deed(enum route way, map_fn map, deed_fn what)
{
	enum deed deed;
	long at;
	struct pair p = pair_for(way, &at);

	for (deed = UNMAP; deed < DEEDS; deed++, at += WINDOW + SMALL) {
		struct memory m;

		if (!map(&m))
			break;
		what(&p, &m, deed, at);
		lives(&p, at + WINDOW);
		await_unpinned();
		unmap(&m);
	}
	pair_close(&p);
}

/* All kinds of memory, by the route @way and those after it. */
static void each_thinned(enum route way, deed_fn what)
{
	size_t i;

	for (; way < WAYS; way++)
		for (i = 0; i < ARRAY_SIZE(thinned); i++)
			each_deed(way, thinned[i], what);
}

/* The peer gets what was there when the write began. */
static void deed_at_writer(const struct pair *p, const struct memory *m, enum deed deed, long at)
{
	static unsigned char buf[WINDOW];
	struct writing w;

	window_fill(m, at);
	writing_start(&w, p->c, m, WINDOW);
	await_srcavail(p->s, WINDOW);
	need_errno(deed_do(deed, m), "the deed");
	recv_all(p->s, buf, WINDOW);
	pattern_check(at, buf, WINDOW);
	writing_end(&w, WINDOW);
}

static int writer_thinned(void *arg)
{
	each_thinned(READ, deed_at_writer);
	return EXIT_OK;
}

/* Checks the hole afterwards. The peer has written to the pages that it had before. */
static void hole_check(const struct memory *m, enum deed deed, long at)
{
	unsigned char *p = m->base + HOLE_AT;

	if (deed == REPLACE) {
		need_all(p, NEW, HOLE);
	} else if (deed == PROTECT) {
		need_errno(!mprotect(p, HOLE, PROT_READ), "mprotect");
		pattern_check(at + HOLE_IN, p, HOLE);
	} else if (deed == DROP && !m->shared) {
		need_all(p, 0, HOLE);
	} else if (deed == PUNCH && m->file >= 0 && m->shared) {
		need_all(p, 0, HOLE);
	} else if (deed != UNMAP) {
		pattern_check(at + HOLE_IN, p, HOLE);
	}
}

/*
 * After the SinkAvail: the rest of the window gets its data, and new memory in the hole does not.
 */
static void deed_at_reader(const struct pair *p, const struct memory *m, enum deed deed, long at)
{
	struct reading r;

	memset(window(m), 1, WINDOW);
	window_surround(m);
	reading_post(&r, p->s, window(m), WINDOW, MSG_WAITALL);
	need_errno(deed_do(deed, m), "the deed");
	send_all(p->c, pattern(at), WINDOW);
	reading_end(&r, WINDOW, 0);
	pattern_check(at, window(m), HOLE_IN);
	pattern_check(at + HOLE_IN + HOLE, m->base + HOLE_AT + HOLE, WINDOW - HOLE_IN - HOLE);
	need(window(m)[-1] == AROUND && window(m)[WINDOW] == AROUND, "written outside");
	hole_check(m, deed, at);
}

static int reader_thinned(void *arg)
{
	each_thinned(WRITE, deed_at_reader);
	return EXIT_OK;
}

/**
 * struct meddler - a thread that changes a part of some memory all the time
 * @m: the memory, of an ordinary kind
 * @stop: ends the thread
 * @thread: the thread
 */
struct meddler {
	struct memory m;
	_Atomic bool stop;
	pthread_t thread;
};

static void *meddles(void *arg)
{
	struct meddler *d = arg;
	unsigned int seed = 141421;

	while (!d->stop) {
		deed_do(random_up_to(&seed, DEEDS - 1) - 1, &d->m);
		pause_ms(random_up_to(&seed, 3) - 1);
		need_errno(map_at(d->m.base + HOLE_AT, HOLE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1), "mmap");
		pause_ms(random_up_to(&seed, 3) - 1);
	}
	return NULL;
}

static void meddler_start(struct meddler *d)
{
	d->stop = false;
	need_errno(map_anonymous(&d->m), "mmap");
	memset(window(&d->m), 0, WINDOW);
	need(!pthread_create(&d->thread, NULL, meddles, d), "pthread_create");
}

static void meddler_end(struct meddler *d)
{
	d->stop = true;
	pthread_join(d->thread, NULL);
	unmap(&d->m);
}

#define ROUNDS	40

/* Checks @n bytes of the window except the part that the meddler changes. */
static void check_outside(const unsigned char *p, long at, long n)
{
	const long behind = HOLE_IN + HOLE;

	pattern_check(at, p, n < HOLE_IN ? n : HOLE_IN);
	if (n > behind)
		pattern_check(at + behind, p + behind, n - behind);
}

/* Reads to the end of the stream into one large buffer. */
struct collector {
	int fd;
	unsigned char *got;
	long n;
	pthread_t thread;
};

static void *collects(void *arg)
{
	struct collector *c = arg;
	ssize_t n;

	while ((n = recv(c->fd, c->got + c->n, WINDOW, 0)) > 0)
		c->n += n;
	need_errno(!n, "recv");
	return NULL;
}

/* As many bytes arrive as the calls report, and outside of the changed part they are right. */
static void write_meddled(enum route way)
{
	static unsigned char got[(ROUNDS + 1) * WINDOW];
	long at, first, sent[ROUNDS];
	struct pair p = pair_for(way, &at);
	struct collector c = { .fd = p.s, .got = got };
	long long before = moved();
	struct meddler d;
	int i;

	meddler_start(&d);
	need(!pthread_create(&c.thread, NULL, collects, &c), "pthread_create");
	for (i = 0, first = at; i < ROUNDS; i++) {
		unsigned char *w = window(&d.m);
		const long behind = HOLE_IN + HOLE;

		memcpy(w, pattern(at), HOLE_IN);
		memcpy(w + behind, pattern(at + behind), WINDOW - behind);
		sent[i] = send(p.c, w, WINDOW, MSG_NOSIGNAL);
		need(sent[i] >= HOLE_IN, "send: %ld, %s", sent[i], errno_text(errno));
		at += sent[i];
	}
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	pthread_join(c.thread, NULL);
	meddler_end(&d);
	need(c.n == at - first, "%ld of %ld bytes have come", c.n, at - first);
	for (i = 0, c.n = 0; i < ROUNDS; c.n += sent[i++])
		check_outside(got + c.n, first + c.n, sent[i]);
	need(moved() > before, "nothing went by RDMA");
	pair_close(&p);
}

static int writer_meddled(void *arg)
{
	enum route way;

	for (way = READ; way < WAYS; way++)
		write_meddled(way);
	return EXIT_OK;
}

static void plain_writer(void *arg)
{
	const struct pattern_reader *r = arg;

	close(r->other);
	pattern_write(r->fd, r->len, ROUNDS * WINDOW);
}

/* A read that fails with EFAULT loses no data: the next read gets it. */
static void read_meddled(enum route way)
{
	long at, end;
	struct pair p = pair_for(way, &at);
	struct pattern_reader r = { .fd = p.c, .other = p.s, .len = at };
	pid_t pid = helper_start(plain_writer, &r);
	long long before = moved();
	struct meddler d;

	close(p.c);
	meddler_start(&d);
	for (end = at + ROUNDS * WINDOW; at < end; ) {
		ssize_t n = recv(p.s, window(&d.m), WINDOW, 0);

		need(n > 0 || (n < 0 && errno == EFAULT), "recv: %zd, %s", n, errno_text(errno));
		if (n > 0)
			check_outside(window(&d.m), at, n);
		at += n > 0 ? n : 0;
	}
	need(recv(p.s, window(&d.m), 1, 0) == 0, "no end of the stream");
	meddler_end(&d);
	helper_end(pid);
	need(moved() > before, "nothing went by RDMA");
	pair_close(&p);
}

static int reader_meddled(void *arg)
{
	enum route way;

	for (way = READ; way < WAYS; way++)
		read_meddled(way);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "forked_writer", forked_writer, 60, RC, .sdp_only = true, .arg = NULL },
	{ "forked_reader", forked_reader, 60, RC, .sdp_only = true, .arg = NULL },
	{ "writer_thinned", writer_thinned, 60, RC, .sdp_only = true, .arg = NULL },
	{ "reader_thinned", reader_thinned, 60, RC, .sdp_only = true, .arg = NULL },
	{ "writer_meddled", writer_meddled, 60, RC, .sdp_only = true, .arg = NULL },
	{ "reader_meddled", reader_meddled, 60, RC, .sdp_only = true, .arg = NULL },
};

int main(int argc, char **argv)
{
	pattern_make();
	huge_pages_get();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
