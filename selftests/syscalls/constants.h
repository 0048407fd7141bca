/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers that a description's names stand for. Their values are what the system's headers
 * say: constants_ask() writes a program that prints them, and the build runs it.
 */
#ifndef SYSCALLS_CONSTANTS_H
#define SYSCALLS_CONSTANTS_H

#include "types.h"

void constants_ask(const struct description *d);

/* Reads lines "NAME VALUE". Ends the program if it cannot. */
void constants_read(const char *file);

/* constant_fn of what has been read */
bool constants_value(void *unused, const char *name, uint64_t *value);

#endif
