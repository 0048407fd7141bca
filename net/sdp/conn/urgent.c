// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data (B7): MSG_OOB, the mark, SIGURG. As with TCP there is one mark at a time, a
 * place in the stream of bytes; a newer one replaces it.
 *
 * On the way out the mark is the end of a segment (sdp_buf_cb.urgent), which then takes no
 * more bytes. On the way in the urgent byte stays in the queue at its place, and a copy of
 * it is in @urg_byte; an ordinary read stops before the mark and then passes over it,
 * unless SO_OOBINLINE is set.
 *
 * Places in the stream are numbered from the first byte on and wrap at 2^32; @rx_read is
 * the reader's. All of this is covered by the socket's @lock; poll and ioctl take a look
 * without it.
 */
#include <linux/sched/signal.h>

#include "sock.h"

static bool inlined(const struct sdp_sock *ssk)
{
	return sock_flag(&ssk->sk, SOCK_URGINLINE);
}

/* There is a mark, and the reader has not passed it. */
static bool marked(const struct sdp_sock *ssk)
{
	u8 state = READ_ONCE(ssk->urg_state);

	return state == SDP_URG_HERE || state == SDP_URG_TAKEN;
}

/**
 * sdp_urgent_mark_last() - the last byte written so far is urgent
 * @ssk: socket, locked
 *
 * Called when its segment cannot have been sent yet.
 */
void sdp_urgent_mark_last(struct sdp_sock *ssk)
{
	struct sk_buff *skb = skb_peek_tail(&ssk->tx_queue);

	if (!skb || sdp_buf_cb(skb)->urgent)
		return;
	sdp_buf_cb(skb)->urgent = true;
	ssk->tx_urgent++;
}

/**
 * sdp_urgent_announced() - the peer has announced an urgent byte (SDP_ACT_URGENT)
 * @ssk: socket, locked
 * @todo: notes the signal
 */
void sdp_urgent_announced(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	if (ssk->urg_state == SDP_URG_NONE)
		WRITE_ONCE(ssk->urg_state, SDP_URG_COMING);
	todo->sigurg = true;
}

/*
 * A reader who stands at the old mark would meet its byte as ordinary data now. TCP drops
 * it, and so do we: @urg_hole is passed over.
 */
static void replace_mark(struct sdp_sock *ssk)
{
	if (!marked(ssk) || inlined(ssk) || ssk->urg_seq != ssk->rx_read)
		return;
	ssk->urg_hole = true;
	ssk->urg_hole_seq = ssk->urg_seq;
}

/**
 * sdp_urgent_arrived() - a message whose last byte is urgent is being queued
 * @ssk: socket, locked; the message is not yet counted in @rx_bytes
 * @byte: that byte
 * @len: payload of the message
 * @todo: notes the wake-up
 */
void sdp_urgent_arrived(struct sdp_sock *ssk, u8 byte, u32 len,
			struct sdp_todo *todo)
{
	replace_mark(ssk);
	WRITE_ONCE(ssk->urg_seq, ssk->rx_read + ssk->rx_bytes + len - 1);
	ssk->urg_byte = byte;
	WRITE_ONCE(ssk->urg_state, SDP_URG_HERE);
	todo->wake |= SDP_WAKE_URGENT;
}

/**
 * sdp_urgent_signal() - SIGURG for the socket's owner
 * @ssk: socket, not locked
 */
void sdp_urgent_signal(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	/* The lock keeps sk_socket, and so its file, from going away. */
	read_lock_bh(&sk->sk_callback_lock);
	sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
}

/**
 * sdp_urgent_at_mark() - is this place in the stream the mark?
 * @ssk: socket
 * @seq: place
 *
 * Return: true when the byte there is the urgent one.
 */
bool sdp_urgent_at_mark(const struct sdp_sock *ssk, u32 seq)
{
	return marked(ssk) && READ_ONCE(ssk->urg_seq) == seq;
}

/**
 * sdp_urgent_bound() - what an ordinary read may take of a piece of the queue
 * @ssk: socket, locked
 * @seq: place of the piece's first byte
 * @avail: its bytes, cut at the mark
 *
 * Return: 1 when the first byte is to be passed over, which @avail counts, else 0.
 */
u32 sdp_urgent_bound(const struct sdp_sock *ssk, u32 seq, u32 *avail)
{
	u32 hole = ssk->urg_hole && ssk->urg_hole_seq == seq;
	u32 before;

	if (!marked(ssk))
		return hole;
	before = ssk->urg_seq - seq;
	if (before >= *avail)
		return hole;
	if (!before)
		return !inlined(ssk);
	*avail = before;
	return hole;
}

/**
 * sdp_urgent_passed() - the reader has moved on
 * @ssk: socket, locked; @rx_read is where it is now
 */
void sdp_urgent_passed(struct sdp_sock *ssk)
{
	if (ssk->urg_hole && sdp_seq_after(ssk->rx_read, ssk->urg_hole_seq))
		ssk->urg_hole = false;
	if (marked(ssk) && sdp_seq_after(ssk->rx_read, ssk->urg_seq))
		WRITE_ONCE(ssk->urg_state, ssk->engine.urgent_announced ?
						   SDP_URG_COMING :
						   SDP_URG_NONE);
}

/**
 * sdp_urgent_forget() - there is no mark and none will come
 * @ssk: socket, locked
 */
void sdp_urgent_forget(struct sdp_sock *ssk)
{
	ssk->urg_state = SDP_URG_NONE;
	ssk->urg_hole = false;
	ssk->rx_read = 0;
}

/* The byte, if it is to be had. Returns 1, 0 at the end of the stream, or an errno. */
static int take_byte(struct sdp_sock *ssk, int flags, u8 *byte)
{
	struct sock *sk = &ssk->sk;
	int ret = 1;

	sdp_stream_lock(ssk);
	if (inlined(ssk) || ssk->urg_state == SDP_URG_NONE ||
	    ssk->urg_state == SDP_URG_TAKEN) {
		ret = -EINVAL;
	} else if (sk->sk_state == TCP_CLOSE && !ssk->rx_ended) {
		ret = -ENOTCONN;
	} else if (ssk->urg_state == SDP_URG_HERE) {
		*byte = ssk->urg_byte;
		if (!(flags & MSG_PEEK))
			WRITE_ONCE(ssk->urg_state, SDP_URG_TAKEN);
	} else if (sk->sk_state == TCP_CLOSE ||
		   (sk->sk_shutdown & RCV_SHUTDOWN)) {
		ret = 0;
	} else {
		/* TCP does not wait for it either, whatever the socket's mode. */
		ret = -EAGAIN;
	}
	spin_unlock_bh(&ssk->lock);
	return ret;
}

/**
 * sdp_urgent_recv() - recv(2) with MSG_OOB
 * @ssk: socket, not locked
 * @msg: where to
 * @len: bytes asked for
 * @flags: MSG_*
 *
 * Return: 1, 0 at the end of the stream or without room, or an errno.
 */
int sdp_urgent_recv(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    int flags)
{
	u8 byte;
	int ret = take_byte(ssk, flags, &byte);

	if (ret <= 0)
		return ret;
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}

/**
 * sdp_urgent_inq() - FIONREAD: bytes before the mark, if there is one ahead
 * @ssk: socket
 *
 * Return: bytes.
 */
u32 sdp_urgent_inq(struct sdp_sock *ssk)
{
	u32 bytes;

	sdp_stream_lock(ssk);
	bytes = marked(ssk) && !inlined(ssk) ? ssk->urg_seq - ssk->rx_read :
					       sdp_readable(ssk);
	spin_unlock_bh(&ssk->lock);
	return bytes;
}
