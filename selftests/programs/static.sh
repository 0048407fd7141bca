#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A static C program: busybox, with httpd and wget, and with nc.
. "$(dirname "$0")/libprograms.sh"

busybox=$(command -v busybox)
mkdir -p "$dir/tree"
make_file "$dir/tree/large" 4
for i in {1..5}; do
	head -c $((i * 997)) "$dir/tree/large" >"$dir/tree/$i"
done

interpreter() { readelf -l "$busybox" | grep INTERP; }

work() {
	local url=http://$host:$port i
	rm -f "$dir/got"
	serve "$busybox" httpd -f -p "$host_at:$port" -h "$dir/tree"
	client "a large file" "$busybox" wget -q -O "$dir/got" "$url/large"
	result "large: $(sum_of "$dir/got")"
	check "$label: it is what was sent" cmp "$dir/tree/large" "$dir/got"
	moved $((4 << 20))
	for i in {1..5}; do
		client "file $i" "$busybox" wget -q -O - "$url/$i"
		result "$i: $(sum_of "$out")"
	done
	client "what is not there" bash -c "! '$busybox' wget -O - $url/no"
	result "not there: $(grep -o 'HTTP/1.*' "$dir/client.log")"
	client "by hand" bash -c "printf 'GET /1 HTTP/1.0\r\n\r\n' | '$busybox' nc $address $port"
	result "by hand: $(tail -c 997 "$out" | sha256sum)"
	# All of these may have been shorter than the watcher's interval.
	stay "$busybox" nc "$address" "$port"
}

check_not "it is static" interpreter
each_case work "rc tcp rule only client server" "rc6 tcp rule" "loop tcp rule" \
	"loop6 tcp rule client"
tap_done
