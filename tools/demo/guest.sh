#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest.sh: the demo's part in the guest. Needs SDP_MODULE, SDP_DEMO_TAR and SDP_DEMO_TREE.
set -uo pipefail
vm=$SDP_TOP/selftests/vm
. "$vm/netlab.sh"
. "$vm/checks.sh"
for part in show programs stream; do
	. "$SDP_TOP/tools/demo/$part.sh"
done

# All files are in memory, so that no disk is measured.
cd $shm || exit 1

fail() {
	printf '\nFAILED: %s\n' "$*"
	exit 1
}

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

begin_lab() {
	[ -n "${SDP_DEMO_TAR:-}" ] && cp "$SDP_DEMO_TAR" tree.tar || fail "copying the tar"
	lab_up || fail "the RDMA adapters, see above"
	# shellcheck disable=SC2046 # a list
	modprobe -a $(modinfo -F depends "$SDP_MODULE" | tr , ' ') || fail "modprobe"
	checks_begin
	insmod "$SDP_MODULE" || fail "insmod $SDP_MODULE: $(dmesg | tail -n 5)"
	size=$(stat -c %s tree.tar)
	sum_sent=$(sum_of tree.tar)
}

end_lab() {
	local left
	rmmod sdp || fail "rmmod sdp: /proc/net/sdp says $(cat /proc/net/sdp)"
	left=$(leak_names sdp)
	[ -z "$left" ] || fail "rmmod left something: $left"
	check_log "the demo" || fail "the kernel complained"
	echo "  rmmod sdp: it left nothing behind, and the kernel log has no complaint."
}

echo "  the guest is up; now the adapters, and insmod sdp.ko"
begin_lab
cat <<-END

	         A  rxa on va                      rxb on vb  B
	            $SDP_A   ================   $SDP_B
	                            a cable (veth)
END
programs
stream
end_lab
