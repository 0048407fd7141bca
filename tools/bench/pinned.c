// SPDX-License-Identifier: GPL-2.0
/*
 * pinned [COMMAND...]: the memory of programs that the kernel has pinned.
 *
 * It prints the value of the whole machine in KiB. Without COMMAND it prints the current value.
 * With COMMAND it runs that, and when the command has succeeded prints the observed maximum as one
 * more line.
 *
 * It counts all users of pin_user_pages(): memory registered by libibverbs, and memory that AF_SDP
 * pins for a transfer. VmPin of /proc/PID/status has only the former. Buffers of the kernel itself
 * are not counted.
 *
 * Exit status: that of the command; 1 when it could not be run or was killed.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_US	100	/* between two samples */

/* Every CPU counts separately, and updates the sum from time to time: make it do that now. */
static void refresh(void)
{
	FILE *f = fopen("/proc/sys/vm/stat_refresh", "w");

	if (!f || fputs("1\n", f) < 0 || fclose(f))
		err(1, "/proc/sys/vm/stat_refresh");
}

static long pinned_kb(void)
{
	long acquired = -1, released = -1, value;
	char key[64];
	FILE *f;

	refresh();
	f = fopen("/proc/vmstat", "r");
	if (!f)
		err(1, "/proc/vmstat");
	while (fscanf(f, "%63s %ld", key, &value) == 2) {
		if (!strcmp(key, "nr_foll_pin_acquired"))
			acquired = value;
		if (!strcmp(key, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	if (acquired < 0 || released < 0)
		errx(1, "/proc/vmstat does not count pinned pages");
	return (acquired - released) * (sysconf(_SC_PAGESIZE) / 1024);
}

static pid_t start(char **command)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child) {
		execvp(command[0], command);
		err(1, "%s", command[0]);
	}
	return child;
}

int main(int argc, char **argv)
{
	long now, most = 0, looks;
	int status = 0;
	pid_t child;

	if (argc < 2) {
		printf("%ld\n", pinned_kb());
		return 0;
	}
	child = start(argv + 1);
	for (looks = 0; !waitpid(child, &status, WNOHANG); looks++) {
		now = pinned_kb();
		most = now > most ? now : most;
		usleep(PAUSE_US);
	}
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	if (!status)
		printf("pinned peak_kb=%ld looks=%ld\n", most, looks);
	return status;
}
