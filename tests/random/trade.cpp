// SPDX-License-Identifier: GPL-2.0-or-later
// Calls: which chunks they get, and how they are said. Sizes of headers are those of RFC 8166 section 4.1.2 and of the
// draft's section 8.4.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "message_sizes.hpp"
#include "talk.hpp"

namespace talk {
namespace {

/// Whether the result's octets, and no fewer or more, are what the Call asks for.
bool asks_for_octets(const Ask& ask) {
  if (ask.words.has("nfs3")) return ask.procedure.number == 6;
  return std::any_of(ask.procedure.operations.begin(), ask.procedure.operations.end(),
                     [](const std::string& each) { return each == "read" || each == "readdir"; });
}

bool writes_data(const Ask& ask) {
  if (ask.words.has("nfs3")) return ask.procedure.number == 7 || ask.procedure.number == 10;
  return std::any_of(ask.procedure.operations.begin(), ask.procedure.operations.end(),
                     [](const std::string& each) { return each == "write"; });
}

void draw_answer(Trade& trade, Chance& chance) {
  using Kind = forge::Procedure::Kind;
  trade.octets = trade.ask.back;
  const Kind kind = trade.ask.procedure.kind;
  const bool nfs = (kind == Kind::nfs3 && trade.ask.procedure.number != 0) || kind == Kind::compound;
  if (nfs && asks_for_octets(trade.ask) && !writes_data(trade.ask) && chance.one_in(3)) {
    trade.octets = chance.below(trade.ask.back + 1);
  }
  if (trade.ask.ready_afterwards) return;
  if (nfs && chance.one_in(12)) {
    trade.how = Trade::Answer::failure;
    trade.status = kind == Kind::nfs3 ? 5 : 10008;  // NFS3ERR_IO, NFS4ERR_DELAY
  } else if (chance.one_in(25)) {
    trade.how = Trade::Answer::refused;
    trade.status = chance.of<std::uint32_t>({1, 3, 4, 5});  // PROG_UNAVAIL, PROC_UNAVAIL, GARBAGE_ARGS, SYSTEM_ERR
  }
}

/// Answers that name what the responder could not do (RFC 8167 section 5.3; draft, section 7.3).
void draw_refusal(Trade& trade, Chance& chance) {
  if (trade.version == 1) {
    if (trade.requester == Side::client || trade.segments().empty() || !chance.one_in(2)) return;
    trade.how = Trade::Answer::error;
    trade.error = {{"code", "chunk"}};
    return;
  }
  if (!chance.one_in(12)) return;
  std::vector<Words> all{{{"code", "system"}}};
  if (!trade.reads.empty()) all.push_back({{"code", "read chunks"}, {"values", "[0]"}});
  if (!trade.writes.empty()) all.push_back({{"code", "write chunks"}, {"values", "[0]"}});
  if (trade.reply_chunk) {
    all.push_back({{"code", "reply resource"}, {"values", fmt::format("[{}]", trade.reply_chunk->length + 100)}});
    const std::size_t count = trade.reply_chunk->segments().size();
    if (count > 1) all.push_back({{"code", "segments"}, {"values", fmt::format("[{}]", count - 1)}});
  }
  trade.how = Trade::Answer::error;
  trade.error = chance.of(all);
}

}  // namespace

TradePtr Talk::trade(Line& line, Side requester, Chance& chance, const Ask& ask, std::optional<std::uint32_t> xid) {
  auto made = std::make_shared<Trade>();
  Trade& t = *made;
  t.requester = requester;
  t.version = line.version;
  t.xid = xid ? *xid : new_xid(line, requester, chance);
  t.label = label("c");
  t.answer = label("r");
  t.ask = ask;
  draw_answer(t, chance);
  const bool version2 = line.version == 2;
  const bool chunks = !version2 || requester == Side::client || line.plan->client.level == 3;
  std::size_t room = version2 ? std::min({16U, line.plan->client.segments, line.plan->server.segments}) : 24;
  const auto take = [&](std::uint32_t length) {  // (one segment is left for a whole message)
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>({room - 1, 16, chance.one_in(4) ? 16U : 4U}));
    Region region = this->region(line, requester, length, most, chance);
    room -= std::min(room, region.segments().size());
    return region;
  };

  // Room for the largest answer.
  forge::Procedure largest = ask.procedure;
  largest.octets = ask.back;
  const forge::RpcMessage full = forge::rpc_reply(largest, t.xid, 0);
  const auto& results = ask.reply_items.empty() ? full.items : ask.reply_items;
  std::size_t rest = full.octets.size();
  if (chunks && !results.empty() && !chance.one_in(4)) {
    const std::size_t count = ask.procedure.kind == forge::Procedure::Kind::generic ? results.size() : 1;
    for (std::size_t i = 0; i < count && room > 2 && results[i].length > 0; ++i) {
      if (count == 1 && chance.one_in(15)) {
        t.writes.emplace_back().empty = true;
        break;
      }
      const auto length = static_cast<std::uint32_t>(results[i].length);
      t.writes.push_back(take(length + (version2 ? 0 : chance.of<std::uint32_t>({0, 0, 4096}))));
      if (!ask.is_protected()) rest -= padded(results[i].length);
    }
  }
  const std::size_t inline_reply = sizes::reply_header(t) + rest;
  const std::uint32_t back = threshold(line, t.responder());
  if (chunks && room > 2 && (inline_reply > back ? !chance.one_in(4) : chance.one_in(6))) {
    t.reply_chunk = take(static_cast<std::uint32_t>(rest + chance.of<std::uint32_t>({0, 1, 100, 1000})));
  } else if (chunks && !version2 && room > 2 && rest > back + 200 && chance.one_in(3)) {
    t.reply_chunk = take(chance.between(100, static_cast<std::uint32_t>(rest) - 100));
  }

  // The Call itself.
  const forge::RpcMessage call = forge::rpc_call(ask.procedure, t.xid);
  const auto& arguments = ask.call_items.empty() ? call.items : ask.call_items;
  if (chunks && !ask.is_protected() && !chance.one_in(3)) {
    for (std::size_t i = 0; i < arguments.size() && room > 2; ++i) {
      if (arguments[i].length == 0 || (arguments.size() > 1 && chance.one_in(3))) continue;
      t.reads.push_back({take(static_cast<std::uint32_t>(arguments[i].length)), i});
    }
    // Version 1 has no rule about the order of positions (RFC 8166 section 3.4.5).
    if (!version2 && chance.one_in(3)) chance.shuffle(t.reads);
  }
  measure(line, t, chance);
  const bool fits = t.header + t.payload <= threshold(line, requester);
  if (chunks && (fits ? chance.one_in(12) : (!version2 || chance.one_in(2)))) {
    room = std::max<std::size_t>(room, 2);
    t.reads.insert(t.reads.begin(), {take(static_cast<std::uint32_t>(t.payload)), std::nullopt});
    measure(line, t, chance);
  }
  std::vector<std::uint32_t> handles;
  for (const Segment& each : t.segments()) {
    if (each.handle >> 24U != 0x5A) handles.push_back(each.handle);
  }
  if (version2) {
    if (!handles.empty() && chance.one_in(2)) t.inv_handle = chance.of(handles);
    if (t.inv_handle != 0 && !chance.one_in(4)) t.invalidate = t.inv_handle;
  } else {
    const PeerPlan& client = line.plan->client;
    const PeerPlan& server = line.plan->server;
    const bool both = client.invalidate && server.invalidate && !client.silent && !server.silent;
    if (both && !handles.empty() && chance.one_in(2)) t.invalidate = chance.of(handles);
  }
  draw_refusal(t, chance);
  return made;
}

/// At level 1 the client takes no reverse Calls in pieces (draft, section 5.2.5).
bool Talk::only_simple(const Line& line, const Trade& t) {
  return t.requester == Side::server && line.plan->client.level == 1;
}

void Talk::measure(Line& line, Trade& t, Chance& chance) {
  const forge::RpcMessage call = forge::rpc_call(t.ask.procedure, t.xid);
  const auto& items = t.ask.call_items.empty() ? call.items : t.ask.call_items;
  t.payload = call.octets.size();
  bool body = false;
  for (const ReadRegion& read : t.reads) {
    if (read.item) t.payload -= padded(items[*read.item].length);
    body = body || !read.item;
  }
  if (body) t.payload = 0;
  t.header = sizes::call_header(t, body);
  t.pieces.clear();
  if (t.version == 2)
    t.pieces = sizes::pieces(t.header, t.payload, threshold(line, t.requester), chance, only_simple(line, t));
}

std::uint32_t Talk::say_call(Line& line, Trade& t, Chance& chance) {
  std::uint32_t left = 0;
  Words words = t.ask.words;
  words.set("xid", hex(t.xid));
  if (t.requester == Side::server) words.set("reverse", "yes");
  const auto& items = t.ask.call_items;
  if (!items.empty()) {
    std::vector<std::string> list;
    for (const forge::Item& item : items)
      list.push_back(fmt::format("{{at: {}, octets: {}}}", item.offset, item.length));
    words.set("items", fmt::format("[{}]", fmt::join(list, ", ")));
  }
  std::vector<std::string> list;
  for (const ReadRegion& read : t.reads) {
    list.push_back(read.region.words(read.item ? Words{{"item", std::to_string(*read.item + 1)}, {"position", "data"}}
                                               : Words{{"position", "0"}}));
  }
  if (!list.empty()) words.set("reads", fmt::format("[{}]", fmt::join(list, ", ")));
  list.clear();
  for (const Region& region : t.writes) list.push_back(region.words());
  if (!list.empty()) words.set("writes", fmt::format("[{}]", fmt::join(list, ", ")));
  if (t.reply_chunk) words.set("reply_chunk", t.reply_chunk->words());
  if (t.version == 2) {
    if (t.inv_handle != 0) words.set("inv_handle", hex(t.inv_handle));
    if (!t.pieces.empty()) words.set("pieces", fmt::format("[{}]", fmt::join(t.pieces, ", ")));
    words.set(t.call_words);
    if (!t.pieces.empty() && t.call_words.empty() && chance.one_in(3)) {
      left = chance.between(1, static_cast<std::uint32_t>(t.pieces.size()));
      words.set("stop_after", t.pieces.size() + 1 - left);
    }
    advertise(line, t.requester, words, t.pieces.size() + 1 - left, chance);
  } else {
    words.set("credit", request(line, t.requester, chance)).set(t.call_words);
  }
  const bool body = std::any_of(t.reads.begin(), t.reads.end(), [](const auto& read) { return !read.item; });
  if (t.version == 1 && body && line.ways.at(index(t.responder())).xids.count(t.xid) != 0) {
    met_.insert("long-call-with-the-xid-of-an-open-call");
  }
  if (line.offered.at(index(t.requester)).count(t.xid) != 0) met_.insert("offer-with-the-xid-of-a-later-callback");
  ++line.ways.at(index(t.requester)).open;
  line.ways.at(index(t.requester)).used.push_back(t.xid);
  tell(line, t.requester, t.version == 2 ? "v2-call" : "call", words, t.label);
  return left;
}

void Talk::say_rest(Exchange& exchange, Side by, std::uint32_t pieces, Chance& chance) {
  if (pieces == 0) return;
  Line& line = *exchange.line;
  line.in_between = true;
  exchange.actions.push_front({[] { return true; },
                               [this, &line, by, pieces] {
                                 line.in_between = false;
                                 line.sent.at(index(by)) += pieces;
                                 tell(line, by, "v2-rest", {{"count", std::to_string(pieces)}}, label("q"));
                               }});
  const Side other = forge::other(by);
  if (line.sent.at(index(other)) >= line.limit.at(index(other)) || chance.one_in(2)) return;
  static constexpr std::uint32_t plenty = 40;  // the pieces that are left need their credits still
  exchange.actions.push_front(
      {[] { return true; }, [this, &line, other] { say_grant(line, other, plenty, line.chance); }});
}

void Talk::perform(Exchange& exchange, const TradePtr& trade, Chance chance) {
  Line& line = *exchange.line;
  auto shared = std::make_shared<Chance>(chance);
  exchange.trade = trade;
  exchange.actions.push_back(
      {[this, &line, trade] { return may_call(line, trade->requester, trade->pieces.size() + 1); },
       [this, &exchange, trade, shared] {
         const std::uint32_t left = say_call(*exchange.line, *trade, *shared);
         const bool body = std::any_of(trade->reads.begin(), trade->reads.end(), [](const auto& r) { return !r.item; });
         const bool refused =
             trade->how == Trade::Answer::error || (trade->how == Trade::Answer::refused && !body && shared->one_in(2));
         std::vector<Region> regions;
         for (const ReadRegion& read : trade->reads) regions.push_back(read.region);
         if (!refused && !trade->unread) read_all(exchange, trade->responder(), regions, *shared, true);
         say_rest(exchange, trade->requester, left, *shared);
       }});
  exchange.actions.push_back({[&exchange, trade] {
                                exchange.waits_for_reply = true;
                                return true;
                              },
                              [this, &exchange, trade, shared] { say_reply(exchange, trade, *shared); }});
}

/// RDMA Reads of all of it, in pieces and in any order, some of them answered later.
void Talk::read_all(Exchange& exchange, Side by, const std::vector<Region>& regions, Chance& chance, bool in_front) {
  std::vector<Segment> wanted;
  for (const Region& region : regions) {
    for (const Segment& segment : region.segments()) {
      if (segment.length == 0) continue;
      const std::uint32_t size =
          region.split != 0 || chance.one_in(2) ? segment.length : segment.length / chance.between(1, 4) + 1;
      for (std::uint32_t at = 0; at < segment.length; at += size) {
        wanted.push_back({segment.handle, segment.offset + at, std::min(size, segment.length - at)});
      }
    }
  }
  if (chance.one_in(4)) chance.shuffle(wanted);
  if (!wanted.empty() && chance.one_in(15)) wanted.push_back(wanted.front());
  Line& line = *exchange.line;
  auto shared = std::make_shared<Chance>(chance.next());
  std::deque<Action> actions;
  for (const Segment& segment : wanted) {
    actions.push_back(
        {[&line, by] { return line.reads_open.at(index(by)) < most_reads_at_once; },
         [this, &line, &exchange, by, segment, shared] {
           Words words{{"by", name(by)},
                       {"handle", hex(segment.handle)},
                       {"offset", hex(segment.offset)},
                       {"length", std::to_string(segment.length)}};
           const std::string step = label("d");
           const bool later =
               !line.reading.at(index(by)).empty() || (!plan_.plain && !line.plan->plain && shared->one_in(5));
           if (later) words.set("answer", "no");
           tell_aside(line, "read", words, step);
           received(line, by);                            // who reads memory has received what offers it
           if (!later) received(line, forge::other(by));  // a response acknowledges all before its request
           if (!later) return;
           line.reading.at(index(by)).push_back(step);
           ++line.reads_open.at(index(by));
           if (shared->one_in(6)) tell_aside(line, "retransmit", {{"step", step + "/read"}, {"received", "no"}});
           exchange.actions.push_front({[&line, by, step] { return line.reading.at(index(by)).front() == step; },
                                        [this, &line, by, step] {
                                          tell_aside(line, "respond", {{"step", step}});
                                          received(line, forge::other(by));
                                          line.reading.at(index(by)).pop_front();
                                          --line.reads_open.at(index(by));
                                        }});
         }});
  }
  if (in_front) {
    exchange.actions.insert(exchange.actions.begin(), actions.begin(), actions.end());
  } else {
    exchange.actions.insert(exchange.actions.end(), actions.begin(), actions.end());
  }
}

}  // namespace talk
