/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The resources of a process: its descriptors, by kind.
 *
 * Threads share the table without a lock; an entry's descriptor may be closed, or something else
 * by now.
 */
#ifndef SYSCALLS_TABLE_H
#define SYSCALLS_TABLE_H

#include <stdatomic.h>

#include "values.h"

enum { TABLE_KIND = 16 };		/* entries of each kind */

struct table {
	const struct spec *spec;
	/* 0: nothing; otherwise the value plus 1 */
	_Atomic uint64_t entry[MAX_RESOURCES][TABLE_KIND];
	_Atomic unsigned int next[MAX_RESOURCES];
};

void table_init(struct table *t, const struct spec *spec);
void table_add(struct table *t, unsigned int kind, uint64_t value);
void table_forget(struct table *t, uint64_t value);

/*
 * A pick_fn for a table: a resource of @kind, or of a derived kind, or the value that means
 * none.
 */
uint64_t table_pick(void *table, unsigned int kind, struct chance *chance);

/* True if there is one. */
bool table_has(struct table *t, unsigned int kind);

#endif
