// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: their names and sums.
 */
#include "netns.h"

/**
 * sdp_stat_name() - what a counter is called
 * @which: counter
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
 * sdp_stat_sum() - a counter's value
 * @net: namespace
 * @which: counter
 *
 * They go on counting meanwhile; each one's part is a whole word.
 *
 * Return: the sum over all CPUs.
 */
unsigned long sdp_stat_sum(const struct net *net, enum sdp_stat which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(
			per_cpu_ptr(sdp_net(net)->mib, cpu)->count[which]);
	return sum;
}
