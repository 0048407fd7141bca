/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SINKAVAIL_SEND_H
#define SDP_ZCOPY_SINKAVAIL_SEND_H

#include "../conn/sock.h"

long sdp_sinkavail_send_patience(const struct sdp_sock *ssk);
bool sdp_sinkavail_send_await(struct sdp_sock *ssk, long *timeo);
void sdp_sinkavail_send_missed(struct sdp_sock *ssk);
void sdp_sinkavail_send_count(struct sdp_sock *ssk, u32 n);
bool sdp_sinkavail_send_move(struct sdp_sock *ssk, struct sdp_mem *mem, u32 n);
u32 sdp_sinkavail_send(struct sdp_sock *ssk, struct sdp_link *link,
		       struct sdp_pages *pages);

#endif /* SDP_ZCOPY_SINKAVAIL_SEND_H */
