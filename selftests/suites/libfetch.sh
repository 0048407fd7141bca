# SPDX-License-Identifier: GPL-2.0
# Builds the suites' programs in $SDP_SUITES from Debian's sources. Sourced by run.sh.
#
# fetch_go		$SDP_SUITES/PACKAGE.test, from golang-go, which has the sources of its tests
# fetch_libuv		$SDP_SUITES/libuv/, from the source package libuv1
# fetch_curl		$SDP_SUITES/curl/, from the source package curl, without libcurl's tests
# fetch_mpi		$SDP_SUITES/mpi/, MPICH's tests with OpenMPI, from the source package mpich
#
# Source packages need deb-src lines, which most machines do not have. apt gets lists of its own
# for them in the cache, with the machine's mirrors and keys.

apt_source() {
	local apt=$SDP_CACHE/suites/apt
	mkdir -p "$apt/state/partial"
	apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$apt/state" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root "$@"
}

# source_lists: source lines for the machine's binary package lists.
source_lists() {
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
		awk '$2 ~ /^bookworm(-security)?$/ && $3 == "main" && !seen[$0]++ {
			print "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]", $0 }'
}

# fetch_source PACKAGE [OPTION]: its sources in $SDP_CACHE/suites/PACKAGE; OPTION is dpkg-source's
fetch_source() {
	local dir=$SDP_CACHE/suites/$1
	rm -rf "$dir" "$dir.dsc"
	mkdir -p "$SDP_CACHE/suites/apt" "$dir.dsc"
	source_lists >"$SDP_CACHE/suites/apt/sources.list"
	[ -s "$SDP_CACHE/suites/apt/sources.list" ] ||
		{ echo "no Debian bookworm mirror in the apt sources"; return 1; }
	apt_source update
	(cd "$dir.dsc" && apt_source source --download-only "$1")
	dpkg-source --no-copy "${@:2}" -x "$dir.dsc"/*.dsc "$dir"
	rm -rf "$dir.dsc"
	touch "$dir/.complete"
}

build_go() {
	local package=$1 program=$SDP_SUITES/${1//\//-}.test source
	source=$(go list -f '{{.Dir}}' "$package")
	GO111MODULE=off GOCACHE=$SDP_TOP/build/go go test -c -o "$program" "$package"
	echo "$source" >"$program.source"
}

fetch_go() {
	local package
	for package in net net/http; do
		[ -e "$SDP_SUITES/${package//\//-}.test.source" ] ||
			step "Go's tests of $package" build_go "$package"
	done
}

build_libuv() {
	mkdir -p "$SDP_SUITES/libuv"
	cmake -S "$SDP_CACHE/suites/libuv1" -B "$SDP_SUITES/libuv" -DCMAKE_BUILD_TYPE=Release \
		-DLIBUV_BUILD_BENCH=OFF
	make -C "$SDP_SUITES/libuv" -j"$(nproc)" uv_run_tests_a
	touch "$SDP_SUITES/libuv/.complete"
}

fetch_libuv() {
	[ -e "$SDP_CACHE/suites/libuv1/.complete" ] ||
		step "source of libuv" fetch_source libuv1
	[ -e "$SDP_SUITES/libuv/.complete" ] || step "libuv's tests" build_libuv
}

build_curl() {
	local source=$SDP_CACHE/suites/curl
	mkdir -p "$SDP_SUITES/curl"
	cd "$SDP_SUITES/curl"
	"$source/configure" --without-ssl --disable-shared --disable-manual --disable-ldap \
		--disable-dependency-tracking
	make -j"$(nproc)" -C lib
	make -j"$(nproc)" -C src
	make -j"$(nproc)" -C tests/server
	echo "$source" >source
}

# With Debian's patches, configure would have to be generated again.
fetch_curl() {
	[ -e "$SDP_CACHE/suites/curl/.complete" ] ||
		step "source of curl" fetch_source curl --skip-patches
	[ -e "$SDP_SUITES/curl/source" ] || step "curl and its tests" build_curl
}

# The tests use names of MPI 1, which the library has but its header hides. Tests that cannot be
# built are not run.
build_mpi() {
	local source=$SDP_CACHE/suites/mpich/test/mpi part
	local names=(-DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_REMOVED_USE_STATIC_ASSERT=0)
	mkdir -p "$SDP_SUITES/mpi"
	cd "$SDP_SUITES/mpi"
	"$source/configure" --with-mpi=/usr CC=mpicc --disable-fortran --disable-cxx \
		--disable-dependency-tracking --disable-romio --disable-spawn
	make -j"$(nproc)" -C util
	make -j"$(nproc)" -C dtpools CPPFLAGS="${names[*]}"
	for part in pt2pt coll; do
		make -k -j"$(nproc)" -C $part CPPFLAGS="${names[*]}" || true
	done
	[ -x pt2pt/sendrecv1 ] && [ -x coll/allred ] || return 1
	touch .complete
}

fetch_mpi() {
	[ -e "$SDP_CACHE/suites/mpich/.complete" ] || step "source of MPICH" fetch_source mpich
	[ -e "$SDP_SUITES/mpi/.complete" ] || step "MPICH's tests, with OpenMPI" build_mpi
}
