// SPDX-License-Identifier: GPL-2.0
/*
 * Preload library: a program's TCP sockets become sockets of another family.
 *
 *	LD_PRELOAD=.../libsdp_preload.so [SDP_PRELOAD=sdp|inet|smc] program ...
 *
 * Only socket(2) is replaced and nothing is adapted, so a program uses the kernel's sockets as
 * they are. That is the purpose of these tests.
 *
 *	sdp	(default) family 27, AF_SDP
 *	inet	family AF_INET or AF_INET6 as requested, protocol IPPROTO_SDP
 *	smc	family 43, AF_SMC, for the benchmark's comparison
 *
 * The system call is made directly, without the C library's socket(). No symbol is looked up, so
 * it works at any time, also in constructors and after fork.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <netinet/in.h>
#include <linux/sdp.h>

#define FAMILY_SMC	43
#define SMC_OVER_IPV4	0
#define SMC_OVER_IPV6	1

static int is_tcp(int domain, int type, int protocol)
{
	if (domain != AF_INET && domain != AF_INET6)
		return 0;
	if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
		return 0;
	return protocol == 0 || protocol == IPPROTO_TCP;
}

int socket(int domain, int type, int protocol)
{
	if (is_tcp(domain, type, protocol)) {
		const char *as = getenv("SDP_PRELOAD");

#ifdef IPPROTO_SDP
		if (as && !strcmp(as, "inet"))
			return syscall(SYS_socket, domain, type, IPPROTO_SDP);
#endif
		if (as && !strcmp(as, "smc"))
			return syscall(SYS_socket, FAMILY_SMC, type,
				       domain == AF_INET6 ? SMC_OVER_IPV6 : SMC_OVER_IPV4);
		if (!as || !strcmp(as, "sdp"))
			return syscall(SYS_socket, AF_SDP, type, protocol);
	}
	return syscall(SYS_socket, domain, type, protocol);
}
