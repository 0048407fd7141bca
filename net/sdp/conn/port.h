/* SPDX-License-Identifier: GPL-2.0 */
/* Ports: binding, sharing, and the listener of a request. */
#ifndef SDP_CONN_PORT_H
#define SDP_CONN_PORT_H

#include "sock.h"

int sdp_port_bind(struct sdp_sock *ssk, u16 number);
int sdp_port_listen(struct sdp_sock *ssk);
void sdp_port_unlisten(struct sdp_sock *ssk);
void sdp_port_moved(struct sdp_sock *ssk);
void sdp_port_changed(struct sdp_sock *ssk);
void sdp_port_share(struct sdp_sock *child, struct sdp_sock *parent);
void sdp_port_release(struct sdp_sock *ssk);
struct sdp_sock *sdp_port_find_listener(const struct sdp_incoming *in);
void sdp_addr_set(struct sdp_sock *ssk, struct sdp_endpoint *end,
		  const struct sdp_endpoint *e);

#endif /* SDP_CONN_PORT_H */
