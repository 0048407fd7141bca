/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sock_diag of family 27: what `ss` asks the kernel about sockets.
 */
#ifndef SDP_SOCK_DIAG_H
#define SDP_SOCK_DIAG_H

void sdp_diag_init(void);
void sdp_diag_exit(void);

#endif /* SDP_SOCK_DIAG_H */
