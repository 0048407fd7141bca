// SPDX-License-Identifier: GPL-2.0
/*
 * Less common calls without memory: rings, splice, io_uring, urgent data, options.
 *
 * As in the program faults, each allocation of each call fails once, one after the other. Needs
 * fault injection, which the debug kernel has.
 *
 *	again.c		accept that sleeps, IPPROTO_SDP, disconnect and connect again
 *	rings.c		rings
 *	splice.c	splice, sendfile
 *	uring_calls.c	io_uring
 */
#include <linux/net_tstamp.h>
#include <linux/sdp.h>

#include "again.h"
#include "rings.h"
#include "splice.h"
#include "uring_calls.h"

/* Number of bytes, of which the last one is urgent. */
#define URGENT	300

static int run_send_urgent(struct state *s)	{ return send_some(s, URGENT, MSG_OOB); }

static void prepare_urgent(struct state *s)
{
	need_errno(!run_send_urgent(s), "send");
	need(poll_for(s->p.s, POLLPRI, WAIT_MS) & POLLPRI, "no POLLPRI");
}

static int run_recv_urgent(struct state *s)
{
	unsigned char c;
	ssize_t n = recv(s->p.s, &c, 1, MSG_OOB);

	need(n < 0 || (n == 1 && c == byte_at(s->sent - 1)), "%zd bytes: %#x", n, c);
	return n < 0 ? -1 : 0;
}

/* An ordinary read stops before the urgent byte, and the next one skips it. */
static void after_recv_urgent(struct state *s)
{
	int mark;

	need_errno(!recv_some(s, URGENT - 1, MSG_WAITALL), "recv");
	need(!ioctl(s->p.s, SIOCATMARK, &mark) && mark, "not at the mark");
	s->got++;
	need(recv(s->p.s, s->data, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "more has come");
	need(s->got == s->sent, "%zu bytes of %zu have come", s->got, s->sent);
}

static void after_send_urgent(struct state *s)
{
	need(poll_for(s->p.s, POLLPRI, WAIT_MS) & POLLPRI, "no POLLPRI");
	need_errno(!run_recv_urgent(s), "MSG_OOB");
	after_recv_urgent(s);
}

/* Ignores the signals that FIOASYNC asks for. */
static void setup_ioctl(struct state *s)
{
	signal(SIGIO, SIG_IGN);
	s->p = pair_make();
}

static int run_ioctl(struct state *s)
{
	int n, on = 1, off = 0, self = getpid();

	return ioctl(s->p.c, SIOCOUTQ, &n) ?: ioctl(s->p.c, SIOCOUTQNSD, &n) ?:
	       ioctl(s->p.s, SIOCINQ, &n) ?: ioctl(s->p.s, SIOCATMARK, &n) ?:
	       ioctl(s->p.s, FIOSETOWN, &self) ?: ioctl(s->p.s, FIOASYNC, &on) ?:
	       ioctl(s->p.s, FIOASYNC, &off);
}

/* The kernel keeps the memory for a socket's owner once it has it, so this takes a new socket. */
static void after_ioctl(struct state *s)
{
	need_talk(s->p.c, s->p.s);
	close(s->p.c);
	close(s->p.s);
	s->p = pair_make();
}

/* For options that send what was held back. */
static void prepare_corked(struct state *s)
{
	set_int(s->p.c, IPPROTO_TCP, TCP_CORK, 1);
	need_errno(!send_some(s, 700, 0), "send");
}

static int run_uncork(struct state *s)
{
	int off = 0;

	return setsockopt(s->p.c, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
}

static int run_nodelay(struct state *s)
{
	int on = 1;

	return setsockopt(s->p.c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int run_options(struct state *s)
{
	int on = 1, stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;

	return setsockopt(s->p.s, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)) ?:
	       setsockopt(s->p.s, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) ?:
	       setsockopt(s->p.s, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) ?:
	       setsockopt(s->p.s, SOL_SOCKET, SO_RCVLOWAT, &on, sizeof(on)) ?:
	       setsockopt(s->p.s, SOL_SOCKET, SO_BINDTODEVICE, "", 0) ?:
	       setsockopt(s->p.s, IPPROTO_TCP, TCP_CONGESTION, "sdp", 3) ?:
	       setsockopt(s->p.s, IPPROTO_TCP, TCP_KEEPIDLE, &on, sizeof(on)) ?:
	       setsockopt(s->p.s, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){ 60000 }, sizeof(int)) ?:
	       setsockopt(s->p.s, IPPROTO_IP, IP_TOS, &(int){ 8 }, sizeof(int)) ?:
	       setsockopt(s->p.s, SOL_SDP, SDP_RDMA_THRESHOLD, &(int){ 9000 }, sizeof(int));
}

static void after_options(struct state *s)	{ need_talk(s->p.c, s->p.s); }

#define FAILS .fails = true
#define MAKES FAILS, .inode = true
static const struct call calls[] = {
	{ "accept_waiting", prepare_accept_late, run_accept, join_late, after_accept_late,
	  setup_listener, MAKES },
	{ "inet_socket", NULL, run_socket_inet, NULL, close_fd, no_setup, MAKES },
	{ "inet_connect", prepare_fresh, run_connect, NULL, after_connect, setup_inet, FAILS },
	{ "disconnect", prepare_connected, run_disconnect, NULL, after_disconnect, setup_listener,
	  FAILS },
	{ "reconnect", prepare_disconnected, run_connect, NULL, after_connect, setup_listener,
	  FAILS },
	{ "urgent", .run = run_send_urgent, .after = after_send_urgent, FAILS },
	{ "recv_urgent", prepare_urgent, run_recv_urgent, NULL, after_recv_urgent, NULL, FAILS },
	{ "ioctl", NULL, run_ioctl, NULL, after_ioctl, setup_ioctl, FAILS },
	{ "uncork", prepare_corked, run_uncork, NULL, after_send, NULL, FAILS },
	{ "nodelay", prepare_corked, run_nodelay, NULL, after_send, NULL, FAILS },
	{ "options", .run = run_options, .after = after_options, FAILS },
	{ "splice_out", prepare_splice_out, run_splice_out, NULL, after_splice_out, setup_splice,
	  FAILS },
	{ "splice_in", prepare_splice_in, run_splice_in, NULL, after_splice_in, setup_splice,
	  FAILS },
	{ "sendfile", prepare_sendfile, run_sendfile, NULL, after_sendfile, setup_splice, FAILS },
	{ "uring_send", .run = run_uring_send, .after = after_send, .setup = setup_uring, FAILS },
	{ "uring_send_pages", .run = run_uring_send_pages, .after = after_send,
	  .setup = setup_uring, FAILS },
	{ "uring_recv", prepare_recv, run_uring_recv, NULL, after_send, setup_uring, FAILS },
	{ "uring_recv_waiting", NULL, run_uring_recv_waiting, NULL, after_uring_recv_waiting,
	  setup_uring, FAILS },
	{ "uring_accept_waiting", NULL, run_uring_accept_waiting, NULL, after_uring_accept_waiting,
	  setup_uring_accept, MAKES },
};

/*
 * Calls with many allocations and a connection for each: not in the short form, where
 * accept_waiting stands for them.
 */
static const struct call long_calls[] = {
	{ "inet_accept", prepare_accept, run_accept, NULL, after_accept, setup_inet, MAKES },
	{ "uring_accept", prepare_accept, run_uring_accept, NULL, after_accept, setup_uring_accept,
	  MAKES },
};

/* There are rings on RDMA connections only. */
static const struct call ring_calls[] = {
	{ "ring_send", .run = run_send, .after = after_ring_send, .setup = setup_ring_rdma, FAILS },
	{ "ring_send_nic", .run = run_send, .after = after_ring_send, .setup = setup_ring_nic,
	  FAILS },
	{ "ring_send_pages", .run = run_send_pages, .after = after_ring_send,
	  .setup = setup_ring_rdma, FAILS },
	{ "ring_send_large", prepare_large, run_send_large, NULL, after_large, setup_ring_rdma,
	  FAILS },
	{ "ring_urgent", NULL, run_send_urgent, NULL, after_send_urgent, setup_ring_rdma, FAILS },
	{ "ring_splice_out", prepare_splice_out, run_splice_out, NULL, after_splice_out,
	  setup_ring_splice, FAILS },
	{ "ring_recv", prepare_recv, run_recv, NULL, after_ring_send, setup_ring_rdma, FAILS },
	{ "ring_recv_nic", prepare_recv, run_recv, NULL, after_ring_send, setup_ring_nic, FAILS },
	{ "ring_first", prepare_ring_fresh, run_send, NULL, after_ring_fresh, no_setup, FAILS },
};

static size_t add_sweeps(struct test *tests, const struct call *list, size_t n, unsigned int sets)
{
	size_t i;

	for (i = 0; i < n; i++)
		tests[i] = (struct test){ list[i].name, sweep, 60, sets, true, (void *)&list[i] };
	return n;
}

int main(int argc, char **argv)
{
	struct test tests[ARRAY_SIZE(calls) + ARRAY_SIZE(long_calls) + ARRAY_SIZE(ring_calls) + 3];
	const unsigned int rc = 1u << SET_RC4;
	size_t n;

	n = add_sweeps(tests, calls, ARRAY_SIZE(calls), TWO_SETS);
	n += add_sweeps(tests + n, long_calls, ARRAY_SIZE(long_calls), TWO_SETS | NOT_SHORT);
	n += add_sweeps(tests + n, ring_calls, ARRAY_SIZE(ring_calls), rc);
	tests[n++] = (struct test){ "ring_refused", ring_refused, 60, rc, true,
				    NULL };
	tests[n++] = (struct test){ "at_random_rings", at_random_rings, 60, rc | NOT_SHORT, true,
				    NULL };
	tests[n++] = (struct test){ "as_before", as_before, 60, TWO_SETS, true, NULL };
	return run_tests(argv, tests, n);
}
