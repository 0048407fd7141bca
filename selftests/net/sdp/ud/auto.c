// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that begin by datagrams, and have queue pairs of their own while they are busy.
 *
 * The lab gets three more cables. A reader in a process of its own checks each byte.
 */
#include "cables.h"
#include "flow.h"
#include "info.h"
#include <linux/sockios.h>
#include <sys/ioctl.h>

/* The time after which a connection rests, and some more. */
#define REST_MS		20000
#define UD_SETS		(1u << SET_RC4 | 1u << SET_RC6)

static struct pair pair_auto(void)
{
	struct pair p;

	need(setting_write("service", "auto\n"), "the setting does not take auto");
	counters_mark();
	p = pair_make();
	need(!strcmp(info_of(p.c).transport, "auto") && !strcmp(info_of(p.s).transport, "auto"),
	     "it is by %s and %s", info_of(p.c).transport, info_of(p.s).transport);
	return p;
}

static void await_count(const char *what, long long want)
{
	long long end = now_ms() + 1000 * patience(REST_MS / 1000);

	while (since_mark(what) < want) {
		need(now_ms() < end, "%s is %lld of %lld", what, since_mark(what), want);
		pause_ms(50);
	}
}

/* Waits until all that was written has arrived at the other end. */
static void await_arrived(const struct flow *f)
{
	long long end = now_ms() + 1000 * patience(REST_MS / 1000);
	int left = 1;

	while (!ioctl(f->out, SIOCOUTQ, &left) && left) {
		need(now_ms() < end, "%d bytes of %ld have not arrived", left, f->at);
		pause_ms(5);
	}
}

/* An idle connection has no queue pair of its own; a busy one gets one, and gives it back. */
static int busy_and_rests(void *arg)
{
	struct flow f = flow_of(pair_auto(), false);
	long long before;
	int round;

	flow_more(&f, 10000);
	await_arrived(&f);
	need(since_mark("DatagramsSent") > 0, "nothing went by datagrams");
	need(!since_mark("RailsJoined"), "an idle connection has a rail");
	for (round = 1; round <= 2; round++) {
		flow_until(&f, "RailsJoined", 2 * round);
		/* What was under way by datagrams arrives. */
		await_arrived(&f);
		before = since_mark("DatagramsSent");
		flow_more(&f, 4 << 20);
		await_arrived(&f);
		need(since_mark("DatagramsSent") < before + 500, "%lld of 4 MiB by datagrams",
		     since_mark("DatagramsSent") - before);
		await_count("RailsRested", 2 * round);
		before = since_mark("DatagramsSent");
		flow_more(&f, 1000);
		await_arrived(&f);
		need(since_mark("DatagramsSent") > before, "at rest it is not by datagrams");
	}
	flow_end(&f);
	need(!since_mark("RailsLost"), "%lld rails are lost", since_mark("RailsLost"));
	return EXIT_OK;
}

/* The accepting end writes: the connecting end joins the rails all the same. */
static int busy_back(void *arg)
{
	struct flow f = flow_of(pair_auto(), true);

	flow_until(&f, "RailsJoined", 2);
	flow_more(&f, 4 << 20);
	flow_end(&f);
	need(!since_mark("RailsLost"), "%lld rails are lost", since_mark("RailsLost"));
	return EXIT_OK;
}

/* A trickle is not busy, however long it takes. */
static int trickle(void *arg)
{
	struct pair p = pair_auto();
	long at = 0, back = 0;
	int i;

	for (i = 0; i < 300; i++) {
		in_step(p.c, p.s, &at, 1, 1000);
		in_step(p.s, p.c, &back, 1, 1000);
		pause_ms(20);
	}
	need(!since_mark("RailsJoined"), "%lld rails have joined", since_mark("RailsJoined"));
	return EXIT_OK;
}

/*
 * The receives of a burst may not have grown before it is over; then no rail has joined yet. When
 * another message comes, the connection is not busy any more.
 */
static int burst(void *arg)
{
	struct flow f = flow_of(pair_auto(), false);
	long long joined;

	flow_more(&f, 1 << 20);
	await_arrived(&f);
	pause_ms(6500);
	joined = since_mark("RailsJoined");
	printf("# %lld rails have joined\n", joined);
	flow_more(&f, 100);
	await_arrived(&f);
	pause_ms(500);
	need(since_mark("RailsJoined") == joined, "%lld rails have joined after %lld",
	     since_mark("RailsJoined") - joined, joined);
	flow_end(&f);
	return EXIT_OK;
}

/* Several rails join, if as many are wanted, and all of them end. */
static int several(void *arg)
{
	struct flow f;

	setting_set("rails", 1 + CABLES);
	f = flow_of(pair_auto(), false);
	flow_until(&f, "RailsJoined", 2 * (1 + CABLES));
	flow_more(&f, 4 << 20);
	await_arrived(&f);
	await_count("RailsRested", 2 * (1 + CABLES));
	flow_more(&f, 1000);
	flow_end(&f);
	return EXIT_OK;
}

/* The device goes that carries both the datagrams and the rail. */
static int device_goes(void *arg)
{
	struct flow f;

	signal(SIGPIPE, SIG_IGN);
	need(setting_write("rail_devices", "rxa rxb\n"), "rail_devices");
	f = flow_of(pair_auto(), false);
	flow_until(&f, "RailsJoined", 2);
	lab("rdma link delete rxa");
	while (write(f.out, pattern(f.at), 1) == 1) {
		f.at++;
		pause_ms(1);
	}
	close(f.out);
	kill(f.reader, SIGKILL);
	all_cables_renewed();
	f = flow_of(pair_auto(), false);
	flow_until(&f, "RailsJoined", 2);
	flow_end(&f);
	return EXIT_OK;
}

/* Queue pairs of reliable connections. */
static int queue_pairs(void)
{
	FILE *f = popen("rdma resource show qp | grep -c ' type RC '", "r");
	int n = -1;

	need(f && fscanf(f, "%d", &n) == 1, "rdma resource show qp");
	pclose(f);
	return n;
}

/* Many idle ones share the queue pairs of the port. */
static int many_idle(void *arg)
{
	const int n = scaled(100);
	int before = queue_pairs();
	struct pair *p = calloc(n, sizeof(*p));
	long at = 0;
	int i;

	need_errno(p, "calloc");
	for (i = 0; i < n; i++)
		p[i] = pair_auto();
	for (i = 0; i < n; i++) {
		at = 0;
		in_step(p[i].c, p[i].s, &at, 2, 500);
	}
	need(queue_pairs() <= before, "%d queue pairs, and %d before", queue_pairs(), before);
	for (i = 0; i < n; i++) {
		close(p[i].c);
		close(p[i].s);
	}
	free(p);
	return EXIT_OK;
}

/* A socket that is bound to a device gets a queue pair at once. */
static int instead(void *arg)
{
	struct addr where, at = server_addr(0);
	int l = listener_on(&at, 1, &where), fd = fresh(0);

	need(setting_write("service", "auto\n"), "the setting does not take auto");
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "va", 3), "SO_BINDTODEVICE");
	connect_to(fd, &where);
	need(!strcmp(info_of(fd).transport, "rc"), "it is by %s", info_of(fd).transport);
	close(accept_from(l));
	close(l);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(busy_and_rests, 120, UD_SETS),
	CASE(busy_back, 60, UD_SETS),
	CASE(trickle, 60, RC),
	CASE(burst, 60, RC),
	CASE(several, 120, RC),
	CASE(device_goes, 60, RC),
	CASE(many_idle, 60, RC),
	CASE(instead, 20, RC),
};

int main(int argc, char **argv)
{
	pattern_make();
	return cables_main(argv, tests, ARRAY_SIZE(tests));
}
