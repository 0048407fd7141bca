/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ending connections from outside their applications.
 */
#ifndef SDP_KILL_H
#define SDP_KILL_H

struct net;
struct sdp_endpoint;
struct sdp_sock;

bool sdp_kill_sock(struct sdp_sock *ssk, const char *why);
unsigned int sdp_kill_address(struct net *net, const struct sdp_endpoint *e);

#endif /* SDP_KILL_H */
