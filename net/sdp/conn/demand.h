/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_DEMAND_H
#define SDP_CONN_DEMAND_H

#include "sock.h"

void sdp_demand_start(struct sdp_sock *ssk, u8 scheme, u16 first);
u16 sdp_demand_receives(const struct sdp_sock *ssk);
void sdp_demand_heard(struct sdp_sock *ssk, const struct sdp_msg *msg);

#endif /* SDP_CONN_DEMAND_H */
