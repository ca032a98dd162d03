// SPDX-License-Identifier: GPL-2.0-or-later
// What a mount has no room for: which of it goes first.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "referee/mount/presence.hpp"
#include "referee/state/mount.hpp"
#include "story.hpp"

namespace rpcrdma::referee {
namespace {

using story::Octets;
using trace::ConnectionId;
using trace::Side;

constexpr trace::TimeNs second = 1'000'000'000;

/// Many connections between two addresses.
class Busy {
 public:
  void request(ConnectionId id, trace::Transport transport = trace::Transport::rocev2, std::uint16_t port = 20049) {
    const Octets data = story::private_data(3, 3, true);
    trace::ConnectRequest event;
    base(event, id, Side::active);
    event.opened = event.frame;
    event.transport = transport;
    event.client = {"192.0.2.2", static_cast<std::uint16_t>(1024 + id), 17, 0, {}};
    event.server = {"192.0.2.1", port, std::nullopt, 0, {}};
    event.private_data.octets = data;
    event.private_data.wire_length = static_cast<std::uint32_t>(data.size());
    referee.on(event);
  }
  void open(ConnectionId id, trace::Transport transport = trace::Transport::rocev2, std::uint16_t port = 20049) {
    request(id, transport, port);
    const Octets data = story::private_data(3, 3, true);
    trace::ConnectReply reply;
    base(reply, id, Side::passive);
    reply.server = {"192.0.2.1", port, 18, 0, {}};
    reply.private_data.octets = data;
    reply.private_data.wire_length = static_cast<std::uint32_t>(data.size());
    referee.on(reply);
    trace::ConnectReady ready;
    base(ready, id, Side::active);
    ready.message_seen = true;
    referee.on(ready);
  }
  void reject(ConnectionId id) {
    request(id);
    trace::ConnectReject event;
    base(event, id, Side::passive);
    event.reason = 8;
    referee.on(event);
  }
  void call(ConnectionId id, std::uint32_t xid) {
    const std::uint64_t ordinal = send(id, Side::active, xid, story::rpc_call(xid));
    trace::Acknowledged event;
    base(event, id, Side::passive);
    event.ordinal = ordinal;
    referee.on(event);
  }
  void close(ConnectionId id) {
    for (const auto how : {trace::Disconnect::How::request, trace::Disconnect::How::reply}) {
      trace::Disconnect event;
      base(event, id, how == trace::Disconnect::How::request ? Side::passive : Side::active);
      event.how = how;
      referee.on(event);
    }
  }
  void reply(ConnectionId id, std::uint32_t xid) { send(id, Side::passive, xid, story::rpc_reply(xid)); }
  void refused(std::uint16_t from, std::uint16_t port) {
    trace::TcpAttempt event;
    for (const auto step : {trace::TcpAttempt::Step::request, trace::TcpAttempt::Step::refused}) {
      base(event, 0, step == trace::TcpAttempt::Step::request ? Side::active : Side::passive);
      event.step = step;
      event.client = {"192.0.2.2", from, std::nullopt, 0, {}};
      event.server = {"192.0.2.1", port, std::nullopt, 0, {}};
      referee.on(event);
    }
    now += second;
  }
  [[nodiscard]] Report end() { return referee.finish({frame + 1, now}); }

  Referee referee{Options{}, nullptr};
  trace::TimeNs now = 1'700'000'000 * second;
  trace::TimeNs step = 10'000;  ///< from one event to the next

 private:
  void base(trace::EventBase& event, ConnectionId id, Side side) {
    now += step;
    event.connection = id;
    event.side = side;
    event.frame = {++frame, now};
  }
  std::uint64_t send(ConnectionId id, Side side, std::uint32_t xid, const Octets& rpc) {
    Octets octets = story::header(xid, 4096, 0, {});
    octets.insert(octets.end(), rpc.begin(), rpc.end());
    trace::Send event;
    base(event, id, side);
    event.octets = octets;
    event.wire_length = static_cast<std::uint32_t>(octets.size());
    event.last = event.frame;
    event.ordinal = ++ordinals[{id, side}];
    referee.on(event);
    return event.ordinal;
  }

  std::uint64_t frame = 0;
  std::map<std::pair<ConnectionId, Side>, std::uint64_t> ordinals;
};

TEST(MountLimits, AConnectionThatWorksStaysWhereManyWereRefused) {
  Busy busy;
  busy.open(1);
  busy.call(1, 1);
  busy.reply(1, 1);
  for (ConnectionId id = 2; id < Mount::most_lives + 100; ++id) busy.reject(id);
  busy.call(1, 2);
  busy.reply(1, 2);
  EXPECT_EQ(busy.end().verdict.state, MountFacts::State::working);
}

TEST(MountLimits, OfCallsThatAreOpenTheOldestStays) {
  Busy busy;
  busy.open(1);
  busy.open(2);
  for (const ConnectionId id : {1U, 2U}) {
    busy.call(id, 1);
    busy.reply(id, 1);
  }
  busy.call(1, 7);
  busy.now += 20 * second;
  constexpr std::uint32_t many = 3 * Mount::most_lost_calls;
  for (std::uint32_t i = 0; i < many; ++i) busy.call(2, 100 + i);
  busy.now += second / 2;
  const Report report = busy.end();
  EXPECT_EQ(report.verdict.state, MountFacts::State::waiting);
  ASSERT_EQ(report.mounts.size(), 1U);
  ASSERT_TRUE(report.mounts[0].waiting);
  EXPECT_EQ(report.mounts[0].waiting->xid, 7U);
}

TEST(MountLimits, AllCallsThatAreOpenAreCounted) {
  Busy busy;
  busy.open(1);
  busy.call(1, 1);
  busy.reply(1, 1);
  constexpr std::uint32_t many = 3 * Mount::most_lost_calls;
  for (std::uint32_t i = 0; i < many; ++i) busy.call(1, 100 + i);
  const std::string sentence = busy.end().verdict.sentence;
  EXPECT_NE(sentence.find("3,073 calls, 1 answered, 3,072 still under way"), std::string::npos) << sentence;
}

TEST(MountLimits, CallsThatWereLostAndSentAgainAreNotLost) {
  constexpr std::uint32_t many = 3 * Mount::most_lost_calls;
  for (const std::uint32_t again : {many, many - 10}) {
    Busy busy;
    busy.open(1);
    busy.call(1, 1);
    busy.reply(1, 1);
    for (std::uint32_t i = 0; i < many; ++i) busy.call(1, 100 + i);
    busy.close(1);
    busy.open(2);
    for (std::uint32_t i = 0; i < again; ++i) {
      busy.call(2, 100 + i);
      busy.reply(2, 100 + i);
    }
    const std::string sentence = busy.end().verdict.sentence;
    const std::string says = again == many ? "3,073 calls, all answered" : "3,073 calls, 3,063 answered, 10 lost";
    EXPECT_NE(sentence.find(says), std::string::npos) << sentence;
  }
}

struct TimelessCase {
  const char* what;
  trace::TimeNs now;
  bool open;
  MountFacts::State state;
};

// A Call that waits at the end of a capture without times may have been made a moment ago, or an hour.
TEST(MountWithoutTimes, WaitsAsLongAsNobodyKnows) {
  using State = MountFacts::State;
  for (const TimelessCase& each : {TimelessCase{"no times, and a Call is open", 0, true, State::unknown},
                                   TimelessCase{"no times, and nothing is open", 0, false, State::working},
                                   TimelessCase{"all at once", second, true, State::working}}) {
    SCOPED_TRACE(each.what);
    Busy busy;
    busy.now = each.now;
    busy.step = 0;
    busy.open(1);
    busy.call(1, 1);
    busy.reply(1, 1);
    if (each.open) busy.call(1, 2);
    const Report report = busy.end();
    EXPECT_EQ(report.verdict.state, each.state);
    const bool timeless = each.now == 0;
    EXPECT_EQ(report.verdict.sentence.find("0 us") == std::string::npos, timeless) << report.verdict.sentence;
    EXPECT_EQ(report.mounts.at(0).longest_wait.has_value(), !timeless);
    for (const RuleId rule : {RuleId::call_hangs, RuleId::long_wait, RuleId::connection_lost}) {
      const bool unchecked = std::any_of(report.unchecked.begin(), report.unchecked.end(), [&](const Unchecked& one) {
        return one.rule == rule && one.reason.find("no times") != std::string::npos;
      });
      EXPECT_EQ(unchecked, timeless);
    }
  }
}

TEST(MountLimits, ACallIsOneThatMayHaveBeenSentAgainWhereItsXidWas) {
  // The copy goes to a connection of which it is not looked for on all others.
  for (const bool again : {false, true}) {
    Busy busy;
    constexpr ConnectionId many = 80;
    for (ConnectionId id = 1; id <= many; ++id) {
      busy.open(id);
      busy.call(id, 100 + static_cast<std::uint32_t>(id));
      busy.reply(id, 100 + static_cast<std::uint32_t>(id));
    }
    busy.call(1, 7);
    for (ConnectionId id = 2; id <= many; ++id) {
      const std::uint32_t xid = again && id == 2 ? 7 : 200 + static_cast<std::uint32_t>(id);
      busy.call(id, xid);
      busy.reply(id, xid);
    }
    busy.now += 30 * second;
    EXPECT_EQ(busy.end().verdict.state, again ? MountFacts::State::unknown : MountFacts::State::waiting) << again;
  }
}

TEST(MountLimits, AttemptsToOthersAreNoneToMount) {
  constexpr std::uint16_t iser = 3260;
  for (const std::uint16_t port : {iser, std::uint16_t{20049}}) {
    Busy busy;
    for (std::uint16_t i = 0; i < Mount::most_attempts + 100; ++i)
      busy.refused(static_cast<std::uint16_t>(1024 + i), port);
    const Report report = busy.end();
    ASSERT_EQ(report.mounts.size(), port == iser ? 0U : 1U);
    if (port != iser) {
      EXPECT_EQ(report.mounts[0].attempts.made, Mount::most_attempts + 100);
    }
  }
}

// That a port is one of a mount may show only behind them.
TEST(MountLimits, AttemptsToAServiceThatCameUpLaterCount) {
  constexpr std::uint16_t port = 3260;
  constexpr std::uint16_t many = Mount::most_attempts + 100;
  Busy busy;
  for (std::uint16_t i = 0; i < many; ++i) busy.refused(static_cast<std::uint16_t>(1024 + i), port);
  busy.open(1, trace::Transport::iwarp, port);
  busy.call(1, 1);
  busy.reply(1, 1);
  const Report report = busy.end();
  ASSERT_EQ(report.mounts.size(), 1U);
  EXPECT_EQ(report.mounts[0].attempts.made, many + 1U);
  EXPECT_EQ(report.verdict.state, MountFacts::State::working);
}

TEST(MountLimits, WhoIsNotNotedIsPerhapsThere) {
  Presence presence;
  presence.note("known", {1, 0}, Presence::Noted::all);
  presence.note("in part", {1, 0}, Presence::Noted::some);
  EXPECT_EQ(presence.newest("unknown").perhaps.number, 0U);
  for (std::uint64_t i = 1; i <= Presence::most; ++i)
    presence.note("host " + std::to_string(i), {i + 1, 0}, Presence::Noted::all);
  EXPECT_EQ(presence.newest("known").surely.number, 1U);
  EXPECT_EQ(presence.newest("known").perhaps.number, 0U);
  EXPECT_EQ(presence.newest("in part").surely.number, 1U);
  EXPECT_EQ(presence.newest("in part").perhaps.number, Presence::most + 1);
  EXPECT_EQ(presence.newest("unknown").surely.number, 0U);
  EXPECT_EQ(presence.newest("unknown").perhaps.number, Presence::most + 1);
}

}  // namespace
}  // namespace rpcrdma::referee
