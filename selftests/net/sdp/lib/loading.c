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
