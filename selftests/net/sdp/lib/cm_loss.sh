# SPDX-License-Identifier: GPL-2.0
# Setup and cleanup for tests in which CM messages are lost (sdp_cm_loss, modules/cm_loss.c).
# A part of lib.sh. Skips the test where something is missing, and restores the settings
# at exit. The tests set time limits of their own in $settings.

use peers netlab checks

parameters=/sys/module/sdp_cm_loss/parameters
need_lab
need_module cm_loss
settings=/proc/sys/net/sdp
keeps $settings/{connect_timeout_ms,fin_timeout_ms}
restore() {
	peers_end
	rmmod sdp_cm_loss
}
cleanup restore

# deaf_begin: sets $objects_before when the machine is at rest, and loads the module.
deaf_begin() {
	wait_for $patience no_sockets
	check "devices that no test has used" lab_anew
	data_before
	load_module cm_loss
}
