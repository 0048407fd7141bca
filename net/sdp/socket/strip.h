/* SPDX-License-Identifier: GPL-2.0 */
/* Copies pieces of user memory that are equally long and equally far apart. */
#ifndef SDP_SOCKET_STRIP_H
#define SDP_SOCKET_STRIP_H

#include <linux/compiler.h>

#include "../proto/program.h"

size_t sdp_strip_gather(void *to, const char __user *memory,
			const struct sdp_program_strip *strip);
size_t sdp_strip_scatter(char __user *memory,
			 const struct sdp_program_strip *strip, size_t skip,
			 const char *from, size_t n);

#endif /* SDP_SOCKET_STRIP_H */
