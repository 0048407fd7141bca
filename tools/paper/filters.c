// SPDX-License-Identifier: GPL-2.0
/*
 * What the stages of the pipelines compute.
 *
 *	microscope	read, decompress, clip, zoom, view: the file is a slide of 8 bits per pixel
 *			and WIDTH pixels per row; its middle is shown at half its size
 *	words		read, extract, classify, merge: the file is a text; its words are counted
 *			by a number for each word
 *
 * Each filter runs in a process of its own, so its state is static.
 */
#include <ctype.h>
#include <err.h>
#include <string.h>
#include <zlib.h>

#include "pipeline.h"

#define WIDTH		1024u
#define CLIP_FROM	192u
#define CLIP_TO		832u
#define CLIPPED		(CLIP_TO - CLIP_FROM)
#define ZOOMED		(CLIPPED / 2)
#define WORD_MIN	3u
#define WORD_MAX	63u
#define CLASSES		65536u

static uint64_t fnv(uint64_t sum, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		sum = (sum ^ *p++) * 1099511628211ull;
	return sum;
}

static void decompress(const unsigned char *data, size_t len, struct outflow *out,
		       struct result *result)
{
	static unsigned char plain[16384];
	static z_stream z;
	static int begun;
	int status = Z_OK;

	(void)result;
	if (!begun++ && inflateInit(&z) != Z_OK)
		errx(1, "zlib does not begin");
	z.next_in = (void *)data;
	z.avail_in = len;
	while (z.avail_in && status == Z_OK) {
		z.next_out = plain;
		z.avail_out = sizeof(plain);
		status = inflate(&z, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END)
			errx(1, "the data is not what was compressed: %d", status);
		put(out, plain, sizeof(plain) - z.avail_out);
	}
}

/* The middle columns of each row. */
static void clip(const unsigned char *data, size_t len, struct outflow *out,
		 struct result *result)
{
	static size_t column;

	(void)result;
	while (len) {
		size_t limit = column < CLIP_FROM ? CLIP_FROM : column < CLIP_TO ? CLIP_TO : WIDTH;
		size_t n = limit - column < len ? limit - column : len;

		if (limit == CLIP_TO)
			put(out, data, n);
		column = (column + n) % WIDTH;
		data += n;
		len -= n;
	}
}

/* The mean of two by two pixels. */
static void zoom(const unsigned char *data, size_t len, struct outflow *out,
		 struct result *result)
{
	static unsigned int sums[ZOOMED];
	static size_t at;
	unsigned char row[ZOOMED];
	size_t i;

	(void)result;
	for (; len; len--, data++) {
		sums[at % CLIPPED / 2] += *data;
		if (++at < 2 * CLIPPED)
			continue;
		for (i = 0; i < ZOOMED; i++)
			row[i] = (sums[i] + 2) / 4;
		put(out, row, sizeof(row));
		memset(sums, 0, sizeof(sums));
		at = 0;
	}
}

/* A histogram of the brightness, and a checksum of the picture. */
static void view(const unsigned char *data, size_t len, struct outflow *out,
		 struct result *result)
{
	static uint32_t histogram[256];
	size_t i;

	(void)out;
	if (!len) {
		result->sum = fnv(result->sum, histogram, sizeof(histogram));
		return;
	}
	for (i = 0; i < len; i++)
		histogram[data[i]]++;
	result->sum = fnv(result->sum, data, len);
}

/* The words of a text, one per line. */
static void extract(const unsigned char *data, size_t len, struct outflow *out,
		    struct result *result)
{
	static char word[WORD_MAX + 1];
	static size_t used;

	(void)result;
	for (; len; len--, data++) {
		if (isalnum(*data) || *data == '_') {
			if (used < WORD_MAX)
				word[used++] = *data;
			continue;
		}
		word[used] = '\n';
		if (used >= WORD_MIN)
			put(out, word, used + 1);
		used = 0;
	}
}

/* Each word becomes a number. */
static void classify(const unsigned char *data, size_t len, struct outflow *out,
		     struct result *result)
{
	static uint64_t hash = 14695981039346656037ull;

	(void)result;
	for (; len; len--, data++) {
		uint16_t class;

		if (*data != '\n') {
			hash = fnv(hash, data, 1);
			continue;
		}
		class = hash >> 48 ^ hash;
		put(out, &class, sizeof(class));
		hash = 14695981039346656037ull;
	}
}

static void merge(const unsigned char *data, size_t len, struct outflow *out,
		  struct result *result)
{
	static uint32_t count[CLASSES];
	static unsigned int half, got;

	(void)out;
	if (!len)
		result->sum = fnv(result->sum, count, sizeof(count));
	for (; len; len--, data++) {
		half |= (unsigned int)*data << 8 * got;
		if (++got < sizeof(uint16_t))
			continue;
		count[half]++;
		half = 0;
		got = 0;
	}
}

const struct pipeline pipelines[] = {
	{ "microscope", ".z", { decompress, clip, zoom, view } },
	{ "words", "", { extract, classify, merge } },
};

const size_t pipeline_count = sizeof(pipelines) / sizeof(pipelines[0]);
