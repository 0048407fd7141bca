/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_BACKGROUND_SEND_H
#define SDP_ZCOPY_BACKGROUND_SEND_H

#include "../conn/sock.h"

int sdp_background_send(struct sdp_sock *ssk, struct msghdr *msg,
			const struct sdp_refs *refs, long timeo);
void sdp_background_close(struct sdp_sock *ssk);

#endif /* SDP_ZCOPY_BACKGROUND_SEND_H */
