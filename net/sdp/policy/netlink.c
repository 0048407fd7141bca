// SPDX-License-Identifier: GPL-2.0
/*
 * The policy of a namespace by netlink: SDP_CMD_POLICY_GET, SDP_CMD_POLICY_SET and
 * SDP_CMD_FALLBACK_GET.
 */
#include "../control/netns.h"
#include "../genl.h"
#include "netlink.h"
#include "policy_net.h"

/* Attributes and their headers, beside the text. */
#define ANSWER_ROOM	(SDP_POLICY_ERROR + 128)

static int put_policy(struct sk_buff *skb, const struct sdp_policy *policy,
		      const struct sdp_rules *rules)
{
	return nla_put_string(skb, SDP_POLICY_A_TEXT,
			      rules ? rules->text : "") ||
	       nla_put_string(skb, SDP_POLICY_A_ERROR, policy->error) ||
	       nla_put_u8(skb, SDP_POLICY_A_REWRITE, policy->rewrite) ||
	       nla_put_u32(skb, SDP_POLICY_A_FALLBACK_MS,
			   READ_ONCE(policy->fallback_ms)) ||
	       nla_put_u32(skb, SDP_POLICY_A_FALLBACK_MEMORY_MS,
			   READ_ONCE(policy->fallback_memory_ms));
}

/* Under the policy's lock. */
static int answer_get(struct sdp_policy *policy, struct genl_info *info,
		      struct sk_buff **answer)
{
	const struct sdp_rules *rules;
	struct sk_buff *skb;
	void *msg;

	rules = rcu_dereference_protected(policy->rules,
					  lockdep_is_held(&policy->lock));
	skb = genlmsg_new((rules ? rules->len : 0) + ANSWER_ROOM, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	msg = sdp_genl_begin(skb, info->nlhdr, info->snd_portid, 0);
	if (!msg || put_policy(skb, policy, rules)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	*answer = skb;
	return 0;
}

/**
 * sdp_request_get() - SDP_CMD_POLICY_GET
 * @skb: the request
 * @info: likewise
 *
 * Return: 0 or an errno.
 */
int sdp_request_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sdp_policy *policy = sdp_policy(genl_info_net(info));
	struct sk_buff *answer;
	int err;

	mutex_lock(&policy->lock);
	err = answer_get(policy, info, &answer);
	mutex_unlock(&policy->lock);
	return err ?: genlmsg_reply(answer, info);
}

static struct netlink_range_validation wait_range = {
	.min = SDP_WAIT_MIN_MS,
	.max = SDP_WAIT_MAX_MS,
};

static struct netlink_range_validation memory_range = {
	.max = SDP_WAIT_MAX_MS,
};

const struct nla_policy sdp_request_set_attrs[SDP_POLICY_A_MAX + 1] = {
	/* How long it may be, the policy itself says, and how it is told. */
	[SDP_POLICY_A_TEXT]		= { .type = NLA_STRING },
	[SDP_POLICY_A_ERROR]		= { .type = NLA_REJECT },
	[SDP_POLICY_A_REWRITE]		= NLA_POLICY_MAX(NLA_U8, 1),
	[SDP_POLICY_A_FALLBACK_MS]	= NLA_POLICY_FULL_RANGE(NLA_U32, &wait_range),
	[SDP_POLICY_A_FALLBACK_MEMORY_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &memory_range),
};

/* A string may end with a NUL, which is not of it then. */
static void take_text(struct sdp_policy_change *change,
		      const struct nlattr *attr)
{
	change->text = nla_data(attr);
	change->len = nla_len(attr);
	if (change->len && !change->text[change->len - 1])
		change->len--;
}

/*
 * Besides what is looked at of whoever asks: who has opened the socket may be
 * somebody else.
 */
static int may_switch_on(struct sk_buff *skb,
			 const struct sdp_policy_change *change)
{
	return change->rewrite <= 0 || READ_ONCE(sdp_unprivileged_rewrite) ||
	       netlink_capable(skb, CAP_NET_ADMIN) ? 0 : -EPERM;
}

/**
 * sdp_request_set() - SDP_CMD_POLICY_SET
 * @skb: the request
 * @info: likewise; its attributes are valid, each by itself
 *
 * Return: 0 or an errno.
 */
int sdp_request_set(struct sk_buff *skb, struct genl_info *info)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	struct nlattr **attrs = info->attrs;
	int err;

	if (attrs[SDP_POLICY_A_TEXT])
		take_text(&change, attrs[SDP_POLICY_A_TEXT]);
	if (attrs[SDP_POLICY_A_REWRITE])
		change.rewrite = nla_get_u8(attrs[SDP_POLICY_A_REWRITE]);
	if (attrs[SDP_POLICY_A_FALLBACK_MS])
		change.fallback_ms =
			nla_get_u32(attrs[SDP_POLICY_A_FALLBACK_MS]);
	if (attrs[SDP_POLICY_A_FALLBACK_MEMORY_MS])
		change.fallback_memory_ms =
			nla_get_u32(attrs[SDP_POLICY_A_FALLBACK_MEMORY_MS]);
	err = may_switch_on(skb, &change) ?:
	      sdp_policy_change(genl_info_net(info), &change);
	if (change.error[0]) {
		NL_SET_BAD_ATTR(info->extack, attrs[SDP_POLICY_A_TEXT]);
		sdp_extack_text(info->extack, change.error,
				"see POLICY_GET for the mistake");
	} else if (err == -EOPNOTSUPP && change.rewrite > 0) {
		NL_SET_ERR_MSG(info->extack,
			       "this kernel cannot trace new sockets");
	} else if (err == -EPERM) {
		NL_SET_ERR_MSG(info->extack,
			       "see net.sdp.unprivileged_rewrite");
	}
	return err;
}

static int put_fell(struct sk_buff *skb, const struct sdp_fell *fell)
{
	return nla_put_u64_64bit(skb, SDP_FELL_A_AT, fell->at,
				 SDP_FELL_A_PAD) ||
	       nla_put_u32(skb, SDP_FELL_A_PID, sdp_fallback_pid(fell)) ||
	       nla_put_string(skb, SDP_FELL_A_COMM, fell->comm) ||
	       nla_put_u8(skb, SDP_FELL_A_ROLE, fell->role) ||
	       sdp_genl_put_addr(skb, SDP_FELL_A_ADDR, &fell->where,
				 !sdp_is_v4(&fell->where)) ||
	       nla_put_u16(skb, SDP_FELL_A_PORT, fell->where.port) ||
	       nla_put_u8(skb, SDP_FELL_A_REASON, fell->why) ||
	       nla_put_string(skb, SDP_FELL_A_TEXT,
			      sdp_fallback_text(fell->why)) ||
	       nla_put_u64_64bit(skb, SDP_FELL_A_INODE, fell->inode,
				 SDP_FELL_A_PAD);
}

static int answer_fell(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct sdp_fell *fell)
{
	void *msg = sdp_genl_begin_dump(skb, cb);

	if (!msg)
		return -EMSGSIZE;
	if (put_fell(skb, fell)) {
		genlmsg_cancel(skb, msg);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	return 0;
}

/**
 * struct fallbacks - how far a dump is
 * @next: number of the next one
 * @end: where it ends: those that come later are not of it
 * @begun: the two are set
 */
struct fallbacks {
	u64 next;
	u64 end;
	bool begun;
};

/**
 * sdp_request_fallbacks() - SDP_CMD_FALLBACK_GET
 * @skb: room for the next piece
 * @cb: the dump
 *
 * Those that make room for others before they are asked for are left out.
 *
 * Return: bytes in @skb, 0 at the end.
 */
int sdp_request_fallbacks(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sdp_policy *policy = sdp_policy(sock_net(skb->sk));
	struct fallbacks *at = (struct fallbacks *)cb->ctx;
	struct sdp_fell fell;
	bool full;

	BUILD_BUG_ON(sizeof(*at) > sizeof(cb->ctx));
	if (!at->begun)
		at->end = sdp_fell_count(policy);
	at->begun = true;
	while (at->next < at->end && sdp_fell_at(policy, &at->next, &fell)) {
		full = at->next < at->end && answer_fell(skb, cb, &fell);
		put_pid(fell.pid);
		if (full)
			break;
		at->next++;
	}
	return skb->len;
}
