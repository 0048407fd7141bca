/* SPDX-License-Identifier: GPL-2.0 */
/* Background writes: RDMA of large writes whose call has returned. */
#ifndef SDP_ZCOPY_BACKGROUND_H
#define SDP_ZCOPY_BACKGROUND_H

#include "background_mem.h"
#include "srcavail_send.h"

/**
 * struct sdp_background - a background write
 * @ssk: its socket, with a reference
 * @skb: its segment; in the send queue, or about to be freed
 * @bytes: memory with the bytes
 * @srcavail: its SrcAvail; has the link, in use, and the mapping of @bytes,
 *	once there is one
 * @charged: bytes that the send buffer is charged for it
 * @gone: bytes at its beginning that have left for the peer
 * @writing: bytes of the RDMA write in flight, which begin at mem->skip
 * @ready: it is closed, and its memory has been registered if it is worth it
 * @advertised: SrcAvail is with the engine
 * @by_message: what is left goes in messages
 * @refs: references: of its segment, of an RDMA write in flight, of a writer
 *	that works on it, and of @ready_work
 * @ready_work: makes it ready
 * @work: frees it
 */
struct sdp_background {
	struct sdp_sock *ssk;
	struct sk_buff *skb;
	struct sdp_background_mem bytes;
	struct sdp_srcavail_send srcavail;
	u32 charged;
	u32 gone;
	u32 writing;
	bool ready;
	bool advertised;
	bool by_message;
	refcount_t refs;
	struct work_struct ready_work;
	struct work_struct work;
};

/**
 * sdp_background_left() - bytes that have not left for the peer
 * @b: background write; the socket is locked, or nobody else knows @b
 *
 * Return: number of bytes.
 */
static inline u32 sdp_background_left(const struct sdp_background *b)
{
	return b->bytes.pages.len - b->gone;
}

struct sdp_background *sdp_background_new(struct sdp_sock *ssk);
void sdp_background_free(struct sdp_background *b);
void sdp_background_put(struct sdp_background *b);
void sdp_background_make_ready(struct sdp_background *b);
void sdp_background_next(struct sdp_sock *ssk, struct sk_buff *head);
struct sk_buff *sdp_background_cut(struct sdp_sock *ssk, u32 max);
void sdp_background_drop(struct sk_buff *skb);

#endif /* SDP_ZCOPY_BACKGROUND_H */
