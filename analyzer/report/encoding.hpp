// SPDX-License-Identifier: GPL-2.0-or-later
// Text for outputs that hold only certain octets. Names of files and reasons may hold any.
#pragma once

#include <string>
#include <string_view>

namespace rpcrdma::report {

/// Each octet that is no part of well-formed UTF-8 becomes U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// For an element or an attribute of XML 1.0: markup escaped, and what XML cannot hold at all becomes U+FFFD.
[[nodiscard]] std::string xml(std::string_view text);

/// For a cell of a table with commas (RFC 4180), in quotation marks where it needs them; what a spreadsheet would take
/// for a formula begins with an apostrophe.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace rpcrdma::report
