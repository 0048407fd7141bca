// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of the hooks of a security module: which are called, about which sockets.
 *
 * A BPF program on each hook counts the calls about TCP socks and those about SDP socks.
 */
#include "guard.h"

enum hook {
	H_CREATE, H_POST_CREATE, H_BIND, H_LISTEN, H_CONNECT, H_ACCEPT, H_SENDMSG, H_RECVMSG,
	H_GETSOCKNAME, H_GETPEERNAME, H_SETSOCKOPT, H_GETSOCKOPT, H_SHUTDOWN, H_CLONE_FROM,
	H_CLONE_TO, H_GRAFT, H_REQUEST, H_ESTABLISHED, HOOKS
};

/* The argument by which the program tells TCP from SDP. */
enum told_by { BY_PROTOCOL, BY_SOCKET, BY_SOCK };

/*
 * @own: the hook runs in the context of a call, and only calls of the test's own process count. The
 * other hooks run in any context; nothing else has sockets of these protocols meanwhile.
 */
static const struct {
	const char *name, *says;
	enum told_by by;
	int arg;
	bool own;
} hooks[HOOKS] = {
	[H_CREATE]	= { "socket_create", "create", BY_PROTOCOL, 2, true },
	[H_POST_CREATE]	= { "socket_post_create", "post_create", BY_PROTOCOL, 3, true },
	[H_BIND]	= { "socket_bind", "bind", BY_SOCKET, 0, true },
	[H_LISTEN]	= { "socket_listen", "listen", BY_SOCKET, 0, true },
	[H_CONNECT]	= { "socket_connect", "connect", BY_SOCKET, 0, true },
	[H_ACCEPT]	= { "socket_accept", "accept", BY_SOCKET, 0, true },
	[H_SENDMSG]	= { "socket_sendmsg", "sendmsg", BY_SOCKET, 0, true },
	[H_RECVMSG]	= { "socket_recvmsg", "recvmsg", BY_SOCKET, 0, true },
	[H_GETSOCKNAME]	= { "socket_getsockname", "getsockname", BY_SOCKET, 0, true },
	[H_GETPEERNAME]	= { "socket_getpeername", "getpeername", BY_SOCKET, 0, true },
	[H_SETSOCKOPT]	= { "socket_setsockopt", "setsockopt", BY_SOCKET, 0, true },
	[H_GETSOCKOPT]	= { "socket_getsockopt", "getsockopt", BY_SOCKET, 0, true },
	[H_SHUTDOWN]	= { "socket_shutdown", "shutdown", BY_SOCKET, 0, true },
	[H_CLONE_FROM]	= { "sk_clone_security", "clone_from", BY_SOCK, 0, false },
	[H_CLONE_TO]	= { "sk_clone_security", "clone_to", BY_SOCK, 1, false },
	[H_GRAFT]	= { "sock_graft", "graft", BY_SOCK, 0, false },
	[H_REQUEST]	= { "inet_conn_request", "conn_request", BY_SOCK, 0, false },
	[H_ESTABLISHED]	= { "inet_conn_established", "conn_established", BY_SOCK, 0, false },
};

/* A BPF map with two counters for each hook: TCP's and SDP's. */
static int asked_map;

static void asked_begin(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 2 * HOOKS,
	};

	asked_map = bpf(BPF_MAP_CREATE, &attr);
	need_errno(asked_map >= 0, "BPF_MAP_CREATE");
}

static long long asked_now(int hook, bool sdp)
{
	unsigned int key = 2 * hook + sdp;
	unsigned long long value = 0;
	union bpf_attr attr = {
		.map_fd = asked_map,
		.key = (unsigned long)&key,
		.value = (unsigned long)&value,
	};

	need_errno(!bpf(BPF_MAP_LOOKUP_ELEM, &attr), "BPF_MAP_LOOKUP_ELEM");
	return value;
}

/* A BPF program that is being built. All its jumps go to its end. */
struct hook_program {
	struct bpf_insn insns[40];
	int n, jumps[8], jumps_n;
};

static void then(struct hook_program *p, struct bpf_insn insn)
{
	p->insns[p->n++] = insn;
}

static void end_if(struct hook_program *p, int how, int reg, int value)
{
	p->jumps[p->jumps_n++] = p->n;
	then(p, (struct bpf_insn){ .code = BPF_JMP32 | how | BPF_K, .dst_reg = reg, .imm = value });
}

static void load(struct hook_program *p, int size, int dst, int src, int at)
{
	then(p, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | size, .dst_reg = dst, .src_reg = src,
				   .off = at });
}

static void copy(struct hook_program *p, int dst, int src)
{
	then(p, (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = dst,
				   .src_reg = src });
}

static void compute(struct hook_program *p, int how, int reg, int value)
{
	then(p, (struct bpf_insn){ .code = BPF_ALU64 | how | BPF_K, .dst_reg = reg, .imm = value });
}

static void call(struct hook_program *p, int helper)
{
	then(p, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper });
}

static void end_if_null(struct hook_program *p, int reg)
{
	p->jumps[p->jumps_n++] = p->n;
	then(p, (struct bpf_insn){ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = reg });
}

static void skip_unless(struct hook_program *p, int reg, int value, int count)
{
	then(p, (struct bpf_insn){ .code = BPF_JMP32 | BPF_JNE | BPF_K, .dst_reg = reg,
				   .off = count, .imm = value });
}

/* Loads the protocol of the object that the hook is asked about into R4. */
static void load_protocol(struct hook_program *p, int h)
{
	load(p, BPF_DW, BPF_REG_4, BPF_REG_6, 8 * hooks[h].arg);
	if (hooks[h].by == BY_PROTOCOL)
		return;
	if (hooks[h].by == BY_SOCKET) {
		load(p, BPF_DW, BPF_REG_4, BPF_REG_4, member_offset("socket", "sk"));
		end_if_null(p, BPF_REG_4);
	}
	load(p, BPF_H, BPF_REG_4, BPF_REG_4, member_offset("sock", "sk_protocol"));
}

/* Adds 1 to the counter with the number in R7. */
static void count_one(struct hook_program *p)
{
	then(p, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10,
				   .src_reg = BPF_REG_7, .off = -4 });
	copy(p, BPF_REG_2, BPF_REG_10);
	compute(p, BPF_ADD, BPF_REG_2, -4);
	then(p, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
				   .src_reg = BPF_PSEUDO_MAP_FD, .imm = asked_map });
	then(p, (struct bpf_insn){ .code = 0 });
	call(p, BPF_FUNC_map_lookup_elem);
	end_if_null(p, BPF_REG_0);
	compute(p, BPF_MOV, BPF_REG_1, 1);
	then(p, (struct bpf_insn){ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = BPF_REG_0,
				   .src_reg = BPF_REG_1, .imm = BPF_ADD });
}

static void hook_begin(int h)
{
	struct hook_program p = { .n = 0 };
	int i;

	copy(&p, BPF_REG_6, BPF_REG_1);
	if (hooks[h].own) {
		call(&p, BPF_FUNC_get_current_pid_tgid);
		compute(&p, BPF_RSH, BPF_REG_0, 32);
		end_if(&p, BPF_JNE, BPF_REG_0, getpid());
	}
	load_protocol(&p, h);
	compute(&p, BPF_MOV, BPF_REG_7, 2 * h);
	skip_unless(&p, BPF_REG_4, IPPROTO_SDP, 2);
	compute(&p, BPF_ADD, BPF_REG_7, 1);
	compute(&p, BPF_MOV, BPF_REG_4, IPPROTO_TCP);
	skip_unless(&p, BPF_REG_4, 0, 1);	/* socket(2) with protocol 0 */
	compute(&p, BPF_MOV, BPF_REG_4, IPPROTO_TCP);
	end_if(&p, BPF_JNE, BPF_REG_4, IPPROTO_TCP);
	count_one(&p);
	for (i = 0; i < p.jumps_n; i++)
		p.insns[p.jumps[i]].off = p.n - p.jumps[i] - 1;
	compute(&p, BPF_MOV, BPF_REG_0, 0);
	then(&p, (struct bpf_insn)RETURN);
	hook_by(hooks[h].name, p.insns, p.n);
}

static long long asked_before[HOOKS][2];

static void asked_anew(void)
{
	int h;

	for (h = 0; h < HOOKS; h++) {
		asked_before[h][false] = asked_now(h, false);
		asked_before[h][true] = asked_now(h, true);
	}
}

/*
 * Compares the calls since the last time: for each hook that was asked, the numbers for TCP and
 * SDP.
 */
static void need_asked(const char *way, const char *step, const char *want)
{
	char is[600] = "";
	int h;

	for (h = 0; h < HOOKS; h++) {
		long long tcp = asked_now(h, false) - asked_before[h][false];
		long long sdp = asked_now(h, true) - asked_before[h][true];
		size_t used = strlen(is);

		if (tcp || sdp)
			snprintf(is + used, sizeof(is) - used, "%s%s %lld+%lld", used ? ", " : "",
				 hooks[h].says, tcp, sdp);
	}
	need(!strcmp(is, want), "%s, %s: asked \"%s\" instead of \"%s\"", way, step, is, want);
	asked_anew();
}

#define CREATE_TCP	"create 1+0, post_create 1+0, "
#define CREATE_BOTH	"create 1+1, post_create 1+1, "
#define LISTEN_TCP	CREATE_TCP "bind 1+0, listen 1+0"
#define LISTEN_BOTH	CREATE_BOTH "bind 1+0, listen 1+0, clone_from 1+0, clone_to 0+1"

#define CONNECT_TCP	"connect 1+0, clone_from 1+0, clone_to 1+0, conn_request 1+0, " \
			"conn_established 1+0"

#define CONNECT_FALLS	"connect 1+0, clone_from 2+0, clone_to 1+1, conn_request 1+0, " \
			"conn_established 1+0"

#define CONNECT_SDP	"connect 1+0, clone_from 1+1, clone_to 0+2"

#define TALK_TCP	"sendmsg 1+0, recvmsg 1+0, getsockname 1+0, getpeername 1+0, " \
			"setsockopt 1+0, getsockopt 1+0, shutdown 1+0"

#define TALK_SDP	"sendmsg 0+1, recvmsg 0+1, getsockname 0+1, getpeername 0+1, " \
			"setsockopt 0+1, getsockopt 0+1, shutdown 0+1"

/*
 * The SDP socket is created with the application's credentials and gets the label of the TCP socket
 * ("clone"). An accepted socket gets the label of its listener. For bind, listen and connect the
 * hooks are asked about the TCP socket.
 */
static const struct {
	const char *way, *server, *client;
	int protocol;
	const char *listen, *connect, *accept, *talk;
} hook_rows[] = {
	{ "TCP", TCP_SIDE, TCP_SIDE, BY_TCP,
	  LISTEN_TCP, CREATE_TCP CONNECT_TCP, "accept 1+0, graft 1+0", TALK_TCP },
	{ "both, SDP", BOTH_SIDE, BOTH_SIDE, BY_SDP,
	  LISTEN_BOTH, CREATE_BOTH CONNECT_SDP, "accept 1+0, graft 0+1", TALK_SDP },
	{ "SDP", SDP_SIDE, SDP_SIDE, BY_SDP,
	  LISTEN_BOTH, CREATE_BOTH CONNECT_SDP, "accept 0+1, graft 0+1", TALK_SDP },
	{ "both, falls back", TCP_SIDE, BOTH_SIDE, BY_TCP,
	  LISTEN_TCP, CREATE_BOTH CONNECT_FALLS, "accept 1+0, graft 1+0", TALK_TCP },
	{ "both, TCP's client", BOTH_SIDE, TCP_SIDE, BY_TCP,
	  LISTEN_BOTH, CREATE_TCP CONNECT_TCP, "accept 1+0, graft 1+0", TALK_TCP },
};

static void hooks_talk(int c, int s)
{
	struct addr a = { .len = sizeof(a.ss) };
	socklen_t len = sizeof(int);
	int one = 1;

	send_all(c, "x", 1);
	recv_all(s, &one, 1);
	getsockname(c, &a.sa, &a.len);
	a.len = sizeof(a.ss);
	getpeername(c, &a.sa, &a.len);
	setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, &len);
	shutdown(c, SHUT_WR);
}

/*
 * After a disconnect, the hooks for a second bind and connect of an SDP socket are still asked
 * about TCP.
 */
static void hooks_again(const char *way, int c, const struct addr *where)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr own = client_addr(0);

	asked_anew();
	need_errno(!connect(c, &none, sizeof(none)), "disconnect");
	need_asked(way, "disconnect", "connect 1+0");
	need_errno(!bind(c, &own.sa, own.len), "bind");
	need_asked(way, "second bind", "bind 1+0");
	need_errno(!connect(c, &where->sa, where->len), "connect");
	need(asked_now(H_CONNECT, true) == asked_before[H_CONNECT][true] &&
	     asked_now(H_CONNECT, false) == asked_before[H_CONNECT][false] + 1,
	     "%s, second connect: asked about the SDP socket", way);
}

int hooks_seen(void *arg)
{
	int listening, c, s, h;
	struct addr where;
	size_t i;

	if (!lsm_has_bpf())
		return EXIT_SKIPPED;
	by_names();
	asked_begin();
	for (h = 0; h < HOOKS; h++)
		hook_begin(h);
	for (i = 0; i < ARRAY_SIZE(hook_rows); i++) {
		asked_anew();
		as(hook_rows[i].server);
		listening = bound();
		need_errno(!listen(listening, 4), "listen");
		need_asked(hook_rows[i].way, "listen", hook_rows[i].listen);
		where = name_of(listening);
		asked_anew();
		c = connected_as(hook_rows[i].client, &where);
		need(poll_for(listening, POLLIN, WAIT_MS), "no connection to accept");
		need_asked(hook_rows[i].way, "connect", hook_rows[i].connect);
		s = accept(listening, NULL, NULL);
		need_errno(s >= 0, "accept");
		need_asked(hook_rows[i].way, "accept", hook_rows[i].accept);
		hooks_talk(c, s);
		need_asked(hook_rows[i].way, "talk", hook_rows[i].talk);
		need_protocol(c, hook_rows[i].protocol, hook_rows[i].way);
		need_protocol(s, hook_rows[i].protocol, hook_rows[i].way);
		hooks_again(hook_rows[i].way, c, &where);
		/* TCP makes the listener's child after the client's connect() has returned. */
		need(poll_for(listening, POLLIN, WAIT_MS), "no second connection");
		close(c);
		close(s);
		close(listening);
	}
	return EXIT_OK;
}
