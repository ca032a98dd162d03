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
    {RuleId::xdr_bool_invalid, "xdr-bool-invalid", 'D', Severity::error, Versions::both,
     "RFC 4506 section 4.19; RFC 8166 section 4.3", "sender", "A presence word of the header is neither 0 nor 1",
     "Each list of the header begins with a word that says whether something follows: 1 for yes, 0 for no. XDR allows "
     "no other value. Some receivers take anything that is not zero for a yes and read on, others refuse the message, "
     "so the same header works with one peer and fails with the next; read on, it names memory that nobody offered.",
     "The word in front of a list item, or in front of the Reply chunk, is above 1, with every octet of the header in "
     "the capture. A header that the capture cut short is called truncated. Other damage to the lists is "
     "xdr-malformed.",
     "Linux server: rpcrdma:svcrdma_decode_parse_err; nfsd takes the word for a yes and uses what stands behind it. "
     "Look at the sender's encoder: a count or a flag was probably written where a presence word belongs, or the "
     "header is shifted by a word."},
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
    {RuleId::nomsg_without_body, "nomsg-without-body", 'D', Severity::error, Versions::v1,
     "RFC 8166 sections 4.2.4 and 4.5.2", "sender", "RDMA_NOMSG, and the RPC message is nowhere",
     "RDMA_NOMSG says that the RPC message is not behind the header but in a chunk: a Position-Zero Read chunk for a "
     "call, a Reply chunk with data for a reply. Without such a chunk there is no message at all. A responder answers "
     "ERR_CHUNK; a requester can only give up on the RPC.",
     "RDMA_NOMSG whose three lists are empty, or that has neither a Read segment at Position 0 nor a Reply chunk "
     "holding at least one octet. Not decided when the capture cut the lists.",
     "Linux server: rpcrdma:svcrdma_decode_parse_err and svcrdma_err_chunk; Linux client: a failed RPC after "
     "rpcrdma:xprtrdma_reply, bad_reply_count in /proc/self/mountstats. If the message stands inline behind the lists, "
     "only the message type is wrong."},
    {RuleId::nomsg_trailing_bytes, "nomsg-trailing-bytes", 'D', Severity::warning, Versions::both,
     "RFC 8166 section 4.2.4; version 2 draft section 6.6.3", "sender",
     "Octets behind the header of a message that carries nothing inline",
     "A message of the type RDMA_NOMSG ends with its chunk lists; the RPC message travels in a chunk. What follows is "
     "not looked at by anybody, so it is either waste or a sign that sender and receiver disagree about where the "
     "message is.",
     "The Send is longer on the wire than its decoded header. One to three octets may be padding and are a note. Not "
     "decided when packets of the message are missing.",
     "Compare the sender's message type with what it put behind the header: a message meant to go inline has to be "
     "RDMA_MSG. Linux shows the header's length in rpcrdma:xprtrdma_marshal and rpcrdma:svcrdma_decode_rqst."},
    {RuleId::msg_without_rpc, "msg-without-rpc", 'D', Severity::error, Versions::both,
     "RFC 8166 section 4.2.4; version 2 draft section 6.3", "sender", "RDMA_MSG without an RPC message behind it",
     "RDMA_MSG carries the RPC message behind the header, and no RPC message is shorter than its XID and its message "
     "type, eight octets. With less the receiver cannot tell a call from a reply; it drops the message or answers "
     "ERR_CHUNK, and the RPC hangs until it times out.",
     "Fewer than eight octets of the Send, by its length on the wire, are left behind the chunk lists. Not decided "
     "when packets of the message are missing.",
     "Linux server: rpcrdma:svcrdma_decode_short_err or svcrdma_decode_parse_err; Linux client: "
     "rpcrdma:xprtrdma_reply_short_err. If the RPC message went into a chunk, the type has to be RDMA_NOMSG."},
    {RuleId::position_zero_in_msg, "position-zero-in-msg", 'D', Severity::error, Versions::v1,
     "RFC 8166 sections 3.5.3 and 4.3.1 (derived)", "requester", "A Position-Zero Read chunk in RDMA_MSG",
     "Position 0 is the very start of the RPC message, where its XID stands: a Read chunk there holds the whole "
     "message, and the header then has to be RDMA_NOMSG. In RDMA_MSG the message is there twice, once inline and once "
     "in memory, and a responder may take either.",
     "A Call of the type RDMA_MSG whose Read list has a segment at Position 0. Not decided when the capture cut the "
     "lists, or when the message cannot be told from a Reply.",
     "Requester: rpcrdma:xprtrdma_chunk_read shows the position of each segment. Responder: "
     "rpcrdma:svcrdma_decode_rseg and svcrdma_decode_parse_err."},
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
    {RuleId::payload_unaligned, "payload-unaligned", 'D', Severity::warning, Versions::both,
     "RFC 4506 section 3; RFC 8166 section 3.4.4.4", "sender", "The RPC message is not a whole number of XDR words",
     "Everything in an RPC message is made of words of four octets; an opaque item of another length is followed by "
     "one to three zeros. A message that ends between two words has a wrong pad or was cut. Receivers that check the "
     "pad fail the RPC, others read the next item from the wrong place.",
     "The Send's length on the wire, without the packet's own pad, less the header, is no multiple of 4, although the "
     "RPC message behind the header begins as it should. Not decided when packets of the message are missing.",
     "Look at how the sender pads the last opaque item, usually file data or a name: n octets need (4 - n mod 4) mod 4 "
     "zeros; adding n mod 4 is a mistake that has been seen. A responder that moves data into a Write chunk has to "
     "leave out the pad as well."},
    {RuleId::direction_mismatch, "direction-mismatch", 'D', Severity::error, Versions::both,
     "RFC 8167 sections 5.1 and 5.2; version 2 draft section 6.3", "sender",
     "The RPC message is not of the kind that its header says",
     "The word behind the RPC message's XID is 0 for a call and 1 for a reply. In version 1 the form of the header "
     "often says the same: a Position-Zero Read chunk offered by a requester holds a call, a Reply chunk that was "
     "filled holds a reply. Where the two disagree the receiver files the message under the wrong kind, and it is "
     "lost.",
     "The second word of the RPC message, inline or in the octets that were pulled or written, with an XID equal to "
     "the header's. Not decided when those octets are not in the capture, when frames are missing, or for a "
     "Position-Zero Read chunk from the server, which may be a reply offered for pulling.",
     "Compare the message that was encoded with its transport header in rpcrdma:xprtrdma_marshal on the client or "
     "rpcrdma:svcrdma_post_send on the server. A buffer that was reused before it was sent looks like this."},

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
    {RuleId::rdma_access_mode, "rdma-access-mode", 'F', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.5 and 3.4.6", "responder", "An RDMA operation in the wrong direction for its chunk",
     "Read chunks are there to be read, Write and Reply chunks to be written. Writing into a Read chunk changes the "
     "data that the call is made of, maybe while it is being sent; reading a Write chunk fetches whatever the "
     "requester's memory held before. Registrations usually grant just the one right, and then the adapter refuses and "
     "the connection is lost.",
     "An RDMA Write inside a Read chunk, or an RDMA Read inside a Write or Reply chunk, of a live call, where no chunk "
     "of the right kind covers the same range under the same handle. Not decided across a gap or when the Call's lists "
     "were cut.",
     "Responder: rpcrdma:svcrdma_decode_rseg and svcrdma_decode_wseg against the handle of the operation. Requester: "
     "the direction in rpcrdma:xprtrdma_mr_map; adapter counter resp_remote_access_errors (mlx5)."},
    {RuleId::rdma_by_requester, "rdma-by-requester", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.1; version 2 draft section 4", "requester",
     "An RDMA Read or Write by a side to which nobody offered memory",
     "Only the responder of an RPC moves data by RDMA, and only in memory that the requester named. A client whose "
     "server has never sent a chunk list has nothing to read or write; what it touches is a guess, and the adapter "
     "refuses it.",
     "The client reads or writes although no message of the server, neither a reverse call nor a reply that offers "
     "itself to be read, has named any memory since the connection began. The empty start-up operations of iWARP are "
     "none. Not decided when frames are missing or the start was not captured.",
     "Look at the client's data path: a stack that mixes up the roles pushes its data to the server instead of letting "
     "it pull. Server: adapter counter resp_remote_access_errors (mlx5)."},
    {RuleId::rdma_before_call, "rdma-before-call", 'F', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.1 (derived)", "responder", "An RDMA operation ahead of the call that offers the memory",
     "A responder learns handles from the call and can use them only once it has it. An operation that comes first was "
     "built from something else, a guess or an earlier use of the same buffers; the memory may not be registered yet, "
     "and what is read may not be the call's data.",
     "The operation uses a handle and a range that a later Call names and none before did, and the requester sent "
     "something else between the two, so that the order of the file is the order on the wire. Where nothing lies "
     "between, two capture points or adapters may have changed the order, and it is not decided; neither across a gap.",
     "Responder: rpcrdma:svcrdma_decode_rseg and svcrdma_decode_wseg against svcrdma_wc_read and svcrdma_wc_write. "
     "Make sure that one capture point saw both directions."},
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
    {RuleId::rdma_after_invalidate, "rdma-after-invalidate", 'F', Severity::error, Versions::both,
     "RFC 8797 section 3.2; RFC 8166 section 4.4.1", "responder",
     "An RDMA operation with a handle that was invalidated",
     "A Send With Invalidate makes the requester's adapter forget the registration behind the handle. Whoever sent it "
     "knows that the handle is gone; an operation behind it on the same connection is refused, and every outstanding "
     "RPC is lost with the connection.",
     "The Read or Write stands behind the Send With Invalidate in the sender's own packet order, and no Call has named "
     "the handle again since. Not decided when frames are missing. Where the call had been answered too, the rule on "
     "operations after the reply speaks as well.",
     "Server: inv_rkey in rpcrdma:svcrdma_post_send against svcrdma_wc_write and svcrdma_wc_read. A reply that "
     "invalidates the handle of another call (remote-invalidation-wrong-handle) leads to this."},
    {RuleId::write_bytes_missing, "write-bytes-missing", 'F', Severity::error, Versions::both, "RFC 8166 section 3.4.6",
     "responder", "The reply reports more data than was written",
     "The lengths in a returned Write or Reply chunk say how many octets were placed in memory. If fewer arrived, the "
     "application is handed whatever the buffer held before: silent corruption.",
     "Octets covered by RDMA Writes before the Reply against the lengths in it. Not decided when packets are missing "
     "or the capture began after the Call.",
     "Server: rpcrdma:svcrdma_encode_wseg against svcrdma_wc_write. First make sure that the capture lost nothing "
     "(tcpdump's 'dropped by kernel', the mirror port's counters)."},
    {RuleId::write_bytes_unreported, "write-bytes-unreported", 'F', Severity::note, Versions::both,
     "RFC 8166 section 4.3.2.2", "responder", "Data was written into a chunk that the reply returns as unused",
     "Legal: a responder may write and then decide that it does not count, and the requester must not assume that "
     "unused memory was left alone. It costs the transfer for nothing, and often belongs to an operation that failed "
     "half-way.",
     "RDMA Writes inside a segment whose length in the Reply is 0. Needs both in the capture; packets that are missing "
     "can only make the count smaller.",
     "Server: rpcrdma:svcrdma_encode_wseg (length 0) against svcrdma_wc_write. If it happens with every call, the "
     "server starts its Writes too early."},
    {RuleId::read_chunk_not_pulled, "read-chunk-not-pulled", 'F', Severity::warning, Versions::both,
     "RFC 8166 section 3.4.5.1 (derived)", "responder", "A call succeeded although its Read chunk was not read",
     "Data in a Read chunk is an argument of the call, and a responder has to fetch it before it can do what it is "
     "asked. A reply that reports success without that acknowledges data which never left the requester: what was to "
     "be stored is lost without a word. A reply from a duplicate request cache is the one good reason.",
     "A Reply with accept status and NFS status 0, while RDMA Reads asked for less than the chunk holds. Pads of up to "
     "three octets need not be read. Not decided when frames are missing, when the status is cut off, wrapped by "
     "RPCSEC_GSS or in unseen octets, or when the call may be a repetition that a cache answered.",
     "Server: rpcrdma:svcrdma_post_read_chunk and svcrdma_read_finished for that XID, nfsd:nfsd_write_start for the "
     "length. Compare the file's content with what the application wrote."},
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
    {RuleId::read_depth_exceeded, "read-depth-exceeded", 'F', Severity::warning, Versions::both,
     "IBA; RFC 5040; RFC 6581", "by evidence", "More RDMA Reads in flight than the peer accepts",
     "Each side says during the handshake how many RDMA Reads it can answer at once (responder resources, or IRD on "
     "iWARP). Its adapter has state for that many; one more may be refused as an invalid request, which ends the "
     "connection, or works only as long as nothing has to be repeated.",
     "RDMA Read Requests whose last response has not come yet, counted against the number in the peer's REQ or REP "
     "(MPA Request or Reply). Only counted when every one of them was answered, or the refusal is in the capture. A "
     "value of 0 belongs to a side that expects no Reads and decides nothing. Not decided without the handshake or "
     "across a gap.",
     "What both stacks pass as initiator_depth and responder_resources to rdma_connect() and rdma_accept(); "
     "ibv_devinfo -v "
     "shows max_qp_rd_atom and max_qp_init_rd_atom of the adapter."},
    {RuleId::unexpected_opcode, "unexpected-opcode", 'F', Severity::warning, Versions::both,
     "RFC 8166 section 3.1 (derived); version 2 draft section 4 (derived)", "sender",
     "An RDMA opcode that RPC-over-RDMA never uses",
     "The protocol is made of Sends, with or without invalidation, and of RDMA Reads and Writes. Immediate data and "
     "atomic operations have no meaning in it: an immediate value takes a Receive or is dropped, an atomic operation "
     "changes memory that nobody exposed for it.",
     "An InfiniBand opcode with immediate data, or an atomic one, on a connection known to carry RPC-over-RDMA. "
     "Connections that carry something else are not judged.",
     "Find out whether another protocol shares the queue pair; otherwise look at the work requests the sender posts "
     "(IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_ATOMIC_*)."},

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
    {RuleId::remote_invalidation_not_reply, "remote-invalidation-not-reply", 'G', Severity::error, Versions::v1,
     "RFC 8797 section 4.1", "sender", "A message other than a reply invalidates a handle",
     "Remote invalidation saves the requester the work of invalidating what the reply has made free. Calls and "
     "RDMA_ERROR messages free nothing: their receiver still needs the registrations it has, and loses one without "
     "knowing.",
     "A Send With Invalidate that carries a Call or RDMA_ERROR. A reply of the client to a call of the server is a "
     "Reply; RDMA_DONE is judged by done-invalidate-rule. Not decided when the capture cut the message before its "
     "direction.",
     "Sender: inv_rkey in rpcrdma:svcrdma_post_send (Linux servers send RDMA_ERROR with a plain Send). Receiver: "
     "rpcrdma:xprtrdma_mr_reminv, and work requests that fail with a local protection error afterwards."},
    {RuleId::handle_reused_live, "handle-reused-live", 'G', Severity::warning, Versions::both,
     "RFC 8166 section 4.4.1 (derived)", "requester", "The same memory is offered by two calls at once",
     "While a call is open its responder may read and write the memory it names. A second call that names octets of it "
     "under the same handle lets two answers fall into one buffer, or one answer into data that the other call still "
     "needs. With one registration for all memory the handle is the same everywhere, which is fine as long as the "
     "ranges differ.",
     "Two unanswered Calls of one requester, the same handle, intersecting ranges, at least one of them to be written. "
     "A note when the first Call is older than five seconds: its application may have given up. Not decided when "
     "frames are missing.",
     "Requester: rpcrdma:xprtrdma_mr_map and xprtrdma_mr_fastreg against xprtrdma_mr_localinv for the handle. An RPC "
     "that was aborted (a signal, a soft timeout) and whose buffer was used again looks like this."},
    {RuleId::handle_survives_invalidate, "handle-survives-invalidate", 'G', Severity::note, Versions::both,
     "RFC 8797 section 3.2; version 2 draft section 11.1.2", "requester",
     "A handle is offered again unchanged after it was invalidated",
     "Legal, but weaker than it could be: a responder that still holds the old value, or an attacker who guesses it, "
     "reaches the new use of the memory. Registrations that change the low octet of the handle each time make a late "
     "access fail instead of doing damage.",
     "A Call names a handle whose value was invalidated remotely before, without another value of the same "
     "registration (other low octet) in between.",
     "Requester: how it chooses the key of a fast registration; Linux counts it up in the low octet each time "
     "(rpcrdma:xprtrdma_mr_fastreg)."},
    {RuleId::chunk_live_at_close, "chunk-live-at-close", 'G', Severity::note, Versions::both,
     "RFC 8166 section 4.4.1 (observation)", "nobody", "Memory was still offered when the connection ended",
     "When a connection ends the responder can no longer reach the memory of the calls that were open, and the "
     "requester has to invalidate all of it before it is used again. What had been written by then is in no defined "
     "state; the calls are sent again with new registrations.",
     "Calls with chunks, or replies offered for pulling, that were not finished when the connection ended. Not decided "
     "when frames are missing.",
     "Requester: rpcrdma:xprtrdma_mr_localinv or mrs_recycled in /proc/self/mountstats after the disconnect. See "
     "call-lost-by-close for the calls themselves."},
};

}  // namespace rpcrdma::referee::rows
