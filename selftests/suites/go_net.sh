#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Go's tests of package net: see suite.py.
. "$(dirname "$0")/libsuites.sh"
