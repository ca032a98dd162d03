// SPDX-License-Identifier: GPL-2.0-or-later
// What Calls ask for and Replies say, as the XDR files of the RFCs lay them out, whole and cut at every length.
#include "wire/nfs_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "encoder.hpp"
#include "wire/nfs_status.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using test::prefix;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using Octets = std::vector<std::uint8_t>;
using Told = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

constexpr Asked compound_asked{100003, 4, 1, Protection::none};
constexpr Asked callback_asked{0x40000000, 1, 1, Protection::none};

Encoder words(const Words& values) { return Encoder().words(values); }
Encoder join(std::initializer_list<Encoder> parts) {
  Encoder all;
  for (const Encoder& part : parts) all.append(part.octets());
  return all;
}
/// stateid4: seqid 7, other 01 to 0c
Encoder state() { return words({7, 0x01020304, 0x05060708, 0x090A0B0C}); }
constexpr const char* state_told = "7/0102030405060708090a0b0c";
/// sessionid4: a0 to af
Encoder session() { return words({0xA0A1A2A3, 0xA4A5A6A7, 0xA8A9AAAB, 0xACADAEAF}); }
constexpr const char* session_told = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
Encoder handle() { return Encoder().opaque(9); }
Encoder channel() { return words({0, 1049620, 1049480, 3428, 8, 64, 1, 5}); }

// --- Told as text

template <std::size_t size>
std::string told(const std::array<std::uint8_t, size>& octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", octet);
    text += two.data();
  }
  return text;
}
std::string told(std::monostate) { return {}; }
std::string told(const StateId& state) { return std::to_string(state.sequence) + "/" + told(state.other); }
std::string told(const SessionId& session) { return told(session.octets); }
std::string told(const OffloadDone& done) { return told(done.state) + " status " + std::to_string(done.status); }
std::string told(const Layouts& layouts) {
  if (layouts.of == Layouts::Of::file) return "file " + told(layouts.state);
  return layouts.of == Layouts::Of::fsid ? "fsid" : "all";
}
std::string told(const BoundConnection& bound) {
  return told(bound.session) + " direction " + std::to_string(bound.direction);
}
std::string told(const SessionWanted& wanted) { return "flags " + std::to_string(wanted.flags); }
std::string told(const Sequenced& sequenced) {
  return told(sequenced.session) + " flags " + std::to_string(sequenced.flags);
}
std::string told(const Copied& copied) {
  return std::string(copied.synchronous ? "synchronous" : "asynchronous") + " count " + std::to_string(copied.count) +
         (copied.callback ? " callback " + told(*copied.callback) : "");
}
std::string told(const OffloadProgress& progress) {
  return "count " + std::to_string(progress.count) +
         (progress.complete ? " complete " + std::to_string(*progress.complete) : "");
}
std::string told(const CreatedSession& created) {
  return told(created.session) + " flags " + std::to_string(created.flags);
}
std::string told(const CallStep& step) {
  const std::string what = std::visit([](const auto& arguments) { return told(arguments); }, step.arguments);
  return std::to_string(step.operation) + (what.empty() ? "" : " ") + what;
}
std::string told(const ReplyStep& step) {
  const std::string what = std::visit([](const auto& result) { return told(result); }, step.result);
  return std::to_string(step.operation) + "=" + std::to_string(step.status) + (what.empty() ? "" : " ") + what;
}
template <class Steps>
Told all_told(const Steps& steps) {
  Told all;
  for (const auto& step : steps) all.push_back(told(step));
  return all;
}

/// What was read of a cut message stands first in the whole reading; of the last step something may lack.
void expect_first_of(const Told& whole, const Told& cut, std::size_t length) {
  ASSERT_LE(cut.size(), whole.size()) << length;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (i + 1 == cut.size()) {
      EXPECT_EQ(whole[i].compare(0, cut[i].size(), cut[i]), 0) << length << ": " << cut[i] << " of " << whole[i];
    } else {
      EXPECT_EQ(cut[i], whole[i]) << length;
    }
  }
}

// --- Calls

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

CallSteps read_call(const Octets& octets, std::size_t wire_length, const NfsItems* listed = nullptr) {
  CallSteps steps;
  read_call_steps(octets, wire_length, listed, steps);
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
  const auto s = [] { return wire::state(); };
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
       {41, join({wire::session(), words({7, 0})})},
       "41 " + session + " direction 7",
       "BIND_CONN_TO_SESSION"},
      // csa_clientid, csa_sequence, csa_flags; two channel_attrs4; csa_cb_program, csa_sec_parms<>
      {"CREATE_SESSION",
       1,
       false,
       {43, join({words({1, 2, 9, 3}), channel(), channel(), words({0x40000000, 1, 0})})},
       "43 flags 3",
       "CREATE_SESSION"},
      {"DESTROY_SESSION", 1, false, {44, wire::session()}, "44 " + session, "DESTROY_SESSION"},
      {"RECLAIM_COMPLETE", 1, false, {58, words({0})}, "58", "RECLAIM_COMPLETE"},
      // eia_clientowner, eia_flags, SP4_NONE, eia_client_impl_id<>
      {"EXCHANGE_ID",
       1,
       false,
       {42, join({words({1, 2}), Encoder().text("owner"), words({0x101, 0, 0})})},
       "42",
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
/// rpc_gss_integ_data: databody_integ with the sequence number in front, checksum
Encoder integrity(const Encoder& body) {
  return join({words({static_cast<std::uint32_t>(body.size() + 4), 5}), body, Encoder().opaque(28)});
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
  read_call_steps({}, 0, nullptr, steps);
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

TEST(MovedArguments, AsAWalkWithTheChunksFoundThem) {
  const std::string returned = "8 " + std::string(state_told);
  for (const bool moved : {false, true}) {
    const WriteCall call = write_call(moved);
    NfsItems listed;
    std::vector<ReadChunk> chunks;
    if (moved) chunks.push_back({call.position, 5, 1});
    list_call_items(call.octets, call.octets.size(), chunks, listed);
    ASSERT_EQ(listed.items.size(), 1U);
    for (const NfsItems* items : {static_cast<const NfsItems*>(&listed), static_cast<const NfsItems*>(nullptr)}) {
      const CallSteps read = read_call(call.octets, call.octets.size(), items);
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

// --- Replies

/// xid, REPLY, MSG_ACCEPTED, AUTH_NONE, SUCCESS
Encoder reply_header(std::uint32_t accept_stat = 0) { return words({0x11223344, 1, 0, 0, 0, accept_stat}); }

struct Answer {
  std::uint32_t number;
  std::uint32_t status;
  Encoder results;
};

Encoder reply_of(const std::vector<Answer>& answers) {
  Encoder reply = join({reply_header(), words({answers.back().status}), Encoder().text("tag")});
  reply.word(static_cast<std::uint32_t>(answers.size()));
  for (const Answer& answer : answers) {
    reply.words({answer.number, answer.status}).append(answer.results.octets());
  }
  return reply;
}

ReplySteps read_reply(const Octets& octets, std::size_t wire_length, const Asked& asked = compound_asked,
                      const NfsItems* listed = nullptr) {
  ReplySteps steps;
  read_reply_steps(octets, wire_length, asked, listed, steps);
  return steps;
}
ReplySteps read_reply(const Encoder& reply, const Asked& asked = compound_asked) {
  return read_reply(reply.octets(), reply.size(), asked);
}

/// sr_sessionid, sr_sequenceid, sr_slotid, sr_highest_slotid, sr_target_highest_slotid, sr_status_flags
Answer sequence_answer(std::uint32_t flags = 0) { return {53, 0, join({session(), words({1, 2, 3, 4, flags})})}; }
const Answer putfh_answer{22, 0, {}};

struct ReplyCase {
  std::string name;
  bool callback;
  Answer answer;
  std::string told;
};

std::vector<ReplyCase> reply_cases() {
  const std::string session = session_told;
  const auto s = [] { return wire::state(); };
  return {
      {"DELEGRETURN", false, {8, 0, {}}, "8=0"},
      {"DELEGRETURN_revoked", false, {8, 10087, {}}, "8=10087"},
      // wr_callback_id<1>, wr_count, wr_committed, wr_writeverf; cr_consecutive, cr_synchronous
      {"COPY_synchronous", false, {60, 0, words({0, 1, 2, 2, 8, 9, 1, 1})}, "60=0 synchronous count 4294967298"},
      {"COPY_asynchronous",
       false,
       {60, 0, join({words({1}), s(), words({0, 0, 0, 8, 9, 1, 0})})},
       "60=0 asynchronous count 0 callback " + std::string(state_told)},
      {"COPY_requirements", false, {60, 10094, words({1, 1})}, "60=10094"},
      {"COPY_failed", false, {60, 28, {}}, "60=28"},
      // osr_count, osr_complete<1>
      {"OFFLOAD_STATUS_going_on", false, {67, 0, words({0, 512, 0})}, "67=0 count 512"},
      {"OFFLOAD_STATUS_complete", false, {67, 0, words({0, 512, 1, 0})}, "67=0 count 512 complete 0"},
      {"OFFLOAD_STATUS_failed", false, {67, 0, words({0, 512, 1, 5})}, "67=0 count 512 complete 5"},
      {"OFFLOAD_STATUS_unknown", false, {67, 10025, {}}, "67=10025"},
      {"OFFLOAD_CANCEL", false, {66, 0, {}}, "66=0"},
      // csr_sessionid, csr_sequence, csr_flags, two channel_attrs4
      {"CREATE_SESSION",
       false,
       {43, 0, join({wire::session(), words({9, 3}), channel(), channel()})},
       "43=0 " + session + " flags 3"},
      {"CREATE_SESSION_stale", false, {43, 10022, {}}, "43=10022"},
      // bctsr_sessid, bctsr_dir, bctsr_use_conn_in_rdma_mode
      {"BIND_CONN_TO_SESSION",
       false,
       {41, 0, join({wire::session(), words({3, 0})})},
       "41=0 " + session + " direction 3"},
      // lrs_present, lrs_stateid
      {"LAYOUTRETURN", false, {51, 0, join({words({1}), s()})}, "51=0"},
      {"LAYOUTRETURN_last", false, {51, 0, words({0})}, "51=0"},
      {"RECLAIM_COMPLETE", false, {58, 10054, {}}, "58=10054"},
      {"EXCHANGE_ID",
       false,
       {42, 0, join({words({1, 2, 1, 3, 0, 0, 9}), Encoder().text("owner"), Encoder().text("scope"), words({0})})},
       "42=0"},
      {"WRITE_later", false, {38, 10008, {}}, "38=10008"},
      {"CB_RECALL", true, {4, 0, {}}, "4=0"},
      {"CB_RECALL_later", true, {4, 10008, {}}, "4=10008"},
      {"CB_LAYOUTRECALL_none", true, {5, 10060, {}}, "5=10060"},
      {"CB_OFFLOAD", true, {15, 0, {}}, "15=0"},
      // obj_attributes: a bitmap and opaque values
      {"CB_GETATTR", true, {3, 0, join({words({1, 24}), Encoder().opaque(16)})}, "3=0"},
  };
}

class EveryReply : public testing::TestWithParam<ReplyCase> {
 protected:
  [[nodiscard]] static Asked asked() { return GetParam().callback ? callback_asked : compound_asked; }
  [[nodiscard]] static Encoder reply() {
    // csr_sessionid, csr_sequenceid, csr_slotid, csr_highest_slotid, csr_target_highest_slotid
    const Answer first =
        GetParam().callback ? Answer{11, 0, join({session(), words({1, 0, 0, 0})})} : sequence_answer(0x201);
    std::vector<Answer> answers{first, GetParam().answer};
    if (GetParam().answer.status == 0) {
      answers.push_back(GetParam().callback ? Answer{10, 0, {}} : putfh_answer);
    }
    return reply_of(answers);
  }
  [[nodiscard]] static Told expected() {
    Told told{GetParam().callback ? "11=0" : "53=0 " + std::string(session_told) + " flags 513", GetParam().told};
    if (GetParam().answer.status == 0) told.emplace_back(GetParam().callback ? "10=0" : "22=0");
    return told;
  }
};

TEST_P(EveryReply, IsRead) {
  const ReplySteps read = read_reply(reply(), asked());
  EXPECT_TRUE(read.whole()) << read.stopped->field;
  ASSERT_TRUE(read.rpc);
  EXPECT_TRUE(read.rpc->accepted);
  EXPECT_EQ(read.rpc->status, 0U);
  EXPECT_EQ(read.status, GetParam().answer.status);
  EXPECT_EQ(read.announced, expected().size());
  EXPECT_EQ(all_told(read.steps), expected());
}

TEST_P(EveryReply, CutAnywhereIsItsBeginning) {
  const Octets octets = reply().octets();
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const Octets cut = prefix(octets, n);
    const ReplySteps read = read_reply(cut, octets.size(), asked());
    ASSERT_TRUE(read.stopped) << n;
    EXPECT_EQ(read.stopped->fault, Fault::truncated) << n;
    EXPECT_LE(read.stopped->offset, n);
    EXPECT_EQ(read.rpc.has_value(), n >= 24) << n;
    EXPECT_EQ(read.status.has_value(), n >= 28) << n;
    expect_first_of(expected(), all_told(read.steps), n);

    const ReplySteps ended = read_reply(cut, n, asked());
    ASSERT_TRUE(ended.stopped) << n;
    EXPECT_EQ(ended.stopped->fault, Fault::invalid) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryReply, testing::ValuesIn(reply_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(ReplySteps, SequenceIsReadableFromACutMessage) {
  // 24 octets of RPC, status, empty tag, count; SEQUENCE, its status, its 36 octets
  const Octets octets = join({reply_header(), words({0, 0, 3, 53, 0}), session(), words({1, 2, 3, 4, 0x400})}).octets();
  const ReplySteps read = read_reply(octets, 300000);
  EXPECT_EQ(read.stopped->fault, Fault::truncated);
  ASSERT_EQ(read.steps.size(), 1U);
  const auto* const sequenced = std::get_if<Sequenced>(&read.steps[0].result);
  ASSERT_NE(sequenced, nullptr);
  EXPECT_EQ(sequenced->flags, seq4_backchannel_fault);
}

TEST(ReplySteps, WhatRpcRefuses) {
  for (const std::uint32_t status : {1U, 2U, 3U, 4U, 5U}) {
    const ReplySteps read = read_reply(reply_header(status));
    EXPECT_TRUE(read.whole());
    ASSERT_TRUE(read.rpc);
    EXPECT_EQ(read.rpc->status, status);
    EXPECT_FALSE(read.status);
  }
  const ReplySteps denied = read_reply(words({1, 1, 1, 1, 5}));  // MSG_DENIED, AUTH_ERROR, AUTH_TOOWEAK
  ASSERT_TRUE(denied.rpc);
  EXPECT_FALSE(denied.rpc->accepted);
  EXPECT_TRUE(denied.whole());
  const ReplySteps no_reply = read_reply(words({1, 0, 2, 100003, 4, 1}));
  EXPECT_FALSE(no_reply.rpc);
  EXPECT_EQ(no_reply.stopped->fault, Fault::invalid);
}

TEST(ReplySteps, Nfs3SaysItsStatusFirst) {
  const Asked asked{100003, 3, 7, {}};
  const Octets octets = join({reply_header(), words({10008, 0, 0})}).octets();  // JUKEBOX, no attributes
  for (std::size_t n = 0; n <= octets.size(); ++n) {
    const ReplySteps read = read_reply(prefix(octets, n), octets.size(), asked);
    EXPECT_EQ(read.whole(), n >= 28) << n;
    EXPECT_EQ(read.status.has_value(), n >= 28) << n;
    if (n < 28) {
      EXPECT_EQ(read.stopped->fault, Fault::truncated);
    } else {
      EXPECT_EQ(*read.status, nfs3err_jukebox);
    }
    EXPECT_THAT(read.steps, IsEmpty());
  }
  const ReplySteps nothing = read_reply(reply_header(), {100003, 3, 0, {}});
  EXPECT_TRUE(nothing.whole());
  EXPECT_FALSE(nothing.status);
}

TEST(ReplySteps, OtherProgramsAreNotRead) {
  for (const Asked& asked :
       {Asked{100003, 2, 6, {}}, Asked{100021, 4, 2, {}}, Asked{100003, 4, 2, {}}, Asked{0x40000000, 1, 2, {}}}) {
    const ReplySteps read = read_reply(join({reply_header(), words({0, 0, 0})}), asked);
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    EXPECT_FALSE(read.status);
  }
}

TEST(ReplySteps, UnderRpcsecGss) {
  // A verifier of RPCSEC_GSS with a checksum of four octets
  const Encoder header = words({0x11223344, 1, 0, 6, 4, 77, 0});
  const Encoder results = words({10008, 0, 1, 38, 10008});  // COMPOUND's status, empty tag, WRITE: DELAY
  const auto asked = [](std::optional<Protection> protection) { return Asked{100003, 4, 1, protection}; };
  EXPECT_THAT(all_told(read_reply(join({header, results}), asked(Protection::none)).steps), ElementsAre("38=10008"));
  EXPECT_THAT(all_told(read_reply(join({header, integrity(results)}), asked(Protection::integrity)).steps),
              ElementsAre("38=10008"));
  const ReplySteps nfs3 =
      read_reply(join({header, integrity(words({10008, 0, 0}))}), {100003, 3, 7, Protection::integrity});
  EXPECT_EQ(nfs3.status, nfs3err_jukebox);
  EXPECT_TRUE(nfs3.whole());
  for (const auto protection : {std::optional<Protection>{}, std::optional(Protection::privacy)}) {
    const ReplySteps read = read_reply(join({header, integrity(results)}), asked(protection));
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::unsupported);
    EXPECT_FALSE(read.status);
  }
  // Without such a verifier nothing is protected, whoever does not know the Call.
  EXPECT_TRUE(read_reply(reply_of({putfh_answer}), asked({})).whole());
}

TEST(ReplySteps, WhatCannotBe) {
  struct Row {
    std::string name;
    std::vector<Answer> answers;
    Fault fault;
    Told told;
  };
  for (const Row& row : {
           Row{"two callbacks of a copy",
               {{60, 0, join({words({2}), state(), state(), words({0, 0, 0, 8, 9, 1, 0})})}},
               Fault::invalid,
               {"60=0"}},
           Row{"two callbacks, whose words would do for a copy without one",
               {{60, 0, words({2, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 8, 9, 1, 0})}},
               Fault::invalid,
               {"60=0"}},
           Row{"no boolean", {{60, 0, words({0, 0, 0, 2, 8, 9, 1, 2})}}, Fault::invalid, {"60=0"}},
           Row{"two completions", {{67, 0, words({0, 0, 2, 0, 0})}}, Fault::invalid, {"67=0"}},
           Row{"four thousand million completions",
               {{67, 0, words({0, 0, 0xFFFFFFFF, 0, 0})}},
               Fault::invalid,
               {"67=0"}},
           Row{"an operation that does not exist", {{76, 0, {}}}, Fault::unsupported, {"76=0"}},
           Row{"something behind a failure", {{22, 70, {}}, {9, 0, {}}}, Fault::invalid, {"22=70"}},
       }) {
    const ReplySteps read = read_reply(reply_of(row.answers));
    ASSERT_TRUE(read.stopped) << row.name;
    EXPECT_EQ(read.stopped->fault, row.fault) << row.name;
    EXPECT_THAT(all_told(read.steps), ElementsAreArray(row.told)) << row.name;
  }
}

TEST(ReplySteps, HostileCounts) {
  for (const std::uint32_t count : {3U, 0x3FFFFFFFU, 0xFFFFFFFFU}) {
    const Octets octets = join({reply_header(), words({0, 0, count, 22, 0, 22, 0})}).octets();
    const ReplySteps read = read_reply(octets, octets.size());
    ASSERT_TRUE(read.stopped);
    EXPECT_EQ(read.stopped->fault, Fault::invalid) << count;
    const ReplySteps cut = read_reply(octets, std::size_t{0x40000000});
    ASSERT_TRUE(cut.stopped);
    EXPECT_EQ(cut.stopped->fault, count > 0x8000000 ? Fault::invalid : Fault::truncated) << count;
    EXPECT_EQ(cut.steps.size(), count > 0x8000000 ? 0U : 2U);
  }
  const ReplySteps many = read_reply(reply_of(std::vector<Answer>(1000, putfh_answer)));
  EXPECT_EQ(many.steps.size(), steps_limit);
  EXPECT_EQ(many.announced, 1000U);
  EXPECT_EQ(many.stopped->fault, Fault::unsupported);
}

TEST(MovedResults, BehindThemReadingGoesOn) {
  // READ: eof, 4096 octets; GETATTR. The data are here, or a Write chunk holds them.
  for (const bool moved : {false, true}) {
    Encoder reply = reply_of({sequence_answer(), {25, 0, words({1, 4096})}, {9, 0, words({1, 24, 4, 5})}});
    Octets octets = reply.octets();
    if (!moved) {
      const auto at = octets.end() - 24;  // GETATTR's operation, status and four words
      octets.insert(at, 4096, 0x5A);
    }
    NfsItems listed;
    const std::vector<std::uint64_t> lengths(moved ? 1 : 0, 4096);
    list_reply_items(octets, octets.size(), 100003, 4, 1, lengths, listed);
    for (const NfsItems* items : {static_cast<const NfsItems*>(&listed), static_cast<const NfsItems*>(nullptr)}) {
      const ReplySteps read = read_reply(octets, octets.size(), compound_asked, items);
      EXPECT_TRUE(read.whole()) << moved;
      EXPECT_THAT(all_told(read.steps), ElementsAre("53=0 " + std::string(session_told) + " flags 0", "25=0", "9=0"));
    }
  }
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
