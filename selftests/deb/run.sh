#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: builds the Debian packages, checks them, and installs them in a fresh Debian.
# DKMS builds the module there; mmdebstrap creates that system and removes it. With SDP_SHORT=1 in
# the environment nothing is installed. The last line is the sum.
set -uo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$SDP_TOP" || exit 1

here=$SDP_TOP/selftests/deb
debs=$SDP_TOP/build/deb
version=$(sed -n 's/^VERSION[[:space:]]*:= *//p' Makefile)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); echo "  ok      $1"; }
not_ok() {
	failed=$((failed + 1))
	echo "  FAILED  $1"
	[ -z "${2:-}" ] || head -n 30 <<<"$2" | sed 's/^/            /'
}

# point NAME COMMAND...: one point
point() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$output"; fi
}

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}

unpack() {
	local package
	for package in dkms tools dev doc; do
		dpkg -x "$debs/sdp-${package}_$version-1_"*.deb "$work/$package" || return
	done
	dpkg-source -x "$debs/sdp_$version-1.dsc" "$work/source"
}

# tree [PATH...]: the existing files of this tree
tree() {
	git ls-files -co --exclude-standard "$@" | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done
}

# holds PACKAGE FILE...: it contains these files, and no others but those of every package
holds() {
	local package=$1
	shift
	diff <(printf '%s\n' "$@" | sort) \
		<(cd "$work/$package" && find . -type f -printf '%P\n' |
			grep -v "^usr/share/doc/sdp-$package/[^/]*$" | sort)
}

# The module's sources, and of the scripts only those that build it.
dkms_sources() {
	local src=usr/src/sdp-$version
	mapfile -t files < <(tree Kbuild Makefile LICENSE dkms.conf include net \
		scripts/build-module.sh scripts/probe.sh | sed "s|^|$src/|")
	holds dkms "${files[@]}"
}

no_file_twice() {
	local twice
	twice=$(for package in dkms tools dev doc; do
		(cd "$work/$package" && find . -type f)
	done | sort | uniq -d)
	[ -z "$twice" ] || { echo "$twice"; return 1; }
}

documents() {
	local file
	for file in Documentation/networking/*.rst Documentation/*.rst README.md; do
		cmp "$file" "$work/doc/usr/share/doc/sdp-doc/$file" || return
	done
}

# The source package equals this tree.
source_is_tree() {
	diff <(tree | sort) <(cd "$work/source" && find . \( -path ./debian -o -path ./.pc \) -prune \
		-o ! -type d -printf '%P\n' | sort)
}

program_runs() { [ "$("$work/tools/usr/bin/sdp" --version)" = "sdp $version" ]; }
manual() { zcat "$work/tools/usr/share/man/man8/sdp.8.gz" | mandoc -Tlint -W warning; }
manual_of_header() {
	zcat "$work/dev/usr/share/man/man3/sdp_program.3.gz" | mandoc -Tlint -W warning
}
unit() {
	sed "s|/usr/bin/sdp|$work/tools&|" "$work/tools/lib/systemd/system/sdp.service" \
		>"$work/sdp.service"
	! grep '@' "$work/sdp.service" && systemd-analyze verify --man=no "$work/sdp.service"
}

# make install DESTDIR: the same files under another prefix; an existing policy is kept.
installed() {
	local dest=$work/dest
	mkdir -p "$dest/etc/sdp" && echo "# mine" >"$dest/etc/sdp/policy" || return
	make -s install-tools install-headers DESTDIR="$dest" PREFIX=/opt/x >/dev/null || return
	diff - <(cd "$dest" && find . -type f -printf '%P\n' | sort) <<-END || return
		etc/sdp/policy
		opt/x/bin/sdp
		opt/x/include/linux/sdp.h
		opt/x/include/linux/sdp_netlink.h
		opt/x/include/sdp_program.h
		opt/x/lib/systemd/system/sdp.service
		opt/x/share/bash-completion/completions/sdp
		opt/x/share/doc/sdp/examples/modprobe.d/sdp.conf
		opt/x/share/doc/sdp/examples/policy
		opt/x/share/doc/sdp/examples/sysctl.d/sdp.conf
		opt/x/share/man/man3/sdp_program.3
		opt/x/share/man/man8/sdp.8
	END
	grep -q '^ExecStart=/opt/x/bin/sdp ' "$dest/opt/x/lib/systemd/system/sdp.service" &&
		grep -qx "# mine" "$dest/etc/sdp/policy"
}

uninstalled() {
	local left
	make -s uninstall DESTDIR="$work/dest" PREFIX=/opt/x || return
	left=$(cd "$work/dest" && find . -type f)
	[ "$left" = ./etc/sdp/policy ] || { echo "$left"; return 1; }
}

# The machine's own mirror.
mirror() {
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
		awk '$2 == "bookworm" && $3 == "main" { print $1; exit }'
}

# in_fresh_system: leaves install.sh's points in a file
in_fresh_system() {
	mkdir "$work/debs"
	cp "$debs"/sdp-*_"$version"-1_*.deb "$here/install.sh" "$work/debs/"
	: >"$work/points"
	mmdebstrap --quiet --variant=apt --include=linux-headers-amd64 bookworm /dev/null "$(mirror)" \
		--customize-hook="cp -r '$work/debs' \"\$1/debs\"" \
		--customize-hook="chroot \"\$1\" bash /debs/install.sh >'$work/points'" \
		>"$work/mmdebstrap.log" 2>&1
}

installs() {
	local line before=$((passed + failed))
	in_fresh_system
	while read -r line; do
		case $line in
		"ok "*)		ok "${line#* - }" ;;
		"not ok "*)	not_ok "${line#* - }" ;;
		"# "*)		echo "            ${line#\# }" ;;
		esac
	done <"$work/points"
	[ $((passed + failed - before)) = 21 ] ||
		not_ok "a fresh system" "$(tail -n 20 "$work/mmdebstrap.log")"
}

say "packages"
scripts/setup.sh deb unit build
if output=$(scripts/deb.sh 2>&1); then ok "built, and lintian finds no error"; else
	not_ok "built, and lintian finds no error" "$output"
	finish
fi
point "unpacked" unpack
point "sdp-dkms" dkms_sources
point "sdp-tools" holds tools etc/sdp/policy lib/systemd/system/sdp.service usr/bin/sdp \
	usr/share/bash-completion/completions/sdp usr/share/man/man8/sdp.8.gz \
	usr/share/doc/sdp-tools/examples/{modprobe.d/sdp.conf,policy,sysctl.d/sdp.conf}
point "sdp-dev" holds dev usr/include/linux/sdp{,_netlink}.h usr/include/sdp_program.h \
	usr/share/man/man3/sdp_program.3.gz
point "sdp-doc has the documents" documents
point "no file is in two packages" no_file_twice
point "the source package is the tree" source_is_tree
point "the program runs" program_runs
point "the man page" manual
point "the man page of the header" manual_of_header
if command -v systemd-analyze >/dev/null; then
	point "systemd takes the unit" unit
else
	skipped=$((skipped + 1))
fi
point "make install, with DESTDIR and PREFIX" installed
point "make uninstall" uninstalled
if [ -n "${SDP_SHORT:-}" ]; then
	echo "  short form: the packages are not installed in a fresh system"
else
	installs
fi
finish
