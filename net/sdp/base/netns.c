// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that all namespaces share: memory and orphans.
 *
 * control/sysctl.c shows and sets them, conn/memory.c chooses the first values.
 */
#include "netns.h"

unsigned int sdp_net_id __read_mostly;

/*
 * net.sdp.mem, memory of all sockets in pages, with the three numbers of
 * tcp_mem: memory pressure ends below the first and begins above the second,
 * and the third is the limit.
 */
long sdp_mem[3];

/*
 * The copy of sdp_mem that the kernel gets (struct proto). Its second number is
 * -1, which makes SO_RESERVE_MEM fail: the kernel refuses the reservation if
 * more pages than this are allocated. A reservation would change
 * sk_forward_alloc under lock_sock(), while we change this field under
 * sdp_sock.lock. Before 6.2 a family cannot refuse the option itself.
 */
long sdp_mem_limits[3];

/**
 * sdp_mem_changed() - update sdp_mem_limits after a change of sdp_mem
 */
void sdp_mem_changed(void)
{
	WRITE_ONCE(sdp_mem_limits[0], READ_ONCE(sdp_mem[0]));
	WRITE_ONCE(sdp_mem_limits[1], -1);
	WRITE_ONCE(sdp_mem_limits[2], READ_ONCE(sdp_mem[2]));
}

/*
 * net.sdp.max_orphans, largest number of orphans in all namespaces, like
 * tcp_max_orphans.
 */
int sdp_max_orphans;
