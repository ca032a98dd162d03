// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
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

/// The numbers that connections and mounts have in the report.
class Renumbering {
 public:
  explicit Renumbering(const std::vector<Share>& shares)
      : shares_(shares), connections_(shares, &Share::numbered), mounts_(shares, &Share::mounts_known) {}

  void put(std::size_t share, ConnectionFacts& facts) const {
    if (numbered(share)) facts.id = connections_.of(share, facts.id);
  }
  void put(std::size_t share, Said<Finding>& said) const {
    if (!numbered(share)) return;
    said.what.connection = connections_.of(share, said.what.connection);
    connections_.put(share, said.what.connections);
    place(share, said.when);
  }
  void put(std::size_t share, Said<Unchecked>& said) const {
    if (!numbered(share)) return;
    said.what.connection = connections_.of(share, said.what.connection);
    place(share, said.when);
  }
  void put(std::size_t share, Said<MountFacts>& said) const {
    if (numbered(share)) connections_.put(share, said.what.connections);
  }

 private:
  [[nodiscard]] bool numbered(std::size_t share) const noexcept { return !shares_[share].numbered.empty(); }
  void place(std::size_t share, Moment& when) const noexcept {
    const auto number = static_cast<std::uint32_t>(when.place);
    if (when.step == Moment::Step::mounts) when.place = mounts_.of(share, number);
    const bool of_connection =
        when.step == Moment::Step::connections_over || when.step == Moment::Step::connections_facts;
    if (of_connection) when.place = connections_.of(share, number);
  }

  const std::vector<Share>& shares_;
  Numbers connections_;
  Numbers mounts_;
};

[[nodiscard]] std::uint64_t place_of(const ConnectionFacts& facts) noexcept { return facts.id; }
[[nodiscard]] std::pair<std::uint64_t, Moment> place_of(const Said<Finding>& said) noexcept {
  return {first_frame(said.what), said.when};
}
template <class What>
[[nodiscard]] Moment place_of(const Said<What>& said) noexcept {
  return said.when;
}

template <class What>
void take(std::vector<What>& list, std::size_t index, What& into) {
  into = std::move(list[index]);
}
template <class What>
void take(const PackedList<What>& list, std::size_t index, What& into) {
  list.read(index, into);
}

/// What each share has of a kind goes to `to`, in the order of its places; equals in the order of the shares. That of
/// one share is in order.
template <class List, class To>
void merge(std::vector<Share>& shares, List Share::*kind, const Renumbering& numbers, To to) {
  using What = typename List::value_type;
  struct Head {
    What what{};
    std::size_t share = 0;
    std::size_t next = 0;
  };
  const auto advance = [&](Head& head) {
    List& list = shares[head.share].*kind;
    if (head.next >= list.size()) return false;
    take(list, head.next++, head.what);
    numbers.put(head.share, head.what);
    return true;
  };
  std::vector<Head> heads;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Head head;
    head.share = i;
    if (advance(head)) heads.push_back(std::move(head));
  }
  while (!heads.empty()) {
    auto first = heads.begin();
    for (auto at = std::next(heads.begin()); at != heads.end(); ++at) {
      if (place_of(at->what) < place_of(first->what)) first = at;
    }
    to(first->what);
    if (!advance(*first)) heads.erase(first);
  }
  for (Share& share : shares) share.*kind = {};
}

/// Of what concerns the capture as a whole, each share has told its part: the first one counts the others up.
class OfCapture {
 public:
  explicit OfCapture(PackedList<Finding>& findings) : findings_(findings) {}

  /// Is it counted with one before? Else it is the next one of the report.
  [[nodiscard]] bool fold(const Finding& finding) {
    if (finding.connection != 0 || kind(finding.rule) == FindingKind::symptom) return false;
    const auto [known, first] = first_.try_emplace(finding.rule, findings_.size());
    if (first) return false;
    findings_.change(known->second, [&](Finding& all) {
      all.occurrences += finding.occurrences;
      all.frames.insert(all.frames.end(), finding.frames.begin(), finding.frames.end());
      std::sort(all.frames.begin(), all.frames.end());
      if (all.frames.size() > FindingBook::frames_each) all.frames.resize(FindingBook::frames_each);
    });
    return true;
  }

 private:
  PackedList<Finding>& findings_;
  std::map<RuleId, std::size_t> first_;
};

/// What found no room, of all shares.
struct Beyond {
  TurnedAway connections;
  TurnedAway regions;
  TurnedAway mounts;
};

/// Not through a book: of a rule and connection it keeps the first reason, and these are never to be left out.
void say_beyond(Report& report, const Beyond& beyond) {
  if (beyond.connections.count != 0) {
    report.unchecked.push_back(
        {RuleId::capture_gap, 0,
         fmt::format("{} connections were open at once, as many as are kept: {} more that begin in frame {} and later "
                     "were not judged at all",
                     grouped(beyond.connections.room), grouped(beyond.connections.count),
                     beyond.connections.first.number)});
  }
  if (beyond.regions.count != 0) {
    report.unchecked.push_back(
        {RuleId::rdma_unknown_handle, 0,
         fmt::format(
             "{} segments of memory were offered at once, as many as are kept of all connections: {} more, offered in "
             "frame {} and later, are not known",
             grouped(beyond.regions.room), grouped(beyond.regions.count), beyond.regions.first.number)});
  }
  if (beyond.mounts.count != 0) {
    report.unchecked.push_back(
        {RuleId::call_hangs, 0,
         fmt::format("{} mounts are kept: what became of others, the first of which shows in frame {}, is not known",
                     grouped(beyond.mounts.room), beyond.mounts.first.number)});
  }
}

}  // namespace

Report put_together(std::vector<Share> shares) {
  const bool several = shares.size() > 1;
  const Renumbering numbers(shares);
  Report report;
  merge(shares, &Share::connections, numbers,
        [&](const ConnectionFacts& facts) { report.connections.push_back(facts); });

  std::vector<Breach> breaches;
  for (const Share& share : shares) breaches.insert(breaches.end(), share.told.begin(), share.told.end());
  OfCapture of_capture(report.findings);
  Consequences consequences;
  merge(shares, &Share::findings, numbers, [&](const Said<Finding>& said) {
    if (several && of_capture.fold(said.what)) return;
    report.findings.push_back(said.what);
    count_breach(breaches, said.what);
    consequences.hear(said.what);
  });
  consequences.link(report.findings);

  std::set<RuleId> not_checked;
  merge(shares, &Share::unchecked, numbers, [&](Said<Unchecked>& said) {
    // Of a rule and the capture as a whole the first reason is told.
    if (said.what.connection == 0 && !not_checked.insert(said.what.rule).second) return;
    report.unchecked.push_back(std::move(said.what));
  });

  merge(shares, &Share::mounts, numbers, [&](Said<MountFacts>& said) {
    report.mounts.push_back(std::move(said.what));
    report.mounts.back().id = static_cast<std::uint32_t>(report.mounts.size());
  });

  Beyond beyond;
  for (const Share& share : shares) {
    report.rdma_messages += share.rdma_messages;
    report.any_rpcrdma = report.any_rpcrdma || share.any_rpcrdma;
    report.judged = report.judged || share.judged;
    beyond.connections.add(share.connections_turned_away);
    beyond.regions.add(share.regions_turned_away);
    beyond.mounts.add(share.mounts_turned_away);
  }
  say_beyond(report, beyond);
  report.judged = report.judged || std::any_of(report.mounts.begin(), report.mounts.end(), [](const MountFacts& mount) {
                    return mount.state == MountFacts::State::never_up;
                  });
  report.verdict = verdict_of(report.mounts, breaches, beyond.mounts, beyond.connections);
  return report;
}

}  // namespace rpcrdma::referee
