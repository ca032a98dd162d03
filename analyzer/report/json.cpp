// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON document "rpcrdma-analyzer/1": every key always present, null where a value is not known.
#include <algorithm>
#include <nlohmann/json.hpp>
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
  return {{"address", end.address.empty() ? Json(nullptr) : Json(end.address)},
          {"port", maybe(end.port)},
          {"qpn", maybe(end.qpn)}};
}

/// Frame number 0 means that there is no such frame.
void put_frame(Json& into, const trace::FrameRef& frame) {
  into["frame"] = frame.number == 0 ? Json(nullptr) : Json(frame.number);
  into["time"] = frame.number == 0 ? Json(nullptr) : Json(decimal_seconds(frame.time));
}

Json document(const std::optional<referee::PrivateData>& data) {
  if (!data) return nullptr;
  return {{"frame", data->frame},         {"offset", data->offset},
          {"version", data->version},     {"remote_invalidation", data->remote_invalidation},
          {"send_size", data->send_size}, {"receive_size", data->receive_size},
          {"reserved", data->reserved}};
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
  return {{"count", latency.count},     {"min", figure(latency.min)}, {"p50", figure(latency.p50)},
          {"p90", figure(latency.p90)}, {"p99", figure(latency.p99)}, {"max", figure(latency.max)}};
}

Json document(const referee::ProcedureFacts& procedure) {
  const auto figure = [&](double us) { return procedure.latency.count == 0 ? Json(nullptr) : Json(us); };
  Json operations = Json::object();
  for (const auto& [operation, count] : procedure.operations) operations[operation] = count;
  return {{"program", procedure.program},
          {"version", procedure.version},
          {"procedure", procedure.procedure},
          {"name", procedure.name},
          {"calls", procedure.calls},
          {"p50_us", figure(procedure.latency.p50)},
          {"p99_us", figure(procedure.latency.p99)},
          {"operations", std::move(operations)}};
}

Json document(const referee::ConnectionFacts::Messages& m) {
  Json v2 = Json::object();
  for (const auto& [htype, count] : m.v2) v2[htype] = count;
  return {{"calls", m.calls},
          {"replies", m.replies},
          {"reverse_calls", m.reverse_calls},
          {"reverse_replies", m.reverse_replies},
          {"rdma_msg", m.rdma_msg},
          {"rdma_nomsg", m.rdma_nomsg},
          {"rdma_msgp", m.rdma_msgp},
          {"rdma_done", m.rdma_done},
          {"rdma_error", m.rdma_error},
          {"v2", std::move(v2)}};
}

Json document(const referee::ConnectionFacts::Operations& o) {
  return {{"sends", o.sends},
          {"sends_with_invalidate", o.sends_with_invalidate},
          {"reads", o.reads},
          {"writes", o.writes},
          {"read_bytes", o.read_bytes},
          {"write_bytes", o.write_bytes},
          {"naks", o.naks},
          {"rnr_naks", o.rnr_naks},
          {"retransmitted", o.retransmitted}};
}

Json document(const referee::ConnectionFacts& c) {
  Json out = {{"id", c.id}, {"transport", name(c.transport)}};
  out["client"] = document(c.client);
  out["server"] = document(c.server);
  const std::string_view roles = name(c.roles_from);
  out["roles_from"] = roles.empty() ? Json(nullptr) : Json(roles);
  Json opened = Json::object();
  put_frame(opened, c.opened);
  opened["seen"] = c.handshake_seen;
  out["opened"] = std::move(opened);
  out["closed"] = document(c.closed);
  // The contract knows 1 and 2; any other value on the wire is a finding, not this connection's version.
  const std::uint32_t version = c.version.value_or(0);
  out["version"] = version == 1 || version == 2 ? Json(version) : Json(nullptr);
  out["private_data"] = {{"client", document(c.private_data_client)}, {"server", document(c.private_data_server)}};
  out["thresholds"] = {{"client_to_server", maybe(c.thresholds.client_to_server)},
                       {"server_to_client", maybe(c.thresholds.server_to_client)},
                       {"basis", name(c.thresholds.basis)}};
  out["credits"] = {{"requested", maybe(c.credits.requested)},
                    {"granted", maybe(c.credits.granted)},
                    {"outstanding_peak", c.credits.outstanding_peak},
                    {"stalls", c.credits.stalls}};
  out["messages"] = document(c.messages);
  out["operations"] = document(c.operations);
  out["pull_completion"] = {{"offered", c.pull_completion.offered},
                            {"completed", c.pull_completion.completed},
                            {"missing", c.pull_completion.missing}};
  out["latency_us"] = document(c.latency);
  Json procedures = Json::array();
  for (const auto& procedure : c.procedures) procedures.push_back(document(procedure));
  out["procedures"] = std::move(procedures);
  out["path_mtu"] = maybe(c.path_mtu);
  out["one_way"] = c.one_way;
  out["gaps"] = c.gaps;
  out["sends_unrecognised"] = c.sends_unrecognised;
  return out;
}

Json document(const referee::Finding& f) {
  const referee::Rule& rule = referee::rule(f.rule);
  return {{"rule", rule.name},
          {"severity", referee::text(f.severity)},
          {"connection", connection_number(f.connection)},
          {"frames", f.frames},
          {"time", f.frames.empty() ? Json(nullptr) : Json(decimal_seconds(f.time))},
          {"xid", f.xid ? Json(xid(*f.xid)) : Json(nullptr)},
          {"violator", maybe_name(f.violator)},
          {"role", maybe_name(f.role)},
          {"message", f.message},
          {"source", rule.source},
          {"filter", display_filter(f)},
          {"title", rule.title},
          {"next", rule.next},
          {"occurrences", f.occurrences}};
}

/// Where a finding stands in the capture; one that belongs to no frame stands behind all others.
std::uint64_t place(const referee::Finding& f) { return f.frames.empty() ? UINT64_MAX : f.frames.front(); }

}  // namespace

std::string json(const Run& run) {
  const referee::Report& report = run.report;
  Json inputs = Json::array();
  for (const auto& input : run.inputs) inputs.push_back(document(input));
  Json connections = Json::array();
  for (const auto& connection : report.connections) connections.push_back(document(connection));

  std::vector<const referee::Finding*> ordered;
  ordered.reserve(report.findings.size());
  for (const auto& finding : report.findings) ordered.push_back(&finding);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return place(*a) < place(*b); });
  Json findings = Json::array();
  for (const auto* finding : ordered) findings.push_back(document(*finding));

  Json unchecked = Json::array();
  for (const auto& u : report.unchecked) {
    unchecked.push_back(
        {{"rule", referee::rule(u.rule).name}, {"connection", connection_number(u.connection)}, {"reason", u.reason}});
  }

  const Tally tally = count(report.findings);
  Json out = Json::object();
  out["schema"] = "rpcrdma-analyzer/1";
  out["tool"] = {{"name", tool_name}, {"version", tool_version}};
  out["inputs"] = std::move(inputs);
  out["connections"] = std::move(connections);
  out["findings"] = std::move(findings);
  out["unchecked"] = std::move(unchecked);
  out["totals"] = {{"connections", report.connections.size()},
                   {"errors", tally.errors},
                   {"warnings", tally.warnings},
                   {"notes", tally.notes},
                   {"frames", run.frames},
                   {"rdma_messages", report.rdma_messages}};
  // Names of files and reasons may hold octets that are no UTF-8; the document is UTF-8 all the same.
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
