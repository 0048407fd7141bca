/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ORIGIN_H
#define SDP_ORIGIN_H

#include "transport.h"

struct net *sdp_origin_net(struct ib_device *ib, struct net_device *ndev);
bool sdp_origin_possible(struct net_device *ndev,
			 const struct sdp_incoming *in);
bool sdp_origin_reachable(struct net_device *ndev,
			  const struct sdp_incoming *in);

#endif /* SDP_ORIGIN_H */
