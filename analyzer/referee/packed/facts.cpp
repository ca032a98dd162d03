// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/facts.hpp"
#include "referee/packed/fields.hpp"

namespace rpcrdma::referee {

// Not in a namespace of their own: Packing and Unpacking find them by their own one.

template <class Given, class Wanted>
concept Is = std::same_as<std::remove_const_t<Given>, Wanted>;

template <class Walk, Is<FrameRef> T>
static void each_field(Walk& walk, T& it) {
  auto& [number, time] = it;
  walk(number, time);
}

template <class Walk, Is<trace::Endpoint> T>
static void each_field(Walk& walk, T& it) {
  auto& [address, port, qpn, network, fabric] = it;
  walk(address, port, qpn, network, fabric);
}

template <class Walk, Is<Finding::Follows> T>
static void each_field(Walk& walk, T& it) {
  auto& [rule, frame] = it;
  walk(rule, frame);
}

template <class Walk, Is<Finding> T>
static void each_field(Walk& walk, T& it) {
  auto& [rule, severity, connection, frames, time, xid, violator, role, message, occurrences, follows, owes,
         connections] = it;
  walk(rule, severity, connection, frames, time, xid, violator, role, message, occurrences, follows, owes, connections);
}

template <class Walk, Is<PrivateData> T>
static void each_field(Walk& walk, T& it) {
  auto& [frame, offset, version, remote_invalidation, send_size, receive_size, reserved] = it;
  walk(frame, offset, version, remote_invalidation, send_size, receive_size, reserved);
}

template <class Walk, Is<Thresholds> T>
static void each_field(Walk& walk, T& it) {
  auto& [client_to_server, server_to_client, basis] = it;
  walk(client_to_server, server_to_client, basis);
}

template <class Walk, Is<Cause> T>
static void each_field(Walk& walk, T& it) {
  auto& [rule, proven, frames, message] = it;
  walk(rule, proven, frames, message);
}

template <class Walk, Is<Closed> T>
static void each_field(Walk& walk, T& it) {
  auto& [how, frame, by, cause] = it;
  walk(how, frame, by, cause);
}

template <class Walk, Is<Latency> T>
static void each_field(Walk& walk, T& it) {
  auto& [count, min, p50, p90, p99, max] = it;
  walk(count, min, p50, p90, p99, max);
}

template <class Walk, Is<ProcedureFacts::Operation> T>
static void each_field(Walk& walk, T& it) {
  auto& [name, count] = it;
  walk(name, count);
}

template <class Walk, Is<ProcedureFacts> T>
static void each_field(Walk& walk, T& it) {
  auto& [program, version, procedure, name, calls, latency, operations] = it;
  walk(program, version, procedure, name, calls, latency, operations);
}

template <class Walk, Is<Negotiation> T>
static void each_field(Walk& walk, T& it) {
  auto& [probe, probe_type, answer, refused, lowest, highest, went_on] = it;
  walk(probe, probe_type, answer, refused, lowest, highest, went_on);
}

template <class Walk, Is<Waiting> T>
static void each_field(Walk& walk, T& it) {
  auto& [calls, oldest, until] = it;
  walk(calls, oldest, until);
}

template <class Walk, Is<ConnectionFacts::Credits> T>
static void each_field(Walk& walk, T& it) {
  auto& [requested, granted, outstanding_peak, stalls] = it;
  walk(requested, granted, outstanding_peak, stalls);
}

template <class Walk, Is<ConnectionFacts::Messages> T>
static void each_field(Walk& walk, T& it) {
  auto& [calls, replies, reverse_calls, reverse_replies, rdma_msg, rdma_nomsg, rdma_msgp, rdma_done, rdma_error, v2] =
      it;
  walk(calls, replies, reverse_calls, reverse_replies, rdma_msg, rdma_nomsg, rdma_msgp, rdma_done, rdma_error, v2);
}

template <class Walk, Is<ConnectionFacts::Operations> T>
static void each_field(Walk& walk, T& it) {
  auto& [sends, sends_with_invalidate, reads, writes, read_bytes, write_bytes, naks, rnr_naks, retransmitted] = it;
  walk(sends, sends_with_invalidate, reads, writes, read_bytes, write_bytes, naks, rnr_naks, retransmitted);
}

template <class Walk, Is<ConnectionFacts::Pull> T>
static void each_field(Walk& walk, T& it) {
  auto& [offered, completed, missing] = it;
  walk(offered, completed, missing);
}

template <class Walk, Is<ConnectionFacts> T>
static void each_field(Walk& walk, T& it) {
  auto& [id, transport, client, server, networks, roles_from, opened, handshake_seen, closed, version,
         private_data_client, private_data_server, thresholds, credits, messages, operations, pull_completion, latency,
         procedures, negotiation, waiting, path_mtu, one_way, gaps, sends_unrecognised] = it;
  walk(id, transport, client, server, networks, roles_from, opened, handshake_seen, closed, version,
       private_data_client, private_data_server, thresholds, credits, messages, operations, pull_completion, latency,
       procedures, negotiation, waiting, path_mtu, one_way, gaps, sends_unrecognised);
}

void pack(PackedOctets& to, PackedWords& words, const Finding& finding) { Packing{to, words}(finding); }
void unpack(const std::uint8_t*& from, const PackedWords& words, Finding& into) { Unpacking{from, words}(into); }
void pack(PackedOctets& to, PackedWords& words, const ConnectionFacts& facts) { Packing{to, words}(facts); }
void unpack(const std::uint8_t*& from, const PackedWords& words, ConnectionFacts& into) {
  Unpacking{from, words}(into);
}

}  // namespace rpcrdma::referee
