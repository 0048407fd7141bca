/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undecided sockets, and the SDP sockets beside them.
 *
 * A socket is undecided while its calls are those of shim.c. All state that is more than that
 * is a struct sdp_shadow, found by the socket's address in one of the buckets. A bucket's lock
 * covers the calls (socket->ops) and the shadows of its sockets: for reading while a call of
 * TCP's runs, which is always short on a socket that is not connected; for writing by who
 * decides. Nobody sleeps for the network or for a peer under it.
 */
#ifndef SDP_POLICY_SHIM_H
#define SDP_POLICY_SHIM_H

#include <linux/completion.h>
#include <linux/net.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>

#include "state.h"

/**
 * struct sdp_bucket - undecided sockets of one hash value
 * @lock: see above
 * @shadows: theirs
 */
struct sdp_bucket {
	struct rw_semaphore lock;
	struct hlist_head shadows;
};

/**
 * struct sdp_shadow - an SDP socket beside a TCP one
 * @node: in its bucket until the socket is decided or released
 * @refs: the bucket's, the work item's while it is queued, and of who waits
 * @sock: the program's socket
 * @sdp: the SDP socket, with a struct socket of its own; NULL when it has been taken out
 * @tcp: the calls of TCP
 * @listening: both listen; else a connect is on its way
 * @waited: a connect waits and goes on by itself
 * @decided: the outcome is there
 * @error: a connect was ended from this side: errno, negative
 * @deadline: no longer (jiffies)
 * @work: looks at what has become of the connect
 * @state_change: of the SDP socket, while the attempt has its place
 * @error_report: likewise
 * @fell: for who wants to know what fell back
 * @addr: where to
 * @len: its length
 */
struct sdp_shadow {
	struct hlist_node node;
	refcount_t refs;
	struct socket *sock;
	struct socket *sdp;
	const struct proto_ops *tcp;
	bool listening;
	bool waited;
	struct completion decided;
	int error;
	unsigned long deadline;
	struct delayed_work work;
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	struct sdp_fell fell;
	struct sockaddr_storage addr;
	int len;
};

/* shim.c */
int sdp_shim_init(void);
void sdp_shim_exit(void);
void sdp_shim_begin(struct socket *sock);
const struct proto_ops *sdp_shim_tcp(const struct socket *sock);
void sdp_shim_end(struct socket *sock);

/* shadow.c */
struct sdp_bucket *sdp_bucket(const struct socket *sock);
void sdp_shadow_init(void);
struct sdp_shadow *sdp_shadow_find(struct sdp_bucket *b, const struct socket *sock);
struct sdp_shadow *sdp_shadow_make(struct socket *sock, const struct proto_ops *tcp);
void sdp_shadow_enter(struct sdp_bucket *b, struct sdp_shadow *shadow);
void sdp_shadow_get(struct sdp_shadow *shadow);
void sdp_shadow_put(struct sdp_shadow *shadow);
int sdp_shadow_bind(struct sdp_shadow *shadow);
void sdp_shadow_adopt(struct sdp_shadow *shadow);

/* attempt.c */
int sdp_attempt_init(void);
void sdp_attempt_exit(void);
int sdp_attempt(struct socket *sock, struct sdp_sockaddr *addr, int len, int flags);
int sdp_attempt_wait(struct sdp_shadow *shadow, long timeo);
bool sdp_attempt_stop(struct socket *sock, bool listener);

/* pair.c */
int sdp_pair_listen(struct socket *sock, int backlog);
int sdp_pair_accept(struct sdp_shadow *shadow, struct socket *newsock, SDP_ACCEPT_ARGS);
__poll_t sdp_pair_poll(struct file *file, struct sdp_shadow *shadow, poll_table *wait);

/* carry.c */
bool sdp_carry_possible(const struct sock *tcp);
void sdp_carry(struct sock *sdp, const struct sock *tcp);

#endif /* SDP_POLICY_SHIM_H */
