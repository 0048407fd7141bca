// SPDX-License-Identifier: GPL-2.0
/*
 * AF_SDP module: initialization and exit.
 *
 * AF_SDP is a family of stream sockets over RDMA (Sockets Direct Protocol).
 * The parts start from the bottom up: state of the namespaces, transports,
 * policy (which TCP sockets use SDP), netlink, and the socket family. Sockets
 * can exist once the family is registered, so its registration is the last
 * step that can fail: the kernel frees a module whose init fails even if a
 * socket refers to the module. The module parameters of the policy take effect
 * last, because they may turn TCP sockets into SDP ones.
 *
 * sdp_exit() runs when no socket exists any more, orphans included: each one
 * has a reference on the module.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "netlink.h"
#include "conn/input.h"
#include "control/netns.h"
#include "control/sock_diag.h"
#include "policy/policy.h"
#include "socket/family.h"
#include "transport/transport.h"

static int __init sdp_init(void)
{
	int err = sdp_net_init();

	if (err)
		return err;
	err = sdp_loop_init(&sdp_input_events);
	if (err)
		goto net;
	err = sdp_rails_init(&sdp_input_events);
	if (err)
		goto loop;
	err = sdp_ud_init(&sdp_input_events);
	if (err)
		goto rails;
	err = sdp_rc_init(&sdp_input_events, sdp_rails_incoming,
			  sdp_rails_paths_changed, sdp_ud_sidr);
	if (err)
		goto ud;
	err = sdp_policy_init();
	if (err)
		goto rc;
	err = sdp_netlink_init();
	if (err)
		goto policy;
	err = sdp_family_init();
	if (err)
		goto netlink;
	/* A dump may use the module from here on: nothing may fail any more. */
	sdp_diag_init();
	sdp_policy_apply_params();
	return 0;

netlink:
	sdp_netlink_exit();
policy:
	sdp_policy_exit();
rc:
	sdp_rc_exit();
ud:
	sdp_ud_exit();
rails:
	sdp_rails_exit();
loop:
	sdp_loop_exit();
net:
	sdp_net_exit();
	return err;
}

static void __exit sdp_exit(void)
{
	sdp_diag_exit();
	sdp_netlink_exit();
	sdp_policy_exit();
	sdp_family_exit();
	sdp_rc_exit();
	sdp_ud_exit();
	sdp_rails_exit();
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
