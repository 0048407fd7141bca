/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What main.c needs of the socket layer.
 */
#ifndef SDP_FAMILY_H
#define SDP_FAMILY_H

struct proto_ops;
struct sdp_link_events;

/* Also for the policy, whose sockets come by them in another way. */
extern const struct proto_ops sdp_inet_ops;
extern const struct sdp_link_events sdp_stream_events;

int sdp_family_init(void);
void sdp_family_exit(void);

#endif /* SDP_FAMILY_H */
