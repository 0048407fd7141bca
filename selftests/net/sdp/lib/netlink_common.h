/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the netlink family "sdp" and their answers.
 */
#ifndef SDP_TEST_NETLINK_COMMON_H
#define SDP_TEST_NETLINK_COMMON_H

#include "machine.h"
#include "policy_share.h"
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/sdp_netlink.h>
#include <sys/stat.h>

#define NL_ROOM		(64 * 1024)

/* Buffer size for dumps. Their parts are as large as the largest receive buffer so far. */
#define NL_PIECE	8192

/* A netlink socket, and what its last answer said. */
struct nl {
	struct mnl_socket *mnl;
	int family;
	unsigned int seq;
	char said[200];		/* message of the extended acknowledgment, or "" */
	int missing;		/* the attribute that is missing, or 0 */
	int bad;		/* offset of the rejected attribute in the request, or 0 */
};

/* A request under construction. */
struct request {
	union {
		struct nlmsghdr nlh;
		char room[NL_ROOM];
	};
};

typedef void (*nl_each)(const struct nlmsghdr *nlh, void *arg);

bool nl_take(struct nl *nl, const char *room, int n, nl_each each, void *arg, int *error);
void nl_send(struct nl *nl, struct request *r);
int nl_talk_sized(struct nl *nl, struct request *r, nl_each each, void *arg, size_t size);
int nl_talk(struct nl *nl, struct request *r, nl_each each, void *arg);
struct request *nl_do(struct nl *nl, int cmd);
struct request *nl_dump(struct nl *nl, int cmd);
struct nl nl_open(void);
void nl_close(struct nl *nl);
void nl_attrs(const struct nlmsghdr *nlh, const struct nlattr **attrs, int max);
const char *text_of(const struct nlattr *attr, const char *what);
unsigned int u8_of(const struct nlattr *attr, const char *what);
unsigned int u16_of(const struct nlattr *attr, const char *what);
unsigned int u32_of(const struct nlattr *attr, const char *what);
unsigned long long u64_of(const struct nlattr *attr, const char *what);
void put_addr(struct request *r, int which, const struct addr *a);
unsigned long long inode_of(int fd);

/* The policy of a namespace. */
struct shown {
	char text[POLICY_MAX + 1];
	char error[200];
	unsigned int rewrite, fallback_ms, memory_ms;
};

void policy_get(struct nl *nl, struct shown *s);
long setting_value(const char *name);
void need_shown(struct nl *nl, const char *text, unsigned int rewrite, unsigned int fallback_ms,
		unsigned int memory_ms);
void begin_with(const char *text, int rewrite, int fallback_ms, int memory_ms);
void be_nobody(void);
void fall_back(void);

#endif /* SDP_TEST_NETLINK_COMMON_H */
