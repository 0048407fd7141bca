/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patterns of the policy's rules: fnmatch(3) without flags, on bytes.
 *
 *	*	any bytes, also none, a slash like any other
 *	?	one byte
 *	[a-z_]	one of these; [!...] or [^...] none of these. A ] is itself when it comes first
 *	\	the next character as it is
 *
 * No classes ([:digit:]): a rule with one is refused instead of read in another way.
 */
#ifndef SDP_POLICY_GLOB_H
#define SDP_POLICY_GLOB_H

#include "../proto/base.h"

size_t sdp_glob_check(const char *glob, size_t len, size_t *shortest);
bool sdp_glob_match(const char *glob, size_t len, const char *string);

#endif /* SDP_POLICY_GLOB_H */
