// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/link/fragments.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace rpcrdma::trace {
namespace {

[[nodiscard]] TimeNs since(TimeNs then, TimeNs now) noexcept {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(then));
}

}  // namespace

Fragments::Answer Fragments::take(const wire::IpFragment& fragment, std::uint64_t network) noexcept {
  try {
    return keep(fragment, network);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

Fragments::Answer Fragments::keep(const wire::IpFragment& fragment, std::uint64_t network) {
  const std::size_t address = fragment.ipv6 ? 16 : 4;
  Key key{{network, fragment.ipv6, {}, {}}, fragment.protocol, fragment.identification};
  std::memcpy(key.path.source.data(), fragment.source, address);
  std::memcpy(key.path.destination.data(), fragment.destination, address);
  if (habits_.size() >= most_paths && !habits_.contains(key.path)) habits_.clear();
  Habit& habit = habits_[key.path];
  const bool first = fragment.offset == 0;
  if (!first) habit.alone = 0;
  if (fragment.payload.cut() || used_ == most_wholes) return {};
  if (first && habit.alone >= most_alone) return {};

  auto at = packets_.find(key);
  if (at != packets_.end() && since(at->second.began.time, frame_.time) > longest_wait) {
    give_up(at);
    at = packets_.end();
  }
  if (at == packets_.end()) {
    at = begin(key);
    if (first) ++habit.alone;
  }
  if (!add(at->second, fragment)) {
    // Another packet with the same number: its first fragment begins anew.
    give_up(at);
    at = begin(key);
    if (!add(at->second, fragment)) return {Taken::held, {}};
  }
  if (!whole(at->second)) return {Taken::held, {}};
  if (at->second.told++ == 0) finished(key, at->second);
  return joined(at->second, fragment.ipv6, fragment.protocol);
}

std::map<Fragments::Key, Fragments::Packet>::iterator Fragments::begin(const Key& key) {
  make_room();
  const auto at = packets_.try_emplace(key).first;
  at->second.began = frame_;
  ++waiting_;
  return at;
}

/// A mirror of two ports, or of a path with and without tag, shows each piece as often: so often it is a packet.
bool Fragments::whole(const Packet& packet) noexcept {
  if (packet.end == 0 || packet.octets != packet.end) return false;
  return std::all_of(packet.pieces.begin(), packet.pieces.end(),
                     [&](const Piece& piece) { return piece.seen > packet.told; });
}

void Fragments::finished(const Key& key, Packet& packet) {
  packet.finished = frame_.number;
  --waiting_;
  finished_.emplace_back(key, frame_.number);
  if (finished_.size() <= most_finished) return;
  const auto oldest = packets_.find(finished_.front().first);
  if (oldest != packets_.end() && oldest->second.finished == finished_.front().second) packets_.erase(oldest);
  finished_.pop_front();
}

/// False: it does not fit what is there.
bool Fragments::add(Packet& packet, const wire::IpFragment& fragment) {
  const wire::Bytes octets = fragment.payload.octets;
  const std::size_t end = fragment.offset + octets.size();
  const auto behind = std::find_if(packet.pieces.begin(), packet.pieces.end(),
                                   [&](const Piece& piece) { return piece.end() > fragment.offset; });
  if (behind != packet.pieces.end() && behind->offset < end) {
    // Only the same once more is no contradiction.
    const bool same = behind->offset == fragment.offset &&
                      std::equal(octets.begin(), octets.end(), behind->octets.begin(), behind->octets.end());
    if (same) ++behind->seen;
    return same;
  }
  if (packet.end != 0 && (!fragment.more || end > packet.end)) return false;
  if (!fragment.more && behind != packet.pieces.end()) return false;
  if (packet.pieces.size() >= most_pieces) return false;
  packet.pieces.insert(behind, {fragment.offset, {octets.begin(), octets.end()}, 1});
  packet.octets += octets.size();
  if (!fragment.more) packet.end = end;
  if (fragment.offset == 0) packet.header.assign(fragment.header.begin(), fragment.header.end());
  return true;
}

Fragments::Answer Fragments::joined(const Packet& packet, bool ipv6, std::uint8_t protocol) {
  const std::size_t length = packet.octets + (ipv6 ? 0 : packet.header.size());
  if (length > UINT16_MAX) return {Taken::held, {}};
  std::vector<std::uint8_t>& whole = wholes_[used_++];
  whole = packet.header;
  for (const Piece& piece : packet.pieces) whole.insert(whole.end(), piece.octets.begin(), piece.octets.end());
  const std::size_t field = ipv6 ? 4 : 2;
  whole[field] = static_cast<std::uint8_t>(length >> 8U);
  whole[field + 1] = static_cast<std::uint8_t>(length);
  if (ipv6) {
    whole[6] = protocol;
  } else {
    whole[6] = whole[7] = 0;
  }
  return {Taken::whole, whole};
}

void Fragments::make_room() {
  if (waiting_ < most_waiting) return;
  const auto since = [](const Packet& packet) { return packet.finished != 0 ? UINT64_MAX : packet.began.number; };
  give_up(std::min_element(packets_.begin(), packets_.end(),
                           [&](const auto& a, const auto& b) { return since(a.second) < since(b.second); }));
}

/// What was whole lacks nothing: only the rest of a copy of it.
void Fragments::give_up(std::map<Key, Packet>::iterator packet) {
  if (packet->second.finished == 0) {
    given_up_[packet->first.protocol] += packet->second.pieces.size();
    --waiting_;
  }
  packets_.erase(packet);
}

std::map<std::uint8_t, std::uint64_t> Fragments::not_joined() const {
  auto out = given_up_;
  for (const auto& [key, packet] : packets_) {
    if (packet.finished == 0) out[key.protocol] += packet.pieces.size();
  }
  return out;
}

}  // namespace rpcrdma::trace
