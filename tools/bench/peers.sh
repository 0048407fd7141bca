# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The peers that are compared, and the commands for each of them. Sourced by guest.sh.
#
#	tcp	TCP over the veth pair with frames of 64 KB, which RDMA on soft-RoCE cannot use
#	tcpmtu	the same with packets of RDMA's size
#	rs	rsockets, the library of librdmacm, preloaded
#	smc	SMC-R version 2
#	verbs	perftest: raw sends on a queue pair, woken by events as sockets are
#	sdp	AF_SDP over RDMA with the default buffers
#	sdpbig	the same with larger ones, by sysctl
#	sdpud	the same by datagrams of shared queue pairs (service=ud)
#	sdpauto	the same, with a queue pair of its own while it is busy (service=auto)
#	sdpring	the same with a ring at either end (flow_control=rdma), of 64 KiB at most
#	sdpmsg sdpread sdpwrite		AF_SDP over RDMA, large writes in messages, read by the
#		peer, written to the peer: for modes.sh
#	sdploop	AF_SDP over the loopback transport
#	unix	AF_UNIX streams
#	tcplo	TCP over lo

SDP_RECV_BUFFER_SIZE=${SDP_RECV_BUFFER_SIZE:-65552}
SDP_RECV_BUFFERS=${SDP_RECV_BUFFERS:-8}
SDP_SEND_BUFFERS=${SDP_SEND_BUFFERS:-32}

# The sysctls of each peer; and sdp_default has their former values. With the largest mode_after
# the mode never changes, so what is read stays read; where RDMA read is disabled, data is written.
declare -A sdp_settings=(
	[sdpbig]="recv_buffer_size=$SDP_RECV_BUFFER_SIZE recv_buffers=$SDP_RECV_BUFFERS
		idle_buffers=$SDP_RECV_BUFFERS send_buffers=$SDP_SEND_BUFFERS"
	[sdpud]="service=ud"
	[sdpauto]="service=auto"
	[sdpring]="flow_control=rdma"
	[sdpmsg]="rdma_threshold=0"
	[sdpread]="rdma_threshold=4096 mode_after=1000"
	[sdpwrite]="rdma_threshold=4096 rdma_read=0"
)
declare -A sdp_default=()
. "$SDP_TOP/tools/paper/schemes.sh"

PERFTEST_PORT=18515

peer_name() {
	case $1 in
	tcp)	 echo "TCP" ;;
	tcpmtu)	 echo "TCP, MTU-size packets" ;;
	rs)	 echo "rsockets" ;;
	smc)	 echo "SMC-R v2" ;;
	verbs)	 echo "raw verbs" ;;
	sdp)	 echo "AF_SDP" ;;
	sdpbig)	 echo "AF_SDP, larger buffers" ;;
	sdpud)	 echo "AF_SDP, datagrams" ;;
	sdpauto) echo "AF_SDP, auto" ;;
	sdpring) echo "AF_SDP, rings" ;;
	sdpmsg)	 echo "AF_SDP, messages" ;;
	sdpread) echo "AF_SDP, read" ;;
	sdpwrite) echo "AF_SDP, written" ;;
	sdploop) echo "AF_SDP loopback" ;;
	unix)	 echo "AF_UNIX" ;;
	tcplo)	 echo "TCP on lo" ;;
	*)	 scheme_name "$1" || datagram_name "$1" ;;
	esac
}

peer_tool() { [ "$1" = verbs ] && echo perftest || echo sockbench; }

peer_is_rdma() { [[ $1 =~ ^(rs|smc|verbs|sdp.*)$ && $1 != sdploop ]]; }

# peer_command PEER [OPTION...]: sockbench's command line up to its family.
peer_command() {
	local peer=$1 preload='' family=inet
	shift
	case $peer in
	rs)	preload="env LD_PRELOAD=$WORK/bin/librspreload.so.1" ;;
	smc)	family=smc ;;
	sdp*)	family=sdp ;;
	unix)	family=unix ;;
	esac
	echo "$preload $WORK/bin/sockbench $* $family"
}

# peer_target PEER PORT: the address of its server.
peer_target() {
	case $1 in
	unix)		echo "@bench-$2 -" ;;
	sdploop|tcplo)	echo "127.0.0.1 $2" ;;
	*)		echo "$SDP_B $2" ;;
	esac
}

segmentation() {
	local dev
	for dev in va vb; do
		ethtool -K $dev tso "$1" gso "$1" gro "$1" >/dev/null
	done
}

peer_prepare() {
	local setting
	[ "$1" != tcpmtu ] || segmentation off
	for setting in ${sdp_settings[$1]:-}; do
		echo "${setting#*=}" >"/proc/sys/net/sdp/${setting%=*}"
	done
}

peer_restore() {
	local setting name
	[ "$1" != tcpmtu ] || segmentation on
	for setting in ${sdp_settings[$1]:-}; do
		name=${setting%=*}
		echo "${sdp_default[$name]}" >"/proc/sys/net/sdp/$name"
	done
}

# set_up_PEER: prepares the peer, or prints why that is impossible.

set_up_rs() {
	[ -e "$WORK/bin/librspreload.so.1" ] ||
		{ echo "librspreload is not installed; run scripts/setup.sh bench"; return 1; }
}

set_up_smc() {
	modprobe -a smc smc_diag 2>/dev/null || { echo "this kernel has no SMC"; return 1; }
	smcsetup pnet BENCHA va rxa 1 && smcsetup pnet BENCHB vb rxb 1 &&
		smcsetup eid SDP-BENCH
}

set_up_verbs() {
	[ -e "$WORK/bin/ib_send_bw" ] ||
		{ echo "perftest is not installed; run scripts/setup.sh bench"; return 1; }
}

set_up_sdp() {
	local setting name
	if [ ! -e /proc/net/sdp ]; then
		[ -e "$SDP_MODULE" ] || { echo "there is no module (SDP_MODULE='$SDP_MODULE')"; return 1; }
		insmod "$SDP_MODULE" || return
	fi
	# shellcheck disable=SC2068 # lists of words
	for setting in ${sdp_settings[@]}; do
		name=${setting%=*}
		[ ! -e "/proc/sys/net/sdp/$name" ] || sdp_default[$name]=$(cat "/proc/sys/net/sdp/$name")
	done
	for setting in ${sdp_settings[$1]:-}; do
		name=${setting%=*}
		[ -n "${sdp_default[$name]:-}" ] || { echo "the module has no net.sdp.$name"; return 1; }
	done
}

set_up_peers() {
	local peer set_up reason=$WORK/reason kept=()
	for peer in $PEERS; do
		peer_name "$peer" >/dev/null || { say "no peer '$peer'"; exit 1; }
		set_up=set_up_${peer/#sdp*/sdp}
		if ! declare -F "$set_up" >/dev/null || $set_up "$peer" >"$reason" 2>&1; then
			kept+=("$peer")
		else
			note "$(peer_name "$peer") is left out: $(tail -n 1 "$reason")"
		fi
	done
	PEERS=${kept[*]}
}

# Raw verbs

# gid_index DEVICE: index of the GID for the device's IPv4 address.
gid_index() {
	grep -l ':ffff:0a09:' /sys/class/infiniband/"$1"/ports/1/gids/* 2>/dev/null |
		head -n 1 | sed 's/.*\///'
}

perftest_listens() { grep -q "$(printf ':%04X 0*:0* 0A' $PERFTEST_PORT)" /proc/net/tcp; }

# perftest_way DEVICE: how perftest connects: by packets of its own with this GID, on iWARP by rdma_cm
perftest_way() { [ -n "${SDP_SIW:-}" ] && echo -R || echo "-x $(gid_index "$1")"; }

# perftest's event mode sometimes sleeps forever, which is no fault of the device. The client runs
# under the program $perftest_via, if that is set.
run_perftest() {
	local status=0
	for _ in 1 2 3; do
		status=0
		try_perftest "$@" || status=$?
		[ $status = 124 ] || break
	done
	return $status
}

try_perftest() {
	local test=$2 size=$3 count=$4 tool=ib_send_bw server status=0
	[ "$test" = stream ] || tool=ib_send_lat
	# shellcheck disable=SC2046 # an option and its value
	timeout -k 2 "$LIMIT" $tool -e -d rxb $(perftest_way rxb) -p $PERFTEST_PORT \
		-s "$size" -n "$count" >"$OUTPUT.server" 2>&1 </dev/null &
	server=$!
	# shellcheck disable=SC2046 # an option and its value
	patiently perftest_listens &&
		limited ${perftest_via:-} $tool -e -d rxa $(perftest_way rxa) -p $PERFTEST_PORT \
			-s "$size" -n "$count" "$SDP_B" || status=$?
	[ $status = 0 ] || kill $server 2>/dev/null || true
	wait $server 2>/dev/null || true
	[ $status != 0 ] || [ -n "$(perftest_line "$size" "$OUTPUT")" ] || status=1
	return $status
}

perftest_line() { grep -E "^ *$1 " "$2" | tail -n 1; }

# The bandwidth is in units of 2^20 bytes; the typical latency is the median, one way.
result_perftest() {
	perftest_line "$3" "$OUTPUT" | awk -v test="$2" '
		test == "stream" { printf "value=%.2f\n", $4 * 1.048576 }
		test == "pingpong" { printf "value=%s p99=%s\n", $5, $8 }'
}
