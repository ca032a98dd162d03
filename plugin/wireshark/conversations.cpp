// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/conversations.hpp"

#include <algorithm>
#include <climits>

#include "wireshark/fields.hpp"
#include "wireshark/tap.hpp"

namespace rpcrdma::plugin {

namespace {

/// Of the types whose ports Wireshark writes into filters, the one whose ports have no names of their own.
constexpr conversation_type numbered = CONVERSATION_NCP;

const char* address_field(const address& of, conv_filter_type_e filter) {
  static const char* const ipv4[] = {"ip.src", "ip.dst", "ip.addr"};
  static const char* const ipv6[] = {"ipv6.src", "ipv6.dst", "ipv6.addr"};
  const std::size_t which = filter == CONV_FT_SRC_ADDRESS ? 0 : filter == CONV_FT_DST_ADDRESS ? 1 : 2;
  switch (of.type) {
    case AT_IPv4:
      return ipv4[which];
    case AT_IPv6:
      return ipv6[which];
    default:  // GIDs and LIDs have fields of different types, and none that both ends share
      return CONV_FILTER_INVALID;
  }
}

const char* filter_field(const address& of, conv_filter_type_e filter) {
  switch (filter) {
    case CONV_FT_SRC_PORT:
    case CONV_FT_DST_PORT:
    case CONV_FT_ANY_PORT:
      return "rpcordma.connection";
    case CONV_FT_SRC_ADDRESS:
    case CONV_FT_DST_ADDRESS:
    case CONV_FT_ANY_ADDRESS:
      break;
  }
  return address_field(of, filter);
}

const char* conversation_filter(conv_item_t* item, conv_filter_type_e filter) {
  return filter_field(item->src_address, filter);
}
const char* endpoint_filter(endpoint_item_t* item, conv_filter_type_e filter) {
  return filter_field(item->myaddress, filter);
}

[[nodiscard]] bool counts(const TapItem& item) { return item.kind != TapItem::Kind::finding && item.connection != 0; }
[[nodiscard]] int octets(const TapItem& item) {
  return static_cast<int>(std::min<std::uint64_t>(octets_of(item), INT_MAX));
}

tap_packet_status conversation_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                                      tap_flags_t flags) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  if (!counts(item)) return TAP_PACKET_DONT_REDRAW;
  static ct_dissector_info_t info{conversation_filter};
  auto* table = static_cast<conv_hash_t*>(data);
  table->flags = flags;
  const Ends ends = ends_of(item, pinfo);
  add_conversation_table_data_with_conv_id(table, ends.from, ends.to, item.connection, item.connection, item.connection,
                                           1, octets(item), &pinfo->rel_ts, &pinfo->abs_ts, &info, numbered);
  return TAP_PACKET_REDRAW;
}

tap_packet_status endpoint_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped,
                                  tap_flags_t flags) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  if (!counts(item)) return TAP_PACKET_DONT_REDRAW;
  static et_dissector_info_t info{endpoint_filter};
  auto* table = static_cast<conv_hash_t*>(data);
  table->flags = flags;
  const Ends ends = ends_of(item, pinfo);
  add_endpoint_table_data(table, ends.from, item.connection, true, 1, octets(item), &info, numbered);
  add_endpoint_table_data(table, ends.to, item.connection, false, 1, octets(item), &info, numbered);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_conversations() {
  register_conversation_table(proto_rpcrdma, false, conversation_packet, endpoint_packet);
}

}  // namespace rpcrdma::plugin
