/* SPDX-License-Identifier: GPL-2.0 */
/* The ways in which sockbench's server reads a stream. */
#ifndef SDP_BENCH_READERS_H
#define SDP_BENCH_READERS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

enum reader_kind { PLAIN, WAITALL, POLLED, POLLED_BLOCKING, MAPPED, PIECES, URING, BODY, SEVERAL,
		   UNPACKS, SCATTERS };

/* One thread that reads messages of @size. */
struct reader {
	int fd;
	enum reader_kind kind;
	size_t size;
};

/* Several threads that read from the same socket. */
#define CROWD	3

struct crowd {
	int fd;
	size_t room;
	pthread_t thread[CROWD];
	pthread_mutex_t lock;
	pthread_cond_t news;
	int running;
	uint64_t got;
	uint64_t total;
};

/* Returns -1 for an unknown name. */
int reader_named(const char *name);
/* One call, at byte @at of the stream. */
ssize_t reader_receive(const struct reader *r, char *buf, size_t len, uint64_t at);
/* Call it when the thread has finished reading. */
void reader_end(void);

void crowd_start(struct crowd *c, int fd, size_t room);
/* Waits until @total bytes have come in total, or no more will; returns their number. */
uint64_t crowd_await(struct crowd *c, uint64_t total);
/* Call it when the client has closed, or is about to. */
void crowd_end(struct crowd *c);

#endif /* SDP_BENCH_READERS_H */
