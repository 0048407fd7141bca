// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes go by RDMA into the memory of large readers, in messages to all others.
 *
 * Whatever happens meanwhile, no byte is lost, duplicated or out of order, and no page stays pinned
 * (requirements B1-B5, C2-C4).
 */
#include "killing.h"
#include "reading.h"
#include <sys/time.h>

#define WRITE		(1 << 18)

/* Writes the stream to @reader in another process, in @n writes of @size bytes. */
static void stream_by(void (*reader)(void *arg), const struct pair *p, int n, long size, long piece)
{
	struct pattern_reader r = { p->s, p->c, n * size, piece, 0 };
	pid_t pid = helper_start(reader, &r);
	int i;

	for (i = 0; i < n; i++)
		pattern_write(p->c, i * size, size);
	need_errno(!shutdown(p->c, SHUT_WR), "shutdown");
	helper_end(pid);
}

static void stream_to(const struct pair *p, int n, long size, long piece)
{
	stream_by(pattern_reader_main, p, n, size, piece);
}

/* Number of bytes that have gone by RDMA since counters_mark(). */
static long long by_rdma(void)
{
	return since_mark("RdmaReadBytes") + since_mark("RdmaWriteBytesByPeer");
}

/* B3, B4, C4: a reader with as large a buffer gets the data by RDMA, straight into its memory. */
static int posted_large(void *arg)
{
	struct pair p = pair_make();

	setting_set("scan_ms", NO_SCAN_MS);
	counters_mark();
	stream_to(&p, 20, WRITE, WRITE);
	need(!since_mark("SrcAvailRefused"), "%lld refused", since_mark("SrcAvailRefused"));
	need(by_rdma() > 18LL * (WRITE - 4096), "only %lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

/* A reader that comes back after a random delay, to meet any state of the writer. */
static void comes_back(void *arg)
{
	struct pattern_reader *r = arg;
	static unsigned char buf[PATTERN_LARGEST];
	unsigned int seed = 8128;
	long at, spin;

	close(r->other);
	for (at = 0; at < r->len; at += r->piece) {
		for (spin = random_up_to(&seed, 200000); spin; spin--)
			__asm__ volatile("");
		recv_all(r->fd, buf, r->piece);
		pattern_check(at, buf, r->piece);
	}
}

/*
 * C4: a SrcAvail that arrives while the reader looks for data: the bytes that came with it are read
 * first.
 */
static int looked_for(void *arg)
{
	const long size = 8192;
	struct pair p;

	setting_set("rdma_threshold", size);
	setting_set("mode_after", 1000);
	p = pair_make();
	stream_by(comes_back, &p, scaled(3000), size, size);
	return EXIT_OK;
}

/* C4: each SrcAvail is read by RDMA in several parts. */
static int in_parts(void *arg)
{
	struct pair p;

	/* So large reads would lead to Pipelined mode otherwise, where the peer writes. */
	setting_set("mode_after", 1000);
	p = pair_make();
	counters_mark();
	stream_to(&p, 4, 3 << 20, 100000);
	need(since_mark("RdmaReadBytes") > 6 << 20, "only %lld bytes read",
	     since_mark("RdmaReadBytes"));
	return EXIT_OK;
}

/*
 * B3, C2-C4: a small reader declines some SrcAvails, whose data comes in messages, and no further
 * one is sent.
 */
static int learns_small(void *arg)
{
	long long refused = counter("SrcAvailRefused"), declined = counter("SrcAvailDeclined");
	static const int after[] = { 3, 5, 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(after); i++) {
		struct pair p;
		long long sent;

		setting_set("mode_after", after[i]);
		p = pair_make();
		counters_mark();
		stream_to(&p, 12, WRITE, 1000);
		/*
		 * On a busy host the reader may be late. What the writer takes back is no answer,
		 * unless the answer has crossed it.
		 */
		sent = since_mark("SrcAvailSent");
		need(sent >= after[i] && sent <= after[i] + since_mark("SrcAvailCancelled"),
		     "%lld SrcAvails, not %d", sent, after[i]);
		need(since_mark("ModeBuffered") > 0, "the mode has not changed");
		close(p.c);
		close(p.s);
	}
	need(counter("SrcAvailRefused") > refused && counter("SrcAvailDeclined") > declined,
	     "none was refused");
	return EXIT_OK;
}

#define SMALL_PART	(5L * WRITE)

/* Reads in small pieces for a while, then in large ones. */
static void changing_reader(void *arg)
{
	const struct pattern_reader *r = arg;

	close(r->other);
	pattern_read(r->fd, 0, SMALL_PART, 1000);
	pattern_read(r->fd, SMALL_PART, r->len - SMALL_PART, WRITE);
}

/* C2, C3: a reader that waits with a large buffer makes the peer send SrcAvails again. */
static int learns_large_again(void *arg)
{
	struct pair p = pair_make();
	struct pattern_reader r = { p.s, p.c, 60L * WRITE, 0, 0 };
	pid_t pid = helper_start(changing_reader, &r);
	int i;

	counters_mark();
	/*
	 * The mode depends on whether the reader waits when a write comes, so each write awaits it.
	 */
	for (i = 0; i < 60; i++) {
		await_reader(p.s, (long)i * WRITE, pid);
		pattern_write(p.c, (long)i * WRITE, WRITE);
	}
	helper_end(pid);
	need(since_mark("ModeBuffered") > 0, "it has not learnt that the reader reads small");
	need(since_mark("ModeCombined") > 0, "... nor that it reads large again");
	need(by_rdma() >= 20LL * WRITE, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

/*
 * B1, B5: no SrcAvail is sent below the threshold, or when it is 0. Without RDMA read a SrcAvail is
 * sent, but nothing is read.
 */
static int switched_off(void *arg)
{
	struct pair p = pair_make(), q = pair_make();

	counters_mark();
	setting_set("rdma_threshold", WRITE + 1);
	stream_to(&p, 2, WRITE, WRITE);
	setting_set("rdma_threshold", 0);
	p = pair_make();
	stream_to(&p, 2, WRITE, WRITE);
	need(!since_mark("SrcAvailSent"), "%lld SrcAvails", since_mark("SrcAvailSent"));
	setting_set("rdma_threshold", WRITE);
	setting_set("rdma_read", 0);
	stream_to(&q, 4, WRITE, WRITE);
	need(since_mark("SrcAvailSent") > 0 && !since_mark("RdmaReadBytes"), "%lld bytes read",
	     since_mark("RdmaReadBytes"));
	return EXIT_OK;
}

static int threshold_of(int fd)
{
	return get_int(fd, SOL_SDP, SDP_RDMA_THRESHOLD);
}

static int threshold_set(int fd, int value)
{
	return setsockopt(fd, SOL_SDP, SDP_RDMA_THRESHOLD, &value, sizeof(value));
}

/* B1: a socket's own threshold can be larger or smaller than the setting. */
static int own_threshold(void *arg)
{
	struct pair p = pair_make(), q = pair_make();

	counters_mark();
	need(threshold_of(p.c) == 65536, "it begins with %d", threshold_of(p.c));
	need(threshold_set(p.c, -2) && errno == EINVAL, "it takes -2");
	need(threshold_set(p.c, (1 << 30) + 1) && errno == EINVAL, "it takes more than 1 GiB");
	need_errno(!threshold_set(p.c, 0), "set to 0");
	stream_to(&p, 2, WRITE, WRITE);
	need(!since_mark("SrcAvailSent"), "%lld SrcAvails", since_mark("SrcAvailSent"));
	setting_set("rdma_threshold", 0);
	need(threshold_of(q.c) == 0, "with the setting at 0 it is %d", threshold_of(q.c));
	need_errno(!threshold_set(q.c, WRITE), "set");
	stream_to(&q, 2, WRITE, WRITE);
	need(since_mark("SrcAvailSent") > 0 && threshold_of(q.c) == WRITE, "no SrcAvails, at %d",
	     threshold_of(q.c));
	need_errno(!threshold_set(q.c, -1) && !threshold_of(q.c), "set to -1");
	return EXIT_OK;
}

/*
 * B1: with the setting -1 the threshold is measured for the device. The first connection starts the
 * measurement, so only a later one has the result.
 */
static int measured_threshold(void *arg)
{
	long long end = now_ms() + WAIT_MS;
	struct pair p = pair_make();
	int worth;

	setting_set("rdma_threshold", -1);
	do {
		close(p.c);
		close(p.s);
		p = pair_make();
		worth = threshold_of(p.c);
		need(worth >= 1 << 14 && worth <= 1 << 20 && !(worth % 4096), "it is %d", worth);
	} while (worth == 65536 && now_ms() < end - WAIT_MS / 2);
	printf("# measured: %d\n", worth);
	need((int)info_of(p.c).rdma_threshold == worth, "SDP_INFO says %u, not %d",
	     info_of(p.c).rdma_threshold, worth);
	counters_mark();
	stream_to(&p, 2, worth - 1, worth);
	need(!since_mark("SrcAvailSent"), "a SrcAvail below the threshold");
	p = pair_make();
	stream_to(&p, 2, worth, worth);
	need(since_mark("SrcAvailSent") > 0, "no SrcAvail for %d bytes", worth);
	setting_set("rdma_threshold", 4096);
	need(threshold_of(p.c) == 4096, "what is set does not count");
	return EXIT_OK;
}

static void on_alarm(int sig)
{
}

/* Sends for at most @ms to a reader that does not read. Returns how many bytes the call took. */
static ssize_t send_for(int fd, long at, int ms, bool by_signal)
{
	/* Again and again: the first signal may come before the call. */
	struct itimerval in = {
		.it_value.tv_usec = ms * 1000, .it_interval.tv_usec = ms * 1000
	}, none = { 0 };
	struct sigaction act = { .sa_handler = on_alarm };
	ssize_t n;

	need_errno(!sigaction(SIGALRM, &act, NULL), "sigaction");
	if (by_signal)
		need_errno(!setitimer(ITIMER_REAL, &in, NULL), "setitimer");
	else
		set_timeout(fd, SO_SNDTIMEO, ms);
	n = send(fd, pattern(at), WRITE, MSG_NOSIGNAL);
	setitimer(ITIMER_REAL, &none, NULL);
	set_timeout(fd, SO_SNDTIMEO, 0);
	need(n > 0 || (n < 0 && errno == (by_signal ? EINTR : EAGAIN)), "send: %zd, %s", n,
	     errno_text(errno));
	return n < 0 ? 0 : n;
}

/* A signal or a timeout cancels the SrcAvail: the bytes that the call reports are what arrives. */
static int taken_back(void *arg)
{
	const bool by_signal = *(bool *)arg;
	struct pair p = pair_make();
	unsigned int seed = 99;
	int i, rounds = scaled(20);
	long at = 0, read = 0;

	counters_mark();
	setting_set("scan_ms", NO_SCAN_MS);
	/* On a busy machine a call may be over before it has registered its memory. */
	for (i = 0; i < rounds || since_mark("SrcAvailCancelled") <= rounds / 2; i++) {
		at += send_for(p.c, at, 1 + random_up_to(&seed, 39), by_signal);
		pattern_read(p.s, read, at - read, WRITE);
		read = at;
	}
	return EXIT_OK;
}

static void polling_reader(void *arg)
{
	const struct pattern_reader *r = arg;

	pattern_read_polled(r->fd, 0, r->len, r->piece);
}

/* B4: the reader polls before each read, and so never waits in a read. */
static int polled(void *arg)
{
	struct pair p = pair_make();

	counters_mark();
	stream_by(polling_reader, &p, 20, WRITE, WRITE);
	need(since_mark("RdmaReadBytes") > 10 * WRITE, "only %lld bytes read",
	     since_mark("RdmaReadBytes"));
	return EXIT_OK;
}

static void *writer_thread(void *arg)
{
	const struct pair *p = arg;
	ssize_t n = send(p->c, pattern(0), WRITE, MSG_NOSIGNAL);

	need(n > 0 || errno == EPIPE, "send: %zd, %s", n, errno_text(errno));
	return (void *)(n < 0 ? 0 : n);
}

/* Starts a large write. Returns when its SrcAvail has come, which no scan ends. */
static pthread_t write_begin(struct pair *p)
{
	pthread_t thread;

	setting_set("scan_ms", NO_SCAN_MS);
	need(!pthread_create(&thread, NULL, writer_thread, p), "pthread_create");
	need(await_bytes(p->s, WRITE) >= WRITE, "only %d bytes can be read", queued_bytes(p->s));
	return thread;
}

/* Returns how many bytes the write took. */
static long write_end(pthread_t thread)
{
	void *n;

	pthread_join(thread, &n);
	return (long)n;
}

/* FIONREAD, poll() and MSG_PEEK count the data behind a SrcAvail. */
static int seen(void *arg)
{
	static unsigned char buf[WRITE];
	struct pair p = pair_make();
	pthread_t thread = write_begin(&p);
	ssize_t n;

	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, WRITE / 2);
	need(poll_for(p.s, POLLIN, 0), "not readable");
	n = recv(p.s, buf, 9000, MSG_PEEK | MSG_DONTWAIT);
	need(n > 0, "peek: %zd, %s", n, errno_text(errno));
	pattern_check(0, buf, n);
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 1);
	pattern_read(p.s, 0, WRITE, 50000);
	need(write_end(thread) == WRITE, "not all has been written");
	return EXIT_OK;
}

/* While a large write of one thread is in progress, no data of another thread gets in between. */
static int others_wait(void *arg)
{
	struct pair p = pair_make();
	pthread_t thread = write_begin(&p);
	ssize_t n;

	need(!poll_for(p.c, POLLOUT, 0), "writable");
	n = send(p.c, "x", 1, MSG_DONTWAIT);
	need(n < 0 && errno == EAGAIN, "send: %zd, %s", n, errno_text(errno));
	pattern_read(p.s, 0, WRITE, WRITE);
	need(write_end(thread) == WRITE, "not all has been written");
	need(poll_for(p.c, POLLOUT, WAIT_MS), "not writable afterwards");
	send_all(p.c, pattern(WRITE), 100);
	pattern_read(p.s, WRITE, 100, 100);
	return EXIT_OK;
}

/* Another thread calls shutdown(SHUT_WR): the send call returns the number of bytes taken. */
static int shut_meanwhile(void *arg)
{
	struct pair p = pair_make();
	pthread_t thread = write_begin(&p);
	char more;

	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	pattern_read(p.s, 0, write_end(thread), WRITE);
	need(read(p.s, &more, 1) == 0, "no end of the stream");
	return EXIT_OK;
}

/* The buffers of writer and reader may begin and end anywhere in a page. */
static int anywhere(void *arg)
{
	static unsigned char in[PATTERN_LARGEST + 4096];
	struct pair p = pair_make();
	unsigned int seed = 31415;
	int i, rounds = scaled(60);
	long at = 0;
	pid_t pid = fork();

	need_errno(pid >= 0, "fork");
	for (i = 0; i < rounds; i++) {
		long n = random_up_to(&seed, i % 3 ? 100000 : PATTERN_LARGEST);
		unsigned char *to = in + random_up_to(&seed, 4096);

		if (!pid) {
			send_all(p.c, pattern(at), n);
		} else {
			recv_all(p.s, to, n);
			pattern_check(at, to, n);
		}
		at += n;
	}
	if (!pid)
		_exit(EXIT_OK);
	helper_end(pid);
	return EXIT_OK;
}

struct shape {
	int pieces;
	size_t lengths[4];
};

/* Lays out the pieces of a call in @memory, at odd offsets with a gap between them. */
static void shape_fill(const struct shape *s, unsigned char *memory, struct iovec *iov)
{
	size_t at = 1;
	int i;

	for (i = 0; i < s->pieces; i++) {
		iov[i].iov_base = memory + at;
		iov[i].iov_len = s->lengths[i];
		at += s->lengths[i] + 3;
	}
}

static void shaped_writer(int fd, long at, const struct shape *s)
{
	static unsigned char memory[3 << 20];
	struct iovec iov[4];
	ssize_t n, want = 0;
	int i;

	shape_fill(s, memory, iov);
	for (i = 0; i < s->pieces; i++) {
		size_t done = 0;

		while (done < iov[i].iov_len) {
			size_t part = iov[i].iov_len - done;

			if (part > PATTERN_LARGEST)
				part = PATTERN_LARGEST;
			memcpy((char *)iov[i].iov_base + done, pattern(at + want), part);
			done += part;
			want += part;
		}
	}
	n = s->pieces == 1 ? write(fd, iov[0].iov_base, iov[0].iov_len) :
			     writev(fd, iov, s->pieces);
	need(n == want, "%zd of %zd written, %s", n, want, errno_text(errno));
}

/* Every shape of the buffers of writer and reader. All pages are unpinned afterwards. */
static int shapes(void *arg)
{
	static const struct shape list[] = {
		{ 1, { 1 << 18 } }, { 1, { 2 << 20 } }, { 2, { 0, 1 << 18 } },
		{ 3, { 100, 1 << 18, 100 } }, { 4, { 1 << 16, 1 << 16, 0, 1 << 17 } },
		{ 2, { 5000, 40000 } }, { 1, { (1 << 20) + 1 } },
	};
	static unsigned char memory[3 << 20];
	struct pair p = pair_make();
	struct iovec iov[4];
	size_t i, k;
	long at = 0;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(list) * ARRAY_SIZE(list); i++) {
		const struct shape *out = &list[i % ARRAY_SIZE(list)];
		const struct shape *in = &list[i / ARRAY_SIZE(list)];
		long end = at;

		for (k = 0; k < 4; k++)
			end += out->lengths[k];
		pid = fork();
		need_errno(pid >= 0, "fork");
		if (!pid) {
			shaped_writer(p.c, at, out);
			_exit(EXIT_OK);
		}
		while (at < end) {
			ssize_t n, left;

			shape_fill(in, memory, iov);
			n = in->pieces == 1 ? read(p.s, iov[0].iov_base, iov[0].iov_len) :
					      readv(p.s, iov, in->pieces);
			need_errno(n > 0, "read");
			for (k = 0, left = n; left; k++) {
				long part = left < (long)iov[k].iov_len ? left :
								(long)iov[k].iov_len;
				long done, cut;

				for (done = 0; done < part; done += cut) {
					cut = part - done < PATTERN_LARGEST ? part - done :
									      PATTERN_LARGEST;
					pattern_check(at + done,
						      (unsigned char *)iov[k].iov_base + done,
						      cut);
				}
				at += part;
				left -= part;
			}
		}
		helper_end(pid);
	}
	await_unpinned();
	return EXIT_OK;
}

#define SCRAPS		250
#define SCRAP		4000L

static void writes_scraps(void *arg)
{
	const struct pair *p = arg;
	int i;

	for (i = 0; i < 8; i++)
		send_all(p->c, pattern(i * SCRAPS * SCRAP), SCRAPS * SCRAP);
}

/* B3: memory in many small pieces with gaps gets large writes, too, and each byte its place. */
static int scattered(void *arg)
{
	static unsigned char memory[SCRAPS * (SCRAP + 100)];
	const long all = SCRAPS * SCRAP;
	struct iovec iov[SCRAPS];
	struct pair p = pair_make();
	pid_t pid;
	long at;
	int i;

	counters_mark();
	pid = helper_start(writes_scraps, &p);
	for (at = 0; at < 8 * all; at += all) {
		for (i = 0; i < SCRAPS; i++)
			iov[i] = (struct iovec){ memory + i * (SCRAP + 100) + 3, SCRAP };
		need(recvmsg(p.s, &(struct msghdr){ .msg_iov = iov, .msg_iovlen = SCRAPS },
			     MSG_WAITALL) == all, "recvmsg: %s", errno_text(errno));
		for (i = 0; i < SCRAPS; i++)
			pattern_check(at + i * SCRAP, iov[i].iov_base, SCRAP);
	}
	helper_end(pid);
	need(since_mark("RdmaReadBytes") > 4 * all, "%lld bytes by RDMA",
	     since_mark("RdmaReadBytes"));
	await_unpinned();
	return EXIT_OK;
}

static void mixed_writer(void *arg)
{
	const struct pair *p = arg;
	long at = 0;
	int i, rounds = scaled(40);

	for (i = 0; i < rounds; i++) {
		long large = 40000 + i * 1000;

		send_all(p->c, pattern(at), large);
		at += large;
		send_all(p->c, pattern(at), 700);
		at += 700;
	}
	need_errno(!shutdown(p->c, SHUT_WR), "shutdown");
}

static long splice_some(int fd, int to_pipe[2], unsigned char *buf)
{
	ssize_t n = splice(fd, NULL, to_pipe[1], NULL, 30000, 0);

	need_errno(n >= 0, "splice");
	need(read(to_pipe[0], buf, n) == n, "read from the pipe");
	return n;
}

/*
 * Calls that do not take the data into the application's memory (MSG_PEEK, MSG_TRUNC, splice) keep
 * the stream in order: what they read goes before the data that follows the SrcAvail.
 */
static int looked_at(void *arg)
{
	static unsigned char buf[PATTERN_LARGEST];
	struct pair p = pair_make();
	pid_t pid = helper_start(mixed_writer, &p);
	int to_pipe[2], turn = 0;
	long at = 0;
	ssize_t n;

	close(p.c);
	need_errno(!pipe(to_pipe), "pipe");
	do {
		switch (turn++ % 4) {
		case 0:
			n = recv(p.s, buf, 20000, MSG_PEEK);
			if (n > 0)
				pattern_check(at, buf, n);
			continue;
		case 1:
			n = recv(p.s, NULL, 10000, MSG_TRUNC);
			break;
		case 2:
			n = splice_some(p.s, to_pipe, buf);
			pattern_check(at, buf, n);
			break;
		default:
			n = recv(p.s, buf, 50000, 0);
			if (n > 0)
				pattern_check(at, buf, n);
		}
		need_errno(n >= 0, "recv");
		at += n;
	} while (n > 0);
	helper_end(pid);
	need(at == scaled(40) * 40700L + 1000L * scaled(40) * (scaled(40) - 1) / 2,
	     "%ld bytes in all", at);
	return EXIT_OK;
}

static void one_writer(void *arg)
{
	send_all(((struct pair *)arg)->c, pattern(0), WRITE);
}

/*
 * B5: without RDMA read, MSG_PEEK with MSG_WAITALL for more bytes than came with the SrcAvail gets
 * them in messages.
 */
static int looked_at_unread(void *arg)
{
	const long more = 8192;
	static unsigned char buf[PATTERN_LARGEST];
	struct pair p;
	pid_t pid;

	setting_set("rdma_read", 0);
	setting_set("scan_ms", NO_SCAN_MS);
	p = pair_make();
	pid = helper_start(one_writer, &p);
	need(recv(p.s, buf, more, MSG_PEEK | MSG_WAITALL) == more, "not all to be seen");
	pattern_check(0, buf, more);
	pattern_read(p.s, 0, WRITE, WRITE);
	helper_end(pid);
	return EXIT_OK;
}

static void urgent_writer(void *arg)
{
	const struct pair *p = arg;
	int i;

	for (i = 0; i < scaled(20); i++) {
		char go;

		send_all(p->c, pattern(0), 1 << 17);
		need(send(p->c, "!", 1, MSG_OOB) == 1, "MSG_OOB");
		send_all(p->c, pattern(0), 1000);
		need(read(p->c, &go, 1) == 1, "no answer");
	}
}

/* The mark of an urgent byte right after a SrcAvail is behind its last byte. */
static int urgent_behind(void *arg)
{
	static unsigned char buf[1 << 18];
	struct pair p = pair_make();
	pid_t pid = helper_start(urgent_writer, &p);
	int i, mark;

	for (i = 0; i < scaled(20); i++) {
		long got = 0;
		char byte;

		do {
			ssize_t n = recv(p.s, buf, sizeof(buf), 0);

			need_errno(n > 0, "recv");
			got += n;
			need(got <= 1 << 17, "read over the mark: %ld bytes", got);
		} while (got < 1 << 17);
		need(poll_for(p.s, POLLPRI, WAIT_MS), "no urgent byte");
		need_errno(!ioctl(p.s, SIOCATMARK, &mark), "SIOCATMARK");
		need(mark, "not at the mark");
		need(recv(p.s, &byte, 1, MSG_OOB) == 1 && byte == '!', "MSG_OOB");
		recv_all(p.s, buf, 1000);
		send_all(p.s, "y", 1);
	}
	helper_end(pid);
	return EXIT_OK;
}

/* A read into memory that may not be written fails with EFAULT, and no data is lost. */
static int bad_memory(void *arg)
{
	struct pair p = pair_make();
	pthread_t thread;
	char *readonly = mmap(NULL, 2 * WRITE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	need(readonly != MAP_FAILED && !mprotect(readonly + WRITE, WRITE, PROT_NONE), "mmap");
	thread = write_begin(&p);
	n = recv(p.s, readonly, WRITE, 0);
	need(n < 0 && errno == EFAULT, "recv: %zd, %s", n, errno_text(errno));
	pattern_read(p.s, 0, WRITE, WRITE);
	need(write_end(thread) == WRITE, "not all has been written");
	n = send(p.c, readonly + WRITE, WRITE, MSG_NOSIGNAL);
	need(n < 0 && errno == EFAULT, "send: %zd, %s", n, errno_text(errno));
	return EXIT_OK;
}

/* Pinned pages count against RLIMIT_MEMLOCK. With a limit of 0 all data goes in messages. */
static int no_memlock(void *arg)
{
	const struct rlimit none = { 0, 0 };
	struct pair p = pair_make();

	counters_mark();
	need_errno(!setrlimit(RLIMIT_MEMLOCK, &none), "setrlimit");
	need_errno(!setuid(65534), "setuid");
	stream_to(&p, 3, WRITE, WRITE);
	need(!since_mark("SrcAvailSent"), "%lld SrcAvails", since_mark("SrcAvailSent"));
	return EXIT_OK;
}

/*
 * An unprivileged user who may pin a few pages. Each write must give its pages back, or the next
 * writes would not go by RDMA.
 */
static int some_memlock(void *arg)
{
	const struct rlimit some = { 4 * WRITE, 4 * WRITE };
	int rounds = scaled(100);
	struct pair p = pair_make();

	counters_mark();
	need_errno(!setrlimit(RLIMIT_MEMLOCK, &some), "setrlimit");
	need_errno(!setuid(65534), "setuid");
	stream_to(&p, rounds, WRITE, WRITE);
	need(by_rdma() > (rounds - 2LL) * (WRITE - 4096), "only %lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

static void reader_without_memlock(void *arg)
{
	const struct rlimit none = { 0, 0 };

	need_errno(!setrlimit(RLIMIT_MEMLOCK, &none), "setrlimit");
	need_errno(!setuid(65534), "setuid");
	pattern_reader_main(arg);
}

/* A reader that may not pin pages gets all data and advertises no memory. */
static int reader_no_memlock(void *arg)
{
	struct pair p = pair_make();

	counters_mark();
	stream_by(reader_without_memlock, &p, 10, WRITE, WRITE);
	need(!since_mark("SinkAvailSent") && !since_mark("RdmaWriteBytesByPeer"),
	     "%lld buffers advertised, %lld bytes written into them", since_mark("SinkAvailSent"),
	     since_mark("RdmaWriteBytesByPeer"));
	return EXIT_OK;
}

/* Children that are forked meanwhile and write to their copy of the memory change nothing. */
static int forked(void *arg)
{
	struct pair p = pair_make();
	static unsigned char buf[WRITE];
	int i, rounds = scaled(40);
	pid_t pid = fork(), child;

	need_errno(pid >= 0, "fork");
	if (!pid) {
		for (i = 0; i < rounds; i++)
			send_all(p.c, pattern((long)i * WRITE), WRITE);
		_exit(EXIT_OK);
	}
	child = fork();
	if (!child) {
		for (;;) {
			pid_t other = fork();

			if (!other) {
				memset(buf, 0xee, sizeof(buf));
				_exit(0);
			}
			waitpid(other, NULL, 0);
		}
	}
	for (i = 0; i < rounds; i++) {
		recv_all(p.s, buf, WRITE);
		pattern_check((long)i * WRITE, buf, WRITE);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	helper_end(pid);
	return EXIT_OK;
}

/* One of the two processes is killed at any moment: the other one is told, no page stays pinned. */
static int killed(void *arg)
{
	talks_killed(&endless_stream, scaled(100), 30, 271828);
	return EXIT_OK;
}

static bool signals = true, timeouts;

static const struct test tests[] = {
	{ "posted_large", posted_large, 30, RC | 1u << SET_RC6, .sdp_only = true, .arg = NULL },
	{ "looked_for", looked_for, 60, RC, .sdp_only = true, .arg = NULL },
	{ "in_parts", in_parts, 30, RC, .sdp_only = true, .arg = NULL },
	{ "learns_small", learns_small, 30, RC, .sdp_only = true, .arg = NULL },
	{ "learns_large_again", learns_large_again, 30, RC, .sdp_only = true, .arg = NULL },
	{ "switched_off", switched_off, 30, RC, .sdp_only = true, .arg = NULL },
	{ "own_threshold", own_threshold, 30, RC, .sdp_only = true, .arg = NULL },
	{ "measured_threshold", measured_threshold, 30, RC, .sdp_only = true, .arg = NULL },
	{ "taken_back_by_signal", taken_back, 30, RC, .sdp_only = true, .arg = &signals },
	{ "taken_back_by_timeout", taken_back, 30, RC, .sdp_only = true, .arg = &timeouts },
	{ "polled", polled, 30, RC, .sdp_only = true, .arg = NULL },
	{ "seen", seen, 30, RC, .sdp_only = true, .arg = NULL },
	{ "others_wait", others_wait, 30, RC, .sdp_only = true, .arg = NULL },
	{ "shut_meanwhile", shut_meanwhile, 30, RC, .sdp_only = true, .arg = NULL },
	{ "anywhere", anywhere, 60, RC, .sdp_only = true, .arg = NULL },
	{ "shapes", shapes, 60, RC, .sdp_only = true, .arg = NULL },
	{ "scattered", scattered, 30, RC, .sdp_only = true, .arg = NULL },
	{ "looked_at", looked_at, 30, RC, .sdp_only = true, .arg = NULL },
	{ "looked_at_unread", looked_at_unread, 30, RC, .sdp_only = true, .arg = NULL },
	{ "urgent_behind", urgent_behind, 30, RC, .sdp_only = true, .arg = NULL },
	{ "bad_memory", bad_memory, 30, RC, .sdp_only = true, .arg = NULL },
	{ "no_memlock", no_memlock, 30, RC, .sdp_only = true, .arg = NULL },
	{ "some_memlock", some_memlock, 30, RC, .sdp_only = true, .arg = NULL },
	{ "reader_no_memlock", reader_no_memlock, 30, RC, .sdp_only = true, .arg = NULL },
	{ "forked", forked, 60, RC, .sdp_only = true, .arg = NULL },
	{ "killed", killed, 90, RC, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
