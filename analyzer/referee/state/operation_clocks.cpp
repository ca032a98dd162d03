// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/state/operation_clocks.hpp"

#include <array>
#include <optional>

namespace rpcrdma::referee {
namespace {

[[nodiscard]] std::array<LatencyHistogram*, 4> parts_of(OperationClock::InParts& parts) noexcept {
  return {&parts.whole, &parts.pull, &parts.server, &parts.push};
}

void pack(PackedOctets& to, const LatencyHistogram& few) {
  pack_number(to, few.values().size());
  for (const std::uint64_t value : few.values()) pack_number(to, value);
}

void unpack(const std::uint8_t*& from, LatencyHistogram& into) {
  std::uint64_t left = unpack_number(from);
  into.expect(static_cast<std::size_t>(left));
  for (; left > 0; --left) into.add(static_cast<TimeNs>(unpack_number(from)));
}

/// How many values there are; none where there are too many to be kept apart.
[[nodiscard]] std::optional<std::size_t> values_of(OperationClock& clock) noexcept {
  std::size_t count = clock.plain.values().size();
  bool apart = clock.plain.count() == count;
  if (clock.in_parts) {
    for (const LatencyHistogram* part : parts_of(*clock.in_parts)) {
      apart = apart && part->count() == part->values().size();
      count += part->values().size();
    }
  }
  return apart ? std::optional(count) : std::nullopt;
}

}  // namespace

void OperationClock::add(const CallTimes& times) {
  octets += times.octets;
  if (!times.pull && !times.push && times.server == times.whole) return plain.add(times.whole);
  if (!in_parts) in_parts = std::make_unique<InParts>();
  in_parts->whole.add(times.whole);
  if (times.pull) in_parts->pull.add(*times.pull);
  in_parts->server.add(times.server);
  if (times.push) in_parts->push.add(*times.push);
}

OperationClock* OperationClocks::known(const char* name) noexcept {
  for (const auto& [place, clock] : by_place_) {
    if (place == name) return clock;
  }
  return nullptr;
}

OperationClock* OperationClocks::named(std::string&& name, const char* never_moves) {
  wake();
  if (clocks_.size() >= most_operations && !clocks_.contains(name)) return nullptr;
  OperationClock& clock = clocks_[std::move(name)];
  if (never_moves != nullptr) by_place_.emplace_back(never_moves, &clock);
  return &clock;
}

const std::map<std::string, OperationClock, std::less<>>& OperationClocks::all() {
  wake();
  return clocks_;
}

void OperationClocks::rest() {
  std::size_t values = 0;
  for (auto& [name, clock] : clocks_) {
    const std::optional<std::size_t> count = values_of(clock);
    if (!count || (values += *count) > most_at_rest) return;
  }
  if (clocks_.empty()) return;
  PackedOctets packed;
  packed.reserve(std::size_t{32} * clocks_.size());
  for (auto& [name, clock] : clocks_) {
    pack_number(packed, name.size());
    packed.insert(packed.end(), name.begin(), name.end());
    pack_number(packed, clock.octets);
    pack(packed, clock.plain);
    packed.push_back(clock.in_parts ? 1 : 0);
    if (!clock.in_parts) continue;
    for (const LatencyHistogram* part : parts_of(*clock.in_parts)) pack(packed, *part);
  }
  packed_ = PackedOctets(packed.begin(), packed.end());  // as large as it is
  clocks_.clear();
  by_place_ = {};
}

void OperationClocks::wake() {
  if (packed_.empty()) return;
  const std::uint8_t* at = packed_.data();
  const std::uint8_t* end = at + packed_.size();
  while (at != end) {
    const auto length = static_cast<std::size_t>(unpack_number(at));
    OperationClock& clock = clocks_.try_emplace(clocks_.end(), std::string(at, at + length))->second;
    at += length;
    clock.octets = unpack_number(at);
    unpack(at, clock.plain);
    if (*at++ == 0) continue;
    clock.in_parts = std::make_unique<OperationClock::InParts>();
    for (LatencyHistogram* part : parts_of(*clock.in_parts)) unpack(at, *part);
  }
  packed_ = {};
}

}  // namespace rpcrdma::referee
