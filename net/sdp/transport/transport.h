/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface between connections and the transports of their messages.
 *
 * It consists of two tables: struct sdp_transport, which the connection calls,
 * and struct sdp_link_events, the up-calls of the transport. There are five
 * transports: rc/ (an RDMA queue pair), ud/ (queue pairs that all connections
 * share), rails/ (several of the first kind together, or one of the second kind
 * and others while they are of use) and loop.c (memory of this host).
 *
 * A link is one end of one connection. In the two lives below, ".." stands for
 * a wait for events. Life of a link that connects:
 *
 *	create -> connect .. up->hello .. up->hello_ack -> established, traffic
 *		-> release .. up->released
 *
 * Life of a link that accepts:
 *
 *	request arrives .. up->incoming .. up->established, traffic
 *		-> release .. up->released
 *
 * A link belongs to its owner (a socket's connection) until the owner calls
 * release(). The transport then ends the link asynchronously; up->released is
 * the last up-call. The link holds one reference on its owner from create() or
 * up->incoming until up->released, and the transport calls up->released only
 * when no other up-call of the link is running. So no up-call refers to a freed
 * owner.
 *
 * Locks: connect, send, resend, post, recycle, trim, probe, hasten and move are
 * called under the owner's lock and in order; kick is called after the owner
 * has dropped it, but for that of ud/, which rails/ calls under its own lock.
 * Up-calls come from process or softirq context with no lock held.
 */
#ifndef SDP_TRANSPORT_H
#define SDP_TRANSPORT_H

#include <linux/completion.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "../base/addr.h"
#include "../proto/engine.h"

/* Size of a device name, NUL included. */
#define SDP_DEVICE_NAME	64

struct sdp_link;

/**
 * struct sdp_rc_address - an address at which the RC transport has a device
 * @ip: the address
 * @ifindex: network interface that has it
 */
struct sdp_rc_address {
	struct in6_addr ip;
	int ifindex;
};

/**
 * enum sdp_device_cap - what an RDMA device offers
 * @SDP_DEVICE_CM: a port connects by ib_cm (InfiniBand, RoCE) or iw_cm (iWARP)
 * @SDP_DEVICE_SENDS: a send has the pieces that a message needs at least
 * @SDP_DEVICE_QUEUES: a queue pair has room for the smallest queues
 * @SDP_DEVICE_COMPLETIONS: a completion queue has room for these
 * @SDP_DEVICE_RECEIVES: a receive has the pieces of one that has grown (E1)
 * @SDP_DEVICE_KEYS: no key opens all memory to the peer
 * @SDP_DEVICE_REGIONS: it registers memory for the largest transfer by a
 *	request
 * @SDP_DEVICE_READS: it answers and sends RDMA reads
 * @SDP_DEVICE_REVOKES: it invalidates a key by a request
 * @SDP_DEVICE_DATAGRAMS: the datagram service can use it
 * @SDP_DEVICE_NEEDED: a device without one of these is not used
 */
enum sdp_device_cap {
	SDP_DEVICE_CM		= BIT(0),
	SDP_DEVICE_SENDS	= BIT(1),
	SDP_DEVICE_QUEUES	= BIT(2),
	SDP_DEVICE_COMPLETIONS	= BIT(3),
	SDP_DEVICE_RECEIVES	= BIT(4),
	SDP_DEVICE_KEYS		= BIT(5),
	SDP_DEVICE_REGIONS	= BIT(6),
	SDP_DEVICE_READS	= BIT(7),
	SDP_DEVICE_REVOKES	= BIT(8),
	SDP_DEVICE_DATAGRAMS	= BIT(9),
	SDP_DEVICE_NEEDED	= SDP_DEVICE_CM | SDP_DEVICE_SENDS |
				  SDP_DEVICE_QUEUES | SDP_DEVICE_COMPLETIONS,
};

/**
 * struct sdp_device_look - an RDMA device, for people
 * @name: its name
 * @index: ib_core's number of it
 * @ports: number of its ports
 * @has: &enum sdp_device_cap
 * @send_pieces: pieces of a send
 * @recv_pieces: pieces of a receive
 * @queue_depth: requests in a queue
 * @cq_depth: entries of a completion queue
 * @region_pages: pages of a memory region
 * @reads: RDMA reads in flight on a connection
 * @vectors: completion vectors
 */
struct sdp_device_look {
	char name[SDP_DEVICE_NAME];
	u32 index;
	u32 ports;
	u32 has;
	u32 send_pieces;
	u32 recv_pieces;
	u32 queue_depth;
	u32 cq_depth;
	u32 region_pages;
	u32 reads;
	u32 vectors;
};

/**
 * struct sdp_link_config - limits of a link
 * @recv_size: bytes of a receive buffer, message header included; prepare()
 *	lowers it to what the device can receive
 * @recv_size_max: bytes that later receives may have; 0 if @recv_size is fixed.
 *	prepare() sets it to 0 if the device cannot take buffers of that size
 * @recv_max: largest number of receives posted at once; prepare() lowers it to
 *	what the device has room for
 * @send_slots: largest number of messages in flight; prepare() lowers it, too
 * @tx_frags: largest number of page fragments of a message that we send;
 *	prepare() lowers it to what the device can send
 * @rdma: the owner wants RDMA; prepare() clears it if the device cannot do it
 * @retry: number of retries of a lost packet (0-7)
 * @rnr_retry: number of retries when the peer has no receive posted (0-7, 7:
 *	unlimited)
 * @rnr_timer: time that the peer waits before such a retry, in the encoding of
 *	InfiniBand's RNR timer; 0 is the longest, 655 ms
 *
 * Set by the owner, and passed to prepare() before the first receive is posted.
 */
struct sdp_link_config {
	u32 recv_size;
	u32 recv_size_max;
	u16 recv_max;
	u16 send_slots;
	u16 tx_frags;
	bool rdma;
	u8 retry;
	u8 rnr_retry;
	u8 rnr_timer;
};

/* Largest RDMA transfer, and the pages that it covers at any offset. */
#define SDP_MEM_MAX	(1 << 20)
#define SDP_MEM_PAGES	(SDP_MEM_MAX / PAGE_SIZE + 1)

/**
 * enum sdp_mem_use - use of memory that is mapped for RDMA
 * @SDP_MEM_PEER_READS: we advertise it, and the peer reads from it
 * @SDP_MEM_PEER_WRITES: we advertise it, and the peer writes into it
 * @SDP_MEM_READ_INTO: we read the peer's memory into it
 * @SDP_MEM_WRITE_FROM: we write from it into the peer's memory
 * @SDP_MEM_RING: the peer writes into it, and we read what has arrived while
 *	the memory stays mapped
 */
enum sdp_mem_use {
	SDP_MEM_PEER_READS,
	SDP_MEM_PEER_WRITES,
	SDP_MEM_READ_INTO,
	SDP_MEM_WRITE_FROM,
	SDP_MEM_RING,
};

/**
 * sdp_mem_changes() - does this use change the memory?
 * @use: use of the memory
 *
 * Return: true if the device writes to the memory.
 */
static inline bool sdp_mem_changes(enum sdp_mem_use use)
{
	return use == SDP_MEM_PEER_WRITES || use == SDP_MEM_READ_INTO ||
	       use == SDP_MEM_RING;
}

/**
 * sdp_mem_exposed() - does this use expose the memory to the peer?
 * @use: use of the memory
 *
 * Return: true if the peer gets a key for the memory.
 */
static inline bool sdp_mem_exposed(enum sdp_mem_use use)
{
	return use == SDP_MEM_PEER_READS || use == SDP_MEM_PEER_WRITES ||
	       use == SDP_MEM_RING;
}

/**
 * struct sdp_pages - pages to be mapped for an RDMA transfer
 * @pages: the pages; the caller keeps them pinned while they are mapped
 * @n: number of pages, at most %SDP_MEM_PAGES
 * @offset: offset of the first byte in the first page
 * @len: bytes
 * @use: what the memory is for
 */
struct sdp_pages {
	struct page **pages;
	unsigned int n;
	u32 offset;
	u32 len;
	enum sdp_mem_use use;
};

/**
 * struct sdp_mem - memory that the transport has mapped for RDMA
 * @region: length, key and address, as the peer needs them
 * @keys: its keys for several rails
 * @done: the move() of this memory is complete
 * @error: result of the move: 0 or a negative errno
 * @ended: called when the move is complete, from any context, instead of
 *	completing @done; or NULL
 * @arg: for the owner's @ended
 * @skip: bytes at the beginning that the next move() leaves out
 * @settled: the peer does not know the memory, or has said that it no longer
 *	uses it; maintained by the owner. If false, the peer may be accessing
 *	the memory when it is unmapped
 */
struct sdp_mem {
	struct sdp_region region;
	struct sdp_rail_keys keys;
	struct completion done;
	void (*ended)(struct sdp_mem *mem);
	void *arg;
	u32 skip;
	int error;
	bool settled;
};

/**
 * struct sdp_path_wish - restrictions for the path of a link that connects
 * @timeout_ms: largest time for each step (address, route), in milliseconds
 * @ifindex: network interface that the path must leave by, or 0
 * @tos: type of service or traffic class, or 0 for the device's default
 * @rails: most rails of the connection
 */
struct sdp_path_wish {
	unsigned int timeout_ms;
	int ifindex;
	u8 tos;
	u8 rails;
};

/**
 * struct sdp_sent - messages that have arrived at the peer
 * @messages: number of messages, counted from the oldest one in flight
 * @payload: payload bytes of these messages
 * @truesize: memory that their buffers held, in bytes
 * @blocks: those of their buffers that can be reused; up->sent() empties the
 *	list
 */
struct sdp_sent {
	u16 messages;
	u32 payload;
	u32 truesize;
	struct sk_buff_head blocks;
};

/**
 * struct sdp_rails_look - a link of several rails
 * @rails: rails that are connected
 * @lost: rails that have failed and not ended the connection
 * @resent: messages sent again by another rail
 * @held: messages that had to wait for an earlier one
 */
struct sdp_rails_look {
	u32 rails;
	u32 lost;
	u32 resent;
	u32 held;
};

/**
 * struct sdp_rail_look - one of these rails
 * @local: our address
 * @peer: the peer's
 * @device: name of the device
 * @state: enum sdp_rail_state (proto/rail.h)
 * @sent: bytes of the messages sent by it
 * @received: bytes of those that have come by it
 * @pending: bytes that it has been given and that have not arrived
 * @speed: bytes in a millisecond, 0 before it has been measured
 * @srtt: microseconds until a message has arrived, 0 before the first
 */
struct sdp_rail_look {
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	char device[SDP_DEVICE_NAME];
	u8 state;
	u64 sent;
	u64 received;
	u32 pending;
	u32 speed;
	u32 srtt;
};

/**
 * struct sdp_incoming - a connection request
 * @net: namespace that it arrived in
 * @local: destination address and port
 * @peer: source address and port
 * @ifindex: network interface that it arrived by
 * @hello: the request's Hello, parsed
 * @ack: our HelloAck; up->incoming() fills it in
 */
struct sdp_incoming {
	struct net *net;
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	int ifindex;
	struct sdp_hello hello;
	u8 ack[SDP_HELLO_ACK_LEN];
};

/**
 * struct sdp_link_events - up-calls of a transport to the owner of a link
 * @incoming: a request has arrived for @link. The callee sets link->owner,
 *	calls prepare and post and fills in @in->ack. Returns 0, -ECONNREFUSED
 *	(no listener), -EAGAIN (backlog full) or another errno. On error the
 *	link has no owner, and the transport frees it
 * @hello: the path of a connecting link is known, and with it the address in
 *	@local. The callee binds a wildcard source to this address, calls
 *	prepare and post and writes the Hello to @buf. Returns 0, or an errno
 *	with which the link fails
 * @hello_ack: the peer's HelloAck has arrived
 * @established: accepting side: the transport's own handshake is complete
 * @received: a message of @bytes has arrived in @skb, which the callee takes.
 *	The callee calls sdp_buf_received(), which sets the length of @skb
 * @placed: the peer has written a message into our ring; @imm is its immediate
 *	data. The callee takes @skb, the receive that the message has consumed
 *	and left empty
 * @sent: messages have arrived at the peer
 * @read: a read begun by move() is complete, with @error 0 or a negative errno.
 *	After -EAGAIN the link still works, and the same bytes can be read
 *	again. Called before the memory's @done; a write completes @done only
 * @alive: a probe has been answered: the peer's machine is up
 * @malformed: count a violation of the peer: a request with an unusable Hello,
 *	a message that did not fit into its receive, or one that invalidated a
 *	key that is not the peer's own
 * @failed: the link is broken. @error is a positive errno, @place a constant
 *	string that says where. EAGAIN: the peer is up but its backlog is full,
 *	a new attempt may succeed
 * @ended: the peer has ended the link; all messages that arrived before have
 *	been passed to the owner
 * @released: the last up-call of a link; drops its reference on the owner
 */
struct sdp_link_events {
	int (*incoming)(struct sdp_link *link, struct sdp_incoming *in);
	int (*hello)(struct sdp_link *link, const struct sdp_endpoint *local,
		     u8 buf[SDP_HELLO_LEN]);
	void (*hello_ack)(struct sdp_link *link, const u8 *buf, u32 bytes);
	void (*established)(struct sdp_link *link);
	void (*received)(struct sdp_link *link, struct sk_buff *skb, u32 bytes);
	void (*placed)(struct sdp_link *link, struct sk_buff *skb, u32 imm);
	void (*sent)(struct sdp_link *link, struct sdp_sent *sent);
	void (*read)(struct sdp_link *link, int error);
	void (*alive)(struct sdp_link *link);
	void (*malformed)(struct net *net, enum sdp_violation what);
	void (*failed)(struct sdp_link *link, int error, const char *place);
	void (*ended)(struct sdp_link *link);
	void (*released)(struct sdp_link *link);
};

/**
 * struct sdp_transport - operations of a transport
 * @name: name of the transport
 * @recv_size: its receive buffer size in bytes, or 0 to use the setting
 * @recv_buffers: its number of receives, or 0 to use the setting
 * @keeps: it may send a message again after up->sent(), so the pages of a
 *	program must not be sent without a copy; and it has no rings
 * @hands_over: the receiver gets the sender's own buffer, so the sender must
 *	not change it
 * @pools: a posted receive is only a permission to send, and holds no memory;
 *	those of rails that join later do, and are not counted
 * @create: make a link that will connect from @local to @peer. Returns NULL
 *	when memory is short
 * @connect: start to connect. Does not sleep; the result comes by up->hello and
 *	up->hello_ack, or by up->failed
 * @prepare: allocate what the receives and sends of @config need, and change in
 *	@config what the device cannot do. May sleep; returns 0 or an errno
 * @post: post @n receives of @size bytes; returns the number posted
 * @recycle: return a received buffer, read or not; it may be posted again
 * @trim: free the buffers kept for posting, because the link is idle. NULL if
 *	the transport keeps none
 * @send: send @skb, header first, or write it into the peer's ring if it has an
 *	address there. @flush: no other message follows at once. The transport
 *	takes @skb. Never fails: a broken link calls up->failed. Messages that
 *	cannot be sent yet are kept, and the link's @kept is set
 * @resend: try again to send the messages that are kept. The owner calls it
 *	after up-calls and from a timer. NULL if no messages are ever kept
 * @probe: ask whether the peer's machine is up, without its software and
 *	without consuming one of its receives. up->alive or up->failed answers,
 *	or nothing does. One probe at a time. NULL if both ends are on this host
 * @hasten: ask the peer to acknowledge at once what was sent, because a message
 *	waits until that has arrived. NULL if acknowledgments are never delayed
 * @hold: keep the link in existence until kick(); called under the owner's lock
 *	after sends. NULL if send() needs no kick
 * @kick: deliver what send() has queued and end the hold; called without the
 *	owner's lock
 * @use: keep device and queue pair, even after release(); called under the
 *	owner's lock. This and the next four are NULL if there is no RDMA
 * @unuse: undo one use()
 * @map: map @pages for RDMA. May sleep; only between use() and unuse(). Returns
 *	the memory or an ERR_PTR
 * @unmap: unmap and free memory; afterwards the peer cannot reach it. May
 *	sleep; only between use() and unuse()
 * @move: read @remote into @mem or write @mem to @remote, in order with the
 *	messages that are sent later. @keys: keys of @remote for several rails,
 *	or NULL. Memory that the peer may read can be written from as well. One
 *	read and one write at a time. Returns true if the move will end: the
 *	memory's @done completes, after up->read for a read. Returns false if it
 *	cannot be begun; then the link is broken, or it has several rails. An
 *	error of the move other than -EAGAIN means that the link is broken
 * @release: end the link. Called once, from process or softirq context,
 *	without the owner's lock. @abort: the connection was reset and not
 *	closed in order; no transport needs it yet
 * @device: name of the device in use, or NULL
 * @look: what the rails of the link have done. This and the next are NULL if it
 *	can have one only
 * @look_at: look at one rail, by its number from 0 to 7; returns false if there
 *	is no such rail. Both are called under the owner's lock
 * @listen: accept requests for @port from now on; counted. Returns 0 or an
 *	errno
 * @unlisten: undo one listen()
 */
struct sdp_transport {
	const char *name;
	u32 recv_size;
	u16 recv_buffers;
	bool hands_over;
	bool pools;
	bool keeps;
	struct sdp_link *(*create)(struct net *net,
				   const struct sdp_endpoint *local,
				   const struct sdp_endpoint *peer);
	void (*connect)(struct sdp_link *link,
			const struct sdp_path_wish *wish);
	int (*prepare)(struct sdp_link *link, struct sdp_link_config *config);
	u16 (*post)(struct sdp_link *link, u16 n, u32 size);
	void (*recycle)(struct sdp_link *link, struct sk_buff *skb);
	void (*trim)(struct sdp_link *link);
	void (*send)(struct sdp_link *link, struct sk_buff *skb, bool flush);
	void (*resend)(struct sdp_link *link);
	void (*probe)(struct sdp_link *link);
	void (*hasten)(struct sdp_link *link);
	void (*hold)(struct sdp_link *link);
	void (*kick)(struct sdp_link *link);
	void (*use)(struct sdp_link *link);
	void (*unuse)(struct sdp_link *link);
	struct sdp_mem *(*map)(struct sdp_link *link,
			       const struct sdp_pages *pages);
	void (*unmap)(struct sdp_link *link, struct sdp_mem *mem);
	bool (*move)(struct sdp_link *link, struct sdp_mem *mem,
		     const struct sdp_region *remote,
		     const struct sdp_rail_keys *keys);
	void (*release)(struct sdp_link *link, bool abort);
	const char *(*device)(const struct sdp_link *link);
	void (*look)(struct sdp_link *link, struct sdp_rails_look *look);
	bool (*look_at)(struct sdp_link *link, u8 number,
			struct sdp_rail_look *look);
	int (*listen)(struct net *net, u16 port);
	void (*unlisten)(struct net *net, u16 port);
};

/**
 * struct sdp_link - one end of a connection, as owner and transport see it
 * @ops: operations of its transport
 * @up: up-calls to its owner
 * @owner: the connection that the up-calls are for; the link has a reference
 * @kept: messages wait for resend(); under the owner's lock
 * @many: it has several queue pairs, or is about to have them: no memory may
 *	be advertised for the peer to write into, nor written into, and the
 *	receives keep their size
 * @one_of_many: the owner sets it before release(), or the peer has said it
 *	before up->ended(): this link ends, and the connection goes on
 * @greets: our first message has to leave at once, even an empty one, because
 *	the peer sends nothing before (iWARP)
 * @reads: the peer lets us read its memory; valid once established
 * @worth: smallest transfer in bytes for which RDMA is faster than messages
 *	with this device; valid once established
 * @rails: with @many: number of rails that are up
 */
struct sdp_link {
	const struct sdp_transport *ops;
	const struct sdp_link_events *up;
	void *owner;
	bool kept;
	bool many;
	bool one_of_many;
	bool greets;
	bool reads;
	u8 rails;
	u32 worth;
};

typedef int (*sdp_incoming_fn)(struct sdp_link *link, struct sdp_incoming *in);

struct ib_cm_event;
struct ib_cm_id;
struct ib_device;

/* Answers a peer that asks for the queue pairs of the datagram service. */
typedef int (*sdp_sidr_fn)(struct ib_device *ib, struct ib_cm_id *cm,
			   const struct ib_cm_event *event);

extern const struct sdp_transport sdp_rc;
extern const struct sdp_transport sdp_rails;
extern const struct sdp_transport sdp_auto;
extern const struct sdp_transport sdp_ud;
extern const struct sdp_transport sdp_loop;

int sdp_rc_init(const struct sdp_link_events *up, sdp_incoming_fn incoming,
		void (*paths_changed)(void), sdp_sidr_fn sidr);
void sdp_rc_exit(void);
u32 sdp_rc_copies(void);
struct sdp_mem *sdp_rc_map_shared(struct sdp_link *link,
				  const struct sdp_pages *pages, u64 va);
bool sdp_rc_device_look(struct net *net, u32 index,
			struct sdp_device_look *look);
bool sdp_rc_uses(const struct ib_device *ib);
void sdp_rc_fit_queues(const struct ib_device *ib,
		       struct sdp_link_config *config);
u32 sdp_rc_addresses(struct net *net, struct sdp_rc_address *list, u32 n);
bool sdp_rc_leads_by(struct net *net, const struct sdp_endpoint *local,
		     const struct sdp_endpoint *peer, int ifindex);
int sdp_ud_init(const struct sdp_link_events *up);
void sdp_ud_exit(void);
bool sdp_ud_has_device(u32 index);
int sdp_ud_sidr(struct ib_device *ib, struct ib_cm_id *cm,
		const struct ib_cm_event *event);
int sdp_rails_init(const struct sdp_link_events *up);
void sdp_rails_exit(void);
int sdp_rails_incoming(struct sdp_link *link, struct sdp_incoming *in);
struct sdp_link *sdp_rails_accept(struct sdp_link *link,
				  const struct sdp_incoming *in, u8 most);
void sdp_rails_accepted(struct sdp_link *link, struct sdp_incoming *in,
			int err);
void sdp_rails_paths_changed(void);
bool sdp_rc_device(struct net *net, const struct sdp_endpoint *peer,
		   char name[SDP_DEVICE_NAME]);
bool sdp_rc_may_lead(struct net *net, const struct sdp_endpoint *local,
		     const struct sdp_endpoint *peer, int ifindex);
int sdp_loop_init(const struct sdp_link_events *up);
void sdp_loop_exit(void);

#endif /* SDP_TRANSPORT_H */
