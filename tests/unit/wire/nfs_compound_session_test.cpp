// SPDX-License-Identifier: GPL-2.0-or-later
// Which session a COMPOUND or CB_COMPOUND is of.
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "encoder.hpp"
#include "nfs_steps_messages.hpp"
#include "octets.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {

namespace {

using namespace test;

struct Arguments {
  const char* what;
  Encoder arguments;
  bool callback;
  bool names;  ///< a session first
};

/// Where the first operation stands: behind the tag, the minor version, a callback's identifier, the count.
std::size_t opened_at(const Arguments& each) {
  const std::uint32_t tag = load_be32(each.arguments.octets().data());
  return 4 + (std::size_t{tag} + 3) / 4 * 4 + (each.callback ? 12 : 8);
}

/// Operation, sa_sessionid, sa_sequenceid, sa_slotid, sa_highest_slotid, sa_cachethis
Encoder opening(std::uint32_t operation) { return join({words({operation}), session(), words({7, 5, 63, 0})}); }

/// With a cut: by the capture.
Compound read_of(Bytes captured, std::size_t wire_length, bool callback) {
  auto read = decode_compound(captured, wire_length, callback);
  return read ? std::move(*read) : Compound();
}

TEST(CompoundSession, OfTheOperationThatStandsFirst) {
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
        Arguments{"behind another operation",
                  join({Encoder().text(""), words({1, 2, operation::putrootfh}), opening(operation::sequence)}), false,
                  false},
        Arguments{"two of them",
                  join({Encoder().text(""), words({1, 2}), opening(operation::sequence), words({operation::sequence}),
                        Encoder().words({9, 9, 9, 9, 1, 0, 63, 0})}),
                  false, true},
        Arguments{"a tag without end", words({0xFFFF'FFFFU, 1, 1}), false, false}}) {
    SCOPED_TRACE(each.what);
    const auto& octets = each.arguments.octets();
    const Compound whole = read_of(octets, octets.size(), each.callback);
    ASSERT_EQ(whole.session.has_value(), each.names);
    ASSERT_EQ(whole.slot.has_value(), each.names);
    if (!each.names) continue;
    EXPECT_EQ(told(*whole.session), session_told);
    EXPECT_EQ(whole.slot->sequence, 7U);
    EXPECT_EQ(whole.slot->slot, 5U);
    // Behind the session stand the sequence id, two slots and whether to cache.
    const std::size_t needed = opened_at(each) + 4 + 16;
    for (std::size_t cut = 0; cut <= octets.size(); ++cut) {
      const Compound read = read_of(Bytes(octets).first(cut), octets.size(), each.callback);
      EXPECT_EQ(read.session.has_value(), cut >= needed) << cut;
      EXPECT_EQ(read.slot.has_value(), cut >= needed + 8) << cut;
    }
  }
}

}  // namespace

}  // namespace rpcrdma::wire
