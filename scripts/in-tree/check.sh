#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: check the patches of in-tree.py in a kernel tree.
#
# Makes the patches for the 7.2 source of the test matrix, applies them to a copy
# of hard links, and checks, builds and documents each tree that they lead to.
# The suites run in the debug kernel, for which the module is built. The copy and
# its build directories are kept in $SDP_CACHE/in-tree-*; objects of net/sdp are
# made again each time, because an object that is up to date prints no warning.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

here=$SDP_TOP/scripts/in-tree
patches=$SDP_TOP/build/in-tree

"$SDP_TOP/scripts/setup.sh" in-tree-check kernel vm
source=$("$SDP_TOP/scripts/kernels.sh" source)
debug=$("$SDP_TOP/scripts/kernels.sh" debug)
# The debug kernel's key covers its configuration, the source and the compiler.
cache=$SDP_CACHE/in-tree-${debug##*-}
linux=$cache/linux
mkdir -p "$cache"
exec 7>"$cache/lock"
flock -n 7 || { say "  (waiting: another check uses the copy of the kernel tree)"; flock 7; }

# The author and signer of patches that nobody keeps; git may not know its user.
export GIT_COMMITTER_NAME="Patch Check" GIT_COMMITTER_EMAIL=check@example.org
export GIT_AUTHOR_NAME=$GIT_COMMITTER_NAME GIT_AUTHOR_EMAIL=$GIT_COMMITTER_EMAIL

passed=0 failed=0 skipped=0

# check NAME COMMAND...: run a check; it passes when COMMAND prints nothing.
check() {
	local name=$1 out start=$SECONDS
	shift
	out=$("$@" 2>&1 7>&- || true)
	if [ -z "$out" ]; then
		passed=$((passed + 1))
		printf '  ok      %-52s %4d s\n' "$name" $((SECONDS - start))
	else
		failed=$((failed + 1))
		printf '  FAILED  %-52s %4d s\n' "$name" $((SECONDS - start))
		head -n 30 <<<"$out" | sed 's/^/            /'
	fi
}

# Complaints of make. Debian's sparse does not evaluate the assertion that
# MODULE_LICENSE(), module_param() and others of 7.2 contain.
complaints() {
	grep -E 'warning|WARNING|error|Error|\*\*\*|undefined!' |
		grep -v 'bad constant expression' |
		grep -v 'vmlinux.o is missing\|unresolved symbol errors\|errors into warning' || true
}

# The kernel's check of sparse wants __typeof_unqual__, which Debian's lacks.
sparse="sparse -D__typeof_unqual__=__typeof__ -Wno-shift-negative-value -Wno-context"

# Not as part of a make that calls this script, which may have other job slots.
kmake() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL nice -n 10 make -s -C "$linux" -j"$(nproc)" "$@"
}

prepare() {
	rm -rf "$linux" "$cache/m" "$cache/y"
	cp -al "$source" "$linux"
	mkdir "$cache/m" "$cache/y"
	cp "$debug/build/.config" "$cache/m/"
	kmake O="$cache/m" olddefconfig
	kmake O="$cache/m" modules_prepare
	# Without this modpost looks for vmlinux and all other modules.
	printf '#!/bin/sh\nexec %s -i %s "$@"\n' "$cache/m/scripts/mod/modpost" \
		"$debug/build/Module.symvers" >"$cache/modpost"
	chmod +x "$cache/modpost"
	touch "$cache/.complete"
}

# Makes the copy equal to the source again. Files are never written in place:
# that would change the source.
restore() {
	local file
	rm -rf "$linux/net/sdp" "$linux/Documentation/networking/sdp"
	rm -rf "$cache/m/net/sdp" "$cache/y/net/sdp"
	while read -r file; do
		rm -f "${linux:?}/$file"
		[ ! -e "$source/$file" ] || ln "$source/$file" "$linux/$file"
	done < <(cat "$cache/changed" 2>/dev/null)
	: >"$cache/changed"
	rm -rf "$cache/git"
	git init -q "$cache/git"
	# Later patches also change what earlier ones add.
	while read -r file; do
		[ ! -e "$source/$file" ] || (cd "$source" && cp --parents "$file" "$cache/git")
	done < <(sed -n 's|^--- a/||p' "$patches"/*.patch | sort -u)
	git -C "$cache/git" add -A
	git -C "$cache/git" commit -q -m base
	git -C "$cache/git" tag base
}

# apply PATCH: by git, in a repository of the few files that the patches change;
# then put what it has changed into the copy.
apply() {
	local file
	git -C "$cache/git" am -q "$1"
	while read -r file; do
		echo "$file" >>"$cache/changed"
		mkdir -p "$(dirname "$linux/$file")"
		rm -f "$linux/$file"
		cp "$cache/git/$file" "$linux/$file"
	done < <(git -C "$cache/git" diff --name-only HEAD^)
}

# build_m OPTION...: options for scripts/config; the module, with all warnings.
build_m() {
	"$linux/scripts/config" --file "$cache/m/.config" -m AF_SDP "$@"
	kmake O="$cache/m" olddefconfig
	rm -f "$cache/m/net/sdp/sdp.ko"
	kmake O="$cache/m" W=1 C=1 CHECK="$sparse" MODPOST="$cache/modpost" net/sdp/sdp.ko 2>&1 |
		complaints
	[ -e "$cache/m/net/sdp/sdp.ko" ] || echo "no sdp.ko"
}

# build_y [OPTION...]: a small kernel with the options of .kunitconfig, which must be enough, but
# for each OPTION.
build_y() {
	local option
	printf 'CONFIG_%s=y\n' 64BIT SMP EXPERT AF_SDP_POLICY |
		cat - "$here/kunitconfig" >"$cache/fragment"
	for option; do
		sed -i "/^CONFIG_$option=/d" "$cache/fragment"
		echo "# CONFIG_$option is not set" >>"$cache/fragment"
	done
	kmake O="$cache/y" tinyconfig >/dev/null
	(cd "$linux" && scripts/kconfig/merge_config.sh -m -O "$cache/y" "$cache/y/.config" \
		"$cache/fragment") >/dev/null
	kmake O="$cache/y" olddefconfig
	"$SDP_TOP/scripts/config-has.sh" "$cache/y/.config" "$cache/fragment"
	kmake O="$cache/y" prepare >/dev/null
	rm -rf "$cache/y/net/sdp"
	kmake O="$cache/y" W=1 net/sdp/ 2>&1 | complaints
	[ -e "$cache/y/net/sdp/built-in.a" ] || echo "no built-in.a"
}

# The series names its maintainer at its end (FILE_PATH_CHANGES), and behind
# TEST() checkpatch takes ":" for a label (SPACING). scripts/style.sh says why the
# other types are ignored. trace.h has macros that checkpatch takes for code, and
# the kernel's generator writes the netlink files in its own way.
checkpatch() {
	local ignored
	ignored=$(sed -n 's/^ignored+\?=,\?//p' "$SDP_TOP/scripts/style.sh" | paste -sd,)
	printf '%s\n' "$patches"/*.patch |
		(cd "$linux" && xargs -P "$(nproc)" -n 1 nice -n 10 perl scripts/checkpatch.pl \
			--strict --terse --showfile --show-types --no-summary --ignore "$ignored,SPACING") |
		grep -Ev '(trace|sdp_netlink|netlink_gen)\.[ch]:' || true
}

kernel_doc() {
	(cd "$linux" && find net/sdp -name '*.[ch]' ! -path '*/tests/*' -print0 |
		xargs -0 python3 scripts/kernel-doc -none -Wall) 2>&1 | grep -v '^Info' || true
}

htmldocs() {
	kmake O="$cache/docs" htmldocs SPHINXDIRS=networking/sdp 2>&1 |
		grep -E 'networking/sdp.*(WARNING|ERROR)|Error' || true
	[ -e "$cache/docs/Documentation/output/networking/sdp/index.html" ] || echo "no index.html"
}

# Links that would lead out of the folder.
dead_links() {
	grep -rnE '`[^`]*<[^>]*\.rst>`__|\]\(|<\.\./' "$linux/Documentation/networking/sdp" || true
}

# The copy shares its files with the source.
source_unchanged() { find "$source" -newer "$cache/stamp" -type f; }

say "in the kernel tree"
touch "$cache/stamp"
step "patches" python3 "$here/in-tree.py" "$source" "$patches"
[ -e "$cache/.complete" ] || step "copy of the kernel tree" prepare
step "copy as it was" restore

for patch in "$patches"/*.patch; do
	number=$(basename "$patch" | cut -c1-4)
	check "patch $number applies" apply "$patch"
	[ -e "$linux/net/sdp/Kconfig" ] || continue
	# Later patches change no code.
	case $(basename "$patch") in
	*build-the*)	check "builds as a module (W=1, sparse)" build_m ;;
	*policy*)	check "builds without the policy" build_m -d AF_SDP_POLICY
			check "builds with the policy" build_m -e AF_SDP_POLICY ;;
	*KUnit*)	check "builds with the KUnit tests" build_m -e AF_SDP_POLICY -e AF_SDP_KUNIT_TEST ;;
	esac
done
check "builds into a kernel" build_y
if [ -z "${SDP_SHORT:-}" ]; then
	check "... without IPv6" build_y IPV6
	check "... without procfs and sysctl" build_y PROC_FS PROC_SYSCTL SYSCTL AF_SDP_POLICY
else
	echo "  short form: in the kernel tree: no build without IPv6, nor without procfs and sysctl"
fi
check "checkpatch --strict" checkpatch
check "kernel-doc" kernel_doc
check "documents by sphinx" htmldocs
check "no link out of the documents" dead_links

# The module was built with the debug kernel's configuration.
if [ -e "$cache/m/net/sdp/sdp.ko" ]; then
	mkdir -p "$SDP_TOP/build/in-tree-kunit"
	cp "$cache/m/net/sdp/sdp.ko" "$SDP_TOP/build/in-tree-kunit/"
	log=$SDP_LOGS/in-tree-kunit.log
	"$SDP_TOP/selftests/unit/kunit.sh" "$SDP_TOP/build/in-tree-kunit/sdp.ko" \
		"$linux"/net/sdp/tests/*_kunit.c 7>&- | tee "$log" || true
	read -r p f s <<<"$(tail -n 1 "$log" | tr -cd '0-9 \n')"
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
else
	failed=$((failed + 1))
fi
check "the source is unchanged" source_unchanged
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
