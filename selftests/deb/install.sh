#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# install.sh: installs the packages in /debs, checks the installation, and removes them.
# run.sh runs it as root in a fresh Debian system. It checks that DKMS has built the module and
# that the installed programs work. Prints TAP lines without a plan.
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
packages="sdp-dkms sdp-tools sdp-dev sdp-doc"
n=0

# point NAME COMMAND...: prints the command's output if it fails
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
# With debug data it would have tens of megabytes.
is_stripped() {
	local size
	size=$(stat -c %s "$(modules)")
	[ "$size" -lt 2000000 ] || { echo "$size bytes"; return 1; }
}
# kernel_tree RELEASE [CONFIG]: the files that DKMS examines before it builds
kernel_tree() {
	mkdir -p "/tmp/trees/$1/include"
	printf '%s\n' "${@:2}" >"/tmp/trees/$1/.config"
	echo "/tmp/trees/$1"
}
# passed_over RELEASE [CONFIG...]: not built for such a kernel (77), whose installation continues
passed_over() {
	local status=0 tree
	tree=$(kernel_tree "$@")
	dkms build "sdp/$(version)" -k "$1" --kernelsourcedir "$tree" || status=$?
	[ $status = 77 ] || { echo "status $status"; return 1; }
}
# tried RELEASE [CONFIG...]: the build starts, and fails for lack of a real tree (10)
tried() {
	local status=0 tree
	tree=$(kernel_tree "$@")
	dkms build "sdp/$(version)" -k "$1" --kernelsourcedir "$tree" || status=$?
	[ $status = 10 ] || { echo "status $status"; return 1; }
}
rdma="CONFIG_INFINIBAND=m CONFIG_INFINIBAND_ADDR_TRANS=y"
aliases() { modinfo -F alias "$(modules)" | grep -x net-pf-27; }
version() { dpkg-query -W -f '${Version}' sdp-tools | sed 's/-[^-]*$//'; }
runs() { [ "$(sdp --version)" = "sdp $(version)" ]; }
policy_is_one() { sdp policy check /etc/sdp/policy; }
completes() { bash -c '. /usr/share/bash-completion/completions/sdp; complete -p sdp'; }
# The packages do not depend on a compiler.
compiles() {
	apt-get -q install -y --no-install-recommends gcc libc6-dev >/dev/null || return
	printf '%s\n' '#include <linux/sdp.h>' '#include <linux/sdp_netlink.h>' \
		'int main(void) { return !sizeof(struct sdp_info) || SDP_GENL_VERSION != 1; }' |
		gcc -Wall -Werror -x c - -o /tmp/headers && /tmp/headers
}
# The administrator's policy survives an upgrade and a removal, but not a purge.
# shellcheck disable=SC2086 # a list
remove() { apt-get -q remove -y $packages && [ -e /etc/sdp/policy ] && [ ! -e /usr/bin/sdp ]; }
# The removed packages are known to dpkg only, as no archive has them.
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
point "installed: without debug data" is_stripped
# shellcheck disable=SC2086 # a list
for release in 6.1.0-56-amd64 6.6.13-amd64 6.12.117+deb12-amd64 7.3.4-amd64 10.0.1; do
	point "DKMS: built for $release" tried $release $rdma
done
# shellcheck disable=SC2086 # a list
point "DKMS: not for 5.10" passed_over 5.10.0-39-amd64 $rdma
point "DKMS: not without InfiniBand" passed_over 6.6.13-amd64 "# CONFIG_INFINIBAND is not set"
point "DKMS: not without addresses" passed_over 6.6.14-amd64 CONFIG_INFINIBAND=m
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
