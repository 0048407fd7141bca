/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy's rules: which stream sockets of unmodified programs become SDP (J2).
 *
 *	connect 10.9.0.0/24:5201 program iperf3 both
 *	listen  *:80-89 uid 33 sdp
 *
 * Rules are asked top down and the first that matches decides; when none does, the socket
 * stays TCP. Documentation/networking/sdp-policy.rst has the grammar.
 *
 * Text in, an array of rules out; then questions to that array. Pure like the protocol
 * engine: no memory is allocated, nothing locks or sleeps, no socket is known here. A rule
 * keeps its patterns as places in the text it was parsed from, so both live equally long.
 */
#ifndef SDP_POLICY_RULES_H
#define SDP_POLICY_RULES_H

#include "../proto/base.h"

#define SDP_POLICY_RULES_MAX	256
#define SDP_POLICY_TEXT_MAX	16384	/* bytes, comments included */
#define SDP_POLICY_GLOB_MAX	255	/* bytes of one pattern */

enum sdp_role {
	SDP_ROLE_LISTEN,
	SDP_ROLE_CONNECT,
};

enum sdp_verdict {
	SDP_VERDICT_TCP,
	SDP_VERDICT_SDP,
	SDP_VERDICT_BOTH,	/* SDP, and TCP when that does not work */
	SDP_VERDICTS
};

/**
 * struct sdp_pattern - a glob, as a place in the policy's text
 * @at: offset of its first byte
 * @len: its bytes; 0 is no condition
 */
struct sdp_pattern {
	u16 at;
	u16 len;
};

/**
 * struct sdp_rule - one parsed rule
 * @roles: 1 << &enum sdp_role of each role that it is for
 * @verdict: &enum sdp_verdict
 * @line: where it begins in the text, 1 is the first line
 * @any_addr: it has no address; @addr and @prefix are 0
 * @prefix: leading bits of @addr that count, 0 to 128; 96 more than written for IPv4
 * @addr: IPv6 or v4-mapped address in network order, bits beyond @prefix are 0
 * @port_first: lowest port, host order; 0 for any
 * @port_last: highest port; 65535 for any
 * @uid_first: lowest user; 0 for any
 * @uid_last: highest user; 2^32 - 1 for any
 * @program: pattern for the command name
 * @path: pattern for the executable's path
 * @cgroup: pattern for the control group's path
 */
struct sdp_rule {
	u8 roles;
	u8 verdict;
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
 * struct sdp_query - what is known of a socket when its kind is decided
 * @role: does it listen or connect?
 * @comm: command name of the process (its first 15 bytes), or NULL when not known
 * @path: path of its executable, or NULL
 * @cgroup: path of its control group (v2), or NULL
 * @uid: effective user, in the numbers of the initial user namespace
 * @addr: address bound (listen) or to be connected to; IPv6 or v4-mapped, network order
 * @port: the port of @addr, host order
 *
 * Strings end with NUL. A rule with a condition on one that is not known does not match.
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
 * struct sdp_rules_error - why a text is not a policy
 * @line: 1 is the first
 * @column: in bytes, 1 is the first
 * @what: a constant string that goes on from "expected": what should have been there
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
