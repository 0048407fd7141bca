/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cables of the lab, each with a device of its own at either end: rxa1 and rxb1, and so on.
 */
#ifndef SDP_TEST_CABLES_H
#define SDP_TEST_CABLES_H

#include "cases.h"

/* Cables besides the first one, which each lab has: rxa and rxb. */
#define CABLES	3
#define CPU1	"/sys/devices/system/cpu/cpu1/online"

void lab(const char *format, ...);
void cables_up(void);
void all_cables_down(void);
void all_cables_renewed(void);
long long packets_of(bool back, int cable);
long long interface_packets(const char *name);
int cables_main(char **argv, const struct test *tests, unsigned int n);

#endif /* SDP_TEST_CABLES_H */
