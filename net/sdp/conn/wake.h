/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting, waking, and the registration of pollers. */
#ifndef SDP_CONN_WAKE_H
#define SDP_CONN_WAKE_H

#include "sock.h"

/* A condition to wait for; called without the socket's lock. */
typedef bool (*sdp_condition)(struct sdp_sock *ssk, u32 arg);

void sdp_wake_init(struct sdp_sock *ssk);
void sdp_wake(struct sdp_sock *ssk, u32 wake);
int sdp_wait(struct sdp_sock *ssk, enum sdp_wait_kind kind, long *timeo,
	     sdp_condition done, u32 arg);
void sdp_wake_register(struct file *file, struct socket *sock,
		       poll_table *wait);
void sdp_wake_note(unsigned long *notes, const poll_table *wait);
void sdp_wake_share_begin(struct sdp_sock *ssk);
void sdp_wake_share_end(struct sdp_sock *ssk, unsigned long kinds);

#endif /* SDP_CONN_WAKE_H */
