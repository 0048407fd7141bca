# SPDX-License-Identifier: GPL-2.0
# AF_SDP: builds, installation, tests. `make help` lists the targets.
#
# A module is built in build/<kernel release>/, a tree of links to the sources.
# Modules for several kernels exist side by side, and the sources stay clean.

TOP	:= $(CURDIR)
KVER	?= $(shell uname -r)
VERSION	:= 0.2

# KERNEL=6.1|6.12|7.3|debug|watched is a kernel of the test matrix, which is made
# ready on demand. Otherwise KVER is an installed release, or KDIR the path of a
# build tree.
ifdef KERNEL
KDIR	:= $(shell scripts/kernels.sh $(KERNEL))/build
else
KDIR	?= /lib/modules/$(KVER)/build
endif

# Builds for the tests have all warnings on (check-style reads them).
MODULE_FLAGS := $(if $(KERNEL),W=1)

# SDP_POLICY=n: AF_SDP alone, in a directory of its own.
CORE := $(if $(filter n,$(SDP_POLICY)),-core)

# Where `make install` puts everything but the module. DESTDIR precedes each
# path.
PREFIX		?= /usr/local
UNITDIR		?= $(PREFIX)/lib/systemd/system
COMPLETIONS	:= $(PREFIX)/share/bash-completion/completions
EXAMPLES	:= $(PREFIX)/share/doc/sdp/examples
DKMS_SOURCE	:= /usr/src/sdp-$(VERSION)
HEADERS		:= sdp.h sdp_netlink.h
LIBRARY		:= sdp_program

.PHONY: all modules tools install install-module install-headers install-tools uninstall \
	dkms-source dkms-install deb check-deb demo check check-all check-style \
	check-unit check-cross check-kunit in-tree check-in-tree check-vm check-core check-wire check-runner check-deep check-programs check-load \
	check-suites check-pair check-soak check-syscalls check-hostile check-adapters check-faults check-races \
	check-coverage \
	bench bench-policy bench-ports bench-scale paper clean help

all: modules

modules:
	@scripts/build-module.sh "$(KDIR)" $(MODULE_FLAGS)

tools:
	@$(MAKE) --no-print-directory -s -C tools/sdp
	@echo 'program: build/tools/sdp'

install: install-module install-headers install-tools

# Debug information is 97 % of the module. The file in build/ keeps it.
STRIP ?= strip
INSTALLED_MODULE := $(DESTDIR)/lib/modules/$(KVER)/updates/sdp.ko

install-module: modules
	install -D -m 644 build/$(KVER)$(CORE)/sdp.ko $(INSTALLED_MODULE)
	$(STRIP) --strip-debug $(INSTALLED_MODULE)
	[ -n "$(DESTDIR)" ] || depmod -a $(KVER)

install-headers:
	install -d $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 $(addprefix include/uapi/linux/,$(HEADERS)) $(DESTDIR)$(PREFIX)/include/linux/
	install -m 644 tools/lib/$(LIBRARY).h $(DESTDIR)$(PREFIX)/include/
	install -D -m 644 tools/lib/$(LIBRARY).3 $(DESTDIR)$(PREFIX)/share/man/man3/$(LIBRARY).3

# An existing policy is kept.
install-tools: tools
	install -D build/tools/sdp $(DESTDIR)$(PREFIX)/bin/sdp
	install -D -m 644 tools/sdp/sdp.8 $(DESTDIR)$(PREFIX)/share/man/man8/sdp.8
	install -D -m 644 tools/sdp/sdp.bash $(DESTDIR)$(COMPLETIONS)/sdp
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@BINDIR@|$(PREFIX)/bin|' tools/etc/sdp.service.in >$(DESTDIR)$(UNITDIR)/sdp.service
	chmod 644 $(DESTDIR)$(UNITDIR)/sdp.service
	install -D -m 644 tools/etc/modprobe.conf $(DESTDIR)$(EXAMPLES)/modprobe.d/sdp.conf
	install -D -m 644 tools/etc/sysctl.conf $(DESTDIR)$(EXAMPLES)/sysctl.d/sdp.conf
	install -D -m 644 tools/etc/policy $(DESTDIR)$(EXAMPLES)/policy
	[ -e $(DESTDIR)/etc/sdp/policy ] || install -D -m 644 tools/etc/policy $(DESTDIR)/etc/sdp/policy

# What the administrator wrote in /etc is kept.
uninstall:
	rm -f $(DESTDIR)/lib/modules/$(KVER)/updates/sdp.ko
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/linux/,$(HEADERS))
	rm -f $(DESTDIR)$(PREFIX)/include/$(LIBRARY).h
	rm -f $(DESTDIR)$(PREFIX)/share/man/man3/$(LIBRARY).3
	rm -f $(DESTDIR)$(PREFIX)/bin/sdp $(DESTDIR)$(PREFIX)/share/man/man8/sdp.8
	rm -f $(DESTDIR)$(COMPLETIONS)/sdp $(DESTDIR)$(UNITDIR)/sdp.service
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/sdp
	[ -n "$(DESTDIR)" ] || depmod -a $(KVER)

# Puts the sources where dkms finds them. dkms builds the module for each
# installed kernel.
dkms-source:
	mkdir -p $(DESTDIR)$(DKMS_SOURCE)/scripts
	cp -r Kbuild Makefile dkms.conf LICENSE include net $(DESTDIR)$(DKMS_SOURCE)/
	cp scripts/build-module.sh scripts/probe.sh $(DESTDIR)$(DKMS_SOURCE)/scripts/

dkms-install: dkms-source
	[ -n "$(DESTDIR)" ] || { dkms add sdp/$(VERSION) && dkms install sdp/$(VERSION); }

deb:
	@scripts/deb.sh

demo:
	@tools/demo/demo.sh

# All parts, in the order that finds mistakes soonest: "check" in the short
# form, which prints what it leaves out, "check-all" in full. A single part runs
# in full unless SDP_SHORT is 1.
check:
	@SDP_SHORT=1 scripts/check.sh

check-all:
	@SDP_SHORT= scripts/check.sh

check-style:
	@scripts/style.sh $(PART)

check-unit:
	@scripts/setup.sh unit
	@$(MAKE) --no-print-directory -C selftests/unit check

# The same programs for a big-endian processor, and others, under emulation.
check-cross:
	@scripts/setup.sh cross
	@selftests/unit/processors.sh

check-kunit:
	@selftests/unit/kunit.sh

# LINUX is the source tree of a kernel, which is only read.
in-tree:
	@[ -n "$(LINUX)" ] || { echo 'error: make in-tree LINUX=<source tree of a kernel>' >&2; exit 1; }
	@scripts/setup.sh in-tree
	@scripts/in-tree/in-tree.py "$(LINUX)" build/in-tree
	@echo 'patches: build/in-tree/*.patch; apply them in $(LINUX) by git am'

check-in-tree:
	@scripts/in-tree/check.sh

check-deep:
	@scripts/setup.sh unit
	@$(MAKE) --no-print-directory -C selftests/unit check-deep

check-vm:
	@selftests/vm/run.sh $(or $(KERNEL),all) $(TEST)

# Module and core tests without the policy.
check-core:
	@SDP_POLICY=n selftests/vm/run.sh $(or $(KERNEL),6.12) $(or $(TEST),smoke stream oracle)

check-runner:
	@selftests/vm/selftest.sh

check-wire:
	@selftests/wire/run.sh $(or $(KERNEL),6.12)

check-programs:
	@selftests/programs/run.sh $(or $(KERNEL),6.12) $(TEST)

check-suites:
	@selftests/suites/run.sh $(or $(KERNEL),6.12) $(TEST)

check-pair:
	@selftests/pair/run.sh $(or $(KERNEL),6.12)

check-soak:
	@selftests/soak/run.sh $(or $(MINUTES),30) $(or $(KERNEL),6.12)

check-syscalls:
	@selftests/syscalls/run.sh $(or $(CALLS),1000000) $(or $(KERNEL),6.12)

# Drivers in software that differ from soft-RoCE, built from Debian's source of the kernel.
check-adapters:
	@scripts/setup.sh build vm
	@selftests/adapters/run.sh

check-hostile:
	@selftests/hostile/run.sh $(or $(CASES),100000) $(or $(KERNEL),6.12)

check-faults:
	@selftests/faults/run.sh

check-races:
	@selftests/vm/races.sh $(TEST)

check-coverage:
	@selftests/vm/coverage.sh $(TEST)

check-deb:
	@selftests/deb/run.sh

check-load:
	@selftests/load/run.sh $(or $(KERNEL),6.12)

bench:
	@tools/bench/run.sh

bench-policy:
	@tools/bench/policy.sh

bench-ports:
	@tools/bench/ports.sh

bench-scale:
	@tools/bench/scale.sh

# PAGE=2: the experiments on datagrams instead of those on flow control.
# PLAIN=1: real time instead of counted instructions. SMOKE=1: run each
# experiment once, which takes minutes.
paper:
	@tools/paper/run.sh

clean:
	rm -rf build

help:
	@echo 'make                  build/<release>/sdp.ko for the running kernel; with SDP_POLICY=n'
	@echo '                      without the policy: sockets of AF_SDP alone'
	@echo 'make modules KVER=R   the same for another installed kernel'
	@echo 'make modules KERNEL=K the same for a kernel of the test matrix: 6.1, 6.12, 7.3,'
	@echo '                      debug, watched'
	@echo 'make tools            build/tools/sdp: the policy, sockets, counters; would it be SDP?'
	@echo 'make install          install module, headers, tool, service (as root); PREFIX=/usr/local'
	@echo 'make dkms-install     hand the sources to dkms (as root)'
	@echo 'make deb              Debian packages, and their source, in build/deb/'
	@echo 'make in-tree LINUX=D  patches in build/in-tree/ that add AF_SDP to the kernel tree D'
	@echo
	@echo 'make demo             see it work: a VM, two soft-RoCE devices, programs of TCP over SDP'
	@echo 'make check            all of the following in the short form, which says what it leaves out:'
	@echo '                      about 40 minutes on 2 CPUs without KVM, once the kernels are built'
	@echo 'make check-all        all of it in full: more than an hour. A part by itself is in full, too,'
	@echo '                      with SDP_SHORT=1 in the environment in the short form'
	@echo '  check-style           checkpatch, sparse, W=1, kernel-doc, file sizes'
	@echo '  check-unit            engine and policy in user space: unit tests, pair simulator, fuzz'
	@echo '  check-cross           the same programs on other processors: big-endian, 32 bits, arm64'
	@echo '  check-kunit           the same tests inside the debug kernel'
	@echo '  check-in-tree         the patches of make in-tree: apply, build, document, run KUnit'
	@echo '  check-vm              kselftests in VMs; KERNEL=6.12 and TEST=name narrow it'
	@echo '  check-core            the module without the policy (SDP_POLICY=n): builds, loads, passes'
	@echo '                        smoke, stream and oracle'
	@echo '  check-adapters        sockets over soft-iWARP, and on a soft-RoCE behind bounce buffers'
	@echo '  check-wire            tshark watches the wire'
	@echo '  check-programs        unmodified programs by a policy, beside TCP, in a VM: iperf3, redis,'
	@echo '                        nginx, ssh, PostgreSQL, Go, Java ...; KERNEL and TEST as above'
	@echo '  check-suites          test suites of Go, CPython, libuv, curl and MPI by a policy, beside TCP,'
	@echo '                        in a VM; KERNEL and TEST as above'
	@echo '  check-deb             Debian packages: lintian, contents; in full, installed in a new system'
	@echo '  check-runner          the test runner itself: it sees every kind of failure'
	@echo 'make check-deep       100 million random steps of two engines, and all schedules of larger pairs'
	@echo 'make check-pair       two VMs: one stands still, dies, is started anew, goes back to a snapshot'
	@echo 'make check-soak MINUTES=n   a mixed load for so long (30), with all that may go wrong'
	@echo 'make check-syscalls CALLS=n   system calls at random (1,000,000), by threads that share sockets'
	@echo 'make check-hostile    100,000 cases drawn by a peer that breaks the rules of the wire;'
	@echo '                      CASES=n, SEED=n'
	@echo 'make check-faults     each allocation of each call fails once, and at random under load'
	@echo 'make check-races      data races, by KCSAN in a kernel of its own: the tests in which threads meet'
	@echo 'make check-coverage   which lines of the module the tests in VMs run, in the same kernel;'
	@echo '                      CALLS=n system calls at random besides; TEST=name narrows both'
	@echo 'make check-load       10,000 idle connections, by loopback and by RDMA, in a VM of 4 GB'
	@echo 'make bench            AF_SDP beside TCP, rsockets, SMC-R and verbs: build/bench/'
	@echo 'make bench TESTS="modes cost pinned"   only large writes of AF_SDP by message, read and'
	@echo '                      write, processor time of a byte, pinned memory; TESTS=readers: streams'
	@echo '                      by how they are read; see tools/bench/run.sh for all that narrows it'
	@echo 'make bench-policy     what the policy costs TCP and socket(2): build/bench-policy/'
	@echo 'make bench-ports      bind, listen, connect at a port with 100,000 connections: build/bench-ports/'
	@echo 'make bench-scale      what one of 10 to 10,000 connections costs and gets: build/bench-scale/'
	@echo 'make paper            the experiments of a paper on flow control: build/paper/; PAGE=2 of one on'
	@echo '                      datagrams: build/paper-2/; PLAIN=1 in real time, SMOKE=1 each once'
	@echo 'make clean            remove build/'
