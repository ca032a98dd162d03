// SPDX-License-Identifier: GPL-2.0-or-later
#include "rpc.hpp"
#include "session2.hpp"
#include "stories2.hpp"
#include "version2.hpp"

namespace lab {

namespace {

// What a final CALL says besides its payload.
struct Request {
  std::uint32_t xid = 0;
  std::uint32_t invalidate = 0;
  ChunkLists chunks;
  Octets payload;
};

class Responder2 {
 public:
  Responder2(Endpoint& end, Session2& session) : end_(end), session_(session) {}

  void serve() {
    while (auto message = session_.receive()) take(*message);
  }

 private:
  void take(const Message2& message) {
    switch (static_cast<Type2>(message.type)) {
      case Type2::grant:
      case Type2::error:
        return;
      case Type2::connprop_final:
        session_.learn_properties(message);
        session_.tell_properties();
        return;
      case Type2::call_middle: {
        Reader in(message.body);
        in.u32();
        begun_ = joined(begun_, in.rest());
        return;
      }
      case Type2::call_inline: {
        Reader in(message.body);
        Request request{.xid = message.xid, .invalidate = in.u32(), .chunks = lists(in), .payload = {}};
        request.payload = joined(begun_, in.rest());
        begun_.clear();
        answer(request);
        return;
      }
      case Type2::call_external: {
        Reader in(message.body);
        Request request{.xid = message.xid, .invalidate = in.u32(), .chunks = {}, .payload = {}};
        const std::vector<ReadSegment> call_chunk = decode_reads(in);
        request.chunks = lists(in);
        if (const auto call = pulled(end_, call_chunk, 0)) {
          request.payload = *call;
          answer(request);
        }
        return;
      }
      default:
        error(message.xid, Error2::inval_htype, {});
    }
  }

  static ChunkLists lists(Reader& in) {
    ChunkLists lists;
    lists.reads = decode_reads(in);
    lists.writes = decode_writes(in);
    lists.reply = decode_reply(in);
    return lists;
  }

  void error(std::uint32_t xid, Error2 code, const Octets& details) {
    session_.send(Type2::error, xid, Writer().u32(static_cast<std::uint32_t>(code)).raw(details).octets());
  }

  void answer(Request& request) {
    const bool reduced = !request.chunks.reads.empty();
    if (reduced) pulled(end_, request.chunks.reads, request.chunks.reads.front().position);
    const Call call = decoded_call(request.payload, reduced);
    const bool into_chunk = call.procedure == Nfs3::read && !request.chunks.writes.empty();
    if (into_chunk) {
      std::uint64_t room = 0;
      for (const Segment& segment : request.chunks.writes.front()) room += segment.length;
      if (room < call.count) {
        error(request.xid, Error2::write_resource, Writer().u32(1).u32(call.count).octets());
        return;
      }
      pushed(end_, pattern(call.count), request.chunks.writes.front());
    }
    send(request, reply_to(call, into_chunk));
  }

  // 6.6.4: inline when it fits, else the Reply chunk when there is one, else continued.
  void send(Request& request, const Octets& payload) {
    std::optional<std::uint32_t> invalidate;
    if (request.invalidate != 0) invalidate = request.invalidate;
    Writer out;
    encode_writes(out, request.chunks.writes);
    if (16 + out.octets().size() + payload.size() > session_.threshold() && request.chunks.reply) {
      pushed(end_, payload, *request.chunks.reply);
      encode_reply(out, request.chunks.reply);
      session_.send(Type2::reply_external, request.xid, out.octets(), invalidate);
      return;
    }
    const Octets left = session_.send_middles(Type2::reply_middle, request.xid, payload, out.octets().size());
    session_.send(Type2::reply_inline, request.xid, out.raw(left).octets(), invalidate);
  }

  Endpoint& end_;
  Session2& session_;
  Octets begun_;
};

}  // namespace

int server2(const std::string& port, const std::string& name) {
  const Settings2 own = settings2(name);
  Settings settings;
  settings.receive_size = own.server.receive_size;
  const auto end = Endpoint::listening(port, settings);
  Session2 session(*end, own.advertised, own.server);
  Responder2 responder(*end, session);
  responder.serve();
  return 0;
}

}  // namespace lab
