/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SDP: the generic netlink family "sdp".
 *
 * A request is about the network namespace of the netlink socket that sends it.
 * "CAP_NET_ADMIN" below is the capability in the user namespace that owns this
 * network namespace; without it a request fails with EPERM.
 *
 * An address attribute has 4 bytes (IPv4) or 16 bytes (IPv6) in network order.
 * Ports are in host order. Strings in answers end with NUL; in requests the NUL
 * may be left out. Later versions may add attributes to answers.
 */
#ifndef _UAPI_LINUX_SDP_NETLINK_H
#define _UAPI_LINUX_SDP_NETLINK_H

#define SDP_GENL_NAME		"sdp"
#define SDP_GENL_VERSION	1

/**
 * enum sdp_cmd - requests
 * @SDP_CMD_UNSPEC: not used
 * @SDP_CMD_POLICY_GET: do; the answer has all of &enum sdp_policy_attr
 * @SDP_CMD_POLICY_SET: do, CAP_NET_ADMIN; sets any of TEXT, REWRITE,
 *	FALLBACK_MS and FALLBACK_MEMORY_MS. On an error nothing is set. When
 *	TEXT has a mistake, the error is EINVAL, and ERROR of POLICY_GET and
 *	net.sdp.policy_error describe it; so does the message of the extended
 *	acknowledgment, since Linux 6.2. Other errors: E2BIG (TEXT has more
 *	than 16384 bytes), ERANGE, EOPNOTSUPP (REWRITE is 1, and this kernel
 *	cannot trace new sockets), EPERM (also when REWRITE is 1
 *	and net.sdp.unprivileged_rewrite is 0)
 * @SDP_CMD_POLICY_EXPLAIN: do; asks what would become of a socket, see
 *	&enum sdp_explain_attr
 * @SDP_CMD_SOCK_GET: dump; the SDP sockets of the namespace, each with
 *	&enum sdp_sock_attr
 * @SDP_CMD_FALLBACK_GET: dump, CAP_NET_ADMIN; the latest fallbacks to TCP,
 *	oldest first, each with &enum sdp_fell_attr
 * @SDP_CMD_STAT_GET: dump; the counters of /proc/net/sdpstat, each with
 *	&enum sdp_stat_attr
 * @SDP_CMD_SOCK_KILL: do, CAP_NET_ADMIN; aborts the connection with the given
 *	LOCAL, LOCAL_PORT, PEER and PEER_PORT and, optionally, INODE of
 *	&enum sdp_sock_attr. The application gets ECONNABORTED, and the peer
 *	sees a reset. ENOENT: there is no such connection
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
	/* private: */
	__SDP_CMD_MAX
};

#define SDP_CMD_MAX	(__SDP_CMD_MAX - 1)

/**
 * enum sdp_policy_attr - attributes of POLICY_GET and POLICY_SET
 * @SDP_POLICY_A_UNSPEC: not used
 * @SDP_POLICY_A_TEXT: string; the rules, net.sdp.policy
 * @SDP_POLICY_A_ERROR: string, answers only; the mistake in the last text if it
 *	was refused, else empty, net.sdp.policy_error
 * @SDP_POLICY_A_REWRITE: u8, 0 or 1; whether the rules are applied to new
 *	sockets, net.sdp.rewrite
 * @SDP_POLICY_A_FALLBACK_MS: u32, milliseconds; how long a connect tries SDP
 *	before TCP, net.sdp.fallback_ms
 * @SDP_POLICY_A_FALLBACK_MEMORY_MS: u32, milliseconds; how long a peer that did
 *	not answer is connected to by TCP at once, net.sdp.fallback_memory_ms
 */
enum sdp_policy_attr {
	SDP_POLICY_A_UNSPEC,
	SDP_POLICY_A_TEXT,
	SDP_POLICY_A_ERROR,
	SDP_POLICY_A_REWRITE,
	SDP_POLICY_A_FALLBACK_MS,
	SDP_POLICY_A_FALLBACK_MEMORY_MS,
	/* private: */
	__SDP_POLICY_A_MAX
};

#define SDP_POLICY_A_MAX	(__SDP_POLICY_A_MAX - 1)

/**
 * enum sdp_explain_attr - attributes of POLICY_EXPLAIN
 * @SDP_EXPLAIN_A_UNSPEC: not used
 * @SDP_EXPLAIN_A_ROLE: u8, required; 0: the socket listens, 1: it connects
 * @SDP_EXPLAIN_A_ADDR: address, required; bound, or connected to
 * @SDP_EXPLAIN_A_PORT: u16, required; port that belongs to ADDR
 * @SDP_EXPLAIN_A_COMM: string; command name of the process, cut to 15 bytes. A
 *	rule with a condition on a name or path that is left out does not match
 * @SDP_EXPLAIN_A_PATH: string; path of its executable
 * @SDP_EXPLAIN_A_CGROUP: string; path of its control group (v2)
 * @SDP_EXPLAIN_A_UID: u32; its user ID in the initial user namespace, by
 *	default that of the requesting process
 * @SDP_EXPLAIN_A_VERDICT: string, answer; "sdp", "tcp" or "both", whether
 *	net.sdp.rewrite is 1 or not
 * @SDP_EXPLAIN_A_LINE: u32, answer, if a rule matches; line in the text on
 *	which the rule begins, from 1
 * @SDP_EXPLAIN_A_RULE: string, answer, if a rule matches; that line
 * @SDP_EXPLAIN_A_REWRITE: u8, answer; net.sdp.rewrite, 0 or 1
 * @SDP_EXPLAIN_A_SILENT_MS: u32, milliseconds, answer for a connect; how long
 *	SDP is still skipped because the peer did not answer; left out when SDP
 *	is tried
 * @SDP_EXPLAIN_A_DEVICE: string, answer for a connect; the RDMA device that the
 *	route leads to, or "loop"; left out when there is none
 * @SDP_EXPLAIN_A_SCOPE: u32; index of the network interface if ADDR is a
 *	link-local address
 */
enum sdp_explain_attr {
	SDP_EXPLAIN_A_UNSPEC,
	SDP_EXPLAIN_A_ROLE,
	SDP_EXPLAIN_A_ADDR,
	SDP_EXPLAIN_A_PORT,
	SDP_EXPLAIN_A_COMM,
	SDP_EXPLAIN_A_PATH,
	SDP_EXPLAIN_A_CGROUP,
	SDP_EXPLAIN_A_UID,
	SDP_EXPLAIN_A_VERDICT,
	SDP_EXPLAIN_A_LINE,
	SDP_EXPLAIN_A_RULE,
	SDP_EXPLAIN_A_REWRITE,
	SDP_EXPLAIN_A_SILENT_MS,
	SDP_EXPLAIN_A_DEVICE,
	SDP_EXPLAIN_A_SCOPE,
	/* private: */
	__SDP_EXPLAIN_A_MAX
};

#define SDP_EXPLAIN_A_MAX	(__SDP_EXPLAIN_A_MAX - 1)

/**
 * enum sdp_sock_attr - attributes of SOCK_GET and SOCK_KILL
 * @SDP_SOCK_A_UNSPEC: not used
 * @SDP_SOCK_A_STATE: u8; TCP_ESTABLISHED and so on of linux/tcp_states.h
 * @SDP_SOCK_A_LOCAL: address; of this end
 * @SDP_SOCK_A_LOCAL_PORT: u16; of this end
 * @SDP_SOCK_A_PEER: address; of the peer
 * @SDP_SOCK_A_PEER_PORT: u16; of the peer
 * @SDP_SOCK_A_DEVICE: string; the RDMA device, or "loop"; left out without a
 *	connection
 * @SDP_SOCK_A_UID: u32; owner, in the user namespace of the netlink socket
 * @SDP_SOCK_A_INODE: u64; inode number, 0 without a file
 * @SDP_SOCK_A_RX_QUEUE: u32, bytes; arrived and not yet read. Of a listener:
 *	number of connections in its backlog
 * @SDP_SOCK_A_TX_QUEUE: u32, bytes; written and not known to have arrived
 * @SDP_SOCK_A_INFO: binary; struct sdp_info of linux/sdp.h; left out for a
 *	listener
 * @SDP_SOCK_A_PAD: padding in front of 64-bit attributes
 */
enum sdp_sock_attr {
	SDP_SOCK_A_UNSPEC,
	SDP_SOCK_A_STATE,
	SDP_SOCK_A_LOCAL,
	SDP_SOCK_A_LOCAL_PORT,
	SDP_SOCK_A_PEER,
	SDP_SOCK_A_PEER_PORT,
	SDP_SOCK_A_DEVICE,
	SDP_SOCK_A_UID,
	SDP_SOCK_A_INODE,
	SDP_SOCK_A_RX_QUEUE,
	SDP_SOCK_A_TX_QUEUE,
	SDP_SOCK_A_INFO,
	SDP_SOCK_A_PAD,
	/* private: */
	__SDP_SOCK_A_MAX
};

#define SDP_SOCK_A_MAX	(__SDP_SOCK_A_MAX - 1)

/**
 * enum sdp_fell_attr - attributes of FALLBACK_GET
 * @SDP_FELL_A_UNSPEC: not used
 * @SDP_FELL_A_AT: u64, seconds since 1970; time of the fallback
 * @SDP_FELL_A_PID: u32; process ID in the PID namespace of the reader, 0 if it
 *	has none there
 * @SDP_FELL_A_COMM: string; command name of the thread
 * @SDP_FELL_A_ROLE: u8; 0: the socket listens, 1: it connects
 * @SDP_FELL_A_ADDR: address; bound, or connected to
 * @SDP_FELL_A_PORT: u16; port that belongs to ADDR
 * @SDP_FELL_A_REASON: u8; enum sdp_fallback of linux/sdp.h
 * @SDP_FELL_A_TEXT: string; the reason in words
 * @SDP_FELL_A_INODE: u64; inode number of the socket
 * @SDP_FELL_A_PAD: padding in front of 64-bit attributes
 */
enum sdp_fell_attr {
	SDP_FELL_A_UNSPEC,
	SDP_FELL_A_AT,
	SDP_FELL_A_PID,
	SDP_FELL_A_COMM,
	SDP_FELL_A_ROLE,
	SDP_FELL_A_ADDR,
	SDP_FELL_A_PORT,
	SDP_FELL_A_REASON,
	SDP_FELL_A_TEXT,
	SDP_FELL_A_INODE,
	SDP_FELL_A_PAD,
	/* private: */
	__SDP_FELL_A_MAX
};

#define SDP_FELL_A_MAX	(__SDP_FELL_A_MAX - 1)

/**
 * enum sdp_stat_attr - attributes of STAT_GET
 * @SDP_STAT_A_UNSPEC: not used
 * @SDP_STAT_A_NAME: string; name of the counter, as in /proc/net/sdpstat
 * @SDP_STAT_A_VALUE: u64; its value
 * @SDP_STAT_A_PAD: padding in front of 64-bit attributes
 */
enum sdp_stat_attr {
	SDP_STAT_A_UNSPEC,
	SDP_STAT_A_NAME,
	SDP_STAT_A_VALUE,
	SDP_STAT_A_PAD,
	/* private: */
	__SDP_STAT_A_MAX
};

#define SDP_STAT_A_MAX	(__SDP_STAT_A_MAX - 1)

#endif /* _UAPI_LINUX_SDP_NETLINK_H */
