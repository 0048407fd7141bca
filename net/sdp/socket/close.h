/* SPDX-License-Identifier: GPL-2.0 */
/* shutdown(2), disconnect and close(2). */
#ifndef SDP_SOCKET_CLOSE_H
#define SDP_SOCKET_CLOSE_H

#include "../conn/sock.h"

int sdp_shutdown(struct socket *sock, int how);
int sdp_disconnect(struct sdp_sock *ssk);
int sdp_release(struct socket *sock);

#endif /* SDP_SOCKET_CLOSE_H */
