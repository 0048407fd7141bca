/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_PIN_H
#define SDP_ZCOPY_PIN_H

#include "../conn/sock.h"

/**
 * struct sdp_pinned - pinned pages of an application
 * @mem: the pages, and the bytes in them
 * @account: user whose RLIMIT_MEMLOCK they count against
 */
struct sdp_pinned {
	struct sdp_pages mem;
	struct mmpin account;
};

size_t sdp_pin_span(const struct iov_iter *iter, size_t max);
bool sdp_pin_scattered(const struct iov_iter *iter, size_t max);
u32 sdp_pin(struct sdp_pinned *p, const struct iov_iter *iter, size_t max,
	    enum sdp_mem_use use);
void sdp_unpin(struct sdp_pinned *p);

#endif /* SDP_ZCOPY_PIN_H */
