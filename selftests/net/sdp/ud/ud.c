// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by datagrams, which share a few queue pairs (I1 to I5).
 *
 * The network loses, doubles and reorders packets where a case says so (netem). Every byte is
 * checked.
 */
#include "cables.h"
#include "info.h"
#include "pattern.h"

/* What a reader gets, in another process, while this one writes. */
#define READS	65536

/* Each side has one queue pair for each processor, up to this number, on each device. */
#define QPS_MAX	4

static void network_whole(void)
{
	if (system("for d in va vb; do tc qdisc del dev $d root; done 2>/dev/null"))
		return;
}

/* From now on the network treats packets so, in both directions. */
static void network_is(const char *how)
{
	lab("for d in va vb; do tc qdisc replace dev $d root netem limit 10000 %s; done", how);
}

/* A connection by datagrams to an address of this host; nothing else may have carried it. */
static struct pair pair_at(int family, const char *from, const char *to)
{
	struct addr at = addr_make(family, to, 0), own = addr_make(family, from, 0), where;
	struct pair p;
	int l = listener_on(&at, 1, &where);

	p.c = socket_for(family, 0);
	need_errno(!bind(p.c, &own.sa, own.len), "bind");
	set_int(p.c, SOL_SDP, SDP_SERVICE, SDP_SERVICE_UD);
	addr_set_port(&at, addr_port(&where));
	connect_to(p.c, &at);
	p.s = accept_from(l);
	close(l);
	need(!strcmp(info_of(p.c).transport, "ud") && !strcmp(info_of(p.s).transport, "ud"),
	     "it is by %s and %s", info_of(p.c).transport, info_of(p.s).transport);
	return p;
}

static struct pair pair_ud(void)
{
	network_whole();
	return pair_at(set->family, set->client, set->server);
}

/* Both directions, in messages of all sizes. */
static int exchange(void *arg)
{
	static const long sizes[] = { 1, 100, 1000, 1520, 4000, 30000, 200000 };
	struct pair p = pair_ud();
	long at = 0, back = 0;
	u_int i;

	counters_mark();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		in_step(p.c, p.s, &at, 10, sizes[i]);
		in_step(p.s, p.c, &back, 10, sizes[i]);
	}
	need(since_mark("DatagramsSent") > 0, "nothing went by datagrams");
	need(!strcmp(info_of(p.c).device, "rxa"), "it is by %s", info_of(p.c).device);
	/* The end of each direction. */
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	need(!read(p.s, &i, 1), "no end at one side");
	in_step(p.s, p.c, &back, 1, 5000);
	close(p.s);
	need(!read(p.c, &i, 1), "no end at the other side");
	return EXIT_OK;
}

/* Sends @len bytes to a reader in another process. */
static void stream(struct pair *p, long len)
{
	struct pattern_reader r = { p->s, p->c, len, READS, 0 };
	pid_t pid = helper_start(pattern_reader_main, &r);

	pattern_write(p->c, 0, len);
	need_errno(!shutdown(p->c, SHUT_WR), "shutdown");
	helper_end(pid);
}

/* I2: an acknowledgment by itself for each quarter of the window, 19 packets, and few besides. */
static int one_way(void *arg)
{
	struct pair p = pair_ud();
	long long sent, acks;

	counters_mark();
	stream(&p, scaled(20) << 20);
	sent = since_mark("DatagramsSent");
	acks = since_mark("DatagramAcks");
	printf("# %lld packets, %lld again, %lld acknowledgments, %lld NACKs, %lld Probes\n", sent,
	       since_mark("DatagramsAgain"), acks, since_mark("DatagramNacks"),
	       since_mark("DatagramProbes"));
	need(acks <= sent / 5, "%lld acknowledgments of %lld packets", acks, sent);
	return EXIT_OK;
}

/*
 * I3: a peer has no more packets on the way than datagram_window says, so each acknowledgment is
 * for that many at most. The reader's credit updates are packets, too, and carry acknowledgments.
 */
static int windows(void *arg)
{
	static const int packets[] = { 1, 8 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		struct pair p;
		long long sent, acks;

		setting_set("datagram_window", packets[i]);
		p = pair_ud();
		counters_mark();
		stream(&p, scaled(4) << 20);
		sent = since_mark("DatagramsSent");
		acks = since_mark("DatagramAcks");
		printf("# window %d: %lld packets, %lld acknowledgments\n", packets[i], sent, acks);
		need(acks >= sent / packets[i] / 2, "%lld acknowledgments of %lld packets", acks,
		     sent);
		close(p.c);
		close(p.s);
	}
	return EXIT_OK;
}

static void echoes(void *arg)
{
	struct pattern_reader *r = arg;
	long at;

	close(r->other);
	for (at = 0; at < r->len; at += r->piece) {
		pattern_read(r->fd, at, r->piece, r->piece);
		pattern_write(r->fd, at, r->piece);
	}
}

/* Returns the number of acknowledgments by themselves during @n messages that are answered. */
static long long ping_pong_acks(int n)
{
	struct pair p = pair_ud();
	struct pattern_reader r = { p.s, p.c, n * 100L, 100, 0 };
	pid_t pid = helper_start(echoes, &r);
	long at;

	counters_mark();
	for (at = 0; at < r.len; at += r.piece) {
		pattern_write(p.c, at, r.piece);
		pattern_read(p.c, at, r.piece, r.piece);
	}
	helper_end(pid);
	return since_mark("DatagramAcks");
}

/*
 * I2: with an answer to each message, acknowledgments ride on messages. When the host holds the
 * machine for some milliseconds, one goes by itself; so one of several parts has to be undisturbed.
 */
static int ping_pong(void *arg)
{
	const int n = scaled(2000) / 5;
	long long acks, least = n;
	int i;

	for (i = 0; i < 5; i++) {
		acks = ping_pong_acks(n);
		printf("# %d round trips, %lld acknowledgments by themselves\n", n, acks);
		if (acks < least)
			least = acks;
	}
	need(least <= n / 10, "%lld acknowledgments", least);
	return EXIT_OK;
}

/* A small write waits until the one before it has arrived, and asks for the acknowledgment. */
static int two_writes(void *arg)
{
	const int n = scaled(400);
	struct pair p = pair_ud();
	long at = 0;
	int i;

	counters_mark();
	for (i = 0; i < n; i++, at += 20) {
		pattern_write(p.c, at, 10);
		pattern_write(p.c, at + 10, 10);
		pattern_read(p.s, at, 20, 20);
	}
	printf("# %d times, %lld writes waited, %lld Probes\n", n, since_mark("PartialHeld"),
	       since_mark("DatagramProbes"));
	need(since_mark("PartialHeld") > n / 2, "%lld writes waited", since_mark("PartialHeld"));
	need(since_mark("DatagramProbes") >= since_mark("PartialHeld") / 2, "%lld Probes",
	     since_mark("DatagramProbes"));
	return EXIT_OK;
}

/* I1: every byte arrives on a network that loses, doubles and reorders. */
static int bad_network(void *arg)
{
	struct pair p = pair_ud();
	long at = 0;

	network_is(arg);
	counters_mark();
	/* A fifth of all packets lost costs more than twice as many. */
	stream(&p, strstr(arg, "20%") ? scaled(1 << 20) : scaled(4) << 20);
	network_whole();
	printf("# %s: %lld packets, %lld again, %lld NACKs, %lld Probes\n", (const char *)arg,
	       since_mark("DatagramsSent"), since_mark("DatagramsAgain"),
	       since_mark("DatagramNacks"), since_mark("DatagramProbes"));
	in_step(p.s, p.c, &at, 10, 1000);
	return EXIT_OK;
}

/* Connections are opened on a network that loses a fifth of all packets. */
static int opens_anyway(void *arg)
{
	int i;

	for (i = 0; i < scaled(20); i++) {
		struct pair p;
		long at = 0;

		network_is("loss 20%");
		p = pair_at(set->family, set->client, set->server);

		in_step(p.c, p.s, &at, 1, 100);
		close(p.c);
		close(p.s);
	}
	network_whole();
	return EXIT_OK;
}

/* I4: a peer that does not answer ends the connection, and only then. */
static int silent_peer(void *arg)
{
	struct pair p = pair_ud();
	char byte = 1;
	long at = 0;

	in_step(p.c, p.s, &at, 1, 100);
	network_is("loss 100%");
	need(write(p.c, &byte, 1) == 1, "write");
	need(read(p.c, &byte, 1) < 0 && errno == ETIMEDOUT, "read: %s", errno_text(errno));
	network_whole();
	return EXIT_OK;
}

/* Nobody listens: the same error as without datagrams. */
static int refused(void *arg)
{
	struct addr where;
	int fd = fresh(0);

	close(listener(1, &where));
	set_int(fd, SOL_SDP, SDP_SERVICE, SDP_SERVICE_UD);
	need(connect(fd, &where.sa, where.len) < 0 && errno == ECONNREFUSED, "connect: %s",
	     errno_text(errno));
	return EXIT_OK;
}

/* A reset reaches the peer, and so does the close of a socket with data not read. */
static int resets(void *arg)
{
	struct pair p = pair_ud();
	char byte = 1;

	linger_zero(p.c);
	close(p.c);
	need(read(p.s, &byte, 1) < 0 && errno == ECONNRESET, "read: %s", errno_text(errno));
	p = pair_ud();
	need(write(p.c, &byte, 1) == 1 && await_bytes(p.s, 1) == 1, "write");
	close(p.s);
	need(read(p.c, &byte, 1) < 0 && errno == ECONNRESET, "read: %s", errno_text(errno));
	return EXIT_OK;
}

/* A connection by cable 1, which has devices of its own. */
static struct pair pair_cable4(void)
{
	return pair_at(AF_INET, "10.9.101.1", "10.9.101.2");
}

static struct pair pair_cable6(void)
{
	return pair_at(AF_INET6, "fd09:101::1", "fd09:101::2");
}

/*
 * A cable fails: its connections end, others do not notice. It comes back: the shared queue pairs
 * work again, although soft-RoCE puts a queue pair that finds no route into its error state.
 */
static int cable_fails(void *arg)
{
	struct pair other = pair_ud(), p;
	long at = 0, others = 0;
	char byte;
	int i;

	for (i = 0; i < 3; i++) {
		p = pair_cable4();
		at = 0;
		in_step(p.c, p.s, &at, 3, 10000);
		need(!strcmp(info_of(p.c).device, "rxa1"), "it is by %s", info_of(p.c).device);
		lab("ip link set va1 down");
		need(read(p.c, &byte, 1) < 0 && (errno == ENETDOWN || errno == ETIMEDOUT),
		     "read: %s", errno_text(errno));
		in_step(other.c, other.s, &others, 3, 10000);
		close(p.c);
		close(p.s);
		/* Without its addresses soft-RoCE would give up its queue pair for the CM. */
		lab("lab_rail_up 1; lab_wait rxa1 lab_rail_device_ready rxa1 101 1; "
		    "lab_wait rxb1 lab_rail_device_ready rxb1 101 2");
	}
	p = pair_cable6();
	at = 0;
	in_step(p.c, p.s, &at, 3, 10000);
	return EXIT_OK;
}

/*
 * An address goes away, and what is sent from it fails. The connection by another address of the
 * same device shares the queue pairs and goes on.
 */
static int address_goes(void *arg)
{
	struct pair four, six;
	long at = 0, at6 = 0;

	four = pair_cable4();
	six = pair_cable6();
	in_step(four.c, four.s, &at, 3, 1000);
	in_step(six.c, six.s, &at6, 3, 1000);
	lab("ip -4 addr flush dev va1");
	pattern_write(four.c, at, 1000);
	in_step(six.c, six.s, &at6, 200, 1000);
	lab("lab_rail_down 1; lab_rail 1");
	return EXIT_OK;
}

/* The device is removed while it is in use, and so are its shared queue pairs. */
static int device_goes(void *arg)
{
	char byte, buf[1000];
	struct pair p;
	long at = 0;

	p = pair_cable4();
	in_step(p.c, p.s, &at, 3, 10000);
	pattern_write(p.c, at, 10000);
	lab("rdma link delete rxa1");
	need(read(p.c, &byte, 1) < 0 && errno == ENETDOWN, "read: %s", errno_text(errno));
	while (read(p.s, buf, sizeof(buf)) > 0)
		;
	close(p.s);
	all_cables_renewed();
	p = pair_cable4();
	at = 0;
	in_step(p.c, p.s, &at, 3, 10000);
	return EXIT_OK;
}

/*
 * Keepalive of an idle connection: Probes and their answers that get lost are no silent peer. In
 * seven seconds eight Probes go out; at this loss each is answered by a chance of 0.64.
 */
static int keepalive(void *arg)
{
	struct pair p = pair_ud();
	long long end;
	long at = 0;

	set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPCNT, 6);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	network_is("loss 20%");
	counters_mark();
	for (end = now_ms() + 8000; now_ms() < end; pause_ms(100))
		need(!poll_for(p.c, POLLIN, 0), "it has ended");
	need(since_mark("KeepaliveProbes") >= 3, "%lld probes", since_mark("KeepaliveProbes"));
	network_whole();
	in_step(p.c, p.s, &at, 1, 100);
	network_is("loss 100%");
	need(poll_for(p.c, POLLIN, 10 * WAIT_MS), "a silent peer is not noticed");
	network_whole();
	return EXIT_OK;
}

static int queue_pairs(void)
{
	FILE *f = popen("rdma resource show qp | grep -c ' type UD '", "r");
	int n = -1;

	need(f && fscanf(f, "%d", &n) == 1, "rdma resource show qp");
	pclose(f);
	return n;
}

/* Many connections need no more queue pairs than a few. */
static int few_queue_pairs(void *arg)
{
	const int n = scaled(200);
	struct pair *p = calloc(n, sizeof(*p));
	int i, round;

	need_errno(p, "calloc");
	for (i = 0; i < n; i++)
		p[i] = pair_at(set->family, set->client, set->server);
	printf("# %d connections, %d queue pairs for datagrams\n", n, queue_pairs());
	need(queue_pairs() <= 2 * QPS_MAX, "%d queue pairs", queue_pairs());
	for (round = 0; round < 3; round++)
		for (i = 0; i < n; i++) {
			long at = 100L * round, back = at;

			in_step(p[i].c, p[i].s, &at, 1, 100);
			in_step(p[i].s, p[i].c, &back, 1, 100);
		}
	for (i = 0; i < n; i++) {
		close(p[i].c);
		close(p[i].s);
	}
	free(p);
	return EXIT_OK;
}

/* The option SDP_SERVICE: which values, and when; and the setting, for sockets that say nothing. */
static int options(void *arg)
{
	struct pair p = pair_ud(), other;
	int fd = fresh(0), i;

	i = get_int(fd, SOL_SDP, SDP_SERVICE);
	need(i == SDP_SERVICE_RC, "at first %d", i);
	for (i = -2; i <= SDP_SERVICE_AUTO + 1; i++) {
		int ok = !setsockopt(fd, SOL_SDP, SDP_SERVICE, &i, sizeof(i));

		need(ok == (i >= -1 && i <= SDP_SERVICE_AUTO), "%d: %s", i, errno_text(errno));
	}
	i = SDP_SERVICE_RC;
	need(setsockopt(p.c, SOL_SDP, SDP_SERVICE, &i, sizeof(i)) < 0 && errno == EISCONN,
	     "connected: %s", errno_text(errno));
	need(setting_write("service", "ud\n"), "the setting does not take ud");
	need(get_int(p.s, SOL_SDP, SDP_SERVICE) == SDP_SERVICE_UD, "the setting is not in force");
	other = pair_make();
	need(!strcmp(info_of(other.c).transport, "ud"), "it is by %s", info_of(other.c).transport);
	need(!setting_write("service", "udp\n"), "the setting takes any word");
	need(setting_write("service", "rc\n"), "the setting does not take rc");
	other = pair_make();
	need(strcmp(info_of(other.c).transport, "ud"), "it is by datagrams");
	return EXIT_OK;
}

#define UD_SETS		(1u << SET_RC4 | 1u << SET_RC6)
#define BAD(text)	{ "bad_network (" text ")", bad_network, 120, RC, true, text }

static const struct test tests[] = {
	CASE(exchange, 30, UD_SETS),
	CASE(one_way, 60, RC),
	CASE(windows, 60, RC),
	CASE(ping_pong, 60, RC),
	CASE(two_writes, 60, RC),
	BAD("loss 0.1%"),
	BAD("loss 1%"),
	BAD("loss 5%"),
	BAD("loss 20%"),
	BAD("corrupt 1%"),
	BAD("duplicate 5%"),
	BAD("delay 1ms reorder 75% 50%"),
	BAD("loss 1% duplicate 5% delay 1ms reorder 75% 50%"),
	CASE(opens_anyway, 120, RC),
	CASE(silent_peer, 60, RC),
	CASE(refused, 10, UD_SETS),
	CASE(resets, 30, UD_SETS),
	CASE(cable_fails, 60, RC),
	CASE(address_goes, 30, RC),
	CASE(device_goes, 60, RC),
	CASE(keepalive, 60, RC),
	CASE(few_queue_pairs, 60, RC),
	CASE(options, 20, RC),
};

int main(int argc, char **argv)
{
	pattern_make();
	atexit(network_whole);
	return cables_main(argv, tests, ARRAY_SIZE(tests));
}
