// SPDX-License-Identifier: GPL-2.0
/*
 * One connection by hand: rdma_cm, ib_cm, and a queue pair with synchronous sends.
 *
 * rdma_cm resolves address and route, ib_cm exchanges the CM messages. The writer of the debugfs
 * file calls everything here; only the event and completion handlers run elsewhere.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "hostile.h"
#include "wire_rails.h"

#define RESOLVE_MS	5000
#define ANSWER_TIME	(20 * HZ)
#define AWAIT_TIME	(20 * HZ)
#define SEND_TIME	(20 * HZ)
/*
 * With a shared path there are many connections: a shorter limit for those whose peer takes
 * nothing.
 */
#define SEND_TIME_LANE	(3 * HZ)
/* For the peer's answer: 4.096 us << 18 = 1 s. */
#define CM_TIMEOUT	18
#define CM_RETRIES	5

/* Number of messages from AF_SDP that violate the wire protocol. */
atomic_t hostile_malformed = ATOMIC_INIT(0);

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile *h = container_of(wc->wr_cqe, struct hostile, send_cqe);

	h->sent_status = wc->status;
	complete(&h->completed);
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc);

static int post_recv(struct hostile *h, u32 i)
{
	struct ib_sge sge = {
		.addr = h->recv_dma + i * HOSTILE_RECV_SIZE,
		.length = HOSTILE_RECV_SIZE,
		.lkey = h->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &h->recv_cqe[i], .sg_list = &sge, .num_sge = 1,
	};

	h->recv_cqe[i].done = recv_done;
	return ib_post_recv(h->qp, &wr, NULL);
}

/* A RingAsk: the peer asks for a ring, or gives one back. Giving back needs no answer. */
static void note_asked(struct hostile *h, u32 size)
{
	if (!size) {
		/* Pairs with gen_ring.c. */
		smp_store_release(&h->own.given, h->own.given + 1);
		return;
	}
	h->asked = size;
	/* A waiter that sees the count sees what it counts: pairs with rings.c. */
	smp_store_release(&h->asks, h->asks + 1);
}

static void note_told(struct hostile *h, const struct sdp_msg *msg)
{
	if (msg->h.flags & SDP_FLAG_FREED)
		WRITE_ONCE(h->freed, msg->freed);
	if (msg->h.mid == SDP_MID_SRC_AVAIL || msg->h.mid == SDP_MID_SINK_AVAIL) {
		h->told = *msg;
		/* A waiter that sees the count sees what it counts: pairs with keys.c. */
		smp_store_release(&h->adverts, h->adverts + 1);
	} else if (msg->h.mid == SDP_MID_RING_AVAIL) {
		h->ring = msg->ring;
		/* Pairs with rings.c. */
		smp_store_release(&h->rings, h->rings + 1);
	} else if (msg->h.mid == SDP_MID_RING_ASK) {
		note_asked(h, msg->size);
	} else if (msg->payload_len) {
		/* Pairs with rings.c and keys.c. */
		smp_store_release(&h->datas, h->datas + 1);
	}
}

/* Compares the payload with the stream, if the other end's program sends a known one. */
static void note_stream(struct hostile *h, const u8 *buf, const struct sdp_msg *msg)
{
	if (msg->payload_len) {
		hostile_follow(h, buf + msg->payload, msg->payload_len);
		h->payloads++;
	}
	if (msg->h.mid >= ARRAY_SIZE(h->came))
		return;
	if (msg->h.mid == SDP_MID_RDMA_WR_COMPL)
		h->placed += msg->count;
	/* A waiter that sees the count sees what it counts: pairs with modes.c. */
	smp_store_release(&h->came[msg->h.mid], h->came[msg->h.mid] + 1);
}

static void malformed(const char *what)
{
	pr_err("sdp_hostile: AF_SDP has sent a malformed %s\n", what);
	atomic_inc(&hostile_malformed);
}

/* A message about rails takes no part in order and credit. */
static void rail_message(const u8 *buf, u32 bytes)
{
	struct sdp_rail_msg msg;

	if (bytes > SDP_RAIL_MSG_MAX || sdp_rail_msg_parse(buf, bytes, &msg))
		malformed("message about rails");
}

/* Handles a message of @bytes that arrived by a receive or in a ring. */
static void message(struct hostile *h, const u8 *buf, u32 bytes, bool placed)
{
	struct sdp_msg msg;

	if (!placed && bytes >= SDP_BSDH_LEN && sdp_mid_is_rails(buf[0])) {
		rail_message(buf, bytes);
		return;
	}
	if (sdp_wire_parse(buf, bytes, &msg) ||
	    (placed && (msg.h.mid != SDP_MID_DATA || !msg.payload_len)))
		malformed(placed ? "message in a ring" : "message");
	else
		note_stream(h, buf, &msg);
	/* The region is the first member of the union in both. */
	if (msg.h.mid == SDP_MID_SRC_AVAIL || msg.h.mid == SDP_MID_SINK_AVAIL) {
		h->advert.region = msg.src;
		/* A reader that sees the MID sees the region. */
		smp_store_release(&h->advert.mid, msg.h.mid);
	}
	WRITE_ONCE(h->allowed, msg.h.mseq_ack + msg.h.bufs);
	WRITE_ONCE(h->seen, msg.h.mseq);
	note_told(h, &msg);
}

/*
 * Handles a message in one of our rings. The adapter has written it to our memory, unless the peer
 * was told the key of other memory.
 */
static void placed_message(struct hostile *h, u32 imm)
{
	struct hostile_own *own = &h->own;
	bool odd = imm & HOSTILE_IMM_ODD;
	struct sdp_region *ring = &own->at[odd];
	u32 bytes = imm & HOSTILE_IMM_LEN, at;
	u64 begin;

	if (odd != own->odd) {
		own->odd = odd;
		WRITE_ONCE(own->head, 0);
	}
	at = own->head;
	WRITE_ONCE(own->head, at + bytes);
	if (READ_ONCE(own->unsure) || !own->memory.mr || ring->rkey != own->memory.mr->rkey) {
		WRITE_ONCE(h->seen, h->seen + 1);
		return;
	}
	begin = ring->va + (at & (ring->len - 1)) - own->memory.mr->iova;
	if (!ring->len || imm & ~(HOSTILE_IMM_ODD | HOSTILE_IMM_LEN) || bytes <= SDP_BSDH_LEN ||
	    begin + bytes > HOSTILE_MR_SIZE) {
		WRITE_ONCE(h->seen, h->seen + 1);
		malformed("immediate");
		return;
	}
	message(h, (u8 *)sg_virt(&own->memory.sg) + begin, bytes, true);
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile *h;
	u32 i;

	if (wc->status != IB_WC_SUCCESS)
		return;
	h = wc->qp->qp_context;
	i = wc->wr_cqe - h->recv_cqe;
	ib_dma_sync_single_for_cpu(h->pd->device, h->recv_dma + i * HOSTILE_RECV_SIZE,
				   HOSTILE_RECV_SIZE, DMA_FROM_DEVICE);
	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		placed_message(h, ntohl(wc->ex.imm_data));
	else
		message(h, h->recv + i * HOSTILE_RECV_SIZE, wc->byte_len, false);
	if (!READ_ONCE(h->stingy))
		post_recv(h, i);
}

/**
 * hostile_make() - allocate a connection without a device
 *
 * Return: the connection, or NULL.
 */
struct hostile *hostile_make(void)
{
	struct hostile *h = kzalloc(sizeof(*h), GFP_KERNEL);

	if (!h)
		return NULL;
	/* One large allocation; many connections are made, so retry hard. */
	h->recv = kzalloc(HOSTILE_RECVS * HOSTILE_RECV_SIZE, GFP_KERNEL | __GFP_RETRY_MAYFAIL);
	h->send = kzalloc(HOSTILE_SEND_SIZE, GFP_KERNEL);
	if (!h->recv || !h->send) {
		kfree(h->recv);
		kfree(h->send);
		kfree(h);
		return NULL;
	}
	INIT_LIST_HEAD(&h->node);
	init_completion(&h->step);
	init_completion(&h->answered);
	init_completion(&h->over);
	init_completion(&h->completed);
	h->send_cqe.done = send_done;
	h->recvs = HOSTILE_RECVS;
	h->psn = get_random_u32() & 0xffffff;
	return h;
}

static int resolve_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct hostile *h = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		h->step_status = 0;
		break;
	default:
		h->step_status = event->status ? event->status : -EHOSTUNREACH;
		break;
	}
	complete(&h->step);
	return 0;
}

static int await_step(struct hostile *h, int err)
{
	if (err)
		return err;
	return wait_for_completion_timeout(&h->step, ANSWER_TIME) ? h->step_status : -ETIMEDOUT;
}

static int make_qp(struct hostile *h)
{
	struct ib_device *ib = h->rdma->device;
	struct ib_qp_init_attr init = {
		.qp_context = h, .sq_sig_type = IB_SIGNAL_ALL_WR, .qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = 3, .max_recv_wr = HOSTILE_RECVS + 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = h->rdma->port_num };
	u32 i;
	int err;

	if (!h->pd)
		h->pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(h->pd))
		return PTR_ERR(h->pd);
	h->cq = ib_alloc_cq(ib, h, HOSTILE_RECVS + 8, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(h->cq))
		return PTR_ERR(h->cq);
	init.send_cq = h->cq;
	init.recv_cq = h->cq;
	h->qp = ib_create_qp(h->pd, &init);
	if (IS_ERR(h->qp))
		return PTR_ERR(h->qp);
	h->recv_dma = ib_dma_map_single(ib, h->recv, HOSTILE_RECVS * HOSTILE_RECV_SIZE,
					DMA_FROM_DEVICE);
	h->send_dma = ib_dma_map_single(ib, h->send, HOSTILE_SEND_SIZE, DMA_BIDIRECTIONAL);
	err = ib_modify_qp(h->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	for (i = 0; !err && i < h->recvs; i++)
		err = post_recv(h, i);
	return err;
}

static void set_address(struct sockaddr_in *in, __be32 ip, u16 port)
{
	*in = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = ip, .sin_port = htons(port),
	};
}

/**
 * hostile_resolve() - resolve device and path, and create the queue pair
 * @h: connection
 * @from: own address
 * @to: peer's address
 * @port: peer's port
 *
 * Return: 0 or an errno.
 */
int hostile_resolve(struct hostile *h, __be32 from, __be32 to, u16 port)
{
	struct sockaddr_in src, dst;
	int err;

	set_address(&src, from, 0);
	set_address(&dst, to, port);
	h->rdma = rdma_create_id(&init_net, resolve_event, h, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(h->rdma))
		return PTR_ERR(h->rdma);
	err = await_step(h, rdma_resolve_addr(h->rdma, (struct sockaddr *)&src,
					      (struct sockaddr *)&dst, RESOLVE_MS));
	if (!err)
		err = await_step(h, rdma_resolve_route(h->rdma, RESOLVE_MS));
	return err ? err : make_qp(h);
}

/**
 * hostile_borrow() - create the queue pair on another connection's device and path
 * @h: connection
 * @lane: the other connection, resolved; outlives @h
 *
 * Return: 0 or an errno.
 */
int hostile_borrow(struct hostile *h, struct hostile *lane)
{
	h->lane = lane;
	h->rdma = lane->rdma;
	h->pd = lane->pd;
	return make_qp(h);
}

static void ended(struct hostile *h, enum hostile_end how)
{
	WRITE_ONCE(h->end, how);
	complete_all(&h->answered);
	complete_all(&h->over);
}

/* The reserved fields must be zero: they must not leak AF_SDP's memory. */
static void check_ack(struct hostile *h, const u8 *ack)
{
	u8 again[SDP_HELLO_ACK_LEN];

	if (!sdp_hello_ack_parse(ack, IB_CM_REP_PRIVATE_DATA_SIZE, &h->peer)) {
		sdp_hello_ack_build(again, &h->peer);
		if (!memcmp(again, ack, sizeof(again)))
			return;
	}
	malformed("HelloAck");
}

/**
 * hostile_cm_event() - CM handler of a connection
 * @cm: its id
 * @event: the event
 *
 * Return: 0.
 */
int hostile_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct hostile *h = cm->context;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		check_ack(h, event->private_data);
		complete_all(&h->answered);
		break;
	case IB_CM_RTU_RECEIVED:
		complete_all(&h->answered);
		break;
	case IB_CM_REJ_RECEIVED:
		h->reason = event->param.rej_rcvd.reason;
		ended(h, HOSTILE_REJECTED);
		break;
	case IB_CM_DREQ_RECEIVED:
		if (!h->no_drep)
			ib_send_cm_drep(cm, NULL, 0);
		ended(h, HOSTILE_ENDED);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
	case IB_CM_DREQ_ERROR:
	case IB_CM_DREP_RECEIVED:
	case IB_CM_TIMEWAIT_EXIT:
		ended(h, HOSTILE_ENDED);
		break;
	default:
		break;
	}
	return 0;
}

/**
 * hostile_req_param() - fill in a REQ
 * @h: connection, resolved
 * @what: its contents
 * @req: filled in
 */
void hostile_req_param(struct hostile *h, const struct hostile_req *what,
		       struct ib_cm_req_param *req)
{
	struct rdma_route *route = &h->rdma->route;

	h->path = route->path_rec[0];
	if (what->mtu)
		h->path.mtu = what->mtu;
	*req = (struct ib_cm_req_param){
		.primary_path = &h->path,
		.ppath_sgid_attr = route->addr.dev_addr.sgid_attr,
		.service_id = cpu_to_be64(SDP_SERVICE_ID | what->port),
		.qp_num = h->qp->qp_num,
		.qp_type = IB_QPT_RC,
		.starting_psn = h->psn,
		.private_data = what->private_len ? what->private : NULL,
		.private_data_len = what->private_len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.remote_cm_response_timeout = CM_TIMEOUT,
		.local_cm_response_timeout = what->cm_timeout ? what->cm_timeout : CM_TIMEOUT,
		.flow_control = 1,
		.retry_count = 6,
		.rnr_retry_count = what->rnr_retry,
		.max_cm_retries = CM_RETRIES,
	};
}

/**
 * hostile_send_req() - create the CM id and send a REQ
 * @h: connection, resolved
 * @req: the REQ
 *
 * Return: 0 or an errno.
 */
int hostile_send_req(struct hostile *h, struct ib_cm_req_param *req)
{
	h->cm = ib_create_cm_id(h->rdma->device, hostile_cm_event, h);
	if (IS_ERR(h->cm))
		return PTR_ERR(h->cm);
	return ib_send_cm_req(h->cm, req);
}

/**
 * hostile_request() - fill in a REQ and send it
 * @h: connection, resolved
 * @what: its contents
 *
 * Return: 0 or an errno.
 */
int hostile_request(struct hostile *h, const struct hostile_req *what)
{
	struct ib_cm_req_param req;

	hostile_req_param(h, what, &req);
	return hostile_send_req(h, &req);
}

/**
 * hostile_answer() - wait for REP or REJ
 * @h: connection whose REQ is sent
 *
 * Return: 0 after a REP, -ECONNREFUSED after a REJ (@h->reason), or another errno.
 */
int hostile_answer(struct hostile *h)
{
	if (!wait_for_completion_timeout(&h->answered, ANSWER_TIME))
		return -ETIMEDOUT;
	return READ_ONCE(h->end) == HOSTILE_OPEN ? 0 : -ECONNREFUSED;
}

static int to_state(struct hostile *h, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = ib_cm_init_qp_attr(h->cm, &attr, &mask);
	return err ? err : ib_modify_qp(h->qp, &attr, mask);
}

/**
 * hostile_ready() - make the queue pair ready to send; the caller sends the RTU
 * @h: connection with a REP
 *
 * Return: 0 or an errno.
 */
int hostile_ready(struct hostile *h)
{
	int err = to_state(h, IB_QPS_RTR);

	return err ? err : to_state(h, IB_QPS_RTS);
}

static int post(struct hostile *h, struct ib_send_wr *wr)
{
	int err;

	reinit_completion(&h->completed);
	wr->wr_cqe = &h->send_cqe;
	ib_dma_sync_single_for_device(h->pd->device, h->send_dma, HOSTILE_SEND_SIZE,
				      DMA_BIDIRECTIONAL);
	err = ib_post_send(h->qp, wr, NULL);
	if (err)
		return err;
	if (!wait_for_completion_timeout(&h->completed, h->lane ? SEND_TIME_LANE : SEND_TIME))
		return -ETIMEDOUT;
	return h->sent_status == IB_WC_SUCCESS ? 0 : -EIO;
}

/**
 * hostile_post_one() - post one more receive
 * @h: connection with fewer than %HOSTILE_RECVS receives posted
 *
 * Return: 0 or an errno.
 */
int hostile_post_one(struct hostile *h)
{
	return post_recv(h, h->recvs++ % HOSTILE_RECVS);
}

static int send_as(struct hostile *h, u32 bytes, enum ib_wr_opcode opcode, u32 rkey)
{
	struct ib_sge sge = {
		.addr = h->send_dma, .length = bytes, .lkey = h->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = bytes ? 1 : 0,
		.ex.invalidate_rkey = rkey,
	};

	return post(h, &wr);
}

/**
 * hostile_send() - send @h->send, and wait until it has arrived
 * @h: connection, ready
 * @bytes: length of the message
 *
 * Return: 0, -EIO when the queue pair has failed, or another errno.
 */
int hostile_send(struct hostile *h, u32 bytes)
{
	return send_as(h, bytes, IB_WR_SEND, 0);
}

/**
 * hostile_send_revoking() - the same by Send with Invalidate
 * @h: connection, ready
 * @bytes: length of the message
 * @rkey: key to invalidate
 *
 * Return: as hostile_send().
 */
int hostile_send_revoking(struct hostile *h, u32 bytes, u32 rkey)
{
	return send_as(h, bytes, IB_WR_SEND_WITH_INV, rkey);
}

/**
 * hostile_await() - wait until a count of received messages reaches a value
 * @count: one of a connection's counts, or the number of its newest message
 * @n: the value
 *
 * Return: 0, after which what was noted of these messages can be read, or -ETIMEDOUT.
 */
int hostile_await(const u32 *count, u32 n)
{
	unsigned long end = jiffies + AWAIT_TIME;

	/* Pairs with recv_done(). */
	while (smp_load_acquire(count) < n) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(1000, 2000);
	}
	return 0;
}

/**
 * hostile_await_buffer() - wait for an advertisement that acknowledges our last message
 * @h: connection
 *
 * An earlier advertisement may be void by now (C7).
 *
 * Return: 0, after which @told is the advertisement, or -ETIMEDOUT.
 */
int hostile_await_buffer(struct hostile *h)
{
	u32 n = 0;
	int err;

	do
		err = hostile_await(&h->adverts, ++n);
	while (!err && (s32)(READ_ONCE(h->told.h.mseq_ack) - h->mseq) < 0);
	return err;
}

static int move(struct hostile *h, enum ib_wr_opcode opcode, const struct sdp_region *to, u32 imm)
{
	struct ib_sge sge = {
		.addr = h->send_dma, .length = min_t(u32, to->len, HOSTILE_SEND_SIZE),
		.lkey = h->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode, .ex.imm_data = htonl(imm),
			.sg_list = &sge, .num_sge = to->len ? 1 : 0,
		},
		.remote_addr = to->va,
		.rkey = to->rkey,
	};

	return post(h, &wr.wr);
}

/**
 * hostile_rdma() - read from the peer's memory, or write to it
 * @h: connection, ready
 * @opcode: IB_WR_RDMA_READ or IB_WR_RDMA_WRITE
 * @to: the memory; at most %HOSTILE_SEND_SIZE bytes are moved
 *
 * Return: as hostile_send().
 */
int hostile_rdma(struct hostile *h, enum ib_wr_opcode opcode, const struct sdp_region *to)
{
	return move(h, opcode, to, 0);
}

/**
 * hostile_put() - write @h->send to the peer's memory, with immediate data
 * @h: connection, ready
 * @to: the memory; at most %HOSTILE_SEND_SIZE bytes are written
 * @imm: the immediate data
 *
 * Return: as hostile_send().
 */
int hostile_put(struct hostile *h, const struct sdp_region *to, u32 imm)
{
	return move(h, IB_WR_RDMA_WRITE_WITH_IMM, to, imm);
}

/**
 * hostile_write_imm() - write nothing, with immediate data, which uses one of the peer's receives
 * @h: connection, ready
 *
 * Return: as hostile_send().
 */
int hostile_write_imm(struct hostile *h)
{
	return hostile_put(h, &(struct sdp_region){ }, 1);
}

/**
 * hostile_fall_silent() - stop answering anything, also in the adapter
 * @h: connection, ready
 *
 * Return: 0 or an errno.
 */
int hostile_fall_silent(struct hostile *h)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(h->qp, &attr, IB_QP_STATE);
}

/* Allocates @m and lets the peer read and write it. */
static int expose(struct hostile *h, struct hostile_memory *m)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct ib_device *ib = h->pd->device;
	void *memory = kmalloc(HOSTILE_MR_SIZE, GFP_KERNEL | __GFP_RETRY_MAYFAIL);
	struct ib_mr *mr;

	if (!memory)
		return -ENOMEM;
	memset(memory, 0x5a, HOSTILE_MR_SIZE);
	sg_init_one(&m->sg, memory, HOSTILE_MR_SIZE);
	mr = ib_alloc_mr(h->pd, IB_MR_TYPE_MEM_REG, HOSTILE_MR_SIZE / PAGE_SIZE + 1);
	if (IS_ERR(mr)) {
		kfree(memory);
		return PTR_ERR(mr);
	}
	m->mr = mr;
	if (ib_dma_map_sg(ib, &m->sg, 1, DMA_BIDIRECTIONAL) != 1 ||
	    ib_map_mr_sg(mr, &m->sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	wr.mr = mr;
	wr.key = mr->rkey;
	return post(h, &wr.wr);
}

/**
 * hostile_expose() - let the peer read and write memory
 * @h: connection, ready
 * @region: filled in
 *
 * Return: 0 or an errno.
 */
int hostile_expose(struct hostile *h, struct sdp_region *region)
{
	int err = expose(h, &h->shown);

	if (!h->shown.mr)
		return err;
	region->len = HOSTILE_MR_SIZE;
	region->rkey = h->shown.mr->rkey;
	region->va = h->shown.mr->iova;
	return err;
}

/**
 * hostile_expose_rings() - let the peer write to the memory of rings; it is not told of it yet
 * @h: connection, ready
 *
 * Return: 0 or an errno.
 */
int hostile_expose_rings(struct hostile *h)
{
	return h->own.memory.mr ? 0 : expose(h, &h->own.memory);
}

static void conceal(struct hostile_memory *m)
{
	if (!m->mr)
		return;
	ib_dereg_mr(m->mr);
	kfree(sg_virt(&m->sg));
}

/**
 * hostile_over() - wait for the end of the connection
 * @h: connection
 * @seconds: time limit
 *
 * Return: true when the connection has ended.
 */
bool hostile_over(struct hostile *h, unsigned int seconds)
{
	return wait_for_completion_timeout(&h->over, seconds * HZ);
}

/*
 * soft-RoCE still accesses a queue pair for which it has queued a packet, when that packet may
 * already be consumed and the queue pair destroyed: see rc_qp_quiet(). The softirq of the last
 * completion may still run when the completion queue is freed: see rc_drain_reset(). The second
 * drain is for a receive that the handler posted again behind the first one.
 */
static void qp_free(struct ib_qp *qp)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };

	ib_drain_qp(qp);
	ib_drain_qp(qp);
	ib_modify_qp(qp, &reset, IB_QP_STATE);
	synchronize_rcu();
	ib_destroy_qp(qp);
}

/**
 * hostile_free() - end and free a connection in any state
 * @h: connection
 */
void hostile_free(struct hostile *h)
{
	struct ib_device *ib = IS_ERR_OR_NULL(h->rdma) ? NULL : h->rdma->device;

	hostile_flood_free(h);
	/* Sends a REJ, a DREQ or nothing, depending on the state. */
	if (!IS_ERR_OR_NULL(h->cm))
		ib_destroy_cm_id(h->cm);
	if (!IS_ERR_OR_NULL(h->qp))
		qp_free(h->qp);
	conceal(&h->shown);
	conceal(&h->own.memory);
	if (!IS_ERR_OR_NULL(h->cq))
		ib_free_cq(h->cq);
	if (h->recv_dma)
		ib_dma_unmap_single(ib, h->recv_dma, HOSTILE_RECVS * HOSTILE_RECV_SIZE,
				    DMA_FROM_DEVICE);
	if (h->send_dma)
		ib_dma_unmap_single(ib, h->send_dma, HOSTILE_SEND_SIZE, DMA_BIDIRECTIONAL);
	if (!h->lane && !IS_ERR_OR_NULL(h->pd))
		ib_dealloc_pd(h->pd);
	if (!h->lane && !IS_ERR_OR_NULL(h->rdma))
		rdma_destroy_id(h->rdma);
	kfree(h->recv);
	kfree(h->send);
	kfree(h);
}
