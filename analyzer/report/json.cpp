// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON document "rpcrdma-analyzer/1", whole or an object a line: every key always present, null where a value is
// not known; but for `taps` and `networks`, which most captures have nothing to do with.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/fold.hpp"
#include "report/json_object.hpp"
#include "report/names.hpp"
#include "report/pages.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"
#include "report/version.hpp"

namespace rpcrdma::report {
namespace {

template <typename T>
std::optional<std::string_view> maybe_name(const std::optional<T>& value) {
  return value ? std::optional<std::string_view>(name(*value)) : std::nullopt;
}

std::optional<std::string> maybe_time(const std::optional<trace::TimeNs>& time) {
  return time ? std::optional(decimal_seconds(*time)) : std::nullopt;
}

std::optional<trace::ConnectionId> connection_number(trace::ConnectionId id) {
  return id == 0 ? std::nullopt : std::optional(id);
}

}  // namespace

// Not in a namespace of their own: Object finds them by that of JsonText.

static void put(JsonText to, const Input::Damaged& damaged) {
  Object(to).add("offset", damaged.offset).add("reason", damaged.reason);
}

static void put(JsonText to, const Input& input) {
  Object object(to);
  object.add("path", input.path)
      .add("format", input.format)
      .add("link_types", input.link_types)
      .add("frames", input.frames)
      .add("bytes", input.bytes)
      .add("first_time", maybe_time(input.first_time))
      .add("last_time", maybe_time(input.last_time))
      .add("truncated_frames", input.truncated_frames)
      .add("damaged", input.damaged);
  if (input.dropped != 0) object.add("dropped", input.dropped);
}

static void put(JsonText to, const trace::Endpoint& end) {
  Object(to)
      .add("address", end.address.empty() ? std::nullopt : std::optional<std::string_view>(end.address))
      .add("port", end.port)
      .add("qpn", end.qpn);
}

/// Frame number 0 means that there is no such frame.
Object& add_frame(Object& into, const trace::FrameRef& frame) {
  if (frame.number == 0) return into.add("frame", nullptr).add("time", nullptr);
  return into.add("frame", frame.number).add("time", decimal_seconds(frame.time));
}

static void put(JsonText to, const referee::PrivateData& data) {
  Object(to)
      .add("frame", data.frame)
      .add("offset", data.offset)
      .add("version", data.version)
      .add("remote_invalidation", data.remote_invalidation)
      .add("send_size", data.send_size)
      .add("receive_size", data.receive_size)
      .add("reserved", data.reserved);
}

static void put(JsonText to, const referee::Cause& cause) {
  Object(to)
      .add("rule", referee::rule(cause.rule).name)
      .add("confidence", cause.proven ? "proven" : "probable")
      .add("frames", cause.frames)
      .add("message", cause.message);
}

static void put(JsonText to, const referee::Closed& closed) {
  Object out(to);
  add_frame(out, closed.frame).add("how", name(closed.how)).add("by", maybe_name(closed.by)).add("cause", closed.cause);
}

/// Of names and their counts: a map, or a list in order.
template <typename Counts>
static void put_counts(JsonText to, const Counts& counts) {
  Object out(to);
  for (const auto& [what, count] : counts) out.add_escaped(what, count);
}

static void put(JsonText to, const std::map<std::string, std::uint64_t>& counts) { put_counts(to, counts); }
static void put(JsonText to, const std::vector<referee::ProcedureFacts::Operation>& counts) { put_counts(to, counts); }

static void put(JsonText to, const referee::Latency& latency) {
  const auto figure = [&](double us) { return latency.count == 0 ? std::nullopt : std::optional(us); };
  Object(to)
      .add("count", latency.count)
      .add("min", figure(latency.min))
      .add("p50", figure(latency.p50))
      .add("p90", figure(latency.p90))
      .add("p99", figure(latency.p99))
      .add("max", figure(latency.max));
}

static void put(JsonText to, const referee::ProcedureFacts& procedure) {
  const auto figure = [&](double us) { return procedure.latency.count == 0 ? std::nullopt : std::optional(us); };
  Object(to)
      .add("program", procedure.program)
      .add("version", procedure.version)
      .add("procedure", procedure.procedure)
      .add("name", procedure.name)
      .add("calls", procedure.calls)
      .add("p50_us", figure(procedure.latency.p50))
      .add("p99_us", figure(procedure.latency.p99))
      .add("operations", procedure.operations);
}

static void put(JsonText to, const referee::ConnectionFacts::Messages& m) {
  Object(to)
      .add("calls", m.calls)
      .add("replies", m.replies)
      .add("reverse_calls", m.reverse_calls)
      .add("reverse_replies", m.reverse_replies)
      .add("rdma_msg", m.rdma_msg)
      .add("rdma_nomsg", m.rdma_nomsg)
      .add("rdma_msgp", m.rdma_msgp)
      .add("rdma_done", m.rdma_done)
      .add("rdma_error", m.rdma_error)
      .add("v2", m.v2);
}

static void put(JsonText to, const referee::ConnectionFacts::Operations& o) {
  Object(to)
      .add("sends", o.sends)
      .add("sends_with_invalidate", o.sends_with_invalidate)
      .add("reads", o.reads)
      .add("writes", o.writes)
      .add("read_bytes", o.read_bytes)
      .add("write_bytes", o.write_bytes)
      .add("naks", o.naks)
      .add("rnr_naks", o.rnr_naks)
      .add("retransmitted", o.retransmitted);
}

static void put(JsonText to, const referee::ConnectionFacts& c) {
  const std::string_view roles = name(c.roles_from);
  // The contract knows 1 and 2; any other value on the wire is a finding, not this connection's version.
  const bool known_version = c.version == 1 || c.version == 2;
  Object out(to);
  out.add("id", c.id)
      .add("transport", name(c.transport))
      .add("client", c.client)
      .add("server", c.server)
      .add("roles_from", roles.empty() ? std::nullopt : std::optional(roles))
      .object("opened", [&](Object& opened) { add_frame(opened, c.opened).add("seen", c.handshake_seen); })
      .add("closed", c.closed)
      .add("version", known_version ? c.version : std::nullopt)
      .object("private_data",
              [&](Object& data) { data.add("client", c.private_data_client).add("server", c.private_data_server); })
      .object("thresholds",
              [&](Object& thresholds) {
                thresholds.add("client_to_server", c.thresholds.client_to_server)
                    .add("server_to_client", c.thresholds.server_to_client)
                    .add("basis", name(c.thresholds.basis));
              })
      .object("credits",
              [&](Object& credits) {
                credits.add("requested", c.credits.requested)
                    .add("granted", c.credits.granted)
                    .add("outstanding_peak", c.credits.outstanding_peak)
                    .add("stalls", c.credits.stalls);
              })
      .add("messages", c.messages)
      .add("operations", c.operations)
      .object("pull_completion",
              [&](Object& pull) {
                pull.add("offered", c.pull_completion.offered)
                    .add("completed", c.pull_completion.completed)
                    .add("missing", c.pull_completion.missing);
              })
      .add("latency_us", c.latency)
      .add("procedures", c.procedures)
      .add("path_mtu", c.path_mtu)
      .add("one_way", c.one_way)
      .add("gaps", c.gaps)
      .add("sends_unrecognised", c.sends_unrecognised);
  if (!c.networks.empty()) out.add("networks", c.networks);
}

static void put(JsonText to, const trace::FrameRef& frame) {
  Object out(to);
  add_frame(out, frame);
}

static void put(JsonText to, const referee::Verdict& verdict) {
  const bool told = verdict.mount.has_value();
  Object(to)
      .add("state", name(verdict.state))
      .add("mount", verdict.mount)
      .add("sentence", told ? std::optional<std::string_view>(verdict.sentence) : std::nullopt);
}

static void put(JsonText to, const referee::OperationTimes& times) {
  const auto figure = [&](double us) { return times.latency.count == 0 ? std::nullopt : std::optional(us); };
  Object(to)
      .add("name", times.name)
      .add("calls", times.calls)
      .add("octets", times.octets)
      .add("p50_us", figure(times.latency.p50))
      .add("p99_us", figure(times.latency.p99))
      .add("max_us", figure(times.latency.max))
      .add("pull_p50_us", times.pull_p50)
      .add("server_p50_us", times.server_p50)
      .add("push_p50_us", times.push_p50);
}

static void put(JsonText to, const referee::MountFacts::Waiting& waiting) {
  Object(to).add("calls", waiting.calls).object("oldest", [&](Object& oldest) {
    add_frame(oldest, waiting.frame)
        .add("xid", xid(waiting.xid))
        .add("operation", waiting.operation)
        .add("seconds", waiting.seconds);
  });
}

static void put(JsonText to, const referee::MountFacts::LongestWait& wait) {
  Object(to)
      .add("frame", wait.frame.number)
      .add("reply_frame", wait.reply_frame.number)
      .add("operation", wait.operation)
      .add("seconds", wait.seconds);
}

static void put(JsonText to, const referee::MountFacts::NfsOverTcp& tcp) {
  Object(to).add("frames", tcp.frames).add("first", tcp.first.number);
}

static void put(JsonText to, const referee::MountFacts& mount) {
  Object(to)
      .add("id", mount.id)
      .add("client", mount.client)
      .add("server", mount.server)
      .add("roles", mount.roles == referee::MountFacts::Roles::known ? "known" : "guessed")
      .add("connections", mount.connections)
      .object("attempts",
              [&](Object& attempts) {
                attempts.add("made", mount.attempts.made)
                    .add("established", mount.attempts.established)
                    .add("refused", mount.attempts.refused)
                    .add("unanswered", mount.attempts.unanswered)
                    .add("only_tcp", mount.attempts.only_tcp);
              })
      .add("state", name(mount.state))
      .add("since", mount.since)
      .add("owes", name(mount.owes))
      .add("waiting", mount.waiting)
      .add("longest_wait", mount.longest_wait)
      .add("operations", mount.operations)
      .add("nfs_over_tcp", mount.nfs_over_tcp)
      .add("sentence", mount.sentence)
      .add("next", mount.next.empty() ? std::nullopt : std::optional<std::string_view>(mount.next));
}

static void put(JsonText to, const referee::Finding& f) {
  const referee::Rule& rule = referee::rule(f.rule);
  Object(to)
      .add("kind", name(referee::kind(f.rule)))
      .add("owes", maybe_name(f.owes))
      .add("times", f.occurrences)
      .add("connections", connections_of(f))
      .add("rule", rule.name)
      .add("severity", referee::text(f.severity))
      .add("connection", connection_number(f.connection))
      .add("frames", f.frames)
      .add("time", f.frames.empty() ? std::nullopt : std::optional(decimal_seconds(f.time)))
      .add("xid", f.xid ? std::optional(xid(*f.xid)) : std::nullopt)
      .add("violator", maybe_name(f.violator))
      .add("role", maybe_name(f.role))
      .add("message", f.message)
      .add("source", rule.source)
      .add("filter", display_filter(f))
      .add("title", rule.title)
      .add("next", rule.next)
      .add("occurrences", f.occurrences);
}

static void put(JsonText to, const referee::Unchecked& u) {
  Object(to)
      .add("rule", referee::rule(u.rule).name)
      .add("connection", connection_number(u.connection))
      .add("reason", u.reason);
}

struct NumberedClock {
  const trace::TapClock& of;
  std::size_t tap;
};

static void put(JsonText to, const NumberedClock& numbered) {
  const trace::TapClock& clock = numbered.of;
  std::vector<double> steps;
  for (const trace::TimeNs step : clock.steps_by()) steps.push_back(static_cast<double>(step) / 1e3);
  using Basis = trace::TapClock::Basis;
  const bool known = clock.basis != Basis::none;
  const auto basis = clock.basis == Basis::packets ? "packets" : "acknowledgements";
  Object(to)
      .add("tap", numbered.tap)
      .add("reference", known ? std::optional(clock.reference + 1) : std::nullopt)
      .add("basis", known ? std::optional<std::string_view>(basis) : std::nullopt)
      .add("proofs", clock.proofs)
      .add("ahead_us",
           known && clock.first ? std::optional(static_cast<double>(clock.ahead.at(*clock.first)) / 1e3) : std::nullopt)
      .add("uncertainty_us", clock.ahead.uncertainty ? std::optional(*clock.ahead.uncertainty / 1e3) : std::nullopt)
      .add("drift_ppm", known ? std::optional(clock.ahead.drift * 1e6) : std::nullopt)
      .add("steps_us", steps);
}

static void put(JsonText to, const trace::Spread& spread) {
  Object(to)
      .add("count", spread.count)
      .add("min", spread.min / 1e3)
      .add("p50", spread.median / 1e3)
      .add("p99", spread.p99 / 1e3);
}

static void put(JsonText to, const trace::TapPath& path) {
  Object(to)
      .add("both", path.both)
      .add("recut", path.recut)
      .add("lost", path.lost)
      .add("missed_far", path.missed_far)
      .add("missed_far_acknowledgements", path.missed_far_bare)
      .add("missed_near", path.missed_near)
      .add("one_way_us", path.one_way);
}

static void put(JsonText to, const trace::TapRoute& route) {
  Object(to)
      .add("near", route.near + 1)
      .add("far", route.far + 1)
      .add("address", route.address)
      .add("peer", route.peer)
      .add("out", route.out)
      .add("back", route.back);
}

static void put(JsonText to, const Taps::Calls::Slowest& call) {
  Object(to)
      .add("frame", call.call.number)
      .add("reply_frame", call.reply.number)
      .add("operation", call.operation)
      .add("whole_us", call.whole / 1e3)
      .add("there_us", call.there / 1e3)
      .add("peer_us", call.peer / 1e3)
      .add("back_us", call.back / 1e3);
}

static void put(JsonText to, const Taps& taps) {
  std::vector<NumberedClock> clocks;
  for (const trace::TapClock& clock : taps.compared.clocks) clocks.push_back({clock, clocks.size() + 1});
  Object out(to);
  out.add("not_measured", taps.not_measured.empty() ? std::nullopt : std::optional<std::string_view>(taps.not_measured))
      .add("clocks", clocks)
      .add("routes", taps.routes)
      .object("calls", [&](Object& calls) {
        calls.add("whole_us", taps.calls.whole)
            .add("there_us", taps.calls.there)
            .add("peer_us", taps.calls.peer)
            .add("back_us", taps.calls.back)
            .add("slowest", taps.calls.slowest);
      });
  if (taps.left_out != 0) out.add("routes_left_out", taps.left_out);
}

struct Tool {};
static void put(JsonText to, Tool /*unused*/) { Object(to).add("name", tool_name).add("version", tool_version); }

static void put(JsonText to, const ndjson::Totals& totals) {
  Object(to)
      .add("connections", totals.connections)
      .add("errors", totals.errors)
      .add("warnings", totals.warnings)
      .add("notes", totals.notes)
      .add("frames", totals.frames)
      .add("rdma_messages", totals.rdma_messages);
}

namespace {

ndjson::Totals totals_of(const Run& run) {
  const Tally tally = count(run.report.findings);
  return {run.report.connections.size(), tally.errors, tally.warnings, tally.notes, run.frames,
          run.report.rdma_messages};
}

/// A list in another order.
struct Ordered {
  const referee::PackedList<referee::Finding>& list;
  std::vector<std::size_t> order;

  [[nodiscard]] std::size_t size() const noexcept { return order.size(); }
  [[nodiscard]] bool empty() const noexcept { return order.empty(); }
};

template <class T>
[[nodiscard]] const T& read(const std::vector<T>& list, std::size_t index) {
  return list[index];
}
template <class T>
[[nodiscard]] T read(const referee::PackedList<T>& list, std::size_t index) {
  return list.at(index);
}
[[nodiscard]] referee::Finding read(const Ordered& list, std::size_t index) { return list.list.at(list.order[index]); }

/// The members of the document that are lists, one element a line.
class Lists {
 public:
  Lists(std::string& out, const Write& write, const MakeInOrder& make_in_order)
      : out_(out), write_(write), make_in_order_(make_in_order) {}

  /// One that is long goes to `write` in pieces, with all that stands in `out` before it.
  template <typename List>
  void add(std::string_view key, const List& list) {
    fmt::format_to(std::back_inserter(out_), "\"{}\":[", key);
    const auto lines = [&](std::size_t number, std::string& to) {
      const std::size_t end = std::min((number + 1) * piece, list.size());
      for (std::size_t i = number * piece; i < end; ++i) {
        to += i == 0 ? "\n" : ",\n";
        put(to, read(list, i));
      }
    };
    if (list.size() > piece) {
      write_out();
      make_in_order_((list.size() + piece - 1) / piece, lines, write_);
    } else {
      lines(0, out_);
    }
    out_ += list.empty() ? "],\n" : "\n],\n";
  }
  void write_out() {
    write_(out_);
    out_.clear();
  }

 private:
  static constexpr std::size_t piece = 64;  // elements: some 50 to 200 KiB

  std::string& out_;
  const Write& write_;
  const MakeInOrder& make_in_order_;
};

}  // namespace

void json(const Run& run, const Write& write, const MakeInOrder& make_in_order) {
  const referee::Report& report = run.report;
  std::string out = "{\"schema\":\"rpcrdma-analyzer/1\",\n\"tool\":";
  Lists lists(out, write, make_in_order);
  put(out, Tool{});
  out += ",\n";
  lists.add("inputs", run.inputs);
  if (run.taps) {
    out += "\"taps\":";
    put(out, *run.taps);
    out += ",\n";
  }
  lists.add("connections", report.connections);
  out += "\"verdict\":";
  put(out, report.verdict);
  out += ",\n";
  lists.add("mounts", report.mounts);
  lists.add("findings", Ordered{report.findings, by_place(report.findings)});
  lists.add("unchecked", report.unchecked);
  out += "\"totals\":";
  put(out, totals_of(run));
  out += "}\n";
  lists.write_out();
}

void json(const Run& run, const Write& write) {
  json(run, write, [](std::size_t count, const auto& make, const Write& to) {
    std::string text;
    for (std::size_t number = 0; number < count; ++number) {
      text.clear();
      make(number, text);
      to(text);
    }
  });
}

std::string json(const Run& run) {
  std::string out;
  json(run, [&out](std::string_view piece) { out += piece; });
  return out;
}

namespace ndjson {
namespace {

/// No object here is empty.
template <class T>
std::string typed(std::string_view type, const T& thing) {
  std::string object;
  put(object, thing);
  return fmt::format("{{\"type\":\"{}\",{}\n", type, std::string_view(object).substr(1));
}

}  // namespace

std::string opening() {
  std::string out;
  Object(out).add("type", "report").add("schema", "rpcrdma-analyzer/1").add("tool", Tool{});
  return out + '\n';
}
std::string line(const Input& input) { return typed("input", input); }
std::string line(const referee::ConnectionFacts& connection) { return typed("connection", connection); }
std::string line(const referee::Finding& finding) { return typed("finding", finding); }
std::string line(const referee::Unchecked& unchecked) { return typed("unchecked", unchecked); }
std::string line(const referee::MountFacts& mount) { return typed("mount", mount); }
std::string line(const referee::Verdict& verdict) { return typed("verdict", verdict); }
std::string line(const Taps& taps) { return typed("taps", taps); }
std::string line(const Totals& totals) { return typed("totals", totals); }

std::string all(const Run& run) {
  std::string out = opening();
  for (const std::size_t at : by_place(run.report.findings)) out += line(run.report.findings.at(at));
  for (const auto& connection : run.report.connections) out += line(connection);
  for (const auto& unchecked : run.report.unchecked) out += line(unchecked);
  for (const auto& mount : run.report.mounts) out += line(mount);
  out += line(run.report.verdict);
  for (const auto& input : run.inputs) out += line(input);
  if (run.taps) out += line(*run.taps);
  return out + line(totals_of(run));
}

}  // namespace ndjson

std::string list_rules_json() {
  using Json = nlohmann::ordered_json;
  Json out = Json::array();
  for (const auto& rule : referee::all_rules()) {
    out.push_back({{"name", rule.name},
                   {"severity", referee::text(rule.severity)},
                   {"versions", referee::text(rule.versions)},
                   {"source", rule.source},
                   {"who", rule.who},
                   {"group", std::string(1, rule.group)},
                   {"title", rule.title},
                   {"explanation", rule.explanation},
                   {"evidence", rule.evidence},
                   {"next", rule.next},
                   {"page", rule_page(rule)},
                   {"lesson", lesson(rule)}});
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rpcrdma::report
