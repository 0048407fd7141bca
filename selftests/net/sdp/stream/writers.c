// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes write into one socket: the data of each call arrives in one piece.
 *
 * This holds for large and small writes, for each way that the data takes, and whatever happens to
 * the writers. Each writer keeps a list of the bytes that its calls have taken. The stream must
 * consist of these pieces, each whole, and those of each writer in order. The upper bit of a byte
 * tells its writer.
 */
#include "pinned.h"
#include "reading.h"
#include <sys/time.h>

#define WRITERS		2
#define CALLS		400
#define LARGEST		(3 << 18)
#define STREAM_MAX	(64 << 20)
#define NEVER		1000

/**
 * struct writer - a writing process, in memory that all share
 * @n: number of calls that have returned
 * @taken: bytes that each of these calls has taken
 * @begun: bytes of the current call, or 0
 */
struct writer {
	int n;
	long taken[CALLS + 1];
	long begun;
};

/**
 * struct course - what the writers and the reader do
 * @threshold: setting rdma_threshold
 * @after: setting mode_after
 * @calls: number of calls of each writer
 * @largest: largest call in bytes
 * @room: largest receive call in bytes
 * @pause_ms: longest pause of the reader, now and then
 * @scan_ms: setting scan_ms
 * @signals: signals interrupt the writers' calls
 * @used: a counter that has to increase
 */
struct course {
	int threshold;
	int after;
	int calls;
	long largest;
	long room;
	int pause_ms;
	int scan_ms;
	bool signals;
	const char *used;
};

static struct writer *writers;
static unsigned char *stream;
static long stream_len;

/* The streams of the writers, which they write piece by piece. */
static unsigned char own_bytes[WRITERS][sizeof(pattern_bytes)];

static void own_make(void)
{
	size_t id, i;

	for (id = 0; id < WRITERS; id++)
		for (i = 0; i < sizeof(pattern_bytes); i++)
			own_bytes[id][i] = (pattern_bytes[i] & 0x7f) | id << 7;
}

static const unsigned char *own(int id, long at)
{
	return own_bytes[id] + at % PATTERN_PERIOD;
}

static void on_signal(int sig)
{
}

static void interrupt_in(unsigned int *seed)
{
	struct itimerval in = { .it_value.tv_usec = 1 + random_up_to(seed, 20000) };

	need_errno(!setitimer(ITIMER_REAL, &in, NULL), "setitimer");
}

/* A random length, now and then a small one. */
static long next_length(const struct course *c, unsigned int *seed)
{
	return random_up_to(seed, random_up_to(seed, 4) == 1 ? 3000 : c->largest);
}

static void write_calls(int fd, int id, const struct course *c)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct writer *w = &writers[id];
	unsigned int seed = 1000 + id;
	long at = 0;

	need_errno(!sigaction(SIGALRM, &act, NULL), "sigaction");
	while (w->n < c->calls) {
		long n = next_length(c, &seed);
		ssize_t taken;

		if (c->signals)
			interrupt_in(&seed);
		w->begun = n;
		taken = send(fd, own(id, at), n, MSG_NOSIGNAL);
		need(taken > 0 || (taken < 0 && errno == EINTR && c->signals), "send: %s",
		     errno_text(errno));
		need(c->signals || taken == n, "send: %zd of %ld bytes", taken, n);
		if (taken > 0) {
			at += taken;
			w->taken[w->n++] = taken;
		}
		w->begun = 0;
	}
}

static pid_t writer_start(const struct pair *p, int id, const struct course *c)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need_errno(pid >= 0, "fork");
	if (!pid) {
		close(p->s);
		write_calls(p->c, id, c);
		_exit(EXIT_OK);
	}
	return pid;
}

/* Reads to the end, into @stream. */
static void read_stream(int fd, const struct course *c)
{
	unsigned int seed = 77;
	ssize_t n;

	stream_len = 0;
	do {
		long room = random_up_to(&seed, c->room);

		need(stream_len + room <= STREAM_MAX, "more than was written");
		if (c->pause_ms && random_up_to(&seed, 8) == 1)
			pause_ms(random_up_to(&seed, c->pause_ms));
		n = recv(fd, stream + stream_len, room, 0);
		need_errno(n >= 0, "recv");
		stream_len += n;
	} while (n);
}

/* How many of the @n bytes at @at are the stream of writer @id from position @from. */
static long run_of(int id, long at, long from, long n)
{
	const unsigned char *want = own(id, from);
	long i;

	if (n > stream_len - at)
		n = stream_len - at;
	if (!memcmp(stream + at, want, n))
		return n;
	for (i = 0; stream[at + i] == want[i]; i++)
		;
	return i;
}

/* The stream consists of whole calls. Only the last one of the writer @killed may be cut. */
static void check_stream(int killed)
{
	int next[WRITERS] = { 0 }, turns = 0, last = -1;
	long from[WRITERS] = { 0 }, at = 0;

	while (at < stream_len) {
		int id = stream[at] >> 7;
		struct writer *w = &writers[id];
		bool cut = next[id] == w->n && id == killed && w->begun;
		long want = cut ? w->begun : w->taken[next[id]];
		long got = run_of(id, at, from[id], want);

		need(got, "writer %d: a byte that is not its own", id);
		turns += id != last;
		last = id;
		if (cut) {
			want = got;
			w->begun = 0;
		} else {
			need(next[id]++ < w->n, "writer %d: more than it has written", id);
		}
		need(got >= want, "writer %d: call %d took %ld bytes, of which %ld are together",
		     id, next[id] - 1, want, got);
		at += want;
		from[id] += want;
	}
	for (int id = 0; id < WRITERS; id++)
		need(next[id] == writers[id].n, "writer %d: %d of %d calls have arrived", id,
		     next[id], writers[id].n);
	printf("# %ld bytes, the writer changed %d times\n", stream_len, turns);
}

static struct pair begin(const struct course *c)
{
	writers = mmap(NULL, WRITERS * sizeof(*writers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(writers != MAP_FAILED, "mmap");
	stream = stream ?: malloc(STREAM_MAX);
	need(stream, "malloc");
	setting_set("rdma_threshold", c->threshold);
	setting_set("mode_after", c->after);
	setting_set("scan_ms", c->scan_ms);
	setting_set("scan_count", 1);
	return pair_sized(1 << 16);
}

/* Several writers until their end. */
static int together(void *arg)
{
	struct course c = *(const struct course *)arg;
	long long used = c.used ? counter(c.used) : 0;
	struct pair p = begin(&c);
	pid_t pids[WRITERS];
	int i;

	c.calls = scaled(c.calls);
	for (i = 0; i < WRITERS; i++)
		pids[i] = writer_start(&p, i, &c);
	close(p.c);
	read_stream(p.s, &c);
	for (i = 0; i < WRITERS; i++)
		helper_end(pids[i]);
	check_stream(-1);
	need(!c.used || counter(c.used) > used, "%s has not moved", c.used);
	await_unpinned();
	return EXIT_OK;
}

/* One of the writers is killed at any moment; the other one continues. */
static int killed(void *arg)
{
	const struct course *c = arg;
	unsigned int seed = 4711;
	int round, rounds = scaled(24), status;

	for (round = 0; round < rounds; round++) {
		struct pair p = begin(c);
		pid_t first = writer_start(&p, 0, c), second = writer_start(&p, 1, c), killer;

		killer = fork();
		if (!killer) {
			usleep(random_up_to(&seed, 30000));
			kill(first, SIGKILL);
			_exit(EXIT_OK);
		}
		random_up_to(&seed, 2);
		close(p.c);
		read_stream(p.s, c);
		close(p.s);
		helper_end(killer);
		helper_end(second);
		waitpid(first, &status, 0);
		check_stream(0);
		munmap(writers, WRITERS * sizeof(*writers));
		await_unpinned();
	}
	return EXIT_OK;
}

struct waiter {
	int fd;
	ssize_t n;
	int error;
	_Atomic pid_t tid;
	pthread_t thread;
};

static void *writes_large(void *arg)
{
	static unsigned char buf[LARGEST];
	struct waiter *w = arg;

	w->tid = gettid();
	w->n = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
	w->error = errno;
	return NULL;
}

static void waiter_start(struct waiter *w, int fd)
{
	*w = (struct waiter){ .fd = fd };
	need(!pthread_create(&w->thread, NULL, writes_large, w), "pthread_create");
	while (!w->tid)
		pause_ms(1);
	await_asleep(w->tid);
}

/*
 * The first writer waits for the reader, with its memory advertised or in messages; the other
 * writers wait for the first one. A non-blocking call gets EAGAIN. Then the connection is reset.
 */
static int reset(void *arg)
{
	const struct course *c = arg;
	struct waiter w[3];
	int i, round, taken;

	for (round = 0; round < scaled(20); round++) {
		struct pair p = begin(c);

		taken = 0;
		for (i = 0; i < 3; i++)
			waiter_start(&w[i], p.c);
		need(send(p.c, "x", 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "it takes a byte");
		need(!poll_for(p.c, POLLOUT, 0), "writable");
		linger_zero(p.s);
		close(p.s);
		for (i = 0; i < 3; i++) {
			pthread_join(w[i].thread, NULL);
			need(w[i].n > 0 || w[i].error == ECONNRESET || w[i].error == EPIPE,
			     "send: %zd, %s", w[i].n, errno_text(w[i].error));
			taken += w[i].n > 0;
		}
		need(send(p.c, "x", 1, MSG_NOSIGNAL) < 0, "it takes a byte afterwards");
		close(p.c);
		munmap(writers, WRITERS * sizeof(*writers));
		need(taken <= 1, "two have written into the same connection");
	}
	await_unpinned();
	return EXIT_OK;
}

static const struct course read_by = {
	32768, NEVER, 100, LARGEST, LARGEST, 0, NO_SCAN_MS, false, "RdmaReadBytes",
};

static const struct course written = {
	32768, 1, 100, LARGEST, LARGEST, 0, NO_SCAN_MS, false, "RdmaWriteBytesByPeer",
};

static const struct course refused = {
	32768, NEVER, 40, 1 << 18, 3000, 0, NO_SCAN_MS, false, "SrcAvailRefused",
};

static const struct course scanned = {
	32768, NEVER, 60, LARGEST, LARGEST, 60, 10, false, "ScansFired",
};

static const struct course messages = {
	0, 3, 100, 1 << 18, 1 << 17, 5, NO_SCAN_MS, false, NULL,
};

static const struct course interrupted = {
	32768, 3, 80, LARGEST, LARGEST, 30, 20, true, NULL,
};

static const struct course some = { 32768, 3, 8, 1 << 18, LARGEST, 10, 20, false, NULL };
static const struct course advertised = {
	32768, 3, 1, LARGEST, LARGEST, 0, NO_SCAN_MS, false, NULL
};
static const struct course in_messages = {
	0, 3, 1, LARGEST, LARGEST, 0, NO_SCAN_MS, false, NULL,
};

static const struct test tests[] = {
	{ "read", together, 60, RC, .sdp_only = true, .arg = (void *)&read_by },
	{ "written", together, 60, RC, .sdp_only = true, .arg = (void *)&written },
	{ "refused", together, 60, RC, .sdp_only = true, .arg = (void *)&refused },
	{ "scanned", together, 60, RC, .sdp_only = true, .arg = (void *)&scanned },
	{ "messages", together, 60, V4_SETS, .sdp_only = true, .arg = (void *)&messages },
	{ "interrupted", together, 60, RC, .sdp_only = true, .arg = (void *)&interrupted },
	{ "killed", killed, 90, RC, .sdp_only = true, .arg = (void *)&some },
	{ "reset_advertised", reset, 60, RC, .sdp_only = true, .arg = (void *)&advertised },
	{ "reset_messages", reset, 60, V4_SETS, .sdp_only = true, .arg = (void *)&in_messages },
};

int main(int argc, char **argv)
{
	pattern_make();
	own_make();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
