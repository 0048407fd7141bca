/* SPDX-License-Identifier: GPL-2.0 */
/* The module's settings: random calls change them for a moment only. */
#ifndef SYSCALLS_SETTINGS_H
#define SYSCALLS_SETTINGS_H

/* Remembers all settings, and sets a policy for every TCP socket. */
void settings_begin(void);

/* Restores the state after settings_begin(). */
void settings_restore(void);

/* Restores the state before settings_begin(). */
void settings_end(void);

#endif
