/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_ZCOPY_SRCAVAIL_SEND_H
#define SDP_ZCOPY_SRCAVAIL_SEND_H

#include "../conn/sock.h"

/*
 * Number of first bytes of a large write that go in a message: enough for a
 * reader to begin with.
 */
#define SDP_FIRST_BYTES	1024

/**
 * struct sdp_srcavail_send - memory while the peer may read it
 * @link: its link, in use
 * @mem: the memory
 * @skip: bytes at its beginning that are not advertised
 * @skb: SrcAvail with the first bytes; NULL once it has been sent
 * @first: number of bytes that SrcAvail carries
 * @got: number of bytes that the peer has got; valid when @over
 * @over: the peer has answered, or the connection has ended
 * @declined: the peer wants the rest in messages
 * @asked: the peer's reader wants the beginning first, in a message (C10)
 * @unread: it was cancelled because nobody had read from it for long; or, with
 *	@brief, at once
 * @brief: its write has room in the send buffer, so the writer waits for a
 *	reader only briefly
 * @sent: when SrcAvail was sent, jiffies
 * @answered: called when the peer has answered, with the socket's lock; or
 *	NULL, and a writer waits for @over
 */
struct sdp_srcavail_send {
	struct sdp_link *link;
	struct sdp_mem *mem;
	u32 skip;
	struct sk_buff *skb;
	u32 first;
	u32 got;
	bool over;
	bool declined;
	bool asked;
	bool unread;
	bool brief;
	unsigned long sent;
	void (*answered)(struct sdp_sock *ssk, struct sdp_srcavail_send *o,
			 struct sdp_todo *todo);
};

u32 sdp_srcavail_send(struct sdp_sock *ssk, struct msghdr *msg, long *timeo,
		      bool begun, bool *refused, bool *turn);
long sdp_srcavail_send_follows(struct sdp_sock *ssk, struct msghdr *msg,
			       long timeo);
void sdp_srcavail_send_missed(struct sdp_sock *ssk);
struct sk_buff *sdp_srcavail_send_take(struct sdp_sock *ssk);
void sdp_srcavail_send_begin(struct sdp_sock *ssk, struct sdp_srcavail_send *o);
void sdp_srcavail_send_answered(struct sdp_sock *ssk,
				const struct sdp_action *a,
				struct sdp_todo *todo);
bool sdp_srcavail_send_at_once(const struct sdp_sock *ssk, u32 bytes,
			       unsigned long since);
void sdp_srcavail_send_over(struct sdp_sock *ssk, u32 got);

#endif /* SDP_ZCOPY_SRCAVAIL_SEND_H */
