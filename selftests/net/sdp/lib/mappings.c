// SPDX-License-Identifier: GPL-2.0
#include "mappings.h"

#define DISK		"/dev/shm/sdp-disk"
#define DISK_SIZE	"40M"
#define HUGE_SETTING	"/proc/sys/vm/nr_hugepages"

/* Enough for four processes with two such mappings each. */
#define HUGE_WANTED	16

unsigned char *window(const struct memory *m)
{
	return m->base + WINDOW_AT;
}

/* Address space without memory, which stays until the process ends. */
static unsigned char *reserve(void)
{
	unsigned char *p = mmap(NULL, 4 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need_errno(p != MAP_FAILED, "mmap");
	return (unsigned char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
}

bool map_at(unsigned char *p, long len, int prot, int flags, int fd)
{
	return mmap(p, len, prot, flags | MAP_FIXED, fd, 0) == p;
}

static bool map_whole(struct memory *m, int flags, int file)
{
	m->base = reserve();
	m->file = file;
	m->shared = flags & MAP_SHARED;
	return map_at(m->base, 2 * HUGE, PROT_READ | PROT_WRITE, flags, file);
}

static int file_make(void)
{
	int fd = memfd_create("mapped", 0);

	need_errno(fd >= 0 && !ftruncate(fd, 2 * HUGE), "memfd_create");
	return fd;
}

bool map_anonymous(struct memory *m)
{
	return map_whole(m, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* Fails if the machine has no huge pages in reserve. */
bool map_huge(struct memory *m)
{
	return map_whole(m, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
}

bool map_huge_shared(struct memory *m)
{
	return map_whole(m, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1);
}

/* Value in kB of the line @key for the mapping at @p in /proc/self/smaps. */
static long smaps_value(const unsigned char *p, const char *key)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long start, end;
	bool here = false;
	long value = -1;
	char line[512];

	need_errno(f, "/proc/self/smaps");
	while (value < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start <= (unsigned long)p && (unsigned long)p < end;
		else if (here && !strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key));
	}
	fclose(f);
	return value;
}

bool map_transparent(struct memory *m)
{
	need_errno(map_anonymous(m), "mmap");
	if (madvise(m->base, 2 * HUGE, MADV_HUGEPAGE))
		return false;
	m->base[0] = 0;
	m->base[HUGE] = 0;
	return smaps_value(m->base, "AnonHugePages:") > 0;
}

bool map_tmpfs_shared(struct memory *m)
{
	return map_whole(m, MAP_SHARED, file_make());
}

bool map_tmpfs_private(struct memory *m)
{
	return map_whole(m, MAP_PRIVATE, file_make());
}

/* An unnamed file on the disk of disk_get(). Fails if there is no such disk. */
static bool map_disk(struct memory *m, int flags)
{
	int fd = open(DISK, O_TMPFILE | O_RDWR, 0600);

	return fd >= 0 && !ftruncate(fd, 2 * HUGE) && map_whole(m, flags, fd);
}

bool map_disk_shared(struct memory *m)
{
	return map_disk(m, MAP_SHARED);
}

bool map_disk_private(struct memory *m)
{
	return map_disk(m, MAP_PRIVATE);
}

/*
 * A huge page if there is one, shared pages of a file, anonymous pages, and private ones of the
 * file.
 */
bool map_crossing(struct memory *m)
{
	const int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	int file = file_make();

	need_errno(map_anonymous(m), "mmap");
	if (!map_at(m->base, HUGE, rw, anonymous | MAP_HUGETLB, -1))
		need_errno(map_at(m->base, HUGE, rw, anonymous, -1), "mmap");
	need_errno(map_at(m->base + HUGE, 20 * PAGE, rw, MAP_SHARED, file) &&
		   map_at(m->base + HUGE + 50 * PAGE, 30 * PAGE, rw, MAP_PRIVATE, file), "mmap");
	close(file);
	return true;
}

/* Memory of memfd_secret(): the kernel can copy from and to it, but does not pin it. */
bool map_secret(struct memory *m)
{
#ifdef SYS_memfd_secret
	int fd = syscall(SYS_memfd_secret, 0);

	return fd >= 0 && !ftruncate(fd, 2 * HUGE) && map_whole(m, MAP_SHARED, fd);
#else
	(void)m;
	return false;
#endif
}

void unmap(struct memory *m)
{
	munmap(m->base, 2 * HUGE);
	if (m->file >= 0)
		close(m->file);
}

/*
 * Writes the stream to the window. In a private mapping of a file, half of it goes to the file
 * instead, so that those pages of the mapping are still the file's.
 */
void window_fill(const struct memory *m, long at)
{
	bool half = m->file >= 0 && !m->shared;

	if (half)
		need_errno(pwrite(m->file, pattern(at), WINDOW, WINDOW_AT) == WINDOW, "pwrite");
	memcpy(window(m), pattern(at), half ? WINDOW / 2 : WINDOW);
}

void window_surround(const struct memory *m)
{
	window(m)[-1] = AROUND;
	window(m)[WINDOW] = AROUND;
}

/* The stream is in the window and nowhere else. A file has it if the mapping is shared. */
void window_check(const struct memory *m, long at)
{
	unsigned char *file;
	long i;

	pattern_check(at, window(m), WINDOW);
	need(window(m)[-1] == AROUND && window(m)[WINDOW] == AROUND, "written outside");
	if (m->file < 0)
		return;
	file = mmap(NULL, 2 * HUGE, PROT_READ, MAP_SHARED, m->file, 0);
	need_errno(file != MAP_FAILED, "mmap");
	if (m->shared)
		pattern_check(at, file + WINDOW_AT, WINDOW);
	for (i = 0; !m->shared && i < WINDOW; i++)
		need(!file[WINDOW_AT + i], "byte %ld of the file has been written", i);
	munmap(file, 2 * HUGE);
}

/* Reserves @set huge pages if @set is not negative. Returns the number before, or -1. */
static long huge_pages(long set)
{
	FILE *f = fopen(HUGE_SETTING, "r+");
	long was = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &was) != 1)
		was = -1;
	rewind(f);
	if (set >= 0)
		fprintf(f, "%ld\n", set);
	fclose(f);
	return was;
}

static long huge_before;

static void huge_pages_back(void)
{
	if (getpid() == settings_owner && huge_before >= 0)
		huge_pages(huge_before);
}

/* Reserves some for this program. At its end the number is as before. */
void huge_pages_get(void)
{
	huge_before = huge_pages(HUGE_WANTED);
	atexit(huge_pages_back);
}

static bool disk_mounted;

static void disk_back(void)
{
	if (getpid() == settings_owner && disk_mounted)
		need(!system("umount -l " DISK " && rmdir " DISK), "umount");
}

/* Mounts a small ext4 in a file, if this kernel can, until the program ends. */
void disk_get(void)
{
	disk_mounted = !system("(mkdir -p " DISK " && rm -f " DISK ".img &&"
			       " truncate -s " DISK_SIZE " " DISK ".img &&"
			       " mkfs.ext4 -q " DISK ".img && modprobe -a loop ext4 &&"
			       " mount -o loop " DISK ".img " DISK ") >/dev/null 2>&1;"
			       " rm -f " DISK ".img; mountpoint -q " DISK);
	atexit(disk_back);
}
