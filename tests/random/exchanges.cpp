// SPDX-License-Identifier: GPL-2.0-or-later
// How connections begin and end, and what is said beside Calls and Replies.
#include <fmt/format.h>

#include "fault.hpp"
#include "talk.hpp"

namespace talk {
namespace {

std::string peer_words(const PeerPlan& peer) {
  if (peer.silent) return "{private_data: none}";
  Words words{{"send", std::to_string(peer.send)},
              {"receive", std::to_string(peer.receive)},
              {"invalidate", peer.invalidate ? "yes" : "no"}};
  if (peer.offset != 0) words.set("offset", peer.offset);
  return "{" + words.inside() + peer.more + "}";
}

}  // namespace

void Talk::begin(Line& line) {
  line.number = ++connections_;
  Words words{{"client", peer_words(line.plan->client)}, {"server", peer_words(line.plan->server)}};
  if (!plan_.plain && line.chance.one_in(12)) words.set("ready", "no");
  tale_.tell("connect", words);
  if (line.version == 1 && !line.plan->probes) return;
  auto exchange = std::make_unique<Exchange>();
  exchange->line = &line;
  exchange->alone = true;
  Chance chance(line.chance.next());
  const auto always = [] { return true; };
  if (line.version == 2) {
    open_version_2(*exchange, chance);
  } else {
    // The server knows version 1 only, and says so (draft, section 4.3).
    const std::uint32_t xid = chance.below(0xFFFFFFFF);
    exchange->actions.push_back({always, [this, &line, xid] {
                                   tell(line, Side::client, "v2-properties",
                                        {{"by", "client"}, {"xid", hex(xid)}, {"receive", "4096"}, {"send", "4096"}},
                                        label("probe "));
                                 }});
    exchange->actions.push_back({always, [this, &line, xid] {
                                   tell(line, Side::server, "error",
                                        {{"by", "server"},
                                         {"xid", hex(xid)},
                                         {"version", "2"},
                                         {"code", "vers"},
                                         {"credit", std::to_string(line.chance.between(1, 64))}});
                                 }});
  }
  line.running.push_back(std::move(exchange));
}

void Talk::properties(Line& line, Side by, bool last, Chance& chance, const Words& more) {
  const PeerPlan& peer = by == Side::client ? line.plan->client : line.plan->server;
  Words words{{"by", name(by)}};
  if (!last) words.set("last", "no");
  if (last) {
    words.set("send", peer.send).set("receive", peer.receive);
    if (peer.segments != 16) words.set("segment_count", peer.segments);
    if (by == Side::client && peer.level != 0) words.set("reverse", peer.level);
  }
  if (chance.one_in(4)) words.set("auth", 4 * chance.between(0, 20));
  if (chance.one_in(4)) words.set("segment_size", 1048576U << chance.below(3));
  words.set(more);
  advertise(line, by, words, 1, chance);
  tell(line, by, "v2-properties", words, label("p"));
  if (!last) return;
  line.said.at(index(by)) = true;
  if (by == Side::client && peer.level > 0) line.ready = true;
}

void Talk::say_grant(Line& line, Side by, std::optional<std::uint32_t> advertised, Chance& chance) {
  Words words{{"by", name(by)}};
  if (advertised) {
    line.advertised.at(index(by)) = *advertised;
    words.set("advertise", *advertised);
  }
  advertise(line, by, words, 1, chance);
  tell(line, by, "v2-grant", words, label("g"));
}

void Talk::open_version_2(Exchange& exchange, Chance chance) {
  Line& line = *exchange.line;
  auto shared = std::make_shared<Chance>(chance);
  const auto say = [&](Side by, std::function<void()> what) {
    exchange.actions.push_back({[this, &line, by] { return may_speak(line, by); }, std::move(what)});
  };
  const auto final_of = [&](Side by) { say(by, [=, this, &line] { properties(line, by, true, *shared); }); };
  switch (line.plan->opening) {
    case 0:
    case 1:
      if (line.plan->opening == 1) {
        say(Side::client, [=, this, &line] { properties(line, Side::client, false, *shared); });
        say(Side::server, [=, this, &line] {
          if (shared->one_in(2) && line.plan->server.properties) {
            properties(line, Side::server, false, *shared);
          } else {
            say_grant(line, Side::server, {}, *shared);
          }
        });
      }
      final_of(Side::client);
      if (line.plan->server.properties || line.plan->opening == 1) final_of(Side::server);
      break;
    case faulty_opening:
      plan_.fault->act(*this, exchange, chance);
      break;
    default: {
      // The first message is a Call. Its size is drawn now, when the client has said nothing yet.
      Ask first = filler(4 * shared->below(200));
      const TradePtr first_trade = trade(line, Side::client, *shared, first);
      perform(exchange, first_trade, *shared);
      break;
    }
  }
}

void Talk::start(Line& line, const ExchangePlan& plan) {
  auto owned = std::make_unique<Exchange>();
  Exchange& exchange = *owned;
  exchange.line = &line;
  exchange.plan = plan;
  line.running.push_back(std::move(owned));
  Chance chance(plan.seed);
  const auto always = [] { return true; };
  if (!line.again.empty()) {
    const auto [ask, xid] = line.again.front();
    line.again.pop_front();
    Chance renewed(line.chance.next());
    exchange.trade = trade(line, Side::client, renewed, ask, xid);
    perform(exchange, exchange.trade, renewed);
    return;
  }
  switch (plan.kind) {
    case ExchangePlan::Kind::usual:
    case ExchangePlan::Kind::reverse: {
      const Side requester = plan.kind == ExchangePlan::Kind::usual ? Side::client : Side::server;
      exchange.trade = trade(line, requester, chance, ask(line, requester, chance));
      perform(exchange, exchange.trade, chance);
      break;
    }
    case ExchangePlan::Kind::grant: {
      const Side by = chance.one_in(2) ? Side::client : Side::server;
      exchange.actions.push_back({[this, &line, by] { return may_speak(line, by); },
                                  [this, &line, by, chance]() mutable { say_grant(line, by, {}, chance); }});
      break;
    }
    case ExchangePlan::Kind::late_properties:
      exchange.alone = true;
      for (const Side by : {Side::client, Side::server}) {
        const PeerPlan& peer = by == Side::client ? line.plan->client : line.plan->server;
        if (line.said.at(index(by)) || !peer.properties) continue;
        exchange.actions.push_back({[this, &line, by] { return may_speak(line, by); },
                                    [this, &line, by, chance]() mutable { properties(line, by, true, chance); }});
      }
      break;
    case ExchangePlan::Kind::fault:
      if (line.plan->opening == faulty_opening && line.version == 2) break;
      exchange.alone = line.plan->fault_alone;
      exchange.actions.push_back({always, [this, &exchange, chance] { plan_.fault->act(*this, exchange, chance); }});
      break;
  }
}

void Talk::end(Line& line) {
  line.ended = true;
  if (line.plan->ending == LinePlan::Ending::none) return;
  const Side by = line.plan->ending == LinePlan::Ending::server ? Side::server : Side::client;
  tell_aside(line, "disconnect", {{"by", name(by)}});
  for (Line& next : lines_) {
    if (!next.plan->after || &lines_[*next.plan->after] != &line) continue;
    for (const auto& exchange : line.running) {
      if (exchange->actions.empty() || exchange->trade == nullptr || !exchange->waits_for_reply) continue;
      if (exchange->trade->requester != Side::client || next.version != line.version) continue;
      next.again.emplace_back(exchange->trade->ask, exchange->trade->xid);
      next.ways[0].xids.insert(exchange->trade->xid);
    }
  }
}

}  // namespace talk
