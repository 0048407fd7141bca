// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of netlink as they lie in memory: no stray bytes, and no address of the kernel.
 *
 * The bytes that pad an attribute are 0, and the NUL that ends a text is the last byte of its
 * attribute.
 */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>

#include "leaks.h"

/**
 * struct asked - a request
 * @name: for messages
 * @cmd: SDP_CMD_*
 * @least: the least number of messages in its answer
 * @texts: bits of the attributes that are text
 * @info: the attribute that is struct sdp_info, or 0
 */
struct asked {
	const char *name;
	int cmd;
	int least;
	unsigned int texts;
	int info;
};

static const struct asked requests[] = {
	{ "POLICY_GET", SDP_CMD_POLICY_GET, 1, 1u << SDP_POLICY_A_TEXT | 1u << SDP_POLICY_A_ERROR,
	  0 },
	{ "POLICY_EXPLAIN", SDP_CMD_POLICY_EXPLAIN, 1, 1u << SDP_EXPLAIN_A_VERDICT |
	  1u << SDP_EXPLAIN_A_RULE | 1u << SDP_EXPLAIN_A_DEVICE, 0 },
	{ "SOCK_GET", SDP_CMD_SOCK_GET, 3, 1u << SDP_SOCK_A_DEVICE, SDP_SOCK_A_INFO },
	{ "FALLBACK_GET", SDP_CMD_FALLBACK_GET, 1, 1u << SDP_FELL_A_COMM | 1u << SDP_FELL_A_TEXT,
	  0 },
	{ "STAT_GET", SDP_CMD_STAT_GET, 60, 1u << SDP_STAT_A_NAME, 0 },
	{ "DEVICE_GET", SDP_CMD_DEVICE_GET, 2, 1u << SDP_DEVICE_A_NAME, 0 },
};

static const struct asked *asked;

static int messages, infos, fills;

static void look_at_attr(const struct nlattr *attr)
{
	const unsigned char *at = (const unsigned char *)attr;
	unsigned int type = mnl_attr_get_type(attr), len = mnl_attr_get_payload_len(attr);
	int i;

	for (i = attr->nla_len; i < (int)MNL_ALIGN(attr->nla_len); i++, fills++)
		need(!at[i], "%s: 0x%02x behind attribute %u", asked->name, at[i], type);
	if (asked->texts & 1u << type)
		need(len == strnlen(mnl_attr_get_payload(attr), len) + 1,
		     "%s: attribute %u goes on behind its text", asked->name, type);
	if (asked->info && (int)type == asked->info) {
		need(len == sizeof(struct sdp_info), "INFO of %u bytes", len);
		need_info_padding(mnl_attr_get_payload(attr));
		infos++;
	}
}

static void look_at_message(const struct nlmsghdr *nlh, void *arg)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	need(g->cmd == asked->cmd && !g->reserved, "%s: command %u, reserved 0x%x", asked->name,
	     g->cmd, g->reserved);
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		look_at_attr(attr);
	need_no_address(asked->name, nlh, nlh->nlmsg_len, 4);
	messages++;
}

static struct request *request_for(struct nl *nl)
{
	struct addr a = server_addr(7);
	struct request *r;

	if (asked->cmd == SDP_CMD_POLICY_GET)
		return nl_do(nl, asked->cmd);
	if (asked->cmd != SDP_CMD_POLICY_EXPLAIN)
		return nl_dump(nl, asked->cmd);
	r = nl_do(nl, asked->cmd);
	mnl_attr_put_u8(&r->nlh, SDP_EXPLAIN_A_ROLE, 1);
	put_addr(r, SDP_EXPLAIN_A_ADDR, &a);
	mnl_attr_put_u16(&r->nlh, SDP_EXPLAIN_A_PORT, 7);
	mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_COMM, "some");
	return r;
}

/* There are a connection, a listener, and a socket that is neither. */
int netlink_answers(void *arg)
{
	struct nl nl = nl_open();
	struct addr where;
	struct pair p;
	size_t i;

	fall_back();
	policy_set("any * program some sdp # a rule");
	p = pair_make();
	send_all(p.c, "x", 1);
	listener(4, &where);
	fresh(0);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		int error;

		asked = &requests[i];
		messages = 0;
		error = nl_talk_sized(&nl, request_for(&nl), look_at_message, NULL, NL_PIECE);
		need(!error, "%s: %s", asked->name, errno_text(error));
		need(messages >= asked->least, "%s: %d messages", asked->name, messages);
	}
	need(infos > 1 && fills > 60, "%d times INFO, %d bytes that fill up", infos, fills);
	return EXIT_OK;
}

static int look_at_diag(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct inet_diag_msg))
		look_at_attr(attr);
	need_no_address(asked->name, nlh, nlh->nlmsg_len, 4);
	messages++;
	return MNL_CB_OK;
}

/* The same of sock_diag, with all extensions. */
int diag_answers(void *arg)
{
	static const struct asked sock_diag = { "sock_diag", 0, 3, 1u << INET_DIAG_CONG, 0 };
	struct mnl_socket *nl = mnl_socket_open(NETLINK_SOCK_DIAG);
	struct inet_diag_req_v2 req = {
		.sdiag_family = AF_SDP, .idiag_ext = 0xff, .idiag_states = ~0u,
	};
	char room[NL_PIECE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(room);
	struct pair p = pair_make();
	int n, more = MNL_CB_OK;

	asked = &sock_diag;
	messages = 0;
	send_all(p.c, "x", 1);
	listener(4, NULL);
	need_errno(nl && mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) >= 0, "NETLINK_SOCK_DIAG");
	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(req)), &req, sizeof(req));
	need_errno(mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) > 0, "sendto");
	while (more == MNL_CB_OK) {
		n = mnl_socket_recvfrom(nl, room, sizeof(room));
		need_errno(n > 0, "recvfrom");
		more = mnl_cb_run(room, n, 0, mnl_socket_get_portid(nl), look_at_diag, NULL);
		need_errno(more >= 0, "the answer");
	}
	need(messages >= asked->least, "%d messages", messages);
	return EXIT_OK;
}
