// SPDX-License-Identifier: GPL-2.0-or-later
// CM messages to epochs of connections.
#include <gtest/gtest.h>

#include "ib_peers.hpp"
#include "trace/ib/flows.hpp"

namespace rpcrdma::test {
namespace {

class IbHandshake : public testing::Test {
 protected:
  IbHandshake() { p.set_up_fields(); }
  Peers p;
};

TEST_F(IbHandshake, OpensAConnection) {
  p.client_cm.responder_resources = 9;
  p.client_cm.rnr_retry = 0;
  p.server_cm.initiator_depth = 8;
  p.server_cm.rnr_retry = 7;
  p.req();
  p.rep();
  p.rtu();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-",
                                  "1P #2 reply 10.0.0.1:20049/0x22", "1A #3 ready"}));
  EXPECT_EQ(p.sink.private_data, (Lines{"f6ab0e1801010303 56/56", "f6ab0e1801000303 196/196"}));
  const auto& request = p.sink.requests.at(0);
  EXPECT_EQ(request.transport, trace::Transport::rocev2);
  EXPECT_EQ(request.opened.number, 1U);
  EXPECT_EQ(request.service_id, 0x0000000001064E51ULL);
  EXPECT_EQ(request.depths.responder_resources, 9U);
  EXPECT_EQ(request.depths.retry_count, 6U);
  EXPECT_EQ(request.depths.rnr_retry, 0U);
  EXPECT_EQ(p.sink.replies.at(0).depths.initiator_depth, 8U);
  EXPECT_EQ(p.sink.replies.at(0).depths.rnr_retry, 7U);
  EXPECT_FALSE(p.sink.replies.at(0).depths.retry_count);
}

TEST_F(IbHandshake, FoldsRepeatedMessages) {
  p.req();
  p.req();
  p.rep();
  p.rep();
  p.rtu();
  p.rtu();
  p.client_dreq();
  p.client_dreq();
  p.server_drep();
  p.server_drep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #3 reply 10.0.0.1:20049/0x22",
                   "1A #2 repeated handshake", "1P #4 repeated handshake", "1A #5 ready", "1A #6 repeated handshake",
                   "1A #7 disconnect request", "1A #8 repeated handshake", "1P #9 disconnect reply",
                   "1P #10 repeated handshake"}));
}

TEST_F(IbHandshake, AnMraOfTheServerIsAReceiptOnceAndInFrontOfItsAnswer) {
  p.req();
  const CmFields f = p.server_cm;
  p.from_server(cm_packet(cm_mra(f)));
  p.from_server(cm_packet(cm_mra(f)));
  p.rep();
  p.from_server(cm_packet(cm_mra(f)));
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #2 receipt",
                                  "1P #4 reply 10.0.0.1:20049/0x22"}));
}

TEST_F(IbHandshake, IcmpAboutTheRequestCountsOnceAndInFrontOfItsAnswer) {
  p.undelivered(p.client_cm.local_id);  // of a request that is not in the capture
  p.req();
  p.undelivered(p.client_cm.local_id + 1);
  p.undelivered(p.client_cm.local_id);
  p.req();
  p.undelivered(p.client_cm.local_id);
  p.rep();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #2 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #4 undelivered",
                                  "1P #7 reply 10.0.0.1:20049/0x22", "1A #5 repeated handshake"}));
}

TEST_F(IbHandshake, IcmpBehindTheAnswerSaysNothing) {
  p.req();
  p.rep();
  p.sink.news();
  p.undelivered(p.client_cm.local_id);
  EXPECT_EQ(p.sink.news(), Lines{});
}

TEST_F(IbHandshake, Reject) {
  p.req();
  CmFields f = p.server_cm;
  f.reason = 28;
  p.from_server(cm_packet(cm_rej(f)));
  p.from_server(cm_packet(cm_rej(f)));
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #2 reject 28",
                                  "1P #3 repeated handshake"}));
  // Asked again with the same queue pair: no epoch is superseded, the first one was over.
  p.client_cm.local_id += 1;
  p.client_cm.transaction += 1;
  p.server_cm.remote_id += 1;
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"2A #4 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "2P #5 reply 10.0.0.1:20049/0x22"}));
}

// A REJ's local ID may be 0 when its sender never made one.
TEST_F(IbHandshake, RejectWithoutLocalId) {
  p.req();
  CmFields f = p.server_cm;
  f.local_id = 0;
  p.from_server(cm_packet(cm_rej(f)));
  EXPECT_EQ(p.sink.news().back(), "1P #2 reject 8");
}

TEST_F(IbHandshake, ClientRejectsTheReply) {
  p.req();
  p.rep();
  CmFields f = p.client_cm;
  f.remote_id = p.server_cm.local_id;
  f.reason = 10;
  p.from_client(cm_packet(cm_rej(f)));
  EXPECT_EQ(p.sink.news().back(), "1A #3 reject 10");
}

TEST_F(IbHandshake, DataEstablishesWithoutRtu) {
  p.req();
  p.rep();
  p.sink.news();
  p.call(Peers::client_psn);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #3 ready by data", "1A #3 send 1 length 64 to #3"}));
  p.rtu();  // late: two queues of the adapter
  EXPECT_EQ(p.sink.news(), (Lines{"1A #4 ready"}));
  p.rtu();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 repeated handshake"}));
}

TEST_F(IbHandshake, QueuePairUsedAgainSupersedes) {
  p.handshake();
  p.call(Peers::client_psn);
  p.sink.news();
  p.client_cm.local_id = 0x0A0A0A02;
  p.client_cm.transaction += 7;
  p.client_cm.source_port = 40001;
  p.server_cm.local_id = 0x0B0B0B02;
  p.server_cm.remote_id = 0x0A0A0A02;
  p.server_cm.psn = 0x500;
  p.req();
  p.rep();
  p.rtu();
  p.call(0x500);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 disconnect superseded", "2A #5 request 10.0.0.2:40001/0x11 10.0.0.1:20049/-",
                                  "2P #6 reply 10.0.0.1:20049/0x22", "2A #7 ready", "2A #8 send 1 length 64 to #8"}));
}

// After more than a minute packets count from elsewhere: the next connection, whose handshake is missing, or this one.
TEST_F(IbHandshake, WhetherItGoesOnIsNotKnown) {
  for (const trace::TimeNs silence : {59'000'000'000, 61'000'000'000}) {
    for (const std::uint32_t ahead : {4'000U, 5'000U}) {
      SCOPED_TRACE(testing::Message() << ahead << " ahead after " << silence);
      Peers fresh;
      fresh.set_up_fields();
      fresh.handshake();
      fresh.call(Peers::client_psn);
      fresh.sink.news();
      fresh.time += silence;
      fresh.call(Peers::client_psn + ahead);
      fresh.finish();
      const bool told = silence > 60'000'000'000 && ahead > 4'096;
      EXPECT_EQ(fresh.sink.news().front(), told ? "1A #5 disconnect unseen" : "1A #5 gap " + std::to_string(ahead - 1));
    }
  }
}

// Neighbours have changed places in the file. For what is missing nobody waits longer than that may take.
TEST_F(IbHandshake, FarewellStandsBehindItsAnswer) {
  p.handshake();
  p.sink.news();
  p.server_drep();
  EXPECT_EQ(p.sink.news(), Lines{});
  p.client_dreq();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 disconnect request", "1P #4 disconnect reply"}));
}

TEST_F(IbHandshake, FarewellIsMissingInFrontOfItsAnswer) {
  for (const bool ends : {false, true}) {
    Peers q;
    q.set_up_fields();
    q.handshake();
    q.server_drep();
    q.sink.news();
    if (ends) {
      q.finish();
    } else {
      q.transport.time_passed({q.frame + 1, q.time + 1'000'000'000});
    }
    EXPECT_EQ(q.sink.news(), (Lines{"1P #4 disconnect reply"}));
  }
}

TEST_F(IbHandshake, ClosedEpochIsNotSuperseded) {
  p.handshake();
  p.client_dreq();
  p.server_drep();
  p.sink.news();
  p.client_cm.local_id += 1;
  p.server_cm.remote_id += 1;
  p.server_cm.local_id += 1;
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"2A #6 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "2P #7 reply 10.0.0.1:20049/0x22"}));
}

// The same communication ID with other numbers is another epoch, not a repetition.
TEST_F(IbHandshake, CommunicationIdUsedAgain) {
  p.handshake();
  p.client_cm.qpn = 0x33;
  p.client_cm.transaction += 1;
  p.server_cm.local_id += 1;
  p.server_cm.qpn = 0x44;
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"2A #4 request 10.0.0.2:40000/0x33 10.0.0.1:20049/-", "2P #5 reply 10.0.0.1:20049/0x44"}));
}

TEST_F(IbHandshake, EachNumberOfARequestCounts) {
  const CmFields first = p.client_cm;
  p.req();
  p.rep();
  for (int i = 0; i < 3; ++i) {
    p.sink.news();
    p.client_cm = first;
    if (i == 0) p.client_cm.psn += 1;
    if (i == 1) p.client_cm.transaction += 1;
    if (i == 2) p.client_cm.qpn += 1;
    p.req();
    p.rep();
    const Lines got = p.sink.news();
    EXPECT_FALSE(got.empty());
    for (const auto& line : got) EXPECT_EQ(line.find("repeated"), line.npos) << line;
  }
}

// Messages of two clients with the same IDs must not meet.
TEST_F(IbHandshake, IdsBelongToAddresses) {
  p.req();
  const trace::Address first = p.client;
  p.client = ipv4_address(3);
  p.req();
  p.rep();
  p.client = first;
  p.rep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"2A #2 request 10.0.0.3:40000/0x11 10.0.0.1:20049/-", "2P #3 reply 10.0.0.1:20049/0x22",
                   "1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #4 reply 10.0.0.1:20049/0x22"}));
}

TEST_F(IbHandshake, DataAfterDisconnectIsStillDelivered) {
  p.handshake();
  CmFields f = p.server_cm;
  f.qpn = Peers::client_qpn;
  p.from_server(cm_packet(cm_dreq(f)));
  p.call(Peers::client_psn);
  EXPECT_EQ(p.sink.news(), (Lines{"1P #4 disconnect request", "1A #5 send 1 length 64 to #5"}));
}

TEST_F(IbHandshake, ADreqForAnotherQueuePairEndsNothing) {
  p.handshake();
  CmFields f = p.server_cm;
  f.remote_id = p.client_cm.local_id;
  f.qpn = Peers::client_qpn + 1;
  p.from_server(cm_packet(cm_dreq(f)));
  p.call(Peers::client_psn);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #5 send 1 length 64 to #5"}));
  f.qpn = Peers::client_qpn;
  p.from_server(cm_packet(cm_dreq(f)));
  EXPECT_EQ(p.sink.news(), (Lines{"1P #6 disconnect request"}));
}

TEST_F(IbHandshake, LongClosedConnectionTakesItsStragglers) {
  p.handshake();
  p.call(Peers::client_psn);
  p.client_dreq();
  p.server_drep();
  p.time += 6'000'000'000;
  for (std::uint32_t i = 0; i < 40; ++i) {  // now it has given its memory back
    p.client_cm.local_id = 1000 + i;
    p.client_cm.qpn = 100 + i;
    p.req();
  }
  p.sink.news();
  p.call(Peers::client_psn);
  p.call(Peers::client_psn + 1);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #47 repeated retransmission", "1A #48 send 2 length 64 to #48"}));
}

TEST_F(IbHandshake, OtherServiceIdsHandOverTheWholeArea) {
  p.client_cm.service_id = 0x1234500000000000ULL;
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.private_data.at(0), "f6ab0e1801010303 92/92");
  EXPECT_EQ(p.sink.news().at(0), "1A #1 request 10.0.0.2:-/0x11 10.0.0.1:-/-");
}

TEST_F(IbHandshake, LidsGetTheAddressesOfTheIpHeader) {
  p.fabric = trace::Transport::infiniband;
  p.client = lid_address(5);
  p.server = lid_address(7);
  p.req();
  p.rep();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #2 reply 10.0.0.1:20049/0x22"}));
  p.client_cm.local_id = 77;
  p.client_cm.qpn = 0x55;
  p.client_cm.service_id = 0x99;
  p.req();
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"2A #3 request lid 5:-/0x55 lid 7:-/-"}));
}

// What a REQ says of two ports is told with both of their names: whoever hears of a connection without one can tell.
TEST_F(IbHandshake, LidsAreToldBesideTheAddressesOfTheIpHeader) {
  p.fabric = trace::Transport::infiniband;
  p.client = lid_address(5);
  p.server = lid_address(7);
  p.handshake();
  EXPECT_EQ(p.sink.requests.at(0).client.fabric, "lid 5");
  EXPECT_EQ(p.sink.requests.at(0).server.fabric, "lid 7");
  p.from_client(ib_packet(op_acknowledge, 0x66, 0x9000, aeth(0x1F)));
  p.from_server(ib_packet(op_read, 0x77, 0x9000, reth(0x10000, 0xBEEF, 8)));
  p.finish();
  ASSERT_EQ(p.sink.adopted.size(), 1U);
  EXPECT_EQ(p.sink.adopted[0].client.address, "lid 5");
  EXPECT_EQ(p.sink.adopted[0].server.address, "lid 7");
  EXPECT_EQ(p.sink.adopted[0].client.fabric, "");
}

TEST_F(IbHandshake, UnansweredRequestIsToldAtTheEnd) {
  p.req();
  p.req();
  EXPECT_TRUE(p.sink.news().empty());
  p.finish();
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1A #2 repeated handshake"}));
}

// The snap length may cut the messages before their queue pairs: the traffic tells them.
TEST_F(IbHandshake, CutBeforeTheQueuePairs) {
  p.snap = 54;
  p.req();
  p.rep();
  p.rtu();
  EXPECT_TRUE(p.sink.news().empty());
  p.call(0x9100, filled(64));
  p.server_acks(0x9100);
  p.reply(0x8200);
  p.client_acks(0x8200);
  EXPECT_EQ(p.sink.news(), (Lines{"1A #1 request 10.0.0.2:-/0x11 10.0.0.1:-/-", "1P #2 reply 10.0.0.1:-/0x22",
                                  "1A #3 ready", "1A #4 send 1 length 64 captured 42 to #4", "1P #5 acknowledges 1",
                                  "1P #6 send 1 length 48 captured 42 to #6", "1A #7 acknowledges 1"}));
  EXPECT_EQ(p.sink.private_data, (Lines{" 0/56", " 0/196"}));
}

// The starting PSN is cut, too; an answer to what is not in the capture tells that a request is missing.
TEST_F(IbHandshake, CutHandshakeAndLostFirstCall) {
  p.snap = 54;
  p.req();
  p.rep();
  p.rtu();
  p.server_acks(0x9100);
  p.reply(0x8200);
  p.client_acks(0x8200);
  p.call(0x9101);
  p.server_acks(0x9101);
  const Lines got = p.sink.news();
  EXPECT_NE(std::find(got.begin(), got.end(), "1A #4 gap 1 proven"), got.end());
  EXPECT_EQ(got.back(), "1P #8 acknowledges 1");
}

// Two different answers to one REQ, the first cut before its queue pair: the second one counts.
TEST_F(IbHandshake, SecondReplyKnowsBetter) {
  p.req();
  p.snap = 54;
  p.rep();
  p.snap = 65535;
  p.server_cm.local_id += 1;
  p.server_cm.qpn = 0x66;
  p.rep();
  p.rtu();
  p.client_dreq();
  p.client_cm.local_id += 1;
  p.client_cm.qpn = 0x77;
  p.req();
  p.finish();
  EXPECT_EQ(p.sink.news(),
            (Lines{"1A #1 request 10.0.0.2:40000/0x11 10.0.0.1:20049/-", "1P #3 reply 10.0.0.1:20049/0x66",
                   "1A #4 ready", "1A #5 disconnect request", "2A #6 request 10.0.0.2:40000/0x77 10.0.0.1:20049/-"}));
}

TEST_F(IbHandshake, MessagesCutAtEveryLength) {
  for (std::size_t snap = 0; snap < 280; ++snap) {
    Peers q;
    q.set_up_fields();
    q.snap = snap;
    q.req();
    q.rep();
    q.rtu();
    q.client_dreq();
    q.server_drep();
    q.finish();
    const Lines got = q.sink.news();
    if (snap < 20 + 24 + 8) {
      EXPECT_LE(got.size(), 5U) << snap;
    } else {
      ASSERT_EQ(got.size(), 5U) << snap;
      EXPECT_EQ(got[0].substr(0, 13), "1A #1 request") << snap;
      EXPECT_EQ(got[4], "1P #5 disconnect reply") << snap;
    }
  }
}

TEST_F(IbHandshake, ManyConnectionsStayWithinTheBound) {
  constexpr std::uint32_t many = trace::ib::Flows::max_connections + 2000;
  for (std::uint32_t i = 0; i < many; ++i) {
    p.client_cm.local_id = 1000 + i;
    p.client_cm.qpn = 100 + i;
    p.req();
  }
  p.finish();
  std::size_t requests = 0;
  std::size_t limits = 0;
  for (const auto& line : p.sink.lines) {
    requests += line.find(" request ") != std::string::npos ? 1U : 0U;
    limits += line.find("quality limit") != std::string::npos ? 1U : 0U;
  }
  EXPECT_EQ(requests, many);
  EXPECT_GT(limits, 0U);
}

// Closed long ago, and many were closed since then: what comes of it is something else's.
TEST_F(IbHandshake, OfTheClosedOnesTheNewestTakeTheirStragglers) {
  constexpr std::uint32_t room = trace::ib::Flows::max_rested;
  for (const auto& [others, known] : {std::pair(room - 100, true), std::pair(room + 100, false)}) {
    Peers q;
    q.set_up_fields();
    q.handshake();
    q.call(Peers::client_psn);
    q.client_dreq();
    q.server_drep();
    for (std::uint32_t i = 1; i <= others; ++i) {
      q.time += 10'000'000'000;
      q.client_cm.local_id = q.server_cm.remote_id = 5000 + i;
      q.server_cm.local_id = 9000 + i;
      q.client_cm.qpn = 1000 + i;
      q.server_cm.qpn = 20000 + i;
      q.req();
      q.rep();
      q.client_dreq();
      q.server_drep();
    }
    q.sink.news();
    q.call(Peers::client_psn + 1);
    q.finish();
    const Lines got = q.sink.news();
    const bool adopted = std::any_of(got.begin(), got.end(),
                                     [](const std::string& line) { return line.find("adopted") != std::string::npos; });
    EXPECT_EQ(!adopted, known) << others;
  }
}

}  // namespace
}  // namespace rpcrdma::test
