/* SPDX-License-Identifier: GPL-2.0 */
/* Passive open: the accepting side of a connection's set-up. */
#ifndef SDP_CONN_PASSIVE_H
#define SDP_CONN_PASSIVE_H

#include "sock.h"

int sdp_passive_open(struct sdp_link *link, struct sdp_incoming *in);

#endif /* SDP_CONN_PASSIVE_H */
