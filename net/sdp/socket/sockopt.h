/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket options: files and tables.
 *
 *	sockopt.c	dispatch by level
 *	sockopt_table.c	tables of integer options
 *	sockopt_tcp.c	IPPROTO_TCP
 *	sockopt_ip.c	IPPROTO_IP and IPPROTO_IPV6
 *	sockopt_sock.c	SOL_SOCKET, as far as the kernel does not handle it
 *	sockopt_sdp.c	SOL_SDP
 *	info.c		TCP_INFO and SDP_INFO
 *
 * An option with an integer value is a row of a table, a struct sdp_option. Its
 * value is kept in struct sdp_options (conn/options.h).
 * Documentation/networking/sdp-options.rst describes the effect of each option;
 * change it together with the tables.
 */
#ifndef SDP_SOCKOPT_H
#define SDP_SOCKOPT_H

#include <linux/sockptr.h>

#include "../conn/sock.h"

/**
 * struct sdp_option - option with an integer value
 * @name: number of the option at its level
 * @field: offset of its value in struct sdp_options
 * @low: smallest valid value; setting a smaller one fails with EINVAL
 * @high: largest valid value; less than @low for a flag, which stores any other
 *	value than 0 as 1
 * @set: sets the value and returns 0 or a negative errno; NULL to check the
 *	range and store the value
 * @get: returns the value to report; NULL to report the stored one
 * @changed: applies a new value to the connection; NULL if there is nothing to
 *	do
 *
 * The functions are called without a lock.
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

/* A row's option, the member that stores it, and the range of its values. */
#define SDP_OPTION(opt, member, min, max)				\
	.name = (opt), .field = offsetof(struct sdp_options, member),	\
	.low = (min), .high = (max)
/* The same for a flag. */
#define SDP_OPTION_FLAG(opt, member)	SDP_OPTION(opt, member, 1, 0)

int sdp_option_set(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int val);
int sdp_option_get(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int *val);
int sdp_option_copy(char __user *value, int __user *len, const void *from,
		    int size);
int sdp_setsockopt(struct socket *sock, int level, int name, sockptr_t value,
		   unsigned int len);
int sdp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *len);

#endif /* SDP_SOCKOPT_H */
