// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark keeps a list of a frame's data sources, of which the frame's own octets are the first, and walks through it
// for each one that it adds. One frame may have one for each of thousands of messages.
#pragma once

#include "wireshark/api.hpp"

namespace rpcrdma::plugin {

/// The frame's own octets. There has to be a data source.
[[nodiscard]] inline tvbuff_t* frame_octets(const packet_info* pinfo) {
  return get_data_source_tvb(static_cast<struct data_source*>(pinfo->data_src->data));
}

/// Adds a data source at the end. `newest`: where the last one stands that was added so, null before the first; what
/// others have added since stands behind that.
inline void append_data_source(packet_info* pinfo, tvbuff_t* tvb, const char* title, GSList*& newest) {
  GSList*& all = pinfo->data_src;
  GSList* const others = all;
  all = nullptr;
  add_new_data_source(pinfo, tvb, title);
  GSList* const added = all;
  all = others != nullptr ? others : added;
  if (others != nullptr) g_slist_last(newest != nullptr ? newest : others)->next = added;
  newest = added;
}

}  // namespace rpcrdma::plugin
