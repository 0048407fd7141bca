/* SPDX-License-Identifier: GPL-2.0 */
/* Control messages of recvmsg(2). */
#ifndef SDP_SOCKET_CMSG_H
#define SDP_SOCKET_CMSG_H

#include "../conn/sock.h"

int sdp_inq_hint(struct sdp_sock *ssk);
void sdp_put_cmsgs(struct sdp_sock *ssk, struct msghdr *msg, ktime_t stamp);

#endif /* SDP_SOCKET_CMSG_H */
