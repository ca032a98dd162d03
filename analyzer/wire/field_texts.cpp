// SPDX-License-Identifier: GPL-2.0-or-later
// What each field is called and means.
#include <array>

#include "wire/fields.hpp"

namespace rpcrdma::wire {

namespace {

constexpr std::string_view rfc_fixed = "RFC 8166 section 4.2";
constexpr std::string_view rfc_read = "RFC 8166 section 4.3.1";
constexpr std::string_view rfc_write = "RFC 8166 section 4.3.2";
constexpr std::string_view rfc_reply = "RFC 8166 section 4.3.3";
constexpr std::string_view rfc_segment = "RFC 8166 section 3.4.3";
constexpr std::string_view rfc_error = "RFC 8166 section 4.5";
constexpr std::string_view draft_error = "version-two draft, section 7";
constexpr std::string_view draft_types = "version-two draft, section 6.3";
constexpr std::string_view draft_properties = "version-two draft, section 5";
constexpr std::string_view rfc_rpc = "RFC 5531 section 9";
constexpr std::string_view rfc_auth = "RFC 5531 section 8.2";
constexpr std::string_view rfc_private = "RFC 8797 section 4";

// By Field.
constexpr std::array<FieldText, field_count> texts{{
    {"rdma_xid", "Same as the XID of the RPC message: it joins Call and Reply.", rfc_fixed},
    {"rdma_vers", "Version of the protocol that this header follows.", rfc_fixed},
    {"rdma_credit", "In a Call: how many Calls the requester would like to have open. In a Reply: how many it may.",
     "RFC 8166 section 3.3.1"},
    {"rdma_proc", "What kind of message this is, and so what follows.", "RFC 8166 section 4.2.4"},
    {"rdma_align", "Of the padded form, which nobody may send any more.", "RFC 8166 section 4.6.1"},
    {"rdma_thresh", "Of the padded form, which nobody may send any more.", "RFC 8166 section 4.6.1"},
    {"Read list: one more", "1: a Read segment follows.", rfc_read},
    {"position", "Where in the RPC message the data of this segment belong, in octets. 0: it holds the message itself.",
     "RFC 8166 section 3.4.5"},
    {"handle", "Names a piece of registered memory (R_key, STag).", rfc_segment},
    {"length", "Octets of this segment; in a Reply's Write list, the octets that were written.", rfc_segment},
    {"offset", "Where in the memory that the handle names the segment begins.", rfc_segment},
    {"Read list: end", "0: no more Read segments.", rfc_read},
    {"Write list: one more", "1: a Write chunk follows.", rfc_write},
    {"segments", "How many segments this chunk has.", rfc_write},
    {"Write list: end", "0: no more Write chunks.", rfc_write},
    {"Reply chunk: present", "1: memory for a whole Reply follows.", rfc_reply},
    {"Reply chunk: absent", "0: there is none.", rfc_reply},
    {"rdma_err", "Why the Call was refused.", rfc_error},
    {"rdma_vers_low", "Lowest version that the responder speaks.", "RFC 8166 section 4.5.1"},
    {"rdma_vers_high", "Highest version that the responder speaks.", "RFC 8166 section 4.5.1"},
    {"not decoded", "Octets that this kind of message does not have, or that cannot be told apart.", ""},
    {"rdma_htype", "What kind of message this is, and so what follows.", draft_types},
    {"rdma_flags", "A word of earlier drafts.", "drafts 00 to 02"},
    {"rdma_err", "Why the message was refused.", draft_error},
    {"rdma_max_chunks", "The most chunks that this peer can take.", draft_error},
    {"rdma_max_segments", "The most segments that this peer can take.", draft_error},
    {"rdma_chunk_index", "Which chunk was too small, counted from 1; 0: not known.", draft_error},
    {"rdma_length_needed", "How many octets it would have needed.", draft_error},
    {"rdma_inv_handle", "The handle that the responder may invalidate with its Reply; 0: none.",
     "version-two draft, section 6.5"},
    {"rdma_remaining", "Octets of the message that are still to come.", "version-two draft, section 6.6"},
    {"Call chunk: one more", "1: a segment that holds the Call follows.", draft_types},
    {"Call chunk: end", "0: no more segments of it.", draft_types},
    {"properties", "How many transport properties follow.", draft_properties},
    {"rdma_which", "Which property.", draft_properties},
    {"rdma_data length", "Octets of its value.", draft_properties},
    {"rdma_data", "Its value.", draft_properties},
    {"pad", "Zeros up to a multiple of four octets.", "RFC 4506 section 4.10"},
    {"RPC XID", "Transaction of the RPC message; the header repeats it.", rfc_rpc},
    {"message type", "Call or Reply.", rfc_rpc},
    {"RPC version", "Always 2.", rfc_rpc},
    {"program", "Which service.", rfc_rpc},
    {"program version", "Which version of it.", rfc_rpc},
    {"procedure", "What is to be done.", rfc_rpc},
    {"credential flavor", "How the caller says who it is.", rfc_auth},
    {"credential length", "Octets of the credential.", rfc_auth},
    {"credential", "Who the caller is.", rfc_auth},
    {"verifier flavor", "How that is proven.", rfc_auth},
    {"verifier length", "Octets of the verifier.", rfc_auth},
    {"verifier", "The proof.", rfc_auth},
    {"arguments", "What the procedure works on, as far as it is not in chunks.", rfc_rpc},
    {"reply state", "Accepted or denied.", rfc_rpc},
    {"accept state", "What became of it.", rfc_rpc},
    {"reject state", "Why it was denied.", rfc_rpc},
    {"results", "What the procedure answers, as far as it is not in chunks.", rfc_rpc},
    {"not RPC", "The message type is neither Call nor Reply.", rfc_rpc},
    {"format identifier", "F6AB0E18: what follows is the private data of RPC-over-RDMA.", rfc_private},
    {"version", "1: the eight octets have this meaning.", rfc_private},
    {"flags", "The lowest bit, R: this side supports remote invalidation. The other bits are to be 0.",
     "RFC 8797 sections 4.1 and 5.1"},
    {"send size", "The largest message that this side will send: (octet + 1) times 1,024 octets.",
     "RFC 8797 section 4.2"},
    {"receive size", "The largest message that this side can receive: (octet + 1) times 1,024 octets.",
     "RFC 8797 section 4.2"},
    {"other octets", "Padding, or private data of something else.", "RFC 8797 section 5.2"},
}};
constexpr const FieldText& text(Field field) noexcept { return texts[static_cast<std::size_t>(field)]; }
static_assert(text(Field::unexpected).name == "not decoded" && text(Field::rpc_xid).name == "RPC XID" &&
              text(Field::identifier).name == "format identifier" && text(Field::private_other).name == "other octets");

}  // namespace

const FieldText& field_text(Field field) noexcept { return text(field); }

}  // namespace rpcrdma::wire
