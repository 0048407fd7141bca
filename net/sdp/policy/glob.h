/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Glob patterns of the policy rules.
 *
 * A pattern matches as fnmatch(3) without flags does, byte by byte, in the
 * C locale:
 *
 *	*	any number of bytes, none included; a slash is no exception
 *	?	one byte
 *	[a-z_]	one of these bytes; [!...] or [^...] any other byte. A ] that
 *		comes first stands for itself
 *	\	the next character, literally
 *
 * Character classes such as [:digit:] are not supported. sdp_glob_check()
 * refuses a pattern with a class, so that it is not read as something else.
 */
#ifndef SDP_POLICY_GLOB_H
#define SDP_POLICY_GLOB_H

#include "../proto/base.h"

size_t sdp_glob_check(const char *glob, size_t len, size_t *shortest);
bool sdp_glob_match(const char *glob, size_t len, const char *string);

#endif /* SDP_POLICY_GLOB_H */
