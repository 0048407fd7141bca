/* SPDX-License-Identifier: GPL-2.0 */
/* struct sdp_info of a connection, as JSON and text. */
#ifndef SDP_TOOL_INFO_H
#define SDP_TOOL_INFO_H

#include <jansson.h>
#include <stddef.h>

json_t *sdp_info_json(const void *bytes, size_t len);
char *sdp_info_text(const json_t *info);

#endif /* SDP_TOOL_INFO_H */
