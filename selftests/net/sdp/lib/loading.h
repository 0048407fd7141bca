/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module, loaded and removed by a test.
 */
#ifndef SDP_TEST_LOADING_H
#define SDP_TEST_LOADING_H

#include "setting.h"
#include <sys/syscall.h>

int module_remove(void);
bool module_insert(void);
bool module_there(void);

#endif /* SDP_TEST_LOADING_H */
