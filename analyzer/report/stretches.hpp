// SPDX-License-Identifier: GPL-2.0-or-later
// Which parts of a text are UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

#include <utf8.h>

namespace rpcrdma::report {

/// Takes a text apart: `good` gets each stretch of well-formed UTF-8, `bad` each octet that is no part of any.
template <class Good, class Bad>
void each_stretch(std::string_view text, Good&& good, Bad&& bad) {
  while (!text.empty()) {
    const auto stretch = static_cast<std::size_t>(utf8::find_invalid(text.begin(), text.end()) - text.begin());
    if (stretch != 0) good(text.substr(0, stretch));
    if (stretch == text.size()) return;
    bad(text[stretch]);
    text.remove_prefix(stretch + 1);
  }
}

}  // namespace rpcrdma::report
