# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for rpcrdma-analyzer; needs no other file.

_rpcrdma_analyzer() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words
  # "--format=js" is three words here.
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case $option in
    --format) words="text json ndjson csv junit" ;;
    --color) words="auto always never" ;;
    --profile) words="auto rfc8166 reliable-reply" ;;
    --severity) words="note warning error" ;;
    --fail-on) words="note warning error never" ;;
    --rule | --no-rule | --explain) words=$("$program" --list-rules --color never 2>/dev/null | sed -e 1d -e 's/ .*//') ;;
    --port | --pull-timeout | --wait | --connection | --ladder-rows | -j | --jobs) return ;;
    -r | --read | --html | --annotate | --sanitize | --sanitize-key | --resume) ;;
    *)
      if [[ $current == -* ]]; then
        words="-h --help -V --version -r --read --merge --each --resume -j --jobs --format --json --statistics --ladder --ladder-rows --html --annotate --sanitize --sanitize-key --color --no-progress -q --quiet -v --verbose
          --profile --pull-timeout --wait --port --check-crc --rule --no-rule --severity --connection --fail-on --list-rules --explain"
      fi
      ;;
  esac
  if [[ -n ${words-} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _rpcrdma_analyzer rpcrdma-analyzer
