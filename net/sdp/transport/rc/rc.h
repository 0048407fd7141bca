/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RC transport: structures and functions that its files share.
 *
 * The RC transport uses one reliable-connected queue pair per connection and
 * sets it up by ib_cm, or on iWARP by iw_cm.
 *
 *	device.c	RDMA devices, and on each a CM listener for each port
 *	limits.c	what a device must offer, and links that fit its limits
 *	vmfork.c	end of all connections when a VM resumes from a snapshot
 *	link.c		life cycle and teardown of a link; its work item
 *	cm_connect.c	connecting side: address, route (rdma_cm), REQ
 *	route.c		which device the route to an address leads to
 *	carrier.c	whether an interface carries packets
 *	origin.c	origin of a connection request
 *	cm_accept.c	accepting side, REQ to REP; CM events of both sides
 *	iw.c		connections over iWARP, both sides
 *	qp.c		queue pair: posting, sending, completions
 *	posted.c	rings of posted buffers, and their DMA mapping
 *	drain.c		drain of a queue pair within a time limit
 *	dma.c		DMA mapping of memory for RDMA
 *	mr.c		registration of memory for RDMA
 *	rdma_rw.c	RDMA reads and writes
 *	rxe_read_check.c	detection of soft-RoCE reads that moved no data
 *	frwr.c		per-device queue pair that registers memory
 *	threshold.c	measured size from which RDMA pays off
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

/* RDMA reads in flight in each direction, as stated in REQ and REP. */
#define RC_RD_ATOMIC	4
/* The CM waits 4.096 us << 18 = 1 s for a reply, and resends up to 15 times. */
#define RC_CM_TIMEOUT	18
#define RC_CM_RETRIES	15
/* We stop waiting for a DREP once the CM may have sent our DREQ this often. */
#define RC_DREQ_TIMES	3
/* First byte of the private data of a DREQ that ends one rail of several. */
#define RC_DREQ_RAIL	0x52
/*
 * Lower and upper limit of that wait. It depends on the response timeout that
 * a REQ names, so we bound it.
 */
#define RC_DREQ_LEAST	(3 * HZ)
#define RC_DREQ_MOST	(15 * HZ)
/*
 * Minimum age of an unanswered REQ or REP when we destroy its CM id. The
 * peer's CM has processed the message by then.
 */
#define RC_ANSWER_WAIT	(HZ / 2)
/*
 * Number of times the CM may have sent our REP before we tell it that the
 * connection is established.
 */
#define RC_RTU_REPS	5
/* Interval at which we look whether a port is up, and how often. */
#define RC_PORT_WAIT	HZ
#define RC_PORT_LOOKS	30
/* Time to wait for an event that tells why a queue pair is in error. */
#define RC_REASON_WAIT	(HZ / 5)
/* The same on iWARP, where the end of a TCP connection comes as two events. */
#define RC_REASON_WAIT_IW	(2 * HZ)
/* Largest number of unused memory regions that a device keeps for reuse. */
#define RC_FREE_REGIONS	64
/* Bytes from which a transfer uses RDMA, until the device is measured. */
#define RC_WORTH_GUESS	65536
/*
 * Retry interval of an RTU, or of ib_cm_notify(), that failed for lack of
 * memory.
 */
#define RC_MEMORY_WAIT	(HZ / 50)
/* The link fails when no buffer could be mapped for this long. */
#define RC_UNMAPPED_MOST	(60 * HZ)
/*
 * Failures further apart than this start a new period: nothing was tried in
 * between. The limit is long enough that a virtual machine which stalls for
 * some seconds, and then retries, stays within one period.
 */
#define RC_UNMAPPED_PAUSE	(10 * HZ)
/* Largest number of links that are being stopped at a time. */
#define RC_STOPS_MOST	32
/* Address families with a listener each on an iWARP device. */
#define RC_IW_FAMILIES	2
/* Minimum interval between attempts to create rc_device.reg_qp. */
#define RC_REG_PAUSE	HZ
/* Poll interval while packets or users may still refer to a stopped link. */
#define RC_QUIET_WAIT	(HZ / 50)

/**
 * struct rc_drain_mark - last request of a send or receive queue
 * @cqe: completes the request
 * @done: the request has completed
 */
struct rc_drain_mark {
	struct ib_cqe cqe;
	struct completion done;
};

/**
 * struct rc_drain - state of draining one queue pair
 * @send: last request of its send queue
 * @recv: last request of its receive queue
 * @lost: completions are lost: the queue pair has to be reset
 * @looks: number of calls of rc_drain_lost_over() so far
 */
struct rc_drain {
	struct rc_drain_mark send;
	struct rc_drain_mark recv;
	bool lost;
	unsigned int looks;
};

/**
 * struct rc_reg_path - path for a device's registration queue pair
 * @attr: attributes with which a connection went to RTR; holds a reference to
 *	its GID
 * @mask: attributes that are set; 0 while no connection has reached RTR
 * @port: port number of the device
 */
struct rc_reg_path {
	struct ib_qp_attr attr;
	int mask;
	u32 port;
};

/**
 * struct rc_device - an RDMA device
 * @ib: the device
 * @lack: it is not used, because it lacks this; of the members below only
 *	@node is valid then. NULL if it is in use
 * @pd: protection domain of all our queue pairs on the device
 * @closed: its queue pairs allow no remote access, see key_opens_all()
 * @node: entry in the list of devices in use, or of others
 * @listeners: CM listeners, one per port listened on; under the list's mutex
 * @iw: on iWARP instead: listeners of the TCP port that all ports share
 * @events: handler of port and device events
 * @lock: covers @links, @regions, @free_regions, @stuck, @reg_lost, @reg_path
 *	and @going
 * @links: links on this device that still want its events
 * @regions: unused memory regions, kept for reuse
 * @free_regions: number of entries in @regions
 * @stuck: memory regions that the device failed to deregister
 * @reg_lock: held for reading to use @reg_qp and @reg_cq, for writing to
 *	create or destroy them
 * @reg_ready: @reg_qp and @reg_cq exist and work
 * @reg_qp: queue pair for registering memory, or NULL
 * @reg_cq: completion queue of @reg_qp
 * @reg_drain: drains @reg_qp
 * @reg_room: number of registrations that may still start
 * @reg_lost: requests of @reg_qp that did not complete in time
 * @reg_path: path of the newest connection
 * @reg_work: recreates @reg_qp after a failure
 * @reg_made: time of the last attempt to create @reg_qp (jiffies)
 * @measured: the measurement of @worth has been started
 * @invalidates: the device accepts requests to invalidate keys
 * @bounces: the kernel has bounced memory of the device (dma.c)
 * @worth: bytes from which a transfer uses RDMA
 * @worth_work: measures @worth
 * @going: the device is being removed: no new link may be attached
 * @refs: one for the registration with ib_core, one per link
 * @unused: completed when @refs drops to zero
 */
struct rc_device {
	struct ib_device *ib;
	const char *lack;
	struct ib_pd *pd;
	bool closed;
	struct list_head node;
	struct list_head listeners;
	struct iw_cm_id *iw[RC_IW_FAMILIES];
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
	bool bounces;
	u32 worth;
	struct work_struct worth_work;
	bool going;
	refcount_t refs;
	struct completion unused;
};

struct rc_iw;

/**
 * struct rc_listener - CM listener of one port on one device
 * @node: entry in the device's list
 * @dev: the device
 * @cm: listening CM id
 * @port: port number in host byte order
 */
struct rc_listener {
	struct list_head node;
	struct rc_device *dev;
	struct ib_cm_id *cm;
	u16 port;
};

/**
 * enum rc_flag - progress of a link, bits of rc_link.flags
 * @RC_START: the owner wants the link connected
 * @RC_ASKED: our REQ or REP is sent and unanswered
 * @RC_CALLING: on iWARP: a connect or accept of iw_cm is running
 * @RC_ANSWERING: connecting side: the CM handler processes the REP
 * @RC_CONNECTED: the CM has an established connection, or is about to
 * @RC_RTU: our RTU failed for lack of memory: the work item resends it
 * @RC_ROUTE_DONE: the rdma_cm id is no longer needed
 * @RC_EARLY: a message arrived before the CM's handshake was complete
 * @RC_TELL_CM: the work item has to tell the CM about @RC_EARLY
 * @RC_TOLD: the CM has been told
 * @RC_BROKEN: a post failed, or an event reported an error: the work item
 *	fails the link
 * @RC_UNMAPPED: mappings failed for too long: the work item fails the link
 * @RC_FLUSHED: the queue pair is in error though no side has ended the link
 * @RC_PEER_ENDED: the peer has sent DREQ, or the CM has given up
 * @RC_ENDED_SAID: the owner has been told of @RC_PEER_ENDED
 * @RC_RELEASED: the owner has called release()
 * @RC_AWAITED: the link is released and waits for the answer to its REQ or REP
 * @RC_CLOSING: our DREQ is sent, unless the CM failed to send one
 * @RC_STOPPED: the link is being stopped, or is stopped
 * @RC_AT_REST: the link is stopped: no handler runs any more, and no
 *	completion either unless the drain lost some
 * @RC_GONE: everything but the link's own memory is freed
 * @RC_FAILED_SAID: the link has failed; only the first failure is reported
 * @RC_FAILED_WHY: rc_link.error and rc_link.place are valid
 * @RC_NO_PROBES: the peer might refuse a probe: none is sent
 * @RC_UNPROBED: the owner asked for a probe that is not sent: the work item
 *	reports the peer alive
 * @RC_OWNED: the link has an owner to report to
 * @RC_ONE_RAIL: the connection goes on without the link: our DREQ says so
 */
enum rc_flag {
	RC_START,
	RC_ASKED,
	RC_CALLING,
	RC_ANSWERING,
	RC_CONNECTED,
	RC_RTU,
	RC_ROUTE_DONE,
	RC_EARLY,
	RC_TELL_CM,
	RC_TOLD,
	RC_BROKEN,
	RC_UNMAPPED,
	RC_FLUSHED,
	RC_PEER_ENDED,
	RC_ENDED_SAID,
	RC_RELEASED,
	RC_AWAITED,
	RC_CLOSING,
	RC_STOPPED,
	RC_AT_REST,
	RC_GONE,
	RC_FAILED_SAID,
	RC_FAILED_WHY,
	RC_NO_PROBES,
	RC_UNPROBED,
	RC_OWNED,
	RC_ONE_RAIL,
};

/**
 * struct rc_msg - a buffer that is posted on the queue pair
 * @skb: the buffer
 * @dma: DMA addresses of its pieces: linear part first, then page fragments
 * @signaled: the request asks for a completion, or the write of
 *	rc_link.marked does so in its place
 */
struct rc_msg {
	struct sk_buff *skb;
	u64 *dma;
	bool signaled;
};

/**
 * struct rc_ring - buffers posted and not yet completed, in order of posting
 * @slots: the buffers
 * @dma: memory behind the @dma of all slots
 * @size: number of slots
 * @sges: maximum number of pieces per slot
 * @head_slot: next slot to post
 * @tail_slot: next slot to complete
 * @head: number of buffers posted; with @head_slot under the owner's lock
 * @tail: number of buffers completed; with @tail_slot the completion handler's
 *
 * The numbers wrap, and @size does not divide 2^32, so a slot cannot be
 * computed from a number.
 */
struct rc_ring {
	struct rc_msg *slots;
	u64 *dma;
	u16 size;
	u16 sges;
	u16 head_slot;
	u16 tail_slot;
	u32 head;
	u32 tail;
};

/**
 * struct rc_unmapped - failing DMA mappings of one direction
 * @failing: the newest mapping failed
 * @since: time of the first failure of the present period (jiffies)
 * @last: time of the newest failure (jiffies)
 */
struct rc_unmapped {
	bool failing;
	unsigned long since;
	unsigned long last;
};

/**
 * struct rc_mr - a memory region of a device
 * @node: entry in rc_device.regions or rc_device.stuck
 * @mr: the region
 * @valid: its key is still valid, for our own use
 * @keeps: memory that must not be freed because the region is not deregistered
 */
struct rc_mr {
	struct list_head node;
	struct ib_mr *mr;
	bool valid;
	struct rc_mem *keeps;
};

/*
 * Maximum number of requests for memory without a registration, which only we
 * move data to or from.
 */
#define RC_MOVE_REQUESTS	4
/*
 * Requests in a send queue beside messages: drain, probe, mark, and RDMA in
 * both directions. A completion queue has one more, for the drain of receives.
 */
#define RC_SENDS_MORE		(3 + 2 * RC_MOVE_REQUESTS)
#define RC_CQES_MORE		(RC_SENDS_MORE + 1)
/* Bytes at the end of a request that show whether the device carried it out. */
#define RC_SEAL_BYTES		8

/**
 * struct rc_edge - a page of ours that is mapped in place of a page
 * @copy: our page; NULL if there is none
 * @page: the page
 * @offset: where the memory's bytes are in the page
 * @len: number of these bytes
 */
struct rc_edge {
	struct page *copy;
	struct page *page;
	u32 offset;
	u32 len;
};

/**
 * struct rc_mem - memory of an application or of ours, prepared for RDMA
 * @mem: the part that the owner sees
 * @region: its memory region; NULL if it is moved piece by piece
 * @sgt: its pages, mapped for the device
 * @head: bytes in @sgt in front of the memory
 * @tail: bytes in @sgt behind it
 * @first: edge in place of its first page (dma.c)
 * @last: edge in place of its last page
 * @use: purpose of the mapping
 * @partly: a write failed after some of its requests were posted
 * @seal: random bytes written at the end of each request before it is posted
 * @ends: where the seal of each request is; see rxe_read_check.c
 * @ends.end: offset behind the request's last byte
 * @ends.bytes: number of sealed bytes in front of @ends.end
 * @seals: number of entries in @ends
 * @node: entry in rc_link.exposed while the peer may reach the memory
 */
struct rc_mem {
	struct sdp_mem mem;
	struct rc_mr *region;
	struct sg_table sgt;
	u32 head;
	u32 tail;
	struct rc_edge first;
	struct rc_edge last;
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
 * struct rc_move - the RDMA read or write in flight
 * @cqe: completes its last request
 * @mem: our memory, or NULL when no move is in flight
 */
struct rc_move {
	struct ib_cqe cqe;
	struct sdp_mem *mem;
};

/**
 * struct rc_link - one end of a connection
 * @link: the part that the owner sees
 * @net: network namespace
 * @local: own address; connecting side: as bound, then as resolved
 * @peer: the peer's address
 * @dev: device; accepting side: set at once, connecting side: set when the
 *	route is known
 * @dev_node: entry in rc_device.links
 * @port: port number of the device
 * @pkey: partition key
 * @psn: packet sequence number with which the peer begins to send
 * @asked: time when our REQ or REP was sent (jiffies)
 * @closing: time when our DREQ was sent (jiffies), with %RC_CLOSING
 * @cm_wait: time after which the CM resends an unanswered message (jiffies)
 * @rdma: rdma_cm id that resolves address and route; destroyed by the work
 *	item
 * @cm: CM id of the connection
 * @iw: the connection over iWARP, instead of @cm; NULL otherwise
 * @qp: queue pair
 * @cq: completion queue, from the device's pool
 * @cqes: number of entries reserved in @cq
 * @config: limits
 * @rx: receive ring
 * @tx: send ring
 * @flushed: number of receives that failed; their buffers stay in @rx
 * @flushed_at: time when @qp was seen in error without a reason (jiffies), or
 *	0; only the work item uses it
 * @drain: drains @qp
 * @stopped: RCU grace period to wait for before the next step of freeing @qp
 * @reset: @qp is in RESET and takes no packets any more
 * @over: after lost completions, @stopped is the last grace period to wait for
 * @unsignaled: number of sends since the last one with a completion
 * @kept: messages that wait because the first one cannot be mapped; under the
 *	owner's lock, with @link.kept
 * @marked: an RDMA write without data is in flight; its completion shows that
 *	the messages before it have arrived
 * @tx_unmapped: failing mappings of messages to send; under the owner's lock
 * @rx_unmapped: failing mappings of receives; under the owner's lock
 * @spare: received buffers that are kept for reuse
 * @rx_cqe: completes receives
 * @tx_cqe: completes sends
 * @mark_cqe: completes the write of @marked
 * @probe_cqe: completes probes
 * @exposed: memory whose keys the peer may know and may still invalidate
 * @exposed_lock: covers @exposed, also against completion handlers
 * @part_cqe: completes the requests of a move before its last one, on error
 * @reading: the RDMA read in flight
 * @writing: the RDMA write in flight
 * @users: number of users that keep device, queue pair and owner in existence,
 *	also after release()
 * @wish: how to reach the peer
 * @error: cause of the failure, a positive errno; with %RC_FAILED_WHY
 * @place: place of the failure; with %RC_FAILED_WHY
 * @port_looks: how often we have looked whether the port is up
 * @port_up: it was, when we looked last
 * @flags: bits of enum rc_flag
 * @work: ends and frees the link, and does what must not run in a handler
 * @stop: stops the link; @work does not touch it in the meantime
 * @refs: one for the link, one for the queued @work, one for @stop, one for
 *	each task that walks rc_device.links
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
	struct rc_iw *iw;
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
	u8 port_looks;
	bool port_up;
	unsigned long flags;
	struct delayed_work work;
	struct work_struct stop;
	refcount_t refs;
};

/* Up-calls to the layer above. */
extern const struct sdp_link_events *rc_up;
extern sdp_incoming_fn rc_incoming;
extern void (*rc_paths_changed)(void);
extern sdp_sidr_fn rc_sidr;
/* rc_stop_wq runs rc_link.stop, rc_wq all other work items. */
extern struct workqueue_struct *rc_wq;
extern struct workqueue_struct *rc_stop_wq;

/**
 * rc_cm_time() - convert a timeout of the CM to jiffies, as ib_cm does
 * @exponent: the timeout is 4.096 us << @exponent
 *
 * Return: jiffies.
 */
static inline unsigned long rc_cm_time(int exponent)
{
	return msecs_to_jiffies(1U << clamp(exponent - 8, 0, 23));
}

/* The buffer that is posted next, under the owner's lock. */
static inline struct rc_msg *rc_ring_head(struct rc_ring *ring)
{
	return &ring->slots[ring->head_slot];
}

/* The buffer that completes next, in the completion handler. */
static inline struct rc_msg *rc_ring_tail(struct rc_ring *ring)
{
	return &ring->slots[ring->tail_slot];
}

/* The buffer that was posted last. */
static inline u16 rc_ring_newest(const struct rc_ring *ring)
{
	return (ring->head_slot ? ring->head_slot : ring->size) - 1;
}

static inline void rc_ring_posted(struct rc_ring *ring)
{
	ring->head_slot = ring->head_slot + 1 == ring->size ?
				  0 : ring->head_slot + 1;
	ring->head++;
}

static inline void rc_ring_not_posted(struct rc_ring *ring)
{
	ring->head_slot = rc_ring_newest(ring);
	ring->head--;
}

static inline void rc_ring_completed(struct rc_ring *ring)
{
	ring->tail_slot = ring->tail_slot + 1 == ring->size ?
				  0 : ring->tail_slot + 1;
	/* The slot is free. Pairs with rc_ring_full(). */
	smp_store_release(&ring->tail, ring->tail + 1);
}

static inline bool rc_ring_full(const struct rc_ring *ring)
{
	/* Pairs with rc_ring_completed(). */
	return ring->head - smp_load_acquire(&ring->tail) >= ring->size;
}

static inline struct rc_link *to_rc(struct sdp_link *link)
{
	return container_of(link, struct rc_link, link);
}

/* A completion shows that the link is broken; its owner is told. */
static inline void rc_completion_failed(struct rc_link *rc, int error,
					enum ib_wc_status status)
{
	rc->link.up->failed(&rc->link, error, ib_wc_status_msg(status));
}

/* device.c */

/**
 * rc_device_reads() - number of RDMA reads that a device answers at a time
 * @dev: device
 *
 * Return: maximum number per connection; 0 if the device allows no reads.
 */
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

/* limits.c */
bool rc_iw_used(const struct ib_device *ib, u32 port);
bool rc_iw_reaches(const struct ib_device *ib, const struct net *net);
u16 rc_iw_tcp_port(void);
u32 rc_region_page(const struct ib_device *ib);
u32 rc_region_pages(const struct ib_device *ib);
bool rc_mem_able(const struct ib_device *ib);
bool rc_mem_invalidates(const struct ib_device *ib);
u32 rc_device_has(const struct ib_device *ib, bool closed);
const char *rc_device_lack(const struct ib_device *ib);
void rc_fit(const struct ib_device *ib, struct sdp_link_config *config);
void rc_limits_look(const struct ib_device *ib, bool closed,
		    struct sdp_device_look *look);
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
void rc_resolve(struct rc_link *rc);

/* origin.c */
bool rc_iw_serves(struct ib_device *ib, u32 port, const struct net_device *dev);
struct net_device *rc_origin_dev(const struct ib_cm_req_event_param *req,
				 struct ib_device *ib,
				 const struct sdp_endpoint *local);
bool rc_origin_true(const struct ib_cm_req_event_param *req,
		    struct ib_device *ib, struct net_device *ndev,
		    const struct sdp_incoming *in);
bool rc_origin_mtu_fits(const struct ib_cm_req_event_param *req,
			struct ib_device *ib, const struct net_device *ndev);

/* carrier.c */
bool rc_carries(const struct net_device *dev);
bool rc_route_carries(struct net *net, const struct sdp_endpoint *local);

/* cm_accept.c */
int rc_listen_event(struct ib_cm_id *cm, const struct ib_cm_event *event);
int rc_cm_event(struct ib_cm_id *cm, const struct ib_cm_event *event);
int rc_reject(struct ib_cm_id *cm, enum ib_cm_rej_reason reason);
void rc_cm_connected(struct rc_link *rc);

/* iw.c */
int rc_iw_request(struct rc_link *rc, const u8 *hello);
int rc_iw_listen(struct rc_device *dev);
void rc_iw_unlisten(struct rc_device *dev);
unsigned long rc_iw_disconnect(struct rc_link *rc);
void rc_iw_stop(struct rc_link *rc);
void rc_iw_free(struct rc_iw *iw);

/* qp.c */
int rc_prepare(struct sdp_link *link, struct sdp_link_config *config);
int rc_qp_ready(struct rc_link *rc);
u16 rc_post(struct sdp_link *link, u16 n, u32 size);
void rc_recycle(struct sdp_link *link, struct sk_buff *skb);
void rc_trim(struct sdp_link *link);
void rc_send(struct sdp_link *link, struct sk_buff *skb, bool flush);
void rc_resend(struct sdp_link *link);
void rc_probe(struct sdp_link *link);
void rc_qp_drain(struct rc_link *rc);
bool rc_qp_end_moves(struct rc_link *rc);
void rc_qp_stop(struct rc_link *rc);
bool rc_qp_quiet(struct rc_link *rc);
void rc_qp_settle(struct rc_link *rc);
void rc_qp_destroy(struct rc_link *rc);

void rc_send_failed(struct rc_link *rc, const struct ib_wc *wc);

/* posted.c */
int rc_ring_alloc(struct rc_ring *ring, u16 size, u16 sges);
void rc_ring_free(struct rc_link *rc, struct rc_ring *ring,
		  enum dma_data_direction dir);
bool rc_map_piece(struct ib_device *ib, struct page *page, u32 offset,
		  struct ib_sge *sge, enum dma_data_direction dir);
int rc_msg_map(struct rc_link *rc, struct rc_msg *msg, struct ib_sge *sge,
	       enum dma_data_direction dir);
void rc_msg_unmap(struct rc_link *rc, struct rc_msg *msg,
		  enum dma_data_direction dir);

/* drain.c */
bool rc_drain_await(struct completion *done, struct ib_cq *cq);
bool rc_drain(struct rc_drain *d, struct ib_qp *qp);
void rc_drain_failed(struct rc_drain *d, struct ib_qp *qp);
bool rc_drain_lost_over(struct rc_drain *d, struct ib_cq *cq);
void rc_drain_reset(struct rc_drain *d, struct ib_qp *qp);

/* dma.c */
struct device *rc_mem_device(struct ib_device *ib);
u32 rc_mem_line(struct ib_device *ib);
bool rc_dma_shares_lines(struct ib_device *ib, const struct sdp_pages *pages);
bool rc_dma_seen_at_once(struct ib_device *ib, const struct rc_mem *m,
			 const struct sdp_pages *pages);
int rc_dma_map(struct ib_device *ib, struct rc_mem *m,
	       const struct sdp_pages *pages, bool edges);
void rc_dma_unmap(struct ib_device *ib, struct rc_mem *m);
bool rc_dma_joins(struct ib_device *ib, const struct rc_mem *m, u32 page);
void rc_dma_keep(struct ib_device *ib, struct rc_mem *m);
void rc_dma_release_kept(struct ib_device *ib, struct rc_mem *m);

/* mr.c */
void rc_mem_drop_pool(struct rc_device *dev);
struct sdp_mem *rc_map(struct sdp_link *link, const struct sdp_pages *pages);
void rc_unmap(struct sdp_link *link, struct sdp_mem *mem);
int rc_mem_try(struct rc_device *dev, const struct sdp_pages *pages);
void rc_mem_revoked(struct rc_link *rc, u32 rkey);

/* rdma_rw.c */
u32 rc_move_pieces(const struct rc_link *rc, enum sdp_mem_use use);
void rc_move_init(struct rc_link *rc);
bool rc_move(struct sdp_link *link, struct sdp_mem *mem,
	     const struct sdp_region *remote, const struct sdp_rail_keys *keys);
bool rc_moving(const struct rc_link *rc);
void rc_move_drained(struct rc_link *rc);

/* rxe_read_check.c */
void rc_seal(const struct rc_link *rc, struct rc_mem *m, u32 begin, u32 end);
bool rc_seals_overwritten(const struct rc_mem *m);

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
