// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of the level SOL_SDP, which have no counterpart in TCP.
 *
 * SDP_RDMA_THRESHOLD, SDP_FLOW_CONTROL, SDP_PROGRAM, SDP_RAILS and SDP_SERVICE
 * are rows of a
 * table.
 * SDP_ZEROCOPY and SDP_INFO have code of their own.
 */
#include "../conn/params.h"
#include "../conn/zerocopy.h"
#include "../proto/rail.h"
#include "info.h"
#include "sockopt.h"
#include "sockopt_sdp.h"
#include "../zcopy/zcopy.h"

/* Largest SDP_RDMA_THRESHOLD in bytes, as for the setting of the namespace. */
#define THRESHOLD_MAX	(1 << 30)

static int get_threshold(struct sdp_sock *ssk)
{
	return sdp_zcopy_threshold(ssk);
}

/*
 * Hello and HelloAck negotiate the flow control and the rails of a connection,
 * so these cannot change afterwards. SDP_INFO shows what was agreed on.
 */
static int set_before_hello(struct sdp_sock *ssk, int *option, int val, int min,
			    int max)
{
	int state = READ_ONCE(ssk->sk.sk_state);

	if (val < min || val > max)
		return -EINVAL;
	if (state != TCP_CLOSE && state != TCP_LISTEN)
		return -EISCONN;
	WRITE_ONCE(*option, val);
	return 0;
}

static int set_flow(struct sdp_sock *ssk, int val)
{
	return set_before_hello(ssk, &ssk->opt.flow_control, val, -1,
				SDP_FLOW_NIC);
}

static int set_rails(struct sdp_sock *ssk, int val)
{
	return set_before_hello(ssk, &ssk->opt.rails, val, 0, SDP_RAILS_MAX);
}

static int set_service(struct sdp_sock *ssk, int val)
{
	return set_before_hello(ssk, &ssk->opt.service, val, -1,
				SDP_SERVICE_AUTO);
}

static const struct sdp_option own_options[] = {
	{ SDP_OPTION(SDP_RDMA_THRESHOLD, rdma_threshold, -1, THRESHOLD_MAX),
	  .get = get_threshold },
	{ SDP_OPTION(SDP_FLOW_CONTROL, flow_control, -1, SDP_FLOW_NIC),
	  .set = set_flow, .get = sdp_flow_wish },
	{ SDP_OPTION_FLAG(SDP_PROGRAM, program) },
	{ SDP_OPTION(SDP_RAILS, rails, 0, SDP_RAILS_MAX),
	  .set = set_rails, .get = sdp_rails_wish },
	{ SDP_OPTION(SDP_SERVICE, service, -1, SDP_SERVICE_AUTO),
	  .set = set_service, .get = sdp_service_wish },
};

/**
 * sdp_sol_sdp_set() - set an option of SOL_SDP
 * @ssk: socket
 * @name: option
 * @value: new value, an int
 * @len: length of @value in bytes
 *
 * Return: 0 or a negative errno.
 */
int sdp_sol_sdp_set(struct sdp_sock *ssk, int name, sockptr_t value,
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
 * sdp_sol_sdp_get() - get an option of SOL_SDP
 * @ssk: socket
 * @name: option
 * @value: user buffer for the value
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Return: 0 or a negative errno.
 */
int sdp_sol_sdp_get(struct sdp_sock *ssk, int name, char __user *value,
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
