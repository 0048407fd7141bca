/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer of AF_SDP that speaks the wire by hand, so that it can say what no socket would.
 *
 *	conn.c	one connection: ib_cm, a queue pair, sends one by one
 *	flood.c	requests without end
 *	full.c	a device without queue pairs
 *	unread.c	devices without RDMA read
 *	regs.c	a device that registers no memory
 *	keys.c	what is done with memory that it is told of
 *	rings.c	what is written into a ring, or said of one
 *	modes.c	exchanges of large transfers that cross, are void, or are broken off
 *	forge.c	a REQ that names other addresses
 *	cases.c	what is said on it, by name
 *	gen.c	cases without end, drawn from a seed: requests, and who connects
 *	gen_accept.c	likewise, as the end that accepts
 *	gen_msg.c	what either says then
 *	gen_ring.c	... of rings, and in them
 *	run.c	debugfs: which case to run, and what came of it
 */
#ifndef SDP_HOSTILE_H
#define SDP_HOSTILE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "wire.h"

#define HOSTILE_RECVS		64
#define HOSTILE_RECV_SIZE	2048
#define HOSTILE_SEND_SIZE	4096
/* What an honest peer would grant; fewer than are posted. */
#define HOSTILE_BUFS		16
/* A ring, and a window of it. */
#define HOSTILE_RING		16384
/* hostile_rings.sh: so many rings are left with one message each. */
#define HOSTILE_HELD		20
#define HOSTILE_WINDOW		1024
/* Memory that a peer may be told of, and so much for rings. */
#define HOSTILE_MR_SIZE		65536
/* The immediate data of a message in a ring: which ring, and the length. */
#define HOSTILE_IMM_ODD		0x80000000U
#define HOSTILE_IMM_LEN		0x000FFFFFU

/* How a connection attempt or a connection has ended. */
enum hostile_end {
	HOSTILE_OPEN,
	HOSTILE_REJECTED,
	HOSTILE_ENDED,
};

struct hostile_flood;

/**
 * struct hostile_advert - memory that the peer has told of
 * @mid: by which message, or 0
 * @region: the memory
 */
struct hostile_advert {
	u8 mid;
	struct sdp_region region;
};

/**
 * struct hostile_memory - memory that the peer can reach
 * @mr: its region, or NULL
 * @sg: it
 */
struct hostile_memory {
	struct ib_mr *mr;
	struct scatterlist sg;
};

/**
 * struct hostile_own - rings of ours
 * @memory: where they lie
 * @at: the second one of two and the first one, as the peer has been told of them
 * @odd: which of them the peer writes into, as far as it has come
 * @head: bytes that are in it
 * @unsure: nobody knows which one the peer has taken
 * @given: so often the peer has given its ring back
 */
struct hostile_own {
	struct hostile_memory memory;
	struct sdp_region at[2];
	bool odd;
	u32 head;
	bool unsure;
	u32 given;
};

/**
 * struct hostile - one connection
 * @node: in the list of those to be ended by the next case
 * @rdma: resolves address and route, holds the device
 * @cm: the connection's CM id
 * @pd: protection domain
 * @cq: completions of both directions
 * @qp: queue pair
 * @recv: memory of all receives
 * @recv_dma: its address for the device
 * @send: memory of the message being sent
 * @send_dma: its address for the device
 * @psn: where the peer's packets begin
 * @step: an event of address or route resolution has come
 * @step_status: what it said
 * @answered: REP or REJ has come
 * @over: REJ, DREQ or the CM's own end has come
 * @completed: the send has completed
 * @sent_status: how
 * @end: how far it has come
 * @reason: reason of a REJ
 * @no_drep: leave a DREQ without an answer
 * @seen: number of the newest message received
 * @acked: newest message acknowledged
 * @mseq: number of the newest message sent
 * @adverts: so often the peer has told of its memory
 * @told: the message that did it last
 * @came: so many control messages have come, by their MID
 * @placed: bytes that the peer has said it wrote
 * @payloads: messages with payload, of every kind
 * @stream: bytes of the stream that a program peer sends, as far as it is here
 * @wrong: so many of them were others
 * @said: so much of such a stream has been said by us
 * @datas: messages with payload that were nothing else
 * @count: bytes that the next report says
 * @ring: the ring that the peer has made, of no bytes if it has made none
 * @rings: so often it has said so
 * @asked: size of the ring that the peer has asked for
 * @asks: so often it has asked for one
 * @freed: so much of its ring it says that it has read
 * @own: rings that the peer writes into
 * @peer: its Hello or HelloAck
 * @allowed: number of the newest that the peer lets us send, as far as it has said so
 * @flood: requests beside its own, if there are any
 * @path: the path that a REQ names
 * @lane: has device, path and protection domain, if they are not its own
 * @stingy: receives are not posted again
 * @recvs: receives to post at first
 * @advert: the newest that came from the peer
 * @shown: memory that the peer may read and write
 */
struct hostile {
	struct list_head node;
	struct rdma_cm_id *rdma;
	struct ib_cm_id *cm;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u8 *recv;
	u64 recv_dma;
	u8 *send;
	u64 send_dma;
	u32 psn;
	struct completion step;
	int step_status;
	struct completion answered;
	struct completion over;
	struct completion completed;
	enum ib_wc_status sent_status;
	enum hostile_end end;
	int reason;
	bool no_drep;
	u32 seen;
	u32 acked;
	u32 mseq;
	u32 adverts;
	struct sdp_msg told;
	u32 came[SDP_MID_SUSPEND_ACK + 1];
	u32 placed;
	u32 payloads;
	u32 stream;
	u32 wrong;
	u32 said;
	u32 datas;
	u32 count;
	struct sdp_region ring;
	u32 rings;
	u32 asked;
	u32 asks;
	u32 freed;
	struct hostile_own own;
	struct sdp_hello peer;
	u32 allowed;
	struct hostile_flood *flood;
	struct sa_path_rec path;
	struct hostile *lane;
	bool stingy;
	u32 recvs;
	struct hostile_advert advert;
	struct hostile_memory shown;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe[HOSTILE_RECVS];
};

/**
 * struct hostile_req - what goes into a REQ
 * @port: listener's port
 * @private: private data
 * @private_len: its length
 * @cm_timeout: time for the peer to repeat its REP, 4.096 us << this
 * @rnr_retry: how often the peer shall try what finds no receive; 7: for ever
 * @mtu: length of packets, as enum ib_mtu or anything else; 0: that of the path
 */
struct hostile_req {
	u16 port;
	u8 private[SDP_HELLO_LEN];
	u8 private_len;
	u8 cm_timeout;
	u8 rnr_retry;
	u8 mtu;
};

/* conn.c */
struct hostile *hostile_make(void);
int hostile_resolve(struct hostile *h, __be32 from, __be32 to, u16 port);
int hostile_borrow(struct hostile *h, struct hostile *lane);
void hostile_req_param(struct hostile *h, const struct hostile_req *what,
		       struct ib_cm_req_param *req);
int hostile_send_req(struct hostile *h, struct ib_cm_req_param *req);
int hostile_request(struct hostile *h, const struct hostile_req *req);
int hostile_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event);
int hostile_answer(struct hostile *h);
int hostile_ready(struct hostile *h);
int hostile_send(struct hostile *h, u32 bytes);
int hostile_send_revoking(struct hostile *h, u32 bytes, u32 rkey);
int hostile_write_imm(struct hostile *h);
int hostile_fall_silent(struct hostile *h);
int hostile_post_one(struct hostile *h);
int hostile_await(const u32 *count, u32 n);
int hostile_await_buffer(struct hostile *h);
int hostile_rdma(struct hostile *h, enum ib_wr_opcode opcode, const struct sdp_region *to);
int hostile_put(struct hostile *h, const struct sdp_region *to, u32 imm);
int hostile_expose(struct hostile *h, struct sdp_region *region);
int hostile_expose_rings(struct hostile *h);
bool hostile_over(struct hostile *h, unsigned int seconds);
void hostile_free(struct hostile *h);

/* flood.c */
int hostile_flood(struct hostile *h, const struct hostile_req *what, u32 count, bool leaves);
int hostile_flood_verdict(struct hostile *h, char *text, size_t room);
void hostile_flood_free(struct hostile *h);

/* full.c */
int hostile_full(const char *name, bool memory);
void hostile_no_more_full(void);

/* unread.c */
int hostile_unread(const char *name);
void hostile_all_read(void);

/* regs.c */
int hostile_registers_not(const char *name, const char *how);
int hostile_registers_failed(void);
void hostile_registers(void);

/* keys.c */
int hostile_key_read(struct hostile *h);
int hostile_key_read_late(struct hostile *h);
int hostile_key_read_before(struct hostile *h);
int hostile_key_read_beyond(struct hostile *h);
int hostile_key_write_offer(struct hostile *h);
int hostile_key_write(struct hostile *h);
int hostile_key_write_late(struct hostile *h);
int hostile_key_write_before(struct hostile *h);
int hostile_key_write_beyond(struct hostile *h);
int hostile_key_read_buffer(struct hostile *h);

/* rings.c */
int hostile_ring_write(struct hostile *h);
int hostile_ring_anywhere(struct hostile *h);
int hostile_ring_elsewhere(struct hostile *h);
int hostile_ring_beyond(struct hostile *h);
int hostile_ring_before(struct hostile *h);
int hostile_ring_none(struct hostile *h);
int hostile_ring_other(struct hostile *h);
int hostile_ring_short(struct hostile *h);
int hostile_ring_long(struct hostile *h);
int hostile_ring_bits(struct hostile *h);
int hostile_ring_len(struct hostile *h);
int hostile_ring_mid(struct hostile *h);
int hostile_ring_flags(struct hostile *h);
int hostile_ring_mseq(struct hostile *h);
int hostile_ring_offer(struct hostile *h);
int hostile_ring_overrun(struct hostile *h);
int hostile_ring_held(struct hostile *h);
int hostile_ring_ask_again(struct hostile *h);
int hostile_ring_ask_twice(struct hostile *h);
int hostile_ring_ask_odd(struct hostile *h);
int hostile_ring_ask_huge(struct hostile *h);
int hostile_ring_give_back_none(struct hostile *h);
int hostile_ring_avail_unasked(struct hostile *h);
int hostile_ring_avail_larger(struct hostile *h);
int hostile_ring_avail_wraps(struct hostile *h);
int hostile_ring_avail_twice(struct hostile *h);
int hostile_ring_avail_key(struct hostile *h);
int hostile_ring_freed(struct hostile *h);
int hostile_ring_freed_unknown(struct hostile *h);
int hostile_nic_long(struct hostile *h);
int hostile_nic_offer(struct hostile *h);
int hostile_nic_buffer(struct hostile *h);

/* modes.c */
void hostile_follow(struct hostile *h, const u8 *data, u32 n);
int hostile_stale(struct hostile *h);
int hostile_crossed(struct hostile *h);
int hostile_crossed_partly(struct hostile *h);
int hostile_crosses(struct hostile *h);
int hostile_several(struct hostile *h);
int hostile_once(struct hostile *h);
int hostile_reports_beyond(struct hostile *h);
int hostile_offer_silent(struct hostile *h);
int hostile_offer_silent_partly(struct hostile *h);
int hostile_offer_gone(struct hostile *h);
int hostile_offer_cancelled(struct hostile *h);
int hostile_buffer_silent(struct hostile *h);
int hostile_buffer_silent_written(struct hostile *h);
int hostile_buffer_gone(struct hostile *h);
int hostile_buffer_cancelled(struct hostile *h);

/* forge.c */
int hostile_forge(struct hostile *h, u16 port, const char *src, const char *dst);

/* cases.c */
u32 hostile_header(struct hostile *h, u8 mid, u32 payload);
int hostile_say(struct hostile *h, u8 mid, u32 payload);
int hostile_case(const char *name, u16 port, u32 count, struct list_head *conns);
void hostile_honest_req(struct hostile_req *req, u16 port);

/* gen.c */
int hostile_gen_command(char *text);
int hostile_gen_report(char *text, size_t room);
int hostile_gen_init(void);
void hostile_gen_exit(void);

/* run.c */
extern char *hostile_from, *hostile_to;
extern atomic_t hostile_malformed;

#endif /* SDP_HOSTILE_H */
