# SPDX-License-Identifier: GPL-2.0
# Drivers of RDMA devices in software, built from the source of the very kernel that loads them.
# Sourced by the scripts of this folder.
#
# The source is that of the debug kernel, or of Debian's package of the kernel's source, which is
# fetched. The driver alone is unpacked, and built outside the repository.

# driver_build NAME KERNEL DRIVER CONFIG [COMMAND]: build DRIVER, a folder of drivers/infiniband/sw,
# for KERNEL (6.12, debug), with the option CONFIG. COMMAND may change the source, in whose
# folder it is called. NAME and the contents of this folder name the result. Prints its folder. One
# process at a time builds; a complete result is never changed.
driver_build() {
	local name=$1 kernel version key
	driver_series=$2 driver=$3 driver_config=$4 driver_change=${5:-:}
	kernel=$("$SDP_TOP/scripts/kernels.sh" "$driver_series")
	driver_tree=$(realpath "$kernel/build")
	case $driver_series in
	debug)	version=${kernel##*/} ;;
	*)	version=$(dpkg-query -W -f '${Version}' "linux-headers-${kernel##*/}") ;;
	esac
	driver_version=$version
	key=$(cat "$here"/{lib-driver.sh,"$name".sh,*.[ch]} | sha256sum | cut -c1-12)
	driver_dir=$SDP_CACHE/$name-$version-$key
	if [ ! -e "$driver_dir/.complete" ]; then
		exec 8>"$SDP_CACHE/drivers.lock"
		flock 8
		[ -e "$driver_dir/.complete" ] || step "$name for $driver_series" driver_make
		exec 8>&-
	fi
	echo "$driver_dir/$driver"
}

# driver_unpack: the driver's source, into ./$driver
driver_unpack() {
	local package=linux-source-$driver_series source=drivers/infiniband/sw/$driver
	if [ "$driver_series" = debug ]; then
		cp -r "$("$SDP_TOP/scripts/kernels.sh" source)/$source" "$driver"
		return
	fi
	apt-get download "$package=$driver_version"
	dpkg-deb --fsys-tarfile "$package"_*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ "$package/$source"
	mv "$package/$source" "$driver"
	rm -r "$package" "$package"_*.deb
}

driver_make() {
	rm -rf "$driver_dir"
	mkdir -p "$driver_dir"
	cd "$driver_dir"
	driver_unpack
	cd "$driver"
	$driver_change
	make -C "$driver_tree" M="$PWD" "$driver_config=m" modules
	touch "$driver_dir/.complete"
}
