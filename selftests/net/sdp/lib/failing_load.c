// SPDX-License-Identifier: GPL-2.0
#include "failing_load.h"

/* No call may take so long, however often it gets no memory. */
#define STALLED_MS	20000

/* How a connection may end if one of its ends could not be made for lack of memory. */
static bool may_end(int error)
{
	return error == ECONNRESET || error == EPIPE || error == ETIMEDOUT;
}

void need_bytes(const unsigned char *data, size_t at, ssize_t n)
{
	ssize_t i;

	for (i = 0; i < n; i++)
		need(data[i] == byte_at(at + i), "byte %zu is wrong", at + i);
}

/* recv(), repeated while there is no memory. Nothing is lost by a failed call. */
static ssize_t recv_at_last(int fd, void *data, size_t len)
{
	ssize_t n;

	do {
		n = recv(fd, data, len, 0);
	} while (n < 0 && is_shortage(errno));
	return n;
}

static ssize_t send_at_last(int fd, const void *data, size_t len)
{
	ssize_t n;

	do {
		n = send(fd, data, len, MSG_NOSIGNAL);
	} while (n < 0 && is_shortage(errno));
	return n;
}

/* Reads a stream to its end, and answers with its length. */
void serve_one(int fd)
{
	unsigned char data[8192];
	size_t got = 0;
	ssize_t n;

	set_timeout(fd, SO_RCVTIMEO, STALLED_MS);
	set_timeout(fd, SO_SNDTIMEO, STALLED_MS);
	while ((n = recv_at_last(fd, data, sizeof(data))) > 0) {
		need_bytes(data, got, n);
		got += n;
	}
	if (!n)
		n = send_at_last(fd, &got, sizeof(got));
	need(n >= 0 || may_end(errno), "after %zu bytes: %s", got, errno_text(errno));
	close(fd);
}

static void *load_server(void *arg)
{
	struct load *l = arg;
	int fd;

	while (!l->quiet) {
		if (poll_for(l->listening, POLLIN, 200) != POLLIN)
			continue;
		fd = accept(l->listening, NULL, NULL);
		if (fd >= 0)
			serve_one(fd);
		else
			need(is_shortage(errno) || errno == ENFILE || errno == ECONNABORTED,
			     "accept: %s", errno_text(errno));
	}
	return NULL;
}

/* Some writes of random sizes. Returns the number of bytes taken, or -1 after the end. */
ssize_t write_some(struct load *l, int fd, unsigned char *data)
{
	size_t sent = 0, len, i;
	int rounds = 5;
	ssize_t n;

	while (rounds--) {
		len = random_up_to(&l->seed, rounds == 2 ? 200000 : 9000);
		for (i = 0; i < len; i++)
			data[i] = byte_at(sent + i);
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n >= 0) {
			sent += n;
		} else if (is_shortage(errno)) {
			l->seen.refused++;
		} else {
			need(may_end(errno), "send: %s", errno_text(errno));
			return -1;
		}
	}
	return sent;
}

/* A whole stream: the other end answers that all bytes that were taken have arrived. */
static void one_stream(struct load *l, int fd, unsigned char *data)
{
	ssize_t sent = write_some(l, fd, data), n = -1;
	size_t come = 0;

	if (sent >= 0 && !shutdown(fd, SHUT_WR))
		n = recv_at_last(fd, &come, sizeof(come));
	if (n == sizeof(come)) {
		need(come == (size_t)sent, "%zd bytes were taken, %zu have come", sent, come);
		l->seen.whole++;
		return;
	}
	need(!n || may_end(errno) || errno == ENOTCONN, "it ends by %s", errno_text(errno));
	l->seen.ended++;
}

/* connect() has a time limit of its own, connect_timeout_ms. */
bool connects(struct load *l, int fd)
{
	long long start = now_ms();
	bool ok = !connect(fd, &l->where.sa, l->where.len);
	int error = errno;

	if (now_ms() - start > l->seen.slowest)
		l->seen.slowest = now_ms() - start;
	if (ok)
		return true;
	need(is_shortage(error) || error == ECONNREFUSED || error == ETIMEDOUT, "connect: %s",
	     errno_text(error));
	if (is_shortage(error))
		l->seen.refused++;
	else
		l->seen.unanswered++;
	return false;
}

static void *load_client(void *arg)
{
	struct load *l = arg;
	unsigned char *data = malloc(LARGE);
	int fd;

	while (!l->stop) {
		l->seen.connects++;
		fd = socket(AF_SDP, SOCK_STREAM, 0);
		if (fd < 0) {
			need(is_shortage(errno) || errno == ENFILE, "socket: %s",
			     errno_text(errno));
			l->seen.refused++;
			continue;
		}
		if (connects(l, fd)) {
			set_timeout(fd, SO_SNDTIMEO, STALLED_MS);
			set_timeout(fd, SO_RCVTIMEO, STALLED_MS);
			one_stream(l, fd, data);
		}
		close(fd);
	}
	free(data);
	return NULL;
}

/* The permanent connection never ends early, and all of its bytes arrive. */
static void *standing_writer(void *arg)
{
	struct load *l = arg;
	unsigned char *data = malloc(LARGE);
	unsigned int seed = 4711;
	size_t i, len;
	ssize_t n;

	while (!l->stop) {
		len = random_up_to(&seed, next_random(&seed) % 8 ? 5000 : 150000);
		for (i = 0; i < len; i++)
			data[i] = byte_at(l->written + i);
		n = send_at_last(l->stands.c, data, len);
		need(n > 0, "what stands, send: %s", errno_text(errno));
		l->written += n;
	}
	need_errno(!shutdown(l->stands.c, SHUT_WR), "what stands, shutdown");
	free(data);
	return NULL;
}

static void *standing_reader(void *arg)
{
	struct load *l = arg;
	unsigned char data[16384];
	size_t got = 0;
	ssize_t n;

	while ((n = recv_at_last(l->stands.s, data, sizeof(data))) > 0) {
		need_bytes(data, got, n);
		got += n;
		l->seen.moved = got;
	}
	need(!n, "what stands, recv: %s", errno_text(errno));
	need(got == l->written, "what stands: %zu bytes of %zu have come", got, l->written);
	return NULL;
}

/* For @ms milliseconds, @percent of the module's allocations fail. */
static void one_level(struct load *l, unsigned int percent, int ms)
{
	struct tally was = l->seen, is;
	long long end = now_ms() + ms;

	l->seen.slowest = 0;
	fail_often(percent);
	while (now_ms() < end)
		pause_ms(100);
	is = l->seen;
	printf("# %lu connects at %u %%: %lu refused calls, %lu unanswered, ",
	       is.connects - was.connects, percent, is.refused - was.refused,
	       is.unanswered - was.unanswered);
	printf("%lld ms at most, %lu streams whole, %lu ended; %lu bytes by the one that stands\n",
	       is.slowest, is.whole - was.whole, is.ended - was.ended, is.moved - was.moved);
	need(is.moved > was.moved, "at %u %% nothing moves", percent);
}

static void all_levels(struct load *l, int ms)
{
	static const unsigned int often[] = { 1, 5, 25, 60 };
	static void *(*const bodies[])(void *) = {
		load_client, load_server, standing_writer, standing_reader,
	};
	pthread_t threads[ARRAY_SIZE(bodies)];
	struct text inserting;
	unsigned int i;

	l->seed = getpid();
	l->listening = listener(8, &l->where);
	l->stands = pair_make();
	set_timeout(l->stands.c, SO_SNDTIMEO, STALLED_MS);
	set_timeout(l->stands.s, SO_RCVTIMEO, STALLED_MS);
	printf("# seed %u\n", l->seed);
	only_the_module(true);
	/*
	 * If __xa_insert() gets memory for the first node of a new entry, but not for the second,
	 * it leaves the first one in the xarray, empty. rdma_cm keeps ports in xarrays, and warns
	 * when it destroys one that is not empty. That is a fault of the kernel, not of the module.
	 */
	need(function_text("__xa_insert", &inserting), "the kernel's symbols are not shown");
	not_in(&inserting);
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		need(!pthread_create(&threads[i], NULL, bodies[i], l), "pthread_create");
	for (i = 0; i < ARRAY_SIZE(often); i++)
		one_level(l, often[i], ms);
	fail_often(0);
	l->stop = true;
	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		pthread_join(threads[i], NULL);
		l->quiet = true;
	}
	only_the_module(false);
	not_in(NULL);
	close(l->listening);
}

int at_random(void *arg)
{
	struct load l = { .seed = 0 };
	struct pair p;

	if (!can_fail())
		return EXIT_SKIPPED;
	all_levels(&l, short_form() ? 2000 : 15000);
	need(l.seen.whole && l.seen.refused > 5, "%lu streams whole, %lu calls refused",
	     l.seen.whole, l.seen.refused);
	/* New connections work. */
	p = pair_make();
	need_talk(p.c, p.s);
	return EXIT_OK;
}

/* Prints the sockets that are left, for whoever looks for the reason. */
static bool show_sockets(void)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		printf("# %s", line);
	if (f)
		fclose(f);
	return true;
}

/*
 * Injection must not outlive a test that has failed. Nor may the next test find connections that
 * are still ending: the message that got no memory may have been their last.
 */
int as_before(void *arg)
{
	long long start = now_ms();
	bool told = false;
	struct pair p;

	if (!can_fail())
		return EXIT_SKIPPED;
	fail_often(0);
	only_the_module(false);
	not_in(NULL);
	while (sockets()) {
		need(now_ms() < start + 150000, "%d sockets are left", sockets());
		if (!told && now_ms() > start + 5000)
			told = show_sockets();
		pause_ms(100);
	}
	printf("# the last socket was gone after %lld ms\n", now_ms() - start);
	p = pair_make();
	need_talk(p.c, p.s);
	return EXIT_OK;
}
