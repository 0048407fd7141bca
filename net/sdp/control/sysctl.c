// SPDX-License-Identifier: GPL-2.0
/*
 * Settings net.sdp.* of a namespace, and those of the whole machine.
 *
 * Each setting of a namespace is a number within bounds, one of a few words, or
 * a list of names.
 * It is read without a lock when it is used, most often when a connection is
 * made (sdp-sysctl.rst).
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <uapi/linux/sdp.h>

#include "../proto/rail.h"
#include "netns.h"
#include "../proto/credit.h"
#include "../proto/datagram.h"
#include "../transport/transport.h"
#include "../transport/buf.h"

/* Bounds of the settings. */
static int none = -1;
static int zero;
static int one = 1;
static int three_bits = 7;
static int rails_max = SDP_RAILS_MAX;
static int buffers_min = SDP_RECV_BUFFERS_MIN;
static int buffers_max = 1024;
static int size_min = 256;
static int size_max = SDP_BUF_MAX;
static int splits_max = 10000;
static int srcavails_max = 1000;
static int reader_wait_max = 60 * 1000;
static int scan_min = 10;
static int timeout_min = 100;
static int timeout_max = 3600 * 1000;
static int ring_max = SDP_RING_SIZE_MAX;
static int window_min = SDP_RING_WINDOW_MIN;
static int window_max = SDP_RING_WINDOW_MAX;
static int packets_max = SDP_WINDOW_ACCEPTING;
static int slots_min = 4;
static int memory_min = 4096;
static int memory_max = 1 << 30;

static const char * const flow_schemes[] = {
	[SDP_FLOW_CREDIT] = "credit",
	[SDP_FLOW_RDMA] = "rdma",
	[SDP_FLOW_NIC] = "nic",
};

static const char * const services[] = {
	[SDP_SERVICE_RC] = "rc",
	[SDP_SERVICE_UD] = "ud",
	[SDP_SERVICE_AUTO] = "auto",
};

/* A setting whose value is shown and set as one of @n @words. */
static int do_word(sdp_ctl_table *table, int write, void *buffer, size_t *len,
		   loff_t *pos, const char * const *words, size_t n)
{
	unsigned int *value = table->data;
	char word[16] = "";
	struct ctl_table text = { .data = word, .maxlen = sizeof(word) };
	int err;

	if (!write)
		strscpy(word, words[READ_ONCE(*value)], sizeof(word));
	err = proc_dostring(&text, write, buffer, len, pos);
	if (err || !write)
		return err;
	err = match_string(words, n, word);
	if (err < 0)
		return -EINVAL;
	WRITE_ONCE(*value, err);
	return 0;
}

static int sysctl_do_scheme(sdp_ctl_table *table, int write, void *buffer,
			    size_t *len, loff_t *pos)
{
	return do_word(table, write, buffer, len, pos, flow_schemes,
		       ARRAY_SIZE(flow_schemes));
}

static int sysctl_do_service(sdp_ctl_table *table, int write, void *buffer,
			     size_t *len, loff_t *pos)
{
	return do_word(table, write, buffer, len, pos, services,
		       ARRAY_SIZE(services));
}

/* Handler of rail_devices. Too long a text is refused, not cut. */
static int sysctl_do_devices(sdp_ctl_table *table, int write, void *buffer,
			     size_t *len, loff_t *pos)
{
	char text[SDP_RAIL_DEVICES_LEN + 1] = "";
	struct ctl_table whole = { .data = text, .maxlen = sizeof(text) };
	int err;

	if (!write)
		sdp_rail_devices_get(table->data, text);
	err = proc_dostring(&whole, write, buffer, len, pos);
	if (err || !write)
		return err;
	if (strlen(text) >= SDP_RAIL_DEVICES_LEN)
		return -EINVAL;
	sdp_rail_devices_set(table->data, text);
	sdp_rails_paths_changed();
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

/*
 * Settings of a namespace. Here .data is an offset; each namespace gets a copy
 * of the table whose .data points to its own settings.
 */
static const struct ctl_table net_table[] = {
	SDP_SETTING(recv_buffers, &buffers_min, &buffers_max),
	SDP_SETTING(idle_buffers, &buffers_min, &buffers_max),
	SDP_SETTING(recv_buffer_size, &size_min, &size_max),
	SDP_SETTING(recv_buffer_max, &zero, &size_max),
	SDP_SETTING(resize_after, &one, &splits_max),
	SDP_SETTING(resize_idle_ms, &timeout_min, &timeout_max),
	SDP_SETTING(rdma_threshold, &none, &memory_max),
	SDP_SETTING(rdma_read, &zero, &one),
	SDP_SETTING(invalidate, &zero, &one),
	SDP_SETTING(rails, &one, &rails_max),
	SDP_SETTING(rail_wait_ms, &zero, &timeout_max),
	{
		.procname	= "rail_devices",
		.data		= (void *)offsetof(struct sdp_settings,
						   rail_devices),
		.maxlen		= SDP_RAIL_DEVICES_LEN,
		.mode		= 0644,
		.proc_handler	= sysctl_do_devices,
	},
	SDP_SETTING(mode_after, &one, &srcavails_max),
	SDP_SETTING(reader_wait_ms, &one, &reader_wait_max),
	SDP_SETTING(scan_ms, &scan_min, &timeout_max),
	SDP_SETTING(scan_count, &one, &splits_max),
	{
		.procname	= "flow_control",
		.data		= (void *)offsetof(struct sdp_settings,
						   flow_control),
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= sysctl_do_scheme,
	},
	{
		.procname	= "service",
		.data		= (void *)offsetof(struct sdp_settings,
						   service),
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= sysctl_do_service,
	},
	SDP_SETTING(datagram_window, &one, &packets_max),
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

static int sysctl_do_mem(sdp_ctl_table *table, int write, void *buffer,
			 size_t *len, loff_t *pos)
{
	int err = proc_doulongvec_minmax(table, write, buffer, len, pos);

	if (write)
		sdp_mem_changed();
	return err;
}

static struct ctl_table global_table[] = {
	{
		.procname	= "mem",
		.data		= sdp_mem,
		.maxlen		= sizeof(sdp_mem),
		.mode		= 0644,
		.proc_handler	= sysctl_do_mem,
	},
	{
		.procname	= "max_orphans",
		.data		= &sdp_max_orphans,
		.maxlen		= sizeof(sdp_max_orphans),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
	},
	{ }
};

static struct ctl_table_header *global;

/**
 * sdp_sysctl_init() - register the settings of the whole machine
 *
 * Like tcp_mem, they exist in the initial namespace only.
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
 * sdp_sysctl_register() - register the settings of a namespace
 * @net: namespace
 * @sn: its state
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_sysctl_register(struct net *net, struct sdp_net *sn)
{
	struct ctl_table *table =
		kmemdup(net_table, sizeof(net_table), GFP_KERNEL);
	struct ctl_table *entry;

	if (!table)
		return -ENOMEM;
	for (entry = table; entry->procname; entry++)
		entry->data = (u8 *)&sn->settings + (uintptr_t)entry->data;
	sn->sysctl = sdp_register_net_sysctl(net, "net/sdp", table,
					     ARRAY_SIZE(net_table) - 1);
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
