// SPDX-License-Identifier: GPL-2.0
/* Netlink attributes of the kernel's answers, as JSON. */
#include <arpa/inet.h>
#include <stdbool.h>
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

/* The address as text in @text, which has room for INET6_ADDRSTRLEN bytes; false if it is none. */
static bool address_text(const struct nlattr *attr, char *text)
{
	int family = attr && mnl_attr_get_payload_len(attr) == 4 ? AF_INET : AF_INET6;

	if (!attr || (family == AF_INET6 && mnl_attr_get_payload_len(attr) != 16))
		return false;
	return inet_ntop(family, mnl_attr_get_payload(attr), text, INET6_ADDRSTRLEN);
}

/**
 * sdp_attr_address() - an address
 * @attr: attribute or NULL
 *
 * Return: a JSON string, or NULL.
 */
json_t *sdp_attr_address(const struct nlattr *attr)
{
	char text[INET6_ADDRSTRLEN];

	return address_text(attr, text) ? sdp_need(json_string(text)) : NULL;
}

/**
 * sdp_attr_list() - attributes of one kind within an attribute, each of which has others
 * @attr: attribute or NULL
 * @type: their type
 * @reader: converts the attributes within each of them to a JSON object
 *
 * Return: a JSON array, or NULL.
 */
json_t *sdp_attr_list(const struct nlattr *attr, uint16_t type, sdp_nl_reader reader)
{
	const struct nlattr *one, *part;
	json_t *list;

	if (!attr)
		return NULL;
	list = sdp_need(json_array());
	mnl_attr_for_each_nested(one, attr) {
		const struct nlattr *attrs[SDP_NL_ATTRS] = {};
		json_t *value;

		if (mnl_attr_get_type(one) != type)
			continue;
		mnl_attr_for_each_nested(part, one)
			if (mnl_attr_get_type(part) < SDP_NL_ATTRS)
				attrs[mnl_attr_get_type(part)] = part;
		value = reader(attrs);
		if (value)
			json_array_append_new(list, value);
	}
	return list;
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

	if (!port || mnl_attr_get_payload_len(port) != sizeof(uint16_t) ||
	    !address_text(addr, text))
		return NULL;
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
