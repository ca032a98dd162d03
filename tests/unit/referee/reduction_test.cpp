// SPDX-License-Identifier: GPL-2.0-or-later
// Group E: what was moved into chunks, held against what RFC 8267 allows to be moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "referee/referee.hpp"
#include "referee/state/message_body.hpp"
#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::Chunks;
using story::Octets;
using story::Story;
using trace::Side;

constexpr std::uint32_t nfs = 100003;
constexpr std::uint32_t no_gss = 0;

Octets words(const std::vector<std::uint32_t>& list) {
  Octets octets;
  for (const std::uint32_t word : list) story::put32(octets, word);
  return octets;
}
Octets operator+(Octets a, const Octets& b) {
  for (const std::uint8_t octet : b) a.push_back(octet);
  return a;
}
Octets fill(std::size_t length) { return Octets(length, 0x5A); }

/// `gss`: RPCSEC_GSS service, 0 for AUTH_NONE. 40 octets without GSS.
Octets call_header(std::uint32_t version, std::uint32_t procedure, std::uint32_t gss = no_gss,
                   std::uint32_t program = nfs) {
  const Octets start = words({2, 0, 2, program, version, procedure});
  if (gss == no_gss) return start + words({0, 0, 0, 0});
  return start + words({6, 20, 1, 0, 1, gss, 0, 6, 0});
}
Octets reply_header() { return words({2, 1, 0, 0, 0, 0}); }

/// NFSv3 WRITE: data at 68 when AUTH_NONE. Without `inline_data` only the count word is left.
Octets v3_write(std::uint32_t count, bool inline_data, std::uint32_t gss = no_gss) {
  const Octets call = call_header(3, 7, gss) + words({4, 0x77777777, 0, 0, count, 2, count});
  return inline_data ? call + fill((count + 3U) / 4U * 4U) : call;
}
constexpr std::uint32_t v3_data = 68;
Octets v3_read(std::uint32_t count, std::uint32_t gss = no_gss) {
  return call_header(3, 6, gss) + words({4, 0x77777777, 0, 0, count});
}
Octets v3_read_reply(std::uint32_t length, bool inline_data) {
  const Octets reply = reply_header() + words({0, 0, length, 1, length});
  return inline_data ? reply + fill((length + 3U) / 4U * 4U) : reply;
}
Octets stateid() { return words({1, 2, 3, 4}); }
Octets v4_reads(const std::vector<std::uint32_t>& counts) {
  Octets call = call_header(4, 1) + words({0, 1, static_cast<std::uint32_t>(counts.size())});
  for (const std::uint32_t count : counts) call = call + words({25}) + stateid() + words({0, 0, count});
  return call;
}
/// 50 PUTFH of 12 octets, and a WRITE whose data were taken out.
Octets v4_late_write(std::uint32_t count) {
  constexpr std::uint32_t before = 50;
  Octets call = call_header(4, 1) + words({0, 1, before + 1});
  for (std::uint32_t i = 0; i < before; ++i) call = call + words({22, 4, i});
  return call + words({38}) + stateid() + words({0, 0, 2, count});
}
constexpr std::uint32_t v4_late_data = 40 + 12 + 50 * 12 + 4 + 16 + 16;
struct Result {
  std::uint32_t length;
  bool inline_data;
};
Octets v4_reads_reply(const std::vector<Result>& results) {
  Octets reply = reply_header() + words({0, 0, static_cast<std::uint32_t>(results.size())});
  for (const auto& result : results) {
    reply = reply + words({25, 0, 1, result.length});
    if (result.inline_data) reply = reply + fill((result.length + 3U) / 4U * 4U);
  }
  return reply;
}

struct Spoken {
  std::set<std::string> rules;  ///< of group E; notes with "note: " in front
  std::set<std::string> unchecked;
};
Spoken spoken(const Report& report) {
  Spoken out;
  for (const Finding& finding : report.findings) {
    const Rule& r = rule(finding.rule);
    if (r.group != 'E') continue;
    out.rules.insert((finding.severity == Severity::note ? "note: " : "") + std::string(r.name));
    EXPECT_TRUE(finding.violator);
  }
  for (const Unchecked& unchecked : report.unchecked) {
    if (rule(unchecked.rule).group == 'E') out.unchecked.insert(std::string(rule(unchecked.rule).name));
  }
  return out;
}

struct CallCase {
  std::string what;
  Octets rpc;
  std::vector<wire::ReadSegment> reads;
  std::set<std::string> rules;
};

class Arguments : public testing::TestWithParam<CallCase> {};

TEST_P(Arguments, AreJudged) {
  const CallCase& c = GetParam();
  Story s;
  s.connect().call(1).reply(1);
  Chunks chunks;
  chunks.reads = c.reads;
  s.message(Side::active, 2, 32, chunks, c.rpc);
  EXPECT_EQ(spoken(s.end()).rules, c.rules);
}

/// A chunk of two segments for a message, the first one of 70 octets.
wire::WriteChunk body_chunk(std::size_t length) {
  const std::size_t first = std::min<std::size_t>(length, 70);
  wire::WriteChunk chunk{{9, static_cast<std::uint32_t>(first), 0x1000}};
  if (length > first) chunk.push_back({10, static_cast<std::uint32_t>(length - first), 0x9000});
  return chunk;
}
constexpr std::size_t packet = 256;
constexpr std::size_t uncut = 100000;

/// Calls `each(segment, offset in it, its octets, first, last)` for each packet; octets behind `captured` are missing.
template <class Each>
void in_packets(const wire::WriteChunk& chunk, const Octets& body, std::size_t captured, Each each) {
  std::size_t at = 0;
  for (const wire::Segment& segment : chunk) {
    for (std::size_t done = 0; done < segment.length; done += packet) {
      const std::size_t n = std::min<std::size_t>(packet, segment.length - done);
      const std::size_t there = at >= captured ? 0 : std::min(n, captured - at);
      each(segment, done, n, wire::Bytes(body).subspan(at, there), done == 0, done + n == segment.length);
      at += n;
    }
  }
}

void pull(Story& s, const wire::WriteChunk& chunk, const Octets& body, std::size_t captured) {
  for (const wire::Segment& segment : chunk) {
    s.read(Side::passive, segment.handle, segment.offset, segment.length, false);
  }
  std::uint64_t op = s.op - chunk.size();
  in_packets(
      chunk, body, captured,
      [&](const wire::Segment& segment, std::size_t done, std::size_t n, wire::Bytes octets, bool first, bool last) {
        if (first) ++op;
        trace::ReadResponse response;
        response.connection = 1;
        response.side = Side::active;
        response.frame = {++s.frame, s.now};
        response.op = op;
        response.handle = segment.handle;
        response.offset = segment.offset + done;
        response.length = static_cast<std::uint32_t>(n);
        response.octets = octets;
        response.last = last;
        s.referee.on(response);
      });
}

void put(Story& s, const wire::WriteChunk& chunk, const Octets& body, std::size_t captured) {
  in_packets(
      chunk, body, captured,
      [&](const wire::Segment& segment, std::size_t done, std::size_t n, wire::Bytes octets, bool first, bool last) {
        trace::Write write;
        write.connection = 1;
        write.side = Side::passive;
        write.frame = {++s.frame, s.now};
        if (first) ++s.op;
        write.op = s.op;
        write.handle = segment.handle;
        write.offset = segment.offset + done;
        write.length = static_cast<std::uint32_t>(n);
        write.announced = segment.length;
        write.octets = octets;
        write.first = first;
        write.last = last;
        s.referee.on(write);
      });
}

/// The same, pulled from a Position-Zero chunk: judged when an answer shows that all of it was pulled.
std::set<std::string> spoken_of_pulled(const CallCase& c, std::size_t captured, bool refused) {
  Story s;
  s.connect().call(1).reply(1);
  const wire::WriteChunk body = body_chunk(c.rpc.size());
  Chunks chunks;
  chunks.reads = c.reads;
  for (const wire::Segment& segment : body) chunks.reads.push_back({0, segment});
  s.message(Side::active, 2, 32, chunks, {});
  pull(s, body, c.rpc, captured);
  if (refused) {
    s.send(Side::passive, words({2, 1, 32, 4, 2}));
  } else {
    s.reply(2);
  }
  return spoken(s.end()).rules;
}

TEST_P(Arguments, AreJudgedWhenTheyWerePulled) {
  std::set<std::string> rules = GetParam().rules;
  if (!GetParam().reads.empty()) rules.insert("note: read-list-unordered");  // the body's chunk stands last
  EXPECT_EQ(spoken_of_pulled(GetParam(), uncut, false), rules);
  EXPECT_EQ(spoken_of_pulled(GetParam(), uncut, true), rules);
}

TEST_P(Arguments, PulledAndCutAreNotMisjudged) {
  const CallCase& c = GetParam();
  for (std::size_t captured = 0; captured <= c.rpc.size(); captured += 3) {
    for (const auto& said : spoken_of_pulled(c, captured, false)) {
      EXPECT_TRUE(c.rules.contains(said) || said == "note: read-list-unordered") << said << ' ' << captured;
    }
  }
}

TEST_P(Arguments, CutByTheCaptureAreNotMisjudged) {
  const CallCase& c = GetParam();
  for (std::size_t missing = 1; missing <= c.rpc.size(); ++missing) {
    Story s;
    s.connect().call(1).reply(1);
    Chunks chunks;
    chunks.reads = c.reads;
    const Octets octets = story::header(2, 32, 0, chunks) + c.rpc;
    trace::Send event;
    event.connection = 1;
    event.side = Side::active;
    event.frame = event.last = {++s.frame, s.now};
    event.ordinal = 9;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.octets = wire::Bytes(octets).first(octets.size() - missing);
    s.referee.on(event);
    for (const auto& said : spoken(s.end()).rules) EXPECT_TRUE(c.rules.contains(said)) << said << ' ' << missing;
  }
}

INSTANTIATE_TEST_SUITE_P(
    GroupE, Arguments,
    testing::Values(
        CallCase{"v3 WRITE", v3_write(1001, false), {{v3_data, {1, 1001, 0}}}, {}},
        CallCase{
            "v3 WRITE with pad", v3_write(1001, false), {{v3_data, {1, 1004, 0}}}, {"note: read-chunk-pad-included"}},
        CallCase{"v3 WRITE with pad apart",
                 v3_write(1001, false),
                 {{v3_data, {1, 1001, 0}}, {v3_data, {2, 3, 0}}},
                 {"note: read-chunk-pad-included"}},
        CallCase{"v3 WRITE too short", v3_write(1001, false), {{v3_data, {1, 1000, 0}}}, {"read-chunk-length-wrong"}},
        CallCase{"v3 WRITE too long", v3_write(1001, false), {{v3_data, {1, 1005, 0}}}, {"read-chunk-length-wrong"}},
        CallCase{"v3 WRITE that needs no pad, one word more",
                 v3_write(1000, false),
                 {{v3_data, {1, 1004, 0}}},
                 {"read-chunk-length-wrong"}},
        CallCase{"v3 WRITE elsewhere", v3_write(100, true), {{v3_data - 4, {1, 16, 0}}}, {"ineligible-item-reduced"}},
        CallCase{"v3 WRITE header", v3_write(100, true), {{24, {1, 16, 0}}}, {"ineligible-item-reduced"}},
        CallCase{"v3 READDIR", call_header(3, 16) + fill(40), {{44, {1, 16, 0}}}, {"ineligible-item-reduced"}},
        CallCase{
            "NFSACL", call_header(3, 2, no_gss, 100227) + fill(40), {{44, {1, 16, 0}}}, {"ineligible-item-reduced"}},
        CallCase{"unknown program",
                 call_header(1, 1, no_gss, 400000) + fill(40),
                 {{44, {1, 16, 0}}},
                 {"note: ineligible-item-reduced"}},
        CallCase{
            "v4 name", call_header(4, 1) + words({0, 1, 1, 15, 33}), {{60, {1, 33, 0}}}, {"ineligible-item-reduced"}},
        CallCase{"v4 unknown operation", call_header(4, 1) + words({0, 2, 1, 99, 33}), {{60, {1, 33, 0}}}, {}},
        CallCase{"v4 WRITE behind many operations",
                 v4_late_write(1001),
                 {{v4_late_data, {1, 1000, 0}}},
                 {"read-chunk-length-wrong"}},
        CallCase{
            "v4 WRITE behind many operations as it should be", v4_late_write(1001), {{v4_late_data, {1, 1001, 0}}}, {}},
        CallCase{"krb5", v3_write(100, false, 1), {{v3_data + 20, {1, 100, 0}}}, {}},
        CallCase{"krb5i", v3_write(100, false, 2), {{v3_data + 20, {1, 100, 0}}}, {"reduction-under-gss"}},
        CallCase{"krb5p", v3_write(100, false, 3), {{v3_data + 20, {1, 100, 0}}}, {"reduction-under-gss"}},
        CallCase{"krb5i without chunks", v3_write(100, true, 2), {}, {}}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == ' ' || c == ',' ? '_' : c;
      return name;
    });

struct ReplyCase {
  std::string what;
  Octets call;
  std::vector<std::uint32_t> given;  ///< length of each Write chunk; 0: one without segments
  Octets reply;
  std::vector<std::uint32_t> returned;  ///< likewise
  std::set<std::string> rules;
};

class Results : public testing::TestWithParam<ReplyCase> {
 protected:
  static Chunks chunks(const ReplyCase& c, const std::vector<std::uint32_t>& lengths) {
    Chunks chunks;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      chunks.writes.emplace_back();
      if (c.given[i] != 0) chunks.writes.back().push_back({static_cast<std::uint32_t>(0x100 + i), lengths[i], 0});
    }
    return chunks;
  }
  static void ask(Story& s, const ReplyCase& c) {
    s.connect().call(1).reply(1);
    s.message(Side::active, 2, 32, chunks(c, c.given), c.call);
    for (std::size_t i = 0; i < c.returned.size(); ++i) {
      if (c.returned[i] != 0) s.write(Side::passive, static_cast<std::uint32_t>(0x100 + i), 0, c.returned[i]);
    }
  }
};

TEST_P(Results, AreJudged) {
  const ReplyCase& c = GetParam();
  Story s;
  ask(s, c);
  s.message(Side::passive, 2, 32, chunks(c, c.returned), c.reply);
  const Report report = s.end();
  EXPECT_EQ(spoken(report).rules, c.rules);
}

/// The same in the Reply chunk.
TEST_P(Results, AreJudgedWhenTheyWereWritten) {
  const ReplyCase& c = GetParam();
  const wire::WriteChunk body = body_chunk(c.reply.size());
  for (std::size_t captured = 0; captured <= c.reply.size() + 7; captured += 7) {
    Story s;
    s.connect().call(1).reply(1);
    Chunks given = chunks(c, c.given);
    given.reply = body;
    s.message(Side::active, 2, 32, given, c.call);
    for (std::size_t i = 0; i < c.returned.size(); ++i) {
      if (c.returned[i] != 0) s.write(Side::passive, static_cast<std::uint32_t>(0x100 + i), 0, c.returned[i]);
    }
    put(s, body, c.reply, captured);
    Chunks returned = chunks(c, c.returned);
    returned.reply = body;
    s.message(Side::passive, 2, 32, returned, {});
    auto rules = spoken(s.end()).rules;
    rules.erase("note: reply-chunk-useless");  // an RPC Reply that denies is shorter than any other
    if (captured >= c.reply.size()) {
      EXPECT_EQ(rules, c.rules);
    } else {
      for (const auto& said : rules) EXPECT_TRUE(c.rules.contains(said)) << said << ' ' << captured;
    }
  }
}

TEST_P(Results, CutByTheCaptureAreNotMisjudged) {
  const ReplyCase& c = GetParam();
  for (std::size_t missing = 1; missing <= c.reply.size(); ++missing) {
    Story s;
    ask(s, c);
    const Octets octets = story::header(2, 32, 0, chunks(c, c.returned)) + c.reply;
    trace::Send event;
    event.connection = 1;
    event.side = Side::passive;
    event.frame = event.last = {++s.frame, s.now};
    event.ordinal = 9;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.octets = wire::Bytes(octets).first(octets.size() - missing);
    s.referee.on(event);
    for (const auto& said : spoken(s.end()).rules) EXPECT_TRUE(c.rules.contains(said)) << said << ' ' << missing;
  }
}

TEST_P(Results, AreNotJudgedWhenTheCallIsNotKnown) {
  const ReplyCase& c = GetParam();
  if (c.given.empty()) return;
  Story s;
  s.connect().call(1).reply(1);
  const Octets header = story::header(2, 32, 0, chunks(c, c.given));
  trace::Send event;
  event.connection = 1;
  event.frame = event.last = {++s.frame, s.now};
  event.ordinal = 9;
  event.wire_length = static_cast<std::uint32_t>(header.size() + c.call.size());
  const Octets cut = header + Octets(c.call.begin(), c.call.begin() + 12);
  event.octets = cut;
  s.referee.on(event);
  s.message(Side::passive, 2, 32, chunks(c, c.returned), c.reply);
  EXPECT_TRUE(spoken(s.end()).rules.empty());
}

const Octets failed = reply_header() + words({5, 0});

INSTANTIATE_TEST_SUITE_P(
    GroupE, Results,
    testing::Values(
        ReplyCase{"moved", v3_read(1001), {4096}, v3_read_reply(1001, false), {1001}, {}},
        ReplyCase{"moved with its pad",
                  v3_read(1001),
                  {4096},
                  v3_read_reply(1001, false),
                  {1004},
                  {"write-chunk-pad-written"}},
        ReplyCase{"length not as the item",
                  v3_read(4096),
                  {4096},
                  v3_read_reply(1001, false),
                  {4096},
                  {"write-chunk-pad-written"}},
        ReplyCase{"room for a pad",
                  v3_read(1001),
                  {1004},
                  v3_read_reply(1001, false),
                  {1001},
                  {"note: write-chunk-pad-provisioned"}},
        ReplyCase{"more room than a pad", v3_read(1001), {1008}, v3_read_reply(1001, false), {1001}, {}},
        ReplyCase{"inline", v3_read(100), {4096}, v3_read_reply(100, true), {0}, {"eligible-item-inline"}},
        ReplyCase{
            "inline, just room enough", v3_read(100), {100}, v3_read_reply(100, true), {0}, {"eligible-item-inline"}},
        ReplyCase{"inline, too little room", v3_read(100), {99}, v3_read_reply(100, true), {0}, {}},
        ReplyCase{"inline by an empty chunk", v3_read(100), {0}, v3_read_reply(100, true), {0}, {}},
        ReplyCase{"no octets", v3_read(100), {100}, v3_read_reply(0, true), {0}, {}},
        ReplyCase{"failed", v3_read(100), {100}, failed, {0}, {}},
        ReplyCase{"failed with octets", v3_read(100), {100}, failed, {100}, {"unused-write-chunk-shape"}},
        ReplyCase{
            "denied with octets", v3_read(100), {100}, words({2, 1, 1, 1, 1}), {100}, {"unused-write-chunk-shape"}},
        ReplyCase{
            "second chunk", v3_read(100), {100, 100}, v3_read_reply(100, false), {0, 100}, {"write-chunk-skipped"}},
        ReplyCase{"first chunk", v3_read(100), {100, 100}, v3_read_reply(100, false), {100, 0}, {}},
        ReplyCase{
            "second chunk, the first has no segments", v3_read(100), {0, 100}, v3_read_reply(100, false), {0, 100}, {}},
        ReplyCase{"no result to move",
                  call_header(3, 16) + fill(40),
                  {100},
                  reply_header() + fill(40),
                  {100},
                  {"ineligible-item-reduced"}},
        ReplyCase{
            "no result to move, none moved", call_header(3, 16) + fill(40), {100}, reply_header() + fill(40), {0}, {}},
        ReplyCase{"NFSACL",
                  call_header(3, 1, no_gss, 100227) + fill(40),
                  {100},
                  reply_header() + fill(40),
                  {100},
                  {"ineligible-item-reduced"}},
        ReplyCase{"unknown program",
                  call_header(1, 1, no_gss, 400000) + fill(40),
                  {100},
                  reply_header() + fill(40),
                  {100},
                  {"note: ineligible-item-reduced"}},
        ReplyCase{"v4 moved", v4_reads({100}), {100}, v4_reads_reply({{100, false}}), {100}, {}},
        ReplyCase{"v4 inline", v4_reads({100}), {100}, v4_reads_reply({{100, true}}), {0}, {"eligible-item-inline"}},
        ReplyCase{"v4 both moved",
                  v4_reads({100, 200}),
                  {100, 200},
                  v4_reads_reply({{100, false}, {200, false}}),
                  {100, 200},
                  {"nfs-chunk-complexity"}},
        ReplyCase{"v4 second inline for want of a chunk",
                  v4_reads({100, 200}),
                  {100},
                  v4_reads_reply({{100, false}, {200, true}}),
                  {100},
                  {}},
        ReplyCase{"v4 first inline, second moved",
                  v4_reads({100, 200}),
                  {100, 200},
                  v4_reads_reply({{100, true}, {200, false}}),
                  {0, 200},
                  {"nfs-chunk-complexity", "eligible-item-inline"}},
        ReplyCase{"v4 first empty, second in the first chunk",
                  v4_reads({100, 200}),
                  {200, 200},
                  v4_reads_reply({{0, true}, {200, false}}),
                  {200, 0},
                  {"nfs-chunk-complexity"}},
        ReplyCase{"v4 first empty, second in the second chunk",
                  v4_reads({100, 200}),
                  {200, 200},
                  v4_reads_reply({{0, true}, {200, false}}),
                  {0, 200},
                  {"nfs-chunk-complexity"}},
        ReplyCase{"v4 second inline behind a long one",
                  v4_reads({900, 200}),
                  {10, 200},
                  v4_reads_reply({{900, true}, {200, true}}),
                  {0, 0},
                  {"nfs-chunk-complexity", "eligible-item-inline"}},
        ReplyCase{"v4 second padded behind a long one",
                  v4_reads({900, 201}),
                  {10, 300},
                  v4_reads_reply({{900, true}, {201, false}}),
                  {0, 204},
                  {"nfs-chunk-complexity", "write-chunk-pad-written"}},
        ReplyCase{"v4 nothing to move",
                  call_header(4, 1) + words({0, 1, 1, 24}),
                  {100},
                  reply_header() + words({0, 0, 1, 24, 0}),
                  {100},
                  {"ineligible-item-reduced"}},
        ReplyCase{"v4 unknown operation",
                  call_header(4, 1) + words({0, 2, 1, 99, 1}),
                  {100},
                  reply_header() + words({0, 0, 1, 99, 0, 7}),
                  {100},
                  {}},
        ReplyCase{"krb5", v3_read(100, 1), {100}, v3_read_reply(100, false), {100}, {}},
        ReplyCase{"krb5i used", v3_read(100, 2), {100}, v3_read_reply(100, false), {100}, {"reduction-under-gss"}},
        ReplyCase{"krb5p unused", v3_read(100, 3), {100}, v3_read_reply(100, true), {0}, {}}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == ' ' || c == ',' ? '_' : c;
      return name;
    });

TEST(ResultsOfUnknownForm, AreSaidToBeUnchecked) {
  Story s;
  s.connect().call(1).reply(1);
  Chunks given;
  given.writes = {{{0x100, 100, 0}}};
  s.message(Side::active, 2, 32, given, call_header(4, 1) + words({0, 2, 1, 99, 1}));
  s.write(Side::passive, 0x100, 0, 100);
  s.message(Side::passive, 2, 32, given, reply_header() + words({0, 0, 1, 99, 0, 7}));
  EXPECT_TRUE(spoken(s.end()).unchecked.contains("write-chunk-pad-written"));
}

TEST(ResultsThatAreCut, AreSaidToBeUncheckedAlsoWhereNoChunkWasUsed) {
  for (const std::size_t missing : {std::size_t{0}, std::size_t{108}}) {
    Story s;
    s.connect().call(1).reply(1);
    Chunks given;
    given.writes = {{{0x100, 50, 0}}};
    s.message(Side::active, 2, 32, given, v3_read(100));
    given.writes = {{{0x100, 0, 0}}};
    const Octets octets = story::header(2, 32, 0, given) + v3_read_reply(100, true);
    trace::Send event;
    event.connection = 1;
    event.side = Side::passive;
    event.frame = event.last = {++s.frame, s.now};
    event.ordinal = 9;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.octets = wire::Bytes(octets).first(octets.size() - missing);
    s.referee.on(event);
    EXPECT_EQ(spoken(s.end()).unchecked.contains("eligible-item-inline"), missing != 0);
  }
}

/// Two READs in a Reply chunk: the first inline for want of room, the second behind it with a pad in its chunk.
Report long_results(std::uint32_t first) {
  Story s;
  s.connect().call(1).reply(1);
  const Octets reply = v4_reads_reply({{first, true}, {201, false}});
  Chunks given;
  given.writes = {{{0x100, 10, 0}}, {{0x101, 300, 0}}};
  given.reply = body_chunk(reply.size());
  s.message(Side::active, 2, 32, given, v4_reads({first, 201}));
  s.write(Side::passive, 0x101, 0, 204);
  put(s, *given.reply, reply, uncut);
  Chunks returned = given;
  returned.writes = {{{0x100, 0, 0}}, {{0x101, 204, 0}}};
  s.message(Side::passive, 2, 32, returned, {});
  return s.end();
}

TEST(LongMessages, AreJudgedAsFarAsTheyAreKept) {
  const std::size_t before = v4_reads_reply({{0, true}, {201, false}}).size();
  const auto most = static_cast<std::uint32_t>(BodyStore::most - before);
  EXPECT_TRUE(spoken(long_results(most / 4 * 4)).rules.contains("write-chunk-pad-written"));
  const Report beyond = long_results(most / 4 * 4 + 4);
  EXPECT_FALSE(spoken(beyond).rules.contains("write-chunk-pad-written"));
  const auto said = std::find_if(beyond.unchecked.begin(), beyond.unchecked.end(), [](const Unchecked& unchecked) {
    return unchecked.rule == RuleId::write_chunk_pad_written &&
           unchecked.reason == "an RPC message is longer than what is kept of it";
  });
  EXPECT_NE(said, beyond.unchecked.end());
}

TEST(Complexity, SixteenSegmentsAreFineAndSeventeenAreNot) {
  for (const std::uint32_t segments : {16U, 17U}) {
    for (const bool reply_chunk : {false, true}) {
      wire::WriteChunk chunk;
      for (std::uint32_t i = 0; i < segments; ++i) chunk.push_back({0x100, 8, std::uint64_t{8} * i});
      Chunks chunks;
      if (reply_chunk) {
        chunks.reply = chunk;
      } else {
        chunks.writes = {chunk};
      }
      Story s;
      s.connect().call(1).reply(1).message(Side::active, 2, 32, chunks, v4_reads({100}));
      EXPECT_EQ(spoken(s.end()).rules.contains("nfs-chunk-complexity"), segments == 17) << reply_chunk;
    }
  }
}

}  // namespace
}  // namespace rpcrdma::referee
