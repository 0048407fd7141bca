/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters that a connection starts with. */
#ifndef SDP_CONN_PARAMS_H
#define SDP_CONN_PARAMS_H

#include "sock.h"

int sdp_flow_wish(struct sdp_sock *ssk);
int sdp_rails_wish(struct sdp_sock *ssk);
int sdp_service_wish(struct sdp_sock *ssk);
void sdp_params_of_link(struct sdp_sock *ssk, const struct sdp_transport *ops,
			struct sdp_link_config *config);
void sdp_params_start(struct sdp_sock *ssk,
		      const struct sdp_link_config *config, u16 target);

#endif /* SDP_CONN_PARAMS_H */
