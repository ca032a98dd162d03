// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cli/inputs.hpp"
#include "cli/progress.hpp"
#include "cli/selection.hpp"
#include "report/html.hpp"
#include "report/ladder_text.hpp"
#include "report/report.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::cli {
namespace {

/// False: it could not be written, and that was said. A reader that went away is no fault of anybody.
[[nodiscard]] bool print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      return true;
    } else if (errno != EINTR) {
      complain(fmt::format("standard output: {}", std::generic_category().message(errno)));
      return false;
    }
  }
  return true;
}

/// False: it could not be written, and that was said.
[[nodiscard]] bool write_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  const int why = errno != 0 ? errno : EIO;
  const bool written = file.good();
  if (!written) complain(fmt::format("{}: {}", path, std::generic_category().message(why)));
  return written;
}

[[nodiscard]] bool in_color(Color color) noexcept {
  if (color != Color::automatic) {
    return color == Color::always;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

/// Whether standard output takes more than ASCII, by the rules of locale(7).
[[nodiscard]] bool in_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

[[nodiscard]] std::string ladders(const Options& options, const report::Run& run, report::Ladder& ladder) {
  constexpr std::size_t rows_when_asked_for_more = 1000;
  ladder.finish(run.report.findings);
  report::LadderStyle style{in_color(options.color), !in_unicode()};
  if (options.verbose) style.rows = rows_when_asked_for_more;
  style.rows = options.ladder_rows.value_or(style.rows);
  return report::ladder_text(run, ladder, style);
}

[[nodiscard]] std::string names(const std::vector<std::string>& captures) {
  const std::string first = captures.front() == "-" ? "standard input" : captures.front();
  return captures.size() == 1 ? first : fmt::format("{} and {} more", first, captures.size() - 1);
}

[[nodiscard]] std::string inside_a_tunnel(const trace::Statistics& statistics) {
  return fmt::format(
      "{} of the {} frames carry another packet inside (VXLAN, Geneve or GRE), which is not opened; what is RDMA in it "
      "is not judged (editcap -C takes the outer headers off)",
      statistics.tunnel_frames, statistics.frames);
}

/// Why there is nothing to judge, for a person who hoped there was.
[[nodiscard]] std::string nothing_to_judge(const Options& options, const report::Run& run,
                                           const trace::Statistics& statistics) {
  const std::string where = names(options.captures);
  if (run.report.any_rpcrdma) {
    return fmt::format("{}: holds too little of any connection to judge it", where);
  }
  if (run.frames == 0) {
    return fmt::format("{}: no RPC-over-RDMA: the capture holds no frames", where);
  }
  if (statistics.unknown_link == run.frames) {
    return fmt::format("{}: no RPC-over-RDMA found: none of the {} frames has a link type that can be opened", where,
                       run.frames);
  }
  if (statistics.tunnel_frames != 0) {
    return fmt::format("{}: no RPC-over-RDMA found: {}", where, inside_a_tunnel(statistics));
  }
  if (statistics.rdma_frames != 0) {
    return fmt::format("{}: no RPC-over-RDMA: {} of the {} frames carry RDMA for other uses", where,
                       statistics.rdma_frames, run.frames);
  }
  return fmt::format("{}: no RPC-over-RDMA: none of the {} frames carries RDMA", where, run.frames);
}

[[nodiscard]] ExitStatus analyse(const Options& options) {
  std::optional<report::PageRecorder> page;
  std::optional<report::Ladder> only_ladder;
  if (!options.html.empty()) {
    page.emplace();
  } else if (options.ladder) {
    only_ladder.emplace();
  }
  report::Ladder* ladder = page ? &page->ladder : only_ladder ? &*only_ladder : nullptr;
  referee::Observer* observer = ladder;
  if (page) observer = &*page;
  referee::Referee judge({options.profile, options.pull_timeout, options.service_ports, options.without}, observer);
  trace::Trace trace({options.service_ports, options.check_crc}, judge);
  Inputs inputs(options.captures, options.merge);
  {
    Progress progress(options.progress);
    while (const trace::Frame* frame = inputs.next()) {
      trace.frame(*frame);
      if (ladder != nullptr) ladder->watch(judge.findings());
      if (progress.due(frame->ref.number)) {
        progress.show(inputs.current(), frame->ref.number, inputs.position());
      }
    }
  }
  trace.finish();

  report::Run run{inputs.report(), judge.finish(inputs.last()), inputs.frames()};
  if (!run.report.any_rpcrdma && trace.statistics().tunnel_frames != 0) {
    run.report.unchecked.push_back({referee::RuleId::not_rpcrdma, 0, inside_a_tunnel(trace.statistics())});
  }
  const std::vector<std::string> complaints = inputs.complaints();
  Outcome outcome{.trouble = !complaints.empty(), .any_rpcrdma = run.report.any_rpcrdma, .judged = run.report.judged};
  const std::size_t connections = run.report.connections.size();
  select(run.report, options);
  outcome.failed = fails(run.report, options.fail_on);
  const bool connection_missing = options.connection && run.report.any_rpcrdma && run.report.connections.empty();

  if (inputs.opened() != 0 && !connection_missing) {
    const report::TextStyle style{in_color(options.color), options.quiet, options.verbose};
    const std::string drawn = options.ladder ? ladders(options, run, *ladder) : std::string();
    if (!print(options.format == Format::json ? report::json(run) : report::text(run, style, drawn))) {
      outcome.trouble = true;
    }
    if (page && !write_file(options.html, report::html(run, *page))) outcome.trouble = true;
  }
  for (const std::string& line : complaints) {
    complain(line);
  }
  if (connection_missing) {
    complain(
        fmt::format("--connection: there is no connection {}; the capture has {}", *options.connection, connections));
    outcome.trouble = true;
  }
  const ExitStatus status = exit_status(outcome);
  if (status == ExitStatus::nothing) {
    complain(nothing_to_judge(options, run, trace.statistics()));
  }
  return status;
}

}  // namespace

void complain(std::string_view line) noexcept {
  std::string whole = "rpcrdma-analyzer: ";
  // Names of files may hold anything; the line stays one line.
  std::replace_copy_if(
      line.begin(), line.end(), std::back_inserter(whole),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  whole += '\n';
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, whole.data(), whole.size());
}

ExitStatus stop(const Stop& stop) {
  if (!stop.error.empty()) {
    complain(stop.error);
  }
  return print(stop.output) ? stop.status : ExitStatus::trouble;
}

ExitStatus run(const Options& options) {
  const bool color = in_color(options.color);
  switch (options.action) {
    case Action::analyse:
      return analyse(options);
    case Action::list_rules:
      return stop({ExitStatus::clean,
                   options.format == Format::json ? report::list_rules_json() : report::list_rules_text(color),
                   {}});
    case Action::explain_rule:
      return stop({ExitStatus::clean, report::explain(options.rule_to_explain, color, !in_unicode()).value_or(""), {}});
  }
  return ExitStatus::trouble;
}

}  // namespace rpcrdma::cli
