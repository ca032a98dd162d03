// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/journal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "journal/early.hpp"
#include "journal/exchanges.hpp"
#include "journal/late.hpp"
#include "journal/payloads.hpp"
#include "journal/version2.hpp"
#include "referee/referee.hpp"
#include "referee/rules/table.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::journal {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;

const std::vector<std::uint32_t> no_findings;

}  // namespace

/// Between trace and referee, and behind the referee: it hears both.
struct Journal::Engine final : trace::EventSink, trace::StreamWatch, referee::Observer {
  Engine(Journal& j, Options options)
      : journal(j),
        record(j.record_),
        referee(std::move(options.referee), this),
        trace(watched(std::move(options.trace)), *this) {}

  [[nodiscard]] trace::Options watched(trace::Options options) noexcept {
    options.streams = this;
    return options;
  }

  Journal& journal;
  Record& record;
  referee::Referee referee;
  trace::Trace trace;
  trace::FrameRef first;  ///< by time
  trace::FrameRef last;
  Version2 version2;
  Late late;
  Payloads payloads{record, late};
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
  EarlyMessages early;
  std::vector<std::uint32_t> unplaced_frames;                                // of each of those
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
    payloads.give_up(e.connection);
    version2.close(e.connection);
  }
  void on(const trace::Send& e) override { referee.on(e); }
  void on(const trace::SendPart& e) override {
    referee.on(e);
    const auto known = record.connections.find(e.connection);
    if (known == record.connections.end() || !known->second.rpcrdma) return;
    Part part;
    part.connection = e.connection;
    part.sender = e.side;
    part.ordinal = e.ordinal;
    part.frame = number(e.frame);
    const auto index = static_cast<std::uint32_t>(record.parts.size());
    std::vector<std::uint32_t>& open = open_parts[side_key(e.connection, e.side)];
    if (!open.empty() && record.parts[open.front()].ordinal != e.ordinal) open.clear();
    open.push_back(index);
    record.parts.push_back(part);
    add(number(e.frame), NoteKind::part, index);
  }
  void on(const trace::HeldSend& e) override { e.connection != 0 ? show_early(e) : show_unplaced(e); }
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
    record.repeats.insert_or_assign(number(e.frame), Repeat{e.connection, e.side, e.kind});
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
    add(number(frame), NoteKind::handshake, static_cast<std::uint32_t>(record.handshakes.size()));
    record.handshakes.push_back(std::move(note));
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
    message.time = send.last.time;
    take_header(send.octets, seen.header, message);
    message.operation = seen.operation;
    message.invalidated = send.invalidated;
    message.outstanding = seen.outstanding;
    message.granted = seen.granted;
    message.thresholds = facts.thresholds;
    message.octets = place(send.octets, send.wire_length, message.last_frame);
    payloads.give_up_call(connection, seen);
    const std::uint32_t there = taken_early(message);
    const std::uint32_t own = message.last_frame;
    const std::uint32_t shown = there != none ? own : late.shown_in(own);
    const auto index = there != none ? there : static_cast<std::uint32_t>(record.messages.size());
    if (there != none) {
      record.messages[there] = std::move(message);
    } else {
      if (second) join_pieces(message, index);
      record.messages.push_back(std::move(message));
      late.add(record, NoteKind::message, index, shown, own);
    }
    settle_parts(send, index);
    const bool piece = record.messages[index].piece;
    enter(connection, seen, send, shown, piece ? PieceOfMessage::earlier : PieceOfMessage::last);
    if (piece) return;
    using Pieces = Payloads::Pieces;
    payloads.message(connection, seen, index, shown, second && taken.joined ? Pieces::joined : Pieces::one);
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
    const auto index = static_cast<std::uint32_t>(record.operations.size());
    join(operation, seen, index);
    const std::uint32_t shown = shown_in(connection, seen);
    add(shown, NoteKind::operation, index);
    record.operations.push_back(operation);
    if (seen.exchange.id == 0) return;
    record.needed.operation(connection.id, seen.exchange.id, shown);
    payloads.operation(connection, seen, shown);
  }

  // --- what waits
  void show_early(const trace::HeldSend& e) {
    const auto of = record.connections.find(e.connection);
    if (late.current() == nullptr || late.current()->ref.number != e.frame.number || of == record.connections.end())
      return;
    std::optional<EarlyMessages::Read> read = early.read(e);
    if (!read) return;
    Message& message = read->message;
    message.thresholds = of->second.thresholds;
    message.octets = place(e.octets, e.wire_length, message.last_frame);
    // RPC wants a Call before its Reply.
    const bool given = read->whole && (read->call || early.call_given(of->second, message));
    if (given && read->call) early.give_call(message);
    const auto index = static_cast<std::uint32_t>(record.messages.size());
    early.shown(message.last_frame, index);
    add(message.last_frame, NoteKind::message, index);
    record.messages.push_back(std::move(message));
    if (given) payloads.early(of->second, index, read->call, e.frame);
  }
  /// Nobody knows yet whose it is.
  void show_unplaced(const trace::HeldSend& e) {
    std::optional<Unplaced> unplaced = early.read_unplaced(e);
    if (!unplaced) return;
    unplaced->octets = place(e.octets, e.wire_length, number(e.frame));
    const auto index = static_cast<std::uint32_t>(record.unplaced.size());
    add(number(e.frame), NoteKind::unplaced, index);
    unplaced_frames.push_back(number(e.frame));
    record.unplaced.push_back(std::move(*unplaced));
  }
  void take_back_unplaced() {
    for (std::uint32_t index = 0; index < unplaced_frames.size(); ++index)
      record.notes.remove(unplaced_frames[index], NoteKind::unplaced, index);
    record.unplaced = {};
  }
  /// The message, if it was shown early: it keeps its place, and what was given to RPC.
  [[nodiscard]] std::uint32_t taken_early(Message& message) {
    if (message.first_frame != message.last_frame) return none;
    const std::uint32_t index = early.take(message);
    if (index == none) return none;
    Message& shown = record.messages[index];
    message.octets = std::move(shown.octets);
    message.payload = shown.payload;
    message.rpc_frame = shown.rpc_frame;
    return index;
  }
  /// What was not told as a message after all.
  void take_back_early() {
    find_only_copies();
    for (const auto& [frame, index] : early.left()) {
      record.notes.remove(frame, NoteKind::message, index);
      record.notes.remove(frame, NoteKind::payload, record.messages[index].payload);
    }
  }

  /// Of those that were given to RPC, what no other message was: not again, but late.
  void find_only_copies() {
    const auto key = [](const Message& of) { return PieceKey{of.connection, of.sender, of.kind, of.xid}; };
    std::map<PieceKey, std::uint32_t> frames;
    std::unordered_set<std::uint32_t> gone;
    for (const auto& [frame, index] : early.left()) {
      gone.insert(index);
      const Message& message = record.messages[index];
      if (message.payload == none) continue;
      std::uint32_t& first = frames.try_emplace(key(message), frame).first->second;
      first = std::min(first, frame);
    }
    if (frames.empty()) return;
    for (std::uint32_t index = 0; index < record.messages.size(); ++index) {
      if (!gone.contains(index)) frames.erase(key(record.messages[index]));
    }
    for (const auto& [message, frame] : frames) {
      const auto repeat = record.repeats.find(frame);
      if (repeat != record.repeats.end()) repeat->second.only_copy = true;
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
      Operation& first = record.operations[running.first];
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
  void add(std::uint32_t frame, NoteKind kind, std::uint32_t index) { record.notes.add(frame, kind, index); }

  /// The file is read.
  void bring_home() {
    late.bring_home(record);
    for (const Late::Told& told : late.all()) {
      if (told.kind == NoteKind::payload) {
        payloads.stands_at_home(told.index);
        continue;
      }
      const Message& message = record.messages[told.index];
      stands_in_its_frame(record.connections[message.connection], message, told.shown);
    }
  }

  /// Where octets of an event are: in the frame that is being looked at, if they lie there in one piece.
  [[nodiscard]] Octets place(wire::Bytes octets, std::uint64_t wire_length, std::uint32_t frame) const {
    Octets placed;
    placed.captured = static_cast<std::uint32_t>(octets.size());
    placed.wire_length = wire_length;
    const trace::Frame* current = late.current();
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
    Connection& connection = record.connections[facts.id];
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
      Part& part = record.parts[index];
      if (part.ordinal != send.ordinal) continue;
      part.message = message;
      const std::uint32_t own = record.messages[message].last_frame;
      record.needed.add({late.shown_in(own), own}, part.frame);
    }
    open_parts.erase(open);
  }
};

Journal::Journal(Options options) : engine_(std::make_unique<Engine>(*this, std::move(options))) {}
Journal::~Journal() = default;

void Journal::feed(const trace::Frame& frame) {
  if (finished() || frame.ref.number <= last_frame_) return;
  last_frame_ = frame.ref.number;
  engine_->late.reads(&frame);
  trace::keep_earliest(engine_->first, frame.ref);
  engine_->last = frame.ref;
  const bool opened = engine_->trace.frame(frame);
  if (const std::uint32_t at = number(frame.ref); opened) {
    if (at >= opened_.size()) opened_.resize(at + std::size_t{1});
    opened_[at] = true;
  }
  engine_->late.reads(nullptr);
  engine_->late.in_order_of_frames(record_, number(frame.ref));
  index_findings();
}

void Journal::finish() {
  if (finished()) return;
  Engine& engine = *engine_;
  engine.trace.finish();
  engine.payloads.give_up_all();
  engine.bring_home();
  engine.take_back_early();
  engine.take_back_unplaced();
  referee::Report report = engine.referee.finish(engine.last, engine.first);
  findings_ = report.findings.all();
  mounts_ = std::move(report.mounts);
  by_frame_.clear();
  indexed_ = 0;
  mpa_begins_.clear();
  record_.needed.settle();
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

const Repeat* Journal::repeat(std::uint32_t frame) const noexcept {
  const auto at = record_.repeats.find(frame);
  return at == record_.repeats.end() ? nullptr : &at->second;
}

bool Journal::blank(std::uint32_t frame) const noexcept {
  return first(frame) == none && findings_of(frame).empty() && evidence_in(frame).empty() && proven_in(frame).empty() &&
         repeat(frame) == nullptr && needed_by(frame).empty() && !mpa_begins(frame);
}

const std::vector<std::uint32_t>& Journal::proven_in(std::uint32_t frame) const noexcept {
  return frame == last_frame_ ? proven_ : no_findings;
}

bool Journal::concerns(const referee::Finding& finding) const noexcept {
  // A mount that never came up has no message; what befell it is told all the same.
  const referee::Rule& rule = referee::rule(finding.rule);
  if (rule.group == 'N' && rule.severity != referee::Severity::note) return true;
  // That it is something else concerns who uses it, and not what is shown of RPC-over-RDMA beside it.
  if (record_.connections.empty() || finding.rule == referee::RuleId::not_rpcrdma) return false;
  return finding.connection == 0 || record_.connections.count(finding.connection) != 0;
}

const referee::Finding& Journal::finding(std::uint32_t index) const noexcept {
  return finished() ? findings_[index] : engine_->referee.finding(index);
}

}  // namespace rpcrdma::journal
