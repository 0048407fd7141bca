// SPDX-License-Identifier: GPL-2.0
/*
 * ticker MILLISECONDS: writes a line to standard output that often, by the monotonic clock, as long
 * as somebody may read it. A shell waits by reading from it (process.sh): that starts no process,
 * and does not depend on the time of day, which a test may set back by hours while bash's own
 * `read -t` waits.
 *
 * A line that nobody has read yet is enough: there is never more than one, so that nobody who
 * comes later finds lines of the past.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int has_reader(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 0;
}

static int is_read(void)
{
	int bytes;

	return ioctl(STDOUT_FILENO, FIONREAD, &bytes) == 0 && bytes == 0;
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 0;
	struct timespec period = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	if (ms <= 0)
		return 2;
	/* What else the shell has open may be what a test waits to see closed. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	while (has_reader()) {
		if (is_read() && write(STDOUT_FILENO, "\n", 1) != 1)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
	}
	return 0;
}
