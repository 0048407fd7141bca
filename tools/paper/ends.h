/* SPDX-License-Identifier: GPL-2.0 */
/* ends.h: connections of any family of stream sockets, with both ends in one program. */
#ifndef PAPER_ENDS_H
#define PAPER_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct ends {
	int from;	/* the end that has connected */
	int to;
};

/* The number of a family: inet, smc, sdp, unix or a number; ends the program if it is invalid. */
int family_number(const char *name);

/*
 * One connection. @sndbuf is SO_SNDBUF of both ends, 0 for the default; unix needs neither address
 * nor port.
 */
struct ends connect_ends(int family, const char *address, unsigned int port, int sndbuf);

/*
 * Run one function at each end, @to in a process of its own. The program ends if that fails. Closes
 * both ends.
 */
void run_ends(struct ends e, void (*from)(int fd), void (*to)(int fd));

/* Transfer whole buffers; the program ends on an error. recv_all() returns false at the end. */
void send_all(int fd, const void *data, size_t len);
int recv_all(int fd, void *data, size_t len);

double now_us(void);

/* Parses a number of the command line, from 0 to @max. */
uint64_t number(const char *text, uint64_t max);

#endif
