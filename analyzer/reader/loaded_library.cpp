// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader/loaded_library.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace rpcrdma::reader {
namespace {

/// The system names the file and what is wrong with it.
[[nodiscard]] std::string why_missing() {
  const char* said = ::dlerror();
  return fmt::format("what reads such captures cannot be loaded: {}", said != nullptr ? said : "no reason is known");
}

}  // namespace

LoadedLibrary::LoadedLibrary(const char* soname) : handle_(::dlopen(soname, RTLD_LAZY | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    missing_ = why_missing();
  }
}

void* LoadedLibrary::symbol(const char* name) {
  if (!missing_.empty()) {
    return nullptr;
  }
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) {
    missing_ = why_missing();
  }
  return found;
}

}  // namespace rpcrdma::reader
