// SPDX-License-Identifier: GPL-2.0-or-later
// Findings as a table for spreadsheets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "report/encoding.hpp"
#include "report/fold.hpp"
#include "report/names.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"

namespace rpcrdma::report {
namespace {

// Columns of spreadsheets are known by their places: new ones come last.
constexpr std::array<std::string_view, 22> kColumns{
    "rule",   "severity", "connection", "transport", "client", "server",     "frame",       "frames",
    "time",   "date",     "xid",        "violator",  "role",   "message",    "occurrences", "title",
    "source", "filter",   "next",       "kind",      "owes",   "connections"};

class Row {
 public:
  void cell(std::string_view value) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += csv_cell(value);
  }
  [[nodiscard]] std::string take() { return out_ + "\r\n"; }

 private:
  std::string out_;
  bool first_ = true;
};

[[nodiscard]] std::string peer(const trace::Endpoint& end) {
  if (!end.port) return end.address;
  return end.address.find(':') == std::string::npos ? fmt::format("{}:{}", end.address, *end.port)
                                                    : fmt::format("[{}]:{}", end.address, *end.port);
}

}  // namespace

std::string csv(const Run& run) {
  struct Peers {
    std::string_view transport;
    std::string client;
    std::string server;
  };
  std::map<trace::ConnectionId, Peers> connections;
  for (const auto& c : run.report.connections) connections[c.id] = {name(c.transport), peer(c.client), peer(c.server)};
  Row header;
  for (const std::string_view column : kColumns) header.cell(column);
  std::string out = header.take();
  referee::Finding f;
  for (const std::size_t index : by_place(run.report.findings)) {
    run.report.findings.read(index, f);
    const referee::Rule& rule = referee::rule(f.rule);
    const auto at = connections.find(f.connection);
    const Peers peers = at != connections.end() ? at->second : Peers{};
    const bool placed = !f.frames.empty();
    Row row;
    row.cell(rule.name);
    row.cell(referee::text(f.severity));
    row.cell(f.connection != 0 ? fmt::format("{}", f.connection) : "");
    row.cell(peers.transport);
    row.cell(peers.client);
    row.cell(peers.server);
    row.cell(placed ? fmt::format("{}", f.frames.front()) : "");
    row.cell(fmt::format("{}", fmt::join(f.frames, " ")));
    row.cell(placed ? decimal_seconds(f.time) : "");
    row.cell(placed ? calendar(f.time) : "");
    row.cell(f.xid ? xid(*f.xid) : "");
    row.cell(f.violator ? name(*f.violator) : "");
    row.cell(f.role ? name(*f.role) : "");
    row.cell(f.message);
    row.cell(fmt::format("{}", f.occurrences));
    row.cell(rule.title);
    row.cell(rule.source);
    row.cell(display_filter(f));
    row.cell(rule.next);
    row.cell(name(referee::kind(f.rule)));
    row.cell(f.owes ? name(*f.owes) : "");
    row.cell(fmt::format("{}", fmt::join(connections_of(f), " ")));
    out += row.take();
  }
  return out;
}

}  // namespace rpcrdma::report
