// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/draw.hpp"

#include <algorithm>

#include "referee/rules/table.hpp"
#include "referee/state/side_names.hpp"
#include "wire/private_data.hpp"
#include "wireshark/data_sources.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/finding_places.hpp"
#include "wireshark/hooks.hpp"
#include "wireshark/layers.hpp"
#include "wireshark/tap.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::MessageSeen;
using referee::name;
using referee::OperationSeen;
using trace::Side;

[[nodiscard]] const char* name(trace::Repeated::Kind kind) {
  switch (kind) {
    case trace::Repeated::Kind::retransmission:
    case trace::Repeated::Kind::handshake:
      return "sent again";
    case trace::Repeated::Kind::capture_duplicate:
    case trace::Repeated::Kind::handshake_copy:
      break;
  }
  return "captured twice";
}

void generated(proto_item* item) { proto_item_set_generated(item); }

void frame_field(proto_tree* tree, int field, std::uint64_t frame) {
  const std::uint32_t shown = frame != 0 ? shown_number(frame) : 0;
  if (shown != 0) generated(proto_tree_add_uint(tree, field, nullptr, 0, 0, shown));
}

proto_tree* newest(const Canvas& canvas, proto_item* item, int kind) {
  Drawn* drawn = canvas.drawn;
  drawn->item = item;
  drawn->tree = drawn->trees[drawn->place] = proto_item_add_subtree(item, kind);
  return drawn->tree;
}

proto_tree* root(const Canvas& canvas, tvbuff_t* tvb, int length, const char* text) {
  proto_item* item = proto_tree_add_protocol_format(canvas.tree, proto_rpcordma, tvb, 0, length, "%s", text);
  return newest(canvas, item, ett.message);
}

void thresholds(proto_tree* tree, std::uint32_t connection, const referee::Thresholds& known) {
  generated(proto_tree_add_uint(tree, hf.connection, nullptr, 0, 0, connection));
  const bool assumed = known.basis == referee::Basis::default_;
  if (known.client_to_server) {
    proto_item* item = proto_tree_add_uint(tree, hf.client_to_server, nullptr, 0, 0, *known.client_to_server);
    if (assumed) proto_item_append_text(item, " (default)");
    generated(item);
  }
  if (known.server_to_client) {
    proto_item* item = proto_tree_add_uint(tree, hf.server_to_client, nullptr, 0, 0, *known.server_to_client);
    if (assumed) proto_item_append_text(item, " (default)");
    generated(item);
  }
}

void exchange_links(proto_tree* tree, const journal::Exchange* exchange, std::uint32_t frame) {
  if (exchange == nullptr) return;
  if (exchange->call.number != frame) frame_field(tree, hf.call_in, exchange->call.number);
  if (exchange->reply.number != frame) frame_field(tree, hf.reply_in, exchange->reply.number);
  if (exchange->offer != frame) frame_field(tree, hf.offered_in, exchange->offer);
  if (exchange->done.number != frame) frame_field(tree, hf.done_in, exchange->done.number);
}

tvbuff_t* as_source(const Canvas& canvas, tvbuff_t* parent, const std::uint8_t* octets, std::size_t captured,
                    std::uint64_t wire_length, const char* title) {
  const auto reported = static_cast<int>(wire_length > INT32_MAX ? INT32_MAX : wire_length);
  tvbuff_t* tvb = tvb_new_child_real_data(parent, octets, static_cast<unsigned>(captured), reported);
  append_data_source(canvas.pinfo, tvb, title, canvas.drawn->source);
  return tvb;
}

/// Octets of the journal as a tvb: out of the frame, or of the copy.
tvbuff_t* of_journal(const Canvas& canvas, const journal::Octets& octets, const char* title) {
  tvbuff_t* frame = frame_octets(canvas.pinfo);
  const auto reported = static_cast<int>(octets.wire_length > INT32_MAX ? INT32_MAX : octets.wire_length);
  if (octets.in_frame && tvb_captured_length(frame) >= octets.offset + octets.captured) {
    return tvb_new_subset_length_caplen(frame, static_cast<int>(octets.offset), static_cast<int>(octets.captured),
                                        reported);
  }
  return as_source(canvas, frame, octets.copy.data(), octets.copy.size(), octets.wire_length, title);
}

/// By what the header itself says; empty: it says nothing that is known.
[[nodiscard]] std::string_view type_name(std::uint32_t version, std::uint32_t type) {
  return version == 1 ? wire::proc_name(type) : version == 2 ? wire::htype_name_v2(type) : std::string_view{};
}

void message_columns(const Canvas& canvas, const char* what, const char* direction, std::uint32_t xid) {
  begin_info(canvas);
  col_set_str(canvas.pinfo->cinfo, COL_PROTOCOL, "RPCoRDMA");
  col_add_fstr(canvas.pinfo->cinfo, COL_INFO, "%s%s XID 0x%08x", what, direction, xid);
}

void message_columns(const Canvas& canvas, const journal::Message& message) {
  const std::string_view type = type_name(message.version, message.proc);
  const char* direction = message.version == 2                       ? ""  // its types say it
                          : message.kind == MessageSeen::Kind::call  ? " Call"
                          : message.kind == MessageSeen::Kind::reply ? " Reply"
                                                                     : "";
  message_columns(canvas, type.empty() ? message_name(message) : type.data(), direction, message.xid);
}

void knowledge(const Canvas& canvas, proto_tree* tree, const journal::Message& message) {
  generated(proto_tree_add_string(tree, hf.direction, nullptr, 0, 0, message_name(message)));
  generated(proto_tree_add_string(tree, hf.sender, nullptr, 0, 0, name(message.sender)));
  thresholds(tree, message.connection, message.thresholds);
  if (message.granted) generated(proto_tree_add_uint(tree, hf.granted, nullptr, 0, 0, *message.granted));
  if (message.exchange != 0) {
    generated(
        proto_tree_add_uint(tree, hf.outstanding, nullptr, 0, 0, static_cast<std::uint32_t>(message.outstanding)));
  }
  if (message.invalidated) {
    generated(proto_tree_add_uint(tree, hf.invalidated_handle, nullptr, 0, 0, *message.invalidated));
  }
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(message.connection, message.exchange);
  exchange_links(tree, exchange, canvas.drawn->frame);
  if (const auto took = journal::took(message, exchange)) {
    nstime_t time;
    time.secs = static_cast<time_t>(*took / 1'000'000'000);
    time.nsecs = static_cast<int>(*took % 1'000'000'000);
    generated(proto_tree_add_time(tree, hf.time, nullptr, 0, 0, &time));
  }
  if (message.rpc_frame != canvas.drawn->frame) frame_field(tree, hf.rpc_in, message.rpc_frame);
}

}  // namespace

const char* message_name(MessageSeen::Kind kind) {
  switch (kind) {
    case MessageSeen::Kind::call:
      return "Call";
    case MessageSeen::Kind::reply:
      return "Reply";
    case MessageSeen::Kind::done:
      return wire::proc_name(wire::Proc::done).data();
    case MessageSeen::Kind::error:
      return wire::proc_name(wire::Proc::error).data();
    case MessageSeen::Kind::other:
      break;
  }
  return "Message";
}

const char* message_name(const journal::Message& message) {
  if (message.continued) return message.kind == MessageSeen::Kind::call ? "Call (continued)" : "Reply (continued)";
  if (message.version == 2 && message.kind == MessageSeen::Kind::reply && message.exchange == 0) {
    return "Reply (no Call is open)";
  }
  return message_name(message.kind);
}

const char* operation_name(OperationSeen::Kind kind) {
  static const char* const names[] = {"RDMA Write", "RDMA Read request", "RDMA Read response"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// Why nothing of an RPC message that was to be put together can be shown.
[[nodiscard]] const char* why_nothing(const journal::Payload& payload) {
  if (payload.exchange == 0) return "Its Call is not in the capture: what was written for it is not put together";
  return "None of its chunks' octets were moved, or are in the capture";
}

void say_what_lacks(proto_tree* tree, const journal::Payload& payload) {
  const char* text = nullptr;
  switch (payload.placing) {
    case payload::RpcMessage::Placing::whole:
      return;
    case payload::RpcMessage::Placing::missing:
      text = journal::has_octets(payload) ? "Octets of a chunk are not in the capture: shown as far as they go"
                                          : why_nothing(payload);
      break;
    case payload::RpcMessage::Placing::reduced:
      text = "Where the written octets belong cannot be told: shown without them";
      break;
    case payload::RpcMessage::Placing::torn:
      text = "A part of the message is not in the capture: shown as far as it goes";
      break;
  }
  generated(proto_tree_add_string(tree, hf.payload_state, nullptr, 0, 0, text));
}

}  // namespace

constexpr int without_chunks = 28;  // octets of a header of version 1: four words, three empty lists

void draw_message(const Canvas& canvas, const journal::Message& message, tvbuff_t* tvb) {
  if (tvb == nullptr) tvb = of_journal(canvas, message.octets, "RDMA Send");
  message_columns(canvas, message);
  proto_tree* tree = root(canvas, tvb, 0, "RPC over RDMA");
  proto_item* item = canvas.drawn->item;
  proto_item_append_text(item, ": %s, XID 0x%08x", message_name(message), message.xid);
  const int header = draw_header(canvas.pinfo, tree, tvb);
  proto_item_set_len(item, header);
  knowledge(canvas, tree, message);
  queue_message(canvas, message);
  // A header of a version that is not the connection's is not decoded by the referee; it was drawn as one of version 1.
  const bool judged = message.header_length != 0;
  const int behind = judged ? static_cast<int>(message.header_length) : header;
  if (tvb_captured_length(tvb) <= static_cast<unsigned>(behind)) return;
  tvbuff_t* rest = tvb_new_subset_remaining(tvb, behind);
  if (message.payload != journal::none) {
    const journal::Payload& payload = canvas.drawn->journal->payload(message.payload);
    say_what_lacks(tree, payload);
    give_to_rpc(canvas, payload, rest);
  } else if (!judged && behind == without_chunks && tvb_get_ntohl(tvb, 12) == static_cast<unsigned>(wire::Proc::msg)) {
    give_unjudged_to_rpc(canvas, message.connection, message.sender, message.xid, rest);
  } else {
    call_data(rest, canvas.pinfo, canvas.tree);
  }
}

bool draw_repeated_message(const Canvas& canvas, const journal::Repeat& repeat, tvbuff_t* tvb) {
  constexpr unsigned fixed_words = 16;
  if (tvb_captured_length(tvb) < fixed_words) return false;
  const std::uint32_t xid = tvb_get_ntohl(tvb, 0);
  const std::string_view what = type_name(tvb_get_ntohl(tvb, 4), tvb_get_ntohl(tvb, 12));
  if (what.empty()) return false;
  message_columns(canvas, what.data(), "", xid);
  proto_tree* tree = root(canvas, tvb, 0, "RPC over RDMA");
  proto_item* item = canvas.drawn->item;
  proto_item_append_text(item, ": %s, XID 0x%08x, %s", what.data(), xid, name(repeat.kind));
  const int header = draw_header(canvas.pinfo, tree, tvb);
  proto_item_set_len(item, header);
  generated(proto_tree_add_string(tree, hf.sender, nullptr, 0, 0, name(repeat.sender)));
  generated(proto_tree_add_uint(tree, hf.connection, nullptr, 0, 0, repeat.connection));
  if (tvb_captured_length(tvb) <= static_cast<unsigned>(header)) return true;
  tvbuff_t* rest = tvb_new_subset_remaining(tvb, header);
  if (repeat.only_copy) {
    give_unjudged_to_rpc(canvas, repeat.connection, repeat.sender, xid, rest);
  } else {
    call_data(rest, canvas.pinfo, canvas.tree);
  }
  return true;
}

void draw_unplaced(const Canvas& canvas, const journal::Unplaced& message, tvbuff_t* tvb) {
  if (tvb == nullptr) tvb = of_journal(canvas, message.octets, "RDMA Send");
  const char* type = type_name(1, message.proc).data();
  message_columns(canvas, type, "", message.xid);
  proto_tree* tree = root(canvas, tvb, 0, "RPC over RDMA");
  proto_item* item = canvas.drawn->item;
  proto_item_append_text(item, ": %s, XID 0x%08x, of a connection that is not known yet", type, message.xid);
  proto_item_set_len(item, draw_header(canvas.pinfo, tree, tvb));
  if (tvb_captured_length(tvb) <= message.header_length) return;
  tvbuff_t* rest = tvb_new_subset_remaining(tvb, static_cast<int>(message.header_length));
  if (message.rpc != journal::Unplaced::Rpc::none) {
    give_unplaced_to_rpc(canvas, message, rest);
  } else {
    call_data(rest, canvas.pinfo, canvas.tree);
  }
}

void draw_part(const Canvas& canvas, const journal::Part& part, tvbuff_t* tvb) {
  tvbuff_t* where = tvb != nullptr ? tvb : frame_octets(canvas.pinfo);
  proto_tree* tree = root(canvas, where, tvb != nullptr ? -1 : 0, "RPC over RDMA: part of a message");
  generated(proto_tree_add_string(tree, hf.sender, nullptr, 0, 0, name(part.sender)));
  generated(proto_tree_add_uint(tree, hf.connection, nullptr, 0, 0, part.connection));
  if (part.message != journal::none) {
    frame_field(tree, hf.message_in, canvas.drawn->journal->message(part.message).last_frame);
  }
}

void draw_operation(const Canvas& canvas, const journal::Operation& operation, tvbuff_t* tvb) {
  const char* kind = operation_name(operation.kind);
  tvbuff_t* where = tvb != nullptr ? tvb : frame_octets(canvas.pinfo);
  proto_tree* tree = root(canvas, where, tvb != nullptr ? -1 : 0, "RPC over RDMA");
  proto_item_append_text(canvas.drawn->item, ": %s, %" PRIu64 " octets at 0x%" PRIx64 " of handle 0x%08x", kind,
                         operation.length, operation.offset, operation.handle);
  generated(proto_tree_add_string(tree, hf.operation, nullptr, 0, 0, kind));
  generated(proto_tree_add_uint(tree, hf.handle, nullptr, 0, 0, operation.handle));
  generated(proto_tree_add_uint64(tree, hf.offset, nullptr, 0, 0, operation.offset));
  generated(proto_tree_add_uint(tree, hf.length, nullptr, 0, 0, static_cast<std::uint32_t>(operation.length)));
  generated(proto_tree_add_string(tree, hf.sender, nullptr, 0, 0, name(operation.sender)));
  generated(proto_tree_add_uint(tree, hf.connection, nullptr, 0, 0, operation.connection));
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(operation.connection, operation.exchange);
  if (exchange == nullptr) return;
  generated(proto_tree_add_uint(tree, hf.xid, nullptr, 0, 0, exchange->xid));
  exchange_links(tree, exchange, canvas.drawn->frame);
  if (exchange->offer == 0) frame_field(tree, hf.offered_in, exchange->call.number);
}

void draw_payload(const Canvas& canvas, const journal::Payload& payload) {
  if (payload.stands == journal::Stands::with_message) return;
  const bool something = journal::has_octets(payload);
  if (!something && payload.placing == payload::RpcMessage::Placing::whole) return;
  const char* title = payload.call ? "RPC Call with its chunks" : "RPC Reply with its chunks";
  tvbuff_t* tvb = frame_octets(canvas.pinfo);
  if (something) tvb = as_source(canvas, tvb, payload.octets.data(), payload.octets.size(), payload.wire_length, title);
  proto_tree* tree = root(canvas, tvb, 0, "RPC over RDMA: message with its chunks");
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(payload.connection, payload.exchange);
  if (exchange != nullptr) {
    if (!canvas.drawn->of_frame.messages.has(payload.message)) {  // the XID stands there
      generated(proto_tree_add_uint(tree, hf.xid, nullptr, 0, 0, exchange->xid));
    }
    exchange_links(tree, exchange, canvas.drawn->frame);
  }
  generated(proto_tree_add_uint(tree, hf.connection, nullptr, 0, 0, payload.connection));
  say_what_lacks(tree, payload);
  if (something) give_to_rpc(canvas, payload, tvb);
}

namespace {

proto_tree* private_data_tree(const Canvas& canvas, Side sender, tvbuff_t* tvb, int at, int length) {
  proto_item* item = proto_tree_add_protocol_format(canvas.tree, proto_rpcordma, tvb, at, length,
                                                    "RPC over RDMA: private data of the %s", name(sender));
  return newest(canvas, item, ett.private_data);
}

}  // namespace

proto_tree* draw_private_data(const Canvas& canvas, Side sender, const PrivateDataView& data, tvbuff_t* tvb) {
  if (tvb_captured_length(tvb) < data.offset + 8) return nullptr;
  const auto at = static_cast<int>(data.offset);
  proto_tree* tree = private_data_tree(canvas, sender, tvb, at, 8);
  proto_tree_add_item(tree, hf.cm_format_id, tvb, at, 4, ENC_BIG_ENDIAN);
  proto_tree_add_item(tree, hf.cm_version, tvb, at + 4, 1, ENC_BIG_ENDIAN);
  proto_tree_add_uint(tree, hf.cm_reserved, tvb, at + 5, 1, data.reserved);
  proto_tree_add_boolean(tree, hf.cm_remote_invalidation, tvb, at + 5, 1, data.remote_invalidation ? 1 : 0);
  proto_tree_add_uint(tree, hf.cm_send_size, tvb, at + 6, 1, data.send_size);
  proto_tree_add_uint(tree, hf.cm_receive_size, tvb, at + 7, 1, data.receive_size);
  generated(proto_tree_add_uint(tree, hf.cm_offset, nullptr, 0, 0, data.offset));
  return tree;
}

namespace {

/// None, or one that says nothing (RFC 8797 sections 5.1 and 5.2): of an unknown version, or without its end.
proto_tree* draw_no_private_data(const Canvas& canvas, const journal::Handshake& handshake, tvbuff_t* tvb) {
  const unsigned captured = tvb_captured_length(tvb);
  const wire::Bytes octets(captured == 0 ? nullptr : tvb_get_ptr(tvb, 0, static_cast<int>(captured)), captured);
  const wire::PrivateDataSearch search =
      wire::find_private_data(octets, static_cast<std::size_t>(handshake.area.wire_length));
  const std::uint32_t* hit = nullptr;
  const char* what = "None of RFC 8797: inline thresholds of 1024 octets, no remote invalidation";
  if (search.cut_by_capture) {
    what = "Not captured as a whole: what was announced is not known";
  } else if (search.unknown_version_offset) {
    hit = &*search.unknown_version_offset;
    what =
        "Of a version that is not known: as if there was none, inline thresholds of 1024 octets, no remote "
        "invalidation";
  } else if (search.truncated_offset) {
    hit = &*search.truncated_offset;
    what =
        "Its end is missing on the wire: as if there was none, inline thresholds of 1024 octets, no remote "
        "invalidation";
  }
  const auto at = static_cast<int>(hit != nullptr ? *hit : 0);
  const int left = static_cast<int>(captured) - at;
  proto_tree* tree = private_data_tree(canvas, handshake.sender, tvb, at, hit == nullptr ? 0 : left < 8 ? left : 8);
  if (hit != nullptr) {
    proto_tree_add_item(tree, hf.cm_format_id, tvb, at, 4, ENC_BIG_ENDIAN);
    if (left > 4) proto_tree_add_item(tree, hf.cm_version, tvb, at + 4, 1, ENC_BIG_ENDIAN);
    generated(proto_tree_add_uint(tree, hf.cm_offset, nullptr, 0, 0, *hit));
  }
  generated(proto_tree_add_string(tree, hf.cm_absent, nullptr, 0, 0, what));
  return tree;
}

}  // namespace

void draw_handshake(const Canvas& canvas, const journal::Handshake& handshake, tvbuff_t* area) {
  tvbuff_t* tvb = area != nullptr ? area : of_journal(canvas, handshake.area, "Private data");
  proto_tree* tree = nullptr;
  if (handshake.private_data) {
    const referee::PrivateData& known = *handshake.private_data;
    const PrivateDataView data{known.offset, known.reserved, known.remote_invalidation, known.send_size,
                               known.receive_size};
    tree = draw_private_data(canvas, handshake.sender, data, tvb);
  } else {
    tree = draw_no_private_data(canvas, handshake, tvb);
  }
  const journal::Connection* connection = canvas.drawn->journal->connection(handshake.connection);
  if (tree != nullptr && connection != nullptr) thresholds(tree, connection->id, connection->thresholds);
}

namespace {

constexpr std::size_t most_links = 16;  // of one finding, to its evidence

/// For what is said of the frame as a whole: at the newest item of ours.
proto_tree* for_frame(const Canvas& canvas, tvbuff_t* frame, const char* otherwise) {
  if (canvas.drawn->item == nullptr) root(canvas, frame, 0, otherwise);
  return canvas.drawn->tree;
}

proto_tree* for_finding(const Canvas& canvas, const referee::Finding& finding, tvbuff_t* frame) {
  Drawn* drawn = canvas.drawn;
  if (drawn->finding_places == nullptr) drawn->finding_places = finding_places(drawn, canvas.pinfo->pool);
  const std::uint32_t place = place_of(*drawn->finding_places, finding);
  return place != journal::none ? drawn->trees[place] : for_frame(canvas, frame, "RPC over RDMA: findings");
}

void draw_finding(const Canvas& canvas, const referee::Finding& finding, tvbuff_t* frame) {
  proto_tree* tree = for_finding(canvas, finding, frame);
  const referee::Rule& rule = referee::rule(finding.rule);
  proto_item* item = proto_tree_add_string(tree, hf.finding, nullptr, 0, 0, rule.name.data());
  generated(item);
  generated(proto_tree_add_string(tree, hf.severity, nullptr, 0, 0, referee::text(finding.severity).data()));
  const std::uint64_t primary = finding.frames.front();
  if (primary != canvas.drawn->frame) frame_field(tree, hf.finding_of, primary);
  for (std::size_t i = 0; i < finding.frames.size() && i < most_links; ++i) {
    if (finding.frames[i] != primary) frame_field(tree, hf.evidence_in, finding.frames[i]);
  }
  add_finding(canvas.pinfo, item, static_cast<unsigned>(finding.rule), static_cast<unsigned>(finding.severity),
              finding.message.c_str());
  queue_finding(canvas, finding);
}

void draw_evidence(const Canvas& canvas, const referee::Finding& finding, tvbuff_t* frame) {
  proto_tree* tree = for_finding(canvas, finding, frame);
  generated(proto_tree_add_string(tree, hf.evidence, nullptr, 0, 0, referee::rule(finding.rule).name.data()));
  frame_field(tree, hf.finding_of, finding.frames.front());
}

[[nodiscard]] bool shows(const journal::Journal& journal, const referee::Finding& finding) {
  return journal.concerns(finding) && !left_out(journal, finding.connection);
}

}  // namespace

void draw_repeat(const Canvas& canvas, tvbuff_t* frame) {
  const journal::Journal& journal = *canvas.drawn->journal;
  const journal::Repeat* repeat = journal.repeat(canvas.drawn->frame);
  if (repeat == nullptr || canvas.drawn->judged || journal.connection(repeat->connection) == nullptr) return;
  if (left_out(journal, repeat->connection)) return;
  proto_tree* tree = for_frame(canvas, frame, "RPC over RDMA: a repetition");
  generated(proto_tree_add_string(tree, hf.repeated, nullptr, 0, 0, name(repeat->kind)));
}

void draw_findings(const Canvas& canvas, tvbuff_t* frame) {
  Drawn* drawn = canvas.drawn;
  if (drawn->judged) return;
  drawn->judged = true;
  canvas.pinfo->current_proto = "RPCoRDMA";  // whose expert items they are, and not the post-dissector's
  const journal::Journal& journal = *drawn->journal;
  const auto& here = journal.findings_of(drawn->frame);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const referee::Finding& finding = journal.finding(here[i]);
    if (shows(journal, finding)) draw_finding(canvas, finding, frame);
  }
  // tshark in one pass cannot go back to the offending frame: the finding stands on the one that proves it.
  const auto& proven = journal.proven_in(drawn->frame);
  for (std::size_t i = 0; i < proven.size(); ++i) {
    const referee::Finding& finding = journal.finding(proven[i]);
    if (shows(journal, finding)) draw_finding(canvas, finding, frame);
  }
  const auto& evidence = journal.evidence_in(drawn->frame);
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const referee::Finding& finding = journal.finding(evidence[i]);
    if (std::binary_search(proven.begin(), proven.end(), evidence[i])) continue;
    if (shows(journal, finding)) draw_evidence(canvas, finding, frame);
  }
}

}  // namespace rpcrdma::plugin
