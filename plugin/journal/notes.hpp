// SPDX-License-Identifier: GPL-2.0-or-later
// What the journal remembers of a capture, frame by frame, for the whole time that the file is open. Indices, not
// pointers, and plain data: readable on every pass and from code that may be left by longjmp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "payload/assembler.hpp"
#include "referee/observer.hpp"
#include "wire/bytes.hpp"
#include "wire/rpcrdma.hpp"

namespace rpcrdma::journal {

using trace::Side;

inline constexpr std::uint32_t none = UINT32_MAX;

/// Octets that are shown as one: those of the frame itself, or a copy when they came in several packets.
struct Octets {
  std::vector<std::uint8_t> copy;
  bool in_frame = false;       ///< they stand in the frame, from `offset`
  std::uint32_t offset = 0;    ///< into the captured frame
  std::uint32_t captured = 0;  ///< how many are at hand
  std::uint64_t wire_length = 0;
};

struct Exchange {
  std::uint32_t xid = 0;
  Side requester = Side::active;
  trace::FrameRef call;
  trace::FrameRef call_whole;  ///< what its RPC Call became whole with; number 0: it is not
  trace::FrameRef reply;
  trace::FrameRef done;     ///< RDMA_DONE
  std::uint32_t offer = 0;  ///< frame of a Reply that offers itself to be read
};

/// Of an exchange, by its connection and the referee's number: among all of the file.
[[nodiscard]] constexpr std::uint64_t exchange_key(std::uint32_t connection, std::uint32_t exchange) noexcept {
  return (std::uint64_t{connection} << 32U) | exchange;
}

struct Connection {
  std::uint32_t id = 0;
  trace::Transport transport = trace::Transport::rocev2;
  trace::Endpoint client;
  trace::Endpoint server;
  bool rpcrdma = false;             ///< as far as known by now
  referee::Thresholds thresholds;   ///< the newest
  std::vector<Exchange> exchanges;  ///< by the referee's number, from 1
  [[nodiscard]] bool has(std::uint32_t exchange) const noexcept {
    return exchange != 0 && exchange <= exchanges.size();
  }
  /// By that number; null: it has none such.
  [[nodiscard]] const Exchange* exchange(std::uint32_t number) const noexcept {
    return has(number) ? &exchanges[number - 1] : nullptr;
  }
  [[nodiscard]] Exchange* exchange(std::uint32_t number) noexcept {
    return has(number) ? &exchanges[number - 1] : nullptr;
  }
};

/// A message, in the frame where it is complete.
struct Message {
  std::uint32_t connection = 0;
  referee::MessageSeen::Kind kind = referee::MessageSeen::Kind::other;
  Side sender = Side::active;
  std::uint32_t exchange = 0;
  bool piece = false;           ///< version 2: the message goes on in the next one
  bool continued = false;       ///< version 2: it began in an earlier one
  std::uint32_t before = none;  ///< version 2: the message with the piece before this one
  std::uint32_t first_frame = 0;
  std::uint32_t last_frame = 0;
  trace::TimeNs time = 0;  ///< of the last one
  std::uint32_t xid = 0;
  std::uint32_t header_length = 0;  ///< 0: not decodable
  std::uint32_t version = 0;
  std::uint32_t proc = 0;
  std::string_view operation;  ///< what the exchange's Call asks for, "READ"; empty: not known
  std::uint32_t credit = 0;    ///< the credit word as it stands there
  std::uint32_t read_segments = 0;
  std::uint32_t write_chunks = 0;
  bool reply_chunk = false;
  // Octets that its chunks hold, or offer
  std::uint64_t read_octets = 0;
  std::uint64_t write_octets = 0;
  std::uint64_t reply_octets = 0;
  std::optional<std::uint32_t> invalidated;
  std::uint64_t outstanding = 0;
  std::optional<std::uint32_t> granted;
  referee::Thresholds thresholds;  ///< in force with it: in version 2 they change
  std::uint32_t payload = none;    ///< RPC message that is complete with it
  std::uint32_t rpc_frame = 0;     ///< where its RPC message is shown; 0: nowhere (yet)
  Octets octets;
};

/// What its first words say, as far as they are there; and its lists. `header` may be null: it was not decoded.
void take_header(wire::Bytes octets, const wire::HeaderV1* header, Message& message);

/// From a Call that is known to this answer, which may not be its first one: an error, or a Reply, whole or its last
/// piece. Nothing: the message is none.
[[nodiscard]] std::optional<std::int64_t> took(const Message& message, const Exchange* exchange) noexcept;
[[nodiscard]] inline bool first_answer(const Message& message, const Exchange& exchange) noexcept {
  return message.time == exchange.reply.time;
}

/// Where the octets of an RPC message are.
enum class Stands : std::uint8_t {
  with_message,  ///< behind the header of the message, with which it is drawn
  copied,        ///< the same, in a copy: it is told apart from the message until the file is read
  put_together   ///< out of chunks or pieces
};

/// An RPC message that is given to Wireshark's dissectors in this frame.
struct Payload {
  std::uint32_t connection = 0;
  std::uint32_t exchange = 0;
  std::uint32_t message = none;  ///< the Call or Reply that it belongs to
  bool call = false;
  Side sender = Side::active;
  payload::RpcMessage::Placing placing = payload::RpcMessage::Placing::whole;
  Stands stands = Stands::put_together;
  /// Where it became whole. Told in a later one if that had to wait, and only until the file is read.
  trace::FrameRef home;
  trace::TimeNs time = 0;  ///< when it counts as sent: of a Call whose data were read later, the Call's own time
  std::vector<std::uint8_t> octets;  ///< empty where it stands with its message, or nothing of it is there
  std::uint64_t wire_length = 0;
};

[[nodiscard]] inline bool has_octets(const Payload& payload) noexcept {
  return payload.stands == Stands::with_message || !payload.octets.empty();
}

struct Operation {
  std::uint32_t connection = 0;
  std::uint32_t exchange = 0;
  referee::OperationSeen::Kind kind = referee::OperationSeen::Kind::write;
  bool offer = false;
  Side sender = Side::active;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool starts = true;         ///< first packet of its Write or of its answer; always of a Read request
  std::uint32_t packets = 1;  ///< of the first: of all of them, as far as seen by now
  std::uint64_t total = 0;    ///< and their octets
};

/// A message whose connection is not known yet, in the frame where it ends. Its own octets speak for it until the file
/// is read; the message itself is told once it is known.
struct Unplaced {
  std::uint32_t flow = 0;  ///< which way it goes
  std::uint32_t xid = 0;
  std::uint32_t proc = 0;
  std::uint32_t header_length = 0;
  enum class Rpc : std::uint8_t { none, call, reply } rpc = Rpc::none;  ///< stands behind the header
  Octets octets;
};

/// A packet of a Send that ends in a later frame.
struct Part {
  std::uint32_t connection = 0;
  Side sender = Side::active;
  std::uint64_t ordinal = 0;
  std::uint32_t frame = 0;
  std::uint32_t message = none;  ///< once it is complete
};

struct Handshake {
  std::uint32_t connection = 0;
  Side sender = Side::active;
  std::optional<referee::PrivateData> private_data;
  Octets area;  ///< of the private data
};

/// A frame, or something in it, that is there a second time. One for each frame: no note.
struct Repeat {
  std::uint32_t connection = 0;
  Side sender = Side::active;
  trace::Repeated::Kind kind = trace::Repeated::Kind::retransmission;
  /// The message stands nowhere else: its own place was given up as lost before it came, and RPC has it from here.
  bool only_copy = false;
};

enum class NoteKind : std::uint8_t { message, unplaced, payload, operation, part, handshake };

struct Note {
  NoteKind kind = NoteKind::message;
  std::uint32_t index = 0;  ///< into the vector of its kind
  std::uint32_t next = none;
};

}  // namespace rpcrdma::journal
