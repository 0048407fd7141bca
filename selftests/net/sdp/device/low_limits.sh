#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Devices with the low limits of some adapters: each works, or is not used and the reason is told.
# sdp_limits.ko makes both devices state a limit and refuse what goes beyond it. With each limit, a
# connection of every kind carries data both ways, and nothing is asked for that the device has not
# got. A device that lacks what every connection needs is refused when it is found, not later.
. "$(dirname "$0")/../lib/lib.sh" peers netlab

need_lab
need_module limits
sdp=$top/build/tools/sdp
[ -x "$sdp" ] || tap_skip_all "no build/tools/sdp; make it with make tools"

settings=/proc/sys/net/sdp
limited=/sys/module/sdp_limits
piece=131072 amount=$((12 * 131072))

loaded() { [ -d /sys/module/sdp ]; }

# Another host on the cable, which is not there.
nobody=${SDP_B%.*}.77

restore() {
	peers_end
	ip neighbour delete "$nobody" dev va
	wait_for $patience rmmod sdp
	rmmod sdp_limits
	loaded || insmod "$SDP_MODULE"
	lab_rail_down 1
}
cleanup restore

# limits LIMIT...: all devices have these, and the module is loaded again; $mark is where its messages
# begin in the kernel's log. The devices are made anew, because ib_core keeps their completion queues.
limits() {
	wait_for $patience rmmod sdp || return
	[ ! -d $limited ] || rmmod sdp_limits || return
	lab_anew || return
	insmod "$(module_file limits)" "$@" || return
	mark="sdp limits $$-$((++loads))"
	echo "$mark" >/dev/kmsg
	insmod "$SDP_MODULE" || return
	echo 16384 >$settings/rdma_threshold
}
loads=0

logged() { dmesg | sed "1,/$mark/d" | grep -qF -- "$1"; }

# device EXPRESSION: what sdp check says about rxa; d is its JSON, cap a capability by its name
device() {
	"$sdp" check --device rxa --json >"$tap_output.json"
	python3 - "$tap_output.json" "$1" <<-'END'
		import json, sys
		text = open(sys.argv[1]).read()
		d = json.loads(text)[0]
		cap = {c["name"]: c for c in d["capabilities"]}
		sys.exit(0 if eval(sys.argv[2]) else text)
	END
}
cleanup rm -f "$tap_output.json"

moved() { echo $(($(sdpstat RdmaReadBytes) + $(sdpstat RdmaWriteBytesByPeer))); }

# exchange [BYTES]: BYTES go both ways in large writes, and some in small ones
exchange() {
	local bytes=${1:-$amount}
	next_port
	peer server bind $SDP_B $port listen 5 say up accept pieces $piece recv $bytes \
		send $bytes pieces 100 recv 5000 send 5000 drain
	says server $patience up || return
	peer client connect $SDP_B $port pieces $piece send $bytes recv $bytes \
		pieces 100 send 5000 recv 5000 shutdown drain
	says client $((2 * patience)) "end after $((bytes + 5000)) bytes" || return
	peers_end
}

# many_rails: the same by a second pair of devices as well
many_rails() {
	local joined
	joined=$(sdpstat RailsJoined)
	exchange 8000000 && [ "$(sdpstat RailsJoined)" -gt "$joined" ]
}

# by WHAT COMMAND SETTING=VALUE...: COMMAND succeeds with these settings, which are put back
by() {
	local name=$1 command=$2 setting before=()
	shift 2
	for setting in "$@"; do
		before+=("${setting%%=*}=$(<"$settings/${setting%%=*}")")
		echo "${setting#*=}" >"$settings/${setting%%=*}"
	done
	check "$name" $command
	for setting in "${before[@]}"; do
		echo "${setting#*=}" >"$settings/${setting%%=*}"
	done
}

# works RDMA NAME LIMIT...: RDMA is "moves" when large writes still go by RDMA, else "none"
works() {
	local rdma=$1 name=$2 before
	shift 2
	check "$name: loaded" limits "$@"
	check "$name: both devices are used" "$sdp" check --device
	before=$(moved)
	by "$name: queue pairs" exchange service=rc
	if [ "$rdma" = moves ]; then
		check "$name: large writes by RDMA" [ "$(moved)" -gt "$before" ]
	else
		check "$name: all in messages" [ "$(moved)" = "$before" ]
	fi
	by "$name: long messages from the beginning" exchange recv_buffer_size=65552
	by "$name: rings" exchange flow_control=rdma
	by "$name: rails" many_rails rails=2 recv_buffer_max=0
	by "$name: datagrams, where the device can" exchange service=ud
	by "$name: either" exchange service=auto
	check "$name: nothing was asked for that is not there" [ "$(<$limited/parameters/refused)" = 0 ]
}

# refused REASON NAME LIMIT...: no connection uses the devices
refused() {
	local reason=$1 name=$2
	shift 2
	check "$name: loaded" limits "$@"
	check "$name: the log names what is not there" logged "sdp: not used: $reason"
	check_not "$name: not used" "$sdp" check --device rxa
	next_port
	peer client connect "$nobody" $port
	check "$name: a connect to another host fails at once" says client $patience \
		"connect: ENETUNREACH"
	peers_end
	check "$name: to this host it works by loopback" transfer $SDP_B
	check "$name: nothing was asked for" [ "$(<$limited/parameters/refused)" = 0 ]
}

check "a second cable" lab_rail 1
ip neighbour replace "$nobody" lladdr "$(lab_mac "" vb)" dev va nud permanent
works moves "no limit"
check "no limit: the tool shows all" device 'd["used"] and all(c["has"] for c in d["capabilities"])'

refused "a send has fewer than 2 pieces" "sends of one piece" send_sge=1
check "sends of one piece: the tool names it" device \
	'not d["used"] and not cap["sends"]["has"] and cap["sends"]["needed"] and cap["sends"]["number"] == 1'
refused "a queue has fewer than 16 requests" "queues of 15" qp_wr=15
refused "a completion queue has fewer than 32 entries" "completion queues of 31" cqe=31

works moves "sends of two pieces" send_sge=2
works moves "receives of one piece" recv_sge=1
check "receives of one piece: the tool names it" device \
	'd["used"] and not cap["receives"]["has"] and not cap["datagrams"]["has"]'
works moves "receives of six pieces" recv_sge=6
works moves "queues of 16" qp_wr=16
works moves "completion queues of 32" cqe=32
works none "regions of 16 pages" region_pages=16
works none "no registration" regions=0
works moves "one read at a time" rd_atom=1
works moves "no reads" rd_atom=0
check "no reads: the tool names it" device 'd["used"] and not cap["reads"]["has"]'
works moves "one completion vector" vectors=1
# Datagrams take more than other connections.
works moves "enough for datagrams" qp_wr=256 cqe=384
check "enough for datagrams: the tool says so" device 'd["used"] and cap["datagrams"]["has"]'
for less in qp_wr=255 cqe=383; do
	check "$less: loaded" limits $less
	check "$less: too little for datagrams" device 'd["used"] and not cap["datagrams"]["has"]'
done
if short_form; then
	left_out "no limits of 3 pieces and 20 requests"
else
	works moves "sends of three pieces" send_sge=3
	works moves "receives of two pieces" recv_sge=2
	works moves "queues of 20" qp_wr=20
fi
works none "all limits at once" send_sge=2 recv_sge=1 qp_wr=16 cqe=32 region_pages=16 rd_atom=0 \
	vectors=1
tap_done
