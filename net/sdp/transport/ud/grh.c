// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: the network header in front of a datagram that has arrived.
 *
 * The adapter writes it, so it tells what the sender of the datagram cannot
 * forge without the network's help. It is that of InfiniBand (GRH) or IPv6, or
 * it ends with that of IPv4.
 */
#include "ud.h"

static enum rdma_network_type network_of(const u8 *grh, const struct ib_wc *wc)
{
	const union rdma_network_hdr *hdr = (const void *)grh;

	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		return wc->network_hdr_type;
	return ib_get_rdma_header_version(hdr) == 4 ? RDMA_NETWORK_IPV4 :
						      RDMA_NETWORK_IPV6;
}

/**
 * ud_grh_gids() - the addresses of a datagram
 * @grh: its network header
 * @wc: its completion
 * @from: filled in: address that it comes from
 * @to: filled in: address of ours
 *
 * Return: false if it has none.
 */
bool ud_grh_gids(const u8 *grh, const struct ib_wc *wc, union ib_gid *from,
		 union ib_gid *to)
{
	const union rdma_network_hdr *hdr = (const void *)grh;

	return wc->wc_flags & IB_WC_GRH &&
	       !ib_get_gids_from_rdma_hdr(hdr, network_of(grh, wc), from, to);
}

/**
 * ud_grh_marked() - has the network marked a datagram: congestion experienced?
 * @grh: its network header
 * @wc: its completion
 *
 * Return: true if it has.
 */
bool ud_grh_marked(const u8 *grh, const struct ib_wc *wc)
{
	const union rdma_network_hdr *hdr = (const void *)grh;
	u32 class;

	if (network_of(grh, wc) == RDMA_NETWORK_IPV4)
		class = hdr->roce4grh.tos;
	else
		class = be32_to_cpu(hdr->ibgrh.version_tclass_flow) >> 20;
	return (class & UD_ECN_MASK) == UD_ECN_MASK;
}
