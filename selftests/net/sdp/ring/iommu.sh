#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rings (G2) of devices behind an IOMMU whose memory needs a DMA sync, as the kernel says.
# Rings are made where the IOMMU maps the device's addresses to the ring's own pages. They are
# refused where a page is elsewhere (bounced), or where there is no IOMMU domain to ask. Every byte
# is right in either case, through the ring or in messages.
. "$(dirname "$0")/../lib/lib.sh" hostile

need_module iommu
grep -qw iommu_get_domain_for_dev /proc/kallsyms || tap_skip_all "a kernel without IOMMUs"
settings=/proc/sys/net/sdp
keeps $settings/{flow_control,ring_size,rdma_threshold}
restore() {
	peers_end
	rmmod sdp_iommu
}
cleanup restore
echo rdma >$settings/flow_control
echo 65536 >$settings/ring_size
echo 0 >$settings/rdma_threshold

amount=300000
asked() { cat "/sys/module/sdp_iommu/parameters/$1"; }

# exchange WHAT COUNTER: sends data both ways; waits until COUNTER has counted two rings; sends
# data again
exchange() {
	local before
	before=$(sdpstat "$2")
	next_port
	peer server bind $SDP_B $port listen 5 say up accept recv $amount send $amount \
		wait "$peers/go" recv $amount send $amount drain
	check "$1: a listener" says server $patience up
	peer client connect $SDP_B $port send $amount recv $amount say once wait "$peers/go" \
		send $amount recv $amount shutdown drain
	check "$1: every byte is right" says client $((2 * patience)) once
	check "$1: $2" wait_for $patience eval "[ \$(sdpstat $2) -ge $((before + 2)) ]"
	touch "$peers/go"
	check "$1: and every byte after that" says client $((2 * patience)) "end after $((2 * amount)) bytes"
	check "$1: the other end is over" says server $patience "end after $((2 * amount)) bytes"
	rm -f "$peers/go"
	peers_end
}

# RingsRefused proves nothing here: there is no ring before accept() or after the connection's end
# either.
made() {
	local written
	written=$(sdpstat RingBytesWritten)
	exchange "$1" RingsMade
	check "$1: they are written into" [ $(($(sdpstat RingBytesWritten) - written)) -ge $amount ]
}

refused() {
	local made
	made=$(sdpstat RingsMade)
	exchange "$1" RingsRefused
	check "$1: no ring is made" [ "$(sdpstat RingsMade)" = "$made" ]
}

# with [NAME=VALUE]...: loads the module that puts a device behind an IOMMU
with() { check "a device behind an IOMMU${*:+, with $*}" insmod "$(module_file iommu)" "$@"; }

# without some|none: unloads that module; the IOMMU was asked about some pages, or about none
without() {
	local pages
	pages=$(asked pages)
	check "the kernel was asked about it" [ "$(asked syncs)" -gt 0 ]
	case $1 in
	some)	check "the IOMMU was asked about pages" [ "$pages" -gt 0 ] ;;
	none)	check "the IOMMU was asked about none" [ "$pages" = 0 ] ;;
	esac
	check "that device goes" rmmod sdp_iommu
}

made "soft-RoCE as it is"
with
made "led to the pages"
without some
# A ring has at least four pages, so some of them are elsewhere, and not all.
with bounced=2
refused "each second page is elsewhere"
without some
with bounced=1
refused "all pages are elsewhere"
without some
with apart=1
refused "no domain"
without none
with direct=1
refused "addresses not by an IOMMU"
without none
with sync=0 apart=1
made "no sync needed"
without none
made "soft-RoCE again"
tap_done
