#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# style.sh [texts|builds]: check the code without running it.
#
# "texts" reads the sources, "builds" compiles them; the default is both. Prints
# one line for each check.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

scripts/setup.sh style build
linux=$(scripts/kernels.sh source)
# Run before the checks: a check would take the progress messages of kernels.sh
# for warnings.
declare -A kernel_of=()
make_kernels_ready() {
	local name
	for name in 6.1 6.12 debug; do kernel_of[$name]=$(scripts/kernels.sh "$name"); done
}
# Without the generated netlink code, whose form is the generator's.
mapfile -t module < <(git ls-files -co --exclude-standard 'net/*.[ch]' 'include/*.h' | xargs grep -sL YNL-GEN)
mapfile -t programs < <(git ls-files -co --exclude-standard 'selftests/*.[ch]' 'tools/*.[ch]')

# check NAME COMMAND...: run a check; it passes when COMMAND prints nothing.
check() {
	local name=$1 out
	shift
	out=$("$@" 2>&1 || true)
	if [ -z "$out" ]; then
		echo "  ok      $name"
	else
		# One write, since another check may print at the same time.
		printf '%s\n' "  FAILED  $name"$'\n'"$(head -n 30 <<<"$out" | sed 's/^/            /')"
	fi
}

# What checkpatch must not report. A line-based reader misjudges macros that
# make lists, tables and trace events, as in the kernel itself, and the test
# harness's TEST(), which looks like a function call. Layers below the system
# calls report positive errnos, as sk_err holds them. 6.1 has no kzalloc_obj().
# The engine is compiled in user space, too.
ignored=USE_NEGATIVE_ERRNO,ALLOC_WITH_SIZEOF,MINMAX,ARRAY_SIZE,BIT_MACRO,CONST_STRUCT
ignored+=,FUNCTION_ARGUMENTS,FILE_PATH_CHANGES,SPDX_LICENSE_TAG,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
ignored+=,COMPLEX_MACRO,OPEN_ENDED_LINE,VOLATILE,PREFER_KERNEL_TYPES,SSCANF_TO_KSTRTO
ignored+=,CAMELCASE,MACRO_ARG_UNUSED,SPLIT_STRING,UNCOMMENTED_DEFINITION,MULTISTATEMENT_MACRO_USE_DO_WHILE,NEW_TYPEDEFS,MACRO_WITH_FLOW_CONTROL

# For programs: what only the kernel has.
kernel_only=BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,EMBEDDED_FUNCTION_NAME,CAMELCASE,ENOSYS
# Misjudged in programs: "1e-6" (SPACING), _Atomic (LINE_SPACING), tables of
# one-line functions.
kernel_only+=,SPACING,LINE_SPACING,INITIALISED_STATIC,TYPO_SPELLING,BRACES,PARENTHESIS_ALIGNMENT
kernel_only+=,SINGLE_STATEMENT_DO_WHILE_MACRO,C99_COMMENTS,STRLCPY,STRCPY,PREFER_FALLTHROUGH,ARRAY_SIZE,CONST_STRUCT,CONSTANT_COMPARISON
kernel_only+=,USE_NEGATIVE_ERRNO,C99_COMMENT_TOLERANCE,CONSIDER_KSTRTO,AVOID_EXTERNS

checkpatch() {
	local more=$1
	shift
	perl "$linux/scripts/checkpatch.pl" --no-tree --strict --terse --no-summary \
		--show-types --max-line-length=100 --ignore "$ignored,$more" -f "$@" |
		grep -v 'TRACE_EVENT\|trace.h' || true
}

# sparse runs on 6.12: 7.2 needs a newer sparse than Debian's and then skips
# C=1. Locks that one function takes and another drops are not annotated for it.
sparse="C=1 CHECK='sparse -Wno-shift-negative-value -Wno-context'"

# A file that is up to date prints no warnings, so each kernel's objects are
# made again.
remove_objects() {
	local release
	release=$(basename "${kernel_of[$1]}"/lib/modules/*)
	find "build/$release/net" -name '*.o' -delete 2>/dev/null || true
}

# warnings KERNEL [FLAGS]: warnings of the compiler, and of the checkers that
# the make FLAGS enable.
warnings() {
	remove_objects "$1"
	make -s modules KDIR="${kernel_of[$1]}/build" MODULE_FLAGS="W=1 ${2:-}" 2>&1 | grep -E 'warning|error|C=1' || true
}

kernel_doc() {
	local tool=$linux/scripts/kernel-doc
	[ -e "$tool" ] || tool=$linux/tools/docs/kernel-doc
	python3 "$tool" -none -Wall net/sdp/*/*.[ch] net/sdp/transport/rc/*.[ch] 2>&1 | grep -v '^Info' || true
}

long_files() {
	local file lines
	while read -r file; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 900 ] || echo "$file: $lines lines"
	done < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.py')
}

# A line may be longer than 80 columns only for a string, which is not broken.
wide_lines() {
	printf '%s\n' "${module[@]}" | while read -r file; do
		expand "$file" | awk -v file="$file" 'length > 80 && !/"[^"]+"/ { print file ":" NR ": " length " columns" }'
	done
}

# Every counter of /proc/net/sdpstat is described in the user's document.
counters_told() {
	local name
	while read -r name; do
		grep -q "^$name " Documentation/networking/sdp.rst || echo "$name is not in sdp.rst"
	done < <(sed -n 's/^\t_(\([A-Z][A-Za-z]*\)).*/\1/p' net/sdp/base/stats.h)
}

# The engine is pure: it includes only its own headers and, in the kernel, four
# more (proto/base.h). The policy's rules are pure, too; they use proto/base.h.
pure_engine() {
	local rules=(net/sdp/policy/rules.h net/sdp/policy/rules_*.[ch] net/sdp/policy/glob.[ch])
	grep -Hn '#include' net/sdp/proto/*.[ch] "${rules[@]}" | grep -v 'proto/base.h:' |
		grep -v '"[a-z_]*\.h"\|"\.\./proto/base\.h"' || true
	grep -Hn 'k[mzvc]*alloc\|spin_lock\|mutex\|schedule\|sleep(' net/sdp/proto/*.c "${rules[@]}" || true
}

# Only include/compat knows kernel versions.
versions() {
	grep -rn 'LINUX_VERSION_CODE\|KERNEL_VERSION\|SDP_HAVE_' net || true
}

licences() {
	git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.py' Makefile '*/Makefile' '*Kbuild' |
		while read -r file; do
			head -n 2 "$file" | grep -q SPDX-License-Identifier || echo "$file: no SPDX line"
		done
}

scripts_parse() {
	local file
	while read -r file; do bash -n "$file"; done < <(git ls-files -co --exclude-standard '*.sh')
	while read -r file; do
		python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file"
	done < <(git ls-files -co --exclude-standard '*.py')
}

# Sphinx and the web pages of a repository show nothing of a table that is broken.
documents() {
	local file
	for file in Documentation/*.rst Documentation/networking/*.rst; do
		python3 -m docutils --strict "$file" /dev/null 2>&1 || true
	done
}

texts() {
	check "checkpatch --strict, module" checkpatch NONE "${module[@]}"
	check "checkpatch --strict, programs" checkpatch "$kernel_only" "${programs[@]}"
	check "files of at most 900 lines" long_files
	check "every counter is documented" counters_told
	check "the table of files is that of the files" scripts/file-table.py --check
	check "generated netlink code is that of its specification" scripts/netlink-spec.sh --check
	check "the documents are valid reStructuredText" documents
	check "calls lead from higher folders to lower ones" scripts/layers.py
	check "no line of the module beyond column 80" wide_lines
	check "engine and policy rules are pure" pure_engine
	check "kernel versions only in include/compat" versions
	check "an SPDX line in every file" licences
	check "scripts parse" scripts_parse
	check "kernel-doc" kernel_doc
}

builds() {
	check "no warning with W=1, kernel 6.1" warnings 6.1
	check "no warning with W=1, nor by sparse, kernel 6.12" warnings 6.12 "$sparse"
	check "no warning with W=1, kernel debug" warnings debug
}

[ "${1:-all}" = texts ] || make_kernels_ready
say "style"
case ${1:-all} in
all)		{ texts & builds; wait; } ;;
texts | builds)	"$1" ;;
*)		die "style.sh [texts|builds]" ;;
esac | tee "$SDP_LOGS/style-$$" >&2

# count VERDICT: number of checks with this verdict.
count() { grep -c "^  $1 " "$SDP_LOGS/style-$$" || true; }

passed=$(count ok) failed=$(count FAILED)
rm "$SDP_LOGS/style-$$"
# With fewer results than checks, some part ended early: count a failure.
case ${1:-all} in
all)		all=17 ;;
texts)		all=14 ;;
builds)		all=3 ;;
esac
[ $((passed + failed)) = $all ] || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
