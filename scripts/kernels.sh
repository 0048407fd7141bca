#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# kernels.sh NAME: provide a kernel of the test matrix and print its directory.
#
# The directory has
#	boot/vmlinuz, lib/modules/RELEASE	what a virtual machine boots
#	build					what modules are built against
# NAME is one of
#	6.1, 6.12	Debian's kernels: the image is unpacked here, only the
#			headers are installed
#	7.3		the stock kernel of Debian's next release (next-release.sh);
#			it runs when it is named
#	debug		Debian's 7.x source, built here with debug.config
#	watched		the same with watched.config in addition, for coverage
#			and data races; `make check` does not use it
# With "source" it prints the source tree of the last two instead.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$SDP_TOP/scripts/next-release.sh"

# take_turn: take the lock, so that one process at a time makes kernels ready.
# Two that make the same kernel would remove each other's files. A complete
# kernel is never changed: only a caller that finds none takes the lock, and
# then checks again.
take_turn() {
	mkdir -p "$SDP_CACHE"
	exec 8>"$SDP_CACHE/kernels.lock"
	flock -n 8 || { echo "  (waiting: kernels are being made ready already)" >&2; flock 8; }
}

as_root() { [ "$(id -u)" = 0 ] || die "kernels.sh needs root, for apt"; }

# stock_package SERIES: the latest stock image (not rt, cloud, unsigned, debug).
stock_package() {
	apt-cache search --names-only "^linux-image-${1//./\\.}\.[0-9].*amd64$" |
		awk '{print $1}' | grep -Ev -- '-(rt|cloud)-|unsigned|dbg' | sort -V | tail -n 1
}

# stock_complete DIR RELEASE: succeed when image and headers are there.
stock_complete() { [ -e "$1/.complete" ] && [ -d "/usr/src/linux-headers-$2" ]; }

stock() {
	local series=$1 image release dir
	image=$(stock_package "$series")
	if [ -z "$image" ]; then
		as_root
		apt_step "package lists" update
		image=$(stock_package "$series")
	fi
	[ -n "$image" ] || die "Debian offers no linux-image-$series here; is the security suite enabled in apt?"
	release=${image#linux-image-}
	dir=$SDP_CACHE/kernels/$release
	if ! stock_complete "$dir" "$release"; then
		as_root
		take_turn
	fi
	if ! stock_complete "$dir" "$release"; then
		have_packages "linux-headers-$release" ||
			apt_step "headers $release" install -y --no-install-recommends \
				"linux-headers-$release"
		step "image $release" unpack_image "$image" "$release" "$dir"
	fi
	printf '%s\n' "$dir"
}

unpack_image() {
	local image=$1 release=$2 dir=$3
	rm -rf "$dir" && mkdir -p "$dir/deb"
	(cd "$dir/deb" && apt-get -q download "$image" && dpkg -x ./*.deb "$dir")
	rm -rf "$dir/deb"
	ln -sf "vmlinuz-$release" "$dir/boot/vmlinuz"
	ln -sfn "/usr/src/linux-headers-$release" "$dir/build"
	depmod -b "$dir" "$release"
	touch "$dir/.complete"
}

source_tree() {
	local dir=$SDP_CACHE/linux-source-7.2
	[ -e "$dir/.complete" ] || take_turn
	[ -e "$dir/.complete" ] || step "source of the debug kernel" fetch_source "$dir"
	printf '%s\n' "$dir"
}

# fragments FILE...: print the options of configuration fragments. When two
# files set the same option, the last one wins.
fragments() {
	awk '
		{ name = "" }
		/^CONFIG_/ { name = $0; sub(/=.*/, "", name) }
		/^# CONFIG_/ { name = $2 }
		name == "" { next }
		{ line[name] = $0; if (!(name in at)) { at[name] = ++n; names[n] = name } }
		END { for (i = 1; i <= n; i++) print line[names[i]] }' "$@"
}

# build_ours SOURCE DIRECTORY MAKE-ARGUMENT FRAGMENT...: build a kernel.
# The fragments choose KASAN's inline checks and a low clock rate: under
# emulation that makes the tests almost twice as fast.
build_ours() {
	local src=$1 dir=$2 build=$2/build make_argument=$3 release
	shift 3
	rm -rf "$dir" && mkdir -p "$build"
	make -C "$src" O="$build" tinyconfig
	fragments "$@" >"$dir/fragment"
	(cd "$src" && scripts/kconfig/merge_config.sh -m -O "$build" "$build/.config" "$dir/fragment")
	make -C "$src" O="$build" olddefconfig
	# On x86, 7.2 has PREEMPT_LAZY instead of the first option, and the
	# second one is not an option: it is always on.
	"$SDP_TOP/scripts/config-has.sh" "$build/.config" "$dir/fragment" \
		CONFIG_PREEMPT_VOLUNTARY CONFIG_CRYPTO_CRC32_PCLMUL
	make -C "$src" O="$build" -j"$(nproc)" $make_argument bzImage modules
	make -C "$src" O="$build" modules_install INSTALL_MOD_PATH="$dir" INSTALL_MOD_STRIP=1
	release=$(cat "$build/include/config/kernel.release")
	mkdir -p "$dir/boot"
	cp "$build/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$release"
	ln -sf "vmlinuz-$release" "$dir/boot/vmlinuz"
	touch "$dir/.complete"
}

# ours NAME MAKE-ARGUMENT FRAGMENT...: provide a kernel that is built here.
ours() {
	local name=$1 make_argument=$2 src key dir
	shift 2
	"$SDP_TOP/scripts/setup.sh" kernel
	src=$(source_tree)
	key=$(cat "$@" "$src/Makefile" <(gcc -dumpfullversion) | sha256sum | cut -c1-12)
	dir=$SDP_CACHE/kernels/$name-$key
	[ -e "$dir/.complete" ] || take_turn
	[ -e "$dir/.complete" ] || step "$name kernel (about 10 minutes)" \
		build_ours "$src" "$dir" "$make_argument" "$@"
	printf '%s\n' "$dir"
}

debug() { ours debug "" "$SDP_TOP/scripts/debug.config"; }

# KCSAN is off for the kernel itself: it checks the module only, and is faster.
watched() {
	ours watched KCSAN_SANITIZE=n "$SDP_TOP/scripts/debug.config" "$SDP_TOP/scripts/watched.config"
}

case ${1:-} in
6.1 | 6.12)	stock "$1" ;;
7.3)		next_stock "$1" ;;
debug)		debug ;;
watched)	watched ;;
source)		source_tree ;;
*)		die "kernels.sh 6.1 | 6.12 | 7.3 | debug | watched | source" ;;
esac
