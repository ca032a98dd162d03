// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/journal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "journal/early.hpp"
#include "journal/exchanges.hpp"
#include "journal/version2.hpp"
#include "payload/assembler.hpp"
#include "referee/referee.hpp"
#include "referee/rules/table.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::journal {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;

const std::vector<std::uint32_t> no_findings;

[[nodiscard]] std::uint32_t number(trace::FrameRef frame) noexcept { return static_cast<std::uint32_t>(frame.number); }

}  // namespace

/// Between trace and referee, and behind the referee: it hears both.
struct Journal::Engine final : trace::EventSink, trace::StreamWatch, referee::Observer {
  Engine(Journal& j, Options options)
      : journal(j), referee(std::move(options.referee), this), trace(watched(std::move(options.trace)), *this) {}

  [[nodiscard]] trace::Options watched(trace::Options options) noexcept {
    options.streams = this;
    return options;
  }

  Journal& journal;
  referee::Referee referee;
  trace::Trace trace;
  const trace::Frame* current = nullptr;  // null at the end of the file
  trace::FrameRef first;
  trace::FrameRef last;
  Version2 version2;
  std::unordered_map<std::uint32_t, payload::Assembler> assemblers;
  struct Area {
    trace::ConnectionId connection = 0;
    trace::PrivateDataArea area;
  } area;
  struct Running {
    std::uint64_t op = 0;
    OperationSeen::Kind kind = OperationSeen::Kind::write;
    std::uint32_t first = none;
  };
  std::unordered_map<std::uint64_t, Running> running_operations;  // the newest of each side
  // The FPDU that the newest event of iWARP comes from.
  trace::FrameRef fpdu_begins;
  trace::FrameRef fpdu_ends;
  // Version 2: of messages that go on, the newest piece.
  using PieceKey = std::tuple<std::uint32_t, Side, MessageSeen::Kind, std::uint32_t>;
  static constexpr std::size_t most_newest_pieces = 4096;  // hostile: nobody leaves so many open
  std::map<PieceKey, std::uint32_t> newest_piece;
  struct Late {
    NoteKind kind = NoteKind::message;
    std::uint32_t index = none;
    std::uint32_t shown = 0;
  };
  std::vector<Late> late;    // what was told behind its own frame, as it was told
  std::size_t in_order = 0;  // of these
  EarlyMessages early;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_parts;  // of each side's unfinished Send

  // --- what the trace takes for MPA before it is sure of the stream
  void handshake(const trace::StreamPart& frame) override { journal.mpa_begins_.insert(number(frame.first)); }
  void waits(trace::FrameRef frame) override { journal.mpa_begins_.insert(number(frame)); }
  void fpdu(const trace::StreamPart& part) override {
    fpdu_begins = part.first;
    fpdu_ends = part.last;
  }

  // --- the trace's events go on to the referee
  void on(const trace::ConnectRequest& e) override {
    area = {e.connection, e.private_data};
    referee.on(e);
  }
  void on(const trace::ConnectReply& e) override {
    area = {e.connection, e.private_data};
    referee.on(e);
  }
  void on(const trace::ConnectReject& e) override { referee.on(e); }
  void on(const trace::RequestReceipt& e) override { referee.on(e); }
  void on(const trace::RequestUndelivered& e) override { referee.on(e); }
  void on(const trace::Sighted& e) override { referee.on(e); }
  void on(const trace::ConnectReady& e) override { referee.on(e); }
  void on(const trace::Adopted& e) override { referee.on(e); }
  void on(const trace::Disconnect& e) override {
    referee.on(e);
    give_up_all(e.connection);
    version2.close(e.connection);
  }
  void on(const trace::Send& e) override { referee.on(e); }
  void on(const trace::SendPart& e) override {
    referee.on(e);
    const auto known = journal.connections_.find(e.connection);
    if (known == journal.connections_.end() || !known->second.rpcrdma) return;
    Part part;
    part.connection = e.connection;
    part.sender = e.side;
    part.ordinal = e.ordinal;
    part.frame = number(e.frame);
    const auto index = static_cast<std::uint32_t>(journal.parts_.size());
    std::vector<std::uint32_t>& open = open_parts[side_key(e.connection, e.side)];
    if (!open.empty() && journal.parts_[open.front()].ordinal != e.ordinal) open.clear();
    open.push_back(index);
    journal.parts_.push_back(part);
    add(number(e.frame), NoteKind::part, index);
  }
  void on(const trace::HeldSend& e) override { show_early(e); }
  void on(const trace::Write& e) override { referee.on(e); }
  void on(const trace::ReadRequest& e) override { referee.on(e); }
  void on(const trace::ReadResponse& e) override { referee.on(e); }
  void on(const trace::Refusal& e) override { referee.on(e); }
  void on(const trace::Acknowledged& e) override { referee.on(e); }
  void on(const trace::Gap& e) override {
    version2.gap(e.connection, e.side);
    referee.on(e);
  }
  void on(const trace::Repeated& e) override {
    journal.repeats_.insert_or_assign(number(e.frame), Repeat{e.connection, e.side, e.kind});
    referee.on(e);
  }
  void on(const trace::Quality& e) override { referee.on(e); }
  void on(const trace::TcpAttempt& e) override { as_sink().on(e); }
  void on(const trace::Liveness& e) override { as_sink().on(e); }
  void on(const trace::NfsOverTcp& e) override { as_sink().on(e); }
  void on(const trace::Atomic& e) override { as_sink().on(e); }
  /// The referee need not listen to all that it is told.
  [[nodiscard]] trace::EventSink& as_sink() noexcept { return referee; }

  // --- what the referee says of them
  void handshake(const referee::ConnectionFacts& facts, Side sender, trace::FrameRef frame) override {
    Connection& connection = known(facts);
    Handshake note;
    note.connection = connection.id;
    note.sender = sender;
    note.private_data = sender == Side::active ? facts.private_data_client : facts.private_data_server;
    if (area.connection == facts.id) note.area = place(area.area.octets, area.area.wire_length, number(frame));
    add(number(frame), NoteKind::handshake, static_cast<std::uint32_t>(journal.handshakes_.size()));
    journal.handshakes_.push_back(std::move(note));
  }

  void message(const referee::ConnectionFacts& facts, const MessageSeen& as_told) override {
    Connection& connection = known(facts);
    const trace::Send& send = *as_told.send;
    Version2::Taken taken;
    const bool second = version2.take(connection.id, as_told, taken);
    const MessageSeen& seen = second ? taken.seen : as_told;
    Message message;
    message.piece = second && taken.piece;
    message.continued = second && taken.continued;
    message.connection = connection.id;
    message.kind = seen.kind;
    message.sender = send.side;
    message.exchange = seen.exchange.id;
    message.first_frame = std::min(number(send.frame), number(send.last));  // packets may come out of order
    message.last_frame = number(send.last);
    take_header(send.octets, seen.header, message);
    message.operation = seen.operation;
    message.invalidated = send.invalidated;
    message.outstanding = seen.outstanding;
    message.granted = seen.granted;
    message.thresholds = facts.thresholds;
    message.octets = place(send.octets, send.wire_length, message.last_frame);
    give_up_call(connection, seen);
    const std::uint32_t there = taken_early(message);
    const std::uint32_t shown = there != none ? message.last_frame : current_or(message.last_frame);
    const auto index = there != none ? there : static_cast<std::uint32_t>(journal.messages_.size());
    if (there != none) {
      journal.messages_[there] = std::move(message);
    } else {
      if (second) join_pieces(message, index);
      if (shown != message.last_frame) late.push_back({NoteKind::message, index, shown});
      journal.messages_.push_back(std::move(message));
      add(shown, NoteKind::message, index);
    }
    settle_parts(send, index);
    const bool piece = journal.messages_[index].piece;
    enter(connection, seen, send, shown, piece);
    if (piece) return;
    assemble(connection, seen, index, shown,
             !second || !taken.joined ? Pieces::one
             : taken.torn             ? Pieces::torn
                                      : Pieces::joined);
  }

  void operation(const referee::ConnectionFacts& facts, const OperationSeen& seen) override {
    Connection& connection = known(facts);
    Operation operation;
    operation.connection = connection.id;
    operation.exchange = seen.exchange.id;
    operation.kind = seen.kind;
    operation.offer = seen.offer;
    operation.sender = seen.side;
    operation.handle = seen.handle;
    operation.offset = seen.offset;
    operation.length = operation.total = seen.length;
    const auto index = static_cast<std::uint32_t>(journal.operations_.size());
    join(operation, seen, index);
    const std::uint32_t shown = shown_in(connection, seen);
    add(shown, NoteKind::operation, index);
    journal.operations_.push_back(operation);
    if (seen.exchange.id == 0) return;
    journal.needed_.operation(connection.id, seen.exchange.id, shown);
    if (auto rpc = assemblers[connection.id].operation(seen)) {
      show(connection, seen.exchange.id, message_of(connection, seen.exchange.id, rpc->call), std::move(*rpc),
           {shown, seen.frame.time});
    }
  }

  // --- what waits
  void show_early(const trace::HeldSend& e) {
    const auto of = journal.connections_.find(e.connection);
    if (current == nullptr || current->ref.number != e.frame.number || of == journal.connections_.end()) return;
    std::optional<EarlyMessages::Read> read = early.read(e);
    if (!read) return;
    Message& message = read->message;
    message.thresholds = of->second.thresholds;
    message.octets = place(e.octets, e.wire_length, message.last_frame);
    // RPC wants a Call before its Reply.
    const bool given = read->whole && (read->call || early.call_given(of->second, message));
    if (given && read->call) early.give_call(message);
    const auto index = static_cast<std::uint32_t>(journal.messages_.size());
    early.shown(message.last_frame, index);
    add(message.last_frame, NoteKind::message, index);
    journal.messages_.push_back(std::move(message));
    if (!given) return;
    payload::RpcMessage rpc;
    rpc.call = read->call;
    rpc.in_send = true;
    show(of->second, 0, index, std::move(rpc), e.frame);  // which exchange it belongs to is known when it is told
  }
  /// The message, if it was shown early: it keeps its place, and what was given to RPC.
  [[nodiscard]] std::uint32_t taken_early(Message& message) {
    if (message.first_frame != message.last_frame) return none;
    const std::uint32_t index = early.take(message);
    if (index == none) return none;
    Message& shown = journal.messages_[index];
    message.octets = std::move(shown.octets);
    message.payload = shown.payload;
    message.rpc_frame = shown.rpc_frame;
    return index;
  }
  /// What was not told as a message after all.
  void take_back_early() {
    for (const auto& [frame, index] : early.left()) {
      journal.notes_.remove(frame, NoteKind::message, index);
      journal.notes_.remove(frame, NoteKind::payload, journal.messages_[index].payload);
    }
  }

  // --- details
  /// Version 2: each piece knows the one before it.
  void join_pieces(Message& message, std::uint32_t index) {
    const PieceKey key{message.connection, message.sender, message.kind, message.xid};
    const auto newest = newest_piece.find(key);
    if (message.continued && newest != newest_piece.end()) message.before = newest->second;
    if (!message.piece) {
      if (newest != newest_piece.end()) newest_piece.erase(newest);
    } else if (newest != newest_piece.end()) {
      newest->second = index;
    } else if (newest_piece.size() < most_newest_pieces) {
      newest_piece.emplace(key, index);
    }
  }

  /// Where Wireshark has the operation: an FPDU of several segments is whole, and shown, in the last of them.
  [[nodiscard]] std::uint32_t shown_in(const Connection& connection, const OperationSeen& seen) const noexcept {
    const bool of_segments = connection.transport == trace::Transport::iwarp && fpdu_begins.number == seen.frame.number;
    return of_segments ? std::max(number(fpdu_begins), number(fpdu_ends)) : number(seen.frame);
  }

  /// The packets of one Write, or of one answer, follow each other: the newest of each side is enough to know.
  void join(Operation& operation, const OperationSeen& seen, std::uint32_t index) {
    if (seen.kind == OperationSeen::Kind::read_request) return;
    Running& running = running_operations[side_key(operation.connection, seen.side)];
    if (running.first != none && running.op == seen.op && running.kind == seen.kind) {
      Operation& first = journal.operations_[running.first];
      operation.starts = false;
      first.packets += 1;
      first.total += seen.length;
      return;
    }
    running = {seen.op, seen.kind, index};
  }
  [[nodiscard]] static std::uint64_t side_key(std::uint32_t connection, Side side) noexcept {
    return (static_cast<std::uint64_t>(connection) << 1U) | static_cast<std::uint64_t>(side);
  }
  [[nodiscard]] std::uint32_t current_or(std::uint32_t otherwise) const noexcept {
    return current != nullptr ? number(current->ref) : otherwise;
  }

  void add(std::uint32_t frame, NoteKind kind, std::uint32_t index) { journal.notes_.add(frame, kind, index); }

  /// The frame that what a note says belongs to.
  [[nodiscard]] std::uint32_t home_of(const Note& note, std::uint32_t shown) const {
    if (note.kind == NoteKind::message) return journal.messages_[note.index].last_frame;
    if (note.kind == NoteKind::payload) return number(journal.payloads_[note.index].home);
    return shown;
  }
  /// What had to wait is told in `shown`, each direction for itself: a Reply may come in front of its Call.
  void in_order_of_frames(std::uint32_t shown) {
    if (late.size() == in_order) return;
    in_order = late.size();
    journal.notes_.sort(shown, [&](const Note& note) { return home_of(note, shown); });
  }

  /// The file is read: what had to wait stands in its own frame from now on.
  void bring_home() {
    for (const Late& told : late) {
      if (told.kind == NoteKind::message) {
        const Message& message = journal.messages_[told.index];
        if (journal.notes_.move(told.shown, message.last_frame, told.kind, told.index)) {
          stands_in_its_frame(journal.connections_[message.connection], message, told.shown);
        }
      } else {
        Payload& payload = journal.payloads_[told.index];
        if (journal.notes_.move(told.shown, number(payload.home), told.kind, told.index)) {
          shown_with_rpc(payload, number(payload.home));
        }
        if (payload.stands == Stands::copied) {
          payload.stands = Stands::with_message;
          payload.octets = {};
          journal.messages_[payload.message].payload = told.index;
        }
      }
    }
  }

  /// Where octets of an event are: in the frame that is being looked at, if they lie there in one piece.
  [[nodiscard]] Octets place(wire::Bytes octets, std::uint64_t wire_length, std::uint32_t frame) const {
    Octets placed;
    placed.captured = static_cast<std::uint32_t>(octets.size());
    placed.wire_length = wire_length;
    if (current != nullptr && frame == number(current->ref) && !octets.empty()) {
      const std::uint8_t* begin = current->octets.data();
      const std::uint8_t* end = begin + current->octets.size();
      const std::less_equal<> not_after;
      if (not_after(begin, octets.data()) && not_after(octets.data() + octets.size(), end)) {
        placed.in_frame = true;
        placed.offset = static_cast<std::uint32_t>(octets.data() - begin);
        return placed;
      }
    }
    placed.copy.assign(octets.begin(), octets.end());
    return placed;
  }

  Connection& known(const referee::ConnectionFacts& facts) {
    Connection& connection = journal.connections_[facts.id];
    if (connection.id == 0 || connection.client.address != facts.client.address) {  // the roles may have been unknown
      connection.client = facts.client;
      connection.server = facts.server;
    }
    connection.id = facts.id;
    connection.transport = facts.transport;
    connection.rpcrdma = true;
    connection.thresholds = facts.thresholds;
    return connection;
  }

  void settle_parts(const trace::Send& send, std::uint32_t message) {
    const auto open = open_parts.find(side_key(send.connection, send.side));
    if (open == open_parts.end()) return;
    for (const std::uint32_t index : open->second) {
      Part& part = journal.parts_[index];
      if (part.ordinal != send.ordinal) continue;
      part.message = message;
      const std::uint32_t own = journal.messages_[message].last_frame;
      journal.needed_.add({current_or(own), own}, part.frame);
    }
    open_parts.erase(open);
  }

  /// The newest message of that kind of an exchange.
  [[nodiscard]] std::uint32_t message_of(Connection& connection, std::uint32_t id, bool call) {
    const Exchange* known_exchange = find_exchange(connection, id);
    if (known_exchange == nullptr) return none;
    const auto frame = number(call ? known_exchange->call : known_exchange->reply);
    for (std::uint32_t at = journal.first(frame); at != none; at = journal.notes_[at].next) {
      const Note& note = journal.notes_[at];
      if (note.kind != NoteKind::message) continue;
      const Message& message = journal.messages_[note.index];
      if (message.connection == connection.id && message.exchange == id) return note.index;
    }
    return none;
  }

  /// The Reply is here: what its Call still lacks will not come any more.
  void give_up_call(Connection& connection, const MessageSeen& seen) {
    const std::uint32_t id = seen.exchange.id;
    const bool answers = seen.kind == MessageSeen::Kind::reply || seen.kind == MessageSeen::Kind::error;
    if (!answers || id == 0) return;
    if (auto rpc = assemblers[connection.id].give_up(id)) {
      const std::uint32_t call = message_of(connection, id, true);
      const std::uint32_t own = call != none ? journal.messages_[call].last_frame : number(seen.send->last);
      show(connection, id, call, std::move(*rpc), {own, seen.send->last.time});
    }
  }

  enum class Pieces : std::uint8_t {
    one,
    joined,  ///< the message came in pieces, and its Send is not in any frame as a whole
    torn     ///< ... and a piece is missing
  };
  void assemble(Connection& connection, const MessageSeen& seen, std::uint32_t index, std::uint32_t shown,
                Pieces pieces) {
    auto rpc = assemblers[connection.id].message(seen);
    if (!rpc) return;
    using Placing = payload::RpcMessage::Placing;
    const bool holes = rpc->placing == Placing::whole && seen.send->holes;
    if (pieces == Pieces::torn || holes) rpc->placing = Placing::torn;
    // Its Call has its data later, which the capture has in another order: RPC wants the Call first.
    const Exchange* of = find_exchange(connection, seen.exchange.id);
    const bool behind_call = !rpc->call && of != nullptr && of->call_whole.number > seen.send->last.number;
    const bool elsewhere = pieces != Pieces::one || behind_call;
    const bool apart = current_or(shown) != shown && journal.messages_[index].payload == none;  // it was shown early
    if (rpc->in_send && (elsewhere || apart)) {
      rpc->in_send = !elsewhere;
      const std::size_t header = seen.header->length;
      rpc->stream.append(payload::behind(seen.send->octets, header),
                         payload::length_behind(seen.send->wire_length, header));
    }
    show(connection, seen.exchange.id, index, std::move(*rpc), behind_call ? of->call_whole : seen.send->last);
  }

  /// `home`: of what makes it whole.
  void show(Connection& connection, std::uint32_t id, std::uint32_t message, payload::RpcMessage rpc,
            trace::FrameRef home) {
    const std::uint32_t frame = current_or(number(home));
    if (message != none && journal.messages_[message].payload != none) {
      Payload& given = journal.payloads_[journal.messages_[message].payload];
      given.exchange = id;
      given.placing = rpc.placing;
      if (Exchange* of = find_exchange(connection, id); of != nullptr && rpc.call) of->call_whole = given.home;
      return;
    }
    Payload payload;
    payload.home = home;
    payload.connection = connection.id;
    payload.exchange = id;
    payload.message = message;
    payload.call = rpc.call;
    payload.placing = rpc.placing;
    payload.octets = std::move(rpc.stream.octets);
    payload.octets.shrink_to_fit();
    payload.wire_length = rpc.stream.wire_length;
    if (rpc.in_send) payload.stands = payload.octets.empty() ? Stands::with_message : Stands::copied;
    const auto index = static_cast<std::uint32_t>(journal.payloads_.size());
    if (message != none) {
      Message& owner = journal.messages_[message];
      payload.sender = owner.sender;
      shown_with_rpc(payload, frame);
      if (rpc.in_send) {
        if (payload.stands == Stands::with_message) owner.payload = index;
        payload.wire_length = payload::length_behind(owner.octets.wire_length, owner.header_length);
      }
    }
    if (Exchange* known_exchange = find_exchange(connection, id); known_exchange != nullptr && rpc.call) {
      payload.time = known_exchange->call.time;
      known_exchange->call_whole = home;
    }
    if (!rpc.in_send) needs_parts(payload, frame);
    if (frame != number(home)) late.push_back({NoteKind::payload, index, frame});
    journal.payloads_.push_back(std::move(payload));
    add(frame, NoteKind::payload, index);
  }
  /// Put together of its message, its pieces, and RDMA where the Call says.
  void needs_parts(const Payload& payload, std::uint32_t told) {
    const NeededFrames::Shown shown{told, number(payload.home)};
    if (const Exchange* of = journal.exchange(payload.connection, payload.exchange)) {
      journal.needed_.add(shown, number(of->call));
    }
    for (std::uint32_t at = payload.message; at != none; at = journal.messages_[at].before) {
      journal.needed_.add(shown, journal.messages_[at].last_frame);
    }
    journal.needed_.put_together(payload.connection, payload.exchange, shown);
  }
  /// Its message, and the pieces of it, say where the RPC message is shown.
  void shown_with_rpc(const Payload& payload, std::uint32_t frame) {
    for (std::uint32_t at = payload.message; at != none; at = journal.messages_[at].before) {
      journal.messages_[at].rpc_frame = frame;
    }
  }

  void give_up_all(std::uint32_t id) {
    const auto assembler = assemblers.find(id);
    if (assembler == assemblers.end()) return;
    const auto connection = journal.connections_.find(id);
    if (connection != journal.connections_.end()) {
      for (const std::uint32_t waiting : assembler->second.waiting()) {
        const std::uint32_t call = message_of(connection->second, waiting, true);
        if (auto rpc = assembler->second.give_up(waiting); rpc && call != none) {
          show(connection->second, waiting, rpc->call ? call : message_of(connection->second, waiting, false),
               std::move(*rpc),
               current != nullptr ? current->ref : trace::FrameRef{journal.messages_[call].last_frame, 0});
        }
      }
    }
    assemblers.erase(assembler);
  }
};

Journal::Journal(Options options) : engine_(std::make_unique<Engine>(*this, std::move(options))) {}
Journal::~Journal() = default;

void Journal::feed(const trace::Frame& frame) {
  if (finished() || frame.ref.number <= last_frame_) return;
  last_frame_ = frame.ref.number;
  engine_->current = &frame;
  if (engine_->first.number == 0) engine_->first = frame.ref;
  engine_->last = frame.ref;
  const bool opened = engine_->trace.frame(frame);
  if (const std::uint32_t at = number(frame.ref); opened) {
    if (at >= opened_.size()) opened_.resize(at + std::size_t{1});
    opened_[at] = true;
  }
  engine_->current = nullptr;
  engine_->in_order_of_frames(number(frame.ref));
  index_findings();
}

void Journal::finish() {
  if (finished()) return;
  Engine& engine = *engine_;
  engine.trace.finish();
  std::vector<std::uint32_t> open;
  for (const auto& [id, assembler] : engine.assemblers) open.push_back(id);
  std::sort(open.begin(), open.end());
  for (const std::uint32_t id : open) engine.give_up_all(id);
  engine.bring_home();
  engine.take_back_early();
  referee::Report report = engine.referee.finish(engine.last, engine.first);
  findings_ = report.findings.all();
  mounts_ = std::move(report.mounts);
  by_frame_.clear();
  indexed_ = 0;
  mpa_begins_.clear();
  needed_.settle();
  engine_.reset();
  index_findings();
}

void Journal::index_findings() {
  const std::size_t all = finished() ? findings_.size() : engine_->referee.findings();
  proven_.clear();
  for (; indexed_ < all; ++indexed_) {
    const auto index = static_cast<std::uint32_t>(indexed_);
    const referee::Finding& each = finding(index);
    by_frame_.add(each, index);
    if (!finished() && !each.frames.empty() && each.frames.front() < last_frame_) proven_.push_back(index);
  }
}

const Connection* Journal::connection(std::uint32_t id) const noexcept {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : &at->second;
}

const Exchange* Journal::exchange(std::uint32_t connection_id, std::uint32_t exchange) const noexcept {
  const Connection* known = connection(connection_id);
  if (known == nullptr || exchange == 0 || exchange > known->exchanges.size()) return nullptr;
  return &known->exchanges[exchange - 1];
}

const Repeat* Journal::repeat(std::uint32_t frame) const noexcept {
  const auto at = repeats_.find(frame);
  return at == repeats_.end() ? nullptr : &at->second;
}

const std::vector<std::uint32_t>& Journal::proven_in(std::uint32_t frame) const noexcept {
  return frame == last_frame_ ? proven_ : no_findings;
}

bool Journal::concerns(const referee::Finding& finding) const noexcept {
  // A mount that never came up has no message; what befell it is told all the same.
  const referee::Rule& rule = referee::rule(finding.rule);
  if (rule.group == 'N' && rule.severity != referee::Severity::note) return true;
  if (connections_.empty()) return false;
  return finding.connection == 0 || finding.rule == referee::RuleId::not_rpcrdma ||
         connections_.count(finding.connection) != 0;
}

const referee::Finding& Journal::finding(std::uint32_t index) const noexcept {
  return finished() ? findings_[index] : engine_->referee.finding(index);
}

}  // namespace rpcrdma::journal
