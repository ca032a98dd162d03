// SPDX-License-Identifier: GPL-2.0-or-later
// What the trace itself says about frames: numbers, cut frames, time. What the transports say is tested beside them.
#include "trace/trace.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "../wire/packets.hpp"

namespace rpcrdma::test {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): the names under test

class QualitySink : public EventSink {
 public:
  void on(const ConnectRequest&) override {}
  void on(const ConnectReply&) override {}
  void on(const ConnectReject&) override {}
  void on(const RequestReceipt&) override {}
  void on(const RequestUndelivered&) override {}
  void on(const Sighted& e) override {
    EXPECT_EQ(e.connection, 0U);
    sighted.push_back(e.address + " " + std::to_string(e.frame.number));
    sighted_at.push_back(e.frame.time);
  }
  void on(const ConnectReady&) override {}
  void on(const Adopted&) override {}
  void on(const Disconnect&) override {}
  void on(const SendPart&) override {}
  void on(const Send&) override {}
  void on(const Write&) override {}
  void on(const ReadRequest&) override {}
  void on(const ReadResponse&) override {}
  void on(const Refusal&) override {}
  void on(const Acknowledged&) override {}
  void on(const Gap&) override {}
  void on(const Repeated&) override {}
  void on(const Quality& q) override {
    if (q.kind == Quality::Kind::frame_truncated) {
      EXPECT_EQ(q.connection, 0U);
      truncated.push_back(q.frame.number);
    }
    if (q.kind == Quality::Kind::time_backwards) {
      EXPECT_EQ(q.connection, 0U);
      backwards.push_back(q.frame.number);
    }
  }

  std::vector<std::string> sighted;
  std::vector<TimeNs> sighted_at;
  std::vector<std::uint64_t> truncated;
  std::vector<std::uint64_t> backwards;
};

struct Feeder {
  QualitySink sink;
  Trace trace{Options{}, sink};
  std::uint64_t number = 0;
  TimeNs time = 1'700'000'000'000'000'000;

  void feed(const Octets& octets, std::size_t missing = 0, LinkType link = LinkType::ethernet) {
    Frame f;
    f.ref = {++number, ++time};
    f.link = link;
    f.octets = wire::Bytes(octets).first(octets.size() - missing);
    f.wire_length = static_cast<std::uint32_t>(octets.size());
    trace.frame(f);
  }

  void feed_at(TimeNs t) {
    time = t - 1;
    feed({}, 0);
  }
};

Octets roce(std::size_t payload = 100) { return ethernet(0x0800, ipv4(17, udp(bth_packet(payload)))); }

// Some formats have packets without a time. Among others they were captured when the newest of these was, or later.
TEST(Trace, AFrameWithoutATimeAmongOthers) {
  const Octets ordinary = ethernet(0x0800, ipv4(17, udp(filled(20, 1), 53)));
  Feeder f;
  const TimeNs known = f.time + 1;
  f.feed(roce());
  f.time = -1;
  f.feed(ordinary);
  f.trace.finish();
  ASSERT_EQ(f.sink.sighted_at.size(), 1U);
  EXPECT_EQ(f.sink.sighted_at[0], known);
  EXPECT_TRUE(f.sink.backwards.empty());

  Feeder none;
  none.time = -1;
  none.feed(ordinary);
  none.trace.finish();
  ASSERT_EQ(none.sink.sighted_at.size(), 1U);
  EXPECT_EQ(none.sink.sighted_at[0], 0);
}

TEST(Trace, CountsFrames) {
  Feeder f;
  f.feed(roce());
  f.feed(ethernet(0x8915, grh(bth_packet())));
  f.feed(lrh(2, bth_packet()), 0, LinkType::infiniband);
  f.feed(ethernet(0x0806, filled(46)));
  f.feed(ethernet(0x0806, filled(46)), 10);
  f.feed(roce(), 0, static_cast<LinkType>(147));
  f.feed(ethernet(0x0800, ipv4(17, udp(filled(64), 53))));
  f.trace.finish();
  const Statistics& s = f.trace.statistics();
  EXPECT_EQ(s.frames, 7U);
  EXPECT_EQ(s.rdma_frames, 3U);
  EXPECT_EQ(s.truncated_frames, 1U);
  EXPECT_EQ(s.unknown_link, 1U);
  EXPECT_TRUE(f.sink.truncated.empty());
}

TEST(Trace, OrdinaryTcpIsNotRdma) {
  Feeder f;
  Octets request = tcp(text("GET / HTTP/1.1\r\nHost: example.net\r\n\r\n"));
  request[2] = 0;  // port 80
  request[3] = 80;
  f.feed(ethernet(0x0800, ipv4(6, request)));
  f.feed(ethernet(0x0800, ipv4(6, request)), 20);
  f.trace.finish();
  EXPECT_EQ(f.trace.statistics().rdma_frames, 0U);
  EXPECT_EQ(f.trace.statistics().truncated_frames, 1U);
  EXPECT_TRUE(f.sink.truncated.empty());
}

TEST(Trace, SaysAtTheEndWhoIsThere) {
  Feeder f;
  const Octets echo = hex("0000 0000 4e46 0001");
  f.feed(ethernet(0x0800, ipv4(1, echo)));
  f.feed(ethernet(0x86DD, ipv6(17, udp(filled(64), 53))));
  f.feed(ethernet(0x0800, ipv4(6, tcp(filled(8)))));
  f.feed(ethernet(0x0806, filled(46)));
  f.feed(roce());  // of a connection, which says it itself
  EXPECT_TRUE(f.sink.sighted.empty());
  f.trace.finish();
  EXPECT_EQ(f.sink.sighted, (std::vector<std::string>{"fd77::2 2", "192.168.77.2 3"}));
}

TEST(Trace, CutRdmaFramesAreNamed) {
  Feeder f;
  f.feed(roce());
  f.feed(roce(), 1);                // 2: cut
  f.feed(roce() + filled(12), 12);  // only padding is missing
  f.feed(roce() + filled(12), 13);  // 4: cut
  f.feed(ethernet(0x0806, filled(46)), 40);
  f.feed(erf(21, lrh(2, bth_packet(64)), {}, 2000), 0, LinkType::erf);  // lengths: the LRH's count
  Octets by_ip = roce(1000);
  by_ip.resize(200);
  f.feed(by_ip);  // 7: only IP knows
  f.trace.finish();
  EXPECT_EQ(f.sink.truncated, (std::vector<std::uint64_t>{2, 4, 7}));
  EXPECT_EQ(f.trace.statistics().truncated_frames, 6U);
}

TEST(Trace, EveryCutOfAnRdmaFrameIsTakenWithoutHarm) {
  const Octets whole = roce(64);
  Feeder f;
  for (std::size_t missing = 0; missing <= whole.size(); ++missing) f.feed(whole, missing);
  f.trace.finish();
  // Told apart from other UDP as long as the ports are there: 14 + 20 + 4 octets.
  EXPECT_EQ(f.trace.statistics().rdma_frames, whole.size() - 37);
  EXPECT_EQ(f.sink.truncated.size(), whole.size() - 38);
}

struct Times {
  const char* name;
  std::vector<TimeNs> times;
  std::vector<std::uint64_t> reported;
};

TEST(Trace, TimeBackwards) {
  constexpr TimeNs s = 1'000'000'000;
  constexpr TimeNs base = 1'700'000'000 * s;
  const Times cases[] = {
      {"forwards", {base, base, base + s, base + 3600 * s}, {}},
      {"several queues", {base + 5'000'000, base, base + 6'000'000, base + 1'000'000}, {}},
      {"exactly a second", {base + s, base}, {}},
      {"more than a second", {base + s + 1, base}, {2}},
      {"a clock that was set back is told once", {base + 3600 * s, base, base + 1, base + 2}, {2}},
      {"and again when it happens again", {base + 9 * s, base, base + 9 * s, base}, {2, 4}},
      {"frames without a time", {base, 0, base + 1, 0, base - 2 * s}, {5}},
      {"all before 1970", {-3600 * s, -3599 * s, 0, -3598 * s}, {}},
      {"as far apart as can be",
       {std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min() + 1, std::numeric_limits<TimeNs>::max()},
       {2}},
  };
  for (const auto& c : cases) {
    Feeder f;
    for (const TimeNs t : c.times) f.feed_at(t);
    EXPECT_EQ(f.sink.backwards, c.reported) << c.name;
  }
}

TEST(Trace, NothingAtAll) {
  Feeder f;
  f.trace.finish();
  EXPECT_EQ(f.trace.statistics().frames, 0U);
}

}  // namespace
}  // namespace rpcrdma::test
