// SPDX-License-Identifier: GPL-2.0
/*
 * Less common calls without memory: rings, datagrams, splice, io_uring, urgent data, options.
 *
 * As in the program faults, each allocation of each call fails once, one after the other. Needs
 * fault injection, which the debug kernel has.
 *
 *	again.c		accept that sleeps, IPPROTO_SDP, disconnect and connect again
 *	datagrams.c	connections by datagrams
 *	large.c		large transfers for which no call waits
 *	rings.c		rings
 *	splice.c	splice, sendfile
 *	uring_calls.c	io_uring
 */
#include <linux/net_tstamp.h>
#include <linux/sdp.h>

#include "again.h"
#include "datagrams.h"
#include "large.h"
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

#define FAILS	.fails = true
#define MAKES	FAILS, .inode = true
static const struct test tests[] = {
	SWEEP("accept_waiting", TWO_SETS, prepare_accept_late, run_accept, join_late,
	      after_accept_late, setup_listener, MAKES),
	SWEEP("inet_socket", TWO_SETS, NULL, run_socket_inet, NULL, close_fd, no_setup, MAKES),
	SWEEP("inet_connect", TWO_SETS, prepare_fresh, run_connect, NULL, after_connect,
	      setup_inet, FAILS),
	SWEEP("disconnect", TWO_SETS, prepare_connected, run_disconnect, NULL, after_disconnect,
	      setup_listener, FAILS),
	SWEEP("reconnect", TWO_SETS, prepare_disconnected, run_connect, NULL, after_connect,
	      setup_listener, FAILS),
	SWEEP("urgent", TWO_SETS, .run = run_send_urgent, .after = after_send_urgent, FAILS),
	SWEEP("recv_urgent", TWO_SETS, prepare_urgent, run_recv_urgent, NULL, after_recv_urgent,
	      NULL, FAILS),
	SWEEP("ioctl", TWO_SETS, NULL, run_ioctl, NULL, after_ioctl, setup_ioctl, FAILS),
	SWEEP("uncork", TWO_SETS, prepare_corked, run_uncork, NULL, after_send, NULL, FAILS),
	SWEEP("nodelay", TWO_SETS, prepare_corked, run_nodelay, NULL, after_send, NULL, FAILS),
	SWEEP("options", TWO_SETS, .run = run_options, .after = after_options, FAILS),
	SWEEP("splice_out", TWO_SETS, prepare_splice_out, run_splice_out, NULL, after_splice_out,
	      setup_splice, FAILS),
	SWEEP("splice_in", TWO_SETS, prepare_splice_in, run_splice_in, NULL, after_splice_in,
	      setup_splice, FAILS),
	SWEEP("sendfile", TWO_SETS, prepare_sendfile, run_sendfile, NULL, after_sendfile,
	      setup_splice, FAILS),
	SWEEP("uring_send", TWO_SETS, .run = run_uring_send, .after = after_send,
	      .setup = setup_uring, FAILS),
	SWEEP("uring_send_pages", TWO_SETS, .run = run_uring_send_pages, .after = after_send,
	      .setup = setup_uring, FAILS),
	SWEEP("uring_recv", TWO_SETS, prepare_recv, run_uring_recv, NULL, after_send, setup_uring,
	      FAILS),
	SWEEP("uring_recv_waiting", TWO_SETS, NULL, run_uring_recv_waiting, NULL,
	      after_uring_recv_waiting, setup_uring, FAILS),
	SWEEP("uring_accept_waiting", TWO_SETS, NULL, run_uring_accept_waiting, NULL,
	      after_uring_accept_waiting, setup_uring_accept, MAKES),
	SWEEP("send_background", RC, prepare_large, run_send_background, NULL, after_large, NULL,
	      FAILS),
	SWEEP("send_lent", RC, prepare_large, run_send_lent, NULL, after_lent, setup_lent, FAILS),
	SWEEP("recv_polled", RC, .prepare = prepare_polled, .run = run_recv_polled,
	      .after = after_recv_large),
	SWEEP("recv_mapped", RC, .prepare = prepare_recv_large, .run = run_recv_mapped,
	      .after = after_recv_large, .setup = setup_mapped),
	/*
	 * Calls with many allocations and a connection for each: not in the short form, where
	 * accept_waiting stands for them.
	 */
	SWEEP("inet_accept", TWO_SETS | NOT_SHORT, prepare_accept, run_accept, NULL, after_accept,
	      setup_inet, MAKES),
	SWEEP("uring_accept", TWO_SETS | NOT_SHORT, prepare_accept, run_uring_accept, NULL,
	      after_accept, setup_uring_accept, MAKES),
	/* There are rings on RDMA connections only. */
	SWEEP("ring_send", RC, .run = run_send, .after = after_ring_send,
	      .setup = setup_ring_rdma, FAILS),
	SWEEP("ring_send_nic", RC, .run = run_send, .after = after_ring_send,
	      .setup = setup_ring_nic, FAILS),
	SWEEP("ring_send_pages", RC, .run = run_send_pages, .after = after_ring_send,
	      .setup = setup_ring_rdma, FAILS),
	SWEEP("ring_send_large", RC, prepare_large, run_send_large, NULL, after_large,
	      setup_ring_rdma, FAILS),
	SWEEP("ring_urgent", RC, NULL, run_send_urgent, NULL, after_send_urgent, setup_ring_rdma,
	      FAILS),
	SWEEP("ring_splice_out", RC, prepare_splice_out, run_splice_out, NULL, after_splice_out,
	      setup_ring_splice, FAILS),
	SWEEP("ring_recv", RC, prepare_recv, run_recv, NULL, after_ring_send, setup_ring_rdma,
	      FAILS),
	SWEEP("ring_recv_nic", RC, prepare_recv, run_recv, NULL, after_ring_send, setup_ring_nic,
	      FAILS),
	SWEEP("ring_first", RC, prepare_ring_fresh, run_send, NULL, after_ring_fresh, no_setup,
	      FAILS),
	CASE(ring_refused, 60, RC),
	SWEEP("ud_connect", RC, prepare_fresh, run_connect, NULL, after_datagram_connect,
	      setup_datagram_listener, FAILS),
	SWEEP("ud_send", RC, .run = run_send, .after = after_send, .setup = setup_datagrams, FAILS),
	SWEEP("ud_send_large", RC, prepare_large, run_send_large, NULL, after_large,
	      setup_datagrams, FAILS),
	SWEEP("ud_recv", RC, prepare_recv, run_recv, NULL, after_send, setup_datagrams, FAILS),
	CASE(at_random_datagrams, 60, RC | NOT_SHORT),
	CASE(at_random_rings, 60, RC | NOT_SHORT),
	CASE(as_before, 60, TWO_SETS),
};

TEST_MAIN(tests)
