/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undecided sockets, their shadows, and what a socket can become.
 *
 * An undecided socket is an application's TCP or MPTCP socket whose proto_ops
 * are ours. It stays undecided until connect() or listen() asks the policy
 * (requirement J2). Then it becomes the kernel's TCP socket again, or an SDP
 * sock takes the place of its TCP sock. With the verdict "both" there are two
 * stages in between: SDP connects while the TCP sock waits, or TCP and SDP
 * listen as a pair.
 *
 * The shadow (struct sdp_shadow) holds the policy's state of an undecided
 * socket, from the socket's first call until it is decided or closed.
 *
 * The shadow's rw_semaphore covers the stage, the SDP socket and the socket's
 * proto_ops. A call of an undecided socket holds it for reading while TCP's
 * function runs. TCP does not wait for a peer on a socket that is not
 * connected, but the application's memory may fault and make the call long. The
 * task that decides holds the semaphore for writing. A task drops it before it
 * waits for a peer. Lock order: this semaphore, lock_sock() of the TCP sock,
 * lock_sock() of the SDP sock.
 */
#ifndef SDP_UNDECIDED_H
#define SDP_UNDECIDED_H

#include <linux/net.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "policy_net.h"

/**
 * enum sdp_shadow_stage - stage of an undecided socket
 * @SDP_UNDECIDED: neither connects nor listens
 * @SDP_CONNECTING: the SDP socket connects; the TCP sock waits for the outcome
 * @SDP_LISTENING: the TCP sock and the SDP socket both listen (a pair)
 * @SDP_DECIDED: the socket has other proto_ops now, or is closed
 */
enum sdp_shadow_stage {
	SDP_UNDECIDED,
	SDP_CONNECTING,
	SDP_LISTENING,
	SDP_DECIDED,
};

/* Number of the SOL_TCP options that multipath.c records per MPTCP socket. */
#define SDP_MULTIPATH_OPTIONS	12

/**
 * struct sdp_shadow - the policy's state of an undecided socket
 * @node: entry in the table of shadows, until the socket is decided or closed
 * @rcu: frees the shadow after a grace period
 * @refs: one for @node, one for @work while it is queued, one for each call in
 *	progress
 * @lock: covers the stage, the SDP socket and the socket's proto_ops, see above
 * @stage: what the socket does at present; written under @lock
 * @sock: the application's socket
 * @tcp: the kernel's proto_ops of @sock
 * @kept: proto_ops of the struct socket that keeps the TCP sock after an SDP
 *	sock has taken its place
 * @sdp: the SDP socket with a struct socket of its own, or NULL
 * @attempt: number of the current connect attempt, so that a waiter for one
 *	attempt does not wait for the next one
 * @tcp_turn: of a pair: the next accept() asks TCP first
 * @as_all: of an attempt: it has no smaller time limit than other sockets and
 *	asks for no device, source or type of service, so its timeout shows that
 *	the peer is silent (sdp_active_is_typical())
 * @waited: a connect() sleeps until the decision, and returns @error
 * @error: why TCP could not begin to connect after SDP failed (negative errno),
 *	or 0
 * @decided: wait queue for the end of an attempt
 * @deadline: end of the time for SDP to connect (jiffies)
 * @work: checks the outcome of the SDP connect
 * @pause: delay before @work tries again when a call used the socket (jiffies)
 * @state_change: the SDP sock's own sk_state_change, which an attempt replaces
 * @error_report: the SDP sock's own sk_error_report, which an attempt replaces
 * @only_tcp: of an MPTCP socket: an option is set that SDP does not support
 * @valued: bitmap of the valid entries in @values
 * @values: of an MPTCP socket: options that the application has set, see
 *	multipath.c
 * @polled: kinds of events that pollers wait for, see sdp_wake_note()
 * @fell: address and process for the record of a fallback
 * @addr: address to connect to
 * @len: length of @addr in bytes
 */
struct sdp_shadow {
	struct hlist_node node;
	struct rcu_head rcu;
	refcount_t refs;
	struct rw_semaphore lock; /* see above */
	enum sdp_shadow_stage stage;
	struct socket *sock;
	const struct proto_ops *tcp;
	const struct proto_ops *kept;
	struct socket *sdp;
	u32 attempt;
	bool tcp_turn;
	bool as_all;
	bool waited;
	int error;
	wait_queue_head_t decided;
	unsigned long deadline;
	struct delayed_work work;
	unsigned long pause;
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	bool only_tcp;
	unsigned long valued;
	int values[SDP_MULTIPATH_OPTIONS];
	unsigned long polled;
	struct sdp_fallback_record fell;
	struct sockaddr_storage addr;
	int len;
};

/**
 * struct sdp_shim_ops - proto_ops for one address family and protocol
 * @fresh: for undecided sockets before their first call, which have no shadow
 * @calls: for undecided sockets with a shadow
 * @kept: for the struct socket that keeps a TCP sock whose place an SDP sock
 *	has taken
 * @tcp: the kernel's own proto_ops, or NULL when the kernel has no such
 *	protocol
 */
struct sdp_shim_ops {
	struct proto_ops fresh;
	struct proto_ops calls;
	struct proto_ops kept;
	const struct proto_ops *tcp;
};

/* undecided_ops.c */
int sdp_shim_init(void);
void sdp_shim_exit(void);
void sdp_shim_attach(struct socket *sock);

/* undecided.c */
int sdp_shadow_init(work_func_t work);
void sdp_shadow_poller_unknown(void);
void sdp_shadow_exit(void);
struct sdp_shadow *sdp_shadow_find(const struct socket *sock);
struct sdp_shadow *sdp_shadow_find_locked(const struct socket *sock);
struct sdp_shadow *
sdp_shadow_find_or_create(struct socket *sock,
			  const struct sdp_shim_ops *calls);
void sdp_shadow_get(struct sdp_shadow *shadow);
void sdp_shadow_put(struct sdp_shadow *shadow);
int sdp_shadow_make_sdp(struct sdp_shadow *shadow);
void sdp_shadow_drop_sdp(struct sdp_shadow *shadow);
int sdp_shadow_bind(struct sdp_shadow *shadow, enum sdp_role role);
void sdp_shadow_decide(struct sdp_shadow *shadow, const struct proto_ops *ops);
void sdp_shadow_become_tcp(struct sdp_shadow *shadow);
void sdp_shadow_become_sdp(struct sdp_shadow *shadow);
void sdp_shadow_take_place(struct sdp_shadow *shadow);

/* taken.c */
void sdp_taken_init(void);
const struct proto_ops *sdp_taken_ops(int family);
struct socket *sdp_taken_tcp(const struct socket *sock);

/* connect.c */
int sdp_attempt_init(void);
void sdp_attempt_exit(void);
void sdp_attempt_work(struct work_struct *work);
int sdp_attempt(struct sdp_shadow *shadow, struct sdp_sockaddr *addr, int len,
		int flags);
bool sdp_attempt_would_try_sdp(struct socket *sock, struct sdp_sockaddr *addr,
			       int len);
int sdp_attempt_wait(struct sdp_shadow *shadow, u32 attempt, long timeo);
bool sdp_attempt_stop(struct sdp_shadow *shadow);
void sdp_attempt_become_tcp(struct sdp_shadow *shadow);

/* listen.c */
/**
 * sdp_pair_half_gone() - has the TCP sock of a pair stopped listening?
 * @shadow: shadow
 *
 * SOCK_DESTROY can end the TCP listener. The pair ends with it.
 *
 * Return: true when the socket is a pair and its TCP sock does not listen.
 */
static inline bool sdp_pair_half_gone(const struct sdp_shadow *shadow)
{
	return shadow->stage == SDP_LISTENING &&
	       READ_ONCE(shadow->sock->sk->sk_state) != TCP_LISTEN;
}

int sdp_pair_listen(struct sdp_shadow *shadow, int backlog);
int sdp_pair_accept(struct sdp_shadow *shadow, struct socket *newsock,
		    SDP_ACCEPT_ARGS);
__poll_t sdp_pair_poll(struct file *file, struct sdp_shadow *shadow,
		       poll_table *wait);

/* multipath.c */

static inline bool sdp_is_multipath(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_MPTCP;
}

int sdp_multipath_set(struct sdp_shadow *shadow, int name, sockptr_t value,
		      unsigned int len);
void sdp_multipath_carry(struct sdp_shadow *shadow);

/* sockopt_sync.c */
bool sdp_sockopt_sync_possible(const struct sock *tcp);
void sdp_sockopt_sync(struct sock *sdp, const struct sock *tcp);

/**
 * sdp_shadow_possible() - does an SDP sock support the socket's options?
 * @shadow: shadow
 *
 * Return: true when it does.
 */
static inline bool sdp_shadow_possible(const struct sdp_shadow *shadow)
{
	return !READ_ONCE(shadow->only_tcp) &&
	       sdp_sockopt_sync_possible(shadow->sock->sk);
}

#endif /* SDP_UNDECIDED_H */
