# SPDX-License-Identifier: GPL-2.0-or-later
# One interface target carries how everything here is compiled.
add_library(rpcrdma_flags INTERFACE)
target_compile_options(rpcrdma_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Werror)
if(RPCRDMA_SANITIZE)
  target_compile_options(rpcrdma_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
  target_link_options(rpcrdma_flags INTERFACE -fsanitize=address,undefined)
endif()
if(RPCRDMA_FUZZ)
  target_compile_options(rpcrdma_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# One library a folder, linked only to the folders left of it: the build keeps the dependency direction.
function(rpcrdma_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  if(NOT ROOM_SOURCES)
    message(WARNING "room ${name} has no sources yet")
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    set(ROOM_SOURCES ${PROJECT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(rpcrdma_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(rpcrdma_${name} PUBLIC ${PROJECT_SOURCE_DIR}/analyzer)
  target_link_libraries(rpcrdma_${name} PUBLIC ${ROOM_USES} tl::expected PRIVATE rpcrdma_flags ${ROOM_PRIVATE})
endfunction()
