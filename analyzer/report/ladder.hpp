// SPDX-License-Identifier: GPL-2.0-or-later
// What happened on each connection, in order: the rows of a ladder diagram (client left, server right). A model without
// any form of its own; the HTML page and the text drawings are made from it.
//
// Memory is bounded: of a huge capture the beginning is kept, what is near findings, and the end of each connection.
// What is missing in between is a row of its own that says how many are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "referee/observer.hpp"
#include "referee/referee.hpp"

namespace rpcrdma::report {

/// A segment of a message's chunk lists.
struct LadderSegment {
  enum class List : std::uint8_t {
    call,  ///< version 2: the Call chunk
    read,
    write,
    reply
  } list = List::read;
  std::uint32_t chunk = 0;     ///< which Write chunk, from 0; else 0
  std::uint32_t position = 0;  ///< octets in the RPC message, of a Read segment
  wire::Segment target;
};

/// A finding whose frames this row holds.
struct LadderMark {
  std::uint32_t finding = 0;  ///< index into the findings given to Ladder::finish()
  bool primary = true;        ///< the offending frame; false: evidence
};

/// One thing that one side did. Sizes in octets as on the wire.
struct LadderRow {
  enum class Kind : std::uint8_t {
    connect_request,  ///< REQ, MPA request
    connect_reply,    ///< REP, MPA reply
    connect_reject,
    connect_ready,  ///< RTU, or the client's first data in its place
    call,
    reply,
    done,
    error,
    other,          ///< a Send that is none of these, or cannot be told
    read_request,   ///< RDMA Read
    read_response,  ///< all packets of its answer
    write,          ///< all packets of an RDMA Write
    refusal,        ///< NAK, RNR NAK or Terminate
    gap,            ///< the capture lacks something of the sender
    unread,         ///< FPDUs of the sender without a whole header, or whose beginnings are not known
    close,          ///< DREQ, DREP, FIN, RST, or the start of a successor
    repeat,         ///< packets that were sent before, one after the other
    frame,          ///< of a finding, and nothing else
    left_out        ///< `packets` rows that were not kept
  } kind = Kind::other;
  trace::Side sender = trace::Side::active;  ///< active: the client
  trace::FrameRef first;
  trace::FrameRef last;
  std::uint64_t packets = 1;   ///< of an operation or a repetition; of a gap and unread: packets, octets on iWARP
  std::uint64_t length = 0;    ///< of the message, or of all packets of the operation
  std::uint32_t exchange = 0;  ///< the Call that it belongs to, numbered within the connection; 0: not known
  std::uint32_t xid = 0;       ///< of messages as they stand on the wire; of operations that of the exchange
  bool has_xid = false;
  std::uint32_t procedure = 0;   ///< Ladder::text(): "NFSv3 READ"; 0: not known
  std::uint32_t operations = 0;  ///< Ladder::text(): "SEQUENCE, PUTFH, READ"; 0: none, or not known
  std::uint32_t leading = 0;     ///< Ladder::text(): "WRITE", what the Call asks for; 0: not known
  std::vector<LadderMark> marks;

  // Messages
  std::uint32_t version = 0;  ///< rdma_vers; 0: not captured
  std::uint32_t proc = 0;     ///< rdma_proc or rdma_htype
  std::uint32_t credit = 0;   ///< rdma_credit as it stands there
  std::uint32_t header = 0;   ///< length of the header; 0: not decodable
  bool holes = false;         ///< a packet in the middle is missing: length is a lower bound
  std::uint64_t captured = 0;
  std::uint64_t outstanding = 0;           ///< Calls of the requester without an answer, this message counted
  std::optional<std::uint32_t> granted;    ///< newest grant to the requester
  std::optional<std::uint32_t> threshold;  ///< that bound the sender by then
  std::optional<std::uint32_t> invalidated;
  std::vector<LadderSegment> segments;  ///< at most Limits::segments_each of them
  std::uint32_t segments_left_out = 0;

  // Operations
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;  ///< where its first octet goes to, or comes from
  std::uint64_t op = 0;      ///< joins a Read request with its answer
  bool offer = false;        ///< on memory that a Reply offered to be read

  // Refusals and ends
  trace::Refusal::Kind refusal = trace::Refusal::Kind::nak_other;
  trace::Refusal::Refused refused = trace::Refusal::Refused::unknown;
  trace::FrameRef refused_frame;  ///< number 0: not known
  std::uint16_t reason = 0;       ///< of a reject
  trace::Disconnect::How how = trace::Disconnect::How::request;

  /// First octets of the message, or the private data of a handshake message or end; at most Limits::octets_each.
  std::vector<std::uint8_t> octets;

  [[nodiscard]] bool message() const noexcept { return kind >= Kind::call && kind <= Kind::other; }
  [[nodiscard]] bool operation() const noexcept { return kind >= Kind::read_request && kind <= Kind::write; }
};

class Ladder final : public referee::Observer {
 public:
  struct Limits {
    std::size_t rows = 150'000;          ///< from the beginning of the capture
    std::size_t near_findings = 50'000;  ///< later ones that stand near a finding
    std::size_t window = 512;            ///< newest rows of a connection; fewer when there are many connections
    std::size_t connections = 1024;
    std::size_t segments_each = 64;
    std::size_t octets_each = 512;
    std::size_t octets = std::size_t{32} << 20U;  ///< of all messages together
  };
  struct Connection {
    trace::ConnectionId id = 0;
    std::vector<LadderRow> rows;  ///< by first frame
    std::uint64_t left_out = 0;   ///< rows that were not kept
  };

  Ladder();
  explicit Ladder(Limits limits);
  ~Ladder() override;

  /// What is near a finding that is new since the last call is kept. Cheap when there is none; to be called after each
  /// frame or so. The referee must not have a listener.
  void watch(const referee::Referee& referee);
  /// At the end: settles the order of rows, and which of these findings point to which row.
  void finish(const std::vector<referee::Finding>& findings);

  /// nullptr: nothing is known of it, or there were too many. Complete after finish().
  [[nodiscard]] const Connection* connection(trace::ConnectionId id) const noexcept;
  /// Names are kept once; index 0 is empty.
  [[nodiscard]] std::string_view text(std::uint32_t index) const noexcept { return texts_[index]; }
  [[nodiscard]] const std::deque<std::string>& texts() const noexcept { return texts_; }

  void handshake(const referee::ConnectionFacts&, trace::Side, trace::FrameRef) override {}  // heard() tells more
  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override;
  void heard(const trace::ConnectRequest& event) override;
  void heard(const trace::ConnectReply& event) override;
  void heard(const trace::ConnectReject& event) override;
  void heard(const trace::ConnectReady& event) override;
  void heard(const trace::Disconnect& event) override;
  void heard(const trace::Refusal& event) override;
  void heard(const trace::Gap& event) override;
  void heard(const trace::Repeated& event) override;

 private:
  struct Keeper;
  [[nodiscard]] Keeper* keeper(trace::ConnectionId id);
  void forget_unknown();
  void know(Keeper& keeper) noexcept;
  void add(trace::ConnectionId id, LadderRow&& row);
  void settle(Keeper& keeper, LadderRow&& row, bool marked);
  void name_long_calls(Keeper& keeper);
  [[nodiscard]] std::vector<Keeper*> homes(const std::vector<referee::Finding>& findings);
  static void give_places(const std::vector<referee::Finding>& findings, const std::vector<Keeper*>& homes);
  void keep_octets(LadderRow& row, wire::Bytes octets);
  void read_segments(LadderRow& row, const referee::MessageSeen& seen);
  void name_procedure(LadderRow& row, const referee::MessageSeen& seen);
  [[nodiscard]] std::uint32_t intern(std::string&& text);

  Limits limits_;
  std::unordered_map<trace::ConnectionId, std::unique_ptr<Keeper>> connections_;
  std::size_t from_beginning_ = 0;
  std::size_t near_findings_ = 0;
  std::size_t octets_ = 0;
  std::size_t watched_ = 0;
  std::size_t unknown_ = 0;  ///< connections that have shown neither message nor operation
  std::deque<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> procedures_;
};

/// "RDMA_MSG", "RDMA2_CALL_INLINE", ...; empty when the row is no message or its type is not known.
[[nodiscard]] std::string_view type_name(const LadderRow& row) noexcept;

}  // namespace rpcrdma::report
