// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the rule table: rules of both versions that version 2 judges. Included by table.cpp alone.
#pragma once

#include "referee/rules/table.hpp"

namespace rpcrdma::referee::rows {

inline constexpr Rule v2_shared[] = {
    {RuleId::read_position_unaligned, "read-position-unaligned", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.1", "requester",
     "A Read chunk at a position that is no multiple of four",
     "The position says where in the XDR stream the chunk's item belongs; items begin at multiples of four "
     "octets.",
     "The position of a Read segment. Not decided when the header was cut.",
     "Look at how the requester computes the position."},
    {RuleId::read_list_unordered, "read-list-unordered", 'E', Severity::error, Versions::both,
     "RFC 8166 section 4.3.1; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.1.1", "requester",
     "The Read list is not in the order of its positions",
     "In version 2 positions may only rise from entry to entry, so that a responder can read the list once; it "
     "answers anything else with RDMA2_ERR_BAD_XDR. Version 1 has no such rule.",
     "The positions of the Read list in the order of the header. Not decided when the header was cut.",
     "Look at how the requester builds the list when a call has several items."},
    {RuleId::read_chunk_pad_included, "read-chunk-pad-included", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.5.2; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.3.1", "requester",
     "A Read chunk is as long as its item and its pad",
     "In version 2 the pad of an item has to be left out of the stream and of the chunk. A responder that "
     "counts on it takes the pad for data, or refuses.",
     "The length of the chunk against the length word in front of its position, for programs whose arguments "
     "are known. Not decided when the message was cut.",
     "Look at how the requester maps the last page of the data."},
    {RuleId::call_chunk_mixed, "call-chunk-mixed", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.5.3; draft-ietf-nfsv4-rpcrdma-version-two sections 6.3.5, 6.3.7", "requester",
     "Position 0 and other positions in the wrong list",
     "The Call chunk consists of segments at position 0 alone, and the other list has none of them. Otherwise "
     "it cannot be told where the RPC Call is.",
     "The positions in rdma_call and rdma_reads, or in the Read list of an inline Call. Not decided when the "
     "header was cut.",
     "Look at how the requester chooses the form of its call."},
    {RuleId::write_list_not_returned, "write-list-not-returned", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.6, 4.3.2; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.2.1", "responder",
     "The reply returns another number of Write chunks than the call provided",
     "The reply has to return the Call's Write list, chunk by chunk, with the lengths that were written. "
     "Without it the requester does not know what is in its memory.",
     "The number of Write chunks in Call and Reply. Not decided when the Call is missing or a header was cut.",
     "Look at the responder's encoder for replies whose results were reduced, or unused."},
    {RuleId::write_segments_changed, "write-segments-changed", 'E', Severity::error, Versions::both,
     "RFC 8166 sections 3.4.6, 4.3.3; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.2.1", "responder",
     "A returned Write or Reply chunk has other segments than the call's",
     "Handles, offsets and the number of segments have to come back as they were; only lengths change. "
     "Otherwise the requester cannot tell which memory was written.",
     "Each segment of the returned chunks against the Call. Not decided when the Call is missing or a header "
     "was cut.",
     "Look at how the responder copies the chunk; it may have returned what is left of a segment."},
    {RuleId::write_length_grown, "write-length-grown", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.2.1", "responder",
     "A returned segment is longer than the call's",
     "A responder cannot have written more into a segment than it holds. The requester would look at memory "
     "that nobody wrote.",
     "The length of each returned segment against the Call. Not decided when the Call is missing or a header "
     "was cut.",
     "Compare with the RDMA Writes in front of the reply."},
    {RuleId::write_fill_gap, "write-fill-gap", 'E', Severity::error, Versions::both,
     "RFC 8166 section 3.4.6; draft-ietf-nfsv4-rpcrdma-version-two section 4.5.2.1", "responder",
     "A chunk was not filled from its first segment on",
     "Segments are filled one after the other; only the last one that is used may be filled in part. Otherwise "
     "the requester puts the data together wrongly.",
     "A returned segment that is short, with a later one of the same chunk in use. Not decided when the Call is "
     "missing or a header was cut.",
     "Look at how the responder advances from segment to segment."},
    {RuleId::empty_write_chunk_filled, "empty-write-chunk-filled", 'E', Severity::error, Versions::both,
     "RFC 8166 section 4.3.2.3", "responder", "A Write chunk without segments came back with some",
     "A chunk without segments provides no memory: the result belongs inline, and the chunk comes back empty.",
     "A returned chunk with segments where the Call's had none. Not decided when the Call is missing or a "
     "header was cut.",
     "Look at how the responder builds the Write list of its reply."},
};

}  // namespace rpcrdma::referee::rows
