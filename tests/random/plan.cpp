// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.hpp"

#include "chance.hpp"
#include "fault.hpp"
#include "forge/play.hpp"

namespace talk {
namespace {

std::uint32_t inline_size(Chance& chance) { return 1024 * chance.of<std::uint32_t>({1, 2, 4, 4, 4, 5, 8, 64}); }

PeerPlan draw_peer(Chance& chance) {
  PeerPlan peer;
  peer.send = inline_size(chance);
  peer.receive = inline_size(chance);
  peer.invalidate = !chance.one_in(3);
  peer.silent = chance.one_in(8);
  peer.offset = chance.one_in(6) ? chance.below(20) : 0;
  peer.level = chance.below(4);
  peer.segments = chance.of<std::uint32_t>({16, 16, 16, 4, 32});
  peer.properties = !chance.one_in(5);
  return peer;
}

LinePlan draw_line(Chance& chance) {
  LinePlan line;
  line.seed = chance.next();
  line.version = chance.one_in(3) ? 2 : 1;
  line.client = draw_peer(chance);
  line.server = draw_peer(chance);
  line.program = chance.of({Program::filler, Program::nfs3, Program::nfs3, Program::nfs4, Program::nfs4});
  line.back_channel = chance.one_in(2);
  line.opening = chance.below(4);
  line.most_credits = chance.of<std::uint32_t>({1, 2, 4, 16, 64});
  line.parallel = chance.between(1, 6);
  line.ending = chance.of({LinePlan::Ending::client, LinePlan::Ending::server, LinePlan::Ending::none});
  const std::uint32_t count = chance.between(2, 10);
  for (std::uint32_t i = 0; i < count; ++i) {
    ExchangePlan exchange;
    exchange.seed = chance.next();
    if (chance.one_in(4)) exchange.kind = ExchangePlan::Kind::reverse;
    if (line.version == 2 && chance.one_in(8)) exchange.kind = ExchangePlan::Kind::grant;
    line.exchanges.push_back(exchange);
  }
  if (line.version == 2 && line.opening == 3) {
    // A call before any properties; they come later.
    const std::size_t at = chance.below(line.exchanges.size());
    line.exchanges.insert(line.exchanges.begin() + static_cast<std::ptrdiff_t>(at),
                          {ExchangePlan::Kind::late_properties, chance.next()});
  }
  return line;
}

}  // namespace

Plan draw(std::uint64_t seed, const Fault* fault) {
  Chance chance(seed);
  Plan plan;
  plan.seed = seed;
  plan.fault = fault;
  plan.fabric = forge::transports()[chance.below(forge::transports().size())].name;
  plan.wrap = chance.one_in(4);
  plan.mtu = 256U << chance.below(5);
  plan.plain = chance.one_in(3);
  const std::uint32_t count = chance.of<std::uint32_t>({1, 1, 1, 2, 2, 3});
  for (std::uint32_t i = 0; i < count; ++i) plan.lines.push_back(draw_line(chance));
  // One that follows another takes up the Calls that were lost with it.
  if (count > 1 && chance.one_in(2)) {
    LinePlan& lost = plan.lines[count - 2];
    LinePlan& next = plan.lines[count - 1];
    next.after = count - 2;
    next.program = lost.program;
    if (lost.version == 1) lost.ending = LinePlan::Ending::with_calls_open;
    if (lost.ending == LinePlan::Ending::none) lost.ending = LinePlan::Ending::client;
    if (lost.version == 1) next.version = 1;
  }
  for (LinePlan& line : plan.lines) {
    std::erase_if(line.exchanges, [&](const ExchangePlan& e) {
      return line.version == 1 &&
             (e.kind == ExchangePlan::Kind::grant || e.kind == ExchangePlan::Kind::late_properties);
    });
  }
  // A client asks once for version 2.
  if (LinePlan& line = plan.lines.front(); line.version == 1 && chance.one_in(6)) line.probes = true;
  if (fault != nullptr) {
    LinePlan& line = plan.lines.front();
    line.version = fault->version;
    if (fault->version == 2) line.probes = false;
    if (fault->version == 1) {
      std::erase_if(line.exchanges, [](const ExchangePlan& e) {
        return e.kind == ExchangePlan::Kind::grant || e.kind == ExchangePlan::Kind::late_properties;
      });
    }
    if (line.ending == LinePlan::Ending::with_calls_open) line.ending = LinePlan::Ending::client;
    const std::size_t at = chance.below(line.exchanges.size() + 1);
    line.exchanges.insert(line.exchanges.begin() + static_cast<std::ptrdiff_t>(at),
                          {ExchangePlan::Kind::fault, chance.next()});
    if (fault->prepare) fault->prepare(line);
  }
  return plan;
}

}  // namespace talk
