#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# OpenMPI, by MPICH's tests: see suite.py.
. "$(dirname "$0")/libsuites.sh"
