// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault.hpp"

namespace talk {

const std::vector<Fault>& faults() {
  static const std::vector<Fault> table = [] {
    std::vector<Fault> all;
    faults_of_messages(all);
    faults_of_memory(all);
    faults_of_version_2(all);
    return all;
  }();
  return table;
}

}  // namespace talk
