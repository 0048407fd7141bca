// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of idle and hundreds of busy connections: all work, and none starves.
 *
 * Idle connections still work, and cost little. Busy ones get fair shares, also beside idle ones.
 * When there are more clients than the accept queue holds, all that wait are served. When no port
 * is left, connect() reports it.
 *
 * SDP_LOAD is the number of idle connections, by loopback, then as many by RDMA and by datagrams.
 * Both ends of them are in one process.
 */
#include "cases.h"
#include "info.h"
#include "machine.h"
#include <sys/epoll.h>

enum {
	IDLE_LOOP = 1500,		/* number of idle connections without SDP_LOAD */
	IDLE_RC = 500,
	IDLE_MAX = 20000,
	BUSY = 200,
	BUSY_PART = 64 * 1024,		/* average number of bytes for each */
	UNFAIR = 8,			/* the factor by which one may miss the average */
};

/* Bytes that an idle connection may cost, both ends and the device's part, with some reserve. */
#define LOOP_LIMIT	(16 * 1024)
#define RC_LIMIT	(150 * 1024)
#define UD_LIMIT	(10 * 1024)
/* What the shared queue pairs get besides, as more connections use them: 1,024 receives each. */
#define UD_POOL		(20 << 20)

static bool by_datagrams;

static bool over_rdma(void)
{
	return set == &addrsets[SET_RC4] || set == &addrsets[SET_RC6];
}

static int idle_count(void)
{
	const char *text = getenv("SDP_LOAD");
	int n = text ? atoi(text) : over_rdma() ? IDLE_RC : IDLE_LOOP;

	need(n > 0 && n <= IDLE_MAX, "SDP_LOAD is 1 ... %d", IDLE_MAX);
	return n;
}

static void open_pair(int listening, const struct addr *where, struct pair *p, int number)
{
	p->c = fresh(0);
	need(!connect(p->c, &where->sa, where->len), "connection %d: connect: %s", number,
	     errno_text(errno));
	p->s = accept_from(listening);
}

static void open_pairs(struct pair *pairs, int n)
{
	long long start = now_ms(), half = start;
	struct addr where;
	int i, fd = listener(8, &where);

	for (i = 0; i < n; i++) {
		open_pair(fd, &where, &pairs[i], i);
		if (i == n / 2)
			half = now_ms();
	}
	close(fd);
	printf("# %d connections opened in %lld ms, the second half in %lld ms\n", n,
	       now_ms() - start, now_ms() - half);
}

/* Sends a byte each way, and checks it. */
static void use_pairs(const struct pair *pairs, int n)
{
	long long start = now_ms();
	unsigned char c;
	int i;

	for (i = 0; i < n; i++) {
		c = i % 251;
		send_all(pairs[i].c, &c, 1);
		recv_all(pairs[i].s, &c, 1);
		need(c == i % 251, "connection %d: wrong byte", i);
		c = ~c;
		send_all(pairs[i].s, &c, 1);
		recv_all(pairs[i].c, &c, 1);
		need(c == (unsigned char)~(i % 251), "connection %d: wrong answer", i);
	}
	printf("# each of %d used once, in %lld ms\n", n, now_ms() - start);
}

static void close_pairs(const struct pair *pairs, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		close(i & 1 ? pairs[i].c : pairs[i].s);
		close(i & 1 ? pairs[i].s : pairs[i].c);
	}
}

/* Writes to all busy connections, in a process of its own. epoll gives each the same chance. */
static void write_busy(const struct pair *pairs, int n)
{
	struct epoll_event events[64], watch = { .events = EPOLLOUT };
	int ep = epoll_create1(0), i, ready;
	char data[4096];
	ssize_t len;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < n; i++) {
		watch.data.u32 = i;
		need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, pairs[i].c, &watch), "epoll_ctl");
	}
	for (;;) {
		ready = epoll_wait(ep, events, 64, -1);
		for (i = 0; i < ready; i++) {
			memset(data, events[i].data.u32 % 251, sizeof(data));
			len = send(pairs[events[i].data.u32].c, data, sizeof(data),
				   MSG_DONTWAIT | MSG_NOSIGNAL);
			need(len > 0 || errno == EAGAIN, "send: %s", errno_text(errno));
		}
	}
}

/*
 * Number of bytes for each connection, on average. The short form does not scale it: with two
 * writes for each, a connection that is late once would get nothing, which shows nothing.
 */
static long long busy_part(void)
{
	return slow_kernel() ? scaled(BUSY_PART) : BUSY_PART;
}

/* Reads until all connections together have had @n parts. @got: bytes of each one. */
static void read_busy(const struct pair *pairs, int n, long long *got)
{
	struct epoll_event events[64], watch = { .events = EPOLLIN };
	int ep = epoll_create1(0), i, ready, who;
	static unsigned char data[16384];
	long long left = n * busy_part();
	ssize_t len;

	for (i = 0; i < n; i++) {
		watch.data.u32 = i;
		need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, pairs[i].s, &watch), "epoll_ctl");
	}
	while (left > 0) {
		ready = epoll_wait(ep, events, 64, WAIT_MS);
		need(ready > 0, "nothing comes any more, %lld bytes missing", left);
		for (i = 0; i < ready; i++) {
			who = events[i].data.u32;
			len = recv(pairs[who].s, data, sizeof(data), MSG_DONTWAIT);
			if (len < 0 && errno == EAGAIN)
				continue;
			need_errno(len > 0, "recv");
			need(data[0] == who % 251 && data[len - 1] == who % 251,
			     "connection %d: bytes of another one", who);
			got[who] += len;
			left -= len;
		}
	}
	close(ep);
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

/*
 * Busy connections beside whatever is open. All write as much as they can, until together they have
 * moved one part for each. Compared are amounts, not times: another process or a slow machine slows
 * all of them down.
 */
static void be_busy(const char *beside)
{
	static struct pair pairs[BUSY];
	long long got[BUSY] = { }, start, part = busy_part();
	pid_t writer;

	open_pairs(pairs, BUSY);
	start = now_ms();
	writer = fork();
	need_errno(writer >= 0, "fork");
	if (!writer)
		write_busy(pairs, BUSY);
	read_busy(pairs, BUSY, got);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	qsort(got, BUSY, sizeof(got[0]), compare);
	printf("# %d busy connections%s, %lld KiB in %lld ms: ", BUSY, beside, BUSY * part / 1024,
	       now_ms() - start);
	printf("min %lld, median %lld, max %lld KiB\n", got[0] / 1024, got[BUSY / 2] / 1024,
	       got[BUSY - 1] / 1024);
	close_pairs(pairs, BUSY);
	need(got[0] * UNFAIR >= part, "one had %lld bytes when the average was %lld", got[0], part);
	need(got[BUSY - 1] <= part * UNFAIR, "one had %lld bytes when the average was %lld",
	     got[BUSY - 1], part);
}

static int busy(void *arg)
{
	long long before = counter("CurrEstab");

	allow_descriptors(2 * BUSY + 50);
	be_busy("");
	await_established(before);
	return EXIT_OK;
}

/* Resources that connections take, and that have to be back when they are closed. */
struct inventory {
	long long established, memory, slab;
	int sockets, queue_pairs;
};

static struct inventory take_inventory(void)
{
	struct inventory now = { .memory = memory_now(), .slab = meminfo("Slab") };

	if (use_sdp) {
		now.established = counter("CurrEstab");
		now.sockets = sockets();
		now.queue_pairs = rdma_objects("qp");
	}
	return now;
}

/* Waits until the kernel gives back no more memory. */
static struct inventory settled_inventory(void)
{
	struct inventory last, now = take_inventory();

	do {
		last = now;
		pause_ms(1000);
		now = take_inventory();
	} while (now.memory - last.memory > 1 << 20);
	return now;
}

static void report_cost(const struct inventory *before, const struct inventory *now, int n)
{
	long long cost = (before->memory - now->memory) / n;
	long long limit = over_rdma() ? RC_LIMIT : LOOP_LIMIT;
	int queue_pairs = over_rdma() && !by_datagrams ? 2 * n : 0;

	if (by_datagrams)
		limit = UD_LIMIT + UD_POOL / n;

	printf("# an idle connection, both ends: %lld bytes, of which slab %lld; ", cost,
	       (now->slab - before->slab) / n);
	printf("%lld MiB in all, %d queue pairs\n", (before->memory - now->memory) >> 20,
	       now->queue_pairs - before->queue_pairs);
	if (!use_sdp)
		return;
	printf("# MemoryShort %lld, MemoryPressure %lld\n", counter("MemoryShort"),
	       counter("MemoryPressure"));
	need(now->sockets - before->sockets == 2 * n, "/proc/net/sdp shows %d sockets more",
	     now->sockets - before->sockets);
	need(now->queue_pairs - before->queue_pairs == queue_pairs, "%d queue pairs more",
	     now->queue_pairs - before->queue_pairs);
	need(cost < limit, "%lld bytes for an idle connection, not %lld", cost, limit);
}

/*
 * Waits until all is released. This takes time: DREQ and DREP for each connection, and the retries
 * of those that were lost.
 */
static void await_nothing_left(const struct inventory *before, long long used, bool memory)
{
	long long start = now_ms(), end = start + 6 * WAIT_MS, left;
	int qps;

	if (!use_sdp)
		return;
	for (;;) {
		qps = rdma_objects("qp");
		left = before->memory - memory_now();
		if (sockets() <= before->sockets && qps <= before->queue_pairs &&
		    (!memory || left < used / 8 + (16 << 20)))
			break;
		need(now_ms() < end, "left: %d sockets, %d queue pairs, %lld KiB",
		     sockets() - before->sockets, qps - before->queue_pairs, left >> 10);
		pause_ms(50);
	}
	need(counter("CurrEstab") == before->established, "CurrEstab is %lld, was %lld",
	     counter("CurrEstab"), before->established);
	printf("# nothing left after another %lld ms\n", now_ms() - start);
}

/* The time to read /proc has to grow only as the number of sockets does. */
static void time_proc(void)
{
	long long start = now_ms();
	int n;

	if (!use_sdp)
		return;
	n = sockets();
	printf("# /proc/net/sdp with %d sockets: read in %lld ms\n", n, now_ms() - start);
}

static int idle(void *arg)
{
	static struct pair pairs[IDLE_MAX], first;
	const int n = idle_count();
	struct inventory before, now;
	long long start, used;

	allow_descriptors(2 * (n + BUSY) + 50);
	await_rest();
	open_pairs(&first, 1);		/* makes allocations that come only once */
	before = take_inventory();
	open_pairs(pairs, n);
	now = take_inventory();
	report_cost(&before, &now, n);
	time_proc();
	be_busy(" beside the idle ones");
	use_pairs(pairs, n);
	start = now_ms();
	close_pairs(pairs, n);
	printf("# closed in %lld ms\n", now_ms() - start);
	used = before.memory - now.memory;
	await_nothing_left(&before, used, false);
	/* The kernel now has what it keeps for a device's next connections: no more may come. */
	before = settled_inventory();
	open_pairs(pairs, n);
	close_pairs(pairs, n);
	await_nothing_left(&before, used, true);
	return EXIT_OK;
}

/* Connections by datagrams share queue pairs, and have no receives of their own (I1 to I5). */
static int idle_by_datagrams(void *arg)
{
	need(setting_write("service", "ud\n"), "the setting service");
	by_datagrams = true;
	return idle(arg);
}

/* Length of the accept queue at @where, from the listener's line in /proc/net/sdp. */
static int waiting_at(const struct addr *where)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	unsigned int port, state, queue;
	char line[512];
	int found = -1;

	need_errno(f, "/proc/net/sdp");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*[^:]:%x %*s %x %*[^:]:%x", &port, &state, &queue) == 3 &&
		    state == 10 && port == addr_port(where))
			found = queue;
	fclose(f);
	need(found >= 0, "no listener in /proc/net/sdp");
	return found;
}

/* Accepts connections and closes them, until @want clients have sent their byte. */
static void serve_all(int listening, int want)
{
	char c;
	int fd;

	for (; want; want--) {
		need(poll_for(listening, POLLIN, WAIT_MS), "%d clients got nowhere", want);
		fd = accept(listening, NULL, NULL);
		need_errno(fd >= 0, "accept");
		/* A client that gave up has left nothing to read. */
		if (recv(fd, &c, 1, 0) != 1)
			want++;
		close(fd);
	}
}

static void say_byte_when_connected(const int *fds, int n)
{
	struct pollfd p[n];
	int left = n, i;

	for (i = 0; i < n; i++)
		p[i] = (struct pollfd){ .fd = fds[i], .events = POLLOUT };
	while (left) {
		need(poll(p, n, WAIT_MS) > 0, "%d clients never connect", left);
		for (i = 0; i < n; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			need_errno(send(p[i].fd, "x", 1, MSG_NOSIGNAL) == 1, "send");
			p[i].fd = -1;
			left--;
		}
	}
}

/*
 * Far more clients than the accept queue holds. The queue never exceeds its limit. Half of the
 * clients give up, and all others get in as soon as somebody accepts.
 */
static int crowd(void *arg)
{
	enum { ROOM = 8, CLIENTS = 500 };
	static int fds[CLIENTS];
	const int n = over_rdma() ? CLIENTS / 4 : CLIENTS;
	long long before = counter("CurrEstab"), start = now_ms();
	struct addr where;
	pid_t writer;
	int i, fd;

	allow_descriptors(CLIENTS + 50);
	setting_set("connect_timeout_ms", 60000);
	fd = listener(ROOM, &where);
	for (i = 0; i < n; i++) {
		fds[i] = fresh(SOCK_NONBLOCK);
		need(connect(fds[i], &where.sa, where.len) && errno == EINPROGRESS,
		     "connect %d: %s", i, errno_text(errno));
		if (i % 16 == 0)
			need(waiting_at(&where) <= ROOM + 1, "%d wait", waiting_at(&where));
	}
	while (waiting_at(&where) < ROOM + 1)
		need(now_ms() < start + WAIT_MS, "only %d wait", waiting_at(&where));
	for (i = 0; i < n / 2; i++)
		close(fds[i]);
	writer = fork();
	need_errno(writer >= 0, "fork");
	if (!writer) {
		say_byte_when_connected(fds + n / 2, n - n / 2);
		_exit(EXIT_OK);
	}
	for (; i < n; i++)
		close(fds[i]);
	serve_all(fd, n - n / 2);
	waitpid(writer, NULL, 0);
	printf("# %d clients at a queue of %d, half of them stay: served after %lld ms\n", n,
	       ROOM + 1, now_ms() - start);
	close(fd);
	await_established(before);
	return EXIT_OK;
}

static void set_port_rule(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
	f = fopen(path, "w");
	need_errno(f && fputs(text, f) >= 0 && !fclose(f), path);
}

static void set_port_range(const char *range)
{
	set_port_rule("ip_local_port_range", range);
}

/* Each client has a port, and no other is free. The next client is refused until one is. */
static int ports_run_out(void *arg)
{
	enum { PORTS = 50 };
	struct pair pairs[PORTS];
	struct addr where;
	int i, fd = listener(8, &where), extra = fresh(0), error;

	set_port_range("20000 20049");
	for (i = 0; i < PORTS; i++)
		open_pair(fd, &where, &pairs[i], i);
	error = connect(extra, &where.sa, where.len) ? errno : 0;
	close(pairs[PORTS / 2].c);
	close(pairs[PORTS / 2].s);
	for (i = 0; i < 500 && connect(extra, &where.sa, where.len); i++)
		pause_ms(10);
	set_port_range("32768 60999");
	need(error == EADDRNOTAVAIL, "without a free port, connect says %s", errno_text(error));
	need(i < 500, "with a free port again, connect says %s", errno_text(errno));
	return EXIT_OK;
}

/*
 * Nine of ten ports are reserved: bind to port 0 finds the tenth, and a reserved one can be asked
 * for by its number.
 */
static int ports_reserved(void *arg)
{
	struct addr any = server_addr(0), reserved = server_addr(26007), where;
	int fd = fresh(0), none = fresh(0), asks = fresh(0), error;

	set_port_range("26000 26009");
	set_port_rule("ip_local_reserved_ports", "26000-26004,26006-26009\n");
	need_errno(!bind(fd, &any.sa, any.len), "bind to any port");
	error = bind(none, &any.sa, any.len) ? errno : 0;
	set_port_range("32768 60999");
	where = name_of(fd);
	need_errno(!bind(asks, &reserved.sa, reserved.len), "bind to a reserved one");
	set_port_rule("ip_local_reserved_ports", "\n");
	need(addr_port(&where) == 26005, "the port is %u", addr_port(&where));
	need(error == EADDRINUSE, "another one: %s", errno_text(error));
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "busy", busy, 60, V4_SETS, false, NULL },
	{ "idle", idle, 600, V4_SETS, false, NULL },
	CASE(idle_by_datagrams, 600, RC),
	{ "crowd", crowd, 60, V4_SETS, true, NULL },
	{ "ports_run_out", ports_run_out, 30, V4_SETS, true, NULL },
	{ "ports_reserved", ports_reserved, 30, V4_SETS, false, NULL },
};

TEST_MAIN(tests)
