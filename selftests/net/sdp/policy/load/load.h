/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that come and go while the policy changes.
 */
#ifndef SDP_TEST_POLICY_LOAD_LOAD_H
#define SDP_TEST_POLICY_LOAD_LOAD_H

#include "policy_share.h"

/*
 * Where clients connect to, which their thread name says: a listener by both, one by TCP only, one
 * by SDP only, and a listener of the client's own, made under the current policy.
 */
enum doors { AT_PAIR, AT_TCP, AT_SDP, DOORS, AT_OWN = DOORS };

/**
 * struct held - a policy and the sockets that result from it
 * @text: its rules; NULL leaves the current ones
 * @rewrite: the switch
 * @by: what a connect becomes, BY_TCP or BY_SDP, by door
 * @falls: a connect to the listener by TCP only falls back
 * @listens: what a client's own listener becomes; a connect to it is by both
 */
struct held {
	const char *text;
	bool rewrite;
	int by[DOORS];
	bool falls;
	enum kind listens;
};

/*
 * The history of policies. They are numbered as eras, and the number determines the entry of @held.
 * A new era begins at some moment between the updates of @begun and @done.
 */
extern struct eras {
	const struct held *held;
	unsigned int kinds;
	bool in_turn;
	atomic_long begun, done;
} eras;

void era_begin(long era);

/* What all clients together have seen. */
extern struct seen {
	atomic_long connections, sure;	/* @sure: under one policy from begin to end */
	atomic_long by_sdp, by_tcp, accepted_sdp, listened_sdp;
	atomic_long fell_least, fell_most;
	atomic_long bytes;
} seen;

/*
 * The listeners; -1 for one that does not exist. Clients (guests) enter while it is open and are
 * counted. The threads that serve a listener stay as long as a guest may be there.
 */
extern struct load {
	atomic_int fd[DOORS];
	atomic_bool open[DOORS];
	atomic_int guests[DOORS], servers[DOORS];
	struct addr where[DOORS];
	int kept;
	atomic_bool over, served;
} load;

void door_open(enum doors door);
void door_close(enum doors door);

/* The number of clients, how often each connects (0: until the end), and which doors they use. */
extern struct plan {
	int clients, rounds;
	unsigned int doors;
	bool devices_go;
} plan;

#define DOOR(door)	(1u << (door))
#define ALL_DOORS	(DOOR(AT_PAIR) | DOOR(AT_TCP) | DOOR(AT_SDP) | DOOR(AT_OWN))

enum { MAX_CLIENTS = 8, SERVERS = 2 };

extern struct run {
	pthread_t clients[MAX_CLIENTS], servers[DOORS * SERVERS];
	int servers_n;
	long long connects, accepts, listens, fell, refused;
} run;

void load_begin(const struct held *held, unsigned int kinds);
bool load_goes_on(void);
void load_stop(void);
void load_end(void);

#endif /* SDP_TEST_POLICY_LOAD_LOAD_H */
