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

Text document(const Input& input) {
  const auto& damaged = input.damaged;
  return Object()
      .add("path", input.path)
      .add("format", input.format)
      .add("link_types", input.link_types)
      .add("frames", input.frames)
      .add("bytes", input.bytes)
      .add("first_time", maybe_time(input.first_time))
      .add("last_time", maybe_time(input.last_time))
      .add("truncated_frames", input.truncated_frames)
      .add("damaged", damaged
                          ? std::optional<Text>(Object().add("offset", damaged->offset).add("reason", damaged->reason))
                          : std::nullopt);
}

Text document(const trace::Endpoint& end) {
  return Object()
      .add("address", end.address.empty() ? std::nullopt : std::optional<std::string_view>(end.address))
      .add("port", end.port)
      .add("qpn", end.qpn);
}

/// Frame number 0 means that there is no such frame.
Object& add_frame(Object& into, const trace::FrameRef& frame) {
  if (frame.number == 0) return into.add("frame", nullptr).add("time", nullptr);
  return into.add("frame", frame.number).add("time", decimal_seconds(frame.time));
}

Text document(const referee::PrivateData& data) {
  return Object()
      .add("frame", data.frame)
      .add("offset", data.offset)
      .add("version", data.version)
      .add("remote_invalidation", data.remote_invalidation)
      .add("send_size", data.send_size)
      .add("receive_size", data.receive_size)
      .add("reserved", data.reserved);
}

Text document(const referee::Cause& cause) {
  return Object()
      .add("rule", referee::rule(cause.rule).name)
      .add("confidence", cause.proven ? "proven" : "probable")
      .add("frames", cause.frames)
      .add("message", cause.message);
}

Text document(const referee::Closed& closed) {
  Object out;
  return add_frame(out, closed.frame)
      .add("how", name(closed.how))
      .add("by", maybe_name(closed.by))
      .add("cause", closed.cause ? std::optional(document(*closed.cause)) : std::nullopt);
}

Text document(const referee::MountFacts::Waiting& waiting);
Text document(const referee::MountFacts::LongestWait& wait);
Text document(const referee::MountFacts::NfsOverTcp& tcp);

template <typename T>
std::optional<Text> document(const std::optional<T>& thing) {
  return thing ? std::optional(document(*thing)) : std::nullopt;
}

/// Of names and their counts: a map, or a list in order.
template <typename Counts>
Text counts_document(const Counts& counts) {
  std::string out = "{";
  for (const auto& [what, count] : counts) {
    if (out.size() != 1) out += ',';
    put(out, what);
    out += ':';
    put(out, count);
  }
  return {out + '}'};
}

Text document(const std::map<std::string, std::uint64_t>& counts) { return counts_document(counts); }
Text document(const std::vector<referee::ProcedureFacts::Operation>& counts) { return counts_document(counts); }

Text document(const referee::Latency& latency) {
  const auto figure = [&](double us) { return latency.count == 0 ? std::nullopt : std::optional(us); };
  return Object()
      .add("count", latency.count)
      .add("min", figure(latency.min))
      .add("p50", figure(latency.p50))
      .add("p90", figure(latency.p90))
      .add("p99", figure(latency.p99))
      .add("max", figure(latency.max));
}

Text document(const referee::ProcedureFacts& procedure) {
  const auto figure = [&](double us) { return procedure.latency.count == 0 ? std::nullopt : std::optional(us); };
  return Object()
      .add("program", procedure.program)
      .add("version", procedure.version)
      .add("procedure", procedure.procedure)
      .add("name", procedure.name)
      .add("calls", procedure.calls)
      .add("p50_us", figure(procedure.latency.p50))
      .add("p99_us", figure(procedure.latency.p99))
      .add("operations", document(procedure.operations));
}

Text document(const referee::ConnectionFacts::Messages& m) {
  return Object()
      .add("calls", m.calls)
      .add("replies", m.replies)
      .add("reverse_calls", m.reverse_calls)
      .add("reverse_replies", m.reverse_replies)
      .add("rdma_msg", m.rdma_msg)
      .add("rdma_nomsg", m.rdma_nomsg)
      .add("rdma_msgp", m.rdma_msgp)
      .add("rdma_done", m.rdma_done)
      .add("rdma_error", m.rdma_error)
      .add("v2", document(m.v2));
}

Text document(const referee::ConnectionFacts::Operations& o) {
  return Object()
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

Text document(const referee::ConnectionFacts& c) {
  const std::string_view roles = name(c.roles_from);
  Object opened;
  add_frame(opened, c.opened).add("seen", c.handshake_seen);
  // The contract knows 1 and 2; any other value on the wire is a finding, not this connection's version.
  const bool known_version = c.version == 1 || c.version == 2;
  std::vector<Text> procedures;
  for (const auto& procedure : c.procedures) procedures.push_back(document(procedure));
  Object out;
  out.add("id", c.id)
      .add("transport", name(c.transport))
      .add("client", document(c.client))
      .add("server", document(c.server))
      .add("roles_from", roles.empty() ? std::nullopt : std::optional(roles))
      .add("opened", opened)
      .add("closed", document(c.closed))
      .add("version", known_version ? c.version : std::nullopt)
      .add("private_data",
           Object().add("client", document(c.private_data_client)).add("server", document(c.private_data_server)))
      .add("thresholds", Object()
                             .add("client_to_server", c.thresholds.client_to_server)
                             .add("server_to_client", c.thresholds.server_to_client)
                             .add("basis", name(c.thresholds.basis)))
      .add("credits", Object()
                          .add("requested", c.credits.requested)
                          .add("granted", c.credits.granted)
                          .add("outstanding_peak", c.credits.outstanding_peak)
                          .add("stalls", c.credits.stalls))
      .add("messages", document(c.messages))
      .add("operations", document(c.operations))
      .add("pull_completion", Object()
                                  .add("offered", c.pull_completion.offered)
                                  .add("completed", c.pull_completion.completed)
                                  .add("missing", c.pull_completion.missing))
      .add("latency_us", document(c.latency))
      .add("procedures", procedures)
      .add("path_mtu", c.path_mtu)
      .add("one_way", c.one_way)
      .add("gaps", c.gaps)
      .add("sends_unrecognised", c.sends_unrecognised);
  if (!c.networks.empty()) out.add("networks", c.networks);
  return out;
}

std::optional<Text> since(const std::optional<trace::FrameRef>& frame) {
  if (!frame) return std::nullopt;
  Object out;
  return Text(add_frame(out, *frame));
}

Text document(const referee::Verdict& verdict) {
  const bool told = verdict.mount.has_value();
  return Object()
      .add("state", name(verdict.state))
      .add("mount", verdict.mount)
      .add("sentence", told ? std::optional<std::string_view>(verdict.sentence) : std::nullopt);
}

Text document(const referee::OperationTimes& times) {
  const auto figure = [&](double us) { return times.latency.count == 0 ? std::nullopt : std::optional(us); };
  return Object()
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

Text document(const referee::MountFacts::Waiting& waiting) {
  Object oldest;
  add_frame(oldest, waiting.frame)
      .add("xid", xid(waiting.xid))
      .add("operation", waiting.operation)
      .add("seconds", waiting.seconds);
  return Object().add("calls", waiting.calls).add("oldest", oldest);
}

Text document(const referee::MountFacts::LongestWait& wait) {
  return Object()
      .add("frame", wait.frame.number)
      .add("reply_frame", wait.reply_frame.number)
      .add("operation", wait.operation)
      .add("seconds", wait.seconds);
}

Text document(const referee::MountFacts::NfsOverTcp& tcp) {
  return Object().add("frames", tcp.frames).add("first", tcp.first.number);
}

Text document(const referee::MountFacts& mount) {
  std::vector<Text> operations;
  for (const referee::OperationTimes& times : mount.operations) operations.push_back(document(times));
  return Object()
      .add("id", mount.id)
      .add("client", mount.client)
      .add("server", mount.server)
      .add("connections", mount.connections)
      .add("attempts", Object()
                           .add("made", mount.attempts.made)
                           .add("established", mount.attempts.established)
                           .add("refused", mount.attempts.refused)
                           .add("unanswered", mount.attempts.unanswered))
      .add("state", name(mount.state))
      .add("since", since(mount.since))
      .add("owes", name(mount.owes))
      .add("waiting", document(mount.waiting))
      .add("longest_wait", document(mount.longest_wait))
      .add("operations", operations)
      .add("nfs_over_tcp", document(mount.nfs_over_tcp))
      .add("sentence", mount.sentence)
      .add("next", mount.next.empty() ? std::nullopt : std::optional<std::string_view>(mount.next));
}

Text document(const referee::Finding& f) {
  const referee::Rule& rule = referee::rule(f.rule);
  return Object()
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

Text document(const referee::Unchecked& u) {
  return Object()
      .add("rule", referee::rule(u.rule).name)
      .add("connection", connection_number(u.connection))
      .add("reason", u.reason);
}

Text document(const trace::TapClock& clock, std::size_t input) {
  std::vector<double> steps;
  for (const trace::TimeNs step : clock.steps_by()) steps.push_back(static_cast<double>(step) / 1e3);
  using Basis = trace::TapClock::Basis;
  const bool known = clock.basis != Basis::none;
  const auto basis = clock.basis == Basis::packets ? "packets" : "acknowledgements";
  return Object()
      .add("tap", input + 1)
      .add("reference", known ? std::optional(clock.reference + 1) : std::nullopt)
      .add("basis", known ? std::optional<std::string_view>(basis) : std::nullopt)
      .add("proofs", clock.proofs)
      .add("ahead_us",
           known && clock.first ? std::optional(static_cast<double>(clock.ahead.at(*clock.first)) / 1e3) : std::nullopt)
      .add("uncertainty_us", clock.ahead.uncertainty ? std::optional(*clock.ahead.uncertainty / 1e3) : std::nullopt)
      .add("drift_ppm", known ? std::optional(clock.ahead.drift * 1e6) : std::nullopt)
      .add("steps_us", steps);
}

Text document(const trace::Spread& spread) {
  return Object()
      .add("count", spread.count)
      .add("min", spread.min / 1e3)
      .add("p50", spread.median / 1e3)
      .add("p99", spread.p99 / 1e3);
}

Text document(const trace::TapPath& path) {
  return Object()
      .add("both", path.both)
      .add("recut", path.recut)
      .add("lost", path.lost)
      .add("missed_far", path.missed_far)
      .add("missed_far_acknowledgements", path.missed_far_bare)
      .add("missed_near", path.missed_near)
      .add("one_way_us", document(path.one_way));
}

Text document(const Taps& taps) {
  std::vector<Text> clocks;
  for (std::size_t i = 0; i < taps.compared.clocks.size(); ++i) clocks.push_back(document(taps.compared.clocks[i], i));
  std::vector<Text> routes;
  for (const trace::TapRoute& route : taps.routes) {
    routes.push_back(Object()
                         .add("near", route.near + 1)
                         .add("far", route.far + 1)
                         .add("address", route.address)
                         .add("peer", route.peer)
                         .add("out", document(route.out))
                         .add("back", document(route.back)));
  }
  std::optional<Text> slowest;
  if (const auto& call = taps.calls.slowest) {
    slowest = Object()
                  .add("frame", call->call.number)
                  .add("reply_frame", call->reply.number)
                  .add("operation", call->operation)
                  .add("whole_us", call->whole / 1e3)
                  .add("there_us", call->there / 1e3)
                  .add("peer_us", call->peer / 1e3)
                  .add("back_us", call->back / 1e3);
  }
  Object out;
  out.add("not_measured", taps.not_measured.empty() ? std::nullopt : std::optional<std::string_view>(taps.not_measured))
      .add("clocks", clocks)
      .add("routes", routes)
      .add("calls", Object()
                        .add("whole_us", document(taps.calls.whole))
                        .add("there_us", document(taps.calls.there))
                        .add("peer_us", document(taps.calls.peer))
                        .add("back_us", document(taps.calls.back))
                        .add("slowest", slowest));
  if (taps.left_out != 0) out.add("routes_left_out", taps.left_out);
  return out;
}

Text tool() { return Object().add("name", tool_name).add("version", tool_version); }

Text document(const ndjson::Totals& totals) {
  return Object()
      .add("connections", totals.connections)
      .add("errors", totals.errors)
      .add("warnings", totals.warnings)
      .add("notes", totals.notes)
      .add("frames", totals.frames)
      .add("rdma_messages", totals.rdma_messages);
}

ndjson::Totals totals_of(const Run& run) {
  const Tally tally = count(run.report.findings);
  return {run.report.connections.size(), tally.errors, tally.warnings, tally.notes, run.frames,
          run.report.rdma_messages};
}

/// The members of the document that are lists, one element a line.
class Lists {
 public:
  Lists(std::string& out, const Write& write, const ForEach& for_each)
      : out_(out), write_(write), for_each_(for_each) {}

  /// One that is long goes to `write` in pieces, with all that stands in `out` before it.
  template <typename List, typename Element>
  void put(std::string_view key, const List& list, Element element) {
    fmt::format_to(std::back_inserter(out_), "\"{}\":[", key);
    const auto lines = [&](std::string& to, std::size_t from, std::size_t end) {
      for (std::size_t i = from; i < end; ++i) {
        to += i == 0 ? "\n" : ",\n";
        to += element(list[i]).json;
      }
    };
    std::size_t done = 0;
    while (list.size() - done > piece) {
      const std::size_t pieces = std::min(most_pieces, (list.size() - done + piece - 1) / piece);
      std::vector<std::string> made(pieces);
      for_each_(pieces, [&](std::size_t i) {
        const std::size_t from = done + i * piece;
        lines(made[i], from, std::min(from + piece, list.size()));
      });
      write_out();
      for (const std::string& text : made) write_(text);
      done = std::min(done + pieces * piece, list.size());
    }
    lines(out_, done, list.size());
    out_ += list.empty() ? "],\n" : "\n],\n";
  }
  void write_out() {
    write_(out_);
    out_.clear();
  }

 private:
  static constexpr std::size_t piece = 128;       // elements: some 100 KiB
  static constexpr std::size_t most_pieces = 32;  // that wait to be written

  std::string& out_;
  const Write& write_;
  const ForEach& for_each_;
};

}  // namespace

void json(const Run& run, const Write& write, const ForEach& for_each) {
  const referee::Report& report = run.report;
  const auto documented = [](const auto& thing) { return document(thing); };

  std::string out = "{\"schema\":\"rpcrdma-analyzer/1\",\n\"tool\":";
  Lists lists(out, write, for_each);
  out += tool().json;
  out += ",\n";
  lists.put("inputs", run.inputs, documented);
  if (run.taps) {
    out += "\"taps\":";
    out += document(*run.taps).json;
    out += ",\n";
  }
  lists.put("connections", report.connections, documented);
  out += "\"verdict\":";
  out += document(report.verdict).json;
  out += ",\n";
  lists.put("mounts", report.mounts, documented);
  lists.put("findings", by_place(report.findings), [](const referee::Finding* finding) { return document(*finding); });
  lists.put("unchecked", report.unchecked, documented);
  out += "\"totals\":";
  out += document(totals_of(run)).json;
  out += "}\n";
  lists.write_out();
}

void json(const Run& run, const Write& write) {
  json(run, write, [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t number = 0; number < count; ++number) work(number);
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
std::string typed(std::string_view type, const Text& object) {
  return fmt::format("{{\"type\":\"{}\",{}\n", type, std::string_view(object.json).substr(1));
}

}  // namespace

std::string opening() { return typed("report", Object().add("schema", "rpcrdma-analyzer/1").add("tool", tool())); }
std::string line(const Input& input) { return typed("input", document(input)); }
std::string line(const referee::ConnectionFacts& connection) { return typed("connection", document(connection)); }
std::string line(const referee::Finding& finding) { return typed("finding", document(finding)); }
std::string line(const referee::Unchecked& unchecked) { return typed("unchecked", document(unchecked)); }
std::string line(const referee::MountFacts& mount) { return typed("mount", document(mount)); }
std::string line(const referee::Verdict& verdict) { return typed("verdict", document(verdict)); }
std::string line(const Taps& taps) { return typed("taps", document(taps)); }
std::string line(const Totals& totals) { return typed("totals", document(totals)); }

std::string all(const Run& run) {
  std::string out = opening();
  for (const auto* finding : by_place(run.report.findings)) out += line(*finding);
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
