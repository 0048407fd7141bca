# SPDX-License-Identifier: GPL-2.0
# soak.sh: $minutes of a mixed load in the guest, chosen by $seed. Sourced.
#
# The test that run.sh writes sources it. There are several places for work. Each has a listener
# and its clients: an endless stream in one direction, data in both directions in pieces that go in
# messages or by RDMA, many short connections, or a conversation with urgent data. Or it has one of
# the other test programs, on loopback. Half of the time the sockets are TCP's, and the policy
# decides what they become. When its work has ended, a place gets new work with another address.
# Meanwhile processes are killed, listeners are closed, settings and the policy change, devices are
# removed and come back.
#
# Any of these events may end a connection with an error. These must not happen: a wrong byte, a
# call that does not end, a minute without any progress, anything left at the end. Kernel memory,
# pinned pages, queue pairs and memory regions are as before when all is at rest.
. "$SDP_TOP/selftests/net/sdp/lib/lib.sh" peers netlab checks

RANDOM=$seed
settings=/proc/sys/net/sdp
places=8
[ "${SDP_DEBUG:-0}" = 0 ] || places=4
# Work that takes longer hangs. The processes must not end by themselves before.
work_seconds=$((150 * slow))
export PEER_SECONDS=$((10 * work_seconds))
addresses=(127.0.0.1 ::1 "$SDP_B" "$SDP_B6" "$SDP_B" "$SDP_B6")

# For each place: free, listening or working; since when; its work and its clients.
declare -a state=() since=() kind=() clients=() where=() family=()
declare -A begun=() completed=() was=()
kills=0 removals=0 changes=0 policies_set=0 rewritten=0 stuck=0 wrong=0 bad_programs=0 idle_minutes=0 started=0

chance() { [ $((RANDOM % $1)) = 0 ]; }

# between LOW HIGH: sets $number, small numbers being more likely
between() {
	local span=$((($2 - $1 + 1) >> RANDOM % 8))
	number=$(($1 + (RANDOM << 15 | RANDOM) % (span > 0 ? span : 1)))
}

remember_settings() {
	local file
	for file in "$settings"/*; do
		[ "${file##*/}" = mem ] || was[${file##*/}]=$(<"$file")
	done
}

restore() {
	local name
	peers_end
	for name in "${!was[@]}"; do
		echo "${was[$name]}" >"$settings/$name"
	done
	lab_intact || { lab_down; lab_up; }
}

# Within their ranges, without values that need more memory or time than a VM has.
change_setting() {
	local ranges=(recv_buffers:3:64 recv_buffer_size:256:65552 send_buffers:4:256
		recv_buffer_max:0:65552 resize_after:1:20 resize_idle_ms:100:5000
		accept_buffers:3:64 idle_buffers:3:64 credit_threshold:0:1024
		connect_timeout_ms:10000:30000 fin_timeout_ms:2000:20000 retry_count:3:7
		rnr_retry_count:0:7
		rdma_threshold:-1:200000 rdma_read:0:1 mode_after:1:20 scan_ms:10:1000
		scan_count:1:20 coalesce:0:1 ring_size:0:262144 ring_window:256:65536
		ring_flush:0:1) name low high
	IFS=: read -r name low high <<<"${ranges[RANDOM % ${#ranges[@]}]}"
	between "$low" "$high"
	echo $number >"$settings/$name"
	changes=$((changes + 1))
}

# change_flow_control: the scheme of connections made from now on.
change_flow_control() {
	local schemes=(credit rdma nic)
	echo "${schemes[RANDOM % 3]}" >"$settings/flow_control"
	changes=$((changes + 1))
}

# change_policy: which TCP sockets become SDP, of those that are decided from now on.
change_policy() {
	local policies=("any * both" "any * sdp" "any * tcp" "connect * both" "listen * both"
		"any 10.9.0.0/24 both; any ::1 sdp" "listen *:20000-25000 sdp; any * both" "")
	echo "${policies[RANDOM % ${#policies[@]}]}" >"$settings/policy"
	policies_set=$((policies_set + 1))
}

# serve OPERATION...: starts the listener of place $at
serve() {
	port=$((20000 + started % 10000))
	# shellcheck disable=SC2086 # nothing, or a word
	peer server-$at ${family[at]} bind "${where[at]}" $port listen 20 say up "$@"
	state[at]=listening
}

# will_connect OPERATION...: what the client of place $at will do when there is a listener.
will_connect() { clients[at]="${family[at]} connect ${where[at]} $port $*"; }

# will_fork COUNT REPEAT OPERATION...: the same for several clients
will_fork() { clients[at]="${family[at]} fork $1 repeat $2 connect ${where[at]} $port ${*:3}"; }

begin_work() {
	local kinds=(flow bulk bulk large large short short short talk talk program)
	started=$((started + 1))
	kind[at]=${kinds[RANDOM % ${#kinds[@]}]}
	where[at]=${addresses[RANDOM % ${#addresses[@]}]}
	family[at]=
	chance 2 || { family[at]=tcp; rewritten=$((rewritten + 1)); }
	since[at]=$SECONDS
	begun[${kind[at]}]=$((${begun[${kind[at]}]:-0} + 1))
	"work_${kind[at]}"
}

work_flow() {
	serve accept stop drain
	will_connect flow
}

work_bulk() {
	local bytes
	between 1 $((2000000 / slow))
	bytes=$number
	serve accept stop recv $bytes send $bytes drain
	will_connect send $bytes recv $bytes shutdown drain say done
}

# work_large: pieces large enough for RDMA, read in pieces of another size.
work_large() {
	local bytes piece read
	between 100000 $((6000000 / slow))
	bytes=$number
	between 20000 262144
	piece=$number
	between 1000 262144
	read=$number
	serve accept stop pieces $read recv $bytes pieces $piece send $bytes drain
	will_connect pieces $piece send $bytes pieces $read recv $bytes shutdown drain say done
}

work_short() {
	local count bytes
	between 5 $((120 / slow))
	count=$number
	between 1 8000
	bytes=$number
	serve fork 2 repeat $count accept recv $bytes close
	# A client beyond the expected number is refused, or reset at the end.
	will_fork $((2 + RANDOM % 2)) $count send $bytes shutdown ended close
}

work_talk() {
	local count bytes
	between 20 $((300 / slow))
	count=$number
	between 1 3000
	bytes=$number
	serve accept urgent repeat $count recv $bytes send $bytes
	will_connect urgent repeat $count send $bytes recv $bytes
}

# Loopback programs must not fail from anything that happens here, except for a lack of time.
work_program() {
	local commands=("stream --set lo4 both_directions" "stream --set lo6 small_socket_buffers"
			"threads --set lo4 shared_stream whole_records" "threads --set lo6 signals_in_streams"
			"threads --set lo6 writers_only" "stream --set lo4 processes")
	# shellcheck disable=SC2086 # a command line
	program ${commands[RANDOM % ${#commands[@]}]}
	state[at]=working
}

program() {
	: >"$peers/client-$at"
	"$programs/$1" "${@:2}" >"$peers/client-$at" 2>&1 &
	peer_pid[client-$at]=$!
	disown $!
}

forget_work() {
	peers_end ${peer_pid[client-$at]:+client-$at} ${peer_pid[server-$at]:+server-$at}
	state[at]=free
}

# judge_work: checks the output of ended processes: data was right, and programs passed.
judge_work() {
	local text
	text=$([ ! -e "$peers/client-$at" ] || echo "$(<"$peers/client-$at")"
		[ ! -e "$peers/server-$at" ] || echo "$(<"$peers/server-$at")")
	if [[ $text == *"wrong data"* || $text == *"data came instead"* || $text == *"no operation"* ]]; then
		wrong=$((wrong + 1))
		printf '%s\n' "# ${kind[at]} over ${where[at]}:" "$text" >>"$SDP_RUN/wrong"
	fi
	if [ "${kind[at]}" = program ] && [[ $text != *" 0 failed"* ]]; then
		bad_programs=$((bad_programs + 1))
		printf '%s\n' "$text" >>"$SDP_RUN/wrong"
	fi
	if [[ $text != *": E"* && $text != *missing* ]]; then
		completed[${kind[at]}]=$((${completed[${kind[at]}]:-0} + 1))
	fi
}

show_stuck() {
	local pid
	stuck=$((stuck + 1))
	{
		echo "# after $((SECONDS - since[at])) s: ${kind[at]} over ${where[at]}"
		for pid in $(pgrep -g "${peer_pid[client-$at]}"); do
			echo "client $pid"
			cat "/proc/$pid/stack"
		done
		cat /proc/net/sdp
	} >>"$SDP_RUN/stuck" 2>&1
}

# look_after: handles place $at once.
look_after() {
	case ${state[at]} in
	free)
		begin_work
		;;
	listening)
		if printed server-$at up; then
			# shellcheck disable=SC2086 # a command line
			peer client-$at ${clients[at]}
			state[at]=working
		elif ended server-$at; then
			judge_work
			forget_work
		fi
		;;
	working)
		if ended client-$at; then
			judge_work
			forget_work
		elif [ ${kind[at]} = flow ]; then
			# The stream has no end, and would keep the processors from other work.
			[ $((SECONDS - since[at])) -lt 15 ] || { judge_work; forget_work; }
		elif [ $((SECONDS - since[at])) -gt $work_seconds ]; then
			show_stuck
			judge_work
			forget_work
		fi
	esac
}

# kill_somebody: kills the server, with its listener, or the client of some place; all of its
# processes, or one.
kill_somebody() {
	local place=$((RANDOM % places)) name pids
	name=client-$place
	chance 2 || name=server-$place
	[ -n "${peer_pid[$name]:-}" ] && [ "${kind[place]}" != program ] || return
	if chance 2; then
		kill -KILL "-${peer_pid[$name]}" 2>/dev/null && kills=$((kills + 1))
		return
	fi
	mapfile -t pids < <(pgrep -g "${peer_pid[$name]}")
	[ ${#pids[@]} = 0 ] || kill -KILL "${pids[RANDOM % ${#pids[@]}]}" && kills=$((kills + 1))
}

remove_device() {
	local device=rxa netdev=va number=1
	chance 2 || device=rxb netdev=vb number=2
	removals=$((removals + 1))
	if ! timeout $((60 * slow)) rdma link delete $device || ! lab_device "" $device $netdev 0 $number; then
		stuck=$((stuck + 1))
		echo "# $device cannot be removed, or does not come back" >>"$SDP_RUN/stuck"
	fi
}

# something_happens: called every few seconds, as one pass over all places takes that long.
something_happens() {
	chance 2 && kill_somebody
	chance 2 && change_setting
	chance 4 && change_flow_control
	chance 4 && change_policy
	[ $SECONDS -lt $next_removal ] || { remove_device; next_removal=$((SECONDS + 30 * slow + RANDOM % 60)); }
}

memory_regions() {
	rdma resource show |
		awk '{ for (i = 1; i < NF; i++) if ($i == "mr") n += $(i + 1) } END { print n + 0 }'
}

# pinned_pages: number of pages of programs that are pinned now, by any user of pinning.
pinned_pages() {
	awk '/^nr_foll_pin_acquired/ { n += $2 } /^nr_foll_pin_released/ { n -= $2 }
		END { print n + 0 }' /proc/vmstat
}

# kept_slab: kB of slab memory that cannot be reclaimed
kept_slab() { awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo; }

# take_sample: sets $sockets, $pages, $slab, $free, $qps, $mrs and $pins; $sockets excludes the
# header.
take_sample() {
	local lines name value
	mapfile -t lines </proc/net/sdp
	sockets=$((${#lines[@]} - 1))
	pages=$(awk '$1 == "SDP" { print $4 }' /proc/net/protocols)
	while read -r name value _; do
		case $name in
		Slab:)		slab=$value ;;
		MemAvailable:)	free=$value ;;
		esac
	done </proc/meminfo
	qps=$(queue_pairs)
	mrs=$(memory_regions)
	pins=$(pinned_pages)
	echo "$((SECONDS - begin)) $sockets $pages $slab $free $qps $mrs $pins" >>"$SDP_RUN/samples"
}

show_minute() {
	local opens bytes
	opens=$(sdpstat ActiveOpens) bytes=$(sdpstat BytesReceived)
	[ "$bytes" -gt "$bytes_shown" ] || idle_minutes=$((idle_minutes + 1))
	bytes_shown=$bytes
	{
		printf '%4d min %7d connects %6d MB %5d kills %4d settings %3d removals; ' \
			$(((SECONDS - begin) / 60)) "$opens" $((bytes >> 20)) $kills $changes $removals
		printf '%3d sockets %6d pages %4d QPs %4d MRs %d pinned, slab %d MB, free %d MB\n' \
			$sockets "$pages" "$qps" "$mrs" "$pins" $((slab >> 10)) $((free >> 10))
	} >>"$SDP_RUN/progress"
}

run_load() {
	local at next_sample=0 next_minute=60
	begin=$SECONDS bytes_shown=0 next_removal=$((SECONDS + 20))
	for ((at = 0; at < places; at++)); do
		state[at]=free kind[at]='' since[at]=0
	done
	while [ $((SECONDS - begin)) -lt $((minutes * 60)) ]; do
		for ((at = 0; at < places; at++)); do
			look_after
		done
		something_happens
		if [ $((SECONDS - begin)) -ge $next_sample ]; then
			take_sample
			next_sample=$((next_sample + 5))
		fi
		if [ $((SECONDS - begin)) -ge $next_minute ]; then
			show_minute
			next_minute=$((next_minute + 60))
		fi
		pause 0.2
	done
	take_sample
	[ $next_minute -gt $((minutes * 60)) ] || show_minute
}

violations() { awk '/^Bad/ && $2 { print; n++ } END { exit n > 0 }' /proc/net/sdpstat; }

# Every kind of work was done, most of it completely. In a few minutes chance may leave one out.
kinds_done() {
	local name status=0 sum=0
	for name in bulk large short talk program; do
		echo "$name: ${begun[$name]:-0} begun, ${completed[$name]:-0} without an error"
		sum=$((sum + ${completed[$name]:-0}))
		[ "${completed[$name]:-0}" -gt 0 ] || status=1
	done
	[ "$minutes" -ge 5 ] || { [ $sum -gt 0 ]; return; }
	return $status
}

nothing_in() {
	[ "$1" = 0 ] || { head -n 60 "$SDP_RUN/$2"; return 1; }
}

# Pins are released; other code may pin pages for a moment.
pins_at_most() {
	pins=$(pinned_pages)
	[ "$pins" -le "$1" ] || { echo "$pins pages, before $1"; return 1; }
}

# Less than a leak of a few bytes per connection, as tens of thousands are made.
SLAB_SLACK=8192

at_rest() { echo 3 >/proc/sys/vm/drop_caches; }

slab_at_most() {
	at_rest
	slab=$(kept_slab)
	[ "$slab" -le "$1" ] || { echo "$slab kB, at most $1 is expected"; return 1; }
}

# warm_up: connections of each kind, so that their caches and regions exist.
warm_up() {
	local address
	for address in 127.0.0.1 ::1 "$SDP_B" "$SDP_B6"; do
		transfer "$address" || return
	done
}

# Number of regions that each device keeps for later connections: RC_FREE_REGIONS.
REGIONS_KEPT=64

regions_at_most() {
	mrs=$(memory_regions)
	[ "$mrs" -le "$1" ] || { echo "$mrs memory regions, at most $1 are kept"; return 1; }
}

# A leaked region would block the removal of its device, or be left afterwards.
regions_go() {
	timeout $((60 * slow)) rdma link delete rxa && timeout $((60 * slow)) rdma link delete rxb &&
		regions_at_most 0
}

regions_come() {
	lab_device "" rxa va 0 1 && lab_device "" rxb vb 0 2 && warm_up &&
		wait_for $patience regions_at_most $((2 * REGIONS_KEPT))
}

pages_at_most() { [ "$(awk '$1 == "SDP" { print $4 }' /proc/net/protocols)" -le "$1" ]; }

lab_intact || tap_skip_all "no RDMA devices rxa and rxb; run it by make check-soak"
cleanup restore
check "data before" warm_up
objects=$(counts_at_rest)
remember_settings
echo "any * both" >"$settings/policy"
echo 1 >"$settings/rewrite"
wait_for $patience no_sockets
at_rest
slab_before=$(kept_slab) pins_before=$(pinned_pages) mrs_before=$(memory_regions)
run_load
echo 5000 >"$settings/fin_timeout_ms"
peers_end
check "no wrong byte" nothing_in $wrong wrong
check "no call that does not end" nothing_in $stuck stuck
check "the programs on loopback passed" nothing_in $bad_programs wrong
check "something moved in every minute" test $idle_minutes = 0
check "work of every kind was done" kinds_done
kinds_done | sed 's/^/# /'
check "no socket is left" wait_for $((2 * patience)) no_sockets
check "nobody broke the protocol" violations
restore
# The kernel holds back up to 1 MiB per CPU before it changes the sum.
check "the sockets' memory is given back" wait_for $patience pages_at_most $((256 * $(nproc)))
for address in 127.0.0.1 ::1 "$SDP_B" "$SDP_B6"; do
	check "afterwards data over $address" transfer "$address"
done
rest_after() {
	echo "slab $slab_before kB before, $(kept_slab) kB after; pinned pages $pins_before and" \
		"$(pinned_pages); memory regions $mrs_before and $(memory_regions);" \
		"$rewritten pieces of work by TCP sockets, $policies_set policies"
}

check "the kernel's memory is flat" wait_for $patience slab_at_most $((slab_before + SLAB_SLACK))
check "no page is pinned for ever" wait_for $patience pins_at_most "$pins_before"
rest_after | sed 's/^/# /'
check "no more memory regions than two devices keep" \
	wait_for $patience regions_at_most $((2 * REGIONS_KEPT))
check "without devices there is none" regions_go
check "devices made anew work, and keep no more either" regions_come
echo "# memory regions $mrs_before before, on devices made anew $(memory_regions)"
check "RDMA objects are as before" eval 'wait_for $patience connection_counts_are "$objects" || connection_counts_are "$objects"'
tap_done
