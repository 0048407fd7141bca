/* SPDX-License-Identifier: GPL-2.0 */
/* connect(2): the system call. */
#ifndef SDP_SOCKET_CONNECT_H
#define SDP_SOCKET_CONNECT_H

#include "../conn/sock.h"

int sdp_connect_ask_bpf(struct sock *tcp, struct sdp_sockaddr *addr, int len);
int sdp_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
		int flags);

#endif /* SDP_SOCKET_CONNECT_H */
