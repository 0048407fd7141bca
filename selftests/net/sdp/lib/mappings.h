/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kinds of memory that a program may send from and read into.
 *
 * Each is two huge pages of address space. What is sent is a window across the border between the
 * two, which neither begins nor ends at the border of a page.
 */
#ifndef SDP_TEST_MAPPINGS_H
#define SDP_TEST_MAPPINGS_H

#include "pattern.h"

#define PAGE		4096L
#define HUGE		(2L << 20)
#define WINDOW_AT	(HUGE - 300001)
#define WINDOW		700001L

/* Value of the bytes next to the window, which must not change. */
#define AROUND		0x5a

/**
 * struct memory - two huge pages of address space
 * @base: address
 * @file: the file that is mapped there, or -1
 * @shared: shared with forked children and with the file
 */
struct memory {
	unsigned char *base;
	int file;
	bool shared;
};

unsigned char *window(const struct memory *m);
bool map_at(unsigned char *p, long len, int prot, int flags, int fd);
bool map_anonymous(struct memory *m);
bool map_huge(struct memory *m);
bool map_huge_shared(struct memory *m);
bool map_transparent(struct memory *m);
bool map_tmpfs_shared(struct memory *m);
bool map_tmpfs_private(struct memory *m);
bool map_disk_shared(struct memory *m);
bool map_disk_private(struct memory *m);
bool map_crossing(struct memory *m);
bool map_secret(struct memory *m);

/* Maps memory of one kind. Returns false if this machine has none of it. */
typedef bool (*map_fn)(struct memory *m);

void unmap(struct memory *m);
void window_fill(const struct memory *m, long at);
void window_surround(const struct memory *m);
void window_check(const struct memory *m, long at);
void huge_pages_get(void);
void disk_get(void);

#endif /* SDP_TEST_MAPPINGS_H */
