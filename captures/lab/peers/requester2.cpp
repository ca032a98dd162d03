// SPDX-License-Identifier: GPL-2.0-or-later
#include <map>
#include <stdexcept>

#include "rpc.hpp"
#include "session2.hpp"
#include "stories2.hpp"
#include "version1.hpp"
#include "version2.hpp"

namespace lab {

namespace {

class Requester2 {
 public:
  Requester2(Endpoint& end, Session2& session) : end_(end), session_(session) {}

  // 4.3: one message until the server has answered in version 2.
  void hello() {
    session_.tell_properties();
    while (auto message = session_.receive()) {
      if (message->type != static_cast<std::uint32_t>(Type2::connprop_final)) continue;
      session_.learn_properties(*message);
      return;
    }
    throw std::runtime_error("no properties from the server");
  }

  void call(Call call) { inline_or_continued(call, {}, 0); }

  void read_into_chunk(std::uint32_t count, std::size_t segments, bool invalidate) {
    const auto memory = end_.expose(Octets(count), invalidate);
    ChunkLists chunks;
    chunks.writes.push_back(cut(*memory, count, segments));
    inline_or_continued({.procedure = Nfs3::read, .count = count}, chunks, invalidate ? memory->handle : 0);
  }

  // A chunk that is too short: the responder says how long it has to be.
  void read_into_short_chunk(std::uint32_t count) {
    const auto memory = end_.expose(Octets(count / 2));
    ChunkLists chunks;
    chunks.writes.push_back(cut(*memory, count / 2, 1));
    inline_or_continued({.procedure = Nfs3::read, .count = count}, chunks, 0);
  }

  void write_from_chunk(std::uint32_t count) {
    const auto memory = end_.expose(pattern(count));
    const Call write{.xid = 0, .procedure = Nfs3::write, .count = count, .reduced = true};
    ChunkLists chunks;
    const auto position = static_cast<std::uint32_t>(data_position(write));
    for (const Segment& segment : cut(*memory, count, 2)) chunks.reads.push_back({position, segment});
    inline_or_continued(write, chunks, 0);
  }

  // The whole call in a Call chunk (6.6.3), and room for the whole reply.
  void external(Call call, std::uint32_t reply_room) {
    call.xid = ++xid_;
    const Octets payload = encoded(call);
    const auto from = end_.expose(payload);
    const auto into = end_.expose(Octets(reply_room));
    std::vector<ReadSegment> call_chunk;
    for (const Segment& segment : cut(*from, payload.size(), 2)) call_chunk.push_back({0, segment});
    Writer out;
    out.u32(0);
    encode_reads(out, call_chunk);
    encode_reads(out, {});
    encode_writes(out, {});
    encode_reply(out, cut(*into, reply_room, 1));
    session_.send(Type2::call_external, call.xid, out.octets());
    answer(call.xid);
  }

  void unknown_type() {
    session_.send(static_cast<Type2>(20), ++xid_, Writer().u32(0).octets());
    answer(xid_);
  }

 private:
  void inline_or_continued(Call call, const ChunkLists& chunks, std::uint32_t invalidate) {
    call.xid = ++xid_;
    Writer out;
    out.u32(invalidate);
    encode_reads(out, chunks.reads);
    encode_writes(out, chunks.writes);
    encode_reply(out, chunks.reply);
    const Octets left = session_.send_middles(Type2::call_middle, call.xid, encoded(call), out.octets().size());
    session_.send(Type2::call_inline, call.xid, out.raw(left).octets());
    answer(call.xid);
  }

  void answer(std::uint32_t xid) {
    while (auto message = session_.receive()) {
      const auto type = static_cast<Type2>(message->type);
      if (type == Type2::grant || type == Type2::reply_middle) continue;
      if (message->xid != xid) throw std::runtime_error("an answer to something else");
      if (type == Type2::error) say("error " + std::to_string(Reader(message->body).u32()));
      return;
    }
    say("no answer to " + hex(xid));
  }

  Endpoint& end_;
  Session2& session_;
  std::uint32_t xid_ = 0x2ab00000;
};

// A server that speaks version 1 only has to answer ERR_VERS (4.3); the connection then goes on in version 1.
int to_linux(Endpoint& end, bool with_call) {
  std::uint32_t xid = 0x2ab10001;
  Writer first;
  if (with_call) {
    first.u32(xid).u32(2).u32(8).u32(10).u32(0).u32(0).u32(0).u32(0).raw(nfs4_null(xid));
  } else {
    first.u32(xid).u32(2).u32(8).u32(7).u32(2).u32(1).u32(4).u32(4096).u32(2).u32(4).u32(4096);
  }
  say(std::string("sending ") + (with_call ? "CALL_INLINE" : "CONNPROP_FINAL") + " of version 2 as " + hex(xid));
  end.send(first.octets());
  const auto answer = end.receive();
  if (!answer) throw std::runtime_error("no answer to version 2");
  Reader in(*answer);
  const std::uint32_t same = in.u32(), version = in.u32(), credits = in.u32(), type = in.u32(), error = in.u32();
  const std::uint32_t low = in.u32(), high = in.u32();
  say("answer to " + hex(same) + ": version word " + std::to_string(version) + ", credits " + std::to_string(credits) +
      ", type " + std::to_string(type) + ", error " + std::to_string(error) + ", versions " + std::to_string(low) +
      " to " + std::to_string(high));
  if (type != 4 || error != 1 || low > 1 || high < 1) throw std::runtime_error("this is not ERR_VERS");
  for (const bool null : {true, false, false}) {
    Message1 message;
    message.xid = ++xid;
    message.rpc = null ? nfs4_null(xid) : nfs4_root_attributes(xid);
    say("calling in version 1 as " + hex(xid));
    end.send(encoded(message));
    const auto reply = end.receive();
    say(reply ? "answered, " + std::to_string(reply->size()) + " octets" : "no answer");
  }
  return 0;
}

void play(Requester2& requester, const std::string& name) {
  requester.hello();
  requester.call({.procedure = Nfs3::null});
  if (name == "v2-lab-hello") {
    requester.call({.procedure = Nfs3::getattr});
    requester.call({.procedure = Nfs3::read, .count = 1001});
    requester.call({.procedure = Nfs3::write, .count = 4500});  // above the default threshold, below the negotiated one
  } else if (name == "v2-lab-continued" || name == "v2-lab-two-credits") {
    requester.call({.procedure = Nfs3::write, .count = 9001});
    requester.call({.procedure = Nfs3::read, .count = 9001});
  } else if (name == "v2-lab-chunks") {
    requester.read_into_chunk(6001, 1, true);
    requester.read_into_chunk(6000, 3, false);
    requester.write_from_chunk(6001);
  } else if (name == "v2-lab-external") {
    requester.external({.procedure = Nfs3::write, .count = 5001}, 200);
    requester.external({.procedure = Nfs3::readdir, .count = 6000}, 6200);
  } else if (name == "v2-lab-write-resource") {
    requester.read_into_short_chunk(3000);
    requester.read_into_chunk(3000, 1, false);
  } else if (name == "v2-lab-unknown-type") {
    requester.unknown_type();
  } else {
    throw std::runtime_error("no such story of version 2: " + name);
  }
  requester.call({.procedure = Nfs3::getattr});
}

}  // namespace

int client2(const std::string& host, const std::string& port, const std::string& name) {
  const Settings2 own = settings2(name);
  Settings settings;
  settings.receive_size = own.client.receive_size;
  const bool linux = name.find("linux") != std::string::npos;
  if (linux) settings.private_data = private_data(4096, 4096, false);
  const auto end = Endpoint::dialled(host, port, settings);
  if (linux) {
    to_linux(*end, name == "v2-lab-linux-call");
  } else {
    Session2 session(*end, own.advertised, own.client);
    Requester2 requester(*end, session);
    play(requester, name);
  }
  end->hang_up();
  return 0;
}

}  // namespace lab
