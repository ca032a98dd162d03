// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/cm.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;
using rpcrdma::wire::CmKind;
using rpcrdma::wire::Fault;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto message = rpcrdma::wire::decode_cm(input.octets, input.wire_length);
  if (!message) {
    require(message.error().fault != Fault::truncated || input.octets.size() < input.wire_length);
    return 0;
  }
  require(message->local_id.has_value());
  require(!rpcrdma::wire::cm_name(message->kind).empty());
  require(message->consumer.size() <= message->consumer_length && message->consumer_length <= 232);
  require(!message->local_qpn || *message->local_qpn <= 0xFFFFFF);
  require(!message->starting_psn || *message->starting_psn <= 0xFFFFFF);
  require(!message->remote_id || message->kind != CmKind::req);
  require(!message->ip || (message->kind == CmKind::req && message->consumer_length == 56));
  // Nothing is absent from a message that was captured whole.
  if (message->kind == CmKind::req && input.octets.size() >= rpcrdma::wire::mad_octets)
    require(message->service_id && message->local_qpn && message->path_mtu && !message->consumer.empty());
  return 0;
}
