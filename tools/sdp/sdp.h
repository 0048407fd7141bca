/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the program sdp share. Each command is a function that takes what is left of
 * the command line and returns the program's status.
 */
#ifndef SDP_TOOL_H
#define SDP_TOOL_H

/* Exit statuses. */
#define SDP_FINE	0
#define SDP_WRONG	1	/* what was looked at is wrong, or cannot be read */
#define SDP_USAGE	2	/* the command line is */

int sdp_usage(const char *wrong);
int sdp_policy(int argc, char **argv);

#endif /* SDP_TOOL_H */
