// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: detection of soft-RoCE reads that moved no data.
 *
 * soft-RoCE may complete an RDMA read with success before the last packet of
 * its answer has arrived. It does so when an unexpected ACK arrives: for a
 * request that was sent twice, or one that packets of the answer have
 * overtaken. Sometimes it then ends the queue pair, sometimes it continues.
 * Without this check we would pass on the old contents of our memory as bytes
 * of the peer.
 *
 * soft-RoCE copies an answer in order. So a complete read has written the last
 * bytes of its memory, and an incomplete one has not. Before we post a read,
 * we write a random value to these bytes, the seal. If the seal is still there
 * on completion, the read is void: its bytes are requested again or arrive in
 * messages. If the peer's bytes happen to equal the seal, a complete read is
 * taken for void, which costs only that repetition.
 *
 * soft-RoCE copies by kernel addresses. If it ever gets a DMA device, there are
 * no seals: none would reach a bounce buffer.
 *
 * A seal lies within the last packet of the answer. We do not know the length
 * of that packet, only that it begins at a multiple of the smallest MTU.
 */
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "rc.h"

/* Bytes of payload in a packet, for the smallest MTU of RDMA. */
#define RXE_SMALLEST_MTU	256

/**
 * rc_seal() - seal the memory of a read request before it is posted
 * @rc: link
 * @m: the memory; only %SDP_MEM_READ_INTO on soft-RoCE is sealed
 * @begin: offset of the request's first byte in @m
 * @end: offset behind its last byte
 */
void rc_seal(const struct rc_link *rc, struct rc_mem *m, u32 begin, u32 end)
{
	u32 last = (end - begin - 1) % RXE_SMALLEST_MTU + 1,
	    bytes = min_t(u32, last, RC_SEAL_BYTES);

	if (m->use != SDP_MEM_READ_INTO ||
	    rc->dev->ib->ops.driver_id != RDMA_DRIVER_RXE ||
	    !ib_uses_virt_dma(rc->dev->ib))
		return;
	if (!m->seals)
		get_random_bytes(m->seal, sizeof(m->seal));
	m->ends[m->seals].end = end;
	m->ends[m->seals++].bytes = bytes;
	sg_pcopy_from_buffer(m->sgt.sgl, m->sgt.orig_nents, m->seal, bytes,
			     end - bytes);
}

/**
 * rc_seals_overwritten() - have all requests of a read moved their data?
 * @m: the memory
 *
 * Return: true when no seal is left, or none was needed; false when a request
 * was not carried out, or seems not to have been.
 */
bool rc_seals_overwritten(const struct rc_mem *m)
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
