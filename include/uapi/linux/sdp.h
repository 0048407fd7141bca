/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What user space needs to know of AF_SDP.
 *
 *	int fd = socket(AF_SDP, SOCK_STREAM, 0);
 *	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);
 *	int fd = socket(AF_INET6, SOCK_STREAM, IPPROTO_SDP);
 *
 * The same sockets; the first one takes addresses of both families, struct sockaddr_in
 * and struct sockaddr_in6, the others keep to their own family's rules. Everything else
 * is as with TCP.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#ifndef AF_SDP
#define AF_SDP	27	/* in a 16-byte address it is read as AF_INET */
#define PF_SDP	AF_SDP
#endif

#ifndef IPPROTO_SDP
#define IPPROTO_SDP	257	/* of AF_INET and AF_INET6 */
#endif

/* Level of the options that only AF_SDP has. */
#ifndef SOL_SDP
#define SOL_SDP	1025
#endif

/* int: as SO_ZEROCOPY, which kernels before 6.6 refuse to this family */
#define SDP_ZEROCOPY	2

#endif /* _UAPI_LINUX_SDP_H */
