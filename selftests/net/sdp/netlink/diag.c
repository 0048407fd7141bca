// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag: the kernel's interface of `ss`, for sockets of family 27.
 *
 * What it shows of a TCP socket in the same state is what it has to show of an SDP socket.
 */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>

#include "netlink.h"

/* What an answer shows. */
struct seen {
	unsigned long inode;		/* of the socket that is looked for, or 0 for any */
	int times, others;
	struct inet_diag_msg msg;
	struct tcp_info info;
	struct inet_diag_meminfo memory;
	bool has_info, has_memory, has_skmem;
	int shut;
	char cong[16];
};

static int take_attr(const struct nlattr *attr, void *arg)
{
	const void *data = mnl_attr_get_payload(attr);
	unsigned int len = mnl_attr_get_payload_len(attr);
	struct seen *s = arg;

	switch (mnl_attr_get_type(attr)) {
	case INET_DIAG_INFO:
		memcpy(&s->info, data, len < sizeof(s->info) ? len : sizeof(s->info));
		s->has_info = true;
		break;
	case INET_DIAG_MEMINFO:
		need(len == sizeof(s->memory), "MEMINFO of %u bytes", len);
		memcpy(&s->memory, data, len);
		s->has_memory = true;
		break;
	case INET_DIAG_SKMEMINFO:
		need(len == SK_MEMINFO_VARS * 4, "SKMEMINFO of %u bytes", len);
		s->has_skmem = true;
		break;
	case INET_DIAG_SHUTDOWN:
		s->shut = mnl_attr_get_u8(attr);
		break;
	case INET_DIAG_CONG:
		snprintf(s->cong, sizeof(s->cong), "%s", mnl_attr_get_str(attr));
		break;
	}
	return MNL_CB_OK;
}

static int take_sock(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct seen *s = arg;

	need(nlh->nlmsg_type == SOCK_DIAG_BY_FAMILY, "an answer of type %u", nlh->nlmsg_type);
	if (s->inode && msg->idiag_inode != s->inode) {
		s->others++;
		return MNL_CB_OK;
	}
	s->times++;
	s->msg = *msg;
	mnl_attr_parse(nlh, sizeof(*msg), take_attr, s);
	return MNL_CB_OK;
}

/* Sends a request. Returns 0, or the errno of the answer. */
static int ask(int type, int flags, const void *req, size_t len, struct seen *s)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_SOCK_DIAG);
	char room[NL_PIECE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(room);
	int n, more = MNL_CB_OK, error = 0;

	need_errno(nl && mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) >= 0, "NETLINK_SOCK_DIAG");
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = 1;
	memcpy(mnl_nlmsg_put_extra_header(nlh, len), req, len);
	need_errno(mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0, "sendto");
	while (more == MNL_CB_OK) {
		n = mnl_socket_recvfrom(nl, room, sizeof(room));
		need_errno(n > 0, "recvfrom");
		more = mnl_cb_run(room, n, 1, mnl_socket_get_portid(nl), take_sock, s);
		if (more < 0)
			error = errno;
		else if (!(flags & (NLM_F_DUMP | NLM_F_ACK)))
			break;
	}
	mnl_socket_close(nl);
	return error;
}

#define EVERY_STATE	((1u << (TCP_CLOSING + 1)) - 1)

static struct inet_diag_req_v2 request_for(unsigned int states)
{
	return (struct inet_diag_req_v2){
		.sdiag_family = use_sdp ? AF_SDP : set->family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_MEMINFO - 1) |
			     1 << (INET_DIAG_SKMEMINFO - 1) | 1 << (INET_DIAG_CONG - 1),
		.idiag_states = states,
	};
}

/* What a dump of the sockets in @states shows of @fd. */
static struct seen look(int fd, unsigned int states)
{
	struct inet_diag_req_v2 req = request_for(states);
	struct seen s = { .inode = inode_of(fd) };
	int error = ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req), &s);

	need(!error, "dump: %s", errno_text(error));
	return s;
}

static void need_same_addr(const char *what, const __be32 *shown, const struct addr *a)
{
	need(!memcmp(shown, a->sa.sa_family == AF_INET ? (void *)&a->in.sin_addr :
							  (void *)&a->in6.sin6_addr,
		     a->sa.sa_family == AF_INET ? 4 : 16), "%s is another address", what);
}

static int diag_shows(void *arg)
{
	struct addr where, own, peer;
	int listening = listener(7, &where);
	struct pair p = { .c = fresh(0) };
	struct seen s;

	connect_to(p.c, &where);
	s = look(listening, 1 << TCP_LISTEN);
	need(s.times == 1 && s.msg.idiag_state == TCP_LISTEN, "the listener: %d times", s.times);
	need(s.msg.idiag_rqueue == 1 && s.msg.idiag_wqueue == 7, "queue %u of %u",
	     s.msg.idiag_rqueue, s.msg.idiag_wqueue);
	p.s = accept_from(listening);
	send_all(p.c, "hello", 5);
	need(await_bytes(p.s, 5) == 5, "no bytes");
	own = name_of(p.s);
	peer = name_of(p.c);
	s = look(p.s, EVERY_STATE);
	need(s.times == 1 && s.msg.idiag_state == TCP_ESTABLISHED, "the connection: %d times",
	     s.times);
	need(s.msg.idiag_family == set->family, "family %d", s.msg.idiag_family);
	need(ntohs(s.msg.id.idiag_sport) == addr_port(&own) &&
	     ntohs(s.msg.id.idiag_dport) == addr_port(&peer), "ports %u, %u",
	     ntohs(s.msg.id.idiag_sport), ntohs(s.msg.id.idiag_dport));
	need_same_addr("the local one", s.msg.id.idiag_src, &own);
	need_same_addr("that of the peer", s.msg.id.idiag_dst, &peer);
	need(s.msg.idiag_rqueue == 5 && !s.msg.idiag_wqueue, "queues %u, %u", s.msg.idiag_rqueue,
	     s.msg.idiag_wqueue);
	need(s.msg.idiag_uid == getuid(), "user %u", s.msg.idiag_uid);
	need(s.has_info && s.info.tcpi_state == TCP_ESTABLISHED && s.info.tcpi_rcv_mss,
	     "INFO: state %d, %u", s.info.tcpi_state, s.info.tcpi_rcv_mss);
	need(s.has_memory && s.has_skmem && !s.shut, "%d %d %d", s.has_memory, s.has_skmem, s.shut);
	need(use_sdp ? !strcmp(s.cong, "sdp") : s.cong[0] != 0, "CONG is \"%s\"", s.cong);
	need_errno(!shutdown(p.s, SHUT_RD), "shutdown");
	s = look(p.s, EVERY_STATE);
	need(s.shut == 1, "SHUTDOWN is %d", s.shut);
	return EXIT_OK;
}

/* Only sockets in the states of the request are shown. */
static int diag_states(void *arg)
{
	int listening = listener(1, NULL);
	struct pair p = pair_make();

	need(!look(p.c, 1 << TCP_LISTEN).times, "a connection as a listener");
	need(look(p.c, 1 << TCP_ESTABLISHED).times == 1, "no connection");
	need(!look(listening, 1 << TCP_ESTABLISHED).times, "a listener as a connection");
	need(!look(listening, 0).times, "a listener in no state");
	return EXIT_OK;
}

/* A request for one socket, by what the dump has shown of it. */
static int diag_one(void *arg)
{
	struct inet_diag_req_v2 req = request_for(EVERY_STATE);
	struct pair p = pair_make();
	struct seen s = look(p.c, EVERY_STATE), one = { 0 };
	int error;

	req.id = s.msg.id;
	error = ask(SOCK_DIAG_BY_FAMILY, 0, &req, sizeof(req), &one);
	need(!error && one.times == 1 && one.msg.idiag_inode == s.inode, "%s, inode %u",
	     errno_text(error), one.msg.idiag_inode);
	need(one.has_info, "no INFO");
	req.id.idiag_cookie[0]++;
	error = ask(SOCK_DIAG_BY_FAMILY, 0, &req, sizeof(req), &one);
	need(error == ENOENT, "another cookie: %s", errno_text(error));
	req.id = s.msg.id;
	req.id.idiag_dport ^= htons(1);
	error = ask(SOCK_DIAG_BY_FAMILY, 0, &req, sizeof(req), &one);
	need(error == ENOENT, "another port: %s", errno_text(error));
	error = ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req) - 8, &one);
	need(error == EINVAL, "a short request: %s", errno_text(error));
	if (use_sdp) {
		struct { struct inet_diag_req_v2 req; struct nlattr attr; } filtered = {
			req, { sizeof(struct nlattr), INET_DIAG_REQ_BYTECODE } };

		error = ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &filtered, sizeof(filtered), &one);
		need(error == EOPNOTSUPP, "with a filter: %s", errno_text(error));
	}
	return EXIT_OK;
}

/* SOCK_DESTROY: what `ss -K` sends. */
static int diag_destroys(void *arg)
{
	struct inet_diag_req_v2 req = request_for(EVERY_STATE);
	struct pair p = pair_make(), other = pair_make();
	int error;
	char c;

	req.id = look(p.c, EVERY_STATE).msg.id;
	error = ask(SOCK_DESTROY, NLM_F_ACK, &req, sizeof(req), &(struct seen){ 0 });
	need(!error, "SOCK_DESTROY: %s", errno_text(error));
	need(recv(p.c, &c, 1, 0) < 0 && errno == ECONNABORTED, "its socket: %s", errno_text(errno));
	need(poll_for(p.s, POLLIN, WAIT_MS) && recv(p.s, &c, 1, 0) < 0 && errno == ECONNRESET,
	     "the peer: %s", errno_text(errno));
	send_all(other.c, "x", 1);
	recv_all(other.s, &c, 1);
	error = ask(SOCK_DESTROY, NLM_F_ACK, &req, sizeof(req), &(struct seen){ 0 });
	need(error == ENOENT, "once more: %s", errno_text(error));
	req.id = look(other.c, EVERY_STATE).msg.id;
	be_nobody();
	error = ask(SOCK_DESTROY, NLM_F_ACK, &req, sizeof(req), &(struct seen){ 0 });
	need(error == EPERM, "as nobody: %s", errno_text(error));
	return EXIT_OK;
}

/* Each socket once, in many pieces. */
static int diag_many(void *arg)
{
	enum { MANY = 300 };
	struct inet_diag_req_v2 req = request_for(1 << TCP_LISTEN);
	static int fds[MANY];
	struct seen s = { 0 };
	int i, error, before;

	need(!ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req), &s), "dump");
	before = s.times;
	for (i = 0; i < MANY; i++)
		fds[i] = listener(1, NULL);
	s.times = 0;
	error = ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req), &s);
	need(!error && s.times == before + MANY, "%s, %d of %d", errno_text(error), s.times,
	     before + MANY);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	return EXIT_OK;
}

#define WITH_TCP(body, sets)	{ #body, body, 30, sets, false, NULL }

static const struct test tests[] = {
	WITH_TCP(diag_shows, ALL_SETS),
	WITH_TCP(diag_states, TWO_SETS),
	WITH_TCP(diag_one, ALL_SETS),
	WITH_TCP(diag_destroys, ALL_SETS),
	WITH_TCP(diag_many, ONE_SET),
};

const struct test_list diag_tests = TEST_LIST(tests);
