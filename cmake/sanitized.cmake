# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of programs that were built with sanitizers. ./check builds that tree (preset asan) beside the release tree; its
# programs are started by tests of the release tree, so that there is one list of tests and one summary.
set(RPCRDMA_SANITIZED ${PROJECT_SOURCE_DIR}/build/asan)

# rpcrdma_sanitized_test(NAME COMMAND...): test sanitized.NAME. A command begins with a program below ${RPCRDMA_SANITIZED},
# or hands one to a script. The usual time limit is generous: it is there for what hangs.
function(rpcrdma_sanitized_test name)
  if(RPCRDMA_SANITIZE)
    return() # in that tree itself the test has its plain name
  endif()
  add_test(NAME sanitized.${name} COMMAND ${ARGN})
  set_tests_properties(
    sanitized.${name}
    PROPERTIES
      LABELS sanitized TIMEOUT 1800
      ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1;UBSAN_OPTIONS=print_stacktrace=1"
  )
endfunction()
