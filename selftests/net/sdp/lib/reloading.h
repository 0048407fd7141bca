/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unloading and loading the module, with and without memory.
 */
#ifndef SDP_TEST_RELOADING_H
#define SDP_TEST_RELOADING_H

#include "cases.h"
#include "failing.h"
#include <sys/syscall.h>

void unload(void);
int load_failing(const char *parameters, int n, int *left);
void load(void);

#endif /* SDP_TEST_RELOADING_H */
