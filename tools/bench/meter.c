// SPDX-License-Identifier: GPL-2.0
/*
 * meter COMMAND...: runs it, and prints its time and the busy time of all processors.
 *
 * The line is printed when the command has succeeded; for busy time see busy.c.
 *
 * Exit status: that of the command; 1 when it could not be run or was killed.
 */
#include <err.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static int run(char **command)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (!child) {
		execvp(command[0], command);
		err(1, "%s", command[0]);
	}
	if (waitpid(child, &status, 0) < 0)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	struct busy_meter meter;
	int status;

	if (argc < 2)
		errx(2, "usage: meter COMMAND...");
	if (busy_start(&meter))
		err(1, "busy time");
	status = run(argv + 1);
	if (busy_stop(&meter))
		err(1, "busy time");
	if (!status)
		printf("meter elapsed_us=%.1f busy_us=%.1f\n", busy_elapsed_us(&meter),
		       busy_us(&meter));
	return status;
}
