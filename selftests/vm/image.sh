# SPDX-License-Identifier: GPL-2.0
# Builds file systems for guests that live in memory. Sourced.
#
# add_modules KERNELDIR TO MODULE...	copies the modules and their dependencies, uncompressed, to
#					TO, named in the order in which to insert them
# add_program TREE PROGRAM		copies a program with the libraries that it needs
# pack TREE IMAGE				packs TREE into IMAGE and removes TREE

add_modules() {
	local kernel=$1 to=$2 release module file name n=100
	release=$(basename "$kernel"/lib/modules/*)
	mkdir -p "$to"
	for module in "${@:3}"; do
		modprobe -d "$kernel" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		n=$((n + 1)) name=$(basename "$file")
		case $file in
		*.xz)	xz -dc "$file" >"$to/$n-${name%.xz}" ;;
		*.zst)	zstd -dqc "$file" >"$to/$n-${name%.zst}" ;;
		*)	cp "$file" "$to/$n-$name" ;;
		esac
	done
}

add_program() {
	local tree=$1 program library
	program=$(command -v "$2")
	install -D "$(realpath "$program")" "$tree/bin/${program##*/}"
	ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		install -D "$(realpath "$library")" "$tree$library"
	done
}

pack() {
	(cd "$1" && find . | cpio -o -H newc --quiet | gzip -1) >"$2.$$"
	mv "$2.$$" "$2"
	rm -rf "$1"
}
