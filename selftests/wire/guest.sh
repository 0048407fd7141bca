#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: makes AF_SDP connections in the guest while both ends of the cable are captured.
# Run by run.sh. It leaves in $SDP_RUN:
#
#	va.pcap vb.pcap		what each end has sent. Incoming packets are left out: on some
#				kernels they have a wrong time, and they are in the other file
#	facts			one line per connection, from its programs and settings; check.py
#				compares the captures with it
#	sdpstat			the module's counters at the end of these
#	rails.*.pcap facts-rails	a connection over three cables, and its facts; for rails.py
#	rails-rdma.*.pcap facts-rails-rdma	the same by RDMA
#
# Needs SDP_MODULE and SDP_TRAFFIC (the traffic program).
set -uo pipefail
vm=$SDP_TOP/selftests/vm
. "$vm/netlab.sh"
. "$vm/checks.sh"

work=/dev/shm/wire
port=5000
# Number of advertisements that the module can hold: of any kind, and SinkAvails. Not a setting.
MAX_ADVERTS=1 HELD=4

# The captures so far may show the reason.
fail() {
	echo "failed: $*"
	cp $work/*.pcap $work/*.log "$SDP_RUN/" 2>/dev/null
	exit 1
}

set_to() { echo "$2" >"/proc/sys/net/sdp/$1" || fail "net.sdp.$1=$2"; }

defaults() {
	set_to recv_buffers 12
	set_to idle_buffers 3
	set_to recv_buffer_size 1536
	set_to accept_buffers 3
	set_to credit_threshold 0
	set_to recv_buffer_max 65552
	set_to resize_after 3
	set_to reader_wait_ms 8
	waiting=
	set_to resize_idle_ms 10000
	set_to rdma_threshold 32768
	set_to rdma_read 1
	set_to mode_after 3
	set_to scan_ms 100
	! rings_known || set_to flow_control credit
}

# rings_known: succeeds if the module supports rings
rings_known() { [ -e /proc/sys/net/sdp/flow_control ]; }

settings() {
	local name value
	for name in recv_buffers idle_buffers recv_buffer_size accept_buffers credit_threshold \
		recv_buffer_max resize_after resize_idle_ms rdma_threshold rdma_read mode_after \
		$(! rings_known || echo flow_control ring_size ring_window rails); do
		read -r value <"/proc/sys/net/sdp/$name"
		printf ' %s=%s' "$name" "$value"
	done
	printf ' max_adverts=%s held=%s' $MAX_ADVERTS $HELD
}

# An option for connections whose large writes have no room in the send buffer, and so wait for
# readers that are late.
waiting=

# connection NAME CLIENT SERVER [OPTION...]: see traffic.c
connection() {
	local name=$1 line
	# The short form leaves out connections that pause for seconds, and most of IPv6.
	[[ -z ${SDP_SHORT:-} ||
	   ! $name =~ ^(rest|rest-both-ways|given-up|demand|(gr|cr|of|mo|la).*-v6)$ ]] || return 0
	port=$((port + 1))
	# shellcheck disable=SC2086 # no word if it is empty
	line=$("$work/traffic" "$1" "$2" "$3" $port $waiting "${@:4}" 2>&1) || fail "$name: $line"
	echo "$line$(settings)" >>"$SDP_RUN/facts"
	echo "  $name"
}

# The cables that are captured, and what the names of the files begin with.
cables=0 prefix=

# cable_ends N, cable_devices N: both ends of a cable
cable_ends() { [ "$1" = 0 ] && echo "$SDP_A $SDP_B" || echo "10.9.$((100 + $1)).1 10.9.$((100 + $1)).2"; }
cable_devices() { [ "$1" = 0 ] && echo "va vb" || echo "va$1 vb$1"; }

captured() {
	local n
	for n in $cables; do cable_devices "$n"; done
}

# mark_and_look TEXT: a mark that has arrived shows that the capture runs, or that everything before
# it is in the file. Only the end of the file tells that: tcpdump drops what it has not read when it
# is killed.
mark_and_look() {
	local n a b dev
	for n in $cables; do
		read -r a b < <(cable_ends "$n")
		"$work/traffic" mark "$a" "$b" "$1" && "$work/traffic" mark "$b" "$a" "$1" || return
	done
	for dev in $(captured); do
		grep -q "$1" "$work/$prefix$dev.pcap" || return
	done
}

capture_start() {
	local dev
	captures=()
	for dev in $(captured); do
		tcpdump -Z root -i "$dev" -Q out -U -B 65536 --time-stamp-precision=nano \
			-w "$work/$prefix$dev.pcap" 'udp port 4791 or udp port 9' 2>"$work/$dev.log" &
		captures+=($!)
	done
	lab_wait "the captures to begin" mark_and_look sdp-capture-begins ||
		fail "tcpdump: $(cat $work/*.log)"
}

capture_end() {
	local dev
	lab_wait "the captures to end" mark_and_look sdp-capture-ends || fail "capture: no end mark"
	kill -INT "${captures[@]}" && wait "${captures[@]}"
	for dev in $(captured); do
		grep -q '^0 packets dropped by kernel' "$work/$dev.log" ||
			fail "the capture is not complete: $(grep dropped $work/*.log)"
	done
	cp $work/$prefix*.pcap "$SDP_RUN/" || fail "copying the captures"
}

queue_pairs() { rdma resource show qp | wc -l; }

# Links outlive their sockets and send the last packets. From its first connection on, each of the
# two devices has a queue pair for registrations.
no_links() { [ "$(queue_pairs)" = $((queue_pairs_before + ${1:-2})) ]; }

# Large writes by SrcAvail, which are read by RDMA or not (B1-B4, C4, C9).
srcavails() {
	local a=$SDP_A b=$SDP_B a6=$SDP_A6 b6=$SDP_B6 never=600000

	waiting="sndbuf=8192"
	connection srcavail-read $a $b up=2000000 write=1000000 wait=1 seen=1 srcavails=read
	connection srcavail-read-down $b $a down=600000 write=300000 wait=1 seen=1 srcavails=read
	connection srcavail-read-v6 $a6 $b6 up=600000 write=200000 wait=1 seen=1 srcavails=read
	connection srcavail-parts $a $b up=600000 write=300000 read=100000 wait=1 seen=1 srcavails=parts
	connection srcavail-ping-pong $a $b write=65536 rounds=20 wait=1 first=client srcavails=read
	connection srcavail-half-closed $a $b up=200000 down=400000 write=100000 wait=1 \
		first=client srcavails=read
	# More reports than the other end has credit for, after its half is closed.
	connection srcavail-to-half-closed $a $b up=1000000 write=1000000 read=40000 wait=1 \
		first=server srcavails=parts
	set_to scan_ms $never
	# Both ends write before either reads. An end that has received the other's SrcAvail writes
	# in messages, which the other end's socket must hold; only crossing SrcAvails are
	# outstanding at once.
	set_to recv_buffer_max 0
	connection srcavail-both $a $b up=180000 down=180000 write=60000 sndbuf=29000 wait=1 seen=1 \
		srcavails=read
	set_to recv_buffer_max 65552
	connection srcavail-small-reads $a $b up=400000 write=100000 read=1000 wait=1 seen=1 \
		srcavails=declined,to-buffered
	connection srcavail-cancelled $a $b up=200000 write=100000 wait=1 slow=1 sndtimeo=100 \
		srcavails=cancelled
	# A race between the reader and the writer's time limit.
	connection srcavail-cancel-races $a $b up=2000000 down=2000000 write=300000 read=50000 \
		readgap=10 wait=1 sndtimeo=20
	set_to scan_ms 100
	connection srcavail-nobody-reads $a $b up=65536 write=65536 wait=1 slow=1 srcavails=declined
	connection srcavail-rest $a $b up=200000 write=200000 read=40000 readgap=1000 wait=1 seen=1 \
		srcavails=rest
	waiting=
	connection srcavail-or-not $a $b up=2000000 down=2000000 write=300000 read=70000 srcavails=any
	set_to rdma_read 0
	connection srcavail-unwanted $a $b up=400000 write=200000 wait=1 srcavails=declined
	connection srcavail-unwanted-v6 $a6 $b6 up=400000 write=200000 wait=1 srcavails=declined
	set_to rdma_read 1
	set_to rdma_threshold 100001
	connection srcavail-below $a $b up=400000 down=400000 write=100000 wait=1 srcavails=none
	set_to rdma_threshold 0
	connection srcavail-never $a $b up=2000000 write=1000000 wait=1 srcavails=none
	defaults
}

# Modes that follow the reader's behaviour (C1-C3).
modes() {
	local a=$SDP_A b=$SDP_B a6=$SDP_A6 b6=$SDP_B6 both=to-buffered,to-combined

	waiting="sndbuf=8192"
	connection mode-learnt $a $b up=400000 write=40000 read=1000 later=200000 gap=20 wait=1 \
		srcavails=declined,$both,read
	connection mode-learnt-v6 $b6 $a6 up=400000 write=40000 read=1000 later=200000 gap=20 \
		wait=1 srcavails=declined,$both,read
	connection mode-both-ways $a $b up=400000 down=400000 write=40000 read=1000 later=200000 \
		gap=20 wait=1 srcavails=declined,$both
	# An end that has sent its last byte may still ask for SrcAvails.
	connection mode-half-closed $a $b up=400000 write=40000 read=1000 later=200000 gap=20 \
		wait=1 first=server srcavails=declined,$both,read
	set_to mode_after 1
	connection mode-at-once $a $b up=400000 write=40000 read=1000 later=200000 gap=20 wait=1 \
		srcavails=declined,$both,read
	set_to mode_after 1000
	connection mode-kept $a $b up=400000 write=40000 read=1000 wait=1 srcavails=declined
	defaults
	set_to rdma_read 0
	waiting="sndbuf=8192"
	connection mode-unread $a $b up=400000 write=40000 wait=1 srcavails=declined,to-pipelined,written
	# Readers that give up while the writer waits for that.
	connection buffer-taken-back $a $b up=400000 write=40000 wait=1 rcvtimeo=400 \
		srcavails=to-pipelined,taken-back,written
	connection buffer-taken-back-v6 $b6 $a6 up=400000 write=40000 wait=1 rcvtimeo=400 \
		srcavails=to-pipelined,taken-back,written
	defaults
}

# Messages in rings, by either scheme (G2, G4, G6).
rings() {
	local a=$SDP_A b=$SDP_B a6=$SDP_A6 b6=$SDP_B6 scheme

	for scheme in rdma nic; do
		set_to flow_control $scheme
		set_to rdma_threshold 0
		connection $scheme-upload $a $b up=1000000 srcavails=ring
		connection $scheme-both-ways $a $b up=600000 down=600000 srcavails=ring
		connection $scheme-both-ways-v6 $b6 $a6 up=600000 down=600000 srcavails=ring
		connection $scheme-small-writes $a $b up=40000 down=40000 write=100 srcavails=ring
		connection $scheme-ping-pong $a $b write=1000 rounds=100 first=client srcavails=ring
		connection $scheme-slow-reader $a $b up=400000 slow=1 srcavails=ring
		connection $scheme-half-close $a $b up=100000 down=200000 first=client srcavails=ring
		set_to recv_buffers 3
		connection $scheme-three-buffers $a $b up=200000 down=100000 srcavails=ring
		set_to recv_buffers 12
		set_to rdma_threshold 32768
		connection $scheme-srcavails $a $b up=2000000 down=1000000 write=100000 gap=1 wait=1 \
			srcavails=any
		set_to resize_idle_ms 200
		connection $scheme-rest $a $b up=400000 write=10000 pause=3000 srcavails=ring,ring-back
		defaults
	done
}

# Captures small enough to be stored in sample.txt.
small_srcavails() {
	local a=$SDP_A b=$SDP_B

	set_to reader_wait_ms 60000
	set_to accept_buffers 12
	set_to idle_buffers 12
	set_to recv_buffer_size 256
	set_to recv_buffer_max 0
	set_to rdma_threshold 2000
	connection small-declined $a $b up=3000 write=3000 read=500 wait=1 seen=1 srcavails=declined
	connection small-rest-refused $a $b up=8000 write=8000 read=5000 readgap=1000 wait=1 seen=1 \
		srcavails=rest
	set_to scan_ms 600000
	connection small-parts $a $b up=12000 write=6000 read=4500 wait=1 seen=1 srcavails=parts
	connection small-cancelled $a $b up=3000 write=3000 wait=1 slow=1 sndtimeo=100 \
		srcavails=cancelled
	set_to mode_after 2
	connection small-modes $a $b up=15000 write=3000 read=500 later=6000 gap=20 wait=1 \
		srcavails=declined,to-buffered,to-combined,read
	defaults
}

traffic() {
	local a=$SDP_A b=$SDP_B a6=$SDP_A6 b6=$SDP_B6 try

	connection upload $a $b up=1000000
	connection download $a $b down=1000000
	connection both-ways $a $b up=600000 down=600000
	connection both-ways-from-b $b $a up=600000 down=600000
	connection ping-pong $a $b write=64 rounds=100 first=client
	connection small-writes $a $b up=40000 down=40000 write=100
	connection empty $a $b
	connection half-close-client $a $b up=5000 down=100000 first=client
	connection half-close-server $a $b up=100000 down=5000 first=server
	connection slow-reader $a $b up=400000 slow=1 rcvbuf=8192
	connection class-of-service $a $b up=20000 down=20000 tos=32
	connection refused $a $b end=refused
	connection reset $a $b up=300 end=reset
	# Few receives, until the other end needs more; and again after each pause.
	set_to resize_idle_ms 400
	set_to recv_buffer_max 0
	connection demand $a $b up=100000 down=100000 write=10000 pause=1500
	defaults
	set_to idle_buffers 6
	connection six-idle $a $b up=100000 down=100000
	set_to idle_buffers 12
	connection all-idle $a $b up=100000 down=100000
	defaults

	connection both-ways-v6 $a6 $b6 up=600000 down=600000
	connection ping-pong-v6 $b6 $a6 write=64 rounds=100 first=client
	connection class-of-service-v6 $b6 $a6 up=20000 down=20000 tos=72
	connection half-close-v6 $a6 $b6 up=5000 down=100000 first=client
	connection refused-v6 $a6 $b6 end=refused

	set_to recv_buffers 32
	set_to recv_buffer_size 16384
	connection larger-buffers $a $b up=1000000 down=1000000
	set_to recv_buffers 64
	set_to recv_buffer_size 65536
	set_to accept_buffers 8
	set_to credit_threshold 20
	connection largest-buffers $a $b up=4000000 down=4000000
	connection largest-buffers-v6 $a6 $b6 up=4000000 write=200000
	defaults

	# The minimum: the last credit is nearly always the next one.
	set_to recv_buffers 3
	connection three-buffers $a $b up=100000 down=100000
	connection three-buffers-slow $a $b up=400000 slow=1 rcvbuf=8192
	defaults

	# Receives that follow the size of the writes (E1-E5), which go in messages.
	set_to rdma_threshold 0
	connection grow $a $b up=600000 shows=grow
	connection grow-both-ways $a $b up=2000000 down=2000000 write=65536 shows=grow
	connection grow-v6 $b6 $a6 up=600000 write=50000 shows=grow
	connection no-room $a $b up=600000 rcvbuf=8192 shows=refused
	connection room-for-some $a $b up=2000000 write=100000 rcvbuf=150000
	# It writes too little to use up the smaller receives before the time is over.
	set_to recv_buffers 64
	set_to accept_buffers 64
	set_to idle_buffers 64
	connection given-up $a $b up=100000 pause=1500 shows=refused
	defaults
	set_to resize_after 1
	connection crossing-large $a $b up=300000 down=300000
	connection crossing-large-v6 $b6 $a6 up=300000 down=300000
	set_to resize_after 3
	set_to resize_idle_ms 200
	# Writes that are large enough for the largest receives at once: a second step might come
	# so late that too little is left to be sent.
	set_to rdma_threshold 0
	connection rest $a $b up=1200000 write=65536 pause=3000 shows=grow,shrink,grow,shrink
	connection rest-both-ways $b $a up=1200000 down=1200000 write=65536 pause=3000 \
		shows=grow,shrink,grow,shrink
	defaults
	set_to recv_buffer_max 0
	connection fixed $a $b up=300000 down=300000
	set_to recv_buffer_max 1024
	connection fixed-by-a-small-limit $a $b up=300000
	defaults

	# The same with few and small messages, a capture small enough to be stored.
	set_to recv_buffers 12
	set_to accept_buffers 12
	set_to idle_buffers 12
	set_to recv_buffer_size 256
	connection small-refused $a $b up=10000 write=600 pause=300 rcvbuf=4096 shows=refused
	# It is likely but not certain that they cross.
	set_to resize_after 1
	for try in 1 2 3 4; do
		connection small-crossing-$try $a $b up=5000 down=5000 write=600 pause=300
	done
	set_to resize_after 3
	set_to resize_idle_ms 200
	connection small-rest $a $b up=14400 write=600 gap=10 pause=1500 rcvbuf=13000 \
		shows=grow,shrink,grow,shrink
	set_to recv_buffer_max 8000
	set_to rdma_threshold 0
	connection odd-limit $a $b up=300000 write=50000 shows=grow
	defaults

	srcavails
	modes
	[ -n "${SDP_SHORT:-}" ] || ! rings_known || rings
	small_srcavails

	# Messages of several packets, in a capture small enough to be stored.
	ip link set va mtu 600 && ip link set vb mtu 600
	connection small-packets $a $b up=5000 down=2000 write=1000 first=client
	ip link set va mtu $LAB_MTU && ip link set vb mtu $LAB_MTU
}

# rails NAME THRESHOLD WORDS...: a connection over three cables (H1, D6), captured as NAME.*.pcap
rails() {
	local name=$1 threshold=$2
	shift 2
	prefix=$name.
	set_to rdma_threshold "$threshold"
	capture_start
	mv "$SDP_RUN/facts" "$SDP_RUN/facts-main"
	connection "$name" $SDP_A $SDP_B "$@"
	mv "$SDP_RUN/facts" "$SDP_RUN/facts-$name" && mv "$SDP_RUN/facts-main" "$SDP_RUN/facts"
	lab_wait "the rails to end" no_links 4 || fail "still there: $(rdma resource show qp)"
	capture_end
}

# All bytes go in messages; and then by RDMA, by one rail at first and by all of them later. For
# receives that do not grow no rail waits.
cables() {
	[ -e /proc/sys/net/sdp/rails ] || return 0
	lab_rail 1 && lab_rail 2 || fail "the cables"
	queue_pairs_before=$(queue_pairs)
	cables="0 1 2"
	set_to rails 3
	rails rails 0 up=12000000 down=6000000 write=65536
	set_to recv_buffer_max 0
	rails rails-rdma 65536 up=32000000 down=16000000 write=1048576
}

mkdir -p $work
# A local copy: the program must not be read over 9p during the traffic.
cp "$SDP_TRAFFIC" $work/traffic
: >"$SDP_RUN/facts"
lab_up || fail "the lab"
# shellcheck disable=SC2046 # a list
modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ') || fail "modprobe"
queue_pairs_before=$(queue_pairs)
insmod "$SDP_MODULE" || fail "insmod: $(dmesg | tail -n 5)"
checks_begin
capture_start
traffic
lab_wait "the last connections to end" no_links || fail "still there: $(rdma resource show qp)"
capture_end
cat /proc/net/sdpstat >"$SDP_RUN/sdpstat"
cables
check_log traffic || exit 1
