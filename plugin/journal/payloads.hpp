// SPDX-License-Identifier: GPL-2.0-or-later
// RPC messages with their chunks back in place: which message each belongs to, and where it is shown.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "journal/late.hpp"
#include "journal/record.hpp"
#include "payload/assembler.hpp"
#include "trace/frame.hpp"

namespace rpcrdma::journal {

class Payloads {
 public:
  Payloads(Record& record, Late& late) : record_(record), late_(late) {}

  /// How the octets of a message came.
  enum class Pieces : std::uint8_t {
    one,
    joined  ///< the message came in pieces, and its Send is not in any frame as a whole
  };
  /// A message, `index`, which is shown in that frame.
  void message(Connection& connection, const referee::MessageSeen& seen, std::uint32_t index, std::uint32_t shown,
               Pieces pieces);
  void operation(Connection& connection, const referee::OperationSeen& seen, std::uint32_t shown);
  /// It is shown before the referee has told it, and RPC knows no exchange of it.
  void early(Connection& connection, std::uint32_t message, bool call, trace::FrameRef frame);
  /// The Reply is here: what its Call still lacks will not come any more.
  void give_up_call(Connection& connection, const referee::MessageSeen& seen);
  /// The connection is over.
  void give_up(std::uint32_t connection);
  /// So are all.
  void give_up_all();
  /// The file is read: it stands in its own frame from now on, which was told in another.
  void stands_at_home(std::uint32_t index);

 private:
  void show(Connection& connection, std::uint32_t exchange, std::uint32_t message, payload::RpcMessage rpc,
            trace::FrameRef home);
  void show_given_up(Connection& connection, std::uint32_t exchange, payload::RpcMessage rpc);
  void needs_parts(const Payload& payload, std::uint32_t told);
  void shown_with_rpc(const Payload& payload, std::uint32_t frame);

  Record& record_;
  Late& late_;
  std::unordered_map<std::uint32_t, payload::Assembler> assemblers_;  ///< by connection
};

}  // namespace rpcrdma::journal
