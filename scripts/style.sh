#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# style.sh [texts|builds]: what can be said about the code without running it, by reading it, by
# building it, or both. One line per check.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

scripts/setup.sh style build
linux=$(scripts/kernels.sh source)
# Made ready before any check begins: what kernels.sh says of its progress is no warning.
declare -A kernel_of=()
make_kernels_ready() {
	local name
	for name in 6.1 6.12 debug; do kernel_of[$name]=$(scripts/kernels.sh "$name"); done
}
mapfile -t module < <(git ls-files -co --exclude-standard 'net/*.[ch]' 'include/*.h')
mapfile -t programs < <(git ls-files -co --exclude-standard 'selftests/*.[ch]' 'tools/*.[ch]')

# check NAME COMMAND...: passes when the command prints nothing.
check() {
	local name=$1 out
	shift
	out=$("$@" 2>&1 || true)
	if [ -z "$out" ]; then
		echo "  ok      $name"
	else
		# In one piece, for another check may be beside it.
		printf '%s\n' "  FAILED  $name"$'\n'"$(head -n 30 <<<"$out" | sed 's/^/            /')"
	fi
}

# Macros that make lists, tables and trace events look wrong to a line-based reader, as
# they do in the kernel itself; the harness's TEST() looks like a function call.
# Positive errnos are what the layers below the socket calls hand upwards (sk_err's form);
# kzalloc_obj() does not exist on 6.1; the engine is compiled in user space too.
ignored=USE_NEGATIVE_ERRNO,ALLOC_WITH_SIZEOF,MINMAX,ARRAY_SIZE,BIT_MACRO,CONST_STRUCT
ignored+=,FUNCTION_ARGUMENTS,FILE_PATH_CHANGES,SPDX_LICENSE_TAG,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE
ignored+=,COMPLEX_MACRO,OPEN_ENDED_LINE,VOLATILE,PREFER_KERNEL_TYPES,SSCANF_TO_KSTRTO
ignored+=,CAMELCASE,MACRO_ARG_UNUSED,SPLIT_STRING,UNCOMMENTED_DEFINITION,MULTISTATEMENT_MACRO_USE_DO_WHILE,NEW_TYPEDEFS,MACRO_WITH_FLOW_CONTROL

# What the kernel offers and user space does not.
kernel_only=BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,EMBEDDED_FUNCTION_NAME,CAMELCASE,ENOSYS
# Misread in programs: "1e-6" (SPACING), _Atomic (LINE_SPACING), tables of one-line functions.
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

# On 6.12, because 7.2 wants a newer sparse than Debian's, says that C=1 is not to be had, and goes on
# without. Locks that one function takes and another one drops are not annotated for it.
sparse="C=1 CHECK='sparse -Wno-shift-negative-value -Wno-context'"

# Each kernel's objects are made anew, for what is up to date warns of nothing.
remove_objects() {
	local release
	release=$(basename "${kernel_of[$1]}"/lib/modules/*)
	find "build/$release/net" -name '*.o' -delete 2>/dev/null || true
}

# Warnings of the compiler, and of what else MAKE FLAGS let look at the sources: KERNEL [FLAGS]
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

# What /proc/net/sdpstat counts is told in the user's document.
counters_told() {
	local name
	while read -r name; do
		grep -q "^$name " Documentation/networking/sdp.rst || echo "$name is not in sdp.rst"
	done < <(sed -n 's/^\t_(\([A-Z][A-Za-z]*\)).*/\1/p' net/sdp/control/stats.h)
}

# Each file of the module has its line in the table of the developers' document, by its own name or
# by a pattern that it fits.
files_told() {
	local file pattern patterns known
	mapfile -t patterns < <(awk '$1 ~ "^net/sdp/" { gsub(/,/, "", $1); print $1 }' \
		Documentation/networking/sdp-internals.rst)
	for file in $(git ls-files -co --exclude-standard 'net/sdp/*.c'); do
		known=
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern && $file != $pattern[a-z]* ]] || known=1
		done
		[ -n "$known" ] || echo "$file is not in the table of sdp-internals.rst"
	done
}

# The engine is pure: it includes nothing but itself and, in the kernel, four headers. So are the
# policy's rules, which take base.h from it.
pure_engine() {
	local rules=(net/sdp/policy/rules*.[ch] net/sdp/policy/glob.[ch])
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

texts() {
	check "checkpatch --strict, module" checkpatch NONE "${module[@]}"
	check "checkpatch --strict, programs" checkpatch "$kernel_only" "${programs[@]}"
	check "files of at most 900 lines" long_files
	check "every counter is documented" counters_told
	check "every file is documented" files_told
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

# count VERDICT
count() { grep -c "^  $1 " "$SDP_LOGS/style-$$" || true; }

passed=$(count ok) failed=$(count FAILED)
rm "$SDP_LOGS/style-$$"
# A part that ended early has said too little.
case ${1:-all} in
all)		all=13 ;;
texts)		all=10 ;;
builds)		all=3 ;;
esac
[ $((passed + failed)) = $all ] || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
