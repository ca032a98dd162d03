// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_taps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace rpcrdma::report {
namespace {

using trace::TapClock;
using trace::TapPath;
using trace::TapRoute;

/// Of a clock: "1.204 s", "5.000 ms", "13 us"
std::string apart(double nanoseconds) {
  const double size = std::abs(nanoseconds);
  if (size < 1e3) return fmt::format("{:.0f} ns", size);
  if (size < 1e6) return fmt::format("{:.1f} us", size / 1e3);
  if (size < 1e9) return fmt::format("{:.3f} ms", size / 1e6);
  return fmt::format("{:.6f} s", size / 1e9);
}

std::string took(double nanoseconds) {
  return fmt::format("{}{}", nanoseconds < 0 ? "-" : "", duration(std::abs(nanoseconds) / 1e3));
}

/// "; it was set back by 20.000 ms while it ran"
std::string set_while_it_ran(const TapClock& clock) {
  constexpr std::size_t most = 3;
  const std::vector<trace::TimeNs> steps = clock.steps_by();
  std::string text;
  for (std::size_t i = 0; i < std::min(most, steps.size()); ++i) {
    fmt::format_to(std::back_inserter(text), "{} {} by {}", i == 0 ? "was set" : ",", steps[i] < 0 ? "back" : "forward",
                   apart(static_cast<double>(steps[i])));
  }
  if (steps.size() > most) fmt::format_to(std::back_inserter(text), " and {} times more", steps.size() - most);
  return text + " while it ran";
}

std::string clock(const TapClock& clock) {
  const double ahead = clock.first ? static_cast<double>(clock.ahead.at(*clock.first)) : 0;
  std::string text =
      ahead == 0 ? "shows the same time" : fmt::format("is {} {}", apart(ahead), ahead < 0 ? "behind" : "ahead");
  if (clock.ahead.uncertainty) fmt::format_to(std::back_inserter(text), ", to {}", apart(*clock.ahead.uncertainty));
  if (clock.ahead.drift != 0) {
    fmt::format_to(std::back_inserter(text), ", and {} {:.1f} us each second",
                   clock.ahead.drift < 0 ? "loses" : "gains", std::abs(clock.ahead.drift) * 1e6);
  }
  if (!clock.steps.empty()) fmt::format_to(std::back_inserter(text), "; it {}", set_while_it_ran(clock));
  const std::string_view proof = clock.basis == TapClock::Basis::packets ? "packet that both hold" : "acknowledgement";
  std::string by = counted(clock.proofs, proof);
  if (clock.basis == TapClock::Basis::packets && clock.proofs != 1)
    by = grouped(clock.proofs) + " packets that both hold";
  return fmt::format("{} (by {})", text, by);
}

void clocks(Page& page, const Run& run, bool verbose) {
  const Taps& taps = *run.taps;
  if (!taps.not_measured.empty()) {
    page.field("clocks", fmt::format("not compared: {}. The order is that of the files' times.", taps.not_measured));
    return;
  }
  constexpr std::size_t most = 4;
  std::size_t shown = 0;
  std::size_t alike = 0;
  for (std::size_t i = 1; i < taps.compared.clocks.size(); ++i) {
    const TapClock& one = taps.compared.clocks[i];
    if (one.basis == TapClock::Basis::none) {
      ++alike;
    } else if (verbose || shown < most) {
      ++shown;
      page.field(shown == 1 ? "clocks" : "", fmt::format("tap {}'s {}", i + 1, clock(one)));
    }
  }
  if (shown != 0) {
    const TapClock& first = taps.compared.clocks.front();
    if (first.steps.empty()) {
      page.field("", "Times here are those of tap 1's clock.");
    } else {
      page.field(
          "", fmt::format("Times here are those of tap 1's clock, as it was before it {}.", set_while_it_ran(first)));
    }
  } else {
    page.field("clocks", "not compared: the captures have nothing in common. The order is that of the files' times.");
  }
  if (shown != 0 && alike != 0) {
    page.field("", fmt::format("{} nothing in common with another: times are those of the file",
                               alike == 1 ? "1 capture has" : fmt::format("{} captures have", alike)));
  }
}

/// Which of the two is known to be a client, or both: nobody knows.
std::string_view seat(const Run& run, const std::string& address) {
  bool client = false;
  bool server = false;
  for (const auto& mount : run.report.mounts) {
    client = client || mount.client == address;
    server = server || mount.server == address;
  }
  if (client == server) return "";
  return client ? "the client " : "the server ";
}

std::string lacks(const TapPath& path, std::size_t nearer, std::size_t farther) {
  std::string text = fmt::format("{} in both", counted(path.both, "packet"));
  if (path.recut != 0) fmt::format_to(std::back_inserter(text), "; {} cut into other segments", grouped(path.recut));
  const auto add = [&](std::uint64_t number, std::string_view what, std::size_t tap) {
    if (number != 0) fmt::format_to(std::back_inserter(text), "; {} {} {}", grouped(number), what, tap);
  };
  add(path.missed_near, "missed by the capture of tap", nearer);
  add(path.missed_far, "missed by the capture of tap", farther);
  if (path.missed_far_bare != 0) {
    fmt::format_to(std::back_inserter(text), "; {} missed by tap {} or lost",
                   counted(path.missed_far_bare, "mere acknowledgement"), farther);
  }
  if (path.lost != 0)
    fmt::format_to(std::back_inserter(text), "; {} lost between the taps and sent again", grouped(path.lost));
  return text;
}

void route(Page& page, const Run& run, const TapRoute& route) {
  const std::size_t near = route.near + 1;
  const std::size_t far = route.far + 1;
  const std::string here = fmt::format("{}{}", seat(run, route.address), route.address);
  const std::string there = fmt::format("{}{}", seat(run, route.peer), route.peer);
  if (!route.apart) {
    page.field("path", fmt::format("between {} and {}, taps {} and {} at the same place", here, there, near, far));
  } else {
    page.field("path", fmt::format("{}, tap {}, tap {}, {}", here, near, far, there));
  }
  const auto direction = [&](std::size_t from, std::size_t to, std::string_view whose, const TapPath& path) {
    std::string text = lacks(path, from, to);
    if (path.one_way.count != 0) {
      fmt::format_to(std::back_inserter(text), "; one way {} (median), 99% {}, least {}", took(path.one_way.median),
                     took(path.one_way.p99), took(path.one_way.min));
    }
    page.field(whose.empty() ? fmt::format("{} to {}", from, to) : fmt::format("to {}", whose.substr(4)), text);
  };
  direction(near, far, seat(run, route.peer), route.out);
  direction(far, near, seat(run, route.address), route.back);
}

void calls(Page& page, const Taps::Calls& calls, Epoch epoch) {
  if (calls.whole.count == 0) return;
  page.field("calls",
             fmt::format("{} seen by both: median {}, of which {} on the way there, {} at the peer, {} on the way back",
                         counted(calls.whole.count, "answered call"), took(calls.whole.median),
                         took(calls.there.median), took(calls.peer.median), took(calls.back.median)));
  if (!calls.slowest) return;
  const Taps::Calls::Slowest& call = *calls.slowest;
  page.field("slowest",
             fmt::format("{} ({}), {}: {} there, {} at the peer, {} back",
                         call.operation.empty() ? std::string("Call") : call.operation, place(call.call, epoch),
                         took(call.whole), took(call.there), took(call.peer), took(call.back)));
}

}  // namespace

void taps_block(Page& page, const Run& run, const TextStyle& style, Epoch epoch) {
  if (!run.taps) return;
  constexpr std::size_t most = 3;
  page.line();
  page.line("Taps", Ink::bold);
  clocks(page, run, style.verbose);
  const std::vector<TapRoute>& routes = run.taps->routes;
  const std::size_t shown = style.verbose ? routes.size() : std::min(most, routes.size());
  for (std::size_t i = 0; i < shown; ++i) route(page, run, routes[i]);
  if (shown < routes.size()) {
    page.field("", fmt::format("and {} (-v shows each)", counted(routes.size() - shown, "further path")));
  }
  if (run.taps->left_out != 0) {
    page.field("", fmt::format("{} not compared: at any time a tap is compared with so many others only",
                               counted(run.taps->left_out, "path")));
  }
  calls(page, run.taps->calls, epoch);
}

}  // namespace rpcrdma::report
