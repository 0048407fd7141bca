/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undecided sockets: TCP and MPTCP sockets of programs, and what is kept
 * beside each until it is decided what they become.
 *
 * All of a socket's changes are made under its shadow's lock: it is held for reading while a
 * call of TCP's runs on it, which does not wait on a socket that is not connected, and for
 * writing by who decides. Whoever has to wait for a peer lets go of it. Order: this lock, then
 * lock_sock() of TCP's sock, then of SDP's.
 */
#ifndef SDP_POLICY_SHIM_H
#define SDP_POLICY_SHIM_H

#include <linux/net.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "policy_net.h"

/**
 * enum sdp_srcavail_recv_nowait - how far it is
 * @SDP_UNDECIDED: neither connects nor listens
 * @SDP_CONNECTING: SDP connects beside it
 * @SDP_LISTENING: both listen
 * @SDP_DECIDED: the socket has other calls now, or is closed
 */
enum sdp_srcavail_recv_nowait {
	SDP_UNDECIDED,
	SDP_CONNECTING,
	SDP_LISTENING,
	SDP_DECIDED,
};

/* How many options of a socket of MPTCP are noted: see multipath.c. */
#define SDP_MULTIPATH_OPTIONS	12

/**
 * struct sdp_shadow - beside a TCP socket that is not decided
 * @node: by which it is found, until it is decided
 * @rcu: frees it
 * @refs: that of @node, of the work item while it is queued, and of calls
 * @lock: see above
 * @stage: see above
 * @sock: the program's socket
 * @tcp: the kernel's calls for it
 * @kept: those of what is left of it when it has become SDP
 * @sdp: the SDP socket, with a struct socket of its own; or NULL
 * @attempt: counts connects, so that who waits for one does not take the next one for it
 * @tcp_turn: of a listener by both, accept() asks TCP's half first
 * @as_all: others would not find an answer either, where this one finds none
 * @waited: a connect waits for the decision, and is told @error
 * @error: of TCP's connect, when that could not be begun
 * @decided: where it waits
 * @deadline: the connect has no more time (jiffies)
 * @work: looks at what has become of it
 * @pause: after which it comes again when the socket was in use (jiffies)
 * @state_change: of the SDP socket, while the attempt has its place
 * @error_report: likewise
 * @only_tcp: of a socket of MPTCP, something is set that SDP does not have
 * @valued: which of @values are set
 * @values: of a socket of MPTCP, what its program has set: see multipath.c
 * @polled: kinds of events that somebody polls for, by sdp_ready_note()
 * @fell: for who wants to know what fell back
 * @addr: where to
 * @len: its length
 */
struct sdp_shadow {
	struct hlist_node node;
	struct rcu_head rcu;
	refcount_t refs;
	struct rw_semaphore lock; /* see above */
	enum sdp_srcavail_recv_nowait stage;
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
	struct sdp_fell fell;
	struct sockaddr_storage addr;
	int len;
};

/**
 * struct sdp_calls - the calls of sockets of one address family
 * @fresh: of undecided sockets of which nothing has been called, and that have no shadow
 * @calls: of those that have one
 * @kept: of what is kept of a TCP socket whose place SDP's has taken
 * @tcp: the kernel's
 */
struct sdp_calls {
	struct proto_ops fresh;
	struct proto_ops calls;
	struct proto_ops kept;
	const struct proto_ops *tcp;
};

/* undecided_ops.c */
int sdp_shim_init(void);
void sdp_shim_exit(void);
void sdp_shim_begin(struct socket *sock);
bool sdp_shim_noted(void);

/* undecided.c */
int sdp_shadow_init(void);
void sdp_shadow_exit(void);
struct sdp_shadow *sdp_shadow_find(const struct socket *sock);
struct sdp_shadow *sdp_shadow_last(const struct socket *sock);
struct sdp_shadow *sdp_shadow_of(struct socket *sock,
				 const struct sdp_calls *calls);
void sdp_shadow_get(struct sdp_shadow *shadow);
void sdp_shadow_put(struct sdp_shadow *shadow);
int sdp_shadow_make_sdp(struct sdp_shadow *shadow);
void sdp_shadow_drop_sdp(struct sdp_shadow *shadow);
int sdp_shadow_bind(struct sdp_shadow *shadow, enum sdp_role role);
void sdp_shadow_end(struct sdp_shadow *shadow, const struct proto_ops *ops);
void sdp_shadow_by_tcp(struct sdp_shadow *shadow);
void sdp_shadow_by_sdp(struct sdp_shadow *shadow);
void sdp_shadow_take_place(struct sdp_shadow *shadow);

/* taken.c */
void sdp_taken_init(void);
const struct proto_ops *sdp_taken_ops(int family);
struct socket *sdp_taken_tcp(const struct socket *sock);

/* policy/connect.c */
int sdp_attempt_init(void);
void sdp_attempt_exit(void);
void sdp_attempt_prepare(struct sdp_shadow *shadow);
int sdp_attempt(struct sdp_shadow *shadow, struct sdp_sockaddr *addr, int len,
		int flags);
bool sdp_attempt_asks(struct socket *sock, struct sdp_sockaddr *addr, int len);
int sdp_attempt_wait(struct sdp_shadow *shadow, u32 attempt, long timeo);
bool sdp_attempt_stop(struct sdp_shadow *shadow);
void sdp_attempt_be_tcp(struct sdp_shadow *shadow);

/* policy/listen.c */
/* TCP's has been ended by somebody else (SOCK_DESTROY): the one is not without the other. */
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
bool sdp_carry_possible(const struct sock *tcp);
void sdp_carry(struct sock *sdp, const struct sock *tcp);

/* Could an SDP socket do what was set? */
static inline bool sdp_shadow_possible(const struct sdp_shadow *shadow)
{
	return !READ_ONCE(shadow->only_tcp) &&
	       sdp_carry_possible(shadow->sock->sk);
}

#endif /* SDP_POLICY_SHIM_H */
