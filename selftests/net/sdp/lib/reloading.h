/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unloading and loading the module, with and without memory.
 */
#ifndef SDP_TEST_RELOADING_H
#define SDP_TEST_RELOADING_H

#include "cases.h"
#include "failing.h"
#include <sys/syscall.h>

static inline void unload(void)
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
static inline int load_failing(const char *parameters, int n, int *left)
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

static inline void load(void)
{
	int left, error = load_failing("", 0, &left);

	need(!error, "with memory: %s", errno_text(error));
}

#endif /* SDP_TEST_RELOADING_H */
