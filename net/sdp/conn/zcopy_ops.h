/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a connection reports to zcopy/: the fate of advertisements.
 *
 * zcopy/ moves the application's memory by RDMA. It uses conn/, and conn/ calls
 * zcopy/ by this table only. By these calls a reader or writer learns what the
 * engine has decided about its advertisement.
 */
#ifndef SDP_CONN_ZCOPY_OPS_H
#define SDP_CONN_ZCOPY_OPS_H

#include "sock.h"

/**
 * struct sdp_zcopy_ops - functions of zcopy/ that a connection calls
 * @srcavail_tx_take: our SrcAvail is about to be sent. Returns its message,
 *	without the header; the connection owns it from then on
 * @srcavail_tx_answered: the peer has read our advertised memory, or has
 *	declined. @a is the action %SDP_ACT_SRCAVAIL_OVER. Notes the wake-up of
 *	a writer
 * @srcavail_tx_over: our SrcAvail has ended because the connection has; @got is
 *	the number of its bytes that the peer has. Does nothing without a
 *	SrcAvail
 * @background_close: bytes that writers hold back are to be sent. The caller
 *	has tx_mutex and not the lock; it may sleep
 * @background_next: a background write is next in the stream. Begins an RDMA
 *	transfer of its bytes, or says in sdp_buf_cb.payload of @head, the
 *	oldest segment, how many bytes may go in messages. May take @head off
 *	the queue
 * @background_cut: a message with at most @max of the bytes that may go in
 *	messages, from the oldest segment. Returns the message without header,
 *	or NULL if memory is short
 * @background_drop: the connection is over, and with it a background write,
 *	whose segment the caller frees
 * @srcavail_rx_arrived: the peer has sent SrcAvail, with @inlined bytes in it
 * @srcavail_rx_read: an RDMA read of the peer's memory is complete. @error is 0
 *	or a negative errno; after -EAGAIN the same bytes can be read again
 * @sinkavail_rx_check: a message may be sent while received bytes wait for a
 *	reader. Withdraws a SinkAvail that has not been sent yet: the peer's
 *	write into its buffer would overtake these bytes
 * @sinkavail_rx_over: the peer has written @got bytes into the buffer @id of a
 *	reader, or will not use the buffer. With @rest, the peer may write more
 *	behind these bytes. The caller wakes readers
 * @sinkavail_rx_end: all our SinkAvails have ended because the connection has
 *
 * All functions but background_close are called with the socket's lock.
 */
struct sdp_zcopy_ops {
	struct sk_buff *(*srcavail_tx_take)(struct sdp_sock *ssk);
	void (*srcavail_tx_answered)(struct sdp_sock *ssk,
				     const struct sdp_action *a,
				     struct sdp_todo *todo);
	void (*srcavail_tx_over)(struct sdp_sock *ssk, u32 got);
	void (*background_close)(struct sdp_sock *ssk);
	void (*background_next)(struct sdp_sock *ssk, struct sk_buff *head);
	struct sk_buff *(*background_cut)(struct sdp_sock *ssk, u32 max);
	void (*background_drop)(struct sk_buff *skb);
	void (*srcavail_rx_arrived)(struct sdp_sock *ssk, u32 inlined);
	void (*srcavail_rx_read)(struct sdp_sock *ssk, int error,
				 struct sdp_todo *todo);
	void (*sinkavail_rx_check)(struct sdp_sock *ssk);
	void (*sinkavail_rx_over)(struct sdp_sock *ssk, u32 id, u32 got,
				  bool rest);
	void (*sinkavail_rx_end)(struct sdp_sock *ssk);
};

extern const struct sdp_zcopy_ops sdp_zcopy_ops;

#endif /* SDP_CONN_ZCOPY_OPS_H */
