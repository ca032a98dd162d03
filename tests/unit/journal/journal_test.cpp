// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal/journal.hpp"

#include <gtest/gtest.h>

#include "../wire/ib_packets.hpp"

namespace rpcrdma::test {
namespace {

using journal::Connection;
using journal::Exchange;
using journal::Handshake;
using journal::Journal;
using journal::Message;
using journal::none;
using journal::NoteKind;
using journal::Payload;
using journal::Stands;

constexpr std::uint32_t client_qpn = 0x11;
constexpr std::uint32_t server_qpn = 0x22;
constexpr std::uint32_t xid = 0x08ea8cef;

/// RoCEv2 in IPv4 without a link layer, frame after frame.
class File {
 public:
  Journal journal;

  void put(bool from_client, const Octets& packet, std::size_t snap = 65535) {
    const auto length = static_cast<std::uint32_t>(28 + packet.size());
    const Octets addresses = from_client ? hex("0a000002 0a000001") : hex("0a000001 0a000002");
    const Octets frame = hex("4500") + be16(length) + hex("00000000 4011 0000") + addresses + hex("c000 12b7") +
                         be16(length - 20) + hex("0000") + packet;
    feed(++frames, frame, snap);
  }
  void feed(std::uint64_t number, const Octets& octets, std::size_t snap = 65535) {
    const Octets captured(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(std::min(octets.size(), snap)));
    trace::Frame frame;
    frame.ref = {number, 1'700'000'000'000'000'000 + static_cast<trace::TimeNs>(number) * 1'000'000 + late_by};
    frame.link = trace::LinkType::ipv4;
    frame.octets = captured;  // gone after the call: nobody may keep it
    frame.wire_length = static_cast<std::uint32_t>(octets.size());
    journal.feed(frame);
  }
  /// TCP between ports 40000 and 20049.
  void tcp(bool from_client, std::uint32_t sequence, std::uint32_t acknowledged, std::uint8_t flags,
           const Octets& payload) {
    const auto length = static_cast<std::uint32_t>(40 + payload.size());
    const Octets ends = from_client ? hex("0a000002 0a000001 9c40 4e51") : hex("0a000001 0a000002 4e51 9c40");
    const Octets offset_and_flags{0x50, flags};
    const Octets frame = hex("4500") + be16(length) + hex("00000000 4006 0000") + ends + be32(sequence) +
                         be32(acknowledged) + offset_and_flags + hex("2000 0000 0000") + payload;
    feed(++frames, frame);
  }
  void handshake() {
    CmFields client;
    CmFields server;
    server.local_id = 0x0B0B0B01;
    server.remote_id = client.local_id;
    server.qpn = server_qpn;
    client.psn = 0x200;  // each says where the other one starts
    server.psn = 0x100;
    put(true, cm_packet(cm_req(client)));
    put(false, cm_packet(cm_rep(server)));
    CmFields ready = client;
    ready.remote_id = server.local_id;
    put(true, cm_packet(cm_rtu(ready)));
  }
  void client(std::uint8_t opcode, const Octets& extended, const Octets& payload) {
    put(true, ib_packet(opcode, server_qpn, client_psn++, extended, payload));
  }
  void server(std::uint8_t opcode, const Octets& extended, const Octets& payload) {
    put(false, ib_packet(opcode, client_qpn, server_psn++, extended, payload));
  }
  void client_response(std::uint8_t opcode, std::uint32_t psn, const Octets& payload) {
    put(true, ib_packet(opcode, server_qpn, psn, opcode == op_response_middle ? Octets{} : aeth(0x1f), payload));
  }

  /// One Call that is answered; the next one is missing.
  void lose_a_call();
  /// As often as it takes to believe that what is missing will not come any more.
  void acknowledge() {
    const Octets acknowledgement = ib_packet(op_acknowledge, client_qpn, client_psn - 1, aeth(0x1f));
    for (int i = 0; i < 3; ++i) put(false, acknowledgement);
  }

  [[nodiscard]] std::vector<NoteKind> notes(std::uint32_t frame) const {
    std::vector<NoteKind> kinds;
    for (std::uint32_t at = journal.first(frame); at != none; at = journal.note(at).next)
      kinds.push_back(journal.note(at).kind);
    return kinds;
  }
  [[nodiscard]] const Payload* payload(std::uint32_t frame) const {
    for (std::uint32_t at = journal.first(frame); at != none; at = journal.note(at).next) {
      if (journal.note(at).kind == NoteKind::payload) return &journal.payload(journal.note(at).index);
    }
    return nullptr;
  }

  std::uint64_t frames = 0;
  trace::TimeNs late_by = 0;  ///< of the stamp of what comes next
  std::uint32_t client_psn = 0x100;
  std::uint32_t server_psn = 0x200;
};

[[nodiscard]] Octets call_header(const Octets& lists) { return be32(xid) + be32(1) + be32(32) + be32(0) + lists; }
/// NULL of NFS version 3, or what `procedure` says.
[[nodiscard]] Octets rpc_call(std::uint32_t procedure) {
  return be32(xid) + be32(0) + be32(2) + be32(100003) + be32(3) + be32(procedure) + filled(16, 0);
}
[[nodiscard]] Octets rpc_reply() { return be32(xid) + be32(1) + filled(16, 0); }
const Octets no_lists = filled(12, 0);

void File::lose_a_call() {
  client(op_send_only, {}, call_header(no_lists) + rpc_call(1));
  server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  ++client_psn;
}

TEST(Journal, KeepsHandshakeMessagesAndThresholds) {
  File file;
  file.handshake();
  EXPECT_EQ(file.notes(1), std::vector<NoteKind>{NoteKind::handshake});
  EXPECT_EQ(file.notes(2), std::vector<NoteKind>{NoteKind::handshake});
  EXPECT_TRUE(file.notes(3).empty());
  const Handshake& request = file.journal.handshake(file.journal.note(file.journal.first(1)).index);
  ASSERT_TRUE(request.private_data);
  EXPECT_EQ(request.private_data->send_size, 4096U);
  EXPECT_EQ(request.area.wire_length, 56U);
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  EXPECT_EQ(file.notes(4), (std::vector<NoteKind>{NoteKind::message, NoteKind::payload}));
  const Connection* connection = file.journal.connection(1);
  ASSERT_NE(connection, nullptr);
  EXPECT_EQ(connection->thresholds.client_to_server, 4096U);
  const Exchange* exchange = file.journal.exchange(1, 1);
  ASSERT_NE(exchange, nullptr);
  EXPECT_EQ(exchange->call.number, 4U);
  EXPECT_EQ(exchange->reply.number, 5U);
}

TEST(Journal, ACallWithReadChunksIsShownWhenItIsWhole) {
  File file;
  file.handshake();
  const Octets body = rpc_call(7) + filled(40, 1);
  const Octets lists = be32(1) + be32(static_cast<std::uint32_t>(body.size())) + be32(0xA1) + be32(5000) + be64(0x7000);
  file.client(op_send_only, {}, call_header(lists + no_lists) + body);
  EXPECT_EQ(file.notes(4), std::vector<NoteKind>{NoteKind::message});
  const std::uint32_t psn = file.server_psn;
  file.server(op_read, reth(0x7000, 0xA1, 5000), {});
  for (std::uint32_t i = 0; i < 5; ++i) {
    const std::uint8_t opcode = i == 0 ? op_response_first : i == 4 ? op_response_last : op_response_middle;
    file.client_response(opcode, psn + i, filled(i == 4 ? 904 : 1024, static_cast<std::uint8_t>(i + 1)));
  }
  const Payload* call = file.payload(10);
  ASSERT_NE(call, nullptr);
  EXPECT_TRUE(call->call);
  EXPECT_EQ(call->octets,
            body + filled(1024, 1) + filled(1024, 2) + filled(1024, 3) + filled(1024, 4) + filled(904, 5));
  EXPECT_EQ(call->time, 1'700'000'000'004'000'000);  // that of the Call
  EXPECT_EQ(file.journal.message(call->message).rpc_frame, 10U);
  EXPECT_EQ(file.journal.needed_by(10), (std::vector<std::uint32_t>{4, 5, 6, 7, 8, 9}));
}

TEST(Journal, ASendOfSeveralPacketsIsCopied) {
  File file;
  file.handshake();
  const Octets whole = call_header(no_lists) + rpc_call(1) + filled(2500, 7);
  file.client(op_send_first, {}, Octets(whole.begin(), whole.begin() + 1024));
  file.client(op_send_middle, {}, Octets(whole.begin() + 1024, whole.begin() + 2048));
  EXPECT_EQ(file.notes(4), std::vector<NoteKind>{NoteKind::part});
  EXPECT_EQ(file.journal.part(file.journal.note(file.journal.first(4)).index).message, none);
  file.client(op_send_last, {}, Octets(whole.begin() + 2048, whole.end()));
  const std::uint32_t at = file.journal.first(6);
  ASSERT_NE(at, none);
  const Message& message = file.journal.message(file.journal.note(at).index);
  EXPECT_FALSE(message.octets.in_frame);
  EXPECT_EQ(message.octets.copy, whole);
  EXPECT_EQ(message.first_frame, 4U);
  EXPECT_EQ(file.journal.needed_by(6), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(file.journal.part(file.journal.note(file.journal.first(5)).index).message, file.journal.note(at).index);
}

// Of one packet, and behind a hole: its octets tell, and RPC is given what nothing has to be put back into.
TEST(Journal, AMessageThatWaitsIsShownAtOnce) {
  File file;
  file.handshake();
  file.lose_a_call();
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(1));
  const std::vector<NoteKind> both{NoteKind::message, NoteKind::payload};
  ASSERT_EQ(file.notes(6), both);
  const std::uint32_t index = file.journal.note(file.journal.first(6)).index;
  EXPECT_EQ(file.journal.message(index).kind, referee::MessageSeen::Kind::call);
  EXPECT_EQ(file.journal.message(index).exchange, 0U);
  EXPECT_TRUE(file.journal.message(index).octets.in_frame);
  file.acknowledge();
  EXPECT_EQ(file.notes(6), both);
  EXPECT_EQ(file.notes(8), std::vector<NoteKind>{});
  EXPECT_NE(file.journal.message(index).exchange, 0U);
  EXPECT_EQ(file.payload(6)->exchange, file.journal.message(index).exchange);
  file.journal.finish();
  EXPECT_EQ(file.notes(6), both);
}

TEST(Journal, AMessageThatHadToWaitStandsInItsOwnFrameAtTheEnd) {
  File file;
  file.handshake();
  file.lose_a_call();
  const Octets later = call_header(no_lists) + rpc_call(1) + filled(1500, 7);
  file.client(op_send_first, {}, Octets(later.begin(), later.begin() + 1024));
  file.client(op_send_last, {}, Octets(later.begin() + 1024, later.end()));
  EXPECT_EQ(file.notes(7), std::vector<NoteKind>{});
  file.acknowledge();
  constexpr std::uint32_t told = 8;  // what may only have changed places is waited for
  EXPECT_EQ(file.notes(told), (std::vector<NoteKind>{NoteKind::message, NoteKind::payload}));
  file.journal.finish();
  ASSERT_EQ(file.notes(7), (std::vector<NoteKind>{NoteKind::message, NoteKind::payload}));
  EXPECT_EQ(file.notes(told), std::vector<NoteKind>{});
  const Message& message = file.journal.message(file.journal.note(file.journal.first(7)).index);
  EXPECT_EQ(message.octets.copy, later);
  EXPECT_EQ(message.rpc_frame, 7U);
  EXPECT_EQ(file.journal.needed_by(7), std::vector<std::uint32_t>{6});
  EXPECT_EQ(file.journal.needed_by(told), std::vector<std::uint32_t>{6});
  const Exchange* exchange = file.journal.exchange(message.connection, message.exchange);
  ASSERT_NE(exchange, nullptr);
  EXPECT_EQ(exchange->call.number, 7U);
  const Payload* rpc = file.payload(7);
  ASSERT_NE(rpc, nullptr);
  EXPECT_EQ(&file.journal.payload(message.payload), rpc);
  EXPECT_EQ(rpc->stands, Stands::with_message);
  EXPECT_EQ(rpc->home.number, 7U);
}

// Whose it is becomes known with frames that may never come. Its own octets speak for it, as long as the file is read.
TEST(Journal, AMessageOfAnUnknownConnectionIsShownAtOnce) {
  File file;
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(1));
  ASSERT_EQ(file.notes(1), std::vector<NoteKind>{NoteKind::unplaced});
  const journal::Unplaced& call = file.journal.unplaced(file.journal.note(file.journal.first(1)).index);
  EXPECT_EQ(call.xid, xid);
  EXPECT_EQ(call.rpc, journal::Unplaced::Rpc::call);
  EXPECT_TRUE(call.octets.in_frame);
  file.journal.finish();
  EXPECT_EQ(file.notes(1), (std::vector<NoteKind>{NoteKind::message, NoteKind::payload}));
}

TEST(Journal, AMessageOfAnUnknownConnectionIsPutTogetherWhereNothingIsMissing) {
  const Octets whole = call_header(no_lists) + rpc_call(1) + filled(2500, 7);
  for (const bool missing : {false, true}) {
    File file;
    file.client(op_send_first, {}, Octets(whole.begin(), whole.begin() + 1024));
    if (missing) ++file.client_psn;
    file.client(op_send_middle, {}, Octets(whole.begin() + 1024, whole.begin() + 2048));
    EXPECT_EQ(file.notes(2), std::vector<NoteKind>{});
    file.client(op_send_last, {}, Octets(whole.begin() + 2048, whole.end()));
    ASSERT_EQ(file.notes(3).size(), missing ? 0U : 1U);
    if (missing) continue;
    EXPECT_EQ(file.journal.unplaced(file.journal.note(file.journal.first(3)).index).octets.copy, whole);
  }
}

// Neither are they taken for one where a word is another, or more stands behind a header that stands alone.
TEST(Journal, WhatIsNoMessageOfAnUnknownConnectionIsNotShown) {
  const Octets rpc = rpc_call(1);
  const Octets unread = be32(1) + be32(0) + be32(0xA1) + be32(500) + be64(0x7000) + be32(0);
  const Octets nomsg = be32(xid) + be32(1) + be32(32) + be32(1) + unread + be32(0) + be32(0);
  struct Row {
    Octets octets;
    std::size_t shown;
  };
  const std::vector<Row> rows{
      {call_header(no_lists) + rpc, 1},
      {call_header(no_lists) + be32(xid + 1) + Octets(rpc.begin() + 4, rpc.end()), 0},
      {be32(xid) + be32(3) + be32(32) + be32(0) + no_lists + rpc, 0},
      {call_header(no_lists), 0},
      {filled(64, 0), 0},
  };
  for (const Row& row : rows) {
    File file;
    file.client(op_send_only, {}, row.octets);
    EXPECT_EQ(file.notes(1).size(), row.shown);
  }
  for (const bool more : {false, true}) {
    File file;
    file.client(op_send_only, {}, nomsg + (more ? be32(0) : Octets{}));
    EXPECT_EQ(file.notes(1).size(), more ? 0U : 1U);
  }
}

// Frames that change places by their stamps: what was given up as lost comes after all, and the trace takes it for a
// repetition.
TEST(Journal, TheOnlyCopyIsKnown) {
  for (const bool another : {false, true}) {
    SCOPED_TRACE(another);
    File file;
    file.handshake();
    file.lose_a_call();
    const std::uint32_t lost_psn = file.client_psn - 1;
    const Octets own = be32(another ? xid : xid + 1);
    const Octets header = own + be32(1) + be32(32) + be32(0) + no_lists;
    const Octets call = header + own + be32(0) + be32(2) + be32(100003) + be32(3) + be32(1) + filled(16, 0);
    file.put(false, ib_packet(op_acknowledge, client_qpn, lost_psn, aeth(0x1f)));
    file.late_by = 2'700'000;
    file.put(true, ib_packet(op_acknowledge, server_qpn, file.server_psn++, aeth(0x1f)));
    file.late_by = 2'160'000;
    file.client(op_send_only, {}, call_header(no_lists) + rpc_call(1));
    file.late_by = -3'300'000;
    file.put(true, ib_packet(op_send_only, server_qpn, lost_psn, {}, call));
    const auto late = static_cast<std::uint32_t>(file.frames);
    file.late_by = 400'000;
    file.put(false, ib_packet(op_acknowledge, client_qpn, file.client_psn - 1, aeth(0x1f)));
    file.late_by = 2'300'000;
    file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
    file.late_by = 2'800'000;
    file.client(op_send_only, {}, call_header(no_lists) + rpc_call(1));
    file.journal.finish();
    const journal::Repeat* repeat = file.journal.repeat(late);
    ASSERT_NE(repeat, nullptr);
    EXPECT_EQ(repeat->only_copy, !another);
    EXPECT_EQ(file.notes(late), std::vector<NoteKind>{});
  }
}

TEST(Journal, FramesAreTakenOnceAndInOrder) {
  File file;
  file.handshake();
  const Octets nothing;
  file.feed(2, nothing);
  file.feed(3, nothing);
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  EXPECT_EQ(file.notes(4).size(), 2U);
  file.frames = 3;
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  EXPECT_EQ(file.notes(4).size(), 2U);
  file.journal.finish();
  file.journal.finish();
  EXPECT_TRUE(file.journal.finished());
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  EXPECT_EQ(file.journal.first(5), none);
  EXPECT_EQ(file.notes(4).size(), 2U);  // still there
}

TEST(Journal, ACallThatNeverBecameWholeIsShownAtTheEnd) {
  File file;
  file.handshake();
  const Octets body = rpc_call(7) + filled(40, 1);
  const Octets lists = be32(1) + be32(static_cast<std::uint32_t>(body.size())) + be32(0xA1) + be32(5000) + be64(0x7000);
  file.client(op_send_only, {}, call_header(lists + no_lists) + body);
  EXPECT_EQ(file.payload(4), nullptr);
  file.journal.finish();
  const Payload* call = file.payload(4);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->octets, body);
  EXPECT_EQ(call->placing, payload::RpcMessage::Placing::missing);
}

TEST(Journal, FindingsStandAtTheirPrimaryFrame) {
  File file;
  file.handshake();
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());  // once more
  file.journal.finish();
  bool told = false;
  for (const std::uint32_t index : file.journal.findings_of(6)) {
    const referee::Finding& finding = file.journal.finding(index);
    EXPECT_EQ(finding.frames.front(), 6U);
    EXPECT_TRUE(file.journal.concerns(finding));
    told = told || finding.rule == referee::RuleId::duplicate_reply;
  }
  EXPECT_TRUE(told);
}

TEST(Journal, OtherUsersOfRdmaLeaveNoNote) {
  File file;
  for (std::uint32_t i = 0; i < 20; ++i) {
    file.put(i % 2 == 0, ib_packet(op_send_only, i % 2 == 0 ? server_qpn : client_qpn, 100 + i, {}, filled(64, 0xFE)));
  }
  file.journal.finish();
  for (std::uint32_t frame = 0; frame <= 21; ++frame) EXPECT_EQ(file.journal.first(frame), none);
  for (std::uint32_t frame = 0; frame <= 21; ++frame) {
    for (const std::uint32_t index : file.journal.findings_of(frame)) {
      EXPECT_FALSE(file.journal.concerns(file.journal.finding(index)));
    }
  }
}

TEST(Journal, AFrameIsBlankIfNothingIsShownOfIt) {
  File file;
  file.handshake();
  file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());  // answers nothing
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  file.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  --file.client_psn;
  file.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));  // repeated by the transport
  const Octets nothing;
  file.feed(++file.frames, nothing);
  EXPECT_FALSE(file.journal.blank(7));
  file.journal.finish();
  EXPECT_FALSE(file.journal.blank(1));  // a handshake
  EXPECT_FALSE(file.journal.blank(4));
  EXPECT_FALSE(file.journal.findings_of(4).empty());
  EXPECT_FALSE(file.journal.blank(5));
  ASSERT_NE(file.journal.repeat(7), nullptr);
  EXPECT_EQ(file.journal.first(7), none);
  EXPECT_FALSE(file.journal.blank(7));
  EXPECT_TRUE(file.journal.blank(8));
}

TEST(Journal, AFrameThatIsEvidenceOrBeginsMpaIsNotBlank) {
  File evidence;
  evidence.handshake();
  evidence.client(op_send_only, {}, call_header(no_lists) + rpc_call(0));
  evidence.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  evidence.server(op_send_only, {}, call_header(no_lists) + rpc_reply());
  evidence.journal.finish();
  bool only_evidence = false;
  for (std::uint32_t frame = 1; frame <= 6; ++frame) {
    if (evidence.journal.evidence_in(frame).empty()) continue;
    EXPECT_FALSE(evidence.journal.blank(frame)) << frame;
    only_evidence = true;
  }
  EXPECT_TRUE(only_evidence);
  File mpa;
  mpa.tcp(true, 99, 0, 0x02, {});
  EXPECT_TRUE(mpa.journal.blank(1));
  mpa.tcp(true, 100, 500, 0x10, hex("4d504120494420526571204672616d65 00 01 0008 f6ab0e18 01000303"));
  EXPECT_FALSE(mpa.journal.blank(2));
}

constexpr std::uint8_t syn = 0x02;
constexpr std::uint8_t ack = 0x10;
/// "MPA ID Req Frame" or "MPA ID Rep Frame", revision 1, with RFC 8797's private data.
const Octets mpa_request = hex("4d504120494420526571204672616d65 00 01 0008 f6ab0e18 01000303");
const Octets mpa_reply = hex("4d504120494420526570204672616d65 00 01 0008 f6ab0e18 01000303");

TEST(Journal, MpaBeginsWithOneSideOfTheHandshake) {
  for (const bool from_client : {true, false}) {
    for (const bool opening : {true, false}) {
      SCOPED_TRACE(testing::Message() << "client " << from_client << ", SYN " << opening);
      File file;
      if (opening) file.tcp(from_client, 99, from_client ? 0 : 500, from_client ? syn : syn | ack, {});
      file.tcp(from_client, 100, from_client ? 500 : 528, ack, from_client ? mpa_request : mpa_reply);
      const auto frame = static_cast<std::uint32_t>(file.frames);
      EXPECT_TRUE(file.journal.mpa_begins(frame));
      EXPECT_FALSE(file.journal.mpa_begins(frame - 1));
      file.journal.finish();
      EXPECT_FALSE(file.journal.mpa_begins(frame));
      EXPECT_EQ(file.notes(frame), std::vector<NoteKind>{NoteKind::handshake});
    }
  }
}

TEST(Journal, MpaBeginsNowhereElse) {
  File file;
  file.tcp(true, 99, 0, syn, {});
  file.tcp(false, 499, 100, syn | ack, {});
  file.tcp(true, 100, 500, ack, hex("48656c6c6f") + mpa_request);  // behind other octets
  file.tcp(false, 500, 133, ack, hex("48656c6c6f"));
  file.tcp(false, 505, 133, ack, mpa_reply);  // not at the beginning of its stream
  file.tcp(true, 133, 533, ack, mpa_request);
  for (std::uint32_t frame = 1; frame <= file.frames; ++frame) EXPECT_FALSE(file.journal.mpa_begins(frame)) << frame;
  file.journal.finish();
  for (std::uint32_t frame = 1; frame <= file.frames; ++frame) EXPECT_EQ(file.journal.first(frame), none) << frame;
}

TEST(Journal, AnySnapLengthIsBorne) {
  for (std::size_t snap = 0; snap < 400; snap += 3) {
    File file;
    file.handshake();
    const Octets lists = be32(1) + be32(40) + be32(0xA1) + be32(300) + be64(0x7000) + be32(0) + be32(1) + be32(1) +
                         be32(0xA2) + be32(300) + be64(0x8000) + be32(0);
    file.put(true, ib_packet(op_send_only, server_qpn, 0x100, {}, call_header(lists) + rpc_call(7)), snap);
    file.put(false, ib_packet(op_write_only, client_qpn, 0x200, reth(0x8000, 0xA2, 300), filled(300, 2)), snap);
    file.put(false, ib_packet(op_read, client_qpn, 0x201, reth(0x7000, 0xA1, 300)), snap);
    file.put(true, ib_packet(op_response_only, server_qpn, 0x201, aeth(0x1f), filled(300, 1)), snap);
    file.put(false, ib_packet(op_send_only, client_qpn, 0x202, {}, call_header(no_lists) + rpc_reply()), snap);
    file.journal.finish();
    for (std::uint32_t frame = 1; frame <= file.frames; ++frame) {
      if (const Payload* payload = file.payload(frame); payload != nullptr) {
        EXPECT_LE(payload->octets.size(), payload->wire_length);
      }
    }
  }
}

}  // namespace
}  // namespace rpcrdma::test
