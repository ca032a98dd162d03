// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/html.hpp"
#include "report/html/assets.hpp"
#include "report/html/drawing.hpp"
#include "report/tally.hpp"

namespace rpcrdma::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_mounts = 100;

/// Which of them comes first, second and so on; equals stay as they are.
template <class T, class Before>
[[nodiscard]] std::vector<std::size_t> in_order(const std::vector<T>& values, Before before) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(values[a], values[b]); });
  return order;
}

/// Those that do not work come first, the one that the verdict names before all others.
void bound_mounts(referee::Report& report) {
  std::vector<referee::MountFacts>& mounts = report.mounts;
  if (mounts.size() <= most_mounts) return;
  const auto rank = [&](const referee::MountFacts& mount) {
    using State = referee::MountFacts::State;
    if (mount.id == report.verdict.mount) return 0;
    if (suffers(mount.state)) return 1;
    return mount.state == State::unknown ? 2 : 3;
  };
  std::stable_sort(mounts.begin(), mounts.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  mounts.resize(most_mounts);
  std::sort(mounts.begin(), mounts.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

/// As the page shows it: findings in the order of the JSON, and of a huge report only the worst.
[[nodiscard]] Run shown(const Run& run, const PageLimits& limits) {
  Run out = run;
  referee::Report& report = out.report;
  bound_mounts(report);
  std::map<trace::ConnectionId, int> worst;
  for (const auto& finding : report.findings) {
    for (const trace::ConnectionId id : page::places(finding)) {
      int& known = worst[id];
      known = std::max(known, 1 + static_cast<int>(finding.severity));
    }
  }
  if (report.connections.size() > limits.connections) {
    std::vector<int> found;  // of each
    for (const auto& connection : report.connections) found.push_back(worst[connection.id]);
    std::vector<std::size_t> order = in_order(found, std::greater<>());
    order.resize(limits.connections);
    std::sort(order.begin(), order.end());
    report.connections.keep(order);
  }
  if (report.findings.size() > limits.findings) {
    std::vector<referee::Severity> severities;
    for (const auto& finding : report.findings) severities.push_back(finding.severity);
    std::vector<std::size_t> order = in_order(severities, std::greater<>());
    order.resize(limits.findings);
    report.findings.keep(order);
  }
  report.findings.keep(by_place(report.findings));
  if (report.unchecked.size() > limits.unchecked) report.unchecked.resize(limits.unchecked);
  return out;
}

/// The report's own document; its totals are those of the whole run.
[[nodiscard]] std::string document(const Run& whole, const Run& part) {
  const bool complete = whole.report.connections.size() == part.report.connections.size() &&
                        whole.report.findings.size() == part.report.findings.size() &&
                        whole.report.mounts.size() == part.report.mounts.size();
  if (complete) return json(part);
  Json out = Json::parse(json(part));
  const Tally tally = count(whole.report.findings);
  out["totals"]["connections"] = whole.report.connections.size();
  out["totals"]["errors"] = tally.errors;
  out["totals"]["warnings"] = tally.warnings;
  out["totals"]["notes"] = tally.notes;
  return out.dump();
}

/// Nothing inside may end the element that it stands in.
[[nodiscard]] std::string embedded(const std::string& document) {
  std::string out;
  out.reserve(document.size() + document.size() / 64);
  for (const char c : document) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

[[nodiscard]] unsigned digit(char c) noexcept { return static_cast<unsigned>(c >= 'a' ? c - 'a' + 10 : c - '0'); }

/// As a Content-Security-Policy names it: base64 of the digest's octets.
[[nodiscard]] std::string source_of(std::string_view hex_digest) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "'sha256-";
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : hex_digest) {
    bits = (bits << 4U) | digit(c);
    count += 4;
    if (count >= 6) {
      count -= 6;
      out += alphabet[(bits >> count) & 63U];
    }
  }
  if (count > 0) out += alphabet[(bits << (6 - count)) & 63U];
  while ((out.size() - 8) % 4 != 0) out += '=';
  return out + "'";
}

}  // namespace

std::string html(const Run& run, PageRecorder& recorder, const PageLimits& limits) {
  const Run part = shown(run, limits);
  recorder.ladder.finish(part.report.findings.all());
  const std::string left_out = fmt::format(R"({{"connections":{},"findings":{},"unchecked":{}}})",
                                           run.report.connections.size() - part.report.connections.size(),
                                           run.report.findings.size() - part.report.findings.size(),
                                           run.report.unchecked.size() - part.report.unchecked.size());
  const std::string policy =
      fmt::format("default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
                  source_of(page::script_digest), source_of(page::style_digest));
  const std::string report = embedded(document(run, part));
  const std::string drawing = embedded(page::drawing(part, run, recorder, limits, left_out));

  struct Place {
    std::string_view marker;
    std::string_view text;
  };
  const std::array<Place, 5> places{Place{"{{policy}}", policy}, Place{"{{style}}", page::page_style},
                                    Place{"{{report}}", report}, Place{"{{drawing}}", drawing},
                                    Place{"{{script}}", page::page_script}};
  std::string out;
  out.reserve(page::page_frame.size() + page::page_style.size() + page::page_script.size() + report.size() +
              drawing.size());
  std::string_view rest = page::page_frame;
  for (const Place& place : places) {
    const std::size_t at = rest.find(place.marker);
    if (at == std::string_view::npos) continue;
    out += rest.substr(0, at);
    out += place.text;
    rest.remove_prefix(at + place.marker.size());
  }
  out += rest;
  return out;
}

}  // namespace rpcrdma::report
