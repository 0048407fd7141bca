// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar of the policy. One rule on a line, or between two semicolons:
 *
 *	listen | connect | any  TARGET  { program | path | cgroup GLOB, uid N[-M] }  VERDICT
 *	use VERDICT  server | listen | client | connect  PROGRAM  TARGET	(libsdp.conf)
 *	log ...								(libsdp.conf, ignored)
 *
 * VERDICT is sdp, tcp or both; TARGET is in rules_target.c. A # that begins a word, and what
 * follows on its line, is a comment.
 */
#include "glob.h"
#include "rules_parts.h"

#define COMM_MAX	15	/* bytes of a command name that the kernel keeps */
#define UID_MAX		(~0U - 1)	/* the largest number is nobody's */

static const char program_wanted[] = "a pattern for the program's name, or *";

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t';
}

static bool ends_rule(char ch)
{
	return ch == '\n' || ch == ';';
}

/* On to the next word of this rule; false when there is none. */
static bool next_word(struct sdp_rules_cursor *c)
{
	while (c->at < c->len && is_blank(c->text[c->at]))
		c->at++;
	c->word = c->at;
	c->stop = c->at;
	if (c->at < c->len && c->text[c->at] == '#')
		return false;
	while (c->stop < c->len && !is_blank(c->text[c->stop]) &&
	       !ends_rule(c->text[c->stop]))
		c->stop++;
	return c->stop > c->at;
}

static bool word_is(const struct sdp_rules_cursor *c, const char *wanted)
{
	size_t len = strlen(wanted);

	return c->stop - c->word == len &&
	       !memcmp(c->text + c->word, wanted, len);
}

/* Takes one of the first n of these words: its number, or -1. */
static int one_of(struct sdp_rules_cursor *c, const char *const *words, int n,
		  const char *what)
{
	int i;

	if (next_word(c)) {
		for (i = 0; i < n; i++) {
			if (word_is(c, words[i])) {
				c->at = c->stop;
				return i;
			}
		}
	}
	sdp_rules_fail(c, c->word, what);
	return -1;
}

/* Takes the present word as a pattern that matches a string of most bytes or fewer. */
static bool take_glob(struct sdp_rules_cursor *c, struct sdp_pattern *pattern,
		      size_t most)
{
	size_t len = c->stop - c->word, good, shortest;

	if (len > SDP_POLICY_GLOB_MAX)
		return sdp_rules_fail(c, c->word,
				      "a pattern of at most 255 bytes");
	good = sdp_glob_check(c->text + c->word, len, &shortest);
	if (good != len)
		return sdp_rules_fail(
			c, c->word + good,
			c->text[c->word + good] == '[' ?
				"[ with its ], no [:class:], no range backwards" :
				"a pattern with something behind its \\");
	if (shortest > most)
		return sdp_rules_fail(c, c->word,
				      "at most 15 bytes of the program's name, and * for the rest");
	pattern->at = (u16)c->word;
	pattern->len = (u16)len;
	c->at = c->stop;
	return true;
}

/* What is matched begins with a slash, so a pattern that cannot is a mistake. */
static bool take_path_glob(struct sdp_rules_cursor *c,
			   struct sdp_pattern *pattern)
{
	if (!next_word(c) || !strchr("/*?[\\", c->text[c->word]))
		return sdp_rules_fail(c, c->word, "a pattern for a path, from / or * on");
	return take_glob(c, pattern, SDP_POLICY_TEXT_MAX);
}

static bool take_uid(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char what[] = "a user's number, or N-M";

	next_word(c);
	if (!sdp_rules_range(c, 0, UID_MAX, &rule->uid_first, &rule->uid_last, what))
		return false;
	return c->at == c->stop || sdp_rules_fail(c, c->at, what);
}

/* What may follow the target; the verdicts by their numbers. */
enum {
	WORD_PROGRAM = SDP_VERDICTS,
	WORD_PATH,
	WORD_CGROUP,
	WORD_UID,
	WORDS
};

static const char * const words[WORDS] = {
	[SDP_VERDICT_TCP]	= "tcp",
	[SDP_VERDICT_SDP]	= "sdp",
	[SDP_VERDICT_BOTH]	= "both",
	[WORD_PROGRAM]		= "program",
	[WORD_PATH]		= "path",
	[WORD_CGROUP]		= "cgroup",
	[WORD_UID]		= "uid",
};

static bool is_given(const struct sdp_rule *rule, int word)
{
	switch (word) {
	case WORD_PROGRAM:
		return rule->program.len;
	case WORD_PATH:
		return rule->path.len;
	case WORD_CGROUP:
		return rule->cgroup.len;
	default:
		return rule->uid_last <= UID_MAX;
	}
}

static bool take_condition(struct sdp_rules_cursor *c, struct sdp_rule *rule,
			   int word)
{
	if (is_given(rule, word))
		return sdp_rules_fail(c, c->word,
				      "no condition of this kind again");
	switch (word) {
	case WORD_PROGRAM:
		if (!next_word(c))
			return sdp_rules_fail(c, c->word, program_wanted);
		return take_glob(c, &rule->program, COMM_MAX);
	case WORD_PATH:
		return take_path_glob(c, &rule->path);
	case WORD_CGROUP:
		return take_path_glob(c, &rule->cgroup);
	default:
		return take_uid(c, rule);
	}
}

/* What follows the role: TARGET, conditions, VERDICT. */
static bool own_rule(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	int word;

	next_word(c);
	if (!sdp_rules_target(c, rule))
		return false;
	for (;;) {
		word = one_of(c, words, WORDS,
			      "program, path, cgroup, uid, or sdp, tcp, both");
		if (word < 0)
			return false;
		if (word < SDP_VERDICTS) {
			rule->verdict = (u8)word;
			return true;
		}
		if (!take_condition(c, rule, word))
			return false;
	}
}

/* What follows "use" in libsdp.conf: VERDICT ROLE PROGRAM TARGET. */
static bool libsdp_rule(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char *const roles[] = { "listen", "server", "connect",
					     "client" };
	int word;

	word = one_of(c, words, SDP_VERDICTS, "tcp, sdp or both");
	if (word < 0)
		return false;
	rule->verdict = (u8)word;
	word = one_of(c, roles, 4, "server, listen, client or connect");
	if (word < 0)
		return false;
	rule->roles =
		(u8)(1U << (word < 2 ? SDP_ROLE_LISTEN : SDP_ROLE_CONNECT));
	if (!next_word(c))
		return sdp_rules_fail(c, c->word, program_wanted);
	if (word_is(c, "*"))
		c->at = c->stop;
	else if (!take_glob(c, &rule->program, COMM_MAX))
		return false;
	next_word(c);
	return sdp_rules_target(c, rule);
}

static void skip_words(struct sdp_rules_cursor *c)
{
	while (next_word(c))
		c->at = c->stop;
}

/* One rule, to its end. A statement that makes none leaves @rule without roles. */
static bool statement(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char *const first[] = { "listen", "connect", "any", "use",
					     "log" };
	static const u8 roles[] = {
		1U << SDP_ROLE_LISTEN,
		1U << SDP_ROLE_CONNECT,
		1U << SDP_ROLE_LISTEN | 1U << SDP_ROLE_CONNECT,
	};
	int word =
		one_of(c, first, 5,
		       "listen, connect or any, or use or log of libsdp.conf");

	if (word < 0)
		return false;
	if (word == 4) {
		skip_words(c);
		return true;
	}
	if (word == 3) {
		if (!libsdp_rule(c, rule))
			return false;
	} else {
		rule->roles = roles[word];
		if (!own_rule(c, rule))
			return false;
	}
	return !next_word(c) ||
	       sdp_rules_fail(c, c->word, "the end of the rule");
}

static bool parse(struct sdp_rules_cursor *c, struct sdp_rule *rules,
		  unsigned int max, unsigned int *count)
{
	struct sdp_rule rule;
	u16 line = 1;

	while (c->at < c->len) {
		if (next_word(c)) {
			memset(&rule, 0, sizeof(rule));
			rule.line = line;
			rule.port_last = 65535;
			rule.uid_last = ~0U;
			if (*count == max && !word_is(c, "log"))
				return sdp_rules_fail(c, c->word,
						      "no more than 256 rules");
			if (!statement(c, &rule))
				return false;
			if (rule.roles)
				rules[(*count)++] = rule;
		}
		if (c->at < c->len && c->text[c->at] == '#')
			while (c->at < c->len && c->text[c->at] != '\n')
				c->at++;
		if (c->at < c->len && c->text[c->at++] == '\n')
			line++;
	}
	return true;
}

/* Nothing in the text, or in a message about it, may confuse a terminal or end a string. */
static bool check_text(struct sdp_rules_cursor *c)
{
	size_t i;

	if (c->len > SDP_POLICY_TEXT_MAX)
		return sdp_rules_fail(c, SDP_POLICY_TEXT_MAX,
				      "no more than 16384 bytes");
	for (i = 0; i < c->len; i++)
		if ((c->text[i] < ' ' || c->text[i] > '~') &&
		    c->text[i] != '\t' && c->text[i] != '\n')
			return sdp_rules_fail(
				c, i,
				"only printable ASCII, blanks and newlines");
	return true;
}

static void locate(const struct sdp_rules_cursor *c,
		   struct sdp_rules_error *error)
{
	size_t i;

	error->line = 1;
	error->column = 1;
	error->what = c->what;
	for (i = 0; i < c->wrong; i++) {
		error->column++;
		if (c->text[i] == '\n') {
			error->line++;
			error->column = 1;
		}
	}
}

/**
 * sdp_rules_bound() - how many rules can a text be at most?
 * @text: the policy, or what shall become it
 * @len: its bytes
 *
 * For the array that sdp_rules_parse() fills; it looks at separators only.
 *
 * Return: 1 to %SDP_POLICY_RULES_MAX.
 */
unsigned int sdp_rules_bound(const char *text, size_t len)
{
	unsigned int n = 1;
	size_t i;

	for (i = 0; i < len && n < SDP_POLICY_RULES_MAX; i++)
		if (ends_rule(text[i]))
			n++;
	return n;
}

/**
 * sdp_rules_parse() - make rules of a text
 * @text: the policy; need not end with NUL
 * @len: its bytes
 * @rules: filled with the rules; they refer to @text, so the caller keeps both
 * @max: how many there is room for, as much as sdp_rules_bound() says
 * @error: filled when the text is not a policy
 *
 * Neither locks, sleeps nor allocates, and @text is not changed. An empty text, or one of
 * comments only, is a policy without rules.
 *
 * Return: the number of rules; -1 when the text is wrong, and then @rules says nothing.
 */
int sdp_rules_parse(const char *text, size_t len, struct sdp_rule *rules,
		    unsigned int max, struct sdp_rules_error *error)
{
	struct sdp_rules_cursor c = { .text = text, .len = len };
	unsigned int count = 0;

	if (check_text(&c) && parse(&c, rules, max, &count))
		return (int)count;
	locate(&c, error);
	return -1;
}
