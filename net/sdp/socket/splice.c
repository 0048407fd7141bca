// SPDX-License-Identifier: GPL-2.0
/*
 * splice(2) and sendfile(2).
 *
 * From the socket: the pages of received buffers go into the pipe without a
 * copy. The pipe, and what it is spliced to, may keep the pages for any time.
 * So such a buffer is not posted as a receive again; its pages are freed by
 * their reference counts. Two kinds of data are copied: the linear part of a
 * small buffer, by the kernel's helper, and data in a receive ring, see
 * sdp_rx_splice().
 *
 * To the socket: the kernel passes pages to sendmsg() with MSG_SPLICE_PAGES,
 * and before 6.5 to sendpage(). conn/zerocopy.c handles them.
 */
#include "../conn/tx_queue.h"
#include "recv.h"
#include "splice.h"

/**
 * sdp_splice_read() - splice(2) and sendfile(2) from a socket
 * @sock: socket
 * @ppos: file position; must be 0, because a socket has none
 * @pipe: destination, locked by the caller
 * @len: largest number of bytes
 * @flags: SPLICE_F_*; not used: like TCP, only O_NONBLOCK of the socket counts
 *
 * Return: number of bytes, 0 at the end of the stream, or a negative errno.
 */
ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags)
{
	struct sock *sk = sock->sk;

	if (*ppos)
		return -ESPIPE;
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (!len)
		return 0;
	return sdp_recv_to_pipe(sdp_sk(sk), pipe, len,
				sock_rcvtimeo(sk, sock->file->f_flags &
						  O_NONBLOCK));
}

/**
 * sdp_splice_eof() - send the bytes that a splice held back with MSG_MORE
 * @sock: socket; takes tx_mutex
 *
 * The kernel calls this when a splice ends before the bytes that it announced.
 */
void sdp_splice_eof(struct socket *sock)
{
	sdp_tx_push(sdp_sk(sock->sk));
}
