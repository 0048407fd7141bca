// SPDX-License-Identifier: GPL-2.0
/* Netlink attributes of the kernel's answers, as JSON. */
#include <arpa/inet.h>
#include <string.h>

#include "netlink.h"
#include "output.h"

/**
 * sdp_attr_number() - an unsigned number of the attribute's size
 * @attr: attribute or NULL
 *
 * Return: a JSON integer, or NULL.
 */
json_t *sdp_attr_number(const struct nlattr *attr)
{
	uint64_t value;

	if (!attr)
		return NULL;
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		value = mnl_attr_get_u8(attr);
		break;
	case 2:
		value = mnl_attr_get_u16(attr);
		break;
	case 4:
		value = mnl_attr_get_u32(attr);
		break;
	case 8:
		value = mnl_attr_get_u64(attr);
		break;
	default:
		return NULL;
	}
	return sdp_need(json_integer((json_int_t)value));
}

/**
 * sdp_attr_bool() - a boolean
 * @attr: attribute or NULL
 *
 * Return: a JSON boolean, or NULL.
 */
json_t *sdp_attr_bool(const struct nlattr *attr)
{
	json_t *number = sdp_attr_number(attr), *answer = NULL;

	if (number)
		answer = json_boolean(json_integer_value(number));
	json_decref(number);
	return answer;
}

/**
 * sdp_attr_text() - text that any user may have chosen
 * @attr: attribute or NULL
 *
 * Return: a JSON string, see sdp_escaped(), or NULL.
 */
json_t *sdp_attr_text(const struct nlattr *attr)
{
	if (!attr)
		return NULL;
	return sdp_escaped(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
}

/**
 * sdp_attr_policy() - a policy, or a line of it: printable ASCII, as the kernel accepts no other
 * @attr: attribute or NULL
 *
 * Return: a JSON string, or NULL.
 */
json_t *sdp_attr_policy(const struct nlattr *attr)
{
	const char *text;

	if (!attr)
		return NULL;
	text = mnl_attr_get_payload(attr);
	return json_stringn(text, strnlen(text, mnl_attr_get_payload_len(attr))) ?:
	       sdp_attr_text(attr);
}

/**
 * sdp_attr_endpoint() - an address and a port
 * @addr: attribute or NULL
 * @port: attribute or NULL
 *
 * Return: a JSON object, or NULL.
 */
json_t *sdp_attr_endpoint(const struct nlattr *addr, const struct nlattr *port)
{
	char text[INET6_ADDRSTRLEN];
	int family;

	if (!addr || !port || mnl_attr_get_payload_len(port) != sizeof(uint16_t))
		return NULL;
	family = mnl_attr_get_payload_len(addr) == 4 ? AF_INET : AF_INET6;
	if (family == AF_INET6 && mnl_attr_get_payload_len(addr) != 16)
		return NULL;
	inet_ntop(family, mnl_attr_get_payload(addr), text, sizeof(text));
	return sdp_need(json_pack("{s:s, s:i}", "address", text, "port", mnl_attr_get_u16(port)));
}

/**
 * sdp_endpoint_text() - an address and a port in the usual notation
 * @endpoint: of sdp_attr_endpoint()
 *
 * Return: text for the caller to free.
 */
char *sdp_endpoint_text(const json_t *endpoint)
{
	const char *address = json_string_value(json_object_get(endpoint, "address"));
	long long port = json_integer_value(json_object_get(endpoint, "port"));

	return sdp_text(strchr(address, ':') ? "[%s]:%lld" : "%s:%lld", address, port);
}
