// SPDX-License-Identifier: GPL-2.0-or-later
// What Calls and Replies say of files, laid out as the XDR files of RFC 1813, 7531, 5662 and 7863 say.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nfs_steps_messages.hpp"
#include "wire/nfs_files.hpp"

namespace rpcrdma::wire {
namespace {

using namespace test;

std::string told(Bytes octets) { return {octets.begin(), octets.end()}; }

std::string told(const FileStep& step) {
  static const char* const names[] = {"-",    "root",  "handle", "name",    "open",     "get",
                                      "read", "write", "save",   "restore", "elsewhere"};
  std::string text = names[static_cast<std::size_t>(step.kind)];
  if (!step.text.empty()) text += " " + told(step.text);
  if (step.kind == FileStep::Kind::read || step.kind == FileStep::Kind::write)
    text += "@" + std::to_string(step.offset);
  if (!step.data.empty()) text += " " + told(step.data);
  return text;
}

std::string told(const FileAnswer& answer) {
  std::string text = std::to_string(answer.step);
  if (!answer.handle.empty()) text += " handle " + told(answer.handle);
  if (answer.offset) text += "@" + std::to_string(*answer.offset);
  if (!answer.data.empty()) text += " " + told(answer.data);
  if (answer.written != 0) text += " wrote " + std::to_string(answer.written);
  return text;
}

template <class Steps>
std::string all_in_line(const Steps& steps) {
  std::string text;
  for (const auto& step : steps) text += (text.empty() ? "" : ", ") + told(step);
  return text;
}

Encoder call_header(std::uint32_t version, std::uint32_t procedure) {
  return words({0x11223344, 0, 2, nfs_program, version, procedure, 1}).opaque(24).words({0, 0});
}
Encoder reply_header() { return words({0x11223344, 1, 0, 0, 0, 0}); }
/// With a verifier of RPCSEC_GSS
Encoder gss_reply_header() { return words({0x11223344, 1, 0, flavor_gss}).opaque(28).word(0); }
Encoder text(const char* t) { return Encoder().text(t); }
Encoder hyper(std::uint64_t value) { return Encoder().hyper(value); }
/// post_op_attr: none
Encoder no_attributes() { return words({0}); }
/// fattr3: 84 octets
Encoder attributes3() { return join({words({1}), Encoder().fill(84, 0)}); }

struct Case {
  const char* name;
  Encoder message;
  const char* told;
};

TEST(NfsFiles, CallsOfVersion3) {
  const Case cases[] = {
      {"LOOKUP", join({call_header(3, 3), text("dir"), text("big.dat")}), "handle dir, name big.dat, get"},
      {"CREATE", join({call_header(3, 8), text("dir"), text("new"), words({2, 1, 2})}), "handle dir, name new, get"},
      {"READ", join({call_header(3, 6), text("file"), hyper(0x100000005), words({3})}), "handle file, read@4294967301"},
      {"WRITE", join({call_header(3, 7), text("file"), hyper(7), words({5, 2}), text("hello")}),
       "handle file, write@7 hello"},
      {"WRITE cut in its data", join({call_header(3, 7), text("file"), hyper(7), words({5, 2, 5, 0x68656c6c})}), ""},
      {"GETATTR", join({call_header(3, 1), text("file")}), ""},
      {"NULL", call_header(3, 0), ""},
      {"another program", join({words({1, 0, 2, 100005, 3, 3, 0, 0, 0, 0}), text("dir"), text("x")}), ""},
  };
  for (const Case& c : cases) {
    FileCall call;
    read_file_steps(c.message.octets(), call);
    EXPECT_EQ(all_in_line(call.steps), c.told) << c.name;
  }
}

TEST(NfsFiles, CallsOfVersion4) {
  const auto compound = [](std::uint32_t count, std::initializer_list<Encoder> operations) {
    return join({call_header(4, 1), text("tag"), words({2, count}), join(operations)});
  };
  // OPEN: seqid, access, deny, client, owner; no creation; CLAIM_NULL with its name
  const Encoder open = join({words({18, 0, 1, 0, 0, 9}), text("owner"), words({0, 0}), text("data.bin")});
  const Encoder open_by_handle = join({words({18, 0, 1, 0, 0, 9}), text("owner"), words({0, 4})});
  // GUARDED4 with attributes: they are no name
  const Encoder create =
      join({words({18, 0, 2, 0, 0, 9}), text("owner"), words({1, 1, 1, 2}), text("attr"), words({0}), text("made")});
  const Case cases[] = {
      {"the way to a READ",
       compound(5, {words({24}), words({15}), text("dir"), open, words({10}), words({25}), state(), hyper(4096),
                    words({100})}),
       "root, name dir, open data.bin, get, read@4096"},
      {"a WRITE by handle",
       compound(2, {words({22}), text("FH"), words({38}), state(), hyper(9), words({2}), text("abc")}),
       "handle FH, write@9 abc"},
      {"OPEN by handle keeps its place", compound(2, {words({22}), text("FH"), open_by_handle}), "handle FH, open"},
      {"OPEN that creates", compound(1, {create}), "open made"},
      {"SAVEFH and RESTOREFH", compound(3, {words({32}), words({9, 1, 1}), words({31})}), "save, -, restore"},
      {"integrity",
       join({words({0x11223344, 0, 2, nfs_program, 4, 1, flavor_gss, 24, 1, 0, 1, 2}), text("ctx"), words({0, 0}),
             integrity(join({text("tag"), words({2, 1, 22}), text("FH")}))}),
       "handle FH"},
      {"LOOKUPP", compound(2, {words({22}), text("FH"), words({16})}), "handle FH, elsewhere"},
      {"READ_PLUS", compound(1, {words({68}), state(), hyper(1), words({2})}), "read@1"},
      {"what follows an unknown operation is not told", compound(3, {words({24}), words({77}), words({10})}), "root"},
  };
  for (const Case& c : cases) {
    FileCall call;
    read_file_steps(c.message.octets(), call);
    EXPECT_EQ(all_in_line(call.steps), c.told) << c.name;
  }
}

struct ReplyCase {
  const char* name;
  std::uint32_t version;
  std::uint32_t procedure;
  Encoder message;
  const char* told;
  std::optional<Protection> protection = Protection::none;
};

TEST(NfsFiles, Replies) {
  const auto compound = [](std::uint32_t count, std::initializer_list<Encoder> results) {
    return join({reply_header(), words({0}), text("tag"), words({count}), join(results)});
  };
  const ReplyCase cases[] = {
      {"LOOKUP", 3, 3, join({reply_header(), words({0}), text("FH"), no_attributes(), no_attributes()}), "2 handle FH"},
      {"CREATE", 3, 8, join({reply_header(), words({0, 1}), text("FH"), no_attributes()}), "2 handle FH"},
      {"CREATE without a handle", 3, 8, join({reply_header(), words({0, 0}), no_attributes()}), ""},
      {"READ", 3, 6, join({reply_header(), words({0}), attributes3(), words({5, 1}), text("hello")}), "1 hello"},
      {"READ without attributes", 3, 6, join({reply_header(), words({0}), no_attributes(), words({2, 1}), text("hi")}),
       "1 hi"},
      {"WRITE", 3, 7, join({reply_header(), words({0, 1}), Encoder().fill(24, 0), attributes3(), words({5, 2, 0, 0})}),
       "1 wrote 5"},
      {"WRITE that failed", 3, 7, join({reply_header(), words({28, 0, 0})}), ""},
      {"WRITE of version 4", 4, 1, compound(2, {words({22, 0}), words({38, 0, 7, 2, 0, 0})}), "1 wrote 7"},
      {"READ that failed", 3, 6, join({reply_header(), words({5}), no_attributes()}), ""},
      {"READ of version 4", 4, 1,
       compound(3, {words({22, 0}), words({25, 0, 1}), text("data"), words({10, 0}), text("FH")}),
       "1 data, 2 handle FH"},
      {"READ_PLUS with a hole", 4, 1,
       compound(1, {words({68, 0, 1, 3, 0}), hyper(10), text("one"), words({1}), hyper(13), hyper(7), words({0}),
                    hyper(20), text("two")}),
       "0@10 one, 0@20 two"},
      {"what follows a failure is not told", 4, 1, compound(2, {words({22, 70}), words({25, 0, 1}), text("data")}), ""},
      {"READ with integrity", 3, 6,
       join({gss_reply_header(), integrity(join({words({0}), no_attributes(), words({2, 1}), text("hi")}))}), "1 hi",
       Protection::integrity},
      {"READ with privacy", 3, 6, join({gss_reply_header(), text("sealed")}), "", Protection::privacy},
      {"RPC refused it", 3, 6, words({1, 1, 1, 1, 2}), ""},
  };
  for (const ReplyCase& c : cases) {
    FileAnswers answers;
    read_file_answers(c.message.octets(), {nfs_program, c.version, c.procedure, c.protection}, answers);
    EXPECT_EQ(all_in_line(answers), c.told) << c.name;
  }
}

TEST(NfsFiles, NothingBeyondACutMessage) {
  const Encoder call = join({call_header(4, 1), text("t"), words({0, 2, 22}), text("FH"), words({38}), state(),
                             hyper(9), words({2}), text("abcdefgh")});
  const Encoder reply = join({reply_header(), words({0}), text("t"), words({1, 25, 0, 1}), text("abcdefgh")});
  for (std::size_t length = 0; length < call.size(); ++length) {
    const Octets cut = prefix(call.octets(), length);
    FileCall told;
    read_file_steps(cut, told);
    EXPECT_LE(told.steps.size(), 1U) << length;  // the WRITE is told whole or not at all
  }
  for (std::size_t length = 0; length < reply.size(); ++length) {
    const Octets cut = prefix(reply.octets(), length);
    FileAnswers answers;
    read_file_answers(cut, compound_asked, answers);
    EXPECT_TRUE(answers.empty()) << length;
  }
}

}  // namespace
}  // namespace rpcrdma::wire
