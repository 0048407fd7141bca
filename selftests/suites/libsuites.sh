# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests, each of which is a suite of the same name in suite.py. Its output is TAP.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "${BASH_SOURCE[0]%/*}/suite.py" "$(basename "$0" .sh)"
