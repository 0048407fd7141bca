/* SPDX-License-Identifier: GPL-2.0 */
/* writers.h: the ways to write a stream; see sockbench.c. */
#ifndef WRITERS_H
#define WRITERS_H

#include <stddef.h>

/* The last two: columns of a matrix, see strides.h. */
enum writer_kind { SENDS, SENDS_NOWAIT, LENDS, SENDS_FILE, PACKS, GATHERS };

/* Returns enum writer_kind, or -1. */
int writer_named(const char *name);

/* Prepares @fd for writing pieces of the @len bytes at @buf. */
void writer_begin(enum writer_kind kind, int fd, const char *buf, size_t len);

/*
 * Writes @len bytes at @p, which are part of what writer_begin() got, and which PACKS overwrites.
 * Returns 0 or -1.
 */
int writer_send(int fd, const char *p, size_t len);

/* The following calls on @fd may wait, until the next writer_send(). */
void writer_pause(int fd);

#endif
