// SPDX-License-Identifier: GPL-2.0-or-later
// What a connection remembers because of version 2 (draft-ietf-nfsv4-rpcrdma-version-two): versions, credits,
// properties, and the pieces of continued messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "referee/held_finding.hpp"
#include "referee/state/memory_map.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::referee::v2 {

using trace::Side;

/// Beside what a Transaction says for both versions.
struct CallFacts {
  std::uint32_t inv_handle = 0;
  bool incomplete = false;     ///< its last fragment has not come
  bool external = false;       ///< RDMA2_CALL_EXTERNAL
  std::uint64_t segments = 0;  ///< of all chunks in the header
  std::uint64_t most_in_chunk = 0;
  std::uint32_t read_chunks = 0;  ///< the Call chunk counts as one
  std::vector<std::uint64_t> write_chunk_lengths;
};

/// Credits that bind what one side may send (section 4.2.1). All counts are modulo 2^32.
struct Credits {
  struct Limit {
    std::uint64_t ordinal = 0;  ///< of the message that carried it
    std::uint32_t value = 0;
    std::uint32_t literal = 0;  ///< the same, if its sender adds to what it sent instead of what it received
  };
  std::uint32_t sent = 0;     ///< Sends posted, the present one not counted
  std::uint32_t spared = 0;   ///< RDMA2_GRANTs above the limit since it last rose: the spare Receive takes one
  std::vector<Limit> limits;  ///< the newest that is known to have arrived, and later ones
  bool heard = false;         ///< a message of the peer has come: before that, the limit is 1
  bool lowered = false;
  enum class Counted : std::uint8_t {
    either_way,     ///< by what the peer received, as is meant, or by what it sent, as is written
    from_received,  ///< by what it received: the limits cannot have been counted from what it sent
    from_sent       ///< the other way round
  } counted = Counted::either_way;
  enum class Base : std::uint8_t {
    zero,      ///< the limits are counts from 0
    in_doubt,  ///< one of them is none in any reading, unless something that was sent before is still to come
    elsewhere  ///< they cannot be counted from 0
  } base = Base::zero;
  FrameRef from;                  ///< the message with the newest limit
  FrameRef changed;               ///< the newest message of this side, or of its peer with a limit
  std::uint32_t least_taken = 0;  ///< so many of this side's Sends the peer has certainly received: it answered them
  FrameRef dry_from;              ///< the message whose limit was used up when nothing could be sent any more
  std::uint32_t dry_limit = 0;    ///< ... and that limit
  FrameRef dry_since;             ///< nothing may be sent since then, and no answer is due; number 0: not so
  FrameRef dry_to_the_end;        ///< since then, when the connection or the capture ended; number 0: not so
};

/// Numeric properties, by id.
struct PropertyValues {
  using List = std::array<std::optional<std::uint32_t>, 7>;
  List values;
  /// Where the newest message that names a property does so more than once: the largest. Which one holds is not
  /// written (section 5.1).
  List repeated;

  [[nodiscard]] std::optional<std::uint32_t> last(wire::PropertyId id) const noexcept {
    return values[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::optional<std::uint32_t> largest(wire::PropertyId id) const noexcept {
    return std::max(last(id), repeated[static_cast<std::size_t>(id)]);
  }
  void add(std::size_t id, std::uint32_t value) noexcept {
    if (values[id]) repeated[id] = std::max({repeated[id], values[id], std::optional(value)});
    values[id] = value;
  }
  /// What a later message names holds instead.
  void lay_over(const PropertyValues& later) noexcept {
    for (std::size_t id = 0; id < values.size(); ++id) {
      if (!later.values[id]) continue;
      values[id] = later.values[id];
      repeated[id] = later.repeated[id];
    }
  }
};

/// One RDMA2_CONNPROP, as long as it may be refused.
struct PropertyMessage {
  std::uint64_t ordinal = 0;
  FrameRef frame;
  std::uint32_t xid = 0;
  bool final = false;
  enum class State : std::uint8_t {
    applies,
    bad,     ///< it has to be refused
    late,    ///< it came after FINAL
    refused  ///< nothing of it applies
  } state = State::applies;
  PropertyValues properties;
};

/// Properties that one side announced (section 5).
struct Announced {
  PropertyValues properties;  ///< as far as announced, and not refused
  FrameRef final;             ///< RDMA2_CONNPROP_FINAL; number 0: none in force
  std::uint64_t final_ordinal = 0;
  FrameRef middle;     ///< RDMA2_CONNPROP_MIDDLE that FINAL still has to follow; number 0: none
  FrameRef completed;  ///< the first RDMA2_CONNPROP_FINAL, in force or not
  static constexpr std::size_t most_messages = 32;
  std::vector<PropertyMessage> messages;  ///< the newest
  PropertyValues before;                  ///< of those that are no longer kept
  /// Which message a refusal was about cannot be known: bit n, property n may have been refused; bit 0, FINAL.
  std::uint32_t unsure = 0;

  [[nodiscard]] bool unsure_of(wire::PropertyId id) const noexcept {
    return (unsure >> static_cast<std::uint32_t>(id) & 1U) != 0;
  }
  [[nodiscard]] bool unsure_of_final() const noexcept { return (unsure & 1U) != 0; }
};

/// A message that travels in pieces (sections 6.3.6, 6.3.9).
struct Continuation {
  struct Part {
    FrameRef frame;
    std::uint32_t remaining = 0;  ///< rdma_remaining; the last part has none
    std::uint64_t payload = 0;
    bool last = false;
  };
  static constexpr std::size_t most_parts = 512;
  bool open = false;
  bool call = false;
  std::uint32_t xid = 0;
  FrameRef first;
  FrameRef ended;             ///< an RDMA2_ERROR: what is left of it may still come, or nothing; number 0: none
  TransactionId transaction;  ///< generation 0: none
  std::uint64_t payload = 0;
  bool counted = true;  ///< false: parts are missing, cut, or more than are kept
  std::vector<Part> parts;
};

/// A refusal (RDMA2_ERROR) that the peer of `side` owes, or may send.
struct Due {
  enum class Of : std::uint8_t { call, reply };
  Side side = Side::active;
  std::uint32_t xid = 0;
  FrameRef frame;
  std::uint64_t ordinal = 0;
  enum class Wrong : std::uint8_t {
    message,  ///< with itself
    sequence  ///< it breaks one: RDMA2_ERR_INVAL_CONT
  } wrong = Wrong::message;
  bool owed = true;                          ///< false: a Reply is at fault, which its receiver may drop without a word
  Of message = Of::call;                     ///< what has that XID
  Of broken = Of::call;                      ///< what was broken into
  std::optional<std::uint32_t> interrupted;  ///< of a sequence: the XID of the message that was broken into
  std::uint64_t peer_messages = 0;           ///< that the peer has sent since
};

/// A header type that was refused, or that nobody knows.
struct OddType {
  std::uint32_t htype = 0;
  std::uint32_t xid = 0;
  FrameRef frame;
  HeldFinding finding;
  FrameRef refused;  ///< number 0: not (yet)
  std::uint64_t refused_ordinal = 0;
  // Of assigned types, bit n being type n: messages of several of them may have had that XID.
  std::uint32_t may_be = 0;  ///< the refused one is among these
  std::uint32_t again = 0;   ///< ... and these were sent again
};

struct SideFacts {
  Credits credits;
  Announced announced;
  Continuation continuation;
  /// A continued message that was interrupted: what comes of it behind that is no beginning.
  struct Interrupted {
    std::uint32_t xid = 0;
    bool call = false;
    FrameRef by;
  };
  std::optional<Interrupted> interrupted;
  bool pieces_unknown = false;  ///< packets are missing: whether a message is the first piece cannot be told
  std::uint64_t gaps = 0;       ///< as of the last message
  std::uint64_t messages = 0;
  FrameRef first;
  std::vector<OddType> odd_types;

  /// What was half sent cannot be followed.
  void lose_track() {
    pieces_unknown = true;
    continuation = {};
    announced.middle = {};
  }
};

struct State {
  enum class Version : std::uint8_t {
    unsettled,
    glimpsed,  ///< an error of version 2, of which nothing told what it refused: not judged
    two,
    refused,  ///< the server answered ERR_VERS: version 1 from now on, if anything
    earlier,  ///< drafts 00 to 02: counted, not judged
  } version = Version::unsettled;
  std::array<SideFacts, 2> sides;
  FrameRef settled;  ///< the server's first message of version 2
  std::uint64_t settled_ordinal = 0;
  FrameRef probe;    ///< the client's first message of version 2
  FrameRef refusal;  ///< ERR_VERS
  std::uint64_t refusal_ordinal = 0;
  bool refusal_told = false;                    ///< the pair of peers has been told
  bool went_on = false;                         ///< with version 1, after the refusal
  std::optional<std::uint32_t> refused_unseen;  ///< XID of what the server refused, as long as it has not come
  FrameRef sessions;                            ///< an NFSv4.1 operation that allows reverse Calls; number 0: none seen
  std::vector<Due> due;
  std::unique_ptr<wire::HeaderV2> scratch;  ///< serves one message after the other

  /// The server has not spoken, as far as can be told.
  [[nodiscard]] bool undecided() const noexcept {
    return version == Version::unsettled || version == Version::glimpsed;
  }
  [[nodiscard]] SideFacts& of(Side side) noexcept { return sides[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const SideFacts& of(Side side) const noexcept { return sides[static_cast<std::size_t>(side)]; }
};

}  // namespace rpcrdma::referee::v2
