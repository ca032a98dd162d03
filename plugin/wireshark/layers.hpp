// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark keeps a list of the dissectors that were called for a frame, also of those that are done: at
// gui.max_tree_depth of them it takes the next one for an endless recursion. One frame may show thousands of messages.
#pragma once

#include "wireshark/api.hpp"

namespace rpcrdma::plugin {

[[nodiscard]] inline unsigned layers(const packet_info* pinfo) { return wmem_list_count(pinfo->layers); }

/// What was called since there were `before` of them is done. The first ones stay: they are what frame.protocols shows.
inline void take_off_layers(packet_info* pinfo, unsigned before) {
  if (layers(pinfo) <= prefs.gui_max_tree_depth / 2) return;
  while (layers(pinfo) > before) wmem_list_remove_frame(pinfo->layers, wmem_list_tail(pinfo->layers));
}

/// Wireshark's "Data".
inline void call_data(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  const unsigned before = layers(pinfo);
  call_data_dissector(tvb, pinfo, tree);
  take_off_layers(pinfo, before);
}

}  // namespace rpcrdma::plugin
