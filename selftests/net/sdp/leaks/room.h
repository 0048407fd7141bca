/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory full of a known byte, for the kernel to write to, and what must not be in it.
 */
#ifndef SDP_TEST_LEAKS_ROOM_H
#define SDP_TEST_LEAKS_ROOM_H

#include <linux/sdp.h>
#include <stddef.h>

#include "tap.h"

#define MARK	0xAA
#define ROOM	1024

extern unsigned char room[ROOM];
void mark(void);
void need_marks(const char *what, size_t len);
void need_zeros(const char *what, size_t from, size_t to);
void need_no_address(const char *what, const void *data, size_t len, size_t step);
void need_info_padding(const struct sdp_info *info);

#endif /* SDP_TEST_LEAKS_ROOM_H */
