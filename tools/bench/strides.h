/* SPDX-License-Identifier: GPL-2.0 */
/* strides.h: messages whose bytes lie in the columns of a matrix of 64 MiB. */
#ifndef SDP_BENCH_STRIDES_H
#define SDP_BENCH_STRIDES_H

#include <stddef.h>
#include <sys/types.h>

/* A message of @size bytes of this thread is a column, @width bytes of each row. */
void strides_begin(size_t size, size_t width);
void strides_end(void);

/* What a program does without help: copies them together, or apart. */
void strides_pack(char *to);
void strides_unpack(const char *from);

/* One call by a gather/scatter program, from byte @at of the message on. */
ssize_t strides_gather(int fd, size_t at, int flags);
ssize_t strides_scatter(int fd, size_t at, int flags);

#endif /* SDP_BENCH_STRIDES_H */
