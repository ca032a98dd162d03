// SPDX-License-Identifier: GPL-2.0-or-later
// A library that is loaded once a capture needs it. Most captures need none, and to load libwiretap with all that it
// brings along takes longer than to judge a short capture.
#pragma once

#include <string>

namespace rpcrdma::reader {

/// Never unloaded: what it handed out may be in use to the end.
class LoadedLibrary {
 public:
  /// By the name that the linker would have written down for it (SONAME).
  explicit LoadedLibrary(const char* soname);

  /// A function of it, or of one that it brings along.
  template <typename Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
  }

  /// Why it cannot be used, for a person: it, or a function of it, is not there. Empty: it can.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  [[nodiscard]] void* symbol(const char* name);

  void* handle_;
  std::string missing_;
};

}  // namespace rpcrdma::reader
