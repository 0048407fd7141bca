// SPDX-License-Identifier: GPL-2.0
/*
 * Rules parser: statements, conditions and verdicts.
 *
 * A newline or a semicolon ends a rule. The forms are:
 *
 *	listen | connect | any  TARGET  { CONDITION }  VERDICT  [ by SERVICE ]
 *	use VERDICT  server | listen | client | connect  PROGRAM  TARGET
 *	log ...
 *
 * CONDITION is "program GLOB", "path GLOB", "cgroup GLOB" or "uid N[-M]", each
 * at most once. VERDICT is sdp, tcp or both. SERVICE is rc, ud or auto, for
 * connects by SDP. rules_target.c has the syntax of TARGET. The last two forms
 * are those of libsdp.conf; log is ignored. A word that begins with # starts a
 * comment, which ends at the end of the line.
 */
#include "glob.h"
#include "rules_parts.h"

#define COMM_MAX	15	/* bytes that the kernel keeps of a name */
#define UID_MAX		(~0U - 1)	/* ~0U is INVALID_UID */

static const char end_for_listeners[] =
	"the end of the rule: listeners take connections by all services";
static const char program_wanted[] = "a pattern for the program's name, or *";

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t';
}

static bool ends_rule(char ch)
{
	return ch == '\n' || ch == ';';
}

/* Moves to the next word of this rule. Returns false when there is none. */
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

/*
 * Consumes the next word, which must be one of the first @n of @words. Returns
 * its index, or -1.
 */
static int take_one_of(struct sdp_rules_cursor *c, const char *const *words,
		       int n, const char *what)
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

/*
 * Consumes the current word as a pattern. A pattern that matches only strings
 * of more than @most bytes could never match and is refused.
 */
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
				"a closed [ ] without classes or reversed ranges" :
				"a character after \\");
	if (shortest > most)
		return sdp_rules_fail(c, c->word,
				      "a pattern that can match a name of 15 bytes (use * for the rest)");
	pattern->at = (u16)c->word;
	pattern->len = (u16)len;
	c->at = c->stop;
	return true;
}

/*
 * Paths begin with a slash. A pattern that cannot match a slash first could
 * never match, so it is refused.
 */
static bool take_path_glob(struct sdp_rules_cursor *c,
			   struct sdp_pattern *pattern)
{
	if (!next_word(c) || !strchr("/*?[\\", c->text[c->word]))
		return sdp_rules_fail(c, c->word,
				      "a pattern for an absolute path, starting with / or *");
	return take_glob(c, pattern, SDP_POLICY_TEXT_MAX);
}

static bool take_uid(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char what[] = "a user ID, or a range N-M";

	next_word(c);
	if (!sdp_rules_range(c, 0, UID_MAX, &rule->uid_first, &rule->uid_last,
			     what))
		return false;
	return c->at == c->stop || sdp_rules_fail(c, c->at, what);
}

/* Words allowed after the target. The verdicts have their own numbers. */
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
				      "each condition at most once");
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

/*
 * Parses "by SERVICE" behind a verdict, if it is there. The words are in the
 * order of enum sdp_service_kind.
 */
static bool take_service(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char *const services[] = { "rc", "ud", "auto" };
	int word;

	if (rule->verdict == SDP_VERDICT_TCP || !next_word(c) ||
	    !word_is(c, "by"))
		return true;
	if (!(rule->roles & 1U << SDP_ROLE_CONNECT))
		return sdp_rules_fail(c, c->word, end_for_listeners);
	c->at = c->stop;
	word = take_one_of(c, services, 3, "rc, ud or auto");
	rule->service = (u8)(word + 1);
	return word >= 0;
}

/* Parses what follows the role: TARGET, conditions, VERDICT, "by SERVICE". */
static bool native_rule(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	int word;

	next_word(c);
	if (!sdp_rules_target(c, rule))
		return false;
	for (;;) {
		word = take_one_of(c, words, WORDS,
				   "program, path, cgroup, uid, or sdp, tcp, both");
		if (word < 0)
			return false;
		if (word < SDP_VERDICTS) {
			rule->verdict = (u8)word;
			return take_service(c, rule);
		}
		if (!take_condition(c, rule, word))
			return false;
	}
}

/* Parses what follows "use" (libsdp.conf): VERDICT ROLE PROGRAM TARGET. */
static bool libsdp_rule(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char *const roles[] = { "listen", "server", "connect",
					     "client" };
	int word;

	word = take_one_of(c, words, SDP_VERDICTS, "tcp, sdp or both");
	if (word < 0)
		return false;
	rule->verdict = (u8)word;
	word = take_one_of(c, roles, 4, "server, listen, client or connect");
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

/*
 * Parses one statement to its end. A statement that makes no rule ("log")
 * leaves @rule->roles at 0.
 */
static bool rule_statement(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	static const char *const first[] = { "listen", "connect", "any", "use",
					     "log" };
	static const u8 roles[] = {
		1U << SDP_ROLE_LISTEN,
		1U << SDP_ROLE_CONNECT,
		1U << SDP_ROLE_LISTEN | 1U << SDP_ROLE_CONNECT,
	};
	int word = take_one_of(c, first, 5,
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
		if (!native_rule(c, rule))
			return false;
	}
	return !next_word(c) ||
	       sdp_rules_fail(c, c->word, "the end of the rule");
}

static bool parse_rules(struct sdp_rules_cursor *c, struct sdp_rule *rules,
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
			if (!rule_statement(c, &rule))
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

/*
 * The text is shown on terminals and handled as a C string: only printable
 * ASCII, tabs and newlines are allowed.
 */
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

static void locate_error(const struct sdp_rules_cursor *c,
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
 * sdp_rules_bound() - upper bound for the number of rules in a text
 * @text: policy's text; it need not be valid
 * @len: length of @text in bytes
 *
 * Counts separators only. The caller allocates the array for sdp_rules_parse()
 * by the result.
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
 * sdp_rules_parse() - parse a text into rules
 * @text: policy's text; it need not be terminated by NUL
 * @len: length of @text in bytes
 * @rules: array to fill; its rules refer to @text, so the caller keeps both
 * @max: number of elements of @rules, at least sdp_rules_bound()
 * @error: filled in when the text is not valid
 *
 * Does not lock, sleep or allocate, and does not change @text. An empty text,
 * or one with comments only, is a valid policy without rules.
 *
 * Return: the number of rules, or -1 when the text is not valid. The contents
 * of @rules are undefined then.
 */
int sdp_rules_parse(const char *text, size_t len, struct sdp_rule *rules,
		    unsigned int max, struct sdp_rules_error *error)
{
	struct sdp_rules_cursor c = { .text = text, .len = len };
	unsigned int count = 0;

	if (check_text(&c) && parse_rules(&c, rules, max, &count))
		return (int)count;
	locate_error(&c, error);
	return -1;
}
