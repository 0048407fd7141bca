/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes have a socket open. */
#ifndef SDP_TOOL_USERS_H
#define SDP_TOOL_USERS_H

#include <jansson.h>

void sdp_users_add(json_t *sockets);
char *sdp_users_text(const json_t *socket);

#endif /* SDP_TOOL_USERS_H */
