// SPDX-License-Identifier: GPL-2.0-or-later
// What the referee understood of each message, put where the copy will find it: headers as they are, RPC and NFS with
// other names, also where they travelled in chunks.
//
// It stands between the trace and the referee, and watches both: the trace says in which packets the octets of a
// message are, the referee what they mean.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "referee/forwarding.hpp"
#include "sanitize/draft.hpp"
#include "sanitize/places.hpp"
#include "sanitize/pseudonyms.hpp"
#include "trace/events.hpp"
#include "trace/stream_watch.hpp"
#include "wire/nfs_steps.hpp"

namespace rpcrdma::sanitize {

class Messages final : public trace::StreamWatch, public trace::EventSink, public referee::Forwarding {
 public:
  Messages(Places& places, Pseudonyms& pseudonyms) : places_(places), pseudonyms_(pseudonyms) {}
  /// Who is told of what the referee saw, behind this one; null: nobody.
  Messages& before(referee::Observer* observer) noexcept {
    hand_on_to(observer);
    return *this;
  }
  /// Who gets the events.
  Messages& before(trace::EventSink& sink) noexcept {
    sink_ = &sink;
    return *this;
  }
  /// Before the places are settled.
  void finish();

  using Forwarding::handshake;
  void handshake(const trace::StreamPart& frame) override;
  void fpdu(const trace::StreamPart& fpdu) override;

  void on(const trace::ConnectRequest& e) override { sink_->on(e); }
  void on(const trace::ConnectReply& e) override { sink_->on(e); }
  void on(const trace::ConnectReject& e) override { sink_->on(e); }
  void on(const trace::RequestReceipt& e) override { sink_->on(e); }
  void on(const trace::RequestUndelivered& e) override { sink_->on(e); }
  void on(const trace::Sighted& e) override { sink_->on(e); }
  void on(const trace::ConnectReady& e) override { sink_->on(e); }
  void on(const trace::Adopted& e) override { sink_->on(e); }
  void on(const trace::Disconnect& e) override { sink_->on(e); }
  void on(const trace::Send& e) override;
  void on(const trace::SendPart& e) override;
  void on(const trace::Write& e) override;
  void on(const trace::ReadRequest& e) override { sink_->on(e); }
  void on(const trace::ReadResponse& e) override;
  void on(const trace::Refusal& e) override { sink_->on(e); }
  void on(const trace::Acknowledged& e) override { sink_->on(e); }
  void on(const trace::Gap& e) override { sink_->on(e); }
  void on(const trace::Repeated& e) override { sink_->on(e); }
  void on(const trace::Quality& e) override { sink_->on(e); }
  void on(const trace::TcpAttempt& e) override { sink_->on(e); }
  void on(const trace::Liveness& e) override { sink_->on(e); }
  void on(const trace::NfsOverTcp& e) override { sink_->on(e); }
  void on(const trace::HeldSend& e) override { sink_->on(e); }
  void on(const trace::Atomic& e) override { sink_->on(e); }

  void message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) override;
  void operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) override;

 private:
  /// Where octets of a message are.
  struct Piece {
    std::size_t at = 0;  ///< in the message
    std::size_t length = 0;
    Spot spot;
    std::uint32_t offset = 0;  ///< in the spot
  };
  using Pieces = std::vector<Piece>;

  /// (A part of) an RPC message that comes in pieces: from chunks, or in several Sends. It takes the room of what came,
  /// wherever in the message that belongs.
  class Gathered {
   public:
    std::uint64_t wire_length = 0;
    std::size_t most = static_cast<std::size_t>(-1);  ///< the message is no longer
    Pieces pieces;

    void put(std::size_t at, wire::Bytes octets);
    [[nodiscard]] std::size_t end() const noexcept { return end_; }
    /// With zeros where something is missing; it ends where more than has come is.
    [[nodiscard]] std::vector<std::uint8_t> message() const;
    [[nodiscard]] std::size_t room() const noexcept {
      return octets_.size() + runs_.size() * sizeof(Run) + pieces.size() * sizeof(Piece);
    }

   private:
    struct Run {
      std::size_t at = 0;  ///< in the message
      std::size_t length = 0;
      std::size_t from = 0;  ///< in octets_
    };
    std::vector<std::uint8_t> octets_;
    std::vector<Run> runs_;
    std::size_t end_ = 0;
  };
  /// What a Call and its answer leave behind.
  struct Exchange {
    std::optional<wire::Asked> asked;
    std::vector<wire::Segment> call_chunk;
    std::vector<wire::Segment> reply_chunk;
    std::vector<wire::Segment> offered;  ///< by a Reply that is to be pulled
    Gathered call;
    Gathered reply;
    std::vector<wire::ReadChunk> reads;
  };
  /// A Send that the referee has not spoken of.
  struct Waiting {
    Pieces pieces;
    std::vector<std::uint8_t> octets;  ///< how it begins, if that looks like RPC-over-RDMA
    std::uint32_t wire_length = 0;
  };
  using SendKey = std::tuple<trace::ConnectionId, trace::Side, std::uint64_t>;
  using ExchangeKey = std::tuple<trace::ConnectionId, std::uint32_t, trace::Side>;
  using OperationKey = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;  ///< frame, handle, offset

  [[nodiscard]] Pieces pieces_of(const trace::Send& e);
  void remember(std::uint64_t frame, std::uint32_t handle, std::uint64_t offset);
  /// Others may be forgotten for it.
  Exchange& exchange(trace::ConnectionId connection, const referee::ExchangeRef& ref);
  void forget_oldest_exchange();
  void write(const Draft& draft, const Pieces& pieces);
  /// Some of these octets are there already.
  [[nodiscard]] static bool again(const Gathered& gathered, std::uint64_t at, std::size_t length) noexcept;
  void gather(Gathered& into, std::uint64_t at, wire::Bytes octets, const Spot& spot);
  void gather(Gathered& into, std::size_t from, wire::Bytes octets, const Pieces& pieces);
  void finish_call(Exchange& of);
  void finish_reply(Exchange& of, std::span<const std::uint64_t> returned);
  void keep_plausible(const Waiting& waiting);
  void version1(const referee::MessageSeen& seen, Exchange* of, Draft& draft, const Pieces& pieces);
  void version2(const referee::MessageSeen& seen, Exchange* of, Draft& draft, const Pieces& pieces);

  Places& places_;
  Pseudonyms& pseudonyms_;
  trace::EventSink* sink_ = nullptr;

  // iWARP: the FPDU that the trace is at, and Sends whose end has not come, by stream and number
  Spot at_hand_;
  struct FpduOfSend {
    std::uint64_t offset = 0;
    std::uint32_t number = 0;
    Piece piece;
  };
  std::map<std::uint64_t, std::vector<FpduOfSend>> sending_;
  // InfiniBand: frames of a Send but its last
  std::map<std::pair<trace::ConnectionId, trace::Side>, std::vector<std::uint64_t>> parts_;

  // What the referee may yet ask for; the oldest are forgotten.
  std::map<SendKey, Waiting> sends_;
  std::deque<SendKey> sends_order_;
  std::map<OperationKey, Spot> operations_;
  std::deque<OperationKey> operations_order_;
  std::map<ExchangeKey, Exchange> exchanges_;
  std::deque<ExchangeKey> exchanges_order_;
  std::size_t gathered_ = 0;  ///< octets of room that all of them take
};

}  // namespace rpcrdma::sanitize
