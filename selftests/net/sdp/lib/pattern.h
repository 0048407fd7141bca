/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream of bytes with known contents at every position, for tests of data integrity.
 */
#ifndef SDP_TEST_PATTERN_H
#define SDP_TEST_PATTERN_H

#include "cases.h"
#include <sys/mman.h>

#define PATTERN_PERIOD	65521	/* a prime: no buffer size can hide a shift by a multiple of it */
#define PATTERN_LARGEST	(1 << 20)

extern unsigned char pattern_bytes[PATTERN_PERIOD + PATTERN_LARGEST];

/* The main program of a table of cases that use the pattern. */
#define PATTERN_MAIN(table) \
	int main(int argc, char **argv) \
	{ \
		pattern_make(); \
		return run_tests(argv, table, ARRAY_SIZE(table)); \
	}

void pattern_make(void);
const unsigned char *pattern(long at);
void pattern_check(long at, const unsigned char *data, long len);
void pattern_read(int fd, long at, long len, long piece);
void pattern_read_polled(int fd, long at, long len, long piece);
void pattern_write(int fd, long at, long len);
void in_step(int from, int to, long *at, int n, long size);
int pattern_file(long len);
pid_t helper_start(void (*body)(void *arg), void *arg);
void helper_end(pid_t pid);

/* A reader of the whole stream at the other end of a connection. */
struct pattern_reader {
	int fd;
	int other;		/* the writer's end, closed in the reader's process */
	long len;
	long piece;
	int pause_first;	/* milliseconds to wait before the first read */
};

void pattern_reader_main(void *arg);

#endif /* SDP_TEST_PATTERN_H */
