#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [STEP...]: what is too long for every ./check. Without STEP all of them: plain, sanitized, threads, random, hostile,
# fuzz, versions, packages, archives, lab, fresh (README.md).
# RPCRDMA_FUZZ_SECONDS says how long each fuzz target looks for new inputs (3600), as many at a time as there are processors.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
# shellcheck source=cmake/packages.sh
. cmake/packages.sh
room=$PWD/build/long
mkdir -p "$room"
summary=() failed=0

# A tree where every file is compiled alone and has to include what it uses, with assertions; and its unit tests.
plain() {
  cmake --preset debug && build_tree build/debug && ctest --test-dir build/debug -L '^unit$' --output-on-failure --no-tests=error
}
# The tree with sanitizers with all of its own tests: every mutant, every variant, every option of the program.
sanitized() { ctest --test-dir build/asan --parallel "$(nproc)" --output-on-failure --no-tests=error; }
# All tests of a tree with ThreadSanitizer.
threads() {
  env -u CC -u CXX -u CFLAGS -u CXXFLAGS -u LDFLAGS cmake --preset tsan && build_tree build/tsan &&
    TSAN_OPTIONS=halt_on_error=1:exitcode=66 ctest --test-dir build/tsan --parallel "$(nproc)" \
      --output-on-failure --no-tests=error
}
# Conversations that nobody has seen before; what fails names its seed.
random() {
  local seed
  seed=$(date +%s)
  build/tests/random/random --gtest_filter='Legal.*' --seed "$seed" --conversations 20000 &&
    build/tests/random/random --gtest_filter='Fault.*' --seed "$seed" --conversations 100
}
hostile() { tests/hostile/growth.py; }
fuzz() {
  tests/fuzz/run.py --programs build/asan/tests/fuzz --each "${RPCRDMA_FUZZ_SECONDS:-3600}"
}
versions() { tests/plugin/versions.sh; }
packages() { tests/packages/run.sh; }
archives() { tests/archives/slurm.sh; }
lab() { captures/lab/run.sh "$room/captures"; }
fresh() { tests/fresh/run.sh; }

# Why a step cannot run here; nothing when it can.
obstacle() {
  case $1 in
    versions | packages | fresh)
      if [ "$(id -u)" -ne 0 ]; then echo "needs root"
      elif ! command -v debootstrap >/dev/null; then echo "needs debootstrap (apt-get install debootstrap)"
      fi ;;
    archives)
      if [ "$(id -u)" -ne 0 ]; then echo "needs root"
      elif ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then echo "needs Slurm (apt-get install slurm-wlm munge)"
      elif [ ! -x build/rpcrdma-analyzer ]; then echo "needs build, which ./check builds"; fi ;;
    lab)
      if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then echo "needs root or sudo"; fi ;;
    hostile)
      if [ ! -x build/tests/bench/peak ]; then echo "needs build, which ./check builds"; fi ;;
    random)
      if [ ! -x build/tests/random/random ]; then echo "needs build, which ./check builds"; fi ;;
    fuzz | sanitized)
      if [ ! -d build/asan/tests/fuzz ]; then echo "needs build/asan, which ./check builds"; fi ;;
  esac
}

chosen=("$@")
[ $# -gt 0 ] || chosen=(plain sanitized threads random hostile fuzz versions packages archives lab fresh)
for name in "${chosen[@]}"; do
  case $name in
    plain | sanitized | threads | random | hostile | fuzz | versions | packages | archives | lab | fresh) ;;
    *) sed -n '3,5s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
for name in "${chosen[@]}"; do
  reason=$(obstacle "$name")
  if [ -n "$reason" ]; then
    summary+=("left out  $name: $reason")
    continue
  fi
  log=$room/$name.log start=$SECONDS
  step "long" "$name, into ${log#"$PWD/"}"
  if "$name" </dev/null >"$log" 2>&1; then verdict=passed; else
    verdict=FAILED failed=1
    tail -n 40 "$log" >&2
    echo "$name failed; again, alone: tests/long/run.sh $name" >&2
  fi
  summary+=("$(printf '%-9s %s, %d s' "$verdict" "$name" "$((SECONDS - start))")")
done
echo
echo "Long tests:"
printf '  %s\n' "${summary[@]}"
echo
exit "$failed"
