#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-module.sh KDIR [MAKE ARGUMENTS]: build the module for one kernel.
#
# KDIR is the kernel's build tree. The module is built in build/<release>/, and
# its path is printed. With SDP_WATCH=coverage in the environment (see Kbuild)
# the directory is build/<release>-coverage/, so that instrumented objects do
# not mix with others.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
kdir=$1
shift

if [ ! -e "$kdir/Makefile" ]; then
	echo "error: no kernel build tree at $kdir; install the headers of that kernel" \
		"(Debian: linux-headers-<release>), or say KVER= or KDIR=" >&2
	exit 1
fi
# Not kernel.release: in Debian's headers it differs from uname -r.
release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$kdir/include/generated/utsrelease.h")
name=$release${SDP_WATCH:+-$SDP_WATCH}
[ "${SDP_POLICY:-y}" != n ] || name+=-core
out=$top/build/$name

# A tree of links to the sources: objects are made in it, not in the sources.
mkdir -p "$out/generated"
# Two builds in one tree would overwrite each other's objects.
exec 9>"$out/.lock"
flock 9
find "$out" -type l ! -exec test -e {} \; -delete
cp -rsf "$top/net" "$top/include" "$top/Kbuild" "$out/"

# Headers may be in the build tree and in a source tree that it refers to.
source=$(sed -n 's/^include \(.*\)\/Makefile$/\1/p' "$kdir/Makefile" | head -n 1)
[ ! -e "$kdir/source" ] || source=$kdir/source
case $source in
"") ;;
/*) ;;
*) source=$kdir/$source ;;
esac
"$top/scripts/probe.sh" "$kdir/include" ${source:+"$source/include"} >"$out/generated/sdp_probe.h.new"
if cmp -s "$out/generated/sdp_probe.h.new" "$out/generated/sdp_probe.h"; then
	rm "$out/generated/sdp_probe.h.new"
else
	mv "$out/generated/sdp_probe.h.new" "$out/generated/sdp_probe.h"
fi

# A calling make with -j passes its job slots on; otherwise use all processors.
[[ ${MAKEFLAGS:-} == *jobserver* ]] || set -- -j"$(nproc)" "$@"
# When a newer compiler made the build tree, its flags may be unknown here.
make -C "$kdir" M="$out" "$@" modules
echo "module: build/$name/sdp.ko"
