/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module, loaded and removed by a test.
 */
#ifndef SDP_TEST_LOADING_H
#define SDP_TEST_LOADING_H

#include "setting.h"
#include <sys/syscall.h>

/* Returns 0 or an errno. */
static inline int module_remove(void)
{
	return syscall(SYS_delete_module, "sdp", O_NONBLOCK) ? errno : 0;
}

static inline bool module_insert(void)
{
	const char *path = getenv("SDP_MODULE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, error;

	if (fd < 0)
		return false;
	error = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return !error;
}

static inline bool module_there(void)
{
	return !access("/sys/module/sdp", F_OK);
}

#endif /* SDP_TEST_LOADING_H */
