// SPDX-License-Identifier: GPL-2.0
/* Hostile peer by datagrams: device, queue pairs, and what they receive. */
#include <linux/slab.h>

#include "ud.h"

#define RESOLVE_MS	5000

static struct ib_qp *qp_of_recv(struct ud_port *p, u32 i)
{
	return p->qp[i % UD_OWN_QPS];
}

static int post_recv(struct ud_port *p, u32 i)
{
	struct ib_sge sge = {
		.addr = p->recv_dma + i * UD_ROOM, .length = UD_ROOM,
		.lkey = p->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &p->recv_cqe[i], .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(qp_of_recv(p, i), &wr, NULL);
}

static void malformed(struct ud_port *p, const char *what)
{
	pr_err("sdp_hostile_ud: AF_SDP has sent a malformed %s\n", what);
	p->malformed++;
}

/* A datagram for a connection that is forgotten is an answer to an earlier case. */
static void datagram(struct ud_port *p, const u8 *data, u32 bytes)
{
	struct sdp_datagram d;
	struct ud_conn *c;

	if (sdp_datagram_parse(data, bytes, &d)) {
		malformed(p, "datagram");
		return;
	}
	if (d.type == SDP_DATAGRAM_OPEN) {
		malformed(p, "Open");
		return;
	}
	list_for_each_entry(c, &p->conns, node) {
		if (c->id == d.to) {
			ud_conn_heard(c, &d, data + SDP_DATAGRAM_LEN);
			return;
		}
	}
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ud_port *p = cq->cq_context;
	u32 i = wc->wr_cqe - p->recv_cqe;
	const u8 *at = p->recv + i * UD_ROOM;

	if (wc->status != IB_WC_SUCCESS)
		return;
	ib_dma_sync_single_for_cpu(p->pd->device, p->recv_dma + i * UD_ROOM, UD_ROOM,
				   DMA_FROM_DEVICE);
	spin_lock(&p->lock);
	datagram(p, at + sizeof(struct ib_grh), wc->byte_len - sizeof(struct ib_grh));
	spin_unlock(&p->lock);
	wake_up(&p->heard);
	post_recv(p, i);
}

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ud_port *p = cq->cq_context;

	p->sent_status = wc->status;
	complete(&p->sent);
}

/*
 * Posts an empty datagram, which the peer drops.
 *
 * soft-RoCE stops sending when 64 packets of a queue pair are on their way, and notes that only
 * after it has counted them. When all 64 have arrived in between, nothing wakes the queue pair up
 * but its next post.
 */
static int nudge(struct ud_conn *c)
{
	struct ud_port *p = c->port;
	struct ib_ud_wr wr = {
		.wr = { .wr_cqe = &p->send_cqe, .opcode = IB_WR_SEND },
		.ah = p->ah, .remote_qpn = c->to_qp, .remote_qkey = c->qkey,
	};

	return ib_post_send(p->qp[c->own], &wr.wr, NULL);
}

/* Waits until the datagram that was posted has gone. */
static int await_sent(struct ud_conn *c)
{
	struct ud_port *p = c->port;
	int err;

	if (!wait_for_completion_timeout(&p->sent, UD_NUDGE)) {
		err = nudge(c);
		if (err)
			return err;
		if (!wait_for_completion_timeout(&p->sent, UD_ANSWER))
			return -ETIMEDOUT;
	}
	return p->sent_status == IB_WC_SUCCESS ? 0 : -EIO;
}

/**
 * ud_post() - send what is in ud_port.send
 * @c: connection; its queue pair, the peer's, and the key are used
 * @bytes: length of the datagram
 *
 * Return: 0 or an errno.
 */
int ud_post(struct ud_conn *c, u32 bytes)
{
	struct ud_port *p = c->port;
	struct ib_sge sge = {
		.addr = p->send_dma, .length = bytes, .lkey = p->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &p->send_cqe, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		},
		.ah = p->ah, .remote_qpn = c->to_qp, .remote_qkey = c->qkey,
	};
	int err;

	ib_dma_sync_single_for_device(p->pd->device, p->send_dma, SDP_DATAGRAM_SIZE_MAX,
				      DMA_TO_DEVICE);
	reinit_completion(&p->sent);
	err = ib_post_send(p->qp[c->own], &wr.wr, NULL);
	return err ?: await_sent(c);
}

static void stepped(struct ud_port *p, int status)
{
	p->step_status = status;
	complete(&p->step);
}

static int resolve_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		stepped(id->context, 0);
		break;
	default:
		stepped(id->context, event->status ? event->status : -EHOSTUNREACH);
		break;
	}
	return 0;
}

static int await_step(struct ud_port *p, int err)
{
	if (err)
		return err;
	return wait_for_completion_timeout(&p->step, UD_ANSWER) ? p->step_status : -ETIMEDOUT;
}

static int resolve(struct ud_port *p, __be32 from, __be32 to)
{
	struct sockaddr_in src = { .sin_family = AF_INET, .sin_addr.s_addr = from };
	struct sockaddr_in dst = {
		.sin_family = AF_INET, .sin_addr.s_addr = to, .sin_port = htons(p->port),
	};
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, resolve_event, p, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(id))
		return PTR_ERR(id);
	p->rdma = id;
	err = await_step(p, rdma_resolve_addr(id, (struct sockaddr *)&src,
					      (struct sockaddr *)&dst, RESOLVE_MS));
	if (!err)
		err = await_step(p, rdma_resolve_route(id, RESOLVE_MS));
	if (!err)
		p->size = min(ib_mtu_enum_to_int(id->route.path_rec->mtu), UD_SIZE_MOST);
	return err;
}

static int sidr_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct ud_port *p = cm->context;
	int err = -EPROTONOSUPPORT;

	if (event->event == IB_CM_SIDR_REP_RECEIVED &&
	    event->param.sidr_rep_rcvd.status == IB_SIDR_SUCCESS &&
	    event->param.sidr_rep_rcvd.qkey == UD_QKEY &&
	    !sdp_service_parse(event->private_data, IB_CM_SIDR_REP_PRIVATE_DATA_SIZE, &p->service))
		err = 0;
	stepped(p, err);
	return 0;
}

/* Asks for the peer's queue pairs. */
static int ask(struct ud_port *p)
{
	struct rdma_route *route = &p->rdma->route;
	struct ib_cm_sidr_req_param req = {
		.path = route->path_rec, .sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = cpu_to_be64(SDP_SERVICE_ID | p->port),
		.timeout_ms = 1000, .max_cm_retries = 5,
	};
	struct ib_cm_id *cm = ib_create_cm_id(p->rdma->device, sidr_event, p);
	int err;

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = await_step(p, ib_send_cm_sidr_req(cm, &req));
	ib_destroy_cm_id(cm);
	return err;
}

static int make_ah(struct ud_port *p)
{
	struct rdma_route *route = &p->rdma->route;
	struct rdma_ah_attr attr;
	int err;

	err = ib_init_ah_attr_from_path(p->rdma->device, p->rdma->port_num, route->path_rec, &attr,
					route->addr.dev_addr.sgid_attr);
	if (err)
		return err;
	p->ah = rdma_create_ah(p->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	return PTR_ERR_OR_ZERO(p->ah);
}

static int to_rts(struct ud_port *p, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = p->rdma->port_num, .qkey = UD_QKEY,
	};
	int err;

	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY);
	attr.qp_state = IB_QPS_RTR;
	if (!err)
		err = ib_modify_qp(qp, &attr, IB_QP_STATE);
	attr.qp_state = IB_QPS_RTS;
	return err ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static int make_qps(struct ud_port *p)
{
	struct ib_qp_init_attr init = {
		.send_cq = p->cq, .recv_cq = p->cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_UD,
		.cap = {
			.max_send_wr = 2, .max_recv_wr = UD_RECVS,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int err = 0;
	u32 i;

	for (i = 0; !err && i < UD_OWN_QPS; i++) {
		p->qp[i] = ib_create_qp(p->pd, &init);
		err = IS_ERR(p->qp[i]) ? PTR_ERR(p->qp[i]) : to_rts(p, p->qp[i]);
	}
	for (i = 0; !err && i < UD_RECVS; i++) {
		p->recv_cqe[i].done = recv_done;
		err = post_recv(p, i);
	}
	return err;
}

static int map(struct ud_port *p)
{
	struct ib_device *ib = p->rdma->device;

	p->recv_dma = ib_dma_map_single(ib, p->recv, UD_RECVS * UD_ROOM, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, p->recv_dma)) {
		p->recv_dma = 0;
		return -ENOMEM;
	}
	p->send_dma = ib_dma_map_single(ib, p->send, SDP_DATAGRAM_SIZE_MAX, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ib, p->send_dma)) {
		p->send_dma = 0;
		return -ENOMEM;
	}
	return 0;
}

static int begin(struct ud_port *p, __be32 from, __be32 to)
{
	int err = resolve(p, from, to);

	if (err)
		return err;
	p->pd = ib_alloc_pd(p->rdma->device, 0);
	if (IS_ERR(p->pd))
		return PTR_ERR(p->pd);
	p->cq = ib_alloc_cq(p->rdma->device, p, UD_RECVS + 8, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(p->cq))
		return PTR_ERR(p->cq);
	err = map(p);
	if (!err)
		err = make_qps(p);
	if (!err)
		err = make_ah(p);
	return err ?: ask(p);
}

/**
 * ud_port_begin() - prepare for cases against a listener
 * @from: own address
 * @to: the listener's
 * @port: its port
 *
 * Return: what they share, or an error pointer.
 */
struct ud_port *ud_port_begin(__be32 from, __be32 to, u16 port)
{
	struct ud_port *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err = -ENOMEM;

	if (!p)
		return ERR_PTR(-ENOMEM);
	init_completion(&p->step);
	init_completion(&p->sent);
	spin_lock_init(&p->lock);
	INIT_LIST_HEAD(&p->conns);
	init_waitqueue_head(&p->heard);
	p->send_cqe.done = send_done;
	p->port = port;
	p->recv = kzalloc(UD_RECVS * UD_ROOM, GFP_KERNEL | __GFP_RETRY_MAYFAIL);
	p->send = kzalloc(SDP_DATAGRAM_SIZE_MAX, GFP_KERNEL);
	if (p->recv && p->send)
		err = begin(p, from, to);
	if (!err)
		return p;
	ud_port_end(p);
	return ERR_PTR(err);
}

/*
 * Sends have completed. Of receives, soft-RoCE may be completing one while it flushes the others,
 * as in conn.c.
 */
static void qp_free(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	ib_drain_rq(qp);
	ib_drain_rq(qp);
	ib_modify_qp(qp, &attr, IB_QP_STATE);
	synchronize_rcu();
	ib_destroy_qp(qp);
}

static void end_verbs(struct ud_port *p)
{
	struct ib_device *ib = p->rdma->device;
	u32 i;

	if (!IS_ERR_OR_NULL(p->ah))
		rdma_destroy_ah(p->ah, RDMA_DESTROY_AH_SLEEPABLE);
	for (i = 0; i < UD_OWN_QPS; i++) {
		if (!IS_ERR_OR_NULL(p->qp[i]))
			qp_free(p->qp[i]);
	}
	if (!IS_ERR_OR_NULL(p->cq))
		ib_free_cq(p->cq);
	if (p->recv_dma)
		ib_dma_unmap_single(ib, p->recv_dma, UD_RECVS * UD_ROOM, DMA_FROM_DEVICE);
	if (p->send_dma)
		ib_dma_unmap_single(ib, p->send_dma, SDP_DATAGRAM_SIZE_MAX, DMA_TO_DEVICE);
	if (!IS_ERR_OR_NULL(p->pd))
		ib_dealloc_pd(p->pd);
}

/**
 * ud_port_end() - free everything
 * @p: port, also one that is made in part only
 */
void ud_port_end(struct ud_port *p)
{
	struct ud_conn *c, *next;

	if (p->rdma) {
		end_verbs(p);
		rdma_destroy_id(p->rdma);
	}
	list_for_each_entry_safe(c, next, &p->conns, node)
		kfree(c);
	kfree(p->recv);
	kfree(p->send);
	kfree(p);
}
