/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory full of a known byte, for the kernel to write to, and the cases of each file.
 */
#ifndef SDP_TEST_LEAKS_H
#define SDP_TEST_LEAKS_H

#include <linux/sdp.h>
#include <stddef.h>

#include "netlink_common.h"

#define MARK	0xAA
#define ROOM	1024

extern unsigned char room[ROOM];
void mark(void);
void need_marks(const char *what, size_t len);
void need_zeros(const char *what, size_t from, size_t to);
void need_no_address(const char *what, const void *data, size_t len, size_t step);
void need_info_padding(const struct sdp_info *info);

/* netlink.c */
int netlink_answers(void *arg);
int diag_answers(void *arg);

/* rights.c */
int settings_guarded(void *arg);
int low_ports(void *arg);

#endif /* SDP_TEST_LEAKS_H */
