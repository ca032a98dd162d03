// SPDX-License-Identifier: GPL-2.0-or-later
// Puts chunks back: from the referee's messages and operations to whole RPC messages (RFC 8166 sections 3.4 and 3.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "payload/pieces.hpp"
#include "referee/observer.hpp"

namespace rpcrdma::payload {

/// An RPC message with its chunks back in place.
struct RpcMessage {
  std::uint32_t tag = 0;  ///< of the message that it belongs to
  bool call = false;
  bool in_send = false;  ///< nothing to put back: the message is the Send behind its header, and `stream` is empty
  Stream stream;
  enum class Placing : std::uint8_t {
    whole,    ///< as its sender's XDR encoder made it
    missing,  ///< octets of a chunk never came, or are not in the capture
    reduced,  ///< where a Write chunk's data belong cannot be told: they are left out
    torn,     ///< it came in several packets, or pieces, and one of them is not in the capture: its length is not known
  } placing = Placing::whole;
  /// What else it lacks. Of a message that came torn nothing else is sure.
  void lacks(Placing what) noexcept {
    if (placing == Placing::whole) placing = what;
  }
};

/// Of what stands in a Send behind its header.
[[nodiscard]] inline RpcMessage::Placing placing_of(const trace::Send& send) noexcept {
  return send.holes ? RpcMessage::Placing::torn : RpcMessage::Placing::whole;
}

/// Of a Reply: the Write chunks that it returns, and what its Call asked for.
struct Written {
  std::vector<wire::WriteChunk> chunks;
  decltype(referee::MessageSeen::procedure) procedure;
};

/// One connection's open exchanges, whose numbers grow with their Calls. Memory is bounded: the oldest make room for
/// the newest, since the capture may lack the Replies of any number of them.
class Assembler {
 public:
  static constexpr std::size_t most_open = 4096;
  static constexpr std::size_t most_octets = std::size_t{256} << 20U;  ///< of all open exchanges together
  explicit Assembler(std::size_t octets = most_octets) : octets_allowed_(octets) {}

  /// The RPC message that this Call or Reply completes. A Call's Read chunks, or a Reply's, may still be under way:
  /// then none, and it comes from operation(). `tag`: what the caller knows the message by.
  [[nodiscard]] std::optional<RpcMessage> message(const referee::MessageSeen& seen, std::uint32_t tag = 0);
  [[nodiscard]] std::optional<RpcMessage> operation(const referee::OperationSeen& seen);
  enum class Because : std::uint8_t { answered, ended };
  /// A Call whose Read chunks never became whole, at its Reply or at the end of the capture; none: it has no more.
  [[nodiscard]] std::optional<RpcMessage> give_up(std::uint32_t exchange, Because because = Because::ended);
  struct GivenUp {
    std::uint32_t exchange = 0;
    RpcMessage message;
  };
  /// The one that the newest message() had no room for, if its Read chunks were under way.
  [[nodiscard]] std::optional<GivenUp> displaced() { return std::exchange(displaced_, std::nullopt); }
  /// Exchanges whose Read chunks are under way.
  [[nodiscard]] std::vector<std::uint32_t> waiting() const;

 private:
  /// A message whose Read chunks are waited for.
  struct Pull {
    enum class Of : std::uint8_t {
      call,
      call_again,  ///< sent again, in other memory: read for itself, and the Reply to the first does not end that
      reply        ///< it offers itself
    } of = Of::call;
    std::uint32_t tag = 0;
    std::vector<wire::ReadSegment> reads;
    std::vector<std::uint32_t> needed;      ///< so many octets of each: nobody has to read the pad of an item
    std::size_t here = 0;                   ///< so many of them have come,
    std::uint64_t here_octets = 0;          ///< and so much of the next one
    std::vector<std::uint8_t> inline_part;  ///< what the Send carried behind its header
    std::uint64_t inline_length = 0;
    RpcMessage::Placing inline_placing = RpcMessage::Placing::whole;  ///< or torn: then that is not its length
    Written written;                                                  ///< of a Reply
  };
  static constexpr std::size_t most_pulls = 2;  ///< of one exchange
  struct Open {
    enum class Stage : std::uint8_t { none, called, answered } stage = Stage::none;
    std::vector<Pull> pulls;
  };
  [[nodiscard]] std::optional<RpcMessage> call(const referee::MessageSeen& seen, std::uint32_t tag);
  [[nodiscard]] std::optional<RpcMessage> reply(const referee::MessageSeen& seen, std::uint32_t tag);
  Open& enter(std::uint32_t exchange);
  /// The message, if all of it is here already.
  [[nodiscard]] std::optional<RpcMessage> wait(const referee::MessageSeen& seen, Pull::Of of, std::uint32_t tag);
  /// What the exchange's Pieces have made whole.
  [[nodiscard]] std::optional<RpcMessage> next_whole(std::uint32_t exchange);
  [[nodiscard]] static std::vector<std::uint32_t> without_pads(const Pull& pull);
  [[nodiscard]] static bool arrived(Pull& pull, const Pieces& pieces);
  [[nodiscard]] static RpcMessage pulled(const Pull& pull, const Pieces& pieces);
  /// What was placed for it; empty where nothing was, or where it had to make room.
  [[nodiscard]] const Pieces& pieces_of(std::uint32_t exchange) const;
  /// Only where they are as many as may be kept: of exchanges in front of this one, the oldest's.
  void make_room(std::uint32_t exchange, std::size_t octets);
  void drop(std::uint32_t exchange);
  void drop_pieces(std::map<std::uint32_t, Pieces>::iterator at);

  std::map<std::uint32_t, Open> open_;
  std::map<std::uint32_t, Pieces> pieces_;  ///< of exchanges for which something was placed
  std::size_t octets_ = 0;                  ///< of all of them
  std::size_t octets_allowed_;
  std::optional<GivenUp> displaced_;
};

}  // namespace rpcrdma::payload
