/* SPDX-License-Identifier: GPL-2.0 */
/* sendmsg(2), write(2) and their relatives. */
#ifndef SDP_SOCKET_SEND_H
#define SDP_SOCKET_SEND_H

#include "../conn/sock.h"

int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

#endif /* SDP_SOCKET_SEND_H */
