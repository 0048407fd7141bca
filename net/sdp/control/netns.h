/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creation and release of the per-namespace state, and of its parts.
 */
#ifndef SDP_CONTROL_NETNS_H
#define SDP_CONTROL_NETNS_H

#include "../base/netns.h"

/* netns.c */
int sdp_net_init(void);
void sdp_net_exit(void);

/* removed.c */
void sdp_removed_net_init(struct net *net, struct sdp_net *sn);
void sdp_removed_net_exit(struct sdp_net *sn);
int sdp_removed_init(void);
void sdp_removed_exit(void);

/* sysctl.c */
int sdp_sysctl_init(void);
void sdp_sysctl_exit(void);
int sdp_sysctl_register(struct net *net, struct sdp_net *sn);
void sdp_sysctl_unregister(struct sdp_net *sn);

/* proc.c */
#ifdef CONFIG_PROC_FS
int sdp_proc_register(struct net *net);
void sdp_proc_unregister(struct net *net);
#else
static inline int sdp_proc_register(struct net *net)
{
	return 0;
}

static inline void sdp_proc_unregister(struct net *net)
{
}
#endif

#endif /* SDP_CONTROL_NETNS_H */
