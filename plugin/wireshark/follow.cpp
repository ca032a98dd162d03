// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/follow.hpp"

#include <cstring>

#include "wireshark/fields.hpp"
#include "wireshark/tap.hpp"

namespace rpcrdma::plugin {

namespace {

char* filter_of(unsigned connection) { return g_strdup_printf("rpcordma.connection == %u", connection); }

/// Of the selected packet. Null: it belongs to no connection.
char* packet_filter(epan_dissect_t*, packet_info* pinfo, unsigned* stream, unsigned* sub_stream) {
  const Drawn* drawn = look(pinfo);
  if (drawn == nullptr || drawn->notes == 0) return nullptr;
  const journal::Journal& journal = *drawn->journal;
  const std::uint32_t connection = journal.connection_of(journal.note(journal.first(drawn->frame)));
  if (connection == 0) return nullptr;
  if (stream != nullptr) *stream = connection;
  if (sub_stream != nullptr) *sub_stream = 0;
  return filter_of(connection);
}

char* index_filter(unsigned stream, unsigned) { return filter_of(stream); }

/// Where other protocols have ports, there stands the connection.
char* address_filter(address*, address*, int connection, int) { return filter_of(static_cast<unsigned>(connection)); }

char* port_text(wmem_allocator_t* allocator, unsigned port) { return wmem_strdup_printf(allocator, "%u", port); }

tap_packet_status follow_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  auto* info = static_cast<follow_info_t*>(data);
  if (item.kind == TapItem::Kind::finding || item.connection == 0) return TAP_PACKET_DONT_REDRAW;
  if (item.kind == TapItem::Kind::operation && !item.operation->starts) return TAP_PACKET_DONT_REDRAW;
  const bool client = sender_of(item) == trace::Side::active;
  if (info->client_port == 0) {
    const Ends ends = ends_of(item, pinfo);
    copy_address(&info->client_ip, client ? ends.from : ends.to);
    copy_address(&info->server_ip, client ? ends.to : ends.from);
    info->client_port = info->server_port = item.connection;
  }
  if (info->client_port != item.connection) return TAP_PACKET_DONT_REDRAW;  // of another that shares the frame
  char* line = wmem_strdup_printf(pinfo->pool, "frame %u  %s\n", pinfo->num, sentence_of(item, pinfo));
  auto* record = g_new0(follow_record_t, 1);
  record->is_server = !client;
  record->packet_num = pinfo->num;
  record->abs_ts = pinfo->abs_ts;
  record->data = g_byte_array_new();
  g_byte_array_append(record->data, reinterpret_cast<const std::uint8_t*>(line),
                      static_cast<unsigned>(std::strlen(line)));
  info->bytes_written[client ? 0 : 1] += record->data->len;
  info->payload = g_list_prepend(info->payload, record);
  return TAP_PACKET_DONT_REDRAW;
}

}  // namespace

void register_follower() {
#if RPCRDMA_WIRESHARK_MINOR >= 2
  register_follow_stream(proto_rpcrdma, tap_name, packet_filter, index_filter, address_filter, port_text, follow_packet,
                         nullptr, nullptr);
#else
  register_follow_stream(proto_rpcrdma, tap_name, packet_filter, index_filter, address_filter, port_text,
                         follow_packet);
#endif
}

}  // namespace rpcrdma::plugin
