// SPDX-License-Identifier: GPL-2.0-or-later
// What Calls ask for, whole and cut at every length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nfs_steps_messages.hpp"

namespace rpcrdma::wire {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

/// xid, CALL, 2, program, version, procedure; AUTH_SYS of 24 octets; AUTH_NONE
Encoder call_header(const Asked& asked) {
  return words({0x11223344, 0, 2, asked.program, asked.version, asked.procedure, 1}).opaque(24).words({0, 0});
}

struct Operation {
  std::uint32_t number;
  Encoder arguments;
};

Encoder call_of(std::uint32_t minor, bool callback, const std::vector<Operation>& operations) {
  Encoder call = join({call_header(callback ? callback_asked : compound_asked), Encoder().text("tag")});
  call.word(minor);
  if (callback) call.word(0);  // callback_ident
  call.word(static_cast<std::uint32_t>(operations.size()));
  for (const Operation& operation : operations) call.word(operation.number).append(operation.arguments.octets());
  return call;
}

CallSteps read_call(const Octets& octets, std::size_t wire_length, const DataPlaces& places = {}) {
  CallSteps steps;
  read_call_steps(octets, wire_length, places, steps);
  return steps;
}
CallSteps read_call(const Encoder& call) { return read_call(call.octets(), call.size()); }

const Operation sequence_call{53, join({session(), words({1, 0, 0, 1})})};
const Operation putfh_call{22, handle()};
const Operation getattr_call{9, words({1, 24})};
const Operation cb_sequence_call{11, join({session(), words({1, 0, 0, 0, 1}), session(), words({1, 5, 6})})};

struct CallCase {
  std::string name;
  std::uint32_t minor;
  bool callback;
  Operation operation;
  std::string told;
  std::string leading;
};

std::vector<CallCase> call_cases() {
  const std::string state = state_told;
  const std::string session = session_told;
  const auto s = [] { return test::state(); };
  return {
      {"DELEGRETURN", 1, false, {8, s()}, "8 " + state, "DELEGRETURN"},
      {"DELEGRETURN_v40", 0, false, {8, s()}, "8 " + state, "DELEGRETURN"},
      {"FREE_STATEID", 1, false, {45, s()}, "45 " + state, "FREE_STATEID"},
      {"OFFLOAD_CANCEL", 2, false, {66, s()}, "66 " + state, "OFFLOAD_CANCEL"},
      {"OFFLOAD_STATUS", 2, false, {67, s()}, "67 " + state, "OFFLOAD_STATUS"},
      // lora_reclaim, lora_layout_type, lora_iomode, lr_returntype; lrf_offset, lrf_length, lrf_stateid, lrf_body
      {"LAYOUTRETURN_file",
       1,
       false,
       {51, join({words({0, 1, 3, 1, 0, 1, 0, 2}), s(), Encoder().text("body")})},
       "51 file " + state,
       "LAYOUTRETURN"},
      {"LAYOUTRETURN_fsid", 1, false, {51, words({0, 1, 3, 2})}, "51 fsid", "LAYOUTRETURN"},
      {"LAYOUTRETURN_all", 1, false, {51, words({0, 1, 3, 3})}, "51 all", "LAYOUTRETURN"},
      // bctsa_sessid, bctsa_dir, bctsa_use_conn_in_rdma_mode
      {"BIND_CONN_TO_SESSION",
       1,
       false,
       {41, join({test::session(), words({7, 0})})},
       "41 " + session + " direction 7",
       "BIND_CONN_TO_SESSION"},
      // csa_clientid, csa_sequence, csa_flags; two channel_attrs4; csa_cb_program, csa_sec_parms<>
      {"CREATE_SESSION",
       1,
       false,
       {43, join({words({1, 2, 9, 3}), channel(), channel(), words({0x40000000, 1, 0})})},
       "43 client 4294967298 flags 3",
       "CREATE_SESSION"},
      {"DESTROY_SESSION", 1, false, {44, test::session()}, "44 " + session, "DESTROY_SESSION"},
      {"DESTROY_CLIENTID", 1, false, {57, words({1, 2})}, "57 client 4294967298", "DESTROY_CLIENTID"},
      {"RECLAIM_COMPLETE", 1, false, {58, words({0})}, "58", "RECLAIM_COMPLETE"},
      // eia_clientowner, eia_flags, SP4_NONE, eia_client_impl_id<>
      {"EXCHANGE_ID",
       1,
       false,
       {42, join({words({1, 2}), Encoder().text("owner"), words({0x101, 0, 0})})},
       "42 verifier 4294967298 owner 12002927925776846068",
       "EXCHANGE_ID"},
      // ca_src_stateid, ca_dst_stateid, three offsets and lengths, consecutive, synchronous, ca_source_server<>
      {"COPY", 2, false, {60, join({s(), s(), words({0, 0, 0, 0, 0, 9, 1, 0, 0})})}, "60", "COPY"},
      // stateid, truncate, fh
      {"CB_RECALL", 1, true, {4, join({s(), words({0}), handle()})}, "4 " + state, "CB_RECALL"},
      {"CB_RECALL_v40", 0, true, {4, join({s(), words({0}), handle()})}, "4 " + state, "CB_RECALL"},
      // clora_type, clora_iomode, clora_changed, lor_recalltype; lor_fh, lor_offset, lor_length, lor_stateid
      {"CB_LAYOUTRECALL_file",
       1,
       true,
       {5, join({words({1, 3, 0, 1}), handle(), words({0, 1, 0, 2}), s()})},
       "5 file " + state,
       "CB_LAYOUTRECALL"},
      {"CB_LAYOUTRECALL_fsid", 1, true, {5, words({1, 3, 0, 2, 1, 2, 3, 4})}, "5 fsid", "CB_LAYOUTRECALL"},
      {"CB_LAYOUTRECALL_all", 1, true, {5, words({1, 3, 0, 3})}, "5 all", "CB_LAYOUTRECALL"},
      // coa_fh, coa_stateid, coa_status; wr_callback_id<1>, wr_count, wr_committed, wr_writeverf
      {"CB_OFFLOAD",
       2,
       true,
       {15, join({handle(), s(), words({0, 0, 0, 4096, 2, 1, 2})})},
       "15 " + state + " status 0",
       "CB_OFFLOAD"},
      // or coa_bytes_copied
      {"CB_OFFLOAD_failed",
       2,
       true,
       {15, join({handle(), s(), words({28, 0, 4096})})},
       "15 " + state + " status 28",
       "CB_OFFLOAD"},
  };
}

class EveryCall : public testing::TestWithParam<CallCase> {
 protected:
  /// The operation between SEQUENCE and PUTFH: it must be found, read, and stepped over.
  [[nodiscard]] static Encoder call() {
    const CallCase& c = GetParam();
    std::vector<Operation> operations;
    if (c.minor > 0) operations.push_back(c.callback ? cb_sequence_call : sequence_call);
    operations.push_back(c.operation);
    operations.push_back(c.callback ? Operation{3, join({handle(), words({1, 24})})} : putfh_call);
    return call_of(c.minor, c.callback, operations);
  }
  [[nodiscard]] static Told expected() {
    const CallCase& c = GetParam();
    Told told;
    if (c.minor > 0) told.push_back((c.callback ? "11 " : "53 ") + std::string(session_told));
    told.push_back(c.told);
    told.emplace_back(c.callback ? "3" : "22");
    return told;
  }
};

TEST_P(EveryCall, IsRead) {
  const CallSteps read = read_call(call());
  EXPECT_TRUE(read.whole()) << read.stopped->field;
  ASSERT_TRUE(read.asked);
  EXPECT_EQ(read.asked->program, GetParam().callback ? 0x40000000U : 100003U);
  EXPECT_EQ(read.asked->version, GetParam().callback ? 1U : 4U);
  EXPECT_EQ(read.asked->procedure, 1U);
  EXPECT_EQ(read.asked->protection, Protection::none);
  EXPECT_EQ(read.minor_version, GetParam().minor);
  EXPECT_EQ(read.announced, expected().size());
  EXPECT_EQ(all_told(read.steps), expected());
  EXPECT_EQ(leading_name(read), GetParam().leading);
}

TEST_P(EveryCall, CutAnywhereIsItsBeginning) {
  const Octets octets = call().octets();
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const Octets cut = prefix(octets, n);
    const CallSteps read = read_call(cut, octets.size());
    ASSERT_TRUE(read.stopped) << n;
    EXPECT_EQ(read.stopped->fault, Fault::truncated) << n;
    EXPECT_LE(read.stopped->offset, n);
    EXPECT_EQ(read.asked.has_value(), n >= 24) << n;
    expect_first_of(expected(), all_told(read.steps), n);
    const std::string leading = leading_name(read);
    EXPECT_TRUE(leading == GetParam().leading || leading == (GetParam().callback ? "CB_COMPOUND" : "COMPOUND") ||
                (n < 24 && leading.empty()))
        << leading;

    const CallSteps ended = read_call(cut, n);  // the message itself ends there
    ASSERT_TRUE(ended.stopped) << n;
    EXPECT_EQ(ended.stopped->fault, Fault::invalid) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryCall, testing::ValuesIn(call_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(CallSteps, WhatIsNoCompoundHasNoSteps) {
  struct Row {
    Asked asked;
    std::string leading;
    bool whole;
  };
  for (const Row& row : {Row{{100003, 3, 7, {}}, "WRITE", true}, Row{{100003, 3, 0, {}}, "NULL", true},
                         Row{{100003, 2, 6, {}}, "READ", false}, Row{{100003, 4, 0, {}}, "NULL", true},
                         Row{{0x40000000, 1, 0, {}}, "CB_NULL", true}, Row{{0x40000001, 1, 0, {}}, "CB_NULL", true},
                         Row{{100021, 4, 2, {}}, "NLMv4 LOCK", false},
                         Row{{400000, 1, 3, {}}, "program 400000 version 1 procedure 3", false}}) {
    const CallSteps read = read_call(call_header(row.asked));
    EXPECT_THAT(read.steps, IsEmpty());
    EXPECT_EQ(read.whole(), row.whole) << row.leading;
    if (!row.whole) {
      EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    }
    EXPECT_EQ(leading_name(read), row.leading);
    EXPECT_EQ(leading_operation(read), std::nullopt);
  }
}

TEST(CallSteps, AnyTransientProgramIsCalledBack) {
  Octets octets = call_of(1, true, {cb_sequence_call, {4, join({state(), words({0}), handle()})}}).octets();
  octets[15] = 7;  // program 0x40000007
  EXPECT_EQ(leading_name(read_call(octets, octets.size())), "CB_RECALL");
}

TEST(CallSteps, NoCall) {
  for (const Words& w :
       {Words{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, Words{1, 0, 3, 100003, 4, 1, 0, 0, 0, 0}, Words{1, 7, 2, 100003, 4, 1}}) {
    const CallSteps read = read_call(words(w));
    EXPECT_FALSE(read.asked);
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::invalid);
    EXPECT_EQ(leading_name(read), "");
  }
}

/// RPCSEC_GSS: version 1, DATA, sequence 5, service, a handle of four octets; a verifier of four octets
Encoder gss_call_header(std::uint32_t service) {
  return words({0x11223344, 0, 2, 100003, 4, 1, 6, 24, 1, 0, 5, service, 4, 9, 6, 4, 77});
}
TEST(CallSteps, UnderRpcsecGss) {
  // Empty tag, minor version 1, one operation: DELEGRETURN
  const Encoder arguments = join({words({0, 1, 1, 8}), state()});
  const std::string returned = "8 " + std::string(state_told);
  const CallSteps plain = read_call(join({gss_call_header(1), arguments}));
  EXPECT_EQ(plain.asked->protection, Protection::none);
  EXPECT_THAT(all_told(plain.steps), ElementsAre(returned));
  EXPECT_TRUE(plain.whole());

  const Octets octets = join({gss_call_header(2), integrity(arguments)}).octets();
  const CallSteps read = read_call(octets, octets.size());
  EXPECT_EQ(read.asked->protection, Protection::integrity);
  EXPECT_THAT(all_told(read.steps), ElementsAre(returned));
  EXPECT_TRUE(read.whole());
  const std::size_t end = octets.size() - 32;  // of what is protected
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const CallSteps cut = read_call(prefix(octets, n), octets.size());
    EXPECT_EQ(cut.whole(), n >= end) << n;
    if (!cut.whole()) {
      EXPECT_EQ(cut.stopped->fault, Fault::truncated) << n;
    }
    expect_first_of({returned}, all_told(cut.steps), n);
  }

  // Data stay in the stream: a list made without knowing that is no answer.
  const Encoder write = join({words({0, 1, 2, 38}), state(), words({0, 0, 2, 5, 0x5A5A5A5A, 0x5A000000, 8}), state()});
  const Octets writing = join({gss_call_header(2), integrity(write)}).octets();
  NfsItems listed;
  list_call_items(writing, writing.size(), {}, listed);
  EXPECT_THAT(all_told(read_call(writing, writing.size(), &listed).steps), ElementsAre("38", returned));

  for (const std::uint32_t service : {3U, 4U}) {
    const CallSteps hidden = read_call(join({gss_call_header(service), integrity(arguments)}));
    EXPECT_EQ(hidden.asked->protection, service == 3 ? std::optional(Protection::privacy) : std::nullopt);
    ASSERT_TRUE(hidden.stopped);
    EXPECT_EQ(hidden.stopped->fault, Fault::unsupported);
    EXPECT_EQ(leading_name(hidden), "COMPOUND");
  }
}

TEST(CallSteps, HostileLengthsUnderIntegrity) {
  const Encoder arguments = join({words({0, 1, 1, 8}), state()});
  for (const std::uint32_t length : {0U, 3U, 4U, 20U, 37U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    // 4 octets are the sequence number, 36 all of it
    const CallSteps read = read_call(join({gss_call_header(2), words({length, 5}), arguments}));
    ASSERT_TRUE(read.stopped) << length;
    EXPECT_EQ(read.stopped->fault, Fault::invalid) << length;
  }
}

TEST(CallSteps, WhatIsNotKnownEndsThem) {
  for (const auto& [minor, callback, number] :
       {std::tuple{1U, false, 60U}, std::tuple{0U, false, 53U}, std::tuple{2U, false, 76U},
        std::tuple{2U, false, 0xFFFFFFFFU}, std::tuple{1U, true, 15U}, std::tuple{1U, true, 7U}}) {
    const Operation first = callback ? Operation{10, words({4})} : putfh_call;
    const CallSteps read = read_call(call_of(minor, callback, {minor == 0 ? putfh_call : first, {number, {}}}));
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::unsupported) << number;
    EXPECT_EQ(read.steps.size(), 2U) << number;
  }
  const CallSteps later = read_call(call_of(3, false, {putfh_call}));
  EXPECT_EQ(later.minor_version, 3U);
  ASSERT_TRUE(later.stopped);
  EXPECT_EQ(later.stopped->fault, Fault::unsupported);
  EXPECT_THAT(later.steps, IsEmpty());
  // No such kind of return
  const CallSteps returned = read_call(call_of(1, false, {{51, words({0, 1, 3, 4})}, putfh_call}));
  EXPECT_FALSE(returned.whole());
  EXPECT_THAT(all_told(returned.steps), ElementsAre("51"));
}

TEST(CallSteps, HostileCounts) {
  for (const std::uint32_t count : {3U, 0x3FFFFFFFU, 0xFFFFFFFFU}) {
    const Octets octets = join({call_header(compound_asked), Encoder().text(""), words({1, count, 24, 24})}).octets();
    const CallSteps read = read_call(octets, octets.size());
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::invalid) << count;
    const CallSteps cut = read_call(octets, std::size_t{0x40000000});
    ASSERT_TRUE(cut.stopped);
    EXPECT_EQ(cut.stopped->fault, count > 0x10000000 ? Fault::invalid : Fault::truncated) << count;
  }
  for (const std::uint32_t tag : {13U, 0xFFFFFFFDU, 0xFFFFFFFFU}) {
    const CallSteps read = read_call(join({call_header(compound_asked), words({tag, 1, 1, 24})}));
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::invalid) << tag;
  }
}

TEST(CallSteps, AsManyAsAreKept) {
  for (const std::size_t count : {steps_limit, steps_limit + 1, std::size_t{1000}}) {
    const CallSteps read = read_call(call_of(1, false, std::vector<Operation>(count, {24, {}})));
    EXPECT_EQ(read.steps.size(), steps_limit);
    EXPECT_EQ(read.announced, count);
    EXPECT_EQ(read.whole(), count == steps_limit);
    if (!read.whole()) {
      EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    }
  }
}

TEST(CallSteps, ClearForgetsTheCallBefore) {
  CallSteps steps = read_call(call_of(2, true, {cb_sequence_call, {15, join({handle(), state(), words({28, 0, 1})})}}));
  read_call_steps({}, 0, {}, steps);
  EXPECT_FALSE(steps.asked);
  EXPECT_FALSE(steps.minor_version);
  EXPECT_EQ(steps.announced, 0U);
  EXPECT_THAT(steps.steps, IsEmpty());
  EXPECT_FALSE(steps.whole());
}

// --- Moved items

/// WRITE of five octets: stateid, offset, stable, then the data, which may be in a Read chunk with their pad.
struct WriteCall {
  Octets octets;
  std::uint32_t position;
};
WriteCall write_call(bool moved) {
  Encoder call = call_of(1, false, {sequence_call, putfh_call, {38, join({state(), words({0, 0, 2, 5})})}});
  call.append({});
  const std::size_t position = call.size();
  if (!moved) call.words({0x5A5A5A5A, 0x5A000000});
  call.words({8}).append(state().octets());
  Octets octets = call.octets();
  const std::size_t count_at = call_header(compound_asked).size() + 8 + 4;
  octets[count_at + 3] = 4;
  return {octets, static_cast<std::uint32_t>(position)};
}

/// One WRITE that was moved and one that was not, in either order, a DELEGRETURN behind them.
struct TwoWrites {
  Encoder call;
  std::uint32_t position = 0;
};
TwoWrites two_writes(bool first_moved) {
  TwoWrites made;
  Encoder& call = made.call;
  call = join({call_header(compound_asked), Encoder().text(""), words({1, 5})});
  call.word(53).append(sequence_call.arguments.octets()).word(22).append(handle().octets());
  for (const bool moved : {first_moved, !first_moved}) {
    call.word(38).append(state().octets()).words({0, 0, 2, 8});
    if (moved) {
      made.position = static_cast<std::uint32_t>(call.size());
    } else {
      call.words({0x5A5A5A5A, 0x5A5A5A5A});
    }
  }
  call.word(8).append(state().octets());
  return made;
}

TEST(MovedArguments, OneHereAndOneGone) {
  for (const bool first_moved : {false, true}) {
    const TwoWrites made = two_writes(first_moved);
    const Octets& octets = made.call.octets();
    const std::vector<ReadChunk> chunks{{made.position, 8, 1}};
    const CallSteps read = read_call(octets, octets.size(), ChunksOfCall(chunks));
    EXPECT_TRUE(read.whole()) << first_moved;
    EXPECT_THAT(all_told(read.steps),
                ElementsAre("53 " + std::string(session_told), "22", "38", "38", "8 " + std::string(state_told)));
    // Without the chunks nobody knows which of them is gone.
    EXPECT_FALSE(read_call(octets, octets.size()).whole()) << first_moved;
    // A chunk where nothing begins: something is misread.
    const std::vector<ReadChunk> between{{made.position - 4, 8, 1}};
    const CallSteps misread = read_call(octets, octets.size(), ChunksOfCall(between));
    ASSERT_TRUE(misread.stopped) << first_moved;
    EXPECT_EQ(misread.stopped->fault, Fault::unsupported);
  }
}

TEST(MovedArguments, NothingMoved) {
  const WriteCall here = write_call(false);
  EXPECT_TRUE(read_call(here.octets, here.octets.size(), NothingMoved()).whole());
  // The data that it announces are not there.
  const WriteCall gone = write_call(true);
  EXPECT_FALSE(read_call(gone.octets, gone.octets.size(), NothingMoved()).whole());
}

TEST(MovedArguments, AsAWalkWithTheChunksFoundThem) {
  const std::string returned = "8 " + std::string(state_told);
  for (const bool moved : {false, true}) {
    const WriteCall call = write_call(moved);
    NfsItems listed;
    std::vector<ReadChunk> chunks;
    if (moved) chunks.push_back({call.position, 5, 1});
    list_call_items(call.octets, call.octets.size(), chunks, listed);
    ASSERT_EQ(listed.items.size(), 1U);
    for (const DataPlaces& places : {DataPlaces(&listed), DataPlaces(ChunksOfCall(chunks)), DataPlaces()}) {
      const CallSteps read = read_call(call.octets, call.octets.size(), places);
      EXPECT_TRUE(read.whole()) << moved;
      EXPECT_THAT(all_told(read.steps), ElementsAre("53 " + std::string(session_told), "22", "38", returned));
      EXPECT_EQ(leading_name(read), "WRITE");
    }
    // Cut where only the chunks could tell
    const CallSteps cut = read_call(prefix(call.octets, call.octets.size() - 1), call.octets.size());
    EXPECT_EQ(cut.steps.size(), 3U);
    EXPECT_EQ(cut.stopped->fault, Fault::truncated);
    const CallSteps cut_listed = read_call(prefix(call.octets, call.octets.size() - 1), call.octets.size(), &listed);
    EXPECT_EQ(cut_listed.steps.size(), 4U);
  }
}

TEST(MovedArguments, AListOfAnotherMessageLosesTheWay) {
  const WriteCall call = write_call(false);
  NfsItems other;
  other.items.push_back({});
  other.items.back().length_at = 3;
  const CallSteps read = read_call(call.octets, call.octets.size(), &other);
  EXPECT_EQ(read.steps.size(), 3U);
  ASSERT_TRUE(read.stopped);
  EXPECT_EQ(read.stopped->fault, Fault::unsupported);
}

// --- Leading operations

TEST(LeadingOperation, AsMountstatsNamesIt) {
  const auto arguments = [](std::uint32_t number) {
    switch (number) {
      case 3:  // ACCESS
        return words({0x1F});
      case 9:
        return words({1, 24});
      case 15:  // LOOKUP, PUTFH
      case 22:
        return handle();
      case 53:
        return sequence_call.arguments;
      case 5:  // COMMIT
        return words({0, 0, 0});
      case 18:  // OPEN by file handle
        return words({0, 1, 0, 8, 9, 0, 0, 4});
      case 29:  // RENAME
        return Encoder().text("old").text("new");
      default:  // GETFH, PUTPUBFH, PUTROOTFH, RESTOREFH, SAVEFH, READLINK, LOOKUPP
        return Encoder();
    }
  };
  struct Row {
    Words numbers;
    std::string leading;
  };
  for (const Row& row : {
           Row{{53}, "SEQUENCE"},
           Row{{53, 22}, "PUTFH"},
           Row{{53, 22, 10}, "GETFH"},
           Row{{53, 22, 9}, "GETATTR"},
           Row{{53, 22, 3, 9}, "ACCESS"},
           Row{{53, 22, 3, 5}, "COMMIT"},
           Row{{53, 22, 15, 10, 9}, "LOOKUP"},
           Row{{53, 24, 10, 9}, "GETATTR"},
           Row{{53, 24, 15, 15, 9, 27}, "READLINK"},
           Row{{53, 22, 18, 10, 3, 9}, "OPEN"},
           Row{{53, 22, 32, 22, 29}, "RENAME"},
           Row{{22, 5, 9}, "COMMIT"},
           Row{{53, 23, 16, 10, 9}, "LOOKUPP"},
           Row{{22, 32, 31, 5}, "COMMIT"},
           Row{{}, "COMPOUND"},
       }) {
    std::vector<Operation> operations;
    for (const std::uint32_t number : row.numbers) operations.push_back({number, arguments(number)});
    const CallSteps read = read_call(call_of(1, false, operations));
    EXPECT_TRUE(read.whole()) << row.leading;
    EXPECT_EQ(leading_name(read), row.leading);
  }
  EXPECT_EQ(leading_name(read_call(call_of(1, true, {cb_sequence_call}))), "CB_SEQUENCE");
}

TEST(LeadingOperation, IsNotGuessed) {
  // Behind GETATTR another one may follow.
  const Octets octets = call_of(1, false, {sequence_call, putfh_call, getattr_call, {5, words({0, 0, 0})}}).octets();
  const CallSteps cut = read_call(prefix(octets, octets.size() - 16), octets.size());
  EXPECT_EQ(cut.steps.size(), 3U);
  EXPECT_EQ(leading_operation(cut), std::nullopt);
  EXPECT_EQ(leading_name(cut), "COMPOUND");
  // Its number is enough.
  const CallSteps numbered = read_call(prefix(octets, octets.size() - 12), octets.size());
  EXPECT_EQ(leading_name(numbered), "COMMIT");
  // A number without a name
  EXPECT_EQ(leading_name(read_call(call_of(1, false, {sequence_call, {4711, {}}}))), "COMPOUND");
}

}  // namespace
}  // namespace rpcrdma::wire
