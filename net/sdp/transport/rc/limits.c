// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: what a device must offer, and links that fit its limits.
 *
 * A device that lacks one of SDP_DEVICE_NEEDED is not used, and the kernel's
 * log names what it lacks. Without another capability, or with a low limit,
 * connections work, but slower: by fewer or smaller messages, or without RDMA.
 *
 * No lock is needed: the attributes of a device do not change after ib_core has
 * told us of it.
 */
#include <linux/minmax.h>
#include <linux/module.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/iw_cm.h>

#include "rc.h"

/*
 * Smallest queues that a link works with: messages in flight and posted
 * receives. A rail needs 2 and 4 of them for itself.
 */
#define SENDS_LEAST	5
#define RECEIVES_LEAST	8
/* Requests of such a queue, and completions of both with some room. */
#define QUEUE_LEAST	(SENDS_LEAST + RC_SENDS_MORE)
#define CQ_LEAST	32

static ushort iwarp_port = 3935;
module_param(iwarp_port, ushort, 0444);
MODULE_PARM_DESC(iwarp_port,
		 "TCP port on iWARP devices; 0: they are not used");

/**
 * rc_iw_used() - do we use iWARP ports?
 * @ib: device
 * @port: port number of the device
 *
 * Return: true if it is an iWARP port, and a TCP port for it is set.
 */
bool rc_iw_used(const struct ib_device *ib, u32 port)
{
	return iwarp_port && rdma_cap_iw_cm(ib, port);
}

/**
 * rc_iw_reaches() - does an iWARP device serve a namespace?
 * @ib: device
 * @net: namespace
 *
 * Return: false for soft-iWARP in a namespace other than the initial one.
 */
bool rc_iw_reaches(const struct ib_device *ib, const struct net *net)
{
	return !(ib->iw_driver_flags & IW_F_NO_PORT_MAP) ||
	       net_eq(net, &init_net);
}

/**
 * rc_iw_tcp_port() - TCP port of AF_SDP on iWARP devices
 *
 * Return: the port, not 0 if rc_iw_used() is true.
 */
u16 rc_iw_tcp_port(void)
{
	return iwarp_port;
}

static bool device_connects(const struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port)
		if (rdma_cap_ib_cm(ib, port) || rc_iw_used(ib, port))
			return true;
	return false;
}

/**
 * rc_region_page() - page size of a memory region
 * @ib: device
 *
 * PAGE_SIZE itself may be no size of the device: it may be 64 KiB where the
 * device has 4 KiB and 2 MiB. A device that states no sizes has 4 KiB.
 *
 * Return: the largest page size of the device that does not exceed PAGE_SIZE,
 * or 0 if there is none.
 */
u32 rc_region_page(const struct ib_device *ib)
{
	u64 sizes = ib->attrs.page_size_cap ?: SZ_4K;

	sizes &= GENMASK_ULL(PAGE_SHIFT, 12);
	return sizes ? BIT(fls64(sizes) - 1) : 0;
}

/**
 * rc_region_pages() - pages of a region
 * @ib: device
 *
 * Return: pages for the longest transfer at any offset.
 */
u32 rc_region_pages(const struct ib_device *ib)
{
	return SDP_MEM_MAX / rc_region_page(ib) + 1;
}

/**
 * rc_mem_able() - check whether a device registers memory by a queue pair
 * @ib: device
 *
 * A device that cannot read by RDMA qualifies: the peer can write to its
 * memory (B5).
 *
 * iWARP devices do not qualify: frwr.c cannot connect a queue pair on them.
 *
 * ocrdma does not qualify. When it posts a registration, it derives the offset
 * in the first page from the address that the peer uses, which is random here.
 *
 * Return: true when the device can register memory.
 */
bool rc_mem_able(const struct ib_device *ib)
{
	return (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       !rdma_protocol_iwarp(ib, rdma_start_port(ib)) &&
	       ib->ops.driver_id != RDMA_DRIVER_OCRDMA && rc_region_page(ib) &&
	       ib->attrs.max_fast_reg_page_list_len >= rc_region_pages(ib);
}

/**
 * rc_mem_invalidates() - check whether a device can invalidate keys
 * @ib: device
 *
 * hns takes no request to invalidate a key, and prints a warning with a stack
 * trace when it gets one. Other devices that cannot do it refuse the first such
 * request, which clears rc_device.invalidates.
 *
 * Return: true when the device can, as far as is known.
 */
bool rc_mem_invalidates(const struct ib_device *ib)
{
	return ib->ops.driver_id != RDMA_DRIVER_HNS;
}

/**
 * rc_device_has() - capabilities of a device
 * @ib: device
 * @closed: its queue pairs allow no remote access, see key_opens_all()
 *
 * Return: SDP_DEVICE_* bits, but for SDP_DEVICE_DATAGRAMS.
 */
u32 rc_device_has(const struct ib_device *ib, bool closed)
{
	const struct ib_device_attr *attr = &ib->attrs;
	u32 has = 0;

	BUILD_BUG_ON(RECEIVES_LEAST + 2 > QUEUE_LEAST);
	if (device_connects(ib))
		has |= SDP_DEVICE_CM;
	/* The header is one piece, the payload another. */
	if (attr->max_send_sge >= 2)
		has |= SDP_DEVICE_SENDS;
	if (attr->max_qp_wr >= QUEUE_LEAST)
		has |= SDP_DEVICE_QUEUES;
	if (attr->max_cqe >= CQ_LEAST)
		has |= SDP_DEVICE_COMPLETIONS;
	if (attr->max_recv_sge >= sdp_buf_pieces(0, SDP_BUF_MAX))
		has |= SDP_DEVICE_RECEIVES;
	if (!closed)
		has |= SDP_DEVICE_KEYS;
	if (rc_mem_able(ib))
		has |= SDP_DEVICE_REGIONS;
	if (attr->max_qp_rd_atom > 0 && attr->max_qp_init_rd_atom > 0)
		has |= SDP_DEVICE_READS;
	if (rc_mem_invalidates(ib))
		has |= SDP_DEVICE_REVOKES;
	return has;
}

/**
 * rc_device_lack() - what a device lacks, so that we do not use it
 * @ib: device
 *
 * Return: the first thing in words, or NULL if it has all that it must have.
 */
const char *rc_device_lack(const struct ib_device *ib)
{
	u32 lacks = SDP_DEVICE_NEEDED & ~rc_device_has(ib, false);

	BUILD_BUG_ON(QUEUE_LEAST != 16 || CQ_LEAST != 32);
	if (lacks & SDP_DEVICE_CM)
		return "no port connects by ib_cm or iw_cm";
	if (lacks & SDP_DEVICE_SENDS)
		return "a send has fewer than 2 pieces";
	if (lacks & SDP_DEVICE_QUEUES)
		return "a queue has fewer than 16 requests";
	if (lacks & SDP_DEVICE_COMPLETIONS)
		return "a completion queue has fewer than 32 entries";
	return NULL;
}

/**
 * sdp_rc_uses() - is a device good enough for connections?
 * @ib: device
 *
 * Return: true if it lacks nothing that it must have.
 */
bool sdp_rc_uses(const struct ib_device *ib)
{
	return !rc_device_lack(ib);
}

/**
 * sdp_rc_fit_queues() - lower the limits of a link to a queue pair of a device
 * @ib: device, see sdp_rc_uses()
 * @config: limits of the link; the size of its receives is left as it is
 */
void sdp_rc_fit_queues(const struct ib_device *ib,
		       struct sdp_link_config *config)
{
	u32 cqes = ib->attrs.max_cqe - RC_CQES_MORE;
	u32 depth = ib->attrs.max_qp_wr;

	config->tx_frags = min_t(u32, config->tx_frags,
				 ib->attrs.max_send_sge - 1);
	config->send_slots = min3((u32)config->send_slots,
				  depth - RC_SENDS_MORE, cqes / 2);
	/* A receive for the drain, and one while a SinkAvail is out. */
	config->recv_max = min3((u32)config->recv_max, depth - 2,
				cqes - config->send_slots - 1);
}

/**
 * rc_fit() - lower the limits of a link to what its device supports
 * @ib: device, see sdp_rc_uses()
 * @config: limits of the link
 */
void rc_fit(const struct ib_device *ib, struct sdp_link_config *config)
{
	u32 pieces = max(ib->attrs.max_recv_sge, 1);

	if (sdp_buf_pieces(config->recv_size, 0) > pieces) {
		u32 paged = SDP_BSDH_LEN + (pieces - 1) * PAGE_SIZE;

		config->recv_size = max_t(u32, SDP_BUF_LINEAR_MAX, paged);
	}
	if (sdp_buf_pieces(0, config->recv_size_max) > pieces ||
	    config->recv_size_max <= config->recv_size)
		config->recv_size_max = 0;
	sdp_rc_fit_queues(ib, config);
}

/**
 * rc_limits_look() - describe a device
 * @ib: device
 * @closed: its queue pairs allow no remote access
 * @look: result
 */
void rc_limits_look(const struct ib_device *ib, bool closed,
		    struct sdp_device_look *look)
{
	strscpy(look->name, dev_name(&ib->dev), sizeof(look->name));
	look->index = ib->index;
	look->ports = ib->phys_port_cnt;
	look->has = rc_device_has(ib, closed);
	look->send_pieces = ib->attrs.max_send_sge;
	look->recv_pieces = ib->attrs.max_recv_sge;
	look->queue_depth = ib->attrs.max_qp_wr;
	look->cq_depth = ib->attrs.max_cqe;
	look->region_pages = ib->attrs.max_fast_reg_page_list_len;
	look->reads = max(ib->attrs.max_qp_rd_atom, 0);
	look->vectors = ib->num_comp_vectors;
}
