// SPDX-License-Identifier: GPL-2.0-or-later
// The RPC message, once and whole, to Wireshark's own dissectors.
#include "wireshark/draw.hpp"
#include "wireshark/exports.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/layers.hpp"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wdeprecated-volatile"  // what TRY and CATCH are made of
#endif

namespace rpcrdma::plugin {

namespace {

using Placing = payload::RpcMessage::Placing;

dissector_handle_t rpc_handle = nullptr;

/// What a call of the RPC dissector changes, or must not see.
struct Saved {
  std::uint32_t frame;
  unsigned in_error;
  nstime_t time;
  address from;
  address to;
  port_type type;
  std::uint32_t source;
  std::uint32_t destination;
  struct conversation_element* elements;
  decltype(packet_info::use_conv_addr_port_endpoints) by_endpoints;
};

/// Which way an RPC message goes.
struct Way {
  std::uint32_t connection;
  bool from_client;
  bool client_calls;
  std::uint32_t frame;  ///< Wireshark's number of the one whose message it is
  std::int64_t time;    ///< when it counts as sent; 0: the frame's
  bool of_frame;        ///< false: its fate became known in a frame that says something else in the list
  bool counted;         ///< false: Wireshark's own statistics are not to hear of it
  Placing placing;
};

/// RPC joins Call and Reply by conversation. Ours is one for each connection and direction of Calls: ports that no
/// handshake is needed for, that no later connection uses again, and where the same XID of both sides does not meet.
/// The frame in which a message is shown need not go the message's way: one address stands for both. And where it had
/// to wait, RPC remembers it by its own frame, in which it is shown once the file is read.
void enter(packet_info* pinfo, const Way& way) {
  const std::uint32_t base = 0x40000000U + way.connection * 4U + (way.client_calls ? 0U : 2U);
  pinfo->srcport = base + (way.from_client ? 0U : 1U);
  pinfo->destport = base + (way.from_client ? 1U : 0U);
  const address one = cmp_address(&pinfo->src, &pinfo->dst) < 0 ? pinfo->src : pinfo->dst;
  pinfo->src = one;
  pinfo->dst = one;
  pinfo->use_conv_addr_port_endpoints = false;
  pinfo->conv_elements = nullptr;
  pinfo->num = way.frame;
  if (!way.counted) pinfo->flags.in_error_pkt = 1;  // as what ICMP quotes: listeners leave it out
  if (way.time != 0) {  // the service time of a Call whose data were read runs from the Call
    pinfo->abs_ts.secs = static_cast<time_t>(way.time / 1'000'000'000);
    pinfo->abs_ts.nsecs = static_cast<int>(way.time % 1'000'000'000);
  }
}

/// A Call that is shown in the frame of its Reply: RPC keeps one record of both, and a listener that sees it twice at
/// the end of the frame takes it for two Replies.
[[nodiscard]] bool answered_here(const Drawn* drawn, const journal::Payload& call) {
  return call.call && drawn->of_frame.answered.has(journal::exchange_key(call.connection, call.exchange));
}

[[nodiscard]] const char* what_lacks(Placing placing) {
  switch (placing) {
    case Placing::missing:
      return " [octets of a chunk are missing]";
    case Placing::reduced:
      return " [without the written octets]";
    case Placing::torn:
      return " [a part of the message is missing]";
    case Placing::whole:
      break;
  }
  return "";
}

void call_rpc(const Canvas& canvas, const Way& way, tvbuff_t* tvb) {
  packet_info* pinfo = canvas.pinfo;
  if (rpc_handle == nullptr) {
    call_data(tvb, pinfo, canvas.tree);
    return;
  }
  const Saved saved{pinfo->num,           pinfo->flags.in_error_pkt,
                    pinfo->abs_ts,        pinfo->src,
                    pinfo->dst,           pinfo->ptype,
                    pinfo->srcport,       pinfo->destport,
                    pinfo->conv_elements, pinfo->use_conv_addr_port_endpoints};
  const journal::Connection* connection = canvas.drawn->journal->connection(way.connection);
  pinfo->ptype = connection != nullptr && connection->transport == trace::Transport::iwarp ? PT_IWARP_MPA : PT_IBQP;
  enter(pinfo, way);
  if (way.of_frame && way.counted) begin_info(canvas);
  const unsigned before = layers(pinfo);
  const auto writable = col_get_writable(pinfo->cinfo, -1);
  if (!way.of_frame) col_set_writable(pinfo->cinfo, -1, FALSE);
  TRY { call_dissector(rpc_handle, tvb, pinfo, canvas.tree); }
  CATCH_BOUNDS_AND_DISSECTOR_ERRORS {
    // Of a torn message not even the length is known.
    const bool lacks =
        EXCEPT_CODE == BoundsError || (EXCEPT_CODE == ReportedBoundsError && way.placing == Placing::torn);
    if (way.placing != Placing::whole && lacks) {
      // Not the snap length cut it, as Wireshark would say, and its sender made no mistake.
      col_append_str(pinfo->cinfo, COL_INFO, what_lacks(way.placing));
    } else {
      show_exception(tvb, pinfo, canvas.tree, EXCEPT_CODE, GET_MESSAGE);
    }
  }
  FINALLY {
    take_off_layers(pinfo, before);
    pinfo->num = saved.frame;
    pinfo->flags.in_error_pkt = saved.in_error & 1U;
    pinfo->abs_ts = saved.time;
    pinfo->src = saved.from;
    pinfo->dst = saved.to;
    pinfo->ptype = saved.type;
    pinfo->srcport = saved.source;
    pinfo->destport = saved.destination;
    pinfo->conv_elements = saved.elements;
    pinfo->use_conv_addr_port_endpoints = saved.by_endpoints;
    if (!way.of_frame) col_set_writable(pinfo->cinfo, -1, writable);
  }
  ENDTRY;
  if (way.of_frame) end_info(canvas);
}

}  // namespace

void begin_info(const Canvas& canvas) {
  if (!canvas.drawn->told) return;
  canvas.drawn->told = false;
  col_clear(canvas.pinfo->cinfo, COL_INFO);  // only what stands behind the fence
  col_append_str(canvas.pinfo->cinfo, COL_INFO, "; ");
  col_set_fence(canvas.pinfo->cinfo, COL_INFO);
}

void end_info(const Canvas& canvas) {
  if (canvas.drawn->told) return;
  canvas.drawn->told = true;
  col_set_fence(canvas.pinfo->cinfo, COL_INFO);
}

void find_rpc() { rpc_handle = find_dissector_add_dependency("rpc", proto_rpcordma); }

void give_to_rpc(const Canvas& canvas, const journal::Payload& payload, tvbuff_t* tvb) {
  queue_rpc(canvas, payload, tvb);
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(payload.connection, payload.exchange);
  const bool from_client = payload.sender == trace::Side::active;
  const bool client_calls =
      exchange != nullptr ? exchange->requester == trace::Side::active : payload.call == from_client;
  const bool counted = !answered_here(canvas.drawn, payload);
  if (!counted && exchange != nullptr) {  // and its line is not written either
    begin_info(canvas);
    col_add_fstr(canvas.pinfo->cinfo, COL_INFO, "RPC Call XID 0x%08x", exchange->xid);
  }
  const bool waited = payload.home.number != canvas.drawn->frame;
  const std::uint32_t frame = waited ? shown_number(payload.home.number) : 0;
  const std::int64_t time = payload.time == 0 && waited ? payload.home.time : payload.time;
  call_rpc(canvas,
           {payload.connection, from_client, client_calls, frame != 0 ? frame : canvas.pinfo->num, time,
            canvas.drawn->of_frame.carries_rdma, counted, payload.placing},
           tvb);
}

void give_unjudged_to_rpc(const Canvas& canvas, std::uint32_t connection, trace::Side sender, std::uint32_t xid,
                          tvbuff_t* tvb) {
  const bool rpc = tvb_captured_length(tvb) >= 8 && tvb_get_ntohl(tvb, 0) == xid && tvb_get_ntohl(tvb, 4) <= 1;
  if (!rpc) {
    call_data(tvb, canvas.pinfo, canvas.tree);
    return;
  }
  const bool from_client = sender == trace::Side::active;
  const bool call = tvb_get_ntohl(tvb, 4) == 0;
  call_rpc(canvas, {connection, from_client, call == from_client, canvas.pinfo->num, 0, true, true, Placing::whole},
           tvb);
}

/// A conversation of its own for each way that they go: with whom RPC would have to join them is not known either, and
/// they are told once more when it is. Replies would be counted twice then.
void give_unplaced_to_rpc(const Canvas& canvas, const journal::Unplaced& message, tvbuff_t* tvb) {
  constexpr std::uint32_t behind_connections = 0x10000000;
  const bool call = message.rpc == journal::Unplaced::Rpc::call;
  call_rpc(canvas,
           {behind_connections + message.flow % behind_connections, true, call, canvas.pinfo->num, 0, true, call,
            Placing::whole},
           tvb);
}

}  // namespace rpcrdma::plugin
