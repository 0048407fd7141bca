/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transfers by RDMA in every way there is, with proof that they went that way.
 */
#ifndef SDP_TEST_MOVING_H
#define SDP_TEST_MOVING_H

#include "mappings.h"
#include "pinned.h"
#include "reading.h"

/* Bytes of a large write that come with its SrcAvail. */
#define FIRST		4096

/* A value of mode_after that is never reached, so that the mode stays Combined. */
#define NEVER		1000

#define SMALL		777

/* RDMA read; RDMA write; RDMA write with net.sdp.rdma_read off. */
enum route { READ, WRITE, WRITE_ONLY, WAYS };

struct pair pair_for(enum route way, long *at);
void pair_close(const struct pair *p);
long long moved(void);
void need_moved(enum route way, long long read, long long placed, long n);
void reading_for(struct reading *r, enum route way, int fd, unsigned char *to, long len);
void lives(const struct pair *p, long at);

/**
 * struct writing - a write in a thread of its own
 * @fd: socket
 * @iov: source memory
 * @pieces: number of entries in @iov
 * @n: what sendmsg() returned
 * @error: errno
 * @thread: the thread
 */
struct writing {
	int fd;
	struct iovec iov[4];
	int pieces;
	ssize_t n;
	int error;
	pthread_t thread;
};

void *writes(void *arg);
void writing_begin(struct writing *w, int fd);
void writing_end(struct writing *w, ssize_t n);
void writing_start(struct writing *w, int fd, const struct memory *m, long len);
void await_srcavail(int fd, long len);

#endif /* SDP_TEST_MOVING_H */
