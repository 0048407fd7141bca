// SPDX-License-Identifier: GPL-2.0
/*
 * Devices, namespaces and the module's load without memory.
 *
 * No call on a socket makes these allocations.
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>

#include "devices.h"

/*
 * More than the allocations of a namespace or a device, more than those of a module load, and as
 * many loads as the short form has time for. Each attempt takes a while.
 */
#define TRIES_MOST	120

#define LOADS_MOST	1000
#define LOAD_PARTS	3
/* Of each part. */
#define SHORT_LOADS	4

/* Short form: one allocation in 16 of a namespace or device fails. An attempt takes seconds. */
#define SPARSE		16

int namespace_failing(void *arg)
{
	int n, step = short_form() ? SPARSE : 1, status, refused = 0;
	bool failed = true;
	pid_t child;

	if (!can_fail())
		return EXIT_SKIPPED;
	only_the_module(true);
	for (n = sweep_from(step); failed; n += step) {
		need(n < TRIES_MOST, "still an allocation to fail");
		child = fork();
		need_errno(child >= 0, "fork");
		if (!child) {
			int error;

			fail_at(n);
			error = unshare(CLONE_NEWNET) ? errno : 0;
			/* 1: an allocation failed; 2: ENOMEM; 4: other error; 8: no socket. */
			status = has_failed() | (error == ENOMEM) << 1 |
				 (error && error != ENOMEM) << 2;
			if (!error && socket(AF_SDP, SOCK_STREAM, 0) < 0)
				status |= 8;
			_exit(status);
		}
		need_errno(waitpid(child, &status, 0) == child, "wait");
		need(WIFEXITED(status), "killed");
		status = WEXITSTATUS(status);
		failed = status & 1;
		need(!(status & 4), "allocation %d: an error that is not ENOMEM", n);
		need(!(status & 8), "no socket in the new namespace");
		need(failed || !(status & 2), "ENOMEM without a failure");
		refused += (status & 2) == 2;
	}
	only_the_module(false);
	printf("# about %d allocations, %d namespaces refused\n", n - step - 1, refused);
	need(short_form() || refused > 3, "hardly anything has failed");
	return EXIT_OK;
}

/**
 * struct link_request - RDMA_NLDEV_CMD_NEWLINK: a soft-RoCE device on a network device
 * @head: header of the message
 * @attributes: name, type, network device
 */
struct link_request {
	struct nlmsghdr head;
	char attributes[128];
};

static void put_text(struct link_request *r, unsigned short type, const char *text)
{
	struct nlattr *a = (struct nlattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + strlen(text) + 1;
	strcpy((char *)a + NLA_HDRLEN, text);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

/* Makes the device in this thread, where allocations are counted. Returns 0 or an errno. */
static int add_link(int netlink, const char *name, const char *netdev)
{
	struct link_request r = {
		.head = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char more[512];
	} answer;

	put_text(&r, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_text(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	put_text(&r, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	need_errno(send(netlink, &r, r.head.nlmsg_len, 0) > 0, "netlink");
	need_errno(recv(netlink, &answer, sizeof(answer), 0) > 0, "netlink's answer");
	return -answer.error.error;
}

/* With or without memory for its part of the new device, a listener keeps working. */
int device_failing(void *arg)
{
	int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), n, error, listening;
	int step = short_form() ? SPARSE : 1;
	struct addr where;
	bool failed = true;
	struct pair p;

	if (!can_fail())
		return EXIT_SKIPPED;
	need_errno(netlink >= 0, "netlink");
	listening = listener(4, &where);
	need(!system("ip link add fd0 type dummy && ip link set fd0 up"), "no device");
	only_the_module(true);
	for (n = sweep_from(step); failed; n += step) {
		need(n < TRIES_MOST, "still an allocation to fail");
		fail_at(n);
		error = add_link(netlink, "rxf", "fd0");
		failed = has_failed();
		need(!error, "allocation %d: %s", n, errno_text(error));
		need(!system("rdma link delete rxf"), "it cannot be deleted");
	}
	only_the_module(false);
	need(!system("ip link delete fd0"), "the device cannot be deleted");
	printf("# about %d allocations\n", n - step - 1);
	need(n > 4, "hardly anything has failed");
	p.c = fresh(0);
	connect_to(p.c, &where);
	p.s = accept_from(listening);
	close(p.s);
	close(p.c);
	close(listening);
	return EXIT_OK;
}

/* Returns a step that visits all numbers below @all, with distant ones in succession. */
static int step_through(int all)
{
	int step = all * 5 / 8, a, b, rest;

	do {
		for (a = all, b = ++step; b; a = b, b = rest)
			rest = a % b;
	} while (a != 1);
	return step;
}

/**
 * struct loads - attempts to load the module
 * @tried: number of attempts
 * @failed: number of attempts in which an allocation failed
 * @refused: number of attempts that failed
 * @loaded: the last attempt succeeded
 */
struct loads {
	int tried;
	int failed;
	int refused;
	bool loaded;
};

/* Loads the module without its @n'th allocation. Returns false if there are fewer. */
static bool load_without(struct loads *l, int n)
{
	int left, error;

	if (l->loaded)
		module_unload();
	error = load_failing("", n, &left);
	need(!error || (!left && is_shortage(error)), "allocation %d: %s", n, errno_text(error));
	l->loaded = !error;
	l->refused += error != 0;
	l->failed += !left;
	l->tried++;
	return !left;
}

/*
 * The short form: some allocations from all over the load. SDP_SEED chooses the first one.
 * Returns the number of allocations.
 */
static int load_without_some(struct loads *l, int part)
{
	unsigned int seed = seed_drawn();
	int all = 1 << 20, left, error, step, n;

	error = load_failing("", all, &left);
	need(!error, "nothing has failed: %s", errno_text(error));
	l->loaded = true;
	all -= left;
	step = step_through(all);
	n = (seed + part) % all;
	printf("# from allocation %d on, each %d'th: SDP_SEED=%u\n", n + 1, step, seed);
	while (l->tried < SHORT_LOADS && l->tried < all) {
		load_without(l, n + 1);
		n = (n + step) % all;
	}
	return all;
}

/* Every allocation of the part, until none is left to fail. Returns about how many there are. */
static int load_without_each(struct loads *l, int part)
{
	int n;

	for (n = 1 + part; load_without(l, n); n += LOAD_PARTS)
		need(n < LOADS_MOST, "still an allocation to fail");
	need(l->loaded, "not loaded, and nothing has failed");
	need(l->refused * 10 > l->tried, "hardly ever refused");
	return n - 1;
}

/*
 * A part of the allocations, because each load takes some seconds on the debug kernel: @arg is a
 * number, and every LOAD_PARTS'th allocation from there on fails.
 *
 * Only allocations of the module's own init fail. Those that the kernel makes for it before are not
 * the module's, and the kernel's trace events warn when they get no memory.
 */
int module_failing(void *arg)
{
	const int part = atoi(arg);
	struct loads l = { };
	struct text begin;
	int all;

	if (!can_fail() || !getenv("SDP_MODULE"))
		return EXIT_SKIPPED;
	module_unload();
	need(function_text("do_init_module", &begin), "the kernel's symbols are not shown");
	only_in(&begin);
	all = short_form() ? load_without_some(&l, part) : load_without_each(&l, part);
	only_in(NULL);
	/* A load that has lacked memory may have left a device out. */
	if (l.loaded)
		module_unload();
	module_load();
	printf("# %d allocations, %d loads, %d times refused\n", all, l.tried, l.refused);
	/* The number of allocations varies from load to load. */
	need(l.failed * 10 > l.tried * 8, "%d loads have lacked nothing", l.tried - l.failed);
	return EXIT_OK;
}
