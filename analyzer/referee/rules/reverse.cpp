// SPDX-License-Identifier: GPL-2.0-or-later
// Group J: calls of the server. Whether they are refused as they have to be: errors.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "referee/docket/cases.hpp"
#include "referee/rules/checks.hpp"
#include "referee/rules/rows.hpp"
#include "wire/rpc.hpp"

namespace rpcrdma::referee {

const Row rows::reverse_before_ready{
    .group = 'J',
    .severity = Severity::error,
    .versions = Versions::both,
    .needs = {.past = Needs::Past::from_start},
    .source = "RFC 8167 section 6; version 2 draft section 4.6.3",
    .who = "server",
    .title = "The server called back before the client was ready for it",
    .explanation =
        "A server may send calls of its own only after the client's upper layer has agreed to take them. An NFSv4.1 "
        "client agrees on a connection by CREATE_SESSION or BIND_CONN_TO_SESSION. Before that it has no Receive to "
        "spare and nobody who would answer: the call is dropped, or it takes the Receive that a reply needs and the "
        "connection is lost.",
    .evidence =
        "A Call from the server while no CREATE_SESSION or BIND_CONN_TO_SESSION of the client stands before it on the "
        "same connection. A note when it is no NFS callback, whose rules are not known here. Not decided when the "
        "start is not in the capture, frames are missing, or an earlier compound cannot be read to its end "
        "(RPCSEC_GSS, Long Call, snap length).",
    .next =
        "Server: rpcrdma:svcrdma_post_send shows what goes out; look at how it binds a back channel to a connection. "
        "Each connection needs its own binding, also after a reconnect."};

namespace {

void settle_early_call(const Witness& witness, const Case& waited) {
  Connection& connection = witness.connection;
  const FrameRef agreed = connection.back_channel.agreed;
  if (agreed.number != 0 && agreed.number < waited.frame.number) return;  // it was only delivered late
  if (agreed.number != 0 && agreed.time - waited.frame.time < trace::change_of_places) {
    witness.unchecked(RuleId::reverse_before_ready,
                      "the client agreed at the same moment: which came first is not certain");
    return;
  }
  const bool nfs = waited.severity == Severity::error;
  witness.conclude(
      waited,
      {.frames = {waited.frame, agreed},
       .by = when(nfs, Side::passive),
       .as = Role::requester,
       .xid = waited.xid,
       .at_most = waited.at_most(),
       .what =
           nfs ? fmt::format(
                     "The server sent a Call (XID {:#010x}) although the client has not agreed to be called on this "
                     "connection: it sent no CREATE_SESSION with a back channel and bound the connection to none.",
                     waited.xid)
               : fmt::format(
                     "The server sent a Call (XID {:#010x}). Whether the client is ready for calls depends on a "
                     "protocol that is not known here.",
                     waited.xid)});
}

}  // namespace

void judge_reverse_call(const Witness& witness, const trace::Send& event, const Transaction& call) {
  Connection& connection = witness.connection;
  const BackChannel& channel = connection.back_channel;
  if (channel.agreed.number != 0) return;
  if (!witness.may(RuleId::reverse_before_ready)) return;
  if (channel.not_read() != 0) {
    witness.unchecked(RuleId::reverse_before_ready,
                      fmt::format("the client's Call in frame {} cannot be read to its end: it may have agreed there",
                                  channel.not_read()));
    return;
  }
  const bool nfs = channel.nfs4 || (call.procedure && wire::callback_program(std::get<0>(*call.procedure)));
  witness.wait({.rule = RuleId::reverse_before_ready,
                .accused = event.side,
                .frame = event.frame,
                .xid = call.xid,
                .severity = nfs ? Severity::error : Severity::note,
                .about = Case::EarlyCall{},
                .settle = settle_early_call});
}

}  // namespace rpcrdma::referee
