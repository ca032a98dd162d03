// SPDX-License-Identifier: GPL-2.0-or-later
// Markers of a stream whose beginning is not in the capture: what says the same as one by chance is none.
#include <gtest/gtest.h>

#include <algorithm>

#include "streams.hpp"

namespace rpcrdma::iwarp_test {
namespace {

Octets call_of(std::uint32_t msn) { return concat({rpc_call(msn), pattern(1700, msn)}); }

/// A Call each message, in segments of `size` octets; the first message has the number `first`.
Story calls(std::uint32_t first, std::size_t size, bool crc) {
  Direction client;
  Direction server;
  (void)client.raw(pattern(20, 0));
  client.markers = true;
  client.crc = crc;
  Story story;
  for (std::uint32_t msn = first; msn < first + 12; ++msn) {
    const Octets call = call_of(msn);
    for (std::size_t at = 0; at < call.size(); at += size) {
      const std::size_t end = std::min(at + size, call.size());
      story.push_back({true, client.fpdu(send_ulpdu(msn, static_cast<std::uint32_t>(at), end == call.size(),
                                                    Octets(call.begin() + static_cast<std::ptrdiff_t>(at),
                                                           call.begin() + static_cast<std::ptrdiff_t>(end))))});
    }
    story.push_back({false, server.fpdu(send_ulpdu(msn, 0, true, rpc_reply(msn)))});
  }
  return story;
}

TEST(IwarpMarkers, WhatLooksLikeOneByChance) {
  TcpOptions tcp;
  tcp.syn = false;
  // Message 12 has its number where a marker would say 12, and the XID 20 stands where one would say 20.
  for (const std::uint32_t first : {1U, 6U, 12U, 20U}) {
    for (const std::size_t size : {100U, 400U, 560U, 1400U}) {
      for (const bool crc : {true, false}) {
        const auto whole = segments_of(calls(first, size, crc), tcp);
        for (std::size_t from = 0; from + 30 < whole.size() || from < 9; ++from) {
          const Recorder got =
              run(std::vector<Segment>(whole.begin() + static_cast<std::ptrdiff_t>(from), whole.end()));
          SCOPED_TRACE("messages from " + std::to_string(first) + " on, segments of " + std::to_string(size) +
                       (crc ? ", CRC" : "") + ", from segment " + std::to_string(from) + "\n" + got.text());
          std::size_t calls_seen = 0;
          for (const SeenSend& send : got.sends) {
            if (send.side != trace::Side::active || send.holes) continue;
            ++calls_seen;
            bool one = false;
            for (std::uint32_t msn = first; msn < first + 12; ++msn) one = one || send.octets == call_of(msn);
            EXPECT_TRUE(one) << "a Send of " << send.wire_length;
          }
          EXPECT_GE(calls_seen, 1U);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// A stream adopted in its middle. The last piece of an FPDU is missing, and a marker may stand in what is there.
TEST(IwarpMarkers, OfAnFpduWithoutItsLastPieceNothingIsRead) {
  TcpOptions tcp;
  tcp.syn = false;
  Direction client;
  Direction server;
  client.markers = true;
  (void)client.raw(pattern(20, 0));
  Story story;
  for (std::uint32_t msn = 1; msn <= 8; ++msn) {
    const Octets more = msn == 4 ? pattern(300, msn) : Octets{};
    story.push_back({true, client.fpdu(send_ulpdu(msn, 0, true, concat({rpc_call(msn), more})))});
    story.push_back({false, server.fpdu(send_ulpdu(msn, 0, true, rpc_reply(msn)))});
  }
  const auto whole = segments_of(story, tcp);
  for (std::size_t at = 100; at < whole[6].octets.size() - 4; at += 20) {
    auto segments = cut_at(whole, 6, at);
    segments.erase(segments.begin() + 7);
    const Recorder got = run(segments);
    for (const SeenSend& send : got.sends) EXPECT_LT(send.octets.size(), 100U) << at << "\n" << got.text();
  }
}

// The same where nothing is missing, but no FPDU is whole in a segment: what is read is what was sent, or nothing.
TEST(IwarpMarkers, InsideOfAnFpduInPieces) {
  TcpOptions tcp;
  tcp.syn = false;
  for (const bool markers : {true, false}) {
    for (const bool crc : {true, false}) {
      for (const std::size_t before : {20U, 400U, 444U, 484U}) {
        Direction client;
        Direction server;
        client.markers = markers;
        client.crc = crc;
        (void)client.raw(pattern(20, 0));
        (void)client.fpdu(send_ulpdu(9, 0, true, pattern(before, 1)));
        Story story;
        for (std::uint32_t msn = 10; msn <= 14; ++msn) {
          story.push_back({true, client.fpdu(send_ulpdu(msn, 0, true, rpc_call(msn)))});
          story.push_back({false, server.fpdu(send_ulpdu(msn, 0, true, rpc_reply(msn)))});
        }
        const auto whole = segments_of(story, tcp);
        for (std::size_t size = 5; size < whole[0].octets.size(); ++size) {
          const Recorder got = run(cut_into(whole, size));
          SCOPED_TRACE(std::string(markers ? "markers" : "no markers") + (crc ? ", CRC" : "") + ", behind " +
                       std::to_string(before) + ", in pieces of " + std::to_string(size) + "\n" + got.text());
          std::size_t calls_seen = 0;
          for (const SeenSend& send : got.sends) {
            if (send.side != trace::Side::active || send.holes) continue;
            ++calls_seen;
            bool one = false;
            for (std::uint32_t msn = 10; msn <= 14; ++msn) one = one || send.octets == rpc_call(msn);
            EXPECT_TRUE(one) << "a Send of " << send.wire_length;
          }
          EXPECT_GE(calls_seen, crc && !markers ? 5U : 3U);
          if (!markers) {
            EXPECT_EQ(got.count("Quality"), 0U);
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// Short Calls, as a client makes them at first, behind the MPA frames.
Story short_calls(const StoryOptions& options) {
  Direction client;
  Direction server;
  client.markers = options.client_markers;
  server.markers = options.server_markers;
  client.crc = server.crc = options.crc;
  const auto flags = [&](bool markers) {
    return static_cast<std::uint8_t>((markers ? 0x80U : 0U) | (options.crc ? 0x40U : 0U));
  };
  Story story;
  story.push_back({true, client.raw(mpa_frame(true, flags(options.server_markers), options.revision, pattern(8, 1)))});
  story.push_back(
      {false, server.raw(mpa_frame(false, flags(options.client_markers), options.revision, pattern(8, 2)))});
  for (std::uint32_t msn = 1; msn <= 24; ++msn) {
    story.push_back({true, client.fpdu(send_ulpdu(msn, 0, true, rpc_call(msn)))});
    story.push_back({false, server.fpdu(send_ulpdu(msn, 0, true, rpc_reply(msn)))});
  }
  return story;
}

// Where FPDUs begin is told by what the other side acknowledges: a client's wait for the MPA Reply, a server's for the
// first FPDU. The first marker stands there, and the others by it.
TEST(IwarpMarkers, AnMpaFrameIsMissing) {
  for (unsigned variant = 0; variant < 16; ++variant) {
    const bool request = (variant & 1U) != 0;
    StoryOptions options;
    options.client_markers = (variant & 2U) != 0;
    options.server_markers = (variant & 4U) != 0;
    options.crc = (variant & 8U) != 0;
    const Story story = short_calls(options);
    std::vector<Segment> segments = segments_of(story);
    const auto frame = std::find_if(segments.begin(), segments.end(),
                                    [&](const Segment& s) { return s.client == request && !s.octets.empty(); });
    ASSERT_NE(frame, segments.end());
    segments.erase(frame);
    const Recorder got = run(segments);
    SCOPED_TRACE(std::string(request ? "Request" : "Reply") + " missing" +
                 (options.client_markers ? ", markers to the server" : "") +
                 (options.server_markers ? ", markers to the client" : "") + (options.crc ? ", CRC\n" : "\n") +
                 got.text());
    EXPECT_EQ(got.sends.size(), 48U);
    EXPECT_EQ(got.count("Quality"), 0U) << "no frame is cut, and none is broken";
    for (const SeenSend& send : got.sends) {
      EXPECT_FALSE(send.holes);
      const bool call = send.side == trace::Side::active;
      const auto xid = static_cast<std::uint32_t>(send.ordinal);
      EXPECT_EQ(send.octets, call ? rpc_call(xid) : rpc_reply(xid));
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace rpcrdma::iwarp_test
