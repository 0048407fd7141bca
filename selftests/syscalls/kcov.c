// SPDX-License-Identifier: GPL-2.0
/*
 * KCOV, see kcov.h.
 *
 * It sees only code compiled for it: the module, in the kernel "watched" (scripts/kernels.sh).
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kcov.h>

#include "kcov.h"
#include "shared.h"

#define KCOV_FILE "/sys/kernel/debug/kcov"

enum { WORDS = 16384 };

static __thread unsigned long *seen;

bool kcov_there(void)
{
	return access(KCOV_FILE, R_OK | W_OK) == 0;
}

bool kcov_begin(void)
{
	int fd = open(KCOV_FILE, O_RDWR | O_CLOEXEC);
	void *area;

	if (fd < 0)
		return false;
	if (ioctl(fd, KCOV_INIT_TRACE, WORDS))
		return false;
	area = mmap(NULL, WORDS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return false;
	/* The mapping keeps it open; the descriptor is free for other use. */
	close(fd);
	seen = area;
	return true;
}

void kcov_leave(void)
{
	seen = NULL;
}

void kcov_reset(void)
{
	if (seen)
		__atomic_store_n(&seen[0], 0, __ATOMIC_RELAXED);
}

bool kcov_collect(void)
{
	unsigned long n, i, hash;
	bool new = false;
	uint8_t bit;

	if (!seen)
		return false;
	n = __atomic_load_n(&seen[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < WORDS; i++) {
		hash = seen[i] * 0x9e3779b97f4a7c15ul >> 44;
		bit = 1 << hash % 8;
		if (shared->bits[hash / 8] & bit)
			continue;
		if (!(atomic_fetch_or(&shared->bits[hash / 8], bit) & bit)) {
			shared->reached++;
			new = true;
		}
	}
	return new;
}
