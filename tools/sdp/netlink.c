// SPDX-License-Identifier: GPL-2.0
/* Requests to the module's generic netlink family, by libmnl. */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "output.h"
#include "sdp.h"

#define BUFFER		65536	/* at least the size of the kernel's messages in a dump */
#define DUMP_TRIES	10

struct sdp_nl {
	struct mnl_socket *socket;
	uint16_t family;
	uint32_t sequence;
	char why[256];			/* the kernel's message about the last error, or "" */
	char request[SDP_NL_ROOM];
	char answer[BUFFER];
};

/* A request in progress. */
struct exchange {
	struct sdp_nl *nl;
	sdp_nl_reader reader;
	json_t *answers;		/* an array */
};

static int put_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;

	if (mnl_attr_get_type(attr) < SDP_NL_ATTRS)
		attrs[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static int take_answer(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attrs[SDP_NL_ATTRS] = {};
	struct exchange *exchange = data;
	json_t *answer;

	if (mnl_attr_parse(message, sizeof(struct genlmsghdr), put_attr, attrs) < 0)
		goto bad;
	answer = exchange->reader ? exchange->reader(attrs) : NULL;
	if (!answer)
		goto bad;
	sdp_need(json_array_append_new(exchange->answers, answer) ? NULL : exchange);
	return MNL_CB_OK;
bad:
	errno = EBADMSG;
	return MNL_CB_ERROR;
}

static int take_why(const struct nlattr *attr, void *data)
{
	struct sdp_nl *nl = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
		snprintf(nl->why, sizeof(nl->why), "%.*s", (int)mnl_attr_get_payload_len(attr),
			 (const char *)mnl_attr_get_payload(attr));
	return MNL_CB_OK;
}

/* An error, or 0: the acknowledgement of a request. */
static int take_error(const struct nlmsghdr *message, void *data)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	struct exchange *exchange = data;
	size_t skip = sizeof(*error);

	if (message->nlmsg_len < mnl_nlmsg_size(sizeof(*error))) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	if (!error->error)
		return MNL_CB_STOP;
	/* The request is repeated between the error and the attributes, unless it is capped. */
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(struct nlmsghdr);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS && mnl_nlmsg_get_payload_len(message) > skip)
		mnl_attr_parse(message, skip, take_why, exchange->nl);
	errno = -error->error;
	return MNL_CB_ERROR;
}

/* The end of a dump, with its result. */
static int take_done(const struct nlmsghdr *message, void *data)
{
	int error = 0;

	(void)data;
	if (mnl_nlmsg_get_payload_len(message) >= sizeof(error))
		memcpy(&error, mnl_nlmsg_get_payload(message), sizeof(error));
	if (error >= 0)
		return MNL_CB_STOP;
	errno = -error;
	return MNL_CB_ERROR;
}

static mnl_cb_t control[NLMSG_MIN_TYPE] = {
	[NLMSG_ERROR]	= take_error,
	[NLMSG_DONE]	= take_done,
};

/* Returns 0 or a negative errno. */
static int converse(struct exchange *e, struct nlmsghdr *request)
{
	struct sdp_nl *nl = e->nl;
	unsigned int port = mnl_socket_get_portid(nl->socket);
	int left = MNL_CB_OK;
	ssize_t got;

	request->nlmsg_seq = ++nl->sequence;
	nl->why[0] = 0;
	if (mnl_socket_sendto(nl->socket, request, request->nlmsg_len) < 0)
		return -errno;
	while (left == MNL_CB_OK) {
		got = mnl_socket_recvfrom(nl->socket, nl->answer, sizeof(nl->answer));
		if (got < 0)
			return -errno;
		left = mnl_cb_run2(nl->answer, (size_t)got, nl->sequence, port, take_answer, e,
				   control, NLMSG_MIN_TYPE);
	}
	return left < 0 ? -errno : 0;
}

static struct nlmsghdr *message(struct sdp_nl *nl, uint16_t family, uint8_t command,
				uint8_t version)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(nl->request);
	struct genlmsghdr *generic;

	request->nlmsg_type = family;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	generic = mnl_nlmsg_put_extra_header(request, sizeof(*generic));
	generic->cmd = command;
	generic->version = version;
	return request;
}

/**
 * sdp_nl_request() - begin a request
 * @nl: from sdp_nl_open()
 * @command: enum sdp_cmd
 *
 * Return: the message, to which the caller adds attributes, %SDP_NL_ROOM bytes in total. There is
 * one request at a time.
 */
struct nlmsghdr *sdp_nl_request(struct sdp_nl *nl, uint8_t command)
{
	return message(nl, nl->family, command, SDP_GENL_VERSION);
}

/**
 * sdp_nl_do() - send a request for one object or one action
 * @nl: from sdp_nl_open()
 * @request: from sdp_nl_request()
 * @reader: of the answer; NULL when there is none
 * @answer: the answer, for the caller to release; unchanged without @reader
 *
 * Return: 0 or a negative errno.
 */
int sdp_nl_do(struct sdp_nl *nl, struct nlmsghdr *request, sdp_nl_reader reader, json_t **answer)
{
	struct exchange e = { nl, reader, sdp_need(json_array()) };
	int error = converse(&e, request);

	if (!error && reader) {
		*answer = json_incref(json_array_get(e.answers, 0));
		if (!*answer)
			error = -EBADMSG;
	}
	json_decref(e.answers);
	return error;
}

/**
 * sdp_nl_dump() - request a list
 * @nl: from sdp_nl_open()
 * @command: enum sdp_cmd
 * @reader: of each member
 * @answers: the list, a JSON array for the caller to release
 *
 * If the list has changed during the dump, it is requested again.
 *
 * Return: 0 or a negative errno.
 */
int sdp_nl_dump(struct sdp_nl *nl, uint8_t command, sdp_nl_reader reader, json_t **answers)
{
	struct exchange e = { nl, reader, NULL };
	int error = -EINTR, tries;

	for (tries = 0; error == -EINTR && tries < DUMP_TRIES; tries++) {
		struct nlmsghdr *request = sdp_nl_request(nl, command);

		request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		json_decref(e.answers);
		e.answers = sdp_need(json_array());
		error = converse(&e, request);
	}
	if (error)
		json_decref(e.answers);
	else
		*answers = e.answers;
	return error;
}

static json_t *read_family(const struct nlattr *const *attrs)
{
	return json_pack("{s:o}", "id", sdp_attr_number(attrs[CTRL_ATTR_FAMILY_ID]));
}

/* The family's number, which the kernel assigns when the module is loaded. */
static int find_family(struct sdp_nl *nl)
{
	struct nlmsghdr *request = message(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	json_t *answer;
	int error;

	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, SDP_GENL_NAME);
	error = sdp_nl_do(nl, request, read_family, &answer);
	if (error)
		return error;
	nl->family = (uint16_t)json_integer_value(json_object_get(answer, "id"));
	json_decref(answer);
	return 0;
}

static int open_socket(struct sdp_nl *nl)
{
	int on = 1;

	nl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	/* Without these options the kernel only sends less information. */
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	return find_family(nl);
}

/**
 * sdp_nl_try() - open a connection to the module, if it is loaded
 * @nl: for sdp_nl_close(), if it works
 *
 * Return: 0 or a negative errno; %-ENOENT: the module is not loaded.
 */
int sdp_nl_try(struct sdp_nl **nl)
{
	int error;

	*nl = sdp_need(calloc(1, sizeof(**nl)));
	error = open_socket(*nl);
	if (error)
		sdp_nl_close(*nl);
	return error;
}

/**
 * sdp_nl_open() - the same, with an error message
 * @nl: for sdp_nl_close(), if it works
 *
 * Return: the program's status.
 */
int sdp_nl_open(struct sdp_nl **nl)
{
	int error = sdp_nl_try(nl);

	if (!error)
		return SDP_FINE;
	if (error == -ENOENT) {
		fputs("sdp: AF_SDP is not there; load its module: modprobe sdp\n", stderr);
		return SDP_ABSENT;
	}
	fprintf(stderr, "sdp: netlink: %s\n", strerror(-error));
	return SDP_REFUSED;
}

/**
 * sdp_nl_close() - undo sdp_nl_open()
 * @nl: from sdp_nl_open()
 */
void sdp_nl_close(struct sdp_nl *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	free(nl);
}

/**
 * sdp_nl_refused() - print that the kernel refused a request, and what the user can do
 * @nl: from sdp_nl_open()
 * @error: negative errno
 * @what: the action
 *
 * Return: the program's status.
 */
int sdp_nl_refused(const struct sdp_nl *nl, int error, const char *what)
{
	const char *next = "";

	if (error == -EPERM)
		next = "; it takes CAP_NET_ADMIN: be root";
	else if (error == -EOPNOTSUPP && !nl->why[0])
		next = "; program and module are of different versions, or the kernel lacks it";
	else if (error == -EBADMSG)
		next = "; program and module are of different versions";
	else if (error == -EINTR)
		next = "; it changes too fast, try again";
	fprintf(stderr, "sdp: %s: %s%s%s%s\n", what, strerror(-error), nl->why[0] ? ": " : "",
		nl->why, next);
	return SDP_REFUSED;
}

/**
 * sdp_nl_list() - request a list by a connection of its own; errors are reported
 * @command: SDP_CMD_*
 * @what: the action, for the report
 * @reader: converts an answer
 * @answers: the list; the caller's, if it succeeds
 *
 * Return: %SDP_FINE or the program's status.
 */
int sdp_nl_list(uint8_t command, const char *what, sdp_nl_reader reader, json_t **answers)
{
	struct sdp_nl *nl;
	int status = sdp_nl_open(&nl), error;

	if (status)
		return status;
	error = sdp_nl_dump(nl, command, reader, answers);
	if (error)
		status = sdp_nl_refused(nl, error, what);
	sdp_nl_close(nl);
	return status;
}
