/* SPDX-License-Identifier: GPL-2.0 */
/* ends.h: connections of any family of stream sockets, both ends in one program. */
#ifndef PAPER_ENDS_H
#define PAPER_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct ends {
	int from;	/* the end that has connected */
	int to;
};

/* The number of a family: inet, smc, sdp, unix or a number; ends the program if it is none. */
int family_number(const char *name);

/*
 * One connection. @sndbuf is SO_SNDBUF at both ends, 0 for the default; unix needs neither
 * address nor port.
 */
struct ends connect_ends(int family, const char *address, unsigned int port, int sndbuf);

/* Whole buffers; the program ends when it cannot be done. recv_all() returns false at the end. */
void send_all(int fd, const void *data, size_t len);
int recv_all(int fd, void *data, size_t len);

double now_us(void);

/* A number of the command line, from 0 up to @max. */
uint64_t number(const char *text, uint64_t max);

#endif
