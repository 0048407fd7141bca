// SPDX-License-Identifier: GPL-2.0
/* sdp: administration of AF_SDP from the command line. sdp(8) describes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "sdp.h"

static const struct sdp_command *const commands[] = {
	&sdp_policy_command, &sdp_list_command, &sdp_stat_command, &sdp_fallbacks_command,
	&sdp_check_command, &sdp_kill_command,
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static const char statuses[] =
	"Status: 0 fine; 1 wrong, or with check: not SDP; 2 the command line is wrong;\n"
	"3 AF_SDP is not there; 4 the kernel refused. With --json what is printed is JSON.\n"
	"sdp(8) tells more.\n";

/* "usage: " precedes the first line; a line that starts with a blank continues the one before. */
static void print_usage(FILE *to, const char *lines, bool first)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		const char *name = *lines == ' ' ? "   " : "sdp";

		fprintf(to, "%s %s %.*s\n", first ? "usage:" : "      ", name, (int)len, lines);
		lines += len + (lines[len] == '\n');
		first = false;
	}
}

static void print_all(FILE *to)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		print_usage(to, commands[i]->usage, !i);
	print_usage(to, "help [COMMAND]\n--version", false);
	fprintf(to, "\n%s", statuses);
}

static void print_command(FILE *to, const struct sdp_command *command)
{
	print_usage(to, command->usage, true);
	if (command->help)
		fprintf(to, "\n%s", command->help);
	fprintf(to, "\n%s", statuses);
}

static const struct sdp_command *find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/**
 * sdp_usage() - report a wrong command line
 * @command: the command, NULL for none
 * @wrong: what is wrong with it, or NULL when that was printed before
 *
 * Return: %SDP_USAGE, for the caller to return.
 */
int sdp_usage(const struct sdp_command *command, const char *wrong)
{
	if (wrong)
		fprintf(stderr, "sdp: %s\n", wrong);
	if (command)
		print_usage(stderr, command->usage, true);
	else
		print_all(stderr);
	return SDP_USAGE;
}

static int no_such_command(const char *word)
{
	fprintf(stderr, "sdp: no such command: %s\n", word);
	return sdp_usage(NULL, NULL);
}

static void say_bad_option(int found, char **argv)
{
	const char *word = argv[optind - 1];

	if (found == ':')
		fprintf(stderr, "sdp: %s needs a value\n", word);
	else if (!strncmp(word, "--", 2))
		fprintf(stderr, "sdp: no such option: %s\n", word);
	else
		fprintf(stderr, "sdp: no such option: -%c\n", optopt);
}

/**
 * sdp_option() - the next option of a command, by getopt_long()
 * @argc: number of words
 * @argv: words; they are reordered, options first
 * @shorts: short options, starting with ":hj"
 * @longs: long options, ending with SDP_COMMON_OPTIONS
 *
 * Return: the option's letter; 'h' when the caller must print its help; -1 after the last option;
 * '?' for a wrong option, which was reported.
 */
int sdp_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
	int found;

	opterr = 0;
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) == 'j')
		sdp_json = true;
	if (found == '?' || found == ':') {
		say_bad_option(found, argv);
		return '?';
	}
	return found;
}

/**
 * sdp_help_or_usage() - handle an option that the command does not handle itself
 * @command: command
 * @found: 'h' for help, or '?'
 *
 * Return: the program's status.
 */
int sdp_help_or_usage(const struct sdp_command *command, int found)
{
	if (found != 'h')
		return sdp_usage(command, NULL);
	print_command(stdout, command);
	return SDP_FINE;
}

/**
 * sdp_no_options() - parse the command line of a command without options of its own
 * @command: command
 * @argc: number of words
 * @argv: words
 * @words: number of words that must remain
 * @otherwise: error message if there are fewer or more
 *
 * Return: -1 when it is right and the words begin at optind, otherwise the program's status.
 */
int sdp_no_options(const struct sdp_command *command, int argc, char **argv, int words,
		   const char *otherwise)
{
	static const struct option longs[] = { SDP_COMMON_OPTIONS };
	int found = sdp_option(argc, argv, ":hj", longs);

	if (found != -1)
		return sdp_help_or_usage(command, found);
	return argc - optind == words ? -1 : sdp_usage(command, otherwise);
}

/**
 * sdp_number() - parse a whole number
 * @text: digits and nothing else
 * @most: the largest valid number
 * @value: the number
 *
 * Return: true if it is valid.
 */
bool sdp_number(const char *text, unsigned long most, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= most;
}

static int help(int argc, char **argv)
{
	const struct sdp_command *command;

	if (!argc) {
		print_all(stdout);
		return SDP_FINE;
	}
	command = find(argv[0]);
	if (!command)
		return no_such_command(argv[0]);
	print_command(stdout, command);
	return SDP_FINE;
}

static int run(int argc, char **argv)
{
	const struct sdp_command *command;

	while (argc && !strcmp(argv[0], "--json")) {
		sdp_json = true;
		argc--;
		argv++;
	}
	if (!argc)
		return sdp_usage(NULL, "what shall be done?");
	if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V")) {
		puts("sdp " SDP_VERSION);
		return SDP_FINE;
	}
	if (!strcmp(argv[0], "help") || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return help(argc - 1, argv + 1);
	command = find(argv[0]);
	if (!command)
		return no_such_command(argv[0]);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		print_command(stdout, command);
		return SDP_FINE;
	}
	return command->run(command, argc, argv);
}

/* An output that cannot be written, as on a full disk, is an error. */
int main(int argc, char **argv)
{
	int status = run(argc - 1, argv + 1);

	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "sdp: standard output: %s\n", strerror(errno));
		return SDP_WRONG;
	}
	return status;
}
