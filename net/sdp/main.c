// SPDX-License-Identifier: GPL-2.0
/*
 * AF_SDP: sockets over RDMA, the Sockets Direct Protocol.
 *
 * The module is put together here, from the bottom up: namespaces' state, transports, the policy,
 * netlink, which asks about all of it, and the family, with which sockets can exist. That is last
 * of what can fail, for the kernel frees a module whose loading has failed whoever holds it. Only
 * then may the policy make sockets of others. It comes apart from the top; the kernel does not let
 * it while a socket exists, orphans included.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "control/netns.h"
#include "netlink.h"
#include "policy/policy.h"
#include "socket/family.h"
#include "transport/transport.h"

static int __init sdp_init(void)
{
	int err = sdp_net_init();

	if (err)
		return err;
	err = sdp_loop_init(&sdp_stream_events);
	if (err)
		goto net;
	err = sdp_rc_init(&sdp_stream_events);
	if (err)
		goto loop;
	err = sdp_policy_init();
	if (err)
		goto rc;
	err = sdp_netlink_init();
	if (err)
		goto policy;
	err = sdp_family_init();
	if (err)
		goto netlink;
	sdp_policy_boot();
	return 0;

netlink:
	sdp_netlink_exit();
policy:
	sdp_policy_exit();
rc:
	sdp_rc_exit();
loop:
	sdp_loop_exit();
net:
	sdp_net_exit();
	return err;
}

static void __exit sdp_exit(void)
{
	sdp_netlink_exit();
	sdp_policy_exit();
	sdp_family_exit();
	sdp_rc_exit();
	sdp_loop_exit();
	sdp_net_exit();
}

module_init(sdp_init);
module_exit(sdp_exit);

MODULE_DESCRIPTION("AF_SDP: stream sockets over RDMA (Sockets Direct Protocol)");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.2");
MODULE_ALIAS_NETPROTO(27);
/* socket(AF_INET | AF_INET6, SOCK_STREAM, IPPROTO_SDP) */
MODULE_ALIAS("net-pf-2-proto-257-type-1");
MODULE_ALIAS("net-pf-10-proto-257-type-1");
