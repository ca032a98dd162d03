# SPDX-License-Identifier: GPL-2.0-or-later
# One interface target carries how everything here is compiled.
add_library(rpcrdma_flags INTERFACE)
target_compile_options(rpcrdma_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion)
if(RPCRDMA_WERROR)
  target_compile_options(rpcrdma_flags INTERFACE -Werror)
endif()
if(RPCRDMA_SANITIZE)
  target_compile_options(rpcrdma_flags INTERFACE -fsanitize=${RPCRDMA_SANITIZERS} -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
  target_link_options(rpcrdma_flags INTERFACE -fsanitize=${RPCRDMA_SANITIZERS})
endif()

# Most of a compiler's time goes into headers that never change. They are read once a target, in one of two ways:
#   RPCRDMA_PRECOMPILE  a precompiled header; the sources stay apart (release)
#   RPCRDMA_TOGETHER    up to ten sources of a folder are compiled as one (asan, where nobody waits for one file)
# With neither, each file shows whether it includes what it uses: ./check --long builds one such tree.
set(RPCRDMA_COMMON_HEADERS <algorithm> <array> <cstddef> <cstdint> <cstring> <deque> <functional> <limits> <map> <memory>
                           <optional> <string> <string_view> <tuple> <unordered_map> <utility> <vector>)

# rpcrdma_read_headers_once(TARGET [APART] [HEADER...]): besides what nearly every file includes, these headers. APART: never
# compiled as one. (A single source whose names clash with another's has the property SKIP_UNITY_BUILD_INCLUSION.)
function(rpcrdma_read_headers_once target)
  cmake_parse_arguments(ONCE "APART" "" "" ${ARGN})
  if(RPCRDMA_TOGETHER AND NOT ONCE_APART)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  elseif(RPCRDMA_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${RPCRDMA_COMMON_HEADERS} ${ONCE_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# One library a folder, linked only to the folders left of it: the build keeps the dependency direction.
function(rpcrdma_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;PRIVATE;HEADERS" ${ARGN})
  if(NOT ROOM_SOURCES)
    message(WARNING "room ${name} has no sources yet")
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    set(ROOM_SOURCES ${PROJECT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(rpcrdma_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(rpcrdma_${name} PUBLIC ${PROJECT_SOURCE_DIR}/analyzer)
  target_link_libraries(rpcrdma_${name} PUBLIC ${ROOM_USES} tl::expected PRIVATE rpcrdma_flags ${ROOM_PRIVATE})
  rpcrdma_read_headers_once(rpcrdma_${name} ${ROOM_HEADERS})
endfunction()
