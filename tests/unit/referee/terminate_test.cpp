// SPDX-License-Identifier: GPL-2.0-or-later
// What a Terminate says, in words, and whom it does not accuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "story.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::referee {
namespace {

using story::found;
using story::Story;
using testing::HasSubstr;
using trace::Side;

trace::Refusal terminate(Story& s, std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode) {
  trace::Refusal event;
  event.connection = 1;
  event.side = Side::passive;
  event.frame = {++s.frame, s.now += 10'000};
  event.kind = trace::Refusal::Kind::terminate;
  event.layer = layer;
  event.etype = etype;
  event.ecode = ecode;
  return event;
}

/// Behind a Call and its Reply.
Report told(std::uint8_t layer, std::uint8_t etype, std::uint8_t ecode, bool truncated = false) {
  Story s;
  s.connect().call(1).reply(1);
  trace::Refusal event = terminate(s, layer, etype, ecode);
  event.truncated = truncated;
  s.referee.on(event);
  return s.end();
}

TEST(Terminate, IsToldInWords) {
  struct Case {
    std::uint8_t layer, etype, ecode;
    const char* says;
  };
  const std::vector<Case> cases = {
      {0, 1, 0x00, "RDMAP, remote protection, invalid STag"},
      {0, 1, 0x09, "STag cannot be invalidated"},
      {0, 2, 0x05, "invalid RDMAP version"},
      {0, 2, 0x06, "unexpected opcode"},
      {0, 2, 0x08, "catastrophic error of the whole adapter"},
      {1, 1, 0x01, "DDP, tagged buffer, base or bounds"},
      {1, 2, 0x01, "DDP, untagged buffer, invalid queue number"},
      {1, 2, 0x02, "no buffer available"},
      {1, 2, 0x03, "message number out of range"},
      {1, 2, 0x04, "invalid message offset"},
      {1, 2, 0x05, "message too long"},
      {1, 2, 0x06, "invalid DDP version"},
      {2, 0, 0x01, "MPA, TCP connection closed or lost"},
      {2, 0, 0x02, "MPA, CRC error"},
      {2, 0, 0x03, "MPA, marker and length do not match"},
      {2, 0, 0x04, "MPA, invalid MPA Request or Reply"},
      {2, 0, 0x05, "MPA, local catastrophic error"},
      {2, 0, 0x06, "MPA, insufficient IRD"},
      {2, 0, 0x07, "MPA, no matching RTR"},
      // Layer and type in each other's place, as soft-iWARP has them.
      {2, 1, 0x02, "as soft-iWARP packs it, DDP, untagged buffer, no buffer available"},
      {1, 0, 0x00, "or, as soft-iWARP packs it, RDMAP, remote protection, invalid STag"},
      {2, 0, 0x06, "or, as soft-iWARP packs it, RDMAP, remote operation, unexpected opcode"},
      {3, 0, 0x01, "(layer 3, type 0, code 1)"},
  };
  for (const Case& each : cases) {
    const Report report = told(each.layer, each.etype, each.ecode);
    const auto findings = found(report, RuleId::iwarp_terminate);
    ASSERT_EQ(findings.size(), 1U) << each.says;
    EXPECT_THAT(findings.front().message, HasSubstr(each.says));
  }
}

TEST(Terminate, CutBeforeItsCodeIsGivenNone) {
  const Report report = told(0, 0, 0, true);
  const auto findings = found(report, RuleId::iwarp_terminate);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings.front().message, testing::Not(HasSubstr("code 0")));
  EXPECT_FALSE(findings.front().violator);
}

/// The one that found a CRC error, a version, an offset or an IRD that it does not take has shown nobody's fault to
/// who looks on.
TEST(Terminate, AccusesNobodyOfWhatOnlyItsSenderSaw) {
  struct Case {
    std::uint8_t layer, etype, ecode;
  };
  for (const Case& each : {Case{0, 2, 5}, Case{0, 2, 6}, Case{0, 2, 7}, Case{0, 2, 8}, Case{1, 1, 4}, Case{1, 2, 1},
                           Case{1, 2, 3}, Case{1, 2, 4}, Case{1, 2, 6}, Case{2, 0, 1}, Case{2, 0, 2}, Case{2, 0, 3},
                           Case{2, 0, 4}, Case{2, 0, 5}, Case{2, 0, 6}, Case{2, 0, 7}}) {
    Story s;
    story::Chunks chunks;
    chunks.writes = {{{0xA100, 4096, 0x10000}}};
    s.connect().call(1, chunks).write(Side::passive, 0xA100, 0x10000, 4096);
    trace::Refusal event = terminate(s, each.layer, each.etype, each.ecode);
    event.side = Side::active;
    event.refused = trace::Refusal::Refused::write;
    event.refused_op = 1;
    s.referee.on(event);
    s.close(Side::active, trace::Disconnect::How::reset);
    const Report report = s.end();
    for (const Finding& finding : report.findings) {
      EXPECT_FALSE(finding.violator) << int{each.layer} << '/' << int{each.etype} << '/' << int{each.ecode} << ' '
                                     << finding.message;
    }
    // The connection ended because of it, and what it says is the reason that is told.
    const auto& closed = report.connections.at(0).closed;
    ASSERT_TRUE(closed && closed->cause) << int{each.layer} << '/' << int{each.etype} << '/' << int{each.ecode};
    EXPECT_EQ(closed->cause->rule, RuleId::iwarp_terminate);
    EXPECT_THAT(closed->cause->message, HasSubstr(wire::terminate_words(each.layer, each.etype, each.ecode)));
  }
}

}  // namespace
}  // namespace rpcrdma::referee
