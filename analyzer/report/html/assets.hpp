// SPDX-License-Identifier: GPL-2.0-or-later
// The files of page/ and uplot/, as the build put them into the program (embed.cmake).
#pragma once

#include <string_view>

namespace rpcrdma::report::page {

extern const std::string_view page_frame;     ///< page/page.html
extern const std::string_view page_style;     ///< all style sheets, one behind the other
extern const std::string_view page_script;    ///< all scripts, one behind the other
extern const std::string_view style_digest;   ///< SHA-256 of it, in hexadecimal
extern const std::string_view script_digest;  ///< likewise

}  // namespace rpcrdma::report::page
