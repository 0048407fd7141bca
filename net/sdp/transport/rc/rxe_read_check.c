// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: whether a read has read anything.
 *
 * soft-RoCE may complete an RDMA read with success before its last packet has come. It does so when
 * it meets an ACK that it did not expect: of a request that was sent twice, or one that packets of
 * the answer have overtaken. Sometimes it then ends the queue pair, sometimes it goes on. To us
 * that would be bytes that the peer has never sent.
 *
 * It copies an answer in order, so of a read that has come to its end the last bytes have been
 * written, and of another one they have not. They get a value by chance before the read is posted,
 * the seal. If it is still there afterwards, the read is void, and the bytes are asked for again or
 * come in messages. A peer whose bytes happen to be the seal costs itself that; nothing else.
 *
 * A seal lies within the last packet, whose length is not known, but that it begins at a multiple
 * of the smallest MTU.
 */
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "rc.h"

#define SMALLEST_MTU	256

/**
 * rc_seal() - a request is about to be posted that reads into memory
 * @rc: link
 * @m: the memory; or memory for another use, of which nothing is wanted
 * @begin: first byte of it that the request is about
 * @end: behind its last one
 */
void rc_seal(const struct rc_link *rc, struct rc_mem *m, u32 begin, u32 end)
{
	u32 last = (end - begin - 1) % SMALLEST_MTU + 1,
	    bytes = min_t(u32, last, RC_SEAL_BYTES);

	if (m->use != SDP_MEM_READ_INTO ||
	    rc->dev->ib->ops.driver_id != RDMA_DRIVER_RXE)
		return;
	if (!m->seals)
		get_random_bytes(m->seal, sizeof(m->seal));
	m->ends[m->seals].end = end;
	m->ends[m->seals++].bytes = bytes;
	sg_pcopy_from_buffer(m->sgt.sgl, m->sgt.orig_nents, m->seal, bytes,
			     end - bytes);
}

/**
 * rc_seal_broken() - has everything been read that was posted?
 * @m: the memory
 *
 * Return: false when one of the requests has not been carried out, or seems so.
 */
bool rc_seal_broken(const struct rc_mem *m)
{
	u8 found[RC_SEAL_BYTES];
	unsigned int i;

	for (i = 0; i < m->seals; i++) {
		u32 bytes = m->ends[i].bytes;

		sg_pcopy_to_buffer(m->sgt.sgl, m->sgt.orig_nents, found, bytes,
				   m->ends[i].end - bytes);
		if (!memcmp(found, m->seal, bytes))
			return false;
	}
	return true;
}
