/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices, namespaces and the module's load without memory.
 */
#ifndef SDP_TEST_FAULTS_DEVICES_H
#define SDP_TEST_FAULTS_DEVICES_H

#include "failing_call.h"
#include "loading.h"

int namespace_failing(void *arg);
int device_failing(void *arg);
int module_failing(void *arg);

#endif /* SDP_TEST_FAULTS_DEVICES_H */
