// SPDX-License-Identifier: GPL-2.0
/*
 * A process whose threads share its descriptors.
 *
 * Its first thread makes no calls: it interrupts long calls of the others by a signal. Some
 * processes have no privileges, some are in a network namespace of their own. Children forked by a
 * call have copies of the descriptors and make calls for a while, too.
 */
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "calls.h"
#include "kcov.h"
#include "worker.h"

enum { MAX_FDS = 256, POKE_MS = 15, CHILD_CALLS = 300, NOBODY = 65534,
	NAMESPACE_ONE_OF = 12, NOBODY_ONE_OF = 8 };

/* Data of this process. */
static struct table table;
static struct arena playground;
static struct lane *own_lanes;
static struct caller callers[MAX_THREADS];
static _Atomic unsigned int running;
static _Atomic unsigned long quota_left;
static _Atomic unsigned int child_lane;

static void nothing(int signal)
{
	(void)signal;
}

/* A call wrote to the program's own data. That is no fault of the kernel. */
static void fault(int signal)
{
	(void)signal;
	shared->own_faults++;
	_exit(WORKER_FAULT);
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler };

	sigaction(number, &sa, NULL);
}

static void signals(void)
{
	handle(SIGUSR1, nothing);
	handle(SIGALRM, nothing);
	handle(SIGIO, nothing);
	handle(SIGURG, nothing);
	handle(SIGPIPE, SIG_IGN);
	handle(SIGCHLD, SIG_DFL);
	handle(SIGSEGV, fault);
	handle(SIGBUS, fault);
}

/* If it is not permitted, the process stays in its namespace. */
static void own_namespace(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		return;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	fd = open("/proc/sys/net/sdp/rewrite", O_WRONLY);
	if (fd >= 0 && write(fd, "1", 1) != 1)
		perror("rewrite");
	close(fd);
	fd = open("/proc/sys/net/sdp/policy", O_WRONLY);
	if (fd >= 0 && write(fd, "any * both", 10) != 10)
		perror("policy");
	close(fd);
}

static void no_privileges(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY)) {
		perror("setresuid");
		_exit(WORKER_FAILED);
	}
}

static void limits(void)
{
	struct rlimit fds = { MAX_FDS, MAX_FDS }, core = { 0, 0 };

	setrlimit(RLIMIT_NOFILE, &fds);
	setrlimit(RLIMIT_CORE, &core);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* One resource of each kind that needs no other one exists from the start. */
static void first_resources(struct caller *c)
{
	unsigned int i, k;

	for (i = 0; i < calls_spec->call_count; i++) {
		const struct call *call = &calls_spec->calls[i];
		bool needs = false;

		for (k = 0; k < call->arg_count; k++)
			needs = needs || call->args[k].type->kind == TYPE_RESOURCE;
		if (!needs && (call->result >= 0 || strstr(call->name, "pair") ||
			       strstr(call->name, "pipe")))
			caller_call(c, i, chance_next(&c->chance));
	}
	caller_pair(c, chance_next(&c->chance));
	for (i = 0; i < calls_spec->call_count; i++)
		if (calls_spec->calls[i].number < 0)
			caller_call(c, i, chance_next(&c->chance));
}

static bool over(void)
{
	return shared->stop || shared->calls >= wishes.calls;
}

/*
 * Only the calling thread exists in the child; a timer interrupts it in place of the first
 * thread.
 */
static void child(struct caller *c, struct lane *lane, uint64_t seed)
{
	struct itimerval often = { { 0, 1000 * POKE_MS }, { 0, 1000 * POKE_MS } };
	unsigned int n;

	kcov_leave();
	c->lane = lane;
	chance_seed(&c->chance, seed);
	caller_begin(c);
	setitimer(ITIMER_REAL, &often, NULL);
	for (n = 0; n < CHILD_CALLS && !over(); n++)
		caller_call(c, chance_below(&c->chance, calls_spec->call_count),
			    chance_next(&c->chance));
	lane->pid = 0;
	_exit(WORKER_OK);
}

static void fork_one(struct caller *c, uint64_t seed)
{
	struct lane *lane = own_lanes + MAX_THREADS + child_lane++ % CHILD_LANES;
	pid_t pid;

	if (lane->pid)
		return;
	lane->pid = getpid();	/* taken */
	lane->began = 0;
	pid = fork();
	if (!pid)
		child(c, lane, seed);
	if (pid < 0)
		lane->pid = 0;
	else
		shared->forks++;
}

static void run_program(struct caller *c)
{
	struct program p;
	unsigned int i;

	program_make(&p, &c->chance);
	for (i = 0; i < p.count && !over() && quota_left; i++) {
		if (p.steps[i].call == STEP_PAIR) {
			caller_pair(c, p.steps[i].seed);
		} else if (p.steps[i].call == STEP_FORK) {
			fork_one(c, p.steps[i].seed);
		} else {
			caller_call(c, p.steps[i].call, p.steps[i].seed);
			quota_left--;
			if (kcov_collect())
				program_keep(&p, i + 1);
		}
	}
}

static void *thread(void *arg)
{
	struct caller *c = arg;

	caller_begin(c);
	if (wishes.kcov)
		kcov_begin();
	/* Other threads may have decremented it below 0. */
	while (!over() && (long)quota_left > 0)
		run_program(c);
	c->lane->pid = 0;
	running--;
	return NULL;
}

static void poke(pthread_t *threads)
{
	uint64_t now = now_ms(), began;
	unsigned int i;

	for (i = 0; i < wishes.threads; i++) {
		began = own_lanes[i].began;
		if (own_lanes[i].pid && began && now >= began + POKE_MS) {
			pthread_kill(threads[i], SIGUSR1);
			shared->pokes++;
		}
	}
}

void worker_run(struct lane *lanes, uint64_t seed)
{
	struct chance chance;
	pthread_t threads[MAX_THREADS];
	unsigned int i;

	chance_seed(&chance, seed);
	own_lanes = lanes;
	quota_left = 1 + chance_below(&chance, 2 * wishes.quota);
	limits();
	signals();
	if (chance_one_of(&chance, NAMESPACE_ONE_OF))
		own_namespace();
	if (chance_one_of(&chance, NOBODY_ONE_OF))
		no_privileges();
	table_init(&table, calls_spec);
	arena_init(&playground, PLAYGROUND_BYTES);
	for (i = 0; i < wishes.threads; i++)
		caller_init(&callers[i], &table, &playground, &lanes[i], chance_next(&chance));
	running = wishes.threads + 1;
	first_resources(&callers[0]);
	for (i = 0; i < wishes.threads; i++)
		if (pthread_create(&threads[i], NULL, thread, &callers[i]))
			_exit(WORKER_FAILED);
	while (running > 1) {
		usleep(1000 * POKE_MS / 2);
		poke(threads);
	}
	_exit(WORKER_OK);
}
