/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What user space needs to know of AF_SDP.
 *
 *	int fd = socket(AF_SDP, SOCK_STREAM, 0);
 *
 * Addresses are struct sockaddr_in and struct sockaddr_in6; everything else is as
 * with TCP.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#ifndef AF_SDP
#define AF_SDP	27	/* in a 16-byte address it is read as AF_INET */
#define PF_SDP	AF_SDP
#endif

#endif /* _UAPI_LINUX_SDP_H */
