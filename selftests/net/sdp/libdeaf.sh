# SPDX-License-Identifier: GPL-2.0
# Setup and cleanup for tests in which CM messages are lost (sdp_deaf, hostile/deaf.c).
# Sourced after libpeers.sh. Skips the test where something is missing, and restores the settings
# at exit. The tests set time limits of their own in $settings.

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

# deaf_begin: sets $objects_before when the machine is at rest, and loads the module.
deaf_begin() {
	wait_for $patience no_sockets
	objects_before=$(counts_at_rest)
	insmod "$deaf_module" || tap_skip_all "the module $deaf_module cannot be loaded"
}
