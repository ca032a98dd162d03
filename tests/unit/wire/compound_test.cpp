// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using test::prefix;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;
using Octets = std::vector<std::uint8_t>;
using Operations = std::vector<std::uint32_t>;

constexpr std::uint32_t getattr = 9;
constexpr std::uint32_t getfh = 10;
constexpr std::uint32_t putfh = 22;
constexpr std::uint32_t write = 38;
constexpr std::uint32_t sequence = 53;
constexpr std::uint32_t illegal = 10044;

Encoder compound(std::uint32_t minor, std::uint32_t count, std::string_view tag = "") {
  return Encoder().text(tag).words({minor, count});
}
Encoder callback(std::uint32_t minor, std::uint32_t count) { return Encoder().text("").words({minor, 0x77, count}); }

Operations walked(const Octets& octets, bool is_callback = false) {
  const auto decoded = decode_compound(octets, octets.size(), is_callback);
  EXPECT_TRUE(decoded);
  return decoded ? decoded->operations : Operations{};
}

/// The arguments of one operation, as the XDR files of the RFCs lay them out.
struct Arguments {
  std::string name;
  std::uint32_t number;
  std::uint32_t minor;
  Encoder encoded;
};

Encoder bitmap() { return Encoder().words({2, 0x0010011A, 0x0030A23A}); }
Encoder attributes() { return Encoder().words({1, 4}).opaque(13); }
Encoder stateid() { return Encoder().words({1, 2, 3, 4}); }
Encoder open_head() { return Encoder().words({0, 1, 0, 8, 9}).text("open owner"); }
Encoder channel() { return Encoder().words({0, 1049620, 1049480, 3428, 8, 64, 1, 5}); }

std::vector<Arguments> all_arguments() {
  const auto join = [](std::initializer_list<Encoder> parts) {
    Encoder e;
    for (const auto& part : parts) e.append(part.octets());
    return e;
  };
  const auto w = [](const std::vector<std::uint32_t>& words) { return Encoder().words(words); };
  const auto text = [](std::string_view t) { return Encoder().text(t); };
  return {
      {"ACCESS", 3, 0, w({0x1F})},
      {"CLOSE", 4, 0, join({w({7}), stateid()})},
      {"COMMIT", 5, 0, w({0, 0, 0})},
      {"CREATE directory", 6, 0, join({w({2}), text("dir"), attributes()})},
      {"CREATE device", 6, 0, join({w({4, 8, 1}), text("sda1"), attributes()})},
      {"CREATE symlink", 6, 0, join({w({5}), text("../target"), text("link"), attributes()})},
      {"DELEGPURGE", 7, 0, w({1, 2})},
      {"DELEGRETURN", 8, 0, stateid()},
      {"GETATTR", 9, 0, bitmap()},
      {"GETFH", 10, 0, {}},
      {"LINK", 11, 0, text("name")},
      {"LOCK new owner", 12, 0, join({w({1, 0, 0, 0, 0, 9, 1, 5}), stateid(), w({6, 1, 2}), text("locker")})},
      {"LOCK old owner", 12, 0, join({w({1, 0, 0, 0, 0, 9, 0}), stateid(), w({6})})},
      {"LOCKT", 13, 0, join({w({1, 0, 0, 0, 9, 1, 2}), text("locker")})},
      {"LOCKU", 14, 0, join({w({1, 6}), stateid(), w({0, 0, 0, 9})})},
      {"LOOKUP", 15, 0, text("x")},
      {"LOOKUPP", 16, 0, {}},
      {"NVERIFY", 17, 0, attributes()},
      {"OPEN nocreate null", 18, 0, join({open_head(), w({0, 0}), text("file")})},
      {"OPEN unchecked", 18, 0, join({open_head(), w({1, 0}), attributes(), w({0}), text("file")})},
      {"OPEN guarded", 18, 0, join({open_head(), w({1, 1}), attributes(), w({3}), text("file")})},
      {"OPEN exclusive", 18, 0, join({open_head(), w({1, 2, 0xA, 0xB, 0}), text("file")})},
      {"OPEN exclusive4_1", 18, 1, join({open_head(), w({1, 3, 0xA, 0xB}), attributes(), w({0}), text("file")})},
      {"OPEN previous", 18, 0, join({open_head(), w({0, 1, 1})})},
      {"OPEN delegate cur", 18, 0, join({open_head(), w({0, 2}), stateid(), text("file")})},
      {"OPEN fh", 18, 1, join({open_head(), w({0, 4})})},
      {"OPEN deleg cur fh", 18, 1, join({open_head(), w({0, 5}), stateid()})},
      {"OPEN deleg prev fh", 18, 1, join({open_head(), w({0, 6})})},
      {"OPENATTR", 19, 0, w({1})},
      {"OPEN_CONFIRM", 20, 0, join({stateid(), w({1})})},
      {"OPEN_DOWNGRADE", 21, 0, join({stateid(), w({1, 1, 0})})},
      {"PUTFH", 22, 0, Encoder().opaque(28)},
      {"PUTPUBFH", 23, 0, {}},
      {"PUTROOTFH", 24, 0, {}},
      {"READ", 25, 0, join({stateid(), w({0, 0, 65536})})},
      {"READDIR", 26, 0, join({w({0, 0, 0, 0, 1000, 8000}), bitmap()})},
      {"READLINK", 27, 0, {}},
      {"REMOVE", 28, 0, text("file")},
      {"RENAME", 29, 0, join({text("old"), text("newer")})},
      {"RENEW", 30, 0, w({1, 2})},
      {"RESTOREFH", 31, 0, {}},
      {"SAVEFH", 32, 0, {}},
      {"SECINFO", 33, 0, text("dir")},
      {"SETATTR", 34, 0, join({stateid(), attributes()})},
      {"SETCLIENTID", 35, 0,
       join({w({1, 2}), text("client"), w({0x40000000}), text("tcp"), text("10.0.0.1.8.1"), w({1})})},
      {"SETCLIENTID_CONFIRM", 36, 0, w({1, 2, 3, 4})},
      {"VERIFY", 37, 0, attributes()},
      {"WRITE", 38, 0, join({stateid(), w({0, 0, 2}), text("some data")})},
      {"WRITE nothing", 38, 0, join({stateid(), w({0, 0, 2, 0})})},
      {"RELEASE_LOCKOWNER", 39, 0, join({w({1, 2}), text("locker")})},
      {"BACKCHANNEL_CTL", 40, 1, join({w({0x40000000, 1, 0})})},
      {"BIND_CONN_TO_SESSION", 41, 1, join({stateid(), w({3, 0})})},
      {"EXCHANGE_ID", 42, 1,
       join({w({1, 2}), text("client owner"), w({0x103, 0, 1}), text("kernel.org"), text("Linux"), w({0, 0, 0})})},
      {"EXCHANGE_ID mach cred", 42, 1, join({w({1, 2}), text("co"), w({0x103, 1}), bitmap(), bitmap(), w({0})})},
      {"EXCHANGE_ID ssv", 42, 1,
       join({w({1, 2}), text("co"), w({0, 2}), bitmap(), bitmap(), w({2}), text("oid"), text("oidoid"), w({1}),
             text("oid"), w({8, 1, 0})})},
      {"CREATE_SESSION", 43, 1,
       join({w({1, 2, 1, 3}), channel(), channel(), w({0x40000000, 3, 0, 1, 9}), text("host"), w({0, 0, 2, 4, 5}),
             w({6, 1}), text("handle"), text("h")})},
      {"DESTROY_SESSION", 44, 1, stateid()},
      {"FREE_STATEID", 45, 1, stateid()},
      {"GET_DIR_DELEGATION", 46, 1, join({w({1}), bitmap(), w({0, 1, 0, 0, 2, 0}), bitmap(), bitmap()})},
      {"GETDEVICEINFO", 47, 1, join({stateid(), w({1, 4096}), bitmap()})},
      {"GETDEVICELIST", 48, 1, w({1, 8, 0, 0, 0, 0})},
      {"LAYOUTCOMMIT", 49, 1, join({w({0, 0, 0, 9, 0}), stateid(), w({1, 0, 8, 1, 0, 1, 2, 1}), text("body")})},
      {"LAYOUTCOMMIT bare", 49, 1, join({w({0, 0, 0, 9, 0}), stateid(), w({0, 0, 1, 0})})},
      {"LAYOUTGET", 50, 1, join({w({0, 1, 2, 0, 0, 0, 1, 0, 1}), stateid(), w({4096})})},
      {"LAYOUTRETURN file", 51, 1, join({w({0, 1, 3, 1, 0, 0, 0, 1}), stateid(), text("body")})},
      {"LAYOUTRETURN all", 51, 1, w({0, 1, 3, 3})},
      {"SECINFO_NO_NAME", 52, 1, w({0})},
      {"SEQUENCE", 53, 1, join({stateid(), w({1, 0, 0, 1})})},
      {"SET_SSV", 54, 1, join({text("ssv"), text("digest")})},
      {"TEST_STATEID", 55, 1, join({w({2}), stateid(), stateid()})},
      {"WANT_DELEGATION previous", 56, 1, w({1, 1, 1})},
      {"WANT_DELEGATION fh", 56, 1, w({1, 4})},
      {"DESTROY_CLIENTID", 57, 1, w({1, 2})},
      {"RECLAIM_COMPLETE", 58, 1, w({0})},
      {"ALLOCATE", 59, 2, join({stateid(), w({0, 0, 0, 9})})},
      {"COPY", 60, 2,
       join({stateid(), stateid(), w({0, 0, 0, 0, 0, 9, 1, 1, 2, 1}), text("server"), w({3}), text("tcp"),
             text("10.0.0.1.8.1")})},
      {"COPY_NOTIFY", 61, 2, join({stateid(), w({2}), text("nfs://server")})},
      {"DEALLOCATE", 62, 2, join({stateid(), w({0, 0, 0, 9})})},
      {"IO_ADVISE", 63, 2, join({stateid(), w({0, 0, 0, 9}), bitmap()})},
      {"LAYOUTERROR", 64, 2, join({w({0, 0, 0, 9}), stateid(), w({1}), stateid(), w({5, 38})})},
      {"LAYOUTSTATS", 65, 2,
       join({w({0, 0, 0, 9}), stateid(), w({0, 1, 0, 2, 0, 3, 0, 4}), stateid(), w({4}), text("body")})},
      {"OFFLOAD_CANCEL", 66, 2, stateid()},
      {"OFFLOAD_STATUS", 67, 2, stateid()},
      {"READ_PLUS", 68, 2, join({stateid(), w({0, 0, 4096})})},
      {"SEEK", 69, 2, join({stateid(), w({0, 0, 1})})},
      {"WRITE_SAME", 70, 2, join({stateid(), w({2, 0, 0, 0, 512, 0, 8, 0, 0, 0, 0, 0}), text("pattern")})},
      {"CLONE", 71, 2, join({stateid(), stateid(), w({0, 0, 0, 0, 0, 9})})},
      {"GETXATTR", 72, 2, text("user.x")},
      {"SETXATTR", 73, 2, join({w({0}), text("user.x"), text("value")})},
      {"LISTXATTRS", 74, 2, w({0, 0, 4096})},
      {"REMOVEXATTR", 75, 2, text("user.x")},
      {"ILLEGAL", illegal, 0, {}},
  };
}

std::vector<Arguments> all_callback_arguments() {
  const auto join = [](std::initializer_list<Encoder> parts) {
    Encoder e;
    for (const auto& part : parts) e.append(part.octets());
    return e;
  };
  const auto w = [](const std::vector<std::uint32_t>& words) { return Encoder().words(words); };
  const auto text = [](std::string_view t) { return Encoder().text(t); };
  return {
      {"CB_GETATTR", 3, 0, join({text("handle"), bitmap()})},
      {"CB_RECALL", 4, 0, join({stateid(), w({0}), text("handle")})},
      {"CB_LAYOUTRECALL file", 5, 1, join({w({1, 3, 0, 1}), text("handle"), w({0, 0, 0, 9}), stateid()})},
      {"CB_LAYOUTRECALL fsid", 5, 1, w({1, 3, 0, 2, 0, 1, 0, 2})},
      {"CB_LAYOUTRECALL all", 5, 1, w({1, 3, 0, 3})},
      {"CB_NOTIFY", 6, 1, join({stateid(), text("handle"), w({2}), bitmap(), text("a"), bitmap(), text("bc")})},
      {"CB_RECALL_ANY", 8, 1, join({w({5}), bitmap()})},
      {"CB_RECALLABLE_OBJ_AVAIL", 9, 1, join({w({5}), bitmap()})},
      {"CB_RECALL_SLOT", 10, 1, w({4})},
      {"CB_SEQUENCE", 11, 1, join({stateid(), w({1, 0, 0, 1, 1}), stateid(), w({2, 1, 2, 3, 4})})},
      {"CB_WANTS_CANCELLED", 12, 1, w({0, 1})},
      {"CB_NOTIFY_LOCK", 13, 1, join({text("handle"), w({1, 2}), text("locker")})},
      {"CB_NOTIFY_DEVICEID", 14, 1, join({w({1}), bitmap(), text("values")})},
      {"CB_OFFLOAD done", 15, 2, join({text("handle"), stateid(), w({0, 1}), stateid(), w({0, 9, 2, 1, 2})})},
      {"CB_OFFLOAD failed", 15, 2, join({text("handle"), stateid(), w({28, 0, 9})})},
      {"CB_ILLEGAL", illegal, 0, {}},
  };
}

TEST(Compound, EachOperationIsSteppedOverExactly) {
  for (const auto& a : all_arguments()) {
    SCOPED_TRACE(a.name);
    // The next operation must be found right behind, and once more with another one behind that.
    const auto octets = compound(a.minor, 3)
                            .word(a.number)
                            .append(a.encoded.octets())
                            .word(putfh)
                            .opaque(7)
                            .words({getattr, 1, 5})
                            .octets();
    EXPECT_THAT(walked(octets), ElementsAre(a.number, putfh, getattr));
  }
}

TEST(Compound, EachCallbackOperationIsSteppedOverExactly) {
  for (const auto& a : all_callback_arguments()) {
    SCOPED_TRACE(a.name);
    const auto octets = callback(a.minor, 2)
                            .word(a.number)
                            .append(a.encoded.octets())
                            .word(4)
                            .append(stateid().word(1).opaque(5).octets())
                            .octets();
    EXPECT_THAT(walked(octets, true), ElementsAre(a.number, 4));
  }
}

TEST(Compound, EachOperationHasItsName) {
  for (const auto& a : all_arguments()) {
    EXPECT_EQ(nfs4_operation_name(a.number, false), a.name.substr(0, a.name.find(' ')));
  }
  for (const auto& a : all_callback_arguments()) {
    EXPECT_EQ(nfs4_operation_name(a.number, true), a.name.substr(0, a.name.find(' ')));
  }
  EXPECT_EQ(nfs4_operation_name(7, true), "CB_PUSH_DELEG");
  for (const std::uint32_t unknown : {0U, 1U, 2U, 76U, 10043U, 0xFFFFFFFFU}) {
    EXPECT_EQ(nfs4_operation_name(unknown, false), "");
    EXPECT_EQ(nfs4_operation_name(unknown, true), "");
  }
  EXPECT_EQ(nfs4_operation_name(16, true), "");
}

TEST(Compound, HeadIsDecoded) {
  const auto octets = compound(2, 1, "a tag").words({getfh}).octets();
  const auto decoded = decode_compound(octets, octets.size(), false);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->tag, "a tag");
  EXPECT_EQ(decoded->minor_version, 2U);
  EXPECT_EQ(decoded->count, 1U);
  EXPECT_THAT(decoded->operations, ElementsAre(getfh));

  const auto empty = compound(0, 0).octets();
  EXPECT_THAT(walked(empty), IsEmpty());
}

TEST(Compound, HeadCutAtEveryLength) {
  const auto octets = compound(1, 1, "tag").word(getfh).octets();
  for (std::size_t length = 0; length < octets.size() - 4; ++length) {
    const auto part = prefix(octets, length);
    const auto cut = decode_compound(part, octets.size(), false);
    ASSERT_FALSE(cut) << length;
    EXPECT_EQ(cut.error().fault, Fault::truncated);
    const auto sent = decode_compound(part, length, false);
    ASSERT_FALSE(sent) << length;
    EXPECT_EQ(sent.error().fault, Fault::invalid);
  }
}

TEST(Compound, OperationsCutAtEveryLengthAreThoseThatWereSeen) {
  Encoder e = compound(2, 4);
  std::vector<std::size_t> starts;
  for (const auto& [number, arguments] :
       std::vector<std::pair<std::uint32_t, Encoder>>{{sequence, stateid().words({1, 0, 0, 1})},
                                                      {putfh, Encoder().opaque(28)},
                                                      {getattr, bitmap()},
                                                      {getfh, {}}}) {
    starts.push_back(e.size());
    e.word(number).append(arguments.octets());
  }
  const Operations all{sequence, putfh, getattr, getfh};
  for (std::size_t length = starts.front(); length <= e.size(); ++length) {
    const auto part = prefix(e.octets(), length);
    const auto decoded = decode_compound(part, e.size(), false);
    ASSERT_TRUE(decoded);
    const auto seen = std::count_if(starts.begin(), starts.end(), [&](std::size_t at) { return at + 4 <= length; });
    EXPECT_THAT(decoded->operations, ElementsAreArray(all.begin(), all.begin() + seen)) << length;
  }
}

TEST(Compound, StopsWhereItCannotSize) {
  // Unknown operation, operation of a later minor version, unknown union arm.
  EXPECT_THAT(walked(compound(2, 2).words({76, getfh}).octets()), ElementsAre(76));
  EXPECT_THAT(walked(compound(0, 2).words({44, 1, 2, 3, 4, getfh}).octets()), ElementsAre(44));
  EXPECT_THAT(walked(compound(1, 2).words({72, 0, getfh}).octets()), ElementsAre(72));
  EXPECT_THAT(walked(compound(0, 2).word(18).append(open_head().octets()).words({2, 0, 0, getfh}).octets()),
              ElementsAre(18));
  EXPECT_THAT(walked(compound(0, 2).word(12).words({1, 0, 0, 0, 0, 9, 2, getfh, getfh}).octets()), ElementsAre(12));
  EXPECT_THAT(walked(callback(1, 2).words({7, getfh}).octets(), true), ElementsAre(7));
  // A minor version nobody knows: not even the first.
  EXPECT_THAT(walked(compound(3, 1).word(getfh).octets()), IsEmpty());
}

TEST(Compound, DataInPlaceIsTold) {
  const auto octets = compound(1, 3)
                          .word(write)
                          .append(stateid().words({0, 0, 2}).opaque(100).octets())
                          .words({getattr, 1, 5, getfh})
                          .octets();
  EXPECT_THAT(walked(octets), ElementsAre(write, getattr, getfh));
}

TEST(Compound, DataInAReadChunkIsTold) {
  const auto octets = compound(1, 3)
                          .word(write)
                          .append(stateid().words({0, 0, 2, 65536}).octets())
                          .words({getattr, 1, 5, getfh})
                          .octets();
  EXPECT_THAT(walked(octets), ElementsAre(write, getattr, getfh));
  const auto symlink =
      compound(1, 2).words({6, 5, 4000}).text("name").append(attributes().octets()).word(getfh).octets();
  EXPECT_THAT(walked(symlink), ElementsAre(6, getfh));
}

TEST(Compound, DataThatMayBeEitherEndsTheWalk) {
  const auto octets =
      compound(1, 3).word(write).append(stateid().words({0, 0, 2, 4}).octets()).words({getfh, getfh, getfh}).octets();
  // In place: WRITE, GETFH, GETFH and the end. Moved: one operation too many.
  EXPECT_THAT(walked(octets), ElementsAre(write, getfh, getfh));
  // In place: eight octets of data and GETFH. Moved: a LOOKUP of four octets. Both end where the message ends.
  const auto both =
      compound(1, 2).word(write).append(stateid().words({0, 0, 2, 8}).octets()).words({15, 4, getfh}).octets();
  EXPECT_THAT(walked(both), ElementsAre(write));
}

TEST(Compound, DataThatTheCaptureCutEndsTheWalk) {
  const auto octets = compound(1, 3)
                          .word(write)
                          .append(stateid().words({0, 0, 2}).opaque(100).octets())
                          .words({getattr, 1, 5, getfh})
                          .octets();
  const auto decoded = decode_compound(prefix(octets, octets.size() - 4), octets.size(), false);
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->operations, ElementsAre(write));
}

TEST(Compound, AtMostSixtyFourOperations) {
  auto e = compound(0, 1000);
  for (int i = 0; i < 1000; ++i) e.word(getfh);
  const auto decoded = decode_compound(e.octets(), e.size(), false);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->count, 1000U);
  EXPECT_THAT(decoded->operations, SizeIs(64));
}

TEST(Compound, HostileNumbers) {
  struct Hostile {
    const char* field;
    Fault fault;
    Encoder encoded;
    std::size_t wire_length;
  };
  for (const auto& h :
       std::vector<Hostile>{{"tag", Fault::invalid, Encoder().words({0xFFFFFFFF, 0, 0}), 12},
                            {"tag", Fault::invalid, Encoder().words({0xFFFFFFFD, 0, 0}), 1 << 20},
                            {"tag", Fault::unsupported, Encoder().words({1025, 0, 0}), 1 << 20},
                            {"tag", Fault::truncated, Encoder().words({1024, 0, 0}), 1 << 20},
                            {"operation count", Fault::invalid, compound(0, 0xFFFFFFFF).word(getfh), 16},
                            {"operation count", Fault::invalid, compound(0, 2).word(getfh), 16}}) {
    const auto decoded = decode_compound(h.encoded.octets(), h.wire_length, false);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().field, h.field);
    EXPECT_EQ(decoded.error().fault, h.fault);
  }
  // Counts within the arguments end the walk.
  for (const std::uint32_t count : {0xFFFFFFFFU, 0x80000000U, 0x40000000U, 0x10000000U, 1000U}) {
    EXPECT_THAT(walked(compound(1, 2).words({getattr, count, 1, getfh}).octets()), ElementsAre(getattr));
    EXPECT_THAT(walked(compound(1, 2).words({putfh, count, 1, getfh}).octets()), ElementsAre(putfh));
    EXPECT_THAT(walked(compound(1, 2).words({55, count, 1, getfh}).octets()), ElementsAre(55));
    EXPECT_THAT(walked(compound(1, 2).words({40, 0, count, 0, 0, getfh}).octets()), ElementsAre(40));
  }
}

TEST(Compound, AnySequenceOfOperationsIsWalked) {
  const auto known = all_arguments();
  EXPECT_TRUE(rc::check("operations in any order", [&known] {
    const auto picks = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, known.size()));
    Encoder e = compound(2, static_cast<std::uint32_t>(picks.size()));
    Operations expected;
    for (const auto pick : picks) {
      e.word(known[pick].number).append(known[pick].encoded.octets());
      expected.push_back(known[pick].number);
    }
    if (expected.size() > 64) expected.resize(64);
    const auto decoded = decode_compound(e.octets(), e.size(), false);
    RC_ASSERT(decoded.has_value());
    // Everything, or up to the first data whose place cannot be told.
    RC_ASSERT(decoded->operations.size() <= expected.size());
    RC_ASSERT(std::equal(decoded->operations.begin(), decoded->operations.end(), expected.begin()));
    const bool data = std::any_of(picks.begin(), picks.end(), [&known](std::size_t pick) {
      return known[pick].number == write || known[pick].name == "CREATE symlink";
    });
    if (!data) RC_ASSERT(decoded->operations == expected);
  }));
}

}  // namespace
}  // namespace rpcrdma::wire
