// SPDX-License-Identifier: GPL-2.0-or-later
// IP packets that came in fragments, put together again. Adapters send none; a tunnel over a network whose packets are
// shorter than what it carries does.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "trace/frame.hpp"
#include "wire/bytes.hpp"
#include "wire/ip_fragment.hpp"

namespace rpcrdma::trace {

class Fragments {
 public:
  enum class Taken : std::uint8_t {
    no,     ///< it is to be opened as it is: its rest was not captured
    held,   ///< it waits for the others, or has come already
    whole,  ///< it was the last one that lacked: of the packet, or of a copy of it
  };
  struct Answer {
    Taken taken = Taken::no;
    wire::Bytes packet;  ///< whole: header and payload, as before it was cut up. Valid until the next start().
  };

  /// A frame begins.
  void start(FrameRef frame) noexcept {
    frame_ = frame;
    used_ = 0;
  }
  /// `network`: the VLANs and tunnels that lead to it. The same addresses and numbers elsewhere are another packet.
  [[nodiscard]] Answer take(const wire::IpFragment& fragment, std::uint64_t network = 0) noexcept;
  /// Something of this frame's was put together: it does not stand in the frame.
  [[nodiscard]] bool joined_any() const noexcept { return used_ != 0; }
  /// How many fragments were given up, by the protocol of their packets; and those that wait still.
  [[nodiscard]] std::map<std::uint8_t, std::uint64_t> not_joined() const;

 private:
  static constexpr std::size_t most_waiting = 64;   // at once, so at most 4 MiB
  static constexpr std::size_t most_finished = 64;  // kept for their copies
  static constexpr std::size_t most_pieces = 128;   // of one packet
  static constexpr std::size_t most_paths = 1024;   // then their habits are learnt anew
  static constexpr std::size_t most_wholes = 16;    // in one frame: one within the other
  static constexpr std::uint32_t most_alone = 32;
  /// So long a packet may be on its way in pieces; the number that ties them together comes again soon.
  static constexpr TimeNs longest_wait = 50'000'000;

  // clang-tidy 14 takes the comparison's hidden 0 for a pointer.
  struct Path {
    std::uint64_t network = 0;
    bool ipv6 = false;
    std::array<std::uint8_t, 16> source{};
    std::array<std::uint8_t, 16> destination{};

    friend auto operator<=>(const Path&, const Path&) = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Key {
    Path path;
    std::uint8_t protocol = 0;
    std::uint32_t identification = 0;

    friend auto operator<=>(const Key&, const Key&) = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Piece {
    std::size_t offset = 0;
    std::vector<std::uint8_t> octets;
    std::uint32_t seen = 1;  ///< so often

    [[nodiscard]] std::size_t end() const noexcept { return offset + octets.size(); }
  };
  struct Packet {
    FrameRef began;
    std::vector<std::uint8_t> header;  ///< of the first fragment; empty: that lacks
    std::vector<Piece> pieces;         ///< ascending, none over another
    std::size_t octets = 0;            ///< of all pieces
    std::size_t end = 0;               ///< 0: the last one lacks
    std::uint32_t told = 0;            ///< so often it was whole
    std::uint64_t finished = 0;        ///< the frame that made it whole; 0: it waits
  };
  /// What is known of a pair of addresses.
  struct Habit {
    std::uint32_t alone = 0;  ///< so many first fragments wait, and no other was ever seen: the capture lacks those
  };

  [[nodiscard]] Answer keep(const wire::IpFragment& fragment, std::uint64_t network);
  [[nodiscard]] std::map<Key, Packet>::iterator begin(const Key& key);
  [[nodiscard]] static bool add(Packet& packet, const wire::IpFragment& fragment);
  [[nodiscard]] static bool whole(const Packet& packet) noexcept;
  void finished(const Key& key, Packet& packet);
  [[nodiscard]] Answer joined(const Packet& packet, bool ipv6, std::uint8_t protocol);
  void make_room();
  void give_up(std::map<Key, Packet>::iterator packet);

  FrameRef frame_;
  std::map<Key, Packet> packets_;
  std::size_t waiting_ = 0;                             // of them
  std::deque<std::pair<Key, std::uint64_t>> finished_;  // the others, and frames; some may be gone
  std::map<Path, Habit> habits_;
  std::map<std::uint8_t, std::uint64_t> given_up_;
  std::array<std::vector<std::uint8_t>, most_wholes> wholes_;
  std::size_t used_ = 0;
};

}  // namespace rpcrdma::trace
