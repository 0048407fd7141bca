// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes have a socket open.
 *
 * It walks /proc once, and compares descriptors with the inodes of the list. Only root sees other
 * users' descriptors.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "users.h"

struct inode {
	unsigned long long number;
	json_t *socket;
};

struct inodes {
	struct inode *inode;	/* sorted by number */
	size_t count;
};

static int compare(const void *a, const void *b)
{
	unsigned long long x = ((const struct inode *)a)->number;
	unsigned long long y = ((const struct inode *)b)->number;

	return x < y ? -1 : x > y;
}

static void sort(struct inodes *inodes, json_t *sockets)
{
	json_t *socket;
	size_t i;

	inodes->inode = sdp_need(calloc(json_array_size(sockets) + 1, sizeof(*inodes->inode)));
	json_array_foreach(sockets, i, socket) {
		struct inode *inode = &inodes->inode[inodes->count];

		inode->number = json_integer_value(json_object_get(socket, "inode"));
		inode->socket = socket;
		/* Sockets without a file have 0. */
		inodes->count += inode->number != 0;
	}
	qsort(inodes->inode, inodes->count, sizeof(*inodes->inode), compare);
}

static json_t *command_name(const char *pid)
{
	char path[sizeof("/proc//comm") + 20], comm[64] = "";
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "r");
	if (file) {
		len = fread(comm, 1, sizeof(comm) - 1, file);
		fclose(file);
	}
	if (len && comm[len - 1] == '\n')
		len--;
	return sdp_escaped(comm, len);
}

static void add_user(json_t *socket, const char *pid, const char *fd)
{
	json_t *users = json_object_get(socket, "users");
	json_t *user = sdp_need(json_pack("{s:o, s:i, s:i}", "comm", command_name(pid),
					  "pid", atoi(pid), "fd", atoi(fd)));

	if (!users) {
		users = sdp_need(json_array());
		json_object_set_new(socket, "users", users);
	}
	json_array_append_new(users, user);
}

static void look_at(const struct inodes *inodes, int directory, const char *pid, const char *fd)
{
	struct inode key = {}, *found;
	char link[64];
	ssize_t len = readlinkat(directory, fd, link, sizeof(link) - 1);

	if (len <= 0)
		return;
	link[len] = 0;
	if (sscanf(link, "socket:[%llu]", &key.number) != 1)
		return;
	found = bsearch(&key, inodes->inode, inodes->count, sizeof(key), compare);
	if (found)
		add_user(found->socket, pid, fd);
}

static void look_through(const struct inodes *inodes, const char *pid)
{
	char path[sizeof("/proc//fd") + 20];
	struct dirent *fd;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	fds = opendir(path);
	if (!fds)
		return;
	while ((fd = readdir(fds)))
		if (isdigit((unsigned char)fd->d_name[0]))
			look_at(inodes, dirfd(fds), pid, fd->d_name);
	closedir(fds);
}

/**
 * sdp_users_add() - add the processes that have a socket open
 * @sockets: array of objects with an inode; gets users where a process is found
 */
void sdp_users_add(json_t *sockets)
{
	struct inodes inodes = {};
	struct dirent *process;
	DIR *proc = opendir("/proc");

	if (!proc)
		return;
	sort(&inodes, sockets);
	while ((process = readdir(proc)))
		if (isdigit((unsigned char)process->d_name[0]))
			look_through(&inodes, process->d_name);
	closedir(proc);
	free(inodes.inode);
}

/**
 * sdp_users_text() - format the processes that have a socket open, as ss does
 * @socket: object
 *
 * Return: text for the caller to free, empty without users.
 */
char *sdp_users_text(const json_t *socket)
{
	json_t *users = json_object_get(socket, "users"), *user;
	char *text = sdp_text("%s", users ? "users:(" : ""), *longer;
	size_t i;

	json_array_foreach(users, i, user) {
		longer = sdp_text("%s%s(\"%s\",pid=%lld,fd=%lld)", text, i ? "," : "",
				  json_string_value(json_object_get(user, "comm")),
				  (long long)json_integer_value(json_object_get(user, "pid")),
				  (long long)json_integer_value(json_object_get(user, "fd")));
		free(text);
		text = longer;
	}
	if (!users)
		return text;
	longer = sdp_text("%s)", text);
	free(text);
	return longer;
}
