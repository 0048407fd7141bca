// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2) without memory: each allocation of a connect, a listen, or a first call of a
 * socket fails once, one after the other. The call then works by TCP where the rules allow it, or
 * says so; the same call works once there is memory, and nothing is left behind. So do the last
 * ones of loading the module, with a policy. It takes a kernel with fault injection: the debug
 * kernel.
 * timeout: 300 s; short form: debug
 */
#include "failing.h"
#include "loading.h"
#include "policy_common.h"

/* More than any call allocates. */
enum { MOST = 400 };

static void need_shortage(const char *what, int n, int error)
{
	need(error == ENOMEM || error == ENOBUFS, "%s, allocation %d: %s", what, n,
	     errno_text(error));
}

static int connect_failing(void *arg)
{
	const char *name = arg;
	int listening, c, n, error, by_tcp = 0, refused = 0;
	long long fell = counter("FellResources");
	long users = idle_users();
	struct addr where, own;
	bool failed = true;

	if (!can_fail())
		return EXIT_SKIPPED;
	by_names();
	listening = listener_of(PAIR, 8, &where);
	for (n = 1; failed; n++) {
		need(n < MOST, "still an allocation to fail");
		c = stream(0);
		own = client_addr(0);
		need_errno(n % 2 || !bind(c, &own.sa, own.len), "bind");
		as(name);
		fail_at(n);
		error = connect(c, &where.sa, where.len) ? errno : 0;
		failed = has_failed();
		if (error) {
			need(failed, "without a failure: %s", errno_text(error));
			need_shortage("connect", n, error);
			refused++;
			error = connect_as(name, c, &where);
		}
		need(!error, "again, after allocation %d: %s", n, errno_text(error));
		by_tcp += protocol_of(c) == BY_TCP;
		close(accept_and_talk(listening, c, protocol_of(c)));
		close(c);
	}
	printf("# %d allocations: %d connects refused, %d by TCP\n", n - 2, refused, by_tcp);
	need(n > 5 && refused, "nothing failed");
	need(strcmp(name, SDP_SIDE) ? by_tcp && counter("FellResources") > fell : !by_tcp,
	     "%d by TCP", by_tcp);
	close(listening);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

static int listen_failing(void *arg)
{
	const char *name = arg;
	bool failed = true, sdp = !strcmp(name, SDP_SIDE);
	int fd, c, n, error, by_tcp = 0, refused = 0;
	long users = idle_users();
	struct addr where;

	if (!can_fail())
		return EXIT_SKIPPED;
	by_names();
	for (n = 1; failed; n++) {
		need(n < MOST, "still an allocation to fail");
		as(name);
		fd = stream(0);
		where = server_addr(0);
		need_errno(!bind(fd, &where.sa, where.len), "bind");
		where = name_of(fd);
		fail_at(n);
		error = listen(fd, 4) ? errno : 0;
		failed = has_failed();
		if (error) {
			need(failed, "without a failure: %s", errno_text(error));
			need_shortage("listen", n, error);
			refused++;
			need_errno(!listen(fd, 4), "listen again");
		}
		c = connected_as(BOTH_SIDE, &where);
		by_tcp += protocol_of(c) == BY_TCP;
		close(accept_and_talk(fd, c, protocol_of(c)));
		close(c);
		close(fd);
	}
	printf("# %d allocations: %d listens refused, %d by TCP\n", n - 2, refused, by_tcp);
	need(n > 5 && (sdp ? refused && !by_tcp : by_tcp), "%d refused, %d by TCP", refused,
	     by_tcp);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

/* What is beside a socket is made by the first call. */
static int first_call_failing(void *arg)
{
	int fd, listening, error, one = 1;
	struct addr where;

	(void)arg;
	if (!can_fail())
		return EXIT_SKIPPED;
	by_names();
	listening = listener_of(PAIR, 8, &where);
	fd = stream(0);
	fail_at(1);
	error = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ? errno : 0;
	need(has_failed() && error == ENOBUFS, "setsockopt: %s", errno_text(error));
	fail_at(1);
	need(poll_for(fd, POLLIN | POLLOUT, 0) == (POLLOUT | POLLHUP), "poll");
	need(has_failed(), "poll has not failed");
	need(poll_for(fd, POLLIN | POLLOUT, 0) == (POLLOUT | POLLHUP), "poll again");
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	need(!connect_as(BOTH_SIDE, fd, &where), "connect: %s", errno_text(errno));
	accept_and_talk(listening, fd, BY_SDP);
	need(get_int(fd, IPPROTO_TCP, TCP_NODELAY) == 1, "TCP_NODELAY is lost");
	return EXIT_OK;
}

#define LOADED_TEXT	"connect 127.0.0.1 sdp\nconnect [::1] sdp\n"
#define LOADED_FILE	"/dev/shm/sdp-policy-failing"

static atomic_bool loaded_enough;
static atomic_long sockets_made;

/* Whoever makes sockets all the time, and connects to nobody. */
static void *make_sockets(void *arg)
{
	const struct addr *nobody = arg;

	while (!atomic_load(&loaded_enough)) {
		int fd = socket(set->family, SOCK_STREAM, 0);

		need_errno(fd >= 0, "socket");
		if (connect(fd, &nobody->sa, nobody->len))
			need(errno == ECONNREFUSED || errno == ENOBUFS || errno == ENOMEM,
			     "connect: %s", errno_text(errno));
		close(fd);
		atomic_fetch_add(&sockets_made, 1);
	}
	return NULL;
}

static void unload(void)
{
	long long end = now_ms() + 1000 * patience(30);
	int error;

	while (module_there() && (error = module_remove())) {
		need(error == EWOULDBLOCK && now_ms() < end, "to remove it: %s", errno_text(error));
		/* Sockets are met as long as the switch is on. */
		setting_write("rewrite", "0");
		pause_ms(1);
	}
}

/* Loads it, its @n'th allocation fails; what it says. No file system shall be without memory. */
static int load_once(int n, bool *failed)
{
	static char *image;
	static size_t size;
	int error;

	if (!image)
		image = module_image(&size);
	unload();
	fail_at(n);
	error = syscall(SYS_init_module, image, size, "policy_file=" LOADED_FILE " rewrite=1") ?
		errno : 0;
	*failed = has_failed();
	need(!error || *failed, "without a failure: %s", errno_text(error));
	if (error)
		need_shortage("loading", n, error);
	need(!error == module_there() && !error == !access(SETTING_DIR, F_OK),
	     "allocation %d: %s, and there is something of it, or not all", n, errno_text(error));
	return error;
}

/* Policy and switch are what was asked for; without memory, not there, and never by halves. */
static bool as_asked(void)
{
	static char text[POLICY_MAX];
	ssize_t len = policy_read(text);
	int by = now_by();

	need(!len || (len == (ssize_t)strlen(LOADED_TEXT) && !memcmp(text, LOADED_TEXT, len)),
	     "the policy has %zd bytes", len);
	need(by == BY_TCP || len, "by SDP without a rule");
	return len && by == BY_SDP;
}

/*
 * Loading with a policy, and others make sockets meanwhile: those that the kernel allocates for any
 * module come first, and the module's own are the last.
 */
static int load_failing(void *arg)
{
	int n, most = 64, least = 0, refused = 0, halfway = 0;
	struct addr nobody;
	pthread_t thread;
	bool failed;
	FILE *file;

	(void)arg;
	if (!can_fail() || !getenv("SDP_MODULE") || idle_users())
		return EXIT_SKIPPED;
	file = fopen(LOADED_FILE, "w");
	need_errno(file && fputs(LOADED_TEXT, file) >= 0 && !fclose(file), LOADED_FILE);
	listener_of(NOBODY, 1, &nobody);
	thread = start_thread(make_sockets, &nobody);
	/* Up to the @least'th one it fails, and at the @most'th it does not. */
	while (load_once(most, &failed) || failed) {
		least = most;
		most *= 2;
	}
	while (most - least > 1) {
		n = (least + most) / 2;
		load_once(n, &failed);
		*(failed ? &least : &most) = n;
	}
	for (n = least; n > 0 && n > least - 60; n--) {
		if (load_once(n, &failed))
			refused++;
		else
			halfway += !as_asked();
	}
	need(!load_once(0, &failed) && as_asked(), "with memory it is not as asked");
	atomic_store(&loaded_enough, true);
	pthread_join(thread, NULL);
	unload();
	need_errno(module_insert(), "to load it again");
	unlink(LOADED_FILE);
	printf("# %d allocations, %d of the last refused it, %d the policy; %ld sockets\n", least,
	       refused, halfway, sockets_made);
	need(refused > 10 && halfway, "hardly anything has failed");
	return EXIT_OK;
}

#define CASE(name, body, sets, arg) { name, body, 100, sets, true, (void *)(arg) }

static const struct test tests[] = {
	CASE("connect_both", connect_failing, TWO_SETS, BOTH_SIDE),
	CASE("connect_sdp", connect_failing, TWO_SETS, SDP_SIDE),
	CASE("listen_both", listen_failing, TWO_SETS, BOTH_SIDE),
	CASE("listen_sdp", listen_failing, TWO_SETS, SDP_SIDE),
	CASE("first_call", first_call_failing, ONE_SET, NULL),
	{ "load", load_failing, 120, ONE_SET | NOT_SHORT, true, NULL },
};

int main(int argc, char **argv)
{
	int status;

	(void)argc;
	status = run_tests(argv, tests, ARRAY_SIZE(tests));
	if (!module_there())
		module_insert();
	return status;
}
