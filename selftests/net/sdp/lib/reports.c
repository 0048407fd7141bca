// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of MSG_ZEROCOPY, from the error queue.
 */
#include "reports.h"
#include <linux/errqueue.h>
#include <linux/sdp.h>

/* Enables zero-copy by the option that every kernel supports. */
void lend(int fd)
{
	int level = use_sdp ? SOL_SDP : SOL_SOCKET, name = use_sdp ? SDP_ZEROCOPY : SO_ZEROCOPY;
	socklen_t len = sizeof(int);
	int value = 1;

	need_errno(!setsockopt(fd, level, name, &value, sizeof(value)), "setsockopt");
	value = 0;
	need_errno(!getsockopt(fd, level, name, &value, &len), "getsockopt");
	need(value == 1 && len == sizeof(int), "the option is %d", value);
	value = 0;
	need_errno(!getsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &value, &len), "getsockopt");
	need(value == 1, "SO_ZEROCOPY is %d", value);
}

/*
 * The level of a report depends on the socket's family with TCP, and on the family of the addresses
 * with AF_SDP.
 */
static void check_level(const struct cmsghdr *c)
{
	bool v6 = set->family == AF_INET6;

	need(c->cmsg_level == (v6 ? SOL_IPV6 : SOL_IP) &&
	     c->cmsg_type == (v6 ? IPV6_RECVERR : IP_RECVERR), "a report of level %d, type %d",
	     c->cmsg_level, c->cmsg_type);
	need(c->cmsg_len == CMSG_LEN(sizeof(struct sock_extended_err) +
				     (v6 ? sizeof(struct sockaddr_in6) :
					   sizeof(struct sockaddr_in))),
	     "a report of %zu bytes", c->cmsg_len);
}

/* Takes one report. Returns false if there is none. */
bool report_take(int fd, struct reports *r)
{
	char control[256], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control),
			      .msg_iov = &iov, .msg_iovlen = 1 };
	const struct sock_extended_err *e;
	ssize_t n = recvmsg(fd, &msg, MSG_ERRQUEUE);

	if (n < 0) {
		need(errno == EAGAIN, "MSG_ERRQUEUE: %s", errno_text(errno));
		return false;
	}
	need(!n && msg.msg_flags & MSG_ERRQUEUE && CMSG_FIRSTHDR(&msg), "not a report: %zd", n);
	check_level(CMSG_FIRSTHDR(&msg));
	e = (const void *)CMSG_DATA(CMSG_FIRSTHDR(&msg));
	need(e->ee_origin == SO_EE_ORIGIN_ZEROCOPY && !e->ee_errno, "origin %u, error %u",
	     e->ee_origin, e->ee_errno);
	need(e->ee_info == r->next && e->ee_data >= e->ee_info, "report %u to %u instead of %u",
	     e->ee_info, e->ee_data, r->next);
	r->next = e->ee_data + 1;
	r->count += e->ee_data - e->ee_info + 1;
	if (e->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		r->copied += e->ee_data - e->ee_info + 1;
	return true;
}

/* Waits until at least @count sends have been reported. */
void reports_await(int fd, struct reports *r, long count)
{
	long long end = now_ms() + WAIT_MS;

	while (r->count < count) {
		need(now_ms() < end, "%ld reports instead of %ld", r->count, count);
		if (!report_take(fd, r))
			poll_for(fd, 0, 100);
	}
}
