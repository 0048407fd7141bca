// SPDX-License-Identifier: GPL-2.0
/*
 * sdp: looks after AF_SDP from the command line.
 *
 *	sdp policy check FILE
 *	sdp policy explain FILE PROGRAM listen|connect ADDRESS:PORT [--uid N] [--cgroup PATH]
 */
#include <stdio.h>
#include <string.h>

#include "sdp.h"

static const char usage[] =
	"usage: sdp policy check FILE\n"
	"       sdp policy explain FILE PROGRAM listen|connect ADDRESS:PORT [--uid N] [--cgroup PATH]\n"
	"\n"
	"check    says where a policy is wrong: FILE:LINE:COLUMN: error: ...\n"
	"explain  says which rule decides about a socket: VERDICT FILE:LINE: the line\n"
	"\n"
	"FILE may be - for standard input. PROGRAM is a command name, or the path of an executable.\n"
	"An IPv6 ADDRESS stands in brackets. Without --uid it is the caller.\n"
	"Status: 0 fine, 1 the policy is wrong, 2 the command line is.\n";

/**
 * sdp_usage() - tell how the program is called
 * @wrong: what is wrong with the command line, or NULL when nobody said so
 *
 * Return: %SDP_USAGE, for the caller to return.
 */
int sdp_usage(const char *wrong)
{
	if (wrong)
		fprintf(stderr, "sdp: %s\n", wrong);
	fputs(usage, stderr);
	return SDP_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return sdp_usage(NULL);
	if (!strcmp(argv[1], "policy"))
		return sdp_policy(argc - 2, argv + 2);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return SDP_FINE;
	}
	return sdp_usage("no such command");
}
