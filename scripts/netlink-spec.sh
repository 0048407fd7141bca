#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# netlink-spec.sh [--check]: generate C from Documentation/netlink/specs/sdp.yaml.
#
# The specification describes the generic netlink family "sdp". From it the
# kernel's generator makes the header for user space and the module's table of
# operations, with their attribute policies. The generator also checks the
# specification against the kernel's schema. With --check the script writes no
# file, and reports each file that differs.
#
# The specification also describes enums and a struct of linux/sdp.h, which is
# not generated. Therefore the script compares all numbers of the specification
# with the headers, and compiles the C library that the generator makes for user
# space.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

check=
case ${1:-} in
"") ;;
--check) check=y ;;
*) die "netlink-spec.sh [--check]" ;;
esac

scripts/setup.sh style
linux=$(scripts/kernels.sh source)
spec=Documentation/netlink/specs/sdp.yaml

# The generator takes the directory with a file MAINTAINERS for the kernel's
# top directory, and the schema from the directory above the specification's.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/Documentation/netlink/specs" "$tree/out"
touch "$tree/MAINTAINERS"
cp "$linux"/Documentation/netlink/*.yaml "$tree/Documentation/netlink/"
cp "$spec" "$tree/$spec"

# generate FILE MODE KIND: make a file in $tree/out. MODE is uapi, kernel or
# user, KIND --header or --source. A generated source includes the header with
# its own name.
generate() {
	local file=$1 mode=$2 kind=$3
	python3 -B "$linux/tools/net/ynl/pyynl/ynl_gen_c.py" --spec "$tree/$spec" \
		--mode "$mode" "$kind" -o "$tree/out/${file##*/}"
	sed -i 's|To regenerate run: .* \*/|To regenerate run: scripts/netlink-spec.sh */|' \
		"$tree/out/${file##*/}"
}

# deliver FILE: put a generated file into its place, or compare it with that.
deliver() {
	local file=$1
	if [ -z "$check" ]; then
		cmp -s "$tree/out/${file##*/}" "$file" || cp "$tree/out/${file##*/}" "$file"
	elif ! cmp -s "$tree/out/${file##*/}" "$file"; then
		echo "$file is not what $spec says: change the specification, then run scripts/netlink-spec.sh"
		diff -u0 "$file" "$tree/out/${file##*/}" | sed -n '3,8p'
		return 1
	fi
}

# assert_numbers: compare every number of the specification with the headers.
assert_numbers() {
	python3 -B scripts/netlink-spec.py "$linux" "$tree/$spec" >"$tree/out/assert.c"
	gcc -fsyntax-only -Iinclude/uapi "$tree/out/assert.c"
}

# compile_user: compile the generator's library for user space.
compile_user() {
	generate sdp-user.h user --header
	generate sdp-user.c user --source
	gcc -Wall -fsyntax-only -Iinclude/uapi -I"$linux/tools/net/ynl/lib" "$tree/out/sdp-user.c"
}

status=0
generate include/uapi/linux/sdp_netlink.h uapi --header
generate net/sdp/netlink_gen.h kernel --header
generate net/sdp/netlink_gen.c kernel --source
for file in include/uapi/linux/sdp_netlink.h net/sdp/netlink_gen.h net/sdp/netlink_gen.c; do
	deliver "$file" || status=1
done
[ $status = 0 ] || exit 1
assert_numbers
compile_user
