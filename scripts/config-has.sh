#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# config-has.sh CONFIG FRAGMENT [OPTION...]: check that CONFIG has FRAGMENT.
#
# Fails, with a list, when CONFIG lacks a line of FRAGMENT. Each OPTION is
# exempt: the kernel source no longer has it. merge_config drops options with
# unmet dependencies and exits 0, so KASAN, for example, could be off unnoticed.
set -euo pipefail
config=$1 fragment=$2 lost=
shift 2
while read -r line; do
	[[ " $* " != *" ${line%=*} "* ]] || continue
	case $line in
	CONFIG_*=n)	grep -q "^${line%=n}=[ym]" "$config" && lost+=" $line" ;;
	CONFIG_*)	grep -qxF -- "$line" "$config" || lost+=" $line" ;;
	"# CONFIG_"*)	name=${line#\# }; grep -q "^${name%% *}=" "$config" && lost+=" ${name%% *}" ;;
	esac
done <"$fragment"
[ -z "$lost" ] || { echo "not in $config as asked:$lost" >&2; exit 1; }
