// SPDX-License-Identifier: GPL-2.0-or-later
// Faults of version 2 alone: its beginning, its credits, its message types, messages in pieces.
#include <algorithm>

#include <fmt/format.h>

#include "fault_parts.hpp"
#include "message_sizes.hpp"

namespace talk {
namespace {

using namespace parts;

void alone(LinePlan& line) {
  line.fault_alone = true;
  line.opening = 0;
  line.server.properties = true;
}
/// The connection begins with the fault.
void opening(LinePlan& line) {
  line.opening = faulty_opening;
  line.client.properties = line.server.properties = true;
}

Fault fault(const std::string& name, std::vector<std::string> rules, const std::string& culprit, Act act,
            std::vector<Implied> implied = {}, std::function<void(LinePlan&)> prepare = alone) {
  Fault made =
      parts::fault("v2-" + name, std::move(rules), culprit, std::move(act), std::move(implied), std::move(prepare));
  made.version = 2;
  return made;
}

/// One message of `by`, when it may send.
void say(Talk& talk, Exchange& exchange, Side by, const std::string& verb, const Words& words) {
  Line& line = *exchange.line;
  exchange.actions.push_back({[&talk, &line, by] { return talk.may_speak(line, by); },
                              [=, &talk, &line] {
                                Words all = words;
                                Chance chance(0);
                                if (!all.has("advertise")) all.set("advertise", line.advertised.at(index(by)));
                                talk.advertise(line, by, all, 1, chance);
                                talk.tell(line, by, verb, all, talk.label("b"));
                              }});
}

/// RDMA2_CONNPROP_FINAL of both sides.
void properties(Talk& talk, Exchange& exchange) {
  Line& line = *exchange.line;
  for (const Side by : {Side::client, Side::server}) {
    exchange.actions.push_back({[&talk, &line, by] { return talk.may_speak(line, by); },
                                [&talk, &line, by] {
                                  Chance chance(1);
                                  talk.properties(line, by, true, chance);
                                }});
  }
}

void beginnings(std::vector<Fault>& all) {
  all.push_back(fault("first-message-too-long", {"v2-first-message-too-large"}, "client",
                      of_filler([](Talk&, Line&, Trade&, Chance&) {}, 1024 - 72 + 4), {}, opening));
  all.push_back(fault(
      "second-message-before-an-answer", {"v2-credit-initial-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) { burst(talk, exchange, Side::client, 1, chance); },
      {{"v2-credit-exceeded", "client", "the first message has the only credit"}}, opening));
  all.push_back(fault(
      "properties-too-long", {"v2-connprop-too-large"}, "server",
      [](Talk& talk, Exchange& exchange, Chance) {
        Line& line = *exchange.line;
        for (const Side by : {Side::client, Side::server}) {
          exchange.actions.push_back(
              {[&talk, &line, by] { return talk.may_speak(line, by); },
               [&talk, &line, by] {
                 Chance chance(1);
                 talk.properties(line, by, true, chance, by == Side::server ? Words{{"auth", "4096"}} : Words());
               }});
        }
      },
      {{"inline-threshold-exceeded", "server", "it is longer than any message may be yet"}}, opening));
  all.push_back(
      fault("properties-twice", {"v2-connprop-after-final"}, "client", [](Talk& talk, Exchange& exchange, Chance) {
        say(talk, exchange, Side::client, "v2-properties", {{"by", "client"}, {"xid", "77"}});
        say(talk, exchange, Side::server, "v2-error", {{"by", "server"}, {"xid", "77"}, {"code", "inval cont"}});
      }));
  all.push_back(fault(
      "call-between-properties", {"v2-connprop-interrupted"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        say(talk, exchange, Side::client, "v2-properties", {{"by", "client"}, {"last", "no"}});
        say(talk, exchange, Side::server, "v2-grant", {{"by", "server"}});
        const TradePtr trade = talk.bare(*exchange.line, talk.filler(16));
        trade->how = Trade::Answer::error;
        trade->error = {{"code", "inval cont"}};
        talk.perform(exchange, trade, chance);
        properties(talk, exchange);
      },
      {}, opening));
  all.push_back(fault(
      "property-too-short", {"v2-propval-bad"}, "client",
      [](Talk& talk, Exchange& exchange, Chance) {
        say(talk, exchange, Side::client, "v2-properties",
            {{"by", "client"}, {"raw", "\"00000002 00000002 20000000\""}});
        say(talk, exchange, Side::server, "v2-error", {{"by", "server"}, {"xid", "0"}, {"code", "bad propval"}});
        properties(talk, exchange);
      },
      {}, opening));
}

void sizes_and_credits(std::vector<Fault>& all) {
  all.push_back(fault(
      "call-too-long", {"inline-threshold-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        const std::uint32_t most = talk.threshold(*exchange.line, Side::client);
        const TradePtr trade = talk.bare(*exchange.line, talk.filler(most - 72 + 4 * chance.between(1, 50)));
        talk.perform(exchange, trade, chance);
      },
      {},
      [](LinePlan& line) {
        alone(line);
        modest(line);
      }));
  all.push_back(fault("reply-too-long", {"inline-threshold-exceeded"}, "server",
                      of_filler([](Talk& talk, Line& line, Trade& t, Chance& chance) {
                        t.octets = talk.threshold(line, Side::server) - 44 + 4 * chance.between(1, 50);
                        t.keep_inline = true;
                      }),
                      {}, [](LinePlan& line) {
                        alone(line);
                        modest(line);
                      }));
  all.push_back(fault("reply-too-long-beside-a-chunk", {"reply-chunk-ignored"}, "server",
                      of_filler([](Talk& talk, Line& line, Trade& t, Chance& chance) {
                        t.octets = talk.threshold(line, Side::server) - 44 + 4 * chance.between(1, 50);
                        t.reply_chunk = memory(talk, line, t.octets + 100);
                        t.keep_inline = true;
                      }),
                      {{"inline-threshold-exceeded", "server", "what is too long for inline was sent inline"}},
                      [](LinePlan& line) {
                        alone(line);
                        modest(line);
                      }));
  all.push_back(fault(
      "calls-beyond-the-credits", {"v2-credit-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        burst(talk, exchange, Side::client, 2 + chance.below(3), chance);
      },
      {},
      [](LinePlan& line) {
        alone(line);
        line.plain = true;
      }));
  all.push_back(fault("limit-out-of-range", {"v2-credit-limit-invalid"}, "server",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) { t.reply_words.set("credit", 0x90000000); })));
  all.push_back(
      fault("grant-with-an-xid", {"v2-grant-xid-nonzero"}, "server", [](Talk& talk, Exchange& exchange, Chance) {
        say(talk, exchange, Side::server, "v2-grant", {{"by", "server"}, {"xid", "5"}});
      }));
  all.push_back(fault("grant-with-a-body", {"v2-grant-has-body"}, "client", [](Talk& talk, Exchange& exchange, Chance) {
    say(talk, exchange, Side::client, "v2-grant", {{"by", "client"}, {"body", "\"00000000\""}});
  }));
}

void messages(std::vector<Fault>& all) {
  const auto strange = [&all](const std::string& name, const std::string& rule, const std::string& type,
                              const std::string& body, const std::string& code) {
    all.push_back(fault(name, {rule}, "client", [=](Talk& talk, Exchange& exchange, Chance) {
      const std::string xid = hex(talk.bare(*exchange.line, talk.filler(0))->xid);
      Words words{{"by", "client"}, {"type", type}, {"xid", xid}};
      if (!body.empty()) words.set("body", '"' + body + '"');
      say(talk, exchange, Side::client, "v2-message", words);
      say(talk, exchange, Side::server, "v2-error", {{"by", "server"}, {"xid", xid}, {"code", code}});
    }));
  };
  strange("unknown-type", "v2-unknown-htype", "20", "", "inval htype");
  strange("done", "v2-unknown-htype", "3", "", "inval htype");
  strange("external-call-without-a-chunk", "v2-call-chunk-missing", "8", "00000000 00000000 00000000 00000000 00000000",
          "bad xdr");
  strange("list-without-end", "xdr-malformed", "10", "00000000 00000001 00000000", "bad xdr");
  all.push_back(
      fault("external-reply-without-a-chunk", {"v2-reply-chunk-missing"}, "server",
            [](Talk& talk, Exchange& exchange, Chance chance) {
              const TradePtr trade = talk.bare(*exchange.line, talk.filler(16));
              talk.perform(exchange, trade, chance);
              exchange.actions.pop_back();
              say(talk, exchange, Side::server, "v2-message",
                  {{"by", "server"}, {"type", "11"}, {"xid", hex(trade->xid)}, {"body", "\"00000000 00000000\""}});
            }));
  all.push_back(fault("call-with-two-xids", {"xid-mismatch"}, "client", of_filler([](Talk&, Line&, Trade& t, Chance&) {
                        t.call_words.set("rpc_xid", "0x0BADC0DE");
                        refused(t);
                      })));
  all.push_back(
      fault("reply-without-a-call", {"reply-without-call"}, "server", [](Talk& talk, Exchange& exchange, Chance) {
        say(talk, exchange, Side::server, "v2-reply", {{"unasked", "yes"}, {"xid", "0x0BADC0DE"}});
      }));
  all.push_back(fault("reply-twice", {"duplicate-reply"}, "server", [](Talk& talk, Exchange& exchange, Chance chance) {
    const TradePtr trade = talk.bare(*exchange.line, talk.filler(16));
    talk.perform(exchange, trade, chance);
    next(exchange, [&talk, &exchange, trade] {
      say(talk, exchange, Side::server, "v2-reply", {{"to", trade->label}, {"octets", "16"}});
    });
  }));
  all.push_back(fault("call-between-pieces", {"v2-continuation-broken"}, "client",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        Line& line = *exchange.line;
                        const std::string xid = hex(talk.bare(line, talk.filler(0))->xid);
                        say(talk, exchange, Side::client, "v2-call",
                            {{"octets", "200"}, {"xid", xid}, {"pieces", "[100]"}, {"stop_after", "1"}});
                        const TradePtr intruder = talk.bare(line, talk.filler(16));
                        intruder->how = Trade::Answer::error;
                        intruder->error = {{"code", "inval cont"}};
                        talk.perform(exchange, intruder, chance);
                      }));
  all.push_back(fault("octets-left-that-do-not-add-up", {"v2-remaining-inconsistent"}, "client",
                      of_filler(
                          [](Talk&, Line&, Trade& t, Chance&) {
                            t.pieces = {100, 100};
                            t.call_words.set("remaining", "[7, 3]");
                          },
                          400)));
  all.push_back(fault(
      "callback-at-level-0", {"v2-reverse-level-exceeded"}, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        talk.perform(exchange, talk.bare(*exchange.line, talk.filler(16), Side::server), chance);
      },
      {{"reverse-before-ready", "server", "a client at level 0 is not ready"}},
      [](LinePlan& line) {
        alone(line);
        line.client.level = 0;
        line.program = Program::filler;
      }));
  all.push_back(fault(
      "callback-with-a-chunk-at-level-1", {"v2-reverse-level-exceeded"}, "server",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        const TradePtr trade = talk.bare(*exchange.line, talk.filler(16), Side::server);
        trade->reply_chunk = memory(talk, *exchange.line, 1000, 1, Side::server);
        trade->how = Trade::Answer::error;
        trade->error = {{"code", "write chunks"}, {"values", "[0]"}};
        talk.perform(exchange, trade, chance);
      },
      {},
      [](LinePlan& line) {
        alone(line);
        line.client.level = 1;
      }));
}

void chunks(std::vector<Fault>& all) {
  all.push_back(fault("positions-out-of-order", {"read-list-unordered"}, "client",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        Ask ask = talk.filler(400);
                        ask.call_items = {{40, 60}, {120, 100}};
                        const TradePtr trade = talk.bare(*exchange.line, ask);
                        trade->reads.push_back({memory(talk, *exchange.line, 100), 1});
                        trade->reads.push_back({memory(talk, *exchange.line, 60), 0});
                        refused(*trade);
                        talk.perform(exchange, trade, chance);
                      }));
  all.push_back(fault("pad-in-a-read-chunk", {"read-chunk-pad-included", "read-chunk-length-wrong"}, "client",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        const TradePtr trade = talk.bare(*exchange.line, write_of(1001));
                        trade->reads.push_back({memory(talk, *exchange.line, 1004), 0});
                        talk.perform(exchange, trade, chance);
                      }));
  all.push_back(fault("room-for-a-pad", {"write-chunk-pad-provisioned"}, "client",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        const TradePtr trade = talk.bare(*exchange.line, read_of(1001));
                        trade->writes.push_back(memory(talk, *exchange.line, 1004));
                        talk.perform(exchange, trade, chance);
                      }));
  all.push_back(fault(
      "seventeen-segments", {"v2-segment-count-exceeded"}, "client",
      [](Talk& talk, Exchange& exchange, Chance chance) {
        const TradePtr trade = talk.bare(*exchange.line, read_of(1700));
        trade->writes.push_back(memory(talk, *exchange.line, 1700, 17));
        talk.perform(exchange, trade, chance);
      },
      {},
      [](LinePlan& line) {
        alone(line);
        line.server.segments = 16;
      }));
  all.push_back(fault("segment-of-three-mebibytes", {"v2-segment-size-exceeded"}, "client",
                      of_filler([](Talk& talk, Line& line, Trade& t, Chance&) {
                        t.reply_chunk = memory(talk, line, 8U << 20U);
                        t.keep_inline = true;
                      })));
  all.push_back(fault("unknown-handle-to-invalidate", {"v2-inv-handle-unknown"}, "client",
                      of_filler([](Talk&, Line&, Trade& t, Chance&) { t.inv_handle = 0xAFFF0001; })));
  all.push_back(fault("another-handle-invalidated", {"v2-inv-handle-mismatch"}, "server",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        const TradePtr trade = talk.bare(*exchange.line, read_of(1000));
                        trade->writes.push_back(memory(talk, *exchange.line, 1000));
                        trade->inv_handle = trade->writes[0].handle;
                        trade->invalidate = 0xAFFF0001;
                        talk.perform(exchange, trade, chance);
                      }));
  all.push_back(fault("invalidated-though-none-was-named", {"v2-inv-handle-mismatch"}, "server",
                      [](Talk& talk, Exchange& exchange, Chance chance) {
                        const TradePtr trade = talk.bare(*exchange.line, read_of(1000));
                        trade->writes.push_back(memory(talk, *exchange.line, 1000));
                        trade->invalidate = trade->writes[0].handle;
                        talk.perform(exchange, trade, chance);
                      }));
  all.push_back(
      fault("grant-that-invalidates", {"v2-inv-on-control"}, "server", [](Talk& talk, Exchange& exchange, Chance) {
        say(talk, exchange, Side::server, "v2-grant", {{"by", "server"}, {"invalidate", "0xAFFF0001"}});
      }));
}

}  // namespace

void faults_of_version_2(std::vector<Fault>& all) {
  beginnings(all);
  sizes_and_credits(all);
  messages(all);
  chunks(all);
}

}  // namespace talk
