// SPDX-License-Identifier: GPL-2.0
/*
 * calls: random system calls on AF_SDP.
 *
 *	calls [OPTION...] DESCRIPTION CONSTANTS
 *	calls -a DESCRIPTION		write the program that prints the constants
 *
 *	-n CALLS	number of calls (10000)
 *	-t SECONDS	time limit
 *	-s SEED		random seed; the same seed makes the same programs in the same
 *			processes, but not the same order of calls of different threads
 *	-p PROCESSES	at once (3)
 *	-T THREADS	of each process (3)
 *	-q CALLS	of a process, on average (2000)
 *	-k		with KCOV: keep programs that reach new code, and vary them
 *	-f		with failing allocations, where the kernel has fail-nth
 *	-w SECONDS	how long a call may take although signals come (60)
 *	-v		print each call before it is made
 *
 * Fails (1) when a call or a dying process hangs, or a process ends with an error. The caller must
 * check the kernel's log.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "constants.h"
#include "kcov.h"
#include "settings.h"
#include "worker.h"

/* NEVER: a call tried that often should have succeeded once. */
enum { MAX_PROCESSES = MAX_LANES / LANES_OF_WORKER, TICK_MS = 20, SHOW_MS = 5000,
	KILL_ONE_OF = 400, SETTINGS_MS = 1000, NEVER = 50, SLOWEST = 12 };

struct shared *shared;
struct wishes wishes = {
	.calls = 10000, .processes = 3, .threads = 3, .quota = 2000, .patience = 60,
};
const struct spec *calls_spec;

static pid_t workers[MAX_PROCESSES];
static uint64_t killed_at[MAX_PROCESSES];
static unsigned long rounds, kills, failed;
static uint64_t began;

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ul + t.tv_nsec / 1000;
}

uint64_t now_ms(void)
{
	return now_us() / 1000;
}

static char *read_file(const char *name)
{
	struct stat st;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0 || fstat(fd, &st)) {
		perror(name);
		exit(2);
	}
	text = lang_alloc(st.st_size + 1);
	if (read(fd, text, st.st_size) != st.st_size) {
		perror(name);
		exit(2);
	}
	close(fd);
	return text;
}

static const char *call_name(unsigned int i)
{
	return i < calls_spec->call_count ? calls_spec->calls[i].name : "making a pair";
}

static void show_stack(int pid, int tid)
{
	char name[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stack", pid, tid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (n > 0)
		printf("%.*s", (int)n, text);
	if (fd >= 0)
		close(fd);
}

/* A call that signals do not end. */
static bool hangs(void)
{
	unsigned int i;

	for (i = 0; i < MAX_LANES; i++) {
		struct lane *l = &shared->lanes[i];
		uint64_t since = l->began;

		if (!l->pid || !since || now_ms() < since + 1000ul * wishes.patience)
			continue;
		printf("# %s of thread %d of process %d does not end:\n", call_name(l->call),
		       l->tid, l->pid);
		show_stack(l->pid, l->tid);
		return true;
	}
	return false;
}

static void show(void)
{
	uint64_t ms = now_ms() - began;
	unsigned long n = shared->calls;

	printf("# %lu calls, %lu/s, %lu processes, %lu killed, %lu forks, %lu pairs", n,
	       n * 1000 / (ms + 1), rounds, kills, shared->forks, shared->pairs);
	if (wishes.failures)
		printf(", %lu failed allocations", shared->injected);
	if (wishes.kcov)
		printf("; %u programs reach %lu addresses", shared->kept, shared->reached);
	putchar('\n');
	fflush(stdout);
}

static void start_worker(unsigned int i)
{
	struct lane *lanes = &shared->lanes[i * LANES_OF_WORKER];
	uint64_t seed = wishes.seed * 1000003 + rounds++;

	killed_at[i] = 0;
	fflush(stdout);
	workers[i] = fork();
	if (!workers[i])
		worker_run(lanes, seed);
	if (workers[i] < 0) {
		perror("fork");
		exit(1);
	}
}

static void judge_end(unsigned int i, int status)
{
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == WORKER_OK || WEXITSTATUS(status) == WORKER_FAULT))
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && killed_at[i])
		return;
	failed++;
	printf("# process %d: %s %d\n", workers[i], WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Orphaned grandchildren are reaped here, too. */
static void reap(void)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < MAX_LANES; i++)
			if (shared->lanes[i].pid == pid)
				shared->lanes[i].pid = 0;
		for (i = 0; i < wishes.processes; i++)
			if (workers[i] == pid) {
				judge_end(i, status);
				workers[i] = 0;
			}
	}
}

/* SIGKILL at any moment. */
static void kill_some(struct chance *c)
{
	unsigned int i;

	for (i = 0; i < wishes.processes; i++)
		if (workers[i] && !killed_at[i] && chance_one_of(c, KILL_ONE_OF)) {
			killed_at[i] = now_ms();
			kill(workers[i], SIGKILL);
			kills++;
		}
}

/* A process that does not die after SIGKILL, or without work. */
static bool will_not_go(uint64_t since)
{
	unsigned int i;

	for (i = 0; i < wishes.processes; i++) {
		uint64_t from = killed_at[i] ? killed_at[i] : since;

		if (!workers[i] || !from || now_ms() < from + 1000ul * wishes.patience)
			continue;
		printf("# process %d does not end:\n", workers[i]);
		show_stack(workers[i], workers[i]);
		return true;
	}
	return false;
}

static bool running(void)
{
	return shared->calls < wishes.calls &&
	       (!wishes.seconds || now_ms() < began + 1000ul * wishes.seconds);
}

static void run(void)
{
	uint64_t shown = began, set = began;
	struct chance chance;
	unsigned int i;

	chance_seed(&chance, wishes.seed);
	while (running() && !failed && !hangs() && !will_not_go(0)) {
		for (i = 0; i < wishes.processes; i++)
			if (!workers[i])
				start_worker(i);
		usleep(1000 * TICK_MS);
		reap();
		kill_some(&chance);
		if (now_ms() >= set + SETTINGS_MS) {
			settings_restore();
			set = now_ms();
		}
		if (now_ms() >= shown + SHOW_MS) {
			show();
			shown = now_ms();
		}
	}
	failed += running();
}

/* Waits for the end of all processes, including those that were forked meanwhile. */
static void finish(void)
{
	uint64_t end = now_ms();
	unsigned int i;

	shared->stop = true;
	settings_end();
	while (!will_not_go(end)) {
		reap();
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return;
		/* After a while the remaining ones are blocked in calls, and are killed. */
		for (i = 0; i < wishes.processes; i++)
			if (workers[i] && !killed_at[i] && now_ms() > end + 2000) {
				killed_at[i] = now_ms();
				kill(workers[i], SIGKILL);
			}
		if (hangs())
			break;
		usleep(1000 * TICK_MS);
	}
	failed++;
}

/* The calls that took most of the threads' time. */
static void show_times(void)
{
	bool shown[MAX_CALLS] = {};
	unsigned int i, n, top;

	for (n = 0; n < SLOWEST; n++) {
		top = 0;
		for (i = 0; i <= calls_spec->call_count; i++)
			if (shown[top] ||
			    (!shown[i] && shared->tally[i].us > shared->tally[top].us))
				top = i;
		shown[top] = true;
		printf("%s%s %lu (%lu ms each)", n ? ", " : "# seconds: ", call_name(top),
		       shared->tally[top].us / 1000000,
		       shared->tally[top].us / 1000 / (shared->tally[top].made + 1));
	}
	putchar('\n');
}

static void show_tally(void)
{
	unsigned int i, never = 0;

	for (i = 0; i < calls_spec->call_count; i++) {
		const struct tally *t = &shared->tally[i];

		if (t->made < NEVER || t->succeeded)
			continue;
		printf("%s%s (%lu)", never++ ? ", " : "# never succeeded: ",
		       calls_spec->calls[i].name, t->made);
	}
	if (never)
		putchar('\n');
	printf("# %u calls are described; %lu signals; %lu processes were hit by their own calls\n",
	       calls_spec->call_count, shared->pokes, shared->own_faults);
}

/* Returns false if there is no such option. */
static bool option(int c)
{
	if (c == 'n')
		wishes.calls = strtoul(optarg, NULL, 0);
	else if (c == 't')
		wishes.seconds = atoi(optarg);
	else if (c == 's')
		wishes.seed = strtoull(optarg, NULL, 0);
	else if (c == 'p')
		wishes.processes = atoi(optarg);
	else if (c == 'T')
		wishes.threads = atoi(optarg);
	else if (c == 'q')
		wishes.quota = strtoul(optarg, NULL, 0);
	else if (c == 'w')
		wishes.patience = atoi(optarg);
	else if (c == 'k')
		wishes.kcov = true;
	else if (c == 'f')
		wishes.failures = true;
	else if (c == 'v')
		wishes.verbose = true;
	else
		return false;
	return true;
}

static void options(int argc, char **argv)
{
	bool right = true;
	int c;

	wishes.seed = time(NULL);
	if (argc == 3 && !strcmp(argv[1], "-a")) {
		constants_ask(lang_parse(argv[2], read_file(argv[2])));
		exit(0);
	}
	while ((c = getopt(argc, argv, "n:t:s:p:T:q:w:kfv")) != -1)
		right = right && option(c);
	if (right && argc - optind == 2 && wishes.quota &&
	    wishes.processes && wishes.processes <= MAX_PROCESSES &&
	    wishes.threads && wishes.threads <= MAX_THREADS)
		return;
	fprintf(stderr, "calls [OPTION...] DESCRIPTION CONSTANTS: see main.c\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *file;

	options(argc, argv);
	file = argv[optind];
	constants_read(argv[optind + 1]);
	calls_spec = types_build(lang_parse(file, read_file(file)), constants_value, NULL);
	if (calls_spec->call_count >= MAX_CALLS)
		lang_error(0, "more than %d calls", MAX_CALLS);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	if (wishes.kcov && !kcov_there()) {
		puts("# no KCOV in this kernel");
		return 2;
	}
	printf("# SEED=%lu, %lu calls by %u processes of %u threads\n", wishes.seed, wishes.calls,
	       wishes.processes, wishes.threads);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	began = now_ms();
	settings_begin();
	run();
	finish();
	show();
	show_tally();
	show_times();
	if (wishes.kcov && !shared->reached) {
		puts("# KCOV has shown nothing: the module was not built for it");
		failed++;
	}
	return failed != 0;
}
