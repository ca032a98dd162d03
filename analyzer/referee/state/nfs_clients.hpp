// SPDX-License-Identifier: GPL-2.0-or-later
// Whose state it is that NFSv4 speaks of: sessions between two addresses, and for which clients they were made. Behind
// one address there may be several clients (mounts of two minor versions, containers). Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/events.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::referee {

using trace::FrameRef;

class NfsClients {
 public:
  static constexpr std::size_t most_sessions = 64;
  static constexpr std::size_t most_clients = 64;

  struct Session {
    wire::SessionId id;
    std::optional<std::uint64_t> client;  ///< as the server names it; nothing: the capture does not show who made it
    FrameRef served;                      ///< newest Reply to a Call that uses it; number 0: none
  };

  void uses(const wire::SessionId& session) { (void)newest(session); }
  void serves(const wire::SessionId& session, FrameRef reply);
  /// CREATE_SESSION
  void makes(const wire::SessionId& session, std::optional<std::uint64_t> client);

  /// EXCHANGE_ID: the server names a client so. Has that client begun anew, or lost its state at the server? Not where
  /// the server knows it under this name. `owner`: nothing: it was not read.
  [[nodiscard]] bool begins_anew(std::optional<std::uint64_t> owner, const wire::ClientNamed& named);
  /// SETCLIENTID
  void asks(std::optional<wire::ClientBegun> client) noexcept { asked_ = client; }
  /// SETCLIENTID_CONFIRM: has that client begun anew? Not where it only names its callbacks anew.
  [[nodiscard]] bool confirms_anew();

  /// The session may be one of the client of this owner.
  [[nodiscard]] bool may_be_of(const std::optional<wire::SessionId>& session, std::uint64_t owner) const;
  /// The session may be one that this client made.
  [[nodiscard]] bool may_be_made_by(const wire::SessionId& session, std::optional<std::uint64_t> client) const;
  /// A server that serves a session has not forgotten what belongs to it, nor its client.
  [[nodiscard]] bool served_since(const std::optional<wire::SessionId>& session, FrameRef sign) const;
  /// The newest Reply to a Call that uses it; number 0: none is known.
  [[nodiscard]] FrameRef last_served(const std::optional<wire::SessionId>& session) const;

  /// The newest last.
  [[nodiscard]] const std::vector<Session>& sessions() const noexcept { return sessions_; }
  [[nodiscard]] bool sessions_forgotten() const noexcept { return forgotten_ != 0; }

 private:
  struct Client {
    std::uint64_t owner = 0;
    std::uint64_t name = 0;  ///< of NFSv4.1: as the server names it; of NFSv4.0: the verifier
  };
  [[nodiscard]] Session& newest(const wire::SessionId& session);
  [[nodiscard]] const Session* find(const wire::SessionId& session) const noexcept;
  /// Remembers it; false: that owner had this name already.
  [[nodiscard]] static bool renames(std::vector<Client>& clients, const Client& client);

  std::vector<Session> sessions_;
  std::uint64_t forgotten_ = 0;  // sessions
  std::vector<Client> clients_;  // of NFSv4.1, the newest last
  std::vector<Client> older_;    // of NFSv4.0, that were confirmed
  std::optional<wire::ClientBegun> asked_;
};

}  // namespace rpcrdma::referee
