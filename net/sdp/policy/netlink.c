// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests: read and set the policy, dump fallbacks.
 *
 * Handles SDP_CMD_POLICY_GET, SDP_CMD_POLICY_SET and SDP_CMD_FALLBACK_GET for
 * the network namespace of the requesting socket. The requests are described in
 * Documentation/netlink/specs/sdp.yaml. For SET and FALLBACK_GET the netlink
 * core has checked CAP_NET_ADMIN in the user namespace that owns the network
 * namespace.
 */
#include "../control/genl.h"
#include "../base/netns.h"
#include "../netlink_gen.h"
#include "policy_net.h"

/* Room for headers and all attributes but the text. */
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

/* Called with the policy's lock held. */
static int policy_answer(struct sdp_policy *policy, struct genl_info *info,
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
 * sdp_nl_policy_get_doit() - handle SDP_CMD_POLICY_GET
 * @skb: request
 * @info: request, parsed
 *
 * Takes the policy's lock, so that the answer is consistent.
 *
 * Return: 0 or an errno.
 */
int sdp_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sdp_policy *policy = sdp_policy(genl_info_net(info));
	struct sk_buff *answer;
	int err;

	mutex_lock(&policy->lock);
	err = policy_answer(policy, info, &answer);
	mutex_unlock(&policy->lock);
	return err ?: genlmsg_reply(answer, info);
}

/*
 * A string attribute may end with a NUL, which is not part of the text.
 * sdp_policy_change() checks the length and reports it as a mistake.
 */
static void take_text(struct sdp_policy_change *change,
		      const struct nlattr *attr)
{
	change->text = nla_data(attr);
	change->len = nla_len(attr);
	if (change->len && !change->text[change->len - 1])
		change->len--;
}

/*
 * sdp_policy_change() checks the capability of the current process. This checks
 * that the process that opened the netlink socket had the capability, too.
 * Returns 0 or -EPERM.
 */
static int opener_permission(struct sk_buff *skb,
			     const struct sdp_policy_change *change)
{
	return change->rewrite <= 0 || READ_ONCE(sdp_unprivileged_rewrite) ||
	       netlink_capable(skb, CAP_NET_ADMIN) ? 0 : -EPERM;
}

/**
 * sdp_nl_policy_set_doit() - handle SDP_CMD_POLICY_SET
 * @skb: request
 * @info: request, parsed; each attribute is valid by itself
 *
 * Makes all requested changes or, on an error, none.
 *
 * Return: 0 or an errno, as sdp_policy_change().
 */
int sdp_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info)
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
	err = opener_permission(skb, &change) ?:
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

static int put_fell(struct sk_buff *skb, const struct sdp_fallback_record *fell)
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

static int fell_answer(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct sdp_fallback_record *fell)
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
 * struct fallbacks_dump - progress of a dump of fallbacks, in cb->ctx
 * @next: number of the next fallback to dump
 * @end: number at which the dump ends; later fallbacks are not part of it
 * @begun: @next and @end are set
 */
struct fallbacks_dump {
	u64 next;
	u64 end;
	bool begun;
};

/**
 * sdp_nl_fallback_get_dumpit() - handle a dump of SDP_CMD_FALLBACK_GET
 * @skb: room for the next part of the dump
 * @cb: the dump
 *
 * Fallbacks that are replaced in the log while the dump runs are left out.
 *
 * Return: number of bytes in @skb, 0 at the end of the dump.
 */
int sdp_nl_fallback_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	struct sdp_policy *policy = sdp_policy(sock_net(skb->sk));
	struct fallbacks_dump *at = (struct fallbacks_dump *)cb->ctx;
	struct sdp_fallback_record fell;
	bool full;

	BUILD_BUG_ON(sizeof(*at) > sizeof(cb->ctx));
	if (!at->begun)
		at->end = sdp_fell_count(policy);
	at->begun = true;
	while (at->next < at->end &&
	       sdp_fallback_log_read(policy, &at->next, &fell)) {
		full = at->next < at->end && fell_answer(skb, cb, &fell);
		put_pid(fell.pid);
		if (full)
			break;
		at->next++;
	}
	return skb->len;
}
