#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# program.sh: the program sdp without the module: usage, JSON, errors, man page, completion.
# tool.sh in selftests/net/sdp/control tests it with the module.
. "$(dirname "$0")/libtools.sh"

version=$(sed -n 's/^VERSION[[:space:]]*:= *//p' "$top/Makefile")
commands="policy list stat fallbacks check kill"

# json EXPRESSION COMMAND...: its output is JSON, for which the Python expression of d is true
json() {
	local expression=$1
	shift
	"$@" | python3 -c '
import json, sys
d = json.load(sys.stdin)
if not eval(sys.argv[1]):
    print("not so:", sys.argv[1], d)' "$expression"
}

# only_out, only_err: standard output alone, or standard error alone; the other one must be empty.
only_out() {
	local status=0
	"$@" 2>stray || status=$?
	[ ! -s stray ] || echo "on standard error: $(cat stray)"
	return $status
}
only_err() {
	local status=0
	"$@" 2>&1 >stray || status=$?
	[ ! -s stray ] || echo "on standard output: $(cat stray)"
	return $status
}

expect "--version" 0 "sdp $version" "$sdp" --version
expect "-V" 0 "sdp $version" "$sdp" -V
expect "help" 0 "usage: sdp policy show|on|off" first_line only_out "$sdp" help
expect "--help" 0 "usage: sdp policy show|on|off" first_line only_out "$sdp" --help
for command in $commands; do
	expect "help $command" 0 "usage: sdp $command" \
		eval "only_out '$sdp' help $command | head -n 1 | cut -d ' ' -f 1-3"
	expect "$command --help says the same" 0 "$("$sdp" help "$command")" \
		only_out "$sdp" "$command" --help
	expect "help names $command" 0 yes eval "'$sdp' help | grep -q ' sdp $command' && echo yes"
done
usage "help of what there is not" "sdp: no such command: police" help police
usage "nothing" "sdp: what shall be done?"
usage "only --json" "sdp: what shall be done?" --json
expect "usage goes to standard error" 2 "sdp: what shall be done?" first_line only_err "$sdp"
usage "no such option" "sdp: no such option: --lost" list --lost
usage "no such letter" "sdp: no such option: -z" list -lz
usage "a word too much: list" "sdp: list takes no words" list 10.9.0.1
usage "a word too much: stat" "sdp: stat takes no words" stat ActiveOpens
usage "a word too much: fallbacks" "sdp: fallbacks takes no words" fallbacks all
usage "a word too much: policy show" "sdp: policy show takes no words" policy show now
usage "a word too much: policy on" "sdp: policy on and policy off take no words" policy on please
usage "kill: one end" "sdp: kill takes two ends" kill 10.9.0.1:80
usage "kill: no port" "sdp: not an address and port: 10.9.0.2" kill 10.9.0.1:80 10.9.0.2
usage "kill: no number" "sdp: not an address and port: localhost:80" kill 10.9.0.1:80 localhost:80
usage "stat: no seconds" "sdp: -w takes a number of seconds" stat -w 0
usage "stat: too many" "sdp: -w takes a number of seconds" stat -w 86401
usage "stat: no number" "sdp: -w takes a number of seconds" stat -w 1s
usage "check: no port" "sdp: check takes HOST and PORT" check localhost
usage "check: two devices" "sdp: check --device takes one NAME at most, and no other option" \
	check --device rxa rxb
usage "check: a device, and seconds" "sdp: check --device takes one NAME at most, and no other option" \
	check --device rxa -t 3
usage "check: seconds" "sdp: -t takes a number of seconds" check -t 0 localhost 80
usage "check: user" "sdp: --uid takes the number of a user" check localhost 80 --uid me
usage "policy set without a file" "sdp: policy set takes one FILE" policy set

# Errors that are found before the kernel is asked.
echo 'any * nothing' >wrong
expect "policy set: a mistake is found first" 1 \
	"wrong:1:7: error: expected program, path, cgroup, uid, or sdp, tcp, both" \
	only_err "$sdp" policy set wrong
expect "policy set: no such file" 1 "sdp: nowhere: No such file or directory" \
	only_err "$sdp" policy set nowhere
expect "a full disk" 1 "sdp: standard output: No space left on device" \
	eval "'$sdp' help >/dev/full"

# JSON of commands that need no kernel. --json may precede the command.
echo 'connect 10.9.0.0/24 both' >good
expect "policy check --json" 0 "" json 'd == {"policy": "good", "rules": 1}' \
	"$sdp" policy check good --json
expect "--json in front" 0 "" json 'd == {"policy": "good", "rules": 1}' \
	"$sdp" --json policy check good
expect "policy explain --json: a rule" 0 "" \
	json 'd == {"verdict": "both", "line": 1, "rule": "connect 10.9.0.0/24 both"}' \
	"$sdp" policy explain --json x connect 10.9.0.1:80 -f good
expect "policy explain --json: none" 0 "" json 'd == {"verdict": "tcp"}' \
	"$sdp" policy explain --json x listen 10.9.0.1:80 --file=good
for port in 0 65536 99999 ""; do
	usage "check: no such port: '$port'" \
		"sdp: PORT is a number from 1 to 65535, or a name in /etc/services" check 127.0.0.1 "$port"
done
expect "check: no such name" 1 "" \
	json 'd["outcome"] == "none" and [s["ok"] for s in d["steps"]] == [False] and d["next"]' \
	"$sdp" check --json no.invalid 80

# Without the module, on systems where it is not loaded on demand.
if [ ! -d /sys/module/sdp ] && ! modinfo sdp >/dev/null 2>&1; then
	absent="sdp: AF_SDP is not there; load its module: modprobe sdp"
	for command in "policy show" "policy set good" "policy on" "policy off" list "list -lp" \
		stat fallbacks "policy explain x connect 10.9.0.1:80"; do
		# shellcheck disable=SC2086 # a list
		expect "no module: $command" 3 "$absent" only_err "$sdp" $command
		# shellcheck disable=SC2086
		expect "no module: $command --json" 3 "$absent" only_err "$sdp" $command --json
	done
	expect "no module: check" 1 "$(printf '%s\n' "ok  name    127.0.0.1" \
		"no  module  not loaded" "TCP: AF_SDP is not there; modprobe sdp")" \
		only_out "$sdp" check 127.0.0.1 80
	expect "no module: check --json" 1 "" \
		json 'd["outcome"] == "tcp" and d["next"] == "modprobe sdp"' "$sdp" check --json ::1 80
fi

# The man page must mention every command and option of the help.
man=$top/tools/sdp/sdp.8
lint() { mandoc -Tlint -W warning "$man"; }
expect "man page: mandoc finds nothing" 0 "" lint
words_of_help() {
	local command
	for command in $commands; do "$sdp" help "$command" | sed '/^Status/,$d'; done |
		grep -oE -- '--[a-z0-9]+|sdp policy [a-z|]+' | sed 's/^sdp policy //' |
		tr '|' '\n' | sort -u
}
not_in_manual() {
	local text word
	text=$(mandoc -Tascii "$man" | col -b)
	for word in $(words_of_help); do
		grep -qw -e "$word" <<<"$text" || echo "$word"
	done
}
expect "man page: has every option" 0 "" not_in_manual
words_there() { [ "$(words_of_help | grep -xc -e --cgroup -e --within -e explain -e off)" = 4 ]; }
expect "man page: that looks at something" 0 "" words_there

# complete WORD...: the completions of the last word
complete_words() {
	bash -c '. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_sdp; printf "%s\n" "${COMPREPLY[@]}"' - "$top/tools/sdp/sdp.bash" "$@" |
		sort -u | tr '\n' ' ' | sed 's/^ *//; s/ $//'
}
offers() {
	local name=$1 text=$2
	shift 2
	expect "completion: $name" 0 "$text" complete_words "$@"
}
offers "commands" "check fallbacks help kill list policy stat" sdp ""
offers "a beginning" "fallbacks" sdp f
offers "options in front" "--help --json --version" sdp -
offers "policy" "check explain off on set show" sdp policy ""
offers "policy o" "off on" sdp policy o
offers "files" "good" sdp policy set go
offers "files to check" "wrong" sdp policy check --json wr
offers "roles" "connect listen" sdp policy explain iperf3 ""
offers "roles behind options" "connect" sdp policy explain --uid 3 --file good iperf3 c
offers "a file's option" "good" sdp policy explain iperf3 --file g
offers "explain's options" "--cgroup --file --help --json --uid" sdp policy explain -
offers "programs" "bash bashbug" sdp check --program bash
offers "list's options" "--all --help --info --json --listening --numeric --processes" sdp list --
offers "stat's options" "--all --help --json --within" sdp stat -
offers "check's options" \
	"--cgroup --device --help --ipv4 --ipv6 --json --program --timeout --uid" sdp check a 80 -
offers "help of" "check" sdp help c
offers "a number is not guessed" "" sdp stat -w ""
offers "behind the last word nothing" "" sdp policy show ""
# The offered completions are options that the program's own usage mentions.
offered_options() {
	local command word
	for command in $commands "policy explain"; do
		# shellcheck disable=SC2086 # a list
		for word in $(complete_words sdp $command -); do
			"$sdp" help "${command%% *}" | grep -q -e "$word" || [ "$word" = --help ] ||
				echo "$command $word"
		done
	done
}
expect "completion: offers no option that there is not" 0 "" offered_options

tools_done
