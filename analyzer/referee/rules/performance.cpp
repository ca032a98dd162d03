// SPDX-License-Identifier: GPL-2.0-or-later
// What legal habits cost: how often, and how much time. The findings are folded; their last sentence is written here,
// when the connection is over.
#include <string>

#include <fmt/format.h>

#include "referee/docket/counted.hpp"
#include "referee/rules/checks.hpp"

namespace rpcrdma::referee {

namespace {

[[nodiscard]] std::string duration(TimeNs time) {
  const auto ns = static_cast<double>(time);
  if (time < 1'000'000) return fmt::format("{:.1f} us", ns / 1e3);
  if (time < 1'000'000'000) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.1f} s", ns / 1e9);
}

[[nodiscard]] std::string times(std::uint64_t count) {
  return count == 1 ? std::string("once") : fmt::format("{} times", count);
}

/// `sentence`: makes it. Most connections have nothing that it could be added to.
template <class Sentence>
void add_sentence(Context& context, const Cost& cost, Sentence sentence) {
  if (!cost.finding) return;
  Finding& finding = context.book.at(cost.finding);
  finding.message += ' ';
  finding.message += sentence();
}

}  // namespace

void performance_at_end(const Witness& witness) {
  Connection& connection = witness.connection;
  for (Ledger& ledger : connection.credits) {
    credit_stall_check(witness, ledger, connection.last_frame);
    ledger.full_since = {};
    const Cost& stall = ledger.stall;
    add_sentence(witness.context, stall, [&] {
      return fmt::format(
          "Stalls of more than a second: {}, {} in all, the longest {}; shorter waits included, all "
          "credits were in use {} for {}.",
          stall.times, duration(stall.total), duration(stall.longest), times(ledger.full.times),
          duration(ledger.full.total));
    });
  }
  for (const Side side : {Side::active, Side::passive}) {
    const Cost& calls = connection.long_calls.at(index(side));
    const Cost& others = connection.long_calls.at(index(other(side)));
    add_sentence(witness.context, calls, [&] {
      const std::string too =
          others.times == 0 ? "" : fmt::format(" The {} did so {}, too.", name(other(side)), times(others.times));
      if (calls.timed == 0) return fmt::format("Seen {}.{}", times(calls.times), too);
      return fmt::format("Seen {}; until the data had been read {} went by, {} in all.{}", times(calls.times),
                         duration(calls.total / static_cast<TimeNs>(calls.timed)), duration(calls.total), too);
    });
  }
  const Cost& replies = connection.reply_chunks;
  add_sentence(witness.context, replies, [&] {
    if (replies.timed == 0) return fmt::format("Seen {}, an RDMA Write more each time.", times(replies.times));
    if (replies.times == 1) {
      return fmt::format("Seen once, an RDMA Write more, {} ahead of the Reply.", duration(replies.total));
    }
    return fmt::format("Seen {}, an RDMA Write more each time; it went ahead of the Reply by {} on average, {} in all.",
                       times(replies.times), duration(replies.total / static_cast<TimeNs>(replies.timed)),
                       duration(replies.total));
  });
  const Cost& unreported = connection.unreported;
  add_sentence(witness.context, unreported, [&] {
    return fmt::format("Seen {}, {} in all.", times(unreported.times), counted(unreported.octets, "octet"));
  });
  for (Cost& calls : connection.long_calls) calls.finding.reset();
  connection.reply_chunks.finding.reset();
  connection.unreported.finding.reset();
  for (Ledger& ledger : connection.credits) ledger.stall.finding.reset();
}

}  // namespace rpcrdma::referee
