// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: pull completion (H), transactions (I). Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule h_to_i[] = {
    // H. pull completion
    {RuleId::pull_offer_form, "pull-offer-form", 'H', Severity::error, Versions::v1,
     "reliable-reply draft, Responder-Provided Read Chunks", "responder",
     "A reply offers memory to read in a form that is not allowed",
     "A responder that lets the requester pull a reply does so in an RDMA_NOMSG with one Read chunk, all segments at "
     "Position 0. A requester will not recognise any other form and fails the RPC.",
     "A Read list in a Reply that is RDMA_MSG, or has other positions. Not decided when a reverse call cannot be told "
     "from a reply.",
     "Look at the responder's encoder; the requester's log tells whether it dropped the reply."},
    {RuleId::pull_offer_unneeded, "pull-offer-unneeded", 'H', Severity::warning, Versions::v1,
     "reliable-reply draft, Responder-Provided Read Chunks; RFC 8166 section 3.5.3", "responder",
     "A reply is offered for pulling although it would have fitted elsewhere",
     "Pulling is for replies that fit neither inline nor into the Reply chunk. For a reply that fits inline it is only "
     "slow; where an adequate Reply chunk was offered, that one has to be used.",
     "Length of the offer against the threshold (note) and the Call's Reply chunk (warning). Not decided without the "
     "handshake.",
     "Compare the offer's length with the Reply chunk in the Call. The responder's choice of reply form is the place "
     "to look."},
    {RuleId::done_without_pending_chunk, "done-without-pending-chunk", 'H', Severity::note, Versions::v1,
     "reliable-reply draft, Pull Completion", "nobody", "RDMA_DONE for an XID that offers nothing",
     "The responder has to ignore a notification it has nothing waiting for, so nothing breaks. It can follow a "
     "reconnect or a responder that gave up waiting.",
     "RDMA_DONE and no live offer for that XID. Not decided across a gap or when the start is missing. Under the "
     "rfc8166 profile it is rdma-done-sent.",
     "See whether the responder released the offer early, or whether the XID in RDMA_DONE is wrong."},
    {RuleId::done_before_complete_pull, "done-before-complete-pull", 'H', Severity::note, Versions::v1,
     "reliable-reply draft, Requester Duties", "requester", "RDMA_DONE before everything was read",
     "Usually the requester reads the whole offer and then notifies. It may stop early when the RPC was aborted or it "
     "does not support pulling; otherwise its reply is incomplete.",
     "RDMA_DONE while octets of the offer were never read. With packets missing the octets read are only a lower "
     "bound, and nothing is said.",
     "See whether the application was interrupted (signal, timeout) and what the requester made of the reply."},
    {RuleId::done_with_reads_in_flight, "done-with-reads-in-flight", 'H', Severity::warning, Versions::v1,
     "reliable-reply draft, Requester Duties", "requester", "RDMA_DONE while a Read is still unanswered",
     "The notification means that the Reads have completed. Sent earlier, the responder may invalidate the memory "
     "while "
     "it is still being read: the Read is refused and the connection lost. It is a race, so it breaks now and then.",
     "RDMA_DONE with an unanswered Read Request of that offer before it. Not decided across a gap or where the capture "
     "point leaves the order open.",
     "The requester has to wait for the completion of its last Read before it posts RDMA_DONE."},
    {RuleId::done_duplicate, "done-duplicate", 'H', Severity::note, Versions::v1,
     "reliable-reply draft, Pull Completion", "requester", "RDMA_DONE sent twice for one reply",
     "The second notification is ignored; it only takes a receive buffer of the responder.",
     "Two RDMA_DONE with the XID of one offer. Transport retransmissions are removed first.",
     "Look at the requester's completion path; credits are at risk only when it happens often."},
    {RuleId::done_wrong_sender, "done-wrong-sender", 'H', Severity::error, Versions::v1,
     "reliable-reply draft, Pull Completion", "sender", "RDMA_DONE from the side that offered the memory",
     "Only the requester, who pulls, can say that pulling is over. From the responder the message means nothing and is "
     "ignored, while the offer stays open.",
     "The sender of RDMA_DONE is the responder of that XID, and no call of its own with that XID is open.",
     "Look at the sender's handling of direction when the same XID is used both ways."},
    {RuleId::done_answered, "done-answered", 'H', Severity::error, Versions::v1,
     "RFC 8166 section 4.6.2; reliable-reply draft, Pull Completion", "receiver", "RDMA_DONE was answered",
     "RDMA_DONE is a notification and gets no answer. An RDMA_ERROR or a Reply to it arrives for an XID that is "
     "already "
     "finished, and may be taken for the answer to a later call with the same XID.",
     "RDMA_ERROR or a Reply with that XID right behind RDMA_DONE, with no call open. Not decided across a gap.",
     "Linux servers drop RDMA_DONE silently (rpcrdma:svcrdma_decode_drop_err); look at what the answering side does."},
    {RuleId::pull_completion_missing, "pull-completion-missing", 'H', Severity::error, Versions::v1,
     "reliable-reply draft, Requester Duties", "requester", "The pull was never reported as complete",
     "Once its Reads are finished, in success or in error, the requester has to tell the responder, which holds the "
     "reply's memory until then. Without the notification the responder runs out of memory or has to guess.",
     "An offer without RDMA_DONE. An error when the requester closed the connection in good order without it; a "
     "warning "
     "when it stayed active for the timeout (60 s unless set), or the connection was lost or closed by the responder; "
     "a "
     "note when the capture ended first. Not decided across a gap.",
     "The requester's completion path; --pull-timeout sets how long to wait. On the responder watch registered memory "
     "(rdma resource show mr)."},
    {RuleId::read_after_done, "read-after-done", 'H', Severity::error, Versions::v1,
     "reliable-reply draft, Requester Duties", "requester", "An RDMA Read after RDMA_DONE",
     "With RDMA_DONE the requester gave the memory back. A later Read is refused once the responder has invalidated "
     "it, "
     "and the connection is lost.",
     "A Read Request for an offered segment behind RDMA_DONE in the requester's own packet order. Repeated Read "
     "Requests are removed first. Not decided across a gap.",
     "The requester notifies before its last Read was posted. Responder's adapter: resp_remote_access_errors (mlx5)."},
    {RuleId::offer_invalidated_early, "offer-invalidated-early", 'H', Severity::warning, Versions::v1,
     "reliable-reply draft, Pull Completion", "responder", "The responder took its offer back before it was pulled",
     "A responder may give up waiting after a while, but a requester that is still reading then loses its connection.",
     "A Read inside the offer is refused with NAK 0x62 or a Terminate before RDMA_DONE. A warning within the pull "
     "timeout, a note later. The specification names no number. Not decided across a gap.",
     "The responder's timeout for pending replies, and its adapter's resp_remote_access_errors (mlx5)."},
    {RuleId::done_invalidate_rule, "done-invalidate-rule", 'H', Severity::error, Versions::v1,
     "reliable-reply draft, Remote Invalidation; RFC 8797 section 4.1", "requester",
     "RDMA_DONE invalidates a handle it may not",
     "The notification may invalidate a handle of the responder only when both peers support remote invalidation, and "
     "only one the responder offered in that reply. Anything else ends the connection or harms another transfer.",
     "RDMA_DONE as Send With Invalidate with an R bit clear on either side, or with a handle not in the offer. Not "
     "decided without the handshake.",
     "The requester's choice between plain Send and Send With Invalidate, and the handle it names."},

    // I. transactions
    {RuleId::xid_duplicate_outstanding, "xid-duplicate-outstanding", 'I', Severity::warning, Versions::both,
     "RFC 8167 section 2.4; version 2 draft section 3.1.3", "requester", "Two different calls share one XID",
     "Outstanding calls of one requester need different XIDs, or their replies cannot be told apart: data ends up in "
     "the wrong place, or one call hangs. Client and server count separately, so the same XID in both directions is "
     "fine.",
     "A second Call from the same side with the XID of an unanswered one and other contents. The same contents are "
     "call-retransmitted. Not decided across a gap.",
     "Linux client: sunrpc:xprt_transmit and rpcrdma:xprtrdma_marshal show the XIDs as they are sent."},
    {RuleId::call_retransmitted, "call-retransmitted", 'I', Severity::note, Versions::both,
     "version 2 draft section 3.1.3", "requester", "A call was sent again on the same connection",
     "RDMA connections are reliable, so resending a call on the same connection is seldom useful; each copy takes a "
     "receive buffer and counts as a credit of its own.",
     "The same XID and the same octets from the same side while the first is unanswered. Retransmitted packets are "
     "removed before. Not decided across a gap or when the payload was not captured.",
     "Linux client: sunrpc:xprt_retransmit, the timeo mount option, and per-operation retransmissions in "
     "/proc/self/mountstats."},
    {RuleId::reply_without_call, "reply-without-call", 'I', Severity::error, Versions::both,
     "RFC 8167 section 2; version 2 draft section 3.1.3", "responder", "A reply or refusal nobody asked for",
     "A responder sends one answer to each call and nothing else. An answer with an unknown XID is dropped by the "
     "requester, while the call it was meant for hangs; it also takes a receive buffer that another reply needs.",
     "A Reply or RDMA_ERROR with an XID of which no Call is known on this connection. Not decided when the capture "
     "begins in the middle or has gaps.",
     "Linux client: bad_xids in the xprt line of /proc/self/mountstats and rpcrdma:xprtrdma_reply_rqst_err. If an RPC "
     "was aborted (signal), its late reply is harmless."},
    {RuleId::duplicate_reply, "duplicate-reply", 'I', Severity::error, Versions::both,
     "RFC 5531 (derived); version 2 draft section 3.1.3", "responder", "A call was answered twice",
     "Each call gets one answer. The second one finds no call; it takes a receive buffer and may be mistaken for the "
     "answer to a new call with the same XID.",
     "A second Reply for one Call. A call that was itself sent twice earns two answers. Not decided across a gap.",
     "Linux client: bad_xids in /proc/self/mountstats. Server: whether its reply cache answered besides the operation "
     "itself."},
    {RuleId::call_unanswered, "call-unanswered", 'I', Severity::note, Versions::both, "observation", "nobody",
     "A call without an answer",
     "The call was open when the capture ended or for a long time. Long operations and calls without a reply exist; "
     "otherwise this is what a hanging mount looks like.",
     "A Call without Reply or RDMA_ERROR. Not decided across a gap, where the reply may simply be missing.",
     "Server: is the call seen (rpcrdma:svcrdma_decode_rqst)? If so, are all nfsd threads busy (/proc/fs/nfsd/threads, "
     "/proc/PID/stack)? Client: sunrpc:rpc_task_sleep shows what the RPC waits for."},
    {RuleId::call_lost_by_close, "call-lost-by-close", 'I', Severity::note, Versions::both, "RFC 8166 section 4.5.4",
     "nobody", "A call was open when the connection ended",
     "The call is lost with the connection and the client sends it again on the next one. Seen often, it says the "
     "connections keep dying.",
     "A Call without an answer at the end of its connection.",
     "Look at why the connection ended (its cause in this report), and at connect_count in the xprt line of "
     "/proc/self/mountstats."},
    {RuleId::retransmit_after_reconnect, "retransmit-after-reconnect", 'I', Severity::note, Versions::both,
     "RFC 8167 section 5.4", "requester", "A call was sent again after a reconnect",
     "Normal: the XID of a call that got no answer comes again on the new connection, and the server's reply cache "
     "keeps it from being carried out twice.",
     "The XID of an unanswered call of an earlier connection of the same peers.",
     "Nothing to do for the retransmission itself; see why the earlier connection ended."},
    {RuleId::error_retried_same_xid, "error-retried-same-xid", 'I', Severity::warning, Versions::v1,
     "RFC 8267 sections 3.1 and 6.4.2", "requester", "A refused call was sent again with the same XID",
     "ERR_CHUNK is final: the same call will be refused again, and the requester should use other chunks and a new "
     "XID. "
     "Otherwise requester and responder can go round in a loop.",
     "A Call with the XID of one that was answered by RDMA_ERROR. Not decided across a gap; XIDs wrap, so the same "
     "number much later is no retry.",
     "Linux client: rpcrdma:xprtrdma_err_chunk followed by sunrpc:xprt_transmit with that XID."},
    {RuleId::reply_version_differs, "reply-version-differs", 'I', Severity::error, Versions::both,
     "RFC 8166 section 4.5; RFC 8167 section 5.2; version 2 draft section 7", "responder",
     "A reply uses another protocol version than its call",
     "An answer, a refusal too, carries the version of its call. A requester drops a reply with another version and "
     "the "
     "call hangs.",
     "The version words of Call and answer. Not decided when the Call is missing.",
     "Linux client: rpcrdma:xprtrdma_reply_vers_err. Linux servers copy the version from the call."},
    {RuleId::cancelled_write_hazard, "cancelled-write-hazard", 'I', Severity::note, Versions::both,
     "RFC 8166 section 4.4.1", "nobody", "A write arrived for a call the requester had given up",
     "A requester that abandons a call invalidates its memory; a responder that knows nothing of it still writes, and "
     "the adapter's refusal ends the connection. Nobody broke a rule, but the connection is lost.",
     "NAK 0x62 or a Terminate for a Write that belongs to an old call. Not decided across a gap.",
     "See whether processes were killed or timed out (soft mounts, timeo and retrans) on the client at that time."},
};

}  // namespace rpcrdma::referee::rows
