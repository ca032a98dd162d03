// SPDX-License-Identifier: GPL-2.0-or-later
// What is remembered of a client and a server from one connection to the next. Bounded by the number of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "referee/rules/checks.hpp"
#include "trace/recent.hpp"

namespace rpcrdma::referee {

using trace::Recent;

class Peers {
 public:
  /// A connection request. One that was refused as stale before is only a note now.
  void connects(const Witness& witness, FrameRef request);
  /// `finding`: the one about the refusal.
  void refused_as_stale(const Connection& connection, HeldFinding finding) {
    of(connection).stale = std::move(finding);
  }
  /// The first request of this client to this server behind that of the connection and whatever was repeated on it, as
  /// far as they are kept; number 0: none.
  [[nodiscard]] FrameRef next_request(const Connection& connection) const;

  /// Does the client probe version 2 although it was refused on the connection before (and ended there)?
  void judge_version_refusal(const Witness& witness, FrameRef now);
  /// The connection speaks version 1: the client has learned.
  void speaks_version_1(const Witness& witness);
  /// The connection has ended: without version 1 after a refusal?
  void remember_refusal(const Connection& connection, const trace::Disconnect& close);
  void judge_private_data_change(const Witness& witness);

 private:
  /// One client and one port of one server.
  struct Pair {
    std::optional<PrivateData> client;
    std::optional<PrivateData> server;
    FrameRef handshake;
    Recent<FrameRef, 64> requests;
    HeldFinding stale;  ///< the finding about a refusal as stale, until the client tries again
    struct Refused {
      FrameRef by;  ///< ERR_VERS; number 0: none
      FrameRef ended;
      FrameRef next;  ///< the first request behind that; number 0: none so far
    };
    Refused refused_version_2;  ///< on the connection before, which then ended
  };
  /// A client that never learns: it was refused, and probed again.
  struct Loop {
    HeldFinding finding;
    FrameRef probe;
  };
  /// One client and one server, whatever the port.
  struct Hosts {
    FrameRef portless;        ///< the newest sign of a connection whose request or its port was not captured
    std::vector<Loop> loops;  ///< the newest ones
  };

  /// "client>server@network"
  [[nodiscard]] static std::string hosts_key(const trace::Endpoint& client, const trace::Endpoint& server);
  [[nodiscard]] static std::string key(const Connection& connection);
  [[nodiscard]] Pair& of(const Connection& connection);
  [[nodiscard]] Hosts& hosts_of(const Connection& connection);
  /// The newest frame in which another connection of these two may have shown itself, at whatever port and in whatever
  /// direction.
  [[nodiscard]] FrameRef newest_portless(const Connection& connection) const;
  /// The connection stands between what was refused before and what may be refused later.
  void stands_between(const Connection& connection);

  std::map<std::string, Pair> pairs_;
  std::map<std::string, Hosts> hosts_;
  FrameRef nameless_request_;  ///< the newest that is cut before it says whom it asks
};

}  // namespace rpcrdma::referee
