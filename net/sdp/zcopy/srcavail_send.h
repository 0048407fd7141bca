/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SRCAVAIL_SEND_H
#define SDP_ZCOPY_SRCAVAIL_SEND_H

#include "../conn/sock.h"

/*
 * Number of first bytes of a large write that go in a message: enough for a
 * reader to begin with.
 */
#define SDP_FIRST_BYTES	1024

u32 sdp_srcavail_send(struct sdp_sock *ssk, struct msghdr *msg, long *timeo,
		      bool begun, bool *refused, bool *turn);
struct sk_buff *sdp_srcavail_send_take(struct sdp_sock *ssk);
void sdp_srcavail_send_answered(struct sdp_sock *ssk,
				const struct sdp_action *a);
void sdp_srcavail_send_over(struct sdp_sock *ssk, u32 got);

#endif /* SDP_ZCOPY_SRCAVAIL_SEND_H */
