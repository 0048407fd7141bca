/* SPDX-License-Identifier: GPL-2.0 */
/* Claims: the TCP port that belongs to an SDP port. */
#ifndef SDP_CONN_CLAIM_H
#define SDP_CONN_CLAIM_H

#include "sock.h"

int sdp_claim_bind(struct sdp_sock *ssk, u16 number);
int sdp_claim_listen(struct sdp_sock *ssk, bool listens);
void sdp_claim_drop(struct sdp_sock *ssk);

#endif /* SDP_CONN_CLAIM_H */
