// SPDX-License-Identifier: GPL-2.0-or-later
// Every result of an NFSv4 operation is stepped over, whole and cut at every length.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder.hpp"
#include "wire/nfs_items.hpp"

namespace rpcrdma::wire {
namespace {

using test::Encoder;
using Octets = std::vector<std::uint8_t>;

/// One operation's status and what follows it, as the XDR files of the RFCs lay it out.
struct Results {
  std::string name;
  std::uint32_t number;
  std::uint32_t status;
  Encoder encoded;
};

Encoder w(const std::vector<std::uint32_t>& words) { return Encoder().words(words); }
Encoder text(std::string_view t) { return Encoder().text(t); }
Encoder join(std::initializer_list<Encoder> parts) {
  Encoder e;
  for (const auto& part : parts) e.append(part.octets());
  return e;
}
Encoder bitmap() { return w({2, 0x0010011A, 0x0030A23A}); }
Encoder attributes() { return w({1, 4}).opaque(13); }
Encoder stateid() { return w({1, 2, 3, 4}); }
Encoder change() { return w({1, 0, 7, 0, 8}); }
Encoder ace() { return w({0, 0, 0x1F}).text("OWNER@"); }
Encoder channel() { return w({0, 1049620, 1049480, 3428, 8, 64, 1, 5}); }
Encoder denied() { return w({0, 5, 0, 9, 2, 1, 2}).text("locker"); }

std::vector<Results> all_results() {
  const auto opened = [](const Encoder& delegation) {
    return join({stateid(), change(), w({4}), bitmap(), delegation});
  };
  return {
      {"ACCESS", 3, 0, w({0x1F, 0x1F})},
      {"ACCESS fails", 3, 13, {}},
      {"CLOSE", 4, 0, stateid()},
      {"COMMIT", 5, 0, w({1, 2})},
      {"CREATE", 6, 0, join({change(), bitmap()})},
      {"DELEGPURGE", 7, 0, {}},
      {"DELEGRETURN", 8, 0, {}},
      {"GETATTR", 9, 0, attributes()},
      {"GETFH", 10, 0, Encoder().opaque(28)},
      {"LINK", 11, 0, change()},
      {"LOCK", 12, 0, stateid()},
      {"LOCK denied", 12, 10010, denied()},
      {"LOCK fails", 12, 10008, {}},
      {"LOCKT", 13, 0, {}},
      {"LOCKT denied", 13, 10010, denied()},
      {"LOCKU", 14, 0, stateid()},
      {"LOOKUP", 15, 0, {}},
      {"LOOKUP fails", 15, 2, {}},
      {"LOOKUPP", 16, 0, {}},
      {"NVERIFY", 17, 0, {}},
      {"OPEN without delegation", 18, 0, opened(w({0}))},
      {"OPEN read delegation", 18, 0, opened(join({w({1}), stateid(), w({0}), ace()}))},
      {"OPEN write delegation", 18, 0, opened(join({w({2}), stateid(), w({0, 1, 0, 9}), ace()}))},
      {"OPEN write delegation, blocks", 18, 0, opened(join({w({2}), stateid(), w({0, 2, 8, 512}), ace()}))},
      {"OPEN not wanted", 18, 0, opened(w({3, 0}))},
      {"OPEN contention", 18, 0, opened(w({3, 1, 1}))},
      {"OPEN resource", 18, 0, opened(w({3, 2, 0}))},
      {"OPEN read and attributes", 18, 0, opened(join({w({4}), stateid(), w({0}), ace()}))},
      {"OPEN write and attributes", 18, 0, opened(join({w({5}), stateid(), w({0, 1, 0, 9}), ace()}))},
      {"OPENATTR", 19, 0, {}},
      {"OPEN_CONFIRM", 20, 0, stateid()},
      {"OPEN_DOWNGRADE", 21, 0, stateid()},
      {"PUTFH", 22, 0, {}},
      {"PUTPUBFH", 23, 0, {}},
      {"PUTROOTFH", 24, 0, {}},
      {"READ", 25, 0, w({1}).opaque(13)},
      {"READ of nothing", 25, 0, w({1, 0})},
      {"READ fails", 25, 5, {}},
      {"READDIR empty", 26, 0, w({1, 2, 0, 1})},
      {"READDIR", 26, 0,
       join({w({1, 2, 1, 0, 3}), text("name"), attributes(), w({1, 0, 4}), text("other"), attributes(), w({0, 0})})},
      {"READLINK", 27, 0, text("../target")},
      {"REMOVE", 28, 0, change()},
      {"RENAME", 29, 0, join({change(), change()})},
      {"RENEW", 30, 0, {}},
      {"RESTOREFH", 31, 0, {}},
      {"SAVEFH", 32, 0, {}},
      {"SECINFO", 33, 0, join({w({2, 1, 6}), text("oid"), w({0, 2})})},
      {"SETATTR", 34, 0, bitmap()},
      {"SETATTR fails", 34, 13, w({0})},
      {"SETCLIENTID", 35, 0, w({1, 2, 3, 4})},
      {"SETCLIENTID in use", 35, 10017, join({text("tcp"), text("10.0.0.1.8.1")})},
      {"SETCLIENTID_CONFIRM", 36, 0, {}},
      {"VERIFY", 37, 0, {}},
      {"WRITE", 38, 0, w({4096, 2, 1, 2})},
      {"RELEASE_LOCKOWNER", 39, 0, {}},
      {"BACKCHANNEL_CTL", 40, 0, {}},
      {"BIND_CONN_TO_SESSION", 41, 0, join({stateid(), w({3, 0})})},
      {"EXCHANGE_ID", 42, 0,
       join({w({1, 2, 1, 3, 0, 0, 9}), text("owner"), text("scope"), w({1}), text("kernel.org"), text("Linux"),
             w({0, 0, 0})})},
      {"EXCHANGE_ID mach cred", 42, 0,
       join({w({1, 2, 1, 3, 1}), bitmap(), bitmap(), w({0, 9}), text("owner"), text("scope"), w({0})})},
      {"EXCHANGE_ID ssv", 42, 0,
       join({w({1, 2, 1, 3, 2}), bitmap(), bitmap(), w({0, 1, 32, 4, 2}), text("h1"), text("handle"), w({0, 9}),
             text("owner"), text("scope"), w({0})})},
      {"CREATE_SESSION", 43, 0, join({stateid(), w({1, 3}), channel(), channel()})},
      {"DESTROY_SESSION", 44, 0, {}},
      {"FREE_STATEID", 45, 0, {}},
      {"GET_DIR_DELEGATION", 46, 0, join({w({0, 1, 2}), stateid(), bitmap(), bitmap(), bitmap()})},
      {"GET_DIR_DELEGATION unavailable", 46, 0, w({1, 0})},
      {"GETDEVICEINFO", 47, 0, join({w({1}), text("address"), bitmap()})},
      {"GETDEVICEINFO too small", 47, 10005, w({4096})},
      {"GETDEVICELIST", 48, 0, join({w({0, 1, 0, 2, 2}), stateid(), stateid(), w({1})})},
      {"LAYOUTCOMMIT", 49, 0, w({1, 0, 9})},
      {"LAYOUTCOMMIT same size", 49, 0, w({0})},
      {"LAYOUTGET", 50, 0, join({w({1}), stateid(), w({1, 0, 0, 0, 9, 2, 1}), text("layout")})},
      {"LAYOUTGET later", 50, 10058, w({0})},
      {"LAYOUTRETURN", 51, 0, join({w({1}), stateid()})},
      {"LAYOUTRETURN all", 51, 0, w({0})},
      {"SECINFO_NO_NAME", 52, 0, w({1, 1})},
      {"SEQUENCE", 53, 0, join({stateid(), w({1, 0, 63, 63, 0})})},
      {"SET_SSV", 54, 0, text("digest")},
      {"TEST_STATEID", 55, 0, w({2, 0, 10025})},
      {"WANT_DELEGATION", 56, 0, join({w({1}), stateid(), w({0}), ace()})},
      {"DESTROY_CLIENTID", 57, 0, {}},
      {"RECLAIM_COMPLETE", 58, 0, {}},
      {"ALLOCATE", 59, 0, {}},
      {"COPY", 60, 0, join({w({0, 0, 4096, 2, 1, 2, 1, 1})})},
      {"COPY asynchronous", 60, 0, join({w({1}), stateid(), w({0, 4096, 0, 1, 2, 1, 0})})},
      {"COPY requirements", 60, 10094, w({1, 1})},
      {"COPY_NOTIFY", 61, 0,
       join({w({0, 9, 0}), stateid(), w({2, 1}), text("server"), w({3}), text("tcp"), text("a")})},
      {"DEALLOCATE", 62, 0, {}},
      {"IO_ADVISE", 63, 0, bitmap()},
      {"LAYOUTERROR", 64, 0, {}},
      {"LAYOUTSTATS", 65, 0, {}},
      {"OFFLOAD_CANCEL", 66, 0, {}},
      {"OFFLOAD_STATUS", 67, 0, w({0, 4096, 1, 0})},
      {"READ_PLUS", 68, 0, join({w({1, 2, 0, 0, 0}), text("some data"), w({1, 0, 9, 0, 4096})})},
      {"SEEK", 69, 0, w({0, 0, 4096})},
      {"WRITE_SAME", 70, 0, w({0, 0, 4096, 2, 1, 2})},
      {"CLONE", 71, 0, {}},
      {"GETXATTR", 72, 0, text("value")},
      {"SETXATTR", 73, 0, change()},
      {"LISTXATTRS", 74, 0, join({w({0, 1, 2}), text("user.a"), text("user.bc"), w({1})})},
      {"REMOVEXATTR", 75, 0, change()},
      {"ILLEGAL", 10044, 10044, {}},
  };
}

Octets reply_of(const std::vector<Results>& operations) {
  Encoder e;
  e.words({0x11223344, 1, 0, 0, 0, 0});  // XID, REPLY, accepted, AUTH_NONE, SUCCESS
  e.word(operations.back().status).text("tag").word(static_cast<std::uint32_t>(operations.size()));
  for (const auto& operation : operations) {
    e.words({operation.number, operation.status}).append(operation.encoded.octets());
  }
  return e.octets();
}

const Results last{"PUTROOTFH", 24, 0, {}};

class EveryResult : public testing::TestWithParam<Results> {};

TEST_P(EveryResult, IsSteppedOverExactly) {
  const Octets octets = reply_of({GetParam()});
  NfsItems found;
  list_reply_items(octets, octets.size(), 100003, 4, 1, {}, found);
  EXPECT_EQ(found.end, WalkEnd::whole) << found.field;
  EXPECT_EQ(found.left, 0U);
  EXPECT_EQ(found.reached, octets.size());

  if (GetParam().status == 0) {
    const Octets two = reply_of({GetParam(), last});
    list_reply_items(two, two.size(), 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, WalkEnd::whole) << found.field;
    EXPECT_EQ(found.left, 0U);
  }
}

TEST_P(EveryResult, CutAnywhereIsTruncated) {
  const Octets octets = reply_of({GetParam()});
  for (std::size_t n = 0; n < octets.size(); ++n) {
    const Octets cut = test::prefix(octets, n);
    NfsItems found;
    list_reply_items(cut, octets.size(), 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, WalkEnd::truncated) << n;
    list_reply_items(cut, cut.size(), 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, WalkEnd::invalid) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryResult, testing::ValuesIn(all_results()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) name += c == ' ' || c == ',' ? '_' : c;
  return name;
});

TEST(CompoundResults, OfAllOperationsInARow) {
  std::vector<Results> row;
  for (const auto& operation : all_results()) {
    if (operation.status == 0) row.push_back(operation);
  }
  row.push_back({"READ fails", 25, 5, {}});
  const Octets octets = reply_of(row);
  NfsItems found;
  list_reply_items(octets, octets.size(), 100003, 4, 1, {}, found);
  EXPECT_EQ(found.end, WalkEnd::whole);
  EXPECT_EQ(found.left, 0U);
  ASSERT_EQ(found.items.size(), 3U);  // READ, READ of nothing, READLINK
  EXPECT_EQ(found.items[0].operation, 25U);
  EXPECT_EQ(found.items[0].length, 13U);
  EXPECT_EQ(found.items[1].length, 0U);
  EXPECT_EQ(found.items[2].operation, 27U);
}

TEST(CompoundResults, NothingFollowsAFailure) {
  const Octets octets = reply_of({{"LOOKUP fails", 15, 2, {}}, last});
  NfsItems found;
  list_reply_items(octets, octets.size(), 100003, 4, 1, {}, found);
  EXPECT_EQ(found.end, WalkEnd::invalid);
}

TEST(CompoundResults, AnUnknownOperationEndsTheWalk) {
  for (const std::uint32_t number : {0U, 2U, 76U, 10043U, 0xFFFFFFFFU}) {
    const Octets octets = reply_of({{"unknown", number, 0, {}}});
    NfsItems found;
    list_reply_items(octets, octets.size(), 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, WalkEnd::unsupported) << number;
  }
}

TEST(CompoundResults, CountsBeyondTheMessageAreInvalid) {
  for (const std::uint32_t count : {2U, 0x3FFFFFFFU, 0xFFFFFFFFU}) {
    const Octets octets = Encoder().words({1, 1, 0, 0, 0, 0, 0}).text("").words({count, 22, 0}).octets();
    NfsItems found;
    list_reply_items(octets, octets.size(), 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, WalkEnd::invalid) << count;
    // Where the capture was cut short a count is bounded by what the message could hold.
    list_reply_items(octets, 0x40000000U, 100003, 4, 1, {}, found);
    EXPECT_EQ(found.end, count > 0x10000000U ? WalkEnd::invalid : WalkEnd::truncated) << count;
  }
}

}  // namespace
}  // namespace rpcrdma::wire
