/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options of the level SOL_SOCKET. */
#ifndef SDP_SOCKET_SOCKOPT_SOCK_H
#define SDP_SOCKET_SOCKOPT_SOCK_H

#include "../conn/sock.h"

int sdp_sol_socket_set(struct socket *sock, int name, sockptr_t value,
		       unsigned int len);
void sdp_reach_rcvlowat(struct sock *sk, int val);
int sdp_set_rcvlowat(struct sock *sk, int val);

#endif /* SDP_SOCKET_SOCKOPT_SOCK_H */
