/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options of the level IPPROTO_TCP. */
#ifndef SDP_SOCKET_SOCKOPT_TCP_H
#define SDP_SOCKET_SOCKOPT_TCP_H

#include "../conn/sock.h"

int sdp_tcp_set(struct sdp_sock *ssk, int name, sockptr_t value,
		unsigned int len);
int sdp_tcp_get(struct sdp_sock *ssk, int name, char __user *value,
		int __user *len);

#endif /* SDP_SOCKET_SOCKOPT_TCP_H */
