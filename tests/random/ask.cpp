// SPDX-License-Identifier: GPL-2.0-or-later
// What is asked: a procedure with the words that name it, and which of its parts may be moved.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "talk.hpp"

namespace talk {
namespace {

std::uint32_t size_of_data(Chance& chance) {
  switch (chance.below(6)) {
    case 0:
    case 1:
      return chance.between(1, 64);
    case 2:
      return chance.between(65, 1000);
    case 3:
    case 4:
      return chance.between(900, 4300);
    default:
      return chance.between(4000, 9000);
  }
}

/// Parts of a stream of `end` octets, from `begin` on: what a protocol of its own might let a sender move.
std::vector<forge::Item> items_in(std::size_t begin, std::size_t end, Chance& chance) {
  std::vector<forge::Item> items;
  for (std::uint32_t count = chance.between(1, 3); count > 0; --count) {
    begin += 4ULL * chance.below(4);
    if (begin + 8 > end) break;
    const std::size_t room = end - begin;
    const std::size_t length = 1 + chance.below(room > 2000 ? 2000 : room);
    if (begin + padded(length) > end) break;
    items.push_back({begin, length});
    begin += padded(length);
  }
  return items;
}

}  // namespace

Ask Talk::filler(std::uint32_t octets) const {
  Ask ask;
  ask.procedure.octets = octets;
  ask.words.set("octets", octets);
  return ask;
}

Ask Talk::ask(const Line& line, Side requester, Chance& chance) const {
  constexpr std::size_t call_header = 40;  // of a filler Call, up to its octets
  constexpr std::size_t reply_header = 24;
  const Program program = line.plan->program;
  // Which forms the client takes back, in version 2 (draft, section 5.2.5).
  const bool small = requester == Side::server && line.version == 2 && line.plan->client.level == 1;
  if (program == Program::filler || small ||
      (requester == Side::server && (program == Program::nfs3 || chance.one_in(4)))) {
    Ask ask = filler(small ? 4 * chance.below(200) : static_cast<std::uint32_t>(padded(size_of_data(chance))));
    ask.back = small ? 4 * chance.below(200) : static_cast<std::uint32_t>(padded(size_of_data(chance)));
    if (small) return ask;
    if (chance.one_in(3)) ask.call_items = items_in(call_header, call_header + ask.procedure.octets, chance);
    if (chance.one_in(3)) ask.reply_items = items_in(reply_header, reply_header + ask.back, chance);
    return ask;
  }
  Ask ask;
  const std::uint32_t octets = size_of_data(chance);
  if (requester == Side::server) {
    ask.procedure = forge::Procedure::callback({"cb_sequence", "cb_recall"});
    ask.words.set("callback", "cb_recall");
    return ask;
  }
  if (program == Program::nfs3) {
    const auto verb = chance.of<std::string>(
        {"null", "getattr", "readlink", "read", "read", "write", "write", "symlink", "readdirplus"});
    ask.procedure = forge::Procedure::nfs3(verb);
    ask.words.set("nfs3", '"' + verb + '"');  // (null without quotes is no word in YAML)
  } else {
    using Operations = std::vector<std::string>;
    const bool session = !line.ready && line.plan->back_channel && chance.one_in(2);
    const auto operations = session ? chance.of<Operations>({{"create_session"}, {"bind_conn_both"}})
                                    : chance.of<Operations>({{"sequence", "putfh", "getattr"},
                                                             {"sequence", "putfh", "read"},
                                                             {"sequence", "putfh", "read", "getattr"},
                                                             {"sequence", "putfh", "read", "read"},
                                                             {"sequence", "putfh", "write"},
                                                             {"sequence", "putfh", "write", "getattr"},
                                                             {"sequence", "putfh", "readlink"},
                                                             {"sequence", "putfh", "readdir"},
                                                             {"sequence", "putfh", "setattr"},
                                                             {"exchange_id"},
                                                             {"create_session_fore"}});
    ask.ready_afterwards = session;
    ask.procedure = forge::Procedure::compound(operations);
    ask.words.set("nfs4", fmt::format("[{}]", fmt::join(operations, ", ")));
  }
  ask.procedure.octets = octets;
  ask.words.set("octets", octets);
  ask.back = octets;
  if (!ask.ready_afterwards && chance.one_in(12)) {
    using Gss = forge::Procedure::Gss;
    ask.procedure.gss = chance.of({Gss::none, Gss::integrity, Gss::privacy});
    ask.words.set("gss", ask.procedure.gss == Gss::none        ? "none"
                         : ask.procedure.gss == Gss::integrity ? "integrity"
                                                               : "privacy");
  }
  return ask;
}

}  // namespace talk
