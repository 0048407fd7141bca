/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the program sdp share.
 *
 * A command collects its results as one JSON value, which is printed as it is (--json) or as text
 * made of it, so both have the same contents. Errors are reported on standard error, with what the
 * user can do about them, and by the program's status.
 */
#ifndef SDP_TOOL_H
#define SDP_TOOL_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>

/* Exit statuses. */
#define SDP_FINE	0
#define SDP_WRONG	1	/* the examined thing is wrong or cannot be read; check: not SDP */
#define SDP_USAGE	2	/* the command line is wrong */
#define SDP_ABSENT	3	/* the module is not loaded */
#define SDP_REFUSED	4	/* the kernel refused */

/**
 * struct sdp_command - a command, or a subcommand
 * @name: its word
 * @usage: its usage, lines without the program's name
 * @help: description for users
 * @run: runs it; @argv begins with the last word of its name; returns the status
 */
struct sdp_command {
	const char *name;
	const char *usage;
	const char *help;
	int (*run)(const struct sdp_command *command, int argc, char **argv);
};

extern const struct sdp_command sdp_policy_command, sdp_list_command, sdp_fallbacks_command,
	sdp_stat_command, sdp_check_command, sdp_kill_command;

/* sdp.c */
int sdp_usage(const struct sdp_command *command, const char *wrong);
int sdp_option(int argc, char **argv, const char *shorts, const struct option *longs);
int sdp_help_or_usage(const struct sdp_command *command, int found);
int sdp_no_options(const struct sdp_command *command, int argc, char **argv, int words,
		   const char *otherwise);
bool sdp_number(const char *text, unsigned long most, unsigned long *value);

/* Each list of long options ends with these. */
#define SDP_COMMON_OPTIONS			\
	{ "json", no_argument, NULL, 'j' },	\
	{ "help", no_argument, NULL, 'h' },	\
	{}

#endif /* SDP_TOOL_H */
