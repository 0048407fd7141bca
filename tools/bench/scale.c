// SPDX-License-Identifier: GPL-2.0
/*
 * scale KIND COUNT...: what a connection costs, and gets, among COUNT connections.
 *
 * Kinds: tcp, smc, sdp (a queue pair each), sdpud (datagrams), sdpauto (either), sdpmixed (every
 * second one by datagrams, the others with queue pairs). The connections go from address SDP_A to
 * SDP_B of the environment; both ends are in this process. For each COUNT, which may not fall,
 * connections are added, and a line is printed:
 *
 *	scale KIND connections=N opened=RATE qps=N memory=BYTES latency=US rate=RATE
 *		least=BYTES median=BYTES most=BYTES jain=INDEX share=PERCENT
 *
 * opened is connections per second while the number grew; qps, queue pairs of all; memory, bytes of
 * an added connection before it is used, both ends and what the kernel keeps for them; latency, of
 * one way of 64 bytes on one connection while the others idle, the median; rate, echoes of 64 bytes
 * per second, one under way on every connection. Then all write what they can until they have moved
 * PART bytes each on average: what the slowest, the median and the fastest have had by then, Jain's
 * index, and the percentage that went by datagrams of sdpmixed.
 *
 * A figure that was not measured is left out; fail=REASON ends the lines. After the line "end" the
 * program waits to be killed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/sdp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAMILY_SMC	43
#define PORT		5000
/* Each client binds a port of its own, because connect() searches long when few are free. */
#define FIRST_PORT	10000
#define MOST		50000
#define MESSAGE		64
/* Echoes on one connection for its latency, and on all together, at least, for the rate. */
#define EXCHANGES	200
#define ECHOES		4000
/* Bytes that a connection gets on average when all are busy, and that it may write at most. */
#define PART		16384
#define PART_MOST	(4 * PART)
#define WRITE		4096
/* Of fewer added connections the memory of one cannot be told from noise. */
#define MEMORY_LEAST	500
#define EVENTS		256
#define TIMEOUT_MS	600000

struct pair {
	int c, s;
	/* Bytes of the answer, and of the request, that the ends wait for; echoes still to do. */
	int c_left, s_left, echoes;
};

/* What the writing process and the reading one share. */
struct share {
	bool stop;
	long long written[MOST];
};

static const char *kind;
static struct pair pairs[MOST];
static struct share *shared;
static long long got[MOST];
static struct in_addr from, to;

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return 1e6 * ts.tv_sec + ts.tv_nsec / 1e3;
}

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

/* The value of a line "NAME: value kB" in /proc/meminfo, in bytes. */
static long long meminfo(const char *name)
{
	char word[64];
	long long kb;
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		err(1, "/proc/meminfo");
	while (fscanf(f, "%63[^:]: %lld%*[^\n]\n", word, &kb) == 2)
		if (!strcmp(word, name)) {
			fclose(f);
			return kb * 1024;
		}
	errx(1, "no %s in /proc/meminfo", name);
}

/* Pages on the lists of each CPU are free, though not in MemFree. */
static long long spare_pages(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	long long n, sum = 0;
	char line[256];

	if (!f)
		err(1, "/proc/zoneinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lld", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

static long long memory_used(void)
{
	return meminfo("MemTotal") - meminfo("MemFree") - meminfo("Cached") - meminfo("Buffers") -
	       spare_pages() * sysconf(_SC_PAGESIZE);
}

/* Sum of the numbers that a shell command prints. */
static long long sum_of(const char *command)
{
	FILE *f = popen(command, "r");
	long long n, sum = 0;

	if (!f)
		err(1, "%s", command);
	while (fscanf(f, "%lld", &n) == 1)
		sum += n;
	pclose(f);
	return sum;
}

static long long queue_pairs(void)
{
	return sum_of("rdma resource show | sed -n 's/.* qp \\([0-9]*\\).*/\\1/p'");
}

static long long rdma_packets(void)
{
	return sum_of("cat /sys/class/infiniband/rx*/ports/1/hw_counters/sent_pkts");
}

static void set_service(int fd, int i)
{
	int service = SDP_SERVICE_RC;

	if (is("sdpud") || (is("sdpmixed") && i % 2))
		service = SDP_SERVICE_UD;
	else if (is("sdpauto"))
		service = SDP_SERVICE_AUTO;
	if (setsockopt(fd, SOL_SDP, SDP_SERVICE, &service, sizeof(service)))
		err(1, "SDP_SERVICE");
}

static int new_socket(int i)
{
	int on = 1, fd = socket(is("smc") ? FAMILY_SMC : AF_INET, SOCK_STREAM,
				strncmp(kind, "sdp", 3) ? 0 : IPPROTO_SDP);

	if (fd < 0)
		err(1, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		err(1, "SO_REUSEADDR");
	if (!strncmp(kind, "sdp", 3))
		set_service(fd, i);
	return fd;
}

static void bind_to(int fd, struct in_addr ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = ip };

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "bind to port %d", port);
}

static void open_pair(int listening, int i)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = to };

	pairs[i].c = new_socket(i);
	bind_to(pairs[i].c, from, FIRST_PORT + i);
	if (connect(pairs[i].c, (struct sockaddr *)&a, sizeof(a)))
		err(1, "connect of client %d", i);
	pairs[i].s = accept(listening, NULL, NULL);
	if (pairs[i].s < 0)
		err(1, "accept of client %d", i);
}

static void send_message(int fd)
{
	static const char data[MESSAGE];
	ssize_t n = send(fd, data, sizeof(data), MSG_NOSIGNAL);

	if (n != sizeof(data))
		err(1, "send: %zd", n);
}

static void recv_message(int fd)
{
	char data[MESSAGE];
	ssize_t n = recv(fd, data, sizeof(data), MSG_WAITALL);

	if (n != sizeof(data))
		err(1, "recv: %zd", n);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of one way on one connection, in microseconds. */
static double latency(const struct pair *p)
{
	double us[EXCHANGES], start;
	int i;

	for (i = 0; i < EXCHANGES; i++) {
		start = now_us();
		send_message(p->c);
		recv_message(p->s);
		send_message(p->s);
		recv_message(p->c);
		us[i] = (now_us() - start) / 2;
	}
	qsort(us, EXCHANGES, sizeof(us[0]), compare_double);
	return us[EXCHANGES / 2];
}

/* An epoll descriptor for one end of each pair, or for both; numbered 2 i and 2 i + 1. */
static int watch(int n, unsigned int client, unsigned int server)
{
	int i, ep = epoll_create1(0);

	if (ep < 0)
		err(1, "epoll_create1");
	for (i = 0; i < n; i++) {
		struct epoll_event c = { .events = client, .data.u32 = 2 * i };
		struct epoll_event s = { .events = server, .data.u32 = 2 * i + 1 };

		if ((client && epoll_ctl(ep, EPOLL_CTL_ADD, pairs[i].c, &c)) ||
		    (server && epoll_ctl(ep, EPOLL_CTL_ADD, pairs[i].s, &s)))
			err(1, "epoll_ctl");
	}
	return ep;
}

static int next_events(int ep, struct epoll_event *events)
{
	int n = epoll_wait(ep, events, EVENTS, TIMEOUT_MS);

	if (n <= 0)
		err(1, "nothing arrives: epoll_wait: %d", n);
	return n;
}

/* Takes what has come of a message. Returns whether it is complete; then the next one begins. */
static bool take(int fd, int *left)
{
	char data[MESSAGE];
	ssize_t n = recv(fd, data, *left, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0)
		err(1, "recv: %zd", n);
	*left -= n;
	if (*left)
		return false;
	*left = MESSAGE;
	return true;
}

/* One end of a pair is readable. Returns whether that ends an echo. */
static bool go_on(struct pair *p, bool server)
{
	if (server) {
		if (take(p->s, &p->s_left))
			send_message(p->s);
		return false;
	}
	if (!take(p->c, &p->c_left))
		return false;
	if (--p->echoes)
		send_message(p->c);
	return true;
}

/* Echoes per second, one under way on each connection. */
static double echo_rate(int n)
{
	struct epoll_event events[EVENTS];
	int i, ready, ep = watch(n, EPOLLIN, EPOLLIN), each = ECHOES / n < 2 ? 2 : ECHOES / n;
	long long left = (long long)n * each;
	double start = now_us();

	for (i = 0; i < n; i++) {
		pairs[i].c_left = MESSAGE;
		pairs[i].s_left = MESSAGE;
		pairs[i].echoes = each;
		send_message(pairs[i].c);
	}
	while (left) {
		ready = next_events(ep, events);
		for (i = 0; i < ready; i++)
			left -= go_on(&pairs[events[i].data.u32 / 2], events[i].data.u32 % 2);
	}
	close(ep);
	return 1e6 * n * each / (now_us() - start);
}

/* Writes to all, until told to stop, in a process of its own. */
static void write_all(int n)
{
	struct epoll_event events[EVENTS];
	static const char data[WRITE];
	int i, who, ready, ep = watch(n, EPOLLOUT, 0);
	ssize_t len;

	memset(shared->written, 0, sizeof(shared->written));
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		ready = epoll_wait(ep, events, EVENTS, 10);
		for (i = 0; i < ready; i++) {
			who = events[i].data.u32 / 2;
			len = send(pairs[who].c, data, sizeof(data), MSG_DONTWAIT | MSG_NOSIGNAL);
			if (len < 0 && errno != EAGAIN)
				err(1, "send");
			shared->written[who] += len > 0 ? len : 0;
			if (shared->written[who] >= PART_MOST)
				epoll_ctl(ep, EPOLL_CTL_DEL, pairs[who].c, NULL);
		}
	}
	_exit(0);
}

/* Reads a few connections that have something. Returns the number of bytes. */
static long long read_some(int ep)
{
	struct epoll_event events[EVENTS];
	int i, who, ready = next_events(ep, events);
	static char data[PART];
	long long sum = 0;
	ssize_t len;

	for (i = 0; i < ready; i++) {
		who = events[i].data.u32 / 2;
		len = recv(pairs[who].s, data, sizeof(data), MSG_DONTWAIT);
		if (len < 0 && errno == EAGAIN)
			continue;
		if (len <= 0)
			err(1, "recv: %zd", len);
		got[who] += len;
		sum += len;
	}
	return sum;
}

static int compare_bytes(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

static void print_shares(int n)
{
	double sum = 0, squares = 0, datagrams = 0;
	static long long sorted[MOST];
	int i;

	for (i = 0; i < n; i++) {
		sorted[i] = got[i];
		sum += got[i];
		squares += (double)got[i] * got[i];
		datagrams += i % 2 ? got[i] : 0;
	}
	qsort(sorted, n, sizeof(sorted[0]), compare_bytes);
	printf(" least=%lld median=%lld most=%lld jain=%.3f", sorted[0], sorted[n / 2],
	       sorted[n - 1], sum * sum / (n * squares));
	if (is("sdpmixed"))
		printf(" share=%.1f", 100 * datagrams / sum);
}

/* All are busy until they have moved PART bytes each on average; then takes what is under way. */
static void busy(int n)
{
	int i, status, ep = watch(n, 0, EPOLLIN);
	long long left = (long long)n * PART;
	pid_t writer;

	memset(got, 0, sizeof(got));
	shared->stop = false;
	fflush(stdout);
	writer = fork();
	if (writer < 0)
		err(1, "fork");
	if (!writer)
		write_all(n);
	while (left > 0)
		left -= read_some(ep);
	print_shares(n);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	if (waitpid(writer, &status, 0) != writer || status)
		errx(1, "the writer failed: %x", status);
	for (left = 0, i = 0; i < n; i++)
		left += shared->written[i] - got[i];
	while (left > 0)
		left -= read_some(ep);
	close(ep);
}

/* Does the machine have memory for so many? The kernel would kill us. */
static bool affordable(int n, int open, long long bytes_each)
{
	return (n - open) * bytes_each < meminfo("MemAvailable") / 10 * 9;
}

/* Adds connections until there are @n. Returns the bytes that one of them takes, or 0. */
static long long add(int n, int open, int listening)
{
	long long memory = memory_used();
	double start = now_us(), us;
	int i;

	for (i = open; i < n; i++)
		open_pair(listening, i);
	us = now_us() - start;
	printf("scale %s connections=%d opened=%.0f", kind, n, 1e6 * (n - open) / us);
	if (n - open < MEMORY_LEAST)
		return 0;
	memory = (memory_used() - memory) / (n - open);
	printf(" memory=%lld", memory);
	return memory;
}

static void measure(int n, long long qps)
{
	long long packets;
	double rate;

	if (!is("tcp"))
		printf(" qps=%lld", queue_pairs() - qps);
	packets = rdma_packets();
	printf(" latency=%.1f", latency(&pairs[n / 2]));
	rate = echo_rate(n);
	packets = rdma_packets() - packets;
	if (!is("tcp") && packets < EXCHANGES + 2 * n)
		printf(" fail=not-over-rdma");
	else
		printf(" rate=%.0f", rate);
	busy(n);
	printf("\n");
	fflush(stdout);
}

static void allow_descriptors(rlim_t n)
{
	struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "descriptors: %lu", (unsigned long)n);
}

static struct in_addr address(const char *name)
{
	const char *text = getenv(name);
	struct in_addr ip;

	if (!text || inet_pton(AF_INET, text, &ip) != 1)
		errx(2, "%s has to be an IPv4 address", name);
	return ip;
}

static int open_listener(void)
{
	int fd = new_socket(0);

	bind_to(fd, to, PORT);
	if (listen(fd, 16))
		err(1, "listen");
	return fd;
}

int main(int argc, char **argv)
{
	long long qps, bytes_each = 0;
	int i, n, listening, open = 1;

	if (argc < 3)
		errx(2, "scale tcp|smc|sdp|sdpud|sdpauto|sdpmixed COUNT...");
	kind = argv[1];
	from = address("SDP_A");
	to = address("SDP_B");
	allow_descriptors(2 * MOST + 100);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	memset(shared, 0, sizeof(*shared));
	memset(got, 1, sizeof(got));
	qps = queue_pairs();
	listening = open_listener();
	open_pair(listening, 0);	/* makes allocations that come only once */
	for (i = 2; i < argc; i++, open = n) {
		n = atoi(argv[i]);
		if (n < open || n > MOST)
			errx(2, "connections: %d to %d", open, MOST);
		if (!affordable(n, open, bytes_each)) {
			printf("scale %s connections=%d fail=memory\n", kind, n);
			break;
		}
		bytes_each = add(n, open, listening);
		measure(n, qps);
	}
	/* Some kinds take a quarter of an hour to close so many. The guest ends without that. */
	printf("end\n");
	fflush(stdout);
	pause();
	return 0;
}
