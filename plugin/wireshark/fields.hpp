// SPDX-License-Identifier: GPL-2.0-or-later
// Protocols, fields and expert items: the built-in's where it has them, ours beside them.
#pragma once

#include "wireshark/api.hpp"

namespace rpcrdma::plugin {

/// Ids of header fields; -1 until registered. Those above the line are the built-in's.
struct Fields {
  int xid = -1, version = -1, flow_control = -1, msg_type = -1;
  int reads_count = -1, writes_count = -1, reply_count = -1, position = -1, segment_count = -1;
  int handle = -1, length = -1, offset = -1;
  int align = -1, thresh = -1, errcode = -1, vers_low = -1, vers_high = -1;
  // ---
  int cm_format_id = -1, cm_version = -1, cm_reserved = -1, cm_remote_invalidation = -1;
  int cm_send_size = -1, cm_receive_size = -1, cm_offset = -1, cm_absent = -1;
  int v2_htype = -1, v2_flags = -1, v2_err = -1, v2_max_chunks = -1, v2_max_segments = -1, v2_chunk_index = -1;
  int v2_length_needed = -1, v2_inv_handle = -1, v2_remaining = -1, v2_list_word = -1, v2_pad = -1;
  int v2_prop_count = -1, v2_prop_id = -1, v2_prop_length = -1, v2_prop_value = -1, v2_prop_octets = -1;
  int connection = -1, client_to_server = -1, server_to_client = -1, granted = -1, outstanding = -1;
  int invalidated_handle = -1, call_in = -1, reply_in = -1, time = -1, done_in = -1, offered_in = -1;
  int message_in = -1, rpc_in = -1, header_octets = -1, sender = -1, direction = -1;
  int finding = -1, severity = -1, finding_of = -1, evidence = -1, evidence_in = -1, operation = -1, payload_state = -1,
      repeated = -1;
};
extern Fields hf;

struct Trees {
  int message = -1, list = -1, chunk = -1, segment = -1, private_data = -1, operation = -1;
};
extern Trees ett;

extern int proto_rpcordma;  ///< the built-in protocol, or ours in its place
extern int proto_rpcrdma;   ///< preferences and statistics

/// Registers what the built-in lacks. False: the built-in was not there and everything is ours.
bool register_fields();

/// Adds the expert item of a rule. `severity`: of this finding, which may be lower than the rule's.
void add_finding(packet_info* pinfo, proto_item* item, unsigned rule, unsigned severity, const char* message);

}  // namespace rpcrdma::plugin
