// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML, as Jenkins, GitLab and others show it. Of the dialects only what all of them know is used: counts,
// properties, and in a testcase one of failure, error and skipped, then system-out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/encoding.hpp"
#include "report/fold.hpp"
#include "report/names.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/tally.hpp"
#include "report/version.hpp"

namespace rpcrdma::report {
namespace {

/// What there is to say about one rule on one connection.
struct Judged {
  std::vector<std::size_t> findings;  ///< their places in the report
  std::string_view unchecked;
};
struct Book {
  const referee::PackedList<referee::Finding>& findings;
  std::map<std::pair<trace::ConnectionId, referee::RuleId>, Judged> judged;
};

struct Counts {
  std::uint64_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

class Suite {
 public:
  enum class Holds : std::uint8_t { counts, text };
  Suite(std::string_view name, Holds holds) : name_(xml(name)), text_(holds == Holds::text) {}

  void property(std::string_view name, std::string_view value) {
    if (!value.empty()) properties_ += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml(value));
  }
  void happened(trace::TimeNs at) {
    timestamp_ = calendar(at).substr(0, 19);
    timestamp_[10] = 'T';
  }

  void passed(std::string_view test, std::string_view said = {}) { add(test, {}, said); }
  void skipped(std::string_view test, std::string_view why) {
    ++counts_.skipped;
    add(test, fmt::format("<skipped message=\"{}\"/>", xml(why)), {});
  }
  void failed(std::string_view test, std::string_view type, std::string_view what, std::string_view details) {
    ++counts_.failures;
    add(test, fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", xml(what), type, xml(details)), {});
  }
  void broken(std::string_view test, std::string_view type, std::string_view what) {
    ++counts_.errors;
    add(test, fmt::format("<error message=\"{}\" type=\"{}\"/>", xml(what), type), {});
  }

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] std::string take() const {
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\"{}>\n"
        "{}{}  </testsuite>\n",
        name_, counts_.tests, counts_.failures, counts_.errors, counts_.skipped,
        timestamp_.empty() ? "" : fmt::format(" timestamp=\"{}\"", timestamp_),
        properties_.empty() ? "" : fmt::format("    <properties>\n{}    </properties>\n", properties_), cases_);
  }

 private:
  void add(std::string_view test, std::string_view outcome, std::string_view said) {
    ++counts_.tests;
    if (!text_) return;
    cases_ += fmt::format("    <testcase name=\"{}\" classname=\"{}.{}\" time=\"0\"", xml(test), tool_name, name_);
    if (outcome.empty() && said.empty()) {
      cases_ += "/>\n";
      return;
    }
    cases_ += fmt::format(">{}", outcome);
    if (!said.empty()) cases_ += fmt::format("<system-out>{}</system-out>", xml(said));
    cases_ += "</testcase>\n";
  }

  std::string name_;  ///< as it is written
  bool text_;
  std::string properties_;
  std::string timestamp_;
  std::string cases_;
  Counts counts_;
};

[[nodiscard]] std::string in_words(const referee::Finding& finding) {
  std::string out = fmt::format("{}: {}", referee::text(finding.severity), finding.message);
  if (!finding.frames.empty()) {
    out += fmt::format("\n  at {} s; evidence: {}", decimal_seconds(finding.time), display_filter(finding));
  }
  if (finding.occurrences > 1) out += fmt::format("\n  seen {} times", grouped(finding.occurrences));
  if (finding.owes) out += fmt::format("\n  owes the next step: {}", name(*finding.owes));
  if (!finding.connections.empty()) out += "\n  on " + numbered("connection", connections_of(finding), 12);
  return out + "\n";
}

void judge(Suite& suite, const referee::Rule& rule, const Judged* judged, const Book& book, const JunitView& view) {
  if (judged == nullptr || (judged->findings.empty() && judged->unchecked.empty())) {
    suite.passed(rule.name);
    return;
  }
  if (judged->findings.empty()) {
    suite.skipped(rule.name, judged->unchecked);
    return;
  }
  referee::Finding worst;
  std::string details;
  for (const std::size_t place : judged->findings) {
    const referee::Finding finding = book.findings.at(place);
    details += in_words(finding);
    if (place == judged->findings.front() || finding.severity > worst.severity) worst = finding;
  }
  if (!judged->unchecked.empty()) details += fmt::format("partly not checked: {}\n", judged->unchecked);
  details += fmt::format("rule: {}; {}\nnext: {}\n", rule.title, rule.source, rule.next);
  if (view.fail_on && worst.severity >= *view.fail_on) {
    const std::size_t more = judged->findings.size() - 1;
    suite.failed(rule.name, referee::text(worst.severity),
                 more == 0 ? worst.message : fmt::format("{} (and {} more)", worst.message, grouped(more)), details);
  } else {
    suite.passed(rule.name, details);
  }
}

/// Rules that were held against this connection. Symptoms are a mount's: one that was not found is no testcase here.
[[nodiscard]] bool applies(const referee::Rule& rule, const referee::ConnectionFacts& connection) {
  if (rule.group == 'N') return false;
  const bool handshake = rule.group == 'A' || rule.group == 'L' || rule.group == 'M';
  switch (connection.version.value_or(0)) {
    case 0:
      return handshake;  // no message was seen
    case 2:
      return rule.versions != referee::Versions::v1;
    default:
      return rule.versions != referee::Versions::v2;
  }
}

[[nodiscard]] std::string peer_and_port(const trace::Endpoint& end) {
  return end.port ? fmt::format("{} port {}", end.address, *end.port) : end.address;
}

[[nodiscard]] Suite suite_of(const referee::ConnectionFacts& connection, const Book& book, const JunitView& view,
                             Suite::Holds holds) {
  Suite suite(fmt::format("connection {}", connection.id), holds);
  suite.property("transport", name(connection.transport));
  suite.property("client", peer_and_port(connection.client));
  suite.property("server", peer_and_port(connection.server));
  if (!connection.networks.empty()) {
    suite.property("networks", fmt::format("{}", fmt::join(connection.networks, " and ")));
  }
  if (connection.version) suite.property("version", fmt::format("{}", *connection.version));
  if (connection.opened.number != 0) suite.happened(connection.opened.time);
  for (const referee::RuleId id : view.rules) {
    const referee::Rule& rule = referee::rule(id);
    const auto judged = book.judged.find({connection.id, id});
    if (judged != book.judged.end()) {
      judge(suite, rule, &judged->second, book, view);
    } else if (applies(rule, connection)) {
      judge(suite, rule, nullptr, book, view);
    }
  }
  return suite;
}

/// A name that none has: two testcases of one name are one to those who show them.
[[nodiscard]] std::string fresh(const std::string& name, std::set<std::string>& taken) {
  std::string out = name;
  // As it will be written: what cannot be written may make two names one.
  for (unsigned n = 2; !taken.insert(xml(out)).second; ++n) out = fmt::format("{} ({})", name, n);
  return out;
}

/// Whether findings make the run fail. A mount fails only then: else it would be red with exit status 0.
[[nodiscard]] bool fails(const Run& run, const JunitView& view) {
  return view.fail_on && std::any_of(run.report.findings.begin(), run.report.findings.end(),
                                     [&](const referee::Finding& f) { return f.severity >= *view.fail_on; });
}

[[nodiscard]] std::string in_words(const referee::MountFacts& mount) {
  std::string out = fmt::format("{}\nstate: {}", mount.sentence, name(mount.state));
  if (mount.since) out += fmt::format(" since frame {}, {} s", mount.since->number, decimal_seconds(mount.since->time));
  out += fmt::format("\nowes the next step: {}\n", name(mount.owes));
  const referee::MountFacts::Attempts& made = mount.attempts;
  out += fmt::format("attempts to connect: {}; {} established, {} refused, {} not answered", grouped(made.made),
                     grouped(made.established), grouped(made.refused), grouped(made.unanswered - made.only_tcp));
  if (made.only_tcp != 0) out += fmt::format(", {} went no further than TCP", grouped(made.only_tcp));
  out += '\n';
  if (!mount.next.empty()) out += fmt::format("next: {}\n", mount.next);
  return out;
}

[[nodiscard]] std::string name_of(const referee::MountFacts& mount) {
  const bool known = mount.roles == referee::MountFacts::Roles::known;
  return fmt::format("{} {} {} works", mount.client, known ? "to" : "and", mount.server);
}

/// A testcase a mount: does it work?
[[nodiscard]] Suite suite_of_the_mounts(const Run& run, const JunitView& view, Suite::Holds holds) {
  Suite suite("mounts", holds);
  std::set<std::string> taken;
  const bool may_fail = fails(run, view);
  for (const referee::MountFacts& mount : run.report.mounts) {
    const std::string test = fresh(name_of(mount), taken);
    if (suffers(mount.state) && may_fail) {
      suite.failed(test, name(mount.state), mount.sentence, in_words(mount));
    } else if (mount.state == referee::MountFacts::State::unknown) {
      suite.skipped(test, mount.sentence);
    } else {
      suite.passed(test, in_words(mount));
    }
  }
  return suite;
}

[[nodiscard]] std::set<trace::ConnectionId> suites_of_their_own(const Run& run) {
  std::set<trace::ConnectionId> ids;
  for (const referee::ConnectionFacts& connection : run.report.connections) ids.insert(connection.id);
  return ids;
}

[[nodiscard]] Suite suite_of_the_capture(const Run& run, const Book& book, const JunitView& view, Suite::Holds holds) {
  Suite suite("capture", holds);
  std::set<std::string> taken;
  for (const Input& input : run.inputs) {
    const std::string test = fresh(fmt::format("read {}", input.path == "-" ? "standard input" : input.path), taken);
    if (input.opened == Input::Opened::no) {
      suite.broken(test, "unreadable", input.damaged ? input.damaged->reason : std::string());
    } else if (input.damaged) {
      suite.broken(test, "damaged", fmt::format("at octet {}: {}", input.damaged->offset, input.damaged->reason));
    } else {
      suite.passed(test);
    }
  }
  if (!run.report.any_rpcrdma) {
    suite.skipped("judged", "no RPC-over-RDMA in it");
  } else if (!run.report.judged) {
    suite.skipped("judged", "too little of any connection is in it");
  }
  const std::set<trace::ConnectionId> own_suite = suites_of_their_own(run);
  // What several connections without a suite were found to do is one testcase.
  std::map<referee::RuleId, Judged> rest;
  for (const auto& [key, judged] : book.judged) {
    if (own_suite.contains(key.first)) continue;
    Judged& all = rest[key.second];
    all.findings.insert(all.findings.end(), judged.findings.begin(), judged.findings.end());
    if (!judged.unchecked.empty()) all.unchecked = judged.unchecked;
  }
  for (const auto& [id, judged] : rest) judge(suite, referee::rule(id), &judged, book, view);
  return suite;
}

}  // namespace

void junit(const Run& run, const JunitView& view, const Write& write) {
  Book book{run.report.findings, {}};
  const std::set<trace::ConnectionId> with_suite = suites_of_their_own(run);
  for (const std::size_t place : by_place(run.report.findings)) {
    const referee::Finding finding = run.report.findings.at(place);
    std::vector<trace::ConnectionId> connections = connections_of(finding);
    std::erase_if(connections, [&](trace::ConnectionId id) { return !with_suite.contains(id); });
    if (connections.empty()) connections.push_back(finding.connection);
    for (const trace::ConnectionId id : connections) book.judged[{id, finding.rule}].findings.push_back(place);
  }
  for (const referee::Unchecked& unchecked : run.report.unchecked) {
    book.judged[{unchecked.connection, unchecked.rule}].unchecked = unchecked.reason;
  }
  const auto each = [&](Suite::Holds holds, const auto& visit) {
    visit(suite_of_the_capture(run, book, view, holds));
    if (!run.report.mounts.empty()) visit(suite_of_the_mounts(run, view, holds));
    for (const referee::ConnectionFacts& connection : run.report.connections)
      visit(suite_of(connection, book, view, holds));
  };
  // The sums stand before all suites. Those of many connections are too large to be kept meanwhile: they are made
  // twice.
  Counts all;
  each(Suite::Holds::counts, [&](const Suite& suite) {
    all.tests += suite.counts().tests;
    all.failures += suite.counts().failures;
    all.errors += suite.counts().errors;
  });
  write(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\">\n",
                  tool_name, all.tests, all.failures, all.errors));
  each(Suite::Holds::text, [&](const Suite& suite) { write(suite.take()); });
  write("</testsuites>\n");
}

std::string junit(const Run& run, const JunitView& view) {
  std::string out;
  junit(run, view, [&out](std::string_view piece) { out += piece; });
  return out;
}

}  // namespace rpcrdma::report
