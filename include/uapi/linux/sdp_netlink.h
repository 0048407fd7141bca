/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The generic netlink family of AF_SDP: what is asked of, and told about, one network
 * namespace, that of the asking socket.
 */
#ifndef _UAPI_LINUX_SDP_NETLINK_H
#define _UAPI_LINUX_SDP_NETLINK_H

#define SDP_GENL_NAME		"sdp"
#define SDP_GENL_VERSION	1

/**
 * enum sdp_cmd - requests
 * @SDP_CMD_UNSPEC: none
 * @SDP_CMD_POLICY_GET: do; answered with &enum sdp_policy_attr: TEXT, ERROR, REWRITE,
 *	FALLBACK_MS, FALLBACK_MEMORY_MS
 * @SDP_CMD_POLICY_SET: do, CAP_NET_ADMIN of the namespace's owner; any of TEXT, REWRITE,
 *	FALLBACK_MS, FALLBACK_MEMORY_MS, all of them or none: EINVAL changes nothing. A mistake in
 *	TEXT is told as the sysctl policy_error does, in ERROR of a later GET (and as the extended
 *	acknowledgment's message where the kernel can)
 * @SDP_CMD_POLICY_EXPLAIN: do; what the policy in force says about &enum sdp_explain_attr: ROLE,
 *	ADDR, PORT and, as far as known, COMM, PATH, CGROUP, UID. Answered with VERDICT, LINE and
 *	RULE (when a rule matched), REWRITE, SILENT_MS (connect: the peer gave no answer and is
 *	not asked for so long), DEVICE (connect: of the route there; none when there is none)
 * @SDP_CMD_SOCK_GET: dump; the namespace's AF_SDP sockets, &enum sdp_sock_attr
 * @SDP_CMD_FALLBACK_GET: dump, CAP_NET_ADMIN; the last fall-backs, oldest first,
 *	&enum sdp_fell_attr
 * @SDP_CMD_STAT_GET: dump; the counters of /proc/net/sdpstat, &enum sdp_stat_attr
 * @SDP_CMD_SOCK_KILL: do, CAP_NET_ADMIN; ends the connection of
 *	&enum sdp_sock_attr: LOCAL, LOCAL_PORT, PEER, PEER_PORT and, to be sure,
 *	INODE. Its program is told ECONNABORTED, its peer sees a reset. ENOENT:
 *	there is none
 */
enum sdp_cmd {
	SDP_CMD_UNSPEC,
	SDP_CMD_POLICY_GET,
	SDP_CMD_POLICY_SET,
	SDP_CMD_POLICY_EXPLAIN,
	SDP_CMD_SOCK_GET,
	SDP_CMD_FALLBACK_GET,
	SDP_CMD_STAT_GET,
	SDP_CMD_SOCK_KILL,
	__SDP_CMD_MAX
};

#define SDP_CMD_MAX	(__SDP_CMD_MAX - 1)

/* Addresses are 4 bytes (IPv4) or 16 (IPv6), network order; ports are u16 in host order. */

enum sdp_policy_attr {
	SDP_POLICY_A_UNSPEC,
	SDP_POLICY_A_TEXT,		/* string */
	SDP_POLICY_A_ERROR,		/* string */
	SDP_POLICY_A_REWRITE,		/* u8: 0 or 1 */
	SDP_POLICY_A_FALLBACK_MS,	/* u32 */
	SDP_POLICY_A_FALLBACK_MEMORY_MS, /* u32 */
	__SDP_POLICY_A_MAX
};

#define SDP_POLICY_A_MAX	(__SDP_POLICY_A_MAX - 1)

enum sdp_explain_attr {
	SDP_EXPLAIN_A_UNSPEC,
	SDP_EXPLAIN_A_ROLE,		/* u8: 0 listen, 1 connect */
	SDP_EXPLAIN_A_ADDR,		/* binary */
	SDP_EXPLAIN_A_PORT,		/* u16 */
	SDP_EXPLAIN_A_COMM,		/* string */
	SDP_EXPLAIN_A_PATH,		/* string */
	SDP_EXPLAIN_A_CGROUP,		/* string */
	SDP_EXPLAIN_A_UID,		/* u32; the asking process's without it */
	SDP_EXPLAIN_A_VERDICT,		/* string: sdp, tcp, both */
	SDP_EXPLAIN_A_LINE,		/* u32, 1 is the first */
	SDP_EXPLAIN_A_RULE,		/* string: the rule's line of the text */
	SDP_EXPLAIN_A_REWRITE,		/* u8 */
	SDP_EXPLAIN_A_SILENT_MS,	/* u32 */
	SDP_EXPLAIN_A_DEVICE,		/* string: RDMA device, or "loop" */
	SDP_EXPLAIN_A_SCOPE,		/* u32: asked: interface of a link-local address */
	__SDP_EXPLAIN_A_MAX
};

#define SDP_EXPLAIN_A_MAX	(__SDP_EXPLAIN_A_MAX - 1)

enum sdp_sock_attr {
	SDP_SOCK_A_UNSPEC,
	SDP_SOCK_A_STATE,		/* u8: TCP_ESTABLISHED ... of linux/tcp_states.h */
	SDP_SOCK_A_LOCAL,		/* binary */
	SDP_SOCK_A_LOCAL_PORT,		/* u16 */
	SDP_SOCK_A_PEER,		/* binary */
	SDP_SOCK_A_PEER_PORT,		/* u16 */
	SDP_SOCK_A_DEVICE,		/* string: RDMA device or "loop"; none without a link */
	SDP_SOCK_A_UID,			/* u32 */
	SDP_SOCK_A_INODE,		/* u64 */
	SDP_SOCK_A_RX_QUEUE,		/* u32: as in /proc/net/sdp */
	SDP_SOCK_A_TX_QUEUE,		/* u32 */
	SDP_SOCK_A_INFO,		/* binary: struct sdp_info; not of listeners */
	SDP_SOCK_A_PAD,
	__SDP_SOCK_A_MAX
};

#define SDP_SOCK_A_MAX	(__SDP_SOCK_A_MAX - 1)

enum sdp_fell_attr {
	SDP_FELL_A_UNSPEC,
	SDP_FELL_A_AT,			/* u64: seconds since 1970 */
	SDP_FELL_A_PID,			/* u32 */
	SDP_FELL_A_COMM,		/* string */
	SDP_FELL_A_ROLE,		/* u8: 0 listen, 1 connect */
	SDP_FELL_A_ADDR,		/* binary */
	SDP_FELL_A_PORT,		/* u16 */
	SDP_FELL_A_REASON,		/* u8: enum sdp_fallback of linux/sdp.h */
	SDP_FELL_A_TEXT,		/* string: the same for people */
	SDP_FELL_A_INODE,		/* u64: of the socket */
	SDP_FELL_A_PAD,
	__SDP_FELL_A_MAX
};

#define SDP_FELL_A_MAX	(__SDP_FELL_A_MAX - 1)

enum sdp_stat_attr {
	SDP_STAT_A_UNSPEC,
	SDP_STAT_A_NAME,		/* string */
	SDP_STAT_A_VALUE,		/* u64 */
	SDP_STAT_A_PAD,
	__SDP_STAT_A_MAX
};

#define SDP_STAT_A_MAX	(__SDP_STAT_A_MAX - 1)

#endif /* _UAPI_LINUX_SDP_NETLINK_H */
