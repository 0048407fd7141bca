/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket of AF_SDP, and what its files offer each other.
 *
 *	family.c	the address family: create, the table of calls
 *	sock.c		making, listing and freeing the object
 *	addr.c		user space's addresses
 *	port.c		who has which port
 *	claim.c		... and the TCP port that goes with it
 *	bind.c		bind, names
 *	connect.c	connect, and the connecting side's up-calls
 *	listen.c	listen, accept, and the accepting side's up-calls
 *	params.c	what a connection begins with
 *	segment.c	what is written, in pieces of a message each
 *	flush.c		what waits for the program to call again
 *	conn/conn.c	the middle: engine, queues and link of one connection
 *	send.c recv.c	bytes in and out
 *	zcopy.c		large writes and reads by RDMA, what they have in common:
 *	srcavail_send.c		a writer's memory, offered to the peer
 *	srcavail_recv.c		... that a reader reads from
 *	srcavail_recv_nowait.c		... or the kernel, for one that must not wait
 *	ring.c		rings that the peer writes its data into
 *	sinkavail_recv.c		a reader's memory, advertised to the peer
 *	sinkavail_send.c		... that a writer writes to
 *	pin.c		programs' pages for all of them
 *	conn/resize.c		message buffers that follow the size of what is sent
 *	urgent.c	urgent data
 *	memory.c	what all sockets hold together
 *	autotune.c	buffers that grow with use
 *	zerocopy.c	pages referenced instead of copied, and when they are free again
 *	splice.c	splice(2), sendfile(2)
 *	wake.c		poll, waiting and waking
 *	close.c		shutdown, release, disconnect
 *	keepalive.c	whether the other machine is still there
 *	options*.c	setsockopt, getsockopt (sockopt.h)
 *	info.c cmsg.c	TCP_INFO, SDP_INFO; what recvmsg tells beside the data
 *	ioctl.c		ioctl
 *
 * Locks, outermost first:
 *	lock_sock()	calls that change what the socket is (bind, listen, connect,
 *			shutdown, close)
 *	rx_mutex	one reader at a time copies, or reads by RDMA
 *	tx_mutex	one writer at a time copies
 *	lock		engine, queues, link, sk_state, sk_shutdown, sk_err; taken in softirq.
 *			Names (local, peer) are changed under it, by who has lock_sock or the
 *			link that is being connected. Of two sockets' locks only one is ever held.
 *
 * Nothing is woken, delivered or released under @lock: it is noted in a struct sdp_todo
 * and done by sdp_stream_unlock(). (The kernel wakes for a report of MSG_ZEROCOPY when its
 * last skb is freed, and that may be there; see zerocopy.c.)
 */
#ifndef SDP_SOCK_H
#define SDP_SOCK_H

#include <linux/mutex.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <uapi/linux/sdp.h>

#include "../addr.h"
#include "../control/netns.h"
#include "../proto/engine.h"
#include "../transport/buf.h"
#include "../transport/transport.h"
#include "../socket/sockopt.h"

/* Kinds of events that somebody may wait for (F1). */
enum sdp_ready {
	SDP_READ,
	SDP_URGENT,
	SDP_WRITE,
	SDP_HANGUP,		/* pollers that ask for none of the others */
	SDP_READY_KINDS
};

/* What to wake, collected in sdp_todo.wake. */
#define SDP_WAKE_READ	BIT(SDP_READ)
#define SDP_WAKE_URGENT	BIT(SDP_URGENT)
#define SDP_WAKE_WRITE	BIT(SDP_WRITE)
#define SDP_WAKE_STATE	BIT(SDP_HANGUP)		/* everybody: the state has changed */
#define SDP_WAKE_ERROR	BIT(SDP_READY_KINDS)	/* everybody: sk_err is set */

/* In sdp_sock.common, beside a bit for each kind. */
#define SDP_COMMON_UNKNOWN	SDP_READY_KINDS

/* What is known of the urgent byte. */
enum sdp_urgent_state {
	SDP_URG_NONE,
	SDP_URG_COMING,		/* announced */
	SDP_URG_HERE,
	SDP_URG_TAKEN,		/* by MSG_OOB; the reader has not passed the mark yet */
};

/**
 * struct sdp_port_key - what sockets of a port see of each other (port.c)
 * @flags: what it does with the port, and who may share it
 * @ifindex: the device it is bound to, or 0
 * @uid: its user, if others of that user may share the port
 * @ip: its address
 * @scope: interface index of a link-local address, or 0
 * @cpu: listener: the processor whose requests it takes first, or -1
 *
 * Keys are compared as bytes, so there is no padding.
 */
struct sdp_port_key {
	u32 flags;
	int ifindex;
	kuid_t uid;
	struct in6_addr ip;
	u32 scope;
	int cpu;
};

struct sdp_port;
struct sdp_srcavail_send;
struct sdp_srcavail_recv;
struct sdp_home;

/**
 * struct sdp_sock - an AF_SDP socket
 * @sk: the generic part; its sk_family is AF_SDP, or that of the internet twin
 * @inet: the same, as the kernel's internet code sees its own sockets
 * @lock: see above
 * @tx_mutex: writers
 * @rx_mutex: readers
 * @engine: protocol state
 * @link: transport's end, while there is one
 * @transport: the one chosen for connecting
 *
 * @tx_queue: segments not yet sent; the last one may still grow
 * @tx_blocks: blocks that have arrived, to be filled again
 * @tx_frags: page fragments that a segment may have
 * @tx_hold: that one is being added to, or MSG_MORE has promised more
 * @tx_copying: a writer copies into the last segment: it does not count as full
 * @tx_bulk: the last message was full, of copied bytes: the next one is likely to be
 * @tx_user_pages: a writer's own pages may be referenced until they have arrived
 * @coalesce: writes share messages, and small messages share buffers
 * @rdma: the link can do RDMA
 * @srcavail_tx: memory that a writer offers to the peer, or NULL (srcavail_send.c)
 * @tx_turn: a writer has its turn until its call ends; others that want to write wait for it
 * @srcavail_tx_out: the peer has not answered yet
 * @recv_max: receives that the link has room for
 * @recv_largest: size of the largest receives that may be posted
 * @tx_outq: payload bytes not yet known to have arrived
 * @tx_inflight: those of them that the transport has
 * @rx_bytes: payload bytes ready to be read
 * @srcavail_rx: a reader's RDMA read under way, or NULL (srcavail_recv.c)
 * @sinkavail_rx: memory that readers advertise to the peer (sinkavail_recv.c)
 * @sinkavail_rx_over: how often one has come to its end, or got bytes
 * @rdma_writing: a writer's RDMA write is under way (sinkavail_send.c)
 * @ring: our ring that the peer writes into, or NULL (ring.c)
 * @ring_next: the one that it will write into as soon as it has heard of it
 * @rings_over: those that are to be freed
 * @ring_work: makes and frees rings
 * @ring_id: of the last one made
 * @ring_bytes: what @ring and @ring_next hold
 * @ring_sent: payload that we have written into the peer's ring
 * @ring_received: ... and the peer into ours
 * @ring_writes: messages that we have written there
 * @ring_full: times that data had to wait for room there
 * @tx_lazy: data that gathers waits for the program (flush.c)
 * @callers: those who are in a call, if @tx_lazy
 * @ring_stalled: data waits for room there, counted once
 * @may_srcavail: large writes may be offered to the peer now
 * @sinkavail_tx_room: bytes that the peer's reader has room for, to be written by RDMA
 * @tx_mode: what is used for large writes (SDP_MODE_*)
 * @rx_mode: ... and by the peer
 * @rdma_worth: RDMA is worth it from so many bytes on, says the link
 * @srcavail_rx_left: bytes that the peer offers, to be read by RDMA
 * @rx_reads: they can be
 * @srcavail_rx_seq: place of that in the stream, and of the bytes that came along
 * @rx_indicated: a poller has been told that there is something to read, and no
 *	read has begun since
 * @rx_body: &enum sdp_body
 * @rx_least: a reader's memory has to be as large to be advertised
 * @sinkavail_missed: no reader's memory came in time for a large write, and none
 *	has come since
 * @tx_first: readers take the beginning of a large write in a message, and
 *	have a buffer for the rest (C10); under tx_mutex
 * @sinkavail_stale: buffers that were void when they came, at the last large write
 *	for which none came in time
 * @tx_was_full: a writer has met a full send buffer, and has written nothing since
 * @rx_ring_full: the peer may be waiting until something in our ring is read
 * @rx_was_full: since the reader last had everything, receives were withheld for it
 * @rx_short: the memory that the receiving half asked for last was not granted
 * @rx_ended: the peer's stream has come to its end, in order
 * @sndbuf_first: size of the send buffer at first
 * @rcvbuf_first: size of the receive buffer at first
 * @posted_bytes: memory that the posted receives hold
 * @rx_charged: bytes charged for posted receives and for what is unread
 * @rx_read: place in the stream of the next byte to be read
 * @tx_urgent: unsent segments that end with an urgent byte
 * @urg_state: &enum sdp_urgent_state
 * @urg_byte: the urgent byte, when it is here
 * @urg_seq: the mark: its place in the stream
 * @urg_hole: an older mark's byte is still to be passed over, at @urg_hole_seq
 * @urg_hole_seq: where
 * @tick: tries again what lacked memory; ends a MSG_MORE that nobody ended; gives spare
 *	buffers back
 * @spares: there may be some, the tick looks after them
 * @rest_watched: the tick looks whether the sending half rests
 * @growth_watched: the tick ends a growth of our receives at ...
 * @growth_until: ... this time (jiffies)
 * @hold_watched: the tick ends @tx_hold at ...
 * @hold_until: ... this time (jiffies)
 * @scan_node: in the scanner's list while it looks whether somebody reads an offer of the peer
 * @scan_since: when (jiffies) the offer came, or the last look that counts was
 * @scans: how often nobody has
 * @scan_got: bytes of it that were read at the last look
 * @credit_stalled: data waits for credit, counted once
 * @gathering: a partial segment waits, counted once
 * @split_sends: sends that did not fit into one message
 * @resizes: requests for other sizes that the peer has granted
 * @resizes_refused: ... that it has not
 * @refused_since: when (jiffies) the last one came, and moved on by what has
 *	been forgotten since
 * @sent: messages sent
 * @received: messages received
 * @data_sent: those of them with payload
 * @data_received: those of them with payload
 * @bytes_sent: their payload
 * @bytes_received: their payload
 * @rdma_sent: bytes of @bytes_sent that went by RDMA
 * @rdma_received: likewise
 * @rdma_read_by_peer: those of @rdma_sent that the peer has read
 * @rdma_read: those of @rdma_received that were read here
 * @srcavail_sent: large writes offered to the peer
 * @srcavail_crossed: those that met a buffer of the peer's reader on its way
 * @scans_fired: the peer's offers that no reader came for in time
 * @last_sent: when payload was sent last (jiffies), or 0
 * @last_received: when payload came last (jiffies), or 0
 *
 * @alive: watches over the connection: see keepalive.c
 * @heard: when the peer's machine gave its last sign of life (jiffies)
 * @probe_due: when the next probe is due, if @probes (jiffies)
 * @probes: keepalive probes since @heard
 * @probing: one is on its way
 * @lives: how often it was disconnected; changes with @rx_mutex and @tx_mutex held, so that a call
 *	that has let one of them go finds out whether it is still the same connection's
 * @tx_waits: @tx_outq is not 0, and ...
 * @tx_since: ... none of it has arrived since then (jiffies)
 * @orphan: closed, and it still has @link: it counts against net.sdp.max_orphans
 *
 * @local: own address
 * @peer: the other's address
 * @v6: names are given to user space as IPv6; an AF_SDP socket takes this from the first
 *	name it is given
 * @bound_ip: the address was chosen by bind
 * @port: the bound port's entry
 * @port_number: its number, by which its lock is found; stays when the port
 *	is given back
 * @port_key: what other sockets of the port see of this one
 * @port_node: in the port's tree, if it stands for all that have the same key
 * @port_alike: ring of those
 * @port_alikes: how many they are, if it stands for them
 * @claim: has TCP's port of the same number for it, or NULL (claim.c)
 * @named_by_tcp: it has its port from the TCP socket whose place it takes
 * @only_connects: it has its port to connect from, or was accepted: nobody asks for it there
 * @listed: in the namespace's list
 * @list_node: in it
 * @serial: of the namespace's sockets, the younger the larger
 *
 * @parent: the listener that has not handed this socket out yet
 * @queue_node: in its @pending or @accepted
 * @host: the listener among whose @child_links its link counts, with a reference
 * @deferred: waits for data before it may be accepted (TCP_DEFER_ACCEPT)
 * @pending: listener: requests answered and not yet complete
 * @accepted: listener: complete, to be accepted
 * @child_links: listener: links of all that nobody has accepted, until their last word
 *
 * @deadline: connecting: give up then (jiffies)
 * @backoff: connecting: wait before the next attempt (jiffies)
 * @retry: connecting: makes the next attempt
 * @stood: there was a connection, since it connected last
 * @peer_busy: connecting: the last attempt found the peer's backlog full
 *
 * @waiters: who waits, by kind
 * @common: kinds that somebody in the socket's common wait queue may ask for
 * @want_space: somebody has found no room to write and is to be told of it
 * @wandering: kinds that a poller asked about without registering for them
 *
 * @shares_wq: somebody may wait in sk_wq, who polled before this was the socket's sock
 * @tcp: holds what was the socket's sock before, until it is closed; or NULL
 * @like: listener: TCP's beside it, whose options its connections get; with a reference
 * @be_like: takes them over; false when the connection cannot be like that
 *
 * @opt: options as set
 * @first_error: place of the first error, for people
 */
struct sdp_sock {
	union {			/* first */
		struct sock sk;
		struct inet_sock inet;
	};
	spinlock_t lock;
	struct mutex tx_mutex;
	struct mutex rx_mutex;
	struct sdp_engine engine;
	struct sdp_link *link;
	const struct sdp_transport *transport;

	struct sk_buff_head tx_queue;
	struct sk_buff_head tx_blocks;
	u16 tx_frags;
	bool tx_hold;
	bool tx_copying;
	bool tx_bulk;
	bool tx_user_pages;
	bool coalesce;
	bool rdma;
	struct sdp_srcavail_send *srcavail_tx;
	bool tx_turn;
	bool srcavail_tx_out;
	bool may_srcavail;
	u16 recv_max;
	u32 recv_largest;
	u32 tx_outq;
	u32 tx_inflight;
	u32 rx_bytes;
	struct sdp_srcavail_recv *srcavail_rx;
	struct list_head sinkavail_rx;
	u32 sinkavail_rx_over;
	bool rdma_writing;
	struct sdp_home *ring;
	struct sdp_home *ring_next;
	struct sdp_home *rings_over;
	struct work_struct ring_work;
	u32 ring_id;
	int ring_bytes;
	bool tx_lazy;
	unsigned int callers;
	bool ring_stalled;
	u64 ring_sent;
	u64 ring_received;
	u32 ring_writes;
	u32 ring_full;
	u32 sinkavail_tx_room;
	u8 tx_mode;
	u8 rx_mode;
	u32 rdma_worth;
	u32 srcavail_rx_left;
	bool rx_reads;
	u32 srcavail_rx_seq;
	bool rx_indicated;
	u8 rx_body;
	u32 rx_least;
	bool sinkavail_missed;
	bool tx_first;
	u32 sinkavail_stale;
	bool tx_was_full;
	bool rx_was_full;
	bool rx_ring_full;
	bool rx_short;
	bool rx_ended;
	int sndbuf_first;
	int rcvbuf_first;
	int posted_bytes;
	int rx_charged;
	u32 rx_read;
	u32 tx_urgent;
	u8 urg_state;
	u8 urg_byte;
	bool urg_hole;
	u32 urg_seq;
	u32 urg_hole_seq;
	struct timer_list tick;
	bool spares;
	bool rest_watched;
	bool growth_watched;
	unsigned long growth_until;
	bool hold_watched;
	unsigned long hold_until;
	struct list_head scan_node;
	unsigned long scan_since;
	unsigned int scans;
	u32 scan_got;
	bool credit_stalled;
	bool gathering;
	u32 split_sends;
	u32 resizes;
	u32 resizes_refused;
	unsigned long refused_since;
	u64 sent;
	u64 received;
	u32 data_sent;
	u32 data_received;
	u64 bytes_sent;
	u64 bytes_received;
	u64 rdma_sent;
	u64 rdma_received;
	u64 rdma_read_by_peer;
	u64 rdma_read;
	u32 srcavail_sent;
	u32 srcavail_crossed;
	u32 scans_fired;
	unsigned long last_sent;
	unsigned long last_received;

	struct timer_list alive;
	unsigned long heard;
	unsigned long probe_due;
	int probes;
	bool probing;
	u32 lives;
	bool tx_waits;
	unsigned long tx_since;
	bool orphan;

	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	bool v6;
	bool bound_ip;
	struct sdp_port *port;
	struct sdp_port_key port_key;
	struct rb_node port_node;
	struct list_head port_alike;
	unsigned int port_alikes;
	u16 port_number;
	struct socket *claim;
	bool named_by_tcp;
	bool only_connects;
	bool listed;
	struct hlist_node list_node;
	u64 serial;

	struct sdp_sock *parent;
	struct list_head queue_node;
	struct sdp_sock *host;
	bool deferred;
	struct list_head pending;
	struct list_head accepted;
	atomic_t child_links;

	unsigned long deadline;
	unsigned long backoff;
	struct delayed_work retry;
	bool stood;
	bool peer_busy;

	wait_queue_head_t waiters[SDP_READY_KINDS];
	unsigned long common;
	unsigned long wandering;
	bool want_space;

	bool shares_wq;
	struct socket *tcp;
	struct sock *like;
	bool (*be_like)(struct sock *sk, const struct sock *like);

	struct sdp_options opt;
	const char *first_error;
};

/**
 * struct sdp_v6_sock - a socket of AF_INET6
 * @ssk: the socket
 * @np: where the kernel's IPv6 code keeps its own
 */
struct sdp_v6_sock {
	struct sdp_sock ssk;
	struct ipv6_pinfo np;
};

static inline struct sdp_sock *sdp_sk(const struct sock *sk)
{
	return (struct sdp_sock *)sk;
}

/* With the lock: has it a connection, whole or half closed? */
static inline bool sdp_stands(const struct sdp_sock *ssk)
{
	return ssk->link && !ssk->engine.dead &&
	       ssk->engine.state >= SDP_ESTABLISHED;
}

/* Bytes that can be read now; without the lock, about so many. */
static inline u32 sdp_readable(const struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->rx_bytes) + READ_ONCE(ssk->srcavail_rx_left);
}

/* Bytes written and not yet handed to the transport; without the lock, about so many. */
static inline u32 sdp_unsent(const struct sdp_sock *ssk)
{
	int bytes = READ_ONCE(ssk->tx_outq) - READ_ONCE(ssk->tx_inflight);

	return max(bytes, 0);
}

/**
 * struct sdp_todo - what to do when the lock has been dropped
 * @wake: SDP_WAKE_*
 * @kick: link that has put deliveries aside, held
 * @release: link that the socket has let go
 * @abort: how it ends
 * @accepted: the connection can be accepted now
 * @sigurg: tell the owner of urgent data
 * @forget: the request has failed before it could be accepted
 */
struct sdp_todo {
	u32 wake;
	struct sdp_link *kick;
	struct sdp_link *release;
	bool abort;
	bool accepted;
	bool sigurg;
	bool forget;
};

/* sock.c */
extern struct proto sdp_prot;
extern struct proto sdp_v6_prot;
extern struct workqueue_struct *sdp_wq;
struct sdp_sock *sdp_sock_alloc(struct net *net, int family, gfp_t gfp,
				bool kern);
void sdp_sock_init(struct sdp_sock *ssk);
void sdp_sk_destruct(struct sock *sk);
void sdp_sock_end(struct sdp_sock *ssk);
void sdp_set_state(struct sdp_sock *ssk, int state);

/* addr.c */
int sdp_addr_get(struct sdp_endpoint *e, const struct sockaddr_storage *ss,
		 int len, int domain);
int sdp_addr_put(struct sockaddr *out, const struct sdp_endpoint *e, bool v6);
int sdp_addr_is_ours(struct net *net, const struct sdp_endpoint *e);
bool sdp_addr_may_be_source(struct net *net, const struct sdp_endpoint *e);

/* port.c */
int sdp_port_bind(struct sdp_sock *ssk, u16 port);
int sdp_port_listen(struct sdp_sock *ssk);
void sdp_port_unlisten(struct sdp_sock *ssk);
void sdp_port_moved(struct sdp_sock *ssk);
void sdp_port_changed(struct sdp_sock *ssk);
void sdp_port_share(struct sdp_sock *child, struct sdp_sock *parent);
void sdp_port_release(struct sdp_sock *ssk);
struct sdp_sock *sdp_port_find_listener(const struct sdp_incoming *in);

/* claim.c */
int sdp_claim_bind(struct sdp_sock *ssk, u16 number);
int sdp_claim_listen(struct sdp_sock *ssk, bool listens);
void sdp_claim_drop(struct sdp_sock *ssk);

/* bind.c, connect.c, listen.c, close.c: calls of the table in family.c */
int sdp_bind(struct socket *sock, struct sdp_sockaddr *addr, int len);
void sdp_set_name(struct sdp_sock *ssk, struct sdp_endpoint *end,
		  const struct sdp_endpoint *e);
int sdp_getname(struct socket *sock, struct sockaddr *addr, int peer);
int sdp_connect_ask_bpf(struct sock *tcp, struct sdp_sockaddr *addr, int len);
int sdp_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
		int flags);
int sdp_listen(struct socket *sock, int backlog);
void sdp_listen_forget_link(struct sdp_sock *child);
int sdp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS);
int sdp_shutdown(struct socket *sock, int how);
int sdp_release(struct socket *sock);
int sdp_disconnect(struct sdp_sock *ssk);
void sdp_orphan_timer(struct sdp_sock *ssk);
void sdp_orphan_progress(struct sdp_sock *ssk);
void sdp_orphan_over(struct sdp_sock *ssk);

/* connect.c, listen.c: up-calls and what conn/conn.c needs of them */
int sdp_connect_hello(struct sdp_link *link, const struct sdp_endpoint *local,
		      u8 buf[SDP_HELLO_LEN]);
bool sdp_connect_again(struct sdp_sock *ssk, int error, struct sdp_todo *todo);
void sdp_connect_retry(struct work_struct *work);
void sdp_connect_expired(struct sdp_sock *ssk);
bool sdp_connect_as_all(const struct sdp_sock *ssk, unsigned int ms);
bool sdp_connect_device(struct net *net, const struct sdp_endpoint *peer,
			char name[SDP_DEVICE_NAME]);
bool sdp_connect_may_lead(const struct sdp_sock *ssk,
			  const struct sdp_endpoint *peer);
int sdp_incoming(struct sdp_link *link, struct sdp_incoming *in);
void sdp_accept_ready(struct sdp_sock *child);
void sdp_accept_forget(struct sdp_sock *child);
void sdp_listen_stop(struct sdp_sock *ssk);

/* conn/conn.c */
extern const struct sdp_link_events sdp_stream_events;
void sdp_stream_lock(struct sdp_sock *ssk);
void sdp_stream_unlock(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_stream_progress(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_stream_fail(struct sdp_sock *ssk, int error, const char *place,
		     struct sdp_todo *todo);
void sdp_stream_detach(struct sdp_sock *ssk, bool abort, struct sdp_todo *todo);
void sdp_stream_replenish(struct sdp_sock *ssk);
void sdp_stream_recycle(struct sdp_sock *ssk, struct sdp_link *link,
			struct sk_buff *skb);
void sdp_stream_purge(struct sdp_sock *ssk);

/* params.c */
int sdp_flow_wish(struct sdp_sock *ssk);
void sdp_stream_start(struct sdp_sock *ssk,
		      const struct sdp_link_config *config, u16 target);
void sdp_stream_config(struct sdp_sock *ssk, const struct sdp_transport *ops,
		       struct sdp_link_config *config);

/* segment.c */
bool sdp_segment_full(const struct sdp_sock *ssk, const struct sk_buff *skb);
void sdp_segment_trim(struct sdp_sock *ssk, struct sk_buff *skb);
bool sdp_segment_split(struct sdp_sock *ssk, struct sk_buff *skb, u32 n);

/* flush.c */
void sdp_flush_begin(struct sdp_sock *ssk);
void sdp_flush_end(struct sdp_sock *ssk);
bool sdp_flush_waits(const struct sdp_sock *ssk);

/* send.c, recv.c */
void sdp_turn_take(struct sdp_sock *ssk, bool *mine);
void sdp_send_held(struct sdp_sock *ssk);
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
void sdp_deliver(struct sdp_sock *ssk, struct sk_buff *skb,
		 const struct sdp_action *a, u32 bytes, struct sdp_todo *todo);
ssize_t sdp_recv_to_pipe(struct sdp_sock *ssk, struct pipe_inode_info *pipe,
			 size_t len, long timeo);

void sdp_queue_read(struct sdp_sock *ssk, struct sk_buff *skb, u32 n);
void sdp_passed(struct sdp_sock *ssk, u32 n);
bool sdp_input_over(const struct sdp_sock *ssk);

/**
 * struct sdp_pinned - pages of a program that stay where they are
 * @mem: the pages
 * @account: who answers for them
 */
struct sdp_pinned {
	struct sdp_pages mem;
	struct mmpin account;
};

/* pin.c */
u32 sdp_pin(struct sdp_pinned *p, const struct iov_iter *iter, size_t max,
	    enum sdp_mem_use use);
void sdp_unpin(struct sdp_pinned *p);

/* zcopy.c */
u32 sdp_rdma_threshold(const struct sdp_sock *ssk);
bool sdp_rdma_worth(const struct sdp_sock *ssk, size_t bytes);
struct sdp_link *sdp_link_use(struct sdp_sock *ssk);
struct sdp_mem *sdp_map(struct sdp_sock *ssk, struct sdp_link *link,
			const struct sdp_pages *pages);
void sdp_await_move(struct sdp_sock *ssk, struct sdp_link *link,
		    struct sdp_mem *mem);
void sdp_await_answer(struct sdp_sock *ssk, const bool *over);

/* srcavail_send.c */
/* Of a large write, which go along or before: enough for a reader to begin. */
#define SDP_FIRST_BYTES	1024

u32 sdp_srcavail_send(struct sdp_sock *ssk, struct msghdr *msg, long *timeo,
		      bool begun, bool *refused, bool *turn);
struct sk_buff *sdp_srcavail_send_take(struct sdp_sock *ssk);
void sdp_srcavail_send_answered(struct sdp_sock *ssk,
				const struct sdp_action *a);
void sdp_srcavail_send_over(struct sdp_sock *ssk, u32 got);

/* srcavail_recv.c */
/*
 * How a call that reads of an offer stands to it: its memory could not have
 * been advertised; or could have been, before the offer came; or could have
 * been when a call before it had taken the beginning, and only that (C4, C10).
 */
enum sdp_comes { SDP_COMES_ASKED, SDP_COMES_FIRST, SDP_COMES_NEXT };

/*
 * Do small calls take the beginning of large writes, and large ones the rest?
 * The last one did; and the peer has been told so, but no buffer has followed.
 */
enum sdp_body { SDP_BODY_NONE, SDP_BODY_SEEN, SDP_BODY_PROMISED };

void sdp_srcavail_recv_arrived(struct sdp_sock *ssk, u32 inlined);
void sdp_srcavail_recv_end(struct sdp_sock *ssk, int error,
			   struct sdp_todo *todo);
void sdp_was_read(struct sdp_sock *ssk, u32 n, struct sdp_todo *todo);
bool sdp_queue_full(const struct sdp_sock *ssk);
int sdp_srcavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t len,
		      size_t left, bool enough, enum sdp_comes comes,
		      bool wait);
void sdp_srcavail_recv_decline(struct sdp_sock *ssk, u32 seen);
void sdp_srcavail_recv_later(struct sdp_sock *ssk, size_t room);

/* srcavail_recv_nowait.c */
bool sdp_srcavail_recv_nowait(struct sdp_sock *ssk, u32 room);

/* sinkavail_recv.c */
void sdp_sinkavail_recv_over(struct sdp_sock *ssk, u32 id, u32 got, bool rest);
void sdp_sinkavail_recv_end(struct sdp_sock *ssk);
void sdp_sinkavail_recv_check(struct sdp_sock *ssk);
bool sdp_sinkavail_recv_fits(const struct sdp_sock *ssk,
			     const struct iov_iter *to, size_t room);
bool sdp_sinkavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t room,
			long *timeo, int *result);

/* sinkavail_send.c */
long sdp_sinkavail_send_patience(const struct sdp_sock *ssk);
bool sdp_sinkavail_send_await(struct sdp_sock *ssk, long *timeo);
void sdp_sinkavail_send_missed(struct sdp_sock *ssk);
u32 sdp_sinkavail_send(struct sdp_sock *ssk, struct sdp_link *link,
		       struct sdp_pages *pages);

/* ring.c */
void sdp_ring_wanted(struct sdp_sock *ssk);
void sdp_rings_over(struct sdp_sock *ssk, u32 left);
void sdp_ring_work(struct work_struct *work);
void sdp_ring_look(struct sdp_sock *ssk);
void sdp_ring_header(const struct sdp_sock *ssk, u32 at, u32 bytes,
		     u8 to[SDP_HEADER_MAX]);
struct sk_buff *sdp_ring_message(struct sdp_sock *ssk, struct sk_buff *empty,
				 u32 at, u32 bytes);
int sdp_ring_splice(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		    u32 len, struct pipe_inode_info *pipe);
bool sdp_ring_read(struct sdp_sock *ssk, struct sk_buff *skb, u32 n, bool all);

/* conn/resize.c */
void sdp_size_of_send(struct sdp_sock *ssk, size_t bytes, u32 open);
u32 sdp_size_to_post(struct sdp_sock *ssk);
bool sdp_size_rest(struct sdp_sock *ssk);
void sdp_size_message_sent(struct sdp_sock *ssk, const struct sdp_msg *msg);
void sdp_size_message_received(struct sdp_sock *ssk, const struct sdp_msg *msg);

/* timer.c */
void sdp_tick_again(struct sdp_sock *ssk);
void sdp_tick_watch_rest(struct sdp_sock *ssk);
void sdp_tick_watch_growth(struct sdp_sock *ssk, bool growing);
void sdp_tick_watch_hold(struct sdp_sock *ssk);
void sdp_tick_watch_spares(struct sdp_sock *ssk);
void sdp_tick_stop(struct sdp_sock *ssk);
void sdp_tick(struct timer_list *timer);

/* scan.c */
void sdp_scan_watch(struct sdp_sock *ssk);
void sdp_scan_stop(struct sdp_sock *ssk);
int sdp_scan_init(void);
void sdp_scan_exit(void);

/* memory.c */
extern atomic_long_t sdp_memory_allocated;
DECLARE_PER_CPU(int, sdp_memory_per_cpu_fw_alloc);
extern struct percpu_counter sdp_sockets_allocated;
extern unsigned long sdp_memory_pressure;
extern int sdp_memory_least[3];
int sdp_memory_init(void);
void sdp_memory_exit(void);
void sdp_memory_enter_pressure(struct sock *sk);
void sdp_memory_failed(struct sock *sk);
void sdp_memory_leave_pressure(struct sock *sk);
bool sdp_memory_is_short(const struct sock *sk);
bool sdp_memory_beyond_limit(const struct sock *sk);
bool sdp_memory_reclaim(struct sock *sk);
int sdp_memory_of_receive(const struct sdp_sock *ssk, u32 size);
u16 sdp_memory_for_receives(struct sdp_sock *ssk, u16 want, u32 size);
bool sdp_memory_for_write(struct sdp_sock *ssk, int bytes);
void sdp_memory_regrow(struct sdp_sock *ssk);
void sdp_memory_sent(struct sdp_sock *ssk, int bytes);
void sdp_memory_settle(struct sdp_sock *ssk);
void sdp_memory_inherit(struct sock *child, const struct sock *parent);
void sdp_memory_end(struct sdp_sock *ssk);

/* autotune.c */
void sdp_tune_init(struct sdp_sock *ssk);
void sdp_tune_emptied(struct sdp_sock *ssk);
void sdp_tune_arrived(struct sdp_sock *ssk);
void sdp_tune_sending(struct sdp_sock *ssk);
void sdp_tune_receiving(struct sdp_sock *ssk);
void sdp_tune_regrow(struct sdp_sock *ssk);

/* urgent.c */
void sdp_urgent_mark_last(struct sdp_sock *ssk);
void sdp_urgent_announced(struct sdp_sock *ssk, struct sdp_todo *todo);
void sdp_urgent_arrived(struct sdp_sock *ssk, u8 byte, u32 len,
			struct sdp_todo *todo);
void sdp_urgent_signal(struct sdp_sock *ssk);
bool sdp_urgent_at_mark(const struct sdp_sock *ssk, u32 seq);
u32 sdp_urgent_bound(const struct sdp_sock *ssk, u32 seq, u32 *avail);
void sdp_urgent_passed(struct sdp_sock *ssk);
void sdp_urgent_forget(struct sdp_sock *ssk);
int sdp_urgent_recv(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    int flags);
u32 sdp_urgent_inq(struct sdp_sock *ssk);

/* splice.c */
int sdp_splice_piece(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		     u32 len, struct pipe_inode_info *pipe);
ssize_t sdp_splice_read(struct socket *sock, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags);
void sdp_splice_eof(struct socket *sock);

/**
 * struct sdp_refs - whose pages a write may refer to instead of copying them
 * @splice: those in its iterator, for good (MSG_SPLICE_PAGES)
 * @user: the user's (MSG_ZEROCOPY): what to tell when they are not needed any more
 * @own: the report of this write on the error queue
 */
struct sdp_refs {
	bool splice;
	struct ubuf_info *user;
	struct ubuf_info *own;
};

/* zerocopy.c */
int sdp_refs_begin(struct sdp_sock *ssk, const struct msghdr *msg,
		   struct sdp_refs *refs);
void sdp_refs_undo(struct sdp_refs *refs);
void sdp_refs_end(struct sdp_refs *refs, bool taken);
bool sdp_refs_fit(const struct sdp_refs *refs, struct sk_buff *skb);
int sdp_refer(struct sdp_sock *ssk, struct sk_buff *skb, struct sdp_refs *refs,
	      struct iov_iter *from, u32 *part);
int sdp_recv_report(struct sdp_sock *ssk, struct msghdr *msg);
int sdp_set_zerocopy(struct sock *sk, sockptr_t value, unsigned int len);

static inline bool sdp_refs_any(const struct sdp_refs *refs)
{
	return refs->splice || refs->user;
}

/* wake.c */
typedef bool (*sdp_condition)(struct sdp_sock *ssk, u32 arg);

void sdp_ready_init(struct sdp_sock *ssk);
void sdp_ready_note(unsigned long *notes, const poll_table *wait);
void sdp_ready_share(struct sdp_sock *ssk);
void sdp_ready_shared(struct sdp_sock *ssk, unsigned long kinds);
void sdp_notify(struct sdp_sock *ssk, u32 wake);
int sdp_wait(struct sdp_sock *ssk, enum sdp_ready kind, long *timeo,
	     sdp_condition done, u32 arg);
__poll_t sdp_poll(struct file *file, struct socket *sock, poll_table *wait);

/* keepalive.c */
void sdp_alive_init(struct sdp_sock *ssk);
void sdp_alive_heard(struct sdp_sock *ssk);
void sdp_alive_start(struct sdp_sock *ssk);
void sdp_alive_stop(struct sdp_sock *ssk);
void sdp_alive_watch(struct sdp_sock *ssk);
void sdp_alive_changed(struct sdp_sock *ssk);
void sdp_set_keepalive(struct sock *sk, int on);
int sdp_keepidle(struct sdp_sock *ssk);
int sdp_keepintvl(struct sdp_sock *ssk);
int sdp_keepcnt(struct sdp_sock *ssk);

/* sockopt_ip.c, cmsg.c: what the others need of them */
u8 sdp_tos(const struct sdp_sock *ssk, bool v4);
void sdp_put_cmsgs(struct sdp_sock *ssk, struct msghdr *msg, ktime_t stamp);

#endif /* SDP_SOCK_H */
