/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The resources of a process: which descriptors it has, by kind. Threads share it without a lock;
 * an entry may be of a descriptor that is closed, or is something else by now.
 */
#ifndef SYSCALLS_TABLE_H
#define SYSCALLS_TABLE_H

#include <stdatomic.h>

#include "values.h"

enum { TABLE_KIND = 16 };		/* so many of each kind */

struct table {
	const struct spec *spec;
	/* 0: nothing; else the value plus 1 */
	_Atomic uint64_t entry[MAX_RESOURCES][TABLE_KIND];
	_Atomic unsigned int next[MAX_RESOURCES];
};

void table_init(struct table *t, const struct spec *spec);
void table_add(struct table *t, unsigned int kind, uint64_t value);
void table_forget(struct table *t, uint64_t value);

/* Of @kind, or of a kind of it: what there is, or what stands for none. pick_fn with a table. */
uint64_t table_pick(void *table, unsigned int kind, struct chance *chance);

/* Whether there is one. */
bool table_has(struct table *t, unsigned int kind);

#endif
