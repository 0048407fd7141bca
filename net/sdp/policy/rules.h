/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy rules: parse their text, find the rule for a socket (J2).
 *
 *	connect 10.9.0.0/24:5201 program iperf3 both
 *	listen  *:80-89 uid 33 sdp
 *
 * The rules decide which TCP sockets of unmodified applications become SDP
 * sockets. The first rule that matches decides. A socket that no rule matches
 * stays TCP. Documentation/networking/sdp-policy.rst has the grammar.
 *
 * sdp_rules_parse() turns a text into an array of rules, sdp_rules_match()
 * searches that array. Like the protocol engine, this code is pure: it does
 * not allocate, lock or sleep, and it knows no socket. A rule refers to its
 * patterns by their offsets in the text, so the caller keeps the text as long
 * as the array.
 */
#ifndef SDP_POLICY_RULES_H
#define SDP_POLICY_RULES_H

#include "../proto/base.h"

#define SDP_POLICY_RULES_MAX	256
#define SDP_POLICY_TEXT_MAX	16384	/* bytes, comments included */
#define SDP_POLICY_GLOB_MAX	255	/* bytes of one pattern */

/**
 * enum sdp_role - what a socket is about to do when its kind is decided
 * @SDP_ROLE_LISTEN: listen
 * @SDP_ROLE_CONNECT: connect
 *
 * The values are part of the netlink interface (netlink/specs/sdp.yaml).
 */
enum sdp_role {
	SDP_ROLE_LISTEN,
	SDP_ROLE_CONNECT,
};

/**
 * enum sdp_verdict - what a rule makes of a socket
 * @SDP_VERDICT_TCP: it stays TCP
 * @SDP_VERDICT_SDP: it becomes SDP, without a fallback
 * @SDP_VERDICT_BOTH: a connect uses SDP and, when that fails, TCP; a listener
 *	listens by both
 * @SDP_VERDICTS: number of verdicts
 */
enum sdp_verdict {
	SDP_VERDICT_TCP,
	SDP_VERDICT_SDP,
	SDP_VERDICT_BOTH,
	SDP_VERDICTS
};

/**
 * struct sdp_pattern - a glob pattern in the policy's text
 * @at: offset of its first byte in the text
 * @len: its length in bytes; 0: the rule has no such condition
 */
struct sdp_pattern {
	u16 at;
	u16 len;
};

/**
 * struct sdp_rule - one parsed rule
 * @roles: bit mask of 1 << &enum sdp_role, the roles that the rule is for
 * @verdict: &enum sdp_verdict
 * @service: 1 + enum sdp_service_kind, what carries connections; 0: the rule
 *	says nothing about it
 * @line: line of the text on which the rule begins, from 1
 * @any_addr: the rule matches every address; @addr and @prefix are 0
 * @prefix: number of leading bits of @addr that must match, 0 to 128; for IPv4
 *	this is 96 more than the prefix in the text
 * @addr: IPv6 or v4-mapped address in network order; bits beyond @prefix are 0
 * @port_first: lowest port, host order; 0 when every port matches
 * @port_last: highest port, host order; 65535 when every port matches
 * @uid_first: lowest user ID; 0 when every user matches
 * @uid_last: highest user ID; 2^32 - 1 when every user matches
 * @program: pattern for the command name
 * @path: pattern for the executable's path
 * @cgroup: pattern for the control group's path
 */
struct sdp_rule {
	u8 roles;
	u8 verdict;
	u8 service;
	u16 line;
	bool any_addr;
	u8 prefix;
	u8 addr[16];
	u16 port_first;
	u16 port_last;
	u32 uid_first;
	u32 uid_last;
	struct sdp_pattern program;
	struct sdp_pattern path;
	struct sdp_pattern cgroup;
};

/**
 * struct sdp_query - a socket and its process, for which a rule is wanted
 * @role: whether the socket is about to listen or to connect
 * @comm: command name of the process (its first 15 bytes), or NULL if unknown
 * @path: path of its executable, or NULL if unknown
 * @cgroup: path of its control group (v2), or NULL if unknown
 * @uid: user ID of the process (fsuid), as the initial user namespace maps it
 * @addr: address bound (listen) or to connect to (connect): IPv6 or v4-mapped,
 *	network order
 * @port: port that belongs to @addr, host order
 *
 * The strings are terminated by NUL. A rule with a condition on an unknown
 * string does not match.
 */
struct sdp_query {
	enum sdp_role role;
	const char *comm;
	const char *path;
	const char *cgroup;
	u32 uid;
	u8 addr[16];
	u16 port;
};

/**
 * struct sdp_rules_error - the first mistake in a text
 * @line: line of the mistake, from 1
 * @column: column of the mistake in bytes, from 1
 * @what: constant string that completes the message "expected ..."
 */
struct sdp_rules_error {
	unsigned int line;
	unsigned int column;
	const char *what;
};

unsigned int sdp_rules_bound(const char *text, size_t len);
int sdp_rules_parse(const char *text, size_t len, struct sdp_rule *rules,
		    unsigned int max, struct sdp_rules_error *error);

const struct sdp_rule *sdp_rules_match(const struct sdp_rule *rules,
				       unsigned int count, const char *text,
				       const struct sdp_query *query);
bool sdp_rules_need_path(const struct sdp_rule *rules, unsigned int count);
bool sdp_rules_need_cgroup(const struct sdp_rule *rules, unsigned int count);
const char *sdp_verdict_name(enum sdp_verdict verdict);

#endif /* SDP_POLICY_RULES_H */
