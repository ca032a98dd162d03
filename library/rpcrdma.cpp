// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpcrdma/rpcrdma.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "referee/observer.hpp"
#include "referee/referee.hpp"
#include "report/names.hpp"
#include "report/not_opened.hpp"
#include "report/report.hpp"
#include "report/version.hpp"
#include "trace/trace.hpp"

namespace rpcrdma {
namespace {

[[nodiscard]] Severity translated(referee::Severity severity) noexcept { return static_cast<Severity>(severity); }
static_assert(static_cast<int>(Severity::error) == static_cast<int>(referee::Severity::error));

[[nodiscard]] Kind translated(referee::FindingKind kind) noexcept { return static_cast<Kind>(kind); }
static_assert(static_cast<int>(Kind::symptom) == static_cast<int>(referee::FindingKind::symptom) &&
              static_cast<int>(Kind::capture) == static_cast<int>(referee::FindingKind::capture));

[[nodiscard]] State translated(referee::MountFacts::State state) noexcept { return static_cast<State>(state); }
static_assert(static_cast<int>(State::down) == static_cast<int>(referee::MountFacts::State::down) &&
              static_cast<int>(State::working) == static_cast<int>(referee::MountFacts::State::working));

[[nodiscard]] Party translated(std::optional<referee::Party> party) noexcept {
  if (!party) return Party::unknown;
  return *party == referee::Party::client ? Party::client : Party::server;
}

[[nodiscard]] Endpoint translated(const trace::Endpoint& end) { return {end.address, end.port, end.qpn}; }

[[nodiscard]] Finding translated(const referee::Finding& finding) {
  const referee::Rule& rule = referee::rule(finding.rule);
  Finding out;
  out.rule = rule.name;
  out.title = rule.title;
  out.severity = translated(finding.severity);
  out.kind = translated(referee::kind(finding.rule));
  out.connection = finding.connection;
  out.frames = finding.frames;
  out.time = finding.time;
  out.xid = finding.xid;
  out.violator = translated(finding.violator);
  out.message = finding.message;
  out.source = rule.source;
  out.next = rule.next;
  out.times = finding.occurrences;
  return out;
}

[[nodiscard]] Connection translated(const referee::ConnectionFacts& facts) {
  Connection out;
  out.id = facts.id;
  out.transport = report::name(facts.transport);
  out.client = translated(facts.client);
  out.server = translated(facts.server);
  out.open = !facts.closed;
  out.version = facts.version;
  out.client_to_server = facts.thresholds.client_to_server;
  out.server_to_client = facts.thresholds.server_to_client;
  out.credits_requested = facts.credits.requested;
  out.credits_granted = facts.credits.granted;
  out.calls = facts.messages.calls;
  out.replies = facts.messages.replies;
  if (facts.latency.count != 0) {
    out.median_us = facts.latency.p50;
    out.p99_us = facts.latency.p99;
  }
  return out;
}

[[nodiscard]] Mount translated(const referee::MountFacts& mount) {
  return {mount.id, mount.client, mount.server, translated(mount.state), mount.sentence, mount.next, mount.connections};
}

[[nodiscard]] Unchecked translated(const referee::Unchecked& unchecked) {
  return {std::string(referee::rule(unchecked.rule).name), unchecked.connection, unchecked.reason};
}

template <class Out, class List>
[[nodiscard]] std::vector<Out> translated(const List& list) {
  std::vector<Out> out;
  out.reserve(list.size());
  for (const auto& one : list) out.push_back(translated(one));
  return out;
}

/// What is no time, or more than 30 years, is held at the nearest that is one.
[[nodiscard]] trace::TimeNs nanoseconds(double seconds) noexcept {
  constexpr double most = 1e9;
  if (std::isnan(seconds)) return 0;
  return static_cast<trace::TimeNs>(std::clamp(seconds, 0.0, most) * 1e9);
}

[[nodiscard]] referee::Options judged_by(const Options& options) {
  referee::Options out;
  out.pull_timeout = nanoseconds(options.pull_timeout_seconds);
  out.wait = nanoseconds(options.wait_seconds);
  out.service_ports = options.service_ports;
  return out;
}

/// A function of the caller's threw.
struct CallbackFailed {};

/// Hands over to the caller what the referee tells.
class Told final : public referee::Listener {
 public:
  explicit Told(const Options& options) : options_(options) {}

  [[nodiscard]] bool wanted() const noexcept {
    return options_.on_finding || options_.on_connection || options_.on_unchecked;
  }
  void finding(const referee::Finding& finding) override { tell(options_.on_finding, finding); }
  void connection(const referee::ConnectionFacts& connection) override { tell(options_.on_connection, connection); }
  void unchecked(const referee::Unchecked& unchecked) override { tell(options_.on_unchecked, unchecked); }

 private:
  template <class Function, class What>
  void tell(const Function& function, const What& what) {
    if (!function) return;
    const auto out = translated(what);
    try {
      function(out);
    } catch (...) {
      throw CallbackFailed();
    }
  }

  const Options& options_;
};

}  // namespace

struct Judge::Impl {
  explicit Impl(Options&& given)
      : options(std::move(given)),
        told(options),
        referee(judged_by(options), nullptr, told.wanted() ? &told : nullptr),
        trace({options.service_ports, options.check_crc, nullptr}, referee) {}

  void take(const Frame& given);
  void close(Report& out);

  Options options;
  Told told;
  referee::Referee referee;
  trace::Trace trace;
  trace::FrameRef first, last;
  std::uint64_t frames = 0;
  Status status = Status::ok;

  /// What may throw, without letting it out. What failed once is not asked again.
  template <class Function>
  [[nodiscard]] Status guarded(const Function& function) noexcept {
    if (status != Status::ok) return status;
    try {
      function();
    } catch (const CallbackFailed&) {
      status = Status::callback_failed;
    } catch (const std::bad_alloc&) {
      status = Status::out_of_memory;
    } catch (...) {
      status = Status::failed;
    }
    return status;
  }
};

void Judge::Impl::take(const Frame& given) {
  trace::Frame frame;
  constexpr std::int64_t second = 1'000'000'000;
  std::int64_t whole = given.time / second, fraction = given.time % second;
  if (fraction < 0) --whole, fraction += second;  // before 1970
  frame.ref = {++frames, trace::time_of(whole, fraction)};
  frame.link = static_cast<trace::LinkType>(given.link_type);
  frame.octets = {given.octets, given.octets != nullptr ? given.captured : 0};
  constexpr std::size_t longest = std::numeric_limits<std::uint32_t>::max();
  frame.wire_length = std::max(given.length, static_cast<std::uint32_t>(std::min(frame.octets.size(), longest)));
  if (frames == 1) first = frame.ref;
  last = frame.ref;
  (void)trace.frame(frame);
  if (told.wanted()) referee.tell();
}

void Judge::Impl::close(Report& out) {
  trace.finish();
  report::Run run{{}, referee.finish(last, first), frames, 0};
  if (std::string closed = report::not_opened(trace.statistics()); !closed.empty()) {
    const referee::Unchecked unchecked{referee::RuleId::not_rpcrdma, 0, std::move(closed)};
    if (told.wanted()) {
      told.unchecked(unchecked);
    } else {
      run.report.unchecked.push_back(unchecked);
    }
  }
  Report made;
  made.state = translated(run.report.verdict.state);
  made.sentence = run.report.verdict.sentence;
  made.mounts = translated<Mount>(run.report.mounts);
  made.connections = translated<Connection>(run.report.connections);
  made.findings = translated<Finding>(run.report.findings);
  made.unchecked = translated<Unchecked>(run.report.unchecked);
  made.any_rpcrdma = run.report.any_rpcrdma;
  made.judged = run.report.judged;
  if (options.json) made.json = report::json(run);
  out = std::move(made);
}

Judge::Judge(Options options) noexcept {
  try {
    impl_ = std::make_unique<Impl>(std::move(options));
  } catch (...) {  // said by each call
  }
}
Judge::~Judge() = default;
Judge::Judge(Judge&& other) noexcept = default;
Judge& Judge::operator=(Judge&& other) noexcept = default;

Status Judge::frame(const Frame& frame) noexcept {
  if (!impl_) return Status::out_of_memory;
  return impl_->guarded([&] { impl_->take(frame); });
}

Status Judge::finish(Report& report) noexcept {
  if (!impl_) return Status::out_of_memory;
  const Status status = impl_->guarded([&] { impl_->close(report); });
  if (status == Status::ok) impl_->status = Status::finished;
  return status;
}

std::optional<Rule> rule(std::size_t number) noexcept {
  if (number >= referee::all_rules().size()) return std::nullopt;
  const referee::Rule& row = referee::all_rules()[number];
  return Rule{row.name, row.title,  row.explanation,          row.evidence,
              row.next, row.source, translated(row.severity), translated(referee::kind(row.id))};
}

std::string_view text(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::finished:
      return "finished before";
    case Status::out_of_memory:
      return "out of memory";
    case Status::callback_failed:
      return "a function of the caller's threw";
    case Status::failed:
      break;
  }
  return "failed";
}

std::string_view version() noexcept { return report::tool_version; }

}  // namespace rpcrdma
