// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture_rows.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/encoding.hpp"
#include "report/layout.hpp"
#include "report/report.hpp"
#include "report/version.hpp"

namespace rpcrdma::cli {
namespace {

using Json = nlohmann::json;

void each_line(std::string_view text, const std::function<void(std::string_view line)>& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

[[nodiscard]] bool is_of(std::string_view line, std::string_view type) {
  return line.starts_with(fmt::format(R"({{"type":"{}")", type));
}

/// The objects that sum a capture up; null where it could not be opened.
struct Sums {
  Json verdict;
  Json totals;
};

[[nodiscard]] Sums sums_of(std::string_view said) {
  Sums out;
  each_line(said, [&](std::string_view line) {
    const bool verdict = is_of(line, "verdict");
    if (!verdict && !is_of(line, "totals")) return;
    Json row = Json::parse(line, nullptr, false);
    if (!row.is_object()) return;
    row.erase("type");
    (verdict ? out.verdict : out.totals) = std::move(row);
  });
  return out;
}

[[nodiscard]] std::uint64_t number(const Json& of, const char* name) {
  const auto found = of.is_object() ? of.find(name) : of.end();
  return found != of.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

[[nodiscard]] std::string word(const Json& of, const char* name) {
  if (!of.is_object()) return {};
  const auto found = of.find(name);
  return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// What keeps the mount from working, where no finding is worse; empty: nothing does.
[[nodiscard]] std::string broken_state(const Json& verdict) {
  std::string state = word(verdict, "state");
  return state == "waiting" || state == "down" || state == "never-up" ? state : std::string();
}

[[nodiscard]] std::string worst(ExitStatus status, const Sums& sums) {
  if (status == ExitStatus::trouble) return "trouble";
  if (number(sums.totals, "errors") != 0) return "error";
  if (number(sums.totals, "warnings") != 0) return "warning";
  if (std::string state = broken_state(sums.verdict); !state.empty()) return state;
  return status == ExitStatus::nothing ? "nothing" : "clean";  // notes are for healthy ones as well
}

/// With `added` behind the first `mark`, where there is one.
[[nodiscard]] std::string with(std::string_view line, std::string_view mark, std::string_view added) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::string(line);
  const std::size_t behind = at + mark.size();
  return fmt::format("{}{}{}", line.substr(0, behind), added, line.substr(behind));
}

/// Suites without their frame, each with the capture's name in front of its own. What reads them tells tests apart by
/// class and name, and takes a full stop for the end of a package.
[[nodiscard]] std::string suites(const std::string& path, std::string_view said) {
  const std::string name = report::xml(path);
  std::string package = name;
  std::replace(package.begin(), package.end(), '.', '_');
  const std::string class_of_all = fmt::format("classname=\"{}.", report::tool_name);
  std::string out;
  each_line(said, [&](std::string_view line) {
    if (line.starts_with("<?xml") || line.starts_with("<testsuites") || line.starts_with("</testsuites")) return;
    const std::string named = with(line, "<testsuite name=\"", name + ": ");
    out += named == line ? with(line, class_of_all, package + ".") : named;
    out += '\n';
  });
  return out;
}

}  // namespace

std::string name_in_rows(std::string_view path) {
  return Json(path).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string octets_in_rows(std::string_view path) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string out;
  if (name_in_rows(path).find(replacement) == std::string::npos) return out;
  for (const char octet : path) out += fmt::format("{:02x}", static_cast<unsigned char>(octet));
  return out;
}

std::string CaptureRows::opening(bool held, bool torn) {
  any_ = held;
  switch (format_) {
    case Format::json:
      return "[\n";
    case Format::junit:
      return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n", report::tool_name);
    case Format::ndjson:
      return torn ? "\n" : "";
    default:
      return {};
  }
}

std::string CaptureRows::broken_off(const std::string& path) {
  if (format_ == Format::ndjson) return {};
  if (format_ != Format::text || statistics_) return of(path, ExitStatus::trouble, {});
  return fmt::format("{:<8} {}: its analysis was broken off\n", "trouble", report::printable(path));
}

std::string CaptureRows::closing() const {
  if (statistics_) return report::statistics(all_, false);
  switch (format_) {
    case Format::json:
      return "]\n";
    case Format::junit:
      return "</testsuites>\n";
    default:
      return {};
  }
}

/// The findings of all captures as if these followed on each other.
void CaptureRows::count(const std::string& path, ExitStatus status, std::string_view said) {
  report::Input input;
  input.path = path;
  each_line(said, [&](std::string_view line) {
    if (!is_of(line, "finding")) return;
    const Json row = Json::parse(line, nullptr, false);
    const referee::Rule* const rule = referee::find_rule(word(row, "rule"));
    if (rule == nullptr) return;
    referee::Finding finding;
    finding.rule = rule->id;
    const std::string severity = word(row, "severity");
    finding.severity = severity == "error"     ? referee::Severity::error
                       : severity == "warning" ? referee::Severity::warning
                                               : referee::Severity::note;
    finding.occurrences = std::max<std::uint64_t>(1, number(row, "times"));
    finding.frames = {all_.frames + 1};  // any frame of this capture
    all_.report.findings.push_back(finding);
  });
  input.frames = number(sums_of(said).totals, "frames");
  if (status == ExitStatus::trouble) input.damaged = report::Input::Damaged{};
  all_.frames += input.frames;
  all_.inputs.push_back(std::move(input));
}

std::string CaptureRows::text(const std::string& path, ExitStatus status, std::string_view said) const {
  const Sums sums = sums_of(said);
  const auto counted = [&](const char* name, std::string_view one) {
    const std::uint64_t n = number(sums.totals, name);
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
  };
  std::string sentence = word(sums.verdict, "sentence");
  if (sentence.empty()) {
    sentence = status == ExitStatus::trouble ? "It could not be read." : "Nothing of RPC-over-RDMA can be judged.";
  }
  return fmt::format("{:<8} {}: {}, {}. {}\n", worst(status, sums), report::printable(path), counted("errors", "error"),
                     counted("warnings", "warning"), sentence);
}

std::string CaptureRows::ndjson(const std::string& path, ExitStatus status, std::string_view said) {
  std::string out;
  const std::string name = name_in_rows(path);
  each_line(said, [&](std::string_view line) {
    if (!line.starts_with('{')) return;
    // The first line is the run's, and there is one run.
    const bool opening = is_of(line, "report");
    if (opening && any_) return;
    any_ = any_ || opening;
    const std::size_t behind_type = line.find(',');
    if (opening || behind_type == std::string_view::npos) {
      out += line;
    } else {
      out += fmt::format("{},\"capture\":{}{}", line.substr(0, behind_type), name, line.substr(behind_type));
    }
    out += '\n';
  });
  const Sums sums = sums_of(said);
  std::string octets = octets_in_rows(path);
  if (!octets.empty()) octets = fmt::format(R"(,"path_octets":"{}")", octets);
  out += fmt::format(R"({{"type":"capture","path":{}{},"exit":{},"verdict":{},"totals":{}}})", name, octets,
                     static_cast<int>(status), sums.verdict.dump(), sums.totals.dump());
  return out + '\n';
}

std::string CaptureRows::csv(const std::string& path, std::string_view said) {
  // Line ends inside of quotation marks are part of a cell.
  std::string out;
  const std::string name = report::csv_cell(path);
  bool header = true;
  while (!said.empty()) {
    bool inside = false;
    std::size_t end = 0;
    for (; end < said.size() && (inside || said[end] != '\n'); ++end) inside = inside != (said[end] == '"');
    const std::string_view row = said.substr(0, std::min(end + 1, said.size()));
    said.remove_prefix(row.size());
    if (header) {
      if (!any_) out += fmt::format("capture,{}", row);
    } else {
      out += fmt::format("{},{}", name, row);
    }
    header = false;
  }
  any_ = any_ || !out.empty();
  return out;
}

std::string CaptureRows::of(const std::string& path, ExitStatus status, std::string_view said) {
  switch (format_) {
    case Format::text:
      if (!statistics_) return text(path, status, said);
      count(path, status, said);
      return {};
    case Format::ndjson:
      return ndjson(path, status, said);
    case Format::csv:
      return csv(path, said);
    case Format::junit:
      return suites(path, said);
    case Format::json: {
      while (said.ends_with('\n')) said.remove_suffix(1);
      if (said.empty()) return {};
      std::string out = fmt::format("{}{}\n", any_ ? "," : "", said);
      any_ = true;
      return out;
    }
  }
  return {};
}

}  // namespace rpcrdma::cli
