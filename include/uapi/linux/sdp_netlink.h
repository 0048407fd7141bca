/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sdp.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: scripts/netlink-spec.sh */

#ifndef _UAPI_LINUX_SDP_NETLINK_H
#define _UAPI_LINUX_SDP_NETLINK_H

#define SDP_GENL_NAME		"sdp"
#define SDP_GENL_VERSION	1

/**
 * enum sdp_nl_rail_state - State of a rail.
 * @SDP_NL_RAIL_JOINING: it is being connected
 * @SDP_NL_RAIL_ACTIVE: messages go by it
 * @SDP_NL_RAIL_SUSPECT: it makes no progress, and nothing new goes by it
 */
enum sdp_nl_rail_state {
	SDP_NL_RAIL_JOINING,
	SDP_NL_RAIL_ACTIVE,
	SDP_NL_RAIL_SUSPECT,
};

/**
 * enum sdp_nl_device_cap - What an RDMA device offers.
 * @SDP_NL_DEVICE_CM: a port of it connects by ib_cm or iw_cm
 * @SDP_NL_DEVICE_SENDS: a send has the two pieces that a message needs
 * @SDP_NL_DEVICE_QUEUES: a queue of requests has room for 16
 * @SDP_NL_DEVICE_COMPLETIONS: a completion queue has room for 32 entries
 * @SDP_NL_DEVICE_RECEIVES: a receive has the five pieces of one that has grown
 * @SDP_NL_DEVICE_KEYS: no key opens all memory to a peer
 * @SDP_NL_DEVICE_REGIONS: it registers memory for transfers of 1 MiB by
 *   requests
 * @SDP_NL_DEVICE_READS: RDMA reads
 * @SDP_NL_DEVICE_REVOKES: it invalidates a key by a request
 * @SDP_NL_DEVICE_DATAGRAMS: connections can go by datagrams (net.sdp.service)
 */
enum sdp_nl_device_cap {
	SDP_NL_DEVICE_CM = 1,
	SDP_NL_DEVICE_SENDS = 2,
	SDP_NL_DEVICE_QUEUES = 4,
	SDP_NL_DEVICE_COMPLETIONS = 8,
	SDP_NL_DEVICE_RECEIVES = 16,
	SDP_NL_DEVICE_KEYS = 32,
	SDP_NL_DEVICE_REGIONS = 64,
	SDP_NL_DEVICE_READS = 128,
	SDP_NL_DEVICE_REVOKES = 256,
	SDP_NL_DEVICE_DATAGRAMS = 512,
};

enum sdp_policy_attr {
	SDP_POLICY_A_UNSPEC,
	SDP_POLICY_A_TEXT,
	SDP_POLICY_A_ERROR,
	SDP_POLICY_A_REWRITE,
	SDP_POLICY_A_FALLBACK_MS,
	SDP_POLICY_A_FALLBACK_MEMORY_MS,

	__SDP_POLICY_A_MAX
};
#define SDP_POLICY_A_MAX (__SDP_POLICY_A_MAX - 1)

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

	__SDP_EXPLAIN_A_MAX
};
#define SDP_EXPLAIN_A_MAX (__SDP_EXPLAIN_A_MAX - 1)

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
	SDP_SOCK_A_RAILS,

	__SDP_SOCK_A_MAX
};
#define SDP_SOCK_A_MAX (__SDP_SOCK_A_MAX - 1)

enum sdp_rails_attr {
	SDP_RAILS_A_UNSPEC,
	SDP_RAILS_A_RAIL,

	__SDP_RAILS_A_MAX
};
#define SDP_RAILS_A_MAX (__SDP_RAILS_A_MAX - 1)

enum sdp_rail_attr {
	SDP_RAIL_A_UNSPEC,
	SDP_RAIL_A_NUMBER,
	SDP_RAIL_A_STATE,
	SDP_RAIL_A_LOCAL,
	SDP_RAIL_A_PEER,
	SDP_RAIL_A_DEVICE,
	SDP_RAIL_A_BYTES_SENT,
	SDP_RAIL_A_BYTES_RECEIVED,
	SDP_RAIL_A_PENDING,
	SDP_RAIL_A_SPEED,
	SDP_RAIL_A_SRTT,
	SDP_RAIL_A_PAD,

	__SDP_RAIL_A_MAX
};
#define SDP_RAIL_A_MAX (__SDP_RAIL_A_MAX - 1)

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

	__SDP_FELL_A_MAX
};
#define SDP_FELL_A_MAX (__SDP_FELL_A_MAX - 1)

enum sdp_stat_attr {
	SDP_STAT_A_UNSPEC,
	SDP_STAT_A_NAME,
	SDP_STAT_A_VALUE,
	SDP_STAT_A_PAD,

	__SDP_STAT_A_MAX
};
#define SDP_STAT_A_MAX (__SDP_STAT_A_MAX - 1)

enum sdp_device_attr {
	SDP_DEVICE_A_UNSPEC,
	SDP_DEVICE_A_NAME,
	SDP_DEVICE_A_PORTS,
	SDP_DEVICE_A_HAS,
	SDP_DEVICE_A_NEEDED,
	SDP_DEVICE_A_SEND_PIECES,
	SDP_DEVICE_A_RECV_PIECES,
	SDP_DEVICE_A_QUEUE_DEPTH,
	SDP_DEVICE_A_CQ_DEPTH,
	SDP_DEVICE_A_REGION_PAGES,
	SDP_DEVICE_A_READS,
	SDP_DEVICE_A_VECTORS,

	__SDP_DEVICE_A_MAX
};
#define SDP_DEVICE_A_MAX (__SDP_DEVICE_A_MAX - 1)

enum sdp_cmd {
	SDP_CMD_UNSPEC,
	SDP_CMD_POLICY_GET,
	SDP_CMD_POLICY_SET,
	SDP_CMD_POLICY_EXPLAIN,
	SDP_CMD_SOCK_GET,
	SDP_CMD_FALLBACK_GET,
	SDP_CMD_STAT_GET,
	SDP_CMD_SOCK_KILL,
	SDP_CMD_DEVICE_GET,

	__SDP_CMD_MAX
};
#define SDP_CMD_MAX (__SDP_CMD_MAX - 1)

#endif /* _UAPI_LINUX_SDP_NETLINK_H */
