// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: rules of version 2 alone. Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule v2[] = {
    {RuleId::v2_first_message_too_large, "v2-first-message-too-large", 'B', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.3", "client",
     "The client's first version 2 message is larger than 1024 octets",
     "Until the server has answered, it may be one that speaks version 1 only, with receive buffers of 1024 "
     "octets. A larger first message may find no room, and the connection is lost instead of negotiated.",
     "The first Send of a connection whose start is in the capture, with version 2, longer than 1024 octets. "
     "Not decided when the start or a packet is missing.",
     "Let the client begin with RDMA2_CONNPROP and keep it short; properties can follow in a second message."},
    {RuleId::v2_connprop_too_large, "v2-connprop-too-large", 'B', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.3, 6.3.4", "sender",
     "Transport properties in a message above the default threshold",
     "Properties are exchanged before larger thresholds are agreed, so their messages have to fit the default "
     "of 4096 octets. The draft says so of RDMA2_CONNPROP_FINAL; of RDMA2_CONNPROP_MIDDLE it follows from its "
     "purpose, so there it is a warning.",
     "The length of the Send. Not decided when packets of it are missing.",
     "Spread the properties over several RDMA2_CONNPROP_MIDDLE messages."},
    {RuleId::v2_credit_exceeded, "v2-credit-exceeded", 'C', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1", "sender", "A message was sent above the peer's credit limit",
     "Each message takes one Receive of the peer, whatever it carries. A sender that goes beyond the limit "
     "finds no Receive posted: the Send is retried or the connection lost.",
     "The Sends counted from the start of the connection, modulo 2^32, against the newest rdma_credit that the "
     "sender had. The draft's words allow one message more than its example, so reaching the limit is a "
     "warning; one RDMA2_GRANT above it is allowed. Not decided when the start or any packet is missing.",
     "Compare the sender's counter with the frames named. Continued messages are where implementations forget "
     "to count."},
    {RuleId::v2_credit_initial_exceeded, "v2-credit-initial-exceeded", 'C', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 4.2.1, 4.3", "sender",
     "A second message before anything came from the peer",
     "Before the first message of the peer its credit limit is 1 and its version not known: one message may be "
     "under way. A second one may find no Receive, or a peer of version 1.",
     "Two Sends of one side before any of the other. Not decided when the start or a packet is missing.",
     "Look at the sender's start-up: it has to wait for the answer to its first message."},
    {RuleId::v2_credit_limit_invalid, "v2-credit-limit-invalid", 'C', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1", "sender",
     "A credit limit that no counting from zero explains",
     "Limits are cumulative counts that start at zero, and differ from the count by less than 2^31 - 1. With "
     "any other value the peer cannot tell whether it may send. A limit slightly below zero points to counters "
     "that did not start at zero, and is a warning.",
     "rdma_credit against what its sender received and sent by then, in both readings of the draft. Not decided "
     "when the start is missing.",
     "See how the sender of the field initialises its counters, and whether it fills in credits of version 1."},
    {RuleId::v2_credit_regressed, "v2-credit-regressed", 'C', Severity::note, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1", "sender", "A credit limit lower than the one before",
     "A peer may lower what it advertises. What is under way by then may still use the higher limit.",
     "Two messages of one side, the later one with a lower rdma_credit, modulo 2^32.",
     "Nothing to do, unless the requester is slowed down by it: then see why the receiver posts fewer Receives."},
    {RuleId::v2_credit_starved, "v2-credit-starved", 'C', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.2.1.1", "receiver", "A peer may send nothing and gets no credit",
     "A receiver may advertise no credit, but has to send RDMA2_GRANT later, and should refresh before half of "
     "the credits are used. Otherwise its peer waits for ever.",
     "No room under the newest limit for more than 2 s while no Call of the waiting side is unanswered, or "
     "while its continued message is half sent. An idle connection without room looks the same, hence a "
     "warning.",
     "Look at the receiver's handling of RDMA2_GRANT, and at its pool of Receives."},
    {RuleId::v2_grant_xid_nonzero, "v2-grant-xid-nonzero", 'C', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.2", "sender", "RDMA2_GRANT with an XID",
     "A grant belongs to no transaction: its sender has to write XID 0, and the receiver must not look at it.",
     "rdma_xid of RDMA2_GRANT is not 0.",
     "Look at the sender's encoder: a header from an earlier message may be used again."},
    {RuleId::v2_grant_has_body, "v2-grant-has-body", 'C', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.2", "sender", "RDMA2_GRANT with something behind its prefix",
     "A grant consists of the prefix of 16 octets alone. What follows is lost on the receiver.",
     "The length of the Send is not 16. Not decided when packets of it are missing.",
     "Look at the sender's encoder; the length of an earlier message may be used again."},
    {RuleId::v2_unknown_htype, "v2-unknown-htype", 'D', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 6.1, 7.1.3", "sender",
     "A header type that the draft does not assign",
     "Receivers answer an unknown header type with RDMA2_ERR_INVAL_HTYPE and take nothing of the message. "
     "Extensions may define new ones; one that nobody refuses is taken for such and only noted.",
     "rdma_htype below 4 or above 13. An error once the peer has answered RDMA2_ERR_INVAL_HTYPE.",
     "If an extension was meant, see how it is negotiated; if not, whether the sender mixes versions."},
    {RuleId::v2_call_chunk_missing, "v2-call-chunk-missing", 'E', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.5", "requester", "RDMA2_CALL_EXTERNAL without a Call chunk",
     "In this form the RPC Call is nowhere but in the Call chunk. Without it there is nothing to execute.",
     "rdma_call is an empty list. Not decided when the header was cut.",
     "Look at how the requester chooses the header type for a call that does not fit inline."},
    {RuleId::v2_reply_chunk_missing, "v2-reply-chunk-missing", 'E', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.8", "responder", "RDMA2_REPLY_EXTERNAL without a Reply chunk",
     "In this form the RPC Reply is nowhere but in the Reply chunk of the Call, which the header has to return.",
     "The word that announces the Reply chunk is 0. Not decided when the header was cut.",
     "See whether the Call provided a Reply chunk, and what the responder made of it."},
    {RuleId::v2_segment_count_exceeded, "v2-segment-count-exceeded", 'E', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 5.2.4, 7.3.3", "requester",
     "More segments than the responder's Maximum Segment Count",
     "A responder announces how many segments it handles (16 by default) and refuses more with "
     "RDMA2_ERR_SEGMENTS. One section counts the segments of a header, another those of a chunk: only a chunk "
     "above the number is a warning.",
     "Segments of the Call's chunks against the property in force. Not decided when the start of the connection "
     "is missing.",
     "Let the requester register fewer, larger segments, or split the request."},
    {RuleId::v2_segment_size_exceeded, "v2-segment-size-exceeded", 'E', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 5.2.3", "requester",
     "A segment longer than the responder's Maximum Segment Size",
     "A responder announces the largest segment that it accepts, 1 MiB by default. A longer one may be refused.",
     "The length of a segment against the property in force. Not decided when the start of the connection is "
     "missing.",
     "Let the requester split the chunk into several segments."},
    {RuleId::v2_inv_handle_unknown, "v2-inv-handle-unknown", 'G', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.5", "requester", "rdma_inv_handle names no handle of its header",
     "The handle that the responder may invalidate has to be one that the same header names, or 0. Any other "
     "one is memory of somebody else.",
     "rdma_inv_handle against all segments of the header. Not decided when the header was cut.",
     "Look at the requester: a handle of an earlier call may have been left in the field."},
    {RuleId::v2_inv_handle_mismatch, "v2-inv-handle-mismatch", 'G', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.5", "responder",
     "A reply invalidates another handle than the call allows",
     "The responder may invalidate exactly the handle in the Call's rdma_inv_handle, and none when that is 0. "
     "Invalidating another one takes memory away from the requester that it did not give up.",
     "The handle of Send With Invalidate on any part of a reply against the Call. Not decided when the Call is "
     "missing.",
     "See whether the responder takes the first handle of a chunk, as version 1 allowed."},
    {RuleId::v2_inv_on_control, "v2-inv-on-control", 'G', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.5", "sender", "Remote invalidation on a message that is no reply",
     "Only replies may be sent with Send With Invalidate: errors, grants, properties and calls have no handle "
     "that they could invalidate.",
     "A Send With Invalidate whose header type is none of the three for replies.",
     "Look at the sender's choice of the Send opcode."},
    {RuleId::v2_reverse_level_exceeded, "v2-reverse-level-exceeded", 'J', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 5.2.5", "server",
     "A reverse call in a form that the client does not support",
     "The client announces whether it takes calls at all (0), simple ones (1), continued ones (2) or any (3). "
     "Beyond that level it has no resources for them.",
     "The form of the server's Call, its pieces and chunks, against the client's Reverse-Direction Support. Not "
     "decided when the start of the connection is missing; with another sign of readiness, level 0 is a "
     "warning.",
     "Compare the property in the client's RDMA2_CONNPROP messages with the server's choice of form."},
    {RuleId::v2_continuation_broken, "v2-continuation-broken", 'K', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.6, 6.3.9", "sender",
     "Something else was sent between the pieces of a message",
     "After a middle piece only the next piece of the same message may follow from that sender. The receiver "
     "drops what intrudes and answers RDMA2_ERR_INVAL_CONT. Whether that includes RDMA2_GRANT and RDMA2_ERROR "
     "is open in the draft: those are noted.",
     "The next message of the sender after RDMA2_CALL_MIDDLE or RDMA2_REPLY_MIDDLE. Not decided when packets "
     "are missing.",
     "Look at the sender's queue: pieces have to be posted in one go, or the queue held for them."},
    {RuleId::v2_remaining_inconsistent, "v2-remaining-inconsistent", 'K', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.6, 6.3.9", "sender",
     "rdma_remaining does not count down by what was sent",
     "Each middle piece says how much of the message is still to come, so that the receiver can provide for it. "
     "The draft leaves open whether the piece itself is counted.",
     "The numbers of all pieces against the octets that they carried. A finding only when neither reading fits. "
     "Not decided when packets are missing.",
     "Compare the pieces named with the length of the whole RPC message."},
    {RuleId::v2_connprop_interrupted, "v2-connprop-interrupted", 'K', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.3", "sender",
     "Something else was sent before the properties were complete",
     "After RDMA2_CONNPROP_MIDDLE the sender has to finish with RDMA2_CONNPROP_FINAL before anything else, or "
     "its peer works with half of the properties. RDMA2_GRANT and RDMA2_ERROR are only noted.",
     "The next message of a sender after RDMA2_CONNPROP_MIDDLE. Not decided when packets are missing.",
     "Look at the sender's start-up: whether anything may be queued between the two."},
    {RuleId::v2_connprop_after_final, "v2-connprop-after-final", 'K', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.4", "sender", "Properties after the last ones",
     "RDMA2_CONNPROP_FINAL ends the exchange of properties for the connection: what comes later is refused with "
     "RDMA2_ERR_INVAL_CONT. A correction after a refused one is accepted here, since the draft does not say.",
     "A second RDMA2_CONNPROP message after a FINAL that was not refused. Not decided when packets are missing.",
     "To change properties, open a new connection."},
    {RuleId::v2_connprop_final_missing, "v2-connprop-final-missing", 'K', Severity::note, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 6.3.4", "sender", "No transport properties were sent",
     "Each side is expected to send RDMA2_CONNPROP_FINAL once, even without properties. Without it the defaults "
     "hold: 4096 octets each way, 16 segments of 1 MiB, no reverse calls.",
     "No such message of that side until the connection, or the capture, ends. Not said when the start is "
     "missing.",
     "If larger thresholds were expected, see why the side does not announce them."},
    {RuleId::v2_propval_bad, "v2-propval-bad", 'K', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two sections 5.1, 7.2.2", "sender",
     "A transport property that cannot be decoded",
     "A known property whose data is too short, or that runs past its message, is answered with "
     "RDMA2_ERR_BAD_PROPVAL, and nothing of the whole message applies.",
     "The lengths in RDMA2_CONNPROP against the message and the property's type. More octets than the type "
     "needs, or a level that does not exist, are warnings. Not decided when the message was cut.",
     "Look at the sender's encoder: numbers take 4 octets in network order."},
    {RuleId::v2_property_unknown, "v2-property-unknown", 'K', Severity::note, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 5.1", "nobody",
     "A transport property that the draft does not assign",
     "Unknown properties are passed over without an error, so that extensions can be tried.",
     "A property id other than 1 to 6.", "Nothing to do, unless the peer was expected to know the property."},
    {RuleId::v2_htype_repeated, "v2-htype-repeated", 'K', Severity::error, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 7.1.3", "sender", "A refused header type was sent again",
     "After RDMA2_ERR_INVAL_HTYPE the sender knows that its peer does not take that type, and must not send it "
     "again on the connection.",
     "A Send of a type that the peer had refused, after the refusal had arrived. Not decided without an "
     "acknowledgement of the refusal.",
     "See how the sender remembers what its peer refused."},
    {RuleId::v2_inval_cont_missing, "v2-inval-cont-missing", 'K', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 7.1.4", "receiver", "A broken sequence of pieces was not refused",
     "A receiver that drops a message because of a broken sequence has to say so with RDMA2_ERR_INVAL_CONT. "
     "Otherwise the sender waits for a reply that never comes.",
     "A broken sequence, and its receiver goes on for 1 s and two messages without RDMA2_ERROR. Not decided "
     "when packets are missing.",
     "See what the receiver made of the pieces; it may have joined parts of two messages."},
    {RuleId::v2_error_detail, "v2-error-detail", 'K', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 7.3", "responder",
     "The numbers in an RDMA2_ERROR do not fit the call",
     "Some errors say what would have been enough: how many chunks or segments, which chunk was too short, how "
     "much is needed. Numbers that the Call already satisfies mislead a requester that tries again.",
     "The numbers of the error against the chunks of the Call that it answers. Not decided when the Call is "
     "missing.",
     "Look at how the responder fills in the error; an index counts from 1, and 0 means not known."},
    {RuleId::version_negotiation_loop, "version-negotiation-loop", 'K', Severity::warning, Versions::v2,
     "draft-ietf-nfsv4-rpcrdma-version-two section 4.3", "client",
     "The client probes version 2 again after it was refused",
     "A server that speaks version 1 only has refused version 2, and the connection ended without going on in "
     "version 1. A client that begins each connection with version 2 never gets anywhere.",
     "Two connections in a row of the same peers with ERR_VERS as the answer to version 2, and no message of "
     "version 1 on the first. Not decided when a connection's start is missing.",
     "Let the client begin with version 1 when a connection ended right after ERR_VERS."},
};

}  // namespace rpcrdma::referee::rows
