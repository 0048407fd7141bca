/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's settings: what calls at random do to them holds for a moment only.
 */
#ifndef SYSCALLS_SETTINGS_H
#define SYSCALLS_SETTINGS_H

/* Remembers them all, and has the policy take every TCP socket. */
void settings_begin(void);

/* As after settings_begin(). */
void settings_restore(void);

/* As before it. */
void settings_end(void);

#endif
