/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hostile peer of AF_SDP: it builds wire messages by hand.
 *
 * So it can send what no socket would.
 *
 *	conn.c	one connection: ib_cm, a queue pair, synchronous sends
 *	flood.c	floods of connection requests
 *	unread.c	devices without RDMA read
 *	regs.c	a device that fails to register memory, or to create queue pairs
 *	keys.c	misuse of the keys of advertised memory
 *	rings.c	wrong messages in a ring, and about rings
 *	modes.c	SrcAvail and SinkAvail exchanges that cross, are void, or break off
 *	forge.c	a REQ with forged addresses
 *	rails.c	requests to join a connection, and messages by several rails
 *	cases.c	the cases, by name
 *	gen.c	random cases from a seed: the connecting end
 *	gen_accept.c	random cases: the accepting end
 *	gen_msg.c	random cases: messages of either end
 *	gen_ring.c	random cases: messages about rings, and in them
 *	run.c	debugfs: which case to run, and its result
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
/* Number of buffers that an honest peer would grant; fewer than are posted. */
#define HOSTILE_BUFS		16
/* Size of a ring, and of a window in it. */
#define HOSTILE_RING		16384
/* Number of rings that hostile_rings.sh leaves with one message each. */
#define HOSTILE_HELD		20
#define HOSTILE_WINDOW		1024
/* Size of the memory that a peer is told of, and of the memory for rings. */
#define HOSTILE_MR_SIZE		65536
/* Immediate data of a message in a ring: which ring, and the length. */
#define HOSTILE_IMM_ODD		0x80000000U
#define HOSTILE_IMM_LEN		0x000FFFFFU

/* How a connection attempt or a connection ended. */
enum hostile_end {
	HOSTILE_OPEN,
	HOSTILE_REJECTED,
	HOSTILE_ENDED,
};

struct hostile_flood;

/**
 * struct hostile_advert - memory that the peer has advertised
 * @mid: MID of the advertisement, or 0
 * @region: the memory
 */
struct hostile_advert {
	u8 mid;
	struct sdp_region region;
};

/**
 * struct hostile_memory - memory that the peer can access
 * @mr: its memory region, or NULL
 * @sg: the memory
 */
struct hostile_memory {
	struct ib_mr *mr;
	struct scatterlist sg;
};

/**
 * struct hostile_own - our rings
 * @memory: the memory that holds them
 * @at: second and first ring (index @odd), as the peer has been told of them
 * @odd: the peer writes into the first, third, ... ring, as far as messages have arrived
 * @head: number of bytes written into the current ring
 * @unsure: it is unknown which ring the peer uses
 * @given: number of rings that the peer has given back
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
 * @node: in the list of connections that the next case ends
 * @rdma: resolves address and route, holds the device
 * @cm: the connection's CM id
 * @pd: protection domain
 * @cq: completions of both directions
 * @qp: queue pair
 * @recv: memory of all receives
 * @recv_dma: DMA address of @recv
 * @send: memory of the message being sent
 * @send_dma: DMA address of @send
 * @psn: first packet sequence number, for REQ and REP
 * @step: completed by an event of address or route resolution
 * @step_status: result of that resolution
 * @answered: REP or REJ has arrived
 * @over: the connection has ended: by REJ, by DREQ, or by the CM
 * @completed: the send has completed
 * @sent_status: completion status of the send
 * @end: how the connection ended
 * @reason: reason of a REJ
 * @no_drep: do not answer a DREQ
 * @seen: number of the newest message received
 * @acked: newest message acknowledged
 * @mseq: number of the newest message sent
 * @adverts: number of advertisements received
 * @told: the last message with an advertisement
 * @came: number of messages received, by their MID
 * @placed: bytes that the peer has reported by RdmaWrCompl
 * @payloads: messages received with payload, of every kind
 * @stream: bytes received of the stream that the program "peer" sends
 * @wrong: number of those bytes that differ from the stream
 * @said: bytes of such a stream that we have sent
 * @datas: messages with payload and no other purpose
 * @count: byte count of the next report
 * @ring: the peer's ring; length 0 if it has none
 * @rings: number of RingAvail messages received
 * @asked: size of the ring that the peer has asked for
 * @asks: number of times that the peer has asked for a ring
 * @freed: bytes of its ring that the peer has reported as read
 * @own: our rings, into which the peer writes
 * @peer: its Hello or HelloAck
 * @allowed: number of the newest message that the peer's grants allow us to send
 * @flood: requests beside its own, if there are any
 * @path: the path in a REQ
 * @lane: owner of device, path and protection domain, if this connection has none of its own
 * @stingy: receives are not posted again
 * @recvs: number of receives to post at first
 * @advert: the peer's newest advertisement
 * @shown: our memory that the peer may read and write
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
 * struct hostile_req - contents of a REQ
 * @port: listener's port
 * @private: private data
 * @private_len: its length
 * @cm_timeout: interval at which the peer shall repeat its REP, 4.096 us << this; 0: the default
 * @rnr_retry: number of retries by the peer when it finds no receive; 7: unlimited
 * @mtu: packet length, as enum ib_mtu or any other value; 0: that of the path
 */
struct hostile_req {
	u16 port;
	u8 private[SDP_HELLO_LEN];
	u8 private_len;
	u8 cm_timeout;
	u8 rnr_retry;
	u8 mtu;
};

/**
 * struct hostile_message - a case: what follows an honest message
 * @name: its name; NULL: the end of a list of cases
 * @speak: sends what follows; NULL: that is one message
 * @mid: kind of that message
 * @payload: its bytes of payload
 * @at: offset of the bytes that are not honest ones
 * @n: their number
 * @value: value of each
 * @imm: immediate data with which it is written into the peer's ring; 0: it is sent
 * @offset: where it is written in the ring
 * @first: kind of an honest message before it, or 0
 * @first_payload: bytes of payload of that one
 */
struct hostile_message {
	const char *name;
	int (*speak)(struct hostile *h);
	u8 mid;
	u16 payload;
	u8 at, n, value;
	u32 imm;
	s64 offset;
	u8 first;
	u8 first_payload;
};

/**
 * struct hostile_course - a case: the course of an exchange
 * @name: its name; NULL: the end of a list
 * @run: runs it against the listener of that port; its connections go to the list
 */
struct hostile_course {
	const char *name;
	int (*run)(u16 port, struct list_head *conns);
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

/* unread.c */
int hostile_unread(const char *name);
void hostile_all_read(void);

/* regs.c */
int hostile_registers_not(const char *name, const char *how);
int hostile_registers_failed(void);
void hostile_registers(void);

/* keys.c, modes.c, rings.c: cases */
extern const struct hostile_message hostile_keys[], hostile_modes[], hostile_rings[];
void hostile_follow(struct hostile *h, const u8 *data, u32 n);
int hostile_place(struct hostile *h, const struct hostile_message *m);

/* rails.c */
extern const struct hostile_course hostile_rails[];

/* forge.c */
int hostile_forge(struct hostile *h, u16 port, const char *src, const char *dst);

/* cases.c */
u32 hostile_header(struct hostile *h, u8 mid, u32 payload);
int hostile_say(struct hostile *h, u8 mid, u32 payload);
int hostile_case(const char *name, u16 port, u32 count, struct list_head *conns);
void hostile_honest_req(struct hostile_req *req, u16 port);
struct hostile *hostile_begin(const struct hostile_req *req, struct list_head *conns);

/* gen.c */
int hostile_gen_command(char *text);
int hostile_gen_report(char *text, size_t room);
int hostile_gen_init(void);
void hostile_gen_exit(void);

/* run.c */
extern char *hostile_from, *hostile_to;
extern atomic_t hostile_malformed;

#endif /* SDP_HOSTILE_H */
