// SPDX-License-Identifier: GPL-2.0
/*
 * ticker MILLISECONDS: prints a line at that interval while its pipe has a reader.
 *
 * It uses the monotonic clock. A shell waits by reading from it (process.sh). That starts no
 * process, and does not depend on the time of day, which a test may set back by hours while bash's
 * own `read -t` waits.
 *
 * The pipe never holds more than one unread line, so that a late reader does not find lines of the
 * past.
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
	/* Close inherited files: a test may wait until one of them is closed. */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	while (has_reader()) {
		if (is_read() && write(STDOUT_FILENO, "\n", 1) != 1)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
	}
	return 0;
}
