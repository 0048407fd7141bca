// SPDX-License-Identifier: GPL-2.0
/*
 * Memory full of a known byte, for the kernel to write to, and what must not be in it.
 */
#include "leaks.h"

unsigned char room[ROOM];

void mark(void)
{
	memset(room, MARK, sizeof(room));
}

/* The first @len bytes were handed out; the others are as they were. */
void need_marks(const char *what, size_t len)
{
	size_t i;

	for (i = len; i < ROOM; i++)
		need(room[i] == MARK, "%s: byte %zu behind %zu was written to", what, i, len);
}

void need_zeros(const char *what, size_t from, size_t to)
{
	for (; from < to; from++)
		need(!room[from], "%s: byte %zu is 0x%02x", what, from, room[from]);
}

/*
 * No word that begins at a multiple of @step bytes looks like an address of the kernel, whose upper
 * 17 bits are set on x86-64. (The addresses on the wire are made up.) A -1 is no address. If @step
 * is 4, nor is a 32-bit -1 that follows a small number.
 */
void need_no_address(const char *what, const void *data, size_t len, size_t step)
{
	unsigned long long word;
	size_t i;

	for (i = 0; i + 8 <= len; i += step) {
		memcpy(&word, (const char *)data + i, 8);
		need(word >> 47 != 0x1ffff || word == ~0ull ||
		     (step < 8 && word >> 31 == 0x1fffffffe), "%s: 0x%llx at %zu", what, word, i);
	}
}

/* All bytes behind a text are 0. */
void need_info_padding(const struct sdp_info *info)
{
	size_t text;

	memmove(room, info, sizeof(*info));
	info = (const void *)room;
	text = offsetof(struct sdp_info, transport);
	need_zeros("transport", text + strnlen(info->transport, sizeof(info->transport)),
		   text + sizeof(info->transport));
	text = offsetof(struct sdp_info, device);
	need_zeros("device", text + strnlen(info->device, sizeof(info->device)),
		   text + sizeof(info->device));
}
