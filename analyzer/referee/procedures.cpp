// SPDX-License-Identifier: GPL-2.0-or-later
#include "referee/procedures.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "wire/rpc.hpp"

namespace rpcrdma::referee {

void note_procedure(Connection& connection, Transaction& call, wire::Bytes message, std::size_t wire_length) {
  if (call.procedure || message.size() < 24) return;
  const std::uint8_t* p = message.data();
  if (wire::load_be32(p + 4) != 0 || wire::load_be32(p + 8) != 2) return;
  call.procedure = std::tuple(wire::load_be32(p + 12), wire::load_be32(p + 16), wire::load_be32(p + 20));
  note_back_channel(connection, call, message, wire_length);
  constexpr std::size_t most_procedures = 512;
  if (connection.procedures.size() >= most_procedures && !connection.procedures.contains(*call.procedure)) return;
  Procedure& procedure = connection.procedures[*call.procedure];
  ++procedure.calls;
  const auto [program, version, number] = *call.procedure;
  const bool callback = wire::callback_program(program);
  if (number != 1 || !((program == wire::nfs_program && version == 4) || callback)) return;
  const auto decoded = wire::decode_rpc_call(message, wire_length);
  if (!decoded || decoded->body > message.size()) return;
  if (decoded->gss_service && *decoded->gss_service != 1) return;  // wrapped or encrypted arguments
  const auto compound = wire::decode_compound(message.subspan(decoded->body), wire_length - decoded->body, callback);
  if (!compound) return;
  for (const std::uint32_t operation : compound->operations) {
    // Only those that have a name: as many as the protocol has, whatever the wire says.
    if (!wire::nfs4_operation_name(operation, callback).empty()) ++procedure.operations[operation];
  }
}

void look_at_heads(Context& context, Connection& connection, Transaction& call, FrameRef reply, Side responder) {
  const wire::Bytes asked = call.call_body.octets();
  if (asked.size() >= 8) {
    note_procedure(connection, call, asked, std::max<std::size_t>(asked.size(), call.body_length));
    if (connection.trusted()) {
      judge_xid_by_rdma(context, connection, call.call, call.requester, Role::requester, call.xid,
                        wire::load_be32(asked.data()), reply);
    }
  }
  const wire::Bytes answer = call.reply_body.octets();
  if (answer.size() >= 8 && call.copies == 1 && connection.trusted()) {
    judge_rpc_status(context, connection, reply, responder, answer, answer.size(), call);
    judge_xid_by_rdma(context, connection, reply, responder, Role::responder, call.xid, wire::load_be32(answer.data()),
                      call.call);
    if (wire::load_be32(answer.data()) == call.xid) {
      judge_direction_by_rdma(context, connection, reply, call, Role::responder, wire::load_be32(answer.data() + 4),
                              call.call);
    }
  }
  call.call_body.clear();
  call.reply_body.clear();
}

}  // namespace rpcrdma::referee
