// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of netlink, for sweeps over their allocations.
 *
 * If a request succeeds in spite of a failed allocation, its answer is the same as without one.
 */
#include "netlink.h"

/* Enough sockets for a dump that needs several buffers. */
#define SOCKETS	60

/**
 * struct answer - all messages of one answer, without their headers
 * @n: number of messages
 * @len: number of bytes in @bytes
 * @bytes: the messages, one after the other
 */
struct answer {
	int n;
	size_t len;
	unsigned char bytes[256 * 1024];
};

static struct nl nl;

static struct answer wanted, answered;

static bool exact;		/* the bytes are the same each time, too */

static bool lost;		/* the answer was lost, not the request */

static void take_answer(const struct nlmsghdr *nlh, void *arg)
{
	struct answer *a = arg;
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	need(a->len + len <= sizeof(a->bytes), "more than was thought of");
	memcpy(a->bytes + a->len, mnl_nlmsg_get_payload(nlh), len);
	a->len += len;
	a->n++;
}

static int ask(struct request *r)
{
	static char room[NL_ROOM];
	int error = 0, n;

	answered.n = 0;
	answered.len = 0;
	lost = false;
	if (mnl_socket_sendto(nl.mnl, &r->nlh, r->nlh.nlmsg_len) < 0)
		return -1;
	do {
		n = mnl_socket_recvfrom(nl.mnl, room, sizeof(room));
		lost = n < 0;
		if (lost)
			return -1;
	} while (!nl_take(&nl, room, n, take_answer, &answered, &error));
	errno = error;
	return error ? -1 : 0;
}

static void open_nl(void)
{
	nl = nl_open();
	set_timeout(mnl_socket_get_fd(nl.mnl), SO_RCVTIMEO, WAIT_MS);
}

void prepare_request(struct state *s)
{
	open_nl();
}

/* After a lost answer, parts of it may still come through this socket. So this opens a new one. */
void ask_anew(struct state *s)
{
	nl_close(&nl);
	open_nl();
}

void after_request(struct state *s)
{
	nl_close(&nl);
	need(answered.n == wanted.n && answered.len == wanted.len,
	     "%d messages of %zu bytes instead of %d of %zu", answered.n, answered.len, wanted.n,
	     wanted.len);
	need(!exact || !memcmp(answered.bytes, wanted.bytes, wanted.len), "another answer");
}

void want(int (*run)(struct state *s), struct state *s, int least, bool same)
{
	open_nl();
	need_errno(!run(s), "the request");
	nl_close(&nl);
	need(answered.n >= least, "%d messages", answered.n);
	wanted = answered;
	exact = same;
}

int run_policy_get(struct state *s)
{
	return ask(nl_do(&nl, SDP_CMD_POLICY_GET));
}

void setup_policy_get(struct state *s)
{
	policy_set("%s", GOOD);
	want(run_policy_get, s, 1, true);
}

int run_explain(struct state *s)
{
	struct request *r = nl_do(&nl, SDP_CMD_POLICY_EXPLAIN);
	struct addr a = server_addr(7);

	mnl_attr_put_u8(&r->nlh, SDP_EXPLAIN_A_ROLE, 1);
	put_addr(r, SDP_EXPLAIN_A_ADDR, &a);
	mnl_attr_put_u16(&r->nlh, SDP_EXPLAIN_A_PORT, 7);
	mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_COMM, "somebody");
	mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_PATH, "/usr/bin/somebody");
	mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_CGROUP, "/some.slice");
	return ask(r);
}

void setup_explain(struct state *s)
{
	policy_set("any * path /usr/bin/some* cgroup /some.slice sdp");
	want(run_explain, s, 1, true);
}

int run_sock_get(struct state *s)
{
	return ask(nl_dump(&nl, SDP_CMD_SOCK_GET));
}

void setup_sock_get(struct state *s)
{
	int i;

	s->p = pair_make();
	need_talk(s->p.c, s->p.s);
	for (i = 0; i < SOCKETS; i++)
		fresh(0);
	want(run_sock_get, s, SOCKETS + 2, false);
}

int run_stat_get(struct state *s)
{
	return ask(nl_dump(&nl, SDP_CMD_STAT_GET));
}

void setup_stat_get(struct state *s)	{ want(run_stat_get, s, 60, false); }

int run_device_get(struct state *s)
{
	return ask(nl_dump(&nl, SDP_CMD_DEVICE_GET));
}

void setup_device_get(struct state *s)	{ want(run_device_get, s, 2, false); }

int run_fallback_get(struct state *s)
{
	return ask(nl_dump(&nl, SDP_CMD_FALLBACK_GET));
}

void setup_fallback_get(struct state *s)
{
	fall_back();
	want(run_fallback_get, s, 1, true);
}

/* POLICY_SET does all that its attributes say, or nothing. */
void prepare_policy_set(struct state *s)
{
	begin_with(GOOD, 0, 1000, 60000);
	prepare_request(s);
}

int run_policy_set(struct state *s)
{
	struct request *r = nl_do(&nl, SDP_CMD_POLICY_SET);

	mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, OTHER);
	mnl_attr_put_u8(&r->nlh, SDP_POLICY_A_REWRITE, 1);
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MS, 10);
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MEMORY_MS, 0);
	return ask(r);
}

void set_or_not(struct state *s)
{
	bool done = lost && setting_value("rewrite");

	ask_anew(s);
	if (done)
		need_shown(&nl, OTHER, 1, 10, 0);
	else
		need_shown(&nl, GOOD, 0, 1000, 60000);
}

void after_policy_set(struct state *s)
{
	need_shown(&nl, OTHER, 1, 10, 0);
	nl_close(&nl);
}
