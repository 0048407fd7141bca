/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_ZCOPY_H
#define SDP_ZCOPY_ZCOPY_H

#include "../conn/sock.h"

u32 sdp_zcopy_threshold(const struct sdp_sock *ssk);
int sdp_zcopy_room(const struct sdp_sock *ssk);
bool sdp_zcopy_fits(const struct sdp_sock *ssk, size_t bytes);
bool sdp_zcopy_worth(const struct sdp_sock *ssk, size_t bytes);
struct sdp_mem *sdp_zcopy_map(struct sdp_sock *ssk, struct sdp_link *link,
			      const struct sdp_pages *pages);
void sdp_zcopy_await(struct sdp_sock *ssk, struct sdp_link *link,
		     struct sdp_mem *mem);
void sdp_zcopy_await_answer(struct sdp_sock *ssk, const bool *over);

#endif /* SDP_ZCOPY_ZCOPY_H */
