#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# config-has.sh CONFIG FRAGMENT [OPTION...]: fail, with a list, when CONFIG lost a line of FRAGMENT,
# but for OPTIONs that the source offers no more. merge_config drops options with unmet dependencies
# and exits 0: KASAN would just be off.
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
