#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# nginx: a large file by sendfile, whole, in part and as an upload, and many small files.
. "$(dirname "$0")/libprograms.sh"

# A debug kernel serves a tenth as many requests per second.
many_seconds=2
[ "${SDP_DEBUG:-0}" = 0 ] || many_seconds=15
make_file "$dir/large" 20
make_file "$dir/up" 3
echo "a small file" >"$dir/small"

config() {
	local dual=
	[ "$way" != mapped ] || dual=' ipv6only=off'
	cat >"$dir/nginx.conf" <<-END
		daemon off;
		user root;
		worker_processes 1;
		pid $dir/nginx.pid;
		error_log $dir/error.log notice;
		events { worker_connections 256; }
		http {
			sendfile $1;
			tcp_nopush on;
			access_log off;
			client_body_temp_path $dir/body;
			proxy_temp_path $dir/proxy;
			fastcgi_temp_path $dir/fastcgi;
			uwsgi_temp_path $dir/uwsgi;
			scgi_temp_path $dir/scgi;
			client_max_body_size 100m;
			server {
				listen $host_at:$port$dual;
				root $dir;
				location /put/ { dav_methods PUT; create_full_put_path on; }
			}
		}
	END
}

# complaints: warnings and errors of nginx, without its messages about start and end.
complaints() { grep -E '\[(warn|error|crit|alert|emerg)\]' "$dir/error.log"; }

get() {
	local url=http://$host:$port
	client "the large file" curl -sSf -w '%{stderr}%{http_code} %{size_download} %{speed_download}' \
		-o "$dir/got" "$url/large" || return
	read -r code size rate <"$dir/client.log"
	result "large: $code $size $(sum_of "$dir/got")"
	check "$label: it is what was sent" cmp "$dir/large" "$dir/got"
	figure "large file, MB/s" $((rate / 1000000))
	moved $((20 << 20))
	client "a part of it" curl -sSf -r 5000001-9999999 -o "$dir/got" "$url/large"
	result "part: $(sum_of "$dir/got")"
	moved 4999999
	client "a file upwards" curl -sSf -T "$dir/up" "$url/put/up"
	result "upwards: $(sum_of "$dir/put/up")"
	moved $((3 << 20))
	by_rdma $((1 << 20))
}

# wrk counts responses, and prints a line if there were errors of any kind. It knows durations only,
# so it runs until there are enough answers.
many() {
	local answers=0 errors=0 runs
	for ((runs = 0; answers <= 100 && runs < 20; runs++)); do
		client "many requests" wrk -t 1 -c 16 --timeout 10s -d ${many_seconds}s "http://$host:$port/small" ||
			return
		errors=$((errors + $(grep -cE 'Socket errors|Non-2xx' "$out")))
		answers=$((answers + $(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$out")))
	done
	result "errors: $errors"
	check "$label: more than 100 answers" test $answers -gt 100
	figure "small file, requests/s" "$(sed -n 's/^Requests.sec: *\([0-9]*\).*/\1/p' "$out")"
}

work() {
	local code size rate
	rm -rf "$dir/put" "$dir/error.log"
	config on
	serve nginx -c "$dir/nginx.conf" -e "$dir/error.log"
	get
	many
	# One request per connection.
	client "a connection per request" wrk -t 1 -c 4 -d 1s -H 'Connection: close' \
		"http://$host:$port/small"
	result "closing, errors: $(grep -cE 'Socket errors|Non-2xx' "$out")"
	figure "a connection per request, requests/s" \
		"$(sed -n 's/^Requests.sec: *\([0-9]*\).*/\1/p' "$out")"
	check_not "$label: nothing in nginx's error log" complaints
}

each_case work "rc tcp sdp inet rule only client server neither" "rc6 tcp rule" \
	"mapped tcp rule client" "loop tcp sdp rule" "loop6 tcp rule"
tap_done
