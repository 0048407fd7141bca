# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# redis and nginx over the peers that support unmodified programs. Sourced by guest.sh.
#
# In each round a peer gets a new server, and a number of requests instead of a time, so that all
# do the same work. The rate is the client's. `meter` measures how busy the processors were; the
# cost of the client's start and end is measured by a run with very few requests, and subtracted.

PROGRAM_CLIENTS=16
REDIS_VALUE=100				# bytes
REDIS_REQUESTS=${REDIS_REQUESTS:-4000}	# without pipelining
REDIS_LARGE=262144			# bytes of a large value
REDIS_LARGE_REQUESTS=${REDIS_LARGE_REQUESTS:-400}
NGINX_SMALL=1024			# bytes
NGINX_LARGE=${NGINX_LARGE:-20971520}
NGINX_REQUESTS=${NGINX_REQUESTS:-2000}

declare -A program_over=()		# [peer program]: not tried again

# cannot_carry PEER: prints the reason, if the peer cannot run such programs.
cannot_carry() {
	[ "$1" != rs ] || echo "Debian's build needs epoll and accept4, which librspreload does not have"
}

# program_via PEER: the prefix of a command that gives a program sockets of PEER.
program_via() {
	case $1 in
	sdp*)	echo "env LD_PRELOAD=$WORK/bin/libsdp_preload.so SDP_PRELOAD=sdp" ;;
	smc)	echo "env LD_PRELOAD=$WORK/bin/libsdp_preload.so SDP_PRELOAD=smc" ;;
	esac
}

program_address() { [[ $1 =~ ^(sdploop|tcplo)$ ]] && echo 127.0.0.1 || echo "$SDP_B"; }

# processors 0|1: takes all processors but the first one offline, or online again. While a program
# starts and ends, the guest waits for files of the host. With counted instructions the clock leaps
# meanwhile, and with two processors that take turns the idle time of both is unknown. With one it
# is known.
processors() {
	local online
	[ "${BENCH_CLOCK:-real}" = instructions ] || return 0
	for online in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$online" ] || [[ $online == */cpu0/* ]] || echo "$1" >"$online"
	done
}

program_round() {
	local program=$1 round=$2
	processors 0
	rates_round "round $round of $ROUNDS, $program, $3" program "$program" "$round"
	processors 1
}

# program PEER PROGRAM ROUND: one round of a program
program() {
	local peer=$1 program=$2 round=$3 reason shown='' via address port start_busy
	[[ ! $peer =~ ^(verbs|unix)$ ]] && [ -z "${program_over[$peer $program]:-}" ] || return 0
	reason=$(cannot_carry "$peer")
	[ -z "$reason" ] || { left_out "$peer" "$program" "$reason"; return 0; }
	read -ra via <<<"$(program_via "$peer")"
	address=$(program_address "$peer") port=$((next_port++))
	peer_prepare "$peer"
	if start_"$program"; then
		"$program"_round || left_out "$peer" "$program" "$last"
	else
		left_out "$peer" "$program" "no server: $(why 1 "$WORK/program.log")"
	fi
	stop_program
	peer_restore "$peer"
	last=$shown
}

# left_out PEER PROGRAM REASON: not tried any more.
left_out() {
	program_over[$1 $2]=1
	note "$2 over $(peer_name "$1") is left out: $3"
}

# serve_program COMMAND...: starts a server and waits until `probe` succeeds.
serve_program() {
	"${via[@]}" "$@" >"$WORK/program.log" 2>&1 </dev/null &
	program_pid=$!
	disown
	patiently program_settled && ! program_ended
}

program_settled() { program_ended || limited "${via[@]}" "${probe[@]}"; }
program_ended() { process_gone "$program_pid"; }

stop_program() {
	[ -n "${program_pid:-}" ] && kill "$program_pid" 2>/dev/null || return 0
	patiently program_ended || kill -9 "$program_pid"
	program_pid=
}

# client_start COMMAND...: a run with very few requests.
client_start() {
	local line
	limited meter "${via[@]}" "$@" || { last=$(why $? "$OUTPUT"); return 1; }
	line=$(tail -n 1 "$OUTPUT")
	start_busy=$(word busy_us "$line")
}

# program_run TEST COUNT LEAST COMMAND...: one figure of the program.
program_run() {
	local test=$1 count=$2 least=$3
	shift 3
	one_run "$peer" "$least" "test=$test size=0 round=$round count=$count" \
		client "$test" "$@" || return
	shown+="   ${test#*_} $(printf %9s "$last")"
}

run_client() {
	shift
	limited meter "${via[@]}" "$@"
}

result_client() {
	local line
	line=$(tail -n 1 "$OUTPUT")
	echo "value=$(figure_"${1%%_*}" "$1")" \
		"busy_us=$(minus "$(word busy_us "$line")" "$start_busy")"
}

minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", a - b }'; }

# redis

start_redis() {
	local probe=(redis-cli -h "$address" -p "$port" ping)
	serve_program redis-server --bind "$address" --port "$port" --save '' --appendonly no \
		--dir "$WORK" --protected-mode no
}

redis_round() {
	local pipeline command count
	local benchmark=(redis-benchmark -h "$address" -p "$port" -c "$PROGRAM_CLIENTS"
		-d "$REDIS_VALUE" --csv)
	client_start "${benchmark[@]}" -t set -n $PROGRAM_CLIENTS || return
	for pipeline in 1 16; do
		# Four times as many requests with pipelining; otherwise the run is too short.
		count=$REDIS_REQUESTS
		[ $pipeline = 1 ] || count=$((4 * count))
		for command in set get; do
			program_run "redis_$command$pipeline" "$count" $((count / pipeline / 2)) \
				"${benchmark[@]}" -t $command -n "$count" -P $pipeline || return
		done
	done
	count=$REDIS_LARGE_REQUESTS
	for command in set get; do
		program_run "redis_${command}large" "$count" $((count * (REDIS_LARGE / 10000))) \
			"${benchmark[@]}" -d $REDIS_LARGE -t $command -n "$count" || return
	done
}

# The second column of the first line that is not the header.
figure_redis() { grep -v '^"test"' "$OUTPUT" | cut -d '"' -f 4 | sed -n '1p'; }

# nginx

nginx_config() {
	cat <<-END
		daemon off;
		master_process off;
		pid $WORK/nginx/pid;
		error_log stderr warn;
		events { worker_connections 256; }
		http {
			sendfile on;
			tcp_nopush on;
			access_log off;
			client_body_temp_path $WORK/nginx/body;
			proxy_temp_path $WORK/nginx/proxy;
			fastcgi_temp_path $WORK/nginx/fastcgi;
			uwsgi_temp_path $WORK/nginx/uwsgi;
			scgi_temp_path $WORK/nginx/scgi;
			server {
				listen $address:$port;
				root $WORK/nginx;
			}
		}
	END
}

start_nginx() {
	local probe=(curl -qsSf -o /dev/null "http://$address:$port/small")
	mkdir -p "$WORK/nginx"
	[ -e "$WORK/nginx/large" ] || {
		head -c $NGINX_SMALL /dev/zero >"$WORK/nginx/small"
		head -c "$NGINX_LARGE" /dev/zero >"$WORK/nginx/large"
	}
	nginx_config >"$WORK/nginx/conf"
	serve_program nginx -c "$WORK/nginx/conf" -e stderr
}

nginx_round() {
	local url=http://$address:$port
	local small=(ab -q -k -c "$PROGRAM_CLIENTS")
	local large=(curl -qsSf -o /dev/null -w '%{time_total} %{size_download}\n')
	client_start "${small[@]}" -n $PROGRAM_CLIENTS "$url/small" || return
	program_run nginx_small "$NGINX_REQUESTS" $((NGINX_REQUESTS / 2)) \
		"${small[@]}" -n "$NGINX_REQUESTS" "$url/small" || return
	client_start "${large[@]}" "$url/small" || return
	program_run nginx_large "$NGINX_LARGE" $((NGINX_LARGE / 10000)) "${large[@]}" "$url/large"
}

figure_nginx() {
	if [ "$1" = nginx_large ]; then
		awk 'NF == 2 && $2 > 0 && !done++ { printf "%.2f\n", $2 / $1 / 1e6 }' "$OUTPUT"
	elif ! grep -q '^Failed requests: *0$' "$OUTPUT" || grep -q '^Non-2xx' "$OUTPUT"; then
		return 0	# no figure for it
	else
		awk '/^Requests per second:/ { print $4 }' "$OUTPUT"
	fi
}
