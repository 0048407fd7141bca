/* SPDX-License-Identifier: GPL-2.0 */
/* The oracle's scenarios, by file, and what several files need. */
#ifndef SDP_TEST_ORACLE_SCENARIOS_H
#define SDP_TEST_ORACLE_SCENARIOS_H

#include "observe.h"

#define SMALL_BUFFER	16384
#define UNUSED_V4	"198.51.100.1"		/* documentation ranges: never a local address */
#define UNUSED_V6	"2001:db8::1"

/* name.c: records the names of both ends. */
void rec_names(const char *state, int fd);

extern const struct scenario_list name_scenarios, connect_scenarios, data_scenarios;
extern const struct scenario_list close_scenarios, share_scenarios, urgent_scenarios;
extern const struct scenario_list option_scenarios;

#endif /* SDP_TEST_ORACLE_SCENARIOS_H */
