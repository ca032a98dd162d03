// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/symptoms.hpp"

#include <algorithm>
#include <utility>

namespace rpcrdma::referee {

void MountWitness::say(RuleId id, Symptom symptom) const {
  Finding finding;
  finding.rule = id;
  finding.severity = std::min(symptom.at_most, rule(id).severity);
  for (const FrameRef& frame : symptom.frames) {
    if (frame.number == 0) continue;
    if (finding.frames.empty()) finding.time = frame.time;
    if (std::find(finding.frames.begin(), finding.frames.end(), frame.number) == finding.frames.end()) {
      finding.frames.push_back(frame.number);
    }
  }
  if (!symptom.connections.empty()) finding.connection = symptom.connections.front();
  if (symptom.connections.size() > 1) finding.connections = std::move(symptom.connections);
  finding.xid = symptom.xid;
  finding.owes = nameless && symptom.owes != Owes::nobody ? Owes::unknown : symptom.owes;
  finding.occurrences = symptom.times;
  finding.message = nameless ? without_roles(symptom.what, *nameless) : std::move(symptom.what);
  context.book.add_symptom(std::move(finding));
}

void MountWitness::unchecked(RuleId id, ConnectionId connection, std::string_view why) const {
  context.book.unchecked(id, connection, nameless ? without_roles(why, *nameless) : std::string(why));
}

}  // namespace rpcrdma::referee
