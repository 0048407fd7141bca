/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RC transport: one reliable-connected queue pair per connection, set up by ib_cm.
 *
 *	device.c	devices come and go; listeners of all ports on each of them
 *	vmfork.c	the machine is a copy of itself
 *	link.c	life and end of a link: everything is freed there
 *	cm_connect.c	connecting side: address, route (rdma_cm), then REQ
 *	route.c	which device leads to an address
 *	origin.c	where a request comes from, and whether that can be true
 *	cm_accept.c	accepting side: REQ to REP; and the CM events of both
 *	qp.c		queue pair: posting, sending, completions
 *	drain.c	the end of its completions
 *	mr.c	memory that RDMA reaches
 *	rdma_rw.c	RDMA reads and writes
 *	rxe_read_check.c	whether a read has read anything
 *	frwr.c	a device's queue pair for registering it
 *	threshold.c	from what size on that is worth it
 */
#ifndef SDP_RC_H
#define SDP_RC_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "../buf.h"
#include "../transport.h"

/* RDMA reads in flight, each way, as offered in REQ and REP. */
#define RC_RD_ATOMIC	4
/* CM replies are awaited for 4.096 us << 18 = 1 s, resent up to 15 times. */
#define RC_CM_TIMEOUT	18
#define RC_CM_RETRIES	15
/* So many times the CM may have sent a DREQ before we go without an answer, ... */
#define RC_DREQ_TIMES	3
/* ... which takes so long at least and at most: the time for an answer is a REQ's to name. */
#define RC_DREQ_LEAST	(3 * HZ)
#define RC_DREQ_MOST	(15 * HZ)
/* How old an unanswered REQ or REP must be for us to go: it has been taken in by then. */
#define RC_ANSWER_WAIT	(HZ / 2)
/* So many times the CM may have sent a REP before it is told that the connection stands. */
#define RC_RTU_REPS	5
/* How long to wait for an event that says why a queue pair is in error. */
#define RC_REASON_WAIT	(HZ / 5)
/* Memory regions that a device keeps to be used again. */
#define RC_FREE_REGIONS	64
/* From so many bytes on RDMA is worth it, as long as that has not been measured. */
#define RC_WORTH_GUESS	65536
/* How long to wait for memory to tell the CM, or the peer, that the connection stands. */
#define RC_MEMORY_WAIT	(HZ / 50)
/* If nothing can be mapped for the device for so long, the link ends. */
#define RC_UNMAPPED_MOST	(60 * HZ)
/*
 * Two failures further apart do not belong together: nothing was tried. A
 * virtual machine may stand still for seconds, though, and try again.
 */
#define RC_UNMAPPED_PAUSE	(10 * HZ)
/* So many links are stopped at a time. */
#define RC_STOPS_MOST	32
/* A device's queue pair for registering memory is made at most so often. */
#define RC_REG_PAUSE	HZ
/* How long to wait before we look again whether packets are still under way. */
#define RC_QUIET_WAIT	(HZ / 50)

/**
 * struct rc_drain_mark - the last request of a queue
 * @cqe: completes it
 * @done: it has
 */
struct rc_drain_mark {
	struct ib_cqe cqe;
	struct completion done;
};

/**
 * struct rc_drain - drains a queue pair
 * @send: last request of its send queue
 * @recv: ... of its receive queue
 * @lost: they have not completed in time
 * @looks: so often the completion queue has been looked at since
 */
struct rc_drain {
	struct rc_drain_mark send;
	struct rc_drain_mark recv;
	bool lost;
	unsigned int looks;
};

/**
 * struct rc_reg_path - a path for a device's queue pair for registering memory
 * @attr: attributes with which a connection went to RTR; has a reference to its
 *	GID
 * @mask: which of them are set; 0 if no connection has done so yet
 * @port: port number
 */
struct rc_reg_path {
	struct ib_qp_attr attr;
	int mask;
	u32 port;
};

/**
 * struct rc_device - an RDMA device in use
 * @ib: the device
 * @pd: protection domain of all our queue pairs on it
 * @closed: its queue pairs allow no remote access: key_opens_all()
 * @node: in the list of devices
 * @listeners: CM listeners, one per port listened on; under the list's mutex
 * @events: port and device events
 * @lock: covers @links, @regions, @free_regions, @stuck, @reg_lost, @reg_path
 *	and @going
 * @links: every link on this device
 * @regions: memory regions to be used again
 * @free_regions: how many
 * @stuck: memory regions that have not been deregistered when they should be
 * @reg_lock: to use the three that follow, or, for writing, to make them
 * @reg_ready: the two that follow are there, and work
 * @reg_qp: queue pair for registering memory, or NULL
 * @reg_cq: its completion queue
 * @reg_drain: drains it
 * @reg_room: how many may still register at once
 * @reg_lost: requests of @reg_qp that have not completed in time
 * @reg_path: that of the newest connection
 * @reg_work: makes @reg_qp again after it has failed
 * @reg_made: when it was made last, or tried to (jiffies)
 * @measured: @worth is being measured, or has been
 * @invalidates: the device takes requests to invalidate keys
 * @worth: RDMA is worth it from so many bytes on
 * @worth_work: measures that
 * @going: no new link may come
 * @refs: one for being registered, one per link
 * @unused: the last reference is gone
 */
struct rc_device {
	struct ib_device *ib;
	struct ib_pd *pd;
	bool closed;
	struct list_head node;
	struct list_head listeners;
	struct ib_event_handler events;
	spinlock_t lock;
	struct list_head links;
	struct list_head regions;
	unsigned int free_regions;
	struct list_head stuck;
	struct rw_semaphore reg_lock;
	bool reg_ready;
	struct ib_qp *reg_qp;
	struct ib_cq *reg_cq;
	struct rc_drain reg_drain;
	struct semaphore reg_room;
	struct list_head reg_lost;
	struct rc_reg_path reg_path;
	struct delayed_work reg_work;
	unsigned long reg_made;
	bool measured;
	bool invalidates;
	u32 worth;
	struct work_struct worth_work;
	bool going;
	refcount_t refs;
	struct completion unused;
};

/**
 * struct rc_listener - one port on one device
 * @node: in the device's list
 * @dev: the device
 * @cm: listening CM id
 * @port: host order
 */
struct rc_listener {
	struct list_head node;
	struct rc_device *dev;
	struct ib_cm_id *cm;
	u16 port;
};

/* Where a link is in its life; bits of rc_link.flags. */
enum rc_flag {
	RC_START,		/* the owner wants it connected */
	RC_ASKED,		/* our REQ or REP was sent, and has no answer yet */
	RC_ANSWERING,		/* connecting side: the REP is being dealt with */
	RC_CONNECTED,		/* the CM has an established connection, or is about to */
	RC_RTU,			/* ... but there was no memory for our RTU */
	RC_ROUTE_DONE,		/* the rdma_cm id has served its purpose */
	RC_EARLY,		/* a message came before the CM's handshake was over */
	RC_TELL_CM,		/* ... and the CM has to be told */
	RC_TOLD,		/* ... and it has been */
	RC_BROKEN,		/* a post failed, or an event says so: to be passed on */
	RC_UNMAPPED,		/* nothing can be mapped for it: likewise */
	RC_FLUSHED,		/* the queue pair is in error, and we have not ended it */
	RC_PEER_ENDED,		/* the peer has sent DREQ, or the CM has given up */
	RC_ENDED_SAID,
	RC_RELEASED,		/* the owner has let go */
	RC_AWAITED,		/* it is released, and waits for the answer to its REQ or REP */
	RC_CLOSING,		/* our DREQ is sent, unless the CM had none to send */
	RC_STOPPED,		/* it is being stopped, or has been */
	RC_AT_REST,		/* ... so that no handler and no completion will come any more */
	RC_GONE,		/* everything is freed but the link itself */
	RC_FAILED_SAID,		/* broken, device gone, or the like: told once */
	RC_FAILED_WHY,		/* ... and it is written down why */
	RC_NO_PROBES,		/* a probe would be refused: none is sent */
	RC_UNPROBED,		/* ... and the owner asked for one: tell it */
	RC_OWNED,		/* there is somebody to be told */
};

/**
 * struct rc_msg - a buffer in the hands of the queue pair
 * @skb: the buffer
 * @dma: its pieces: linear part first, then page fragments
 * @signaled: a completion will come for it
 */
struct rc_msg {
	struct sk_buff *skb;
	u64 *dma;
	bool signaled;
};

/**
 * struct rc_ring - buffers posted and not yet completed; the order is the same
 * @slots: the buffers
 * @dma: memory of all their @dma
 * @size: number of slots
 * @sges: pieces per slot
 * @head: next to post; moves under the owner's lock
 * @tail: next to complete; moves in the completion handler
 */
struct rc_ring {
	struct rc_msg *slots;
	u64 *dma;
	u16 size;
	u16 sges;
	u32 head;
	u32 tail;
};

/**
 * struct rc_unmapped - mappings that fail, of one direction
 * @failing: the newest one has
 * @since: ... the first one of those that have in a row (jiffies)
 * @last: ... the newest one
 */
struct rc_unmapped {
	bool failing;
	unsigned long since;
	unsigned long last;
};

/**
 * struct rc_mr - a memory region of a device
 * @node: in the device's list, while it is not used
 * @mr: the region
 * @valid: its key is still good, for ourselves
 * @keeps: memory that cannot be given back, as it has not been deregistered
 */
struct rc_mr {
	struct list_head node;
	struct ib_mr *mr;
	bool valid;
	struct rc_mem *keeps;
};

/* Memory that only we move from or to may take so many requests without a registration. */
#define RC_MOVE_REQUESTS	4
/* As many bytes at the end of a request show whether it has been carried out. */
#define RC_SEAL_BYTES		8

/**
 * struct rc_mem - an application's memory, prepared for one transfer
 * @mem: what the owner holds
 * @region: its memory region; NULL if it is moved in pieces
 * @sgt: the pages, mapped for the device
 * @use: what for
 * @partly: a move has failed that was posted in part
 * @seal: what the last bytes of each of its requests were before they were posted
 * @ends: where these end, and begin; see rxe_read_check.c
 * @seals: how many
 * @node: in the link's list, as long as the peer may reach it
 */
struct rc_mem {
	struct sdp_mem mem;
	struct rc_mr *region;
	struct sg_table sgt;
	enum sdp_mem_use use;
	bool partly;
	u8 seal[RC_SEAL_BYTES];
	struct {
		u32 end;
		u32 bytes;
	} ends[RC_MOVE_REQUESTS];
	unsigned int seals;
	struct list_head node;
};

static inline struct rc_mem *to_rc_mem(struct sdp_mem *mem)
{
	return container_of(mem, struct rc_mem, mem);
}

/**
 * struct rc_move - one RDMA read or write
 * @cqe: completes it
 * @mem: our end of it, or NULL when there is none
 */
struct rc_move {
	struct ib_cqe cqe;
	struct sdp_mem *mem;
};

/**
 * struct rc_link - one connection's end
 * @link: what the owner holds
 * @net: namespace
 * @local: own address; connecting side: as bound, then as resolved
 * @peer: the other address
 * @dev: device, known once the route is (connecting) or from the beginning (accepting)
 * @dev_node: in the device's list
 * @port: port number of the device
 * @pkey: partition key
 * @psn: packet sequence number at which the peer shall begin
 * @asked: when our REQ or REP was sent (jiffies), with RC_ASKED
 * @closing: when our DREQ was sent (jiffies), with RC_CLOSING
 * @cm_wait: how long the CM waits for an answer before it repeats a message (jiffies)
 * @rdma: resolves address and route; destroyed by the work item
 * @cm: CM id of the connection
 * @qp: queue pair
 * @cq: its completion queue, from the device's pool
 * @cqes: entries taken of it
 * @config: limits
 * @rx: receive ring
 * @tx: send ring
 * @flushed: receives that failed; they stay in @rx
 * @flushed_at: jiffies when @qp was seen in error without a reason, or 0; of the work item
 * @drain: drains @qp
 * @stopped: RCU grace period that has to end before the next step to free @qp
 * @reset: @qp takes no packets any more
 * @over: nothing else is waited for
 * @unsignaled: sends since the last one with a completion
 * @kept: messages that are not sent yet, as the first cannot be mapped; under
 *	the owner's lock, with @link.kept
 * @marked: a write of nothing is under way, whose completion is that of the
 *	messages before it
 * @tx_unmapped: mappings of messages to send; under the owner's lock
 * @rx_unmapped: ... of receives
 * @spare: received buffers given back unread
 * @rx_cqe: completes receives
 * @tx_cqe: completes sends
 * @mark_cqe: completes the write that @marked is about
 * @probe_cqe: completes probes
 * @exposed: memory that the peer may be told of, whose keys it may take back
 * @exposed_lock: of that list, which completions look at
 * @part_cqe: completes all but the last request of a move, if they fail
 * @reading: the RDMA read under way
 * @writing: the RDMA write under way
 * @users: those who keep device, queue pair and owner, although that may have let go
 * @wish: for resolving
 * @error: why it has failed; with RC_FAILED_WHY
 * @place: ... where
 * @flags: enum rc_flag
 * @work: ends and frees the link, and whatever else must not run in a handler
 * @stop: stops it in between: nothing else looks at it meanwhile
 * @refs: one for the link, one for its queued @work, one for @stop, one for each who walks the
 *	device's list
 */
struct rc_link {
	struct sdp_link link;
	struct net *net;
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	struct rc_device *dev;
	struct list_head dev_node;
	u32 port;
	u16 pkey;
	u32 psn;
	unsigned long asked;
	unsigned long closing;
	unsigned long cm_wait;
	struct rdma_cm_id *rdma;
	struct ib_cm_id *cm;
	struct ib_qp *qp;
	struct ib_cq *cq;
	u32 cqes;
	struct sdp_link_config config;
	struct rc_ring rx;
	struct rc_ring tx;
	u32 flushed;
	unsigned long flushed_at;
	struct rc_drain drain;
	unsigned long stopped;
	bool reset;
	bool over;
	u16 unsignaled;
	struct sk_buff_head kept;
	bool marked;
	struct rc_unmapped tx_unmapped;
	struct rc_unmapped rx_unmapped;
	struct sk_buff_head spare;
	struct ib_cqe rx_cqe;
	struct ib_cqe tx_cqe;
	struct ib_cqe mark_cqe;
	struct ib_cqe probe_cqe;
	struct list_head exposed;
	spinlock_t exposed_lock;
	struct ib_cqe part_cqe;
	struct rc_move reading;
	struct rc_move writing;
	atomic_t users;
	struct sdp_path_wish wish;
	int error;
	const char *place;
	unsigned long flags;
	struct delayed_work work;
	struct work_struct stop;
	refcount_t refs;
};

extern const struct sdp_link_events *rc_up;
extern struct workqueue_struct *rc_wq;
extern struct workqueue_struct *rc_stop_wq;

/* A time of the CM's, 4.096 us times a power of two, as ib_cm itself reads it; in jiffies. */
static inline unsigned long rc_cm_time(int exponent)
{
	return msecs_to_jiffies(1U << clamp(exponent - 8, 0, 23));
}

static inline struct rc_link *to_rc(struct sdp_link *link)
{
	return container_of(link, struct rc_link, link);
}

/* device.c */

/* How many RDMA reads of one peer the device answers at a time, at most. */
static inline int rc_device_reads(const struct rc_device *dev)
{
	return dev->closed ? 0 :
	       min(RC_RD_ATOMIC, dev->ib->attrs.max_qp_rd_atom);
}

bool rc_device_add_link(struct rc_device *dev, struct rc_link *rc);
bool rc_device_find_add_link(struct ib_device *ib, struct rc_link *rc);
void rc_device_leave(struct rc_link *rc);
void rc_device_del_link(struct rc_link *rc);
bool rc_device_any(bool (*is)(struct ib_device *ib, void *arg), void *arg);
bool rc_device_any_now(bool (*is)(struct ib_device *ib, void *arg), void *arg);
void rc_device_fail_all(int error, const char *place);
int rc_device_init(void);
void rc_device_exit(void);
int rc_listen(struct net *net, u16 port);
void rc_unlisten(struct net *net, u16 port);

/* vmfork.c */
int rc_fork_init(void);
void rc_fork_exit(void);

/* link.c */
struct rc_link *rc_link_alloc(struct net *net);
void rc_link_put(struct rc_link *rc);
void rc_link_discard(struct rc_link *rc);
void rc_link_poke(struct rc_link *rc, enum rc_flag flag);
void rc_link_wake(struct rc_link *rc);
void rc_link_fail(struct rc_link *rc, int error, const char *place);
void rc_link_owned(struct rc_link *rc);

/* cm_connect.c */
struct sdp_link *rc_create(struct net *net, const struct sdp_endpoint *local,
			   const struct sdp_endpoint *peer);
void rc_connect(struct sdp_link *link, const struct sdp_path_wish *wish);
void rc_to_sockaddr(struct sockaddr_storage *ss, const struct sdp_endpoint *e);
void rc_resolve(struct rc_link *rc);

/* origin.c */
struct net_device *rc_origin_dev(const struct ib_cm_req_event_param *req,
				 struct ib_device *ib,
				 const struct sdp_endpoint *local);
bool rc_origin_true(const struct ib_cm_req_event_param *req,
		    struct ib_device *ib, struct net_device *ndev,
		    const struct sdp_incoming *in);
bool rc_origin_mtu_fits(const struct ib_cm_req_event_param *req,
			struct ib_device *ib, const struct net_device *ndev);
bool rc_origin_reachable(struct net_device *ndev,
			 const struct sdp_incoming *in);

/* cm_accept.c */
int rc_listen_event(struct ib_cm_id *cm, const struct ib_cm_event *event);
int rc_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event);
int rc_reject(struct ib_cm_id *cm, enum ib_cm_rej_reason reason);

/* qp.c */
int rc_prepare(struct sdp_link *link, struct sdp_link_config *config);
int rc_qp_ready(struct rc_link *rc);
u16 rc_post(struct sdp_link *link, u16 n, u32 size);
void rc_recycle(struct sdp_link *link, struct sk_buff *skb);
void rc_trim(struct sdp_link *link);
void rc_send(struct sdp_link *link, struct sk_buff *skb, bool flush);
void rc_resend(struct sdp_link *link);
bool rc_map_piece(struct ib_device *ib, struct page *page, u32 offset,
		  struct ib_sge *sge, enum dma_data_direction dir);
void rc_probe(struct sdp_link *link);
void rc_qp_drain(struct rc_link *rc);
void rc_qp_stop(struct rc_link *rc);
bool rc_qp_quiet(struct rc_link *rc);
void rc_qp_settle(struct rc_link *rc);
void rc_qp_destroy(struct rc_link *rc);

void rc_send_failed(struct rc_link *rc, const struct ib_wc *wc);

/* drain.c */
bool rc_drain_await(struct completion *done, struct ib_cq *cq);
bool rc_drain(struct rc_drain *d, struct ib_qp *qp);
void rc_drain_failed(struct rc_drain *d, struct ib_qp *qp);
bool rc_drain_lost_over(struct rc_drain *d, struct ib_cq *cq);
void rc_drain_reset(struct rc_drain *d, struct ib_qp *qp);

/* mr.c */
bool rc_mem_able(const struct ib_device *ib);
bool rc_mem_invalidates(const struct ib_device *ib);
struct device *rc_mem_device(struct ib_device *ib);
u32 rc_mem_line(struct ib_device *ib);
void rc_mem_drop_pool(struct rc_device *dev);
struct sdp_mem *rc_map(struct sdp_link *link, const struct sdp_pages *pages);
void rc_unmap(struct sdp_link *link, struct sdp_mem *mem);
int rc_mem_try(struct rc_device *dev, const struct sdp_pages *pages);
void rc_mem_revoked(struct rc_link *rc, u32 rkey);

/* rdma_rw.c */
u32 rc_move_pieces(const struct rc_link *rc, enum sdp_mem_use use);
void rc_move_init(struct rc_link *rc);
bool rc_move(struct sdp_link *link, struct sdp_mem *mem,
	     const struct sdp_region *remote);
void rc_move_drained(struct rc_link *rc);

/* rxe_read_check.c */
void rc_seal(const struct rc_link *rc, struct rc_mem *m, u32 begin, u32 end);
bool rc_seal_broken(const struct rc_mem *m);

/* frwr.c */
void rc_reg_init(struct rc_device *dev);
void rc_reg_start(struct rc_device *dev, u32 port, const struct ib_qp_attr *rtr,
		  int mask);
void rc_reg_want(struct rc_device *dev);
void rc_reg_cancel(struct rc_device *dev);
void rc_reg_stop(struct rc_device *dev);
int rc_reg_mr(struct rc_device *dev, struct ib_mr *mr, u32 stale, int access);

/* threshold.c */
void rc_worth_init(struct rc_device *dev);
void rc_worth_start(struct rc_device *dev);
void rc_worth_stop(struct rc_device *dev);

#endif /* SDP_RC_H */
