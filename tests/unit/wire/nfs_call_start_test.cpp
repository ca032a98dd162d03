// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/nfs_call_start.hpp"

#include <gtest/gtest.h>

#include "encoder.hpp"
#include "nfs_steps_messages.hpp"
#include "octets.hpp"

namespace rpcrdma::wire {

namespace {

using namespace test;

struct Arguments {
  const char* what;
  Encoder arguments;
  bool callback;
  bool names;  ///< a session first
};

/// Operation, sa_sessionid, sa_sequenceid, sa_slotid, sa_highest_slotid, sa_cachethis
Encoder opening(std::uint32_t operation) { return join({words({operation}), session(), words({1, 0, 63, 0})}); }

TEST(CallStart, LeadingSession) {
  const Encoder compound = join({Encoder().text(""), words({1, 1}), opening(operation::sequence)});
  // The callback_ident stands behind the minor version (RFC 8881 section 20).
  const Encoder callback = join({Encoder().text(""), words({1, 0, 1}), opening(operation::cb_sequence)});
  for (const Arguments& each :
       {Arguments{"SEQUENCE", compound, false, true}, Arguments{"CB_SEQUENCE", callback, true, true},
        Arguments{"a tag", join({Encoder().text("three"), words({1, 1}), opening(operation::sequence)}), false, true},
        Arguments{"a callback read as a Call", callback, false, false},
        Arguments{"a Call read as a callback", compound, true, false},
        Arguments{"another operation", join({Encoder().text(""), words({1, 1}), opening(operation::putfh)}), false,
                  false},
        Arguments{"a tag without end", words({0xFFFF'FFFFU, 1, 1}), false, false}}) {
    SCOPED_TRACE(each.what);
    const auto& octets = each.arguments.octets();
    const auto read = leading_session(octets, each.callback);
    ASSERT_EQ(read.has_value(), each.names);
    if (!read) continue;
    EXPECT_EQ(told(*read), session_told);
    for (std::size_t cut = 0; cut < octets.size() - 16; ++cut) {
      EXPECT_FALSE(leading_session(Bytes(octets).first(cut), each.callback)) << cut;
    }
  }
}

}  // namespace

}  // namespace rpcrdma::wire
