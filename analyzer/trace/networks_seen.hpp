// SPDX-License-Identifier: GPL-2.0-or-later
// Inside trace: in which networks packets that belong together were seen, by name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace rpcrdma::trace {

/// Asked for each packet: where nothing changes, which is nearly always, it is one comparison. There are no more names
/// than ways between two addresses (trace/networks.hpp), whose names outlive this.
class NetworksSeen {
 public:
  /// null: a packet of no network that has a name.
  void add(const std::string* name) {
    if (name == last_) [[likely]] {
      return;
    }
    last_ = name;
    if (name != nullptr && std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
  /// Adds those that are not yet among them.
  void tell(std::vector<std::string>& told) const {
    for (const std::string* name : names_) {
      if (std::find(told.begin(), told.end(), *name) == told.end()) told.push_back(*name);
    }
  }

 private:
  const std::string* last_ = nullptr;
  std::vector<const std::string*> names_;  ///< by first appearance
};

}  // namespace rpcrdma::trace
