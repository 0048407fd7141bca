// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: the one file that makes them.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
