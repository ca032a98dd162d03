// SPDX-License-Identifier: GPL-2.0-or-later
// What a story can ask of a fabric. One object is one connection; it turns each request into frames on the film.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "film.hpp"
#include "network.hpp"
#include "octets.hpp"

namespace forge {

struct Depths {
  std::uint32_t responder_resources = 16;  ///< IRD on iWARP
  std::uint32_t initiator_depth = 16;      ///< ORD on iWARP
  std::uint32_t rnr_retry = 7;
};

struct MpaSettings {
  std::uint8_t revision = 2;
  bool crc = false;
  bool markers = false;  ///< this side wants to receive markers
};

struct Handshake {
  std::uint16_t port = 20049;
  Octets client_data;  ///< consumer's private data, empty for none
  Octets server_data;
  Octets ready_data;  ///< RTU (InfiniBand only)
  Depths client_depths;
  Depths server_depths;
  MpaSettings client_mpa;
  MpaSettings server_mpa;
  unsigned attempts = 1;                ///< how often the client sends its request
  std::int64_t every = 4'000'000'000;   ///< ns between them
  bool receipt = false;                 ///< the server acknowledges each request with an MRA (InfiniBand only)
  bool undelivered = false;             ///< each request is answered with ICMP (over IP only)
  std::optional<Host> router;           ///< which says so in place of the server
  bool answered = true;                 ///< false: neither reply nor rejection
  unsigned replies = 1;                 ///< how often the server sends its reply (InfiniBand only)
  bool ready = true;                    ///< the RTU is sent
  bool ready_each = false;              ///< and once more for each further reply
  std::optional<std::uint32_t> reject;  ///< reason; on iWARP only that it is rejected
};

/// First sequence numbers of each direction.
struct Beginnings {
  std::uint32_t client_psn = 0x001000;
  std::uint32_t server_psn = 0x802000;
  std::uint32_t client_isn = 0x10000000;
  std::uint32_t server_isn = 0xA0000000;
};

/// What comes of a request for a connection that leads to none. `accepted`: the server answers, and the client says
/// nothing more. `acknowledged`: the server says that it needs longer (MRA, InfiniBand only). `unreachable`: ICMP.
/// `withdrawn`: TCP is taken, and the client closes it (iWARP only).
enum class Knock : std::uint8_t { unanswered, acknowledged, refused, unreachable, accepted, withdrawn };

enum class Refusal : std::uint8_t { sequence, rnr, invalid_request, remote_access, remote_operational };

/// Names an operation on its connection.
using Op = std::size_t;

class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void open(const Handshake& handshake) = 0;
  /// InfiniBand: the RTU that open() did not send. Mistake elsewhere.
  virtual void ready() = 0;
  /// InfiniBand: a REJ of a connection that was answered (REP). Mistake elsewhere.
  virtual void reject(Side by, std::uint32_t reason) = 0;
  /// A request (REQ, SYN), sent `handshake.attempts` times, and what it gets.
  virtual void knock(const Handshake& handshake, Knock answer) = 0;
  virtual Op send(Side by, const Octets& message, std::optional<std::uint32_t> invalidate) = 0;
  /// InfiniBand: the Sends from now on carry this immediate value. Mistake elsewhere.
  virtual void set_immediate(std::optional<std::uint32_t> value) = 0;
  /// InfiniBand: a compare-and-swap of eight octets, with its answer. Mistake elsewhere.
  virtual Op atomic(Side by, std::uint32_t handle, std::uint64_t offset) = 0;
  virtual Op write(Side by, std::uint32_t handle, std::uint64_t offset, const Octets& data) = 0;
  virtual Op read(Side by, std::uint32_t handle, std::uint64_t offset, std::uint32_t length) = 0;
  /// The answer to a read: all of its octets.
  virtual void respond(Op read, const Octets& data) = 0;
  /// `by` acknowledges everything the other side has sent.
  virtual void acknowledge(Side by) = 0;
  /// What `by` sends from now on it sends having `op`, of the other side: TCP cannot but acknowledge that.
  virtual void has_taken(Side /*by*/, Op /*op*/) {}
  /// The same, of what was sent before `op`, by who has said so before.
  virtual void acknowledge_before(Side by, Op op) = 0;
  /// The receiver of `op` refuses it: NAK, or Terminate.
  virtual void refuse(Op op, Refusal refusal) = 0;
  /// iWARP: a Terminate that belongs to no operation. Mistake elsewhere.
  virtual void terminate(Side by, std::uint8_t layer, std::uint8_t type, std::uint8_t code) = 0;
  /// The transport sends the same packets once more.
  virtual void repeat(Op op) = 0;
  virtual void close(Side by, bool answered, const Octets& data) = 0;
  /// InfiniBand: a DREQ of another connection that names the same queue pair. Mistake elsewhere.
  virtual void close_of_another(Side by) = 0;
  /// TCP: `by` asks whether its peer is there. Mistake elsewhere.
  virtual void keep_alive(Side by, bool answered) = 0;
  /// TCP: the segments of `by` announce this window from now on, the first of them a bare acknowledgement. Mistake
  /// elsewhere.
  virtual void window(Side by, std::uint16_t octets) = 0;
  /// Without a word: RST on TCP, nothing at all on InfiniBand.
  virtual void reset(Side by) = 0;

  bool spoil = false;  ///< the checksum of the frames made from now on is wrong

 protected:
  Connection() = default;
};

struct Stage {
  Film& film;
  Network& network;
  Host client;
  Host server;
  unsigned number = 0;  ///< of the connection, from 0: gives QPNs and ports
  unsigned story = 0;   ///< of many in one file, from 0: gives QPNs and communication IDs
  unsigned life = 0;    ///< which connection with that number, from 0: gives communication IDs, and where PSNs begin
  std::uint32_t mtu = 1024;
  Beginnings beginnings;
  bool odd_segments = false;  ///< iWARP: cut the TCP stream where it hurts
};

[[nodiscard]] std::unique_ptr<Connection> make_ib_connection(const Stage& stage);
[[nodiscard]] std::unique_ptr<Connection> make_iwarp_connection(const Stage& stage);

}  // namespace forge
