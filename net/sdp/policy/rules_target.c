// SPDX-License-Identifier: GPL-2.0
/*
 * Rules parser: the target of a rule, its address, prefix and ports.
 *
 *	10.9.0.1	10.9.0.0/24:5201	*:80-89		*
 *	[fd00::1]:80	[fd00::/16]:80		[fd00::]/16:80	fd00::/16:80
 *
 * An IPv6 address without brackets must have a prefix. Otherwise a port could
 * not be told from the last group of the address.
 */
#include "rules_parts.h"

#define V4_BITS		96	/* bits before IPv4 in a v4-mapped address */

static char peek(const struct sdp_rules_cursor *c)
{
	return c->at < c->stop ? c->text[c->at] : 0;
}

static bool take_char(struct sdp_rules_cursor *c, char wanted)
{
	if (peek(c) != wanted)
		return false;
	c->at++;
	return true;
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static int hex_value(char ch)
{
	if (is_digit(ch))
		return ch - '0';
	ch |= 'a' - 'A';
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* Returns the first byte, from the cursor on, that is no hex digit. */
static char behind_hex(const struct sdp_rules_cursor *c)
{
	size_t i = c->at;

	while (i < c->stop && hex_value(c->text[i]) >= 0)
		i++;
	return i < c->stop ? c->text[i] : 0;
}

/*
 * Consumes a decimal number. Leading zeros are refused, since they look like
 * octal notation.
 */
static bool take_number(struct sdp_rules_cursor *c, u32 least, u32 most,
			u32 *value, const char *what)
{
	size_t start = c->at;
	u64 sum = 0;

	for (; is_digit(peek(c)); c->at++) {
		sum = sum * 10 + (u64)(peek(c) - '0');
		if (sum > most)
			return sdp_rules_fail(c, start, what);
	}
	if (c->at == start || sum < least ||
	    (c->text[start] == '0' && c->at - start > 1))
		return sdp_rules_fail(c, start, what);
	*value = (u32)sum;
	return true;
}

/**
 * sdp_rules_range() - consume a number, or a range N-M
 * @c: cursor
 * @least: smallest number allowed
 * @most: largest number allowed
 * @first: set to the first number
 * @last: set to the second number, or to the first when there is only one
 * @what: constant string that says what is expected
 *
 * Return: true on success; false, with the mistake recorded in @c, otherwise.
 */
bool sdp_rules_range(struct sdp_rules_cursor *c, u32 least, u32 most,
		     u32 *first, u32 *last, const char *what)
{
	size_t second;

	if (!take_number(c, least, most, first, what))
		return false;
	*last = *first;
	if (!take_char(c, '-'))
		return true;
	second = c->at;
	if (!take_number(c, least, most, last, what))
		return false;
	if (*last < *first)
		return sdp_rules_fail(
			c, second, "a range whose end is not below its start");
	return true;
}

static bool is_ip6(const struct sdp_rules_cursor *c)
{
	if (peek(c) == ':')
		return c->at + 1 < c->stop && c->text[c->at + 1] == ':';
	return peek(c) == '[' || behind_hex(c) == ':';
}

static bool take_ip4(struct sdp_rules_cursor *c, u8 out[4])
{
	static const char what[] = "an address, as 10.9.0.1 or [fd00::1], or *";
	u32 value;
	int i;

	for (i = 0; i < 4; i++) {
		if (i && !take_char(c, '.'))
			return sdp_rules_fail(c, c->at, what);
		if (!take_number(c, 0, 255, &value, what))
			return false;
		out[i] = (u8)value;
	}
	return true;
}

static u16 take_group(struct sdp_rules_cursor *c)
{
	u16 value = 0;
	int i;

	for (i = 0; i < 4 && hex_value(peek(c)) >= 0; i++, c->at++)
		value = (u16)(value << 4 | hex_value(peek(c)));
	return value;
}

/*
 * Consumes IPv6 groups into @out from @out[*n] on, until the word has no more
 * groups or 16 bytes are full. Sets @gap to the offset in @out at which "::"
 * stood.
 */
static bool take_groups(struct sdp_rules_cursor *c, u8 out[16], int *n,
			int *gap)
{
	u16 group;

	while (hex_value(peek(c)) >= 0 && *n < 16) {
		if (*n <= 12 && behind_hex(c) == '.') {
			*n += 4;
			return take_ip4(c, out + *n - 4);
		}
		group = take_group(c);
		out[(*n)++] = group >> 8;
		out[(*n)++] = group & 0xff;
		if (!take_char(c, ':'))
			return true;
		if (peek(c) == ':' && *gap < 0) {
			c->at++;
			*gap = *n;
		} else if (hex_value(peek(c)) < 0) {
			break;
		}
	}
	return true;
}

static bool take_ip6(struct sdp_rules_cursor *c, u8 out[16])
{
	static const char what[] = "an IPv6 address, as fd00::1";
	int n = 0, gap = -1, tail;

	memset(out, 0, 16);
	if (take_char(c, ':')) {
		if (!take_char(c, ':'))
			return sdp_rules_fail(c, c->at, what);
		gap = 0;
	}
	if (!take_groups(c, out, &n, &gap))
		return false;
	/* A colon at the end must be the second one of a "::". */
	if (c->text[c->at - 1] == ':' && gap != n)
		return sdp_rules_fail(c, c->at, what);
	if (hex_value(peek(c)) >= 0 || (gap < 0 ? n != 16 : n > 14))
		return sdp_rules_fail(c, c->at, what);
	if (gap >= 0) {
		tail = n - gap;
		memmove(out + 16 - tail, out + gap, (size_t)tail);
		memset(out + gap, 0, (size_t)(16 - n));
	}
	return true;
}

static bool take_prefix(struct sdp_rules_cursor *c, u32 most, u32 *prefix)
{
	return take_number(c, 0, most, prefix,
			   most == 32 ? "a prefix from 0 to 32" :
					"a prefix from 0 to 128");
}

static bool take_ip4_prefix(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	u32 prefix = 32;

	if (!take_ip4(c, rule->addr + 12) ||
	    (take_char(c, '/') && !take_prefix(c, 32, &prefix)))
		return false;
	rule->addr[10] = 0xff;
	rule->addr[11] = 0xff;
	rule->prefix = (u8)(V4_BITS + prefix);
	return true;
}

static bool take_ip6_prefix(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	size_t start = c->at;
	bool bracket = take_char(c, '[');
	bool given = false;
	u32 prefix = 128;

	if (!take_ip6(c, rule->addr))
		return false;
	if (take_char(c, '/')) {
		given = true;
		if (!take_prefix(c, 128, &prefix))
			return false;
	}
	if (bracket && !take_char(c, ']'))
		return sdp_rules_fail(c, c->at, "] after the IPv6 address");
	if (bracket && !given && take_char(c, '/') &&
	    !take_prefix(c, 128, &prefix))
		return false;
	if (!bracket && !given)
		return sdp_rules_fail(
			c, start, "[ ] around an IPv6 address without prefix");
	rule->prefix = (u8)prefix;
	return true;
}

static bool has_host_bits(const struct sdp_rule *rule)
{
	unsigned int bit;

	for (bit = rule->prefix; bit < 128; bit++)
		if (rule->addr[bit / 8] & 0x80 >> bit % 8)
			return true;
	return false;
}

static bool take_addr(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	size_t start = c->at;
	bool taken;

	rule->any_addr = take_char(c, '*');
	if (rule->any_addr)
		return true;
	if (is_ip6(c))
		taken = take_ip6_prefix(c, rule);
	else
		taken = take_ip4_prefix(c, rule);
	if (taken && has_host_bits(rule))
		return sdp_rules_fail(
			c, start,
			"an address without bits after the prefix, such as 10.9.0.0/24");
	return taken;
}

static bool take_ports(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	u32 first, last;

	if (take_char(c, '*'))
		return true;
	if (!sdp_rules_range(c, 1, 65535, &first, &last,
			     "a port from 1 to 65535, N-M or *"))
		return false;
	rule->port_first = (u16)first;
	rule->port_last = (u16)last;
	return true;
}

/**
 * sdp_rules_target() - consume the current word as an address with ports
 * @c: cursor, at the start of a word
 * @rule: its address, prefix and ports are set; its ports stay as they are
 *	(any) when the word has none
 *
 * Return: true on success; false, with the mistake recorded in @c, otherwise.
 */
bool sdp_rules_target(struct sdp_rules_cursor *c, struct sdp_rule *rule)
{
	if (!take_addr(c, rule) || (take_char(c, ':') && !take_ports(c, rule)))
		return false;
	if (c->at != c->stop)
		return sdp_rules_fail(c, c->at, "/prefix, :port or a blank");
	return true;
}
