#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# install.sh: run by run.sh as root in a fresh Debian system, with the packages in /debs: installs
# them, looks whether DKMS has built the module and whether what was installed works, and removes
# them again. Prints TAP lines without a plan.
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
packages="sdp-dkms sdp-tools sdp-dev sdp-doc"
n=0

# point NAME COMMAND...: what it prints is shown if it fails
point() {
	local name=$1 output
	shift
	n=$((n + 1))
	if output=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 20 <<<"$output" | sed 's/^/# /'
	fi
}

install_all() { apt-get -q install -y --no-install-recommends /debs/*.deb; }
built() {
	dkms status sdp | grep -q ': installed$' && return
	dkms status
	cat /var/lib/dkms/sdp/*/build/make.log
	return 1
}
modules() { find /lib/modules -name 'sdp.ko*'; }
for_a_kernel() { modinfo -F vermagic "$(modules)" | grep .; }
aliases() { modinfo -F alias "$(modules)" | grep -x net-pf-27; }
version() { dpkg-query -W -f '${Version}' sdp-tools | sed 's/-[^-]*$//'; }
runs() { [ "$(sdp --version)" = "sdp $(version)" ]; }
policy_is_one() { sdp policy check /etc/sdp/policy; }
completes() { bash -c '. /usr/share/bash-completion/completions/sdp; complete -p sdp'; }
# The packages need no compiler of programs.
compiles() {
	apt-get -q install -y --no-install-recommends gcc libc6-dev >/dev/null || return
	printf '%s\n' '#include <linux/sdp.h>' '#include <linux/sdp_netlink.h>' \
		'int main(void) { return !sizeof(struct sdp_info) || SDP_GENL_VERSION != 1; }' |
		gcc -Wall -Werror -x c - -o /tmp/headers && /tmp/headers
}
# The administrator's policy outlives an upgrade and a removal, not a purge.
# shellcheck disable=SC2086 # a list
remove() { apt-get -q remove -y $packages && [ -e /etc/sdp/policy ] && [ ! -e /usr/bin/sdp ]; }
# What is left of them is known to dpkg alone, for they are in no archive.
purge() { dpkg --purge sdp-tools sdp-dkms; }
nothing_left() {
	local left
	left=$(modules; find / -xdev \( -path /proc -o -path /sys -o -path /debs -o -path /tmp -o \
		-path '/usr/src/linux-headers*' \) -prune -o \
		\( -name sdp -o -name 'sdp-*' -o -name 'sdp.*' \) -print)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

point "installed: the packages, with what they depend on" install_all
point "installed: DKMS has built the module" built
point "installed: it is for a kernel" for_a_kernel
point "installed: it is found by its family" aliases
point "installed: the program runs" runs
point "installed: the policy can be set" policy_is_one
point "installed: completion" completes
point "installed: the headers" compiles
point "installed: the service is known, and not enabled" \
	eval '[ -e /lib/systemd/system/sdp.service ] && ! find /etc/systemd -name sdp.service | grep .'
point "removed: but the policy" remove
point "purged" purge
point "purged: nothing is left" nothing_left
