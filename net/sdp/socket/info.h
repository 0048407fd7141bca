/* SPDX-License-Identifier: GPL-2.0 */
/* TCP_INFO and SDP_INFO. */
#ifndef SDP_SOCKET_INFO_H
#define SDP_SOCKET_INFO_H

#include "../conn/sock.h"

void sdp_tcp_info_get(struct sdp_sock *ssk, struct tcp_info *info);
int sdp_tcp_info(struct sdp_sock *ssk, char __user *value, int __user *len);
void sdp_info_fill(struct sdp_sock *ssk, struct sdp_info *info);
int sdp_info(struct sdp_sock *ssk, char __user *value, int __user *len);

#endif /* SDP_SOCKET_INFO_H */
