#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [KERNEL]: checks real AF_SDP traffic in a VM, message by message, with tshark.
# KERNEL is 6.12 if none is named. Both ends of the cable are captured.
#
# The checker itself is tested first, on a recorded sample with one fault at a time. The run leaves
# captures, facts and TAP in build/wire/last/. Exit status 0 when nothing failed. With SDP_SHORT=1
# in the environment it makes fewer connections, and says so.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

here=$SDP_TOP/selftests/wire
out=$SDP_TOP/build/wire
# A guest needs about 40 s for its traffic; the debug kernel and a busy host several times that.
limit=900

kernel=${1:-6.12}
export PYTHONDONTWRITEBYTECODE=1

# tap NAME COMMAND...: keeps the command's TAP, prints the failures and a line per connection (one
# line for the checker's own test), and adds up the points.
tap() {
	local name=$1 file=$run/$1.tap status=0
	shift
	"$@" >"$file" || status=$?
	awk -v name="$name" '
		BEGIN		{ brief = name == "selftest" }
		/^#   /		{ print "    " substr($0, 5); next }
		/^# /		{ print "  " substr($0, 3) }
		/^(not )?ok /	{
			point = $0
			sub(/^(not )?ok [0-9]+ /, "", point)
			group = brief ? "all of it" : substr(point, 1, index(point, ":") - 1)
			if (!(group in passed))
				order[++groups] = group
			passed[group] += /^ok/
			failed[group] += /^not/
			if (/^not/)
				print "  not ok " point
		}
		END {
			for (i = 1; i <= groups; i++)
				printf "  %-24s %3d passed, %d failed\n", order[i], passed[order[i]],
					failed[order[i]]
		}' "$file"
	# Not a failed point: the command stopped half way.
	[ $status -le 1 ] && grep -q '^1\.\.' "$file" || die "the output in $file is not complete"
	count "$file"
}

count() {
	local p f
	read -r p f < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$1")
	passed=$((passed + p)) failed=$((failed + f))
}

passed=0 failed=0 status=0
"$SDP_TOP/scripts/setup.sh" vm build wire
run=$out/$(date +%Y%m%d-%H%M%S)-$kernel-$$
mkdir -p "$run"
ln -sfn "$(basename "$run")" "$out/last"
# Remove ended runs, except for the last five.
find "$out" -mindepth 2 -maxdepth 2 -name done -printf '%h\n' | sort | head -n -5 | xargs -r rm -rf

echo "the checker, by faults put into a recorded sample:"
tap selftest "$here/selftest.py"

dir=$("$SDP_TOP/scripts/kernels.sh" "$kernel")
release=$(basename "$dir"/lib/modules/*)
step "module for $release" make -s -C "$SDP_TOP" modules KERNEL="$kernel"
step "traffic program" gcc -O2 -g -Wall -Wextra -Werror -pthread -I "$SDP_TOP/include/uapi" \
	-o "$out/traffic" "$here/traffic.c"

echo "traffic on $release:"
"$SDP_TOP/selftests/vm/boot.sh" -d "$run" -t $limit -e SDP_TRAFFIC="$out/traffic" \
	-e SDP_SHORT="${SDP_SHORT:-}" \
	-e SDP_MODULE="$SDP_TOP/build/$release/sdp.ko" "$dir" "$here/guest.sh" || status=$?
if [ $status = 0 ]; then
	echo "what was on the wire:"
	tap wire "$here/check.py" -s "$run/sdpstat" "$run/facts" "$run/va.pcap" "$run/vb.pcap"
	for name in rails rails-rdma; do
		[ ! -e "$run/facts-$name" ] ||
			tap "$name" "$here/rails.py" "$run/facts-$name" "$run/$name".*.pcap
	done
else
	echo "  not ok the guest's script ended with status $status"
	failed=$((failed + 1))
fi
echo "captures and all points: $run"
[ -z "${SDP_SHORT:-}" ] || echo "  short form: no connections that rest or use rings, and few by IPv6"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
