/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP_ZEROCOPY_RECEIVE: its argument, and memory to map into.
 */
#ifndef SDP_TEST_RECEIVE_H
#define SDP_TEST_RECEIVE_H

#include "sock.h"

/* struct tcp_zerocopy_receive, which older headers have in part only. */
struct receive {
	__u64 address;
	__u32 length;
	__u32 skip;
	__u32 inq;
	__s32 err;
	__u64 copybuf_address;
	__s32 copybuf_len;
	__u32 flags;
	__u64 msg_control;
	__u64 msg_controllen;
	__u32 msg_flags;
	__u32 reserved;
};

int receive_sized(int fd, struct receive *r, socklen_t size);
int receive(int fd, struct receive *r);
unsigned char *receive_window(int fd, long size);

#endif /* SDP_TEST_RECEIVE_H */
