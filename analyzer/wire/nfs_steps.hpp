// SPDX-License-Identifier: GPL-2.0-or-later
// NFS as far as waiting goes: what a Call asks for, operation by operation, and what its Reply says, with those
// arguments and results that tell who waits for whom: stateids of copies, delegations and layouts, sessions, the state
// that a server reports.
//
// NFSv4 COMPOUND in minor versions 0 to 2 and CB_COMPOUND (RFC 7530, RFC 8881, RFC 7862), NFSv3 (RFC 1813) as far as
// its status. Messages begin with the XID. Items may have been moved out of the stream into chunks (RFC 8166 section
// 3.4.4), and the capture may lack the end: what was read before the cut stands, and is what stands first when the
// whole message is read. Numbers in host byte order, identifiers as on the wire.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "wire/data_places.hpp"
#include "wire/item_watch.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

/// stateid4 (RFC 8881 section 8.2). `other` names the state, `sequence` counts its versions: the same state has the
/// same `other`.
struct StateId {
  std::uint32_t sequence = 0;
  std::array<std::uint8_t, 12> other{};
  friend bool operator==(const StateId&, const StateId&) = default;
};

/// Numbers of operations that matter here (RFC 7531, 5662, 7863).
namespace operation {
inline constexpr std::uint32_t access = 3;
inline constexpr std::uint32_t copy = 60;
inline constexpr std::uint32_t bind_conn_to_session = 41;
inline constexpr std::uint32_t create = 6;
inline constexpr std::uint32_t create_session = 43;
inline constexpr std::uint32_t delegreturn = 8;
inline constexpr std::uint32_t destroy_clientid = 57;
inline constexpr std::uint32_t destroy_session = 44;
inline constexpr std::uint32_t exchange_id = 42;
inline constexpr std::uint32_t free_stateid = 45;
inline constexpr std::uint32_t getattr = 9;
inline constexpr std::uint32_t getfh = 10;
inline constexpr std::uint32_t layoutreturn = 51;
inline constexpr std::uint32_t lookup = 15;
inline constexpr std::uint32_t offload_cancel = 66;
inline constexpr std::uint32_t offload_status = 67;
inline constexpr std::uint32_t putfh = 22;
inline constexpr std::uint32_t putpubfh = 23;
inline constexpr std::uint32_t putrootfh = 24;
inline constexpr std::uint32_t reclaim_complete = 58;
inline constexpr std::uint32_t renew = 30;
inline constexpr std::uint32_t restorefh = 31;
inline constexpr std::uint32_t savefh = 32;
inline constexpr std::uint32_t setclientid = 35;
inline constexpr std::uint32_t setclientid_confirm = 36;
inline constexpr std::uint32_t sequence = 53;
inline constexpr std::uint32_t write = 38;
// Of the back channel
inline constexpr std::uint32_t cb_layoutrecall = 5;
inline constexpr std::uint32_t cb_offload = 15;
inline constexpr std::uint32_t cb_recall = 4;
inline constexpr std::uint32_t cb_sequence = 11;
}  // namespace operation

/// At most this many operations of a message are kept.
inline constexpr std::size_t steps_limit = 64;

template <class Step>
class StepList {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const Step* begin() const noexcept { return kept_.data(); }
  [[nodiscard]] const Step* end() const noexcept { return kept_.data() + size_; }
  [[nodiscard]] const Step& operator[](std::size_t i) const noexcept { return kept_[i]; }
  void clear() noexcept { size_ = 0; }
  /// Not beyond steps_limit.
  Step& add(const Step& step) noexcept { return kept_[size_++] = step; }
  Step& add(std::uint32_t operation) noexcept {
    Step& step = kept_[size_++];
    step = Step{};
    step.operation = operation;
    return step;
  }

 private:
  std::array<Step, steps_limit> kept_{};
  std::size_t size_ = 0;
};

/// CB_OFFLOAD (RFC 7862 section 16.1): what came of a copy.
struct OffloadDone {
  StateId state;
  std::uint32_t status = 0;  ///< coa_status, an nfsstat4
};

/// What a LAYOUTRETURN gives back (RFC 8881 section 18.44), or a CB_LAYOUTRECALL wants back (section 20.3).
struct Layouts {
  enum class Of : std::uint8_t { file = 1, fsid = 2, all = 3 } of = Of::all;
  StateId state;  ///< of a file's layout; else nothing
};

/// BIND_CONN_TO_SESSION (RFC 8881 section 18.34)
struct BoundConnection {
  SessionId session;
  /// In a Call: 1 fore channel, 2 back channel, 3 fore or both, 7 back or both. In a Reply: 1, 2, 3 both.
  std::uint32_t direction = 0;
};

/// CREATE_SESSION (RFC 8881 section 18.36): for which client, and csa_flags, of which 2 is CONN_BACK_CHAN.
struct SessionWanted {
  std::uint64_t client = 0;
  std::uint32_t flags = 0;
};

/// SETCLIENTID (RFC 7530 section 16.33), EXCHANGE_ID (RFC 8881 section 18.35): the verifier, another one each time that
/// the client has begun anew, and who it is. Of its name, which may be long, a hash.
struct ClientBegun {
  std::uint64_t verifier = 0;
  std::uint64_t owner = 0;
};

/// PUTFH (RFC 8881 section 18.19): which file, as a hash of its handle.
struct FileNamed {
  std::uint64_t file = 0;
};

/// DESTROY_CLIENTID (RFC 8881 section 18.50)
struct ClientGone {
  std::uint64_t client = 0;
};

struct CallStep {
  std::uint32_t operation = 0;
  /// SEQUENCE, CB_SEQUENCE, DESTROY_SESSION: a SessionId. DELEGRETURN, FREE_STATEID, OFFLOAD_STATUS, OFFLOAD_CANCEL,
  /// CB_RECALL: a StateId. Nothing of other operations, nor where the message ends first.
  std::variant<std::monostate, StateId, SessionId, OffloadDone, Layouts, BoundConnection, SessionWanted, ClientBegun,
               FileNamed, ClientGone>
      arguments;
};

/// What a Reply cannot be read without.
struct Asked {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::optional<Protection> protection;  ///< nullopt: not known
};

struct CallSteps {
  std::optional<Asked> asked;                  ///< nullopt: no RPC Call, or cut within its first 24 octets
  std::optional<std::uint32_t> minor_version;  ///< of COMPOUND and CB_COMPOUND
  std::uint32_t announced = 0;                 ///< operations, as the message says
  StepList<CallStep> steps;                    ///< as far as read, in order; none outside COMPOUND and CB_COMPOUND
  /// Why reading ended before the last operation: truncated, invalid or unsupported, with an offset from the XID.
  /// nullopt: all was read, including that there is nothing to read. What may stand behind the last operation is not
  /// looked at.
  std::optional<DecodeError> stopped;

  [[nodiscard]] bool whole() const noexcept { return !stopped; }
  void clear() noexcept;
};

/// `places`: what is known of where its data stand. `watch`: null, or is told where everything in the arguments stands.
void read_call_steps(Bytes message, std::size_t wire_length, const DataPlaces& places, CallSteps& out,
                     ItemWatch* watch = nullptr);

/// SEQUENCE (RFC 8881 section 18.46)
struct Sequenced {
  SessionId session;
  std::uint32_t flags = 0;  ///< sr_status_flags: nfs_status.hpp has their names
};

/// COPY (RFC 7862 section 15.2)
struct Copied {
  std::optional<StateId> callback;  ///< CB_OFFLOAD and OFFLOAD_STATUS will name it; at most one
  std::uint64_t count = 0;          ///< octets copied so far
  bool synchronous = false;         ///< false: not done yet
};

/// OFFLOAD_STATUS (RFC 7862 section 15.9)
struct OffloadProgress {
  std::uint64_t count = 0;                ///< octets so far
  std::optional<std::uint32_t> complete;  ///< the nfsstat4 it ended with; nullopt: still going on
};

/// CREATE_SESSION (RFC 8881 section 18.36)
struct CreatedSession {
  SessionId session;
  std::uint32_t flags = 0;  ///< csr_flags: 2 is CONN_BACK_CHAN
};

/// EXCHANGE_ID (RFC 8881 section 18.35): the client as the server names it.
struct ClientNamed {
  static constexpr std::uint32_t confirmed = 0x80000000;  ///< EXCHGID4_FLAG_CONFIRMED_R
  std::uint64_t client = 0;
  std::uint32_t flags = 0;  ///< eir_flags

  /// The server knows it already, with its sessions and its state.
  [[nodiscard]] bool known() const noexcept { return (flags & confirmed) != 0; }
};

/// WRITE (RFC 8881 section 18.32): octets that were written, which may be fewer than the Call brought.
struct Written {
  std::uint32_t count = 0;
};

struct ReplyStep {
  std::uint32_t operation = 0;
  std::uint32_t status = 0;  ///< nfsstat4
  /// Of operations that succeeded. Nothing of other ones, nor where the message ends first.
  std::variant<std::monostate, Sequenced, Copied, OffloadProgress, CreatedSession, BoundConnection, ClientNamed,
               Written>
      result;
};

struct ReplySteps {
  std::optional<RpcReply> rpc;          ///< nullopt: no RPC Reply, or cut within its header
  std::optional<std::uint32_t> status;  ///< nfsstat3, or that of COMPOUND and CB_COMPOUND
  std::uint32_t announced = 0;          ///< results, as the message says
  StepList<ReplyStep> steps;            ///< as far as read, in order
  std::optional<DecodeError> stopped;   ///< as in CallSteps; nullopt also where RPC or NFSv3 says that it failed

  [[nodiscard]] bool whole() const noexcept { return !stopped; }
  void clear() noexcept;
};

/// The Reply to a Call of this procedure. `places`: as for read_call_steps; not ChunksOfCall.
void read_reply_steps(Bytes message, std::size_t wire_length, const Asked& asked, const DataPlaces& places,
                      ReplySteps& out, ItemWatch* watch = nullptr);

/// Which operation a COMPOUND or CB_COMPOUND is about: the first that is none of those that only lead to it (SEQUENCE,
/// PUTFH, PUTROOTFH, PUTPUBFH, SAVEFH, RESTOREFH, GETFH and, when another follows, GETATTR, ACCESS, LOOKUP); else the
/// first GETATTR, ACCESS or LOOKUP; else the last. nullopt: no compound, or not enough of it could be read.
[[nodiscard]] std::optional<std::uint32_t> leading_operation(const CallSteps& call) noexcept;
/// The same, of the numbers of the operations that were read; `announced`: how many there are.
[[nodiscard]] std::optional<std::uint32_t> leading_operation(std::span<const std::uint32_t> operations,
                                                             std::uint32_t announced, bool callback) noexcept;

/// The same by name: "WRITE", "COPY", "CB_RECALL"; "COMPOUND" where the operation is not known; the bare name of other
/// procedures of NFS; else what procedure_name says. Empty where not even the procedure could be read.
[[nodiscard]] std::string leading_name(const CallSteps& call);

}  // namespace rpcrdma::wire
