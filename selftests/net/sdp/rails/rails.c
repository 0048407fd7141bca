// SPDX-License-Identifier: GPL-2.0
/*
 * Rails: a connection over several cables, which fail and come back (H1, H6, D6).
 *
 * The lab gets three more cables, with devices of their own. A reader in a process of its own
 * checks each byte.
 */
#include "cables.h"
#include "flow.h"
#include "info.h"
#include "reading.h"

/* The RDMA devices that rails may use; "": all. Each case begins with all. */
static void use_devices(const char *names)
{
	char line[200];

	snprintf(line, sizeof(line), "%s\n", names);
	need(setting_write("rail_devices", line), "rail_devices does not take %s", names);
}

/* All data goes in messages. rails_rdma.c has the tests of RDMA. */
static void many_rails(void)
{
	use_devices("");
	setting_set("rails", 1 + CABLES);
	setting_set("rdma_threshold", 0);
}

/*
 * H1: each cable carries a part of the data, in both directions. How much is for their speed to
 * decide, which here is the processors'; a join alone takes three packets.
 */
static int spread(void *arg)
{
	int back, i;

	many_rails();
	for (back = 0; back < 2; back++) {
		long long before[CABLES + 1], end;
		struct flow f;

		for (i = 1; i <= CABLES; i++)
			before[i] = packets_of(back, i);
		f = flow_begin(back);
		flow_until(&f, "RailsJoined", 2 * CABLES);
		end = now_ms() + 1000 * patience(20);
		for (i = 1; i <= CABLES; i++) {
			while (packets_of(back, i) <= before[i] + 12) {
				need(now_ms() < end, "cable %d carries no data", i);
				flow_more(&f, CHUNK);
			}
			printf("# cable %d: %lld packets\n", i, packets_of(back, i) - before[i]);
		}
		flow_end(&f);
		need(!since_mark("RailsLost"), "%lld rails are lost", since_mark("RailsLost"));
	}
	return EXIT_OK;
}

#define TRACING		"/sys/kernel/tracing/"
#define EVENTS		TRACING "events/sdp"
#define CPUS		8

/* Processors, and rails, by which messages were sent; and whether the caller sent any itself. */
struct senders {
	bool cpu[CPUS];
	bool rail[1 + CABLES];
	bool caller;
};

static void senders_look(struct senders *s)
{
	FILE *f = fopen(TRACING "trace", "r");
	unsigned int cpu, rail;
	char line[500];
	int pid;

	need_errno(f, TRACING "trace");
	while (fgets(line, sizeof(line), f)) {
		char *event = strstr(line, "sdp_rail_send:"), *at = strstr(line, "] ");

		/* "COMM-PID [CPU] FLAGS TIME: sdp_rail_send: port=1 peer=2 rail=3 mseq=4" */
		while (at && at > line && *at != '[')
			at--;
		if (!event || !at || sscanf(at, "[%u]", &cpu) != 1 || cpu >= CPUS)
			continue;
		if (sscanf(strstr(event, "rail="), "rail=%u", &rail) == 1 && rail <= CABLES)
			s->rail[rail] = true;
		s->cpu[cpu] = true;
		while (at > line && *at != '-')
			at--;
		if (sscanf(at, "-%d", &pid) == 1 && pid == getpid())
			s->caller = true;
	}
	fclose(f);
}

/* H4: messages of one write leave from several processors, the writer's own among them. */
static int workers(void *arg)
{
	long long end = now_ms() + 1000 * patience(30);
	struct senders s = { .caller = false };
	struct flow f;
	int i;

	if (access(EVENTS, F_OK) || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return EXIT_SKIPPED;
	many_rails();
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	lab("echo >" TRACING "trace; echo 1 >" EVENTS "/sdp_rail_send/enable");
	do {
		flow_more(&f, 1 << 20);
		senders_look(&s);
		need(now_ms() < end, "by processors %d %d, rails %d %d %d %d, by the caller %d",
		     s.cpu[0], s.cpu[1], s.rail[0], s.rail[1], s.rail[2], s.rail[3], s.caller);
	} while (!(s.cpu[0] && s.cpu[1] && s.rail[0] && s.rail[1] && s.rail[2] && s.rail[3] &&
		   s.caller));
	lab("echo 0 >" EVENTS "/sdp_rail_send/enable");
	flow_end(&f);
	for (i = 0; i < CPUS; i++)
		if (s.cpu[i])
			printf("# messages were sent by processor %d\n", i);
	return EXIT_OK;
}

/* H4, H5: one processor slices its time. */
static int one_processor(void *arg)
{
	struct flow f;

	if (access(CPU1, W_OK))
		return EXIT_SKIPPED;
	many_rails();
	lab("echo 0 >" CPU1);
	f = flow_begin(true);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_more(&f, 4 << 20);
	flow_end(&f);
	lab("echo 1 >" CPU1);
	return EXIT_OK;
}

/*
 * H1: large writes, which go by RDMA before, fill large messages once other rails have joined: the
 * receives have grown before that.
 */
static int large_messages(void *arg)
{
	long long messages;
	struct flow f;

	setting_set("rails", 1 + CABLES);
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	set_int(f.out, SOL_SDP, SDP_RDMA_THRESHOLD, 0);
	flow_more(&f, 1 << 20);
	messages = since_mark("DataSent");
	flow_more(&f, 8 << 20);
	messages = since_mark("DataSent") - messages;
	need(messages < (8 << 20) / (16 << 10), "%lld messages of 8 MiB", messages);
	flow_end(&f);
	return EXIT_OK;
}

/*
 * H1: a VLAN over a cable is one more path, by the same devices. It takes the place of a cable: a
 * side announces eight addresses at most, and here both sides have all addresses.
 */
static int vlan(void *arg)
{
	long long before, end;
	struct flow f;

	if (system("modprobe 8021q 2>/dev/null")) {
		puts("# this kernel has no VLANs");
		return EXIT_SKIPPED;
	}
	lab("lab_rail_down 3; lab_rail_vlan 5 1");
	many_rails();
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	before = interface_packets("va5") + interface_packets("vb5");
	end = now_ms() + 1000 * patience(20);
	while (interface_packets("va5") + interface_packets("vb5") <= before + 50) {
		need(now_ms() < end, "the VLAN carries no data");
		flow_more(&f, CHUNK);
	}
	flow_end(&f);
	lab("lab_rail_down 5; lab_rail 3");
	return EXIT_OK;
}

/* H1: rails join by the devices of rail_devices only; both ends are on this host. */
static int by_devices(void *arg)
{
	struct sdp_info info;
	long long before;
	struct flow f;

	many_rails();
	use_devices("nobody rxb2  rxa2 rxa");
	before = packets_of(false, 1) + packets_of(false, 3);
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2);
	flow_more(&f, 8 << 20);
	info = info_of(f.out);
	need(info.rails == 2, "%u rails", info.rails);
	need(packets_of(false, 1) + packets_of(false, 3) == before, "another cable is used");
	/* From now on all may be used. */
	use_devices("");
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_end(&f);
	return EXIT_OK;
}

/* A side that does not want rails gets none. */
static int unwanted(void *arg)
{
	struct flow f;

	setting_set("rails", 1);
	f = flow_begin(false);
	flow_more(&f, 4 << 20);
	flow_end(&f);
	need(!since_mark("RailsJoined"), "%lld rails have joined", since_mark("RailsJoined"));
	return EXIT_OK;
}

/* H6: a cable fails while data flows, and comes back: no byte is lost, and the rail joins again. */
static int cable_fails(void *arg)
{
	const char *cable = arg;
	struct flow f;

	many_rails();
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_more(&f, 1 << 20);
	lab("ip link set %s down", cable);
	flow_until(&f, "RailsLost", 2);
	flow_more(&f, 4 << 20);
	need(info_of(f.out).rails_lost, "SDP_INFO counts no lost rail");
	if (strcmp(cable, "va")) {
		lab("lab_rail_up %s", cable + 2);
		flow_until(&f, "RailsJoined", 2 * CABLES + 2);
	}
	flow_end(&f);
	if (!strcmp(cable, "va"))
		lab("lab_down; lab_up");
	return EXIT_OK;
}

/* SDP_INFO, `sdp list -i` and the tracepoints show the rails of both ends. */
static int seen(void *arg)
{
	bool traced = !access(EVENTS, F_OK);
	struct sdp_info info;
	struct flow f;

	many_rails();
	if (traced)
		lab("echo >/sys/kernel/tracing/trace; echo 1 >" EVENTS "/sdp_rail_join/enable");
	f = flow_begin(false);
	need(info_of(f.out).rails == 1, "%u rails at first", info_of(f.out).rails);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_more(&f, 1 << 20);
	info = info_of(f.out);
	need(info.rails == 1 + CABLES && !info.rails_lost, "%u rails, %u lost", info.rails,
	     info.rails_lost);
	lab("\"$SDP_TOP\"/build/tools/sdp list -i >/tmp/rails.list; "
	    "[ $(grep -Ec \"^    rail [0-%d]: (active|suspect), rx[ab][0-9]*, 10[0-9.]+ to 10[0-9.]+, "
	    "out [0-9]+ bytes, in [0-9]+, pending [0-9]+, [0-9]+ kB/s, [0-9]+ us\" "
	    "/tmp/rails.list) = %d ]", CABLES, 2 * (1 + CABLES));
	if (traced)
		lab("echo 0 >" EVENTS "/sdp_rail_join/enable; [ $(grep -Ec "
		    "\"sdp_rail_join: port=[0-9]+ peer=[0-9]+ rail=[1-%d]\" "
		    "/sys/kernel/tracing/trace) = %d ]", CABLES, 2 * CABLES);
	flow_end(&f);
	return EXIT_OK;
}

/* Number of directions to try: both, but one at random on a slow kernel in the short form. */
static int directions(int *first)
{
	*first = 0;
	if (!short_form() || !slow_kernel())
		return 2;
	*first = seed_drawn() % 2;
	printf("# short form: one direction only, %d\n", *first);
	return *first + 1;
}

/* All rails are lost by what @outage does, and one joins again: no byte is lost. */
static void through_outage(void (*outage)(struct flow *f))
{
	int back, end = directions(&back);
	long long begin;
	struct flow f;

	many_rails();
	setting_set("rail_wait_ms", 1000 * patience(30));
	for (; back < end; back++) {
		f = flow_begin(back);
		flow_until(&f, "RailsJoined", 2 * CABLES);
		outage(&f);
		begin = now_ms();
		flow_more(&f, 4 << 20);
		flow_end(&f);
		printf("# %lld ms until all had come\n", now_ms() - begin);
		need(since_mark("RailsLost") >= 2 * (1 + CABLES), "%lld rails are lost",
		     since_mark("RailsLost"));
		all_cables_renewed();
	}
}

static void no_cable(struct flow *f)
{
	flow_more(f, 1 << 20);
	all_cables_down();
	lab("(sleep 2; lab_rail_up 2) >/dev/null 2>&1 &");
}

/* H6: all cables fail, and one comes back: the connection has waited. */
static int waits(void *arg)
{
	through_outage(no_cable);
	return EXIT_OK;
}

static void no_device(struct flow *f)
{
	flow_more(f, 1 << 20);
	lab("for dev in va va1 va3; do ip link set $dev down; done");
	flow_until(f, "RailsLost", 2 * CABLES);
	lab("rdma link delete rxb2");
	lab("(sleep 1; lab_rail_end b 2) >/dev/null 2>&1 &");
}

/* H6: the device of the last rail is removed, at either end, and comes back. */
static int last_device_removed(void *arg)
{
	through_outage(no_device);
	return EXIT_OK;
}

/* H6: the peer's process is killed while no cable works. The writer learns it when one does. */
static int peer_gone(void *arg)
{
	int wait = 1000 * patience(100), status;
	long long begin = now_ms();
	struct flow f;

	many_rails();
	setting_set("rail_wait_ms", wait);
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	await_all_sent(f.out);
	all_cables_down();
	need_errno(!kill(f.reader, SIGKILL), "kill");
	waitpid(f.reader, &status, 0);
	lab("lab_rail_up 2");
	signal(SIGPIPE, SIG_IGN);
	while (write(f.out, pattern(f.at), CHUNK) > 0)
		;
	need(errno == ECONNRESET || errno == EPIPE, "write: %s", errno_text(errno));
	need(now_ms() - begin < wait, "only after %lld ms", now_ms() - begin);
	close(f.out);
	all_cables_renewed();
	return EXIT_OK;
}

/* What a reader whose writer has gone has got in all. */
static long *shared_total;

static void read_total(void *arg)
{
	need_errno(!read_stream(arg, shared_total), "read");
}

/* H6: a socket that is closed while no cable works still delivers its bytes. */
static int closes_cut_off(void *arg)
{
	struct flow f;
	long total;

	shared_total = mmap(NULL, sizeof(*shared_total), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need_errno(shared_total != MAP_FAILED, "mmap");
	many_rails();
	setting_set("rail_wait_ms", 1000 * patience(60));
	f = flow_to(pair_make(), false, read_total);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	await_all_sent(f.out);
	all_cables_down();
	flow_more(&f, 30000);
	total = f.at;
	close(f.out);
	lab("lab_rail_up 2");
	helper_end(f.reader);
	need(*shared_total == total, "%ld bytes of %ld have arrived", *shared_total, total);
	all_cables_renewed();
	return EXIT_OK;
}

/* Keepalive ends an idle connection without cables, as it does with TCP. */
static int keepalive_cut_off(void *arg)
{
	int wait = 1000 * patience(100), error = 0;
	socklen_t len = sizeof(error);
	long long begin;
	struct flow f;

	many_rails();
	setting_set("rail_wait_ms", wait);
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	await_all_sent(f.out);
	set_int(f.out, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(f.out, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(f.out, IPPROTO_TCP, TCP_KEEPCNT, 2);
	set_int(f.out, SOL_SOCKET, SO_KEEPALIVE, 1);
	begin = now_ms();
	all_cables_down();
	need(poll_for(f.out, POLLERR, wait) & POLLERR, "no error");
	need_errno(!getsockopt(f.out, SOL_SOCKET, SO_ERROR, &error, &len), "SO_ERROR");
	need(error == ETIMEDOUT && now_ms() - begin < wait, "%s after %lld ms", errno_text(error),
	     now_ms() - begin);
	kill(f.reader, SIGKILL);
	waitpid(f.reader, NULL, 0);
	close(f.out);
	all_cables_renewed();
	return EXIT_OK;
}

/* The reader of a connection that fails. */
static void read_to_failure(void *arg)
{
	long at;
	ssize_t n = read_stream(arg, &at);

	need(n < 0 && errno != EAGAIN, "the reader gets %zd, %s", n, errno_text(errno));
}

/* All cables fail and none comes back: the connection fails at both ends when the time is over. */
static int waits_in_vain(void *arg)
{
	int wait = 1000 * patience(2);
	long long begin;
	struct flow f;
	ssize_t n;

	many_rails();
	setting_set("rail_wait_ms", wait);
	f = flow_to(pair_make(), false, read_to_failure);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_more(&f, 1 << 20);
	lab("for dev in va va1 va2; do ip link set $dev down; done");
	begin = now_ms();
	lab("ip link set va3 down");
	signal(SIGPIPE, SIG_IGN);
	do
		n = write(f.out, pattern(f.at), CHUNK);
	while (n > 0 && (f.at += n));
	need(n < 0, "write returns %zd", n);
	need(now_ms() - begin >= wait, "it has failed after %lld ms: %s", now_ms() - begin,
	     errno_text(errno));
	printf("# failed after %lld ms: %s\n", now_ms() - begin, errno_text(errno));
	helper_end(f.reader);
	all_cables_renewed();
	return EXIT_OK;
}

/* H6: a device is removed, and one of the same name is added. */
static int device_removed(void *arg)
{
	struct flow f;

	many_rails();
	f = flow_begin(true);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	lab("rdma link delete rxb2");
	flow_until(&f, "RailsLost", 2);
	flow_more(&f, 4 << 20);
	lab("lab_rail_end b 2");
	flow_until(&f, "RailsJoined", 2 * CABLES + 2);
	flow_end(&f);
	return EXIT_OK;
}

/* H1: a cable that is plugged in later becomes a rail of connections that exist. */
static int plugged_later(void *arg)
{
	struct flow f;

	many_rails();
	lab("lab_rail_down 2");
	f = flow_begin(false);
	flow_until(&f, "RailsJoined", 2 * (CABLES - 1));
	lab("lab_rail 2");
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_end(&f);
	return EXIT_OK;
}

#define WAYS	4

/* What may happen to a cable, and how that is mended. */
static const char *const breaks[WAYS] = {
	"ip link set va%d down", "ip link set vb%d down",
	"rdma link delete rxa%d", "rdma link delete rxb%d",
};

static const char *const mends[WAYS] = {
	"lab_rail_up %d", "lab_rail_up %d", "lab_rail_end a %d", "lab_rail_end b %d",
};

struct endless {
	struct flow *f;
	const volatile bool *stop;
};

static void write_until_told(void *arg)
{
	const struct endless *e = arg;

	while (!*e->stop)
		flow_more(e->f, CHUNK);
	flow_over(e->f);
}

static int events_wanted(void)
{
	const char *given = getenv("SDP_EVENTS");

	if (given)
		return atoi(given);
	return slow_kernel() && short_form() ? 10 : scaled(256);
}

/*
 * H6: the first cable fails for good. At random, links of the others go down and devices are
 * removed, and come back. At times there is no cable at all. No byte is lost or twice. SDP_EVENTS
 * in the environment is the number of events.
 */
static int failures(void *arg)
{
	bool *stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	unsigned int first_seed = seed_drawn(), seed = first_seed;
	int events = events_wanted();
	int broken[CABLES + 1] = { 0 }, i, cable;
	struct endless e = { .stop = stop };
	struct flow f;
	pid_t writer;

	need_errno(stop != MAP_FAILED, "mmap");
	many_rails();
	setting_set("rail_wait_ms", 1000 * patience(60));
	f = flow_begin(seed % 2);
	e.f = &f;
	flow_until(&f, "RailsJoined", 2 * CABLES);
	/* What went by the first cable alone has to arrive by it. */
	flow_more(&f, 1 << 20);
	lab("ip link set va down");
	writer = helper_start(write_until_told, &e);
	for (i = 0; i < events; i++) {
		cable = random_up_to(&seed, CABLES);
		if (broken[cable]) {
			lab(mends[broken[cable] - 1], cable);
			broken[cable] = 0;
		} else {
			broken[cable] = random_up_to(&seed, WAYS);
			lab(breaks[broken[cable] - 1], cable);
		}
		pause_ms(random_up_to(&seed, 200));
	}
	for (cable = 1; cable <= CABLES; cable++)
		if (broken[cable])
			lab(mends[broken[cable] - 1], cable);
	*stop = true;
	helper_end(writer);
	helper_end(f.reader);
	printf("# %d events, SDP_SEED=%u, %lld rails lost, %lld joined\n", events, first_seed,
	       since_mark("RailsLost"), since_mark("RailsJoined"));
	close(f.out);
	lab("lab_down; lab_up");
	return EXIT_OK;
}

/* A pair whose listener and connecting socket have set SDP_RAILS, or not (0). */
static struct pair pair_of_rails(int listening, int connecting)
{
	struct addr where;
	struct pair p = { .c = fresh(0) };
	int fd = listener(1, &where);

	set_int(fd, SOL_SDP, SDP_RAILS, listening);
	set_int(p.c, SOL_SDP, SDP_RAILS, connecting);
	connect_to(p.c, &where);
	p.s = accept_from(fd);
	close(fd);
	return p;
}

/* SDP_RAILS takes the place of the setting, at either end. */
static int by_option(void *arg)
{
	static const struct { int setting, listening, connecting, rails; } tries[] = {
		{ 1, 1 + CABLES, 1 + CABLES, 1 + CABLES }, { 1, 8, 2, 2 }, { 1 + CABLES, 2, 0, 2 },
		{ 1 + CABLES, 0, 1, 1 }, { 1 + CABLES, 1, 0, 1 }, { 1, 0, 8, 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct flow f;
		struct pair p;
		int wish;

		setting_set("rails", tries[i].setting);
		p = pair_of_rails(tries[i].listening, tries[i].connecting);
		wish = get_int(p.c, SOL_SDP, SDP_RAILS);
		f = flow_of(p, i % 2);
		need(wish == (tries[i].connecting ?: tries[i].setting), "wish %d", wish);
		flow_until(&f, "RailsJoined", 2 * (tries[i].rails - 1));
		flow_more(&f, 8 << 20);
		/* An end that wants one only has a plain link, whose number is 0. */
		need((int)(info_of(f.out).rails ?: 1) == tries[i].rails, "%u rails in try %u",
		     info_of(f.out).rails, i);
		need(setsockopt(f.out, SOL_SDP, SDP_RAILS, &wish, sizeof(wish)) && errno == EISCONN,
		     "set when connected: %s", errno_text(errno));
		flow_end(&f);
	}
	return EXIT_OK;
}

/* A short connection asks for no rails, and a long one ends in order at both ends. */
static int short_one(void *arg)
{
	struct flow f;

	many_rails();
	f = flow_begin(false);
	flow_more(&f, 10000);
	flow_end(&f);
	need(!since_mark("RailsJoined"), "%lld rails have joined", since_mark("RailsJoined"));
	return EXIT_OK;
}

/* Port 0, where rails join, is no port for programs: nobody listens there. */
static int port_zero(void *arg)
{
	struct pair p = pair_make();
	struct addr zero = server_addr(0);
	int fd = fresh(0);

	counters_mark();
	need(connect(fd, &zero.sa, zero.len) && errno == ECONNREFUSED, "connect: %s",
	     errno_text(errno));
	need(!since_mark("BadHello"), "it counts as a violation");
	close(fd);
	close(p.c);
	close(p.s);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(spread, 60, RC | 1u << SET_RC6),
	CASE(large_messages, 60, RC),
	CASE(vlan, 60, RC),
	CASE(by_devices, 120, RC),
	CASE(workers, 60, RC),
	CASE(one_processor, 60, RC),
	CASE(unwanted, 30, RC),
	CASE(by_option, 60, RC),
	CASE(short_one, 30, RC),
	CASE(port_zero, 30, RC),
	{ "cable_fails", cable_fails, 60, RC | 1u << SET_RC6, true, "va1" },
	{ "first_cable_fails", cable_fails, 60, RC, true, "va" },
	CASE(device_removed, 60, RC),
	CASE(plugged_later, 60, RC),
	CASE(seen, 30, RC),
	CASE(waits, 120, RC),
	CASE(last_device_removed, 60, RC),
	CASE(peer_gone, 60, RC),
	CASE(closes_cut_off, 60, RC),
	CASE(keepalive_cut_off, 60, RC),
	CASE(waits_in_vain, 60, RC),
	CASE(failures, 1200, RC),
};

int main(int argc, char **argv)
{
	pattern_make();
	return cables_main(argv, tests, ARRAY_SIZE(tests));
}
