// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: their names and their sums over all CPUs.
 */
#include "netns.h"

/**
 * sdp_stat_name() - name of a counter
 * @which: the counter
 *
 * Return: its name in /proc/net/sdpstat and in the documentation.
 */
const char *sdp_stat_name(enum sdp_stat which)
{
	static const char * const names[] = {
#define SDP_STAT_NAME(name) #name,
		SDP_STATS(SDP_STAT_NAME)
#undef SDP_STAT_NAME
	};

	return names[which];
}

/**
 * sdp_stat_sum() - value of a counter
 * @net: namespace
 * @which: the counter
 *
 * Takes no lock. Other CPUs may count meanwhile; each CPU's part is one word.
 *
 * Return: the sum over all CPUs.
 */
unsigned long sdp_stat_sum(const struct net *net, enum sdp_stat which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(sdp_net(net)->mib,
					     cpu)->count[which]);
	return sum;
}
