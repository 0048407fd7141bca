// SPDX-License-Identifier: GPL-2.0
#include "netlink_common.h"

static void take_extack(struct nl *nl, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	nl->said[0] = 0;
	nl->missing = 0;
	nl->bad = 0;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	/* NETLINK_CAP_ACK: the request is not repeated in between. */
	mnl_attr_for_each(attr, nlh, sizeof(struct nlmsgerr)) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			snprintf(nl->said, sizeof(nl->said), "%s", mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_OFFS)
			nl->bad = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == 5)	/* NLMSGERR_ATTR_MISS_TYPE */
			nl->missing = mnl_attr_get_u32(attr);
	}
}

/* Takes one buffer of answers. Returns true if that was all, with 0 or the errno in @error. */
bool nl_take(struct nl *nl, const char *room, int n, nl_each each, void *arg, int *error)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)room;

	for (; mnl_nlmsg_ok(nlh, n); nlh = mnl_nlmsg_next(nlh, &n)) {
		need(nlh->nlmsg_seq == nl->seq, "an answer to request %u instead of %u",
		     nlh->nlmsg_seq, nl->seq);
		if (nlh->nlmsg_type == NLMSG_DONE) {
			*error = 0;
			return true;
		}
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			*error = -((const struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
			take_extack(nl, nlh);
			return true;
		}
		need(!(nlh->nlmsg_flags & NLM_F_DUMP_INTR), "a dump calls itself inconsistent");
		if (each)
			each(nlh, arg);
	}
	return false;
}

void nl_send(struct nl *nl, struct request *r)
{
	need_errno(mnl_socket_sendto(nl->mnl, &r->nlh, r->nlh.nlmsg_len) >= 0, "netlink send");
}

/* Sends a request and takes all answers, in buffers of @size. Returns 0 or an errno. */
int nl_talk_sized(struct nl *nl, struct request *r, nl_each each, void *arg, size_t size)
{
	static __thread char room[NL_ROOM];
	int error = 0, n;

	nl_send(nl, r);
	do {
		n = mnl_socket_recvfrom(nl->mnl, room, size);
		need(n > 0, "netlink recv: %s", errno_text(errno));
	} while (!nl_take(nl, room, n, each, arg, &error));
	return error;
}

int nl_talk(struct nl *nl, struct request *r, nl_each each, void *arg)
{
	return nl_talk_sized(nl, r, each, arg, NL_ROOM);
}

static struct request *nl_request(struct nl *nl, int type, int cmd, int flags)
{
	static __thread struct request r;
	struct genlmsghdr *g;

	memset(&r, 0, sizeof(r.nlh) + sizeof(*g));
	mnl_nlmsg_put_header(r.room);
	r.nlh.nlmsg_type = type;
	r.nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	r.nlh.nlmsg_seq = ++nl->seq;
	g = mnl_nlmsg_put_extra_header(&r.nlh, sizeof(*g));
	g->cmd = cmd;
	g->version = 1;
	return &r;
}

struct request *nl_do(struct nl *nl, int cmd)
{
	return nl_request(nl, nl->family, cmd, NLM_F_ACK);
}

struct request *nl_dump(struct nl *nl, int cmd)
{
	return nl_request(nl, nl->family, cmd, NLM_F_DUMP);
}

static void take_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(int *)arg = mnl_attr_get_u16(attr);
}

static void nl_option(struct nl *nl, int option)
{
	int on = 1;

	need_errno(!mnl_socket_setsockopt(nl->mnl, option, &on, sizeof(on)), "netlink option");
}

struct nl nl_open(void)
{
	struct nl nl = { .mnl = mnl_socket_open(NETLINK_GENERIC) };
	struct request *r;
	int error;

	need_errno(nl.mnl && !mnl_socket_bind(nl.mnl, 0, MNL_SOCKET_AUTOPID), "netlink");
	nl_option(&nl, NETLINK_EXT_ACK);
	nl_option(&nl, NETLINK_CAP_ACK);
	nl_option(&nl, NETLINK_GET_STRICT_CHK);
	r = nl_request(&nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	mnl_attr_put_strz(&r->nlh, CTRL_ATTR_FAMILY_NAME, SDP_GENL_NAME);
	error = nl_talk_sized(&nl, r, take_family, &nl.family, NL_PIECE);
	need(!error && nl.family, "no family \"%s\": %s", SDP_GENL_NAME, errno_text(error));
	return nl;
}

void nl_close(struct nl *nl)
{
	mnl_socket_close(nl->mnl);
}

/* Sorts the attributes of an answer by type. A type above @max fails the test. */
void nl_attrs(const struct nlmsghdr *nlh, const struct nlattr **attrs, int max)
{
	const struct nlattr *attr;

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		need(mnl_attr_get_type(attr) <= max, "attribute %u", mnl_attr_get_type(attr));
		attrs[mnl_attr_get_type(attr)] = attr;
	}
}

const char *text_of(const struct nlattr *attr, const char *what)
{
	need(attr, "no %s", what);
	need(mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0, "%s is no string", what);
	return mnl_attr_get_str(attr);
}

unsigned int u8_of(const struct nlattr *attr, const char *what)
{
	need(attr && mnl_attr_get_payload_len(attr) == 1, "no %s, or of another size", what);
	return mnl_attr_get_u8(attr);
}

unsigned int u16_of(const struct nlattr *attr, const char *what)
{
	need(attr && mnl_attr_get_payload_len(attr) == 2, "no %s, or of another size", what);
	return mnl_attr_get_u16(attr);
}

unsigned int u32_of(const struct nlattr *attr, const char *what)
{
	need(attr && mnl_attr_get_payload_len(attr) == 4, "no %s, or of another size", what);
	return mnl_attr_get_u32(attr);
}

unsigned long long u64_of(const struct nlattr *attr, const char *what)
{
	need(attr && mnl_attr_get_payload_len(attr) == 8, "no %s, or of another size", what);
	return mnl_attr_get_u64(attr);
}

void put_addr(struct request *r, int which, const struct addr *a)
{
	if (a->sa.sa_family == AF_INET6)
		mnl_attr_put(&r->nlh, which, 16, &a->in6.sin6_addr);
	else
		mnl_attr_put(&r->nlh, which, 4, &a->in.sin_addr);
}

unsigned long long inode_of(int fd)
{
	struct stat st;

	need_errno(!fstat(fd, &st), "fstat");
	return st.st_ino;
}

static void take_policy(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attrs[SDP_POLICY_A_MAX + 1];
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	struct shown *s = arg;

	need(g->cmd == SDP_CMD_POLICY_GET, "the answer is command %u", g->cmd);
	nl_attrs(nlh, attrs, SDP_POLICY_A_MAX);
	snprintf(s->text, sizeof(s->text), "%s", text_of(attrs[SDP_POLICY_A_TEXT], "TEXT"));
	snprintf(s->error, sizeof(s->error), "%s", text_of(attrs[SDP_POLICY_A_ERROR], "ERROR"));
	s->rewrite = u8_of(attrs[SDP_POLICY_A_REWRITE], "REWRITE");
	s->fallback_ms = u32_of(attrs[SDP_POLICY_A_FALLBACK_MS], "FALLBACK_MS");
	s->memory_ms = u32_of(attrs[SDP_POLICY_A_FALLBACK_MEMORY_MS], "FALLBACK_MEMORY_MS");
}

void policy_get(struct nl *nl, struct shown *s)
{
	int error;

	memset(s, 0, sizeof(*s));
	error = nl_talk(nl, nl_do(nl, SDP_CMD_POLICY_GET), take_policy, s);
	need(!error, "GET: %s", errno_text(error));
	need(s->fallback_ms, "GET is not answered");
}

long setting_value(const char *name)
{
	char path[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), SETTING_DIR "%s", name);
	f = fopen(path, "r");
	need(f && fscanf(f, "%ld", &value) == 1, "%s cannot be read", name);
	fclose(f);
	return value;
}

/* GET and the settings both show these values. */
void need_shown(struct nl *nl, const char *text, unsigned int rewrite, unsigned int fallback_ms,
		unsigned int memory_ms)
{
	static struct shown s;

	policy_get(nl, &s);
	need(!strcmp(s.text, text), "the text is \"%.100s\" instead of \"%.100s\"", s.text, text);
	need(s.rewrite == rewrite && s.fallback_ms == fallback_ms && s.memory_ms == memory_ms,
	     "%u, %u, %u instead of %u, %u, %u", s.rewrite, s.fallback_ms, s.memory_ms, rewrite,
	     fallback_ms, memory_ms);
	need_policy(text, strlen(text));
	need(setting_value("rewrite") == rewrite, "net.sdp.rewrite");
	need(setting_value("fallback_ms") == fallback_ms, "net.sdp.fallback_ms");
	need(setting_value("fallback_memory_ms") == memory_ms, "net.sdp.fallback_memory_ms");
}

/* Sets these values by sysctl. */
void begin_with(const char *text, int rewrite, int fallback_ms, int memory_ms)
{
	policy_set("%s", text);
	setting_set("rewrite", rewrite);
	setting_set("fallback_ms", fallback_ms);
	setting_set("fallback_memory_ms", memory_ms);
}

/* Becomes nobody permanently, but can still write to its own files in /proc. */
void be_nobody(void)
{
	need_errno(!setgid(65534) && !setuid(65534), "setuid");
	need_errno(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

/* Makes a socket fall back to TCP, which /proc/net/sdp_fallbacks shows as well. */
void fall_back(void)
{
	struct addr where;
	int listening, c;

	by_names();
	listening = listener_of(TCP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	accept_and_talk(listening, c, BY_TCP);
}
