// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: MSG_OOB, the urgent mark and SIGURG (B7).
 *
 * As with TCP, a connection has one mark at a time. It is a position in the
 * byte stream, and a newer mark replaces it.
 *
 * Sending: the mark is the end of a segment (sdp_buf_cb.urgent), which takes no
 * more bytes.
 *
 * Receiving: the urgent byte stays in the receive queue, and @urg_byte has a
 * copy of it. An ordinary read stops before the mark. The next one skips the
 * urgent byte, unless SO_OOBINLINE is set.
 *
 * Positions count from the first byte of the connection, modulo 2^32. @rx_read
 * is the reader's position. The socket's @lock covers all of this; poll and
 * SIOCATMARK also read it without the lock.
 */
#include <linux/sched/signal.h>

#include "conn.h"
#include "urgent.h"

static bool urgent_is_inline(const struct sdp_sock *ssk)
{
	return sock_flag(&ssk->sk, SOCK_URGINLINE);
}

/* Has an urgent byte arrived whose mark the reader has not passed? */
static bool urgent_has_mark(const struct sdp_sock *ssk)
{
	u8 state = READ_ONCE(ssk->urg_state);

	return state == SDP_URG_HERE || state == SDP_URG_TAKEN;
}

/**
 * sdp_urgent_mark_last() - make the last byte written so far urgent
 * @ssk: socket, locked; the segment of that byte cannot have been sent yet
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
 * sdp_urgent_announced() - the peer has announced an urgent byte
 * @ssk: socket, locked
 * @todo: notes that SIGURG is to be sent
 *
 * Carries out the engine's action %SDP_ACT_URGENT.
 */
void sdp_urgent_announced(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	if (ssk->urg_state == SDP_URG_NONE)
		WRITE_ONCE(ssk->urg_state, SDP_URG_COMING);
	todo->sigurg = true;
}

/*
 * A new mark replaces the old one. If the reader is exactly at the old mark,
 * the byte there would now be ordinary data. TCP drops it, and so do we:
 * @urg_hole makes the reader skip it.
 */
static void urgent_replace_mark(struct sdp_sock *ssk)
{
	if (!urgent_has_mark(ssk) || urgent_is_inline(ssk) ||
	    ssk->urg_seq != ssk->rx_read)
		return;
	ssk->urg_hole = true;
	ssk->urg_hole_seq = ssk->urg_seq;
}

/**
 * sdp_urgent_arrived() - a message whose last byte is urgent is being queued
 * @ssk: socket, locked; @rx_bytes does not include the message yet
 * @byte: the urgent byte
 * @len: payload bytes of the message
 * @todo: notes the wake-up
 */
void sdp_urgent_arrived(struct sdp_sock *ssk, u8 byte, u32 len,
			struct sdp_todo *todo)
{
	urgent_replace_mark(ssk);
	WRITE_ONCE(ssk->urg_seq, ssk->rx_read + ssk->rx_bytes + len - 1);
	ssk->urg_byte = byte;
	WRITE_ONCE(ssk->urg_state, SDP_URG_HERE);
	todo->wake |= SDP_WAKE_URGENT;
}

/**
 * sdp_urgent_signal() - send SIGURG to the socket's owner
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
 * sdp_urgent_at_mark() - is the urgent byte at this position?
 * @ssk: socket; may be asked without the lock
 * @seq: position in the stream
 *
 * Return: true when it is.
 */
bool sdp_urgent_at_mark(const struct sdp_sock *ssk, u32 seq)
{
	return urgent_has_mark(ssk) && READ_ONCE(ssk->urg_seq) == seq;
}

/**
 * sdp_urgent_bound() - limit an ordinary read of a piece of the receive queue
 * @ssk: socket, locked
 * @seq: position of the first byte of the piece
 * @avail: in: bytes of the piece; out: bytes before the mark, if the mark is in
 *	the piece but is not its first byte
 *
 * Return: 1 when the reader has to skip the first byte, which @avail still
 * counts, else 0.
 */
u32 sdp_urgent_bound(const struct sdp_sock *ssk, u32 seq, u32 *avail)
{
	u32 hole = ssk->urg_hole && ssk->urg_hole_seq == seq;
	u32 before;

	if (!urgent_has_mark(ssk))
		return hole;
	before = ssk->urg_seq - seq;
	if (before >= *avail)
		return hole;
	if (!before)
		return !urgent_is_inline(ssk);
	*avail = before;
	return hole;
}

/**
 * sdp_urgent_passed() - the reader has advanced
 * @ssk: socket, locked; @rx_read is the new position
 */
void sdp_urgent_passed(struct sdp_sock *ssk)
{
	if (ssk->urg_hole && sdp_seq_after(ssk->rx_read, ssk->urg_hole_seq))
		ssk->urg_hole = false;
	if (urgent_has_mark(ssk) && sdp_seq_after(ssk->rx_read, ssk->urg_seq))
		WRITE_ONCE(ssk->urg_state,
			   ssk->engine.urgent_announced ? SDP_URG_COMING :
							  SDP_URG_NONE);
}

/**
 * sdp_urgent_forget() - drop the mark and go back to position 0
 * @ssk: socket, locked; its connection is over and its receive queue empty
 */
void sdp_urgent_forget(struct sdp_sock *ssk)
{
	ssk->urg_state = SDP_URG_NONE;
	ssk->urg_hole = false;
	ssk->rx_read = 0;
}

/*
 * Take or peek at the urgent byte. Returns 1, 0 at the end of the stream, or an
 * errno.
 */
static int urgent_take_byte(struct sdp_sock *ssk, int flags, u8 *byte)
{
	struct sock *sk = &ssk->sk;
	int ret = 1;

	sdp_conn_lock(ssk);
	if (urgent_is_inline(ssk) || ssk->urg_state == SDP_URG_NONE ||
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
		/* TCP does not wait for it, not even in blocking mode. */
		ret = -EAGAIN;
	}
	spin_unlock_bh(&ssk->lock);
	return ret;
}

/**
 * sdp_urgent_recv() - recv(2) with MSG_OOB
 * @ssk: socket, not locked
 * @msg: where to copy the byte
 * @len: bytes asked for
 * @flags: MSG_*
 *
 * Return: 1; 0 at the end of the stream, or if @len is 0; or an errno.
 */
int sdp_urgent_recv(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    int flags)
{
	u8 byte;
	int ret = urgent_take_byte(ssk, flags, &byte);

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
 * sdp_urgent_inq() - number of bytes for FIONREAD
 * @ssk: socket, not locked
 *
 * Return: bytes before the mark if there is one ahead and SO_OOBINLINE is not
 * set, else all readable bytes.
 */
u32 sdp_urgent_inq(struct sdp_sock *ssk)
{
	u32 bytes;

	sdp_conn_lock(ssk);
	bytes = urgent_has_mark(ssk) && !urgent_is_inline(ssk) ?
		ssk->urg_seq - ssk->rx_read : sdp_readable(ssk);
	spin_unlock_bh(&ssk->lock);
	return bytes;
}
