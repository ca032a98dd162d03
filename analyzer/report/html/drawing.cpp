// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/drawing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "report/html/column.hpp"
#include "report/html/fields.hpp"
#include "report/ladder_words.hpp"
#include "report/quantity.hpp"
#include "report/tally.hpp"
#include "trace/spans.hpp"
#include "wire/rpc.hpp"
#include "wire/rpcrdma.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::report::page {

namespace {

using Kind = LadderRow::Kind;

constexpr std::array<std::string_view, 19> kind_names{
    "connect_request", "connect_reply", "connect_reject", "connect_ready", "call",    "reply",   "done",
    "error",           "other",         "read_request",   "read_response", "write",   "refusal", "gap",
    "unread",          "close",         "repeat",         "frame",         "left_out"};

[[nodiscard]] std::string base64(wire::Bytes octets) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < octets.size(); i += 3) {
    std::uint32_t group = static_cast<std::uint32_t>(octets[i]) << 16U;
    if (i + 1 < octets.size()) group |= static_cast<std::uint32_t>(octets[i + 1]) << 8U;
    if (i + 2 < octets.size()) group |= octets[i + 2];
    out += alphabet[(group >> 18U) & 63U];
    out += alphabet[(group >> 12U) & 63U];
    out += i + 1 < octets.size() ? alphabet[(group >> 6U) & 63U] : '=';
    out += i + 2 < octets.size() ? alphabet[group & 63U] : '=';
  }
  return out;
}

/// One member of an object: what each row has of it.
template <class Rows, class Get>
void column(std::string& out, std::string_view key, const Rows& rows, Get get) {
  std::vector<std::int64_t> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(static_cast<std::int64_t>(get(row)));
  fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, column_json(values));
}

/// Octets and chunk lists that the page has room for, and the layouts of the octets.
class Details {
 public:
  Details(const Run& run, const Ladder& ladder, const PageLimits& limits) {
    struct Candidate {
      int order = 0;
      trace::ConnectionId connection = 0;
      std::uint32_t row = 0;
    };
    std::vector<Candidate> candidates;
    for (const auto& facts : run.report.connections) {
      const Ladder::Connection* connection = ladder.connection(facts.id);
      if (connection == nullptr) continue;
      std::set<std::uint32_t> accused;
      for (const LadderRow& row : connection->rows) {
        if (!row.marks.empty() && row.exchange != 0) accused.insert(row.exchange);
      }
      for (std::uint32_t i = 0; i < connection->rows.size(); ++i) {
        const LadderRow& row = connection->rows[i];
        if (row.octets.empty() && row.segments.empty()) continue;
        int order = 3;
        if (accused.contains(row.exchange)) order = 2;
        if (row.kind <= Kind::connect_reject) order = 1;
        if (!row.marks.empty()) order = 0;
        candidates.push_back({order, facts.id, i});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.order < b.order; });
    std::size_t octets = 0;
    std::size_t segments = 0;
    for (const Candidate& candidate : candidates) {
      const LadderRow& row = ladder.connection(candidate.connection)->rows[candidate.row];
      Chosen& chosen = chosen_[candidate.connection];
      if (octets + row.octets.size() <= limits.octets) {
        octets += row.octets.size();
        if (!row.octets.empty()) chosen.octets.insert(candidate.row);
      }
      if (segments + row.segments.size() <= limits.segments) {
        segments += row.segments.size();
        if (!row.segments.empty()) chosen.segments.insert(candidate.row);
      }
    }
  }

  void write_octets(std::string& out, const Ladder::Connection& connection) {
    std::string_view comma;
    for (const std::uint32_t number : chosen_[connection.id].octets) {
      const LadderRow& row = connection.rows[number];
      if (row.message()) {
        place_message(row.octets, row.length, placed_);
      } else {
        place_private_data(row.octets, row.length, placed_);
      }
      fmt::format_to(std::back_inserter(out), "{}\"{}\":[{},\"{}\"]", comma, number, layout(), base64(row.octets));
      comma = ",";
    }
  }

  void write_segments(std::string& out, const Ladder::Connection& connection) {
    std::string_view comma;
    for (const std::uint32_t number : chosen_[connection.id].segments) {
      const LadderRow& row = connection.rows[number];
      fmt::format_to(std::back_inserter(out), "{}\"{}\":[{}", comma, number, row.segments_left_out);
      for (const LadderSegment& segment : row.segments) {
        fmt::format_to(std::back_inserter(out), ",[{},{},{},{},{},\"{:x}\"]", static_cast<unsigned>(segment.list),
                       segment.chunk, segment.position, segment.target.handle, segment.target.length,
                       segment.target.offset);
      }
      out += ']';
      comma = ",";
    }
  }

  [[nodiscard]] const std::vector<std::string>& layouts() const noexcept { return layouts_; }

 private:
  struct Chosen {
    std::set<std::uint32_t> octets;  // rows
    std::set<std::uint32_t> segments;
  };

  [[nodiscard]] std::size_t layout() {
    std::string text;
    for (const Placed& placed : placed_) {
      fmt::format_to(std::back_inserter(text), "{}{},{},{}", text.empty() ? "" : ",",
                     static_cast<unsigned>(placed.field), placed.offset, placed.length);
    }
    const auto [at, fresh] = numbers_.try_emplace(text, layouts_.size());
    if (fresh) layouts_.push_back(std::move(text));
    return at->second;
  }

  std::map<trace::ConnectionId, Chosen> chosen_;
  std::vector<Placed> placed_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> layouts_;
};

/// What rows say; many say the same, but for the XID.
class Labels {
 public:
  [[nodiscard]] std::size_t number(const LadderRow& row, const Ladder& ladder) {
    const LadderLabel said = label(row, ladder);
    const auto [at, fresh] = numbers_.try_emplace(
        fmt::format("[{},{},{}]", json_string(said.what), json_string(said.about), said.xid ? 1 : 0), numbers_.size());
    if (fresh) in_order_.push_back(at->first);
    return at->second;
  }
  [[nodiscard]] std::string text() const { return fmt::format("[{}]", fmt::join(in_order_, ",")); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string_view> in_order_;
};

using Rows = std::vector<const LadderRow*>;

[[nodiscard]] constexpr std::int64_t number(std::uint64_t value) noexcept { return static_cast<std::int64_t>(value); }

/// Numbers that mostly rise, each as what it is more than the one before.
[[nodiscard]] auto rising() {
  return [before = std::int64_t{0}](std::int64_t value) mutable {
    const std::int64_t step = value - before;
    before = value;
    return step;
  };
}

void columns_of_rows(std::string& out, const Rows& rows, trace::TimeNs epoch, const Ladder& ladder, Labels& labels) {
  column(out, "kind", rows, [](const auto* r) { return static_cast<int>(r->kind); });
  column(out, "label", rows, [&](const auto* r) { return labels.number(*r, ladder); });
  column(out, "side", rows, [](const auto* r) { return static_cast<int>(r->sender); });
  column(out, "frame", rows, [d = rising()](const auto* r) mutable { return d(number(r->first.number)); });
  column(out, "last", rows, [](const auto* r) { return number(r->last.number - r->first.number); });
  column(out, "time", rows, [epoch, d = rising()](const auto* r) mutable { return d(r->first.time - epoch); });
  column(out, "took", rows, [](const auto* r) { return trace::elapsed(r->first.time, r->last.time); });
  column(out, "packets", rows, [](const auto* r) { return number(r->packets); });
  column(out, "length", rows, [](const auto* r) { return number(r->length); });
  column(out, "exchange", rows, [d = rising()](const auto* r) mutable { return d(number(r->exchange)); });
  column(out, "procedure", rows, [](const auto* r) { return r->procedure; });
  column(out, "operation", rows, [](const auto* r) { return r->leading; });
  column(out, "xid", rows, [d = rising()](const auto* r) mutable { return d(r->has_xid ? number(r->xid) : -1); });
}

void columns_of_messages(std::string& out, const Rows& messages) {
  const auto segments = [](const LadderRow& row, LadderSegment::List list) {
    return std::count_if(row.segments.begin(), row.segments.end(), [&](const auto& s) { return s.list == list; });
  };
  const auto write_chunks = [](const LadderRow& row) {
    std::uint32_t most = 0;
    for (const LadderSegment& s : row.segments) {
      if (s.list == LadderSegment::List::write) most = std::max(most, s.chunk + 1);
    }
    return most;
  };
  column(out, "names", messages, [](const auto* r) { return r->operations; });
  column(out, "credit", messages, [](const auto* r) { return r->credit; });
  column(out, "header", messages, [](const auto* r) { return r->header; });
  column(out, "lost", messages, [](const auto* r) { return number(r->length - std::min(r->length, r->captured)); });
  column(out, "holes", messages, [](const auto* r) { return r->holes ? 1 : 0; });
  column(out, "outstanding", messages, [](const auto* r) { return number(r->outstanding); });
  column(out, "granted", messages, [](const auto* r) { return r->granted ? number(*r->granted) : -1; });
  column(out, "threshold", messages, [](const auto* r) { return r->threshold ? number(*r->threshold) : -1; });
  column(out, "invalidated", messages, [](const auto* r) { return r->invalidated ? number(*r->invalidated) : -1; });
  column(out, "reads", messages, [&](const auto* r) {
    return segments(*r, LadderSegment::List::read) + segments(*r, LadderSegment::List::call);
  });
  column(out, "writes", messages, [&](const auto* r) { return write_chunks(*r); });
  column(out, "replies", messages, [&](const auto* r) { return segments(*r, LadderSegment::List::reply); });
}

void columns_of_operations(std::string& out, const Rows& operations) {
  column(out, "handle", operations, [](const auto* r) { return r->handle; });
  column(out, "op", operations, [d = rising()](const auto* r) mutable { return d(number(r->op)); });
  column(out, "offer", operations, [](const auto* r) { return r->offer ? 1 : 0; });
  // 64 bits are more than a number of JavaScript holds.
  out += ",\"offset\":[";
  for (const LadderRow* row : operations) {
    fmt::format_to(std::back_inserter(out), "{}\"{:x}\"", row == operations.front() ? "" : ",", row->offset);
  }
  out += ']';
}

void write_marks(std::string& out, const Rows& rows) {
  std::string_view comma;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->marks.empty()) continue;
    fmt::format_to(std::back_inserter(out), "{}\"{}\":[", comma, i);
    std::string_view inner;
    for (const LadderMark& mark : rows[i]->marks) {
      fmt::format_to(std::back_inserter(out), "{}[{},{}]", inner, mark.finding, mark.primary ? 1 : 0);
      inner = ",";
    }
    out += ']';
    comma = ",";
  }
}

void write_rows(std::string& out, const Ladder::Connection& connection, trace::TimeNs epoch, Details& details,
                const Ladder& ladder, Labels& labels) {
  Rows rows;
  Rows messages;
  Rows operations;
  rows.reserve(connection.rows.size());
  for (const LadderRow& row : connection.rows) {
    rows.push_back(&row);
    if (row.message()) messages.push_back(&row);
    if (row.operation()) operations.push_back(&row);
  }
  out += fmt::format("\"rows\":{}", rows.size());
  columns_of_rows(out, rows, epoch, ladder, labels);
  columns_of_messages(out, messages);
  columns_of_operations(out, operations);
  out += ",\"marks\":{";
  write_marks(out, rows);
  out += "},\"octets\":{";
  details.write_octets(out, connection);
  out += "},\"segments\":{";
  details.write_segments(out, connection);
  out += '}';
}

void write_series(std::string& out, const Series::Connection& series, trace::TimeNs epoch) {
  using Interval = Series::Interval;
  std::vector<std::pair<std::uint32_t, const Interval*>> intervals;
  for (const auto& [at, interval] : series.intervals) intervals.emplace_back(at, &interval);
  out +=
      fmt::format("{{\"begin\":{},\"width\":{},\"intervals\":{}", series.begin - epoch, series.width, intervals.size());
  column(out, "at", intervals, [](const auto& i) { return i.first; });
  column(out, "outstanding", intervals, [&](const auto& i) { return number(i.second->outstanding); });
  column(out, "granted", intervals, [&](const auto& i) { return i.second->granted ? number(*i.second->granted) : -1; });
  column(out, "from_client", intervals, [&](const auto& i) { return number(i.second->largest_from_client); });
  column(out, "from_server", intervals, [&](const auto& i) { return number(i.second->largest_from_server); });
  column(out, "sent", intervals, [&](const auto& i) { return number(i.second->sent); });
  column(out, "read", intervals, [&](const auto& i) { return number(i.second->read); });
  column(out, "written", intervals, [&](const auto& i) { return number(i.second->written); });
  out += ",\"operations\":[";
  using At = std::pair<std::uint32_t, const Series::Answered*>;
  std::vector<std::vector<At>> operations(series.operations.size());
  for (const auto& [at, interval] : intervals) {
    for (const Series::Answered& answered : interval->answered)
      operations[answered.operation].emplace_back(at, &answered);
  }
  std::string_view comma;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::vector<At>& its = operations[i];
    fmt::format_to(std::back_inserter(out), "{}{{\"name\":{},\"intervals\":{}", comma,
                   json_string(series.operations[i]), its.size());
    column(out, "at", its, [](const At& a) { return a.first; });
    column(out, "count", its, [&](const At& a) { return number(a.second->count); });
    column(out, "whole", its, [](const At& a) { return a.second->whole; });
    column(out, "worst", its, [](const At& a) { return a.second->worst; });
    column(out, "pull", its, [](const At& a) { return a.second->pull; });
    column(out, "server", its, [](const At& a) { return a.second->server; });
    column(out, "push", its, [](const At& a) { return a.second->push; });
    column(out, "octets", its, [&](const At& a) { return number(a.second->octets); });
    out += '}';
    comma = ",";
  }
  out += "]}";
}

template <class Texts>
[[nodiscard]] std::string list(const Texts& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    out += json_string(text);
  }
  return out + "]";
}

[[nodiscard]] std::string fields() {
  std::string out = "[";
  for (std::size_t i = 0; i < wire::field_count; ++i) {
    const auto field = static_cast<Field>(i);
    const wire::FieldText& text = wire::field_text(field);
    std::string values;
    for (const auto& [value, name] : wire::value_names(field)) {
      values += fmt::format("{}\"{}\":{}", values.empty() ? "" : ",", value, json_string(name));
    }
    out +=
        fmt::format("{}[{},{},{},{},{{{}}}]", out.size() > 1 ? "," : "", json_string(text.name),
                    json_string(text.meaning), json_string(text.section), static_cast<unsigned>(form(field)), values);
  }
  return out + "]";
}

/// How many findings of each severity the whole run has of a connection, whether the page holds them or not.
using Found = std::map<trace::ConnectionId, std::array<std::uint64_t, 3>>;

[[nodiscard]] Found found(const referee::Report& report) {
  Found out;
  for (const auto& finding : report.findings) {
    for (const trace::ConnectionId id : places(finding)) ++out[id][static_cast<std::size_t>(finding.severity)];
  }
  return out;
}

/// What is still open on a connection when it, or the capture, ends.
[[nodiscard]] std::string waiting(const referee::Waiting& calls, trace::TimeNs epoch) {
  if (calls.calls == 0) return "null";
  return fmt::format("[{},{},{},{}]", calls.calls, calls.oldest.number, calls.oldest.time - epoch,
                     calls.until.time - epoch);
}

/// What the table says of each rule that the page names.
[[nodiscard]] std::string rules(const referee::Report& report) {
  std::set<referee::RuleId> named;
  for (const auto& finding : report.findings) named.insert(finding.rule);
  for (const auto& connection : report.connections) {
    if (connection.closed && connection.closed->cause) named.insert(connection.closed->cause->rule);
  }
  for (const auto& unchecked : report.unchecked) named.insert(unchecked.rule);
  std::string out = "{";
  for (const referee::RuleId id : named) {
    const referee::Rule& rule = referee::rule(id);
    out += fmt::format("{}{}:[{},{},{},{},{},{}]", out.size() > 1 ? "," : "", json_string(rule.name),
                       json_string(rule.title), json_string(rule.explanation), json_string(rule.evidence),
                       json_string(rule.next), json_string(rule.source), json_string(rule.who));
  }
  return out + "}";
}

[[nodiscard]] std::string procs() {
  std::vector<std::string_view> names;
  for (const auto& named : wire::value_names(Field::proc)) names.push_back(named.name);
  return list(names);
}

[[nodiscard]] std::string chunk_lists() {
  using List = LadderSegment::List;
  return list(std::array{list_name(List::call), list_name(List::read), list_name(List::write), list_name(List::reply)});
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<trace::ConnectionId> places(const referee::Finding& finding) {
  if (!finding.connections.empty()) return finding.connections;
  return {finding.connection};
}

std::string drawing(const Run& run, const Run& whole, const PageRecorder& recorder, const PageLimits& limits,
                    std::string_view left_out) {
  const Ladder& ladder = recorder.ladder;
  std::optional<trace::TimeNs> epoch;
  std::optional<trace::TimeNs> end;
  for (const Input& input : run.inputs) {
    if (input.first_time && (!epoch || *input.first_time < *epoch)) epoch = input.first_time;
    if (input.last_time && (!end || *input.last_time > *end)) end = input.last_time;
  }
  Found sums = found(whole.report);
  const trace::TimeNs begin = epoch.value_or(0);
  Details details(run, ladder, limits);
  Labels labels;
  std::string connections;
  for (const auto& facts : run.report.connections) {
    const Ladder::Connection* rows = ladder.connection(facts.id);
    const Series::Connection* series = recorder.series.connection(facts.id);
    connections += fmt::format("{}\"{}\":{{", connections.empty() ? "" : ",", facts.id);
    if (rows != nullptr) {
      connections += fmt::format("\"left_out\":{},", rows->left_out);
      write_rows(connections, *rows, begin, details, ladder, labels);
    } else {
      connections += "\"left_out\":0,\"rows\":-1";
    }
    const auto& [notes, warnings, errors] = sums[facts.id];
    fmt::format_to(std::back_inserter(connections), ",\"found\":[{},{},{}],\"waiting\":{},\"series\":", errors,
                   warnings, notes, waiting(facts.waiting, begin));
    if (series != nullptr) {
      write_series(connections, *series, begin);
    } else {
      connections += "null";
    }
    connections += '}';
  }
  std::string out = "{\"verdict\":";
  const auto member = [&](std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, value);
  };
  out += json_string(verdict(whole));
  member("begin", epoch ? json_string(calendar(*epoch)) : "null");
  member("end", end ? std::to_string(*end - begin) : "null");
  member("left_out", left_out);
  member("left_out_mounts", std::to_string(whole.report.mounts.size() - run.report.mounts.size()));
  member("kinds", list(kind_names));
  member("procs", procs());
  member("lists", chunk_lists());
  member("labels", labels.text());
  member("texts", list(ladder.texts()));
  member("fields", fields());
  member("rules", rules(run.report));
  member("layouts", list(details.layouts()));
  out += ",\"connections\":{";
  out += connections;
  out += "}}";
  return out;
}

}  // namespace rpcrdma::report::page
