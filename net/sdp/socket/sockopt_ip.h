/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options of the levels IPPROTO_IP and IPPROTO_IPV6. */
#ifndef SDP_SOCKET_SOCKOPT_IP_H
#define SDP_SOCKET_SOCKOPT_IP_H

#include "../conn/sock.h"

int sdp_ip_set(struct sdp_sock *ssk, int name, sockptr_t value,
	       unsigned int len);
int sdp_ip_get(struct sdp_sock *ssk, int name, char __user *value,
	       int __user *len);
int sdp_ipv6_set(struct sdp_sock *ssk, int name, sockptr_t value,
		 unsigned int len);
int sdp_ipv6_get(struct sdp_sock *ssk, int name, char __user *value,
		 int __user *len);

#endif /* SDP_SOCKET_SOCKOPT_IP_H */
