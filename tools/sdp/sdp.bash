# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of the program sdp for bash. Needs nothing but bash.

# _sdp_word N: the Nth word of the command line behind sdp that is neither an option nor an
# option's value; the first one is 1.
_sdp_word() {
	local i n=0
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-f | --file | --uid | --cgroup | --program | -w | --within | -t | --timeout)
			i=$((i + 1)) ;;
		-*) ;;
		*)	n=$((n + 1))
			[ $n != "$1" ] || { echo "${COMP_WORDS[i]}"; return; } ;;
		esac
	done
}

# _sdp_offer WORDS: offers the words that start with what has been typed
_sdp_offer() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}"); }

_sdp_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
}

_sdp_programs() { mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"); }

_sdp_explain() {
	case $(_sdp_word 3),$(_sdp_word 4) in
	,*)	_sdp_programs ;;
	*,)	_sdp_offer "listen connect" ;;
	esac
}

_sdp_policy() {
	case $(_sdp_word 2) in
	"")	_sdp_offer "show set on off check explain" ;;
	set | check)
		_sdp_files ;;
	explain)
		_sdp_explain ;;
	esac
}

# Completions of a word that is not an option.
_sdp_arguments() {
	case $(_sdp_word 1) in
	"")	_sdp_offer "policy list stat fallbacks check kill help" ;;
	policy)	_sdp_policy ;;
	help)	[ -n "$(_sdp_word 2)" ] || _sdp_offer "policy list stat fallbacks check kill" ;;
	check)	if [[ " ${COMP_WORDS[*]} " == *" --device "* ]]; then
			_sdp_offer "$(cd /sys/class/infiniband 2>/dev/null && echo *)"
			return
		fi
		[ -n "$(_sdp_word 2)" ] ||
			mapfile -t COMPREPLY < <(compgen -A hostname -- "${COMP_WORDS[COMP_CWORD]}") ;;
	esac
}

_sdp_options() {
	case $(_sdp_word 1) in
	"")	_sdp_offer "--json --help --version" ;;
	list)	_sdp_offer "--listening --all --numeric --processes --info --json --help" ;;
	stat)	_sdp_offer "--all --within --json --help" ;;
	check)	_sdp_offer "--ipv4 --ipv6 --timeout --program --uid --cgroup --device --json --help" ;;
	policy)
		case $(_sdp_word 2) in
		explain) _sdp_offer "--file --uid --cgroup --json --help" ;;
		*)	_sdp_offer "--json --help" ;;
		esac ;;
	*)	_sdp_offer "--json --help" ;;
	esac
}

_sdp() {
	COMPREPLY=()
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	-f | --file | --cgroup)
		_sdp_files
		return ;;
	--program)
		_sdp_programs
		return ;;
	--uid | -w | --within | -t | --timeout)
		return ;;
	esac
	case ${COMP_WORDS[COMP_CWORD]} in
	-*)	_sdp_options ;;
	*)	_sdp_arguments ;;
	esac
}

complete -F _sdp sdp
