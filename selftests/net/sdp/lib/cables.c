// SPDX-License-Identifier: GPL-2.0
/*
 * Cables of the lab, each with a device of its own at either end.
 */
#include "cables.h"

static pid_t main_process;

/* Runs a function of the lab, or another command. */
void lab(const char *format, ...)
{
	char command[600], line[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "bash -c '. %s/selftests/vm/netlab.sh; %s' >/dev/null",
		 getenv("SDP_TOP"), command);
	need(!system(line), "%s", command);
}

static void cables_down(void)
{
	int i;

	if (getpid() != main_process)
		return;
	/* After a test that died. */
	if (!access(CPU1, W_OK))
		lab("echo 1 >" CPU1);
	for (i = 1; i <= CABLES; i++)
		lab("lab_rail_down %d", i);
}

void cables_up(void)
{
	int i;

	main_process = getpid();
	atexit(cables_down);
	for (i = 1; i <= CABLES; i++)
		lab("lab_rail %d", i);
}

/* Packets that a device has sent. */
static long long packets(const char *device)
{
	char path[200], text[40] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/sent_pkts",
		 device);
	f = fopen(path, "r");
	need_errno(f, path);
	need(fgets(text, sizeof(text), f), "%s is empty", path);
	fclose(f);
	return atoll(text);
}

/* Packets that the device of one end of a cable has sent. */
long long packets_of(bool back, int cable)
{
	char name[8];

	snprintf(name, sizeof(name), "rx%c%d", back ? 'b' : 'a', cable);
	return packets(name);
}

/* Packets that an interface has sent. */
long long interface_packets(const char *name)
{
	char path[200], text[40] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_packets", name);
	f = fopen(path, "r");
	need_errno(f, path);
	need(fgets(text, sizeof(text), f), "%s is empty", path);
	fclose(f);
	return atoll(text);
}

void all_cables_down(void)
{
	lab("for dev in va va1 va2 va3; do ip link set $dev down; done");
}

/*
 * Renews all cables, as the next test needs them, with new devices: soft-RoCE ends a device's queue
 * pair for management datagrams, for good, when one of these finds no route. That happens if a rail
 * joins while its cable goes down.
 */
void all_cables_renewed(void)
{
	lab("for n in 1 2 3; do lab_rail_down $n; lab_rail $n; done; lab_down; lab_up");
}

/* Runs the cases, or skips all of them where nobody can make cables. */
int cables_main(char **argv, const struct test *tests, unsigned int n)
{
	if (!getenv("SDP_TOP") || access("/sys/class/infiniband/rxa", F_OK)) {
		puts("1..0 # SKIP the cables are made in the VM: selftests/vm/run.sh");
		return EXIT_SKIPPED;
	}
	cables_up();
	return run_tests(argv, tests, n);
}
