// SPDX-License-Identifier: GPL-2.0-or-later
// What a conversation will be, drawn from its seed before a word of it is said. Parts can be left out of a plan, and
// the rest stays as legal as it was: that is how a failing conversation is made smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace talk {

struct Fault;

/// Sizes in octets. `silent`: no private data of RFC 8797.
struct PeerPlan {
  std::uint32_t send = 4096;
  std::uint32_t receive = 4096;
  bool invalidate = true;
  bool silent = false;
  std::uint32_t offset = 0;
  std::uint32_t level = 0;  ///< version 2, the client's: which reverse Calls it takes
  std::uint32_t segments = 16;
  bool properties = true;  ///< version 2: it says them
  std::string more;        ///< further words of the peer
};

struct ExchangePlan {
  enum class Kind : std::uint8_t { usual, reverse, grant, late_properties, fault } kind = Kind::usual;
  std::uint64_t seed = 0;
};

enum class Program : std::uint8_t { filler, nfs3, nfs4 };

struct LinePlan {
  std::uint64_t seed = 0;
  unsigned version = 1;
  bool probes = false;  ///< version 1, after the client has asked for version 2
  PeerPlan client, server;
  Program program = Program::filler;
  bool back_channel = false;
  std::uint32_t opening = 0;  ///< version 2: in which way it begins
  bool fault_alone = false;   ///< nothing else is under way with the fault
  bool plain = false;         ///< as of the plan, on this connection
  std::uint32_t most_credits = 16;
  std::uint32_t parallel = 4;  ///< exchanges under way at once
  enum class Ending : std::uint8_t { client, server, none, with_calls_open } ending = Ending::client;
  std::optional<std::size_t> after;  ///< begins when that one has ended, with the Calls that were lost there
  std::vector<ExchangePlan> exchanges;
};

struct Plan {
  std::uint64_t seed = 0;
  std::string fabric;
  bool wrap = false;
  std::uint32_t mtu = 1024;
  bool plain = false;  ///< nothing is repeated, mirrored or acknowledged late
  std::vector<LinePlan> lines;
  const Fault* fault = nullptr;
};

/// `opening` of a connection that begins with the fault.
inline constexpr std::uint32_t faulty_opening = 9;

/// The same for the same seed. With a fault, one exchange of one connection has it.
[[nodiscard]] Plan draw(std::uint64_t seed, const Fault* fault = nullptr);

}  // namespace talk
