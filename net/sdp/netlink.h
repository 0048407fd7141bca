/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registration of the generic netlink family "sdp".
 */
#ifndef SDP_NETLINK_H
#define SDP_NETLINK_H

int sdp_netlink_init(void);
void sdp_netlink_exit(void);

#endif /* SDP_NETLINK_H */
