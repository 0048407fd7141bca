// SPDX-License-Identifier: GPL-2.0
/*
 * splice(2) and sendfile(2).
 *
 * Out of the socket: the pages of received buffers go into the pipe as they are. From
 * then on the pipe, and whatever it is spliced to, may hold them for any time, so such a
 * buffer is not used again; its pages are freed by their reference counts. The linear part
 * of a small buffer is copied by the kernel's helper.
 *
 * Into the socket: the kernel hands over pages by sendmsg with MSG_SPLICE_PAGES, before
 * 6.5 by sendpage. What happens to them is in zerocopy.c.
 */
#include "../conn/sock.h"

/**
 * sdp_splice_piece() - put a piece of a received buffer into a pipe
 * @ssk: socket, with rx_mutex
 * @skb: the buffer, in the receive queue
 * @offset: where in it
 * @len: bytes
 * @pipe: the pipe, locked
 *
 * Return: bytes, fewer than @len when the pipe is full, or an errno.
 */
int sdp_splice_piece(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		     u32 len, struct pipe_inode_info *pipe)
{
	int n;

	/*
	 * The peer writes over it as soon as this has been read, whoever still holds it; and a ring
	 * that is over is not counted any more, but may be written to until its key is gone.
	 */
	if (sdp_buf_cb(skb)->home)
		return sdp_ring_splice(ssk, skb, offset, len, pipe);
	n = skb_splice_bits(skb, &ssk->sk, offset, pipe, len, 0);

	/* Others read these pages now: they must not be posted as a receive again. */
	if (skb->data_len || skb->head_frag)
		sdp_buf_cb(skb)->again = false;
	return n ?: -ENOBUFS;
}

/**
 * sdp_splice_read() - splice(2) and sendfile(2) from a socket
 * @sock: socket
 * @ppos: position, which a socket does not have
 * @pipe: the pipe, locked
 * @len: bytes, at most
 * @flags: SPLICE_F_*; as with TCP only O_NONBLOCK of the socket counts
 *
 * Return: bytes, 0 at the end of the stream, or an errno.
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
 * sdp_splice_eof() - a splice ends which had announced more
 * @sock: socket
 */
void sdp_splice_eof(struct socket *sock)
{
	sdp_send_held(sdp_sk(sock->sk));
}
