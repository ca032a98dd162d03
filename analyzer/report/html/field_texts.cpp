// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html/fields.hpp"
#include "wire/rpcrdma.hpp"
#include "wire/rpcrdma_v2.hpp"

namespace rpcrdma::report::page {

namespace {

using Values = std::vector<std::pair<std::uint32_t, std::string_view>>;

template <class Name>
[[nodiscard]] Values named(std::uint32_t from, std::uint32_t to, Name name) {
  Values values;
  for (std::uint32_t value = from; value <= to; ++value) {
    const std::string_view text = name(value);
    if (!text.empty()) values.emplace_back(value, text);
  }
  return values;
}

[[nodiscard]] Values error_names_v2() {
  Values values = named(1, 11, wire::error_name_v2);
  values.emplace_back(100, wire::error_name_v2(100));
  return values;
}

[[nodiscard]] Values flavors() { return {{0, "AUTH_NONE"}, {1, "AUTH_SYS"}, {6, "RPCSEC_GSS"}, {7, "AUTH_TLS"}}; }

}  // namespace

std::vector<FieldText> field_texts() {
  constexpr auto rfc_fixed = "RFC 8166 section 4.2";
  constexpr auto rfc_read = "RFC 8166 section 4.3.1";
  constexpr auto rfc_write = "RFC 8166 section 4.3.2";
  constexpr auto rfc_reply = "RFC 8166 section 4.3.3";
  constexpr auto rfc_segment = "RFC 8166 section 3.4.3";
  constexpr auto rfc_error = "RFC 8166 section 4.5";
  constexpr auto draft_error = "version-two draft, section 7";
  constexpr auto draft_types = "version-two draft, section 6.3";
  constexpr auto draft_properties = "version-two draft, section 5";
  constexpr auto rpc_call = "RFC 5531 section 9";
  constexpr auto rpc_auth = "RFC 5531 section 8.2";
  constexpr auto private_data = "RFC 8797 section 4";
  return {
      {"rdma_xid", "Same as the XID of the RPC message: it joins Call and Reply.", rfc_fixed, Form::hex, {}},
      {"rdma_vers", "Version of the protocol that this header follows.", rfc_fixed, Form::number, {}},
      {"rdma_credit",
       "In a Call: how many Calls the requester would like to have open. In a Reply: how many it may.",
       "RFC 8166 section 3.3.1",
       Form::number,
       {}},
      {"rdma_proc", "What kind of message this is, and so what follows.", "RFC 8166 section 4.2.4", Form::number,
       named(0, 4, wire::proc_name)},
      {"rdma_align", "Of the padded form, which nobody may send any more.", "RFC 8166 section 4.6.1", Form::number, {}},
      {"rdma_thresh",
       "Of the padded form, which nobody may send any more.",
       "RFC 8166 section 4.6.1",
       Form::number,
       {}},
      {"Read list: one more", "1: a Read segment follows.", rfc_read, Form::flag, {}},
      {"position",
       "Where in the RPC message the data of this segment belong, in octets. 0: it holds the message itself.",
       "RFC 8166 section 3.4.5",
       Form::number,
       {}},
      {"handle", "Names a piece of registered memory (R_key, STag).", rfc_segment, Form::hex, {}},
      {"length",
       "Octets of this segment; in a Reply's Write list, the octets that were written.",
       rfc_segment,
       Form::number,
       {}},
      {"offset", "Where in the memory that the handle names the segment begins.", rfc_segment, Form::hex, {}},
      {"Read list: end", "0: no more Read segments.", rfc_read, Form::flag, {}},
      {"Write list: one more", "1: a Write chunk follows.", rfc_write, Form::flag, {}},
      {"segments", "How many segments this chunk has.", rfc_write, Form::number, {}},
      {"Write list: end", "0: no more Write chunks.", rfc_write, Form::flag, {}},
      {"Reply chunk: present", "1: memory for a whole Reply follows.", rfc_reply, Form::flag, {}},
      {"Reply chunk: absent", "0: there is none.", rfc_reply, Form::flag, {}},
      {"rdma_err", "Why the Call was refused.", rfc_error, Form::number, {{1, "ERR_VERS"}, {2, "ERR_CHUNK"}}},
      {"rdma_vers_low", "Lowest version that the responder speaks.", "RFC 8166 section 4.5.1", Form::number, {}},
      {"rdma_vers_high", "Highest version that the responder speaks.", "RFC 8166 section 4.5.1", Form::number, {}},
      {"not decoded",
       "Octets that this kind of message does not have, or that cannot be told apart.",
       "",
       Form::opaque,
       {}},
      {"rdma_htype", "What kind of message this is, and so what follows.", draft_types, Form::number,
       named(4, 13, wire::htype_name_v2)},
      {"rdma_flags", "A word of earlier drafts.", "drafts 00 to 02", Form::hex, {}},
      {"rdma_err", "Why the message was refused.", draft_error, Form::number, error_names_v2()},
      {"rdma_max_chunks", "The most chunks that this peer can take.", draft_error, Form::number, {}},
      {"rdma_max_segments", "The most segments that this peer can take.", draft_error, Form::number, {}},
      {"rdma_chunk_index", "Which chunk was too small.", draft_error, Form::number, {}},
      {"rdma_length_needed", "How many octets it would have needed.", draft_error, Form::number, {}},
      {"rdma_inv_handle",
       "The handle that the responder may invalidate with its Reply.",
       "version-two draft, section 6.5",
       Form::hex,
       {}},
      {"rdma_remaining",
       "Octets of the message that are still to come.",
       "version-two draft, section 6.6",
       Form::number,
       {}},
      {"Call chunk: one more", "1: a segment that holds the Call follows.", draft_types, Form::flag, {}},
      {"Call chunk: end", "0: no more segments of it.", draft_types, Form::flag, {}},
      {"properties", "How many transport properties follow.", draft_properties, Form::number, {}},
      {"rdma_which", "Which property.", draft_properties, Form::number, named(1, 6, wire::property_name)},
      {"rdma_data length", "Octets of its value.", draft_properties, Form::number, {}},
      {"rdma_data", "Its value.", draft_properties, Form::number, {}},
      {"pad", "Zeros up to a multiple of four octets.", "RFC 4506 section 4.10", Form::opaque, {}},
      {"RPC XID", "Transaction of the RPC message; the header repeats it.", rpc_call, Form::hex, {}},
      {"message type", "Call or Reply.", rpc_call, Form::number, {{0, "CALL"}, {1, "REPLY"}}},
      {"RPC version", "Always 2.", rpc_call, Form::number, {}},
      {"program",
       "Which service.",
       rpc_call,
       Form::number,
       {{100000, "portmapper"},
        {100003, "NFS"},
        {100005, "MOUNT"},
        {100021, "NLM"},
        {100024, "NSM"},
        {100227, "NFSACL"}}},
      {"program version", "Which version of it.", rpc_call, Form::number, {}},
      {"procedure", "What is to be done.", rpc_call, Form::number, {}},
      {"credential flavor", "How the caller says who it is.", rpc_auth, Form::number, flavors()},
      {"credential length", "Octets of the credential.", rpc_auth, Form::number, {}},
      {"credential", "Who the caller is.", rpc_auth, Form::opaque, {}},
      {"verifier flavor", "How that is proven.", rpc_auth, Form::number, flavors()},
      {"verifier length", "Octets of the verifier.", rpc_auth, Form::number, {}},
      {"verifier", "The proof.", rpc_auth, Form::opaque, {}},
      {"arguments", "What the procedure works on, as far as it is not in chunks.", rpc_call, Form::opaque, {}},
      {"reply state", "Accepted or denied.", rpc_call, Form::number, {{0, "MSG_ACCEPTED"}, {1, "MSG_DENIED"}}},
      {"accept state",
       "What became of it.",
       rpc_call,
       Form::number,
       {{0, "SUCCESS"},
        {1, "PROG_UNAVAIL"},
        {2, "PROG_MISMATCH"},
        {3, "PROC_UNAVAIL"},
        {4, "GARBAGE_ARGS"},
        {5, "SYSTEM_ERR"}}},
      {"reject state", "Why it was denied.", rpc_call, Form::number, {{0, "RPC_MISMATCH"}, {1, "AUTH_ERROR"}}},
      {"results", "What the procedure answers, as far as it is not in chunks.", rpc_call, Form::opaque, {}},
      {"not RPC", "The message type is neither Call nor Reply.", rpc_call, Form::opaque, {}},
      {"format identifier",
       "F6AB0E18: what follows is the private data of RPC-over-RDMA.",
       private_data,
       Form::hex,
       {}},
      {"version", "1: the eight octets have this meaning.", private_data, Form::number, {}},
      {"flags",
       "The lowest bit, R: this side supports remote invalidation. The other bits are to be 0.",
       "RFC 8797 sections 4.1 and 5.1",
       Form::bits,
       {}},
      {"send size",
       "The largest message that this side will send: (octet + 1) times 1,024 octets.",
       "RFC 8797 section 4.2",
       Form::size,
       {}},
      {"receive size",
       "The largest message that this side can receive: (octet + 1) times 1,024 octets.",
       "RFC 8797 section 4.2",
       Form::size,
       {}},
      {"other octets", "Padding, or private data of something else.", "RFC 8797 section 5.2", Form::opaque, {}},
  };
}

}  // namespace rpcrdma::report::page
