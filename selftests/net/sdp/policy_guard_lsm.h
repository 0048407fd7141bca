/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A security module that allows no SDP sockets, made of a BPF program: what it is asked about.
 */
#ifndef SDP_TEST_POLICY_GUARD_LSM_H
#define SDP_TEST_POLICY_GUARD_LSM_H

#include "policy_guard_bpf.h"
#include <linux/btf.h>
#include <sys/mount.h>

/* Bytes behind a type of the kernel's description of itself. */
static inline size_t behind(const struct btf_type *t)
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

/* The number of a function of the kernel's, or 0. */
static inline int function_number(const char *name)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY), number = 0;
	size_t size = 64 << 20, len = 0;
	const struct btf_header *head;
	const char *at, *end;
	ssize_t n;
	char *all;

	if (fd < 0)
		return 0;
	all = malloc(size);
	need(all, "no memory");
	while ((n = read(fd, all + len, size - len)) > 0)
		len += n;
	close(fd);
	head = (const struct btf_header *)all;
	at = all + head->hdr_len + head->type_off;
	for (end = at + head->type_len; at < end; at += sizeof(struct btf_type)) {
		const struct btf_type *t = (const struct btf_type *)at;

		number++;
		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
		    !strcmp(all + head->hdr_len + head->str_off + t->name_off, name))
			break;
		at += behind(t);
	}
	if (at >= end)
		number = 0;
	free(all);
	return number;
}

/* Nobody has a socket of @family with IPPROTO_SDP from now on. False when it cannot be. */
static inline bool lsm_begin(int family)
{
	/* The hook's arguments are 8 bytes each: family, type, protocol. */
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
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_LSM,
		.expected_attach_type = BPF_LSM_MAC,
		.attach_btf_id = function_number("bpf_lsm_socket_create"),
		.insns = (unsigned long)refuse,
		.insn_cnt = ARRAY_SIZE(refuse),
		.license = (unsigned long)"GPL",
	};
	union bpf_attr attach = { 0 };
	int prog;

	if (!load.attach_btf_id)
		return false;
	prog = bpf(BPF_PROG_LOAD, &load);
	need_errno(prog >= 0, "BPF_PROG_LOAD");
	attach.raw_tracepoint.prog_fd = prog;
	/* It holds for as long as this process lives. */
	need_errno(bpf(BPF_RAW_TRACEPOINT_OPEN, &attach) >= 0, "BPF_RAW_TRACEPOINT_OPEN");
	return true;
}

static inline bool lsm_has_bpf(void)
{
	char text[200] = "";
	bool has;
	FILE *f;

	/* Unless it is there already. */
	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	f = fopen("/sys/kernel/security/lsm", "r");

	has = f && fgets(text, sizeof(text), f) && strstr(text, "bpf");
	if (f)
		fclose(f);
	return has;
}

/* The SDP socket is made in the calling process's name, of the same family: it may be refused. */
static int lsm_forbids_sdp(void *arg)
{
	long long errors = counter("FellError");
	int listening, fd, error;
	struct addr where;

	(void)arg;
	by_names();
	listening = listener_of(PAIR, 8, &where);
	if (!lsm_has_bpf() || !lsm_begin(set->family))
		return EXIT_SKIPPED;
	fd = connected_as(BOTH_SIDE, &where);
	need_count("FellError", errors, 1);
	need_fell(&where, "connect", "failed");
	close(accept_and_talk(listening, fd, BY_TCP));
	fd = stream(0);
	error = connect_as(SDP_SIDE, fd, &where);
	need(error == EPERM, "SDP alone: %s", errno_text(error));
	need_protocol(fd, BY_TCP, "what may not be SDP");
	listening = listener_of(PAIR, 8, &where);
	need_count("FellError", errors, 2);
	need_fell(&where, "listen", "failed");
	close(accept_and_talk(listening, connected_as(TCP_SIDE, &where), BY_TCP));
	return EXIT_OK;
}

#endif /* SDP_TEST_POLICY_GUARD_LSM_H */
