// SPDX-License-Identifier: GPL-2.0
/*
 * Which user may change which setting, and bind to which port.
 *
 * The user has no capabilities at first, then is root of a user namespace of its own, and then is
 * in a network namespace of that user namespace.
 */
#include <dirent.h>

#include "leaks.h"

/* Settings of the whole machine. */
static const char * const of_all[] = { "mem", "max_orphans", "unprivileged_rewrite" };

/* Calls @look for each file of net.sdp. Returns their number. */
static int each_setting(void (*look)(const char *path, const char *who), const char *who)
{
	DIR *dir = opendir(SETTING_DIR);
	const struct dirent *entry;
	char path[300];
	int n = 0;

	need_errno(dir, SETTING_DIR);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SETTING_DIR "%s", entry->d_name);
		look(path, who);
		n++;
	}
	closedir(dir);
	need(n > 20, "%d settings", n);
	return n;
}

static void is_refused(const char *path, const char *who)
{
	need(open(path, O_WRONLY) < 0 && (errno == EACCES || errno == EPERM),
	     "%s: %s can be opened to be written", who, path);
}

/* Writes back what a setting contains. A setting that nobody may write to has to refuse it. */
static void is_taken(const char *path, const char *who)
{
	static char text[POLICY_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	need_errno(!stat(path, &st), path);
	if (!(st.st_mode & 0222)) {
		is_refused(path, who);
		return;
	}
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	need(n >= 0, "%s: %s: %s", who, path, errno_text(errno));
	close(fd);
	fd = open(path, O_WRONLY);
	need(fd >= 0 && (!n || write(fd, text, n) == n), "%s: %s: %s", who, path,
	     errno_text(errno));
	close(fd);
}

static void are_of_all(bool seen, const char *who)
{
	char path[80];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_all); i++) {
		snprintf(path, sizeof(path), SETTING_DIR "%s", of_all[i]);
		need(seen == !access(path, F_OK) && (seen || errno == ENOENT), "%s: %s is%s there",
		     who, path, seen ? " not" : "");
	}
}

static long number_in(int fd)
{
	char text[32] = "";

	need_errno(pread(fd, text, sizeof(text) - 1, 0) > 0, "a setting");
	return atol(text);
}

/* Root of a network namespace sets what is of that namespace, and of no other. */
int settings_guarded(void *arg)
{
	static const char nobody[] = "nobody", root[] = "root of a user namespace",
			  root_there[] = "root of a network namespace";
	static char text[POLICY_MAX];
	int outer = open(SETTING_DIR "recv_buffers", O_RDONLY), all, own;
	long before = number_in(outer);

	be_nobody();
	need(policy_read(text) >= 0, "nobody cannot read the policy");
	are_of_all(true, nobody);
	all = each_setting(is_refused, nobody);
	if (!root_of_user_namespace(0))
		return EXIT_SKIPPED;
	each_setting(is_refused, root);
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	own = each_setting(is_taken, root_there);
	need(all == own + (int)ARRAY_SIZE(of_all), "%d settings, and %d of them here", all, own);
	are_of_all(false, root_there);
	write_file(SETTING_DIR "recv_buffers", "33");
	need(setting_value("recv_buffers") == 33, "it is not set");
	need(number_in(outer) == before, "%ld outside, and before %ld", number_in(outer), before);
	return EXIT_OK;
}

/* Binds to port 80 of the wildcard address. Returns 0 or an errno. */
static int bind_low(bool sdp)
{
	int fd = sdp ? fresh(0) : socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), error;
	struct addr low = addr_make(AF_INET, "0.0.0.0", 80);

	need_errno(fd >= 0, "socket");
	error = bind(fd, &low.sa, low.len) ? errno : 0;
	close(fd);
	return error;
}

static void need_low(const char *who, int want)
{
	int tcp = bind_low(false), error = bind_low(use_sdp);

	need(tcp == want, "%s: TCP: %s", who, errno_text(tcp));
	need(error == want, "%s: %s", who, errno_text(error));
}

/* A capability in a user namespace applies to the network namespaces which that one owns. */
int low_ports(void *arg)
{
	need_low("root", 0);
	be_nobody();
	need_low("nobody", EACCES);
	if (!root_of_user_namespace(0))
		return EXIT_SKIPPED;
	need_low("root of a user namespace", EACCES);
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	need_low("root of a network namespace", 0);
	return EXIT_OK;
}
