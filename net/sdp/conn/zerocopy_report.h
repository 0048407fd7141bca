/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_ZEROCOPY_REPORT_H
#define SDP_CONN_ZEROCOPY_REPORT_H

#include "sock.h"

/**
 * struct sdp_report - report of one MSG_ZEROCOPY write
 * @ubuf: what the write, its messages and its background writes refer to; the
 *	last of them that ends calls its function
 * @own: the kernel's report, which goes into the error queue; holds @ssk
 * @ssk: the socket
 * @node: in sdp_sock.reports
 * @over: nobody refers to @ubuf any more
 * @undone: the write has failed, and is not reported
 */
struct sdp_report {
	struct ubuf_info ubuf;
	struct ubuf_info *own;
	struct sdp_sock *ssk;
	struct list_head node;
	bool over;
	bool undone;
};

struct sdp_report *sdp_report_new(struct sdp_sock *ssk, size_t bytes);
void sdp_report_undo(struct sdp_report *r);

#endif /* SDP_CONN_ZEROCOPY_REPORT_H */
