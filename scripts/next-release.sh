# SPDX-License-Identifier: GPL-2.0
# Kernels of the Debian release after this one. Sourced by kernels.sh.
#
# Their packages come from its backports, by package lists of their own, so that nothing else is
# installed from that release. The mirror and the keyring are the machine's. Their compiler and
# build tools do not run here: modules for them are built in a root of that release.

next_release=trixie

# apt_next PROGRAM ARGUMENT...: apt-get or apt-cache for that release
apt_next() {
	local lists=$SDP_CACHE/apt program=$1
	shift
	mkdir -p "$lists/state/partial"
	"$program" -q -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$lists/state" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"
}

# next_source SUITE: a line for apt
next_source() {
	local mirror
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
		awk '$2 == "bookworm" && $3 == "main" && !n++ { print $1 }')
	[ -n "$mirror" ] || { echo "no Debian bookworm mirror in the apt sources" >&2; return 1; }
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main"
}

next_lists() {
	mkdir -p "$SDP_CACHE/apt"
	next_source $next_release-backports >"$SDP_CACHE/apt/sources.list"
	apt_next apt-get update
}

# fetch_source DIR: the source of the debug kernel
fetch_source() {
	local dir=$1
	next_lists
	rm -rf "$dir" "$dir.deb" && mkdir -p "$dir.deb"
	(cd "$dir.deb" && apt_next apt-get download linux-source-7.2 && dpkg -x ./*.deb .)
	mkdir -p "$dir"
	tar -C "$dir" --strip-components=1 -xf "$dir.deb"/usr/src/linux-source-7.2.tar.xz
	rm -rf "$dir.deb"
	touch "$dir/.complete"
}

# next_newest SERIES: the release of the latest stock kernel in the lists
next_newest() {
	apt_next apt-cache search --names-only "^linux-headers-${1//./\\.}\.[0-9.]+\+deb13-amd64$" |
		sed -n 's/^linux-headers-\([^ ]*\) .*/\1/p' | sort -V | tail -n 1
}

# make_next_kernel DIR RELEASE: image, modules, and a root with what builds modules
make_next_kernel() {
	local dir=$1 release=$2 main backports
	main=$(next_source $next_release)
	backports=$(next_source $next_release-backports)
	rm -rf "$dir" && mkdir -p "$dir/deb" "$dir/build"
	(cd "$dir/deb" && apt_next apt-get download "linux-"{binary,base,modules}"-$release" &&
		for deb in ./*.deb; do dpkg -x "$deb" "$dir"; done)
	rm -rf "$dir/deb"
	mkdir "$dir/boot"
	ln -s usr/lib "$dir/lib"
	ln -s "../lib/modules/$release/vmlinuz" "$dir/boot/vmlinuz"
	depmod -b "$dir" "$release"
	mmdebstrap --quiet --variant=apt --include="linux-headers-$release,make,gcc,libc6-dev" $next_release \
		"$dir/root" "$main" "$backports"
	next_build_tree "$dir" "$release"
	touch "$dir/.complete"
}

# next_build_tree DIR RELEASE: make DIR/build look like the kernel's build tree. Its Makefile starts
# the real one in the root.
next_build_tree() {
	local dir=$1 release=$2 headers
	headers=/usr/src/linux-headers-$release
	ln -s "../root$headers/include" "../root$headers/.config" "../root$headers/Module.symvers" "$dir/build/"
	ln -s "../root/usr/src/linux-headers-${release%-amd64}-common" "$dir/build/source"
	echo "modules clean: ; +@../in-root '\$(M)' make -C $headers \$@" >"$dir/build/Makefile"
	# The root sees the top-level directory that M is in, /tmp and the devices.
	cat >"$dir/in-root" <<-'END'
		#!/bin/sh
		# in-root PATH COMMAND...: run COMMAND in the root, which has the directory of PATH
		set -e
		[ "$(id -u)" = 0 ] || { echo "error: building for this kernel needs root, for chroot" >&2; exit 1; }
		root=$(dirname "$(realpath "$0")")/root
		top=/$(echo "$1" | cut -d / -f 2)
		shift
		case $top in /usr | /etc | /var | /bin | /lib* | /sbin)
			echo "error: a module below $top cannot be built for this kernel" >&2
			exit 1
		esac
		export root top
		exec unshare --mount sh -e -c '
			for dir in "$top" /tmp /dev /proc; do
				mkdir -p "$root$dir"
				mount --rbind "$dir" "$root$dir"
			done
			exec chroot "$root" "$@"' sh "$@"
	END
	chmod +x "$dir/in-root"
}

# next_stock SERIES: provide a stock kernel. One that is in the cache is used, also when there is a
# newer one: delete it to get that.
next_stock() {
	local series=$1 dir release
	dir=$(printf '%s\n' "$SDP_CACHE/kernels/$series".*/.complete | sort -V | tail -n 1)
	if [ ! -e "$dir" ]; then
		as_root
		"$SDP_TOP/scripts/setup.sh" next-kernel
		take_turn
		step "package lists of $next_release" next_lists
		release=$(next_newest "$series")
		[ -n "$release" ] || die "Debian offers no kernel $series in $next_release-backports; take another series"
		dir=$SDP_CACHE/kernels/$release/.complete
		[ -e "$dir" ] || step "kernel $release, and a root that builds for it" \
			make_next_kernel "${dir%/*}" "$release"
	fi
	printf '%s\n' "${dir%/*}"
}
