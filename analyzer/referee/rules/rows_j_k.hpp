// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: reverse direction (J), errors and versions (K). Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule j_to_k[] = {
    // J. reverse direction
    {RuleId::reverse_before_ready, "reverse-before-ready", 'J', Severity::error, Versions::both,
     "RFC 8167 section 6; version 2 draft section 4.6.3", "server",
     "The server called back before the client was ready for it",
     "A server may send calls of its own only after the client's upper layer has agreed to take them. An NFSv4.1 "
     "client agrees on a connection by CREATE_SESSION or BIND_CONN_TO_SESSION. Before that it has no Receive to spare "
     "and nobody who would answer: the call is dropped, or it takes the Receive that a reply needs and the connection "
     "is lost.",
     "A Call from the server while no CREATE_SESSION or BIND_CONN_TO_SESSION of the client stands before it on the "
     "same connection. A note when it is no NFS callback, whose rules are not known here. Not decided when the start "
     "is not in the capture, frames are missing, or an earlier compound cannot be read to its end (RPCSEC_GSS, Long "
     "Call, snap length).",
     "Server: rpcrdma:svcrdma_post_send shows what goes out; look at how it binds a back channel to a connection. Each "
     "connection needs its own binding, also after a reconnect."},
    {RuleId::reverse_chunk_refusal_missing, "reverse-chunk-refusal-missing", 'J', Severity::warning, Versions::both,
     "RFC 8167 section 5.3; version 2 draft section 4.6.4", "responder",
     "A callback with chunks was neither answered nor refused",
     "A client need not take chunks in the reverse direction, but then it has to say so with ERR_CHUNK. If it only "
     "drops the call, the server waits for a timeout, takes the back channel for broken and stops handing out "
     "delegations.",
     "A Call of the server with a chunk list, proven to have arrived and open for a second or more, while the client "
     "goes on sending. Not decided across a gap, or when the server itself ends the connection first.",
     "Linux clients drop such a call without a word (rpcrdma:xprtrdma_reply_rqst_err counts it as an unknown XID). On "
     "the server, keep callbacks small enough to go inline: fewer arguments, or a larger inline threshold."},
    {RuleId::reverse_version_mismatch, "reverse-version-mismatch", 'J', Severity::error, Versions::both,
     "RFC 8167 section 5.1; version 2 draft section 4.6.1", "server",
     "A callback uses another protocol version than the forward direction",
     "Both directions of a connection use one version of RPC-over-RDMA, the one that the client's calls have settled. "
     "A client drops a callback with another version.",
     "The version word of the server's Call against that of the Call and Reply which settled the version. Not decided "
     "before a Reply has come.",
     "Look at how the server chooses the version of its callbacks: it has to keep it for each connection."},

    // K. errors and versions
    {RuleId::error_missing, "error-missing", 'K', Severity::warning, Versions::both,
     "RFC 8166 section 4.5; version 2 draft section 7", "responder", "A broken call was not refused",
     "A responder that cannot decode the header of a call has to say so with RDMA_ERROR. Without it the requester "
     "waits until its timeout for a reply that never comes, and the credit is lost for as long. A message too short "
     "for a header is the one exception: it is dropped silently.",
     "A Call with a broken header, an unknown procedure or version, proven to have arrived, and no RDMA_ERROR for a "
     "second or more while the responder goes on sending. Not decided across a gap, or when the connection ends first.",
     "Linux server: rpcrdma:svcrdma_decode_parse_err, svcrdma_decode_badproc_err, svcrdma_decode_badvers_err and "
     "svcrdma_send_err show that it saw the fault and what it sent."},
    {RuleId::error_to_reply, "error-to-reply", 'K', Severity::error, Versions::v1, "RFC 8166 section 4.5", "requester",
     "A reply was answered with RDMA_ERROR",
     "Only a call can be refused. A requester that cannot use a reply drops it silently; there is nobody who waits for "
     "its complaint. The responder has no transaction with that XID any more, and the message takes a receive buffer "
     "that no credit accounts for.",
     "RDMA_ERROR whose XID belongs only to a Call of its own sender, answered by the other side. If both sides use "
     "that XID, the other one may be meant. Not decided across a gap.",
     "The receiver ignores it (Linux server: rpcrdma:svcrdma_decode_drop_err). Look at what the sender disliked in the "
     "reply: the second frame named here."},
    {RuleId::error_to_error, "error-to-error", 'K', Severity::error, Versions::both,
     "RFC 8166 section 4.2.4 (derived); version 2 draft section 7", "sender", "RDMA_ERROR was answered with RDMA_ERROR",
     "An error ends its transaction and is never answered, or two peers could go on complaining to each other without "
     "an end.",
     "RDMA_ERROR with the XID of an RDMA_ERROR that the other side sent before, and no Call of the other side with "
     "that "
     "XID. Not decided across a gap.",
     "Look at how the sender of the second one takes an RDMA_ERROR that it cannot match with a call."},
    {RuleId::error_fields, "error-fields", 'K', Severity::error, Versions::both,
     "RFC 8166 section 4.5; version 2 draft section 7", "responder", "An RDMA_ERROR is not made as it has to be",
     "An RDMA_ERROR carries the XID and the version of the call that it refuses, and nothing behind its code: 20 "
     "octets "
     "for ERR_CHUNK, 28 for ERR_VERS. A requester that gets another version, or more octets, may not recognise it and "
     "waits for its timeout.",
     "Length and version word of RDMA_ERROR against the Call. Where the Call was well-formed, another version is "
     "reply-version-differs. Not decided without the Call.",
     "Look at the responder's encoder for errors. Linux servers copy the version and send 20 or 28 octets."},
    {RuleId::error_code_unknown, "error-code-unknown", 'K', Severity::note, Versions::both,
     "RFC 8166 section 4.5; version 2 draft section 7", "sender", "An RDMA_ERROR with an unknown code",
     "Version 1 has two codes, ERR_VERS and ERR_CHUNK. A receiver drops what it does not know; the call it meant is "
     "lost. The sender may follow an extension.",
     "The code word of RDMA_ERROR is neither 1 nor 2.",
     "Find out what the sender is; a Linux client fails the RPC with EREMOTEIO."},
    {RuleId::err_vers_range_invalid, "err-vers-range-invalid", 'K', Severity::error, Versions::both,
     "RFC 8166 section 4.5.1; version 2 draft section 7.1.1", "responder",
     "ERR_VERS names a range of versions that makes no sense",
     "ERR_VERS tells which versions the responder does speak, so that the requester can choose one. The lowest must "
     "not "
     "be above the highest, and the version that was refused cannot be among them. A requester that believes such a "
     "range gives up, or tries the same version again for ever.",
     "The two numbers of ERR_VERS, and the version of the Call that it refuses. The second half is not decided without "
     "the Call.",
     "Linux servers say 1 to 1 (rpcrdma:svcrdma_err_vers). Look at how the responder fills in the range."},
    {RuleId::err_vers_unwarranted, "err-vers-unwarranted", 'K', Severity::warning, Versions::v1,
     "RFC 8166 section 4.5.1", "responder", "Version 1 was refused by a peer that speaks version 1",
     "ERR_VERS is for versions that a responder does not know. Sent for another reason, it makes a requester give up a "
     "version that works: the mount fails although both sides could talk to each other.",
     "ERR_VERS for a Call of version 1, from a responder whose range contains version 1, or that has answered version "
     "1 "
     "on this connection.",
     "See what else is wrong with the call: a fault in its header is to be answered with ERR_CHUNK."},
    {RuleId::msgp_not_refused, "msgp-not-refused", 'K', Severity::warning, Versions::v1, "RFC 8166 section 4.6.1",
     "responder", "RDMA_MSGP was not refused",
     "RDMA_MSGP is not to be used any more, and a responder should refuse it with ERR_CHUNK, so that an old client "
     "learns at once that it has to stop. A responder that takes it, or drops it, hides the fault.",
     "RDMA_MSGP that was answered by a Reply, or by nothing for a second or more while the responder goes on sending. "
     "Not decided across a gap.",
     "Linux server: rpcrdma:svcrdma_decode_badproc_err and svcrdma_err_chunk. Find out what the client is: it follows "
     "RFC 5666."},
    {RuleId::version_after_refusal, "version-after-refusal", 'K', Severity::error, Versions::both,
     "version 2 draft section 7.1.1; RFC 8166 section 4.5.1", "requester", "A refused version was used again",
     "ERR_VERS is final for its connection: the responder does not learn the version meanwhile. A requester that goes "
     "on with it gets nothing but refusals.",
     "A message with a version that ERR_VERS refused, sent after that ERR_VERS had been acknowledged. Before the "
     "acknowledgement it may have been under way already, and nothing is said.",
     "Linux client: rpcrdma:xprtrdma_err_vers. Look at how the requester falls back to a version within the range."},
    {RuleId::version_changed, "version-changed", 'K', Severity::error, Versions::both,
     "RFC 8167 section 5.1; version 2 draft section 4.3.3", "sender", "The protocol version changed on one connection",
     "The version is settled by the first call that gets a reply, and stays for the life of the connection. A receiver "
     "is entitled to drop a message with another one.",
     "A Call and its Reply with one version, then a message with the other one, after the Reply had arrived. Trying a "
     "version and being refused is no change.",
     "Look at the sender's state at that time: it may have mixed up two connections, or negotiated anew without "
     "connecting anew."},
    {RuleId::garbage_args, "garbage-args", 'K', Severity::note, Versions::both, "RFC 8166 section 4.5.2", "nobody",
     "The responder could not decode the arguments (GARBAGE_ARGS)",
     "The transport header was fine, but the RPC program could not make sense of the message. On RDMA that often means "
     "that chunks and message do not fit each other: a Read chunk at the wrong position, a wrong length or pad, or "
     "data "
     "that was never read.",
     "A Reply with accept status 4. Which side is at fault does not show in it.",
     "Compare positions and lengths of the call's Read chunks with its message. Server: sunrpc:svc_process and "
     "rpcrdma:svcrdma_decode_rseg; client: rpcrdma:xprtrdma_marshal and xprtrdma_chunk_read."},
};

}  // namespace rpcrdma::referee::rows
