/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_SCAN_H
#define SDP_CONN_SCAN_H

#include "sock.h"

void sdp_scan_watch(struct sdp_sock *ssk);
void sdp_scan_stop(struct sdp_sock *ssk);
int sdp_scan_init(void);
void sdp_scan_exit(void);

#endif /* SDP_CONN_SCAN_H */
