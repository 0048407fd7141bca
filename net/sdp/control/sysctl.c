// SPDX-License-Identifier: GPL-2.0
/*
 * net.sdp.*: the settings of a namespace. Each is a bounded number; a new value holds
 * for what is made afterwards.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <uapi/linux/sdp.h>

#include "../proto/credit.h"
#include "../transport/buf.h"
#include "netns.h"

static int none = -1;
static int zero;
static int one = 1;
static int three_bits = 7;
static int buffers_min = SDP_RECV_BUFFERS_MIN;
static int buffers_max = 1024;
static int size_min = 256;
static int size_max = SDP_BUF_MAX;
static int splits_max = 10000;
static int offers_max = 1000;
static int reader_wait_max = 60 * 1000;
static int scan_min = 10;
static int timeout_min = 100;
static int timeout_max = 3600 * 1000;
static int ring_max = SDP_RING_SIZE_MAX;
static int window_min = SDP_RING_WINDOW_MIN;
static int window_max = SDP_RING_WINDOW_MAX;
static int slots_min = 4;
static int memory_min = 4096;
static int memory_max = 1 << 30;

static const char * const schemes[] = {
	[SDP_FLOW_CREDIT] = "credit", [SDP_FLOW_RDMA] = "rdma", [SDP_FLOW_NIC] = "nic",
};

/* A setting that is one of a few words. */
static int do_scheme(sdp_ctl_table *table, int write, void *buffer, size_t *len,
		     loff_t *pos)
{
	unsigned int *value = table->data;
	char word[16] = "";
	struct ctl_table text = { .data = word, .maxlen = sizeof(word) };
	int err;

	if (!write)
		strscpy(word, schemes[READ_ONCE(*value)], sizeof(word));
	err = proc_dostring(&text, write, buffer, len, pos);
	if (err || !write)
		return err;
	err = match_string(schemes, ARRAY_SIZE(schemes), word);
	if (err < 0)
		return -EINVAL;
	WRITE_ONCE(*value, err);
	return 0;
}

#define SDP_SETTING(field, low, high) {					\
	.procname	= #field,					\
	.data		= (void *)offsetof(struct sdp_settings, field),	\
	.maxlen		= sizeof(unsigned int),				\
	.mode		= 0644,						\
	.proc_handler	= proc_dointvec_minmax,				\
	.extra1		= low,						\
	.extra2		= high,						\
}

/* .data is an offset here; each namespace gets a copy that points to its own settings. */
static const struct ctl_table template[] = {
	SDP_SETTING(recv_buffers, &buffers_min, &buffers_max),
	SDP_SETTING(recv_buffer_size, &size_min, &size_max),
	SDP_SETTING(recv_buffer_max, &zero, &size_max),
	SDP_SETTING(resize_after, &one, &splits_max),
	SDP_SETTING(resize_idle_ms, &timeout_min, &timeout_max),
	SDP_SETTING(rdma_threshold, &none, &memory_max),
	SDP_SETTING(rdma_read, &zero, &one),
	SDP_SETTING(invalidate, &zero, &one),
	SDP_SETTING(mode_after, &one, &offers_max),
	SDP_SETTING(reader_wait_ms, &one, &reader_wait_max),
	SDP_SETTING(scan_ms, &scan_min, &timeout_max),
	SDP_SETTING(scan_count, &one, &splits_max),
	{
		.procname	= "flow_control",
		.data		= (void *)offsetof(struct sdp_settings, flow_control),
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= do_scheme,
	},
	SDP_SETTING(ring_size, &zero, &ring_max),
	SDP_SETTING(ring_window, &window_min, &window_max),
	SDP_SETTING(ring_flush, &zero, &one),
	SDP_SETTING(send_buffers, &slots_min, &buffers_max),
	SDP_SETTING(accept_buffers, &buffers_min, &buffers_max),
	SDP_SETTING(credit_threshold, &zero, &buffers_max),
	SDP_SETTING(coalesce, &zero, &one),
	SDP_SETTING(connect_timeout_ms, &timeout_min, &timeout_max),
	SDP_SETTING(fin_timeout_ms, &timeout_min, &timeout_max),
	SDP_SETTING(retry_count, &one, &three_bits),
	SDP_SETTING(rnr_retry_count, &zero, &three_bits),
	SDP_SETTING(rmem_max, &memory_min, &memory_max),
	SDP_SETTING(wmem_max, &memory_min, &memory_max),
	SDP_SETTING(reset_removed, &zero, &one),
	{ }
};

/* Pages of all sockets together: no pressure below, pressure above, limit. As tcp_mem. */
long sdp_mem[3];

/*
 * The same for the kernel, but for the second number, by which it decides
 * whether SO_RESERVE_MEM may have memory: never. What that grants is counted
 * under lock_sock(), in a number that we count in under our own lock; and
 * before 6.2 the kernel does not ask the family about the option.
 */
long sdp_mem_limits[3];

/**
 * sdp_mem_changed() - the kernel is to go by net.sdp.mem as it is now
 */
void sdp_mem_changed(void)
{
	WRITE_ONCE(sdp_mem_limits[0], READ_ONCE(sdp_mem[0]));
	WRITE_ONCE(sdp_mem_limits[1], -1);
	WRITE_ONCE(sdp_mem_limits[2], READ_ONCE(sdp_mem[2]));
}

static int do_mem(sdp_ctl_table *table, int write, void *buffer, size_t *len,
		  loff_t *pos)
{
	int err = proc_doulongvec_minmax(table, write, buffer, len, pos);

	if (write)
		sdp_mem_changed();
	return err;
}

/* Closed sockets of all namespaces that still have a connection. As tcp_max_orphans. */
int sdp_max_orphans;

/* The administrator of a network namespace may switch its policy on. */
int sdp_unprivileged_rewrite = 1;

static struct ctl_table global_table[] = {
	{
		.procname	= "mem",
		.data		= sdp_mem,
		.maxlen		= sizeof(sdp_mem),
		.mode		= 0644,
		.proc_handler	= do_mem,
	},
	{
		.procname	= "max_orphans",
		.data		= &sdp_max_orphans,
		.maxlen		= sizeof(sdp_max_orphans),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
	},
	{
		.procname	= "unprivileged_rewrite",
		.data		= &sdp_unprivileged_rewrite,
		.maxlen		= sizeof(sdp_unprivileged_rewrite),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{ }
};

static struct ctl_table_header *global;

/**
 * sdp_sysctl_init() - make the settings that are one for the whole machine
 *
 * Like tcp_mem they are seen in the first namespace only.
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_sysctl_init(void)
{
	global = sdp_register_net_sysctl(&init_net, "net/sdp", global_table,
					 ARRAY_SIZE(global_table) - 1);
	return global ? 0 : -ENOMEM;
}

/**
 * sdp_sysctl_exit() - undo sdp_sysctl_init()
 */
void sdp_sysctl_exit(void)
{
	unregister_net_sysctl_table(global);
}

/**
 * sdp_sysctl_register() - make net.sdp.* of a namespace
 * @net: namespace
 * @sn: its state
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_sysctl_register(struct net *net, struct sdp_net *sn)
{
	struct ctl_table *table =
		kmemdup(template, sizeof(template), GFP_KERNEL);
	struct ctl_table *entry;

	if (!table)
		return -ENOMEM;
	for (entry = table; entry->procname; entry++)
		entry->data = (u8 *)&sn->settings + (uintptr_t)entry->data;
	sn->sysctl = sdp_register_net_sysctl(net, "net/sdp", table,
					     ARRAY_SIZE(template) - 1);
	if (sn->sysctl)
		return 0;
	kfree(table);
	return -ENOMEM;
}

/**
 * sdp_sysctl_unregister() - undo sdp_sysctl_register()
 * @sn: state of the namespace
 */
void sdp_sysctl_unregister(struct sdp_net *sn)
{
	const struct ctl_table *table = sn->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(sn->sysctl);
	kfree(table);
}
