// SPDX-License-Identifier: GPL-2.0-or-later
// What the referee understood of each message and operation, told as it happens: for sinks that draw or keep more than
// the facts and findings of the end. Spans and references are valid only during the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "referee/facts.hpp"
#include "trace/events.hpp"
#include "wire/rpcrdma.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::referee {

/// A Call and what belongs to it. `id` is unique within the connection; 0: none is known.
struct ExchangeRef {
  std::uint32_t id = 0;
  std::uint32_t xid = 0;
  trace::Side requester = trace::Side::active;
};

/// An RPC-over-RDMA message, complete.
struct MessageSeen {
  enum class Kind : std::uint8_t {
    call,
    reply,
    done,   ///< RDMA_DONE; the exchange is the one whose Read chunk it ends
    error,  ///< RDMA_ERROR; the exchange is the one it answers
    other   ///< not decodable, or of no known direction
  } kind = Kind::other;
  const trace::Send* send = nullptr;
  const wire::HeaderV1* header = nullptr;   ///< null: broken, cut, or not version 1
  const wire::HeaderV2* header2 = nullptr;  ///< null: broken, cut, or not version 2 (of an early draft as well)
  ExchangeRef exchange;
  /// Program, version and procedure of the exchange's Call.
  std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> procedure;
  /// What that Call asks for, by the name that mountstats uses: "WRITE" of a COMPOUND. Of static storage; empty: not
  /// read, or of a program without such names.
  std::string_view operation;
  std::optional<CallTimes> times;        ///< of the exchange: with the first answer to its Call, or a copy of it
  std::uint64_t outstanding = 0;         ///< Calls of the requester without an answer, this message counted
  std::optional<std::uint32_t> granted;  ///< newest grant to the requester
};

/// One packet of an RDMA Write, one RDMA Read request, or one packet of its answer.
struct OperationSeen {
  enum class Kind : std::uint8_t { write, read_request, read_response } kind = Kind::write;
  trace::Side side = trace::Side::active;  ///< who sent it
  FrameRef frame;
  std::uint32_t handle = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< octets, on the wire
  wire::Bytes octets;        ///< as captured
  ExchangeRef exchange;      ///< whose chunk the memory belongs to
  bool offer = false;        ///< a Read chunk that a Reply offered
  std::uint64_t op = 0;      ///< joins the packets of one Write, and a Read request with its answer
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// A handshake message of a connection that is, as far as known by then, RPC-over-RDMA.
  virtual void handshake(const ConnectionFacts& connection, trace::Side sender, FrameRef frame) = 0;
  virtual void message(const ConnectionFacts& connection, const MessageSeen& seen) = 0;
  virtual void operation(const ConnectionFacts& connection, const OperationSeen& seen) = 0;

  // What is neither message nor operation, of every connection: also of one that is not known to be RPC-over-RDMA yet,
  // or that will never be. For sinks that draw it.
  virtual void heard(const trace::ConnectRequest&) {}
  virtual void heard(const trace::ConnectReply&) {}
  virtual void heard(const trace::ConnectReject&) {}
  virtual void heard(const trace::ConnectReady&) {}
  virtual void heard(const trace::Disconnect&) {}
  virtual void heard(const trace::Refusal&) {}
  virtual void heard(const trace::Gap&) {}
  virtual void heard(const trace::Repeated&) {}

 protected:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
};

/// What will be in the report, each as soon as it cannot change any more.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void finding(const Finding& finding) = 0;
  virtual void connection(const ConnectionFacts& connection) = 0;
  virtual void unchecked(const Unchecked& unchecked) = 0;

 protected:
  Listener() = default;
  Listener(const Listener&) = default;
  Listener& operator=(const Listener&) = default;
};

}  // namespace rpcrdma::referee
