// SPDX-License-Identifier: GPL-2.0
#include "reloading.h"

void unload(void)
{
	long long end = now_ms() + patience(30000);

	while (syscall(SYS_delete_module, "sdp", O_NONBLOCK)) {
		need(now_ms() < end, "rmmod: %s", errno_text(errno));
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

void load(void)
{
	int left, error = load_failing("", 0, &left);

	need(!error, "with memory: %s", errno_text(error));
}
