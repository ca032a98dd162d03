// SPDX-License-Identifier: GPL-2.0-or-later
// From notes to trees. No object with a destructor lives in these functions: any call into Wireshark may leave them by
// longjmp.
#pragma once

#include "wireshark/session.hpp"

namespace rpcrdma::plugin {

/// One dissection at one place.
struct Canvas {
  packet_info* pinfo;
  proto_tree* tree;
  Drawn* drawn;
};

// What the field calls them. Of static storage.
[[nodiscard]] const char* message_name(referee::MessageSeen::Kind kind);
[[nodiscard]] const char* message_name(const journal::Message& message);
[[nodiscard]] const char* operation_name(referee::OperationSeen::Kind kind);

/// `tvb` holds the message's octets, or is null: then a data source is made of the journal's copy.
void draw_message(const Canvas& canvas, const journal::Message& message, tvbuff_t* tvb);
void draw_unplaced(const Canvas& canvas, const journal::Unplaced& message, tvbuff_t* tvb);
void draw_part(const Canvas& canvas, const journal::Part& part, tvbuff_t* tvb);
void draw_operation(const Canvas& canvas, const journal::Operation& operation, tvbuff_t* tvb);
void draw_payload(const Canvas& canvas, const journal::Payload& payload);

/// RFC 8797 section 4, decoded.
struct PrivateDataView {
  std::uint32_t offset;
  std::uint8_t reserved;
  bool remote_invalidation;
  std::uint32_t send_size;  ///< octets
  std::uint32_t receive_size;
};
/// `tvb`: the consumer's private data. Null when they are not all there.
proto_tree* draw_private_data(const Canvas& canvas, trace::Side sender, const PrivateDataView& data, tvbuff_t* tvb);
void draw_handshake(const Canvas& canvas, const journal::Handshake& handshake, tvbuff_t* area);
/// The header of a whole message that was sent, or captured, before: its octets speak for themselves. Its RPC message
/// is given once, with the first one, if there is another. False: it is none.
bool draw_repeated_message(const Canvas& canvas, const journal::Repeat& repeat, tvbuff_t* tvb);
/// What the frame repeats of an earlier one.
void draw_repeat(const Canvas& canvas, tvbuff_t* frame);
void draw_findings(const Canvas& canvas, tvbuff_t* frame);

/// The RPC-over-RDMA header (any version). Returns its length, or how far it could be read.
int draw_header(packet_info* pinfo, proto_tree* tree, tvbuff_t* tvb);
int draw_header_v2(proto_tree* tree, tvbuff_t* tvb);

/// The next message of a frame is told behind the one before it.
void begin_info(const Canvas& canvas);
/// What it says of this one is complete.
void end_info(const Canvas& canvas);

/// Gives an RPC message to Wireshark's dissectors.
void give_to_rpc(const Canvas& canvas, const journal::Payload& payload, tvbuff_t* tvb);
/// What stands behind a header of which the referee has nothing to say: it may be one.
void give_unjudged_to_rpc(const Canvas& canvas, std::uint32_t connection, trace::Side sender, std::uint32_t xid,
                          tvbuff_t* tvb);

/// One whose connection is not known yet.
void give_unplaced_to_rpc(const Canvas& canvas, const journal::Unplaced& message, tvbuff_t* tvb);

void find_rpc();  ///< at handoff

}  // namespace rpcrdma::plugin
