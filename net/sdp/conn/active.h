/* SPDX-License-Identifier: GPL-2.0 */
/* Active open: the connecting side of a connection's set-up. */
#ifndef SDP_CONN_ACTIVE_H
#define SDP_CONN_ACTIVE_H

#include "sock.h"

bool sdp_active_is_typical(const struct sdp_sock *ssk, unsigned int ms);
void sdp_active_retry(struct work_struct *work);
bool sdp_active_try_again(struct sdp_sock *ssk, int error,
			  struct sdp_todo *todo);
void sdp_active_expired(struct sdp_sock *ssk);
int sdp_active_hello(struct sdp_link *link, const struct sdp_endpoint *local,
		     u8 buf[SDP_HELLO_LEN]);
bool sdp_active_device(struct net *net, const struct sdp_endpoint *peer,
		       char name[SDP_DEVICE_NAME]);
bool sdp_active_may_reach(const struct sdp_sock *ssk,
			  const struct sdp_endpoint *peer);
int sdp_active_open(struct sdp_sock *ssk, const struct sdp_endpoint *peer,
		    bool v6);

#endif /* SDP_CONN_ACTIVE_H */
