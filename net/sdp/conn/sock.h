/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket structure of AF_SDP, and the order of its locks.
 *
 * Locks, outermost first:
 *
 *	lock_sock()	calls that change what the socket is: bind, listen,
 *			connect, shutdown, close
 *	rx_mutex	readers: one at a time copies from the receive queue or
 *			reads by RDMA
 *	tx_mutex	writers: one at a time copies into the send queue
 *	lock		engine, queues, link, sk_state, sk_shutdown and sk_err;
 *			taken in softirq too
 *
 * In the comments of conn/ and zcopy/, "locked" means that the caller holds
 * @lock, and "not locked" that it does not. lock_sock() is always named.
 *
 * The names (@local, @peer) change under @lock, either by a thread that has
 * lock_sock() or by an up-call of the link that is being connected. No thread
 * holds the @lock of two sockets. The locks of a port's bucket and of the
 * deadlock scanner are taken under @lock.
 *
 * Under @lock no task is woken, no message is delivered to a peer on this host
 * and no link is released. The holder notes such work in a struct sdp_todo, and
 * sdp_conn_unlock() does it once it has dropped the lock. There is one
 * exception: the kernel reports the end of a MSG_ZEROCOPY write and wakes its
 * waiters when the last skb of the write is freed, which may be under @lock
 * (zerocopy.c).
 */
#ifndef SDP_SOCK_H
#define SDP_SOCK_H

#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <uapi/linux/sdp.h>

#include "../base/addr.h"
#include "../base/netns.h"
#include "../proto/engine.h"
#include "../transport/buf.h"
#include "../transport/transport.h"
#include "options.h"

/**
 * enum sdp_wait_kind - kinds of events that a task can wait for (F1)
 * @SDP_READ: readable
 * @SDP_URGENT: urgent data is here
 * @SDP_WRITE: writable
 * @SDP_HANGUP: for pollers that ask for none of the others
 * @SDP_WAIT_KINDS: number of kinds
 */
enum sdp_wait_kind {
	SDP_READ,
	SDP_URGENT,
	SDP_WRITE,
	SDP_HANGUP,
	SDP_WAIT_KINDS
};

/* Wake-ups that are due: the bits of sdp_todo.wake. */
#define SDP_WAKE_READ	BIT(SDP_READ)
#define SDP_WAKE_URGENT	BIT(SDP_URGENT)
#define SDP_WAKE_WRITE	BIT(SDP_WRITE)
#define SDP_WAKE_STATE	BIT(SDP_HANGUP)		/* all: the state has changed */
#define SDP_WAKE_ERROR	BIT(SDP_WAIT_KINDS)	/* all: sk_err is set */

/* Bit of sdp_sock.common: the kinds that its waiters ask for are unknown. */
#define SDP_COMMON_UNKNOWN	SDP_WAIT_KINDS

/**
 * enum sdp_urgent_state - the peer's urgent byte, as far as it is known
 * @SDP_URG_NONE: there is none
 * @SDP_URG_COMING: the peer has announced one
 * @SDP_URG_HERE: it has arrived
 * @SDP_URG_TAKEN: a call with MSG_OOB has taken it; the reader has not passed
 *	the mark yet
 */
enum sdp_urgent_state {
	SDP_URG_NONE,
	SDP_URG_COMING,
	SDP_URG_HERE,
	SDP_URG_TAKEN,
};

/**
 * enum sdp_body - does the application read large writes in two parts? (C10)
 * @SDP_BODY_NONE: no, or we do not know
 * @SDP_BODY_SEEN: yes: a small read took the beginning of the last large write,
 *	and a large read the rest
 * @SDP_BODY_PROMISED: as %SDP_BODY_SEEN, and our last answer has told the peer.
 *	We have not advertised a buffer for the rest since then
 */
enum sdp_body { SDP_BODY_NONE, SDP_BODY_SEEN, SDP_BODY_PROMISED };

/**
 * struct sdp_port_key - what decides whether sockets can share a port (port.c)
 * @flags: how the socket uses the port and shares it, KEY_* in port.c
 * @ifindex: device that the socket is bound to, or 0
 * @uid: user of the socket if it has SO_REUSEPORT, else root
 * @ip: local address
 * @scope: interface index of a link-local address, or 0
 * @cpu: listener: processor whose requests it takes first, or -1
 *
 * port.c compares keys as bytes, so the structure has no padding.
 */
struct sdp_port_key {
	u32 flags;
	int ifindex;
	kuid_t uid;
	struct in6_addr ip;
	u32 scope;
	int cpu;
};

struct sdp_background;
struct sdp_port;
struct sdp_refs;
struct sdp_todo;
struct sdp_srcavail_send;
struct sdp_srcavail_recv;
struct sdp_rx_ring;

/**
 * struct sdp_sock - an AF_SDP socket
 *
 * @lock covers a member unless the member's comment names another rule. Some
 * members that @lock covers are also read without it, with READ_ONCE(), where
 * a value that is just changing does no harm.
 *
 * Within each group, members are in an order that leaves few holes: an idle
 * connection consists of little more than this structure.
 */
struct sdp_sock {
	/* Identity and locks. */

	union {
		/**
		 * @sk: the generic socket; its sk_family is AF_SDP, or AF_INET
		 * or AF_INET6 for a socket of IPPROTO_SDP. First member, as the
		 * kernel converts between the types by a cast
		 */
		struct sock sk;
		/** @inet: the same memory, for the kernel's internet code */
		struct inet_sock inet;
	};
	/** @lock: innermost of the socket's locks; see above */
	spinlock_t lock;
	/**
	 * @generation: number of disconnects. It changes with @rx_mutex and
	 * @tx_mutex held, so a call that drops one of them for a while can find
	 * out whether the socket still has the same connection
	 */
	u32 generation;
	/** @tx_mutex: taken by writers; see above */
	struct mutex tx_mutex;
	/** @rx_mutex: taken by readers; see above */
	struct mutex rx_mutex;
	/** @list_node: in the namespace's list of sockets, an RCU list */
	struct hlist_node list_node;
	/** @serial: number of the socket in its namespace; it only increases */
	u64 serial;
	/** @listed: @list_node is in a list; under sdp_net.lock */
	bool listed;

	/* Engine and link. */

	/**
	 * @coalesce: small writes share messages, and small received messages
	 * share buffers
	 */
	bool coalesce;
	/** @rdma: the link can do RDMA */
	bool rdma;
	/**
	 * @orphan: closed, but still with a @link; counted against
	 * net.sdp.max_orphans
	 */
	bool orphan;
	/** @engine: protocol state */
	struct sdp_engine engine;
	/** @link: the transport's end of the connection, or NULL */
	struct sdp_link *link;
	/** @transport: connecting: the transport that is tried */
	const struct sdp_transport *transport;
	/** @first_error: place of the connection's failure, for people */
	const char *first_error;

	/* Send queue. */

	/** @tx_queue: unsent segments; the last one may still grow */
	struct sk_buff_head tx_queue;
	/** @tx_blocks: blocks whose message has arrived, kept for reuse */
	struct sk_buff_head tx_blocks;
	/** @tx_frags: largest number of page fragments in a segment */
	u16 tx_frags;
	/**
	 * @tx_hold: the last segment is held back, because a writer adds to it
	 * or a write had MSG_MORE
	 */
	bool tx_hold;
	/**
	 * @tx_copying: a writer copies into the last segment, which therefore
	 * does not count as full
	 */
	bool tx_copying;
	/**
	 * @tx_bulk: the last message was full of copied bytes, so the next one
	 * probably will be too
	 */
	bool tx_bulk;
	/**
	 * @tx_user_pages: the pages of a MSG_ZEROCOPY write may be sent without
	 * a copy
	 */
	bool tx_user_pages;
	/**
	 * @tx_turn: a writer keeps its turn until its call ends; other writers
	 * wait
	 */
	bool tx_turn;
	/**
	 * @tx_declined: with @tx_turn: the peer has declined a SrcAvail of this
	 * write
	 */
	bool tx_declined;
	/**
	 * @tx_lazy: data that gathers waits until the application calls again
	 * (flush.c)
	 */
	bool tx_lazy;
	/** @credit_stalled: data waits for credit; counted once per stall */
	bool credit_stalled;
	/** @gathering: a partial segment waits; counted once per wait */
	bool gathering;
	/** @callers: with @tx_lazy: number of threads in a call that flushes */
	unsigned int callers;
	/** @tx_outq: bytes written that have not arrived, as far as we know */
	u32 tx_outq;
	/** @tx_inflight: those bytes of @tx_outq that the transport has */
	u32 tx_inflight;

	/* Receive queue: sk_receive_queue. */

	/** @rx_bytes: payload bytes in the queue */
	u32 rx_bytes;
	/** @rx_read: position in the stream of the next byte to be read */
	u32 rx_read;
	/** @demand_last: with @demand: when it last showed, in jiffies */
	unsigned long demand_last;
	/**
	 * @recv_largest: bytes of the largest receive that may be posted, as it
	 * was when resize.c computed the number of receives; 0: compute it
	 * again
	 */
	u32 recv_largest;
	/** @recv_max: number of receives that the link has room for */
	u16 recv_max;
	/** @recv_idle: number of receives to keep posted without a demand */
	u16 recv_idle;
	/** @rx_ended: the peer has ended its stream in order */
	bool rx_ended;
	/** @demand: the peer needs @recv_max receives (demand.c) */
	bool demand;

	/* RDMA of the application's memory by SrcAvail and SinkAvail. */

	/** @tx_mode: mode of our sending half, SDP_MODE_* */
	u8 tx_mode;
	/** @rx_mode: mode of our receiving half, SDP_MODE_* */
	u8 rx_mode;
	/** @rdma_rails: rails that share a transfer, if there are several */
	u8 rdma_rails;
	/** @rx_reads: we may read by RDMA what the peer advertises */
	bool rx_reads;
	/** @rdma_worth: bytes from which RDMA pays on this link, as measured */
	u32 rdma_worth;
	/**
	 * @srcavail_tx: the memory that we advertise by SrcAvail, or NULL; on
	 * the writer's stack (srcavail_send.c) or of a background write
	 */
	struct sdp_srcavail_send *srcavail_tx;
	/** @srcavail_tx_out: the peer has not answered our SrcAvail yet */
	bool srcavail_tx_out;
	/** @may_srcavail: a large write may be advertised now */
	bool may_srcavail;
	/**
	 * @tx_first: the peer's application reads the beginning of a large
	 * write from a message and has a buffer for the rest (C10); under
	 * @tx_mutex
	 */
	bool tx_first;
	/** @rdma_writing: a writer's RDMA write is in flight */
	bool rdma_writing;
	/**
	 * @sinkavail_tx_room: bytes that an RDMA write may put into the oldest
	 * buffer that the peer advertises now
	 */
	u32 sinkavail_tx_room;
	/**
	 * @reader_late: a large write that had room in the send buffer has
	 * waited for a reader in vain, and no reader has come at once since
	 */
	bool reader_late;
	/**
	 * @sinkavail_missed: a large write has waited for a SinkAvail in vain,
	 * and none has come since
	 */
	bool sinkavail_missed;
	/** @background_over: @background has become 0 while @lock was held */
	bool background_over;
	/** @reports_passing: a CPU passes reports on at the moment */
	bool reports_passing;
	/**
	 * @sinkavail_stale: the engine's count of stale SinkAvails, as it was
	 * when a large write last missed one
	 */
	u32 sinkavail_stale;
	/** @rdma_bufs: buffers kept for RDMA transfers (rdma_buf.c) */
	struct sk_buff_head rdma_bufs;
	/** @rdma_bufs_used: jiffies when one was last taken */
	unsigned long rdma_bufs_used;
	/** @rdma_bufs_bytes: their length together */
	u32 rdma_bufs_bytes;
	/**
	 * @reports_lock: protects @reports and @reports_passing, in any
	 * context; innermost
	 */
	spinlock_t reports_lock;
	/** @reports: reports of MSG_ZEROCOPY that have not been passed on */
	struct list_head reports;
	/**
	 * @background_writing: the background write whose RDMA write is in
	 * flight on @link, or NULL
	 */
	struct sdp_background *background_writing;
	/**
	 * @background_open: the background write that writers add to, which is
	 * the last segment of the send queue; or NULL. Writers set it with
	 * @tx_mutex and @lock (zcopy/background_send.c), and they or the
	 * connection clear it, with @lock
	 */
	struct sdp_background *background_open;
	/**
	 * @background: number of background writes whose bytes have not all
	 * arrived (zcopy/background.c). While there are any, a large write
	 * joins them: it must not overtake them
	 */
	u32 background;
	/**
	 * @srcavail_rx: the RDMA read in flight that a reader waits for, or
	 * NULL; on the reader's stack (srcavail_recv.c)
	 */
	struct sdp_srcavail_recv *srcavail_rx;
	/** @srcavail_rx_left: bytes of the peer's SrcAvail not read yet */
	u32 srcavail_rx_left;
	/**
	 * @srcavail_rx_seq: position in the stream of the first byte of the
	 * peer's last SrcAvail; the bytes that it carried come first
	 */
	u32 srcavail_rx_seq;
	/**
	 * @sinkavail_rx: readers' memory that we advertise by SinkAvail
	 * (sinkavail_recv.c)
	 */
	struct list_head sinkavail_rx;
	/**
	 * @sinkavail_rx_over: number of times that one of our SinkAvails has
	 * ended or got bytes; a reader waits for it to change
	 */
	u32 sinkavail_rx_over;
	/** @rx_least: least size of a reader's memory to be advertised */
	u32 rx_least;
	/**
	 * @rx_indicated: a poller has been told that there is something to
	 * read, and no read has begun since (B10); under no lock
	 */
	bool rx_indicated;
	/** @rx_body: &enum sdp_body; set by readers, under no lock */
	u8 rx_body;

	/* Rings. */

	/** @ring: our ring that the peer writes into, or NULL (ring.c) */
	struct sdp_rx_ring *ring;
	/**
	 * @ring_next: our ring that the peer will write into once it has our
	 * RingAvail, or NULL
	 */
	struct sdp_rx_ring *ring_next;
	/** @rings_over: rings that @ring_work has to free */
	struct sdp_rx_ring *rings_over;
	/** @ring_work: makes and frees rings; holds a reference while queued */
	struct work_struct ring_work;
	/** @ring_id: number of the ring made last */
	u32 ring_id;
	/** @ring_bytes: size of @ring and @ring_next together */
	int ring_bytes;
	/**
	 * @rx_ring_full: the peer may be waiting until something in our ring is
	 * read
	 */
	bool rx_ring_full;
	/**
	 * @ring_stalled: data waits for room in the peer's ring; counted once
	 * per stall
	 */
	bool ring_stalled;

	/* Urgent data. */

	/** @urg_state: &enum sdp_urgent_state */
	u8 urg_state;
	/** @urg_byte: the urgent byte, once it is here */
	u8 urg_byte;
	/** @urg_hole: the byte at @urg_hole_seq is still to be skipped */
	bool urg_hole;
	/** @tx_urgent: unsent segments that end with an urgent byte */
	u32 tx_urgent;
	/** @urg_seq: the mark: the urgent byte's position in the stream */
	u32 urg_seq;
	/** @urg_hole_seq: position of an older urgent byte */
	u32 urg_hole_seq;

	/* Memory and autotuning. */

	/** @sndbuf_first: initial size of the send buffer */
	int sndbuf_first;
	/** @rcvbuf_first: initial size of the receive buffer */
	int rcvbuf_first;
	/** @posted_bytes: memory of the posted receives */
	int posted_bytes;
	/**
	 * @rx_charged: bytes charged for posted receives, rings and unread data
	 */
	int rx_charged;
	/**
	 * @tx_was_full: sent bytes have arrived while @want_space was set, and
	 * nothing has been written since
	 */
	bool tx_was_full;
	/**
	 * @rx_was_full: the receive buffer was full, and no reader has emptied
	 * it since
	 */
	bool rx_was_full;
	/** @rx_short: the receiving half's last request for memory failed */
	bool rx_short;

	/* Timers and scanner. */

	/** @spares: the timer checks for spare buffers */
	bool spares;
	/** @rest_watched: the timer checks whether the sending half is idle */
	bool rest_watched;
	/** @growth_watched: the timer bounds the growth of our receives (E2) */
	bool growth_watched;
	/** @hold_watched: the timer ends @tx_hold */
	bool hold_watched;
	/**
	 * @timer: retries what lacked memory, ends a MSG_MORE that no write has
	 * ended, and frees spare buffers (timer.c)
	 */
	struct timer_list timer;
	/** @growth_until: when the growth ends at the latest, in jiffies */
	unsigned long growth_until;
	/** @hold_until: when the timer ends @tx_hold, in jiffies */
	unsigned long hold_until;
	/**
	 * @refused_since: jiffies when the peer last refused a resize, plus the
	 * time for which refusals have been forgotten since
	 */
	unsigned long refused_since;
	/**
	 * @scan_node: in the list of the deadlock scanner while the peer's
	 * SrcAvail waits for a reader; under the scanner's lock, too (scan.c)
	 */
	struct list_head scan_node;
	/** @scan_since: jiffies when the SrcAvail came, or of the last scan */
	unsigned long scan_since;
	/** @scans: number of scans in a row that found no progress */
	unsigned int scans;
	/** @scan_got: bytes of the SrcAvail read before the last scan */
	u32 scan_got;

	/* Keepalive. */

	/** @keepalive_timer: watches for a dead peer (keepalive.c) */
	struct timer_list keepalive_timer;
	/** @heard: jiffies of the last sign of life from the peer's machine */
	unsigned long heard;
	/** @probe_due: with @probes: time of the next probe, in jiffies */
	unsigned long probe_due;
	/** @probes: number of probes since @heard */
	int probes;
	/** @probing: a probe is in flight */
	bool probing;
	/**
	 * @tx_waits: something waits for the peer: data, a SrcAvail, or an RDMA
	 * read or write
	 */
	bool tx_waits;
	/** @tx_since: jiffies when @tx_waits was set or progress was made */
	unsigned long tx_since;

	/* Statistics. */

	/** @sent: messages sent */
	u64 sent;
	/** @received: messages received */
	u64 received;
	/** @data_sent: messages sent with payload */
	u32 data_sent;
	/** @data_received: messages received with payload */
	u32 data_received;
	/** @bytes_sent: payload bytes sent */
	u64 bytes_sent;
	/** @bytes_received: payload bytes received */
	u64 bytes_received;
	/** @rdma_sent: those of @bytes_sent that went by RDMA */
	u64 rdma_sent;
	/** @rdma_received: those of @bytes_received that came by RDMA */
	u64 rdma_received;
	/** @rdma_read_by_peer: those of @rdma_sent that the peer has read */
	u64 rdma_read_by_peer;
	/** @rdma_read: those of @rdma_received that we have read */
	u64 rdma_read;
	/** @srcavail_sent: SrcAvails sent */
	u32 srcavail_sent;
	/** @srcavail_crossed: those of them that crossed a SinkAvail (C8) */
	u32 srcavail_crossed;
	/** @scans_fired: the peer's SrcAvails that the scanner declined (C9) */
	u32 scans_fired;
	/** @split_sends: sends that did not fit into one message */
	u32 split_sends;
	/** @resizes: resizes that the peer has granted */
	u32 resizes;
	/** @resizes_refused: resizes that the peer has refused */
	u32 resizes_refused;
	/** @ring_sent: payload bytes that we wrote into rings */
	u64 ring_sent;
	/** @ring_received: payload bytes that the peer wrote into rings */
	u64 ring_received;
	/** @ring_writes: messages that we wrote into rings */
	u32 ring_writes;
	/** @ring_full: number of times that data had to wait for a full ring */
	u32 ring_full;
	/** @last_sent: jiffies when payload was last sent, or 0 */
	unsigned long last_sent;
	/** @last_received: jiffies when payload last came, or 0 */
	unsigned long last_received;

	/* Names and port. */

	/** @local: own address and port */
	struct sdp_endpoint local;
	/** @peer: the peer's address and port */
	struct sdp_endpoint peer;
	/**
	 * @v6: user space gets the names in IPv6 form. An AF_SDP socket takes
	 * this from the first name that it is given
	 */
	bool v6;
	/**
	 * @bound_ip: bind() has set an address other than the wildcard, or the
	 * socket was accepted
	 */
	bool bound_ip;
	/**
	 * @port_number: number of the port, which leads to its bucket; it stays
	 * when the port is given back
	 */
	u16 port_number;
	/** @port_key: describes this socket to others that want the port */
	struct sdp_port_key port_key;
	/**
	 * @port: the bound port, or NULL. This and all members whose names
	 * begin with port are under sdp_port_bucket.lock (port.c)
	 */
	struct sdp_port *port;
	/**
	 * @port_node: in the port's tree, if this socket stands for the group
	 * of sockets with the same key
	 */
	struct rb_node port_node;
	/** @port_group: links all sockets of the group */
	struct list_head port_group;
	/** @port_group_size: size of the group, if this socket stands for it */
	unsigned int port_group_size;
	/** @named_by_tcp: the TCP socket beside this one chose the port */
	bool named_by_tcp;
	/**
	 * @only_connects: the port is only connected from, or the socket was
	 * accepted: no request can arrive for it
	 */
	bool only_connects;
	/** @claim: holds TCP's port of the same number, or NULL (claim.c) */
	struct socket *claim;

	/* Listener and accept queue. */

	/**
	 * @parent: the listener, until accept() hands this socket out; with a
	 * reference
	 */
	struct sdp_sock *parent;
	/** @queue_node: in @pending or @accepted of @parent, under its @lock */
	struct list_head queue_node;
	/**
	 * @counted_by: the listener that counts the link in @child_links, or
	 * NULL; with a reference. Taken by xchg()
	 */
	struct sdp_sock *counted_by;
	/** @pending: listener: children whose request is being answered */
	struct list_head pending;
	/** @accepted: listener: established children, for accept() */
	struct list_head accepted;
	/**
	 * @child_links: listener: number of links of children that accept() has
	 * not taken, counted until the link is released
	 */
	atomic_t child_links;
	/** @deferred: not accepted before data comes (TCP_DEFER_ACCEPT) */
	bool deferred;

	/* Connecting. */

	/** @was_established: the last connection set-up was completed */
	bool was_established;
	/** @peer_busy: the last failed attempt found the backlog full */
	bool peer_busy;
	/** @deadline: time at which to give up, in jiffies */
	unsigned long deadline;
	/** @backoff: pause before the next attempt, in jiffies */
	unsigned long backoff;
	/** @retry: makes the next attempt; holds a reference while queued */
	struct delayed_work retry;

	/* Waiters (wake.c). */

	/** @waiters: wait queue for each kind of event */
	wait_queue_head_t waiters[SDP_WAIT_KINDS];
	/**
	 * @common: bits of the kinds that waiters in the common queue (sk_wq)
	 * may ask for, and %SDP_COMMON_UNKNOWN; atomic
	 */
	unsigned long common;
	/**
	 * @unregistered_kinds: bits of the kinds that a poller has asked for
	 * without registering for them; atomic
	 */
	unsigned long unregistered_kinds;
	/**
	 * @want_space: a writer or poller has found no room and has to be told
	 * when there is some; ordered by barriers, see tx_note_space()
	 */
	bool want_space;

	/* Relation to a TCP socket. */

	/**
	 * @shares_wq: sk_wq is the former wait queue of a TCP socket; it may
	 * have waiters from before
	 */
	bool shares_wq;
	/**
	 * @tcp: holds the TCP sock that this one has replaced, until the
	 * application closes the socket; or NULL
	 */
	struct socket *tcp;
	/**
	 * @tcp_listener: listener: the TCP listener beside it, whose options
	 * new connections get; with a reference; or NULL
	 */
	struct sock *tcp_listener;
	/**
	 * @inherit_tcp: listener: gives @sk the options of @from, which is
	 * @tcp_listener; returns false if SDP does not have such an option
	 */
	bool (*inherit_tcp)(struct sock *sk, const struct sock *from);

	/* Options. */

	/** @opt: the options that are set */
	struct sdp_options opt;
};

/**
 * struct sdp_v6_sock - an AF_SDP socket of family AF_INET6
 * @ssk: the socket
 * @np: private data of the kernel's IPv6 code
 */
struct sdp_v6_sock {
	struct sdp_sock ssk;
	struct ipv6_pinfo np;
};

/**
 * sdp_sk() - the AF_SDP socket of a generic one
 * @sk: socket of AF_SDP
 *
 * Return: the socket.
 */
static inline struct sdp_sock *sdp_sk(const struct sock *sk)
{
	return (struct sdp_sock *)sk;
}

/**
 * sdp_conn_lock() - begin a change of a connection
 * @ssk: socket
 *
 * sdp_conn_unlock() ends the change and does the work that must not be done
 * under the lock. A caller that has nothing to wake, deliver or release may end
 * with spin_unlock_bh().
 */
static inline void sdp_conn_lock(struct sdp_sock *ssk)
{
	spin_lock_bh(&ssk->lock);
}

/**
 * sdp_is_established() - does the socket have a connection?
 * @ssk: socket, locked
 *
 * Return: true if it is established, both halves open or one closed.
 */
static inline bool sdp_is_established(const struct sdp_sock *ssk)
{
	return ssk->link && !ssk->engine.dead &&
	       ssk->engine.state >= SDP_ESTABLISHED;
}

/**
 * sdp_readable() - number of bytes that can be read now
 * @ssk: socket; without its lock the number is approximate
 *
 * Return: bytes in the receive queue and in the peer's SrcAvail.
 */
static inline u32 sdp_readable(const struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->rx_bytes) + READ_ONCE(ssk->srcavail_rx_left);
}

/**
 * sdp_unsent() - number of bytes written and not yet given to the transport
 * @ssk: socket; without its lock the number is approximate
 *
 * Return: bytes.
 */
static inline u32 sdp_unsent(const struct sdp_sock *ssk)
{
	int bytes = READ_ONCE(ssk->tx_outq) - READ_ONCE(ssk->tx_inflight);

	return max(bytes, 0);
}

extern struct proto sdp_prot;
extern struct proto sdp_v6_prot;
extern struct workqueue_struct *sdp_wq;

void sdp_sk_destruct(struct sock *sk);
struct sdp_sock *sdp_sock_alloc(struct net *net, int family, gfp_t gfp,
				bool kern);
void sdp_sock_init(struct sdp_sock *ssk);
void sdp_sock_end(struct sdp_sock *ssk);

#endif /* SDP_SOCK_H */
