# SPDX-License-Identifier: GPL-2.0
# Sourced by run.sh: the suites' programs in $SDP_SUITES, built from sources that Debian has.
#
# fetch_go		$SDP_SUITES/PACKAGE.test, from golang-go, which brings the sources of its tests

build_go() {
	local package=$1 program=$SDP_SUITES/${1//\//-}.test source
	source=$(go list -f '{{.Dir}}' "$package")
	GO111MODULE=off GOCACHE=$SDP_TOP/build/go go test -c -o "$program" "$package"
	echo "$source" >"$program.source"
}

fetch_go() {
	local package
	for package in net; do
		[ -e "$SDP_SUITES/${package//\//-}.test.source" ] ||
			step "Go's tests of $package" build_go "$package"
	done
}
