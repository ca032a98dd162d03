// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/docket/findings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rpcrdma::referee {

namespace {

void add_frame(Finding& finding, std::uint64_t number) {
  if (number == 0 || finding.frames.size() >= FindingBook::frames_each) return;
  if (std::find(finding.frames.begin(), finding.frames.end(), number) != finding.frames.end()) return;
  finding.frames.push_back(number);
}

}  // namespace

void count_breach(std::vector<Breach>& breaches, const Finding& finding) {
  const bool blames = kind(finding.rule) != FindingKind::symptom &&
                      (finding.violator.has_value() || finding.severity == Severity::error);
  const auto same = [&](const Breach& b) {
    return b.rule == finding.rule && b.severity == finding.severity && b.blames == blames;
  };
  auto at = std::find_if(breaches.begin(), breaches.end(), same);
  if (at == breaches.end()) {
    at = breaches.insert(at, {finding.rule, finding.severity, 0, first_frame(finding), blames});
  }
  ++at->count;
  if (!finding.frames.empty()) at->first = std::min(at->first, finding.frames.front());
}

void pack(PackedOctets& to, PackedWords& words, const Said<Finding>& said) {
  pack(to, words, said.what);
  pack_number(to, static_cast<std::uint64_t>(said.when.step));
  pack_number(to, said.when.place);
  pack_number(to, said.when.behind);
}

void unpack(const std::uint8_t*& from, const PackedWords& words, Said<Finding>& into) {
  unpack(from, words, into.what);
  into.when.step = static_cast<trace::Moment::Step>(unpack_number(from));
  into.when.place = unpack_number(from);
  into.when.behind = unpack_number(from);
}

FindingBook::OfConnection::Folded* FindingBook::OfConnection::find(RuleId rule, std::optional<Party> violator) {
  const auto found = std::find_if(folded.begin(), folded.end(),
                                  [&](const Folded& f) { return f.rule == rule && f.violator == violator; });
  return found == folded.end() ? nullptr : &*found;
}

std::size_t FindingBook::append(const Testimony& verdict) {
  Finding finding;
  finding.rule = verdict.rule;
  const Severity most = rule(verdict.rule).severity;
  finding.severity = std::min(verdict.severity, most);
  finding.connection = verdict.connection;
  for (const FrameRef& frame : verdict.frames) add_frame(finding, frame.number);
  for (const FrameRef& frame : verdict.frames) {
    if (frame.number != 0) {
      finding.time = frame.time;
      break;
    }
  }
  finding.xid = verdict.xid;
  finding.violator = verdict.violator;
  finding.role = verdict.role;
  finding.message = verdict.message;
  const std::size_t index = next_++;
  entries_.emplace_hint(entries_.end(), index, Entry{std::move(finding), {}, false, Entry::Stage::written, now()});
  connections_[verdict.connection].numbers.push_back(index);
  return index;
}

HeldFinding FindingBook::hold(std::size_t index) {
  if (listener_ == nullptr) return {index, nobody_waits_};
  Entry& entry = entries_.at(index);
  std::shared_ptr<void> token = entry.token.lock();
  if (token == nullptr) {
    make_room(1);
    token = std::shared_ptr<void>(this, [index](void* book) { static_cast<FindingBook*>(book)->let_go(index); });
    ++tokens_;
    entry.token = token;
  }
  return {index, std::move(token)};
}

void FindingBook::let_go(std::size_t index) noexcept {
  --tokens_;
  settled_.push_back(index);
}

HeldFinding FindingBook::add(const Testimony& verdict) {
  switch (verdict.habit ? Repetition::once : rule(verdict.rule).repetition) {
    case Repetition::each:
      return add_up_to(verdict, kept_each);
    case Repetition::few:
      return add_up_to(verdict, kept_few);
    case Repetition::once:
      return fold(verdict);
  }
  return {};
}

HeldFinding FindingBook::add_up_to(const Testimony& verdict, std::size_t most) {
  std::vector<OfConnection::Tally>& tallies = connections_[verdict.connection].tallies;
  auto tally = std::find_if(tallies.begin(), tallies.end(), [&](const auto& t) { return t.rule == verdict.rule; });
  if (tally == tallies.end()) tally = tallies.insert(tally, {verdict.rule, 0, 0});
  if (tally->count >= most) {
    ++entries_.at(tally->last).finding.occurrences;
    return hold(tally->last);
  }
  tally->last = append(verdict);
  if (++tally->count == most) entries_.at(tally->last).open_ended = true;
  return hold(tally->last);
}

HeldFinding FindingBook::fold(const Testimony& verdict) {
  OfConnection& of = connections_[verdict.connection];
  OfConnection::Folded* found = of.find(verdict.rule, verdict.violator);
  if (found == nullptr) {
    const std::size_t index = append(verdict);
    Entry& entry = entries_.at(index);
    entry.open_ended = true;
    of.folded.push_back({verdict.rule, verdict.violator, index, &entry.finding});
    return hold(index);
  }
  ++found->finding->occurrences;
  for (const FrameRef& frame : verdict.frames) {
    add_frame(*found->finding, frame.number);
    break;
  }
  return hold(found->index);
}

void FindingBook::fold_into(Finding& first, const Finding& finding) {
  constexpr std::size_t most_named = 4096;
  if (first.connections.empty()) first.connections.push_back(first.connection);
  if (first.connections.size() < most_named && finding.connection != first.connections.back()) {
    first.connections.push_back(finding.connection);
  }
  first.occurrences += finding.occurrences;
  if (!finding.frames.empty()) add_frame(first, finding.frames.front());
}

std::vector<std::size_t> FindingBook::untold_attempts(ConnectionId connection) const {
  std::vector<std::size_t> numbers;
  const auto of = connections_.find(connection);
  if (of == connections_.end()) return numbers;
  for (const std::size_t number : of->second.numbers) {
    const auto at = entries_.find(number);
    const bool untold = at != entries_.end() && at->second.stage < Entry::Stage::told;
    if (untold && rule(at->second.finding.rule).of_attempt) numbers.push_back(number);
  }
  return numbers;
}

void FindingBook::fold_together(const std::vector<std::size_t>& numbers) {
  Finding* first = nullptr;
  for (const std::size_t number : numbers) {
    const auto at = entries_.find(number);
    if (at == entries_.end()) continue;
    if (first == nullptr) {
      first = &at->second.finding;
      first->severity = Severity::note;
    } else {
      fold_into(*first, at->second.finding);
      entries_.erase(at);
    }
  }
}

void FindingBook::add_symptom(Finding&& finding) {
  if (listener_ != nullptr) {
    tell(finding);
    return;
  }
  const std::size_t index = next_++;
  entries_.emplace_hint(entries_.end(), index, Entry{std::move(finding), {}, false, Entry::Stage::written, now()});
}

bool FindingBook::fold_again(RuleId rule, ConnectionId connection, FrameRef frame, std::optional<Party> violator) {
  const auto of = connections_.find(connection);
  OfConnection::Folded* found = of == connections_.end() ? nullptr : of->second.find(rule, violator);
  if (found == nullptr) return false;
  ++found->finding->occurrences;
  add_frame(*found->finding, frame.number);
  return true;
}

void FindingBook::withdraw(const HeldFinding& held) {
  Entry& entry = this->entry(held.index_);
  if (entry.stage == Entry::Stage::withdrawn) return;
  if (entry.finding.occurrences > 1) {
    --entry.finding.occurrences;
    return;
  }
  entry.stage = Entry::Stage::withdrawn;
  // The next one of its rule is told as if this one had never been there.
  const auto of = connections_.find(entry.finding.connection);
  if (of == connections_.end()) return;
  std::erase_if(of->second.folded, [&](const OfConnection::Folded& folded) { return folded.index == held.index_; });
  for (OfConnection::Tally& tally : of->second.tallies) {
    if (tally.rule == entry.finding.rule && tally.count > 0) --tally.count;
  }
}

bool FindingBook::stands(const HeldFinding& held) const {
  const auto at = entries_.find(held.index_);
  return at == entries_.end() || at->second.stage != Entry::Stage::withdrawn;  // nothing that rests was withdrawn
}

void FindingBook::evidence(const HeldFinding& held, FrameRef frame) { add_frame(at(held), frame.number); }

void FindingBook::unchecked(RuleId rule, ConnectionId connection, std::string_view reason) {
  auto& said = connections_[connection].unchecked;
  const auto is_it = [rule](const OfConnection::Unjudged& each) { return each.rule == rule; };
  if (std::any_of(said.begin(), said.end(), is_it)) return;
  said.push_back({rule, next_unchecked_});
  unchecked_.emplace_hint(unchecked_.end(), next_unchecked_++,
                          Said<Unchecked>{{rule, connection, std::string(reason)}, now()});
}

bool FindingBook::has(RuleId rule, ConnectionId connection) const {
  const auto of = connections_.find(connection);
  if (of == connections_.end()) return false;
  const auto told = [rule](const OfConnection::Tally& tally) { return tally.rule == rule && tally.count != 0; };
  const auto folded = [rule](const OfConnection::Folded& each) { return each.rule == rule; };
  return std::any_of(of->second.tallies.begin(), of->second.tallies.end(), told) ||
         std::any_of(of->second.folded.begin(), of->second.folded.end(), folded);
}

FindingBook::Entry& FindingBook::entry(std::size_t index) {
  if (index >= place_of_.size() || place_of_[index] == 0) return entries_.at(index);
  auto [finding, said] = resting_.at(place_of_[index] - 1);
  place_of_[index] = 0;
  return entries_.insert_or_assign(index, Entry{std::move(finding), {}, false, Entry::Stage::written, said})
      .first->second;
}

void FindingBook::rest(ConnectionId connection) {
  const auto of = connections_.find(connection);
  if (of == connections_.end()) return;
  std::vector<std::size_t> awake;
  for (const std::size_t number : of->second.numbers) {
    const auto at = entries_.find(number);
    if (at == entries_.end() || at->second.stage != Entry::Stage::written) continue;
    if (rule(at->second.finding.rule).of_attempt) {
      awake.push_back(number);
      continue;
    }
    resting_.push_back({std::move(at->second.finding), at->second.said});
    if (place_of_.size() <= number) place_of_.resize(number + 1);
    place_of_[number] = static_cast<std::uint32_t>(resting_.size());
    entries_.erase(at);
  }
  // Of a rule that could not be checked the first reason is told, whenever another comes.
  if (of->second.unchecked.empty() && awake.empty()) {
    connections_.erase(of);
  } else {
    of->second = {{}, {}, std::move(of->second.unchecked), std::move(awake)};
  }
}

PackedList<Said<Finding>> FindingBook::take_findings(const Wanted& wanted) {
  struct Place {
    std::uint64_t frame = 0;
    trace::Moment when;
    std::size_t number = 0;
    std::size_t at = 0;  // in resting_
  };
  std::vector<Place> places;
  places.reserve(next_);
  Said<Finding> said;
  for (std::size_t number = 0; number < place_of_.size(); ++number) {
    if (place_of_[number] == 0) continue;
    const std::size_t at = place_of_[number] - 1;
    resting_.read(at, said);
    if (said.what.rule == left_out_ || !wanted(said.what)) continue;
    places.push_back({first_frame(said.what), said.when, number, at});
  }
  for (auto& [number, entry] : entries_) {
    if (entry.stage == Entry::Stage::withdrawn || entry.finding.rule == left_out_ || !wanted(entry.finding)) continue;
    places.push_back({first_frame(entry.finding), entry.said, number, resting_.size()});
    resting_.push_back({std::move(entry.finding), entry.said});
  }
  entries_.clear();
  connections_.clear();
  place_of_.clear();
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.frame, a.when, a.number) < std::tie(b.frame, b.when, b.number);
  });
  std::vector<std::size_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.at);
  resting_.keep(order);
  return std::exchange(resting_, {});
}

std::vector<Said<Unchecked>> FindingBook::take_unchecked() {
  std::vector<Said<Unchecked>> all;
  all.reserve(unchecked_.size());
  for (auto& [number, unchecked] : unchecked_) all.push_back(std::move(unchecked));
  unchecked_.clear();
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.when < b.when; });
  return all;
}

void FindingBook::make_room(std::size_t more) {
  const std::size_t needed = settled_.size() + tokens_ + more;
  if (settled_.capacity() < needed) settled_.reserve(std::max(needed, 2 * settled_.capacity()));
}

void FindingBook::tell(const Finding& finding) {
  if (finding.rule == left_out_) return;
  count_breach(breaches_, finding);
  listener_->finding(finding);
}

void FindingBook::reconsider(ConnectionId connection) {
  const auto of = connections_.find(connection);
  if (of == connections_.end()) return;
  const std::vector<std::size_t>& numbers = of->second.numbers;
  make_room(numbers.size());
  settled_.insert(settled_.end(), numbers.begin(), numbers.end());
}

void FindingBook::forget(std::size_t index) {
  const auto at = entries_.find(index);
  const auto of = connections_.find(at->second.finding.connection);
  entries_.erase(at);
  if (of == connections_.end()) return;
  std::erase(of->second.numbers, index);
  if (of->second.numbers.empty()) connections_.erase(of);
}

void FindingBook::conclude(ConnectionId connection, bool reported) {
  if (listener_ == nullptr) return;
  const auto of = connections_.find(connection);
  if (of == connections_.end()) return;
  std::vector<std::size_t> held;
  for (const std::size_t index : of->second.numbers) {
    const auto at = entries_.find(index);
    if (at == entries_.end()) continue;
    Entry& entry = at->second;
    const bool wanted = reported || entry.finding.rule == RuleId::not_rpcrdma;
    if (entry.stage == Entry::Stage::withdrawn && !entry.token.expired()) continue;
    const bool untold = wanted && entry.stage == Entry::Stage::written;
    if (untold && !entry.token.expired()) {
      entry.stage = Entry::Stage::concluded;
      held.push_back(index);
      continue;
    }
    if (untold) tell(entry.finding);
    entries_.erase(at);
  }
  for (const OfConnection::Unjudged& each : of->second.unchecked) {
    const auto at = unchecked_.find(each.number);
    if (at == unchecked_.end()) continue;  // told before
    if (reported) listener_->unchecked(at->second.what);
    unchecked_.erase(at);
  }
  // Which those are that may still become one with others, or be taken back; what was told then is not told again.
  if (held.empty()) {
    connections_.erase(of);
  } else {
    of->second = {{}, {}, std::move(of->second.unchecked), std::move(held)};
  }
}

void FindingBook::conclude_all() {
  if (listener_ == nullptr) return;
  tell_settled([](ConnectionId) { return false; });
  conclude(0, true);
  std::vector<ConnectionId> left;
  for (const auto& [connection, of] : connections_) left.push_back(connection);
  std::sort(left.begin(), left.end());
  // What only the end of the capture showed about connections that are concluded already.
  for (const auto& [number, unchecked] : unchecked_) listener_->unchecked(unchecked.what);
  for (const ConnectionId connection : left) conclude(connection, false);
}

}  // namespace rpcrdma::referee
