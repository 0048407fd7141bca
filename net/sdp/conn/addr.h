/* SPDX-License-Identifier: GPL-2.0 */
/* Conversion and checks of the addresses that applications give. */
#ifndef SDP_CONN_ADDR_H
#define SDP_CONN_ADDR_H

#include "sock.h"

int sdp_addr_get(struct sdp_endpoint *e, const struct sockaddr_storage *ss,
		 int len, int domain);
int sdp_addr_put(struct sockaddr *out, const struct sdp_endpoint *e, bool v6);
int sdp_addr_is_ours(struct net *net, const struct sdp_endpoint *e);
bool sdp_addr_may_be_source(struct net *net, const struct sdp_endpoint *e);

#endif /* SDP_CONN_ADDR_H */
