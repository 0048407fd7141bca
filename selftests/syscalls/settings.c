// SPDX-License-Identifier: GPL-2.0
/* Settings, see settings.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

#define SETTINGS "/proc/sys/net/sdp"

enum { MAX_SETTINGS = 64, TEXT = 4096 };

static struct setting {
	char path[300];
	char text[TEXT];
} settings[MAX_SETTINGS];
static unsigned int count;

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* policy_error is read-only. */
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static void remember(const char *name)
{
	struct setting *s = &settings[count];
	ssize_t n;
	int fd;

	snprintf(s->path, sizeof(s->path), SETTINGS "/%s", name);
	fd = open(s->path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, s->text, TEXT - 1);
	if (n >= 0) {
		/* An empty policy is written as an empty line. */
		strcpy(s->text + n, n ? "" : "\n");
		count++;
	}
	if (fd >= 0)
		close(fd);
}

void settings_begin(void)
{
	DIR *d = opendir(SETTINGS);
	struct dirent *e;

	while (d && count < MAX_SETTINGS && (e = readdir(d)))
		if (*e->d_name != '.' && strcmp(e->d_name, "policy_error"))
			remember(e->d_name);
	if (d)
		closedir(d);
	settings_restore();
}

void settings_end(void)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		write_text(settings[i].path, settings[i].text);
}

void settings_restore(void)
{
	settings_end();
	write_text(SETTINGS "/policy", "any * both");
	write_text(SETTINGS "/rewrite", "1");
}
