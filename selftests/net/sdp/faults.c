// SPDX-License-Identifier: GPL-2.0
/*
 * Calls without memory: each allocation of each call fails once, one after the other, until the
 * call succeeds. A call that fails says ENOBUFS or ENOMEM, or ENFILE where it makes a socket, as
 * with TCP; the same call works once there is memory; a connection lives on with all it has taken
 * (A4); and nothing is left behind. Likewise for a new device, a new namespace and the module
 * itself; and at random under load, also where no call waits. It takes a kernel with fault
 * injection: the debug kernel. timeout: 400 s; short form: debug/3
 */
#include <linux/sdp.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

#include "cases.h"
#include "failing_call.h"
#include "info.h"
#include "faults_devices.h"

static void fill_data(struct state *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		s->data[i] = byte_at(s->sent + i);
}

static void *take_all(void *arg)
{
	struct state *s = arg;
	unsigned char *data = malloc(LARGE);
	size_t left = s->done, i;
	ssize_t n;

	while (left) {
		n = recv(s->p.s, data, left, 0);
		need(n > 0, "recv: %s", n ? errno_text(errno) : "the end");
		for (i = 0; i < (size_t)n; i++)
			need(data[i] == byte_at(s->got + i), "byte %zu is wrong", s->got + i);
		s->got += n;
		left -= n;
	}
	free(data);
	return NULL;
}

/* What was sent has come, and no more. */
static void after_send(struct state *s)
{
	s->done = s->sent - s->got;
	take_all(s);
	need(recv(s->p.s, s->data, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "more has come");
}

static int run_socket(struct state *s)	{ s->fd = socket(AF_SDP, SOCK_STREAM, 0); return s->fd; }
static void close_fd(struct state *s)	{ close(s->fd); }
static void prepare_fresh(struct state *s)	{ s->fd = fresh(0); }

static int run_bind(struct state *s)
{
	struct addr a = server_addr(0);

	return bind(s->fd, &a.sa, a.len);
}

static int run_listen(struct state *s)	{ return listen(s->fd, 4); }

static void prepare_listen(struct state *s)
{
	s->fd = fresh(0);
	need_errno(!run_bind(s), "bind");
}

static void after_listen(struct state *s)
{
	struct addr where = name_of(s->fd);
	int c = fresh(0), accepted;

	connect_to(c, &where);
	accepted = accept_from(s->fd);
	need_talk(c, accepted);
	close(c);
	close(accepted);
	close(s->fd);
}

static void setup_listener(struct state *s)	{ s->listening = listener(8, &s->where); }

static int run_connect(struct state *s)
{
	return connect(s->fd, &s->where.sa, s->where.len);
}

static void after_connect(struct state *s)
{
	int accepted = accept_from(s->listening);

	need_talk(s->fd, accepted);
	close(accepted);
	close(s->fd);
}

static void prepare_accept(struct state *s)
{
	s->p.c = fresh(0);
	connect_to(s->p.c, &s->where);
}

static int run_accept(struct state *s)	{ s->fd = accept(s->listening, NULL, NULL); return s->fd; }

static void after_accept(struct state *s)
{
	need_talk(s->p.c, s->fd);
	close(s->fd);
	close(s->p.c);
}

static int send_some(struct state *s, size_t n, int flags)
{
	ssize_t done;

	fill_data(s, n);
	done = send(s->p.c, s->data, n, flags);
	if (done > 0)
		s->sent += done;
	return done < 0 ? -1 : 0;
}

static int run_send(struct state *s)		{ return send_some(s, 100, 0); }
static int run_send_pages(struct state *s)	{ return send_some(s, 20000, 0); }
static int run_send_more(struct state *s)	{ return send_some(s, 1200, MSG_MORE); }
static int run_zerocopy(struct state *s)	{ return send_some(s, 20000, MSG_ZEROCOPY); }

static void setup_zerocopy(struct state *s)
{
	s->p = pair_make();
	set_int(s->p.c, SOL_SOCKET, SO_ZEROCOPY, 1);
}

static void *take_large(void *arg)
{
	struct state *s = arg;

	/* However much the call moves: what is missing is sent afterwards. */
	s->done = LARGE;
	return take_all(arg);
}

/* A reader is there meanwhile; the rest of what it waits for is sent when all is well again. */
static pthread_t large_reader;

static void prepare_large(struct state *s)
{
	need(!pthread_create(&large_reader, NULL, take_large, s), "pthread_create");
	s->done = 0;
}

static int run_send_large(struct state *s)	{ return send_some(s, LARGE, 0); }

static void after_large(struct state *s)
{
	size_t rest = LARGE - s->sent % LARGE;

	if (rest != LARGE) {
		fill_data(s, rest);
		send_all(s->p.c, s->data, rest);
		s->sent += rest;
	}
	pthread_join(large_reader, NULL);
	need(s->got == s->sent, "%zu bytes of %zu have come", s->got, s->sent);
}

static void *give_large(void *arg)
{
	struct state *s = arg;
	unsigned char *data = malloc(LARGE);
	size_t i;

	for (i = 0; i < LARGE; i++)
		data[i] = byte_at(s->sent + i);
	send_all(s->p.c, data, LARGE);
	free(data);
	return NULL;
}

static void prepare_recv_large(struct state *s)
{
	need(!pthread_create(&large_reader, NULL, give_large, s), "pthread_create");
}

static int recv_some(struct state *s, size_t n, int flags)
{
	ssize_t done = recv(s->p.s, s->data, n, flags), i;

	for (i = 0; i < done; i++)
		need(s->data[i] == byte_at(s->got + i), "byte %zu is wrong", s->got + i);
	if (done > 0)
		s->got += done;
	return done < 0 ? -1 : 0;
}

static int run_recv_large(struct state *s)	{ return recv_some(s, LARGE, MSG_WAITALL); }

static void after_recv_large(struct state *s)
{
	while (s->got % LARGE)
		need_errno(!recv_some(s, LARGE - s->got % LARGE, MSG_WAITALL), "recv");
	pthread_join(large_reader, NULL);
	s->sent += LARGE;
	need(s->got == s->sent, "%zu of %zu", s->got, s->sent);
}

static void prepare_recv(struct state *s)
{
	fill_data(s, 5000);
	send_all(s->p.c, s->data, 5000);
	s->sent += 5000;
}

static int run_recv(struct state *s)	{ return recv_some(s, s->sent - s->got, MSG_WAITALL); }

static int run_poll(struct state *s)
{
	struct pollfd fds[3] = {
		{ s->p.c, POLLIN | POLLOUT, 0 }, { s->p.s, POLLOUT, 0 }, { s->p.s, POLLPRI, 0 },
	};

	return poll(fds, 3, 0) < 0 ? -1 : 0;
}

static int run_epoll(struct state *s)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	int ep = epoll_create1(0), err;

	if (ep < 0)
		return -1;
	err = epoll_ctl(ep, EPOLL_CTL_ADD, s->p.c, &event);
	if (!err)
		err = epoll_wait(ep, &event, 1, 0) < 0 ? -1 : 0;
	close(ep);
	return err;
}

static int run_setsockopt(struct state *s)
{
	int size = 70000, one = 1;
	struct linger linger = { 1, 5 };

	return setsockopt(s->p.c, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) ?:
	       setsockopt(s->p.c, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) ?:
	       setsockopt(s->p.c, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) ?:
	       setsockopt(s->p.c, IPPROTO_TCP, TCP_CORK, &one, sizeof(one)) ?:
	       setsockopt(s->p.c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static int run_getsockopt(struct state *s)
{
	struct sdp_info info;
	struct tcp_info tcp;
	socklen_t len = sizeof(info), tcp_len = sizeof(tcp);

	return getsockopt(s->p.c, SOL_SDP, SDP_INFO, &info, &len) ?:
	       getsockopt(s->p.c, IPPROTO_TCP, TCP_INFO, &tcp, &tcp_len);
}

static void after_talk(struct state *s)	{ need_talk(s->p.c, s->p.s); }

static int run_shutdown(struct state *s)	{ return shutdown(s->p.c, SHUT_WR); }

static void after_shutdown(struct state *s)
{
	char c;

	need(!recv(s->p.s, &c, 1, 0), "it has not ended");
	close(s->p.c);
	close(s->p.s);
}

static int run_close(struct state *s)	{ return close(s->p.c); }

static void after_close(struct state *s)
{
	char c;

	need(!recv(s->p.s, &c, 1, 0), "it has not ended");
	close(s->p.s);
}

#define FAILS .fails = true
static const struct call calls[] = {
	{ "socket", .run = run_socket, .after = close_fd, .setup = no_setup, FAILS, .inode = true },
	{ "bind", .prepare = prepare_fresh, .run = run_bind, .after = close_fd, .setup = no_setup,
	  FAILS },
	{ "listen", .prepare = prepare_listen, .run = run_listen, .after = after_listen,
	  .setup = no_setup, FAILS },
	{ "connect", .prepare = prepare_fresh, .run = run_connect, .after = after_connect,
	  .setup = setup_listener, FAILS },
	{ "accept", .prepare = prepare_accept, .run = run_accept, .after = after_accept,
	  .setup = setup_listener, FAILS, .inode = true },
	{ "send", .run = run_send, .after = after_send, FAILS },
	{ "send_pages", .run = run_send_pages, .after = after_send, FAILS },
	{ "send_more", .run = run_send_more, .after = after_send, FAILS },
	{ "send_zerocopy", .run = run_zerocopy, .after = after_send, .setup = setup_zerocopy,
	  FAILS },
	{ "send_large", .prepare = prepare_large, .run = run_send_large, .after = after_large,
	  FAILS },
	{ "recv", .prepare = prepare_recv, .run = run_recv, .after = after_send, FAILS },
	{ "recv_large", .prepare = prepare_recv_large, .run = run_recv_large,
	  .after = after_recv_large, FAILS },
	{ "poll", .run = run_poll, .after = after_talk, FAILS },
	{ "epoll", .run = run_epoll, .after = after_talk, FAILS },
	{ "setsockopt", .run = run_setsockopt, .after = after_talk, FAILS },
	{ "getsockopt", .run = run_getsockopt, .after = after_talk, FAILS },
	{ "shutdown", .prepare = prepare_pair, .run = run_shutdown, .after = after_shutdown,
	  .setup = no_setup },
	{ "close", .prepare = prepare_pair, .run = run_close, .after = after_close,
	  .setup = no_setup },
};

/* Random load, of which every call may fail for want of memory, and no byte may be wrong. */
struct load {
	struct addr where;
	int listening;
	volatile bool stop;
	unsigned int seed;
	unsigned long rounds, short_of, broken;
};

static bool may_break(int error)
{
	return is_shortage(error) || error == ECONNRESET || error == EPIPE || error == ETIMEDOUT ||
	       error == ECONNREFUSED || error == EAGAIN || error == EPROTO;
}

static void *load_server(void *arg)
{
	struct load *l = arg;
	unsigned char data[8192];
	int fd;

	while (!l->stop) {
		size_t got = 0;
		ssize_t n, i;

		if (poll_for(l->listening, POLLIN, 200) != POLLIN)
			continue;
		fd = accept(l->listening, NULL, NULL);
		if (fd < 0) {
			need(may_break(errno) || errno == ENFILE, "accept: %s", errno_text(errno));
			continue;
		}
		set_timeout(fd, SO_RCVTIMEO, 20000);
		for (;;) {
			n = recv(fd, data, sizeof(data), 0);
			/* Nothing has been lost by it: it may be asked again. */
			if (n < 0 && is_shortage(errno))
				continue;
			if (n <= 0)
				break;
			for (i = 0; i < n; i++)
				need(data[i] == byte_at(got + i), "byte %zu is wrong", got + i);
			got += n;
		}
		need(!n || may_break(errno), "recv: %s", errno_text(errno));
		close(fd);
	}
	return NULL;
}

static void one_stream(struct load *l, int fd, unsigned char *data)
{
	size_t sent = 0, i;
	int rounds = 5;
	ssize_t n;

	while (rounds--) {
		size_t len = random_up_to(&l->seed, rounds == 2 ? 200000 : 9000);

		for (i = 0; i < len; i++)
			data[i] = byte_at(sent + i);
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n < 0 && is_shortage(errno)) {
			l->short_of++;
			continue;
		}
		if (n < 0) {
			need(may_break(errno), "send: %s", errno_text(errno));
			l->broken++;
			return;
		}
		sent += n;
	}
}

static void *load_client(void *arg)
{
	struct load *l = arg;
	unsigned char *data = malloc(LARGE);

	while (!l->stop) {
		int fd = socket(AF_SDP, SOCK_STREAM, 0);

		l->rounds++;
		if (fd < 0) {
			need(is_shortage(errno) || errno == ENFILE, "socket: %s",
			     errno_text(errno));
			continue;
		}
		set_timeout(fd, SO_SNDTIMEO, 20000);
		if (connect(fd, &l->where.sa, l->where.len)) {
			need(may_break(errno) || errno == EINPROGRESS, "connect: %s",
			     errno_text(errno));
			l->short_of++;
		} else {
			one_stream(l, fd, data);
		}
		close(fd);
	}
	free(data);
	return NULL;
}

static int at_random(void *arg)
{
	static const unsigned int often[] = { 3, 20, 100 };
	struct load l = { .seed = getpid() };
	long long end, tries = short_form() ? 4000 : 15000;
	pthread_t server, client;
	unsigned int i;
	struct pair p;

	(void)arg;
	if (!can_fail())
		return EXIT_SKIPPED;
	l.listening = listener(8, &l.where);
	only_the_module(true);
	need(!pthread_create(&server, NULL, load_server, &l), "pthread_create");
	need(!pthread_create(&client, NULL, load_client, &l), "pthread_create");
	for (i = 0; i < ARRAY_SIZE(often); i++) {
		fail_often(often[i]);
		end = now_ms() + tries;
		while (now_ms() < end)
			pause_ms(100);
	}
	fail_often(0);
	l.stop = true;
	pthread_join(client, NULL);
	pthread_join(server, NULL);
	only_the_module(false);
	printf("# %lu connects; %lu calls without memory, %lu connections ended\n", l.rounds,
	       l.short_of, l.broken);
	need(l.rounds > 5, "hardly anything was tried");
	/* And all is well. */
	close(l.listening);
	p = pair_make();
	need_talk(p.c, p.s);
	return EXIT_OK;
}

/*
 * Injection must not outlive a test that has failed; nor shall the next test find connections that
 * are still ending, for which a message that got no memory may have been the last one.
 */
static int as_before(void *arg)
{
	long long end = now_ms() + 150000;
	struct pair p;

	(void)arg;
	if (!can_fail())
		return EXIT_SKIPPED;
	fail_often(0);
	only_the_module(false);
	while (sockets()) {
		need(now_ms() < end, "%d sockets are left", sockets());
		pause_ms(100);
	}
	p = pair_make();
	need_talk(p.c, p.s);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct test tests[ARRAY_SIZE(calls) + 5];
	size_t i, n = 0;

	(void)argc;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		tests[n++] = (struct test){ calls[i].name, sweep, 60, TWO_SETS, true,
					    (void *)&calls[i] };
	tests[n++] = (struct test){ "at_random", at_random, 60, TWO_SETS, true, NULL };
	tests[n++] = (struct test){ "namespace", namespace_failing, 100, 1u << SET_LO6, true,
				    NULL };
	tests[n++] = (struct test){ "device", device_failing, 100, 1u << SET_RC4, true, NULL };
	tests[n++] = (struct test){ "as_before", as_before, 60, TWO_SETS, true, NULL };
	tests[n++] = (struct test){ "module", module_failing, 100, 1u << SET_LO6 | NOT_SHORT, true,
				    NULL };
	return run_tests(argv, tests, n);
}
