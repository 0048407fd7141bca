/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket options: what is kept of them beyond struct sock, and the files that know them.
 *
 *	sockopt.c	dispatch by level, integers in and out, tables
 *	sockopt_tcp.c	IPPROTO_TCP
 *	sockopt_ip.c	IPPROTO_IP and IPPROTO_IPV6
 *	sockopt_sock.c	what SOL_SOCKET's own code cannot do for this family
 *	info.c		TCP_INFO, SDP_INFO
 *
 * An option that is one integer is a row of a table (struct sdp_option). What each one
 * means here is in Documentation/networking/sdp-options.rst, which has to follow.
 */
#ifndef SDP_OPTIONS_H
#define SDP_OPTIONS_H

#include <linux/sockptr.h>
#include <linux/types.h>

struct sdp_info;
struct sdp_sock;
struct socket;

/**
 * struct sdp_options - options as set; an accepted socket begins with its listener's
 * @nodelay: TCP_NODELAY
 * @cork: TCP_CORK
 * @quickack: TCP_QUICKACK
 * @maxseg: TCP_MAXSEG
 * @window_clamp: TCP_WINDOW_CLAMP
 * @thin_timeouts: TCP_THIN_LINEAR_TIMEOUTS
 * @notsent_lowat: TCP_NOTSENT_LOWAT, 0 for no limit
 * @keepidle: TCP_KEEPIDLE in seconds, 0 for the namespace's
 * @keepintvl: TCP_KEEPINTVL, likewise
 * @keepcnt: TCP_KEEPCNT, likewise
 * @user_timeout: TCP_USER_TIMEOUT in ms, or 0
 * @syncnt: TCP_SYNCNT, or 0
 * @linger2: TCP_LINGER2 in seconds, 0 for the setting, -1 for not at all
 * @defer_accept: TCP_DEFER_ACCEPT in seconds, rounded as TCP does
 * @fastopen: TCP_FASTOPEN
 * @fastopen_connect: TCP_FASTOPEN_CONNECT
 * @fastopen_no_cookie: TCP_FASTOPEN_NO_COOKIE
 * @save_syn: TCP_SAVE_SYN
 * @inq: TCP_INQ
 * @tos: IP_TOS
 * @ttl: IP_TTL, -1 for the namespace's
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
 * @rdma_threshold: SDP_RDMA_THRESHOLD, -1 for that of the namespace
 * @flow_control: SDP_FLOW_CONTROL, -1 for that of the namespace
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
};

/**
 * struct sdp_option - an option that is one integer
 * @name: its number at its level
 * @field: offset in struct sdp_options
 * @low: smallest value allowed; others are EINVAL
 * @high: largest one; below @low: the option is a flag, any value is taken as 0 or 1
 * @set: takes the value instead, or says why not; NULL to check and store it
 * @get: the value to show; NULL to show what is stored
 * @changed: what a new value leads to at once, or NULL
 */
struct sdp_option {
	int name;
	size_t field;
	int low;
	int high;
	int (*set)(struct sdp_sock *ssk, int val);
	int (*get)(struct sdp_sock *ssk);
	void (*changed)(struct sdp_sock *ssk);
};

#define SDP_OPTION(opt, member, min, max)				\
	.name = (opt), .field = offsetof(struct sdp_options, member), .low = (min), .high = (max)
#define SDP_OPTION_FLAG(opt, member)	SDP_OPTION(opt, member, 1, 0)

/* sockopt.c */
void sdp_options_init(struct sdp_sock *ssk);
int sdp_setsockopt(struct socket *sock, int level, int name, sockptr_t value,
		   unsigned int len);
int sdp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *len);
int sdp_option_set(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int val);
int sdp_option_get(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int *val);
int sdp_option_copy(char __user *value, int __user *len, const void *from,
		    int size);

/* ioctl.c */
int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

/* sockopt_tcp.c */
int sdp_backoff_seconds(int waits);
int sdp_tcp_set(struct sdp_sock *ssk, int name, sockptr_t value,
		unsigned int len);
int sdp_tcp_get(struct sdp_sock *ssk, int name, char __user *value,
		int __user *len);

/* sockopt_ip.c */
int sdp_ip_set(struct sdp_sock *ssk, int name, sockptr_t value,
	       unsigned int len);
int sdp_ip_get(struct sdp_sock *ssk, int name, char __user *value,
	       int __user *len);
int sdp_ipv6_set(struct sdp_sock *ssk, int name, sockptr_t value,
		 unsigned int len);
int sdp_ipv6_get(struct sdp_sock *ssk, int name, char __user *value,
		 int __user *len);

/* sockopt_sdp.c */
int sdp_own_set(struct sdp_sock *ssk, int name, sockptr_t value,
		unsigned int len);
int sdp_own_get(struct sdp_sock *ssk, int name, char __user *value,
		int __user *len);

/* sockopt_sock.c */
int sdp_sol_socket_set(struct socket *sock, int name, sockptr_t value,
		       unsigned int len);
void sdp_reach_rcvlowat(struct sock *sk, int val);
int sdp_set_rcvlowat(struct sock *sk, int val);
void sdp_sol_socket_inherit(struct sock *sk, const struct sock *from);
void sdp_options_inherit(struct sdp_sock *child, const struct sdp_sock *parent);

/* info.c */
int sdp_tcp_info(struct sdp_sock *ssk, char __user *value, int __user *len);
void sdp_info_fill(struct sdp_sock *ssk, struct sdp_info *info);
int sdp_info(struct sdp_sock *ssk, char __user *value, int __user *len);

#endif /* SDP_OPTIONS_H */
