/* SPDX-License-Identifier: GPL-2.0 */
/* The tick: what a connection does after a delay. */
#ifndef SDP_CONN_TIMER_H
#define SDP_CONN_TIMER_H

#include "sock.h"

void sdp_timer_again(struct sdp_sock *ssk);
void sdp_timer_watch_hold(struct sdp_sock *ssk);
void sdp_timer_watch_spares(struct sdp_sock *ssk);
void sdp_timer_watch_growth(struct sdp_sock *ssk, bool growing);
void sdp_timer_watch_rest(struct sdp_sock *ssk);
void sdp_timer_stop(struct sdp_sock *ssk);
void sdp_timer_run(struct timer_list *timer);

#endif /* SDP_CONN_TIMER_H */
