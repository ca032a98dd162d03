// SPDX-License-Identifier: GPL-2.0-or-later
// iWARP streams for tests: built octet by octet, cut into TCP segments, and the events that come out as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/events.hpp"
#include "trace/iwarp_transport.hpp"

namespace rpcrdma::iwarp_test {

using Octets = std::vector<std::uint8_t>;

Octets concat(std::initializer_list<Octets> parts);
Octets pattern(std::size_t n, unsigned seed);

// RDMAP messages, as ULPDUs.
Octets send_ulpdu(std::uint32_t msn, std::uint32_t offset, bool last, const Octets& data, std::uint8_t opcode = 3,
                  std::uint32_t invalidate = 0);
Octets tagged_ulpdu(std::uint8_t opcode, std::uint32_t stag, std::uint64_t offset, bool last, const Octets& data);
Octets read_request_ulpdu(std::uint32_t msn, std::uint32_t sink, std::uint64_t sink_offset, std::uint32_t size,
                          std::uint32_t source, std::uint64_t source_offset);
Octets terminate_ulpdu(const Octets& payload);
/// RDMA_MSG with an RPC CALL (NFS version 3, NULL), or with a REPLY.
Octets rpc_call(std::uint32_t xid, std::uint32_t program = 100003);
Octets rpc_reply(std::uint32_t xid);
/// RDMA_NOMSG with a Position-Zero Read chunk at offset 0.
Octets rpc_offer(std::uint32_t xid, std::uint32_t handle, std::uint32_t length);

Octets mpa_frame(bool request, std::uint8_t flags, std::uint8_t revision, const Octets& private_data);

/// One direction: octets as they stand in the stream.
class Direction {
 public:
  bool markers = false;
  bool crc = true;  ///< fill the CRC field; else zero

  Octets raw(const Octets& octets);  ///< MPA frames; FPDUs begin behind the last one
  Octets fpdu(const Octets& ulpdu);
  [[nodiscard]] std::uint64_t length() const { return position_; }

 private:
  void put(Octets& out, const Octets& octets, bool covered);
  std::uint64_t position_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t fpdu_start_ = 0;
  Octets covered_;
};

/// A story: what each side puts on the wire, in order. Each entry becomes one TCP segment, unless it is cut.
struct Chunk {
  bool client = true;
  Octets octets;
  std::uint8_t flags = 0x10;
};
using Story = std::vector<Chunk>;

struct StoryOptions {
  bool client_markers = false;  ///< in the client's direction
  bool server_markers = false;
  bool crc = true;
  std::uint8_t revision = 2;
  bool handshake = true;
};
/// Handshake, Calls and Replies, Writes and Reads, Sends of several segments, FIN: with all of RDMAP in it.
Story full_story(const StoryOptions& options);

/// A segment before it is offered: what a test may cut, drop, swap, repeat.
struct Segment {
  bool client = true;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgement = 0;
  std::uint8_t flags = 0x10;
  Octets octets;
  std::uint32_t wire_length = 0;
  std::size_t chunk = 0;  ///< index in the story
  trace::TimeNs step = 100'000;
  std::uint16_t window = 500;
};
struct TcpOptions {
  std::uint32_t client_isn = 1000;
  std::uint32_t server_isn = 500'000;
  bool syn = true;
};
std::vector<Segment> segments_of(const Story& story, const TcpOptions& options = {});

/// One segment cut in two.
std::vector<Segment> cut_at(const std::vector<Segment>& whole, std::size_t index, std::size_t at);
/// Every segment cut into pieces of at most `size` octets.
std::vector<Segment> cut_into(const std::vector<Segment>& whole, std::size_t size);
/// Neighbours of the same direction joined, as receive offload does.
std::vector<Segment> joined(const std::vector<Segment>& whole, std::size_t limit);
/// As captured with a snap length that keeps so many octets of TCP payload.
std::vector<Segment> snapped(std::vector<Segment> segments, std::size_t snap);

struct SeenSend {
  trace::Side side{};
  std::uint32_t wire_length = 0;
  Octets octets;
  bool holes = false;
  std::uint64_t ordinal = 0;
};

/// Writes down every event, one line each.
class Recorder final : public trace::EventSink {
 public:
  std::vector<std::string> lines;   ///< without frame numbers
  std::vector<std::string> frames;  ///< "first[-last]" of the same event
  std::vector<SeenSend> sends;
  std::vector<trace::Refusal> refusals;
  std::uint64_t gap_octets = 0;
  std::vector<std::string> attempts;     ///< as told.hpp has them
  std::vector<std::string> liveness;     ///< likewise
  std::vector<std::size_t> told_before;  ///< of each of these, how many lines there were
  std::vector<std::uint64_t> opened;     ///< of each Request
  std::vector<trace::NfsOverTcp> nfs_over_tcp;

  [[nodiscard]] std::vector<std::string> only(const std::vector<std::string>& kinds) const;
  [[nodiscard]] std::vector<std::string> without(const std::vector<std::string>& kinds) const;
  [[nodiscard]] std::size_t count(const std::string& kind) const;
  [[nodiscard]] std::string text() const;

  void on(const trace::ConnectRequest&) override;
  void on(const trace::ConnectReply&) override;
  void on(const trace::ConnectReject&) override;
  void on(const trace::RequestReceipt&) override {}  // of CM
  void on(const trace::RequestUndelivered&) override {}
  void on(const trace::Sighted&) override {}
  void on(const trace::ConnectReady&) override;
  void on(const trace::Adopted&) override;
  void on(const trace::Disconnect&) override;
  void on(const trace::SendPart&) override {}
  void on(const trace::Send&) override;
  void on(const trace::Write&) override;
  void on(const trace::ReadRequest&) override;
  void on(const trace::ReadResponse&) override;
  void on(const trace::Refusal&) override;
  void on(const trace::Acknowledged&) override;
  void on(const trace::Gap&) override;
  void on(const trace::Repeated&) override;
  void on(const trace::Quality&) override;
  void on(const trace::TcpAttempt&) override;
  void on(const trace::Liveness&) override;
  void on(const trace::NfsOverTcp&) override;

 private:
  void add(const trace::EventBase& event, std::string line);
};

struct RunOptions {
  std::uint16_t client_port = 50'000;
  std::uint16_t server_port = 20'049;
  std::vector<std::uint16_t> service_ports{20'049};
  bool check_crc = false;
};
/// The lines about Sends, Writes, Reads and their answers, without what depends on where the capture begins.
std::vector<std::string> operations_without_numbers(const Recorder& recorder);
std::string without_numbers(const std::string& line);
inline const std::vector<std::string> operations{"Send", "Write", "Read ", "Response"};

/// Offers the segments, each as one frame (numbers from 1), and finishes.
Recorder run(const std::vector<Segment>& segments, const RunOptions& options = {});
inline Recorder run(const Story& story, const RunOptions& options = {}) { return run(segments_of(story), options); }

}  // namespace rpcrdma::iwarp_test
