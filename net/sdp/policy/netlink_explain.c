// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink request that explains what a socket would become, and why.
 *
 * SDP_CMD_POLICY_EXPLAIN describes a socket and its process. The answer has the
 * verdict of the rules in force and the rule that gives it. For a connect it
 * also says whether SDP is skipped because the peer recently did not answer,
 * and which RDMA device the route leads to. Nothing is changed and nothing is
 * sent to the peer.
 */
#include <linux/cred.h>
#include <linux/slab.h>

#include "../control/genl.h"
#include "../core.h"
#include "../netlink_gen.h"
#include "policy_net.h"

/* Room for headers and all attributes but the rule's line. */
#define ANSWER_ROOM	(SDP_DEVICE_NAME + 128)

/**
 * struct explain_request - a request, parsed
 * @query: the socket and its process, for the rules
 * @where: the address that the socket listens at or connects to
 * @comm: copy of the string that @query.comm points to, or NULL; owned
 * @path: likewise for @query.path
 * @cgroup: likewise for @query.cgroup
 */
struct explain_request {
	struct sdp_query query;
	struct sdp_endpoint where;
	char *comm;
	char *path;
	char *cgroup;
};

static int explain_take_addr(struct sdp_endpoint *where, struct genl_info *info)
{
	const struct nlattr *addr = info->attrs[SDP_EXPLAIN_A_ADDR];
	const struct nlattr *scope = info->attrs[SDP_EXPLAIN_A_SCOPE];

	switch (nla_len(addr)) {
	case sizeof(struct in_addr):
		sdp_set_v4(where, nla_get_in_addr(addr));
		break;
	case sizeof(struct in6_addr):
		where->ip = nla_get_in6_addr(addr);
		break;
	default:
		NL_SET_ERR_MSG_ATTR(info->extack, addr,
				    "address must have 4 or 16 bytes");
		return -EINVAL;
	}
	where->port = nla_get_u16(info->attrs[SDP_EXPLAIN_A_PORT]);
	if (scope && ipv6_addr_type(&where->ip) & IPV6_ADDR_LINKLOCAL)
		where->scope = nla_get_u32(scope);
	return 0;
}

/* Copies a string attribute; leaves @to NULL when the request has none. */
static int explain_take_string(char **to, struct genl_info *info, int which)
{
	const struct nlattr *attr = info->attrs[which];

	if (!attr)
		return 0;
	if (strnlen(nla_data(attr), nla_len(attr)) + 1 < nla_len(attr)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "string contains a NUL");
		return -EINVAL;
	}
	*to = nla_strdup(attr, GFP_KERNEL);
	return *to ? 0 : -ENOMEM;
}

static int explain_take(struct explain_request *q, struct genl_info *info)
{
	const struct nlattr *uid = info->attrs[SDP_EXPLAIN_A_UID];
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SDP_EXPLAIN_A_ROLE) ||
	    GENL_REQ_ATTR_CHECK(info, SDP_EXPLAIN_A_ADDR) ||
	    GENL_REQ_ATTR_CHECK(info, SDP_EXPLAIN_A_PORT))
		return -EINVAL;
	err = explain_take_addr(&q->where, info) ?:
	      explain_take_string(&q->comm, info, SDP_EXPLAIN_A_COMM) ?:
	      explain_take_string(&q->path, info, SDP_EXPLAIN_A_PATH) ?:
	      explain_take_string(&q->cgroup, info, SDP_EXPLAIN_A_CGROUP);
	if (err)
		return err;
	/* The kernel cuts command names to this length, too. */
	if (q->comm && strlen(q->comm) >= TASK_COMM_LEN)
		q->comm[TASK_COMM_LEN - 1] = 0;
	q->query.role = nla_get_u8(info->attrs[SDP_EXPLAIN_A_ROLE]);
	q->query.comm = q->comm;
	q->query.path = q->path;
	q->query.cgroup = q->cgroup;
	q->query.uid = uid ? nla_get_u32(uid) :
			     from_kuid(&init_user_ns, current_fsuid());
	memcpy(q->query.addr, &q->where.ip, sizeof(q->query.addr));
	q->query.port = q->where.port;
	return 0;
}

/*
 * Adds the line of the text on which the rule begins. Semicolons may put
 * further rules on it.
 */
static int explain_put_line(struct sk_buff *skb, const struct sdp_rules *rules,
			    unsigned int line)
{
	const char *at = rules->text, *end;
	struct nlattr *attr;

	while (--line)
		at = strchr(at, '\n') + 1;
	end = strchrnul(at, '\n');
	attr = nla_reserve(skb, SDP_EXPLAIN_A_RULE, end - at + 1);
	if (!attr)
		return -EMSGSIZE;
	memcpy(nla_data(attr), at, end - at);
	((char *)nla_data(attr))[end - at] = 0;
	return 0;
}

static int explain_put_verdict(struct sk_buff *skb, struct sdp_policy *policy,
			       const struct explain_request *q)
{
	struct sdp_rules *rules = sdp_rules_get(policy);
	const struct sdp_rule *rule =
		rules ? sdp_policy_match(rules, &q->query) : NULL;
	enum sdp_verdict verdict = rule ? rule->verdict : SDP_VERDICT_TCP;
	int err;

	err = nla_put_string(skb, SDP_EXPLAIN_A_VERDICT,
			     sdp_verdict_name(verdict)) ?:
	      nla_put_u8(skb, SDP_EXPLAIN_A_REWRITE,
			 READ_ONCE(policy->rewrite));
	if (!err && rule)
		err = nla_put_u32(skb, SDP_EXPLAIN_A_LINE, rule->line) ?:
		      explain_put_line(skb, rules, rule->line);
	sdp_rules_put(rules);
	return err;
}

/* Adds what is known of the peer, whatever the rules say. */
static int explain_put_peer(struct sk_buff *skb, struct net *net,
			    const struct sdp_endpoint *peer)
{
	unsigned int silent = sdp_fallback_silent_ms(net, peer);
	char device[SDP_DEVICE_NAME];

	if (silent && nla_put_u32(skb, SDP_EXPLAIN_A_SILENT_MS, silent))
		return -EMSGSIZE;
	return sdp_active_device(net, peer, device) ?
	       nla_put_string(skb, SDP_EXPLAIN_A_DEVICE, device) : 0;
}

static int explain_answer(const struct explain_request *q,
			  struct genl_info *info)
{
	struct sk_buff *skb =
		genlmsg_new(SDP_POLICY_TEXT_MAX + ANSWER_ROOM, GFP_KERNEL);
	struct net *net = genl_info_net(info);
	void *msg;
	int err;

	if (!skb)
		return -ENOMEM;
	msg = sdp_genl_begin(skb, info->nlhdr, info->snd_portid, 0);
	if (!msg)
		goto full;
	err = explain_put_verdict(skb, sdp_policy(net), q);
	if (!err && q->query.role == SDP_ROLE_CONNECT)
		err = explain_put_peer(skb, net, &q->where);
	if (err)
		goto full;
	genlmsg_end(skb, msg);
	return genlmsg_reply(skb, info);

full:
	nlmsg_free(skb);
	return -EMSGSIZE;
}

/**
 * sdp_nl_policy_explain_doit() - handle SDP_CMD_POLICY_EXPLAIN
 * @skb: request
 * @info: request, parsed; each attribute is valid by itself
 *
 * Return: 0 or an errno.
 */
int sdp_nl_policy_explain_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct explain_request q = { };
	int err = explain_take(&q, info);

	if (!err)
		err = explain_answer(&q, info);
	kfree(q.comm);
	kfree(q.path);
	kfree(q.cgroup);
	return err;
}
