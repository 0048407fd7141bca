// SPDX-License-Identifier: GPL-2.0
/*
 * SDP_CMD_SOCK_GET, SDP_CMD_STAT_GET, SDP_CMD_DEVICE_GET and SDP_CMD_SOCK_KILL.
 *
 * What dumps show, also while sockets come and go, and when the program does not take the rest of
 * one.
 */
#include "info.h"
#include <dirent.h>
#include "netlink.h"

struct stat_line {
	char name[64];
	unsigned long long value;
};

struct stats {
	int n;
	struct stat_line line[200];
};

static void take_stat(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attrs[SDP_STAT_A_MAX + 1];
	struct stats *s = arg;

	need(s->n < 200, "more counters than there are");
	nl_attrs(nlh, attrs, SDP_STAT_A_MAX);
	snprintf(s->line[s->n].name, 64, "%s", text_of(attrs[SDP_STAT_A_NAME], "NAME"));
	s->line[s->n++].value = u64_of(attrs[SDP_STAT_A_VALUE], "VALUE");
}

static void read_stats(struct stats *s)
{
	FILE *f = fopen(COUNTER_FILE, "r");

	need_errno(f, COUNTER_FILE);
	for (s->n = 0; s->n < 200; s->n++)
		if (fscanf(f, "%63s %llu", s->line[s->n].name, &s->line[s->n].value) != 2)
			break;
	fclose(f);
}

/* The counters and their order are as in /proc; the values lie between two reads of it. */
static int dump_stats(void *arg)
{
	static struct stats before, dump, after;
	struct nl nl = nl_open();
	struct pair p = pair_make();
	int i, error, moved = 0;

	send_all(p.c, "hello", 5);
	drain(p.s, 5);
	pause_ms(quiet_ms());
	read_stats(&before);
	error = nl_talk_sized(&nl, nl_dump(&nl, SDP_CMD_STAT_GET), take_stat, &dump, NL_PIECE);
	read_stats(&after);
	need(!error, "STAT_GET: %s", errno_text(error));
	need(dump.n == before.n && dump.n > 60, "%d counters, and %d in /proc", dump.n, before.n);
	for (i = 0; i < dump.n; i++) {
		need(!strcmp(dump.line[i].name, before.line[i].name), "%s where %s should be",
		     dump.line[i].name, before.line[i].name);
		need(dump.line[i].value >= before.line[i].value &&
		     dump.line[i].value <= after.line[i].value,
		     "%s is %llu, before %llu, after %llu", dump.line[i].name,
		     dump.line[i].value, before.line[i].value, after.line[i].value);
		moved += before.line[i].value > 0;
	}
	need(moved > 5, "hardly any counter has a value");
	return EXIT_OK;
}

struct devices {
	int n;
	char name[16][64];
};

/* soft-RoCE has all that a device may have. */
static void take_device(const struct nlmsghdr *nlh, void *arg)
{
	const unsigned int all = 2 * SDP_NL_DEVICE_DATAGRAMS - 1;
	const struct nlattr *attrs[SDP_DEVICE_A_MAX + 1];
	struct devices *d = arg;
	int i;

	need(d->n < 16, "more devices than there are");
	nl_attrs(nlh, attrs, SDP_DEVICE_A_MAX);
	snprintf(d->name[d->n++], 64, "%s", text_of(attrs[SDP_DEVICE_A_NAME], "NAME"));
	need(u32_of(attrs[SDP_DEVICE_A_HAS], "HAS") == all, "a device has not got all");
	need(u32_of(attrs[SDP_DEVICE_A_NEEDED], "NEEDED") < SDP_NL_DEVICE_RECEIVES,
	     "more is needed than must be");
	for (i = SDP_DEVICE_A_SEND_PIECES; i <= SDP_DEVICE_A_VECTORS; i++)
		need(u32_of(attrs[i], "a limit") > 0, "limit %d is 0", i);
	need(u32_of(attrs[SDP_DEVICE_A_PORTS], "PORTS") == 1, "soft-RoCE has one port");
}

/* Each device of the machine is told once. */
static int dump_devices(void *arg)
{
	static struct devices told;
	struct nl nl = nl_open();
	struct dirent **there;
	int i, n, error;

	error = nl_talk(&nl, nl_dump(&nl, SDP_CMD_DEVICE_GET), take_device, &told);
	need(!error, "DEVICE_GET: %s", errno_text(error));
	n = scandir("/sys/class/infiniband", &there, NULL, alphasort);
	need_errno(n > 2, "/sys/class/infiniband");
	/* "." and ".." come first. */
	need(told.n == n - 2, "%d devices of %d", told.n, n - 2);
	qsort(told.name, told.n, sizeof(told.name[0]), (int (*)(const void *, const void *))strcmp);
	for (i = 0; i < told.n; i++)
		need(!strcmp(told.name[i], there[i + 2]->d_name), "%s, and there is %s",
		     told.name[i], there[i + 2]->d_name);
	return EXIT_OK;
}

/* What a dump shows of a socket. */
struct told {
	unsigned long long inode;
	int times;
	unsigned int state, local_port, peer_port, uid, rx, tx;
	struct addr local, peer;
	char device[64];
	bool has_info;
	struct sdp_info info;
};

static struct addr addr_of(const struct nlattr *attr, unsigned int port)
{
	struct addr a = { .len = 0 };
	int len = attr ? mnl_attr_get_payload_len(attr) : -1;

	need(len == 4 || len == 16, "an address of %d bytes", len);
	a.sa.sa_family = len == 4 ? AF_INET : AF_INET6;
	a.len = len == 4 ? sizeof(a.in) : sizeof(a.in6);
	memcpy(len == 4 ? (void *)&a.in.sin_addr : (void *)&a.in6.sin6_addr,
	       mnl_attr_get_payload(attr), len);
	addr_set_port(&a, port);
	return a;
}

static struct told told_by(const struct nlmsghdr *nlh)
{
	const struct nlattr *attrs[SDP_SOCK_A_MAX + 1];
	struct told t = { .times = 1 };

	nl_attrs(nlh, attrs, SDP_SOCK_A_MAX);
	t.inode = u64_of(attrs[SDP_SOCK_A_INODE], "INODE");
	t.state = u8_of(attrs[SDP_SOCK_A_STATE], "STATE");
	t.uid = u32_of(attrs[SDP_SOCK_A_UID], "UID");
	t.rx = u32_of(attrs[SDP_SOCK_A_RX_QUEUE], "RX_QUEUE");
	t.tx = u32_of(attrs[SDP_SOCK_A_TX_QUEUE], "TX_QUEUE");
	t.local = addr_of(attrs[SDP_SOCK_A_LOCAL], u16_of(attrs[SDP_SOCK_A_LOCAL_PORT], "port"));
	t.peer = addr_of(attrs[SDP_SOCK_A_PEER], u16_of(attrs[SDP_SOCK_A_PEER_PORT], "port"));
	if (attrs[SDP_SOCK_A_DEVICE])
		snprintf(t.device, sizeof(t.device), "%s",
			 text_of(attrs[SDP_SOCK_A_DEVICE], "DEVICE"));
	t.has_info = attrs[SDP_SOCK_A_INFO];
	if (t.has_info) {
		need(mnl_attr_get_payload_len(attrs[SDP_SOCK_A_INFO]) == sizeof(t.info),
		     "INFO of another size");
		memcpy(&t.info, mnl_attr_get_payload(attrs[SDP_SOCK_A_INFO]), sizeof(t.info));
	}
	return t;
}

/* Takes the socket with the inode that @arg has. */
static void take_one(const struct nlmsghdr *nlh, void *arg)
{
	struct told *want = arg, t = told_by(nlh);

	if (t.inode != want->inode)
		return;
	t.times = want->times + 1;
	*want = t;
}

static struct told socket_told(struct nl *nl, int fd)
{
	struct told t = { .inode = inode_of(fd) };
	int error = nl_talk(nl, nl_dump(nl, SDP_CMD_SOCK_GET), take_one, &t);

	need(!error, "SOCK_GET: %s", errno_text(error));
	need(t.times == 1, "a socket is told %d times", t.times);
	return t;
}

static bool same_name(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && !memcmp(&a->ss, &b->ss, a->len);
}

static void need_info(int fd, const struct told *t)
{
	struct sdp_info info = info_of(fd);

	need(t->has_info && !memcmp(&info, &t->info, sizeof(info)), "INFO is not SDP_INFO");
	need(!strcmp(t->device, info.device) && t->device[0], "device %s, and SDP_INFO says %s",
	     t->device, info.device);
}

static int dump_shows(void *arg)
{
	struct addr where, a, peer;
	struct nl nl = nl_open();
	int listening, fresh_one, c, s;
	struct told t;

	use_twin = true;	/* names in the family's own form */
	listening = listener(4, &where);
	t = socket_told(&nl, listening);
	a = name_of(listening);
	need(t.state == TCP_LISTEN && same_name(&t.local, &a) && !addr_port(&t.peer) && !t.rx &&
	     !t.device[0] && !t.has_info, "the listener is not told right: state %u", t.state);
	fresh_one = fresh(0);
	t = socket_told(&nl, fresh_one);
	need(t.state == TCP_CLOSE && !addr_port(&t.local) && !t.device[0] && t.has_info,
	     "a new one is not told right: state %u", t.state);
	c = fresh(0);
	connect_to(c, &where);
	poll_for(listening, POLLIN, WAIT_MS);
	t = socket_told(&nl, listening);
	need(t.rx == 1, "%u connections in the queue", t.rx);
	s = accept_from(listening);
	send_all(c, "hello", 5);
	await_bytes(s, 5);
	await_ends_rest(c, s);
	t = socket_told(&nl, c);
	a = name_of(c);
	peer = peer_of(c);
	need(t.state == TCP_ESTABLISHED && same_name(&t.local, &a) && same_name(&t.peer, &peer),
	     "the connection is not told right: state %u", t.state);
	need(!t.uid && !t.rx && !t.tx, "uid %u, queues %u %u", t.uid, t.rx, t.tx);
	need_info(c, &t);
	t = socket_told(&nl, s);
	need(t.rx == 5 && same_name(&t.peer, &a), "%u bytes in the queue", t.rx);
	need_info(s, &t);
	return EXIT_OK;
}

/* Counts a socket. Its inode, state and queues have to be there. */
static void count_one(const struct nlmsghdr *nlh, void *arg)
{
	told_by(nlh);
	++*(int *)arg;
}

static int dump_other_namespace(void *arg)
{
	struct nl nl = nl_open(), other;
	int n = 0, m = 0, fd = fresh(0);

	need_errno(!unshare(CLONE_NEWNET), "unshare");
	other = nl_open();
	need(!nl_talk(&other, nl_dump(&other, SDP_CMD_SOCK_GET), count_one, &n) && !n,
	     "%d sockets in a new namespace", n);
	need(!nl_talk(&nl, nl_dump(&nl, SDP_CMD_SOCK_GET), count_one, &m) && m,
	     "%d sockets in the first one", m);
	close(fd);
	return EXIT_OK;
}

static atomic_int coming_over;

static void *come_and_go(void *arg)
{
	unsigned int seed = (unsigned long)arg * 77 + 1;
	int fd[40] = { 0 }, i;

	while (!atomic_load(&coming_over)) {
		i = next_random(&seed) % 40;
		if (fd[i])
			close(fd[i]);
		fd[i] = fd[i] ? 0 : socket(AF_SDP, SOCK_STREAM, 0);
	}
	for (i = 0; i < 40; i++)
		if (fd[i])
			close(fd[i]);
	return NULL;
}

/* Sockets that stay open, sorted by inode. */
struct standing {
	int n;
	struct {
		unsigned long long inode;
		int times;
	} one[2000];
};

static int by_inode(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return x < y ? -1 : x > y;
}

static void met(struct standing *all, unsigned long long inode)
{
	unsigned long long *found = bsearch(&inode, all->one, all->n, sizeof(all->one[0]),
					    by_inode);

	if (found)
		all->one[(found - &all->one[0].inode) * sizeof(*found) /
			 sizeof(all->one[0])].times++;
}

static void meet_one(const struct nlmsghdr *nlh, void *arg)
{
	met(arg, told_by(nlh).inode);
}

static void meet_lines(struct standing *all)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	unsigned long long inode;
	char line[512];

	need_errno(f, "/proc/net/sdp");
	setvbuf(f, NULL, _IOFBF, 4096);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: %*s %*s %*s %*s %*s %*s %*s %*s %llu", &inode) == 1)
			met(all, inode);
	fclose(f);
}

static void need_each_once(struct standing *all, int round, const char *what)
{
	int i;

	for (i = 0; i < all->n; i++) {
		need(all->one[i].times == 1, "%s, round %d: a socket is told %d times", what, round,
		     all->one[i].times);
		all->one[i].times = 0;
	}
}

/* Sockets that stay open are shown once, however many others come and go between the parts. */
static int dump_many(void *arg)
{
	static struct standing all;
	struct nl nl = nl_open();
	pthread_t threads[2];
	int i, error;

	allow_descriptors(2500);
	for (all.n = 0; all.n < 2000; all.n++)
		all.one[all.n].inode = inode_of(fresh(0));
	qsort(all.one, all.n, sizeof(all.one[0]), by_inode);
	for (i = 0; i < 2; i++)
		threads[i] = start_thread(come_and_go, (void *)(long)i);
	for (i = 0; i < scaled(24); i++) {
		error = nl_talk_sized(&nl, nl_dump(&nl, SDP_CMD_SOCK_GET), meet_one, &all,
				      NL_PIECE);
		need(!error, "SOCK_GET: %s", errno_text(error));
		need_each_once(&all, i, "netlink");
		meet_lines(&all);
		need_each_once(&all, i, "/proc/net/sdp");
	}
	atomic_store(&coming_over, 1);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return EXIT_OK;
}

/* A dump that is abandoned leaves nothing behind, and a second one on its socket gets EBUSY. */
static int dump_left(void *arg)
{
	static char room[NL_PIECE];
	long long end;
	struct nl nl;
	int i, n, error;
	long users;

	idle_users();
	for (i = 0; i < 600; i++)
		fresh(0);
	users = module_users();
	for (i = 0; i < scaled(200); i++) {
		nl = nl_open();
		nl_send(&nl, nl_dump(&nl, SDP_CMD_SOCK_GET));
		n = i % 2 ? 1 : mnl_socket_recvfrom(nl.mnl, room, sizeof(room));
		need_errno(n > 0, "the first piece");
		nl_close(&nl);
	}
	nl = nl_open();
	nl_send(&nl, nl_dump(&nl, SDP_CMD_SOCK_GET));
	nl_send(&nl, nl_dump(&nl, SDP_CMD_STAT_GET));
	nl.seq--;
	error = -1;
	for (i = 0; error < 0 && i < 1000; i++) {
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)room;

		n = mnl_socket_recvfrom(nl.mnl, room, sizeof(room));
		need_errno(n > 0, "recv");
		if (nlh->nlmsg_type == NLMSG_ERROR)
			error = -((const struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
	}
	need(error == EBUSY, "a second dump beside the first: %s", errno_text(error));
	nl_close(&nl);
	/* The last part of a dump is freed a moment after its socket. */
	end = now_ms() + WAIT_MS;
	while (module_users() != users) {
		need(now_ms() < end, "%ld users of the module instead of %ld", module_users(),
		     users);
		pause_ms(20);
	}
	return EXIT_OK;
}

static struct request *kill_request(struct nl *nl, const struct addr *local,
				    const struct addr *peer)
{
	struct request *r = nl_do(nl, SDP_CMD_SOCK_KILL);

	put_addr(r, SDP_SOCK_A_LOCAL, local);
	mnl_attr_put_u16(&r->nlh, SDP_SOCK_A_LOCAL_PORT, addr_port(local));
	put_addr(r, SDP_SOCK_A_PEER, peer);
	mnl_attr_put_u16(&r->nlh, SDP_SOCK_A_PEER_PORT, addr_port(peer));
	return r;
}

static int kill_ends(struct nl *nl, const struct addr *local, const struct addr *peer)
{
	return nl_talk(nl, kill_request(nl, local, peer), NULL, NULL);
}

static void need_ended(int fd, int want, const char *what)
{
	char c;

	need(poll_for(fd, POLLIN, WAIT_MS) & POLLERR, "%s: no end", what);
	need(recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == want, "%s: %s", what,
	     errno_text(errno));
}

/* SOCK_KILL ends either end of a connection, one not accepted yet, and one that is closed. */
static int sock_kill(void *arg)
{
	struct nl nl = nl_open();
	struct addr where, local, peer;
	int listening, c, i, error;
	struct request *r;
	struct pair p;

	for (i = 0; i < 2; i++) {
		int victim, other;

		p = pair_make();
		victim = i ? p.c : p.s;
		other = i ? p.s : p.c;
		local = name_of(victim);
		peer = peer_of(victim);
		r = kill_request(&nl, &local, &peer);
		mnl_attr_put_u64(&r->nlh, SDP_SOCK_A_INODE, inode_of(other));
		error = nl_talk(&nl, r, NULL, NULL);
		need(error == ENOENT, "another inode: %s", errno_text(error));
		send_all(victim, "x", 1);
		drain(other, 1);
		r = kill_request(&nl, &local, &peer);
		mnl_attr_put_u64(&r->nlh, SDP_SOCK_A_INODE, inode_of(victim));
		error = nl_talk(&nl, r, NULL, NULL);
		need(!error, "kill: %s", errno_text(error));
		need_ended(victim, ECONNABORTED, "the victim");
		need_ended(other, ECONNRESET, "its peer");
		error = kill_ends(&nl, &local, &peer);
		need(error == ENOENT, "once more: %s", errno_text(error));
		close(p.c);
		close(p.s);
	}
	listening = listener(4, &where);
	c = fresh(0);
	connect_to(c, &where);
	local = name_of(c);
	need(poll_for(listening, POLLIN, WAIT_MS), "no connection to accept");
	error = kill_ends(&nl, &where, &local);
	need(!error, "of one in the queue: %s", errno_text(error));
	need_ended(c, ECONNRESET, "the client of one in the queue");

	p = pair_make();
	local = name_of(p.c);
	peer = peer_of(p.c);
	/* Unread data keeps the closed socket. */
	fill_ends(p.c, p.s);
	close(p.c);
	error = kill_ends(&nl, &local, &peer);
	need(!error, "of a closed one: %s", errno_text(error));
	need(poll_for(p.s, POLLRDHUP, WAIT_MS) & POLLERR, "the peer of a closed one: no end");
	error = kill_ends(&nl, &where, &where);
	need(error == ENOENT, "no such connection: %s", errno_text(error));
	nl_close(&nl);
	return EXIT_OK;
}

/* Without the capability, without one of the addresses, and with an attribute of answers only. */
static int sock_kill_refused(void *arg)
{
	struct pair p = pair_make();
	struct addr local = name_of(p.c), peer = peer_of(p.c);
	struct nl nl = nl_open();
	struct request *r;
	int error;

	r = nl_do(&nl, SDP_CMD_SOCK_KILL);
	put_addr(r, SDP_SOCK_A_LOCAL, &local);
	mnl_attr_put_u16(&r->nlh, SDP_SOCK_A_LOCAL_PORT, addr_port(&local));
	error = nl_talk(&nl, r, NULL, NULL);
	need(error == EINVAL, "without a peer: %s", errno_text(error));
	r = kill_request(&nl, &local, &peer);
	mnl_attr_put_u8(&r->nlh, SDP_SOCK_A_STATE, 1);
	error = nl_talk(&nl, r, NULL, NULL);
	need(error == EINVAL, "with a state: %s", errno_text(error));
	r = nl_do(&nl, SDP_CMD_SOCK_KILL);
	mnl_attr_put(&r->nlh, SDP_SOCK_A_LOCAL, 5, "12345");
	mnl_attr_put_u16(&r->nlh, SDP_SOCK_A_LOCAL_PORT, addr_port(&local));
	put_addr(r, SDP_SOCK_A_PEER, &peer);
	mnl_attr_put_u16(&r->nlh, SDP_SOCK_A_PEER_PORT, addr_port(&peer));
	error = nl_talk(&nl, r, NULL, NULL);
	need(error == EINVAL, "an address of 5 bytes: %s", errno_text(error));
	be_nobody();
	error = kill_ends(&nl, &local, &peer);
	need(error == EPERM, "by nobody: %s", errno_text(error));
	send_all(p.c, "x", 1);
	drain(p.s, 1);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(dump_stats, 30, TWO_SETS),
	CASE(dump_devices, 30, ONE_SET),
	CASE(dump_shows, 30, ALL_SETS),
	CASE(dump_other_namespace, 30, ONE_SET),
	CASE(dump_many, 60, ONE_SET),
	CASE(dump_left, 60, ONE_SET),
	CASE(sock_kill, 30, ALL_SETS),
	CASE(sock_kill_refused, 30, ONE_SET),
};

const struct test_list dump_tests = TEST_LIST(tests);
