// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that all namespaces share: memory and orphans.
 *
 * control/sysctl.c shows and sets them, conn/memory.c chooses the first values.
 */
#include "netns.h"

unsigned int sdp_net_id __read_mostly;

/*
 * net.sdp.mem, memory of all sockets in pages, like tcp_mem: no pressure below
 * the first number, pressure above the second, limit.
 */
long sdp_mem[3];

/*
 * The copy of sdp_mem that the kernel gets (struct proto). Its second number is
 * -1: the kernel compares with it to decide whether SO_RESERVE_MEM may reserve
 * memory, and it must not. The kernel would account a reservation in
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
