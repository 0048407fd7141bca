// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests with a security module, made of a BPF program, that forbids SDP sockets.
 */
#include <linux/btf.h>
#include <sys/mount.h>

#include "guard.h"

/* The number of bytes that follow a type in the kernel's BTF data. */
static size_t behind(const struct btf_type *t)
{
	unsigned int n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return n * 12;
	default:
		return 0;
	}
}

/* The kernel's BTF data, or NULL. */
static const struct btf_header *btf_all(void)
{
	static char *all;
	size_t size = 64 << 20, len = 0;
	ssize_t n;
	int fd;

	if (all)
		return (const struct btf_header *)all;
	fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	if (fd < 0)
		return NULL;
	all = malloc(size);
	need(all, "no memory");
	while ((n = read(fd, all + len, size - len)) > 0)
		len += n;
	close(fd);
	return (const struct btf_header *)all;
}

static const char *btf_name(const struct btf_header *head, uint32_t at)
{
	return (const char *)head + head->hdr_len + head->str_off + at;
}

/*
 * Finds a type by kind and name. Returns NULL if there is none. Stores its BTF id in *@number,
 * unless @number is NULL.
 */
static const struct btf_type *btf_find(unsigned int kind, const char *name, int *number)
{
	const struct btf_header *head = btf_all();
	const char *at, *end;
	int n = 0;

	if (!head)
		return NULL;
	at = (const char *)head + head->hdr_len + head->type_off;
	for (end = at + head->type_len; at < end; at += sizeof(struct btf_type)) {
		const struct btf_type *t = (const struct btf_type *)at;

		n++;
		if (BTF_INFO_KIND(t->info) == kind && !strcmp(btf_name(head, t->name_off), name)) {
			if (number)
				*number = n;
			return t;
		}
		at += behind(t);
	}
	return NULL;
}

/* The BTF id of a kernel function, or 0. */
static int function_number(const char *name)
{
	int number = 0;

	btf_find(BTF_KIND_FUNC, name, &number);
	return number;
}

/* The offset of a member in a kernel structure in bytes, or -1. */
int member_offset(const char *structure, const char *name)
{
	const struct btf_type *t = btf_find(BTF_KIND_STRUCT, structure, NULL);
	const struct btf_member *m = (const struct btf_member *)(t + 1);
	unsigned int i;

	for (i = 0; t && i < BTF_INFO_VLEN(t->info); i++)
		if (!strcmp(btf_name(btf_all(), m[i].name_off), name))
			return (BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) :
							  m[i].offset) / 8;
	return -1;
}

/*
 * Attaches a program to a hook of the security module. It stays attached until this process exits.
 */
void hook_by(const char *hook, const struct bpf_insn *insns, unsigned int count)
{
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_LSM,
		.expected_attach_type = BPF_LSM_MAC,
		.insns = (unsigned long)insns,
		.insn_cnt = count,
		.license = (unsigned long)"GPL",
	};
	union bpf_attr attach = { 0 };
	char name[80];
	int prog;

	snprintf(name, sizeof(name), "bpf_lsm_%s", hook);
	load.attach_btf_id = function_number(name);
	need(load.attach_btf_id, "no hook %s", hook);
	prog = bpf(BPF_PROG_LOAD, &load);
	if (prog < 0) {
		static char log[65536];

		load.log_level = 1;
		load.log_size = sizeof(log);
		load.log_buf = (unsigned long)log;
		bpf(BPF_PROG_LOAD, &load);
		/* The verifier's error message is at the end of the log. */
		printf("# %s\n", log + (strlen(log) > 300 ? strlen(log) - 300 : 0));
		need(false, "BPF_PROG_LOAD for %s: %s", hook, errno_text(errno));
	}
	attach.raw_tracepoint.prog_fd = prog;
	need_errno(bpf(BPF_RAW_TRACEPOINT_OPEN, &attach) >= 0, "BPF_RAW_TRACEPOINT_OPEN");
}

/* From now on no process can create a socket of @family with IPPROTO_SDP. */
static void lsm_begin(int family)
{
	/* Each argument of the hook takes 8 bytes: family, type, protocol. */
	struct bpf_insn refuse[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_1,
		  .off = 16 },
		PUT(BPF_REG_0, 0),
		{ .code = BPF_JMP32 | BPF_JNE, .dst_reg = BPF_REG_2, .off = 2, .imm = family },
		{ .code = BPF_JMP32 | BPF_JNE, .dst_reg = BPF_REG_3, .off = 1, .imm = IPPROTO_SDP },
		PUT(BPF_REG_0, -EPERM),
		RETURN,
	};

	hook_by("socket_create", refuse, ARRAY_SIZE(refuse));
}

bool lsm_has_bpf(void)
{
	char text[200] = "";
	bool has;
	FILE *f;

	/* Fails if it is mounted already. */
	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	f = fopen("/sys/kernel/security/lsm", "r");

	has = f && fgets(text, sizeof(text), f) && strstr(text, "bpf");
	if (f)
		fclose(f);
	return has && function_number("bpf_lsm_socket_create");
}

/*
 * The SDP socket of a TCP socket is created with the credentials and the family of the application,
 * so a security module can refuse it.
 */
int lsm_forbids_sdp(void *arg)
{
	struct addr where;
	int listening;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	if (!lsm_has_bpf())
		return EXIT_SKIPPED;
	lsm_begin(set->family);
	need_forbidden(listening, &where);
	return EXIT_OK;
}
