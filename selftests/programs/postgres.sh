#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# PostgreSQL with pgbench: COPY, transactions in three protocol modes, and a large result.
. "$(dirname "$0")/libprograms.sh"

bin=$(find /usr/lib/postgresql -path '*/bin/postgres' -printf '%h\n' | sort -V | tail -n 1)
transactions=50
# The server refuses to run as root.
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

make_cluster() {
	mkdir "$dir/home"
	chown 65534:65534 "$dir" "$dir/home"
	HOME=$dir/home "${user[@]}" "$bin/initdb" -D "$dir/data" -U bench -A trust --no-sync \
		--no-instructions -E UTF8 --locale=C || return
	echo "host all all samehost trust" >>"$dir/data/pg_hba.conf"
}

# query WHAT SQL: the answer is a result
query() {
	client "$1" "$bin/psql" -h "$address" -p "$port" -U bench -d postgres -XAtq \
		-v ON_ERROR_STOP=1 -c "$2"
	result "$1: $(sum_of "$out")"
}

# bench WHAT OPTION...: one run of pgbench
bench() {
	local what=$1
	shift
	client "$what" "$bin/pgbench" -h "$address" -p "$port" -U bench -n -c 4 -j 2 \
		-t $transactions "$@" postgres || return
	result "$what: $(grep -E 'actually processed|failed' "$out")"
	figure "$what, transactions/s" "$(sed -n 's/^tps = \([0-9]*\).*/\1/p' "$out")"
}

work() {
	serve "${user[@]}" "$bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses="$address" \
		-c unix_socket_directories= -c fsync=off -c tcp_keepalives_idle=30
	client "tables are loaded" "$bin/pgbench" -h "$address" -p "$port" -U bench -i -s 1 -I dtgvp \
		postgres
	bench "simple" -M simple
	bench "prepared" -M prepared
	bench "reading" -S -M extended
	query "the sums agree" "select (select sum(abalance) from pgbench_accounts) =
		(select sum(delta) from pgbench_history), (select count(*) from pgbench_history)"
	query "a large result" "select i, repeat(md5(i::text), 10) from generate_series(1, 5000) i"
	moved 1600000
	result "log: $(grep -cE 'ERROR|FATAL|PANIC|could not|setsockopt|getsockopt' "$dir/server.log")"
}

check "initdb" make_cluster
each_case work
tap_done
