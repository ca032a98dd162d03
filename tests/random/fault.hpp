// SPDX-License-Identifier: GPL-2.0-or-later
// One fault of a known rule, which is put into a conversation that is legal otherwise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "talk.hpp"

namespace talk {

/// What the fault itself brings along, or the others have to answer it with.
struct Implied {
  std::string rule;
  std::string party;  ///< "client", "server", "nobody"
  std::string reason;
};

struct Fault {
  std::string name;
  unsigned version = 1;
  std::vector<std::string> rules;  ///< one of them has to be found, or to be unchecked
  std::string culprit;             ///< "client" or "server"
  std::vector<Implied> implied;
  std::function<void(LinePlan&)> prepare;             ///< what the connection must be like
  std::function<void(Talk&, Exchange&, Chance)> act;  ///< the exchange with the fault
};

[[nodiscard]] const std::vector<Fault>& faults();

// Parts of that table.
void faults_of_messages(std::vector<Fault>& all);
void faults_of_memory(std::vector<Fault>& all);
void faults_of_version_2(std::vector<Fault>& all);

}  // namespace talk
