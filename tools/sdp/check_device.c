// SPDX-License-Identifier: GPL-2.0
/* sdp check --device: what the module asks of an RDMA device, and which of it there is. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "netlink.h"
#include "output.h"
#include "sdp.h"

/**
 * struct capability - what a device may offer
 * @bit: SDP_NL_DEVICE_*
 * @name: for JSON
 * @text: for people
 * @attr: attribute with the number that decides, or 0
 * @use: what it is good for
 */
struct capability {
	uint32_t bit;
	const char *name;
	const char *text;
	uint16_t attr;
	const char *use;
};

static const struct capability capabilities[] = {
	{ SDP_NL_DEVICE_CM, "cm", "connections by ib_cm or iw_cm", 0, "needed" },
	{ SDP_NL_DEVICE_SENDS, "sends", "2 pieces in a send", SDP_DEVICE_A_SEND_PIECES,
	  "needed" },
	{ SDP_NL_DEVICE_QUEUES, "queues", "16 requests in a queue", SDP_DEVICE_A_QUEUE_DEPTH,
	  "needed" },
	{ SDP_NL_DEVICE_COMPLETIONS, "completions", "32 entries in a completion queue",
	  SDP_DEVICE_A_CQ_DEPTH, "needed" },
	{ SDP_NL_DEVICE_RECEIVES, "receives", "5 pieces in a receive", SDP_DEVICE_A_RECV_PIECES,
	  "messages up to 64 KiB" },
	{ SDP_NL_DEVICE_KEYS, "keys", "no key that opens all memory", 0, "any RDMA" },
	{ SDP_NL_DEVICE_REGIONS, "regions", "memory regions of 1 MiB", SDP_DEVICE_A_REGION_PAGES,
	  "RDMA of large writes, rings" },
	{ SDP_NL_DEVICE_READS, "reads", "RDMA reads", SDP_DEVICE_A_READS,
	  "large writes fetched by the reader" },
	{ SDP_NL_DEVICE_REVOKES, "revokes", "keys that a request invalidates", 0,
	  "RDMA without deregistration" },
	{ SDP_NL_DEVICE_DATAGRAMS, "datagrams", "RoCE v2, and long queues", 0,
	  "net.sdp.service ud and auto" },
};

#define CAPABILITIES	(sizeof(capabilities) / sizeof(capabilities[0]))

static uint32_t u32_of(const struct nlattr *attr)
{
	json_t *number = sdp_attr_number(attr);
	uint32_t value = json_integer_value(number);

	json_decref(number);
	return value;
}

static json_t *read_device(const struct nlattr *const *attrs)
{
	uint32_t has = u32_of(attrs[SDP_DEVICE_A_HAS]), needed = u32_of(attrs[SDP_DEVICE_A_NEEDED]);
	json_t *list = sdp_need(json_array());
	size_t i;

	for (i = 0; i < CAPABILITIES; i++) {
		const struct capability *c = &capabilities[i];

		json_array_append_new(list, sdp_need(json_pack("{s:s, s:b, s:b, s:o*}",
			"name", c->name, "has", !!(has & c->bit), "needed", !!(needed & c->bit),
			"number", c->attr ? sdp_attr_number(attrs[c->attr]) : NULL)));
	}
	return json_pack("{s:o, s:o, s:o*, s:b, s:o}",
			 "device", sdp_attr_text(attrs[SDP_DEVICE_A_NAME]),
			 "ports", sdp_attr_number(attrs[SDP_DEVICE_A_PORTS]),
			 "vectors", sdp_attr_number(attrs[SDP_DEVICE_A_VECTORS]),
			 "used", !(needed & ~has), "capabilities", list);
}

static char *number_text(const json_t *number)
{
	return number ? sdp_text("%lld", (long long)json_integer_value(number)) :
			sdp_text("%s", "");
}

static void print_device(const json_t *device)
{
	bool used = json_is_true(json_object_get(device, "used"));
	struct sdp_table table = { .columns = 4, .right = 1u << 2 };
	const json_t *capability;
	size_t i;

	printf("%s: %s\n", json_string_value(json_object_get(device, "device")),
	       used ? "used" : "not used: what is needed is not there");
	json_array_foreach(json_object_get(device, "capabilities"), i, capability) {
		bool has = json_is_true(json_object_get(capability, "has"));

		sdp_table_row(&table, sdp_text("  %s", has ? "ok" : "no"),
			      sdp_text("%s", capabilities[i].text),
			      number_text(json_object_get(capability, "number")),
			      sdp_text("%s", capabilities[i].use));
	}
	sdp_table_print(&table);
}

/* Keeps the device with a name; all of them without one. */
static void choose(json_t *devices, const char *name)
{
	size_t i = 0;

	while (name && i < json_array_size(devices)) {
		const json_t *device = json_array_get(devices, i);

		if (strcmp(json_string_value(json_object_get(device, "device")), name))
			json_array_remove(devices, i);
		else
			i++;
	}
}

static int conclude(const json_t *devices, const char *name)
{
	const json_t *device;
	int status = SDP_FINE;
	size_t i;

	if (!json_array_size(devices)) {
		if (name)
			fprintf(stderr, "sdp: no RDMA device %s in this namespace; see rdma link\n",
				name);
		else
			fprintf(stderr, "sdp: no RDMA device in this namespace; for soft-RoCE: "
				"rdma link add rxe0 type rxe netdev INTERFACE\n");
		return SDP_WRONG;
	}
	json_array_foreach(devices, i, device) {
		if (!sdp_json)
			print_device(device);
		if (!json_is_true(json_object_get(device, "used")))
			status = SDP_WRONG;
	}
	return status;
}

/**
 * sdp_check_device() - print what RDMA devices offer, and whether they are used
 * @name: device, or NULL for all
 *
 * Return: the program's status; %SDP_WRONG if there is none, or one is not used.
 */
int sdp_check_device(const char *name)
{
	json_t *devices;
	int status = sdp_nl_list(SDP_CMD_DEVICE_GET, "listing the devices", read_device, &devices);

	if (status)
		return status;
	choose(devices, name);
	if (sdp_json)
		sdp_print_json(devices);
	status = conclude(devices, name);
	json_decref(devices);
	return status;
}
