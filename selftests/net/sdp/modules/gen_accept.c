// SPDX-License-Identifier: GPL-2.0
/*
 * Random cases: the accepting end: any HelloAck or none, a REJ for any reason, and messages.
 *
 * Each request has a work item, which runs the whole case.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "gen.h"

/* Time limit for the peer's RTU. */
#define RTU_SECONDS	5

/**
 * struct acceptor - a request that has arrived
 * @work: runs the case
 * @number: number of the case
 * @h: its connection
 * @resources: responder resources of the REQ
 * @depth: initiator depth of the REQ
 * @hello_ok: its Hello is valid; it is stored in @h
 */
struct acceptor {
	struct work_struct work;
	u32 number;
	struct hostile *h;
	u8 resources;
	u8 depth;
	bool hello_ok;
};

static struct workqueue_struct *cases;
static struct ib_cm_id *listener;
static u64 accept_seed;
static u32 accept_first;
static u32 accept_count;
static atomic_t accept_next;

/* Offsets and sizes of the fields of a HelloAck. */
static const u8 ack_fields[][2] = {
	{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 1 }, { 17, 1 },
	{ 18, 1 }, { 19, 1 }, { 20, 4 }, { 24, 4 }, { 28, 1 }, { 29, 1 }, { 30, 2 }, { 32, 4 },
	{ 192, 4 },
};

static u8 spoil_ack(struct gen *g, u8 *ack)
{
	u32 n = 1 + gen_draw(g, 2), i;

	switch (gen_draw(g, 6)) {
	case 0:
		g->kind = GEN_ACK_SHORT;
		i = gen_draw(g, SDP_HELLO_ACK_LEN);
		memset(ack + i, 0, SDP_HELLO_ACK_LEN - i);
		return i;
	case 1:
		g->kind = GEN_ACK_LEN;
		put_unaligned_be32(gen_draw(g, 2 * SDP_HELLO_ACK_LEN), ack + 4);
		break;
	case 2:
		g->kind = GEN_ACK_VERSION;
		ack[16] = gen_draw(g, 256);
		break;
	case 3:
		g->kind = GEN_ACK_RANDOM;
		prandom_bytes_state(&g->rnd, ack, SDP_HELLO_ACK_LEN);
		break;
	default:
		g->kind = GEN_ACK_FIELDS;
		while (n--) {
			i = gen_draw(g, ARRAY_SIZE(ack_fields));
			gen_spoil(g, ack + ack_fields[i][0], ack_fields[i][1]);
		}
		break;
	}
	return SDP_HELLO_ACK_LEN;
}

/* Returns true if the HelloAck is valid. */
static bool send_reply(struct gen *g, const struct acceptor *a, bool spoil, int *err)
{
	struct sdp_hello hello = {
		.bufs = HOSTILE_BUFS, .version = SDP_VERSION, .max_adverts = 1,
		.recv_size = HOSTILE_RECV_SIZE,
	};
	u8 ack[SDP_HELLO_ACK_LEN];
	struct ib_cm_rep_param rep = {
		.qp_num = g->h->qp->qp_num, .starting_psn = g->h->psn, .private_data = ack,
		.private_data_len = SDP_HELLO_ACK_LEN, .flow_control = 1,
		.responder_resources = min_t(u8, a->resources, 1),
		.initiator_depth = min_t(u8, a->depth, 1),
		.rnr_retry_count = gen_draw(g, 2),
	};
	bool right;

	gen_rings_wish(g, &hello);
	sdp_hello_ack_build(ack, &hello);
	if (spoil)
		rep.private_data_len = spoil_ack(g, ack);
	if (gen_draw(g, 8) == 0)
		rep.responder_resources = gen_draw(g, 256);
	right = !sdp_hello_ack_parse(ack, SDP_HELLO_ACK_LEN, &hello);
	g->limit = hello.bufs;
	if (right)
		gen_rings_agree(g, &hello);
	*err = ib_send_cm_rep(g->h->cm, &rep);
	return right;
}

static enum gen_end refuse(struct gen *g)
{
	u8 text[148];

	g->kind = GEN_REJECTS;
	prandom_bytes_state(&g->rnd, text, sizeof(text));
	ib_send_cm_rej(g->h->cm, gen_draw(g, 40), text, gen_draw(g, 72), text,
		       gen_draw(g, sizeof(text)));
	return GEN_LEFT;
}

static enum gen_end run(struct gen *g, const struct acceptor *a)
{
	u32 kind = gen_draw(g, 100);
	bool right;
	int err;

	if (!a->hello_ok) {
		g->why = "AF_SDP has sent a wrong Hello";
		return GEN_WRONG;
	}
	if (kind < 15)
		return refuse(g);
	/* No answer: the peer gives up after its own time limit. We destroy the id. */
	g->kind = GEN_SILENT;
	if (kind < 17)
		return GEN_LEFT;
	g->kind = GEN_RIGHT;
	/* The peer may have given up already; its REJ arrives in a moment. */
	if (hostile_ready(g->h))
		return hostile_over(g->h, RTU_SECONDS) ? GEN_NO_ANSWER : GEN_WRONG;
	right = send_reply(g, a, kind < 50, &err);
	/* The peer may have given up already. */
	if (err)
		return GEN_NO_ANSWER;
	if (!right) {
		g->why = "a wrong HelloAck";
		return gen_verdict(g, 0);
	}
	if (!wait_for_completion_timeout(&g->h->answered, RTU_SECONDS * HZ) ||
	    READ_ONCE(g->h->end) != HOSTILE_OPEN)
		return GEN_NO_ANSWER;
	return gen_verdict(g, gen_talk(g));
}

static void accept_work(struct work_struct *work)
{
	struct acceptor *a = container_of(work, struct acceptor, work);
	enum gen_end end = GEN_WRONG;
	struct gen g;

	gen_begin(&g, accept_seed, a->number);
	g.h = a->h;
	if (!hostile_borrow(a->h, gen_lane()))
		end = run(&g, a);
	gen_over(&g, end);
	kfree(a);
}

/* The reserved fields must be zero as well. */
static bool hello_ok(const u8 *p, struct sdp_hello *hello)
{
	u8 again[SDP_HELLO_LEN];

	if (sdp_hello_parse(p, IB_CM_REQ_PRIVATE_DATA_SIZE, hello))
		return false;
	sdp_hello_build(again, hello);
	return !memcmp(again, p, sizeof(again));
}

static int request(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	const struct ib_cm_req_event_param *req = &event->param.req_rcvd;
	struct acceptor *a;
	u32 n;

	if (event->event != IB_CM_REQ_RECEIVED)
		return -EINVAL;
	n = atomic_inc_return(&accept_next) - 1;
	if (n >= accept_count) {
		ib_send_cm_rej(cm, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0, NULL, 0);
		return -ECONNREFUSED;
	}
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return -ENOMEM;
	a->h = hostile_make();
	if (!a->h) {
		kfree(a);
		return -ENOMEM;
	}
	a->number = accept_first + n;
	a->resources = req->responder_resources;
	a->depth = req->initiator_depth;
	a->hello_ok = hello_ok(event->private_data, &a->h->peer);
	a->h->cm = cm;
	cm->context = a->h;
	cm->cm_handler = hostile_cm_event;
	INIT_WORK(&a->work, accept_work);
	queue_work(cases, &a->work);
	return 0;
}

/**
 * gen_accept() - accept requests
 * @seed: seed of the random numbers
 * @first: number of the first case
 * @count: number of requests to accept; later ones are refused
 * @port: port to listen on
 *
 * Return: 0 or an errno.
 */
int gen_accept(u64 seed, u32 first, u32 count, u16 port)
{
	int err;

	if (listener)
		return -EBUSY;
	accept_seed = seed;
	accept_first = first;
	accept_count = count;
	atomic_set(&accept_next, 0);
	listener = ib_create_cm_id(gen_lane()->rdma->device, request, NULL);
	if (IS_ERR(listener)) {
		err = PTR_ERR(listener);
		listener = NULL;
		return err;
	}
	err = ib_cm_listen(listener, cpu_to_be64(SDP_SERVICE_ID | port));
	if (err)
		gen_accept_stop();
	return err;
}

/**
 * gen_accept_stop() - accept no more requests, and wait for the end of all cases
 */
void gen_accept_stop(void)
{
	if (listener)
		ib_destroy_cm_id(listener);
	listener = NULL;
	flush_workqueue(cases);
}

/**
 * hostile_gen_init() - create the work queue of the cases
 *
 * Return: 0 or an errno.
 */
int hostile_gen_init(void)
{
	cases = alloc_workqueue("sdp_hostile", WQ_UNBOUND, 64);
	return cases ? 0 : -ENOMEM;
}

/**
 * gen_accept_exit() - undo hostile_gen_init()
 */
void gen_accept_exit(void)
{
	destroy_workqueue(cases);
}
