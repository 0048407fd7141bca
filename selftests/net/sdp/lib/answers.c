// SPDX-License-Identifier: GPL-2.0
#include "answers.h"

static struct answer {
	const char *what;
	long value;
	int error;
} answers[2][128];		/* [0]: TCP, [1]: the family under test */

static unsigned int answers_round;

unsigned int asked;

void answer_error(const char *what, long value, int error)
{
	need(asked < ARRAY_SIZE(answers[0]), "too many questions");
	answers[answers_round][asked++] = (struct answer){ what, value, error };
}

void answer(const char *what, long value)
{
	answer_error(what, value, value < 0 ? errno : 0);
}

/*
 * Runs @ask on TCP, then on the family under test, and compares the answers. With --self, that
 * family is TCP as well: this tests the test.
 */
int answers_compare(void (*ask)(void))
{
	unsigned int i, asked_before, wrong = 0;
	bool sdp = use_sdp;

	use_sdp = false;
	ask();
	answers_round = 1;
	asked_before = asked;
	asked = 0;
	use_sdp = sdp;
	ask();
	need(asked == asked_before, "%u answers and %u", asked_before, asked);
	for (i = 0; i < asked; i++) {
		const struct answer *tcp = &answers[0][i], *sdp = &answers[1][i];

		if (tcp->value == sdp->value && tcp->error == sdp->error)
			continue;
		wrong++;
		printf("# %u %s: TCP %ld %s, AF_SDP %ld %s\n", i, tcp->what, tcp->value,
		       errno_text(tcp->error), sdp->value, errno_text(sdp->error));
	}
	printf("# %u answers compared\n", asked);
	return wrong ? EXIT_FAILED : EXIT_OK;
}
