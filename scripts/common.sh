# SPDX-License-Identifier: GPL-2.0
# Shared by the other scripts, which source it: paths, progress, apt.
#
# Large files (kernels, their build trees, boot images) are outside the
# repository, in $SDP_CACHE, in directories named after what they were made of.
# Each may be deleted at any time; it is made again when it is needed.

SDP_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SDP_CACHE=${SDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sdp}
SDP_LOGS=$SDP_TOP/build/log
mkdir -p "$SDP_CACHE" "$SDP_LOGS"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# step TEXT COMMAND...: run a command, with one line of progress.
# The output goes to a log. When the command fails, the end of the log is shown
# and the script exits. A shell function fails at the first command in it that
# fails. For that "set -e" must count, so step runs the function in a subshell
# and not as a condition.
step() {
	local text=$1 log start=$SECONDS status options=$-
	shift
	log=$SDP_LOGS/$(printf %s "$text" | tr -c 'A-Za-z0-9.\n' '-').log
	printf '  %-52s ' "$text" >&2
	set +e
	(set -e; "$@") >"$log" 2>&1
	status=$?
	[[ $options != *e* ]] || set -e
	if [ $status = 0 ]; then
		printf 'ok %4ds\n' $((SECONDS - start)) >&2
	else
		printf 'FAILED, %s:\n' "$log" >&2
		tail -n 25 "$log" >&2
		exit 1
	fi
}

# The locks of apt and dpkg.
apt_locks=(/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock
	/var/cache/apt/archives/lock)
apt_patience=600

# apt_lock_held: succeed and print the path when one of the locks is held.
# They are fcntl(2) locks, which flock(1) does not see. /proc/locks lists them
# by device and inode.
apt_lock_held() {
	local lock inode
	for lock in "${apt_locks[@]}"; do
		inode=$(stat -c %i "$lock" 2>/dev/null) || continue
		if grep -qE "POSIX .* WRITE .*:$inode " /proc/locks; then echo "$lock"; return; fi
	done
	return 1
}

# await_apt: wait until no lock is held; print a line when there is a wait.
await_apt() {
	local waited=0 lock
	while lock=$(apt_lock_held); do
		[ $waited -lt $apt_patience ] ||
			die "$lock has been held for $apt_patience s; end its holder (fuser $lock) or wait, and start again"
		[ $waited != 0 ] ||
			say "  (waiting: another program installs packages, $lock; at most $apt_patience s)"
		sleep 1
		waited=$((waited + 1))
	done
}

# apt_step TEXT ARGUMENT...: run apt-get as a step. Another process may take
# the lock after await_apt; apt-get itself then waits for it.
apt_step() {
	local text=$1
	shift
	await_apt
	DEBIAN_FRONTEND=noninteractive \
		step "$text" apt-get -q -o DPkg::Lock::Timeout=$apt_patience "$@"
}

# have_packages NAME...: succeed when all packages are installed.
have_packages() {
	local status
	status=$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null) || return 1
	! grep -qv '^installed$' <<<"$status"
}
