// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/ladder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/rpc.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::report {

namespace {

using Kind = LadderRow::Kind;
using referee::MessageSeen;
using referee::OperationSeen;
using trace::Side;

constexpr std::size_t most_texts = 4096;
constexpr std::size_t near = 24;          // rows around a finding that are kept
constexpr std::size_t least_window = 32;  // of a connection, however many there are
constexpr std::size_t all_windows = 65536;

[[nodiscard]] Kind kind_of(MessageSeen::Kind kind) noexcept {
  switch (kind) {
    case MessageSeen::Kind::call:
      return Kind::call;
    case MessageSeen::Kind::reply:
      return Kind::reply;
    case MessageSeen::Kind::done:
      return Kind::done;
    case MessageSeen::Kind::error:
      return Kind::error;
    case MessageSeen::Kind::other:
      break;
  }
  return Kind::other;
}

[[nodiscard]] Kind kind_of(OperationSeen::Kind kind) noexcept {
  switch (kind) {
    case OperationSeen::Kind::write:
      return Kind::write;
    case OperationSeen::Kind::read_request:
      return Kind::read_request;
    case OperationSeen::Kind::read_response:
      break;
  }
  return Kind::read_response;
}

[[nodiscard]] LadderRow row_of(Kind kind, const trace::EventBase& event) {
  LadderRow row;
  row.kind = kind;
  row.sender = event.side;
  row.first = row.last = event.frame;
  return row;
}

[[nodiscard]] bool holds(const LadderRow& row, std::uint64_t frame) noexcept {
  return row.kind != Kind::left_out && row.first.number <= frame && frame <= row.last.number;
}

/// How well a row stands for a frame of a finding; 0: not at all.
[[nodiscard]] int fitness(const LadderRow& row, std::uint64_t frame, const referee::Finding& finding) noexcept {
  if (!holds(row, frame)) return 0;
  int points = 1;
  if (row.first.number == frame || row.last.number == frame) points += 4;
  if (finding.xid && row.has_xid && row.xid == *finding.xid) points += 2;
  if (finding.violator && (*finding.violator == referee::Party::client) == (row.sender == Side::active)) points += 1;
  return points;
}

[[nodiscard]] bool earlier(const LadderRow& a, const LadderRow& b) noexcept { return a.first.number < b.first.number; }

/// Of rows in order, the one that stands for this frame of a finding; nullptr: none does.
[[nodiscard]] LadderRow* best_row(std::vector<LadderRow>& rows, std::uint64_t frame, const referee::Finding& finding) {
  // Rows of many packets begin a little earlier.
  constexpr std::ptrdiff_t look_back = 256;
  const auto after = std::upper_bound(rows.begin(), rows.end(), frame,
                                      [](std::uint64_t number, const LadderRow& r) { return number < r.first.number; });
  LadderRow* best = nullptr;
  int points = 0;
  for (auto row = after; row != rows.begin() && after - row < look_back;) {
    --row;
    if (const int fit = fitness(*row, frame, finding); fit > points) {
      best = &*row;
      points = fit;
    }
  }
  return best;
}

}  // namespace

struct Ladder::Keeper {
  Connection connection;
  bool known = false;            // it carries RPC-over-RDMA
  std::deque<LadderRow> recent;  // newest rows, once the beginning is full
  std::size_t to_keep = 0;       // rows still to come that stand behind a finding
  std::size_t marked_from = 0;   // rows of `recent` from here on are near a finding ...
  std::size_t marked_to = 0;     // ... up to here

  struct OpenOperation {
    std::uint64_t op = 0;
    Kind kind = Kind::write;
    Side side = Side::active;
    std::uint64_t serial = 0;  // of its row; counts all rows of the connection
  };
  std::array<OpenOperation, 32> open{};  // the newest ones
  std::size_t next_open = 0;
  std::uint64_t serial = 0;         // of the next row
  std::uint64_t recent_serial = 0;  // of recent.front()

  /// The row with this serial, while it is at hand.
  [[nodiscard]] LadderRow* row(std::uint64_t wanted) noexcept {
    if (wanted >= recent_serial) {
      const std::uint64_t at = wanted - recent_serial;
      return at < recent.size() ? &recent[at] : nullptr;
    }
    // Until something was left out, serials are places.
    return connection.left_out == 0 && wanted < connection.rows.size() ? &connection.rows[wanted] : nullptr;
  }
};

Ladder::Ladder() : Ladder(Limits{}) {}
Ladder::Ladder(Limits limits) : limits_(limits) { texts_.emplace_back(); }
Ladder::~Ladder() = default;

Ladder::Keeper* Ladder::keeper(trace::ConnectionId id) {
  const auto at = connections_.find(id);
  if (at != connections_.end()) return at->second.get();
  if (connections_.size() >= limits_.connections && unknown_ > 0) forget_unknown();
  if (connections_.size() >= limits_.connections) return nullptr;
  ++unknown_;
  auto& slot = connections_[id];
  slot = std::make_unique<Keeper>();
  slot->connection.id = id;
  return slot.get();
}

void Ladder::forget_unknown() {
  std::erase_if(connections_, [&](const auto& entry) {
    const Keeper& keeper = *entry.second;
    if (keeper.known) return false;
    from_beginning_ -= std::min(from_beginning_, keeper.connection.rows.size());
    for (const LadderRow& row : keeper.connection.rows) octets_ -= row.octets.size();
    for (const LadderRow& row : keeper.recent) octets_ -= row.octets.size();
    return true;
  });
  unknown_ = 0;
}

void Ladder::know(Keeper& keeper) noexcept {
  if (keeper.known) return;
  keeper.known = true;
  --unknown_;
}

void Ladder::settle(Keeper& keeper, LadderRow&& row, bool marked) {
  std::vector<LadderRow>& rows = keeper.connection.rows;
  ++keeper.recent_serial;
  if (marked && near_findings_ < limits_.near_findings) {
    ++near_findings_;
    rows.push_back(std::move(row));
    return;
  }
  octets_ -= row.octets.size();
  ++keeper.connection.left_out;
  if (rows.empty() || rows.back().kind != Kind::left_out) {
    LadderRow hole;
    hole.kind = Kind::left_out;
    hole.first = row.first;
    hole.packets = 0;
    rows.push_back(std::move(hole));
  }
  LadderRow& hole = rows.back();
  ++hole.packets;
  if (row.first.number < hole.first.number) hole.first = row.first;
  if (hole.last.number < row.last.number) hole.last = row.last;
}

void Ladder::add(trace::ConnectionId id, LadderRow&& row) {
  Keeper* keeper = this->keeper(id);
  if (keeper == nullptr) {
    octets_ -= row.octets.size();
    return;
  }
  ++keeper->serial;
  if (from_beginning_ < limits_.rows) {
    ++from_beginning_;
    ++keeper->recent_serial;
    keeper->connection.rows.push_back(std::move(row));
    return;
  }
  const std::size_t window =
      std::min(limits_.window, std::max(least_window, all_windows / std::max<std::size_t>(1, connections_.size())));
  while (keeper->recent.size() >= window) {
    const bool marked = keeper->marked_from == 0 && keeper->marked_to > 0;
    LadderRow oldest = std::move(keeper->recent.front());
    keeper->recent.pop_front();
    if (keeper->marked_from > 0) --keeper->marked_from;
    if (keeper->marked_to > 0) --keeper->marked_to;
    settle(*keeper, std::move(oldest), marked);
  }
  keeper->recent.push_back(std::move(row));
  if (keeper->to_keep > 0) {
    --keeper->to_keep;
    keeper->marked_to = keeper->recent.size();
  }
}

void Ladder::watch(const referee::Referee& referee) {
  for (; watched_ < referee.findings(); ++watched_) {
    const referee::Finding& finding = referee.finding(watched_);
    const auto at = connections_.find(finding.connection);
    if (at == connections_.end() || at->second->recent.empty()) continue;
    Keeper& keeper = *at->second;
    // From the oldest frame of the finding that is still at hand up to now, and a little more on both sides.
    std::size_t oldest = keeper.recent.size() - 1;
    for (const std::uint64_t frame : finding.frames) {
      for (std::size_t i = 0; i < oldest; ++i) {
        if (holds(keeper.recent[i], frame)) oldest = i;
      }
    }
    const std::size_t from = oldest > near ? oldest - near : 0;
    keeper.marked_from = keeper.marked_to > 0 ? std::min(keeper.marked_from, from) : from;
    keeper.marked_to = keeper.recent.size();
    keeper.to_keep = near;
  }
}

/// The procedure of a Long Call is known only when its Reply comes.
void Ladder::name_long_calls(Keeper& keeper) {
  std::vector<LadderRow>& rows = keeper.connection.rows;
  struct Names {
    std::uint32_t procedure = 0, operations = 0, leading = 0;
  };
  std::unordered_map<std::uint32_t, Names> names;
  for (const LadderRow& row : rows) {
    if (row.exchange == 0) continue;
    Names& known = names[row.exchange];
    if (known.procedure == 0) known.procedure = row.procedure;
    if (known.operations == 0) known.operations = row.operations;
    if (known.leading == 0) known.leading = row.leading;
  }
  for (LadderRow& row : rows) {
    row.marks.clear();
    if (row.exchange == 0) continue;
    const Names& known = names[row.exchange];
    row.procedure = known.procedure;
    row.operations = known.operations;
    row.leading = known.leading;
  }
}

/// In which connection's drawing each finding stands; nullptr: in none. What belongs to no connection stands with the
/// first one that is not over yet, or with the last.
std::vector<Ladder::Keeper*> Ladder::homes(const std::vector<referee::Finding>& findings) {
  std::map<trace::ConnectionId, Keeper*> drawn;
  for (const auto& [id, keeper] : connections_) {
    if (keeper->known && !keeper->connection.rows.empty()) drawn[id] = keeper.get();
  }
  std::map<std::uint64_t, Keeper*> by_end;
  for (const auto& [id, keeper] : drawn) by_end.try_emplace(keeper->connection.rows.back().last.number, keeper);
  std::vector<Keeper*> out;
  out.reserve(findings.size());
  for (const referee::Finding& finding : findings) {
    Keeper* home = nullptr;
    if (const auto at = connections_.find(finding.connection); at != connections_.end()) {
      home = at->second.get();
    } else if (finding.connection == 0 && !finding.frames.empty() && !by_end.empty()) {
      const auto later = by_end.lower_bound(finding.frames.front());
      home = later != by_end.end() ? later->second : by_end.rbegin()->second;
    }
    out.push_back(home);
  }
  return out;
}

/// Where nothing that is drawn holds its frame a finding has a row of its own.
void Ladder::give_places(const std::vector<referee::Finding>& findings, const std::vector<Keeper*>& homes) {
  constexpr std::size_t most = 512;  // of a connection
  std::unordered_map<Keeper*, std::map<std::uint64_t, LadderRow>> places;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const referee::Finding& finding = findings[i];
    if (homes[i] == nullptr || finding.frames.empty()) continue;
    const std::uint64_t frame = finding.frames.front();
    if (best_row(homes[i]->connection.rows, frame, finding) != nullptr) continue;
    std::map<std::uint64_t, LadderRow>& of = places[homes[i]];
    if (of.size() >= most) continue;
    LadderRow& row = of[frame];
    row.kind = Kind::frame;
    row.sender = finding.violator == referee::Party::server ? Side::passive : Side::active;
    row.first = row.last = {frame, finding.time};
  }
  for (auto& [keeper, of] : places) {
    std::vector<LadderRow>& rows = keeper->connection.rows;
    for (auto& [frame, row] : of) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(), earlier);
  }
}

void Ladder::finish(const std::vector<referee::Finding>& findings) {
  for (auto& [id, keeper] : connections_) {
    std::vector<LadderRow>& rows = keeper->connection.rows;
    for (LadderRow& row : keeper->recent) rows.push_back(std::move(row));
    keeper->recent.clear();
    std::stable_sort(rows.begin(), rows.end(), earlier);
    name_long_calls(*keeper);
  }
  const std::vector<Keeper*> homes = this->homes(findings);
  give_places(findings, homes);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (homes[i] == nullptr) continue;
    const referee::Finding& finding = findings[i];
    const auto number = static_cast<std::uint32_t>(i);
    for (std::size_t f = 0; f < finding.frames.size(); ++f) {
      LadderRow* best = best_row(homes[i]->connection.rows, finding.frames[f], finding);
      if (best != nullptr && (best->marks.empty() || best->marks.back().finding != number)) {
        best->marks.push_back({number, f == 0});
      }
    }
  }
}

const Ladder::Connection* Ladder::connection(trace::ConnectionId id) const noexcept {
  const auto at = connections_.find(id);
  return at == connections_.end() ? nullptr : &at->second->connection;
}

std::uint32_t Ladder::intern(std::string&& text) {
  if (text.empty()) return 0;
  const auto known = text_numbers_.find(text);
  if (known != text_numbers_.end()) return known->second;
  if (texts_.size() >= most_texts) return 0;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(text);
  text_numbers_.emplace(std::move(text), number);
  return number;
}

void Ladder::keep_octets(LadderRow& row, wire::Bytes octets) {
  const std::size_t room = limits_.octets - std::min(limits_.octets, octets_);
  const std::size_t n = std::min({octets.size(), limits_.octets_each, room});
  row.octets.assign(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(n));
  octets_ += n;
}

void Ladder::read_segments(LadderRow& row, const MessageSeen& seen) {
  const auto take = [&](LadderSegment::List list, std::uint32_t chunk, std::uint32_t position,
                        const wire::Segment& segment) {
    if (row.segments.size() < limits_.segments_each) {
      row.segments.push_back({list, chunk, position, segment});
    } else {
      ++row.segments_left_out;
    }
  };
  const wire::HeaderV1* lists = seen.header;
  if (const wire::HeaderV2* header = seen.header2; lists == nullptr && header != nullptr) {
    row.header = static_cast<std::uint32_t>(header->length);
    for (const wire::ReadSegment& segment : header->call_chunk) {
      take(LadderSegment::List::call, 0, segment.position, segment.target);
    }
    lists = &header->lists;
  } else if (lists != nullptr) {
    row.header = static_cast<std::uint32_t>(lists->length);
  } else {
    return;
  }
  for (const wire::ReadSegment& segment : lists->reads) {
    take(LadderSegment::List::read, 0, segment.position, segment.target);
  }
  for (std::size_t i = 0; i < lists->writes.size(); ++i) {
    for (const wire::Segment& segment : lists->writes[i]) {
      take(LadderSegment::List::write, static_cast<std::uint32_t>(i), 0, segment);
    }
  }
  if (lists->reply) {
    for (const wire::Segment& segment : *lists->reply) take(LadderSegment::List::reply, 0, 0, segment);
  }
}

void Ladder::name_procedure(LadderRow& row, const MessageSeen& seen) {
  if (seen.procedure) {
    const auto [program, version, number] = *seen.procedure;
    const auto known = procedures_.find(*seen.procedure);
    if (known != procedures_.end()) {
      row.procedure = known->second;
    } else {
      row.procedure = intern(wire::procedure_name(program, version, number));
      if (procedures_.size() < most_texts) procedures_[*seen.procedure] = row.procedure;
    }
    row.leading = seen.operation.empty() ? row.procedure : intern(std::string(seen.operation));
  }
  const trace::Send& send = *seen.send;
  if (row.kind != Kind::call || row.header == 0 || send.octets.size() <= row.header) return;
  const wire::Bytes message = send.octets.subspan(row.header);
  const std::size_t length = send.wire_length - row.header;
  const auto call = wire::decode_rpc_call(message, length);
  if (!call || call->procedure != 1) return;
  const bool callback = wire::callback_program(call->program);
  if (!callback && (call->program != wire::nfs_program || call->version != 4)) return;
  const auto compound = wire::decode_compound_of(*call, message, length);
  if (!compound) return;
  std::string names;
  for (const std::uint32_t operation : compound->operations) {
    const std::string_view name = wire::nfs4_operation_name(operation, callback);
    if (name.empty()) break;
    if (!names.empty()) names += ", ";
    names += name;
  }
  row.operations = intern(std::move(names));
}

void Ladder::message(const referee::ConnectionFacts& connection, const MessageSeen& seen) {
  const trace::Send& send = *seen.send;
  LadderRow row = row_of(kind_of(seen.kind), send);
  row.last = send.last.number != 0 ? send.last : send.frame;
  row.length = send.wire_length;
  row.captured = send.octets.size();
  row.holes = send.holes;
  row.exchange = seen.exchange.id;
  if (send.octets.size() >= 4) {
    row.xid = wire::load_be32(send.octets.data());
    row.has_xid = true;
  }
  if (send.octets.size() >= 16) {
    row.version = wire::load_be32(send.octets.data() + 4);
    row.credit = wire::load_be32(send.octets.data() + 8);
    row.proc = wire::load_be32(send.octets.data() + 12);
  }
  row.outstanding = seen.outstanding;
  row.granted = seen.granted;
  row.threshold =
      send.side == Side::active ? connection.thresholds.client_to_server : connection.thresholds.server_to_client;
  row.invalidated = send.invalidated;
  read_segments(row, seen);
  name_procedure(row, seen);
  keep_octets(row, send.octets);
  if (Keeper* keeper = this->keeper(connection.id)) know(*keeper);
  add(connection.id, std::move(row));
}

void Ladder::operation(const referee::ConnectionFacts& connection, const OperationSeen& seen) {
  Keeper* keeper = this->keeper(connection.id);
  if (keeper == nullptr) return;
  know(*keeper);
  const Kind kind = kind_of(seen.kind);
  if (kind != Kind::read_request) {
    for (const Keeper::OpenOperation& open : keeper->open) {
      if (open.op != seen.op || open.op == 0 || open.kind != kind || open.side != seen.side) continue;
      LadderRow* row = keeper->row(open.serial);
      if (row == nullptr) break;
      row->last = seen.frame;
      ++row->packets;
      row->length += seen.length;
      if (row->exchange == 0 && seen.exchange.id != 0) {
        row->exchange = seen.exchange.id;
        row->xid = seen.exchange.xid;
        row->has_xid = true;
      }
      return;
    }
  }
  LadderRow row;
  row.kind = kind;
  row.sender = seen.side;
  row.first = row.last = seen.frame;
  row.length = seen.length;
  row.exchange = seen.exchange.id;
  row.xid = seen.exchange.xid;
  row.has_xid = seen.exchange.id != 0;
  row.handle = seen.handle;
  row.offset = seen.offset;
  row.op = seen.op;
  row.offer = seen.offer;
  keeper->open[keeper->next_open] = {seen.op, kind, seen.side, keeper->serial};
  keeper->next_open = (keeper->next_open + 1) % keeper->open.size();
  add(connection.id, std::move(row));
}

void Ladder::heard(const trace::ConnectRequest& event) {
  LadderRow row = row_of(Kind::connect_request, event);
  row.length = event.private_data.wire_length;
  keep_octets(row, event.private_data.octets);
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::ConnectReply& event) {
  LadderRow row = row_of(Kind::connect_reply, event);
  row.length = event.private_data.wire_length;
  keep_octets(row, event.private_data.octets);
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::ConnectReject& event) {
  LadderRow row = row_of(Kind::connect_reject, event);
  row.length = event.private_data.wire_length;
  row.reason = event.reason;
  keep_octets(row, event.private_data.octets);
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::ConnectReady& event) {
  if (!event.message_seen) return;  // the data itself has its row
  add(event.connection, row_of(Kind::connect_ready, event));
}

void Ladder::heard(const trace::Disconnect& event) {
  LadderRow row = row_of(Kind::close, event);
  row.how = event.how;
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::Refusal& event) {
  LadderRow row = row_of(Kind::refusal, event);
  row.refusal = event.kind;
  row.refused = event.refused;
  row.refused_frame = event.refused_frame;
  row.length = event.refused_length;
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::Gap& event) {
  LadderRow row = row_of(event.kind == trace::Gap::Kind::missing ? Kind::gap : Kind::unread, event);
  row.packets = event.count;
  add(event.connection, std::move(row));
}

void Ladder::heard(const trace::Repeated& event) {
  const bool copied =
      event.kind == trace::Repeated::Kind::capture_duplicate || event.kind == trace::Repeated::Kind::handshake_copy;
  if (copied) return;
  if (Keeper* keeper = this->keeper(event.connection)) {
    LadderRow* newest = keeper->serial == 0 ? nullptr : keeper->row(keeper->serial - 1);
    if (newest != nullptr && newest->kind == Kind::repeat && newest->sender == event.side) {
      newest->last = event.frame;
      ++newest->packets;
      return;
    }
  }
  add(event.connection, row_of(Kind::repeat, event));
}

std::string_view type_name(const LadderRow& row) noexcept {
  if (!row.message() || row.version == 0) return {};
  return row.version == 2 ? wire::htype_name_v2(row.proc) : wire::proc_name(row.proc);
}

}  // namespace rpcrdma::report
