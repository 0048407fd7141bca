/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cell of the matrix: one call on one socket in one state, and how it is observed.
 *
 * The first run of a state, with TCP, is the reference. In the second run, with AF_SDP, data may
 * take longer to arrive. So an observation of something in flight waits until it is as in the
 * reference, or until a deadline. In the reference run, what was sent has to be acknowledged
 * first.
 */
#ifndef SDP_TEST_MATRIX_H
#define SDP_TEST_MATRIX_H

#include "observe.h"

/* The tables leave out fields that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Time limit of a call that has to wait. */
#define BLOCK_MS	12

/* Properties of states. They decide which calls need a socket of their own. */
enum {
	S_FREE	 = 1 << 0,	/* no connection, no listener */
	S_LISTEN = 1 << 1,
	S_LINK	 = 1 << 2,	/* a connection, or what is left of one */
	S_ROOM	 = 1 << 3,	/* the peer reads what is sent */
	S_BREAK	 = 1 << 4,	/* the peer answers data by a reset */
	S_INPUT	 = 1 << 5,	/* there is data to read */
	S_ERROR	 = 1 << 6,	/* an error is pending */
	S_FULL	 = 1 << 7,	/* the connection takes no more bytes */
	S_ANY	 = (1 << 8) - 1,
};

struct cell {
	const struct state *state;
	int fd;			/* the socket in this state */
	int peer;		/* the other end, or -1 */
};

#define STEPS	6	/* the most that a state takes */

struct state {
	const char *name;
	unsigned int kind;
	void (*steps[STEPS])(struct cell *x);	/* how a socket gets into it */
	bool accepted;		/* @fd is the accepted end */
};

struct call {
	const char *name;
	long (*run)(struct cell *x, const struct call *c);
	unsigned int alters;	/* kinds of states that it changes */
	int a, b;		/* for @run */
	const void *p;
	bool sends;		/* if the peer reads the data, the state is as before */
};

extern const struct log *reference;	/* NULL while it is being made */

/* Of each process: a listener that accepts, one that does not, and an address without one. */
extern int hub;

extern struct addr hub_at, spare_at, nobody_at;
extern char *forbidden;			/* memory without any access */

/* What a call has yielded besides its return value. */
extern char note[160];

__attribute__((format(printf, 1, 2)))
void noted(const char *fmt, ...);
void noted_bytes(const void *data, long len);
void noted_address(const struct addr *a, socklen_t len);
void rest(const struct cell *x);
void settle(const struct cell *x);
void settle_end(const struct cell *x);
void settle_reset(const struct cell *x);
void rec_call(struct cell *x, const struct call *c);
void rec_peer(const struct cell *x, const struct call *c);
void rec_after(const struct cell *x, const struct call *c);

/* state.c: makes the listeners of a process, and the states. */
void hub_make(void);
extern const struct state states[];
extern const size_t states_count;

struct call_list {
	const struct call *list;
	size_t count;
};

#define CALL_LIST(array)	{ array, ARRAY_SIZE(array) }

/* call.c, io.c */
extern const struct call_list looking_calls, changing_calls, setting_calls;
extern const struct call_list send_calls, recv_calls;

#endif /* SDP_TEST_MATRIX_H */
