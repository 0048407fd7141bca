/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hostile peer of AF_SDP by datagrams.
 *
 * It opens connections as an honest peer would, and then sends datagrams that no honest one sends.
 *
 *	ud_port.c	device, two queue pairs, and what they receive
 *	ud_conn.c	one connection: Opens, messages, verdict
 *	ud_cases.c	the cases, by name
 *	ud_gen.c	random cases from a seed
 *	ud_run.c	debugfs: which case to run, and its result
 *
 * One command runs at a time. What is received is noted in softirq, under ud_port.lock.
 */
#ifndef SDP_HOSTILE_UD_H
#define SDP_HOSTILE_UD_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "opening.h"
#include "service.h"
#include "wire.h"

#define UD_RECVS	128
#define UD_ROOM		(sizeof(struct ib_grh) + SDP_DATAGRAM_SIZE_MAX)
#define UD_OWN_QPS	2
/* Key of the queue pairs of AF_SDP. */
#define UD_QKEY		0x80534450
/* Buffers that an honest peer would grant. */
#define UD_BUFS		16
/* How long an answer may take. */
#define UD_ANSWER	(10 * HZ)
/* How long a datagram may wait to be sent before the queue pair is woken up */
#define UD_NUDGE	HZ
/* Datagrams are shorter than the path allows, so that messages of 1536 bytes have several. */
#define UD_SIZE_MOST	512
/* Where Hello is in the body of an Open. */
#define UD_HELLO_AT	(SDP_OPEN_LEN - SDP_HELLO_LEN)

/**
 * struct ud_port - what all connections of a run share
 * @rdma: resolves address and route, holds the device
 * @step: completed by an event of address or route resolution, or by a SIDR answer
 * @step_status: result of that
 * @pd: protection domain
 * @cq: completions of both queue pairs
 * @qp: own queue pairs
 * @ah: the peer's address
 * @size: bytes of the largest datagram that the path carries
 * @service: the peer's queue pairs
 * @recv: memory of all receives, @recvs for each queue pair
 * @recv_dma: DMA address of @recv
 * @recv_cqe: complete the receives
 * @send: the datagram being sent
 * @send_dma: DMA address of @send
 * @send_cqe: completes the send
 * @sent: the send has completed
 * @sent_status: completion status of the send
 * @lock: covers @conns, and what is received for them
 * @conns: the connections
 * @heard: woken by each datagram
 * @malformed: datagrams that AF_SDP should not have sent
 * @port: port of the listener
 */
struct ud_port {
	struct rdma_cm_id *rdma;
	struct completion step;
	int step_status;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp[UD_OWN_QPS];
	struct ib_ah *ah;
	u32 size;
	struct sdp_service service;
	u8 *recv;
	u64 recv_dma;
	struct ib_cqe recv_cqe[UD_RECVS];
	u8 *send;
	u64 send_dma;
	struct ib_cqe send_cqe;
	struct completion sent;
	enum ib_wc_status sent_status;
	spinlock_t lock;
	struct list_head conns;
	wait_queue_head_t heard;
	u32 malformed;
	u16 port;
};

/**
 * struct ud_conn - one connection
 * @node: entry in ud_port.conns
 * @port: port
 * @own: which of our queue pairs it uses
 * @to_qp: the peer's queue pair
 * @qkey: key that its datagrams have
 * @id: our number of it
 * @their_id: the peer's; 0 before it has told us
 * @first: number of our first packet
 * @seq: number of our next packet
 * @mseq: number of our last SDP message
 * @cookie: cookie of the newest Challenge
 * @heard: number of the first packet of the peer that we lack
 * @round: round of the newest Data
 * @acked: first of our packets that the peer lacks
 * @came: datagrams received, by type
 * @why: reason of an OpenReject, or 0
 * @over: the peer has ended it
 */
struct ud_conn {
	struct list_head node;
	struct ud_port *port;
	u32 own;
	u32 to_qp;
	u32 qkey;
	u32 id;
	u32 their_id;
	u32 first;
	u32 seq;
	u32 mseq;
	u8 cookie[SDP_COOKIE_LEN];
	u32 heard;
	u8 round;
	u32 acked;
	u32 came[SDP_DATAGRAM_TYPES];
	u32 why;
	bool over;
};

/* How a connection has ended. */
enum ud_end {
	UD_STANDS,	/* the peer answers a Probe */
	UD_ENDED,	/* by the peer's Reset */
	UD_REFUSED,	/* by an OpenReject */
	UD_NOTHING,	/* there never was one */
	UD_SILENT,	/* there was one, and the peer says nothing */
};

/**
 * struct ud_sums - what came of random datagrams
 * @said: datagrams sent
 * @opened: connections opened
 * @refused: connections that were not
 * @ended: connections that the peer has ended
 */
struct ud_sums {
	u32 said;
	u32 opened;
	u32 refused;
	u32 ended;
};

/* ud_port.c */
struct ud_port *ud_port_begin(__be32 from, __be32 to, u16 port);
void ud_port_end(struct ud_port *p);
int ud_post(struct ud_conn *c, u32 bytes);

/* ud_conn.c */
struct ud_conn *ud_conn_make(struct ud_port *p);
void ud_conn_heard(struct ud_conn *c, const struct sdp_datagram *d, const u8 *body);
u32 ud_packet(const struct ud_port *p);
struct sdp_datagram ud_header(const struct ud_conn *c, u8 type);
int ud_say(struct ud_conn *c, const struct sdp_datagram *d, u32 body);
int ud_control(struct ud_conn *c, u8 type);
void ud_open_body(struct ud_conn *c, u8 *body, bool cookie);
int ud_open_say(struct ud_conn *c, bool cookie);
int ud_open(struct ud_conn *c);
u32 ud_message(struct ud_conn *c, u32 payload);
int ud_data(struct ud_conn *c, u32 payload);
bool ud_await(struct ud_conn *c, u8 type, u32 count, unsigned long wait);
enum ud_end ud_verdict(struct ud_conn *c);
void ud_end(struct ud_conn *c);
void ud_forget(struct ud_conn *c);

/* ud_cases.c */
int ud_case(struct ud_port *p, const char *name, u32 count);

/* ud_gen.c */
int ud_generate(struct ud_port *p, u64 seed, u32 datagrams, struct ud_sums *sums);

#endif /* SDP_HOSTILE_UD_H */
