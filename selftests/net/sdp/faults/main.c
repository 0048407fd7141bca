// SPDX-License-Identifier: GPL-2.0
/*
 * Calls without memory: each fails as documented, and no byte or object is lost (A4).
 *
 * Each allocation of each call fails once, one after the other, until the call succeeds. A call
 * that fails returns ENOBUFS or ENOMEM or, if it makes a socket, ENFILE as with TCP. The same call
 * works once there is memory. A connection survives with all that it has taken (A4), and nothing
 * leaks. The same holds for a new device, a new namespace and the load of the module, and for
 * allocations that fail at random under load, also those outside of calls. Needs fault injection,
 * which the debug kernel has.
 */
#include <linux/sdp.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>

#include "failing_connect.h"
#include "failing_data.h"
#include "failing_load.h"
#include "devices.h"

static int run_socket(struct state *s)	{ s->fd = socket(AF_SDP, SOCK_STREAM, 0); return s->fd; }

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

static int run_zerocopy(struct state *s)	{ return send_some(s, 20000, MSG_ZEROCOPY); }

static void setup_zerocopy(struct state *s)
{
	s->p = pair_make();
	set_int(s->p.c, SOL_SOCKET, SO_ZEROCOPY, 1);
}

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

static int run_close(struct state *s)	{ return close(s->p.c); }

static void after_close(struct state *s)
{
	char c;

	need(!recv(s->p.s, &c, 1, 0), "it has not ended");
	close(s->p.s);
}

static void after_shutdown(struct state *s)
{
	after_close(s);
	close(s->p.c);
}

#define FAILS .fails = true
static const struct test tests[] = {
	SWEEP("socket", TWO_SETS, .run = run_socket, .after = close_fd, .setup = no_setup, FAILS,
	      .inode = true),
	SWEEP("bind", TWO_SETS, .prepare = prepare_fresh, .run = run_bind, .after = close_fd,
	      .setup = no_setup, FAILS),
	SWEEP("listen", TWO_SETS, .prepare = prepare_listen, .run = run_listen,
	      .after = after_listen, .setup = no_setup, FAILS),
	SWEEP("connect", TWO_SETS, .prepare = prepare_fresh, .run = run_connect,
	      .after = after_connect, .setup = setup_listener, FAILS),
	SWEEP("accept", TWO_SETS, .prepare = prepare_accept, .run = run_accept,
	      .after = after_accept, .setup = setup_listener, FAILS, .inode = true),
	SWEEP("send", TWO_SETS, .run = run_send, .after = after_send, FAILS),
	SWEEP("send_pages", TWO_SETS, .run = run_send_pages, .after = after_send, FAILS),
	SWEEP("send_more", TWO_SETS, .run = run_send_more, .after = after_send, FAILS),
	SWEEP("send_zerocopy", TWO_SETS, .run = run_zerocopy, .after = after_send,
	      .setup = setup_zerocopy, FAILS),
	SWEEP("send_large", TWO_SETS, .prepare = prepare_large, .run = run_send_large,
	      .after = after_large, FAILS),
	SWEEP("recv", TWO_SETS, .prepare = prepare_recv, .run = run_recv, .after = after_send,
	      FAILS),
	SWEEP("recv_large", TWO_SETS, .prepare = prepare_recv_large, .run = run_recv_large,
	      .after = after_recv_large, FAILS),
	SWEEP("poll", TWO_SETS, .run = run_poll, .after = after_talk, FAILS),
	SWEEP("epoll", TWO_SETS, .run = run_epoll, .after = after_talk, FAILS),
	SWEEP("setsockopt", TWO_SETS, .run = run_setsockopt, .after = after_talk, FAILS),
	SWEEP("getsockopt", TWO_SETS, .run = run_getsockopt, .after = after_talk, FAILS),
	SWEEP("shutdown", TWO_SETS, .prepare = prepare_pair, .run = run_shutdown,
	      .after = after_shutdown, .setup = no_setup),
	SWEEP("close", TWO_SETS, .prepare = prepare_pair, .run = run_close, .after = after_close,
	      .setup = no_setup),
	CASE(at_random, 60, TWO_SETS),
	{ "namespace", namespace_failing, 100, 1u << SET_LO6, true, NULL },
	{ "device", device_failing, 100, RC, true, NULL },
	CASE(as_before, 60, TWO_SETS),
	/* As many as LOAD_PARTS (devices.c). */
	{ "module (first third)", module_failing, 300, 1u << SET_LO6, true, "0" },
	{ "module (second third)", module_failing, 300, 1u << SET_LO6, true, "1" },
	{ "module (last third)", module_failing, 300, 1u << SET_LO6, true, "2" },
};

TEST_MAIN(tests)
