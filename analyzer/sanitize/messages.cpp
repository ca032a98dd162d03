// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize/messages.hpp"

#include <algorithm>

#include "sanitize/private_data_draft.hpp"
#include "sanitize/rpc_draft.hpp"
#include "wire/ddp.hpp"
#include "wire/fields.hpp"
#include "wire/mpa.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::sanitize {
namespace {

using wire::Bytes;

/// Messages and operations that the trace told and the referee has not come to.
constexpr std::size_t most_waiting = std::size_t{1} << 17U;
constexpr std::size_t most_exchanges = std::size_t{1} << 16U;
/// Octets of one message from chunks: an NFS message beyond its data is shorter.
constexpr std::size_t most_gathered = std::size_t{1} << 20U;
/// Of all messages that have begun and not ended.
constexpr std::size_t most_gathered_in_all = std::size_t{1} << 26U;
constexpr std::size_t most_pieces = 4096;
constexpr std::size_t most_unfinished = 1024;

/// The oldest of a table goes.
template <class Table, class Order>
void bound(Table& table, Order& order, std::size_t most) {
  while (order.size() > most) {
    table.erase(order.front());
    order.pop_front();
  }
}

/// Every field of a header is kept, up to the first that cannot be decoded.
class KeepFields final : public wire::FieldVisitor {
 public:
  explicit KeepFields(Draft& draft) : draft_(draft) {}
  void on(const wire::FieldAt& field) override {
    end_ = std::max(end_, field.offset + field.length);
    switch (field.field) {
      case wire::Field::unexpected:
      case wire::Field::rpc_rest:
      case wire::Field::arguments:
      case wire::Field::results:
        return;
      case wire::Field::property_value:
        if (field.length > 4) return;
        break;
      default:
        break;
    }
    static_cast<void>(draft_.keep(field.offset, field.length));
  }
  void payload(std::size_t /*offset*/) override {}
  [[nodiscard]] std::size_t end() const noexcept { return end_; }

 private:
  Draft& draft_;
  std::size_t end_ = 0;
};

/// A host's name for itself is the only property that is no number.
void keep_header(Draft& draft, std::size_t wire_length, bool broken) {
  KeepFields keep(draft);
  wire::walk_fields(draft.original(), wire_length, keep);
  if (broken) static_cast<void>(draft.keep(keep.end(), 4));  // the word that cannot be
}

std::vector<std::uint64_t> lengths(const std::vector<wire::WriteChunk>& chunks) {
  std::vector<std::uint64_t> out;
  out.reserve(chunks.size());
  for (const wire::WriteChunk& chunk : chunks) out.push_back(wire::chunk_length(chunk));
  return out;
}

/// A chunk may hold anything, also where it was offered for a message: that is judged by its first two words.
bool holds_message(Draft& draft, wire::MessageType type) {
  static_cast<void>(draft.keep(0, 8));
  const auto start = wire::decode_rpc_start(draft.original(), draft.original().size());
  return start && start->type == static_cast<std::uint32_t>(type);
}

/// Where a piece of memory lies in a chunk, octets from its start.
std::optional<std::uint64_t> in_chunk(const std::vector<wire::Segment>& chunk, std::uint32_t handle,
                                      std::uint64_t offset) noexcept {
  std::uint64_t before = 0;
  for (const wire::Segment& segment : chunk) {
    if (segment.handle == handle && offset - segment.offset < segment.length) return before + (offset - segment.offset);
    before += segment.length;
  }
  return std::nullopt;
}

}  // namespace

void Messages::handshake(const trace::StreamPart& frame) {
  places_.fpdu(frame, true);
  const auto decoded = wire::decode_mpa_frame(frame.octets, frame.end - frame.start);
  Draft draft(frame.octets);
  static_cast<void>(draft.keep(0, wire::mpa_header_length));
  if (decoded) {
    const std::size_t enhanced = decoded->header.enhanced() ? 4 : 0;
    static_cast<void>(draft.keep(wire::mpa_header_length, enhanced));
    draft_private_data(draft, wire::mpa_header_length + enhanced, decoded->private_data_wire_length);
  }
  const Spot spot = places_.stream(frame, 0, static_cast<std::uint32_t>(frame.octets.size()));
  for (const Draft::Range& range : draft.ranges()) {
    places_.put(spot, static_cast<std::uint32_t>(range.at), draft.octets().subspan(range.at, range.length));
  }
}

void Messages::fpdu(const trace::StreamPart& fpdu) {
  // RFC 5040: what a Read Request is; what a Terminate repeats of a message's headers, at most.
  constexpr std::size_t read_request = 28;
  constexpr std::size_t terminate = 4 + 2 + 18 + 28;
  places_.fpdu(fpdu, false);
  at_hand_ = {};
  const std::array<std::uint8_t, wire::fpdu_length_octets> length{static_cast<std::uint8_t>(fpdu.length >> 8U),
                                                                  static_cast<std::uint8_t>(fpdu.length)};
  places_.put(places_.stream(fpdu, 0, wire::fpdu_length_octets), 0, length);
  if (fpdu.octets.size() < 2) return;
  const wire::DdpControl control = wire::ddp_control(fpdu.octets.data());
  const auto header = static_cast<std::uint32_t>(std::min(control.header_length(), fpdu.octets.size()));
  const auto size = static_cast<std::uint32_t>(fpdu.octets.size());
  const Spot body = places_.stream(fpdu, wire::fpdu_length_octets, size);
  std::size_t understood = header;
  if (control.rdmap() == wire::RdmapOpcode::read_request) understood += read_request;
  if (control.rdmap() == wire::RdmapOpcode::terminate) understood += terminate;
  places_.put(body, 0, fpdu.octets.first(std::min(understood, fpdu.octets.size())));
  at_hand_ = places_.stream(fpdu, static_cast<std::uint32_t>(wire::fpdu_length_octets) + header, size - header);
  if (!control.send() || header < wire::ddp_untagged_length) return;
  const auto decoded = wire::decode_ddp_header(fpdu.octets, fpdu.octets.size());
  if (!decoded || at_hand_.in != Spot::In::stream) return;
  auto& waiting = sending_[at_hand_.which];
  if (!waiting.empty() && waiting.back().offset >= fpdu.offset) waiting.clear();  // of the same ports before
  if (waiting.size() >= most_pieces) waiting.erase(waiting.begin());
  waiting.push_back({fpdu.offset, decoded->msn, {decoded->message_offset, at_hand_.length, at_hand_, 0}});
}

Messages::Pieces Messages::pieces_of(const trace::Send& e) {
  Pieces out;
  const auto parts = parts_.find({e.connection, e.side});
  std::vector<std::uint64_t> frames;
  if (parts != parts_.end()) frames = std::move(parts->second);
  if (parts != parts_.end()) parts_.erase(parts);
  if (places_.packet(e.frame.number).in == Spot::In::nothing) {
    const auto waiting = sending_.find(at_hand_.which);
    if (waiting == sending_.end()) return out;
    // Not of each FPDU a Send comes: a connection may be made ready with one, or what it says is undecided.
    std::vector<FpduOfSend>& fpdus = waiting->second;
    auto at = fpdus.begin();
    while (at != fpdus.end() && at->offset < e.sequence) ++at;
    if (at != fpdus.end() && at->offset == e.sequence) {
      const std::uint32_t number = at->number;
      for (; at != fpdus.end() && at->number == number; ++at) out.push_back(at->piece);
    }
    fpdus.erase(fpdus.begin(), at);
    return out;
  }
  frames.push_back(e.last.number != 0 ? e.last.number : e.frame.number);
  std::size_t at = 0;
  for (const std::uint64_t frame : frames) {
    const Spot spot = places_.packet(frame);
    if (spot.in == Spot::In::nothing) continue;
    out.push_back({at, spot.length, spot, 0});
    at += spot.length;
  }
  return out;
}

void Messages::on(const trace::SendPart& e) {
  if (places_.packet(e.frame.number).in == Spot::In::packet && parts_.size() < most_unfinished) {
    auto& frames = parts_[{e.connection, e.side}];
    if (frames.size() < most_pieces) frames.push_back(e.frame.number);
  }
  sink_->on(e);
}

void Messages::on(const trace::Send& e) {
  constexpr std::size_t beginning = 1024;
  const SendKey key{e.connection, e.side, e.ordinal};
  Waiting& waiting = sends_[key];
  waiting.pieces = pieces_of(e);
  waiting.wire_length = e.wire_length;
  if (wire::plausible_rpcrdma(e.octets, e.wire_length) != wire::Plausible::no) {
    const Bytes begin = e.octets.first(std::min(e.octets.size(), beginning));
    waiting.octets.assign(begin.begin(), begin.end());
  }
  sends_order_.push_back(key);
  while (sends_order_.size() > most_waiting) {
    const auto oldest = sends_.find(sends_order_.front());
    if (oldest != sends_.end()) {
      keep_plausible(oldest->second);
      sends_.erase(oldest);
    }
    sends_order_.pop_front();
  }
  sink_->on(e);
}

void Messages::remember(std::uint64_t frame, std::uint32_t handle, std::uint64_t offset) {
  Spot spot = places_.packet(frame);
  if (spot.in == Spot::In::nothing) spot = at_hand_;
  if (spot.in == Spot::In::nothing) return;
  const OperationKey key{frame, handle, offset};
  operations_[key] = spot;
  operations_order_.push_back(key);
  bound(operations_, operations_order_, most_waiting);
}

void Messages::on(const trace::Write& e) {
  remember(e.frame.number, e.handle, e.offset);
  sink_->on(e);
}

void Messages::on(const trace::ReadResponse& e) {
  remember(e.frame.number, e.handle, e.offset);
  sink_->on(e);
}

Messages::Exchange& Messages::exchange(trace::ConnectionId connection, const referee::ExchangeRef& ref) {
  const ExchangeKey key{connection, ref.id, ref.requester};
  const bool full = exchanges_order_.size() >= most_exchanges;
  if (full && exchanges_.count(key) == 0) forget_oldest_exchange();
  while (gathered_ > most_gathered_in_all && !exchanges_order_.empty()) forget_oldest_exchange();
  const auto [at, fresh] = exchanges_.try_emplace(key);
  if (fresh) exchanges_order_.push_back(key);
  return at->second;
}

void Messages::forget_oldest_exchange() {
  const auto oldest = exchanges_.find(exchanges_order_.front());
  finish_call(oldest->second);
  finish_reply(oldest->second, {});
  exchanges_.erase(oldest);
  exchanges_order_.pop_front();
}

void Messages::Gathered::put(std::size_t at, Bytes octets) {
  runs_.push_back({at, octets.size(), octets_.size()});
  octets_.insert(octets_.end(), octets.begin(), octets.end());
  end_ = std::max(end_, at + octets.size());
}

std::vector<std::uint8_t> Messages::Gathered::message() const {
  constexpr std::size_t packet = 4096;
  std::vector<Run> runs = runs_;
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.at < b.at; });
  std::vector<std::uint8_t> out;
  std::size_t missing = 0;
  for (const Run& run : runs) {
    if (run.at > out.size()) missing += run.at - out.size();
    if (run.at >= most || missing > octets_.size() + packet) break;
    const std::size_t end = std::min(run.at + run.length, most);
    if (out.size() < end) out.resize(end);
    std::copy_n(octets_.begin() + static_cast<std::ptrdiff_t>(run.from), end - run.at,
                out.begin() + static_cast<std::ptrdiff_t>(run.at));
  }
  return out;
}

void Messages::write(const Draft& draft, const Pieces& pieces) {
  for (const Draft::Range& range : draft.ranges()) {
    for (const Piece& piece : pieces) {
      const std::size_t from = std::max(range.at, piece.at);
      const std::size_t end = std::min(range.at + range.length, piece.at + piece.length);
      if (from >= end) continue;
      places_.put(piece.spot, static_cast<std::uint32_t>(piece.offset + (from - piece.at)),
                  draft.octets().subspan(from, end - from));
    }
  }
}

bool Messages::again(const Gathered& gathered, std::uint64_t at, std::size_t length) noexcept {
  if (at >= gathered.end()) return false;
  return std::any_of(gathered.pieces.begin(), gathered.pieces.end(),
                     [&](const Piece& piece) { return piece.at < at + length && at < piece.at + piece.length; });
}

void Messages::gather(Gathered& into, std::uint64_t at, Bytes octets, const Spot& spot) {
  if (at > most_gathered || octets.size() > most_gathered - at || into.pieces.size() >= most_pieces) return;
  gathered_ -= into.room();
  into.put(static_cast<std::size_t>(at), octets);
  into.pieces.push_back({static_cast<std::size_t>(at), octets.size(), spot, 0});
  gathered_ += into.room();
}

/// The octets of a Send from `from` on, behind what is there.
void Messages::gather(Gathered& into, std::size_t from, Bytes octets, const Pieces& pieces) {
  if (from >= octets.size()) return;
  const std::size_t base = into.end();
  if (octets.size() - from > most_gathered - std::min(base, most_gathered)) return;
  gathered_ -= into.room();
  into.put(base, octets.subspan(from));
  for (const Piece& piece : pieces) {
    const std::size_t end = piece.at + piece.length;
    if (end <= from || into.pieces.size() >= most_pieces) continue;
    const std::size_t begin = std::max(from, piece.at);
    into.pieces.push_back({base + (begin - from), end - begin, piece.spot,
                           static_cast<std::uint32_t>(piece.offset + (begin - piece.at))});
  }
  gathered_ += into.room();
}

/// On a connection that is never known to be RPC-over-RDMA, what looks like it tells just that.
void Messages::keep_plausible(const Waiting& waiting) {
  if (waiting.octets.empty()) return;
  Draft draft(waiting.octets);
  keep_header(draft, waiting.wire_length, false);
  wire::HeaderV1 header;
  if (wire::decode_header_v1(waiting.octets, waiting.wire_length, header) &&
      header.length + 8 <= waiting.octets.size()) {
    const std::uint32_t type = wire::load_be32(waiting.octets.data() + header.length + 4);
    const std::size_t length = std::max<std::size_t>(waiting.wire_length, waiting.octets.size()) - header.length;
    if (type == 0) static_cast<void>(draft_call(draft, header.length, length, {}, pseudonyms_));
    if (type == 1) draft_reply(draft, header.length, length, std::nullopt, {}, pseudonyms_);
  }
  write(draft, waiting.pieces);
}

void Messages::finish_call(Exchange& of) {
  if (of.call.pieces.empty()) return;
  const std::vector<std::uint8_t> message = of.call.message();
  Draft draft(message);
  const std::size_t length = std::max<std::size_t>(message.size(), of.call.wire_length);
  if (holds_message(draft, wire::MessageType::call)) {
    of.asked = draft_call(draft, 0, length, of.reads, pseudonyms_);
  }
  write(draft, of.call.pieces);
  gathered_ -= of.call.room();
  of.call = {};
}

void Messages::finish_reply(Exchange& of, std::span<const std::uint64_t> returned) {
  if (of.reply.pieces.empty()) return;
  const std::vector<std::uint8_t> message = of.reply.message();
  Draft draft(message);
  const std::size_t length = std::max<std::size_t>(message.size(), of.reply.wire_length);
  if (holds_message(draft, wire::MessageType::reply)) {
    draft_reply(draft, 0, length, of.asked, returned, pseudonyms_);
  }
  write(draft, of.reply.pieces);
  gathered_ -= of.reply.room();
  of.reply = {};
}

void Messages::version1(const referee::MessageSeen& seen, Exchange* of, Draft& draft, const Pieces& pieces) {
  const wire::HeaderV1& header = *seen.header;
  const std::size_t left = std::max<std::size_t>(seen.send->wire_length, draft.original().size());
  const std::size_t length = left - std::min(left, header.length);
  const auto proc = static_cast<wire::Proc>(header.fixed.proc);
  // What stands behind a header of RDMA_NOMSG although it should not is a message as well.
  const bool inline_message = proc == wire::Proc::msg || proc == wire::Proc::msgp ||
                              (proc == wire::Proc::nomsg && !wire::has_position_zero(header) && length != 0);
  if (seen.kind == referee::MessageSeen::Kind::call && of != nullptr) {
    wire::collect_read_chunks(header.reads, of->reads);
    for (const wire::ReadSegment& segment : header.reads) {
      if (wire::position_zero(segment)) of->call_chunk.push_back(segment.target);
    }
    if (header.reply) of->reply_chunk = *header.reply;
    if (inline_message) of->asked = draft_call(draft, header.length, length, of->reads, pseudonyms_);
    for (const wire::Segment& segment : of->call_chunk) of->call.wire_length += segment.length;
  } else if (seen.kind == referee::MessageSeen::Kind::reply) {
    if (of != nullptr) finish_call(*of);
    std::optional<wire::Asked> asked = of != nullptr ? of->asked : std::nullopt;
    if (!asked && seen.procedure) {
      const auto& [program, version, procedure] = *seen.procedure;
      asked = wire::Asked{program, version, procedure, {}};
    }
    const auto returned = lengths(header.writes);
    if (inline_message) draft_reply(draft, header.length, length, asked, returned, pseudonyms_);
    if (of == nullptr) return write(draft, pieces);
    if (!of->asked) of->asked = asked;
    if (wire::has_position_zero(header)) {
      finish_reply(*of, {});  // it may have been offered before, from elsewhere
      of->offered.clear();
      for (const wire::ReadSegment& segment : header.reads) {
        if (wire::position_zero(segment)) of->offered.push_back(segment.target);
      }
    }
    if (!of->offered.empty()) return write(draft, pieces);
    if (header.reply) of->reply.wire_length = wire::chunk_length(*header.reply);
    if (of->reply.wire_length != 0) of->reply.most = of->reply.wire_length;
    finish_reply(*of, returned);
  } else if (inline_message) {
    const auto start =
        wire::decode_rpc_start(draft.original().subspan(std::min(header.length, draft.original().size())), length);
    if (start && start->type == 0) {
      static_cast<void>(draft_call(draft, header.length, length, {}, pseudonyms_));
    } else if (start) {
      draft_reply(draft, header.length, length, std::nullopt, {}, pseudonyms_);
    }
  }
  write(draft, pieces);
}

void Messages::version2(const referee::MessageSeen& seen, Exchange* of, Draft& draft, const Pieces& pieces) {
  const wire::HeaderV2& header = *seen.header2;
  const wire::HeaderType type = header.type();
  const bool early = header.draft == wire::Draft::earlier;
  const bool payload = early || wire::has_payload(type);
  if (of == nullptr) {
    const auto start =
        wire::decode_rpc_start(draft.original().subspan(std::min(header.length, draft.original().size())), 8);
    if (payload && start && start->type == 1) draft_reply(draft, header.length, 0, std::nullopt, {}, pseudonyms_);
    if (payload && start && start->type == 0) static_cast<void>(draft_call(draft, header.length, 0, {}, pseudonyms_));
    return write(draft, pieces);
  }
  const bool call = seen.kind == referee::MessageSeen::Kind::call;
  Gathered& into = call ? of->call : of->reply;
  if (call) {
    for (const wire::ReadSegment& segment : header.call_chunk) of->call_chunk.push_back(segment.target);
    for (const wire::ReadSegment& segment : header.lists.reads) {
      if (early && wire::position_zero(segment)) of->call_chunk.push_back(segment.target);
    }
    wire::collect_read_chunks(header.lists.reads, of->reads);
    if (header.lists.reply) of->reply_chunk = *header.lists.reply;
  }
  if (payload) gather(into, header.length, draft.original(), pieces);
  // Whether it begins a message or goes on with one may be asked of each piece.
  const Bytes original = draft.original();
  const auto type_of_message = call ? wire::MessageType::call : wire::MessageType::reply;
  if (payload && wire::begins_message(original.subspan(std::min(header.length, original.size())), header.fixed.xid,
                                      type_of_message)) {
    static_cast<void>(draft.keep(header.length, 8));
  }
  write(draft, pieces);
  const bool more = early ? (header.flags & 2U) != 0 : wire::is_middle(type);
  if (more) return;
  if (call) {
    if (payload && of->call_chunk.empty()) finish_call(*of);
  } else if (seen.kind == referee::MessageSeen::Kind::reply) {
    finish_call(*of);
    if (!of->asked && seen.procedure) {
      const auto& [program, version, procedure] = *seen.procedure;
      of->asked = wire::Asked{program, version, procedure, {}};
    }
    finish_reply(*of, lengths(header.lists.writes));
  }
}

void Messages::message(const referee::ConnectionFacts& connection, const referee::MessageSeen& seen) {
  if (seen.send != nullptr) {
    const SendKey key{seen.send->connection, seen.send->side, seen.send->ordinal};
    const auto found = sends_.find(key);
    if (found != sends_.end()) {
      const Pieces pieces = std::move(found->second.pieces);
      sends_.erase(found);
      Draft draft(seen.send->octets);
      keep_header(draft, seen.send->wire_length, seen.header == nullptr && seen.header2 == nullptr);
      Exchange* of = seen.exchange.id != 0 ? &exchange(connection.id, seen.exchange) : nullptr;
      if (seen.header != nullptr) {
        static_cast<void>(draft.keep(0, seen.header->length));
        version1(seen, of, draft, pieces);
      } else if (seen.header2 != nullptr) {
        version2(seen, of, draft, pieces);
      } else {
        write(draft, pieces);
      }
    }
  }
  Forwarding::message(connection, seen);
}

void Messages::operation(const referee::ConnectionFacts& connection, const referee::OperationSeen& seen) {
  if (seen.kind != referee::OperationSeen::Kind::read_request && seen.exchange.id != 0) {
    Exchange& of = exchange(connection.id, seen.exchange);
    const bool write = seen.kind == referee::OperationSeen::Kind::write;
    const auto& chunk = write ? of.reply_chunk : seen.offer ? of.offered : of.call_chunk;
    const auto found = operations_.find({seen.frame.number, seen.handle, seen.offset});
    if (const auto at = in_chunk(chunk, seen.handle, seen.offset); at && found != operations_.end()) {
      // The same memory once more is another message.
      const bool of_reply = write || seen.offer;
      if (of_reply && again(of.reply, *at, seen.octets.size())) finish_reply(of, {});
      if (!of_reply && again(of.call, *at, seen.octets.size())) finish_call(of);
      gather(of_reply ? of.reply : of.call, *at, seen.octets, found->second);
    }
  }
  Forwarding::operation(connection, seen);
}

void Messages::finish() {
  for (const auto& [key, waiting] : sends_) keep_plausible(waiting);
  sends_.clear();
  for (auto& [key, of] : exchanges_) {
    finish_call(of);
    finish_reply(of, {});
  }
  exchanges_.clear();
  exchanges_order_.clear();
}

}  // namespace rpcrdma::sanitize
