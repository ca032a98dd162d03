// SPDX-License-Identifier: GPL-2.0-or-later
// Replies: inline, in Write chunks, in the Reply chunk, offered to be read, in pieces; or an error instead.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "message_sizes.hpp"
#include "talk.hpp"

namespace talk {
namespace {

/// Where `octets` of a result go in the segments of a chunk: in their order, contiguously.
std::vector<Segment> filled(const Region& region, std::size_t octets) {
  std::vector<Segment> all;
  for (Segment segment : region.segments()) {
    segment.length = static_cast<std::uint32_t>(std::min<std::size_t>(segment.length, octets));
    octets -= segment.length;
    if (segment.length > 0) all.push_back(segment);
  }
  return all;
}

std::string item_list(const std::vector<forge::Item>& items) {
  std::vector<std::string> list;
  for (const forge::Item& item : items) list.push_back(fmt::format("{{at: {}, octets: {}}}", item.offset, item.length));
  return fmt::format("[{}]", fmt::join(list, ", "));
}

}  // namespace

void Talk::say_reply(Exchange& exchange, const TradePtr& trade, Chance& chance) {
  Line& line = *exchange.line;
  Trade& t = *trade;
  const bool version2 = t.version == 2;
  const Side by = t.responder();
  auto shared = std::make_shared<Chance>(chance.next());
  if (t.how == Trade::Answer::error) {
    exchange.actions.push_front({[this, &line, by] { return may_speak(line, by); },
                                 [this, &line, &exchange, trade, by, shared] {
                                   if (trade->before_reply) trade->before_reply();
                                   exchange.waits_for_reply = false;
                                   Words words{{"by", name(by)}, {"to", trade->label}};
                                   words.set(trade->error);
                                   close_call(line, *trade);
                                   if (trade->version == 2) {
                                     advertise(line, by, words, 1, *shared);
                                   } else {
                                     words.set("credit", line.ways.at(index(trade->requester)).granted);
                                   }
                                   words.set(trade->reply_words);
                                   tell(line, by, trade->version == 2 ? "v2-error" : "error", words, trade->answer);
                                   if (const auto after = std::exchange(trade->after_reply, nullptr)) after();
                                 }});
    return;
  }

  forge::Procedure procedure = t.ask.procedure;
  procedure.octets = t.octets;
  const bool success = t.how != Trade::Answer::refused;
  if (t.how == Trade::Answer::failure) procedure.nfs_status = t.status;
  const forge::RpcMessage rpc = forge::rpc_reply(procedure, t.xid, success ? 0 : t.status);
  Words words{{"to", t.label}};
  if (t.requester == Side::server) words.set("reverse", "yes");
  words.set("octets", t.octets);
  if (t.how == Trade::Answer::failure) words.set("nfs_status", t.status);
  if (!success) words.set("status", t.status);
  const bool of_filler = !t.ask.reply_items.empty();
  if (of_filler && success) words.set("items", item_list(t.ask.reply_items));

  // What moves into Write chunks leaves the message.
  std::size_t rest = rpc.octets.size();
  std::vector<Segment> placed;
  if (t.ask.is_protected()) {
    words.set("inline", "yes");
  } else if (success) {
    const auto& items = of_filler ? t.ask.reply_items : rpc.items;
    std::size_t next = 0;
    for (const Region& region : t.writes) {
      if (region.empty || region.length == 0 || next >= items.size()) continue;
      for (const Segment& segment : filled(region, items[next].length)) placed.push_back(segment);
      rest -= padded(items[next++].length);
    }
  }
  const std::size_t header = sizes::reply_header(t);
  const std::uint32_t most = threshold(line, by);
  const bool fits = t.keep_inline || header + rest <= most;
  const bool has_room = t.reply_chunk && t.reply_chunk->length >= rest && !t.keep_inline;
  const bool in_chunk = has_room && (!fits || chance.one_in(3));
  std::vector<std::uint32_t> pieces;
  if (t.reply_chunk) words.set("long", in_chunk ? "yes" : "no");
  if (!in_chunk && version2 && !t.keep_inline) {
    pieces = sizes::pieces(header, rest, most, chance, only_simple(line, t));
    if (!pieces.empty()) words.set("pieces", fmt::format("[{}]", fmt::join(pieces, ", ")));
  }
  if (!in_chunk && !version2 && !fits) {
    t.offered = true;
    t.offer = region(line, by, static_cast<std::uint32_t>(rest), 8, chance);
    words.set("reads", fmt::format("[{}]", t.offer.words({{"position", "0"}})));
  }
  if (t.invalidate) words.set("invalidate", hex(*t.invalidate));

  // Sometimes the RDMA Writes come one by one, in any order.
  std::deque<Action> actions;
  if (!placed.empty() && !in_chunk && !t.reply_words.has("placed") && !t.reply_words.has("place") && chance.one_in(3)) {
    words.set("place", "no");
    if (chance.one_in(2)) chance.shuffle(placed);
    if (chance.one_in(6)) placed.push_back(placed.front());
    for (const Segment& segment : placed) {
      actions.push_back({[] { return true; },
                         [this, &line, by, segment, shared] {
                           Words write{{"by", name(by)},
                                       {"handle", hex(segment.handle)},
                                       {"offset", hex(segment.offset)},
                                       {"length", std::to_string(segment.length)}};
                           if (shared->one_in(3)) write.set("pieces", segment.length / 3 + 1);
                           tell(line, by, "write", write, label("w"));
                         }});
    }
  }
  actions.push_back({[this, &line, by, count = pieces.size() + 1] { return may_speak(line, by, count); },
                     [this, &line, &exchange, trade, by, words, shared, count = pieces.size() + 1]() mutable {
                       exchange.waits_for_reply = false;
                       if (trade->before_reply) trade->before_reply();
                       close_call(line, *trade);
                       std::uint32_t left = 0;
                       if (trade->version == 2) {
                         words.set(trade->reply_words);
                         if (count > 1 && trade->reply_words.empty() && !trade->after_reply && shared->one_in(3)) {
                           left = shared->between(1, static_cast<std::uint32_t>(count) - 1);
                           words.set("stop_after", count - left);
                         }
                         advertise(line, by, words, count - left, *shared);
                       } else {
                         words.set("credit", grant(line, trade->requester, *shared)).set(trade->reply_words);
                       }
                       tell(line, by, trade->version == 2 ? "v2-reply" : "reply", words, trade->answer);
                       say_rest(exchange, by, left, *shared);
                       if (trade->ask.ready_afterwards && trade->version == 1) line.ready = true;
                       if (trade->offered) {
                         ++line.offers;
                         line.offered.at(index(by)).insert(trade->xid);
                       }
                       if (const auto after = std::exchange(trade->after_reply, nullptr)) after();
                       if (!trade->offered) {
                         auto& retired = line.retired.at(index(trade->requester));
                         for (const ReadRegion& read : trade->reads) {
                           if (!read.region.shared) retired.push_back(read.region);
                         }
                       }
                     }});
  exchange.actions.insert(exchange.actions.begin(), actions.begin(), actions.end());
  if (!t.offered) return;
  if (!t.unread) read_all(exchange, t.requester, {t.offer}, chance, false);
  if (t.no_offer_done) return;
  exchange.actions.push_back({[] { return true; }, [this, &line, trade, shared] { done(line, *trade, *shared); }});
}

/// The Reply that was offered has been read.
void Talk::done(Line& line, Trade& t, Chance& chance, const Words& more) {
  Words words{{"by", name(t.requester)}, {"to", t.answer}, {"credit", std::to_string(chance.between(1, 64))}};
  const PeerPlan& client = line.plan->client;
  const PeerPlan& server = line.plan->server;
  const bool both = client.invalidate && server.invalidate && !client.silent && !server.silent;
  if (both && !t.offer.shared && !chance.one_in(4)) words.set("invalidate", hex(t.offer.handle));
  words.set(more);
  --line.offers;
  line.offered.at(index(t.responder())).erase(t.xid);
  tell(line, t.requester, "done", words, label("f"));
}

}  // namespace talk
