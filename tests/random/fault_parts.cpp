// SPDX-License-Identifier: GPL-2.0-or-later
#include "fault_parts.hpp"

#include <algorithm>

namespace talk::parts {

Fault fault(const std::string& name, std::vector<std::string> rules, const std::string& culprit, Act act,
            std::vector<Implied> implied, std::function<void(LinePlan&)> prepare) {
  Fault made;
  made.name = name;
  made.rules = std::move(rules);
  made.culprit = culprit;
  made.act = std::move(act);
  made.implied = std::move(implied);
  made.prepare = std::move(prepare);
  return made;
}

Ask read_of(std::uint32_t octets) {
  Ask ask;
  ask.procedure = forge::Procedure::nfs3("read");
  ask.procedure.octets = ask.back = octets;
  ask.words = {{"nfs3", "read"}, {"octets", std::to_string(octets)}};
  return ask;
}

Ask write_of(std::uint32_t octets) {
  Ask ask = read_of(octets);
  ask.procedure = forge::Procedure::nfs3("write");
  ask.procedure.octets = octets;
  ask.words.set("nfs3", "write");
  return ask;
}

Region memory(Talk& talk, Line& line, std::uint32_t length, std::uint32_t segments, Side owner) {
  Chance chance(0);
  Region region = talk.region(line, owner, length, 1, chance);
  region.shared = false;
  region.handle = (owner == Side::client ? 0xAF000000U : 0xBF000000U) + 0x101U * line.regions;
  region.offset = 0x20000 + 0x100000ULL * line.regions;
  if (segments > 1) region.split = (length + segments - 1) / segments;
  return region;
}

std::string segment(std::uint32_t handle, std::uint64_t offset, std::uint32_t length) {
  return Words{{"handle", hex(handle)}, {"offset", hex(offset)}, {"length", std::to_string(length)}}.mapping();
}

void modest(LinePlan& line) {
  for (PeerPlan* peer : {&line.client, &line.server}) {
    peer->send = std::min(peer->send, 8192U);
    peer->receive = std::min(peer->receive, 8192U);
  }
}

void first(LinePlan& line) {
  const auto found = std::find_if(line.exchanges.begin(), line.exchanges.end(),
                                  [](const auto& each) { return each.kind == ExchangePlan::Kind::fault; });
  std::rotate(line.exchanges.begin(), found, found + 1);
  line.fault_alone = true;
}

void last(LinePlan& line) {
  const auto found = std::find_if(line.exchanges.begin(), line.exchanges.end(),
                                  [](const auto& each) { return each.kind == ExchangePlan::Kind::fault; });
  std::rotate(found, found + 1, line.exchanges.end());
  line.parallel = 1;
}

void invalidation(LinePlan& line, bool client, bool server) {
  line.client.silent = line.server.silent = false;
  line.client.invalidate = client;
  line.server.invalidate = server;
}

void next(Exchange& exchange, std::function<void()> what) {
  exchange.actions.push_back({[] { return true; }, std::move(what)});
}

void refused(Trade& trade) {
  trade.how = Trade::Answer::error;
  trade.error = {{"code", trade.version == 2 ? "bad xdr" : "chunk"}};
}

void touch(Talk& talk, Line& line, const std::string& verb, Side by, std::uint32_t handle, std::uint64_t offset,
           std::uint32_t length) {
  const Words words{
      {"by", name(by)}, {"handle", hex(handle)}, {"offset", hex(offset)}, {"length", std::to_string(length)}};
  if (verb == "read") {
    const bool later = !line.reading.at(index(by)).empty();
    const std::string step = talk.label("d");
    talk.tell_aside(line, verb, later ? Words(words).set("answer", "no") : words, step);
  } else {
    talk.tell(line, by, verb, words, talk.label("w"));
  }
}

void burst(Talk& talk, Exchange& exchange, Side requester, std::uint32_t more, Chance chance) {
  Line& line = *exchange.line;
  next(exchange, [&talk, &exchange, &line, requester, more, chance]() mutable {
    const Way& way = line.ways.at(index(requester));
    std::uint32_t allowed = way.granted > way.open ? way.granted - way.open : 0;
    if (line.version == 2) {
      const std::uint32_t limit = line.limit.at(index(requester));
      const std::uint32_t sent = line.sent.at(index(requester));
      allowed = limit > sent ? limit - sent : 0;
    }
    line.ways.at(index(requester)).asked = 64;
    for (std::uint32_t i = 0; i < allowed + more; ++i) {
      const TradePtr trade = talk.bare(line, talk.filler(16), requester);
      if (line.version == 1) trade->call_words.set("credit", 64);
      talk.say_call(line, *trade, chance);
      Chance answer(chance.next());
      next(exchange, [&talk, &exchange, trade, answer]() mutable { talk.say_reply(exchange, trade, answer); });
    }
  });
}

void both(std::vector<Fault>& all, const Fault& fault) {
  for (const unsigned version : {1U, 2U}) {
    all.push_back(fault);
    all.back().version = version;
    all.back().name = (version == 2 ? "v2-" : "") + fault.name;
  }
}

}  // namespace talk::parts
