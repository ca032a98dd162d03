// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: header and XDR (D), chunk lists (E), RDMA operations against advertised memory (F),
// lifetime and remote invalidation (G). Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule d_to_g[] = {
    // D. header and XDR
    {RuleId::header_too_short, "header-too-short", 'D', Severity::error, Versions::both,
     "RFC 8166 section 4.5; version 2 draft section 7", "sender", "A message is shorter than its header",
     "Every message begins with four fixed words, and RDMA_MSG and RDMA_NOMSG need at least 28 octets. A receiver "
     "drops "
     "what is shorter without a word, so a call sent like this hangs until it times out.",
     "The Send's length on the wire. ERR_CHUNK (20 octets) and RDMA_DONE (16) are complete at their own size, and the "
     "empty start-up messages of iWARP are no messages at all. Not decided when only the capture cut the frame.",
     "Linux server: rpcrdma:svcrdma_decode_short_err; Linux client: rpcrdma:xprtrdma_reply_short_err."},
    {RuleId::xdr_malformed, "xdr-malformed", 'D', Severity::error, Versions::both,
     "RFC 8166 section 4.5.2; version 2 draft section 7.2.1", "sender", "The transport header cannot be decoded",
     "The chunk lists have to end inside the message, counts have to fit what follows, and the words that say whether "
     "something is present are 0 or 1. A responder answers a header it cannot decode with ERR_CHUNK, a requester drops "
     "it silently; either way the RPC fails or hangs.",
     "The decoder fails although every octet of the message is in the capture, on a connection known to carry "
     "RPC-over-RDMA. A message cut by the capture is called truncated, not malformed.",
     "Linux server: rpcrdma:svcrdma_decode_parse_err and svcrdma_err_chunk; Linux client: "
     "rpcrdma:xprtrdma_reply_hdr_err and bad_reply_count in the xprt line of /proc/self/mountstats."},
    {RuleId::bad_version, "bad-version", 'D', Severity::error, Versions::both,
     "RFC 8166 section 4.2.2; version 2 draft section 6.2.1", "sender", "Unknown protocol version in the header",
     "The second word of each message is the version, 1 or 2. A responder answers any other with ERR_VERS, and the "
     "requester cannot use the connection that way.",
     "The version word of a message on a connection known to carry RPC-over-RDMA. A version 2 probe to a server that "
     "only knows version 1 is legal, and so is the refusal, which repeats the probe's version.",
     "Linux server: rpcrdma:svcrdma_decode_badvers_err and svcrdma_err_vers; Linux client: rpcrdma:xprtrdma_err_vers "
     "or xprtrdma_reply_vers_err."},
    {RuleId::unknown_proc, "unknown-proc", 'D', Severity::error, Versions::v1, "RFC 8166 sections 4.1.2 and 4.5.2",
     "sender", "Unknown message type in a version 1 header",
     "The fourth word is one of RDMA_MSG, RDMA_NOMSG, RDMA_MSGP, RDMA_DONE and RDMA_ERROR (0 to 4). A responder "
     "answers "
     "anything else with ERR_CHUNK.",
     "The fourth word of a version 1 message is above 4.",
     "Linux server: rpcrdma:svcrdma_decode_badproc_err. Look at what the sender builds; a header that is shifted by a "
     "word looks like this too."},
    {RuleId::rdma_msgp_sent, "rdma-msgp-sent", 'D', Severity::error, Versions::v1, "RFC 8166 section 4.6.1", "sender",
     "RDMA_MSGP was sent",
     "The padded message type of the first generation of the protocol must no longer be sent. A responder should "
     "refuse "
     "it with ERR_CHUNK; a requester drops it.",
     "A version 1 header with message type 2.",
     "Linux server: rpcrdma:svcrdma_decode_badproc_err. The sender is a stack from the time of RFC 5666 or configured "
     "to pad inline data: switch that off."},
    {RuleId::rdma_done_sent, "rdma-done-sent", 'D', Severity::error, Versions::v1, "RFC 8166 section 4.6.2", "sender",
     "RDMA_DONE was sent",
     "RDMA_DONE belonged to a transfer model that version 1 dropped: it must not be sent, and receivers drop it "
     "silently. It takes a receive buffer and never gets an answer, so it disturbs credit accounting.",
     "A version 1 header with message type 3, while the reliable-reply extension is not in use on the connection.",
     "Linux server: rpcrdma:svcrdma_decode_drop_err. If both peers implement responder-provided Read chunks, run the "
     "analysis with --profile reliable-reply."},
    {RuleId::error_from_requester, "error-from-requester", 'D', Severity::error, Versions::v1, "RFC 8166 section 4.2.4",
     "requester", "RDMA_ERROR from a side that had no call to refuse",
     "RDMA_ERROR is a responder's answer to a call. A requester that cannot use a reply has to drop it silently; its "
     "RDMA_ERROR only takes one of the responder's receive buffers.",
     "RDMA_ERROR from a side to which no Call with that XID was sent. A client that refuses a reverse call does "
     "nothing "
     "wrong. Not decided when the capture has gaps or begins in the middle.",
     "Linux server: rpcrdma:svcrdma_decode_drop_err (it ignores the message). Look at why the sender disliked the "
     "reply: the frames before it."},
    {RuleId::xid_mismatch, "xid-mismatch", 'D', Severity::error, Versions::both,
     "RFC 8166 section 4.2.1; version 2 draft section 7.2", "sender",
     "The transport header and the RPC message carry different XIDs",
     "The XID stands twice, in the transport header and in the RPC message, and both have to be equal. The receiver "
     "may "
     "trust the header alone: with two values a reply goes to the wrong call or to none, and the right call hangs.",
     "The first word of the header against the first word of the RPC message, inline or in the octets that were pulled "
     "or written. Not decided when that payload is encrypted, cut short, or its RDMA packets were not captured.",
     "Linux client: bad_xids in the xprt line of /proc/self/mountstats; rpcrdma:xprtrdma_reply_rqst_err. Compare with "
     "the reply cache of the server: a stale transport header on a replayed reply looks like this."},

    // E. chunk lists
    {RuleId::read_list_in_reply, "read-list-in-reply", 'E', Severity::error, Versions::v1, "RFC 8166 section 4.3.1",
     "responder", "A reply carries a Read list",
     "Only requesters expose memory in version 1, so the Read list of a reply has to be empty. A requester that does "
     "not know responder-provided Read chunks fails the RPC; a Linux client gives the application an I/O error.",
     "A Read list in a message known to be a Reply. A reverse call too large for inline looks alike: not decided when "
     "neither the pulled data nor an outstanding Call tells which it is. Under the reliable-reply profile the one "
     "legal "
     "form, a Position-Zero Read chunk in RDMA_NOMSG, is judged by the rules on pull completion instead.",
     "Linux client: rpcrdma:xprtrdma_reply_hdr_err or a failed RPC after xprtrdma_reply. If both peers are meant to "
     "use "
     "this, run with --profile reliable-reply."},

    // F. RDMA operations against advertised memory
    {RuleId::rdma_write_out_of_bounds, "rdma-write-out-of-bounds", 'F', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.6 and 4.5.3", "responder", "An RDMA Write leaves the memory that was offered",
     "A responder may write only inside the Write and Reply chunk segments of a live call. Outside them the adapter "
     "refuses and the connection ends, or, if the registration happens to be larger, memory of the requester is "
     "overwritten.",
     "Handle and range of the Write against all segments of outstanding Calls; adjacent segments under one handle "
     "count "
     "as one. Not decided across a gap or when the Calls are not in the capture.",
     "Requester: rpcrdma:xprtrdma_chunk_write and xprtrdma_chunk_reply show what was offered. Responder: "
     "rpcrdma:svcrdma_decode_wseg and svcrdma_wc_write_err; adapter counters resp_remote_access_errors and "
     "req_remote_access_errors (mlx5)."},
    {RuleId::rdma_read_out_of_bounds, "rdma-read-out-of-bounds", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.1", "responder", "An RDMA Read leaves the memory that was offered",
     "A responder may read only inside the Read segments of a live call. Beyond them the adapter refuses and the "
     "connection ends, or data that was never meant for the wire leaves the host.",
     "Handle and range of the Read Request against the Read segments of outstanding Calls. Reading a part, or reading "
     "twice, is fine. Not decided across a gap, or when the Calls are missing or cut short.",
     "Requester: rpcrdma:xprtrdma_chunk_read. Responder: rpcrdma:svcrdma_decode_rseg, svcrdma_post_read_chunk and "
     "svcrdma_wc_read_err."},
    {RuleId::rdma_unknown_handle, "rdma-unknown-handle", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.1 (derived)", "by evidence", "An RDMA operation uses a handle that nobody offered",
     "Every handle has to come from the chunk lists of a live message. One that was never offered is a stale or "
     "corrupted value: the adapter refuses the access and the connection is lost.",
     "No segment of any outstanding message carries the handle. A note only while the capture has not yet seen a full "
     "call and reply; not decided across a gap.",
     "Compare the handle with rpcrdma:svcrdma_decode_rseg or svcrdma_decode_wseg on the server, and with "
     "rpcrdma:xprtrdma_mr_fastreg on the client. A value with swapped octets points at byte order."},
    {RuleId::rdma_write_after_reply, "rdma-write-after-reply", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6; version 2 draft section 4.5.2.3", "responder",
     "An RDMA Write follows the reply of its call",
     "All results have to be written before the Reply is sent: the Reply tells the requester that its memory is "
     "complete and its own again. A later Write overwrites memory that may already belong to something else, or is "
     "refused because the registration is gone.",
     "The Write stands behind the Reply in the sender's own packet order, and the memory was offered for that call "
     "only. Times and file order are not used. Not decided across a gap.",
     "Server: rpcrdma:svcrdma_post_write_chunk against svcrdma_post_send; Linux chains them in the right order. "
     "Client: "
     "rpcrdma:xprtrdma_mr_localinv and xprtrdma_mr_reminv."},
    {RuleId::rdma_read_after_reply, "rdma-read-after-reply", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.1; version 2 draft section 4.5.1.3", "responder",
     "An RDMA Read follows the reply of its call",
     "The Reply says that the responder is done with the Read chunks. A later Read finds memory that was invalidated "
     "and ends the connection, or fetches data that has changed since.",
     "The Read Request stands behind the Reply in the sender's own packet order and hits memory offered for that call "
     "only. Repeated Read Requests are removed first. Not decided across a gap.",
     "Server: rpcrdma:svcrdma_wc_read and svcrdma_read_finished against svcrdma_post_send."},
    {RuleId::write_bytes_missing, "write-bytes-missing", 'F', Severity::error, Versions::both, "RFC 8166 section 3.4.6",
     "responder", "The reply reports more data than was written",
     "The lengths in a returned Write or Reply chunk say how many octets were placed in memory. If fewer arrived, the "
     "application is handed whatever the buffer held before: silent corruption.",
     "Octets covered by RDMA Writes before the Reply against the lengths in it. Not decided when packets are missing "
     "or the capture began after the Call.",
     "Server: rpcrdma:svcrdma_encode_wseg against svcrdma_wc_write. First make sure that the capture lost nothing "
     "(tcpdump's 'dropped by kernel', the mirror port's counters)."},
    {RuleId::remote_access_error, "remote-access-error", 'F', Severity::error, Versions::both,
     "RFC 8166 section 4.5.3; IBA; RFC 5040; RFC 5041", "by evidence", "An adapter refused access to memory",
     "Memory named in a chunk has to stay registered with the right access until the reply. If the adapter refuses a "
     "Read or Write, both queue pairs stop, every outstanding RPC is lost, and the client reconnects.",
     "NAK 0x62, or a Terminate for a protection or tagged-buffer error. Outside what was offered, or after the reply, "
     "the initiator is at fault; inside a live segment the owner of the memory is. Undecided when the capture lacks "
     "packets.",
     "rdma statistic show: resp_remote_access_errors and req_remote_access_errors (mlx5). Client: "
     "rpcrdma:xprtrdma_mr_fastreg, xprtrdma_mr_localinv and mrs_recycled in /proc/self/mountstats. Server: "
     "rpcrdma:svcrdma_wc_read_err, svcrdma_wc_write_err, svcrdma_qp_error."},

    // G. lifetime and remote invalidation
    {RuleId::remote_invalidation_not_allowed, "remote-invalidation-not-allowed", 'G', Severity::error, Versions::v1,
     "RFC 8797 section 4.1", "responder", "Remote invalidation although the requester does not support it",
     "A reply may invalidate one of the requester's handles only when both peers said in their private data that they "
     "support it. A requester that did not say so may lose a registration it counts on; an adapter that cannot do it "
     "ends the connection.",
     "A Send With Invalidate carrying a Reply while the requester's private data has R at 0 or is absent. Not decided "
     "when the handshake was not captured.",
     "Linux server: inv_rkey in rpcrdma:svcrdma_post_send. Client: rpcrdma:xprtrdma_wc_receive for errors."},
    {RuleId::remote_invalidation_server_r_clear, "remote-invalidation-server-r-clear", 'G', Severity::note,
     Versions::v1, "RFC 8797 section 4.1", "responder", "Remote invalidation by a server that left its own R bit clear",
     "By the letter both peers have to set R before replies may invalidate. Linux servers send R as 0 and invalidate "
     "whenever the client set R. The client said it can take it, so nothing breaks.",
     "A Send With Invalidate carrying a Reply, R set by the client and clear in the server's private data. Not decided "
     "when the handshake was not captured.",
     "Expected with Linux servers; nothing to do. inv_rkey in rpcrdma:svcrdma_post_send shows the handles."},
    {RuleId::remote_invalidation_wrong_handle, "remote-invalidation-wrong-handle", 'G', Severity::error, Versions::v1,
     "RFC 8797 section 4.1", "responder", "A reply invalidates a handle that is not of its call",
     "The handle a reply invalidates has to come from the chunk lists of the call it answers. Any other one is either "
     "no handle at all, which ends the connection, or belongs to another call, whose data transfer then fails.",
     "The handle in the Send With Invalidate is in no chunk list of the Call with that XID and direction. Not decided "
     "when the Call is missing or cut short.",
     "Server: inv_rkey in rpcrdma:svcrdma_post_send against svcrdma_decode_wseg and svcrdma_decode_rseg. Client: "
     "rpcrdma:xprtrdma_mr_reminv, and the handles in xprtrdma_mr_fastreg."},
};

}  // namespace rpcrdma::referee::rows
