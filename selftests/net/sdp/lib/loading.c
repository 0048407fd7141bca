// SPDX-License-Identifier: GPL-2.0
#include "loading.h"

/* Returns 0 or an errno. */
int module_remove(void)
{
	return syscall(SYS_delete_module, "sdp", O_NONBLOCK) ? errno : 0;
}

bool module_insert(void)
{
	const char *path = getenv("SDP_MODULE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, error;

	if (fd < 0)
		return false;
	error = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return !error;
}

bool module_there(void)
{
	return !access("/sys/module/sdp", F_OK);
}

void module_unload(void)
{
	long long end = now_ms() + patience(30000);
	int error;

	while ((error = module_remove())) {
		need(now_ms() < end, "rmmod: %s", errno_text(error));
		pause_ms(50);
	}
}

/*
 * Loads the module so that its @n'th allocation fails. Returns the error. *@left is the number of
 * failures that have not happened.
 */
int load_failing(const char *parameters, int n, int *left)
{
	const char *path = getenv("SDP_MODULE");
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	need_errno(fd >= 0, path);
	fail_at(n);
	error = syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
	*left = left_to_fail();
	close(fd);
	return error;
}

void module_load(void)
{
	need(module_insert(), "with memory: %s", errno_text(errno));
}
