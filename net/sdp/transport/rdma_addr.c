// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses in the form of the RDMA core, and its errors about them.
 */
#include <net/inet_sock.h>

#include "rdma_addr.h"

/**
 * sdp_to_sockaddr() - convert an address to the form of the RDMA core
 * @ss: filled in; its port is 0
 * @e: the address
 */
void sdp_to_sockaddr(struct sockaddr_storage *ss, const struct sdp_endpoint *e)
{
	memset(ss, 0, sizeof(*ss));
	if (sdp_is_v4(e)) {
		struct sockaddr_in *in = (struct sockaddr_in *)ss;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = sdp_v4(e);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

		in6->sin6_family = AF_INET6;
		in6->sin6_addr = e->ip;
		in6->sin6_scope_id = e->scope;
	}
}

/**
 * sdp_from_sockaddr() - convert an address from the form of the RDMA core
 * @e: its @ip and @scope are written
 * @ss: the address
 */
void sdp_from_sockaddr(struct sdp_endpoint *e,
		       const struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET) {
		sdp_set_v4(e,
			   ((const struct sockaddr_in *)ss)->sin_addr.s_addr);
	} else {
		e->ip = ((const struct sockaddr_in6 *)ss)->sin6_addr;
		e->scope = ((const struct sockaddr_in6 *)ss)->sin6_scope_id;
	}
}

/**
 * sdp_route_error() - the errno for an error of rdma_cm
 * @err: its error
 *
 * "No device" means to the user of a socket that the network is unreachable.
 *
 * Return: a positive errno for the application.
 */
int sdp_route_error(int err)
{
	switch (err) {
	case -ENODEV:
	case -EADDRNOTAVAIL:
		return ENETUNREACH;
	case 0:
	case -EINVAL:
		return EHOSTUNREACH;
	default:
		return -err;
	}
}
