# SPDX-License-Identifier: GPL-2.0
# The lab: two soft-RoCE devices joined by a cable. Sourced in the guest.
#
#	10.9.0.1, fd09::1			    10.9.0.2, fd09::2
#	    rxa on va  ============= veth =============  vb under rxb
#
# lab_up	Both ends are in the first network namespace, the only one where rxe works
#		on every kernel. The kernel would deliver from one own address to another
#		through lo; policy routing sends .1 <-> .2 over the cable instead. An
#		unbound socket that connects to .2 has source address .1 and uses rxa.
# lab_up_ns	The same between namespaces A and B: rxna on na in A with 10.9.1.1 and
#		fd09:1::1, rxnb on nb in B with .2. Needs Linux 7 or later; may be up
#		beside the first lab.
# lab_intact	succeeds when the first lab is as lab_up left it.
# lab_anew	makes both devices of the first lab anew: a device that is added is examined once, and
#		keeps what its first connections have created.
# lab_mtu BYTES	sets the MTU of the first lab's cable.
# lab_rail N	adds cable N, 1 to 7: devices rxaN on vaN with 10.9.(100+N).1 and fd09:(100+N)::1,
#		and rxbN on vbN with .2 and ::2.
# lab_rail_vlan N ON	adds VLAN N over cable ON, with addresses as a cable's, but no devices of its
#		own: those of cable ON serve its addresses.
# lab_rail_up N	puts up again an end of it that was put down, with the routes that were lost.
# lab_rail_down N	removes it, also one that is set up in part only.
# lab_down, lab_down_ns		remove the lab, also one that is set up in part only.

# 4200 leaves room for RDMA packets with 4096 bytes of data.
LAB_MTU=${LAB_MTU:-4200}
# Users come before what they use, so that modprobe -r can unload them in this order.
LAB_MODULES="rdma_rxe rdma_ucm ib_umad ib_uverbs rdma_cm ib_cm veth"
[ -z "${SDP_SIW:-}" ] || LAB_MODULES=${LAB_MODULES/rdma_rxe/siw}

export SDP_A=10.9.0.1 SDP_B=10.9.0.2 SDP_A6=fd09::1 SDP_B6=fd09::2
export SDP_NS_A=10.9.1.1 SDP_NS_B=10.9.1.2 SDP_NS_A6=fd09:1::1 SDP_NS_B6=fd09:1::2

# lab_load: loads the modules. $SDP_RXE is a soft-RoCE to be taken instead of the kernel's own, and
# $SDP_SIW a soft-iWARP that makes all devices instead (selftests/adapters).
# shellcheck disable=SC2086 # lists
lab_load() {
	if [ -n "${SDP_SIW:-}" ]; then
		modprobe -a ${LAB_MODULES#siw } $(modinfo -F depends "$SDP_SIW" | tr , ' ') || return
		[ -d /sys/module/siw ] || insmod "$SDP_SIW"
		return
	fi
	[ -n "${SDP_RXE:-}" ] || { modprobe -a $LAB_MODULES; return; }
	modprobe -a ${LAB_MODULES#rdma_rxe } udp_tunnel ip6_udp_tunnel || return
	[ -d /sys/module/rdma_rxe ] || insmod "$SDP_RXE"
}

# lab_unload: unloads them. modprobe knows nothing of soft-iWARP's module.
# shellcheck disable=SC2086 # lists
lab_unload() {
	[ ! -d /sys/module/siw ] || rmmod siw || return
	modprobe -r ${LAB_MODULES#siw }
}

# lab_type: the kind of the devices
lab_type() { [ -n "${SDP_SIW:-}" ] && echo siw || echo rxe; }

lab_mtu() { ip link set va mtu "$1" && ip link set vb mtu "$1"; }

# lab_wait WHAT COMMAND...: waits until COMMAND succeeds, at most 60 s.
lab_wait() {
	local what=$1 up end rest
	shift
	IFS=. read -r up rest </proc/uptime
	end=$((up + 60))
	until "$@" >/dev/null 2>&1; do
		IFS=. read -r up rest </proc/uptime
		[ "$up" -lt $end ] || { echo "netlab: waited 60 s for: $what" >&2; return 1; }
		sleep 0.05
	done
}

# lab_device_ready RDMA NET HOST: succeeds when the device is active and has its GIDs. rdma_cm and
# ib_cm find a device by its GIDs, which follow the addresses with a delay. The function starts no
# program: that is slow in the debug kernel.
lab_device_ready() {
	local port=/sys/class/infiniband/$1/ports/1 state gid v4 v6 i gids=
	[ -e "$port" ] && read -r state <"$port/state" && [[ $state == *ACTIVE* ]] || return
	# On iWARP the GID is the hardware address.
	[ -z "${SDP_SIW:-}" ] || return 0
	printf -v v4 '0000:0000:0000:0000:0000:ffff:0a09:%02x%02x' "$2" "$3"
	printf -v v6 'fd09:%04x:0000:0000:0000:0000:0000:%04x' "$2" "$3"
	for i in {0..7}; do
		read -r gid <"$port/gids/$i" && gids+=" $gid"
	done
	[[ $gids == *$v4* && $gids == *$v6* ]]
}

# lab_device NETNS RDMA NETDEV NET HOST: makes the RDMA device on NETDEV and waits until it is
# usable. NETNS is empty for the first namespace; RDMA devices are visible in all namespaces.
lab_device() {
	local netns=$1 rdma=$2 netdev=$3
	${netns:+ip netns exec "$netns"} rdma link add "$rdma" type "$(lab_type)" netdev "$netdev" || return
	lab_wait "$rdma to be active with its GIDs" lab_device_ready "$rdma" "$4" "$5"
}

lab_anew() {
	rdma link delete rxa && rdma link delete rxb &&
		lab_device "" rxa va 0 1 && lab_device "" rxb vb 0 2
}

lab_no_tentative() { [ -z "$(ip ${1:+-n "$1"} -6 address show tentative)" ]; }

# lab_in_order NETNS NETDEV: one CPU handles all incoming packets. By default a packet is queued on
# the CPU that sent it, and packets of one connection overtake each other, which no cable does.
# soft-RoCE then retransmits, and a repeated RDMA read of memory that is no longer registered ends
# its queue pair.
lab_in_order() {
	${1:+ip netns exec "$1"} bash -c "
		for cpus in /sys/class/net/$2/queues/rx-*/rps_cpus; do echo 1 >\$cpus || exit; done"
}

# lab_backlog: lets a CPU queue more incoming packets than all queue pairs together may send. When
# the queue is full, veth tells soft-RoCE of the loss, which then ends the queue pair instead of
# sending the packet again.
lab_backlog() { echo 100000 >/proc/sys/net/core/netdev_max_backlog; }

# lab_end NETNS NETDEV NET HOST: sets the addresses of one end of the cable.
lab_end() {
	local netdev=$2 v6=fd09
	[ "$3" = 0 ] || v6=fd09:$3
	ip ${1:+-n "$1"} -batch - <<-EOF
		address add 10.9.$3.$4/24 dev $netdev
		address add $v6::$4/64 dev $netdev nodad
		link set $netdev mtu $LAB_MTU up
	EOF
	lab_in_order "$1" "$netdev"
}

# lab_neighbour NETNS NETDEV NET HOST MAC: a permanent neighbour entry for the other end.
lab_neighbour() {
	local v6=fd09
	[ "$3" = 0 ] || v6=fd09:$3
	ip ${1:+-n "$1"} -batch - <<-EOF
		neighbour replace 10.9.$3.$4 lladdr $5 dev $2 nud permanent
		neighbour replace $v6::$4 lladdr $5 dev $2 nud permanent
	EOF
}

lab_mac() { ip ${1:+-n "$1"} -o link show "$2" | sed 's/.*link\/ether \([^ ]*\).*/\1/'; }

# lab_rule_lines ADDRESS-A ADDRESS-B: the rules added to the kernel's own. Packets that arrive by
# cable are local (10). Packets that we send leave by the sender's end (20), also before they have
# a source address (21). Other packets to local addresses stay local (100).
lab_rule_lines() {
	printf '%s\n' "pref 10 iif va lookup local" "pref 10 iif vb lookup local" \
		"pref 20 from $1 to $2 lookup 101" "pref 20 from $2 to $1 lookup 102" \
		"pref 21 iif lo to $2 lookup 101" "pref 100 lookup local"
}

lab_rules() {
	local v a b
	for v in -4 -6; do
		a=10.9.0.1 b=10.9.0.2
		[ $v = -4 ] || a=fd09::1 b=fd09::2
		ip $v -batch - <<-EOF || return
			route add $b dev va src $a table 101
			route add $a dev vb src $b table 102
			$(lab_rule_lines $a $b | sed 's/^/rule add /')
			rule del pref 0
		EOF
	done
}

# lab_rules_down: works also when only some of the rules exist.
lab_rules_down() {
	local v a b
	for v in -4 -6; do
		a=10.9.0.1 b=10.9.0.2
		[ $v = -4 ] || a=fd09::1 b=fd09::2
		[[ $(ip $v rule) == 0:* ]] || ip $v rule add pref 0 lookup local
		ip $v -force -batch - 2>/dev/null <<-EOF
			$(lab_rule_lines $a $b | sed 's/^/rule del /')
			route flush table 101
			route flush table 102
		EOF
	done
	return 0
}

lab_accept_local() {
	local dev
	for dev in all va vb; do
		echo "$1" >/proc/sys/net/ipv4/conf/$dev/accept_local
		echo $((1 - $1)) >/proc/sys/net/ipv4/conf/$dev/rp_filter
	done
}

lab_up() {
	lab_load || return
	ip link add va type veth peer name vb || return
	lab_accept_local 1
	lab_backlog || return
	lab_end "" va 0 1 && lab_end "" vb 0 2 && lab_rules || return
	lab_neighbour "" va 0 2 "$(lab_mac "" vb)" &&
		lab_neighbour "" vb 0 1 "$(lab_mac "" va)" || return
	lab_device "" rxa va 0 1 && lab_device "" rxb vb 0 2 || return
	lab_wait "addresses to be usable" lab_no_tentative ""
}

# lab_rail_rules COMMAND N A B: adds or deletes the rules of cable N with ends A and B, as
# lab_rule_lines has them.
lab_rail_rules() {
	printf 'rule %s %s\n' "$1" "pref 10 iif va$2 lookup local" "$1" "pref 10 iif vb$2 lookup local" \
		"$1" "pref 20 from $3 to $4 lookup 11$2" "$1" "pref 20 from $4 to $3 lookup 12$2" \
		"$1" "pref 21 iif lo to $4 lookup 11$2"
}

lab_rail_device_ready() {
	local port=/sys/class/infiniband/$1/ports/1 state gid v4 v6 i gids=
	[ -e "$port" ] && read -r state <"$port/state" && [[ $state == *ACTIVE* ]] || return
	printf -v v4 '0000:0000:0000:0000:0000:ffff:0a09:%02x%02x' "$2" "$3"
	# The decimal digits are those of the address.
	printf -v v6 'fd09:%04d:0000:0000:0000:0000:0000:%04d' "$2" "$3"
	for i in {0..7}; do
		read -r gid <"$port/gids/$i" && gids+=" $gid"
	done
	[[ $gids == *$v4* && $gids == *$v6* ]]
}

# lab_rail_addresses N: sets the addresses of cable N, and puts it up.
lab_rail_addresses() {
	local n=$1 net=$((100 + $1)) end
	for end in va$n vb$n; do
		echo 1 >/proc/sys/net/ipv4/conf/$end/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/$end/rp_filter
		# The kernel keeps IPv4 addresses of an interface that goes down; let it keep IPv6
		# ones, too. Otherwise an address is back before its GID is, and a packet that
		# soft-RoCE repeats meanwhile ends the kernel (rxe_rcv()).
		echo 1 >/proc/sys/net/ipv6/conf/$end/keep_addr_on_down
		lab_in_order "" $end || return
	done
	ip -batch - <<-EOF || return
		address add 10.9.$net.1/24 dev va$n
		address add 10.9.$net.2/24 dev vb$n
		link set va$n mtu $LAB_MTU
		link set vb$n mtu $LAB_MTU
		$(lab_rail_rules add "$n" 10.9.$net.1 10.9.$net.2)
	EOF
	ip -6 -batch - <<<"$(lab_rail_rules add "$n" fd09:$net::1 fd09:$net::2)" && lab_rail_up "$n"
}

lab_rail() {
	ip link add va$1 type veth peer name vb$1 && lab_rail_addresses "$1" &&
		lab_rail_end a "$1" && lab_rail_end b "$1"
}

lab_rail_vlan() {
	local end
	for end in va vb; do
		ip link add link $end$2 name $end$1 type vlan id "$1" || return
	done
	lab_rail_addresses "$1"
}

# lab_rail_routes N A B: what the routes and neighbours of cable N with ends A and B are.
lab_rail_routes() {
	printf '%s\n' "route replace $3 dev va$1 src $2 table 11$1" \
		"route replace $2 dev vb$1 src $3 table 12$1" \
		"neighbour replace $3 lladdr $(lab_mac "" vb$1) dev va$1 nud permanent" \
		"neighbour replace $2 lladdr $(lab_mac "" va$1) dev vb$1 nud permanent"
}

# The kernel drops routes and neighbours of an interface that goes down.
lab_rail_up() {
	local n=$1 net=$((100 + $1))
	ip -batch - <<-EOF || return
		link set va$n up
		link set vb$n up
		$(lab_rail_routes "$n" 10.9.$net.1 10.9.$net.2)
	EOF
	ip -6 -batch - <<-EOF
		address replace fd09:$net::1/64 dev va$n nodad
		address replace fd09:$net::2/64 dev vb$n nodad
		$(lab_rail_routes "$n" fd09:$net::1 fd09:$net::2)
	EOF
}

# lab_rail_end END N: the RDMA device of one end, a or b.
lab_rail_end() {
	local rdma=rx$1$2 host=1
	[ "$1" = a ] || host=2
	rdma link add "$rdma" type rxe netdev "v$1$2" || return
	lab_wait "$rdma to be active with its GIDs" lab_rail_device_ready "$rdma" $((100 + $2)) $host
}

lab_rail_down() {
	local n=$1 net=$((100 + $1)) rdma end v ends
	for rdma in rxa$n rxb$n; do
		[ ! -e /sys/class/infiniband/$rdma ] || rdma link delete $rdma || return
	done
	for end in va$n vb$n; do
		[ ! -e /sys/class/net/$end ] || ip link delete $end || return
	done
	for v in -4 -6; do
		ends="10.9.$net.1 10.9.$net.2"
		[ $v = -4 ] || ends="fd09:$net::1 fd09:$net::2"
		# shellcheck disable=SC2086 # two words
		ip $v -force -batch - 2>/dev/null <<-EOF || true
			$(lab_rail_rules del "$n" $ends)
			route flush table 11$n
			route flush table 12$n
		EOF
	done
}

lab_intact() {
	lab_device_ready rxa 0 1 && lab_device_ready rxb 0 2 &&
		[[ $(ip rule) == *"lookup 101"*"lookup 102"*"lookup 101"* ]]
}

lab_down() {
	local rdma
	for rdma in rxa rxb; do
		[ ! -e /sys/class/infiniband/$rdma ] || rdma link delete $rdma || return
	done
	[ ! -e /sys/class/net/va ] || ip link delete va || return
	lab_rules_down
	echo 0 >/proc/sys/net/ipv4/conf/all/accept_local
}

# soft-RoCE works in namespaces from Linux 7 on, soft-iWARP never does.
lab_has_ns() { [ -z "${SDP_SIW:-}" ] && [ "$(uname -r | cut -d . -f 1)" -ge 7 ]; }

lab_up_ns() {
	local ns
	lab_has_ns || { echo "netlab: these devices do not work in namespaces" >&2; return 1; }
	lab_load || return
	for ns in A B; do
		ip netns add $ns && ip -n $ns link set lo up || return
	done
	ip link add na netns A type veth peer name nb netns B || return
	lab_end A na 1 1 && lab_end B nb 1 2 || return
	lab_neighbour A na 1 2 "$(lab_mac B nb)" && lab_neighbour B nb 1 1 "$(lab_mac A na)" || return
	lab_device A rxna na 1 1 && lab_device B rxnb nb 1 2 || return
	lab_wait "addresses to be usable in A" lab_no_tentative A &&
		lab_wait "addresses to be usable in B" lab_no_tentative B
}

lab_down_ns() {
	local ns
	[ ! -e /sys/class/infiniband/rxna ] || ip netns exec A rdma link delete rxna
	[ ! -e /sys/class/infiniband/rxnb ] || ip netns exec B rdma link delete rxnb
	for ns in A B; do
		[ ! -e /run/netns/$ns ] || ip netns delete $ns || return
	done
}
