// SPDX-License-Identifier: GPL-2.0-or-later
// Steps that send a message: call, reply, done, error, send.
#include <algorithm>

#include "story.hpp"

namespace forge {
namespace {

constexpr std::uint32_t body_position = 0;
constexpr std::uint32_t data_position = 0xFFFFFFFF;  ///< not yet known: the next reducible item's

Procedure read_procedure(Words& words, const Procedure& usual) {
  Procedure p = usual;
  if (const auto name = words.maybe<std::string>("nfs3")) p = Procedure::nfs3(*name);
  const YAML::Node four = words.node("nfs4");
  if (four.IsDefined()) {
    if (four.IsSequence()) {
      p = Procedure::compound(four.as<std::vector<std::string>>());
    } else {
      p = Procedure::compound({"sequence", "putfh", four.as<std::string>()});
    }
  }
  const YAML::Node callback = words.node("callback");
  if (callback.IsDefined()) {
    std::vector<std::string> operations{"cb_sequence"};
    const auto add = [&](const YAML::Node& name) { operations.push_back(name.as<std::string>()); };
    if (callback.IsSequence()) {
      for (const YAML::Node& name : callback) add(name);
    } else {
      add(callback);
    }
    p = Procedure::callback(operations);
  }
  if (const auto service = words.maybe<std::string>("gss")) {
    static const std::map<std::string, Procedure::Gss> services{
        {"none", Procedure::Gss::none},       {"integrity", Procedure::Gss::integrity},
        {"privacy", Procedure::Gss::privacy}, {"channel", Procedure::Gss::channel},
        {"context", Procedure::Gss::context}, {"destroy", Procedure::Gss::destroy}};
    const auto found = services.find(*service);
    if (found == services.end()) throw Mistake("gss: none, integrity, privacy, channel, context or destroy");
    p.gss = found->second;
  }
  p.gss_major = words.get<std::uint32_t>("gss_major", p.gss_major);
  p.nfs_status = words.get<std::uint32_t>("nfs_status", p.nfs_status);
  p.fails = words.get<std::string>("fails", p.fails);
  p.state = words.get<std::uint32_t>("stateid", p.state);
  p.file = words.get<std::uint32_t>("file", p.file);
  p.owner = words.get<std::uint32_t>("owner", p.owner);
  p.client = words.get<std::uint32_t>("client", p.client);
  p.confirmed = words.get<bool>("confirmed", p.confirmed);
  p.session = words.get<std::uint32_t>("session", p.session);
  if (words.has("request")) p.request = words.need<std::uint32_t>("request");
  p.sequence_flags = words.get<std::uint32_t>("sequence_flags", p.sequence_flags);
  p.asynchronous = words.get<bool>("asynchronous", p.asynchronous);
  if (const auto status = words.maybe<std::uint32_t>("complete")) p.complete = status;
  p.program = words.get<std::uint32_t>("program", p.program);
  p.version = words.get<std::uint32_t>("program_version", p.version);
  p.number = words.get<std::uint32_t>("procedure", p.number);
  p.body.reset();  // a reply's is not that of its call
  if (const auto body = words.maybe<std::string>("body")) p.body = from_hex(*body);
  return p;
}

std::optional<std::uint32_t> read_proc(Words& words) {
  static const std::map<std::string, std::uint32_t> names{
      {"msg", proc_msg}, {"nomsg", proc_nomsg}, {"msgp", proc_msgp}, {"done", proc_done}, {"error", proc_error}};
  const auto word = words.maybe<std::string>("proc");
  if (!word) return std::nullopt;
  const auto found = names.find(*word);
  return found != names.end() ? found->second : words.need<std::uint32_t>("proc");
}

std::uint32_t read_position(const YAML::Node& node, bool has_items) {
  const YAML::Node position = node["position"];
  if (!position.IsDefined()) return has_items ? data_position : body_position;
  return position.as<std::string>() == "data" ? data_position : position.as<std::uint32_t>();
}

/// `items: [{at: 100, octets: 16}]`: what is moved, in place of what RFC 8267 allows to be. `at` counts from the XID.
void read_items(Words& words, RpcMessage& rpc) {
  const YAML::Node list = words.node("items");
  if (!list.IsDefined()) return;
  rpc.items.clear();
  for (const YAML::Node& node : list) {
    Words item(node, words.where());
    rpc.items.push_back({item.need<std::size_t>("at"), item.need<std::size_t>("octets")});
    item.done();
    if (rpc.items.back().offset + rpc.items.back().length > rpc.octets.size()) throw Mistake("an item beyond the end");
  }
}

/// Which item a Read chunk takes: `item: 2` is the second; without it, the next.
std::size_t item_of(const YAML::Node& node, std::size_t next) {
  const YAML::Node item = node["item"];
  if (!item.IsDefined()) return next;
  if (item.as<std::size_t>() == 0) throw Mistake("items are counted from 1");
  return item.as<std::size_t>() - 1;
}

/// `octets`: length of a segment that names none.
std::optional<Chunk> one_chunk(Words& words, const std::string& key, std::size_t octets) {
  const YAML::Node node = words.node(key);
  if (!node.IsDefined() || node.IsNull()) return std::nullopt;
  return read_chunk(node, words.where(), static_cast<std::uint32_t>(octets));
}

std::vector<Chunk> chunks(Words& words, const std::string& key, std::size_t octets) {
  std::vector<Chunk> out;
  const YAML::Node list = words.node(key);
  if (!list.IsDefined()) return out;
  for (const YAML::Node& node : list)
    out.push_back(read_chunk(node, words.where(), static_cast<std::uint32_t>(octets)));
  return out;
}

/// Takes an item, with its pad, out of the stream; the places of the others follow.
Octets take_item(RpcMessage& rpc, std::size_t index) {
  const Item item = rpc.items.at(index);
  const std::size_t padded = item.length + (4 - item.length % 4) % 4;
  Octets octets = slice(rpc.octets, item.offset, item.length);
  const auto first = rpc.octets.begin() + static_cast<std::ptrdiff_t>(item.offset);
  rpc.octets.erase(first, first + static_cast<std::ptrdiff_t>(padded));
  for (Item& other : rpc.items) {
    if (other.offset > item.offset) other.offset -= padded;
  }
  return octets;
}

/// Another message type than the RPC message's own.
void retype(RpcMessage& rpc, Words& words) {
  constexpr std::size_t type_at = 4;
  const auto type = words.maybe<std::uint32_t>("message_type");
  if (!type) return;
  const Octets word = Pen().u32(*type).take();
  std::copy(word.begin(), word.end(), rpc.octets.begin() + type_at);
}

Chunk emptied(Chunk chunk) {
  for (Segment& s : chunk) s.length = 0;
  return chunk;
}

Chunk filled(Chunk chunk, std::size_t octets) {
  for (Segment& s : chunk) {
    s.length = static_cast<std::uint32_t>(std::min<std::size_t>(s.length, octets));
    octets -= s.length;
  }
  return chunk;
}

}  // namespace

Story::Asked* Story::asked(const std::string& label) {
  for (Asked& a : line().calls) {
    if (a.label == label) return &a;
  }
  return nullptr;
}

void Story::has_taken(const Asked& call) {
  for (const Done& each : line().done) {
    const bool its = each.label == call.label && each.part == "send" && each.by == call.requester;
    if (its) line().wire->has_taken(other(call.requester), each.op);
  }
}

/// Moves what the Read chunks carry into this side's memory, and says so in the header.
void Story::reduce_reads(const Step& step, Outgoing& out, bool items, Words& words) {
  const YAML::Node list = words.node("reads");
  const std::vector<Item> unreduced = out.rpc.items;
  std::vector<std::uint32_t> positions;
  std::vector<Chunk> chunks;
  std::size_t next_item = 0;
  if (list.IsDefined()) {
    for (const YAML::Node& node : list) {
      positions.push_back(read_position(node, items));
      chunks.emplace_back();
      if (positions.back() == body_position) continue;
      if (positions.back() != data_position) {
        chunks.back() = read_chunk(node, words.where(), 0);
        continue;
      }
      const std::size_t item = item_of(node, next_item);
      if (item >= unreduced.size()) throw Mistake("nothing left that could go into a Read chunk");
      const Octets data = take_item(out.rpc, item);
      chunks.back() = read_chunk(node, words.where(), static_cast<std::uint32_t>(data.size()));
      positions.back() = static_cast<std::uint32_t>(unreduced[item].offset);
      next_item = item + 1;
      memory(out.by).store(chunks.back(), data);
    }
  }
  bool body = false;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] == body_position) {
      chunks[i] = read_chunk(list[i], words.where(), static_cast<std::uint32_t>(out.rpc.octets.size()));
      memory(out.by).store(chunks[i], out.rpc.octets);
      body = true;
    }
    out.header.reads.push_back({positions[i], chunks[i]});
  }
  if (body) {
    out.rpc.octets.clear();
    out.header.proc = proc_nomsg;
  }
  if (const auto proc = read_proc(words)) out.header.proc = *proc;
  if (!chunks.empty()) line().exposed.push_back({step.label, out.by, out.header.xid, chunks});
}

void Story::call(const Step& step, Words& words) {
  const bool reverse = words.get<bool>("reverse", false);
  Asked a;
  a.label = step.label;
  a.requester = reverse ? Side::server : Side::client;
  std::uint32_t& next = next_xid_.at(reverse ? 1 : 0);
  if (const auto same = words.maybe<std::string>("xid_of")) {
    for (const Line& l : lines_) {
      for (const Asked& earlier : l.calls) {
        if (earlier.label == *same) a.xid = earlier.xid;
      }
    }
    if (a.xid == 0) throw Mistake("no call is named '" + *same + "'");
  } else {
    a.xid = words.has("xid") ? words.need<std::uint32_t>("xid") : next++;
  }
  a.procedure = read_procedure(words, {});
  a.procedure.story = number_;
  a.procedure.octets = words.get<std::size_t>("octets", a.procedure.octets);
  a.writes = chunks(words, "writes", a.procedure.octets);
  a.reply = one_chunk(words, "reply_chunk", a.procedure.octets + 1024);

  Outgoing out;
  out.by = a.requester;
  out.version2 = step.verb == "v2-call";
  out.is_call = true;
  out.header.xid = a.xid;
  if (out.version2) {
    a.version = 2;
    out.inv_handle = words.get<std::uint32_t>("inv_handle", 0);
  } else {
    out.header.version = a.version = words.get<std::uint32_t>("version", 1);
    out.header.credit = words.get<std::uint32_t>("credit", reverse ? 2 : line().client_credits);
  }
  out.header.writes = a.writes;
  out.header.reply = a.reply;
  const auto rpc_xid = words.get<std::uint32_t>("rpc_xid", a.xid);
  if (const auto size = words.maybe<std::size_t>("size")) {
    a.procedure.octets = 0;
    const std::size_t header = out.version2 ? encode(header_v2(out)).size() : encode(out.header).size();
    const std::size_t least = header + rpc_call(a.procedure, rpc_xid).octets.size();
    if (*size < least) throw Mistake("the message has at least " + std::to_string(least) + " octets");
    a.procedure.octets = *size - least;
  }
  out.rpc = rpc_call(a.procedure, rpc_xid);
  retype(out.rpc, words);
  read_items(words, out.rpc);
  reduce_reads(step, out, !out.rpc.items.empty(), words);
  line().calls.push_back(a);
  say(step, words, out, words.maybe<std::uint32_t>("invalidate"));
}

void Story::reply(const Step& step, Words& words) {
  const bool reverse = words.get<bool>("reverse", false);
  const Side requester = reverse ? Side::server : Side::client;
  Asked stranger;
  stranger.requester = requester;
  Asked* found = nullptr;
  if (const auto to = words.maybe<std::string>("to")) {
    found = asked(*to);
    if (found == nullptr) throw Mistake("no call is named '" + *to + "'");
  } else if (!words.get<bool>("unasked", false)) {
    for (Asked& each : line().calls) {
      if (found == nullptr && !each.answered && each.requester == requester) found = &each;
    }
    if (found == nullptr) throw Mistake("there is no call to reply to");
  }
  answer(step, words, found != nullptr ? *found : stranger, reverse);
}

void Story::answer(const Step& step, Words& words, Asked& a, bool reverse) {
  a.answered = true;
  has_taken(a);
  Outgoing out;
  out.by = other(a.requester);
  out.version2 = step.verb == "v2-reply";
  out.header.xid = words.has("xid") ? words.need<std::uint32_t>("xid") : a.xid;
  if (!out.version2) {
    out.header.version = words.get<std::uint32_t>("version", a.version);
    out.header.credit = words.get<std::uint32_t>("credit", reverse ? 2 : line().server_credits);
  }
  Procedure procedure = read_procedure(words, a.procedure);
  procedure.story = number_;
  procedure.octets = words.get<std::size_t>("octets", procedure.octets);
  const auto status = words.get<std::uint32_t>("status", 0);
  const auto rpc_xid = words.get<std::uint32_t>("rpc_xid", out.header.xid);
  const bool use_chunks = !words.get<bool>("inline", false);
  const YAML::Node offered = words.node("reads");
  const bool into_reply_chunk = words.get<bool>("long", use_chunks) && a.reply && !offered.IsDefined();

  // Results that go into Write chunks leave the stream first; then either the rest goes into the Reply chunk, or
  // into Read chunks of the responder, or inline.
  if (const auto size = words.maybe<std::size_t>("size")) {
    Outgoing draft = out;
    for (const Chunk& chunk : a.writes) draft.header.writes.push_back(emptied(chunk));
    if (a.reply) draft.header.reply = emptied(*a.reply);
    procedure.octets = 0;
    const std::size_t least = (out.version2 ? encode(header_v2(draft)).size() : encode(draft.header).size()) +
                              rpc_reply(procedure, rpc_xid, status).octets.size();
    if (*size < least) throw Mistake("the message has at least " + std::to_string(least) + " octets");
    procedure.octets = *size - least;
  }
  const auto denied = words.maybe<std::uint32_t>("denied");
  out.rpc = denied ? rpc_denied(rpc_xid, *denied) : rpc_reply(procedure, rpc_xid, status);
  retype(out.rpc, words);
  read_items(words, out.rpc);
  const auto put = [&out](const Chunk& chunk, const Octets& data) {
    std::size_t done = 0;
    for (const Segment& s : chunk) {
      if (s.length > 0) out.placements.push_back({s.handle, s.offset, slice(data, done, s.length)});
      done += s.length;
    }
  };
  std::size_t item = 0;
  for (const Chunk& chunk : a.writes) {
    Chunk returned = emptied(chunk);
    if (use_chunks && item < out.rpc.items.size() && length(chunk) > 0) {
      const Octets data = take_item(out.rpc, item++);
      returned = filled(chunk, data.size());
      put(returned, data);
    }
    out.header.writes.push_back(returned);
  }
  reduce_reads(step, out, false, words);
  if (a.reply) {
    out.header.reply = emptied(*a.reply);
    if (into_reply_chunk) {
      out.header.reply = filled(*a.reply, out.rpc.octets.size());
      put(*out.header.reply, out.rpc.octets);
      out.rpc.octets.clear();
      if (out.header.proc == proc_msg) out.header.proc = proc_nomsg;
    }
  }
  if (words.has("writes")) out.header.writes = chunks(words, "writes", 0);
  if (words.has("reply_chunk")) out.header.reply = one_chunk(words, "reply_chunk", 0);
  if (const auto placed = words.maybe<std::size_t>("placed")) {
    std::size_t left = *placed;
    for (Placement& p : out.placements) {
      p.octets.resize(std::min(left, p.octets.size()));
      left -= p.octets.size();
    }
    out.placements.erase(std::remove_if(out.placements.begin(), out.placements.end(),
                                        [](const Placement& p) { return p.octets.empty(); }),
                         out.placements.end());
  }
  const auto order = words.get<std::string>("place", "before");
  if (order != "before" && order != "after" && order != "no") throw Mistake("place: before, after or no");
  if (order == "before") place(step, out.by, out.placements);
  say(step, words, out, words.maybe<std::uint32_t>("invalidate"));
  if (order == "after") {
    place(step, out.by, out.placements);
    acknowledge(step, other(out.by));
  }
}

/// Header and payload to one Send. `header` replaces the header, `lists` what follows its four fixed words.
void Story::say(const Step& step, Words& words, Outgoing& out, std::optional<std::uint32_t> invalidate) {
  if (out.version2) {
    say_v2(step, words, out, invalidate);
    return;
  }
  Octets header = encode(out.header);
  bool ordinary = out.header.version == 1 && out.header.proc <= proc_error;
  if (const auto lists = words.maybe<std::string>("lists")) {
    constexpr std::size_t fixed_words = 16;
    header = Pen().add(slice(header, 0, fixed_words)).add(from_hex(*lists)).take();
  }
  if (const auto raw = words.maybe<std::string>("header")) {
    header = from_hex(*raw);
    ordinary = false;
  }
  if (const auto count = words.maybe<std::size_t>("rpc_octets")) out.rpc.octets.resize(*count);
  const Octets tail = from_hex(words.get<std::string>("tail", ""));
  out.rpc.octets.insert(out.rpc.octets.end(), tail.begin(), tail.end());
  const bool carries_rpc = out.header.proc == proc_msg || out.header.proc == proc_msgp;
  if (carries_rpc && out.rpc.octets.size() >= 4) {
    ordinary = ordinary && slice(out.rpc.octets, 0, 4) == Pen().u32(out.header.xid).take();
  }
  line().wire->set_immediate(words.maybe<std::uint32_t>("immediate"));
  emit(step, out.by, Pen().add(header).add(out.rpc.octets).take(), invalidate, ordinary);
  line().wire->set_immediate(std::nullopt);
}

void Story::emit(const Step& step, Side by, const Octets& message, std::optional<std::uint32_t> invalidate,
                 bool ordinary) {
  const Op op = line().wire->send(by, message, invalidate);
  ++line().sent.at(by == Side::client ? 0 : 1);
  line().done.push_back({step.label, "send", op, ordinary, std::nullopt, by});
  film_.shots.back().spoken = ordinary;
  acknowledge(step, other(by));
}

void Story::done(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::client);
  RdmaHeader h;
  h.proc = proc_done;
  h.version = words.get<std::uint32_t>("version", 1);
  h.credit = words.get<std::uint32_t>("credit", line().client_credits);
  if (words.has("xid")) {
    h.xid = words.need<std::uint32_t>("xid");
  } else {
    const auto to = words.maybe<std::string>("to");
    const auto& exposed = line().exposed;
    const auto found =
        std::find_if(exposed.rbegin(), exposed.rend(), [&](const Exposed& e) { return !to || e.label == *to; });
    if (found == exposed.rend()) throw Mistake("there is no offer to be done with");
    h.xid = found->xid;
  }
  emit(step, by, encode(h), words.maybe<std::uint32_t>("invalidate"), true);
}

void Story::error(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::server);
  RdmaError e;
  Asked* found = nullptr;
  if (const auto to = words.maybe<std::string>("to")) {
    found = asked(*to);
    if (found == nullptr) throw Mistake("no call is named '" + *to + "'");
  } else if (!words.has("xid")) {
    for (Asked& each : line().calls) {
      if (found == nullptr && !each.answered && each.requester == other(by)) found = &each;
    }
    if (found == nullptr) throw Mistake("there is no call that the error could answer");
  }
  if (found != nullptr) {
    found->answered = true;
    has_taken(*found);
    e.xid = found->xid;
    e.version = found->version;
  }
  e.xid = words.get<std::uint32_t>("xid", e.xid);
  e.version = words.get<std::uint32_t>("version", e.version);
  e.credit = words.get<std::uint32_t>("credit", line().server_credits);
  const auto code = words.get<std::string>("code", "chunk");
  e.code = code == "chunk" ? 2 : code == "vers" ? 1 : words.need<std::uint32_t>("code");
  e.low = words.get<std::uint32_t>("low", 1);
  e.high = words.get<std::uint32_t>("high", 1);
  emit(step, by, encode(e), words.maybe<std::uint32_t>("invalidate"), e.version == 1);
}

void Story::send_raw(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::client);
  Octets octets = from_hex(words.get<std::string>("octets", ""));
  const auto fill = words.get<std::size_t>("fill", 0);
  octets.resize(octets.size() + fill, words.get<std::uint8_t>("with", 0xEE));
  emit(step, by, octets, words.maybe<std::uint32_t>("invalidate"), words.get<bool>("ordinary", false));
}

}  // namespace forge
