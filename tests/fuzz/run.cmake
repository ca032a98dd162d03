# SPDX-License-Identifier: GPL-2.0-or-later
# Runs one libFuzzer program: with SECONDS it looks for new inputs, without it replays the kept ones.
set(folders)
foreach(folder ${KEPT})
  if(IS_DIRECTORY ${folder})
    list(APPEND folders ${folder})
  endif()
endforeach()
if(DEFINED SECONDS)
  file(MAKE_DIRECTORY ${FOUND})
  set(arguments -max_total_time=${SECONDS} -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
                -artifact_prefix=${FOUND}/../ ${FOUND})
else()
  set(arguments -runs=0)
endif()
execute_process(COMMAND ${PROGRAM} ${arguments} ${folders} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: ${result}")
endif()
