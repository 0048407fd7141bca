/* SPDX-License-Identifier: GPL-2.0 */
/* bind(2), getsockname(2), getpeername(2). */
#ifndef SDP_SOCKET_BIND_H
#define SDP_SOCKET_BIND_H

#include "../conn/sock.h"

int sdp_bind(struct socket *sock, struct sdp_sockaddr *addr, int len);
int sdp_getname(struct socket *sock, struct sockaddr *addr, int peer);

#endif /* SDP_SOCKET_BIND_H */
