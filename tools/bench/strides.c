// SPDX-License-Identifier: GPL-2.0
/* Messages whose bytes lie in the columns of a matrix of 64 MiB. */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <sdp_program.h>

#include "strides.h"

#define MATRIX	((size_t)64 << 20)

/* Belongs to a thread, which is one end of one stream. */
static _Thread_local struct {
	char *matrix;
	size_t size, width, apart;
	struct sdp_program program;
} strides;

void strides_begin(size_t size, size_t width)
{
	size_t rows = width ? size / width : 0;

	if (!rows || size % width || size > MATRIX)
		errx(1, "%zu bytes are no columns of %zu", size, width);
	strides.matrix = malloc(MATRIX);
	if (!strides.matrix)
		err(1, "no memory for a matrix");
	memset(strides.matrix, 1, MATRIX);
	strides.size = size;
	strides.width = width;
	strides.apart = MATRIX / rows;
	sdp_program_init(&strides.program);
	sdp_program_strided(&strides.program, 0, rows, width, strides.apart);
}

void strides_end(void)
{
	free(strides.matrix);
	strides.matrix = NULL;
}

void strides_pack(char *to)
{
	const char *from = strides.matrix;
	size_t at;

	for (at = 0; at < strides.size; at += strides.width, from += strides.apart)
		memcpy(to + at, from, strides.width);
}

void strides_unpack(const char *from)
{
	char *to = strides.matrix;
	size_t at;

	for (at = 0; at < strides.size; at += strides.width, to += strides.apart)
		memcpy(to, from + at, strides.width);
}

ssize_t strides_gather(int fd, size_t at, int flags)
{
	struct iovec iov = { strides.matrix, MATRIX };

	return sdp_program_send(fd, &strides.program, &iov, 1, at, 0, flags);
}

ssize_t strides_scatter(int fd, size_t at, int flags)
{
	struct iovec iov = { strides.matrix, MATRIX };

	if (!at && sdp_program_enable(fd))
		return -1;
	return sdp_program_recv(fd, &strides.program, &iov, 1, at, 0, flags);
}
