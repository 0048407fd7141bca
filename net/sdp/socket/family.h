/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket family: registration and the table of calls.
 */
#ifndef SDP_FAMILY_H
#define SDP_FAMILY_H

struct proto_ops;

/* The policy installs a copy in the sockets that it moves from TCP to SDP. */
extern const struct proto_ops sdp_inet_ops;

int sdp_family_init(void);
void sdp_family_exit(void);

#endif /* SDP_FAMILY_H */
