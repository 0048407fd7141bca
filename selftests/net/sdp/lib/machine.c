// SPDX-License-Identifier: GPL-2.0
#include <net/if.h>
#include <sys/utsname.h>

#include "cases.h"
#include "machine.h"

void allow_descriptors(unsigned int n)
{
	struct rlimit limit;

	need_errno(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	if (limit.rlim_cur >= n)
		return;
	limit.rlim_cur = n;
	if (limit.rlim_max < n)
		limit.rlim_max = n;
	need_errno(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

/* Waits until at most @want connections are counted. */
void await_established(long long want)
{
	long long end = now_ms() + 2 * WAIT_MS;

	while (use_sdp && counter("CurrEstab") > want) {
		need(now_ms() < end, "CurrEstab is %lld, and was %lld before", counter("CurrEstab"),
		     want);
		pause_ms(5);
	}
}

/* The value of a line of /proc/meminfo, in bytes. */
long long meminfo(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char key[64], rest[64];
	long long value, found = -1;

	need_errno(f, "/proc/meminfo");
	while (fscanf(f, "%63[^:]: %lld%63[^\n]\n", key, &value, rest) == 3)
		if (!strcmp(key, name))
			found = value * 1024;
	fclose(f);
	need(found >= 0, "/proc/meminfo has no %s", name);
	return found;
}

/*
 * Free pages in the lists of each CPU, in bytes. No line of /proc/meminfo counts them, and on 6.1
 * they keep many megabytes of what a test has just freed.
 */
long long memory_in_cpu_lists(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	char line[128];
	long long pages, sum = 0;

	need_errno(f, "/proc/zoneinfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lld", &pages) == 1)
			sum += pages;
	fclose(f);
	return sum * sysconf(_SC_PAGESIZE);
}

/* Free pages, in bytes, those in the lists of each CPU among them. */
long long memory_free(void)
{
	long long slabs = slow_kernel() ? meminfo("Slab") : 0;

	return meminfo("MemFree") + memory_in_cpu_lists() + slabs;
}

/* Waits until of the @before bytes that were free at most @slack are not free. */
void await_memory(long long before, long slack)
{
	long long end = now_ms() + patience(10000), now;

	while ((now = memory_free()) < before - slack) {
		need(now_ms() < end, "%lld KB are still held", (before - now) / 1024);
		pause_ms(50);
	}
}

/*
 * Free memory, in bytes. The kernel frees with some delay, so this is the largest of several
 * values.
 */
long long memory_now(void)
{
	long long most = 0, value;
	int i;

	for (i = 0; i < 10; i++) {
		value = meminfo("MemAvailable") + memory_in_cpu_lists();
		if (value > most)
			most = value;
		pause_ms(20);
	}
	return most;
}

/* Number of objects of one kind, such as "qp", on all RDMA devices. */
int rdma_objects(const char *kind)
{
	FILE *f = popen("rdma resource show", "r");
	char word[64];
	int n, sum = 0;

	need_errno(f, "rdma resource show");
	while (fscanf(f, "%63s", word) == 1)
		if (!strcmp(word, kind) && fscanf(f, "%d", &n) == 1)
			sum += n;
	need(!pclose(f), "no program named rdma here");
	return sum;
}

/*
 * Does no connection have a queue pair any more? A queue pair outlives its socket until the peer
 * has answered. The module keeps one queue pair per device, for registering memory,
 * and those that all connections by datagrams share.
 */
static bool links_over(void)
{
	FILE *f = popen("rdma resource show qp", "r");
	char line[256], device[64], seen[8][64];
	bool twice = false;
	int n = 0, i;

	need_errno(f, "rdma resource show qp");
	while (fgets(line, sizeof(line), f)) {
		if ((!strstr(line, "comm [sdp]") && !strstr(line, "comm sdp ")) ||
		    strstr(line, " type UD ") || sscanf(line, "link %63[^/ ]", device) != 1)
			continue;
		for (i = 0; i < n; i++)
			twice |= !strcmp(seen[i], device);
		if (n < (int)ARRAY_SIZE(seen))
			strcpy(seen[n++], device);
	}
	pclose(f);
	return !twice;
}

/*
 * Waits until nothing is left of earlier connections: only what is permanent is counted from then
 * on.
 */
void await_rest(void)
{
	long long end = now_ms() + 6 * WAIT_MS;

	while (use_sdp && (sockets() || !links_over())) {
		need(now_ms() < end, "%d sockets of before are left", sockets());
		pause_ms(50);
	}
}

void loopback_up(void)
{
	struct ifreq ifr = { .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	strcpy(ifr.ifr_name, "lo");
	need_errno(!ioctl(fd, SIOCSIFFLAGS, &ifr), "lo up");
	close(fd);
}

/* Since 6.5, sendfile(2) hands over many pages at a time. Before, each page is a write. */
bool splices_many(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	need_errno(!uname(&name), "uname");
	need(sscanf(name.release, "%d.%d", &major, &minor) == 2, "release %s", name.release);
	return major > 6 || (major == 6 && minor >= 5);
}

/* Delays all packets of the test network by @ms. Returns whether that worked. */
bool way_takes(int ms)
{
	char command[200];

	if (!ms)
		return !system("tc qdisc del dev va root 2>/dev/null; "
			       "tc qdisc del dev vb root 2>/dev/null; true");
	snprintf(command, sizeof(command), "modprobe sch_netem 2>/dev/null; "
		 "tc qdisc replace dev va root netem limit 10000 delay %dms && "
		 "tc qdisc replace dev vb root netem limit 10000 delay %dms", ms, ms);
	return !system(command);
}
