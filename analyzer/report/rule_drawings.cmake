# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DPAGES=docs/rules -DOUT=rule_drawings.cpp -P rule_drawings.cmake: what the pages draw, as a table for --explain.
# A page that is missing, or has no drawing, makes --explain shorter, and nothing else.
file(GLOB pages ${PAGES}/*.md)
list(SORT pages)
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(rule "${page}" NAME_WE)
  file(READ "${page}" text)
  string(FIND "${text}" "\n```text\n" from)
  string(FIND "${text}" "captures/scenarios/" story)
  if(from EQUAL -1 OR story EQUAL -1)
    continue()
  endif()
  math(EXPR from "${from} + 9")
  string(SUBSTRING "${text}" ${from} -1 drawing)
  string(FIND "${drawing}" "\n```" length)
  string(SUBSTRING "${drawing}" 0 ${length} drawing)
  math(EXPR story "${story} + 19")
  string(SUBSTRING "${text}" ${story} -1 scenario)
  string(FIND "${scenario}" ".yaml" length)
  string(SUBSTRING "${scenario}" 0 ${length} scenario)
  string(APPEND rows "    {\"${rule}\", \"${scenario}\", text(R\"ladder(${drawing}\n)ladder\")},\n")
endforeach()
if(rows STREQUAL "")
  set(rows "    {},\n")
endif()
file(WRITE ${OUT} "// Made from docs/rules by rule_drawings.cmake\n#include <cstddef>\n\n#include \"report/pages.hpp\"\n\nnamespace rpcrdma::report {\n"
     "namespace {\n// Compilers count the steps of a constant expression: no search for the end of each text.\n"
     "template <std::size_t N>\nconstexpr std::string_view text(const char (&letters)[N]) noexcept {\n"
     "  return {letters, N - 1};\n}\n\nconstexpr RuleDrawing table[] = {\n${rows}};\n}  // namespace\n\n"
     "std::span<const RuleDrawing> rule_drawings() noexcept { return table; }\n\n}  // namespace rpcrdma::report\n")
