// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/fields.hpp"

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "referee/rules/table.hpp"
#include "wire/fields.hpp"
#include "wireshark/builtin.hpp"

namespace rpcrdma::plugin {

Fields hf;
Trees ett;
int proto_rpcordma = -1;
int proto_rpcrdma = -1;

namespace {

using referee::Severity;

/// wire's names of a field's values, in the form that Wireshark keeps a pointer to.
[[nodiscard]] const value_string* names_of(wire::Field field) {
  static std::deque<std::vector<value_string>> tables;
  std::vector<value_string>& table = tables.emplace_back();
  for (const auto& [value, name] : wire::value_names(field)) table.push_back({value, name.data()});
  table.push_back({0, nullptr});
  return table.data();
}

/// wire's meaning of a field, and where that is written.
[[nodiscard]] const char* meaning_of(wire::Field field) {
  static std::deque<std::string> blurbs;
  const wire::FieldText& text = wire::field_text(field);
  std::string& blurb = blurbs.emplace_back(text.meaning.substr(0, text.meaning.size() - 1));
  if (!text.section.empty()) blurb.append(" (").append(text.section).append(")");
  return blurb.c_str();
}

struct Wanted {
  int* id;
  hf_register_info info;
};

[[nodiscard]] Wanted field(int* id, const char* name, const char* abbrev, ftenum_t type, int display, const char* blurb,
                           const void* strings = nullptr, std::uint64_t mask = 0) {
  return {id, {id, {name, abbrev, type, display, strings, mask, blurb, HFILL}}};
}

/// The built-in's id, if it has this field and draws it as we do.
[[nodiscard]] int known_field(const header_field_info& wanted) {
  const int id = proto_registrar_get_id_byname(wanted.abbrev);
  return id > 0 && proto_registrar_get_nth(static_cast<unsigned>(id))->type == wanted.type ? id : -1;
}

/// What the built-in has registered is used; what a Wireshark lacks is registered under the same name.
void builtin_fields(bool builtin_protocol, std::vector<hf_register_info>& ours) {
  using F = wire::Field;
  static std::array<Wanted, 17> wanted{
      field(&hf.xid, "XID", "rpcordma.xid", FT_UINT32, BASE_HEX, meaning_of(F::xid)),
      field(&hf.version, "Version", "rpcordma.version", FT_UINT32, BASE_DEC, meaning_of(F::version)),
      field(&hf.flow_control, "Flow Control", "rpcordma.flow_control", FT_UINT32, BASE_DEC, meaning_of(F::credit)),
      field(&hf.msg_type, "Message Type", "rpcordma.msg_type", FT_UINT32, BASE_DEC, meaning_of(F::proc),
            names_of(F::proc)),
      field(&hf.reads_count, "Read list count", "rpcordma.reads_count", FT_UINT32, BASE_DEC, nullptr),
      field(&hf.writes_count, "Write list count", "rpcordma.writes_count", FT_UINT32, BASE_DEC, nullptr),
      field(&hf.reply_count, "Reply list count", "rpcordma.reply_count", FT_UINT32, BASE_DEC, nullptr),
      field(&hf.position, "Position in XDR", "rpcordma.position", FT_UINT32, BASE_DEC, meaning_of(F::position)),
      field(&hf.segment_count, "Write chunk segment count", "rpcordma.segment_count", FT_UINT32, BASE_DEC,
            meaning_of(F::segment_count)),
      field(&hf.handle, "RDMA handle", "rpcordma.rdma_handle", FT_UINT32, BASE_HEX, meaning_of(F::handle)),
      field(&hf.length, "RDMA length", "rpcordma.rdma_length", FT_UINT32, BASE_DEC, meaning_of(F::length)),
      field(&hf.offset, "RDMA offset", "rpcordma.rdma_offset", FT_UINT64, BASE_HEX, meaning_of(F::offset)),
      field(&hf.align, "RDMA align", "rpcordma.rdma_align", FT_UINT32, BASE_DEC, meaning_of(F::align)),
      field(&hf.thresh, "RDMA threshold", "rpcordma.rdma_thresh", FT_UINT32, BASE_DEC, meaning_of(F::thresh)),
      field(&hf.errcode, "Error code", "rpcordma.errcode", FT_UINT32, BASE_DEC, meaning_of(F::error_code),
            names_of(F::error_code)),
      field(&hf.vers_low, "Version low", "rpcordma.vers_low", FT_UINT32, BASE_DEC, meaning_of(F::version_low)),
      field(&hf.vers_high, "Version high", "rpcordma.vers_high", FT_UINT32, BASE_DEC, meaning_of(F::version_high))};
  for (Wanted& w : wanted) {
    const int known = builtin_protocol ? known_field(w.info.hfinfo) : -1;
    if (known > 0) {
      *w.id = known;
    } else {
      ours.push_back(w.info);
    }
  }
}

void own_fields(std::vector<hf_register_info>& ours) {
  using F = wire::Field;
  const auto want = [&](int* id, const char* name, const char* abbrev, ftenum_t type, int display, const char* blurb,
                        const void* strings = nullptr) {
    ours.push_back({id, {name, abbrev, type, display, strings, 0, blurb, HFILL}});
  };
  want(&hf.cm_format_id, "Format identifier", "rpcordma.cm.format_id", FT_UINT32, BASE_HEX, meaning_of(F::identifier));
  want(&hf.cm_version, "Private data version", "rpcordma.cm.version", FT_UINT8, BASE_DEC,
       meaning_of(F::private_version));
  want(&hf.cm_reserved, "Reserved bits", "rpcordma.cm.reserved", FT_UINT8, BASE_HEX, meaning_of(F::private_flags));
  want(&hf.cm_remote_invalidation, "Remote invalidation", "rpcordma.cm.remote_invalidation", FT_BOOLEAN, BASE_NONE,
       meaning_of(F::private_flags));
  want(&hf.cm_send_size, "Send size", "rpcordma.cm.send_size", FT_UINT32, BASE_DEC, meaning_of(F::send_size));
  want(&hf.cm_receive_size, "Receive size", "rpcordma.cm.receive_size", FT_UINT32, BASE_DEC,
       meaning_of(F::receive_size));
  want(&hf.cm_offset, "Offset", "rpcordma.cm.offset", FT_UINT32, BASE_DEC,
       "Octets from the start of the consumer's private data to the identifier");
  want(&hf.cm_absent, "Private data", "rpcordma.cm.absent", FT_STRING, BASE_NONE,
       "What the lack of RFC 8797 private data means");
  want(&hf.v2_htype, "Header type", "rpcordma.v2.htype", FT_UINT32, BASE_DEC, meaning_of(F::htype), names_of(F::htype));
  want(&hf.v2_flags, "Flags", "rpcordma.v2.flags", FT_UINT32, BASE_HEX, meaning_of(F::flags2));
  want(&hf.v2_err, "Error", "rpcordma.v2.err", FT_UINT32, BASE_DEC, meaning_of(F::error_code2),
       names_of(F::error_code2));
  want(&hf.v2_max_chunks, "Chunks at most", "rpcordma.v2.max_chunks", FT_UINT32, BASE_DEC, meaning_of(F::most_chunks));
  want(&hf.v2_max_segments, "Segments at most", "rpcordma.v2.max_segments", FT_UINT32, BASE_DEC,
       meaning_of(F::most_segments));
  want(&hf.v2_chunk_index, "Chunk index", "rpcordma.v2.chunk_index", FT_UINT32, BASE_DEC, meaning_of(F::chunk_index));
  want(&hf.v2_length_needed, "Length needed", "rpcordma.v2.length_needed", FT_UINT32, BASE_DEC,
       meaning_of(F::length_needed));
  want(&hf.v2_inv_handle, "Handle to invalidate", "rpcordma.v2.inv_handle", FT_UINT32, BASE_HEX,
       meaning_of(F::inv_handle));
  want(&hf.v2_remaining, "Remaining", "rpcordma.v2.remaining", FT_UINT32, BASE_DEC, meaning_of(F::remaining));
  want(&hf.v2_list_word, "List item follows", "rpcordma.v2.list", FT_UINT32, BASE_DEC, "1: an item follows, 0: none");
  want(&hf.v2_pad, "Pad", "rpcordma.v2.pad", FT_BYTES, BASE_NONE, meaning_of(F::property_pad));
  want(&hf.v2_prop_count, "Properties", "rpcordma.v2.prop.count", FT_UINT32, BASE_DEC, meaning_of(F::property_count));
  want(&hf.v2_prop_id, "Property", "rpcordma.v2.prop.id", FT_UINT32, BASE_DEC, meaning_of(F::property_id),
       names_of(F::property_id));
  want(&hf.v2_prop_length, "Length", "rpcordma.v2.prop.length", FT_UINT32, BASE_DEC, meaning_of(F::property_length));
  want(&hf.v2_prop_value, "Value", "rpcordma.v2.prop.value", FT_UINT32, BASE_DEC, meaning_of(F::property_value));
  want(&hf.v2_prop_octets, "Value", "rpcordma.v2.prop.octets", FT_BYTES, BASE_NONE, meaning_of(F::property_value));
  want(&hf.connection, "Connection", "rpcordma.connection", FT_UINT32, BASE_DEC,
       "Number of the connection, by first appearance");
  want(&hf.client_to_server, "Inline threshold, client to server", "rpcordma.threshold.client_to_server", FT_UINT32,
       BASE_DEC, "Octets; absent where it is not known");
  want(&hf.server_to_client, "Inline threshold, server to client", "rpcordma.threshold.server_to_client", FT_UINT32,
       BASE_DEC, "Octets; absent where it is not known");
  want(&hf.granted, "Credits granted", "rpcordma.credit.granted", FT_UINT32, BASE_DEC,
       "Newest grant to the requester of this exchange");
  want(&hf.outstanding, "Calls outstanding", "rpcordma.credit.outstanding", FT_UINT32, BASE_DEC,
       "Calls of this requester without an answer, this message counted");
  want(&hf.invalidated_handle, "Invalidated handle", "rpcordma.invalidated_handle", FT_UINT32, BASE_HEX,
       "R_key or STag that the Send With Invalidate names");
  want(&hf.call_in, "Call in", "rpcordma.call_in", FT_FRAMENUM, BASE_NONE, "The Call that this belongs to");
  want(&hf.reply_in, "Reply in", "rpcordma.reply_in", FT_FRAMENUM, BASE_NONE, "The Reply that ends the exchange");
  want(&hf.time, "Time from Call", "rpcordma.time", FT_RELATIVE_TIME, BASE_NONE, "From the Call to this Reply");
  want(&hf.done_in, "RDMA_DONE in", "rpcordma.done_in", FT_FRAMENUM, BASE_NONE,
       "The RDMA_DONE that ends the offered Read chunk");
  want(&hf.offered_in, "Chunk offered in", "rpcordma.chunk_offered_in", FT_FRAMENUM, BASE_NONE,
       "The message that exposed this memory");
  want(&hf.message_in, "Message complete in", "rpcordma.message_in", FT_FRAMENUM, BASE_NONE,
       "The last packet of this Send");
  want(&hf.rpc_in, "RPC message in", "rpcordma.rpc_in", FT_FRAMENUM, BASE_NONE,
       "Where the RPC message is whole and shown");
  want(&hf.header_octets, "Not decoded", "rpcordma.undecoded", FT_BYTES, BASE_NONE, meaning_of(F::unexpected));
  want(&hf.sender, "Sender", "rpcordma.sender", FT_STRING, BASE_NONE, "client (the side that connected) or server");
  want(&hf.direction, "Message", "rpcordma.direction", FT_STRING, BASE_NONE,
       "Call, Reply, ... as the referee reads it");
  want(&hf.finding, "Finding", "rpcordma.finding", FT_STRING, BASE_NONE, "Name of the rule");
  want(&hf.severity, "Severity", "rpcordma.severity", FT_STRING, BASE_NONE, "Of a finding: error, warning or note");
  want(&hf.finding_of, "Finding about", "rpcordma.finding_of", FT_FRAMENUM, BASE_NONE,
       "The offending frame, where the finding stands on another");
  want(&hf.evidence, "Evidence of", "rpcordma.evidence", FT_STRING, BASE_NONE,
       "Name of the rule of a finding that this frame is evidence of");
  want(&hf.evidence_in, "Evidence in", "rpcordma.evidence_in", FT_FRAMENUM, BASE_NONE,
       "Another frame that the finding rests on");
  want(&hf.operation, "Operation", "rpcordma.operation", FT_STRING, BASE_NONE,
       "RDMA Write, RDMA Read request or RDMA Read response");
  want(&hf.repeated, "Repeated", "rpcordma.repeated", FT_STRING, BASE_NONE,
       "\"sent again\" by the transport or the connection manager, or \"captured twice\"");
  want(&hf.payload_state, "Payload", "rpcordma.payload", FT_STRING, BASE_NONE, "How the RPC message was put together");
}

// --- expert items: a rule that can be lowered has one item for each severity, all of the same name
constexpr std::size_t severities = 3;

struct RuleItems {
  std::array<expert_field, severities> ids;
  unsigned registered = 0;
};
std::vector<RuleItems> rule_items;

[[nodiscard]] int expert_severity(Severity severity) {
  switch (severity) {
    case Severity::error:
      return PI_ERROR;
    case Severity::warning:
      return PI_WARN;
    case Severity::note:
      break;
  }
  return PI_NOTE;
}

[[nodiscard]] int expert_group(char group) {
  switch (group) {
    case 'A':
    case 'L':
      return PI_REQUEST_CODE;
    case 'D':
      return PI_PROTOCOL;
    case 'M':
      return PI_ASSUMPTION;
    case 'N':
      return PI_RESPONSE_CODE;
    default:
      return PI_PROTOCOL;
  }
}

void register_rules() {
  static std::deque<std::string> names;  // Wireshark keeps the pointers
  static std::vector<ei_register_info> infos;
  const auto rules = referee::all_rules();
  rule_items.resize(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string name = "rpcordma.finding." + std::string(rules[i].name);
    for (char& c : name) {
      if (c == '-') c = '_';
    }
    names.push_back(std::move(name));
    const char* abbrev = names.back().c_str();
    names.emplace_back(rules[i].title);
    const char* title = names.back().c_str();
    for (std::size_t s = 0; s < severities; ++s) {
      rule_items[i].ids[s] = EI_INIT;
      const auto severity = static_cast<Severity>(s);
      if (s > static_cast<std::size_t>(rules[i].severity)) continue;  // never more than the rule says
      ei_register_info info{&rule_items[i].ids[s],
                            {abbrev, expert_group(rules[i].group), expert_severity(severity), title, EXPFILL}};
      info.eiinfo.hf_info.hfinfo.blurb = title;
      infos.push_back(info);
      ++rule_items[i].registered;
    }
  }
  expert_register_field_array(expert_register_protocol(proto_rpcordma), infos.data(), static_cast<int>(infos.size()));
}

}  // namespace

bool register_fields() {
  proto_rpcordma = proto_get_id_by_filter_name(builtin::protocol);
  const bool there = proto_rpcordma > 0;
  // Should it only have got another filter name, then the longer names may still be taken; twice the same is fatal.
  if (!there) proto_rpcordma = proto_register_protocol("RPC over RDMA (plugin)", "RPCoRDMA-plugin", builtin::protocol);
  static std::vector<hf_register_info> fields;
  builtin_fields(there, fields);
  own_fields(fields);
  proto_register_field_array(proto_rpcordma, fields.data(), static_cast<int>(fields.size()));
  static int* const trees[] = {&ett.message, &ett.list, &ett.chunk, &ett.segment, &ett.private_data, &ett.operation};
  proto_register_subtree_array(trees, static_cast<int>(std::size(trees)));
  register_rules();
  return there;
}

void add_finding(packet_info* pinfo, proto_item* item, unsigned rule, unsigned severity, const char* message) {
  if (rule >= rule_items.size() || severity >= rule_items[rule].registered) return;
  expert_add_info_format(pinfo, item, &rule_items[rule].ids[severity], "%s", message);
}

}  // namespace rpcrdma::plugin
