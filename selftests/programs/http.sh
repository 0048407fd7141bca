#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Python's http.server, with curl: whole files, a listing, and a file that does not exist.
. "$(dirname "$0")/libprograms.sh"

mkdir -p "$dir/tree"
make_file "$dir/tree/large" 4
for i in {1..8}; do
	head -c $((i * 997)) "$dir/tree/large" >"$dir/tree/$i"
done

work() {
	local url=http://$address:$port rate
	serve python3 -u -m http.server --bind "$address" --directory "$dir/tree" "$port"
	client "a large file" curl -sSf -w '%{stderr}%{speed_download}' -o "$dir/got" "$url/large" &&
		read -r rate <"$dir/client.log" && figure "large file, MB/s" $((rate / 1000000))
	result "large: $(sum_of "$dir/got")"
	check "$label: it is what was sent" cmp "$dir/tree/large" "$dir/got"
	moved $((4 << 20))
	client "8 files" curl -sSf "$url/[1-8]"
	result "8 files: $(sum_of "$out")"
	client "the listing" curl -sSf "$url/"
	result "listing: $(sum_of "$out")"
	client "what is not there" curl -sS -o /dev/null -w '%{http_code}' "$url/no"
	result "not there: $(cat "$out")"
	result "answers: $(grep -c '" 200 -$' "$dir/server.log")"
	# All of these may have been shorter than the watcher's interval.
	stay curl -sS --limit-rate 1K "$url/large"
}

each_case work
tap_done
