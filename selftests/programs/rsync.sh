#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# rsync's own daemon: a tree is uploaded, changed, uploaded again, and downloaded.
. "$(dirname "$0")/libprograms.sh"

mkdir -p "$dir/tree/below"
make_file "$dir/tree/large" 3
for i in {1..25}; do
	head -c $((i * 1777)) "$dir/tree/large" >"$dir/tree/below/$i"
done
cp -a "$dir/tree" "$dir/first"

config() {
	cat >"$dir/rsyncd.conf" <<-END
		use chroot = no
		reverse lookup = no
		uid = 0
		gid = 0
		[m]
		path = $dir/served
		read only = no
	END
}

tree_sum() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2 | sha256sum); }

work() {
	local url=rsync://$address:$port/m/ begin
	rm -rf "$dir/served" "$dir/back" "$dir/tree"
	mkdir "$dir/served"
	cp -a "$dir/first" "$dir/tree"
	config
	serve rsync --daemon --no-detach --config="$dir/rsyncd.conf" --address="$address" \
		--port="$port" --log-file=/dev/stderr
	begin=${EPOCHREALTIME/./}
	client "upwards" rsync -a --whole-file "$dir/tree/" "$url"
	figure "a tree upwards, kB/s" $((3 * (1 << 20) * 1000 / (${EPOCHREALTIME/./} - begin)))
	result "up: $(tree_sum "$dir/served")"
	moved $((3 << 20))
	echo changed >>"$dir/tree/below/7"
	printf x | dd of="$dir/tree/large" bs=1 seek=1500000 conv=notrunc status=none
	rm "$dir/tree/below/9"
	client "what has changed" rsync -a -c --delete --no-whole-file --stats "$dir/tree/" "$url"
	result "changed: $(grep -E 'Literal|Matched|deleted' "$out")"
	check "$label: the same tree at both ends" diff -r "$dir/tree" "$dir/served"
	client "down" rsync -a "$url" "$dir/back"
	check "$label: the same tree is back" diff -r "$dir/tree" "$dir/back"
	moved $((3 << 20))
	result "log: $(grep -ciE 'error|failed' "$dir/server.log")"
}

each_case work
tap_done
