# SPDX-License-Identifier: GPL-2.0
# Sourced after libpeers.sh by the tests in which messages of connection management get lost (sdp_deaf,
# hostile/deaf.c): what they need is looked for, and put right again at their end. They set limits
# of their own in $settings.

. "$here/../../vm/netlab.sh"
. "$here/../../vm/checks.sh"

deaf_module=$programs/$(uname -r)/sdp_deaf.ko
parameters=/sys/module/sdp_deaf/parameters
[ -n "${SDP_A:-}" ] && lab_intact || tap_skip_all "no RDMA devices rxa and rxb; run it by selftests/vm/run.sh"
[ -e "$deaf_module" ] ||
	tap_skip_all "no $deaf_module; make it with make -C selftests/net/sdp/hostile KERNEL=..."
settings=/proc/sys/net/sdp
connect_before=$(<$settings/connect_timeout_ms) fin_before=$(<$settings/fin_timeout_ms)
restore() {
	peers_end
	echo "$connect_before" >$settings/connect_timeout_ms
	echo "$fin_before" >$settings/fin_timeout_ms
	rmmod sdp_deaf
}
cleanup restore

# Sets $objects_before, of a machine at rest.
deaf_begin() {
	wait_for $patience no_sockets
	objects_before=$(counts_at_rest)
	insmod "$deaf_module" || tap_skip_all "the module $deaf_module cannot be loaded"
}
