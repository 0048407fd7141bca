/* SPDX-License-Identifier: GPL-2.0 */
/* recvmsg(2), read(2) and reads into a pipe. */
#ifndef SDP_SOCKET_RECV_H
#define SDP_SOCKET_RECV_H

#include "../conn/sock.h"

ssize_t sdp_recv_to_pipe(struct sdp_sock *ssk, struct pipe_inode_info *pipe,
			 size_t len, long timeo);
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

#endif /* SDP_SOCKET_RECV_H */
