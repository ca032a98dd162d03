// SPDX-License-Identifier: GPL-2.0-or-later
// Version 2: messages in pieces, and the steps that carry no RPC message (grant, properties, refusal, message).
#include <algorithm>
#include <map>

#include "rpcrdma_v2.hpp"
#include "story.hpp"

namespace forge {
namespace {

constexpr std::size_t most_pieces = 64;

/// "pieces: 3" cuts evenly, at multiples of four; "pieces: [70, 70]" says the sizes, the last piece takes the rest.
std::vector<std::size_t> piece_sizes(Words& words, std::size_t octets) {
  const YAML::Node node = words.node("pieces");
  if (!node.IsDefined()) return {octets};
  std::vector<std::size_t> sizes;
  if (node.IsSequence()) {
    sizes = node.as<std::vector<std::size_t>>();
  } else {
    const auto count = node.as<std::size_t>();
    if (count == 0 || count > most_pieces) throw Mistake("pieces: 1 to 64");
    sizes.assign(count - 1, octets / count / 4 * 4);
  }
  std::size_t left = octets;
  for (const std::size_t size : sizes) {
    if (size > left) throw Mistake("the pieces are larger than the message");
    left -= size;
  }
  sizes.push_back(left);
  return sizes;
}

std::vector<ReadChunk> at_zero(const std::vector<ReadChunk>& reads, bool wanted) {
  std::vector<ReadChunk> out;
  for (const ReadChunk& chunk : reads) {
    if ((chunk.position == 0) == wanted) out.push_back(chunk);
  }
  return out;
}

}  // namespace

std::uint32_t Story::credit_of(Side by, Words& words) {
  std::uint32_t& advertised = by == Side::client ? line().client_credits : line().server_credits;
  advertised = words.get<std::uint32_t>("advertise", advertised);
  const std::uint32_t received = line().sent.at(by == Side::client ? 1 : 0);
  return words.get<std::uint32_t>("credit", received + advertised);
}

/// The header that a call or a reply in one piece would have.
HeaderV2 Story::header_v2(const Outgoing& out) {
  HeaderV2 h;
  h.xid = out.header.xid;
  h.inv_handle = out.inv_handle;
  h.reads = at_zero(out.header.reads, false);
  h.call = at_zero(out.header.reads, true);
  h.writes = out.header.writes;
  h.reply = out.header.reply;
  const bool external = out.header.proc == proc_nomsg;
  h.type = out.is_call ? (external ? type_call_external : type_call_inline)
                       : (external ? type_reply_external : type_reply_inline);
  return h;
}

void Story::say_v2(const Step& step, Words& words, const Outgoing& out, std::optional<std::uint32_t> invalidate) {
  HeaderV2 last = header_v2(out);
  last.version = words.get<std::uint32_t>("version", 2);
  const std::uint32_t credit = credit_of(out.by, words);
  last.credit = credit;
  const std::vector<std::size_t> sizes = piece_sizes(words, out.rpc.octets.size());
  const YAML::Node announced = words.node("remaining");
  const bool including = words.get<bool>("remaining_includes_piece", false);
  const std::size_t stop = words.get<std::size_t>("stop_after", sizes.size());
  std::vector<Piece> pieces;
  std::size_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool final = i + 1 == sizes.size();
    HeaderV2 h = last;
    if (!final) {
      h = {};
      h.xid = last.xid;
      h.version = last.version;
      h.credit = credit;
      h.type = out.is_call ? type_call_middle : type_reply_middle;
      const std::size_t left = out.rpc.octets.size() - at - (including ? 0 : sizes[i]);
      h.remaining = announced.IsDefined() ? announced[i].as<std::uint32_t>() : static_cast<std::uint32_t>(left);
    }
    pieces.push_back({out.by, Pen().add(encode(h)).add(slice(out.rpc.octets, at, sizes[i])).take(),
                      final ? invalidate : std::nullopt});
    at += sizes[i];
  }
  // What the other side has left to send it may send yet.
  std::vector<Piece>& rest = line().rest;
  rest.erase(std::remove_if(rest.begin(), rest.end(), [&](const Piece& piece) { return piece.by == out.by; }),
             rest.end());
  rest.insert(rest.end(), pieces.begin() + static_cast<std::ptrdiff_t>(std::min(stop, pieces.size())), pieces.end());
  pieces.resize(std::min(stop, pieces.size()));
  for (const Piece& piece : pieces) emit(step, piece.by, piece.octets, piece.invalidate, false);
}

void Story::rest(const Step& step, Words& words) {
  std::vector<Piece>& rest = line().rest;
  if (rest.empty()) throw Mistake("no pieces were left");
  const std::size_t count = words.get<std::size_t>("count", rest.size());
  const Side by = words.side("by").value_or(rest.front().by);
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = std::find_if(rest.begin(), rest.end(), [&](const Piece& piece) { return piece.by == by; });
    if (next == rest.end()) break;
    const Piece piece = *next;
    rest.erase(next);
    emit(step, piece.by, piece.octets, piece.invalidate, false);
  }
}

void Story::grant(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::server);
  HeaderV2 h;
  h.type = type_grant;
  h.xid = words.get<std::uint32_t>("xid", 0);
  h.credit = credit_of(by, words);
  const Octets body = from_hex(words.get<std::string>("body", ""));
  emit(step, by, Pen().add(encode(h)).add(body).take(), words.maybe<std::uint32_t>("invalidate"), false);
}

void Story::properties(const Step& step, Words& words) {
  static const std::vector<std::pair<std::string, std::uint32_t>> numbers{
      {"send", 1}, {"receive", 2}, {"segment_size", 3}, {"segment_count", 4}, {"reverse", 5}};
  const Side by = words.side("by").value_or(Side::client);
  HeaderV2 h;
  h.type = words.get<bool>("last", true) ? type_connprop_final : type_connprop_middle;
  h.xid = words.get<std::uint32_t>("xid", 0);
  h.credit = credit_of(by, words);
  Pen items;
  std::uint32_t count = 0;
  for (const auto& [name, id] : numbers) {
    const auto value = words.maybe<std::uint32_t>(name);
    if (!value) continue;
    items.u32(id).u32(4).u32(*value);
    ++count;
  }
  if (const auto auth = words.maybe<std::size_t>("auth")) {
    constexpr std::uint32_t host_auth = 6;
    items.u32(host_auth).u32(*auth + 4).u32(*auth).add(pattern(host_auth, *auth)).align(4);
    ++count;
  }
  if (const auto raw = words.maybe<std::string>("raw")) {
    items.add(from_hex(*raw));
    ++count;
  }
  count = words.get<std::uint32_t>("count", count);
  const Octets body = Pen().u32(count).add(items.take()).take();
  emit(step, by, Pen().add(encode(h)).add(body).take(), words.maybe<std::uint32_t>("invalidate"), false);
}

void Story::refusal(const Step& step, Words& words) {
  static const std::map<std::string, std::uint32_t> codes{
      {"vers", 1},           {"bad xdr", 2},         {"bad propval", 3},    {"inval htype", 4},
      {"inval cont", 5},     {"read chunks", 6},     {"write chunks", 7},   {"segments", 8},
      {"write resource", 9}, {"reply resource", 10}, {"vers mismatch", 11}, {"system", 100}};
  const Side by = words.side("by").value_or(Side::server);
  HeaderV2 h;
  h.type = type_error;
  if (const auto to = words.maybe<std::string>("to")) {
    Asked* found = asked(*to);
    if (found == nullptr) throw Mistake("no call is named '" + *to + "'");
    found->answered = true;
    has_taken(*found);
    h.xid = found->xid;
  }
  h.xid = words.get<std::uint32_t>("xid", h.xid);
  h.version = words.get<std::uint32_t>("version", 2);
  h.credit = credit_of(by, words);
  const auto word = words.need<std::string>("code");
  const auto code = codes.find(word);
  Pen pen;
  pen.add(encode(h)).u32(code != codes.end() ? code->second : words.need<std::uint32_t>("code"));
  const YAML::Node values = words.node("values");
  if (values.IsDefined()) {
    for (const YAML::Node& value : values) pen.u32(value.as<std::uint32_t>());
  }
  emit(step, by, pen.take(), words.maybe<std::uint32_t>("invalidate"), false);
}

void Story::message(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::client);
  HeaderV2 h;
  h.xid = words.get<std::uint32_t>("xid", 0);
  h.version = words.get<std::uint32_t>("version", 2);
  h.credit = credit_of(by, words);
  const auto type = words.need<std::uint32_t>("type");
  Pen pen;
  pen.u32(h.xid).u32(h.version).u32(h.credit).u32(type).add(from_hex(words.get<std::string>("body", "")));
  emit(step, by, pen.take(), words.maybe<std::uint32_t>("invalidate"), false);
}

}  // namespace forge
