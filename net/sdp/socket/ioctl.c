// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl(2): unread and unsent bytes, and the urgent mark.
 *
 * The commands and their errnos are those of a TCP socket.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>

#include "../conn/urgent.h"
#include "ioctl.h"

/**
 * sdp_ioctl() - ioctl(2)
 * @sock: socket
 * @cmd: SIOCINQ (FIONREAD): bytes that a read can return before the urgent
 *	mark; SIOCOUTQ: written bytes that have not arrived at the peer;
 *	SIOCOUTQNSD: written bytes that have not been sent; SIOCATMARK: 1 if the
 *	next byte is the urgent one, else 0
 * @arg: user pointer to the int that receives the value
 *
 * Return: 0 or a negative errno; -ENOIOCTLCMD for another @cmd.
 */
int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	int val;

	if (cmd == SIOCATMARK)
		return put_user(sdp_urgent_at_mark(ssk,
						   READ_ONCE(ssk->rx_read)),
				(int __user *)arg);
	if (cmd != SIOCINQ && cmd != SIOCOUTQ && cmd != SIOCOUTQNSD)
		return -ENOIOCTLCMD;
	if (READ_ONCE(sock->sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (cmd == SIOCINQ) {
		val = sdp_urgent_inq(ssk);
	} else if (cmd == SIOCOUTQ) {
		val = READ_ONCE(ssk->tx_outq);
	} else {
		sdp_conn_lock(ssk);
		val = sdp_unsent(ssk);
		spin_unlock_bh(&ssk->lock);
	}
	return put_user(val, (int __user *)arg);
}
