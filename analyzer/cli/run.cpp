// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/annotation.hpp"
#include "cli/batch.hpp"
#include "cli/captures_below.hpp"
#include "cli/inputs.hpp"
#include "cli/judging.hpp"
#include "cli/kept_input.hpp"
#include "cli/on_threads.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/sanitizing.hpp"
#include "cli/selection.hpp"
#include "cli/side_by_side.hpp"
#include "cli/stream.hpp"
#include "cli/taps.hpp"
#include "cli/targets.hpp"
#include "report/html.hpp"
#include "report/input_order.hpp"
#include "report/ladder_text.hpp"
#include "report/not_opened.hpp"
#include "report/report.hpp"
#include "report/tap_calls.hpp"
#include "trace/trace.hpp"

namespace rpcrdma::cli {
namespace {

[[nodiscard]] bool in_color(Color color) noexcept {
  if (color != Color::automatic) {
    return color == Color::always;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

/// Those of the terminal, as far as lines of that length can still be read.
[[nodiscard]] std::size_t report_columns() noexcept {
  constexpr std::size_t narrowest = 80;
  constexpr std::size_t widest = 200;
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return report::TextStyle{}.width;
  }
  return std::clamp<std::size_t>(size.ws_col, narrowest, widest);
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
  ladder.finish(run.report.findings.all());
  report::LadderStyle style{in_color(options.color), !in_unicode()};
  if (options.verbose) style.rows = rows_when_asked_for_more;
  style.rows = options.ladder_rows.value_or(style.rows);
  return report::ladder_text(run, ladder, style);
}

[[nodiscard]] std::string names(const std::vector<std::string>& captures) {
  const std::string first = captures.front() == "-" ? "standard input" : captures.front();
  return captures.size() == 1 ? first : fmt::format("{} and {} more", first, captures.size() - 1);
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
  if (const std::string closed = report::not_opened(statistics); !closed.empty()) {
    return fmt::format("{}: no RPC-over-RDMA found: {}", where, closed);
  }
  const std::vector<referee::Finding> notes = run.report.findings.all();
  const bool others = std::any_of(notes.begin(), notes.end(), [](const referee::Finding& note) {
    return note.rule == referee::RuleId::not_rpcrdma;
  });
  if (statistics.rdma_frames != 0 && statistics.truncated_frames != 0 && !others) {
    return fmt::format(
        "{}: no RPC-over-RDMA found: {} of the {} frames carry RDMA, and were cut too short to tell what for", where,
        statistics.rdma_frames, run.frames);
  }
  if (statistics.rdma_frames != 0) {
    return fmt::format("{}: no RPC-over-RDMA: {} of the {} frames carry RDMA{}", where, statistics.rdma_frames,
                       run.frames, others ? " for other uses" : ", and nothing in them shows what for");
  }
  return fmt::format("{}: no RPC-over-RDMA: none of the {} frames carries RDMA", where, run.frames);
}

[[nodiscard]] bool put_out(const Options& options, const report::Run& run, const std::string& drawn) {
  switch (options.format) {
    case Format::text:
      if (options.statistics) return print(report::statistics(run, options.merge));
      return print(
          report::text(run, {in_color(options.color), options.quiet, options.verbose, report_columns()}, drawn));
    case Format::json: {
      bool put = true;
      report::json(
          run, [&put](std::string_view piece) { put = put && print(piece); },
          [&options](std::size_t count, const auto& make, const report::Write& write) {
            make_in_order(threads(options), count, make, write);
          });
      return put;
    }
    case Format::ndjson:
      return print(report::ndjson::all(run));
    case Format::csv:
      return print(report::csv(run));
    case Format::junit: {
      report::JunitView view{options.fail_on, {}};
      for (const referee::Rule& rule : referee::all_rules()) {
        if (shows(options, rule.id)) view.rules.push_back(rule.id);
      }
      bool put = true;
      report::junit(run, view, [&put](std::string_view piece) { put = put && print(piece); });
      return put;
    }
  }
  return false;
}

/// What draws while the capture is read: a page, or a ladder alone.
struct Drawing {
  std::optional<report::PageRecorder> page;
  std::optional<report::Ladder> alone;

  explicit Drawing(const Options& options) {
    if (!options.html.empty()) {
      page.emplace();
    } else if (options.ladder) {
      alone.emplace();
    }
  }
  [[nodiscard]] report::Ladder* ladder() noexcept { return page ? &page->ladder : alone ? &*alone : nullptr; }
  [[nodiscard]] referee::Observer* observer() noexcept {
    return page ? static_cast<referee::Observer*>(&*page) : ladder();
  }
};

/// Files that are written beside the report.
struct Beside {
  std::optional<PageFile> page;
  std::optional<Annotation> annotation;
  std::optional<Sanitizing> sanitizing;
  std::unique_ptr<reader::Source> kept;  ///< standard input, where it is read twice

  /// All of them are tried before a long capture is read in vain. Error: why one cannot be written.
  [[nodiscard]] static tl::expected<Beside, std::string> prepare(const Options& options) {
    if (std::string why = refused_target(options); !why.empty()) return tl::unexpected(std::move(why));
    Beside beside;
    if (!options.html.empty()) {
      auto page = PageFile::create(options.html);
      if (!page) return tl::unexpected(std::move(page.error()));
      beside.page = std::move(*page);
    }
    if (!options.annotate.empty()) {
      auto annotation = Annotation::prepare(options);
      if (!annotation) return tl::unexpected(std::move(annotation.error()));
      beside.annotation = std::move(*annotation);
    }
    if (!options.sanitize.empty()) {
      auto sanitizing = Sanitizing::prepare(options);
      if (!sanitizing) return tl::unexpected(std::move(sanitizing.error()));
      beside.sanitizing = std::move(*sanitizing);
    }
    if (beside.annotation || beside.sanitizing) {
      auto kept = keep_standard_input(options);
      if (!kept) return tl::unexpected(std::move(kept.error()));
      beside.kept = std::move(*kept);
    }
    return beside;
  }
  [[nodiscard]] std::string standard_input() const { return kept ? kept->reopen_path() : std::string(); }
  /// False when one of them could not be: that is said.
  [[nodiscard]] bool write(const Options& options, const report::Run& run, Drawing& drawing) {
    bool all = true;
    const auto done = [&](const tl::expected<void, std::string>& written) {
      if (written) return;
      complain(written.error());
      all = false;
    };
    if (page) done(page->write(report::html(run, *drawing.page)));
    if (annotation) done(annotation->write(options, run, standard_input()));
    if (sanitizing) done(sanitizing->write(options, run, standard_input()));
    return all;
  }
};

/// What is to be had from a capture that has been read to its end.
struct ReadThrough {
  report::Run run;
  trace::Statistics statistics;
};

[[nodiscard]] ReadThrough read_side_by_side(const Options& options, Inputs& inputs) {
  Progress progress(options.progress);
  const trace::Options tracing{options.service_ports, options.check_crc, nullptr};
  Judged judged = judge_side_by_side(inputs, progress, tracing, judged_by(options), threads(options));
  return {{inputs.report(), std::move(judged.report), inputs.frames()}, std::move(judged.statistics)};
}

/// Who wants to know of everything as it happens.
struct Watching {
  Drawing& drawing;
  Sanitizing* sanitizing;  ///< null: nobody asked for it
  Stream* stream;          ///< null: findings are told at the end
};

/// Frame by frame, in their order.
[[nodiscard]] ReadThrough read_in_order(const Options& options, Inputs& inputs, std::optional<report::Taps> taps,
                                        const Watching& watching) {
  Drawing& drawing = watching.drawing;
  Sanitizing* const sanitizing = watching.sanitizing;
  Stream* const stream = watching.stream;
  referee::Observer* observer = drawing.observer();
  trace::TapTally tally(taps ? taps->compared : trace::TapClocks());
  report::TapCalls tap_calls(tally, observer);
  if (taps) observer = &tap_calls;
  if (sanitizing != nullptr) observer = &sanitizing->messages().before(observer);
  referee::Referee judge(judged_by(options), observer, stream);
  trace::EventSink* sink = &judge;
  if (sanitizing != nullptr) sink = &sanitizing->messages().before(judge);
  trace::Trace trace(
      {options.service_ports, options.check_crc, sanitizing != nullptr ? &sanitizing->messages() : nullptr}, *sink);
  if (taps) {
    inputs.correct(taps->compared);
    trace.watch(tally);
  }
  {
    Progress progress(options.progress);
    // What nobody reads is judged to its end for the exit status, where it has one that can be told.
    const auto goes_on = [&] { return stream == nullptr || !stream->unread() || inputs.position().has_value(); };
    while (const trace::Frame* frame = goes_on() ? inputs.next() : nullptr) {
      if (inputs.packet() && sanitizing != nullptr) sanitizing->note(*frame);
      if (inputs.packet()) trace.frame(*frame);
      if (report::Ladder* ladder = drawing.ladder()) ladder->watch(judge);
      if (stream != nullptr) judge.tell();
      if (progress.due(frame->ref.number)) {
        progress.show(inputs.current(), frame->ref.number, inputs.position());
      }
    }
  }
  if (inputs.lost_to_the_end()) trace.lose_the_end();
  trace.finish();
  ReadThrough read{{inputs.report(), judge.finish(inputs.last(), inputs.first()), inputs.frames()}, trace.statistics()};
  if (taps && inputs.opened() > 1) {
    taps->routes = tally.routes();
    taps->left_out = tally.left_out();
    taps->calls = tap_calls.finish();
    read.run.taps = std::move(taps);
  }
  return read;
}

[[nodiscard]] ExitStatus analyse(const Options& options) {
  Drawing drawing(options);
  auto prepared = Beside::prepare(options);
  if (!prepared) {
    complain(prepared.error());
    return ExitStatus::trouble;
  }
  Beside& beside = *prepared;
  // Comments and drawings are made when all is known: then nothing is to be had from telling findings one by one.
  const bool streaming =
      options.format == Format::ndjson && !beside.annotation && !beside.sanitizing && drawing.ladder() == nullptr;
  Stream stream(options);
  std::optional<report::Taps> taps;
  if (options.merge && options.captures.size() > 1) {
    taps = compared(options, beside.standard_input());
  }
  Inputs inputs(options.captures, options.merge, beside.standard_input());
  const bool in_order = drawing.ladder() != nullptr || streaming || taps || beside.sanitizing;
  auto [run, statistics] =
      in_order
          ? read_in_order(options, inputs, std::move(taps),
                          {drawing, beside.sanitizing ? &*beside.sanitizing : nullptr, streaming ? &stream : nullptr})
          : read_side_by_side(options, inputs);
  if (std::string closed = report::not_opened(statistics); !closed.empty()) {
    run.report.unchecked.push_back({referee::RuleId::not_rpcrdma, 0, std::move(closed)});
  }
  const std::vector<std::string> complaints = inputs.complaints();
  Outcome outcome{.trouble = !complaints.empty(), .any_rpcrdma = run.report.any_rpcrdma, .judged = run.report.judged};
  const std::size_t connections = streaming ? stream.connections() : run.report.connections.size();
  run.not_selected = select(run.report, options);
  outcome.failed = streaming ? stream.failed() : fails(run.report, options.fail_on);
  const bool shown = streaming ? stream.shown() != 0 : !run.report.connections.empty();
  const bool connection_missing = options.connection && run.report.any_rpcrdma && !shown;

  // Nothing to tell people of captures that could not be opened, but a script gets its document.
  const bool told = inputs.opened() != 0 || options.format != Format::text;
  if (told && !connection_missing) {
    if (streaming) {
      for (const referee::Unchecked& unchecked : run.report.unchecked) stream.unchecked(unchecked);
      stream.finish(run);
      outcome.trouble = outcome.trouble || stream.broken();
    } else if (!put_out(options, run, options.ladder ? ladders(options, run, *drawing.ladder()) : std::string())) {
      outcome.trouble = true;
    }
    if (inputs.opened() != 0 && !beside.write(options, run, drawing)) outcome.trouble = true;
  }
  for (const std::string& line : complaints) {
    complain(line);
  }
  if (const std::string order = options.merge ? "" : report::out_of_order(run.inputs); !order.empty()) complain(order);
  if (connection_missing) {
    complain(
        fmt::format("--connection: there is no connection {}; the capture has {}", *options.connection, connections));
    outcome.trouble = true;
  }
  const ExitStatus status = exit_status(outcome);
  if (status == ExitStatus::nothing) {
    complain(nothing_to_judge(options, run, statistics));
  }
  return status;
}

}  // namespace

ExitStatus stop(const Stop& stop) {
  if (!stop.error.empty()) {
    complain(stop.error);
  }
  return print(stop.output) ? stop.status : ExitStatus::trouble;
}

ExitStatus run(const Options& options) {
  const bool color = in_color(options.color);
  switch (options.action) {
    case Action::analyse: {
      Below below = with_captures_below(options.captures);
      Options all = options;
      all.captures = std::move(below.captures);
      // There a folder without captures is a trace that cannot be read, and the others are judged.
      if (all.each) return batch(all, analyse);
      // What lies in a folder that is closed may belong between what is read.
      if (!below.closed.empty()) {
        complain(below.closed.front());
        return ExitStatus::trouble;
      }
      for (const std::string& folder : below.empty) {
        complain(fmt::format("{}: there is no capture below it", folder));
        all.captures.erase(std::find(all.captures.begin(), all.captures.end(), folder));
      }
      if (all.captures.empty()) return ExitStatus::trouble;
      const ExitStatus status = analyse(all);
      return below.empty.empty() ? status : ExitStatus::trouble;
    }
    case Action::list_rules:
      return stop({ExitStatus::clean,
                   options.format == Format::json ? report::list_rules_json() : report::list_rules_text(color),
                   {}});
    case Action::explain_rule:
      return stop({ExitStatus::clean,
                   report::explain(options.rule_to_explain, color, !in_unicode(), report_columns()).value_or(""),
                   {}});
  }
  return ExitStatus::trouble;
}

}  // namespace rpcrdma::cli
