/* SPDX-License-Identifier: GPL-2.0 */
/* splice(2) and sendfile(2). */
#ifndef SDP_SOCKET_SPLICE_H
#define SDP_SOCKET_SPLICE_H

#include "../conn/sock.h"

ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags);
void sdp_splice_eof(struct socket *sock);

#endif /* SDP_SOCKET_SPLICE_H */
