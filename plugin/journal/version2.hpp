// SPDX-License-Identifier: GPL-2.0-or-later
// Version 2 for the assembler: a header in the form of version 1's, and continued messages joined
// (draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.6 and 6.3.9).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "referee/observer.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::journal {

class Version2 {
 public:
  static constexpr std::size_t most_open = 1024;
  static constexpr std::size_t most_octets = std::size_t{16} << 20U;  ///< of all messages that are not yet whole

  struct Taken {
    referee::MessageSeen seen;  ///< valid until the next call
    bool piece = false;         ///< more of the message is to come: not for the assembler
    bool continued = false;     ///< a piece of it came before
    /// `seen.send` is of several messages: its octets are not those of the Send. It has holes where a piece is missing.
    bool joined = false;
  };
  /// False when the message is not of version 2, or cannot be decoded.
  [[nodiscard]] bool take(std::uint32_t connection, const referee::MessageSeen& seen, Taken& taken);
  /// The capture lacks something that this side sent: a piece, perhaps.
  void gap(std::uint32_t connection, trace::Side side);
  void close(std::uint32_t connection);

 private:
  struct Open {
    std::vector<std::uint8_t> octets;
    std::uint64_t wire_length = 0;
    std::uint32_t remaining = 0;  ///< what the newest piece says is still to come
    bool behind_gap = false;      ///< something is missing behind that one
    bool torn = false;            ///< a piece of it is missing, or a packet of one
    /// A piece follows; with it, and by what it says, `rest` octets of the message are still to come.
    void look_for_lost(std::uint64_t rest);
  };
  using Key = std::tuple<std::uint32_t, trace::Side, bool, std::uint32_t>;  // connection, sender, Call, XID
  using Pieces = std::map<Key, Open>;

  void translate(const wire::HeaderV2& header);
  /// Returns the next one.
  Pieces::iterator forget(Pieces::iterator message);
  /// A piece of a message that is open, or begins with it where there is room for one more.
  void add(const Key& key, const trace::Send& send, const wire::HeaderV2& header);
  /// The last message: what came before stands in front of its RPC octets.
  void join(Open& open, const trace::Send& last, const wire::HeaderV2& header);

  wire::HeaderV1 as_version1_;
  trace::Send send_;
  std::vector<std::uint8_t> joined_;
  Pieces open_;
  std::size_t octets_ = 0;
};

}  // namespace rpcrdma::journal
