// SPDX-License-Identifier: GPL-2.0-or-later
// What the answers to a client come to: the newest ones may all say that nothing is done. Counts and remembers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "referee/facts.hpp"
#include "trace/events.hpp"
#include "trace/spans.hpp"
#include "wire/bytes.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

struct Transaction;
struct NfsWatch;

/// Why an answer did nothing of what it was asked for.
struct Denial {
  enum class By : std::uint8_t {
    nfs2,         ///< the status is a stat of NFSv2 (RFC 1094 section 2.3.1)
    nfs3,         ///< an nfsstat3
    nfs4,         ///< an nfsstat4
    rpc,          ///< an accept_stat (RFC 5531 section 9)
    rpc_version,  ///< RPC_MISMATCH: there is no status
    credential,   ///< AUTH_ERROR: an auth_stat; 0: cut
    context,      ///< of RPCSEC_GSS, which was asked for: gss_major (RFC 2203 section 5.2.3.1)
    transport_1,  ///< RDMA_ERROR: its code
    transport_2   ///< RDMA2_ERROR
  } by = By::nfs4;
  std::uint32_t status = 0;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> versions;  ///< PROG_MISMATCH, RPC_MISMATCH: lowest and highest

  [[nodiscard]] bool of_nfs() const noexcept { return by == By::nfs2 || by == By::nfs3 || by == By::nfs4; }
  [[nodiscard]] bool of_transport() const noexcept { return by == By::transport_1 || by == By::transport_2; }
  [[nodiscard]] bool of_rpc() const noexcept { return !of_nfs() && !of_transport(); }
  [[nodiscard]] bool same(const Denial& o) const noexcept { return by == o.by && status == o.status; }
};

/// The newest answers to the client, none of which did what was asked: the transport or RPC refused it, the server does
/// not let the client in, does not know it, its session or its files any more, has failed, or says "later".
struct NothingDone {
  std::uint64_t times = 0;
  std::uint64_t alike = 0;    ///< the newest ones, that say the same
  std::uint64_t refused = 0;  ///< by the transport or by RPC: NFS had no part in it
  std::uint64_t for_good =
      0;  ///< by RPC, and not such that ask for a new context of RPCSEC_GSS alone; or no such version
  std::uint64_t asking = 0;        ///< of these: other than NULL, or NULL that asks for a context
  std::uint64_t of_lease = 0;      ///< these asked for nothing but that the lease be kept
  std::uint64_t at_the_door = 0;   ///< what lets a client in was refused: NFS has not looked at what is behind it
  std::uint64_t let_in = 0;        ///< between these: a client or a session was made, and nothing done with it
  std::uint64_t let_in_since = 0;  ///< likewise, behind the newest: what comes of it is not known
  Denial newest;
  trace::FrameRef first;
  trace::FrameRef last;
  trace::ConnectionId connection = 0;  ///< of the newest
};

struct Answered {
  trace::FrameRef frame;
  trace::ConnectionId connection = 0;
};

/// The newest answers to the requests of one session, all of which its SEQUENCE has got refused: what others between
/// the same addresses are told does not help who uses it.
struct SessionDenied {
  wire::SessionId session;
  NothingDone run;
  trace::TimeNs longest_pause = 0;  ///< between two of them
};

struct Outcomes {
  static constexpr std::size_t most_denied = 64;

  NothingDone run;
  std::vector<SessionDenied> denied;  ///< the newest last
  std::uint64_t done = 0;             ///< answers that did something, or may have
  std::uint64_t introductions = 0;    ///< of these: made a client or a session, and nothing else
  std::uint64_t nulls = 0;            ///< of NULL, which does nothing
  /// What was asked for so far.
  enum class Programs : std::uint8_t {
    others,  ///< none, or some that are not known
    nfs      ///< NFS, whatever else
  } programs = Programs::others;
};

/// A Call of the client was answered, and is of that program.
void note_program(NfsWatch& nfs, const Transaction& call);

/// All of these: of the first answer to a Call of the client.
/// RPC has refused it. `reply`: from its XID on.
void take_refusal(NfsWatch& nfs, Transaction& call, const wire::RpcReply& rpc, wire::Bytes reply, Answered at);
void take_null(NfsWatch& nfs, Transaction& call);
/// RPC has served NULL, which asks for a context of RPCSEC_GSS. `results`: what is known of them.
void take_context(NfsWatch& nfs, Transaction& call, wire::Bytes results, Answered at);
/// The transport has refused it (RDMA_ERROR). `error`: from the header's first word on.
void take_transport_error(NfsWatch& nfs, Transaction& call, wire::Bytes error, Answered at);
/// NFS has answered. `status`: of the whole answer. `alone`: the one operation of NFSv4 that it speaks of, if it is
/// one.
void take_outcome(NfsWatch& nfs, Transaction& call, const Denial& status, std::optional<std::uint32_t> alone,
                  Answered at);
/// It did something, or may have: nobody knows what it says.
void count_done(NfsWatch& nfs);
/// Likewise: what the answer to this Call says could not be read.
void count_unread(NfsWatch& nfs, const Transaction& call);
/// Answers may be missing from the capture. What is counted since is a run of its own.
void outcomes_missing(NfsWatch& nfs);

/// Often enough, and for W or longer, to be more than what passes by itself.
[[nodiscard]] inline bool lasting(const NothingDone& run, trace::TimeNs wait) noexcept {
  constexpr std::uint64_t enough = 3;
  return run.times >= enough && trace::elapsed(run.first.time, run.last.time) >= wait;
}
/// The server says "later".
[[nodiscard]] bool asks_to_wait(const Denial& denial) noexcept;
/// The server does not know the client, its session or its state any more.
[[nodiscard]] bool knows_no_client(const Denial& denial) noexcept;
/// The files that were asked for are not there any more.
[[nodiscard]] bool files_gone(const Denial& denial) noexcept;
/// The server has failed, and has no better word for it.
[[nodiscard]] bool server_failed(const Denial& denial) noexcept;
/// NFS has not the minor version that was asked for.
[[nodiscard]] bool lacks_version(const Denial& denial) noexcept;
/// Whose step comes next, where that is proven.
[[nodiscard]] Owes who_helps(const NothingDone& run) noexcept;
/// "PROG_UNAVAIL", "NFS4ERR_STALE", "AUTH_ERROR (AUTH_TOOWEAK)"
[[nodiscard]] std::string denial_name(const Denial& denial);

}  // namespace rpcrdma::referee
