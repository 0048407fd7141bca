// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2) under load: connections stay correct while policies and devices change.
 *
 * Clients connect to listeners of every kind, exchange data and close, in many threads. Meanwhile
 * policies change, valid and invalid ones; the switch is turned a thousand times; network
 * namespaces with their own policies come and go; devices are removed; the module is unloaded.
 * Every connection works and its data arrives. Its protocol is one that a policy in force said, and
 * the counters add up.
 */
#include "loading.h"
#include "load.h"
#include <sched.h>

/* Rules for clients that connect to SDP only, or to their own listener; appended to each policy. */
#define OTHERS	"connect * program at-sdp sdp\nconnect * program at-own both\n"

static char long_text[POLICY_MAX];

static struct held texts[] = {
	{ "any * program at-* both\n",
	  true, { BY_SDP, BY_TCP, BY_SDP }, true, PAIR },
	{ "any * program at-pair tcp\nany * program at-tcp tcp\n" OTHERS,
	  true, { BY_TCP, BY_TCP, BY_SDP }, false, TCP_ONLY },
	{ "listen * program at-own sdp\nconnect * program at-tcp both\n" OTHERS "any * sdp\n",
	  true, { BY_SDP, BY_TCP, BY_SDP }, true, SDP_ONLY },
	{ "connect * program at-pair path */policy_load sdp\n" OTHERS
	  "connect * program at-pair tcp\n",
	  true, { BY_SDP, BY_TCP, BY_SDP }, false, TCP_ONLY },
	{ "connect * program at-pair path /nowhere sdp\n" OTHERS
	  "listen * program at-own path * both\n"
	  "connect * program at-tcp path * cgroup /nowhere/* sdp\n",
	  true, { BY_TCP, BY_TCP, BY_SDP }, false, PAIR },
	{ "use tcp client at-pair *:*\nuse both client at-* *:*\nuse sdp server at-* *:*\n",
	  true, { BY_TCP, BY_TCP, BY_SDP }, true, SDP_ONLY },
	{ long_text,
	  true, { BY_SDP, BY_TCP, BY_SDP }, true, PAIR },
};

/* Builds a policy with the largest number of rules; the last rule decides. */
static void make_long_text(void)
{
	int i;

	long_text[0] = 0;
	for (i = 0; i < 255; i++)
		sprintf(long_text + strlen(long_text), "any *:%d program other-%d sdp\n", i + 1, i);
	strcat(long_text, "any * program at-* both\n");
}

/* Writes an invalid policy that would reverse all results if any part of it were used. */
static void try_bad_text(unsigned int *seed)
{
	static const struct {
		const char *text;
		size_t len;
		int error;
	} bad[] = {
		{ "any * tcp\nany * nothing\n", 24, EINVAL },
		{ "any * sdp\nany * nothing\n", 24, EINVAL },
		{ "any * sdp\0any * sdp", 19, EINVAL },
		{ "any * tcp\nany * program [a sdp\n", 31, EINVAL },
	};
	static char too_long[POLICY_MAX + 1];
	size_t i = next_random(seed) % (ARRAY_SIZE(bad) + 1);
	int error;

	if (i < ARRAY_SIZE(bad)) {
		error = policy_write(bad[i].text, bad[i].len);
		need(error == bad[i].error, "bad text %zu: %s", i, errno_text(error));
		return;
	}
	memset(too_long, '#', sizeof(too_long));
	memcpy(too_long, "any * tcp\n", 10);
	error = policy_write(too_long, sizeof(too_long));
	need(error == E2BIG, "a text that is too long: %s", errno_text(error));
}

/* Pauses, so that some policies last long enough for whole connections. */
static void some_time(unsigned int *seed)
{
	unsigned int x = next_random(seed);

	if (x % 4)
		pause_ms(x % 4 == 3 ? 20 : 2);
}

static int texts_change(void *arg)
{
	long users = idle_users(), era;
	unsigned int seed = 2024;

	make_long_text();
	plan.clients = 4;
	plan.rounds = scaled(set == &addrsets[SET_RC4] ? 200 : 500);
	plan.doors = ALL_DOORS;
	load_begin(texts, ARRAY_SIZE(texts));
	for (era = 1; load_goes_on(); era++) {
		some_time(&seed);
		try_bad_text(&seed);
		some_time(&seed);
		era_begin(era);
	}
	load_end();
	printf("# %ld policies\n", era);
	need(era > plan.rounds / 10 && seen.by_sdp && seen.by_tcp, "hardly anything happened");
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

/*
 * Writes policies with the same meaning that need different facts about the process. Whichever a
 * connect meets, it is by SDP.
 */
static void *say_it_otherwise(void *arg)
{
	static const char *const ways[] = {
		"connect * path */policy_load sdp\nconnect * tcp\n",
		"connect * cgroup * sdp\nconnect * tcp\n",
	};
	unsigned int i;

	for (i = 0; !load.over; i++)
		policy_set("%s", ways[i % ARRAY_SIZE(ways)]);
	return (void *)(long)i;
}

static int texts_agree(void *arg)
{
	int i, n = scaled(8000);
	struct addr where;
	pthread_t thread;
	void *changes;

	policy_set("connect * sdp");
	listener_of(NOBODY, 1, &where);
	setting_set("rewrite", 1);
	thread = start_thread(say_it_otherwise, NULL);
	for (i = 0; i < n; i++) {
		int fd = stream(0), error = connect_as("x", fd, &where);

		need(error == ECONNREFUSED, "connect: %s", errno_text(error));
		need(protocol_of(fd) == BY_SDP, "connect %d is by TCP, which no policy says", i);
		close(fd);
	}
	load.over = true;
	pthread_join(thread, &changes);
	printf("# %d connects, %ld policies\n", n, (long)changes);
	need((long)changes > n / 50, "hardly any policies");
	return EXIT_OK;
}

enum { TURNS = 1000 };

static const struct held on_and_off[] = {
	{ "any * program at-* both\n", true, { BY_SDP, BY_TCP, 0 }, true, 0 },
	{ NULL, false, { BY_TCP, BY_TCP, 0 }, false, 0 },
	{ NULL, true, { BY_SDP, BY_TCP, 0 }, true, 0 },
	{ NULL, false, { BY_TCP, BY_TCP, 0 }, false, 0 },
	{ "connect * program at-pair sdp\n", true, { BY_SDP, BY_TCP, 0 }, false, 0 },
	{ NULL, false, { BY_TCP, BY_TCP, 0 }, false, 0 },
};

static int switch_turns(void *arg)
{
	long users = idle_users(), era;
	unsigned int seed = 7;

	plan.clients = 4;
	plan.doors = DOOR(AT_PAIR) | DOOR(AT_TCP);
	eras.in_turn = true;
	load_begin(on_and_off, ARRAY_SIZE(on_and_off));
	for (era = 1; era <= TURNS; era++) {
		long before = seen.connections;

		era_begin(era);
		pause_ms(next_random(&seed) % 3);
		/* Every tenth policy lasts as long as a connection takes. */
		while (era % 10 == 0 && seen.connections < before + 2)
			pause_ms(1);
	}
	load_end();
	need(seen.by_sdp > 20 && seen.by_tcp > 20, "%ld by SDP and %ld by TCP only", seen.by_sdp,
	     seen.by_tcp);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

/* Runs clients in a new network namespace with its own policy, addresses and counters. */
static void in_namespace(const struct held *held, int rounds, int ready)
{
	new_namespace();
	if (ready >= 0)
		need_errno(write(ready, "x", 1) == 1, "ready");
	plan.clients = 2;
	plan.rounds = rounds;
	plan.doors = ALL_DOORS;
	load_begin(held, 1);
	if (!rounds)
		pause();
	load_end();
	need(seen.sure == seen.connections, "%ld of %ld only", seen.sure, seen.connections);
}

static void neighbour(void *arg)
{
	in_namespace(arg, scaled(300), -1);
}

static bool cable_there(void)
{
	return !access("/sys/class/net/plout", F_OK);
}

/*
 * A process under load is killed, and its network namespace ends with it. A veth pair that leads
 * there shows when the namespace has gone.
 */
static void victim(const struct held *held, int ms)
{
	long long end;
	char command[120], c;
	int ready[2];
	pid_t pid;

	need_errno(!pipe(ready), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		in_namespace(held, 0, ready[1]);
		_exit(EXIT_OK);
	}
	close(ready[1]);
	need(read(ready[0], &c, 1) == 1, "the namespace does not begin");
	close(ready[0]);
	snprintf(command, sizeof(command),
		 "ip link add plout type veth peer name plin netns %d 2>/dev/null", pid);
	need(!system(command), "no cable");
	pause_ms(ms);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end = now_ms() + 1000 * patience(30);
	while (cable_there()) {
		need(now_ms() < end, "the namespace is still there");
		pause_ms(10);
	}
}

/* In several namespaces at the same time, each policy holds in its own namespace only. */
static int namespaces(void *arg)
{
	int rounds = scaled(8), i;
	long users = idle_users();
	unsigned int seed = 77;
	pid_t neighbours[3];

	make_long_text();
	policy_set("any * sdp");
	setting_set("rewrite", 1);
	for (i = 0; i < 3; i++)
		neighbours[i] = helper_start(neighbour, &texts[i]);
	for (i = 0; i < (rounds < 2 ? 2 : rounds); i++)
		victim(&texts[i % ARRAY_SIZE(texts)], random_up_to(&seed, 200 * patience(1)));
	for (i = 0; i < 3; i++)
		helper_end(neighbours[i]);
	need(now_by() == BY_SDP, "the first namespace's policy is another one now");
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

static void device(const char *command)
{
	char line[300];

	snprintf(line, sizeof(line), "bash -c '. %s/selftests/vm/netlab.sh; %s' >/dev/null 2>&1",
		 getenv("SDP_TOP"), command);
	need(!system(line), "%s", command);
}

/* A device is removed during connects: they are by TCP then, whatever state they have reached. */
static int devices(void *arg)
{
	static const struct held both = {
		"any * program at-* both\n", true, { BY_SDP, BY_TCP, BY_SDP }, true, PAIR
	};
	int i, n = scaled(8) < 2 ? 2 : scaled(8);
	long users = idle_users();
	long long fell;
	sigset_t child;

	if (!getenv("SDP_TOP"))
		return EXIT_SKIPPED;
	/* One thread waits for a child; SIGCHLD must not interrupt the calls of the others. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, NULL);
	plan.clients = 6;
	plan.doors = DOOR(AT_TCP);
	plan.devices_go = true;
	load_begin(&both, 1);
	for (i = 0; i < n; i++) {
		long before = seen.connections;

		while (seen.connections < before + 5)
			pause_ms(1);
		device(i % 2 ? "rdma link delete rxb" : "rdma link delete rxa");
		while (seen.connections < before + 15)
			pause_ms(1);
		device(i % 2 ? "lab_device \"\" rxb vb 0 2" : "lab_device \"\" rxa va 0 1");
	}
	load_end();
	fell = all_fells() - run.fell - (counter("FellRefused") - run.refused);
	printf("# %lld fell back for other reasons than no listener\n", fell);
	need(fell > 0, "none has missed the device");
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

static void refuses(const char *because)
{
	int i;

	for (i = 0; i < 30; i++) {
		int error = module_remove();

		need(error == EWOULDBLOCK, "with %s: %s", because, errno_text(error));
		pause_ms(1);
	}
}

static void goes(void)
{
	long long end = now_ms() + 1000 * patience(30);
	int error;

	while ((error = module_remove())) {
		need(error == EWOULDBLOCK, "to remove it: %s", errno_text(error));
		need(now_ms() < end, "it has %ld users, and it is off", module_users());
		pause_ms(1);
	}
	need(!module_there() && access(SETTING_DIR, F_OK) && access(COUNTER_FILE, F_OK),
	     "something of it is still there");
}

static const struct held unload_text = {
	"any * program at-* both\nany * program both-side both\n",
	true, { BY_SDP, BY_TCP, 0 }, true, 0
};

/* Sockets of each kind hold the module, which can be unloaded once the last one is closed. */
static void unload_once(void)
{
	int undecided, listening, c, s;
	struct addr where;

	listening = listener_of(PAIR, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	s = accept_from(listening);
	undecided = stream(0);
	refuses("sockets of all kinds, and many that come and go");
	door_close(AT_PAIR);
	setting_set("rewrite", 0);
	refuses("sockets of all kinds, and it is off");
	close(c);
	close(s);
	close(undecided);
	refuses("a listener");
	undecided = listening;
	setting_set("rewrite", 1);
	listening = stream(0);
	setting_set("rewrite", 0);
	close(undecided);
	refuses("an undecided socket");
	close(listening);
	goes();
}

static int unload(void *arg)
{
	int i, n = scaled(8) < 2 ? 2 : scaled(8);
	long before;

	if (!getenv("SDP_MODULE") || idle_users())
		return EXIT_SKIPPED;
	plan.clients = 3;
	plan.doors = DOOR(AT_PAIR) | DOOR(AT_TCP);
	load_begin(&unload_text, 1);
	for (i = 0; i < n; i++) {
		before = seen.connections;
		while (seen.connections < before + 20)
			pause_ms(1);
		unload_once();
		/* Without the module the clients continue by TCP. */
		before = seen.connections;
		while (seen.connections < before + 20)
			pause_ms(1);
		need_errno(module_insert(), "to insert it again");
		by_names();
		era_begin(0);
		door_open(AT_PAIR);
	}
	load_stop();
	settings_reset();
	await_users(0);
	return EXIT_OK;
}

static atomic_bool written_enough;
static atomic_long switched, came_between;

/* Writes the switch while the module is being loaded, is being unloaded, or is not there. */
static void *write_switch(void *arg)
{
	unsigned int i;

	for (i = 0; !atomic_load(&written_enough); i++) {
		int fd = open(SETTING_DIR "rewrite", O_WRONLY);

		if (fd < 0) {
			pause_ms(1);
			continue;
		}
		if (write(fd, i % 8 == 7 ? "0\n" : "1\n", 2) == 2) {
			atomic_fetch_add(&switched, 1);
		} else {
			need(errno == EAGAIN || errno == ENOENT, "the switch: %s",
			     errno_text(errno));
			atomic_fetch_add(&came_between, 1);
		}
		close(fd);
	}
	return NULL;
}

/*
 * The switch is turned while the module is loaded and unloaded. The hook on new sockets must be
 * gone together with the module, otherwise the next socket() would crash the kernel.
 */
static int unload_switched(void *arg)
{
	int i, j, n = scaled(16);
	pthread_t threads[2];

	if (!getenv("SDP_MODULE") || idle_users())
		return EXIT_SKIPPED;
	for (j = 0; j < 2; j++)
		threads[j] = start_thread(write_switch, NULL);
	for (i = 0; i < n; i++) {
		long before = switched;

		while (switched < before + 3)
			pause_ms(1);
		goes();
		for (j = 0; j < 100; j++)
			close(stream(0));
		need_errno(module_insert(), "to insert it again");
	}
	atomic_store(&written_enough, true);
	for (j = 0; j < 2; j++)
		pthread_join(threads[j], NULL);
	printf("# switched %ld times, and %ld times as it came or went\n", switched, came_between);
	settings_reset();
	await_users(0);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(texts_change, 100, TWO_SETS),
	CASE(texts_agree, 60, ONE_SET),
	CASE(switch_turns, 100, TWO_SETS),
	CASE(namespaces, 100, ONE_SET),
	CASE(devices, 100, 1u << SET_RC4),
	CASE(unload, 100, TWO_SETS),
	CASE(unload_switched, 100, ONE_SET | NOT_SHORT),
};

int main(int argc, char **argv)
{
	int status;

	status = run_tests(argv, tests, ARRAY_SIZE(tests));
	if (!module_there())
		module_insert();
	return status;
}
