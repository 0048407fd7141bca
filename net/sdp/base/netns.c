// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that all namespaces share, and the text setting of a namespace.
 *
 * The limits are of memory and of orphans; the text is net.sdp.rail_devices.
 * control/sysctl.c shows and sets them, conn/memory.c chooses the first values
 * of the limits.
 */
#include <linux/mutex.h>
#include <linux/string.h>

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

/* Covers sdp_settings.rail_devices of all namespaces. */
static DEFINE_MUTEX(rail_devices_lock);

/**
 * sdp_rail_devices_get() - get the setting rail_devices
 * @setting: sdp_settings.rail_devices
 * @text: filled in
 */
void sdp_rail_devices_get(char *setting, char text[SDP_RAIL_DEVICES_LEN])
{
	mutex_lock(&rail_devices_lock);
	strscpy(text, setting, SDP_RAIL_DEVICES_LEN);
	mutex_unlock(&rail_devices_lock);
}

/**
 * sdp_rail_devices_set() - change the setting rail_devices
 * @setting: sdp_settings.rail_devices
 * @text: names with blanks in between, shorter than %SDP_RAIL_DEVICES_LEN
 */
void sdp_rail_devices_set(char *setting, const char *text)
{
	mutex_lock(&rail_devices_lock);
	strscpy(setting, text, SDP_RAIL_DEVICES_LEN);
	mutex_unlock(&rail_devices_lock);
}

/* Is @name one of the words of @text? */
static bool has_word(const char *text, const char *name)
{
	size_t len = strlen(name), n;

	while (*(text += strspn(text, " "))) {
		n = strcspn(text, " ");
		if (n == len && !memcmp(text, name, n))
			return true;
		text += n;
	}
	return false;
}

/**
 * sdp_rail_device_wanted() - may further rails use an RDMA device?
 * @net: namespace
 * @name: name of the device
 *
 * May sleep.
 *
 * Return: true if the setting rail_devices names it, or no device at all.
 */
bool sdp_rail_device_wanted(const struct net *net, const char *name)
{
	const char *setting = sdp_net(net)->settings.rail_devices;
	bool wanted;

	mutex_lock(&rail_devices_lock);
	wanted = !setting[strspn(setting, " ")] || has_word(setting, name);
	mutex_unlock(&rail_devices_lock);
	return wanted;
}
