// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: chunk lists (E), but for read-list-in-reply. Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule e[] = {
    {RuleId::read_position_unaligned, "read-position-unaligned", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5; version 2 draft section 4.5.1", "requester",
     "A Read chunk's Position is no multiple of four",
     "The Position says where in the XDR stream the chunk's octets belong, and every XDR item begins at a multiple of "
     "four. With any other number the responder puts the data to the wrong place or refuses the call.",
     "The Position words of a Call's Read list.",
     "Client: rpcrdma:xprtrdma_chunk_read shows the position it encodes. Server: rpcrdma:svcrdma_decode_rseg."},
    {RuleId::read_position_out_of_stream, "read-position-out-of-stream", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5 (derived)", "requester", "A Read chunk's Position lies behind the end of the message",
     "Positions count octets of the message as it was before anything was moved out of it. One that lies behind its "
     "end names no place at all: the responder cannot put the message together and refuses it or drops it.",
     "The Position against the octets of the inline message (or of the chunk at Position Zero) plus what the chunks "
     "before it hold. The very end is a legal place. Not decided when the message's length is not known.",
     "Client: position in rpcrdma:xprtrdma_chunk_read. Server: rpcrdma:svcrdma_decode_rseg, svcrdma_decode_parse_err."},
    {RuleId::read_chunk_overlap, "read-chunk-overlap", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.4 (derived)", "requester", "Two Read chunks claim the same part of the message",
     "Each chunk holds one item of its own. When a chunk is longer than the distance to the next Position, both claim "
     "the same octets of the message, and what the responder makes of it is anyone's guess.",
     "Positions and lengths of a Call's Read chunks, in increasing order; equal Positions are one chunk.",
     "Client: rpcrdma:xprtrdma_chunk_read. Server: rpcrdma:svcrdma_decode_rseg; recent Linux servers refuse this with "
     "ERR_CHUNK."},
    {RuleId::read_list_unordered, "read-list-unordered", 'E', Severity::error, Versions::both,
     "version 2 draft section 4.5.1.1", "requester", "A Read list is not in the order of its Positions",
     "Version 1 says nothing about the order of Read chunks, and current servers take any. Old ones put the message "
     "together in the order of the list.",
     "A Position that is lower than the one before it in the list of a Call.",
     "Only of interest if the server answers GARBAGE_ARGS or ERR_CHUNK to such calls."},
    {RuleId::read_chunk_pad_included, "read-chunk-pad-included", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.2; version 2 draft section 4.5.3.1", "requester", "A Read chunk holds its item's XDR pad",
     "The octets that fill an item up to a multiple of four carry nothing and should be left out of its chunk. "
     "Servers take both; the pad costs a registered segment or a few octets on the wire.",
     "The chunk is exactly as long as the item (by the count word in front of it) and its pad, in one segment or in "
     "one of its own. NFS arguments only, as far as they are captured and can be read.",
     "Linux client: it sends a segment with the pad to servers without private data (implicit roundup off)."},
    {RuleId::read_chunk_length_wrong, "read-chunk-length-wrong", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.2; version 2 draft section 4.5.3.1", "requester",
     "A Read chunk is not as long as its item",
     "The count word of a moved item stays in the message, and the chunk has to hold that many octets, at most with "
     "the pad behind them. Otherwise the server stores too little, or octets that belong to something else.",
     "The count word in front of the Position against the sum of the chunk's segments. NFS arguments only; not decided "
     "when they are not captured or have a form that is not known.",
     "Client: rpcrdma:xprtrdma_chunk_read and xprtrdma_marshal. Server: rpcrdma:svcrdma_decode_rseg; nfsd answers "
     "GARBAGE_ARGS or an NFS error."},
    {RuleId::read_chunk_empty, "read-chunk-empty", 'E', Severity::note, Versions::both, "RFC 8166 section 3.4.3",
     "requester", "A Read list has a segment of no octets",
     "A segment may be empty, as with an NFS WRITE of nothing. It costs 24 octets of header and tells the server "
     "nothing.",
     "A length of zero in a Call's Read list.", "Nothing to do unless the server refuses it."},
    {RuleId::call_chunk_mixed, "call-chunk-mixed", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.5.3; version 2 draft sections 6.3.7 and 6.6.3", "requester",
     "A call without its message: Read chunks, but none that holds the body",
     "RDMA_NOMSG has nothing behind its header, so a Read chunk at Position Zero has to hold the call. With chunks for "
     "items alone the responder has items and no message to put them into.",
     "RDMA_NOMSG with a Read list in which no Position is 0, sent where no call waits for a reply. A body chunk beside "
     "chunks for items is legal in version 1.",
     "Client: rpcrdma:xprtrdma_marshal shows the chosen types. Server: rpcrdma:svcrdma_decode_parse_err and "
     "svcrdma_err_chunk."},
    {RuleId::write_list_not_returned, "write-list-not-returned", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.6 and 4.3.2; version 2 draft section 4.5.2.1", "responder",
     "A reply does not return each Write chunk of its call",
     "The reply repeats the Write list of its call, used or not. A requester that finds fewer or more chunks cannot "
     "tell where its results are: it takes the reply for damaged, or hands out memory that nobody filled.",
     "Number of Write chunks in the Reply against the Call. Not decided when the Call is missing, cut or was sent "
     "twice; RDMA_ERROR has no lists.",
     "Client: rpcrdma:xprtrdma_reply_hdr_err. Server: rpcrdma:svcrdma_encode_wseg; old nfs-ganesha releases send empty "
     "lists."},
    {RuleId::write_segments_changed, "write-segments-changed", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.6 and 4.3.3", "responder", "A reply returns other segments than its call gave",
     "Of a returned Write or Reply chunk only the lengths may differ: number, handles and offsets of the segments stay "
     "as they were. Anything else leaves the requester guessing which memory holds its results.",
     "Segment by segment, Reply against Call. Not decided when the Call is missing, cut or was sent twice.",
     "Server: rpcrdma:svcrdma_decode_wseg against svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."},
    {RuleId::write_length_grown, "write-length-grown", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6 (derived)", "responder", "A reply reports more octets in a segment than there was room",
     "A returned length is what was written, and no more than the segment holds may be written. A requester that "
     "believes the number reads beyond its buffer.",
     "Lengths of the returned segments against those of the Call. Not decided when the Call is missing, cut or was "
     "sent twice.",
     "Server: rpcrdma:svcrdma_encode_wseg against svcrdma_decode_wseg."},
    {RuleId::write_fill_gap, "write-fill-gap", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6; version 2 draft section 4.5.2.1", "responder",
     "A chunk was not filled from front to back",
     "Results fill the segments of a chunk in their order without holes; only the last used one may be short. The "
     "requester takes the octets as one run: with a gap inside, data shifts.",
     "A returned segment is shorter than in the Call, and a later one of the same chunk is not empty. Segments that "
     "had no room are full by themselves.",
     "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."},
    {RuleId::write_chunk_pad_written, "write-chunk-pad-written", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6.2; version 2 draft section 4.5.2.4", "responder",
     "A returned Write chunk is not as long as its item",
     "The count word of a moved result stays in the reply, and the chunk holds exactly so many octets: no pad, no "
     "more, no less. A requester that adds up chunk lengths otherwise hands out octets that are not part of the file, "
     "or misses some.",
     "The count word of the result against the lengths in the Reply's Write list. NFS READ and READLINK only; not "
     "decided when the Call or the reply is cut, or the reply cannot be read to its end.",
     "Server: rpcrdma:svcrdma_encode_wseg and svcrdma_wc_write. A length that was never updated shows up here as well "
     "as in write-bytes-missing."},
    {RuleId::write_chunk_pad_provisioned, "write-chunk-pad-provisioned", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6.2; version 2 draft section 4.5.2.4", "requester", "A Write chunk has room for an XDR pad",
     "Responders write no pads, so room for one is never used. Some clients register it all the same.",
     "A Write chunk is longer than the count of its READ by exactly the pad.",
     "Nothing to do; a Linux client does this towards servers without private data (implicit roundup off)."},
    {RuleId::unused_write_chunk_shape, "unused-write-chunk-shape", 'E', Severity::error, Versions::both,
     "RFC 8166 section 4.3.2.2; version 2 draft section 4.5.2.1; RFC 8267 section 6.4.1", "responder",
     "An unused Write chunk is not returned as unused",
     "A chunk that took no result comes back with all its segments and lengths of zero. A chunk that claims octets "
     "without a result makes the requester hand out memory that nobody filled.",
     "A returned chunk has no segments although the Call's had some: a note for NFS, whose binding describes that form "
     "too. Or it claims octets, while the reply, read to its end, has no result that could be in it.",
     "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."},
    {RuleId::empty_write_chunk_filled, "empty-write-chunk-filled", 'E', Severity::error, Versions::both,
     "RFC 8166 section 4.3.2.3", "responder", "An empty Write chunk comes back with segments",
     "With a chunk of no segments the requester asks for that result inline, and it has to come back as empty as it "
     "was. Segments that the requester never registered are memory of its that belongs to something else.",
     "A Write chunk with no segments in the Call and with some in the Reply. Not decided when the Call is missing, cut "
     "or was sent twice.",
     "Server: rpcrdma:svcrdma_decode_wseg against svcrdma_encode_wseg."},
    {RuleId::write_chunk_skipped, "write-chunk-skipped", 'E', Severity::error, Versions::v1, "RFC 8166 section 4.3.2.2",
     "responder", "A result went past an unused Write chunk",
     "Results take the Write chunks in their order; a chunk that was passed over belongs to the next result. A "
     "requester that looks for its first result in the first chunk finds nothing there.",
     "A result is in a chunk, and an earlier chunk with room came back unused without a result of no octets that "
     "could have taken it. NFS READ and READLINK only, in replies that can be read to their end.",
     "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_decode_seg."},
    {RuleId::reply_chunk_not_returned, "reply-chunk-not-returned", 'E', Severity::error, Versions::v1,
     "RFC 8166 section 4.3.3", "responder", "A reply does not return its call's Reply chunk",
     "A Reply chunk of the call is copied into the reply, with lengths of zero when it was not used. Without it the "
     "requester cannot tell whether its memory was written.",
     "The Call has a Reply chunk and the Reply has none. Not decided when the Call is missing, cut or was sent twice.",
     "Server: rpcrdma:svcrdma_encode_wseg. Client: rpcrdma:xprtrdma_reply_hdr_err."},
    {RuleId::reply_chunk_with_msg, "reply-chunk-with-msg", 'E', Severity::error, Versions::v1,
     "RFC 8166 sections 4.3.3 and 3.5.3 (derived)", "responder", "An inline reply claims to be in the Reply chunk too",
     "A reply is either inline or in the Reply chunk. When an RDMA_MSG says that the chunk holds octets, a requester "
     "cannot know which is the reply; Linux clients fail the RPC with EIO.",
     "RDMA_MSG whose returned Reply chunk has a length other than zero.",
     "Client: rpcrdma:xprtrdma_reply_hdr_err. Server: rpcrdma:svcrdma_encode_wseg."},
    {RuleId::reply_chunk_useless, "reply-chunk-useless", 'E', Severity::note, Versions::both, "RFC 8166 section 4.3.3",
     "requester", "A Reply chunk in which no reply fits",
     "The shortest RPC reply has 24 octets. A Reply chunk below that can never be used; a server that always uses it "
     "answers ERR_CHUNK.",
     "Sum of the segments of the Reply chunk in a Call.",
     "Client: rpcrdma:xprtrdma_chunk_reply. Look at what size the upper layer expects of its reply."},
    {RuleId::ineligible_item_reduced, "ineligible-item-reduced", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.2 and 6.1; RFC 8267 sections 4 and 6.1", "sender",
     "Something was moved into a chunk that has to stay in the message",
     "Only what the upper layer's binding names may travel in a chunk of its own: for NFS the data of READ and WRITE "
     "and the text of a symbolic link. The receiver knows no other and cannot put the message together.",
     "Calls: a Position at which no such item begins, found by reading the arguments. Replies: a used Write chunk, and "
     "a procedure, or operations, without such a result. A note for programs without a known binding; not decided when "
     "the message is cut or has a form that is not known.",
     "Client: rpcrdma:xprtrdma_marshal (rtype, wtype). Server: rpcrdma:svcrdma_decode_rseg, svcrdma_encode_wseg."},
    {RuleId::eligible_item_inline, "eligible-item-inline", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 4.3.2 and 6.1; version 2 draft appendix A.1", "responder",
     "A result came inline although its Write chunk was given",
     "A responder has to use the Write chunks of a call for results that may be moved. A requester that gave one has "
     "its pages waiting there, and may have too little room for the data inline.",
     "A READ or READLINK result with octets in the message, while the Write chunk that is its turn came back unused "
     "and has room enough. A chunk of no segments asks for just that.",
     "Server: rpcrdma:svcrdma_decode_wseg and svcrdma_encode_wseg; RPCSEC_GSS with integrity or privacy is the one "
     "good reason."},
    {RuleId::reduction_under_gss, "reduction-under-gss", 'E', Severity::error, Versions::both,
     "RFC 8166 section 8.2.2.3; version 2 draft section 11.2.2.3", "sender",
     "Part of a protected message was moved into a chunk",
     "With RPCSEC_GSS integrity or privacy the whole of the arguments or results is checksummed or encrypted. A part "
     "that travels on its own is outside of that: the receiver fails to verify the message, or takes unprotected data.",
     "A credential of RPCSEC_GSS service 2 or 3 and a Read chunk at a Position other than 0, or a used Write chunk. "
     "Body chunks are fine, and so is a Write chunk that was given and stays unused.",
     "Client: the flavor (krb5i, krb5p) in /proc/mounts and rpcrdma:xprtrdma_marshal."},
    {RuleId::nfs_chunk_complexity, "nfs-chunk-complexity", 'E', Severity::warning, Versions::v1,
     "RFC 8267 section 6.4.2", "requester", "More chunks than every NFSv4 server has to take",
     "A client that does not know its server's limits should keep to one Read chunk beside the message, one Write "
     "chunk and 16 segments in a chunk. Servers may refuse more with ERR_CHUNK or GARBAGE_ARGS; one kernel was seen to "
     "never answer.",
     "The chunk lists of an NFSv4 COMPOUND. A client may know by other means what its server takes.",
     "Server: rpcrdma:svcrdma_decode_parse_err. Client: rsize and wsize, and the adapter's registration depth, decide "
     "how many segments a chunk has."},
    {RuleId::segment_overlap, "segment-overlap", 'E', Severity::warning, Versions::both,
     "RFC 8166 section 4.4.1 (derived)", "requester", "Two segments of a call name the same memory",
     "Where the responder may write, no other segment of the call should lie: results overwrite each other, or an "
     "argument that has not been read yet.",
     "Segments of one Call with the same handle and ranges that meet, at least one of them in a Write or Reply chunk. "
     "Read chunks may share memory.",
     "Client: rpcrdma:xprtrdma_chunk_read, xprtrdma_chunk_write, xprtrdma_chunk_reply and xprtrdma_mr_fastreg."},
    {RuleId::segment_wraps, "segment-wraps", 'E', Severity::error, Versions::both, "RFC 8166 section 3.4.3 (derived)",
     "requester", "A segment reaches beyond the end of 64-bit addresses",
     "Offset and length of a segment together have to stay inside the address space. The adapter refuses such a range, "
     "or wraps to memory at its beginning.",
     "Offset plus length of a segment in a Call.", "Client: rpcrdma:xprtrdma_mr_fastreg. Octet order is a suspect."},
};

}  // namespace rpcrdma::referee::rows
