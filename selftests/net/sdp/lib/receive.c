// SPDX-License-Identifier: GPL-2.0
#include "receive.h"
#include <netinet/tcp.h>
#include <sys/mman.h>

int receive_sized(int fd, struct receive *r, socklen_t size)
{
	return getsockopt(fd, SOL_TCP, TCP_ZEROCOPY_RECEIVE, r, &size);
}

int receive(int fd, struct receive *r)
{
	return receive_sized(fd, r, sizeof(*r));
}

/* Memory of the process that @fd can map into, @size bytes. */
unsigned char *receive_window(int fd, long size)
{
	unsigned char *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	need_errno(at != MAP_FAILED, "mmap of a socket");
	return at;
}
