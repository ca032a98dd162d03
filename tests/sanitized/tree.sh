#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tree.sh build|run PRESET [OPTIONS]: build/PRESET, configured and built, or its tests run.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
what=$1 preset=$2
shift 2
# Called from ctest, itself perhaps under make: neither's settings are meant for the inner tree.
unset CTEST_INTERACTIVE_DEBUG_MODE CTEST_PARALLEL_LEVEL MAKEFLAGS CC CXX CFLAGS CXXFLAGS LDFLAGS
cache=build/$preset/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
  rm -rf "$cache" "build/$preset/CMakeFiles" # the checkout has been moved
fi
case $what in
  build)
    cmake --preset "$preset" "$@" >/dev/null
    targets=()
    if [ "$preset" = fuzz ]; then # the fuzz targets alone
      targets=(--target)
      for source in tests/fuzz/*_fuzz.cpp; do targets+=("fuzz_$(basename "$source" _fuzz.cpp)"); done
    fi
    cmake --build "build/$preset" "${targets[@]}"
    ;;
  run)
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1
    export UBSAN_OPTIONS=print_stacktrace=1
    exec ctest --test-dir "build/$preset" --parallel "$(nproc)" --output-on-failure --no-label-summary --no-tests=error "$@"
    ;;
esac
