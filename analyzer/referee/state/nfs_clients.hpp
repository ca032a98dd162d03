// SPDX-License-Identifier: GPL-2.0-or-later
// Whose state it is that NFSv4 speaks of: sessions between two addresses, and for which clients they were made. Behind
// one address there may be several clients (mounts of two minor versions, containers). Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

  struct Client {
    std::uint64_t owner = 0;
    std::uint64_t name = 0;  ///< of NFSv4.1: as the server names it; of NFSv4.0: the verifier
    std::uint64_t verifier = 0;
    enum class Named : std::uint8_t {
      before,  ///< the server knew it under this name, or may have
      anew
    } named = Named::before;
  };
  /// The Reply to a CREATE_SESSION.
  struct Made {
    FrameRef opened;  ///< the connection that carried it; number 0: its beginning is not in the capture
    FrameRef reply;
  };
  /// A request of a session.
  struct Request {
    std::uint32_t sequence = 0;  ///< in its slot
    std::uint32_t xid = 0;
    FrameRef call;
    trace::ConnectionId connection = 0;
  };
  struct Session {
    wire::SessionId id;
    std::optional<std::uint64_t> client;  ///< as the server names it; nothing: the capture does not show who made it
    FrameRef served;                      ///< newest Reply to a Call that uses it; number 0: none
    std::optional<Client> maker;          ///< the same client, as it had made itself known
    FrameRef made;                        ///< number 0: not in the capture
    FrameRef denied;                      ///< newest Reply that says that there is no such session; number 0: none
    /// The first session that its owner has made since under another name, which ends it, with all state of that name
    /// (RFC 8881 section 18.36.4); or, where nobody knows whose it was, and the server not this session, that a client
    /// with a new name has made. Reply number 0: none.
    Made successor;
    std::map<std::uint32_t, Request> slots;  ///< the newest in each
    enum class Next : std::uint8_t {
      same_life,  ///< the server had lost the client
      next_life   ///< the client has begun anew: another verifier
    } next = Next::same_life;
    /// Whose session it is now.
    enum class Standing : std::uint8_t {
      kept,     ///< that client's, as far as is known: nothing succeeds it, or it is served behind that
      renamed,  ///< nobody's: its state is gone with its client's name
      left      ///< likewise, and so is whoever used it
    };
    [[nodiscard]] Standing standing() const noexcept {
      if (successor.reply.number == 0 || trace::later(served, successor.reply)) return Standing::kept;
      return next == Next::next_life ? Standing::left : Standing::renamed;
    }
  };

  static constexpr std::size_t most_slots = 256;

  void uses(const wire::SessionId& session) { (void)newest(session); }
  /// A Call takes a slot. The request that was sent there before with the same sequence number, which is the same one;
  /// call number 0: none, as far as is kept.
  [[nodiscard]] Request takes(const wire::SessionId& session, std::uint32_t slot, const Request& request);
  /// DESTROY_CLIENTID has succeeded: was the session that client's?
  enum class Whose : std::uint8_t { this_client, perhaps_this_client, another };
  [[nodiscard]] Whose whose(const std::optional<wire::SessionId>& session, std::uint64_t client) const;
  void serves(const wire::SessionId& session, FrameRef reply);
  /// NFS4ERR_BADSESSION
  void denies(const wire::SessionId& session, FrameRef reply) { keep_later(newest(session).denied, reply); }
  /// CREATE_SESSION
  void makes(const wire::SessionId& session, std::optional<std::uint64_t> client, const Made& made);

  /// EXCHANGE_ID: the server names a client so. Has that client begun anew, or lost its state at the server? Not where
  /// the server knows it under this name. `begun`: nothing: it was not read.
  [[nodiscard]] bool begins_anew(const std::optional<wire::ClientBegun>& begun, const wire::ClientNamed& named);
  /// SETCLIENTID
  void asks(std::optional<wire::ClientBegun> client) noexcept { asked_ = client; }
  /// SETCLIENTID_CONFIRM: has that client begun anew? Not where it only names its callbacks anew.
  [[nodiscard]] bool confirms_anew();

  /// The session may be one of the client of this owner.
  [[nodiscard]] bool may_be_of(const std::optional<wire::SessionId>& session, std::uint64_t owner) const;
  /// The session may be one that this client made.
  [[nodiscard]] bool may_be_made_by(const wire::SessionId& session, std::optional<std::uint64_t> client) const;
  /// They are one session, or of one client.
  [[nodiscard]] bool same_client(const std::optional<wire::SessionId>& session, const wire::SessionId& other) const;
  /// A server that serves a session has not forgotten what belongs to it, nor its client.
  [[nodiscard]] bool served_since(const std::optional<wire::SessionId>& session, FrameRef sign) const;
  /// The newest Reply to a Call that uses the session; number 0: none.
  [[nodiscard]] FrameRef served(const std::optional<wire::SessionId>& session) const;
  /// What belonged to the session then is gone with its client's name since.
  [[nodiscard]] bool over_since(const std::optional<wire::SessionId>& session, FrameRef then) const;
  /// Whoever used the session is gone: the client began anew, on a connection that was opened in this frame. Number 0:
  /// that is not so, or not known.
  [[nodiscard]] FrameRef user_gone(const std::optional<wire::SessionId>& session) const;

  /// The newest last.
  [[nodiscard]] const std::vector<Session>& sessions() const noexcept { return sessions_; }
  [[nodiscard]] bool sessions_forgotten() const noexcept { return forgotten_ != 0; }

 private:
  [[nodiscard]] Session& newest(const wire::SessionId& session);
  [[nodiscard]] const Session* find(const wire::SessionId& session) const noexcept;
  void ends_older(const Session& made, const Made& by);
  /// Remembers it; false: that owner had this name already.
  [[nodiscard]] static bool renames(std::vector<Client>& clients, const Client& client);

  std::vector<Session> sessions_;
  std::uint64_t forgotten_ = 0;  // sessions
  std::vector<Client> clients_;  // of NFSv4.1, the newest last
  std::vector<Client> older_;    // of NFSv4.0, that were confirmed
  std::optional<wire::ClientBegun> asked_;
};

}  // namespace rpcrdma::referee
