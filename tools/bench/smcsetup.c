// SPDX-License-Identifier: GPL-2.0
/*
 * smcsetup: sets up SMC-R on a RoCE v2 device, and proves that it is in use.
 *
 *	smcsetup pnet NAME NETDEV RDMADEV PORT	tie a network device and an RDMA port to a PNETID
 *	smcsetup eid NAME			add a user-defined EID
 *	smcsetup show				list AF_SMC sockets and what carries them
 *	smcsetup check PORT			succeed when PORT has connections and all use RDMA
 *
 * AF_SMC falls back to TCP silently, so a figure means nothing without `check`. With RoCE v2 GIDs
 * only version 2 of the protocol works, and version 2 needs an EID that both ends share. Two
 * devices of one host need a PNETID each, or the kernel may choose the wrong one.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAMILY_SMC	43
#define SMC_ACTIVE	1	/* smc_diag_msg.diag_state of an established connection */
#define EID_LEN		32

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A netlink message under construction, then the kernel's answer to it. */
static union {
	struct nlmsghdr head;
	char bytes[65536];
} msg;

static int open_netlink(int protocol)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, protocol);

	if (fd < 0)
		err(1, "netlink");
	return fd;
}

static void send_msg(int fd)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (sendto(fd, &msg, msg.head.nlmsg_len, 0, (void *)&kernel, sizeof(kernel)) < 0)
		err(1, "send to the kernel");
}

static int recv_msg(int fd)
{
	ssize_t len = recv(fd, &msg, sizeof(msg), 0);

	if (len < 0)
		err(1, "answer of the kernel");
	return len;
}

/* Generic netlink */

static void genl_begin(int type, int flags, int cmd)
{
	struct genlmsghdr *g = NLMSG_DATA(&msg.head);

	memset(&msg, 0, NLMSG_LENGTH(GENL_HDRLEN));
	msg.head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg.head.nlmsg_type = type;
	msg.head.nlmsg_flags = NLM_F_REQUEST | flags;
	g->cmd = cmd;
	g->version = 1;
}

static void genl_put(int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)(msg.bytes + msg.head.nlmsg_len);

	memset(attr, 0, NLA_ALIGN(NLA_HDRLEN + len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, data, len);
	msg.head.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

static void genl_put_string(int type, const char *text)
{
	genl_put(type, text, strlen(text) + 1);
}

/* Returns the value of the first attribute of type @type in @from..@end, or NULL. */
static const void *find_attr(const void *from, const void *end, int type)
{
	const struct nlattr *attr = from;

	while ((const char *)attr + NLA_HDRLEN <= (const char *)end &&
	       attr->nla_len >= NLA_HDRLEN) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return (const char *)attr + NLA_HDRLEN;
		attr = (const void *)((const char *)attr + NLA_ALIGN(attr->nla_len));
	}
	return NULL;
}

static int genl_family(int fd, const char *name)
{
	const uint16_t *id;

	genl_begin(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	genl_put_string(CTRL_ATTR_FAMILY_NAME, name);
	send_msg(fd);
	recv_msg(fd);
	if (msg.head.nlmsg_type == NLMSG_ERROR)
		errx(1, "no netlink family %s, is the module smc loaded?", name);
	id = find_attr((char *)NLMSG_DATA(&msg.head) + GENL_HDRLEN,
		       msg.bytes + msg.head.nlmsg_len, CTRL_ATTR_FAMILY_ID);
	if (!id)
		errx(1, "netlink family %s has no number", name);
	return *id;
}

static int genl_commit(int fd, const char *what)
{
	const struct nlmsgerr *e;

	send_msg(fd);
	recv_msg(fd);
	e = NLMSG_DATA(&msg.head);
	if (msg.head.nlmsg_type == NLMSG_ERROR && e->error)
		errx(1, "%s: %s", what, strerror(-e->error));
	return 0;
}

static int add_pnet(char **arg)
{
	int fd = open_netlink(NETLINK_GENERIC);
	int family = genl_family(fd, SMCR_GENL_FAMILY_NAME);
	uint8_t port = atoi(arg[3]);

	genl_begin(family, NLM_F_ACK, SMC_PNETID_ADD);
	genl_put_string(SMC_PNETID_NAME, arg[0]);
	genl_put_string(SMC_PNETID_ETHNAME, arg[1]);
	genl_put_string(SMC_PNETID_IBNAME, arg[2]);
	genl_put(SMC_PNETID_IBPORT, &port, sizeof(port));
	return genl_commit(fd, "add PNETID");
}

static int add_eid(char **arg)
{
	int fd = open_netlink(NETLINK_GENERIC);
	int family = genl_family(fd, SMC_GENL_FAMILY_NAME);
	char eid[EID_LEN + 1];

	/* The kernel requires the full length, padded with blanks. */
	snprintf(eid, sizeof(eid), "%-*s", EID_LEN, arg[0]);
	genl_begin(family, NLM_F_ACK, SMC_NETLINK_ADD_UEID);
	genl_put(SMC_NLA_EID_TABLE_ENTRY, eid, sizeof(eid));
	return genl_commit(fd, "add EID");
}

/* Socket diagnosis */

struct found {
	int port;		/* only connections with this port at one end; 0: all */
	int sockets;
	int not_rdma;
};

static const char *carrier(const struct smc_diag_msg *m)
{
	switch (m->diag_mode) {
	case SMC_DIAG_MODE_SMCR:
		return "smc-r";
	case SMC_DIAG_MODE_SMCD:
		return "smc-d";
	default:
		return "tcp";
	}
}

static void show_socket(const struct smc_diag_msg *m, const void *end)
{
	const struct smc_diag_fallback *fallback;
	const struct smc_diag_lgrinfo *group;
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	int af = m->diag_family == AF_INET6 ? AF_INET6 : AF_INET;

	inet_ntop(af, m->id.idiag_src, src, sizeof(src));
	inet_ntop(af, m->id.idiag_dst, dst, sizeof(dst));
	printf("state=%u local=%s:%u remote=%s:%u carrier=%s", m->diag_state,
	       src, ntohs(m->id.idiag_sport), dst, ntohs(m->id.idiag_dport), carrier(m));
	group = find_attr(m + 1, end, SMC_DIAG_LGRINFO);
	if (group)
		printf(" device=%s gid=%s peer_gid=%s", group->lnk[0].ibname,
		       group->lnk[0].gid, group->lnk[0].peer_gid);
	fallback = find_attr(m + 1, end, SMC_DIAG_FALLBACK);
	if (fallback)
		printf(" reason=0x%x peer_reason=0x%x", fallback->reason,
		       fallback->peer_diagnosis);
	putchar('\n');
}

static void look_at(const struct nlmsghdr *h, struct found *found)
{
	const struct smc_diag_msg *m = NLMSG_DATA(h);
	int ours = ntohs(m->id.idiag_sport) == found->port ||
		   ntohs(m->id.idiag_dport) == found->port;

	if (found->port && (!ours || m->diag_state != SMC_ACTIVE))
		return;
	found->sockets++;
	if (m->diag_mode != SMC_DIAG_MODE_SMCR)
		found->not_rdma++;
	show_socket(m, (const char *)h + h->nlmsg_len);
}

static void walk_sockets(struct found *found)
{
	int fd = open_netlink(NETLINK_SOCK_DIAG);
	struct smc_diag_req *req = NLMSG_DATA(&msg.head);
	const struct nlmsghdr *h;
	int len;

	memset(&msg, 0, NLMSG_SPACE(sizeof(*req)));
	msg.head.nlmsg_len = NLMSG_LENGTH(sizeof(*req));
	msg.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	msg.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	req->diag_family = FAMILY_SMC;
	req->diag_ext = 1 << (SMC_DIAG_LGRINFO - 1) | 1 << (SMC_DIAG_FALLBACK - 1);
	send_msg(fd);
	for (;;) {
		len = recv_msg(fd);
		for (h = &msg.head; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE) {
				close(fd);
				return;
			}
			if (h->nlmsg_type == NLMSG_ERROR)
				errx(1, "no answer, is the module smc_diag loaded?");
			look_at(h, found);
		}
	}
}

static int show(char **arg)
{
	struct found found = { 0 };

	(void)arg;
	walk_sockets(&found);
	return 0;
}

static int check(char **arg)
{
	struct found found = { .port = atoi(arg[0]) };

	walk_sockets(&found);
	if (!found.sockets)
		fprintf(stderr, "smcsetup: no connection of port %d is established\n", found.port);
	else if (found.not_rdma)
		fprintf(stderr, "smcsetup: %d of %d sockets of port %d do not use SMC-R\n",
			found.not_rdma, found.sockets, found.port);
	return !found.sockets || found.not_rdma;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "pnet", 4, add_pnet },
	{ "eid", 1, add_eid },
	{ "show", 0, show },
	{ "check", 1, check },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name) &&
		    argc - 2 == commands[i].args)
			return commands[i].run(argv + 2);
	fputs("Usage: smcsetup pnet NAME NETDEV RDMADEV PORT | eid NAME | show | check PORT\n",
	      stderr);
	return 2;
}
