/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SDP_INFO of a connection.
 */
#ifndef SDP_TEST_INFO_H
#define SDP_TEST_INFO_H

#include "sock.h"
#include <linux/sdp.h>

static inline struct sdp_info info_of(int fd)
{
	struct sdp_info info = { 0 };
	socklen_t len = sizeof(info);

	need_errno(!getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len), "SDP_INFO");
	return info;
}

#endif /* SDP_TEST_INFO_H */
