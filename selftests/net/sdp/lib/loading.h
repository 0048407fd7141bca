/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module, removed and loaded again by a test, also so that an allocation fails meanwhile.
 */
#ifndef SDP_TEST_LOADING_H
#define SDP_TEST_LOADING_H

#include "cases.h"
#include "failing.h"
#include <sys/syscall.h>

int module_remove(void);
bool module_insert(void);
bool module_there(void);
void module_unload(void);
int load_failing(const char *parameters, int n, int *left);
void module_load(void);

#endif /* SDP_TEST_LOADING_H */
