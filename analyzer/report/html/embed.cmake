# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DOUT=FILE.cpp -DFRAME=FILE -DSTYLES=A:B -DSCRIPTS=A:B -P embed.cmake
# Puts the page's files into a C++ source, with the digests that its Content-Security-Policy names.

# All files in one; written with -E cat, which changes no octet.
function(join into files)
  string(REPLACE ":" ";" files "${files}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${files} OUTPUT_FILE "${into}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(constant name from)
  file(READ "${from}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR length "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," octets "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" octets
                       "${octets}")
  set(text "${text}constexpr unsigned char ${name}_octets[] = {\n${octets}0};\n\
const std::string_view ${name}{reinterpret_cast<const char*>(${name}_octets), ${length}};\n" PARENT_SCOPE)
endfunction()

function(digest name from)
  file(SHA256 "${from}" sum)
  set(text "${text}const std::string_view ${name}{\"${sum}\"};\n" PARENT_SCOPE)
endfunction()

set(text "// Made by analyzer/report/html/embed.cmake\n#include \"report/html/assets.hpp\"\n\nnamespace rpcrdma::report::page {\n")
join("${OUT}.style" "${STYLES}")
join("${OUT}.script" "${SCRIPTS}")
constant(page_frame "${FRAME}")
constant(page_style "${OUT}.style")
constant(page_script "${OUT}.script")
digest(style_digest "${OUT}.style")
digest(script_digest "${OUT}.script")
file(WRITE "${OUT}" "${text}}  // namespace rpcrdma::report::page\n")
