// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire/rpc.hpp"

#include "fuzz_input.hpp"

using rpcrdma::fuzz::require;
namespace wire = rpcrdma::wire;

namespace {

void check_error(const wire::DecodeError& error, const rpcrdma::fuzz::CutMessage& input) {
  require(error.fault != wire::Fault::truncated || input.wire_length > input.octets.size());
  require(error.offset <= input.octets.size() && !error.field.empty());
}

void walk(wire::Bytes arguments, std::size_t wire_length, bool callback) {
  const auto compound = wire::decode_compound(arguments, wire_length, callback);
  if (!compound) {
    check_error(compound.error(), {arguments, wire_length});
    return;
  }
  require(compound->operations.size() <= 64 && compound->operations.size() <= compound->count);
  for (const auto operation : compound->operations) {
    static_cast<void>(wire::nfs4_operation_name(operation, callback));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rpcrdma::fuzz::cut_message(data, size);
  const auto start = wire::decode_rpc_start(input.octets, input.wire_length);
  if (!start) check_error(start.error(), input);

  const auto call = wire::decode_rpc_call(input.octets, input.wire_length);
  if (call) {
    require(start && start->xid == call->xid && start->type == 0);
    require(call->body >= 40 && call->body <= input.octets.size() && call->body % 4 == 0);
    require(!wire::procedure_name(call->program, call->version, call->procedure).empty());
    static_cast<void>(wire::callback_program(call->program));
    walk(input.octets.subspan(call->body), input.wire_length - call->body, false);
    walk(input.octets.subspan(call->body), input.wire_length - call->body, true);
  } else {
    check_error(call.error(), input);
  }

  const auto reply = wire::decode_rpc_reply(input.octets, input.wire_length);
  if (reply) {
    require(start && start->xid == reply->xid && start->type == 1);
    require(reply->body >= 16 && reply->body <= input.octets.size() && reply->body % 4 == 0);
  } else {
    check_error(reply.error(), input);
  }

  // Arguments without a Call in front, so that the walker is reached from the first octet on.
  walk(input.octets, input.wire_length, false);
  walk(input.octets, input.wire_length, true);
  return 0;
}
