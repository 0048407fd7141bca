/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common code of the policy tests: a policy by thread names, listeners, protocols.
 */
#ifndef SDP_TEST_POLICY_COMMON_H
#define SDP_TEST_POLICY_COMMON_H

#include "cases.h"
#include "info.h"
#include "machine.h"
#include "pattern.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* Names of threads that rules select, in addition to those of sock.h. */
#define BOTH_SIDE	"both-side"

#define NAMED		"any * program " BOTH_SIDE " both\nany * program " SDP_SIDE " sdp\n"
enum { BY_TCP = IPPROTO_TCP, BY_SDP = IPPROTO_SDP };

/* For tests whose result does not depend on the addresses; slow kernels run this set. */
#define ONE_SET		(1u << SET_LO6)

#define RC_SETS		(1u << SET_RC4 | 1u << SET_RC6)

void as(const char *name);
int protocol_of(int fd);
void need_protocol(int fd, int want, const char *what);
__attribute__((format(printf, 1, 2)))
void policy_set(const char *fmt, ...);
void by_names(void);
int stream(int flags);

enum kind { TCP_ONLY, SDP_ONLY, PAIR, NOBODY, KINDS };

extern const char *const kind_names[KINDS];

int bound(void);
int listener_of(enum kind kind, int backlog, struct addr *where);
int connect_as(const char *name, int fd, const struct addr *where);
int connected_as(const char *name, const struct addr *where);
void need_connect(const char *name, int fd, const struct addr *where, int want, const char *what);
int connecting_to(const struct addr *where);
int now_by(void);
void talk(int c, int s);
int both_talk(int c, int s, int protocol);
int accept_and_talk(int listening, int c, int protocol);
void need_count(const char *name, long long before, long long more);
long long all_fells(void);
void await_counter(const char *name, long long value);

/*
 * A peer that does not answer by SDP, because the queue of its listener @sdp is full, but that
 * answers by TCP, with the listener @tcp.
 */
struct silent {
	struct addr where;
	int sdp, queued[2], tcp;
};

struct silent silent_peer(void);
struct silent silent_for(int ms);
int patient_ms(void);
struct addr no_such_host(unsigned int port);
struct addr other_such_host(unsigned int port, int n);
pthread_t start_thread(void *(*body)(void *), void *arg);
long module_users(void);
void await_none(void);
long idle_users(void);
void await_users(long want);

#endif /* SDP_TEST_POLICY_COMMON_H */
