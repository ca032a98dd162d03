// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "referee/cause/causes.hpp"
#include "referee/docket/counted.hpp"
#include "referee/mount/account.hpp"

namespace rpcrdma::referee {

namespace {

using trace::Moment;

/// Which number among all a number of each share is.
class Numbers {
 public:
  Numbers(const std::vector<Share>& shares, std::vector<Moment> Share::*given) {
    struct Given {
      Moment when;
      std::size_t share;
      ConnectionId number;
    };
    std::vector<Given> all;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      ConnectionId number = 0;
      for (const Moment& when : shares[i].*given) all.push_back({when, i, ++number});
    }
    std::stable_sort(all.begin(), all.end(), [](const Given& a, const Given& b) { return a.when < b.when; });
    of_share_.resize(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) of_share_[i].resize((shares[i].*given).size() + 1);
    ConnectionId next = 0;
    for (const Given& each : all) of_share_[each.share][each.number] = ++next;
  }

  /// 0 stays 0: the capture as a whole.
  [[nodiscard]] ConnectionId of(std::size_t share, ConnectionId number) const noexcept {
    const std::vector<ConnectionId>& known = of_share_[share];
    return number < known.size() ? known[number] : number;
  }
  void put(std::size_t share, std::vector<ConnectionId>& numbers) const noexcept {
    for (ConnectionId& number : numbers) number = of(share, number);
  }

 private:
  std::vector<std::vector<ConnectionId>> of_share_;
};

void number(std::vector<Share>& shares) {
  const Numbers numbers(shares, &Share::numbered);
  const Numbers mounts(shares, &Share::mounts_known);
  const auto place = [&](std::size_t share, Moment& when) {
    const auto number = static_cast<std::uint32_t>(when.place);
    if (when.step == Moment::Step::mounts) when.place = mounts.of(share, number);
    const bool of_connection =
        when.step == Moment::Step::connections_over || when.step == Moment::Step::connections_facts;
    if (of_connection) when.place = numbers.of(share, number);
  };
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Share& share = shares[i];
    if (share.numbered.empty()) continue;
    for (ConnectionFacts& facts : share.connections) facts.id = numbers.of(i, facts.id);
    for (auto& [finding, when] : share.findings) {
      finding.connection = numbers.of(i, finding.connection);
      numbers.put(i, finding.connections);
      place(i, when);
    }
    for (auto& [unchecked, when] : share.unchecked) {
      unchecked.connection = numbers.of(i, unchecked.connection);
      place(i, when);
    }
    for (auto& [mount, when] : share.mounts) numbers.put(i, mount.connections);
  }
}

/// What each share has of a kind, in the order that `key` gives; equals stay as they are.
template <class What, class Key>
[[nodiscard]] std::vector<What*> in_order(std::vector<Share>& shares, std::vector<What> Share::*kind, Key key) {
  struct Place {
    decltype(key(std::declval<const What&>())) by;
    What* what;
  };
  std::vector<Place> places;
  std::size_t count = 0;
  for (Share& share : shares) count += (share.*kind).size();
  places.reserve(count);
  for (Share& share : shares) {
    for (What& what : share.*kind) places.push_back({key(what), &what});
  }
  if (shares.size() > 1) {
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.by < b.by; });
  }
  std::vector<What*> all;
  all.reserve(count);
  for (const Place& place : places) all.push_back(place.what);
  return all;
}

/// It is in the report.
template <class What>
void let_go(std::vector<Share>& shares, std::vector<What> Share::*kind) {
  for (Share& share : shares) share.*kind = {};
}

/// Of what concerns the capture as a whole, each share has told its part: the first one counts the others up.
void fold(std::vector<Said<Finding>*>& findings) {
  std::map<RuleId, Finding*> first;
  for (Said<Finding>* said : findings) {
    Finding& finding = said->what;
    if (finding.connection != 0 || kind(finding.rule) == FindingKind::symptom) continue;
    Finding*& known = first[finding.rule];
    if (known == nullptr) {
      known = &finding;
      continue;
    }
    known->occurrences += finding.occurrences;
    known->frames.insert(known->frames.end(), finding.frames.begin(), finding.frames.end());
    std::sort(known->frames.begin(), known->frames.end());
    if (known->frames.size() > FindingBook::frames_each) known->frames.resize(FindingBook::frames_each);
    finding.occurrences = 0;
  }
  std::erase_if(findings, [](const Said<Finding>* said) { return said->what.occurrences == 0; });
}

}  // namespace

Report put_together(std::vector<Share> shares) {
  const bool several = shares.size() > 1;
  number(shares);
  Report report;
  auto connections = in_order(shares, &Share::connections, [](const ConnectionFacts& facts) { return facts.id; });
  report.connections.reserve(connections.size());
  for (ConnectionFacts* facts : connections) report.connections.push_back(std::move(*facts));
  let_go(shares, &Share::connections);

  auto findings = in_order(shares, &Share::findings,
                           [](const Said<Finding>& said) { return std::pair(first_frame(said.what), said.when); });
  if (several) fold(findings);
  report.findings.reserve(findings.size());
  for (Said<Finding>* said : findings) report.findings.push_back(std::move(said->what));
  let_go(shares, &Share::findings);
  link_consequences(report.findings);

  auto unchecked = in_order(shares, &Share::unchecked, [](const Said<Unchecked>& said) { return said.when; });
  std::set<RuleId> of_capture;
  report.unchecked.reserve(unchecked.size());
  for (Said<Unchecked>* said : unchecked) {
    // Of a rule and the capture as a whole the first reason is told.
    if (said->what.connection == 0 && !of_capture.insert(said->what.rule).second) continue;
    report.unchecked.push_back(std::move(said->what));
  }
  let_go(shares, &Share::unchecked);

  auto mounts = in_order(shares, &Share::mounts, [](const Said<MountFacts>& said) { return said.when; });
  report.mounts.reserve(mounts.size());
  for (Said<MountFacts>* said : mounts) {
    report.mounts.push_back(std::move(said->what));
    report.mounts.back().id = static_cast<std::uint32_t>(report.mounts.size());
  }

  let_go(shares, &Share::mounts);

  TurnedAway connections_beyond;
  TurnedAway regions_beyond;
  TurnedAway mounts_beyond;
  std::vector<Breach> breaches;
  for (const Share& share : shares) {
    report.rdma_messages += share.rdma_messages;
    report.any_rpcrdma = report.any_rpcrdma || share.any_rpcrdma;
    report.judged = report.judged || share.judged;
    breaches.insert(breaches.end(), share.told.begin(), share.told.end());
    connections_beyond.add(share.connections_turned_away);
    regions_beyond.add(share.regions_turned_away);
    mounts_beyond.add(share.mounts_turned_away);
  }
  // Not through a book: of a rule and connection it keeps the first reason, and these are never to be left out.
  if (connections_beyond.count != 0) {
    report.unchecked.push_back(
        {RuleId::capture_gap, 0,
         fmt::format("{} connections were open at once, as many as are kept: {} more that begin in frame {} and later "
                     "were not judged at all",
                     grouped(connections_beyond.room), grouped(connections_beyond.count),
                     connections_beyond.first.number)});
  }
  if (regions_beyond.count != 0) {
    report.unchecked.push_back(
        {RuleId::rdma_unknown_handle, 0,
         fmt::format(
             "{} segments of memory were offered at once, as many as are kept of all connections: {} more, offered in "
             "frame {} and later, are not known",
             grouped(regions_beyond.room), grouped(regions_beyond.count), regions_beyond.first.number)});
  }
  if (mounts_beyond.count != 0) {
    report.unchecked.push_back(
        {RuleId::call_hangs, 0,
         fmt::format("{} mounts are kept: what became of others, the first of which shows in frame {}, is not known",
                     grouped(mounts_beyond.room), mounts_beyond.first.number)});
  }
  report.judged = report.judged || std::any_of(report.mounts.begin(), report.mounts.end(), [](const MountFacts& mount) {
                    return mount.state == MountFacts::State::never_up;
                  });
  for (const Finding& finding : report.findings) count_breach(breaches, finding);
  report.verdict = verdict_of(report.mounts, breaches, mounts_beyond);
  return report;
}

}  // namespace rpcrdma::referee
