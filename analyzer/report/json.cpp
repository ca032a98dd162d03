// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON document "rpcrdma-analyzer/1": every key always present, null where a value is not known.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/names.hpp"
#include "report/pages.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"
#include "report/version.hpp"

namespace rpcrdma::report {
namespace {

using Json = nlohmann::ordered_json;

/// An object whose keys are known to differ: nothing is searched for, nothing copied.
class Object {
 public:
  explicit Object(std::size_t members) { members_.reserve(members); }
  template <typename T>
  Object& add(std::string_view key, T&& value) {
    members_.emplace_back(std::string(key), Json(std::forward<T>(value)));
    return *this;
  }
  operator Json() { return std::move(members_); }

 private:
  Json::object_t members_;
};

template <typename T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
Json maybe_name(const std::optional<T>& value) {
  return value ? Json(name(*value)) : Json(nullptr);
}

Json maybe_time(const std::optional<trace::TimeNs>& time) {
  return time ? Json(decimal_seconds(*time)) : Json(nullptr);
}

Json connection_number(trace::ConnectionId id) { return id == 0 ? Json(nullptr) : Json(id); }

Json document(const Input& input) {
  Json damaged = nullptr;
  if (input.damaged) damaged = {{"offset", input.damaged->offset}, {"reason", input.damaged->reason}};
  return {{"path", input.path},
          {"format", input.format},
          {"link_types", input.link_types},
          {"frames", input.frames},
          {"bytes", input.bytes},
          {"first_time", maybe_time(input.first_time)},
          {"last_time", maybe_time(input.last_time)},
          {"truncated_frames", input.truncated_frames},
          {"damaged", std::move(damaged)}};
}

Json document(const trace::Endpoint& end) {
  return Object(3)
      .add("address", end.address.empty() ? Json(nullptr) : Json(end.address))
      .add("port", maybe(end.port))
      .add("qpn", maybe(end.qpn));
}

/// Frame number 0 means that there is no such frame.
void put_frame(Json& into, const trace::FrameRef& frame) {
  into["frame"] = frame.number == 0 ? Json(nullptr) : Json(frame.number);
  into["time"] = frame.number == 0 ? Json(nullptr) : Json(decimal_seconds(frame.time));
}

Json document(const std::optional<referee::PrivateData>& data) {
  if (!data) return nullptr;
  return Object(7)
      .add("frame", data->frame)
      .add("offset", data->offset)
      .add("version", data->version)
      .add("remote_invalidation", data->remote_invalidation)
      .add("send_size", data->send_size)
      .add("receive_size", data->receive_size)
      .add("reserved", data->reserved);
}

Json document(const std::optional<referee::Closed>& closed) {
  if (!closed) return nullptr;
  Json out = Json::object();
  put_frame(out, closed->frame);
  out["how"] = name(closed->how);
  out["by"] = maybe_name(closed->by);
  out["cause"] = nullptr;
  if (closed->cause) {
    out["cause"] = {{"rule", referee::rule(closed->cause->rule).name},
                    {"confidence", closed->cause->proven ? "proven" : "probable"},
                    {"frames", closed->cause->frames},
                    {"message", closed->cause->message}};
  }
  return out;
}

Json document(const referee::Latency& latency) {
  const auto figure = [&](double us) { return latency.count == 0 ? Json(nullptr) : Json(us); };
  return Object(6)
      .add("count", latency.count)
      .add("min", figure(latency.min))
      .add("p50", figure(latency.p50))
      .add("p90", figure(latency.p90))
      .add("p99", figure(latency.p99))
      .add("max", figure(latency.max));
}

Json document(const referee::ProcedureFacts& procedure) {
  const auto figure = [&](double us) { return procedure.latency.count == 0 ? Json(nullptr) : Json(us); };
  Json operations = Json::object();
  for (const auto& [operation, count] : procedure.operations) operations[operation] = count;
  return Object(8)
      .add("program", procedure.program)
      .add("version", procedure.version)
      .add("procedure", procedure.procedure)
      .add("name", procedure.name)
      .add("calls", procedure.calls)
      .add("p50_us", figure(procedure.latency.p50))
      .add("p99_us", figure(procedure.latency.p99))
      .add("operations", std::move(operations));
}

Json document(const referee::ConnectionFacts::Messages& m) {
  Json v2 = Json::object();
  for (const auto& [htype, count] : m.v2) v2[htype] = count;
  return Object(10)
      .add("calls", m.calls)
      .add("replies", m.replies)
      .add("reverse_calls", m.reverse_calls)
      .add("reverse_replies", m.reverse_replies)
      .add("rdma_msg", m.rdma_msg)
      .add("rdma_nomsg", m.rdma_nomsg)
      .add("rdma_msgp", m.rdma_msgp)
      .add("rdma_done", m.rdma_done)
      .add("rdma_error", m.rdma_error)
      .add("v2", std::move(v2));
}

Json document(const referee::ConnectionFacts::Operations& o) {
  return Object(9)
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

Json document(const referee::ConnectionFacts& c) {
  const std::string_view roles = name(c.roles_from);
  Json opened = Json::object();
  put_frame(opened, c.opened);
  opened["seen"] = c.handshake_seen;
  // The contract knows 1 and 2; any other value on the wire is a finding, not this connection's version.
  const std::uint32_t version = c.version.value_or(0);
  Json procedures = Json::array();
  for (const auto& procedure : c.procedures) procedures.push_back(document(procedure));
  return Object(21)
      .add("id", c.id)
      .add("transport", name(c.transport))
      .add("client", document(c.client))
      .add("server", document(c.server))
      .add("roles_from", roles.empty() ? Json(nullptr) : Json(roles))
      .add("opened", std::move(opened))
      .add("closed", document(c.closed))
      .add("version", version == 1 || version == 2 ? Json(version) : Json(nullptr))
      .add("private_data",
           Object(2).add("client", document(c.private_data_client)).add("server", document(c.private_data_server)))
      .add("thresholds", Object(3)
                             .add("client_to_server", maybe(c.thresholds.client_to_server))
                             .add("server_to_client", maybe(c.thresholds.server_to_client))
                             .add("basis", name(c.thresholds.basis)))
      .add("credits", Object(4)
                          .add("requested", maybe(c.credits.requested))
                          .add("granted", maybe(c.credits.granted))
                          .add("outstanding_peak", c.credits.outstanding_peak)
                          .add("stalls", c.credits.stalls))
      .add("messages", document(c.messages))
      .add("operations", document(c.operations))
      .add("pull_completion", Object(3)
                                  .add("offered", c.pull_completion.offered)
                                  .add("completed", c.pull_completion.completed)
                                  .add("missing", c.pull_completion.missing))
      .add("latency_us", document(c.latency))
      .add("procedures", std::move(procedures))
      .add("path_mtu", maybe(c.path_mtu))
      .add("one_way", c.one_way)
      .add("gaps", c.gaps)
      .add("sends_unrecognised", c.sends_unrecognised);
}

Json document(const referee::Finding& f) {
  const referee::Rule& rule = referee::rule(f.rule);
  return Object(14)
      .add("rule", rule.name)
      .add("severity", referee::text(f.severity))
      .add("connection", connection_number(f.connection))
      .add("frames", f.frames)
      .add("time", f.frames.empty() ? Json(nullptr) : Json(decimal_seconds(f.time)))
      .add("xid", f.xid ? Json(xid(*f.xid)) : Json(nullptr))
      .add("violator", maybe_name(f.violator))
      .add("role", maybe_name(f.role))
      .add("message", f.message)
      .add("source", rule.source)
      .add("filter", display_filter(f))
      .add("title", rule.title)
      .add("next", rule.next)
      .add("occurrences", f.occurrences);
}

/// Where a finding stands in the capture; one that belongs to no frame stands behind all others.
std::uint64_t first_frame(const referee::Finding& f) { return f.frames.empty() ? UINT64_MAX : f.frames.front(); }

Json document(const referee::Unchecked& u) {
  return Object(3)
      .add("rule", referee::rule(u.rule).name)
      .add("connection", connection_number(u.connection))
      .add("reason", u.reason);
}

/// Names of files and reasons may hold octets that are no UTF-8; the document is UTF-8 all the same.
std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A member of the document that is a list, one element a line: what is written is not kept as a tree beside its text.
template <typename List, typename Element>
void put_list(std::string& out, std::string_view key, const List& list, Element element) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", key);
  std::string_view before = "\n";
  for (const auto& one : list) {
    out += before;
    out += text_of(element(one));
    before = ",\n";
  }
  out += list.empty() ? "],\n" : "\n],\n";
}

}  // namespace

std::string json(const Run& run) {
  const referee::Report& report = run.report;
  std::vector<const referee::Finding*> ordered;
  ordered.reserve(report.findings.size());
  for (const auto& finding : report.findings) ordered.push_back(&finding);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return first_frame(*a) < first_frame(*b); });
  const auto documented = [](const auto& thing) { return document(thing); };

  std::string out = "{\"schema\":\"rpcrdma-analyzer/1\",\n\"tool\":";
  out += text_of(Object(2).add("name", tool_name).add("version", tool_version));
  out += ",\n";
  put_list(out, "inputs", run.inputs, documented);
  put_list(out, "connections", report.connections, documented);
  put_list(out, "findings", ordered, [](const referee::Finding* finding) { return document(*finding); });
  put_list(out, "unchecked", report.unchecked, documented);
  const Tally tally = count(report.findings);
  out += "\"totals\":";
  out += text_of(Object(6)
                     .add("connections", report.connections.size())
                     .add("errors", tally.errors)
                     .add("warnings", tally.warnings)
                     .add("notes", tally.notes)
                     .add("frames", run.frames)
                     .add("rdma_messages", report.rdma_messages));
  out += "}\n";
  return out;
}

std::string list_rules_json() {
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
