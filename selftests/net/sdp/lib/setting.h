/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's settings (net.sdp.*) and counters.
 *
 * The program's first process saves the settings and restores them when it exits, however the
 * children that change them end.
 */
#ifndef SDP_TEST_SETTING_H
#define SDP_TEST_SETTING_H

#include "tap.h"
#include <fcntl.h>

#define SETTING_DIR	"/proc/sys/net/sdp/"
#define COUNTER_FILE	"/proc/net/sdpstat"
#define POLICY_FILE	SETTING_DIR "policy"
#define POLICY_MAX	16384

extern pid_t settings_owner;

bool setting_write(const char *name, const char *value);
void setting_set(const char *name, long value);
int policy_write(const char *text, size_t len);
ssize_t policy_read(char text[POLICY_MAX]);
void settings_reset(void);
void settings_restore(void);
void settings_save(void);
long long counter(const char *name);
void counters_mark(void);
long long since_mark(const char *name);

#endif /* SDP_TEST_SETTING_H */
