/* SPDX-License-Identifier: GPL-2.0 */
/* listen(2) and accept(2). */
#ifndef SDP_SOCKET_LISTEN_H
#define SDP_SOCKET_LISTEN_H

#include "../conn/sock.h"

int sdp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS);
void sdp_listen_stop(struct sdp_sock *ssk);
int sdp_listen(struct socket *sock, int backlog);

#endif /* SDP_SOCKET_LISTEN_H */
