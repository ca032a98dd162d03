// SPDX-License-Identifier: GPL-2.0-or-later
// Which file octets belong to, and what it is called.
#include "payload/files.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/encoder.hpp"

namespace rpcrdma::payload {
namespace {

using wire::test::Encoder;
using Octets = std::vector<std::uint8_t>;

Octets call(std::uint32_t version, std::uint32_t procedure, const Encoder& arguments) {
  return Encoder()
      .words({1, 0, 2, wire::nfs_program, version, procedure, 0, 0, 0, 0})
      .append(arguments.octets())
      .octets();
}
Octets reply(const Encoder& results) { return Encoder().words({1, 1, 0, 0, 0, 0}).append(results.octets()).octets(); }

/// "NAME[HANDLE]@OFFSET OCTETS", written or read.
std::string told(const Files& files, const std::vector<FilePiece>& pieces) {
  std::string text;
  for (const FilePiece& piece : pieces) {
    const Files::File& file = files.file(piece.file);
    text += file.name + "[" + file.handle + "]@" + std::to_string(piece.offset) + (piece.written ? " w " : " r ") +
            std::string(piece.octets.begin(), piece.octets.end()) + ";";
  }
  return text;
}

struct Told {
  Files files;
  std::vector<FilePiece> pieces;
  std::string call(std::uint64_t exchange, const Octets& message, std::string_view server = "s") {
    files.call(exchange, server, message);
    return {};
  }
  std::string reply(std::uint64_t exchange, const Octets& message) {
    files.reply(exchange, message, pieces);
    return told(files, pieces);
  }
};

Octets read3(const char* handle, std::uint64_t offset) {
  return call(3, 6, Encoder().text(handle).hyper(offset).word(100));
}
Octets data3(const char* data) { return reply(Encoder().words({0, 0, 2, 1}).text(data)); }

TEST(Files, NamesOfVersion3ComeFromLookup) {
  Told t;
  EXPECT_EQ(t.call(1, call(3, 3, Encoder().text("dir").text("big.dat"))), "");
  EXPECT_EQ(t.reply(1, reply(Encoder().word(0).text("FH").words({0, 0}))), "");
  EXPECT_EQ(t.call(2, read3("FH", 7)), "");
  EXPECT_EQ(t.reply(2, data3("abc")), "big.dat[FH]@7 r abc;");
  t.call(3, call(3, 7, Encoder().text("FH").hyper(9).words({3, 2}).text("xyz")));
  EXPECT_EQ(t.reply(3, reply(Encoder().words({0, 0, 0, 3, 2, 0, 0}))), "big.dat[FH]@9 w xyz;");
  EXPECT_EQ(t.call(4, read3("other", 0)), "");
  EXPECT_EQ(t.reply(4, data3("q")), "[other]@0 r q;");
}

TEST(Files, OnlyWhatTheServerTookIsWritten) {
  const Octets write = call(3, 7, Encoder().text("FH").hyper(9).words({3, 2}).text("xyz"));
  Told t;
  t.call(1, write);
  EXPECT_EQ(t.reply(1, reply(Encoder().words({28, 0, 0}))), "");  // NFS3ERR_NOSPC
  t.call(2, write);
  EXPECT_EQ(t.reply(2, reply(Encoder().words({0, 0, 0, 2, 2, 0, 0}))), "[FH]@9 w xy;");  // two of three
}

TEST(Files, AnotherFileInItsPlace) {
  Told t;
  const auto lookup = [&](std::uint64_t exchange, const char* handle) {
    t.call(exchange, call(3, 3, Encoder().text("dir").text("q")));
    t.reply(exchange, reply(Encoder().word(0).text(handle).words({0, 0})));
    t.call(exchange + 1, read3(handle, 0));
    t.reply(exchange + 1, data3("a"));
    return t.pieces.front().file;
  };
  EXPECT_NE(lookup(1, "OLD"), lookup(3, "NEW"));
}

TEST(Files, ANameThatComesLater) {
  Told t;
  t.call(1, read3("FH", 0));
  EXPECT_EQ(t.reply(1, data3("a")), "[FH]@0 r a;");
  t.call(2, call(3, 3, Encoder().text("dir").text("late")));
  t.reply(2, reply(Encoder().word(0).text("FH").words({0, 0})));
  ASSERT_EQ(t.files.named().size(), 1U);
  EXPECT_EQ(t.files.file(t.files.named().front()).name, "late");
}

TEST(Files, TheSameHandleOfAnotherServerIsAnotherFile) {
  Told t;
  t.call(1, read3("FH", 0), "one");
  t.reply(1, data3("a"));
  const std::uint32_t first = t.pieces.front().file;
  t.call(2, read3("FH", 0), "two");
  t.reply(2, data3("a"));
  EXPECT_NE(t.pieces.front().file, first);
}

TEST(Files, RepliesWithoutTheirCallTellNothing) {
  Told t;
  EXPECT_EQ(t.reply(1, data3("abc")), "");
  t.call(2, read3("FH", 0));
  EXPECT_EQ(t.reply(2, data3("abc")), "[FH]@0 r abc;");
  EXPECT_EQ(t.reply(2, data3("abc")), "");  // once
}

Encoder compound(std::uint32_t count) { return Encoder().text("").words({1, count}); }

TEST(Files, OneCompoundFromNameToOctets) {
  Told t;
  // PUTFH dir, OPEN big.dat, GETFH, READ
  const Encoder operations = Encoder()
                                 .append(compound(4).octets())
                                 .word(22)
                                 .text("dir")
                                 .words({18, 0, 1, 0, 0, 9})
                                 .text("owner")
                                 .words({0, 0})
                                 .text("big.dat")
                                 .word(10)
                                 .words({25, 0, 0, 0, 0})
                                 .hyper(50)
                                 .word(3);
  EXPECT_EQ(t.call(1, call(4, 1, operations)), "");
  // OPEN's result: stateid, change, flags, no attributes, no delegation
  const Encoder results = Encoder()
                              .word(0)
                              .text("")
                              .words({4, 22, 0, 18, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 10, 0})
                              .text("FH")
                              .words({25, 0, 1})
                              .text("abc");
  EXPECT_EQ(t.reply(1, reply(results)), "big.dat[FH]@50 r abc;");
}

TEST(Files, WithoutAHandleThePathTells) {
  Told t;
  // PUTROOTFH, LOOKUP x, READ; then the same file once more
  const Encoder operations =
      Encoder().append(compound(3).octets()).word(24).word(15).text("x").words({25, 0, 0, 0, 0}).hyper(0).word(9);
  const Encoder results = Encoder().word(0).text("").words({3, 24, 0, 15, 0, 25, 0, 1}).text("abc");
  t.call(1, call(4, 1, operations));
  EXPECT_EQ(t.reply(1, reply(results)), "x[]@0 r abc;");
  const std::uint32_t first = t.pieces.front().file;
  t.call(2, call(4, 1, operations));
  t.reply(2, reply(results));
  EXPECT_EQ(t.pieces.front().file, first);
}

TEST(Files, OpenCallsAreBounded) {
  Told t;
  for (std::uint64_t i = 0; i < Files::most_open + 10; ++i) t.call(i, read3("FH", 0));
  EXPECT_EQ(t.reply(0, data3("a")), "");  // the oldest went
  EXPECT_EQ(t.reply(Files::most_open + 5, data3("a")), "[FH]@0 r a;");
}

}  // namespace
}  // namespace rpcrdma::payload
