// SPDX-License-Identifier: GPL-2.0
/*
 * setsockopt(2), getsockopt(2) at the levels that are ours, and ioctl(2).
 *
 * SOL_SOCKET is the kernel's own, but for SO_ZEROCOPY, which it refuses to this family;
 * where the kernel lets a family have its say in SOL_SOCKET, it is honoured here, and
 * everywhere SDP_ZEROCOPY means the same. At IPPROTO_TCP there is TCP_NODELAY: a lone small
 * message never waits here, so it changes nothing; programs set it and ask for it.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/tcp.h>

#include "sock.h"

/**
 * sdp_setsockopt() - setsockopt(2), all levels but SOL_SOCKET
 * @sock: socket
 * @level: protocol level
 * @name: option
 * @value: an int
 * @len: its length
 *
 * Return: 0 or an errno.
 */
int sdp_setsockopt(struct socket *sock, int level, int name, sockptr_t value, unsigned int len)
{
	int val;

	/* What comes by this way is all of SOL_SOCKET, for the sake of one option. */
	if (level == SOL_SOCKET && name != SO_ZEROCOPY)
		return sock_setsockopt(sock, level, name, value, len);
	if (level == SOL_SOCKET || (level == SOL_SDP && name == SDP_ZEROCOPY))
		return sdp_set_zerocopy(sock->sk, value, len);
	if (level != IPPROTO_TCP || name != TCP_NODELAY)
		return -ENOPROTOOPT;
	if (len < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	sdp_sk(sock->sk)->nodelay = val;
	return 0;
}

/**
 * sdp_getsockopt() - getsockopt(2), all levels but SOL_SOCKET
 * @sock: socket
 * @level: protocol level
 * @name: option
 * @value: room for an int
 * @len: its length, in and out
 *
 * Return: 0 or an errno.
 */
int sdp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *len)
{
	bool zerocopy = level == SOL_SDP && name == SDP_ZEROCOPY;
	int val, n;

	if (!zerocopy && (level != IPPROTO_TCP || name != TCP_NODELAY))
		return -ENOPROTOOPT;
	if (get_user(n, len))
		return -EFAULT;
	if (n < 0)
		return -EINVAL;
	n = min_t(int, n, sizeof(val));
	val = zerocopy ? sock_flag(sock->sk, SOCK_ZEROCOPY) : sdp_sk(sock->sk)->nodelay;
	if (put_user(n, len) || copy_to_user(value, &val, n))
		return -EFAULT;
	return 0;
}

static int unsent_bytes(struct sdp_sock *ssk)
{
	struct sk_buff *skb;
	int bytes = 0;

	sdp_stream_lock(ssk);
	skb_queue_walk(&ssk->tx_queue, skb)
		bytes += sdp_buf_cb(skb)->payload;
	spin_unlock_bh(&ssk->lock);
	return bytes;
}

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
		return put_user(sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read)),
				(int __user *)arg);
	if (cmd != SIOCINQ && cmd != SIOCOUTQ && cmd != SIOCOUTQNSD)
		return -ENOIOCTLCMD;
	if (READ_ONCE(sock->sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (cmd == SIOCINQ)
		val = sdp_urgent_inq(ssk);
	else if (cmd == SIOCOUTQ)
		val = READ_ONCE(ssk->tx_outq);
	else
		val = unsent_bytes(ssk);
	return put_user(val, (int __user *)arg);
}
