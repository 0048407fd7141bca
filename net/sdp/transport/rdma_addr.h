/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_RDMA_ADDR_H
#define SDP_RDMA_ADDR_H

#include "../base/addr.h"

void sdp_to_sockaddr(struct sockaddr_storage *ss, const struct sdp_endpoint *e);
void sdp_from_sockaddr(struct sdp_endpoint *e,
		       const struct sockaddr_storage *ss);
int sdp_route_error(int err);

#endif /* SDP_RDMA_ADDR_H */
