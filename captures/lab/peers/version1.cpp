// SPDX-License-Identifier: GPL-2.0-or-later
#include "version1.hpp"

#include <stdexcept>

#include "stories1.hpp"

namespace lab {

Octets encoded(const Message1& message) {
  Writer out;
  out.u32(message.xid).u32(message.version).u32(message.credits).u32(static_cast<std::uint32_t>(message.procedure));
  if (message.procedure == Proc1::msg || message.procedure == Proc1::nomsg) {
    encode_reads(out, message.chunks.reads);
    encode_writes(out, message.chunks.writes);
    encode_reply(out, message.chunks.reply);
  }
  return out.raw(message.rpc).octets();
}

Message1 decoded1(const Octets& octets) {
  Reader in(octets);
  Message1 message;
  message.xid = in.u32();
  message.version = in.u32();
  message.credits = in.u32();
  message.procedure = static_cast<Proc1>(in.u32());
  if (message.procedure == Proc1::msg || message.procedure == Proc1::nomsg) {
    message.chunks.reads = decode_reads(in);
    message.chunks.writes = decode_writes(in);
    message.chunks.reply = decode_reply(in);
  }
  message.rpc = in.rest();
  return message;
}

Octets private_data(std::size_t send_size, std::size_t receive_size, bool remote_invalidation) {
  const auto code = [](std::size_t size) { return static_cast<std::uint32_t>(size / 1024 - 1); };
  return Writer()
      .u32(0xf6ab0e18)
      .u32(1U << 24 | (remote_invalidation ? 1U << 16 : 0U) | code(send_size) << 8 | code(receive_size))
      .octets();
}

// --- the requester
// ----------------------------------------------------------------------------------------------------------

namespace {

class Requester {
 public:
  Requester(Endpoint& end, const Story1& story) : end_(end), story_(story) {}

  // Everything a well-behaved requester does, and each way to carry something once.
  void usual() {
    call({.procedure = Nfs3::null});
    call({.procedure = Nfs3::getattr});
    call({.procedure = Nfs3::read, .count = 1000});
    call({.procedure = Nfs3::write, .count = 1001});
    read_into_chunk(6001, 1);
    read_into_chunk(6000, 3);
    write_from_chunk(6001);
    readdir(5000);
  }

  void read_into_chunk(std::uint32_t count, std::size_t segments) {
    const auto memory = end_.expose(Octets(count + 2048), story_.client_invalidation);
    Message1 message;
    message.chunks.writes.push_back(cut(*memory, count, segments));
    call({.procedure = Nfs3::read, .count = count}, std::move(message));
  }

  void write_from_chunk(std::uint32_t count) {
    const auto memory = end_.expose(pattern(count + 2048));
    Call write{.xid = 0, .procedure = Nfs3::write, .count = count, .reduced = true};
    Message1 message;
    const auto position = static_cast<std::uint32_t>(data_position(write));
    for (const Segment& segment : cut(*memory, count, 1)) message.chunks.reads.push_back({position, segment});
    call(write, std::move(message));
  }

  void readdir(std::uint32_t count) {
    const auto memory = end_.expose(Octets(count + 200));
    Message1 message;
    message.chunks.reply = cut(*memory, count + 200, 1);
    call({.procedure = Nfs3::readdir, .count = count}, std::move(message));
  }

  void call(Call call, Message1 message = {}) {
    send(call, std::move(message));
    answer();
  }

  // Two reads that are outstanding together.
  void two_reads() {
    const auto one = end_.expose(Octets(2000), story_.client_invalidation);
    const auto other = end_.expose(Octets(2000), story_.client_invalidation);
    for (const Memory* memory : {one.get(), other.get()}) {
      Message1 message;
      message.chunks.writes.push_back(cut(*memory, 2000, 1));
      send({.procedure = Nfs3::read, .count = 2000}, std::move(message));
    }
    answer();
    answer();
  }

  void burst(unsigned calls) {
    std::vector<Octets> messages;
    for (unsigned i = 0; i < calls; ++i) {
      Message1 message;
      message.xid = ++xid_;
      message.rpc = encoded(Call{.xid = message.xid, .procedure = Nfs3::getattr});
      messages.push_back(encoded(message));
    }
    say("sending " + std::to_string(calls) + " calls at once");
    end_.send_at_once(messages);
    for (unsigned i = 0; i < calls; ++i) answer();
  }

 private:
  void send(Call call, Message1 message) {
    call.xid = message.xid = ++xid_;
    message.rpc = encoded(call);
    const Octets octets = encoded(message);
    say("calling procedure " + std::to_string(static_cast<unsigned>(call.procedure)) + " as " + hex(call.xid) + ", " +
        std::to_string(octets.size()) + " octets");
    end_.send(octets);
  }

  void answer() {
    const auto octets = end_.receive();
    if (!octets) {
      say("no answer");
      return;
    }
    const Message1 reply = decoded1(*octets);
    say("answer to " + hex(reply.xid) + ", " + std::to_string(octets->size()) + " octets, credits " +
        std::to_string(reply.credits));
    if (!reply.chunks.reads.empty()) pull(reply);
  }

  // A reply that the responder offers instead of sending it.
  void pull(const Message1& reply) {
    std::vector<ReadSegment> reads = reply.chunks.reads;
    if (story_.pull == Pull::in_part) reads.back().segment.length -= 1000;
    if (story_.pull != Pull::not_at_all) pulled(end_, reads, reads.front().position);
    if (story_.pull == Pull::without_done) return;
    Message1 done;
    done.xid = reply.xid;
    done.procedure = Proc1::done;
    say("RDMA_DONE for " + hex(reply.xid));
    end_.send(encoded(done));
  }

  Endpoint& end_;
  const Story1& story_;
  std::uint32_t xid_ = 0x1ab00000;
};

// --- the responder
// ----------------------------------------------------------------------------------------------------------

class Responder {
 public:
  Responder(Endpoint& end, const Story1& story) : end_(end), story_(story) {}

  void serve() {
    while (auto octets = end_.receive()) {
      const Message1 message = decoded1(*octets);
      say("received procedure " + std::to_string(static_cast<unsigned>(message.procedure)) + " as " + hex(message.xid) +
          ", " + std::to_string(octets->size()) + " octets");
      if (message.procedure == Proc1::done) {
        offered_.reset();
        continue;
      }
      waiting_.push_back(message);
      // So many calls after the first are outstanding together, however fast this side is.
      ++calls_;
      if (calls_ > 1 && calls_ < 1 + story_.held) continue;
      while (!waiting_.empty()) {
        answer(waiting_.front());
        waiting_.erase(waiting_.begin());
      }
    }
  }

 private:
  void answer(const Message1& message) {
    Octets rpc = message.rpc;
    const bool reduced = !message.chunks.reads.empty();
    if (reduced) {
      pulled(end_, message.chunks.reads, message.chunks.reads.front().position,
             story_.fault == Fault1::read_beyond ? 512 : 0);
    }
    const Call call = decoded_call(rpc, reduced);
    Message1 reply;
    reply.xid = message.xid;
    reply.credits = story_.grant;
    reply.chunks.writes = message.chunks.writes;
    const bool into_chunk = call.procedure == Nfs3::read && !message.chunks.writes.empty();
    if (into_chunk) {
      pushed(end_, pattern(call.count), reply.chunks.writes.front(), story_.fault == Fault1::write_beyond ? 512 : 0);
    }
    reply.rpc = reply_to(call, into_chunk);
    // Unless it is used, the Reply chunk goes back with nothing in it.
    reply.chunks.reply = message.chunks.reply;
    if (reply.chunks.reply) {
      for (Segment& segment : *reply.chunks.reply) segment.length = 0;
    }
    const std::size_t room = story_.fault == Fault1::reply_too_long ? 65536 : story_.client_size;
    if (encoded(reply).size() > room) {
      reply.procedure = Proc1::nomsg;
      if (message.chunks.reply) {
        reply.chunks.reply = message.chunks.reply;
        pushed(end_, reply.rpc, *reply.chunks.reply);
      } else {
        offered_ = end_.expose(reply.rpc);
        for (const Segment& segment : cut(*offered_, reply.rpc.size(), 2)) reply.chunks.reads.push_back({0, segment});
      }
      reply.rpc.clear();
    }
    send(reply, handle_to_invalidate(message));
  }

  std::optional<std::uint32_t> handle_to_invalidate(const Message1& message) {
    if (message.chunks.writes.empty()) return {};
    const std::uint32_t own = message.chunks.writes.front().front().handle;
    switch (story_.fault) {
      case Fault1::invalidate_unasked:
        return own;
      case Fault1::invalidate_other:
        // The other call's chunk is not filled yet: the RDMA Write into it will be refused.
        if (waiting_.size() < 2) return {};
        return waiting_.back().chunks.writes.front().front().handle;
      default:
        if (story_.client_invalidation && story_.server_invalidation) return own;
        return {};
    }
  }

  void send(const Message1& reply, std::optional<std::uint32_t> invalidate) {
    const Octets octets = encoded(reply);
    say("answering " + hex(reply.xid) + ", " + std::to_string(octets.size()) + " octets" +
        (reply.chunks.reads.empty() ? "" : ", offering the reply in a Read chunk") +
        (invalidate ? ", invalidating " + hex(*invalidate) : ""));
    end_.send(octets, invalidate);
  }

  Endpoint& end_;
  const Story1& story_;
  std::vector<Message1> waiting_;
  unsigned calls_ = 0;
  std::unique_ptr<Memory> offered_;
};

void play_script(Requester& requester, const Story1& story) {
  requester.call({.procedure = Nfs3::null});
  switch (story.script) {
    case Script1::usual:
      requester.usual();
      break;
    case Script1::getattr:
      requester.call({.procedure = Nfs3::getattr});
      break;
    case Script1::readlink:
      requester.call({.procedure = Nfs3::readlink});
      requester.call({.procedure = Nfs3::getattr});
      requester.call({.procedure = Nfs3::readlink});
      break;
    case Script1::long_write:
      requester.call({.procedure = Nfs3::write, .count = 5000});
      break;
    case Script1::long_read:
      requester.call({.procedure = Nfs3::read, .count = 2000});
      break;
    case Script1::read_chunk:
      requester.read_into_chunk(4096, 1);
      requester.call({.procedure = Nfs3::getattr});
      break;
    case Script1::write_chunk:
      requester.write_from_chunk(4096);
      requester.call({.procedure = Nfs3::getattr});
      break;
    case Script1::two_reads:
      requester.two_reads();
      break;
    case Script1::burst:
      requester.burst(6);
      break;
  }
  requester.call({.procedure = Nfs3::null});
}

Octets client_private_data(const Story1& story) {
  const Octets message = private_data(4096, story.client_size, story.client_invalidation);
  Octets octets(story.private_data_at, 0x5a);
  if (story.near_miss) octets = joined(Writer().u32(0xf6ab0e1a).u32(0x01000303).octets(), octets);
  return joined(octets, message);
}

}  // namespace

int client1(const std::string& host, const std::string& port, const std::string& name) {
  const Story1& story = story1(name);
  Settings settings;
  settings.private_data = client_private_data(story);
  settings.receive_size = story.client_size;
  const auto end = Endpoint::dialled(host, port, settings);
  Requester requester(*end, story);
  play_script(requester, story);
  end->hang_up();
  return 0;
}

int server1(const std::string& port, const std::string& name) {
  const Story1& story = story1(name);
  Settings settings;
  settings.private_data = private_data(4096, story.server_size, story.server_invalidation);
  settings.receive_size = story.server_size;
  const auto end = Endpoint::listening(port, settings);
  Responder responder(*end, story);
  responder.serve();
  return 0;
}

}  // namespace lab
