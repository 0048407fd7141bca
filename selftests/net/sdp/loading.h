/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module itself, loaded and removed by a test.
 */
#ifndef SDP_TEST_LOADING_H
#define SDP_TEST_LOADING_H

#include "setting.h"
#include <sys/syscall.h>

/* 0, or the errno. */
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

/* Its file, in memory. */
static inline char *module_image(size_t *size)
{
	FILE *f = fopen(getenv("SDP_MODULE"), "r");
	char *image;

	need_errno(f && !fseek(f, 0, SEEK_END), "the module's file");
	*size = ftell(f);
	rewind(f);
	image = malloc(*size);
	need(image && fread(image, 1, *size, f) == *size, "the module's file is not read");
	fclose(f);
	return image;
}

static inline bool module_there(void)
{
	return !access("/sys/module/sdp", F_OK);
}

#endif /* SDP_TEST_LOADING_H */
