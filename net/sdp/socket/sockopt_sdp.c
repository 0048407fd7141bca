// SPDX-License-Identifier: GPL-2.0
/*
 * SOL_SDP: what TCP does not have.
 */
#include "../conn/sock.h"

/* As high as that of the namespace. */
#define THRESHOLD_MAX	(1 << 30)

static int get_threshold(struct sdp_sock *ssk)
{
	return sdp_rdma_threshold(ssk);
}

/* What is agreed is agreed: see SDP_INFO. */
static int set_flow(struct sdp_sock *ssk, int val)
{
	int state = READ_ONCE(ssk->sk.sk_state);

	if (val < -1 || val > SDP_FLOW_NIC)
		return -EINVAL;
	if (state != TCP_CLOSE && state != TCP_LISTEN)
		return -EISCONN;
	WRITE_ONCE(ssk->opt.flow_control, val);
	return 0;
}

static const struct sdp_option own_options[] = {
	{ SDP_OPTION(SDP_RDMA_THRESHOLD, rdma_threshold, -1, THRESHOLD_MAX),
	  .get = get_threshold },
	{ SDP_OPTION(SDP_FLOW_CONTROL, flow_control, -1, SDP_FLOW_NIC),
	  .set = set_flow, .get = sdp_flow_wish },
};

/**
 * sdp_own_set() - set an option of SOL_SDP
 * @ssk: socket
 * @name: option
 * @value: its value
 * @len: length of the value
 *
 * Return: 0 or an errno.
 */
int sdp_own_set(struct sdp_sock *ssk, int name, sockptr_t value,
		unsigned int len)
{
	int val;

	if (name == SDP_ZEROCOPY)
		return sdp_set_zerocopy(&ssk->sk, value, len);
	if (len < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	return sdp_option_set(ssk, own_options, ARRAY_SIZE(own_options), name,
			      val);
}

/**
 * sdp_own_get() - read an option of SOL_SDP
 * @ssk: socket
 * @name: option
 * @value: room for its value
 * @len: length of that, in and out
 *
 * Return: 0 or an errno.
 */
int sdp_own_get(struct sdp_sock *ssk, int name, char __user *value,
		int __user *len)
{
	int val = sock_flag(&ssk->sk, SOCK_ZEROCOPY), err = 0;

	if (name == SDP_INFO)
		return sdp_info(ssk, value, len);
	if (name != SDP_ZEROCOPY)
		err = sdp_option_get(ssk, own_options, ARRAY_SIZE(own_options),
				     name, &val);
	return err ? err : sdp_option_copy(value, len, &val, sizeof(val));
}
