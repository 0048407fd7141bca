/* SPDX-License-Identifier: GPL-2.0 */
/* Requests by the generic netlink family of linux/sdp_netlink.h, with answers as JSON. */
#ifndef SDP_TOOL_NETLINK_H
#define SDP_TOOL_NETLINK_H

#include <jansson.h>
#include <libmnl/libmnl.h>
#include <linux/sdp_netlink.h>
#include <stdint.h>

#define SDP_NL_ROOM	65536	/* bytes of a request */
#define SDP_NL_ATTRS	64	/* more than any answer of the family has */

struct sdp_nl;

/**
 * typedef sdp_nl_reader - converts an answer to a JSON object
 * @attrs: its attributes by number, NULL for those that it does not have
 *
 * Return: the object, or NULL when the answer is not valid.
 */
typedef json_t *(*sdp_nl_reader)(const struct nlattr *const *attrs);

int sdp_nl_try(struct sdp_nl **nl);
int sdp_nl_open(struct sdp_nl **nl);
void sdp_nl_close(struct sdp_nl *nl);
struct nlmsghdr *sdp_nl_request(struct sdp_nl *nl, uint8_t command);
int sdp_nl_do(struct sdp_nl *nl, struct nlmsghdr *request, sdp_nl_reader reader, json_t **answer);
int sdp_nl_dump(struct sdp_nl *nl, uint8_t command, sdp_nl_reader reader, json_t **answers);
int sdp_nl_list(uint8_t command, const char *what, sdp_nl_reader reader, json_t **answers);
int sdp_nl_refused(const struct sdp_nl *nl, int error, const char *what);

/* Conversions of an attribute; NULL if it is missing or not valid. */
json_t *sdp_attr_number(const struct nlattr *attr);
json_t *sdp_attr_bool(const struct nlattr *attr);
json_t *sdp_attr_text(const struct nlattr *attr);
json_t *sdp_attr_policy(const struct nlattr *attr);
json_t *sdp_attr_address(const struct nlattr *attr);
json_t *sdp_attr_list(const struct nlattr *attr, uint16_t type, sdp_nl_reader reader);
json_t *sdp_attr_endpoint(const struct nlattr *addr, const struct nlattr *port);

char *sdp_endpoint_text(const json_t *endpoint);

#endif /* SDP_TOOL_NETLINK_H */
