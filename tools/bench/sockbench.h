/* SPDX-License-Identifier: GPL-2.0 */
/* sockbench.h: what the parts of sockbench share; for its use see sockbench.c. */
#ifndef SOCKBENCH_H
#define SOCKBENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum action { SERVER, STREAM, PINGPONG, ECHO_MANY, CONNECT, HOLD, DROP, QUIT, SOCKET };

struct config {
	const char *family_name;
	int family;
	int protocol;
	enum action action;
	uint32_t size;
	uint64_t count;
	uint32_t connections;
	uint64_t warm;
	int check;
	int nagle;
	int bufsize;
	int busy;
	int reader;	/* enum reader_kind */
	uint64_t width;		/* of a column, see strides.h; 0: none */
	int writer;	/* enum writer_kind */
	const char *source;
	struct sockaddr_storage addr;
	socklen_t addr_len;
};

extern struct config cfg;

double now_us(void);

/* Transfer whole buffers; return 0 or -1. */
int send_all(int fd, const void *data, size_t len);
int recv_all(int fd, void *data, size_t len);

/* A buffer with the check pattern: @len bytes from every offset into the pattern. */
char *new_buffer(size_t len);

void tune(int fd);

/* A new connection that has sent its request, with @count, and has the server's reply. */
int open_connection(enum action action, uint64_t count);

/* The server's reply to a request. */
int send_reply(int fd, uint64_t received, uint64_t wrong);

/* Measure the time in between; the second one returns microseconds. */
void start_clock(void);
double stop_clock(void);

/* Prints the beginning of the line of results. */
void print_head(void);

/* echo.c */
void echo_join(int fd, uint32_t size, uint64_t missing);
int run_echo(void);

#endif
