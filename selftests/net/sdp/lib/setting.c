// SPDX-License-Identifier: GPL-2.0
#include "setting.h"

static struct {
	const char *name;
	char was[260];
} settings[] = {
	{ .name = "connect_timeout_ms" },
	{ .name = "recv_buffers" },
	{ .name = "idle_buffers" },
	{ .name = "accept_buffers" },
	{ .name = "recv_buffer_size" },
	{ .name = "recv_buffer_max" },
	{ .name = "resize_after" },
	{ .name = "resize_idle_ms" },
	{ .name = "rdma_threshold" },
	{ .name = "rdma_read" },
	{ .name = "invalidate" },
	{ .name = "rails" },
	{ .name = "rail_wait_ms" },
	{ .name = "rail_devices" },
	{ .name = "mode_after" },
	{ .name = "reader_wait_ms" },
	{ .name = "scan_ms" },
	{ .name = "scan_count" },
	{ .name = "coalesce" },
	{ .name = "flow_control" },
	{ .name = "service" },
	{ .name = "datagram_window" },
	{ .name = "ring_size" },
	{ .name = "ring_window" },
	{ .name = "ring_flush" },
	{ .name = "mem" },
	{ .name = "rmem_max" },
	{ .name = "wmem_max" },
	{ .name = "rewrite" },
	{ .name = "fallback_ms" },
	{ .name = "fallback_memory_ms" },
	{ .name = "unprivileged_rewrite" },
};

#define SETTINGS	ARRAY_SIZE(settings)

pid_t settings_owner;

static char policy_was[POLICY_MAX];

static ssize_t policy_was_len = -1;

/* Returns false if there is no such setting, or the kernel refuses the value. */
bool setting_write(const char *name, const char *value)
{
	char path[128];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), SETTING_DIR "%s", name);
	f = fopen(path, "w");
	if (!f)
		return false;
	ok = fputs(value, f) >= 0;
	return !fclose(f) && ok;
}

void setting_set(const char *name, long value)
{
	char text[32];
	size_t i = 0;

	while (i < SETTINGS && strcmp(settings[i].name, name))
		i++;
	need(i < SETTINGS, "%s would not be put back at the end", name);
	snprintf(text, sizeof(text), "%ld", value);
	need(setting_write(name, text), SETTING_DIR "%s does not take %ld", name, value);
}

/* Writes a policy in one write(). Returns the errno, or 0. */
int policy_write(const char *text, size_t len)
{
	int fd = open(POLICY_FILE, O_WRONLY), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, len) != (ssize_t)len)
		error = errno;
	close(fd);
	return error;
}

/* Reads the policy. Returns its length, or -1 if there is no such file. */
ssize_t policy_read(char text[POLICY_MAX])
{
	int fd = open(POLICY_FILE, O_RDONLY);
	ssize_t n, len = 0;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + len, POLICY_MAX - len)) > 0)
		len += n;
	close(fd);
	return n < 0 ? -1 : len;
}

void settings_reset(void)
{
	size_t i;

	if (policy_was_len >= 0)
		policy_write(policy_was_len ? policy_was : "\n", policy_was_len ?: 1);
	for (i = 0; i < SETTINGS; i++)
		if (settings[i].was[0])
			setting_write(settings[i].name, settings[i].was);
}

void settings_restore(void)
{
	if (getpid() == settings_owner)
		settings_reset();
}

/* Saves all settings that exist. They are restored when the program exits. */
void settings_save(void)
{
	char path[128];
	size_t i;

	settings_owner = getpid();
	for (i = 0; i < SETTINGS; i++) {
		FILE *f;

		snprintf(path, sizeof(path), SETTING_DIR "%s", settings[i].name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (!fgets(settings[i].was, sizeof(settings[i].was), f))
			settings[i].was[0] = 0;
		fclose(f);
	}
	policy_was_len = policy_read(policy_was);
	atexit(settings_restore);
}

/* The value of a counter of this network namespace, or -1 if there is no such counter. */
long long counter(const char *name)
{
	FILE *f = fopen(COUNTER_FILE, "r");
	long long value, found = -1;
	char key[64];

	if (!f)
		return -1;
	while (fscanf(f, "%63s %lld", key, &value) == 2)
		if (!strcmp(key, name))
			found = value;
	fclose(f);
	return found;
}

/* The counters and their values at the last counters_mark(). */
static struct {
	char name[64];
	long long value;
} marked[512];

static size_t marks;

void counters_mark(void)
{
	FILE *f = fopen(COUNTER_FILE, "r");

	need_errno(f, COUNTER_FILE);
	for (marks = 0; marks < ARRAY_SIZE(marked); marks++)
		if (fscanf(f, "%63s %lld", marked[marks].name, &marked[marks].value) != 2)
			break;
	fclose(f);
}

/* By how much a counter has increased since counters_mark(). */
long long since_mark(const char *name)
{
	size_t i = 0;

	while (i < marks && strcmp(marked[i].name, name))
		i++;
	need(i < marks, "%s was not among %zu counters", name, marks);
	return counter(name) - marked[i].value;
}
