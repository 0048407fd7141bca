// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share sockets: streams, signals, close during a call, flapping listeners.
 *
 * The tests have several writers and readers of one stream, calls that signals interrupt, sockets
 * that are closed or shut down under a waiting call, two ends that only write, and connects to a
 * listener that closes and listens again. Everything runs on TCP first: what TCP does not guarantee
 * is not required of AF_SDP.
 */
#include "threads.h"

enum { CONNECTORS = 4, ACCEPTS_AT_ONCE = 3 };

/* A listener that closes and listens again, and the clients that connect meanwhile. */
struct flapping {
	struct addr where;
	int rounds;			/* of listening */
	atomic_bool over;
	atomic_int answered, refused, broken;
};

/*
 * The port is outside of the range for clients. While nobody listens, TCP could assign the very
 * port that a client connects to, and would connect the socket to itself.
 */
static int bind_where_clients_do_not(struct addr *where)
{
	static unsigned int port = 19100;
	int fd = fresh(0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	do {
		*where = server_addr(port++);
	} while (bind(fd, &where->sa, where->len) && errno == EADDRINUSE && port < 30000);
	return fd;
}

static int listen_again(const struct addr *where)
{
	int fd = fresh(0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	need_errno(!bind(fd, &where->sa, where->len), "bind again");
	need_errno(!listen(fd, 64), "listen again");
	return fd;
}

/* Answers a few clients, then closes with the other ones in the queue. */
static void *flapping_listener(void *arg)
{
	struct flapping *f = arg;
	int listening, fd, round, i;
	char c;

	for (round = 0; round < f->rounds; round++) {
		listening = listen_again(&f->where);
		for (i = 0; i < round % (ACCEPTS_AT_ONCE + 1); i++) {
			fd = accept_from(listening);
			if (recv(fd, &c, 1, 0) == 1)
				send(fd, &c, 1, MSG_NOSIGNAL);
			close(fd);
		}
		close(listening);
	}
	f->over = true;
	return NULL;
}

static void connect_once(struct flapping *f)
{
	int fd = fresh(0);
	char c = 'q';

	if (connect(fd, &f->where.sa, f->where.len)) {
		/* TCP returns EPIPE if both an end and a reset arrive before connect() returns. */
		need(errno == ECONNREFUSED || errno == ECONNRESET || errno == ETIMEDOUT ||
		     (!use_sdp && errno == EPIPE),
		     "%s: connect: %s", family_name(), errno_text(errno));
		f->refused++;
	} else if (send(fd, &c, 1, MSG_NOSIGNAL) == 1 && recv(fd, &c, 1, 0) == 1) {
		need(c == 'q', "%s: a wrong answer", family_name());
		f->answered++;
	} else {
		f->broken++;	/* it was in the queue of a listener that closed */
	}
	close(fd);
}

static void *connector(void *arg)
{
	struct flapping *f = arg;

	while (!f->over)
		connect_once(f);
	return NULL;
}

/* The number of AF_SDP sockets with an end at @port, connections without a user included. */
static int sockets_at(unsigned int port)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	unsigned int local, remote;
	char line[512];
	int n = 0;

	need_errno(f, "/proc/net/sdp");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*[^:]:%x %*[^:]:%x", &local, &remote) == 2)
			n += local == port || remote == port;
	fclose(f);
	return n;
}

static void flapping_run(void)
{
	struct flapping f = { .rounds = scaled(80) };
	int fd = bind_where_clients_do_not(&f.where), i;
	pthread_t threads[CONNECTORS + 1];
	long long end;

	close(fd);
	threads[CONNECTORS] = thread_start(flapping_listener, &f);
	for (i = 0; i < CONNECTORS; i++)
		threads[i] = thread_start(connector, &f);
	for (i = 0; i <= CONNECTORS; i++)
		pthread_join(threads[i], NULL);
	printf("# %s: %d listeners; %d connections answered, %d broken, %d refused\n",
	       family_name(), f.rounds, f.answered, f.broken, f.refused);
	need(f.answered, "no connection was answered");
	end = now_ms() + WAIT_MS;
	while (use_sdp && sockets_at(addr_port(&f.where))) {
		need(now_ms() < end, "%d sockets are left", sockets_at(addr_port(&f.where)));
		pause_ms(5);
	}
}

static struct body whole = { whole_records }, shared = { shared_stream };
static struct body one_way = { writers_only };
static struct body streams = { signals_in_streams }, idle = { signals_while_idle };
static struct body connects = { signals_in_connects }, waiting = { signals_while_connecting };
static struct body flapping = { flapping_run };

/* Loopback and RDMA; slow kernels run these two as well. */
#define BOTH_KINDS	(1u << SET_LO6 | 1u << SET_RC4)

static const struct test tests[] = {
	{ "whole_records", tcp_first, 30, ALL_SETS, .arg = &whole },
	{ "shared_stream", tcp_first, 30, ALL_SETS, .arg = &shared },
	{ "writers_only", tcp_first, 20, BOTH_KINDS, .arg = &one_way },
	{ "signals_in_streams", tcp_first, 30, BOTH_KINDS, .arg = &streams },
	{ "signals_while_idle", tcp_first, 20, BOTH_KINDS, .arg = &idle },
	{ "signals_in_connects", tcp_first, 30, BOTH_KINDS, .arg = &connects },
	{ "signals_while_connecting", tcp_first, 30, BOTH_KINDS, .arg = &waiting },
	{ "closed_by_another", closed_by_another, 60, BOTH_KINDS, .arg = NULL },
	{ "flapping_listener", tcp_first, 40, ALL_SETS, .arg = &flapping },
};

PATTERN_MAIN(tests)
