#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The program sdp (tools/sdp) with the module: every command, as text and as JSON.
# Also its messages to users without rights, without the module, and about connections that would
# not use SDP; and what its service does. selftests/tools tests what needs no module.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

settings=/proc/sys/net/sdp
[ -x "$top/build/tools/sdp" ] || tap_skip_all "no build/tools/sdp; make it with make tools"
need_lab

files=$(mktemp -d)
# A path that other users can reach.
sdp=$files/sdp
keeps $settings/{rewrite,policy,fallback_ms}
cp "$top/build/tools/sdp" "$sdp" && chmod -R a+rX "$files"
restore() {
	peers_end
	[ -d /sys/module/sdp ] || insmod "$SDP_MODULE"
	lab_neighbour "" va 0 2 "$(lab_mac "" vb)"
	ip link delete tool-a
	ip netns delete sdptool
	rm -rf "$files"
}
cleanup restore

# run ARGUMENTS...: runs the program; sets $out, $err, and its status $ended
run() {
	ended=0
	"${as[@]}" "$sdp" "$@" >"$files/out" 2>"$files/err" || ended=$?
	out=$(<"$files/out") err=$(<"$files/err")
}
as=()

as_nobody() {
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"$@"
}

show() { printf 'status %s, printed:\n%s\non standard error:\n%s\n' "$ended" "$out" "$err"; }

# said STATUS PATTERN [PATTERN]: checks the last run; patterns of [[ ]] for standard output and
# standard error, which must be empty without one
# shellcheck disable=SC2053 # patterns
said() { [ "$ended" = "$1" ] && [[ $out == $2 && $err == ${3:-} ]] || { show; return 1; }; }

# says_to NAME STATUS PATTERN ERROR-PATTERN ARGUMENTS...: runs the program and checks it
says_to() {
	local name=$1 want=$2 pattern=$3 wrong=$4
	shift 4
	run "$@"
	check "$name" said "$want" "$pattern" "$wrong"
}

# json NAME EXPRESSION ARGUMENTS...: records the output for judge_json, which checks all outputs at
# once, as Python is slow to start. EXPRESSION is Python's; d is the output
json_count=0
json() {
	local name=$1 expression=$2
	shift 2
	json_count=$((json_count + 1))
	run --json "$@"
	cp "$files/out" "$files/$json_count.json"
	printf '%s\n%s\n' "$name" "$expression" >"$files/$json_count.want"
	[ -z "$err" ] || tap_not_ok "--json: $name: standard error" "$err"
}

judge_json() {
	local verdict rest
	while read -r verdict rest; do
		case $verdict in
		ok)	tap_ok "--json: $rest" ;;
		*)	tap_not_ok "--json: $rest" ;;
		esac
	done < <(python3 - "$files" "$json_count" <<-'END'
		import json, sys
		for n in range(1, int(sys.argv[2]) + 1):
		    base = f"{sys.argv[1]}/{n}"
		    name, expression = open(base + ".want").read().split("\n", 1)
		    text = open(base + ".json").read()
		    try:
		        d = json.loads(text)
		        good = eval("(" + expression + ")", {"d": d})
		    except Exception as e:
		        good = False
		        name += f" ({e!r})"
		    what = name if good else name + ": " + " ".join(text.split())[:900]
		    print("ok" if good else "bad", what)
		END
	)
	[ $json_count -gt 0 ] || tap_not_ok "some JSON was looked at"
}

# tcp_listener ADDRESS: a TCP listener, as long as no rule of the policy says listen
tcp_listener() {
	next_port
	peer tcp tcp bind "$1" $port listen 5 say up hold
	says tcp $patience up
}

# fell: the sum of all counters of fallbacks
fell() { awk '/^Fell/ { n += $2 } END { print n + 0 }' /proc/net/sdpstat; }

policies() {
	local rules=$'# two rules\nconnect 10.9.0.0/24 both; any *:22 tcp\n\nlisten * both\n'
	says_to "policy show: nothing is set" 0 "" \
		$'sdp: no rules are set*\nsdp: rewriting is off*sdp policy on' policy show
	echo >$settings/policy
	says_to "policy show: nor is anything by a blank line" 0 "" \
		$'sdp: no rules are set*\nsdp: rewriting is off*sdp policy on' policy show
	printf %s "$rules" >"$files/policy"
	says_to "policy set" 0 "" "" policy set "$files/policy"
	check "policy set: the setting has it" test "$(<$settings/policy)" = "${rules%$'\n'}"
	says_to "policy show: the same, and that rewriting is off" 0 "${rules%$'\n'}" \
		"sdp: rewriting is off*" policy show
	says_to "policy on" 0 "" "" policy on
	check "policy on: rewrite is 1" test "$(<$settings/rewrite)" = 1
	says_to "policy show: then nothing is remarked" 0 "${rules%$'\n'}" "" policy show
	run policy show
	check "policy show: what it prints can be set" "$sdp" policy set "$files/out"
	json "policy show" 'd["text"].count("\n") == 4 and d["rewrite"] is True and
		(d["fallback_ms"], d["fallback_memory_ms"], d["error"]) == (1000, 60000, "")' \
		policy show
	echo "connect 10.9.0.1/24 both" >"$files/wrong"
	says_to "policy set: a mistake" 1 "" \
		"$files/wrong:1:9: error: expected an address without bits after the prefix*" \
		policy set "$files/wrong"
	check "policy set: then the old one stays" test "$(<$settings/policy)" = "${rules%$'\n'}"
	echo "any * tcp" >"$files/policy"
	run policy set - <"$files/policy"
	check "policy set: standard input" test "$ended$(<$settings/policy)" = "0any * tcp"
	says_to "policy set /dev/null" 0 "" "" policy set /dev/null
	check "policy set /dev/null: no rules are set" test -z "$(<$settings/policy)"
	says_to "policy off" 0 "" "" policy off
	check "policy off: rewrite is 0" test "$(<$settings/rewrite)" = 0
	# The maximal length.
	{ echo "any * sdp"; head -c 16374 /dev/zero | tr '\0' '#'; } >"$files/long"
	says_to "policy set: 16384 bytes" 0 "" "" policy set "$files/long"
	run policy show
	check "policy show: all of them" cmp "$files/long" <(head -c 16384 "$files/out")
}

rules_asked() {
	cat >"$files/policy" <<-END
		connect 10.9.0.0/24 program iperf3 both
		listen *:80-89 uid 33 sdp
		connect 10.9.0.2:1 sdp; connect 10.77.0.0/24:1 sdp
		any *:2 path /opt/*/db both
		any *:3 cgroup /system.slice/* both
		connect 10.77.0.2 both
		connect *:22 tcp
		listen *:90 both
		connect [fd09::/64]:4 both
	END
	"$sdp" policy set "$files/policy"
	echo 0 >$settings/rewrite
	says_to "explain: rewriting is off" 0 \
		"both	policy:1: connect 10.9.0.0/24 program iperf3 both
now	TCP: rewriting is off; sdp policy on" "" policy explain iperf3 connect $SDP_B:5201
	echo 1 >$settings/rewrite
	says_to "explain: by RDMA" 0 \
		$'both\tpolicy:1: *\nnow\tSDP by rxa, or TCP if that does not work' "" \
		policy explain iperf3 connect $SDP_B:5201
	says_to "explain: no fall-back" 0 \
		$'sdp\tpolicy:3: connect 10.9.0.2:1 sdp; *\nnow\tSDP by rxa' "" \
		policy explain x connect $SDP_B:1
	says_to "explain: nothing matches; what was not said" 0 \
		$'tcp\tpolicy: no rule matches\nnow\tTCP: no rule matches; add one*' \
		"*asks for the path*asks for the control group*" \
		policy explain x connect 127.0.0.1:9
	says_to "explain: a rule for TCP" 0 \
		$'tcp\tpolicy:7: connect \*:22 tcp\nnow\tTCP: the rule says so; *' "*" \
		policy explain /bin/ssh connect 10.1.2.3:22
	says_to "explain: a user" 0 $'sdp\tpolicy:2: *\nnow\tSDP' "" \
		policy explain nginx listen 0.0.0.0:80 --uid 33
	says_to "explain: another user" 0 $'tcp\t*' "*" policy explain nginx listen 0.0.0.0:80
	says_to "explain: a path" 0 $'both\tpolicy:4: *\nnow\tSDP and TCP' "" \
		policy explain /opt/a/db listen 10.9.0.1:2
	says_to "explain: a control group" 0 $'both\tpolicy:5: *' "" \
		policy explain /bin/x listen 10.9.0.1:3 --cgroup /system.slice/x
	says_to "explain: IPv6" 0 $'both\tpolicy:9: *\nnow\tSDP by rxa*' "" \
		policy explain /bin/x connect "[$SDP_B6]:4" --cgroup /
	says_to "explain: v4-mapped" 0 $'both\tpolicy:1: *' "" \
		policy explain iperf3 connect "[::ffff:$SDP_B]:9"
	says_to "explain: no device" 0 \
		$'both\tpolicy:6: *\nnow\tTCP: no RDMA device on the route; see rdma link*' "" \
		policy explain /x connect 10.77.0.2:7 --cgroup /
	says_to "explain: no device and no TCP" 0 \
		$'sdp\tpolicy:3: *\nnow\tfails: no RDMA device on the route; see rdma link*' "" \
		policy explain /x connect 10.77.0.2:1
	echo "any * sdp" >"$files/one"
	says_to "explain: a file, while the policy is another one" 0 \
		$'sdp\t'"$files/one:1: any \* sdp" "" policy explain iperf3 connect $SDP_B:5201 --file "$files/one"
}

explain_json() {
	json "explain: by RDMA" 'd == {"verdict": "both", "line": 1, "device": "rxa",
		"rewrite": True, "rule": "connect 10.9.0.0/24 program iperf3 both", "now": {"outcome": "both"}}' \
		policy explain iperf3 connect $SDP_B:5201
	json "explain: no rule" 'd["now"]["outcome"] == "tcp" and
		d["now"]["reason"] == "no rule matches" and "line" not in d and d["device"] == "loop"' \
		policy explain /x connect 127.0.0.1:9 --cgroup /
	json "explain: listen" 'd["now"] == {"outcome": "both"} and "device" not in d' \
		policy explain /x listen 0.0.0.0:90 --cgroup /
	json "explain: fails" 'd["now"]["outcome"] == "none" and d["now"]["next"]' \
		policy explain /x connect 10.77.0.2:1
}

# An end without an RDMA device, in a namespace of its own, with a TCP listener.
far_end() {
	ip netns add sdptool && ip link add tool-a type veth peer name tool-b netns sdptool &&
		ip address add 10.77.0.1/24 dev tool-a && ip link set tool-a up &&
		ip -n sdptool address add 10.77.0.2/24 dev tool-b &&
		ip -n sdptool link set tool-b up
}

lists() {
	pair $SDP_B accept send 300 wait "$peers/go" recv 1000 hold -- \
		send 1000 recv 300 say sent hold
	says client $patience sent >/dev/null
	wait_for $patience eval "'$sdp' list | grep -q '^ESTAB *1000 *0 '" >/dev/null
	run list
	check "list: a connection's two ends" said 0 \
		"State * Peer Address:Port *Device*ESTAB * rx[ab]*ESTAB * rx[ab]*"
	check "list: unread bytes, and the names" grep -qE \
		"^ESTAB +1000 +0 +$SDP_B:$port +$SDP_A:[0-9]+ +rxb$" <<<"$out"
	check "list: without the listener" test "$(grep -c . <<<"$out")" = 3
	run list -l
	check "list -l: the listener" grep -qE "^LISTEN +0 +0 +$SDP_B:$port +\*:\* +-$" <<<"$out"
	check "list -l: alone" test "$(grep -c . <<<"$out")" = 2
	listens six ::1 hold
	run list -l
	check "list -l: a listener by IPv6" grep -qE "^LISTEN +0 +0 +\[::1\]:$port +\*:\* +-$" <<<"$out"
	peers_end six
	wait_for $patience eval "! '$sdp' list -l | grep -q '::1'" >/dev/null
	run list -anp
	check "list -a: both" test "$(grep -c . <<<"$out")" = 4
	check "list -p: who has it" grep -qE \
		"^ESTAB .* rxa +users:\(\(\"peer\",pid=${peer_pid[client]},fd=[0-9]+\)\)$" <<<"$out"
	run list --info
	check "list -i: modes, bytes" grep -qE "^    out: combined, [1-9][0-9]* messages with 1000" \
		<<<"$out"
	check "list -i: bytes by path" grep -qE " with 1000 bytes, 0 by RDMA \(0 read, 0 written\)$" \
		<<<"$out"
	check "list -i: credit, buffers" grep -qE "^    credit: [0-9]+, .* of 3 posted, " <<<"$out"
	json "list" 'len(d) == 2 and {s["device"] for s in d} == {"rxa", "rxb"} and
		all(s["state"] == "ESTAB" and s["inode"] and s["uid"] == 0 and "users" not in s and
		    "info" not in s for s in d) and sorted(s["recv_q"] for s in d) == [0, 1000] and
		{s["local"]["address"] for s in d} == {"10.9.0.1", "10.9.0.2"}' list
	json "list -a -i -p" 'len(d) == 3 and sum("info" in s for s in d) == 2 and
		all(s["users"][0]["comm"] == "peer" for s in d) and
		[s["info"]["out"]["bytes_in_messages"] for s in d if s.get("device") == "rxa"] ==
		[1000]' list -a -i -p
	json "list -i: bytes by path" 'all(s["info"][way]["bytes_by_rdma"] ==
		s["info"][way]["bytes_by_rdma_read"] + s["info"][way]["bytes_by_rdma_write"]
		for s in d for way in ("in", "out"))' list -i
	as_nobody run list -p
	check "list -p: another user sees the sockets" test "$ended$(grep -c ^ESTAB <<<"$out")" = 02
	check_not "list -p: but nobody's processes" grep -q users: <<<"$out"
	peers_end
	pair $SDP_B6 accept hold -- say up hold
	says client $patience up
	run list
	check "list: IPv6" grep -qF " [$SDP_B6]:$port " <<<"$out"
	json "list: IPv6" 'any(s["peer"]["address"] == "fd09::2" for s in d)' list
	peers_end
	check "list: nothing is left" wait_for $patience eval '[ "$("$sdp" list | wc -l)" = 1 ]'
}

# kills ADDRESS: ends a connection there, given by its names as list prints them
kills() {
	local names
	pair "$1" accept hold -- say up ended
	says client $patience up
	names=$("$sdp" --json list | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    if s["peer"]["port"] == int(sys.argv[1]):
        print(*("[%s]:%d" % (e["address"], e["port"]) for e in (s["local"], s["peer"])))' $port)
	# shellcheck disable=SC2086 # two ends
	as_nobody says_to "kill $1: another user" 4 "" \
		"sdp: ending the connection: Operation not permitted*" kill $names
	# shellcheck disable=SC2086 # two ends
	says_to "kill $1: root" 0 "" "" kill $names
	check "kill $1: its program is told" says client $patience "ended: ECONNABORTED"
	# shellcheck disable=SC2086 # two ends
	says_to "kill $1: once more" 1 "" "sdp: no connection of *" kill $names
	peers_end
}

# More than fit into one message of a netlink dump.
many() {
	local count=1500
	wait_for $patience no_sockets >/dev/null
	ulimit -n 4096
	in_background perl -e 'for (1 .. $ARGV[0]) { socket($s[$_], 27, 1, 0) or die }
		open(my $up, ">", $ARGV[1]) and close $up; sleep 1000' $count "$files/many"
	wait_for $patience test -e "$files/many"
	run list -ap
	check "list -a: $count sockets" test \
		"$(grep -c '^UNCONN .*users:(("perl",pid='"$bg" <<<"$out")" = $count
	run list
	check "list: not those that are not used" test "$(wc -l <<<"$out")" = 1
	json "list -a: $count sockets" \
		"len(d) == $count and len({s['inode'] for s in d}) == $count" list -a
	kill "$bg"
	wait_for $patience process_gone "$bg"
}

counters() {
	local pid
	run stat -a
	check "stat -a: the same names as in /proc" cmp <(awk '{ print $1 }' <<<"$out") \
		<(awk '{ print $1 }' /proc/net/sdpstat)
	check "stat -a: the same values" cmp <(grep -v '^\(Wake\|CurrEstab\)' <<<"$out") \
		<(grep -v '^\(Wake\|CurrEstab\)' /proc/net/sdpstat)
	run stat
	check "stat: none is 0" eval '[[ $out == *ActiveOpens* ]] && ! grep -q " 0$" <<<"$out"'
	json "stat -a" '"BadKey" in d and d["ActiveOpens"] > 0 and
		all(isinstance(v, int) for v in d.values())' stat -a
	# The program reads the counters twice; the host may hold it before the first time.
	"$sdp" stat -w $((10 * slow)) >"$files/within" &
	pid=$!
	pause $((3 * slow))
	transfer 127.0.0.1 >/dev/null
	wait $pid
	check "stat -w: one connection meanwhile" grep -qx "ActiveOpens  *1" "$files/within"
	check "stat -w: and its bytes" grep -qx "BytesSent  *600000" "$files/within"
	run stat -w 1
	check "stat -w: nothing" said 0 ""
	json "stat -w" 'd == {}' stat -w 1
	json "stat -a -w" 'd["ActiveOpens"] == 0 and "BytesSent" in d' stat -a -w 1
}

# ended_with STATUS PATTERN: checks the last line of the last run
# shellcheck disable=SC2053 # a pattern
ended_with() {
	[ "$ended" = "$1" ] && [ -z "$err" ] && [[ ${out##*$'\n'} == $2 ]] || { show; return 1; }
}

# checked NAME STATUS PATTERN-OF-THE-LAST-LINE ARGUMENTS...: runs sdp check, with $limit seconds for
# a step if that is set, and checks its last line
checked() {
	local name=$1 want=$2 pattern=$3
	shift 3
	run check -t $((${limit:-10} * slow)) "$@"
	check "check: $name" ended_with "$want" "$pattern"
}

connections_checked() {
	local before
	"$sdp" policy set - <<-END
		connect 10.9.0.0/24:1-30000 both
		connect [fd09::/64] both
		connect 10.9.0.2:30001 sdp
		connect 127.0.0.1:30003 program curl both
		connect 10.77.0.0/24 both
	END
	"$sdp" policy off
	listens server $SDP_B accept drain
	checked "rewriting is off" 1 "TCP: rewriting is off; sdp policy on" \
		$SDP_B $port
	check "check: still it connects, and the server sees an end without data" \
		says server $patience "end after 0 bytes"
	check "check: that step is fine" \
		grep -q "^ok  sdp     answered after [0-9]* ms, by rxa$" "$files/out"
	peers_end
	"$sdp" policy on
	listens server $SDP_B accept drain
	checked "an SDP listener" 0 SDP $SDP_B $port
	check "check: all steps" test "$(grep -c '^ok  ' "$files/out")" = 5
	check "check: which rule" \
		grep -q "^ok  policy  both by line 1: connect 10.9.0.0/24:1-30000 both$" "$files/out"
	peers_end
	listens server $SDP_B6 hold
	checked "by IPv6" 0 SDP -6 $SDP_B6 $port
	json "check: SDP" 'd["outcome"] == "sdp" and all(s["ok"] for s in d["steps"]) and
		"reason" not in d and [s["step"] for s in d["steps"]] == ["name", "module", "policy", "device", "sdp"]' \
		check -t $((10 * slow)) $SDP_B6 $port
	peers_end
	tcp_listener $SDP_B
	before=$(fell)
	checked "a TCP-only listener" 1 "TCP: the peer has no SDP listener; on that host: *" \
		$SDP_B $port
	check "check: TCP answers" grep -q "^ok  tcp     answered" "$files/out"
	check "check: that is no fall-back" test "$(fell)" = "$before"
	json "check: a TCP-only listener" 'd["outcome"] == "tcp" and
		d["reason"] == "the peer has no SDP listener" and
		[s["ok"] for s in d["steps"][-2:]] == [False, True]' \
		check -t $((10 * slow)) $SDP_B $port
	checked "no rule" 1 "TCP: no rule matches; *" \
		127.0.0.1 $port
	peers_end
	next_port
	checked "nobody" 1 "TCP: the peer has no SDP listener; start the server" \
		$SDP_B $port
	checked "nobody, and no TCP to fall back on" 1 "neither: the peer has no SDP listener; *" \
		$SDP_B 30001
	peer_in=sdptool tcp_listener 10.77.0.2
	checked "an address without a device" 1 "TCP: no RDMA device on the route; see rdma link*" \
		10.77.0.2 $port
	check "check: TCP answers there" grep -q "^ok  tcp     answered" "$files/out"
	peers_end
	checked "another program's rule" 1 "TCP: no rule matches; *" \
		127.0.0.1 30003
	checked "a program" 1 "TCP: the peer has no SDP listener; start the server" \
		127.0.0.1 30003 --program curl
	check "check: inside of this host" grep -q "^ok  device  loop$" "$files/out"
	as_nobody checked "another user may" 1 "TCP: the peer has no SDP listener; start the server" \
		$SDP_B $port
}

devices_checked() {
	says_to "check --device: a device" 0 \
		$'rxa: used\n  ok  connections by ib_cm or iw_cm  *needed\n*ok  RDMA reads  *fetched by the reader*' \
		"" check --device rxa
	json "check --device: all of them" '{"rxa", "rxb"} <= {v["device"] for v in d} and
		all(v["used"] and len(v["capabilities"]) == 10 for v in d)' check --device
	says_to "check --device: none of that name" 1 "" \
		"sdp: no RDMA device rxz in this namespace; see rdma link" check rxz --device
	as_nobody says_to "check --device: another user may" 0 "rxb: used*" "" check --device rxb
}

# An address whose host does not answer, neither to RDMA nor to TCP.
silence() {
	local limit=3
	next_port
	ip neighbour replace $SDP_B lladdr 02:00:00:00:00:01 dev va nud permanent
	checked "a silent address" 1 "TCP: no answer in time; is the host there?*" \
		$SDP_B $port
	echo 300 >$settings/fallback_ms
	peer client tcp connect $SDP_B $port
	check "fallbacks: the reason, and whose it was" wait_for $patience eval \
		'"$sdp" fallbacks | grep -qE "^2[0-9: -]+  peer\([0-9]+\)  +connect  +$SDP_B:$port  +no answer in time$"'
	json "fallbacks" 'd[-1]["text"] == "no answer in time" and d[-1]["role"] == "connect" and
		d[-1]["comm"] == "peer" and d[-1]["target"]["address"] == "10.9.0.2" and
		d[-1]["reason"] == 3 and d[-1]["at"] > 1000000000 and d[-1]["pid"] > 0' fallbacks
	says_to "explain: a peer that did not answer" 0 \
		$'both\tpolicy:1: *\nnow\tTCP: the peer recently did not answer, so *[0-9] s more; *' "" \
		policy explain x connect "$SDP_B:$port"
	checked "a peer that did not answer" 1 "TCP: the peer recently did not answer, so not tried for [0-9]*" \
		$SDP_B $port
	json "explain: silent" '0 < d["silent_ms"] <= 60000 and d["now"]["outcome"] == "tcp"' \
		policy explain x connect "$SDP_B:$port"
	lab_neighbour "" va 0 2 "$(lab_mac "" vb)"
	echo 1000 >$settings/fallback_ms
	peers_end
}

unprivileged() {
	local command refused="sdp: *: Operation not permitted*; it takes CAP_NET_ADMIN: be root"
	says_to "a user: policy set" 4 "" "$refused" policy set /dev/null
	says_to "a user: policy on" 4 "" "$refused" policy on
	says_to "a user: fallbacks" 4 "" "$refused" fallbacks
	for command in "policy show" "list -a" stat "policy explain x connect 127.0.0.1:1"; do
		# shellcheck disable=SC2086 # a list
		run $command
		check "a user: may ask for $command" test "$ended" = 0
	done
	check "a user has changed nothing" test -n "$(<$settings/policy)"
}

# Another namespace has a policy of its own.
namespaces() {
	local as=(ip netns exec sdptool)
	says_to "another namespace: no rules" 0 "" "sdp: no rules are set*" policy show
	says_to "another namespace: nothing counted" 0 "" "" stat
}

# exec_lines KIND: the commands of the service unit, with this tree's program; without modprobe, as
# the module is loaded
exec_lines() {
	sed -n "s|^Exec$1=-\{0,1\}||p" "$top/tools/etc/sdp.service.in" |
		sed "s|@BINDIR@/sdp|$sdp|" | grep -v modprobe
}

carry_out() {
	local line lines
	mapfile -t lines < <(exec_lines "$1")
	[ ${#lines[@]} -gt 0 ] || { echo "no line Exec$1 in the unit"; return 1; }
	for line in "${lines[@]}"; do
		$line || return
	done
}

# Every setting in the example exists, and its value is the default.
example_is_default() {
	local name value count=0
	while IFS=' =' read -r name value; do
		count=$((count + 1))
		[ "$(<"/proc/sys/${name//.//}")" = "$value" ] || { echo "$name is not $value"; return 1; }
	done < <(sed -n 's/^#\(net\.sdp\)/\1/p' "$top/tools/etc/sysctl.conf")
	[ $count -ge 5 ]
}

service() {
	"$sdp" policy off
	"$sdp" policy set /dev/null
	mkdir -p /etc/sdp /etc/sysctl.d
	check "service: the example of settings has the defaults" example_is_default
	check "service: the example of a policy can be set" "$sdp" policy set "$top/tools/etc/policy"
	echo "connect 10.9.0.0/24 both" >/etc/sdp/policy
	sed 's/^#net.sdp.fallback_ms = .*/net.sdp.fallback_ms = 777/' "$top/tools/etc/sysctl.conf" \
		>/etc/sysctl.d/sdp.conf
	if [ -x /lib/systemd/systemd-sysctl ]; then
		check "service: before it starts" carry_out StartPre
		check "service: settings of sysctl.d hold" test "$(<$settings/fallback_ms)" = 777
	else
		tap_skip "service: settings of sysctl.d hold" "there is no systemd here"
	fi
	check "service: start" carry_out Start
	check "service: the policy is in force" test "$(<$settings/policy)" = "connect 10.9.0.0/24 both"
	check "service: rewriting is on" test "$(<$settings/rewrite)" = 1
	echo "connect 10.9.0.0/24 tcp" >/etc/sdp/policy
	check "service: reload" carry_out Reload
	check "service: the new policy" test "$(<$settings/policy)" = "connect 10.9.0.0/24 tcp"
	echo "nonsense" >/etc/sdp/policy
	check_not "service: reload with a mistake fails" carry_out Reload
	check "service: and changes nothing" test "$(<$settings/policy)" = "connect 10.9.0.0/24 tcp"
	check "service: stop" carry_out Stop
	check "service: rewriting is off" test "$(<$settings/rewrite)" = 0
	rm -f /etc/sysctl.d/sdp.conf /etc/sdp/policy
}

absent() {
	local command
	echo 0 >$settings/rewrite
	check "the module can be unloaded after all that" wait_for $patience rmmod sdp
	for command in "policy show" "policy set /dev/null" "policy on" list stat fallbacks \
		"policy explain x connect 10.9.0.1:1"; do
		# shellcheck disable=SC2086 # a list
		says_to "no module: $command" 3 "" \
			"sdp: AF_SDP is not there; load its module: modprobe sdp" $command
	done
	checked "no module" 1 "TCP: AF_SDP is not there; modprobe sdp" \
		$SDP_B 80
	check "the module can be loaded again" insmod "$SDP_MODULE"
}

far_end || tap_not_ok "a namespace with a cable"
policies
rules_asked
explain_json
lists
kills $SDP_B
kills 127.0.0.1
many
counters
connections_checked
devices_checked
silence
as_nobody unprivileged
namespaces
service
absent
judge_json
tap_done
