// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of integer socket options: lookup, set and get.
 *
 * struct sdp_option describes a row. The caller passes the table of its level.
 * Values are read and written without a lock.
 */
#include "../conn/sock.h"
#include "sockopt.h"

static const struct sdp_option *option_find(const struct sdp_option *table,
					    size_t n, int name)
{
	for (; n; n--, table++)
		if (table->name == name)
			return table;
	return NULL;
}

static int *option_field(struct sdp_sock *ssk, const struct sdp_option *option)
{
	return (int *)((u8 *)&ssk->opt + option->field);
}

static int option_store(struct sdp_sock *ssk, const struct sdp_option *option,
			int val)
{
	if (option->high < option->low)
		val = !!val;
	else if (val < option->low || val > option->high)
		return -EINVAL;
	WRITE_ONCE(*option_field(ssk, option), val);
	return 0;
}

/**
 * sdp_option_set() - set an integer option
 * @ssk: socket
 * @table: options of the level
 * @n: number of rows in @table
 * @name: option
 * @val: new value
 *
 * Return: 0, -EINVAL for a value out of range, -ENOPROTOOPT if @name is not in
 * the table, or the errno of the option's set().
 */
int sdp_option_set(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int val)
{
	const struct sdp_option *option = option_find(table, n, name);
	int err;

	if (!option)
		return -ENOPROTOOPT;
	err = option->set ? option->set(ssk, val) :
			    option_store(ssk, option, val);
	if (!err && option->changed)
		option->changed(ssk);
	return err;
}

/**
 * sdp_option_get() - get an integer option
 * @ssk: socket
 * @table: options of the level
 * @n: number of rows in @table
 * @name: option
 * @val: result
 *
 * Return: 0, or -ENOPROTOOPT if @name is not in the table.
 */
int sdp_option_get(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int *val)
{
	const struct sdp_option *option = option_find(table, n, name);

	if (!option)
		return -ENOPROTOOPT;
	*val = option->get ? option->get(ssk) :
			     READ_ONCE(*option_field(ssk, option));
	return 0;
}

/**
 * sdp_option_copy() - copy an option's value to user space
 * @value: user buffer
 * @len: in: size of @value in bytes; out: bytes written
 * @from: value
 * @size: size of @from in bytes; the copy is cut to the user buffer
 *
 * Return: 0, -EFAULT, or -EINVAL for a negative length.
 */
int sdp_option_copy(char __user *value, int __user *len, const void *from,
		    int size)
{
	int room;

	if (get_user(room, len))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	size = min(room, size);
	return put_user(size, len) || copy_to_user(value, from, size) ?
	       -EFAULT : 0;
}
