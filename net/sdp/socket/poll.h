/* SPDX-License-Identifier: GPL-2.0 */
/* poll(2), select(2) and epoll(7). */
#ifndef SDP_SOCKET_POLL_H
#define SDP_SOCKET_POLL_H

#include "../conn/sock.h"

__poll_t sdp_poll(struct file *file, struct socket *sock,
		  struct poll_table_struct *wait);

#endif /* SDP_SOCKET_POLL_H */
