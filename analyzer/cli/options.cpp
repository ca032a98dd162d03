// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "reader/libraries.hpp"
#include "report/version.hpp"

namespace rpcrdma::cli {
namespace {

[[nodiscard]] Stop usage(std::string error) { return Stop{ExitStatus::trouble, {}, std::move(error)}; }

/// What CLI11 fills; the rest is derived from it when it is done.
struct Given {
  bool version = false;
  bool list_rules = false;
  bool json = false;
  bool no_progress = false;
  std::string explain;
  std::string format = "text";
  std::string html;
  std::string annotate;
  std::string sanitize;
  std::string sanitize_key;
  std::int64_t threads = 0;
  std::string profile = "auto";
  double pull_timeout = 60;
  double wait = 5;
  std::vector<std::uint32_t> ports;
  std::vector<std::string> rules;
  std::vector<std::string> no_rules;
  std::vector<std::string> without;
  std::string severity = "note";
  std::string fail_on = "warning";
  std::string color = "auto";
  trace::ConnectionId connection = 0;
};

/// An option that may be repeated takes one value each time.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string out = Formatter::make_option_opts(option);
    constexpr std::string_view any_number = " ...";
    if (!option->get_allow_extra_args() && out.ends_with(any_number)) out.resize(out.size() - any_number.size());
    return out;
  }
};

void declare_input(CLI::App& app, Given& given, Options& options) {
  app.set_help_flag("-h,--help", "this text");
  app.add_flag("-V,--version", given.version, "name and version, and those of its libraries");
  app.add_option("CAPTURE,-r,--read", options.captures,
                 "capture to analyse; - is standard input; several are read in this order as one trace")
      ->type_name("FILE");
  app.add_flag("--merge", options.merge, "interleave several captures by time (two taps)");
  app.add_flag("--each", options.each, "every capture is a trace of its own: a line each, or its rows with its name");
  app.add_option("--resume", options.resume, "leave out what an earlier --each --format ndjson wrote there")
      ->type_name("FILE");
  app.add_option("-j,--jobs", given.threads, "use so many processors (all)")->type_name("N");
}

void declare_output(CLI::App& app, Given& given, Options& options) {
  const std::string output = "Output";
  app.add_option("--format", given.format, "what goes to standard output")
      ->type_name("text|json|ndjson|csv|junit")
      ->group(output);
  app.add_flag("--json", given.json, "short for --format json")->group(output);
  app.add_flag("--statistics", options.statistics,
               "instead of the report: a line a rule with its count, then a line an input, each worst first")
      ->group(output);
  app.add_flag("--ladder", options.ladder,
               "text: what happened on each connection, drawn; the middle of a long one is left out")
      ->group(output);
  app.add_option("--ladder-rows", options.ladder_rows, "steps drawn of each connection (60; with -v 1000)")
      ->type_name("N")
      ->group(output);
  app.add_option("--html", given.html, "also write the report as one HTML file")->type_name("FILE")->group(output);
  app.add_option("--annotate", given.annotate, "also write the capture with findings as packet comments")
      ->type_name("FILE.pcapng")
      ->group(output);
  app.add_option("--sanitize", given.sanitize, "also write the capture without anybody's data, to be given away")
      ->type_name("FILE.pcapng")
      ->group(output);
  app.add_option("--sanitize-key", given.sanitize_key, "octets by which names are replaced: the same in every run")
      ->type_name("FILE")
      ->group(output);
  app.add_option("--color", given.color, "auto: on a terminal, unless NO_COLOR is set")
      ->type_name("auto|always|never")
      ->group(output);
  app.add_flag("--no-progress", given.no_progress, "no progress on the terminal")->group(output);
  app.add_flag("-q,--quiet", options.quiet, "findings only")->group(output);
  app.add_flag("-v,--verbose", options.verbose, "every note, every connection in full, every procedure")->group(output);
}

void declare_judging(CLI::App& app, Given& given, Options& options) {
  const std::string judging = "Judging";
  app.add_option("--profile", given.profile,
                 "pull completion is judged where a Reply offers a Read chunk, never, or always")
      ->type_name("auto|rfc8166|reliable-reply")
      ->group(judging);
  app.add_option("--pull-timeout", given.pull_timeout, "how long an offered chunk may wait for its RDMA_DONE (60)")
      ->type_name("SECONDS")
      ->group(judging);
  app.add_option("--wait", given.wait, "the shortest wait that is a symptom (5)")->type_name("SECONDS")->group(judging);
  app.add_option("--port", given.ports, "further service port beside 20049; may be repeated")
      ->type_name("N")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(judging);
  app.add_flag("--check-crc", options.check_crc, "verify ICRC and MPA CRC of every packet")->group(judging);
  // For tests alone, and not shown: tests/scenarios takes each rule away and has to notice.
  app.add_option("--without-rule", given.without, "")->allow_extra_args(false)->group("");
}

void declare_selection(CLI::App& app, Given& given) {
  const std::string selection = "Selection (what is shown, and counts for the exit status)";
  for (auto [name, to, what] :
       {std::tuple{"--rule", &given.rules, "only findings of this rule; may be repeated"},
        std::tuple{"--no-rule", &given.no_rules, "no findings of this rule; may be repeated"}}) {
    app.add_option(name, *to, what)
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group(selection);
  }
  app.add_option("--severity", given.severity, "only findings at or above it")
      ->type_name("note|warning|error")
      ->group(selection);
  app.add_option("--connection", given.connection, "only this connection")->type_name("ID")->group(selection);
  app.add_option("--fail-on", given.fail_on, "which finding makes the exit status 1 (warning)")
      ->type_name("note|warning|error|never")
      ->group(selection);
}

void declare_questions(CLI::App& app, Given& given) {
  const std::string rules = "Rules";
  app.add_flag("--list-rules", given.list_rules, "every rule; with --json as a document")->group(rules);
  app.add_option("--explain", given.explain, "what a rule means, what proves it, what to do next")
      ->type_name("RULE")
      ->group(rules);
}

/// In the order in which --help shows them.
void declare(CLI::App& app, Given& given, Options& options) {
  declare_input(app, given, options);
  declare_output(app, given, options);
  declare_judging(app, given, options);
  declare_selection(app, given);
  declare_questions(app, given);
  app.footer(
      "Exit status: 0 nothing at or above --fail-on; 1 findings; 2 usage, unreadable or damaged input;\n"
      "3 no RPC-over-RDMA in the capture, or too little of it to judge anything.\n");
}

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

template <class Value, std::size_t N>
[[nodiscard]] tl::expected<Value, Stop> choose(std::string_view option, std::string_view given,
                                               const std::array<Choice<Value>, N>& choices) {
  std::string names;
  for (const auto& choice : choices) {
    if (choice.name == given) {
      return choice.value;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.name);
  }
  return tl::unexpected(usage(fmt::format("{}: '{}' is none of {}", option, given, names)));
}

using Severity = referee::Severity;

constexpr std::array kSeverities{Choice<Severity>{"note", Severity::note},
                                 Choice<Severity>{"warning", Severity::warning},
                                 Choice<Severity>{"error", Severity::error}};
constexpr std::array kFailOn{Choice<std::optional<Severity>>{"note", Severity::note},
                             Choice<std::optional<Severity>>{"warning", Severity::warning},
                             Choice<std::optional<Severity>>{"error", Severity::error},
                             Choice<std::optional<Severity>>{"never", std::nullopt}};
constexpr std::array kProfiles{Choice<referee::Profile>{"auto", referee::Profile::automatic},
                               Choice<referee::Profile>{"rfc8166", referee::Profile::rfc8166},
                               Choice<referee::Profile>{"reliable-reply", referee::Profile::reliable_reply}};
constexpr std::array kColors{Choice<Color>{"auto", Color::automatic}, Choice<Color>{"always", Color::always},
                             Choice<Color>{"never", Color::never}};
constexpr std::array kFormats{Choice<Format>{"text", Format::text}, Choice<Format>{"json", Format::json},
                              Choice<Format>{"ndjson", Format::ndjson}, Choice<Format>{"csv", Format::csv},
                              Choice<Format>{"junit", Format::junit}};

/// Empty: none is near.
[[nodiscard]] std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names) {
  // Part of a name, or a name with more around it, is near; else so many letters may differ as a slip of the hand
  // makes.
  constexpr std::size_t worth_a_part = 4;
  for (const std::string_view each : names) {
    if (name.size() >= worth_a_part && each.find(name) != std::string_view::npos) return each;
  }
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string_view each : names) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(each.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i + 1);
      for (std::size_t j = 0; j < each.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i] == each[j] ? 0 : 1);
        diagonal = std::exchange(row[j + 1], std::min({replaced, row[j + 1] + 1, row[j] + 1}));
      }
    }
    // A name that was broken off behind a word counts as well.
    std::size_t distance = row.back();
    for (std::size_t j = 1; j < each.size(); ++j) {
      if (each[j] == '-') distance = std::min(distance, row[j] + 1);
    }
    if (distance < least) {
      least = distance;
      best = each;
    }
  }
  return best;
}

[[nodiscard]] Stop no_such_rule(std::string_view option, std::string_view name) {
  const std::string_view nearest = nearest_rule(name);
  return usage(
      fmt::format("{}: no rule is named '{}'; {}", option, name,
                  nearest.empty() ? "--list-rules names them all" : fmt::format("the nearest is {}", nearest)));
}

[[nodiscard]] tl::expected<std::vector<referee::RuleId>, Stop> rules(std::string_view option,
                                                                     const std::vector<std::string>& names) {
  std::vector<referee::RuleId> out;
  for (const std::string& name : names) {
    const referee::Rule* rule = referee::find_rule(name);
    if (rule == nullptr) {
      return tl::unexpected(no_such_rule(option, name));
    }
    out.push_back(rule->id);
  }
  return out;
}

/// Puts a value where it belongs or remembers the first thing that is wrong.
class Check {
 public:
  template <class Target, class Value>
  void set(Target& target, tl::expected<Value, Stop> value) {
    if (value) {
      target = std::move(*value);
    } else {
      fail(std::move(value.error()));
    }
  }
  void require(bool condition, std::string_view error) {
    if (!condition) {
      fail(usage(std::string(error)));
    }
  }
  void fail(Stop stop) {
    if (!wrong_) {
      wrong_ = std::move(stop);
    }
  }
  [[nodiscard]] std::optional<Stop>& wrong() noexcept { return wrong_; }

 private:
  std::optional<Stop> wrong_;
};

void numbers(const CLI::App& app, const Given& given, Options& options, Check& check) {
  constexpr double kMostSeconds = 1e9;
  check.require(std::isfinite(given.pull_timeout) && given.pull_timeout >= 0 && given.pull_timeout <= kMostSeconds,
                "--pull-timeout: not a number of seconds from 0 to 1000000000");
  check.require(std::isfinite(given.wait) && given.wait >= 0 && given.wait <= kMostSeconds,
                "--wait: not a number of seconds from 0 to 1000000000");
  if (!check.wrong()) {
    options.pull_timeout = std::llround(given.pull_timeout * 1e9);
    options.wait = std::llround(given.wait * 1e9);
  }
  for (const std::uint32_t port : given.ports) {
    check.require(port >= 1 && port <= 65535, fmt::format("--port: {} is not a port from 1 to 65535", port));
    options.service_ports.push_back(static_cast<std::uint16_t>(port));
  }
  if (app.count("--connection") != 0) {
    check.require(given.connection != 0, "--connection: connections are numbered from 1");
    options.connection = given.connection;
  }
}

[[nodiscard]] tl::expected<Options, Stop> derive(const CLI::App& app, const Given& given, Options options) {
  Check check;
  check.set(options.format, choose("--format", given.format, kFormats));
  check.require(app.count("--html") == 0 || (!given.html.empty() && given.html != "-"),
                "--html: name a file; standard output has the report itself");
  options.html = given.html;
  check.require(app.count("--annotate") == 0 || (!given.annotate.empty() && given.annotate != "-"),
                "--annotate: needs the name of a file");
  options.annotate = given.annotate;
  check.require(app.count("--sanitize") == 0 || (!given.sanitize.empty() && given.sanitize != "-"),
                "--sanitize: needs the name of a file");
  check.require(app.count("--sanitize") == 0 || !options.merge || options.captures.size() < 2,
                "--sanitize and --merge exclude each other: each capture can be sanitized by itself, with one key");
  check.require(app.count("--sanitize-key") == 0 || !given.sanitize.empty(), "--sanitize-key goes with --sanitize");
  options.sanitize = given.sanitize;
  options.sanitize_key = given.sanitize_key;
  check.require(app.count("-j") == 0 || (given.threads >= 1 && given.threads <= 1024), "-j: a number from 1 to 1024");
  options.threads = static_cast<std::size_t>(given.threads);
  check.require(!options.each || !options.merge, "--each and --merge exclude each other");
  check.require(!options.each || (given.html.empty() && given.annotate.empty() && given.sanitize.empty()),
                "--each writes no other files: --html, --annotate and --sanitize are for one trace");
  check.require(!options.each || (!options.ladder && !options.ladder_rows && app.count("--connection") == 0),
                "--each goes without --ladder and --connection");
  check.require(!given.json || app.count("--format") == 0 || given.format == "json",
                "--json and another --format exclude each other");
  if (given.json) options.format = Format::json;
  options.ladder = options.ladder || options.ladder_rows;
  check.require(!options.ladder_rows || (*options.ladder_rows >= 1 && *options.ladder_rows <= 1'000'000),
                "--ladder-rows: a number from 1 to 1000000");
  check.require(!options.ladder || options.format == Format::text, "--ladder goes with the format text");
  check.require(app.count("--resume") == 0 || (options.each && options.format == Format::ndjson),
                "--resume goes with --each --format ndjson");
  check.require(!options.statistics || options.format == Format::text, "--statistics goes with the format text");
  check.require(!options.statistics || !options.ladder, "--statistics and --ladder exclude each other");
  options.progress = !given.no_progress && !options.quiet;
  check.require(!options.quiet || !options.verbose, "-q and -v exclude each other");
  check.set(options.color, choose("--color", given.color, kColors));
  check.set(options.profile, choose("--profile", given.profile, kProfiles));
  check.set(options.least, choose("--severity", given.severity, kSeverities));
  check.set(options.fail_on, choose("--fail-on", given.fail_on, kFailOn));
  check.set(options.only_rules, rules("--rule", given.rules));
  check.set(options.hidden_rules, rules("--no-rule", given.no_rules));
  std::vector<referee::RuleId> without;
  check.set(without, rules("--without-rule", given.without));
  if (!without.empty()) options.without = without.front();
  numbers(app, given, options, check);

  if (given.list_rules || app.count("--explain") != 0) {
    check.require(options.captures.empty() && given.html.empty() && given.annotate.empty() && given.sanitize.empty(),
                  "--list-rules and --explain read and write no files");
  }
  if (given.list_rules) {
    options.action = Action::list_rules;
  } else if (app.count("--explain") != 0) {
    options.action = Action::explain_rule;
    check.set(options.only_rules, rules("--explain", {given.explain}));
    options.rule_to_explain = given.explain;
  } else {
    check.require(!options.captures.empty(), "no capture named; see --help");
    check.require(std::count(options.captures.begin(), options.captures.end(), "-") <= 1,
                  "standard input can be read only once");
  }
  if (check.wrong()) {
    return tl::unexpected(std::move(*check.wrong()));
  }
  return options;
}

/// The program's version in a line of its own, for scripts, and below it what it was built with.
[[nodiscard]] std::string versions() {
  std::string text = fmt::format("{} {}\n", report::tool_name, report::tool_version);
  for (const reader::Library& library : reader::libraries()) {
    text += fmt::format("  {} {}\n", library.name, library.version);
  }
  return text + fmt::format("  fmt {}.{}.{}\n  CLI11 {}\n", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                            FMT_VERSION % 100, CLI11_VERSION);
}

/// Behind what is wrong with the command line: the option that is nearest to one that there is not.
[[nodiscard]] std::string nearest_option(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); })) {
    for (const std::string& name : option->get_lnames()) names.emplace_back(name);
  }
  for (const std::string& given : app.remaining()) {
    if (!given.starts_with("--")) continue;
    const std::string_view name = std::string_view(given).substr(2, given.find('=') - 2);
    const std::string_view near = nearest(name, names);
    return near.empty() ? std::string() : fmt::format("; the nearest is --{}", near);
  }
  return {};
}

}  // namespace

std::size_t threads(const Options& options) noexcept {
  return options.threads != 0 ? options.threads : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

std::string_view nearest_rule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const referee::Rule& rule : referee::all_rules()) names.push_back(rule.name);
  return nearest(name, names);
}

tl::expected<Options, Stop> parse(int argc, const char* const* argv) {
  CLI::App app(
      "Analyses captures of NFS over RDMA: what client and server did, and who broke which rule of the protocol where.",
      "rpcrdma-analyzer");
  app.formatter(std::make_shared<HelpFormat>());
  Given given;
  Options options;
  declare(app, given, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return tl::unexpected(Stop{ExitStatus::clean, app.help(), {}});
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return tl::unexpected(usage(line + nearest_option(app) + "; see --help"));
  }
  if (given.version) {
    return tl::unexpected(Stop{ExitStatus::clean, versions(), {}});
  }
  return derive(app, given, std::move(options));
}

}  // namespace rpcrdma::cli
