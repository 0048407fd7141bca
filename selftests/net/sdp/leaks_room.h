/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel has handed out, in memory that was full of a known byte; what must not be in it.
 */
#ifndef SDP_TEST_LEAKS_ROOM_H
#define SDP_TEST_LEAKS_ROOM_H

#include <linux/sdp.h>
#include <stddef.h>

#include "tap.h"

#define MARK	0xAA
#define ROOM	1024

static unsigned char room[ROOM];

static inline void mark(void)
{
	memset(room, MARK, sizeof(room));
}

/* Of what was handed out @len bytes are for us, and what follows is as it was. */
static inline void need_marks(const char *what, size_t len)
{
	size_t i;

	for (i = len; i < ROOM; i++)
		need(room[i] == MARK, "%s: byte %zu behind %zu was written to", what, i, len);
}

static inline void need_zeros(const char *what, size_t from, size_t to)
{
	for (; from < to; from++)
		need(!room[from], "%s: byte %zu is 0x%02x", what, from, room[from]);
}

/*
 * Addresses of the kernel begin with this on x86-64; the wire knows only made-up ones. A word may
 * begin every @step bytes; -1 and a small number beside it are none.
 */
static inline void need_no_address(const char *what, const void *data, size_t len, size_t step)
{
	unsigned long long word;
	size_t i;

	for (i = 0; i + 8 <= len; i += step) {
		memcpy(&word, (const char *)data + i, 8);
		need(word >> 47 != 0x1ffff || word == ~0ull ||
		     (step < 8 && word >> 31 == 0x1fffffffe), "%s: 0x%llx at %zu", what, word, i);
	}
}

/* Text has an end, and zeros behind it. */
static inline void need_info_padding(const struct sdp_info *info)
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

#endif /* SDP_TEST_LEAKS_ROOM_H */
