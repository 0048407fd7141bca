/* SPDX-License-Identifier: GPL-2.0 */
/* ioctl(2). */
#ifndef SDP_SOCKET_IOCTL_H
#define SDP_SOCKET_IOCTL_H

#include "../conn/sock.h"

int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

#endif /* SDP_SOCKET_IOCTL_H */
