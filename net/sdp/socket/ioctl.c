// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl(2): what waits to be read, what has been written and has not arrived, and whether
 * the reader is at the mark of urgent data.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>

#include "../conn/sock.h"

/**
 * sdp_ioctl() - ioctl(2): FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK
 * @sock: socket
 * @cmd: which
 * @arg: pointer to an int
 *
 * Return: 0 or an errno.
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
		sdp_stream_lock(ssk);
		val = sdp_unsent(ssk);
		spin_unlock_bh(&ssk->lock);
	}
	return put_user(val, (int __user *)arg);
}
