// SPDX-License-Identifier: GPL-2.0-or-later
// Faults of version 1 with sizes, credits, headers, XIDs and pull completion.
#include <fmt/format.h>
#include <algorithm>

#include "fault_parts.hpp"

namespace talk {
namespace {

using namespace parts;

Fault fault(const std::string& name, std::vector<std::string> rules, const std::string& culprit, Act act,
            std::vector<Implied> implied = {}, std::function<void(LinePlan&)> prepare = modest) {
  return parts::fault(name, std::move(rules), culprit, std::move(act), std::move(implied), std::move(prepare));
}

/// Octets from the client that are no Call; ERR_CHUNK answers them, where `answered`.
Act of_octets(const std::string& behind_the_xid, bool answered) {
  return [behind_the_xid, answered](Talk& talk, Exchange& exchange, Chance) {
    Line& line = *exchange.line;
    const std::string xid = fmt::format("{:08x}", talk.bare(line, talk.filler(0))->xid);
    exchange.actions.push_back({[&talk, &line] { return talk.may_call(line, Side::client, 1); },
                                [=, &talk, &line] {
                                  ++line.ways[0].open;
                                  talk.tell(line, Side::client, "send",
                                            {{"by", "client"}, {"octets", '"' + xid + behind_the_xid + '"'}},
                                            talk.label("b"));
                                }});
    next(exchange, [=, &talk, &line] {
      --line.ways[0].open;
      if (!answered) return;
      talk.tell(
          line, Side::server, "error",
          {{"by", "server"}, {"xid", "0x" + xid}, {"code", "chunk"}, {"credit", std::to_string(line.ways[0].granted)}},
          talk.label("r"));
    });
  };
}

void sizes_and_credits(std::vector<Fault>& all) {
  const std::vector<std::string> oversize{"inline-threshold-exceeded", "inline-default-exceeded"};
  all.push_back(fault("call-too-long", oversize, "client", [](Talk& talk, Exchange& exchange, Chance chance) {
    constexpr std::uint32_t around = 28 + 40;
    const std::uint32_t most = talk.threshold(*exchange.line, Side::client);
    const TradePtr trade = talk.bare(*exchange.line, talk.filler(most - around + 4 * chance.between(1, 50)));
    talk.perform(exchange, trade, chance);
  }));
  all.push_back(
      fault("reply-too-long", oversize, "server", of_filler([](Talk& talk, Line& line, Trade& t, Chance& chance) {
              t.octets = talk.threshold(line, Side::server) - 52 + 4 * chance.between(1, 50);
              t.keep_inline = true;
            })));
  all.push_back(fault("reply-too-long-beside-a-chunk", {"reply-chunk-ignored"}, "server",
                      of_filler([](Talk& talk, Line& line, Trade& t, Chance& chance) {
                        t.octets = talk.threshold(line, Side::server) - 52 + 4 * chance.between(1, 50);
                        t.reply_chunk = memory(talk, line, t.octets + 100);
                        t.keep_inline = true;
                      }),
                      {{"inline-threshold-exceeded", "server", "what is too long for inline was sent inline"},
                       {"inline-default-exceeded", "server", "the same, where nothing was negotiated"}}));
  all.push_back(fault(
      "reverse-call-too-long", oversize, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        Line& line = *exchange.line;
        const std::uint32_t most = talk.threshold(line, Side::server);
        const TradePtr trade = talk.bare(line, talk.filler(most - 28 - 40 + 4 * chance.between(1, 50)), Side::server);
        talk.perform(exchange, trade, chance);
      },
      {},
      [](LinePlan& line) {
        modest(line);
        line.program = Program::filler;
      }));
  all.push_back(fault(
      "call-beyond-the-grant", {"credit-limit-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        const TradePtr before = talk.bare(*exchange.line, talk.filler(16));
        talk.perform(exchange, before, chance);
        burst(talk, exchange, Side::client, 1 + chance.below(3), chance);
      },
      {},
      [](LinePlan& line) {
        line.fault_alone = true;
        line.plain = true;
        line.most_credits = 8;
      }));
  all.push_back(fault(
      "second-call-before-the-first-reply", {"credit-initial-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        burst(talk, exchange, Side::client, 1 + chance.below(3), chance);
      },
      {},
      [](LinePlan& line) {
        first(line);
        line.probes = false;
      }));
  all.push_back(fault(
      "callbacks-beyond-the-grant", {"reverse-credit-exceeded"}, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        const TradePtr before = talk.bare(*exchange.line, talk.filler(16), Side::server);
        talk.perform(exchange, before, chance);
        burst(talk, exchange, Side::server, 1 + chance.below(3), chance);
      },
      {},
      [](LinePlan& line) {
        line.fault_alone = true;
        line.plain = true;
        line.program = Program::filler;
        line.most_credits = 8;
      }));
  all.push_back(fault("grant-of-zero", {"credit-grant-zero"}, "server",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) { t.reply_words.set("credit", 0); }), {}, last));
}

void headers(std::vector<Fault>& all) {
  const auto call = [&all](const std::string& name, const std::string& rule, const Words& words,
                           std::vector<Implied> implied = {}) {
    all.push_back(fault(name, {rule}, "client", of_filler([words](Talk&, Line&, Trade& t, Chance&) {
                          t.call_words.set(words);
                          refused(t);
                        }),
                        std::move(implied)));
  };
  call("call-with-two-xids", "xid-mismatch", {{"rpc_xid", "0x0BADC0DE"}});
  call("padded-message", "rdma-msgp-sent", {{"proc", "msgp"}});
  call("unknown-procedure", "unknown-proc", {{"proc", "9"}});
  call("position-not-aligned", "read-position-unaligned", {{"reads", "[{handle: 0xAF0B, length: 8, position: 46}]"}});
  call("position-behind-the-message", "read-position-out-of-stream",
       {{"reads", "[{handle: 0xAF0B, length: 8, position: 4096}]"}});
  call("read-chunks-that-overlap", "read-chunk-overlap",
       {{"reads", "[{handle: 0xAF0B, length: 64, position: 44}, {handle: 0xAF0C, length: 8, position: 60}]"}});
  call("position-zero-beside-the-message", "position-zero-in-msg",
       {{"lists", "\"00000001 00000000 0000af0b 00000100 00000000 00010000 00000000 00000000 00000000\""}});
  call("write-chunk-of-a-thousand-segments", "xdr-malformed", {{"lists", "\"00000000 00000001 000003e8 00000000\""}});
  call("list-word-that-is-two", "xdr-bool-invalid", {{"lists", "\"00000002 00000000 00000000\""}});
  all.push_back(fault("message-that-ends-in-its-header", {"header-too-short"}, "client",
                      of_octets("000000010000002000000000", false)));
  all.push_back(fault("body-nowhere", {"nomsg-without-body"}, "client",
                      of_octets("000000010000002000000001000000000000000000000000", true)));
  all.push_back(fault("message-without-a-message", {"msg-without-rpc"}, "client",
                      of_octets("000000010000002000000000000000000000000000000000", true)));
  all.push_back(fault("reply-with-two-xids", {"xid-mismatch"}, "server",
                      of_filler([](Talk&, Line& line, Trade& t, Chance&) {
                        t.reply_words.set("rpc_xid", "0x0BADC0DE");
                        t.after_reply = [&line] { ++line.ways[0].open; };  // the client has to drop it
                      }),
                      {}, last));
  all.push_back(fault("length-not-of-whole-words", {"payload-unaligned"}, "client",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) { t.octets = 64; }, 63)));
  all.push_back(fault("reply-of-no-whole-words", {"payload-unaligned"}, "server",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) { t.octets = 61; })));
  all.push_back(fault("another-version", {"bad-version", "version-changed"}, "client",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) {
                        t.call_words.set("version", 3);
                        t.how = Trade::Answer::error;
                        t.error = {{"code", "vers"}, {"version", "3"}};
                      })));
  all.push_back(fault(
      "version-refused-that-is-spoken", {"err-vers-unwarranted"}, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        // (it has answered in this version before)
        talk.perform(exchange, talk.bare(*exchange.line, talk.filler(16)), chance);
        const TradePtr trade = talk.bare(*exchange.line, talk.filler(16));
        trade->how = Trade::Answer::error;
        trade->error = {{"code", "vers"}, {"low", "2"}, {"high", "2"}};
        talk.perform(exchange, trade, chance);
      },
      {}, last));
  all.push_back(fault("reserved-bits", {"private-data-reserved-set"}, "client",
                      of_filler([](Talk&, Line&, Trade&, Chance&) {}), {}, [](LinePlan& line) {
                        line.client.silent = false;
                        line.client.more = ", reserved: 2";
                      }));
}

void transactions(std::vector<Fault>& all) {
  all.push_back(
      fault("reply-without-a-call", {"reply-without-call"}, "server",
            of_filler([](Talk& talk, Line& line, Trade& t, Chance&) {
              t.after_reply = [&talk, &line] {
                talk.tell(line, Side::server, "reply",
                          {{"unasked", "yes"}, {"xid", "0x0BADC0DE"}, {"credit", std::to_string(line.ways[0].granted)}},
                          talk.label("b"));
              };
            })));
  all.push_back(fault(
      "reply-twice", {"duplicate-reply"}, "server", of_filler([](Talk& talk, Line& line, Trade& t, Chance&) {
        t.after_reply = [&talk, &line, to = t.label] {
          talk.tell(line, Side::server, "reply",
                    {{"to", to}, {"octets", "64"}, {"credit", std::to_string(line.ways[0].granted)}}, talk.label("b"));
        };
      })));
  all.push_back(fault("error-from-the-requester", {"error-from-requester", "error-to-reply"}, "client",
                      of_filler([](Talk& talk, Line& line, Trade& t, Chance&) {
                        t.after_reply = [&talk, &line, xid = t.xid] {
                          // With the XID of a call of the server it would be an answer to that, or a second one.
                          const auto& reverse = line.ways[1].used;
                          const bool theirs = std::find(reverse.begin(), reverse.end(), xid) != reverse.end();
                          const std::string of = theirs ? "0x0BADC0DE" : hex(xid);
                          talk.tell(line, Side::client, "error",
                                    {{"by", "client"}, {"xid", of}, {"version", "1"}, {"credit", "32"}},
                                    talk.label("b"));
                        };
                      })));
  all.push_back(fault("xid-of-an-open-call", {"xid-duplicate-outstanding"}, "client",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        Line& line = *exchange.line;
                        exchange.actions.push_back({[&line] {
                                                      const Way& way = line.ways[0];
                                                      return way.granted >= way.open + 2 || way.granted == 1;
                                                    },
                                                    [&talk, &exchange, &line, chance]() mutable {
                                                      line.ways[0].asked = 64;
                                                      std::optional<std::uint32_t> xid;
                                                      for (const std::uint32_t octets : {16U, 32U}) {
                                                        const TradePtr trade = talk.bare(line, talk.filler(octets));
                                                        if (xid) trade->xid = *xid;
                                                        xid = trade->xid;
                                                        trade->call_words.set("credit", 64);
                                                        talk.say_call(line, *trade, chance);
                                                        next(exchange, [&talk, &exchange, trade, chance]() mutable {
                                                          talk.say_reply(exchange, trade, chance);
                                                        });
                                                      }
                                                    }});
                      },
                      {{"credit-limit-exceeded", "client", "with one credit granted, two Calls are one too many"},
                       {"credit-initial-exceeded", "client", "and so are two before the first Reply"}}));
  all.push_back(fault(
      "callback-before-the-client-is-ready", {"reverse-before-ready"}, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        Ask ask;
        ask.procedure = forge::Procedure::callback({"cb_sequence", "cb_recall"});
        ask.words = {{"callback", "cb_recall"}};
        talk.perform(exchange, talk.bare(*exchange.line, ask, Side::server), chance);
      },
      {},
      [](LinePlan& line) {
        line.program = Program::nfs4;
        line.back_channel = false;
      }));
}

/// A Reply that the client has to read; `change` is told when it is offered.
template <typename Change>
Act of_offer(Change change) {
  return [change](Talk& talk, Exchange& exchange, Chance chance) {
    Line& line = *exchange.line;
    const TradePtr trade = talk.bare(line, talk.filler(16));
    trade->octets = talk.threshold(line, Side::server) + 400;
    change(talk, exchange, trade);
    talk.perform(exchange, trade, chance);
  };
}

void pull_completion(std::vector<Fault>& all) {
  const auto alone = [](LinePlan& line) {
    modest(line);
    line.fault_alone = true;
  };
  all.push_back(fault(
      "done-for-nothing", {"rdma-done-sent", "done-without-pending-chunk"}, "client",
      [](Talk& talk, Exchange& exchange, Chance) {
        Line& line = *exchange.line;
        next(exchange, [&talk, &line] {
          talk.tell(line, Side::client, "done", {{"by", "client"}, {"xid", "0x0BADC0DE"}, {"credit", "32"}},
                    talk.label("b"));
        });
      },
      {}, first));
  all.push_back(fault("done-before-reading", {"done-before-complete-pull"}, "client",
                      of_offer([](Talk&, Exchange&, const TradePtr& trade) {
                        // (the server's Read chunk alone is left unread: the Call has none)
                        trade->unread = true;
                      }),
                      {}, alone));
  all.push_back(fault("done-twice", {"done-duplicate"}, "client",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->no_offer_done = true;
                        trade->after_reply = [&talk, &exchange, trade] {
                          next(exchange, [&talk, &exchange, trade] {
                            Chance chance(1);
                            talk.done(*exchange.line, *trade, chance, {{"invalidate", ""}});
                            ++exchange.line->offers;
                            talk.done(*exchange.line, *trade, chance, {{"invalidate", ""}});
                          });
                        };
                      }),
                      {}, alone));
  all.push_back(
      fault("done-while-reading", {"done-with-reads-in-flight"}, "client",
            of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
              trade->no_offer_done = trade->unread = true;
              trade->after_reply = [&talk, &exchange, trade] {
                next(exchange, [&talk, &exchange, trade] {
                  Line& line = *exchange.line;
                  const std::string step = talk.label("d");
                  talk.tell_aside(line, "read", {{"by", "client"}, {"of", trade->answer}, {"answer", "no"}}, step);
                  line.reading[0].push_back(step);
                  Chance chance(1);
                  talk.done(line, *trade, chance, {{"invalidate", ""}});
                  talk.pause("0.002");  // one packet just behind RDMA_DONE may only look as if it came later
                  talk.tell_aside(line, "respond", {{"step", step}});
                  line.reading[0].clear();
                });
              };
            }),
            {}, alone));
  all.push_back(fault("done-by-the-server", {"done-wrong-sender"}, "server",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->after_reply = [&talk, &exchange, trade] {
                          talk.tell(*exchange.line, Side::server, "done",
                                    {{"by", "server"}, {"xid", hex(trade->xid)}, {"credit", "32"}}, talk.label("b"));
                        };
                      }),
                      {}, alone));
  all.push_back(fault("offered-twice", {"duplicate-reply"}, "server",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->after_reply = [&talk, &exchange, trade] {
                          Line& line = *exchange.line;
                          talk.tell(line, Side::server, "reply",
                                    {{"to", trade->label},
                                     {"octets", std::to_string(trade->octets)},
                                     {"credit", std::to_string(line.ways[0].granted)},
                                     {"reads", fmt::format("[{}]", trade->offer.words({{"position", "0"}}))}},
                                    talk.label("b"));
                        };
                      }),
                      {}, alone));
  all.push_back(fault("xid-again-before-done", {"xid-reuse-before-done"}, "client",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->no_offer_done = true;
                        trade->after_reply = [&talk, &exchange, trade] {
                          next(exchange, [&talk, &exchange, trade] {
                            Chance chance(1);
                            const TradePtr again = talk.bare(*exchange.line, talk.filler(32));
                            again->xid = trade->xid;
                            talk.say_call(*exchange.line, *again, chance);
                            talk.done(*exchange.line, *trade, chance, {{"invalidate", ""}});
                            next(exchange, [&talk, &exchange, again, chance]() mutable {
                              talk.say_reply(exchange, again, chance);
                            });
                          });
                        };
                      }),
                      {}, alone));
  all.push_back(fault(
      "memory-of-two-offers", {"handle-shared-between-offers"}, "server",
      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
        trade->no_offer_done = true;
        trade->after_reply = [&talk, &exchange, trade] {
          next(exchange, [&talk, &exchange, trade] {
            Chance chance(1);
            const TradePtr second = talk.bare(*exchange.line, talk.filler(16));
            second->octets = trade->octets;
            second->unread = second->no_offer_done = true;
            second->reply_words.set("reads", fmt::format("[{}]", trade->offer.words({{"position", "0"}})));
            second->after_reply = [&talk, &exchange, trade, second, chance]() mutable {
              talk.done(*exchange.line, *trade, chance, {{"invalidate", ""}});
              next(exchange, [&talk, &exchange, second, chance]() mutable {
                talk.done(*exchange.line, *second, chance, {{"invalidate", ""}});
              });
            };
            talk.say_call(*exchange.line, *second, chance);
            next(exchange, [&talk, &exchange, second, chance]() mutable { talk.say_reply(exchange, second, chance); });
          });
        };
      }),
      {}, alone));
  all.push_back(fault("never-done", {"pull-completion-missing"}, "client",
                      of_offer([](Talk&, Exchange& exchange, const TradePtr& trade) {
                        trade->no_offer_done = true;
                        trade->after_reply = [&exchange] { --exchange.line->offers; };
                      }),
                      {}, [](LinePlan& line) {
                        modest(line);
                        last(line);
                        line.ending = LinePlan::Ending::client;
                      }));
  all.push_back(fault("read-after-done", {"read-after-done"}, "client",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->no_offer_done = true;
                        trade->after_reply = [&talk, &exchange, trade] {
                          next(exchange, [&talk, &exchange, trade] {
                            Chance chance(1);
                            talk.done(*exchange.line, *trade, chance, {{"invalidate", ""}});
                            touch(talk, *exchange.line, "read", Side::client, trade->offer.handle, trade->offer.offset,
                                  64);
                          });
                        };
                      }),
                      {}, alone));
  all.push_back(fault("offer-read-beyond-its-end", {"rdma-read-out-of-bounds"}, "client",
                      of_offer([](Talk& talk, Exchange& exchange, const TradePtr& trade) {
                        trade->after_reply = [&talk, &exchange, trade] {
                          const Region& r = trade->offer;
                          touch(talk, *exchange.line, "read", Side::client, r.handle, r.offset + r.length - 4, 64);
                        };
                      }),
                      {}, alone));
}

}  // namespace

void faults_of_messages(std::vector<Fault>& all) {
  sizes_and_credits(all);
  headers(all);
  transactions(all);
  pull_completion(all);
}

}  // namespace talk
