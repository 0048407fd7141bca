// SPDX-License-Identifier: GPL-2.0
#include "capable.h"

void drop_net_admin(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	need_errno(!syscall(SYS_capget, &head, caps), "capget");
	caps[0].effective &= ~(1u << CAP_NET_ADMIN);
	caps[0].permitted &= ~(1u << CAP_NET_ADMIN);
	need_errno(!syscall(SYS_capset, &head, caps), "capset");
}
