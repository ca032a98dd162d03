// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_reply_start.hpp"

#include <gtest/gtest.h>

#include "encoder.hpp"
#include "nfs_steps_messages.hpp"
#include "octets.hpp"

namespace rpcrdma::wire {

namespace {

using namespace test;

TEST(ReplyStart, PlainResults) {
  // XID, REPLY, MSG_ACCEPTED, verifier of AUTH_NONE, its length, SUCCESS
  const std::vector<std::uint32_t> plain{7, 1, 0, 0, 0, 0};
  EXPECT_EQ(plain_results(Encoder().words({7, 1, 0, 0, 0, 0}).octets()), 24U);
  for (const std::size_t changed : {1U, 2U, 4U, 5U}) {
    Encoder other;
    for (std::size_t i = 0; i < plain.size(); ++i) other.word(plain[i] + (i == changed ? 1U : 0U));
    EXPECT_EQ(plain_results(other.octets()), 0U) << changed;
  }
  EXPECT_EQ(plain_results(Encoder().words({7, 1, 0, 0, 0}).octets()), 0U);
}

struct Results {
  const char* what;
  Encoder results;
  std::optional<std::uint32_t> only;
  std::optional<std::uint32_t> flags;  ///< of a leading SEQUENCE
};

/// sr_sessionid, sr_sequenceid, sr_slotid, sr_highest_slotid, sr_target_highest_slotid, sr_status_flags
Encoder sequence(std::uint32_t flags) { return join({session(), words({1, 0, 63, 63, flags})}); }

std::vector<Results> all_results() {
  const auto compound = [](std::string_view tag, std::uint32_t count) {
    return join({words({0}), Encoder().text(tag), words({count})});
  };
  return {
      {"SEQUENCE alone", join({compound("", 1), words({53, 0}), sequence(8)}), 53, 8},
      {"behind a tag", join({compound("hello", 1), words({53, 0}), sequence(8)}), 53, 8},
      {"and another", join({compound("", 2), words({53, 0}), sequence(0x40), words({24, 0})}), {}, 0x40},
      {"another first", join({compound("", 2), words({24, 0}), words({53, 0}), sequence(8)}), {}, {}},
      {"it failed", join({compound("", 1), words({53, 10052}), sequence(8)}), 53, {}},
      {"cut in its flags", join({compound("", 1), words({53, 0}), session(), words({1, 0, 63, 63})}), 53, {}},
      {"RENEW", join({compound("", 1), words({30, 0})}), 30, {}},
      {"nothing", compound("", 0), {}, {}},
      {"cut behind the count", compound("", 1), {}, {}},
      {"cut in the tag's length", words({0}), {}, {}},
      {"a tag longer than the message", words({0, 1000, 1, 53, 0}), {}, {}},
      {"a tag that wraps", words({0, 0xFFFFFFFD, 1, 53, 0}), {}, {}},
  };
}

TEST(ReplyStart, FirstAndOnlyOperation) {
  for (const Results& each : all_results()) {
    SCOPED_TRACE(each.what);
    EXPECT_EQ(only_operation(each.results.octets()), each.only);
    const auto said = leading_sequence(each.results.octets());
    EXPECT_EQ(said ? std::optional(said->flags) : std::nullopt, each.flags);
  }
  EXPECT_FALSE(only_operation({}));
  EXPECT_FALSE(leading_sequence({}));
}

}  // namespace
}  // namespace rpcrdma::wire
