# SPDX-License-Identifier: GPL-2.0
# Runs the suite with the test's name in suite.py. Sourced by the tests. Its output is TAP.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "${BASH_SOURCE[0]%/*}/suite.py" "$(basename "$0" .sh)"
