/* SPDX-License-Identifier: GPL-2.0 */
/* TCP_ZEROCOPY_RECEIVE: received pages are mapped instead of copied. */
#ifndef SDP_SOCKET_RECV_MAP_H
#define SDP_SOCKET_RECV_MAP_H

#include "../conn/sock.h"

int sdp_mmap(struct file *file, struct socket *sock,
	     struct vm_area_struct *vma);
int sdp_tcp_zerocopy_receive(struct sdp_sock *ssk, char __user *value,
			     int __user *len);

#endif /* SDP_SOCKET_RECV_MAP_H */
