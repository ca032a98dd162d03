// SPDX-License-Identifier: GPL-2.0-or-later
#include "talk.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "fault.hpp"

namespace talk {

std::vector<Segment> Region::segments() const {
  std::vector<Segment> all;
  if (empty) return all;
  const std::uint32_t size = split == 0 ? std::max<std::uint32_t>(length, 1) : split;
  for (std::uint32_t at = 0; at < length || at == 0; at += size) {
    all.push_back({handle, offset + at, std::min(size, length - at)});
  }
  return all;
}

std::string Region::words(const Words& more) const {
  if (empty) return "{segments: []}";
  Words words{{"handle", hex(handle)}, {"offset", hex(offset)}, {"length", std::to_string(length)}};
  if (split != 0) words.set("split", split);
  return words.set(more).mapping();
}

bool Ask::is_protected() const {
  return procedure.gss == forge::Procedure::Gss::integrity || procedure.gss == forge::Procedure::Gss::privacy;
}

std::vector<Segment> Trade::segments() const {
  std::vector<Segment> all;
  const auto take = [&all](const Region& region) {
    for (const Segment& segment : region.segments()) all.push_back(segment);
  };
  for (const ReadRegion& read : reads) take(read.region);
  for (const Region& region : writes) take(region);
  if (reply_chunk) take(*reply_chunk);
  return all;
}

Talk::Talk(const Plan& plan) : plan_(plan), chance_(plan.seed ^ 0x5EED) {
  tale_.title = fmt::format("Conversation {}{}{}", plan.seed, plan.fault != nullptr ? " with " : "",
                            plan.fault != nullptr ? plan.fault->name : "");
  tale_.why = "Drawn by chance.";
  tale_.fabric = plan.fabric;
  tale_.settings.set("mtu", plan.mtu);
  if (plan.wrap) tale_.settings.set("wrap", "yes");
  for (const LinePlan& line : plan_.lines) {
    lines_.emplace_back();
    Line& fresh = lines_.back();
    fresh.plan = &line;
    fresh.version = line.version;
    fresh.chance = Chance(line.seed);
    fresh.waiting.assign(line.exchanges.begin(), line.exchanges.end());
    fresh.ways[0].next_xid = fresh.chance.one_in(8) ? 0xFFFFFFFE : static_cast<std::uint32_t>(fresh.chance.next());
    fresh.ways[1].next_xid =
        fresh.chance.one_in(2) ? fresh.ways[0].next_xid : static_cast<std::uint32_t>(fresh.chance.next());
  }
}

std::string Talk::direct() {
  constexpr std::size_t most_steps = 2000;
  while (tale_.steps() < most_steps) {
    if (!step() && !unstick()) break;
  }
  for (const Line& line : lines_) {
    if (!line.ended) throw std::logic_error(fmt::format("the talk stops too early:\n{}", tale_.text()));
  }
  return tale_.text();
}

/// One of those who may do something does it.
bool Talk::step() {
  std::vector<std::function<void()>> all;
  for (Line& line : lines_) candidates(line, all);
  if (all.empty()) return false;
  const bool idle = std::all_of(lines_.begin(), lines_.end(), [](const Line& line) {
    const bool starved = line.version == 2 && (line.limit[0] <= line.sent[0] || line.limit[1] <= line.sent[1]);
    return line.running.empty() && !line.unacknowledged[0] && !line.unacknowledged[1] && !starved;
  });
  if (idle && !plan_.plain && chance_.one_in(30)) tale_.tell("wait", {{"seconds", "400"}});
  if (!plan_.plain && chance_.one_in(30)) tale_.tell("wait", {{"seconds", fmt::format("0.{:03}", chance_.below(90))}});
  all[chance_.below(all.size())]();
  return true;
}

void Talk::candidates(Line& line, std::vector<std::function<void()>>& all) {
  if (line.ended) return;
  if (line.number == 0) {
    if (!line.plan->after || lines_[*line.plan->after].ended) all.emplace_back([this, &line] { begin(line); });
    return;
  }
  std::erase_if(line.running, [](const auto& exchange) { return exchange->actions.empty(); });
  bool alone = false;
  for (const auto& exchange : line.running) {
    alone = alone || exchange->alone;
    Action& front = exchange->actions.front();
    if (front.may()) {
      all.emplace_back([each = exchange.get()] {
        const Action action = std::move(each->actions.front());
        each->actions.pop_front();
        action.act();
      });
    }
  }
  for (const Side by : {Side::client, Side::server}) {
    if (!line.unacknowledged.at(index(by)) || !line.reading.at(index(by)).empty()) continue;
    all.emplace_back([this, &line, by] {
      line.unacknowledged.at(index(by)) = false;
      received(line, forge::other(by));
      tell_aside(line, "acknowledge", {{"by", name(forge::other(by))}});
    });
  }
  if (may_end(line)) all.emplace_back([this, &line] { end(line); });
  if (alone || line.running.size() >= line.plan->parallel || (line.waiting.empty() && line.again.empty())) return;
  const ExchangePlan::Kind kind = line.again.empty() ? line.waiting.front().kind : ExchangePlan::Kind::usual;
  if (kind == ExchangePlan::Kind::late_properties && !line.running.empty()) return;
  const bool under_way = !line.running.empty() || line.unacknowledged[0] || line.unacknowledged[1];
  if (kind == ExchangePlan::Kind::fault && line.plan->fault_alone && under_way) return;
  if (kind == ExchangePlan::Kind::reverse && !line.ready) return;
  all.emplace_back([this, &line] {
    ExchangePlan next;
    if (line.again.empty()) {
      next = line.waiting.front();
      line.waiting.pop_front();
    }
    start(line, next);
  });
}

bool Talk::may_end(const Line& line) const {
  if (!line.waiting.empty() || !line.again.empty() || line.offers != 0) return false;
  if (!line.reading[0].empty() || !line.reading[1].empty()) return false;
  if (line.unacknowledged[0] || line.unacknowledged[1]) return false;
  if (line.in_between) return false;
  const LinePlan::Ending ending = line.plan->ending;
  const bool with_the_fault = plan_.fault != nullptr && &line == &lines_.front();
  const bool orderly = ending == LinePlan::Ending::client || ending == LinePlan::Ending::server || with_the_fault;
  if (orderly) return line.running.empty();
  return std::all_of(line.running.begin(), line.running.end(),
                     [](const auto& exchange) { return exchange->waits_for_reply || exchange->actions.empty(); });
}

/// Version 2: a side that has no credits left gets some. A callback that will never be due is left out.
bool Talk::unstick() {
  for (Line& line : lines_) {
    if (line.ended || line.number == 0) continue;
    if (line.running.empty() && !line.waiting.empty() && line.waiting.front().kind == ExchangePlan::Kind::reverse) {
      line.waiting.pop_front();
      return true;
    }
    if (line.version != 2 || line.in_between) continue;
    constexpr std::uint32_t plenty = 40;
    for (const Side starved : {Side::client, Side::server}) {
      const Side by = forge::other(starved);
      const std::size_t mine = index(by);
      if (line.limit.at(index(starved)) >= line.sent.at(index(starved)) + plenty / 2) continue;
      if (line.sent.at(mine) > line.limit.at(mine)) continue;  // one RDMA2_GRANT above the limit, no more
      say_grant(line, by, plenty, line.chance);
      return true;
    }
  }
  return false;
}

void Talk::tell(Line& line, Side by, const std::string& verb, const Words& words, const std::string& label) {
  Words beside;
  if (!label.empty()) beside.set("as", label);
  // Over TCP, what a side sends acknowledges all that it has received, and it may be sent because of that.
  const std::size_t peers = index(forge::other(by));
  if (line.unacknowledged.at(peers) && plan_.fabric.starts_with("iwarp")) {
    line.unacknowledged.at(peers) = false;
    received(line, by);
    tell_aside(line, "acknowledge", {{"by", name(by)}});
  }
  const bool reading = !line.reading.at(index(by)).empty();
  // What the receiver acknowledges it has answered: behind an unanswered RDMA Read nothing is acknowledged.
  const bool plain = plan_.plain || line.plan->plain;
  const bool late = reading || (!plain && line.chance.one_in(8));
  line.unacknowledged.at(index(by)) = late;
  if (!late) received(line, forge::other(by));
  if (late) beside.set("ack", "no");
  if (!plain && line.chance.one_in(25)) beside.set("mirror", "yes");
  beside.set("connection", line.number);
  tale_.tell(verb, words, beside);
  if (label.empty() || plain || !line.chance.one_in(20)) return;
  Words again{{"step", label + (verb == "write" ? "/write" : "/send")}};
  if (reading || line.chance.one_in(4)) {
    again.set("received", "no");
  } else {
    line.unacknowledged.at(index(by)) = false;
    received(line, forge::other(by));
  }
  tell_aside(line, "retransmit", again);
}

void Talk::pause(const std::string& seconds) { tale_.tell("wait", {{"seconds", seconds}}); }

void Talk::tell_aside(Line& line, const std::string& verb, const Words& words, const std::string& label) {
  Words beside;
  if (!label.empty()) beside.set("as", label);
  beside.set("connection", line.number);
  tale_.tell(verb, words, beside);
}

namespace {

/// The next number that its direction has not used yet.
std::uint32_t fresh_xid(Way& way) {
  while (std::find(way.used.begin(), way.used.end(), way.next_xid) != way.used.end() ||
         !way.xids.insert(way.next_xid).second) {
    ++way.next_xid;
  }
  return way.next_xid++;
}

}  // namespace

std::uint32_t Talk::new_xid(Line& line, Side requester, Chance& chance) {
  Way& way = line.ways.at(index(requester));
  if (!way.free.empty() && chance.one_in(10)) {
    const std::size_t at = chance.below(way.free.size());
    const std::uint32_t xid = way.free[at];
    way.free.erase(way.free.begin() + static_cast<std::ptrdiff_t>(at));
    if (plan_.fault != nullptr && plan_.fault->name.find("reply-twice") != std::string::npos) {
      met_.insert("second-reply-before-a-call-of-its-xid");
    }
    if (way.xids.insert(xid).second) return xid;
  }
  // The other side's numbers have nothing to do with it (RFC 8167 section 2.4.1).
  const std::vector<std::uint32_t>& others = line.ways.at(1 - index(requester)).used;
  if (!others.empty() && chance.one_in(8)) {
    const std::uint32_t xid = others[others.size() - 1 - chance.below(std::min<std::size_t>(3, others.size()))];
    const bool known = std::find(way.used.begin(), way.used.end(), xid) != way.used.end();
    if (!known && way.xids.insert(xid).second) return xid;
  }
  return fresh_xid(way);
}

Region Talk::region(Line& line, Side owner, std::uint32_t length, std::uint32_t most_segments, Chance& chance) {
  Region region;
  region.length = length;
  auto& retired = line.retired.at(index(owner));
  const std::uint32_t number = ++line.regions;
  if (chance.one_in(8)) {
    region.shared = true;
    region.handle = 0x5A000000U + static_cast<std::uint32_t>(line.number * 2 + index(owner));
    region.offset = 0x7F0000000000ULL + line.shared_end.at(index(owner));
    line.shared_end.at(index(owner)) += length + chance.below(3) * 4096ULL;
  } else if (!retired.empty() && chance.one_in(6)) {
    region.handle = retired.front().handle;
    region.offset = retired.front().offset;
    retired.erase(retired.begin());
  } else {
    region.handle = (owner == Side::client ? 0xA0000000U : 0xB0000000U) +
                    0x10000U * static_cast<unsigned>(line.number) + 0x101U * number;
    region.offset = chance.of<std::uint64_t>({0, 0x10000, 0xFFFFF000, 0x7F0012340000}) + chance.below(2) * number;
  }
  const std::uint32_t count = chance.one_in(2) ? 1 : chance.between(1, std::max<std::uint32_t>(most_segments, 1));
  if (count > 1 && length > count) region.split = (length + count - 1) / count;
  return region;
}

std::uint32_t Talk::threshold(const Line& line, Side sender) const {
  const PeerPlan& from = sender == Side::client ? line.plan->client : line.plan->server;
  const PeerPlan& to = sender == Side::client ? line.plan->server : line.plan->client;
  if (line.version == 1) return std::min(from.silent ? 1024 : from.send, to.silent ? 1024 : to.receive);
  constexpr std::uint32_t usual = 4096;
  if (sender == Side::client && line.sent[0] == 0) return 1024;
  return std::min(line.said.at(index(sender)) ? from.send : usual,
                  line.said.at(index(forge::other(sender))) ? to.receive : usual);
}

bool Talk::may_call(const Line& line, Side requester, std::size_t messages) const {
  if (line.version == 2) return may_speak(line, requester, messages);
  const Way& way = line.ways.at(index(requester));
  // Over TCP the Call itself acknowledges what came before it.
  const bool acknowledges = plan_.fabric.starts_with("iwarp") && line.unacknowledged.at(index(forge::other(requester)));
  return way.open < std::min(acknowledges ? way.granted : way.believed, way.asked);
}

bool Talk::may_speak(const Line& line, Side by, std::size_t messages) const {
  if (line.version != 2) return true;
  return !line.in_between && line.sent.at(index(by)) + messages <= line.limit.at(index(by));
}

void Talk::advertise(Line& line, Side by, Words& words, std::size_t messages, Chance& chance) {
  std::uint32_t& advertised = line.advertised.at(index(by));
  if (!words.has("advertise") && chance.one_in(5)) {
    advertised = chance.one_in(40) ? 0 : chance.between(1, 40);
    words.set("advertise", advertised);
  }
  line.limit.at(index(forge::other(by))) = line.sent.at(index(forge::other(by))) + advertised;
  line.sent.at(index(by)) += static_cast<std::uint32_t>(messages);
}

std::uint32_t Talk::grant(Line& line, Side requester, Chance& chance) {
  Way& way = line.ways.at(index(requester));
  if (way.granted == 1 || chance.one_in(3)) way.granted = chance.between(1, line.plan->most_credits);
  // More counts at once; fewer, when it has arrived for certain.
  way.believed = std::max(way.believed, way.granted);
  return way.granted;
}

void Talk::received(Line& line, Side by) {
  Way& way = line.ways.at(index(by));
  way.believed = way.granted;
}

/// As many as are under way with this one, or more.
std::uint32_t Talk::request(Line& line, Side requester, Chance& chance) {
  Way& way = line.ways.at(index(requester));
  if (way.asked == 64 && !chance.one_in(10)) return way.asked;
  way.asked = way.open + 1 + chance.below(64);
  return way.asked;
}

TradePtr Talk::bare(Line& line, const Ask& ask, Side requester) {
  auto made = std::make_shared<Trade>();
  made->requester = requester;
  made->version = line.version;
  made->xid = fresh_xid(line.ways.at(index(requester)));
  made->label = label("c");
  made->answer = label("r");
  made->ask = ask;
  made->octets = ask.back;
  return made;
}

void Talk::close_call(Line& line, const Trade& trade) {
  Way& way = line.ways.at(index(trade.requester));
  --way.open;
  way.xids.erase(trade.xid);
  if (trade.how != Trade::Answer::error)
    way.free.push_back(trade.xid);  // (a new try needs a new XID: RFC 8267 section 3.1)
}

}  // namespace talk
