/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UD transport: structures and functions that its files share.
 *
 * The UD transport carries the messages of all connections of a device port by
 * a few unreliable-datagram queue pairs. Windows (proto/window.h) make each
 * connection reliable.
 *
 *	ud.c		operations of the transport; its start and end
 *	end.c		work item of a link, and its end
 *	resolve.c	connecting side: address, route, SIDR, first Open
 *	recv.c		datagrams that have arrived: whose are they?
 *	accept.c	accepting side: answers to SIDR and to datagrams
 *			without a link
 *	send.c		messages to be sent; links take turns
 *	build.c		datagrams that a link sends
 *	timer.c		what a link waits for
 *	arriving.c	packets of messages that have arrived
 *	open.c		datagrams that open a connection
 *	device.c	RDMA devices and their ports, made when first used
 *	link.c		allocation, references and failure of a link
 *	qp.c		queue pair of a port with its buffers
 *	peer.c		address handles, shared by connections to a peer
 *	neighbour.c	can an address be answered without a wait?
 *	grh.c		network header of a datagram
 *
 * Each file calls those below it in this list only; struct ud_handlers has the
 * functions by which events reach the upper ones.
 *
 * Locks, the outer one first:
 *	the owner's lock
 *	ud_qp.send_lock		slots of the send queue
 *	ud_link.lock		windows and queues of a link
 *	ud_qp.ready_lock, ud_port.lock, ud_device.lock
 *				lists; nothing else is locked under them
 *
 * Up-calls are made with none of these, between ud_link_enter() and
 * ud_link_leave().
 */
#ifndef SDP_UD_H
#define SDP_UD_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "../../proto/opening.h"
#include "../../proto/service.h"
#include "../../proto/window.h"
#include "../buf.h"
#include "../transport.h"

/*
 * Key of all our queue pairs. It is a controlled one (its highest bit is set):
 * a program without privileges cannot give it to a queue pair of its own, so
 * it cannot send to ours.
 */
#define UD_QKEY		0x80534450
/* Datagrams in flight from a queue pair. */
#define UD_TX_SLOTS	256
/* Receives of a queue pair: of an unused one, for each link, and at most. */
#define UD_RX_LEAST	128
#define UD_RX_PER_LINK	8
#define UD_RX_MOST	1024
/* Pieces of a receive: the GRH, and what follows it. */
#define UD_RX_PIECES	2
/* A longer datagram than we have agreed to may put a queue pair into error. */
#define UD_RX_SIZE	SDP_DATAGRAM_SIZE_MAX
/* Datagrams that a link sends before the next one has its turn. */
#define UD_TURN		8
/* Lists of links by number and of peers by address, a power of two. */
#define UD_BUCKETS	1024
/* Datagrams that wait for the work item of their port, at most. */
#define UD_ASKS_MOST	256
#define UD_SHOWS_MOST	1024
/* The SIDR request is repeated so often (ms, times). */
#define UD_SIDR_MS	1000
#define UD_SIDR_TRIES	5
/* Resets that are sent before a silent peer counts as gone. */
#define UD_RESETS_MOST	5
/* Bytes in received buffers that a link keeps for reuse. */
#define UD_SPARE_BYTES	(512 * 1024)
/* A number is not used again so soon after its link has ended. */
#define UD_REST		HZ
/* A link that closes gives up after this time. */
#define UD_CLOSE_MOST	(10 * HZ)
/* So long a released link waits for a peer that answers, but takes nothing. */
#define UD_LINGER_MOST	(60 * HZ)
/* Nothing is sent to a peer for this long after the device has failed to. */
#define UD_PEER_PAUSE	HZ
/*
 * Probes beyond net.sdp.retry_count. A round trip is short, so the first ones
 * follow each other within milliseconds; with these a connection outlives a
 * silence of ten seconds, as one by the RC transport does.
 */
#define UD_RETRIES_MORE	3
/*
 * OpenAcks begin soon after each other. So many more of them make half a minute
 * in which the peer may be silent, as at other times.
 */
#define UD_OPEN_ACKS_MORE	5
/*
 * Opens to queue pairs that an earlier connection has asked for, before the
 * peer is asked again: its module may have been loaded anew.
 */
#define UD_KNOWN_RETRIES	2
/* Interval at which we look whether a link is still in use. */
#define UD_QUIET_WAIT	(HZ / 50 + 1)
/* Traffic class of all datagrams: ECN-capable (RFC 3168), ECT(0). */
#define UD_ECT		2
#define UD_ECN_MASK	3

struct ud_port;
struct ud_link;

/**
 * struct ud_peer - address of a peer, as a port sends to it
 * @node: entry in ud_port.peers
 * @port: the port
 * @ah: address handle
 * @gid: the peer's address
 * @own: ours
 * @mac: its hardware address, or that of the next hop
 * @tclass: traffic class
 * @service: the peer's queue pairs; all zeros before it has told them. Under
 *	ud_port.lock
 * @paused: nothing is sent before this time (jiffies); with @failed
 * @failed: the device has failed to send to it
 * @refs: one per link, one per datagram in flight
 * @free: destroys @ah, which may sleep
 */
struct ud_peer {
	struct hlist_node node;
	struct ud_port *port;
	struct ib_ah *ah;
	union ib_gid gid;
	union ib_gid own;
	u8 mac[ETH_ALEN];
	u8 tclass;
	struct sdp_service service;
	unsigned long paused;
	bool failed;
	refcount_t refs;
	struct work_struct free;
};

/**
 * struct ud_tx - slot of a send queue
 * @cqe: completes the datagram
 * @qp: queue pair
 * @data: buffer, of ud_port.size bytes
 * @dma: its address for the device
 * @peer: the slot has a reference while the datagram is in flight
 * @signaled: the datagram asks for a completion
 */
struct ud_tx {
	struct ib_cqe cqe;
	struct ud_qp *qp;
	u8 *data;
	u64 dma;
	struct ud_peer *peer;
	bool signaled;
};

/**
 * struct ud_rx - receive buffer
 * @cqe: completes the receive
 * @qp: queue pair
 * @grh: place of the network header that precedes each datagram
 * @data: buffer, of %UD_RX_SIZE bytes
 * @grh_dma: address of @grh for the device
 * @dma: address of @data
 * @posted: the device may write to it, or its completion is being handled
 */
struct ud_rx {
	struct ib_cqe cqe;
	struct ud_qp *qp;
	u8 *grh;
	u8 *data;
	u64 grh_dma;
	u64 dma;
	bool posted;
};

/**
 * struct ud_qp - queue pair of a port
 * @port: the port
 * @qp: queue pair
 * @cq: its completion queue; it is polled by one CPU at a time, so the
 *	datagrams of a link arrive one after the other
 * @send_lock: covers @tx, @head, @tail and @unsignaled
 * @tx: send slots
 * @head: datagrams posted; may wrap, as %UD_TX_SLOTS divides 2^32
 * @tail: datagrams completed
 * @unsignaled: datagrams posted since the last one with a completion
 * @ready_lock: covers @ready
 * @ready: links that have something to send
 * @rx_mutex: covers @rx_made, and receives that are not posted
 * @rx: receive buffers
 * @rx_made: number of these
 * @rx_posted: number of receives posted, or whose completion is being handled
 * @links: number of links
 * @dead: it is being destroyed: nothing is posted any more
 * @broken: bit 0: it is in an error state: nothing is posted until it is
 *	repaired
 * @repaired: when it was last (jiffies)
 * @repair: repairs it
 */
struct ud_qp {
	struct ud_port *port;
	struct ib_qp *qp;
	struct ib_cq *cq;
	spinlock_t send_lock;
	struct ud_tx *tx;
	u32 head;
	u32 tail;
	u32 unsignaled;
	spinlock_t ready_lock;
	struct list_head ready;
	struct mutex rx_mutex;
	struct ud_rx *rx;
	u32 rx_made;
	atomic_t rx_posted;
	atomic_t links;
	bool dead;
	unsigned long broken;
	unsigned long repaired;
	struct delayed_work repair;
};

/**
 * struct ud_device - an RDMA device in use
 * @node: entry in the list of devices
 * @ib: the device
 * @events: handler of port and device events
 * @ports: its ports, by number - 1; NULL for one that no link has used
 * @mutex: covers the making of ports
 * @lock: covers @links and @going
 * @links: links of this device
 * @going: the device is being removed: no new link may be attached
 * @refs: one for the registration, one per link, one per ud_port_get()
 * @unused: completed when @refs drops to zero
 */
struct ud_device {
	struct list_head node;
	struct ib_device *ib;
	struct ib_event_handler events;
	struct ud_port **ports;
	struct mutex mutex;
	spinlock_t lock;
	struct list_head links;
	bool going;
	refcount_t refs;
	struct completion unused;
};

/**
 * struct ud_port - a port of a device
 * @dev: the device
 * @pd: protection domain of the port's queue pairs
 * @number: number of the port
 * @size: bytes of the largest datagram
 * @qps: number of queue pairs
 * @qp: the queue pairs
 * @lock: covers @by_id, @by_peer, @peers, @asks and @shows
 * @by_id: links by ud_link.id; also walked under rcu_read_lock()
 * @by_peer: accepted links by ud_link.their_id
 * @peers: struct ud_peer, by address
 * @asks: datagrams that want an answer for which nothing is kept: Opens without
 *	a cookie, and those for links that there are not
 * @shows: Opens with a cookie
 * @asking: number of @asks
 * @showing: number of @shows
 * @ask_work: answers @asks
 * @show_work: answers @shows
 */
struct ud_port {
	struct ud_device *dev;
	struct ib_pd *pd;
	u32 number;
	u32 size;
	u32 qps;
	struct ud_qp qp[SDP_SERVICE_QPS_MAX];
	spinlock_t lock;
	struct hlist_head by_id[UD_BUCKETS];
	struct hlist_head by_peer[UD_BUCKETS];
	struct hlist_head peers[UD_BUCKETS];
	struct list_head asks;
	struct list_head shows;
	u32 asking;
	u32 showing;
	struct work_struct ask_work;
	struct work_struct show_work;
};

/**
 * struct ud_ask - a datagram that waits for the work item of its port
 * @node: entry in ud_port.asks or @shows
 * @qp: queue pair that it has arrived at
 * @wc: its completion
 * @grh: network header
 * @d: header
 * @body: Open: body
 */
struct ud_ask {
	struct list_head node;
	struct ud_qp *qp;
	struct ib_wc wc;
	struct ib_grh grh;
	struct sdp_datagram d;
	u8 body[SDP_OPEN_LEN];
};

/**
 * struct ud_handlers - functions of higher files that lower ones call
 * @received: a datagram has arrived (recv.c)
 * @room: a queue pair has free send slots again (send.c)
 * @ask_work: work item of a port (accept.c)
 * @show_work: another one (accept.c)
 * @link_work: work item of a link (end.c)
 * @link_timer: timer of a link (send.c)
 */
struct ud_handlers {
	void (*received)(struct ud_qp *qp, const struct ib_wc *wc,
			 const struct ud_rx *rx);
	void (*room)(struct ud_qp *qp);
	void (*ask_work)(struct work_struct *work);
	void (*show_work)(struct work_struct *work);
	void (*link_work)(struct work_struct *work);
	void (*link_timer)(struct timer_list *timer);
};

/**
 * enum ud_phase - where a link is; under its lock
 * @UD_RESOLVING: connecting side: looks for the peer's queue pair; accepting
 *	side: gets its owner
 * @UD_OPENING: connecting side: sends Opens
 * @UD_CONFIRMING: accepting side: sends OpenAcks
 * @UD_OPEN: established
 * @UD_LINGERING: released; messages are still to arrive at the peer
 * @UD_CLOSING: sends Resets
 * @UD_CLOSED: sends nothing any more, but answers to Resets
 * @UD_GONE: no up-call is made any more; its number rests
 * @UD_FORGOTTEN: it is in no list any more, and its timer does not run
 */
enum ud_phase {
	UD_RESOLVING,
	UD_OPENING,
	UD_CONFIRMING,
	UD_OPEN,
	UD_LINGERING,
	UD_CLOSING,
	UD_CLOSED,
	UD_GONE,
	UD_FORGOTTEN,
};

/**
 * enum ud_flag - what the work item of a link has to do, and has done
 * @UD_START: the owner wants the link connected
 * @UD_ROUTED: the rdma_cm id is no longer needed
 * @UD_ASKED: the SIDR id is no longer needed
 * @UD_BROKEN: a message of the owner is too long: fail the link
 * @UD_RELEASED: the owner has called release()
 * @UD_ABORTED: what has not arrived need not arrive
 * @UD_OWNED: the link has an owner to report to
 * @UD_FAILED_SAID: the link has failed; only the first failure is reported
 * @UD_FAILED_WHY: ud_link.error and ud_link.place are valid
 * @UD_LEFT: up->released has been called
 */
enum ud_flag {
	UD_START,
	UD_ROUTED,
	UD_ASKED,
	UD_BROKEN,
	UD_RELEASED,
	UD_ABORTED,
	UD_OWNED,
	UD_FAILED_SAID,
	UD_FAILED_WHY,
	UD_LEFT,
};

/**
 * struct ud_connect - what only a link that connects needs, until it is open
 * @wish: restrictions for the path
 * @rdma: resolves address and route
 * @cm: asks for the peer's queue pairs (SIDR)
 * @opening: Opens sent
 * @hello: Hello
 */
struct ud_connect {
	struct sdp_path_wish wish;
	struct rdma_cm_id *rdma;
	struct ib_cm_id *cm;
	struct sdp_opening opening;
	u8 hello[SDP_HELLO_LEN];
};

/**
 * struct ud_link - one end of a connection
 * @link: the part that the owner sees
 * @net: network namespace
 * @local: own address
 * @remote: the peer's address and port
 * @port: device port; once it is set the link is in its lists
 * @qp: queue pair that it uses
 * @peer: address handle
 * @qpn: the peer's queue pair
 * @id: our number of the link
 * @their_id: the peer's, which is in each datagram that we send
 * @first: number of our first packet
 * @size: bytes of the largest datagram
 * @recv_max: bytes of the largest message that the owner takes
 * @retries: number of retries
 * @takes: packets that the peer may send beyond an acknowledgment, by the
 *	setting datagram_window
 * @dev_node: entry in ud_device.links
 * @id_node: entry in ud_port.by_id
 * @peer_node: entry in ud_port.by_peer
 * @connect: connecting side, until the link is open; or NULL
 * @lock: covers the rest, up to @timer
 * @phase: where the link is
 * @users: up-calls that are running
 * @ready_node: entry in ud_qp.ready, with a reference; under ud_qp.ready_lock
 * @answer_due: an OpenAck (%UD_CONFIRMING) or a Reset is to be sent
 * @closes: we have begun to end the link, so the peer's Reset is an answer
 * @ended: the peer's Reset has come
 * @dead: the peer does not answer
 * @probing: the owner waits for a sign of life
 * @probes: Probes sent for that
 * @probed: when the last Probe was sent, microseconds
 * @answers: OpenAcks or Resets sent
 * @answered: when the last one was sent, microseconds
 * @ack: accepting side, until the link is open: the OpenAck's HelloAck
 * @window: windows
 * @sent: messages with numbers that have not been acknowledged; each has its
 *	first number and its packets in its control block
 * @cursor: message of the packet that was sent last, in @sent, or NULL
 * @unsent: messages that the window has no room for
 * @spare: received buffers that are kept for reuse
 * @arriving: message that is arriving, or NULL
 * @arriving_len: its length, once its last packet has arrived
 * @timer: runs ud_link_timer(); when it is pending it has a reference
 * @flags: bits of enum ud_flag
 * @error: cause of the failure, a positive errno; with %UD_FAILED_WHY
 * @place: place of it
 * @rests: when the number may be forgotten, with %UD_LEFT; before, in
 *	%UD_LINGERING and %UD_CLOSING, when the link gives up (jiffies)
 * @work: does what may sleep
 * @refs: one for the link, one for the queued @work, for the pending @timer,
 *	for @ready_node, and for each task that has found it in a list
 * @rcu: frees it
 */
struct ud_link {
	struct sdp_link link;
	struct net *net;
	struct sdp_endpoint local;
	struct sdp_endpoint remote;
	struct ud_port *port;
	struct ud_qp *qp;
	struct ud_peer *peer;
	u32 qpn;
	u32 id;
	u32 their_id;
	u32 first;
	u32 size;
	u32 recv_max;
	u8 retries;
	u8 takes;
	struct list_head dev_node;
	struct hlist_node id_node;
	struct hlist_node peer_node;
	struct ud_connect *connect;

	spinlock_t lock;
	enum ud_phase phase;
	u32 users;
	struct list_head ready_node;
	bool answer_due;
	bool closes;
	bool ended;
	bool dead;
	bool probing;
	u8 probes;
	u8 answers;
	u32 probed;
	u32 answered;
	u8 *ack;
	struct sdp_window window;
	struct sk_buff_head sent;
	struct sk_buff *cursor;
	struct sk_buff_head unsent;
	struct sk_buff_head spare;
	struct sk_buff *arriving;
	u32 arriving_len;
	struct timer_list timer;

	unsigned long flags;
	int error;
	const char *place;
	unsigned long rests;
	struct delayed_work work;
	refcount_t refs;
	struct rcu_head rcu;
};

static inline struct ud_link *to_ud(struct sdp_link *link)
{
	return container_of(link, struct ud_link, link);
}

/* The clock of windows: microseconds, which wrap. */
static inline u32 ud_now(void)
{
	return (u32)ktime_to_us(ktime_get());
}

/* Bytes of a message in one packet of a link. */
static inline u32 ud_payload(const struct ud_link *l)
{
	return l->size - SDP_DATAGRAM_LEN;
}

static inline void ud_device_put(struct ud_device *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->unused);
}

/* Undoes ud_port_get(). */
static inline void ud_port_put(struct ud_port *port)
{
	ud_device_put(port->dev);
}

/* ud.c */
extern const struct ud_handlers *ud_handlers;
extern const struct sdp_link_events *ud_up;
extern struct workqueue_struct *ud_wq;

/* device.c */
int ud_device_init(void);
void ud_device_exit(void);
struct ud_port *ud_port_get(struct ib_device *ib, u32 number);
bool ud_port_attach(struct ud_port *port, struct ud_qp *qp, struct ud_link *l);
void ud_port_detach(struct ud_link *l);
void ud_device_fail_all(int error, const char *place);

/* qp.c */
int ud_qp_make(struct ud_qp *qp, struct ud_port *port, u32 number);
void ud_qp_grow(struct ud_qp *qp, u32 want);
void ud_qp_stop(struct ud_qp *qp);
void ud_qp_end(struct ud_qp *qp);
struct ud_tx *ud_qp_slot(struct ud_qp *qp);
void ud_qp_post(struct ud_qp *qp, struct ud_tx *tx, struct ud_peer *peer,
		u32 qpn, u32 bytes, bool more);

/* peer.c */
struct ud_peer *ud_peer_get(struct ud_port *port, struct rdma_ah_attr *attr);
void ud_peer_put(struct ud_peer *peer);
void ud_peer_learn(struct ud_peer *peer, const struct sdp_service *service);
bool ud_peer_service(struct ud_peer *peer, struct sdp_service *service);

/* link.c */
int ud_link_init(void);
void ud_link_exit(void);
struct ud_link *ud_link_alloc(struct net *net);
void ud_link_put(struct ud_link *l);
bool ud_link_enter(struct ud_link *l);
void ud_link_leave(struct ud_link *l);
void ud_link_poke(struct ud_link *l, enum ud_flag flag);
void ud_link_wake(struct ud_link *l);
void ud_link_fail(struct ud_link *l, int error, const char *place);
void ud_link_owned(struct ud_link *l);

/* end.c */
void ud_link_work(struct work_struct *work);
void ud_link_discard(struct ud_link *l);

/* resolve.c */
void ud_resolve(struct ud_link *l);
void ud_resolve_forget(struct ud_link *l, bool all);

/* open.c */
void ud_open_window(struct ud_link *l, const struct sdp_datagram *d, u32 rtt,
		    bool connects);
u32 ud_open_build(struct ud_link *l, u8 *buf, u32 now);
int ud_open_acked(struct ud_link *l, const struct sdp_datagram *d,
		  const u8 *body);
int ud_open_rejected(struct ud_link *l, const struct sdp_datagram *d,
		     const u8 *body);

/* accept.c */
void ud_cookie_init(void);
void ud_accept_queue(struct ud_qp *qp, const struct ib_wc *wc,
		     const struct ud_rx *rx, const struct sdp_datagram *d);
void ud_ask_work(struct work_struct *work);
void ud_show_work(struct work_struct *work);

/* recv.c */
void ud_received(struct ud_qp *qp, const struct ib_wc *wc,
		 const struct ud_rx *rx);

/* neighbour.c */
bool ud_neighbour_known(struct ud_port *port, const struct ud_ask *ask);

/* grh.c */
bool ud_grh_gids(const u8 *grh, const struct ib_wc *wc, union ib_gid *from,
		 union ib_gid *to);
bool ud_grh_marked(const u8 *grh, const struct ib_wc *wc);

/* arriving.c */
void ud_recycle(struct sdp_link *link, struct sk_buff *skb);
void ud_trim(struct sdp_link *link);
enum sdp_violation ud_arrives(struct ud_link *l, const struct sdp_datagram *d,
			      const u8 *body, u32 len, bool marked, u32 now,
			      struct sk_buff **whole, u32 *bytes);

/* send.c */
void ud_look(struct ud_link *l);
void ud_qp_run(struct ud_qp *qp);
void ud_send(struct sdp_link *link, struct sk_buff *skb, bool flush);
void ud_kick(struct sdp_link *link);
void ud_probe(struct sdp_link *link);
void ud_hasten(struct sdp_link *link);
bool ud_acked(struct ud_link *l, struct sdp_sent *sent);
void ud_link_timer(struct timer_list *timer);

/* build.c */
bool ud_wants(const struct ud_link *l, u32 now);
u32 ud_build(struct ud_link *l, u8 *buf, u32 now);

/* timer.c */
void ud_arm(struct ud_link *l, u32 now);
bool ud_expired(struct ud_link *l, u32 now);
bool ud_answer_is_fresh(const struct ud_link *l, u32 now);

#endif /* SDP_UD_H */
