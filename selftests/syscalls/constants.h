/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of the names in a description.
 *
 * They come from the system's headers: constants_ask() writes a program that prints them, and the
 * build runs it.
 */
#ifndef SYSCALLS_CONSTANTS_H
#define SYSCALLS_CONSTANTS_H

#include "types.h"

void constants_ask(const struct description *d);

/* Reads lines "NAME VALUE". Ends the program on an error. */
void constants_read(const char *file);

/* A constant_fn for the values that were read. */
bool constants_value(void *unused, const char *name, uint64_t *value);

#endif
