// SPDX-License-Identifier: GPL-2.0
/*
 * Requests with forged addresses in the Hello and in the REQ.
 *
 * The packet's own address is true. ib_cm builds the REQ from the path that it takes, so the
 * complete REQ is changed just before it is sent.
 */
#include <linux/inet.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include <rdma/ib_mad.h>
#include <rdma/ibta_vol1_c12.h>

#include "hostile.h"

#define REQ	cpu_to_be16(0x10)

/* One at a time: run.c holds a lock. NULL: the true address stays. */
static struct {
	u16 port;
	const struct in6_addr *src, *dst;
} lie;

static int before_send(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_mad_send_buf *buf = (struct ib_mad_send_buf *)regs_get_kernel_argument(regs, 0);
	struct cm_req_msg *req = buf->mad;

	if (req->hdr.mgmt_class != IB_MGMT_CLASS_CM || req->hdr.attr_id != REQ ||
	    IBA_GET(CM_REQ_SERVICE_ID, req) != (SDP_SERVICE_ID | lie.port))
		return 0;
	if (lie.src)
		memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, req), lie.src, 16);
	if (lie.dst)
		memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req), lie.dst, 16);
	return 0;
}

static void put_address(u8 *hello, const struct in6_addr *ip)
{
	memset(hello, 0, 16);
	if (ipv6_addr_v4mapped(ip))
		memcpy(hello + 12, &ip->s6_addr[12], 4);
	else
		memcpy(hello, ip, 16);
}

static int send_lying(struct hostile *h, struct hostile_req *req)
{
	struct kprobe send = { .symbol_name = "ib_post_send_mad", .pre_handler = before_send };
	int err = register_kprobe(&send);

	if (err)
		return err;
	err = hostile_request(h, req);
	unregister_kprobe(&send);
	return err;
}

/**
 * hostile_forge() - send a REQ with other addresses
 * @h: connection, resolved
 * @port: listener's port
 * @src: claimed source address, IPv4 mapped; NULL: the true one
 * @dst: claimed destination address, likewise
 *
 * An answer goes to @src.
 *
 * Return: 0 or an errno.
 */
int hostile_forge(struct hostile *h, u16 port, const char *src, const char *dst)
{
	struct in6_addr from, to;
	struct hostile_req req;

	hostile_honest_req(&req, port);
	if ((src && !in6_pton(src, -1, from.s6_addr, -1, NULL)) ||
	    (dst && !in6_pton(dst, -1, to.s6_addr, -1, NULL)))
		return -EINVAL;
	/* Either both are IPv4 addresses, or both are given. */
	if (src && !ipv6_addr_v4mapped(&from))
		req.private[17] = (req.private[17] & 0x0f) | 0x60;
	if (src)
		put_address(req.private + 32, &from);
	if (dst)
		put_address(req.private + 48, &to);
	lie.port = port;
	lie.src = src ? &from : NULL;
	lie.dst = dst ? &to : NULL;
	return send_lying(h, &req);
}
