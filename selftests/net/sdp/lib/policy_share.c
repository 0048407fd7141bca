// SPDX-License-Identifier: GPL-2.0
#include "policy_share.h"

void error_text(char text[200])
{
	FILE *f = fopen(SETTING_DIR "policy_error", "r");

	need_errno(f, "policy_error");
	if (!fgets(text, 200, f))
		text[0] = 0;
	fclose(f);
}

void need_policy(const char *want, size_t len)
{
	static char text[POLICY_MAX];
	ssize_t n = policy_read(text);

	need(n == (ssize_t)len && !memcmp(text, want, len), "the policy is %zd bytes: %.*s", n,
	     n > 100 ? 100 : (int)n, text);
}

const struct bad_text bad_texts[BAD_TEXTS] = {
	{ "nonsense", 1, 1 },
	{ "any * sdp\n\n  listen * xyz", 3, 12 },
	{ "any 10.9.0.1/24 sdp", 1, 5 },
	{ "any 10.9.0/24 sdp", 1, 11 },
	{ "any 10.9.0.256 sdp", 1, 12 },
	{ "any [fd00::1/64] sdp", 1, 5 },
	{ "any fd00::1:80 sdp", 1, 5 },
	{ "any host sdp", 1, 5 },
	{ "any * program", 1, 14 },
	{ "any *", 1, 6 },
	{ "any * both both", 1, 12 },
	{ "any *:0 sdp", 1, 7 },
	{ "any *:65536 sdp", 1, 7 },
	{ "any *:80-79 sdp", 1, 10 },
	{ "any *:080 sdp", 1, 7 },
	{ "any * sdp; any * sdp;; bad", 1, 24 },
	{ "any * uid 5-3 sdp", 1, 13 },
	{ "any * uid root sdp", 1, 11 },
	{ "any * uid 4294967295 sdp", 1, 11 },
	{ "any * uid 1 uid 2 sdp", 1, 13 },
	{ "any * program [a sdp", 1, 15 },
	{ "any * program sixteen-bytes-xy sdp", 1, 15 },
	{ "any * path relative sdp", 1, 12 },
	{ "any * sdp\r\n", 1, 10 },
	{ "any * sdp\n# \x01", 2, 3 },
	{ "any * sdp # \xc3\xa4", 1, 13 },
	{ "\tany * sdp\n\tany\t*\tnothing", 2, 8 },
	{ "ANY * sdp", 1, 1 },
	{ "use both somebody * *:*", 1, 10 },
	{ "use sdp server *", 1, 17 },
	{ "any * sdp\nany * sdp\nany * sdp both", 3, 11 },
};

void filter(int fd)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffff);
	struct sock_fprog prog = { .len = 1, .filter = &all };

	need_errno(!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)), "filter");
}

void ip_options(int fd)
{
	unsigned char nops[4] = { 1, 1, 1, 1 }, padding[8] = { 0, 0, 1, 4 };

	if (set->family == AF_INET)
		need_errno(!setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nops, 4), "IP_OPTIONS");
	else
		need_errno(!setsockopt(fd, IPPROTO_IPV6, IPV6_HOPOPTS, padding, 8), "HOPOPTS");
}

void signature(int fd)
{
	struct tcp_md5sig sig = { .tcpm_keylen = 3, .tcpm_key = "key" };
	struct addr peer = server_addr(0);

	memcpy(&sig.tcpm_addr, &peer.ss, peer.len);
	if (setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &sig, sizeof(sig))) {
		need(errno == ENOPROTOOPT || errno == EOPNOTSUPP, "%s", errno_text(errno));
		exit(EXIT_SKIPPED);
	}
}

/* A TCP socket with the address of a new SDP listener. Another socket may have the port already. */
int bound_like_sdp(int *sdp, struct addr *where)
{
	int tries, tcp;

	for (tries = 0; tries < 10; tries++) {
		*sdp = listener(4, where);
		tcp = stream(0);
		if (!bind(tcp, &where->sa, where->len))
			return tcp;
		need(errno == EADDRINUSE, "bind: %s", errno_text(errno));
		close(tcp);
		close(*sdp);
	}
	give_up("no port that is free for both");
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	need_errno(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* Finds the last recorded fallback to @port. Returns false if there is none. */
bool fell_line(unsigned int port, char line[300])
{
	FILE *f = fopen("/proc/net/sdp_fallbacks", "r");
	char text[300], key[20];
	bool found = false;

	need_errno(f, "sdp_fallbacks");
	snprintf(key, sizeof(key), ":%u ", port);
	while (fgets(text, sizeof(text), f)) {
		if (strstr(text, key)) {
			strcpy(line, text);
			found = true;
		}
	}
	fclose(f);
	return found;
}

void need_fell(const struct addr *where, const char *role, const char *reason)
{
	unsigned int port = addr_port(where);
	char line[300], want[300];
	const char *rest;

	need(fell_line(port, line), "no line for port %u", port);
	snprintf(want, sizeof(want), set->family == AF_INET ? " %d %s %s %s:%u %s\n" :
		 " %d %s %s [%s]:%u %s\n", getpid(), BOTH_SIDE, role, set->server, port, reason);
	rest = strchr(line, ' ');
	need(rest && !strcmp(rest, want), "the line is \"%s\" instead of \"%s\"", line, want);
	need(labs(atol(line) - (long)time(NULL)) < 60, "the time of \"%s\"", line);
}

bool cgroup_enter(const char *name)
{
	char path[200];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), CGROUPS "%s/cgroup.procs", name);
	f = fopen(path, "w");
	if (!f)
		return false;
	ok = fprintf(f, "%d", getpid()) > 0;
	return !fclose(f) && ok;
}

void enter(int ns)
{
	need_errno(!setns(ns, CLONE_NEWNET), "setns");
}

/* Enters a new network namespace with a loopback device. */
void new_namespace(void)
{
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	loopback_up();
}

int own_namespace(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY);

	need_errno(fd >= 0, "/proc/self/ns/net");
	return fd;
}

/*
 * Enters a user namespace of its own, and those of @flags (CLONE_NEWNET), as root. Returns false
 * where the system does not allow that.
 */
bool root_of_user_namespace(int flags)
{
	char map[32];

	snprintf(map, sizeof(map), "0 %u 1", getuid());
	if (unshare(CLONE_NEWUSER | flags)) {
		need(errno == EPERM || errno == ENOSPC || errno == EINVAL, "unshare: %s",
		     errno_text(errno));
		return false;
	}
	write_file("/proc/self/uid_map", map);
	need_errno(!setuid(0), "setuid");
	return true;
}
