// SPDX-License-Identifier: GPL-2.0-or-later
// Accusations that wait for their proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "referee/facts.hpp"
#include "referee/state/memory_map.hpp"
#include "referee/state/operations.hpp"
#include "referee/state/side_names.hpp"

namespace rpcrdma::referee {

struct Witness;

/// An accusation that waits until it is certain that nothing in the other direction is still to come that was earlier
/// on the wire. What becomes of it then stands in the rule's file (`settle`); whoever hears of something that answers
/// it takes it away before, and finds it by what it is about.
struct Case {
  // What a case is about.
  struct CallsAboveGrant {
    std::uint64_t outstanding = 0;
    std::uint64_t limit = 0;    ///< as it was stated
    std::uint64_t excess = 0;   ///< Calls above the limit
    std::uint64_t episode = 0;  ///< Calls above the limit without a pause are one finding
  };
  struct Answering {
    FrameRef call;              ///< one that was answered before, if there is one
    std::uint64_t ordinal = 0;  ///< of the answer
    FrameRef received = {};     ///< what proves that its receiver had it; number 0: nothing yet
  };
  /// A Reply or RDMA_ERROR for which no Call is open: it may be on its way.
  struct Answer : Answering {};
  /// Likewise, and it holds a Reply, be it in the form of a Call. It may itself be answered, or refused, and that ends
  /// no doubt.
  struct HoldsReply : Answering {};
  struct Use {
    std::uint32_t handle = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t op = 0;
    RdmaVerb verb = RdmaVerb::read;
    FrameRef answered = {};  ///< first response of the owner to the Read: it had come by then
  };
  /// No message has named the handle.
  struct UnknownMemory : Use {};
  /// Memory that is known, used in a way that its owner did not offer.
  struct Misuse : Use {
    FrameRef start;  ///< first packet of the operation, when it is another one
    FrameRef ended;  ///< what ended the use of that memory
    Role as = Role::responder;
    std::string what;  ///< is wrong with it: the end of a sentence that begins with the use
  };
  /// RDMA_DONE: its offer may be on its way.
  struct Done {
    std::optional<std::uint32_t> invalidated;  ///< the handle that it invalidates
    std::uint64_t ordinal = 0;                 ///< of the Send
  };
  /// A Call names memory that another open Call named first.
  struct SharedMemory {
    TransactionId first;
    std::uint32_t handle = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  /// Another Call with the XID of an open one.
  struct SameXid {
    TransactionId first;
  };
  /// A Call of the server before its client has agreed to be called.
  struct EarlyCall {};
  // Version 2
  struct SendsAboveLimit {
    std::uint32_t sent = 0;
    std::uint32_t limit = 0;
    std::optional<std::uint32_t> literal;  ///< the limit in another reading of the draft, which allows the Send
    FrameRef first;                        ///< message of that side
  };
  struct Size {
    std::uint64_t length = 0;
    std::uint64_t ordinal = 0;  ///< of the Send
  };
  /// A limit that is too far from what was sent, as far as that was known.
  struct LimitTooFar {
    std::uint32_t value = 0;
    std::uint32_t taken = 0;    ///< messages of its peer that it had answered
    std::uint32_t sent = 0;     ///< and those that had been sent
    std::uint64_t ordinal = 0;  ///< of the newest of these
    std::string what;
  };
  struct StrayError {};
  /// All is said but for what it rests on.
  struct Said {
    std::optional<Role> as;
    std::string what;
  };

  RuleId rule = RuleId::credit_limit_exceeded;
  Side accused = Side::active;
  FrameRef frame = {};
  FrameRef evidence = {};
  std::uint32_t xid = 0;
  Severity severity = Severity::error;
  using Subject = std::variant<CallsAboveGrant, Answer, HoldsReply, UnknownMemory, Misuse, Done, SharedMemory, SameXid,
                               EarlyCall, SendsAboveLimit, Size, LimitTooFar, StrayError, Said>;
  Subject about;
  std::uint64_t heard_by = 0;  ///< a Send of the accused: who has it has heard what this is about
  /// What tells that it was first, of what the accused's peer has sent since.
  enum class Order : std::uint8_t {
    not_asked,  ///< its peer has sent nothing since
    open,
    of_file,  ///< the order of the file, which may still turn out to be another than that of the wire
    proven
  } order = Order::not_asked;
  /// Its connection was ended by a request or a FIN, and nothing is missing. What the accused had received it had
  /// acknowledged by then, and an acknowledgement of what is missing leaves a gap.
  bool orderly = false;
  /// What tells that the accused's peer has said nothing since that would excuse it.
  enum class SettledBy : std::uint8_t {
    proof,   ///< something later of the peer was delivered without a hole: nothing can be missing in between
    end,     ///< of its connection, or of the capture, whose last packets may be missing
    refusal  ///< the peer refused what it is about: what it had said before may be missing all the same
  } settled_by = SettledBy::proof;
  /// Where nothing proves it, it is told as a note, or not at all.
  void (*settle)(const Witness& witness, const Case& waited) = nullptr;

  template <class About>
  [[nodiscard]] const About* is() const noexcept {
    return std::get_if<About>(&about);
  }
  /// What answers no Call, in a case about that.
  [[nodiscard]] const Answering* answer() const noexcept {
    if (const auto* reply = is<HoldsReply>()) return reply;
    return is<Answer>();
  }
  [[nodiscard]] Answering* answer() noexcept {
    if (auto* reply = std::get_if<HoldsReply>(&about)) return reply;
    return std::get_if<Answer>(&about);
  }
  /// The memory that is used, in a case about that.
  [[nodiscard]] const Use* use() const noexcept {
    if (const auto* unknown = is<UnknownMemory>()) return unknown;
    return is<Misuse>();
  }
  [[nodiscard]] Use* use() noexcept {
    if (auto* unknown = std::get_if<UnknownMemory>(&about)) return unknown;
    return std::get_if<Misuse>(&about);
  }
  /// Of something that is missing, and may only be late. (Else: of who was first.)
  [[nodiscard]] bool of_absence() const noexcept {
    return answer() != nullptr || is<UnknownMemory>() != nullptr || is<Done>() != nullptr ||
           is<StrayError>() != nullptr;
  }
  [[nodiscard]] bool proven() const noexcept { return settled_by == SettledBy::proof; }
  [[nodiscard]] Severity at_most() const noexcept { return proven() ? severity : Severity::note; }
};

}  // namespace rpcrdma::referee
