/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a transport is: the two tables between the socket layer and the ways of moving
 * messages (rc.h: RDMA queue pairs; loop.c: memory).
 *
 * A link is one end of one connection. Life of a connecting one:
 *
 *	create -> connect .. up->hello .. up->hello_ack -> established, traffic
 *		-> release .. up->released
 *
 * and of an accepting one:
 *
 *	a request arrives .. up->incoming .. up->established, traffic -> release .. up->released
 *
 * A link belongs to its owner (a socket's connection) until the owner calls release();
 * the transport then ends it in its own time and says up->released as its last word.
 * A link holds one reference on its owner from create/incoming to released, and says
 * that when no other up-call is under way, so none can ever meet a freed owner.
 *
 * Locks: connect, send, resend, post, recycle, trim, probe and move are called
 * under the owner's lock and in order; kick is called after it has been
 * dropped. Up-calls come from process or softirq context with no lock held.
 */
#ifndef SDP_TRANSPORT_H
#define SDP_TRANSPORT_H

#include <linux/completion.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "../addr.h"
#include "../proto/engine.h"

/* As long as a device's name may be, with its NUL. */
#define SDP_DEVICE_NAME	64

struct sdp_link;

/**
 * struct sdp_link_config - limits of a link, set by the owner before its first receive
 * @recv_size: bytes of a receive buffer
 * @recv_size_max: larger ones may be posted later, up to here; 0 for none. The transport
 *	lowers what the device cannot do
 * @recv_max: receives that may ever be posted at once
 * @send_slots: messages that may be in flight at once
 * @tx_frags: page fragments that one of them may have
 * @rdma: RDMA is wished for; the transport says no where the device cannot
 * @retry: retries of a lost packet (0-7)
 * @rnr_retry: retries when the peer has posted nothing (0-7, 7 for ever)
 * @rnr_timer: how long the peer shall wait before one, as the adapters count it; 0: very long
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

/* The longest transfer by RDMA; and its pages, wherever it begins. */
#define SDP_MEM_MAX	(1 << 20)
#define SDP_MEM_PAGES	(SDP_MEM_MAX / PAGE_SIZE + 1)

enum sdp_mem_use {
	SDP_MEM_PEER_READS,	/* the peer reads from it, when it is told of it */
	SDP_MEM_PEER_WRITES,	/* the peer writes into it, when it is told of it */
	SDP_MEM_READ_INTO,	/* we read the peer's into it */
	SDP_MEM_WRITE_FROM,	/* we write from it into the peer's */
	SDP_MEM_RING,		/* as PEER_WRITES, and what it has written is read meanwhile */
};

/* Does what is done to it change it? */
static inline bool sdp_mem_changes(enum sdp_mem_use use)
{
	return use == SDP_MEM_PEER_WRITES || use == SDP_MEM_READ_INTO ||
	       use == SDP_MEM_RING;
}

/* Can the peer reach it? */
static inline bool sdp_mem_exposed(enum sdp_mem_use use)
{
	return use == SDP_MEM_PEER_READS || use == SDP_MEM_PEER_WRITES ||
	       use == SDP_MEM_RING;
}

/**
 * struct sdp_pages - memory for a transfer by RDMA
 * @pages: the pages; the caller keeps them where they are
 * @n: how many, at most %SDP_MEM_PAGES
 * @offset: where it begins in the first one
 * @len: bytes
 * @use: what for
 */
struct sdp_pages {
	struct page **pages;
	unsigned int n;
	u32 offset;
	u32 len;
	enum sdp_mem_use use;
};

/**
 * struct sdp_mem - memory that the transport has made reachable by RDMA
 * @region: what the peer has to know of it
 * @done: what was begun has ended
 * @error: how: 0 or an errno
 * @ended: called in the place of @done, from any context; or NULL
 * @arg: for @ended's owner
 * @settled: the peer has not been told of it, or has said that it is done with it; kept by the
 *	owner. If not, it may be just at it when the memory is unmapped
 */
struct sdp_mem {
	struct sdp_region region;
	struct completion done;
	void (*ended)(struct sdp_mem *mem);
	void *arg;
	int error;
	bool settled;
};

/**
 * struct sdp_path_wish - what a connecting link shall heed on its way to the peer
 * @timeout_ms: for each step, at most
 * @ifindex: network device to go out by, or 0
 * @tos: type of service or traffic class, or 0 for the device's default
 */
struct sdp_path_wish {
	unsigned int timeout_ms;
	int ifindex;
	u8 tos;
};

/**
 * struct sdp_sent - messages that have arrived at the peer
 * @messages: how many, the oldest ones
 * @payload: their payload bytes
 * @truesize: memory that they held
 * @blocks: those of their buffers that can be used again; taken by the owner
 */
struct sdp_sent {
	u16 messages;
	u32 payload;
	u32 truesize;
	struct sk_buff_head blocks;
};

/**
 * struct sdp_incoming - a connection request
 * @net: namespace it arrived in
 * @local: address and port it is for
 * @peer: where it comes from
 * @ifindex: network device it came in by
 * @hello: the Hello
 * @ack: HelloAck, filled in by the owner
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
 * struct sdp_link_events - what a transport tells the owner of a link
 * @incoming: a request has come for @link; makes @link->owner, calls prepare and post and
 *	fills @in->ack. Returns 0, -ECONNREFUSED (nobody listens), -EAGAIN (backlog full) or
 *	another errno; on error the link has no owner and the transport frees it.
 * @hello: the path is known: @local's address is set if it was a wildcard, prepare and
 *	post are called, @buf is filled. Returns 0, or an errno after which the link fails.
 * @hello_ack: the answer of the peer
 * @established: the transport's own handshake is complete
 * @received: a message arrived; takes @skb, whose length is still to be set to @bytes
 * @placed: a message has been written into memory of ours, with @imm; takes @skb, the receive that
 *	it has used up and left empty
 * @sent: messages have arrived at the peer
 * @read: a read that move() has begun is over; @error is 0, or an errno: -EAGAIN if nothing else is
 *	wrong, and the bytes can be asked for again. Before @done of its memory; of a write, that is
 *	all there is
 * @alive: the probe has been answered: the peer's machine is there
 * @malformed: a request without a usable Hello has been refused, or a message did not fit
 *	into its receive
 * @failed: the link is broken. @error is positive; @place names where. -EAGAIN is said
 *	as EAGAIN: the peer is there but full, try again.
 * @ended: the peer has ended the link; everything that arrived has been handed in
 * @released: the last word; drops the owner's reference
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
 * struct sdp_transport - a way of moving messages
 * @name: for people
 * @recv_size: receive buffer size that suits it, or 0 for the setting
 * @recv_buffers: how many, or 0 for the setting
 * @hands_over: the peer reads in the memory of the sender, in its own time
 * @create: a link for connecting from @local to @peer; NULL without memory
 * @connect: start connecting; called under the owner's lock, does not sleep; the result
 *	comes by hello and hello_ack, or failed
 * @prepare: make room for the receives and sends of @config
 * @post: post @n receives of @size bytes; returns how many could be
 * @recycle: give a received buffer back, read or not, to be posted again
 * @trim: nothing has moved for a while: free the buffers that wait to be posted again. NULL
 *	when none are kept
 * @send: send @skb, header first, or write it where it is to go; @flush when no other message
 *	follows at once. The transport takes @skb. Never fails: a broken link says so by failed.
 *	What cannot be sent just now is kept, and the link's @kept says so
 * @resend: messages are kept: try again. Called now and then, and whenever
 *	something has arrived. NULL where none are
 * @probe: find out whether the peer's machine is there, without its software's help and
 *	without using up a receive of it; the answer comes by alive, or failed, or never.
 *	One at a time. NULL when the other end is here
 * @hold: keep the link for a kick; called under the owner's lock after sends. NULL when
 *	send is all there is to do
 * @kick: deliver what send has put aside, and end the hold; without the owner's lock
 * @use: keep device and queue pair, also after release; called under the owner's lock. NULL,
 *	like the four that follow, when there is no RDMA
 * @unuse: undoes one use
 * @map: memory that RDMA shall reach. May sleep; in use. Returns it or an ERR_PTR
 * @unmap: frees it; the peer cannot reach it any more. May sleep; in use
 * @move: read the peer's into it, or write from it into the peer's, as much as @remote is long,
 *	before what is sent next; one of each at a time. Returns whether @done will come, and
 *	up->read before that; if not, or if there is an error but -EAGAIN, the link is broken
 * @release: end the link: in good order, or (@abort) so that the peer notices; may be
 *	called once, from any context
 * @device: name of the device in use, or NULL
 * @listen: requests for @port of @net are welcome from now on; counted
 * @unlisten: undoes one listen
 */
struct sdp_transport {
	const char *name;
	u32 recv_size;
	u16 recv_buffers;
	bool hands_over;
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
	void (*hold)(struct sdp_link *link);
	void (*kick)(struct sdp_link *link);
	void (*use)(struct sdp_link *link);
	void (*unuse)(struct sdp_link *link);
	struct sdp_mem *(*map)(struct sdp_link *link,
			       const struct sdp_pages *pages);
	void (*unmap)(struct sdp_link *link, struct sdp_mem *mem);
	bool (*move)(struct sdp_link *link, struct sdp_mem *mem,
		     const struct sdp_region *remote);
	void (*release)(struct sdp_link *link, bool abort);
	const char *(*device)(const struct sdp_link *link);
	int (*listen)(struct net *net, u16 port);
	void (*unlisten)(struct net *net, u16 port);
};

/**
 * struct sdp_link - one end of a connection, as both layers see it
 * @ops: its transport
 * @up: the layer above
 * @owner: what the up-calls are for
 * @kept: messages wait for resend; under the owner's lock
 * @reads: the peer lets us read from its memory; known when the connection stands, as is
 * @worth: from so many bytes on RDMA is worth it, with this device
 */
struct sdp_link {
	const struct sdp_transport *ops;
	const struct sdp_link_events *up;
	void *owner;
	bool kept;
	bool reads;
	u32 worth;
};

extern const struct sdp_transport sdp_rc;
extern const struct sdp_transport sdp_loop;

int sdp_rc_init(const struct sdp_link_events *up);
void sdp_rc_exit(void);
bool sdp_rc_device(struct net *net, const struct sdp_endpoint *peer,
		   char name[SDP_DEVICE_NAME]);
bool sdp_rc_may_lead(struct net *net, const struct sdp_endpoint *local,
		     const struct sdp_endpoint *peer, int ifindex);
int sdp_loop_init(const struct sdp_link_events *up);
void sdp_loop_exit(void);

#endif /* SDP_TRANSPORT_H */
