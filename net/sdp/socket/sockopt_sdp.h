/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options of the level SOL_SDP. */
#ifndef SDP_SOCKET_SOCKOPT_SDP_H
#define SDP_SOCKET_SOCKOPT_SDP_H

#include "../conn/sock.h"

int sdp_sol_sdp_set(struct sdp_sock *ssk, int name, sockptr_t value,
		    unsigned int len);
int sdp_sol_sdp_get(struct sdp_sock *ssk, int name, char __user *value,
		    int __user *len);

#endif /* SDP_SOCKET_SOCKOPT_SDP_H */
