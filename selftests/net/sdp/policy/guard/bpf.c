// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests with BPF programs of a control group: what they say about TCP holds for SDP.
 */
#include <stddef.h>

#include "guard.h"

#define GUARDED		OWN_CGROUP "-guarded"

/* The instructions that the BPF programs here consist of. */
#define LOAD(reg, type, field) \
	{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (reg), .src_reg = BPF_REG_1, \
	  .off = offsetof(type, field) }

#define STORE(type, field, reg) \
	{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = (reg), \
	  .off = offsetof(type, field) }

#define SKIP_UNLESS(reg, value, n) \
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (reg), .off = (n), .imm = (value) }

/* A program that refuses what has @value in @field, and nothing else. */
#define REFUSE_IF(type, field, value) \
	PUT(BPF_REG_0, 1), \
	LOAD(BPF_REG_2, type, field), \
	SKIP_UNLESS(BPF_REG_2, value, 1), \
	PUT(BPF_REG_0, 0), \
	RETURN

/* Where programs for connect() attach to. */
#define CONNECTS \
	(set->family == AF_INET ? BPF_CGROUP_INET4_CONNECT : BPF_CGROUP_INET6_CONNECT)

long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A descriptor of the control group that guarded_enter() has made. */
static int cgroup;

/* Moves this process to a new control group. Skips the test where there are none. */
static void guarded_enter(void)
{
	if ((mkdir(CGROUPS GUARDED, 0755) && errno != EEXIST) ||
	    access(CGROUPS GUARDED "/cgroup.procs", W_OK))
		exit(EXIT_SKIPPED);
	need_errno(cgroup_enter(GUARDED), "the control group");
	cgroup = open(CGROUPS GUARDED, O_RDONLY | O_DIRECTORY);
	need_errno(cgroup >= 0, CGROUPS GUARDED);
}

static void guarded_leave(void)
{
	close(cgroup);
	need_errno(cgroup_enter(""), "back to the first control group");
	rmdir(CGROUPS GUARDED);
}

/* Attaches a program to the control group. Skips the test if the kernel has no such programs. */
static void guard_by(int type, int where, const struct bpf_insn *insns, unsigned int count)
{
	union bpf_attr load = {
		.prog_type = type,
		.expected_attach_type = where,
		.insns = (unsigned long)insns,
		.insn_cnt = count,
		.license = (unsigned long)"GPL",
	};
	union bpf_attr attach = { .target_fd = cgroup, .attach_type = where };
	int prog = bpf(BPF_PROG_LOAD, &load);

	if (prog < 0 && errno == EINVAL)
		exit(EXIT_SKIPPED);
	need_errno(prog >= 0, "BPF_PROG_LOAD");
	attach.attach_bpf_fd = prog;
	if (bpf(BPF_PROG_ATTACH, &attach)) {
		need(errno == EINVAL, "BPF_PROG_ATTACH: %s", errno_text(errno));
		exit(EXIT_SKIPPED);
	}
	close(prog);
}

/* Attaches a program that replaces port @from by @to in addresses. */
static void guard_names(int where, unsigned int from, unsigned int to)
{
	struct bpf_insn redirect[] = {
		PUT(BPF_REG_0, 1),
		LOAD(BPF_REG_2, struct bpf_sock_addr, user_port),
		SKIP_UNLESS(BPF_REG_2, htons(from), 2),
		PUT(BPF_REG_3, htons(to)),
		STORE(struct bpf_sock_addr, user_port, BPF_REG_3),
		RETURN,
	};

	guard_by(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, where, redirect, ARRAY_SIZE(redirect));
}

void doors_open(struct doors *d, enum kind kind)
{
	by_names();
	d->barred = listener_of(kind, 8, &d->to_barred);
	d->clear = listener_of(kind, 8, &d->to_clear);
}

/* Attaches a program that refuses connects to the first listener. */
static void doors_guard(const struct doors *d)
{
	const struct bpf_insn refuse[] = {
		REFUSE_IF(struct bpf_sock_addr, user_port, htons(addr_port(&d->to_barred)))
	};

	guarded_enter();
	guard_by(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, CONNECTS, refuse, ARRAY_SIZE(refuse));
}

static void need_nobody(int listening)
{
	need(!poll_for(listening, POLLIN, quiet_ms()), "somebody came by all the same");
}

/*
 * A connect to the first listener fails with @error, whichever protocol it would be by. This holds
 * for the first connect of a socket and for later ones.
 */
void need_barred(const struct doors *d, int error)
{
	static const char *const names[] = { TCP_SIDE, BOTH_SIDE, SDP_SIDE };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = stream(0);
		need_connect(names[i], fd, &d->to_barred, error, "the first connect");
		need_connect(names[i], fd, &d->to_clear, 0, "another one");
		close(accept_and_talk(d->clear, fd, i ? BY_SDP : BY_TCP));
		/* A security module is still asked about TCP for a socket that has become SDP. */
		need_errno(!connect(fd, &none, sizeof(none)), "disconnect");
		need_connect(names[i], fd, &d->to_barred, error, "a later connect");
		close(fd);
	}
	need_nobody(d->barred);
}

/* A connect that a program refuses is made neither by SDP nor by TCP. */
int bpf_refuses(void *arg)
{
	struct doors d;

	doors_open(&d, PAIR);
	doors_guard(&d);
	need_barred(&d, EPERM);
	guarded_leave();
	return EXIT_OK;
}

/*
 * The same for MPTCP sockets, for which the kernel itself runs these programs late or not at all.
 */
int bpf_refuses_multipath(void *arg)
{
	static const char *const names[] = { BOTH_SIDE, SDP_SIDE };
	struct doors d;
	size_t i;
	int fd;

	doors_open(&d, PAIR);
	doors_guard(&d);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = socket(set->family, SOCK_STREAM, 262);
		if (fd < 0)
			return EXIT_SKIPPED;
		need_connect(names[i], fd, &d.to_barred, EPERM, "a connect");
		close(fd);
		fd = socket(set->family, SOCK_STREAM, 262);
		need_connect(names[i], fd, &d.to_clear, 0, "another one");
		close(accept_and_talk(d.clear, fd, BY_SDP));
		close(fd);
	}
	need_nobody(d.barred);
	guarded_leave();
	return EXIT_OK;
}

struct held_connect {
	int fd, error;
	const struct addr *where;
};

static void *connect_barred(void *arg)
{
	struct held_connect *h = arg;

	h->error = connect(h->fd, &h->where->sa, h->where->len) ? errno : 0;
	return NULL;
}

/*
 * Two threads call connect() on a socket whose last connect failed, while a third thread holds its
 * lock. One call reports that failure, after which the socket is as new; the program refuses the
 * other call.
 */
int bpf_refuses_second(void *arg)
{
	struct held_connect calls[2];
	pthread_t callers[2];
	struct slow s = { 0 };
	struct addr dead_end;
	struct doors d;
	int i;

	doors_open(&d, SDP_ONLY);
	listener_of(NOBODY, 0, &dead_end);
	doors_guard(&d);
	slow_memory(&s);
	/* A connection makes the socket SDP for the rest of its life. */
	s.fd = connected_as(SDP_SIDE, &d.to_clear);
	close(accept_and_talk(d.clear, s.fd, BY_SDP));
	need_errno(!connect(s.fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, 16), "disconnect");
	set_nonblock(s.fd, true);
	need(connect(s.fd, &dead_end.sa, dead_end.len) && errno == EINPROGRESS, "connect: %s",
	     errno_text(errno));
	need(poll_for(s.fd, POLLOUT, WAIT_MS), "no outcome");
	hold(&s, linger_slowly);
	for (i = 0; i < 2; i++) {
		calls[i] = (struct held_connect){ .fd = s.fd, .where = &d.to_barred };
		callers[i] = start_thread(connect_barred, &calls[i]);
	}
	pause_ms(quiet_ms());
	let_go(&s);
	for (i = 0; i < 2; i++)
		pthread_join(callers[i], NULL);
	need((calls[0].error == ECONNREFUSED && calls[1].error == EPERM) ||
	     (calls[0].error == EPERM && calls[1].error == ECONNREFUSED),
	     "%s and %s", errno_text(calls[0].error), errno_text(calls[1].error));
	need_nobody(d.barred);
	guarded_leave();
	return EXIT_OK;
}

/* A connect that a program redirects goes there, whether SDP or TCP makes it. */
int bpf_redirects(void *arg)
{
	static const enum kind kinds[] = { PAIR, SDP_ONLY, TCP_ONLY };
	struct addr from, to, peer;
	int old, listening, fd;
	size_t i;

	by_names();
	old = listener_of(PAIR, 8, &from);
	guarded_enter();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 8, &to);
		guard_names(CONNECTS, addr_port(&from), addr_port(&to));
		fd = connected_as(BOTH_SIDE, &from);
		peer = peer_of(fd);
		need(addr_port(&peer) == addr_port(&to), "to port %u instead of %u",
		     addr_port(&peer), addr_port(&to));
		close(accept_and_talk(listening, fd, kinds[i] == TCP_ONLY ? BY_TCP : BY_SDP));
		close(fd);
		close(listening);
	}
	need_nobody(old);
	guarded_leave();
	return EXIT_OK;
}

/*
 * SDP sockets are forbidden since @listening, at @where, listens by both: a connect by both and
 * another listener are by TCP, and a connect by SDP only fails.
 */
void need_forbidden(int listening, const struct addr *where)
{
	long long errors = counter("FellError");
	struct addr own;
	int fd;

	fd = connected_as(BOTH_SIDE, where);
	need_count("FellError", errors, 1);
	need_fell(where, "connect", "failed");
	close(accept_and_talk(listening, fd, BY_TCP));
	fd = stream(0);
	need_connect(SDP_SIDE, fd, where, EPERM, "SDP alone");
	need_protocol(fd, BY_TCP, "what may not be SDP");
	listening = listener_of(PAIR, 8, &own);
	need_count("FellError", errors, 2);
	need_fell(&own, "listen", "failed");
	close(accept_and_talk(listening, connected_as(TCP_SIDE, &own), BY_TCP));
}

int bpf_forbids_sdp(void *arg)
{
	static const struct bpf_insn no_sdp[] = {
		REFUSE_IF(struct bpf_sock, protocol, IPPROTO_SDP)
	};
	struct addr where;
	int listening;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	guarded_enter();
	guard_by(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, no_sdp,
		 ARRAY_SIZE(no_sdp));
	need_forbidden(listening, &where);
	guarded_leave();
	return EXIT_OK;
}

/* Programs that change the results of getsockname() and getpeername() run for TCP sockets only. */
int bpf_names(void *arg)
{
	static const enum kind kinds[] = { TCP_ONLY, SDP_ONLY };
	bool v4 = set->family == AF_INET;
	int wheres[] = { v4 ? BPF_CGROUP_INET4_GETPEERNAME : BPF_CGROUP_INET6_GETPEERNAME,
			 v4 ? BPF_CGROUP_INET4_GETSOCKNAME : BPF_CGROUP_INET6_GETSOCKNAME };
	struct addr where, own, peer;
	int listening, fd;
	size_t i;

	by_names();
	guarded_enter();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 8, &where);
		fd = connected_as(BOTH_SIDE, &where);
		own = name_of(fd);
		guard_names(wheres[0], addr_port(&where), 1);
		guard_names(wheres[1], addr_port(&own), 2);
		peer = peer_of(fd);
		need(addr_port(&peer) == (i ? addr_port(&where) : 1), "to %s: it shows port %u",
		     kind_names[kinds[i]], addr_port(&peer));
		peer = name_of(fd);
		need(addr_port(&peer) == (i ? addr_port(&own) : 2), "to %s: its own port is %u",
		     kind_names[kinds[i]], addr_port(&peer));
		close(accept_and_talk(listening, fd, i ? BY_SDP : BY_TCP));
		close(fd);
		close(listening);
	}
	guarded_leave();
	return EXIT_OK;
}

#define BPF_SAYS	5	/* SO_PRIORITY that a program sets */

/* Programs that handle TCP's socket events are not run for SDP. */
int bpf_events(void *arg)
{
	static const struct bpf_insn prioritize[] = {
		LOAD(BPF_REG_2, struct bpf_sock_ops, op),
		SKIP_UNLESS(BPF_REG_2, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, 7),
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4,
		  .imm = BPF_SAYS },
		PUT(BPF_REG_2, SOL_SOCKET),
		PUT(BPF_REG_3, SO_PRIORITY),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_4,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_4, .imm = -4 },
		PUT(BPF_REG_5, 4),
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_setsockopt },
		PUT(BPF_REG_0, 1),
		RETURN,
	};
	static const enum kind kinds[] = { TCP_ONLY, SDP_ONLY };
	int listening, fd, priority;
	struct addr where;
	size_t i;

	by_names();
	guarded_enter();
	guard_by(BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, prioritize, ARRAY_SIZE(prioritize));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 8, &where);
		fd = connected_as(BOTH_SIDE, &where);
		priority = get_int(fd, SOL_SOCKET, SO_PRIORITY);
		need(priority == (i ? 0 : BPF_SAYS), "to %s: its priority is %d",
		     kind_names[kinds[i]], priority);
		close(accept_and_talk(listening, fd, i ? BY_SDP : BY_TCP));
		close(fd);
		close(listening);
	}
	guarded_leave();
	return EXIT_OK;
}

/*
 * A setsockopt() that a program of the listener's group forbids fails on an accepted socket, too.
 */
int bpf_options(void *arg)
{
	static const struct bpf_insn forbid[] = {
		REFUSE_IF(struct bpf_sockopt, optname, SO_PRIORITY)
	};
	static const enum kind kinds[] = { TCP_ONLY, SDP_ONLY, PAIR };
	int listening, fd, s, value = 1;
	struct addr where;
	size_t i;

	by_names();
	guarded_enter();
	guard_by(BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, forbid, ARRAY_SIZE(forbid));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 8, &where);
		fd = connected_as(kinds[i] == TCP_ONLY ? TCP_SIDE : SDP_SIDE, &where);
		s = accept_and_talk(listening, fd, kinds[i] == TCP_ONLY ? BY_TCP : BY_SDP);
		/* The control group of the socket counts, not that of the caller. */
		need_errno(cgroup_enter(""), "out of the control group");
		need(setsockopt(s, SOL_SOCKET, SO_PRIORITY, &value, sizeof(value)) &&
		     errno == EPERM, "accepted by %s: it may", kind_names[kinds[i]]);
		need_errno(cgroup_enter(GUARDED), "back into the control group");
		close(s);
		close(fd);
		close(listening);
	}
	guarded_leave();
	return EXIT_OK;
}

/* A program drops all packets that TCP sends; data by SDP still arrives. */
int bpf_packets(void *arg)
{
	static const struct bpf_insn drop[] = { PUT(BPF_REG_0, 0), RETURN };
	int listening, fd;
	struct addr where;

	by_names();
	guarded_enter();
	listening = listener_of(PAIR, 8, &where);
	guard_by(BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, drop, ARRAY_SIZE(drop));
	fd = connected_as(BOTH_SIDE, &where);
	close(accept_and_talk(listening, fd, BY_SDP));
	close(fd);
	fd = stream(SOCK_NONBLOCK);
	connect_as(TCP_SIDE, fd, &where);
	need(!poll_for(fd, POLLOUT, quiet_ms()), "TCP gets through");
	close(fd);
	guarded_leave();
	return EXIT_OK;
}
