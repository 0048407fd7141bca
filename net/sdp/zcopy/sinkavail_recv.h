/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SINKAVAIL_RECV_H
#define SDP_ZCOPY_SINKAVAIL_RECV_H

#include "../conn/sock.h"

void sdp_sinkavail_recv_over(struct sdp_sock *ssk, u32 id, u32 got, bool rest);
void sdp_sinkavail_recv_end(struct sdp_sock *ssk);
void sdp_sinkavail_recv_check(struct sdp_sock *ssk);
bool sdp_sinkavail_recv_fits(const struct sdp_sock *ssk,
			     const struct iov_iter *to, size_t room);
bool sdp_sinkavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t room,
			long *timeo, int *result);

#endif /* SDP_ZCOPY_SINKAVAIL_RECV_H */
