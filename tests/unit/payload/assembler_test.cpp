// SPDX-License-Identifier: GPL-2.0-or-later
#include "payload/assembler.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "exchange.hpp"

namespace rpcrdma::payload::test {
namespace {

using Kind = MessageSeen::Kind;
using Op = OperationSeen::Kind;
using Placing = RpcMessage::Placing;
constexpr auto msg = wire::Proc::msg;
constexpr auto nomsg = wire::Proc::nomsg;

// --- Read chunks

TEST(Assembler, ACallWithoutChunksIsTheSendItself) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  const auto rpc = a.message(call());
  ASSERT_TRUE(rpc);
  EXPECT_TRUE(rpc->call && rpc->in_send);
  EXPECT_TRUE(rpc->stream.octets.empty());
  EXPECT_TRUE(a.waiting().empty());
}

TEST(Assembler, ReadChunksGoToTheirPositions) {
  struct Case {
    const char* name;
    std::vector<wire::ReadSegment> reads;
    Octets expected;
  };
  const Octets body = counting(40, 100);
  const auto part = [&](std::size_t from, std::size_t to) {
    return Octets(body.begin() + static_cast<std::ptrdiff_t>(from), body.begin() + static_cast<std::ptrdiff_t>(to));
  };
  const Octets data = counting(8);
  const Octets odd = counting(5);
  const Case cases[] = {
      {"at the end", {{40, {1, 8, 0}}}, body + data},
      {"in the middle", {{20, {1, 8, 0}}}, part(0, 20) + data + part(20, 40)},
      {"with its pad", {{20, {1, 5, 0}}}, part(0, 20) + odd + Octets(3) + part(20, 40)},
      {"of two segments", {{20, {1, 3, 0}}, {20, {1, 5, 3}}}, part(0, 20) + data + part(20, 40)},
      {"of two segments and a pad", {{20, {1, 3, 0}}, {20, {1, 2, 3}}}, part(0, 20) + odd + Octets(3) + part(20, 40)},
      {"two chunks",
       {{8, {1, 5, 0}}, {24, {1, 8, 0}}},
       part(0, 8) + odd + Octets(3) + part(8, 16) + data + part(16, 40)},
      {"two chunks, the later one first",
       {{24, {1, 8, 0}}, {8, {1, 5, 0}}},
       part(0, 8) + odd + Octets(3) + part(8, 16) + data + part(16, 40)},
      {"beyond the message", {{4000, {1, 8, 0}}}, body + data},
      {"an empty segment", {{20, {1, 0, 0}}, {20, {1, 8, 0}}}, part(0, 20) + data + part(20, 40)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Assembler a;
    Sent call(Kind::call, 1, msg, body);
    for (const auto& read : c.reads) call.read(read.position, read.target);
    EXPECT_FALSE(a.message(call()));
    EXPECT_EQ(a.waiting().size(), 1U);
    const Octets memory = counting(8);
    const auto rpc = a.operation(moved(Op::read_response, 1, {1, 8, 0}, memory));
    ASSERT_TRUE(rpc);
    EXPECT_TRUE(rpc->call);
    EXPECT_FALSE(rpc->in_send);
    EXPECT_EQ(rpc->stream.octets, c.expected);
    EXPECT_EQ(rpc->stream.wire_length, c.expected.size());
    EXPECT_EQ(rpc->placing, Placing::whole);
    EXPECT_TRUE(a.waiting().empty());
  }
}

// RFC 8166 section 3.4.5.2: a pad may be in the chunk, and nobody has to read it.
TEST(Assembler, APadNeedNotBeRead) {
  struct Case {
    const char* name;
    std::vector<wire::ReadSegment> reads;
    std::uint32_t stated;  ///< in front of the first item, 20 octets into the stream
    bool whole;            ///< with the first 5 octets of each chunk
  };
  const Case cases[] = {
      {"in a segment of its own", {{20, {1, 5, 0}}, {20, {1, 3, 5}}}, 5, true},
      {"at the end of the last one", {{20, {1, 8, 0}}}, 5, true},
      {"of both chunks", {{20, {1, 8, 0}}, {36, {1, 8, 0}}}, 5, true},
      {"of both chunks, the later one first", {{36, {1, 8, 0}}, {20, {1, 5, 0}}, {20, {1, 3, 5}}}, 5, true},
      {"what is missing is data", {{20, {1, 8, 0}}}, 6, false},
      {"no pad is so long", {{20, {1, 12, 0}}}, 5, false},
      {"shorter than what is stated", {{20, {1, 8, 0}}}, 500, false},
      {"its length would stand in front of the message", {{2, {1, 8, 0}}}, 5, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Octets body(40, 0);
    body[19] = static_cast<std::uint8_t>(c.stated);
    body[18] = static_cast<std::uint8_t>(c.stated >> 8U);
    body[27] = 5;  // in front of the second item, which the first one moves 8 octets
    Assembler a;
    Sent call(Kind::call, 1, msg, body);
    for (const auto& read : c.reads) call.read(read.position, read.target);
    EXPECT_FALSE(a.message(call()));
    const Octets data = counting(5);
    auto rpc = a.operation(moved(Op::read_response, 1, {1, 5, 0}, data));
    EXPECT_EQ(rpc.has_value(), c.whole);
    if (!rpc) rpc = a.give_up(1);
    ASSERT_TRUE(rpc);
    EXPECT_EQ(rpc->placing, c.whole ? Placing::whole : Placing::missing);
    if (!c.whole) continue;
    const std::size_t chunks = rpc->stream.octets.size() > 48 ? 2 : 1;
    EXPECT_EQ(rpc->stream.octets.size(), 40 + 8 * chunks);
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto at = rpc->stream.octets.begin() + static_cast<std::ptrdiff_t>(20 + 16 * i);
      EXPECT_EQ(Octets(at, at + 8), data + Octets(3));
    }
  }
}

TEST(Assembler, ALongCallIsItsPositionZeroChunk) {
  Assembler a;
  Sent call(Kind::call, 1, nomsg, {});
  call.read(0, {1, 30, 0}).read(0, {2, 10, 500});
  EXPECT_FALSE(a.message(call()));
  const Octets first = counting(30);
  const Octets second = counting(10, 31);
  EXPECT_FALSE(a.operation(moved(Op::read_response, 1, {2, 10, 500}, second)));
  const auto rpc = a.operation(moved(Op::read_response, 1, {1, 30, 0}, first));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->stream.octets, counting(40));
  EXPECT_EQ(rpc->placing, Placing::whole);
}

TEST(Assembler, TheReadThatComesTwiceGivesOneMessage) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.read(40, {1, 8, 0});
  EXPECT_FALSE(a.message(call()));
  const Octets data = counting(8);
  EXPECT_FALSE(a.operation(moved(Op::read_request, 1, {1, 8, 0}, {})));
  EXPECT_TRUE(a.operation(moved(Op::read_response, 1, {1, 8, 0}, data)));
  EXPECT_FALSE(a.operation(moved(Op::read_response, 1, {1, 8, 0}, data)));
  EXPECT_FALSE(a.give_up(1));
}

TEST(Assembler, GivesUpWithWhatCame) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.read(20, {1, 8, 0});
  EXPECT_FALSE(a.message(call()));
  const Octets data = counting(3);
  EXPECT_FALSE(a.operation(moved(Op::read_response, 1, {1, 3, 0}, data)));
  EXPECT_EQ(a.waiting(), std::vector<std::uint32_t>{1});
  const auto rpc = a.give_up(1);
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::missing);
  EXPECT_EQ(rpc->stream.octets, counting(20) + counting(3));
  EXPECT_EQ(rpc->stream.wire_length, 48U);
  EXPECT_FALSE(a.give_up(1));
  EXPECT_FALSE(a.give_up(2));
}

TEST(Assembler, WhatTheCaptureCutIsMissing) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40), 10);
  call.read(40, {1, 8, 0});
  EXPECT_FALSE(a.message(call()));
  const Octets data = counting(8);
  const auto rpc = a.operation(moved(Op::read_response, 1, {1, 8, 0}, data));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::missing);
  EXPECT_EQ(rpc->stream.octets, counting(30));
  EXPECT_EQ(rpc->stream.wire_length, 48U);
}

TEST(Assembler, AReplyThatOffersItselfIsReadLater) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  EXPECT_TRUE(a.message(call()));
  Sent reply(Kind::reply, 1, nomsg, {});
  reply.read(0, {9, 16, 64});
  EXPECT_FALSE(a.message(reply()));
  const Octets data = counting(16);
  const auto rpc = a.operation(moved(Op::read_response, 1, {9, 16, 64}, data));
  ASSERT_TRUE(rpc);
  EXPECT_FALSE(rpc->call);
  EXPECT_EQ(rpc->stream.octets, data);
}

// --- Write and Reply chunks

[[nodiscard]] Octets read3_reply(std::uint32_t count) {
  Octets o;
  for (const std::uint32_t v : {0x1001U, 1U, 0U, 0U, 0U, 0U, 0U, 0U, count, 1U, count}) word(o, v);
  return o;
}

// (the Write chunks of the Call are used and returned all the same)
TEST(Assembler, AReplyThatOffersItselfLacksWhatWasWritten) {
  struct Case {
    const char* name;
    Octets written;
    Placing placing;
  };
  for (const Case& c :
       {Case{"all of it", counting(5), Placing::whole}, Case{"a part", counting(3), Placing::missing}}) {
    SCOPED_TRACE(c.name);
    Assembler a;
    Sent call(Kind::call, 1, msg, counting(40));
    call.write({{1, 16, 0}});
    EXPECT_TRUE(a.message(call()));
    const auto length = static_cast<std::uint32_t>(c.written.size());
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, length, 0}, c.written)));
    const Octets reduced = read3_reply(5);
    Sent reply(Kind::reply, 1, nomsg, {});
    reply.read(0, {9, static_cast<std::uint32_t>(reduced.size()), 64}).write({{1, 5, 0}}).asked(100003, 3, 6);
    EXPECT_FALSE(a.message(reply()));
    const auto rpc =
        a.operation(moved(Op::read_response, 1, {9, static_cast<std::uint32_t>(reduced.size()), 64}, reduced));
    ASSERT_TRUE(rpc);
    EXPECT_FALSE(rpc->call);
    EXPECT_EQ(rpc->placing, c.placing);
    EXPECT_EQ(rpc->stream.octets, c.placing == Placing::whole ? reduced + c.written + Octets(3) : reduced + c.written);
    EXPECT_EQ(rpc->stream.wire_length, reduced.size() + 8);
  }
}

TEST(Assembler, WriteChunksGoBehindTheirLength) {
  for (const std::uint32_t length : {8U, 5U, 1U}) {
    SCOPED_TRACE(length);
    Assembler a;
    Sent call(Kind::call, 1, msg, counting(40));
    call.write({{1, 3, 0}, {2, 13, 100}});
    EXPECT_TRUE(a.message(call()));
    const std::uint32_t first = std::min(length, 3U);
    const Octets data = counting(length);
    const Octets one(data.begin(), data.begin() + first);
    const Octets two(data.begin() + first, data.end());
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, first, 0}, one)));
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {2, length - first, 100}, two)));
    Sent reply(Kind::reply, 1, msg, read3_reply(length));
    reply.write({{1, first, 0}, {2, length - first, 100}}).asked(100003, 3, 6);
    const auto rpc = a.message(reply());
    ASSERT_TRUE(rpc);
    EXPECT_FALSE(rpc->call);
    EXPECT_EQ(rpc->placing, Placing::whole);
    EXPECT_EQ(rpc->stream.octets, read3_reply(length) + data + Octets((4 - length % 4) % 4));
  }
}

TEST(Assembler, OfAChunkThatIsTooLongTheCountSaysWhatIsData) {
  for (const std::uint32_t more : {1U, 2U, 8U}) {  // 3 would be the pad
    SCOPED_TRACE(more);
    Assembler a;
    Sent call(Kind::call, 1, msg, counting(40));
    call.write({{1, 3, 0}, {2, 13, 100}});
    EXPECT_TRUE(a.message(call()));
    const Octets written = counting(5 + more);
    const Octets one(written.begin(), written.begin() + 3);
    const Octets two(written.begin() + 3, written.end());
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, 3, 0}, one)));
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {2, 2 + more, 100}, two)));
    Sent reply(Kind::reply, 1, msg, read3_reply(5));
    reply.write({{1, 3, 0}, {2, 2 + more, 100}}).asked(100003, 3, 6);
    const auto rpc = a.message(reply());
    ASSERT_TRUE(rpc);
    EXPECT_EQ(rpc->placing, Placing::whole);
    EXPECT_EQ(rpc->stream.octets, read3_reply(5) + counting(5) + Octets(3));
  }
}

TEST(Assembler, AWriteThatNeverCameIsMissing) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.write({{1, 16, 0}});
  EXPECT_TRUE(a.message(call()));
  Sent reply(Kind::reply, 1, msg, read3_reply(8));
  reply.write({{1, 8, 0}}).asked(100003, 3, 6);
  const auto rpc = a.message(reply());
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::missing);
  EXPECT_EQ(rpc->stream.octets, read3_reply(8));
  EXPECT_EQ(rpc->stream.wire_length, read3_reply(8).size() + 8);
}

TEST(Assembler, AReplyChunkIsTheReply) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.reply({{1, 100, 0}});
  EXPECT_TRUE(a.message(call()));
  const Octets data = counting(32);
  EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, 32, 0}, data)));
  Sent reply(Kind::reply, 1, nomsg, {});
  reply.reply({{1, 32, 0}});
  const auto rpc = a.message(reply());
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->stream.octets, data);
  EXPECT_EQ(rpc->placing, Placing::whole);
}

TEST(Assembler, AnUnusedChunkLeavesTheReplyInItsSend) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.write({{1, 16, 0}}).reply({{2, 16, 0}});
  EXPECT_TRUE(a.message(call()));
  Sent reply(Kind::reply, 1, msg, counting(24));
  reply.write({{1, 0, 0}}).reply({{2, 0, 0}});
  const auto rpc = a.message(reply());
  ASSERT_TRUE(rpc);
  EXPECT_TRUE(rpc->in_send);
}

TEST(Assembler, AHandleUsedAgainBelongsToTheNewExchange) {
  Assembler a;
  for (std::uint32_t exchange = 1; exchange <= 3; ++exchange) {
    Sent call(Kind::call, exchange, msg, counting(40));
    call.write({{1, 8, 0}});
    EXPECT_TRUE(a.message(call()));
    const Octets data = counting(8, static_cast<std::uint8_t>(exchange * 16));
    EXPECT_FALSE(a.operation(moved(Op::write, exchange, {1, 8, 0}, data)));
    Sent reply(Kind::reply, exchange, msg, read3_reply(8));
    reply.write({{1, 8, 0}}).asked(100003, 3, 6);
    const auto rpc = a.message(reply());
    ASSERT_TRUE(rpc);
    EXPECT_EQ(rpc->stream.octets, read3_reply(8) + data);
  }
}

TEST(Assembler, AnErrorEndsTheExchange) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  call.read(40, {1, 8, 0});
  EXPECT_FALSE(a.message(call()));
  Sent error(Kind::error, 1, wire::Proc::error, {});
  EXPECT_FALSE(a.message(error()));
  EXPECT_TRUE(a.waiting().empty());
  EXPECT_FALSE(a.give_up(1));
}

// --- Sends of several packets, one of which the capture lacks: how long they were is not known

/// The same with packets missing from where its octets end.
[[nodiscard]] MessageSeen torn(Sent& sent) {
  MessageSeen seen = sent();
  sent.send.holes = true;
  return seen;
}

TEST(Assembler, ASendWithAHoleIsTorn) {
  Assembler a;
  Sent call(Kind::call, 1, msg, counting(40));
  const auto asked = a.message(torn(call));
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->in_send);
  EXPECT_EQ(asked->placing, Placing::torn);
  Sent reply(Kind::reply, 1, msg, counting(40));
  const auto answered = a.message(torn(reply));
  ASSERT_TRUE(answered);
  EXPECT_TRUE(answered->in_send);
  EXPECT_EQ(answered->placing, Placing::torn);
}

TEST(Assembler, AChunkBehindAHoleHasNoPlace) {
  struct Case {
    const char* name;
    std::uint32_t position;
    Octets expected;
    std::uint64_t at_least;
  };
  const Octets body = counting(40, 100);
  const Octets front(body.begin(), body.begin() + 36);
  const Octets back(body.begin() + 36, body.end());
  const Octets data = counting(8);
  for (const Case& c : {Case{"where the hole begins, or before", 40, body + data, 48},
                        Case{"well in front of it", 36, front + data + back, 48},
                        Case{"four octets behind it", 44, body, 52}, Case{"far behind", 4000, body, 4008}}) {
    SCOPED_TRACE(c.name);
    Assembler a;
    Sent call(Kind::call, 1, msg, body);
    call.read(c.position, {1, 8, 0});
    EXPECT_FALSE(a.message(torn(call)));
    const auto rpc = a.operation(moved(Op::read_response, 1, {1, 8, 0}, data));
    ASSERT_TRUE(rpc);
    EXPECT_EQ(rpc->placing, Placing::torn);
    EXPECT_EQ(rpc->stream.octets, c.expected);
    EXPECT_GE(rpc->stream.wire_length, c.at_least);
  }
}

TEST(Assembler, WhatWasWrittenForATornReplyHasItsPlaceOrNone) {
  for (const bool place_is_there : {true, false}) {
    SCOPED_TRACE(place_is_there);
    Assembler a;
    Sent call(Kind::call, 1, msg, counting(40));
    call.write({{1, 8, 0}});
    EXPECT_TRUE(a.message(call()));
    const Octets data = counting(8);
    EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, 8, 0}, data)));
    Octets there = read3_reply(8);
    if (!place_is_there) there.resize(there.size() - 4);
    Sent reply(Kind::reply, 1, msg, there);
    reply.write({{1, 8, 0}}).asked(100003, 3, 6);
    const auto rpc = a.message(torn(reply));
    ASSERT_TRUE(rpc);
    EXPECT_EQ(rpc->placing, Placing::torn);
    EXPECT_EQ(rpc->stream.octets, place_is_there ? there + data : there);
  }
}

TEST(Assembler, AMessageInAChunkIsNotTornWithItsSend) {
  Assembler a;
  Sent call(Kind::call, 1, nomsg, {});
  call.read(0, {1, 8, 0});
  EXPECT_FALSE(a.message(torn(call)));
  const Octets data = counting(8);
  const auto rpc = a.operation(moved(Op::read_response, 1, {1, 8, 0}, data));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::whole);
  EXPECT_EQ(rpc->stream.octets, data);
}

// --- hostile input

TEST(Assembler, SegmentsThatNameTheSameMemoryDoNotMultiplyIt) {
  const std::size_t segments = 20000;
  const Octets data(std::size_t{1} << 20U, 0x33);
  const wire::Segment same{1, static_cast<std::uint32_t>(data.size()), 0};
  Assembler a;
  Sent call(Kind::call, 1, nomsg, {});
  for (std::size_t i = 0; i < segments; ++i) call.read(i % 2 == 0 ? 0 : 40, same);
  EXPECT_FALSE(a.message(call()));
  const auto rpc = a.operation(moved(Op::read_response, 1, same, data));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::missing);
  EXPECT_LE(rpc->stream.octets.size(), 2 * Pieces::most_uses * data.size() + 3 * segments);
  EXPECT_GE(rpc->stream.wire_length, segments * data.size());

  Sent reply(Kind::reply, 1, nomsg, {});
  reply.reply(wire::WriteChunk(segments, same));
  const auto answer = a.message(reply());
  ASSERT_TRUE(answer);
  EXPECT_LE(answer->stream.octets.size(), Pieces::most_uses * data.size());
}

TEST(Assembler, ChunksAtTheEndOfMemory) {
  const std::uint64_t end = UINT64_MAX;
  for (const wire::Segment target : {wire::Segment{1, 4, end - 3}, wire::Segment{1, 4, end - 2},
                                     wire::Segment{1, 4, end}, wire::Segment{1, UINT32_MAX, end}}) {
    Assembler a;
    Sent call(Kind::call, 1, msg, counting(40));
    call.read(UINT32_MAX, target);
    EXPECT_FALSE(a.message(call()));
    const Octets data = counting(4);
    const auto rpc = a.operation(moved(Op::read_response, 1, target, data));
    EXPECT_EQ(rpc.has_value(), target.offset == end - 3);
    EXPECT_EQ(a.give_up(1).has_value(), target.offset != end - 3);
  }
}

TEST(Assembler, ManySegmentsInManyPacketsTakeTheirTimeOnce) {
  const std::uint32_t segments = 40000;
  Assembler a;
  Sent call(Kind::call, 1, nomsg, {});
  for (std::uint32_t i = 0; i < segments; ++i) call.read(0, {i, 4, 0});
  const std::clock_t start = std::clock();  // of the processor: a busy machine does not count
  EXPECT_FALSE(a.message(call()));
  const Octets data = counting(4);
  for (std::uint32_t i = 0; i + 1 < segments; ++i) {
    ASSERT_FALSE(a.operation(moved(Op::read_response, 1, {i, 4, 0}, data)));
  }
  EXPECT_TRUE(a.operation(moved(Op::read_response, 1, {segments - 1, 4, 0}, data)));
  // Looking at every segment for every packet would be 800 million look-ups.
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

TEST(Assembler, OpenExchangesAreBounded) {
  Assembler a;
  for (std::uint32_t id = 1; id <= 3 * Assembler::most_open; ++id) {
    Sent call(Kind::call, id, msg, counting(40));
    call.read(40, {1, 8, 0});
    EXPECT_FALSE(a.message(call()));
    ASSERT_LE(a.waiting().size(), Assembler::most_open);
    const auto gone = a.displaced();
    ASSERT_EQ(gone.has_value(), id > Assembler::most_open);
    if (!gone) continue;
    ASSERT_EQ(gone->exchange, id - Assembler::most_open);
    ASSERT_EQ(gone->message.placing, Placing::missing);
    ASSERT_EQ(gone->message.stream.octets, counting(40));
  }
  // The newest are still under way.
  const Octets data = counting(8);
  const auto rpc = a.operation(moved(Op::read_response, 2 * Assembler::most_open + 1, {1, 8, 0}, data));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::whole);
}

/// A READ of 8 octets is called, and they are written.
void begin_read(Assembler& a, std::uint32_t id) {
  Sent call(Kind::call, id, msg, counting(40));
  call.write({{id, 8, 0}});
  EXPECT_TRUE(a.message(call()));
  const Octets data = counting(8);
  EXPECT_FALSE(a.operation(moved(Op::write, id, {id, 8, 0}, data)));
}
[[nodiscard]] Placing end_read(Assembler& a, std::uint32_t id) {
  Sent reply(Kind::reply, id, msg, read3_reply(8));
  reply.write({{id, 8, 0}}).asked(100003, 3, 6);
  const auto rpc = a.message(reply());
  return rpc ? rpc->placing : Placing::reduced;
}

TEST(Assembler, RepliesThatTheCaptureLacksTakeNobodysPlace) {
  const auto most = static_cast<std::uint32_t>(Assembler::most_open);
  for (const std::uint32_t lacking : {most - 2, most - 1, most, 2 * most + 17}) {
    SCOPED_TRACE(lacking);
    Assembler a;
    for (std::uint32_t id = 1; id <= lacking; ++id) begin_read(a, id);
    // Two at a time: what the second one displaces is not the first.
    for (std::uint32_t id = lacking + 1; id < lacking + 9; id += 2) {
      begin_read(a, id);
      begin_read(a, id + 1);
      EXPECT_EQ(end_read(a, id), Placing::whole);
      EXPECT_EQ(end_read(a, id + 1), Placing::whole);
    }
  }
}

TEST(Assembler, OctetsThatNobodyAsksForMakeRoom) {
  const std::size_t room = 80;  // of ten READs
  for (const std::uint32_t lacking : {9U, 10U, 1000U}) {
    SCOPED_TRACE(lacking);
    Assembler a(room);
    for (std::uint32_t id = 1; id <= lacking; ++id) begin_read(a, id);
    begin_read(a, lacking + 1);
    EXPECT_EQ(end_read(a, lacking + 1), Placing::whole);
    // As many of the newest as there is room for; of what had to go it is said that it is missing.
    EXPECT_EQ(end_read(a, lacking), Placing::whole);
    EXPECT_EQ(end_read(a, 1), lacking < 10 ? Placing::whole : Placing::missing);
  }
}

TEST(Assembler, ALateOneDoesNotTakeTheRoomOfThoseBehindIt) {
  Assembler a(16);
  Sent call(Kind::call, 1, msg, counting(40));
  call.write({{1, 8, 0}});
  EXPECT_TRUE(a.message(call()));
  begin_read(a, 2);
  begin_read(a, 3);
  const Octets data = counting(8);
  EXPECT_FALSE(a.operation(moved(Op::write, 1, {1, 8, 0}, data)));
  EXPECT_EQ(end_read(a, 1), Placing::missing);
  EXPECT_EQ(end_read(a, 2), Placing::whole);
  EXPECT_EQ(end_read(a, 3), Placing::whole);
}

TEST(Assembler, ACallWhoseOctetsHadToGoIsShownAsFarAsItGoes) {
  Assembler a(16);
  Sent call(Kind::call, 1, msg, counting(40));
  call.read(40, {1, 16, 0});
  EXPECT_FALSE(a.message(call()));
  const Octets data = counting(8);
  EXPECT_FALSE(a.operation(moved(Op::read_response, 1, {1, 8, 0}, data)));
  begin_read(a, 2);
  begin_read(a, 3);
  EXPECT_EQ(a.waiting(), std::vector<std::uint32_t>{1});
  EXPECT_EQ(end_read(a, 3), Placing::whole);
  const auto rpc = a.operation(moved(Op::read_response, 1, {1, 8, 8}, data));
  ASSERT_TRUE(rpc);
  EXPECT_EQ(rpc->placing, Placing::missing);
  EXPECT_EQ(rpc->stream.octets, counting(40));
  EXPECT_EQ(rpc->stream.wire_length, 56U);
}

TEST(Assembler, WhatBelongsToNoExchangeIsPassedOver) {
  Assembler a;
  const Octets data = counting(8);
  EXPECT_FALSE(a.operation(moved(Op::write, 0, {1, 8, 0}, data)));
  EXPECT_FALSE(a.operation(moved(Op::read_response, 77, {1, 8, 0}, data)));
  Sent call(Kind::call, 0, msg, counting(40));
  call.read(40, {1, 8, 0});
  EXPECT_FALSE(a.message(call()));
  Sent done(Kind::done, 1, wire::Proc::done, {});
  EXPECT_FALSE(a.message(done()));
  MessageSeen broken = call();
  broken.header = nullptr;
  EXPECT_FALSE(a.message(broken));
  EXPECT_TRUE(a.waiting().empty());
}

}  // namespace
}  // namespace rpcrdma::payload::test
