/* SPDX-License-Identifier: GPL-2.0 */
/* pipeline.h: filters, and the streams between them; see pipeline.c. */
#ifndef PAPER_PIPELINE_H
#define PAPER_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#define UNIT		1024	/* bytes of a unit of work */

/* Where a filter's results go: a unit is sent as soon as it is full. */
struct outflow {
	int fd;
	size_t used;
	unsigned char unit[UNIT];
};

void put(struct outflow *out, const void *data, size_t len);

/* Results of the last filter. */
struct result {
	uint64_t bytes;		/* bytes that have reached it */
	uint64_t sum;		/* checksum of its results */
};

/* A filter gets its input piece by piece, in order, and @len 0 at the end. */
typedef void (*filter)(const unsigned char *data, size_t len, struct outflow *out,
		       struct result *result);

struct pipeline {
	const char *name;
	const char *input;	/* suffix of the file's name */
	filter filters[5];	/* without the stage that reads the file */
};

extern const struct pipeline pipelines[];
extern const size_t pipeline_count;

#endif
