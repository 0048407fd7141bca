#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# policy.sh: the program sdp's answers about policies, word by word.
# Needs no module, no root and no VM. Prints TAP.
. "$(dirname "$0")/libtools.sh"

from() { printf '%b' "$1" | "${@:2}"; }

good='# the cluster\nconnect 10.9.0.0/24:5201 program iperf3 both\nlisten *:80-89 uid 33 sdp\n'
good+='any * path /opt/*/bin/db sdp\nconnect [fd00::/16]:* cgroup /system.slice/* sdp\n'
good+='use tcp client ssh* *:22; any 10.0.0.0/8 sdp'
printf '%b' "$good" >good

expect "check: a policy" 0 "good: fine, 6 rules" "$sdp" policy check good
expect "check: one rule, from standard input" 0 "standard input: fine, 1 rule" \
	from 'any * sdp' "$sdp" policy check -
expect "check: nothing is a policy" 0 "standard input: fine, 0 rules" \
	from '' "$sdp" policy check -
printf 'any * sdp\n\n any 10.9.0.1/24 sdp\n' >wrong
expect "check: place of a mistake" 1 \
	"wrong:3:6: error: expected an address without bits after the prefix, such as 10.9.0.0/24" \
	"$sdp" policy check wrong
expect "explain: of a mistake" 1 \
	"wrong:3:6: error: expected an address without bits after the prefix, such as 10.9.0.0/24" \
	"$sdp" policy explain x connect 10.9.0.1:80 --file wrong
head -c 16384 /dev/zero | tr '\0' '\n' >long
expect "check: as long as may be" 0 "long: fine, 0 rules" "$sdp" policy check long
echo >>long
expect "check: too long" 1 "long:16385:1: error: expected no more than 16384 bytes" \
	"$sdp" policy check long
expect "check: no such file" 1 "sdp: nowhere: No such file or directory" \
	"$sdp" policy check nowhere
printf 'any * sdp\n' >$'n\xe4me'
expect "check: a name of other bytes than UTF-8" 0 \
	$'{\n  "policy": "n\\\\344me",\n  "rules": 1\n}' "$sdp" policy check --json $'n\xe4me'
expect "check: a directory" 1 "sdp: .: Is a directory" "$sdp" policy check .

path_note="sdp: a rule asks for the path of the program: say it instead of the name"
group_note="sdp: a rule asks for the control group: say --cgroup PATH"
none=$'tcp\tgood: no rule matches'

expect "explain: program, prefix and port" 0 \
	$'both\tgood:2: connect 10.9.0.0/24:5201 program iperf3 both' \
	"$sdp" policy explain iperf3 connect 10.9.0.7:5201 --file good
expect "explain: the role" 0 $'sdp\tgood:3: listen *:80-89 uid 33 sdp' \
	"$sdp" policy explain nginx listen 0.0.0.0:80 --uid 33 --file good
expect "explain: another user; what was not said" 0 "$path_note"$'\n'"$group_note"$'\n'"$none" \
	"$sdp" policy explain nginx listen 0.0.0.0:80 --uid 34 --file good
expect "explain: a path" 0 $'sdp\tgood:4: any * path /opt/*/bin/db sdp' \
	"$sdp" policy explain /opt/a/bin/db listen 0.0.0.0:99 --file good
expect "explain: the name of a path" 0 \
	$'both\tgood:2: connect 10.9.0.0/24:5201 program iperf3 both' \
	"$sdp" policy explain /usr/bin/iperf3 connect 10.9.0.7:5201 --file good
expect "explain: IPv6 and a control group" 0 \
	$'sdp\tgood:5: connect [fd00::/16]:* cgroup /system.slice/* sdp' \
	"$sdp" policy explain /bin/x connect '[fd00::7]:1' --cgroup /system.slice/a --uid 0 \
	--file good
expect "explain: another control group" 0 "$none" \
	"$sdp" policy explain /bin/x connect '[fd00::7]:1' --cgroup /user.slice --file good
expect "explain: a line of libsdp.conf" 0 \
	$'tcp\tgood:6: use tcp client ssh* *:22; any 10.0.0.0/8 sdp' \
	"$sdp" policy explain /usr/bin/ssh connect 10.1.1.1:22 --cgroup / --file good
expect "explain: the last rule, without a newline; v4-mapped" 0 \
	$'sdp\tgood:6: use tcp client ssh* *:22; any 10.0.0.0/8 sdp' \
	"$sdp" policy explain /usr/bin/curl connect '[::ffff:10.1.1.1]:80' --cgroup / --file good
expect "explain: a long name has 15 bytes" 0 $'sdp\tstandard input:1: any * program abcdefghijklmno sdp' \
	from 'any * program abcdefghijklmno sdp' \
	"$sdp" policy explain abcdefghijklmnopq listen 0.0.0.0:1 --file -
expect "explain: the caller" 0 $'sdp\tstandard input:1: any * uid '"$(id -u) sdp" \
	from "any * uid $(id -u) sdp" "$sdp" policy explain x listen 0.0.0.0:1 --file -

usage "usage: no such command" "sdp: no such command: police" police
usage "usage: policy alone" "sdp: policy show, set, on, off, check or explain" policy
usage "usage: two files" "sdp: policy check takes one FILE" policy check a b
usage "usage: too few" "sdp: policy explain takes PROGRAM listen|connect ADDRESS:PORT" \
	policy explain x listen --file good
usage "usage: the role" "sdp: a socket can listen or connect" \
	policy explain x any 1.2.3.4:5 --file good
for target in 1.2.3.4 1.2.3.4: 1.2.3.4:0 1.2.3.4:65536 1.2.3:4 fd00::1:80 '[fd00::1]' '[1.2.3.4]:5' \
	localhost:80 :80 '[]:80' "1.2.3.4:8x" "[$(printf '%060d' 0)]:1" "$(printf '%060d' 0):1"; do
	usage "usage: target $target" "sdp: the target is 10.9.0.1:80 or [fd00::1]:80" \
		policy explain x listen "$target" --file good
done
usage "usage: a user's name" "sdp: --uid takes the number of a user" \
	policy explain x listen 1.2.3.4:5 --file good --uid root
usage "usage: nobody's number" "sdp: --uid takes the number of a user" \
	policy explain x listen 1.2.3.4:5 --file good --uid 4294967295
usage "usage: no value" "sdp: --uid needs a value" \
	policy explain x listen 1.2.3.4:5 --file good --uid
usage "usage: no such option" "sdp: no such option: --gid" \
	policy explain x listen 1.2.3.4:5 --file good --gid 3

# The rules in the documentation must be valid.
doc=$top/Documentation/networking/sdp-policy.rst
sed -n 's/^\t\(\(connect\|listen\|any\|use both\|#\) .*\)/\1/p' "$doc" >shown
expect "the documentation's rules" 0 "shown: fine, 7 rules" "$sdp" policy check shown

tools_done
