// SPDX-License-Identifier: GPL-2.0-or-later
// Faults with chunks, with the memory behind them, and with its invalidation.
#include <fmt/format.h>

#include "fault_parts.hpp"

namespace talk {
namespace {

using namespace parts;
constexpr std::uint32_t data = 1000;

/// A READ with a Write chunk, and what `change` makes of it.
template <typename Change>
std::function<void(Talk&, Exchange&, Chance)> of_read(Change change, std::uint32_t segments = 1) {
  return [change, segments](Talk& talk, Exchange& exchange, Chance chance) {
    const TradePtr trade = talk.bare(*exchange.line, read_of(data));
    trade->writes.push_back(memory(talk, *exchange.line, data, segments));
    change(talk, *exchange.line, *trade);
    talk.perform(exchange, trade, chance);
  };
}

/// A WRITE with a Read chunk.
template <typename Change>
std::function<void(Talk&, Exchange&, Chance)> of_write(Change change) {
  return [change](Talk& talk, Exchange& exchange, Chance chance) {
    const TradePtr trade = talk.bare(*exchange.line, write_of(data));
    trade->reads.push_back({memory(talk, *exchange.line, data), 0});
    change(talk, *exchange.line, *trade);
    talk.perform(exchange, trade, chance);
  };
}

/// A Call with a Reply chunk that is not needed.
template <typename Change>
std::function<void(Talk&, Exchange&, Chance)> of_reply_chunk(Change change) {
  return [change](Talk& talk, Exchange& exchange, Chance chance) {
    const TradePtr trade = talk.bare(*exchange.line, talk.filler(64));
    trade->reply_chunk = memory(talk, *exchange.line, data);
    trade->keep_inline = true;
    change(talk, *exchange.line, *trade);
    talk.perform(exchange, trade, chance);
  };
}

Fault fault(const std::string& name, std::vector<std::string> rules, const std::string& culprit,
            std::function<void(Talk&, Exchange&, Chance)> act, std::vector<Implied> implied = {}) {
  Fault made;
  made.name = name;
  made.rules = std::move(rules);
  made.culprit = culprit;
  made.act = std::move(act);
  made.implied = std::move(implied);
  made.prepare = [](LinePlan& line) { line.fault_alone = true; };
  return made;
}

void returned_chunks(std::vector<Fault>& all) {
  const Implied unwritten{"write-bytes-missing", "server", "octets are reported that nobody wrote"};
  both(all, fault("write-list-dropped", {"write-list-not-returned"}, "server",
                  of_read([](Talk&, Line&, Trade& t) { t.reply_words.set("writes", "[]"); })));
  both(all, fault("write-segment-of-another-handle", {"write-segments-changed"}, "server",
                  of_read([](Talk&, Line&, Trade& t) {
                    const Region& r = t.writes[0];
                    t.reply_words.set("writes", "[" + segment(r.handle + 1, r.offset, data) + "]");
                  }),
                  {unwritten}));
  both(all, fault("write-segment-of-another-offset", {"write-segments-changed"}, "server",
                  of_read([](Talk&, Line&, Trade& t) {
                    const Region& r = t.writes[0];
                    t.reply_words.set("writes", "[" + segment(r.handle, r.offset + 4, data) + "]");
                  }),
                  {unwritten}));
  both(all, fault("write-length-grown", {"write-length-grown"}, "server", of_read([](Talk&, Line&, Trade& t) {
                    const Region& r = t.writes[0];
                    t.reply_words.set("writes", "[" + segment(r.handle, r.offset, data + 4) + "]");
                  }),
                  {unwritten,
                   {"eligible-item-inline", "server", "the length is not that of the data"},
                   {"write-chunk-pad-written", "server", "the length is not that of the data"}}));
  both(all, fault("write-fill-gap", {"write-fill-gap"}, "server",
                  of_read(
                      [](Talk&, Line&, Trade& t) {
                        const Region& r = t.writes[0];
                        t.reply_words.set("writes", fmt::format("[[{}, {}]]", segment(r.handle, r.offset, data / 2 - 8),
                                                                segment(r.handle, r.offset + data / 2, data / 2)));
                      },
                      2),
                  {{"write-chunk-pad-written", "server", "the lengths are not that of the data"}}));
  both(all, fault("write-bytes-missing", {"write-bytes-missing"}, "server",
                  of_read([](Talk&, Line&, Trade& t) { t.reply_words.set("placed", data - 4); })));
  both(all, fault("nothing-written", {"write-bytes-missing"}, "server",
                  of_read([](Talk&, Line&, Trade& t) { t.reply_words.set("place", "no"); })));
  both(all, fault("data-inline-beside-a-chunk", {"eligible-item-inline"}, "server", of_read([](Talk&, Line&, Trade& t) {
                    t.octets = 100;
                    t.reply_words.set("inline", "yes");
                  })));
  Fault one = fault("reply-chunk-not-returned", {"reply-chunk-not-returned"}, "server",
                    of_reply_chunk([](Talk&, Line&, Trade& t) { t.reply_words.set("reply_chunk", "~"); }));
  all.push_back(one);
  all.push_back(fault("reply-chunk-with-lengths-beside-the-message", {"reply-chunk-with-msg"}, "server",
                      of_reply_chunk([](Talk&, Line&, Trade& t) {
                        const Region& r = *t.reply_chunk;
                        t.reply_words.set("reply_chunk", segment(r.handle, r.offset, 40));
                      }),
                      {unwritten}));
  all.push_back(fault("empty-chunk-filled", {"empty-write-chunk-filled"}, "server",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        const TradePtr trade = talk.bare(*exchange.line, read_of(100));
                        trade->writes.emplace_back().empty = true;
                        trade->reply_words.set("writes", "[" + segment(0xAF00BAD0, 0, 100) + "]");
                        talk.perform(exchange, trade, chance);
                      },
                      {unwritten, {"write-segments-changed", "server", "the chunk has segments that it had not"}}));
}

void operations(std::vector<Fault>& all) {
  both(all, fault("write-beyond-its-chunk", {"rdma-write-out-of-bounds"}, "server",
                  of_read([](Talk& talk, Line& line, Trade& t) {
                    const Region r = t.writes[0];
                    t.before_reply = [&talk, &line, r] {
                      touch(talk, line, "write", Side::server, r.handle, r.offset + data - 4, 8);
                    };
                  })));
  both(all, fault("write-to-an-unknown-handle", {"rdma-unknown-handle"}, "server",
                  of_read([](Talk& talk, Line& line, Trade& t) {
                    t.before_reply = [&talk, &line] { touch(talk, line, "write", Side::server, 0xDEAD0001, 0, 64); };
                  })));
  both(all, fault("read-of-an-unknown-handle", {"rdma-unknown-handle"}, "server",
                  of_write([](Talk& talk, Line& line, Trade& t) {
                    t.before_reply = [&talk, &line] { touch(talk, line, "read", Side::server, 0xDEAD0001, 0, 64); };
                  })));
  both(all, fault("read-beyond-its-chunk", {"rdma-read-out-of-bounds"}, "server",
                  of_write([](Talk& talk, Line& line, Trade& t) {
                    const Region r = t.reads[0].region;
                    t.before_reply = [&talk, &line, r] {
                      touch(talk, line, "read", Side::server, r.handle, r.offset + data - 4, 8);
                    };
                  })));
  both(all,
       fault("write-into-a-read-chunk", {"rdma-access-mode"}, "server", of_write([](Talk& talk, Line& line, Trade& t) {
               const Region r = t.reads[0].region;
               t.before_reply = [&talk, &line, r] { touch(talk, line, "write", Side::server, r.handle, r.offset, 64); };
             })));
  both(all,
       fault("read-from-a-write-chunk", {"rdma-access-mode"}, "server", of_read([](Talk& talk, Line& line, Trade& t) {
               const Region r = t.writes[0];
               t.before_reply = [&talk, &line, r] { touch(talk, line, "read", Side::server, r.handle, r.offset, 64); };
             })));
  both(all, fault("write-by-the-requester", {"rdma-by-requester", "rdma-unknown-handle"}, "client",
                  of_read([](Talk& talk, Line& line, Trade& t) {
                    t.before_reply = [&talk, &line] { touch(talk, line, "write", Side::client, 0xBF00BAD0, 0, 64); };
                  })));
  both(all, fault("write-after-the-reply", {"rdma-write-after-reply"}, "server",
                  of_read([](Talk& talk, Line& line, Trade& t) {
                    const Region r = t.writes[0];
                    t.after_reply = [&talk, &line, r] {
                      touch(talk, line, "write", Side::server, r.handle, r.offset, 64);
                    };
                  })));
  both(
      all,
      fault("read-after-the-reply", {"rdma-read-after-reply"}, "server", of_write([](Talk& talk, Line& line, Trade& t) {
              const Region r = t.reads[0].region;
              t.after_reply = [&talk, &line, r] { touch(talk, line, "read", Side::server, r.handle, r.offset, 64); };
            })));
  both(all, fault("chunk-not-read", {"read-chunk-not-pulled"}, "server",
                  of_write([](Talk&, Line&, Trade& t) { t.unread = true; })));
  both(all, fault("write-before-the-call", {"rdma-before-call", "rdma-unknown-handle"}, "server",
                  [](Talk& talk, Exchange& exchange, Chance chance) {
                    Line& line = *exchange.line;
                    const TradePtr trade = talk.bare(line, read_of(data));
                    const Region r = memory(talk, line, data);
                    trade->writes.push_back(r);
                    next(exchange,
                         [&talk, &line, r] { touch(talk, line, "write", Side::server, r.handle, r.offset, 64); });
                    talk.perform(exchange, trade, chance);
                  }));
}

void offered_chunks(std::vector<Fault>& all) {
  both(all, fault("segment-that-wraps", {"segment-wraps"}, "client", of_read([](Talk&, Line&, Trade& t) {
                    t.writes[0].offset = 0xFFFFFFFFFFFFFF00;
                    t.how = Trade::Answer::failure;
                    t.status = 5;
                  })));
  both(all,
       fault("chunks-that-overlap", {"segment-overlap"}, "client", [](Talk& talk, Exchange& exchange, Chance chance) {
         const TradePtr trade = talk.bare(*exchange.line, talk.filler(64));
         Region body = memory(talk, *exchange.line, 104);
         trade->reads.push_back({body, std::nullopt});
         body.offset += 100;
         body.length = data;
         trade->reply_chunk = body;
         trade->keep_inline = true;
         talk.perform(exchange, trade, chance);
       }));
  both(all, fault("memory-of-two-calls", {"handle-reused-live"}, "client",
                  [](Talk& talk, Exchange& exchange, Chance chance) {
                    Line& line = *exchange.line;
                    const Region r = memory(talk, line, data);
                    exchange.actions.push_back({[&line, &talk] {
                                                  const Way& way = line.ways[0];
                                                  if (line.version == 2) return talk.may_speak(line, Side::client, 2);
                                                  // Where one credit is all there is, the fault cannot happen.
                                                  return way.granted >= way.open + 2 || way.granted == 1;
                                                },
                                                [&talk, &exchange, &line, r, chance]() mutable {
                                                  line.ways[0].asked = 64;
                                                  for (int i = 0; i < 2; ++i) {
                                                    const TradePtr trade = talk.bare(line, read_of(data));
                                                    trade->writes.push_back(r);
                                                    if (line.version == 1) trade->call_words.set("credit", 64);
                                                    talk.say_call(line, *trade, chance);
                                                    next(exchange, [&talk, &exchange, trade, chance]() mutable {
                                                      talk.say_reply(exchange, trade, chance);
                                                    });
                                                  }
                                                }});
                  },
                  {{"credit-limit-exceeded", "client", "with one credit granted, two Calls are one too many"},
                   {"credit-initial-exceeded", "client", "and so are two before the first Reply"}}));
  Fault many = fault("two-write-chunks-for-nfsv4", {"nfs-chunk-complexity"}, "client",
                     [](Talk& talk, Exchange& exchange, Chance chance) {
                       Ask ask;
                       ask.procedure = forge::Procedure::compound({"sequence", "putfh", "read", "read"});
                       ask.procedure.octets = ask.back = data;
                       ask.words = {{"nfs4", "[sequence, putfh, read, read]"}, {"octets", std::to_string(data)}};
                       const TradePtr trade = talk.bare(*exchange.line, ask);
                       for (int i = 0; i < 2; ++i) trade->writes.push_back(memory(talk, *exchange.line, data));
                       talk.perform(exchange, trade, chance);
                     });
  all.push_back(many);
  both(all, fault("data-moved-under-gss-integrity", {"reduction-under-gss"}, "client",
                  [](Talk& talk, Exchange& exchange, Chance chance) {
                    Ask ask = write_of(data);
                    ask.procedure.gss = forge::Procedure::Gss::integrity;
                    ask.words.set("gss", "integrity");
                    const TradePtr trade = talk.bare(*exchange.line, ask);
                    trade->reads.push_back({memory(talk, *exchange.line, data), 0});
                    talk.perform(exchange, trade, chance);
                  }));
}

void invalidations(std::vector<Fault>& all) {
  const auto with = [](Fault made, bool client, bool server) {
    made.prepare = [client, server](LinePlan& line) {
      line.fault_alone = true;
      invalidation(line, client, server);
    };
    return made;
  };
  all.push_back(with(fault("foreign-handle-invalidated", {"remote-invalidation-wrong-handle"}, "server",
                           of_read([](Talk&, Line&, Trade& t) { t.invalidate = 0xAFFF0001; })),
                     true, true));
  all.push_back(with(fault("invalidated-though-the-client-cannot", {"remote-invalidation-not-allowed"}, "server",
                           of_read([](Talk&, Line&, Trade& t) { t.invalidate = t.writes[0].handle; })),
                     false, true));
  all.push_back(with(fault("invalidated-though-the-server-cannot", {"remote-invalidation-server-r-clear"}, "server",
                           of_read([](Talk&, Line&, Trade& t) { t.invalidate = t.writes[0].handle; })),
                     true, false));
  all.push_back(with(fault("call-that-invalidates", {"remote-invalidation-not-reply"}, "client",
                           of_read([](Talk&, Line&, Trade& t) { t.call_words.set("invalidate", "0xBF00BAD0"); })),
                     true, true));
  Fault after =
      fault("write-after-the-invalidation", {"rdma-after-invalidate", "rdma-write-after-reply"}, "server",
            of_read([](Talk& talk, Line& line, Trade& t) {
              const Region r = t.writes[0];
              t.invalidate = r.handle;
              t.after_reply = [&talk, &line, r] { touch(talk, line, "write", Side::server, r.handle, r.offset, 64); };
            }));
  all.push_back(with(after, true, true));
}

}  // namespace

void faults_of_memory(std::vector<Fault>& all) {
  returned_chunks(all);
  operations(all);
  offered_chunks(all);
  invalidations(all);
}

}  // namespace talk
