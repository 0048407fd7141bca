/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SRCAVAIL_RECV_NOWAIT_H
#define SDP_ZCOPY_SRCAVAIL_RECV_NOWAIT_H

#include "../conn/sock.h"

bool sdp_srcavail_recv_nowait(struct sdp_sock *ssk, u32 room);

#endif /* SDP_ZCOPY_SRCAVAIL_RECV_NOWAIT_H */
