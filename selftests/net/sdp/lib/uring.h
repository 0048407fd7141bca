/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring for the tests: one ring for each test, requests with a number.
 */
#ifndef SDP_TEST_URING_H
#define SDP_TEST_URING_H

#include "sock.h"
#include <liburing.h>
#include <linux/aio_abi.h>

extern struct io_uring ring;

/* A completion. */
struct done {
	unsigned long id;
	int res;
	unsigned int flags;
};

void ring_open(void);
struct io_uring_sqe *request(unsigned long id);
void submit(void);
bool completion(struct done *result, int ms);
struct done complete(unsigned long id);

extern aio_context_t aio;
extern struct iocb aio_poll;

void uring_arm(int fd, int events);
int uring_result(int ms);
void aio_begin(void);
void aio_arm(int fd, int events);
int aio_result(int ms);

#endif /* SDP_TEST_URING_H */
