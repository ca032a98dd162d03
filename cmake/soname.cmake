# SPDX-License-Identifier: GPL-2.0-or-later
# rpcrdma_soname(VARIABLE LIBRARY): the name by which a program asks for a shared library that it loads itself.
function(rpcrdma_soname variable library)
  execute_process(COMMAND ${CMAKE_READELF} --dynamic --wide ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(NOT dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${library} is no shared library: it has no SONAME")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
