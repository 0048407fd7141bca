#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-module.sh KDIR [MAKE ARGUMENTS]: build the module for the kernel whose build
# tree is KDIR, in build/<release>/, and say where it is. With SDP_WATCH=coverage in the
# environment (Kbuild) it is build/<release>-coverage/: what counts is made once.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
kdir=$1
shift

if [ ! -e "$kdir/Makefile" ]; then
	echo "error: no kernel build tree at $kdir; install the headers of that kernel" \
		"(Debian: linux-headers-<release>), or say KVER= or KDIR=" >&2
	exit 1
fi
# Not kernel.release: in Debian's headers that is another number than uname -r.
release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$kdir/include/generated/utsrelease.h")
name=$release${SDP_WATCH:+-$SDP_WATCH}
out=$top/build/$name

# A tree of links: objects land beside the links, not beside the sources.
mkdir -p "$out/generated"
# Two builds of one tree would write into each other's objects.
exec 9>"$out/.lock"
flock 9
find "$out" -type l ! -exec test -e {} \; -delete
cp -rsf "$top/net" "$top/include" "$top/Kbuild" "$out/"

# Headers may be split between the build tree and the source tree behind it.
source=$(sed -n 's/^include \(.*\)\/Makefile$/\1/p' "$kdir/Makefile" | head -n 1)
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

# Who calls from a make with -j has its share of the processors already.
[[ ${MAKEFLAGS:-} == *jobserver* ]] || set -- -j"$(nproc)" "$@"
# A build tree that a newer compiler made may know options that this one does not.
make -C "$kdir" M="$out" "$@" modules
echo "module: build/$name/sdp.ko"
