// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options without a counterpart in TCP: SDP_INFO, refusals, effects in counters.
 *
 * It covers the fields of SDP_INFO in each state, options that only AF_SDP refuses, and options
 * whose effect shows only in the numbers that SDP_INFO reports (requirement J1).
 */
#include "cases.h"
#include "info.h"
#include <linux/filter.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF	51
#endif

static bool by_rdma(void)
{
	return set == &addrsets[SET_RC4] || set == &addrsets[SET_RC6];
}

static int info_by_state(void *arg)
{
	struct addr where;
	int listening = listener(1, &where), fd = fresh(0), accepted;
	struct sdp_info info = info_of(fd);

	need(info.state == 7 && !info.transport[0] && !info.send_size, "fresh: state %u, \"%s\"",
	     info.state, info.transport);
	need(info.version == SDP_INFO_VERSION, "version %u", info.version);
	info = info_of(listening);
	need(info.state == 10, "listening: state %u", info.state);
	connect_to(fd, &where);
	accepted = accept_from(listening);
	info = info_of(fd);
	need(info.state == 1, "connected: state %u", info.state);
	need(!strcmp(info.transport, by_rdma() ? "rc" : "loop"), "transport %s", info.transport);
	need(info.device[0], "no device");
	need(info.tx_mode == SDP_INFO_COMBINED && info.rx_mode == SDP_INFO_COMBINED, "modes");
	need(info.recv_size == info.send_size && info.recv_size > 16, "sizes %u, %u",
	     info.recv_size, info.send_size);
	need(info.recv_buffers && info.posted <= info.recv_buffers, "%u of %u posted", info.posted,
	     info.recv_buffers);
	need(info_of(accepted).state == 1, "accepted");
	shutdown(fd, SHUT_WR);
	need(poll_for(accepted, POLLRDHUP, WAIT_MS), "no end");
	need(info_of(accepted).state == 8, "CLOSE_WAIT is state %u", info_of(accepted).state);
	return EXIT_OK;
}

static int info_counts(void *arg)
{
	static char data[10000];
	struct pair p = pair_make();
	struct sdp_info c, s;

	send_all(p.c, data, sizeof(data));
	need(await_bytes(p.s, sizeof(data)) == sizeof(data), "not all arrives");
	c = info_of(p.c);
	s = info_of(p.s);
	need(c.bytes_sent == sizeof(data), "%llu sent", (unsigned long long)c.bytes_sent);
	need(s.bytes_received == sizeof(data), "%llu received",
	     (unsigned long long)s.bytes_received);
	need(s.bytes_unread == sizeof(data), "%u unread", s.bytes_unread);
	need(c.msgs_sent && s.msgs_received, "no messages");
	drain(p.s, sizeof(data));
	need(!info_of(p.s).bytes_unread, "unread after reading");
	return EXIT_OK;
}

/* Corked data is reported as unsent, and so is data that a full peer does not take. */
static int info_unsent(void *arg)
{
	struct pair p = pair_make();
	struct sdp_info info;
	int value = -1;
	long n;

	set_int(p.c, IPPROTO_TCP, TCP_CORK, 1);
	send_all(p.c, "0123456789", 10);
	need(info_of(p.c).bytes_unsent == 10, "corked: %u unsent", info_of(p.c).bytes_unsent);
	set_int(p.c, IPPROTO_TCP, TCP_CORK, 0);
	need(await_bytes(p.s, 10) == 10, "uncorked: nothing arrives");
	n = fill_ends(p.c, p.s);
	info = info_of(p.c);
	need(info.bytes_unsent > 0, "full: nothing unsent");
	need(!ioctl(p.c, SIOCOUTQNSD, &value) && (unsigned int)value == info.bytes_unsent,
	     "SIOCOUTQNSD says %d, SDP_INFO %u", value, info.bytes_unsent);
	drain(p.s, n + 10);
	return EXIT_OK;
}

static int info_lengths(void *arg)
{
	unsigned char buf[sizeof(struct sdp_info) + 16];
	int fd = fresh(0), value = 1;
	socklen_t len = 2;

	memset(buf, 0xee, sizeof(buf));
	need_errno(!getsockopt(fd, SOL_SDP, SDP_INFO, buf, &len), "SDP_INFO");
	need(len == 2 && buf[0] == SDP_INFO_VERSION && buf[2] == 0xee, "2 bytes: %u", len);
	len = sizeof(buf);
	need_errno(!getsockopt(fd, SOL_SDP, SDP_INFO, buf, &len), "SDP_INFO");
	need(len == sizeof(struct sdp_info) && buf[len] == 0xee, "too long: %u", len);
	need(getsockopt(fd, SOL_SDP, 999, buf, &len) && errno == ENOPROTOOPT, "no such option");
	need(setsockopt(fd, SOL_SDP, SDP_INFO, &value, sizeof(value)) && errno == ENOPROTOOPT,
	     "SDP_INFO can be set");
	return EXIT_OK;
}

/*
 * Kernel 6.1 handles these options without asking the address family, so the test is skipped there.
 */
static int filters_refused(void *arg)
{
	static const int names[] = {
		SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF, SO_RESERVE_MEM
	};
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffff);
	struct sock_fprog prog = { .len = 1, .filter = &all };
	struct utsname name;
	int fd = fresh(0);
	size_t i;

	if (!uname(&name) && !strncmp(name.release, "6.1.", 4))
		return EXIT_SKIPPED;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		need(setsockopt(fd, SOL_SOCKET, names[i], &prog, sizeof(prog)) &&
		     errno == EOPNOTSUPP, "option %d: %s", names[i], errno_text(errno));
	return EXIT_OK;
}

#define CGROUP	"/sys/fs/cgroup"
#define OWN	CGROUP "/sdp-reserve"

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * SO_RESERVE_MEM is refused, also for a socket in a memory cgroup. The kernel would account the
 * reservation in sk_forward_alloc under lock_sock(), but AF_SDP changes that field under its own
 * lock.
 */
static int reserve_refused(void *arg)
{
	int fd, i, value = 1 << 20;

	write_text(CGROUP "/cgroup.subtree_control", "+memory");
	if (mkdir(OWN, 0755) && errno != EEXIST)
		return EXIT_SKIPPED;
	if (!write_text(OWN "/cgroup.procs", "0"))
		return EXIT_SKIPPED;
	fd = fresh(0);
	for (i = 0; i < 100; i++)
		need(setsockopt(fd, SOL_SOCKET, SO_RESERVE_MEM, &value, sizeof(value)) &&
		     (errno == EOPNOTSUPP || errno == ENOMEM), "it is reserved, or %s",
		     errno_text(errno));
	value = 0;
	need(!setsockopt(fd, SOL_SOCKET, SO_RESERVE_MEM, &value, sizeof(value)) ||
	     errno == EOPNOTSUPP, "nothing: %s", errno_text(errno));
	close(fd);
	need(write_text(CGROUP "/cgroup.procs", "0"), "back to the first control group");
	rmdir(OWN);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "info_by_state", info_by_state, 30, ALL_SETS, true, NULL },
	{ "info_counts", info_counts, 30, ALL_SETS, true, NULL },
	{ "info_unsent", info_unsent, 30, ALL_SETS, true, NULL },
	{ "info_lengths", info_lengths, 30, V4_SETS, true, NULL },
	{ "reserve_refused", reserve_refused, 30, V4_SETS, true, NULL },
	{ "filters_refused", filters_refused, 30, V4_SETS, true, NULL },
};

TEST_MAIN(tests)
