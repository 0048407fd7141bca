#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# deb.sh: make the Debian packages of this tree, and check them with lintian.
#
# The binary packages and the source package (.dsc) are made in build/deb/.
# scripts/debian/ becomes their debian/ directory. DEBFULLNAME and DEBEMAIL in
# the environment name the maintainer.
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$SDP_TOP"

version=$(sed -n 's/^VERSION[[:space:]]*:= *//p' Makefile)
out=$SDP_TOP/build/deb
source=$out/sdp-$version
maintainer="${DEBFULLNAME:-AF_SDP} <${DEBEMAIL:-af-sdp@example.org}>"

in_git() { git rev-parse --git-dir >/dev/null 2>&1; }

# Time of the last change: the same sources give the same packages.
moment() {
	if in_git; then
		git log -1 --format=%ct
	else
		stat -c %Y Makefile
	fi
}

files() {
	if in_git; then
		git ls-files -z --cached --others --exclude-standard |
			while IFS= read -rd '' file; do
				[ ! -e "$file" ] || printf '%s\0' "$file"
			done
	else
		find . -path ./build -prune -o -type f -printf '%P\0'
	fi
}

fill_in() {
	sed -i -e "s|@VERSION@|$version|" -e "s|@MAINTAINER@|$maintainer|" \
		-e "s|@DATE@|$(date -R -u -d "@$SOURCE_DATE_EPOCH")|" "$@"
}

make_source() {
	rm -rf "$out"
	mkdir -p "$source"
	files | tar --null -cf - -T - | tar -C "$source" -xf -
	tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner \
		--mtime="@$SOURCE_DATE_EPOCH" -cJf "$out/sdp_$version.orig.tar.xz" "sdp-$version"
	cp -r "$source/scripts/debian" "$source/debian"
	fill_in "$source/debian/control" "$source/debian/changelog"
}

# The variables of a calling make must not reach the build of the packages.
build() { (cd "$source" && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc); }

judge() { lintian --fail-on error "$out/sdp_$version-1_"*.changes; }

scripts/setup.sh deb
SOURCE_DATE_EPOCH=$(moment)
export SOURCE_DATE_EPOCH
step "source of the packages" make_source
step "packages" build
step "lintian" judge
(cd "$out" && ls ./*.deb ./*.dsc) | sed 's|^\./|build/deb/|'
