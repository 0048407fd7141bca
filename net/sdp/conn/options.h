/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options that a connection depends on, and their inheritance. */
#ifndef SDP_CONN_OPTIONS_H
#define SDP_CONN_OPTIONS_H

#include <linux/types.h>

struct sdp_sock;
struct sock;

/**
 * struct sdp_options - socket options as set by the application
 * @nodelay: TCP_NODELAY
 * @cork: TCP_CORK
 * @quickack: TCP_QUICKACK
 * @maxseg: TCP_MAXSEG
 * @window_clamp: TCP_WINDOW_CLAMP
 * @thin_timeouts: TCP_THIN_LINEAR_TIMEOUTS
 * @notsent_lowat: TCP_NOTSENT_LOWAT, 0 for no limit
 * @keepidle: TCP_KEEPIDLE in seconds, 0 for the namespace's value
 * @keepintvl: TCP_KEEPINTVL in seconds, 0 for the namespace's value
 * @keepcnt: TCP_KEEPCNT, 0 for the namespace's value
 * @user_timeout: TCP_USER_TIMEOUT in ms, or 0
 * @syncnt: TCP_SYNCNT, or 0
 * @linger2: TCP_LINGER2 in seconds, 0 for the setting fin_timeout_ms, -1 for no
 *	time at all
 * @defer_accept: TCP_DEFER_ACCEPT in seconds, rounded as TCP does
 * @fastopen: TCP_FASTOPEN
 * @fastopen_connect: TCP_FASTOPEN_CONNECT
 * @fastopen_no_cookie: TCP_FASTOPEN_NO_COOKIE
 * @save_syn: TCP_SAVE_SYN
 * @inq: TCP_INQ
 * @tos: IP_TOS
 * @ttl: IP_TTL, -1 for the namespace's value
 * @min_ttl: IP_MINTTL
 * @mtu_discover: IP_MTU_DISCOVER
 * @recverr: IP_RECVERR
 * @recvtos: IP_RECVTOS
 * @recvttl: IP_RECVTTL
 * @pktinfo: IP_PKTINFO
 * @freebind: IP_FREEBIND
 * @tclass: IPV6_TCLASS
 * @hops: IPV6_UNICAST_HOPS, -1 for the default
 * @min_hops: IPV6_MINHOPCOUNT
 * @mtu_discover6: IPV6_MTU_DISCOVER
 * @recverr6: IPV6_RECVERR
 * @recvtclass: IPV6_RECVTCLASS
 * @recvhops: IPV6_RECVHOPLIMIT
 * @recvpktinfo: IPV6_RECVPKTINFO
 * @rdma_threshold: SDP_RDMA_THRESHOLD in bytes, -1 for the namespace's value
 * @flow_control: SDP_FLOW_CONTROL (enum sdp_flow), -1 for the namespace's value
 * @program: SDP_PROGRAM
 * @rails: SDP_RAILS, 0 for the namespace's value
 * @service: SDP_SERVICE (enum sdp_service_kind), -1 for the namespace's value
 *
 * Read and written without a lock, by READ_ONCE() and WRITE_ONCE(). An accepted
 * socket starts with a copy of its listener's. Options that have a field in
 * struct sock are kept there.
 */
struct sdp_options {
	int nodelay;
	int cork;
	int quickack;
	int maxseg;
	int window_clamp;
	int thin_timeouts;
	int notsent_lowat;
	int keepidle;
	int keepintvl;
	int keepcnt;
	int user_timeout;
	int syncnt;
	int linger2;
	int defer_accept;
	int fastopen;
	int fastopen_connect;
	int fastopen_no_cookie;
	int save_syn;
	int inq;

	int tos;
	int ttl;
	int min_ttl;
	int mtu_discover;
	int recverr;
	int recvtos;
	int recvttl;
	int pktinfo;
	int freebind;

	int tclass;
	int hops;
	int min_hops;
	int mtu_discover6;
	int recverr6;
	int recvtclass;
	int recvhops;
	int recvpktinfo;

	int rdma_threshold;
	int flow_control;
	int program;
	int rails;
	int service;
};

void sdp_options_init(struct sdp_sock *ssk);
u8 sdp_tos(const struct sdp_sock *ssk, bool v4);
int sdp_backoff_seconds(int waits);
void sdp_sol_socket_inherit(struct sock *sk, const struct sock *from);
void sdp_options_inherit(struct sdp_sock *child, const struct sdp_sock *parent);

#endif /* SDP_CONN_OPTIONS_H */
