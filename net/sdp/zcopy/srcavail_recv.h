/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SRCAVAIL_RECV_H
#define SDP_ZCOPY_SRCAVAIL_RECV_H

#include "../conn/sock.h"

/**
 * enum sdp_comes - could SinkAvail have advertised a reader's memory?
 * @SDP_COMES_ASKED: no: a poller has told the application of the data, or the
 *	memory does not fit
 * @SDP_COMES_FIRST: yes, before the peer's SrcAvail came
 * @SDP_COMES_NEXT: yes, once an earlier call had taken the beginning of the
 *	peer's large write, and only that (C4, C10)
 */
enum sdp_comes { SDP_COMES_ASKED, SDP_COMES_FIRST, SDP_COMES_NEXT };

void sdp_srcavail_recv_end(struct sdp_sock *ssk, int error,
			   struct sdp_todo *todo);
void sdp_srcavail_recv_later(struct sdp_sock *ssk, size_t room);
void sdp_srcavail_recv_arrived(struct sdp_sock *ssk, u32 inlined);
void sdp_srcavail_recv_decline(struct sdp_sock *ssk, u32 seen);
int sdp_srcavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t len,
		      size_t left, bool enough, enum sdp_comes comes,
		      bool wait);

#endif /* SDP_ZCOPY_SRCAVAIL_RECV_H */
