// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/flow.hpp"

#include "referee/rules/table.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/tap.hpp"

extern "C" {

// Wireshark exports these, but installs no header (epan/sequence_analysis.h) that says so. What is declared here stands
// alike in 4.0, 4.4 and 4.6 but for the flags, which are gboolean until 4.0 and bool since.

struct _seq_analysis_item {
  std::uint32_t frame_number;
  address src_addr;
  std::uint16_t port_src;
  address dst_addr;
  std::uint16_t port_dst;
  char* frame_label;
  char* time_str;
  char* comment;
  std::uint16_t conv_num;
  unsigned fg_color;
  unsigned bg_color;
  rpcrdma::plugin::Taken has_color_filter;
  rpcrdma::plugin::Taken display;
  // ... which we do not touch
};

struct _seq_analysis_info {
  const char* name;
  rpcrdma::plugin::Taken any_addr;
  int nconv;
  GQueue* items;
  // ... which we do not touch
};

__attribute__((visibility("default"))) void register_seq_analysis(const char* name, const char* ui_name, int proto_id,
                                                                  const char* tap_listener, unsigned tap_flags,
                                                                  tap_packet_cb tap_func);
__attribute__((visibility("default"))) _seq_analysis_item* sequence_analysis_create_sai_with_addresses(
    packet_info* pinfo, _seq_analysis_info* sainfo);
__attribute__((visibility("default"))) void sequence_analysis_use_color_filter(packet_info* pinfo,
                                                                               _seq_analysis_item* sai);
}

namespace rpcrdma::plugin {

namespace {

/// The newest arrow of this frame gets what is found in it.
void comment_on_newest(const _seq_analysis_info& info, const TapItem& item, packet_info* pinfo) {
  auto* newest = static_cast<_seq_analysis_item*>(g_queue_peek_tail(info.items));
  if (newest == nullptr || newest->frame_number != pinfo->num) return;
  char* with_finding = g_strdup_printf("%s  [%s]", newest->comment, sentence_of(item, pinfo));
  g_free(newest->comment);
  newest->comment = with_finding;
}

[[nodiscard]] char* short_label(const TapItem& item) {
  if (item.kind == TapItem::Kind::operation) return g_strdup(operation_name(item.operation->kind));
  const std::string_view operation = item.message->operation;
  return g_strdup_printf("%s %.*s", message_name(*item.message), static_cast<int>(operation.size()), operation.data());
}

tap_packet_status flow_packet(void* data, packet_info* pinfo, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  auto& info = *static_cast<_seq_analysis_info*>(data);
  if (item.kind == TapItem::Kind::finding) {
    comment_on_newest(info, item, pinfo);
    return TAP_PACKET_REDRAW;
  }
  if (item.kind == TapItem::Kind::operation && !item.operation->starts) return TAP_PACKET_DONT_REDRAW;
  _seq_analysis_item* arrow = sequence_analysis_create_sai_with_addresses(pinfo, &info);
  if (arrow == nullptr) return TAP_PACKET_DONT_REDRAW;
  arrow->frame_number = pinfo->num;
  if (ends_of(item, pinfo).from != &pinfo->src) std::swap(arrow->src_addr, arrow->dst_addr);
  arrow->port_src = arrow->port_dst = static_cast<std::uint16_t>(item.connection);
  arrow->conv_num = static_cast<std::uint16_t>(item.connection);
  arrow->frame_label = short_label(item);
  arrow->comment = g_strdup(sentence_of(item, pinfo));
  sequence_analysis_use_color_filter(pinfo, arrow);
  arrow->display = static_cast<Taken>(true);
  g_queue_push_tail(info.items, arrow);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_flow() { register_seq_analysis("rpcrdma", "NFS over RDMA", proto_rpcrdma, tap_name, 0, flow_packet); }

}  // namespace rpcrdma::plugin
