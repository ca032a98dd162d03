// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's headers, in the one order that works: those that know C++ first, the others as C.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <epan/packet.h>
// (packet.h brings glib; nothing may be first seen inside extern "C")
#include <epan/column-utils.h>
#include <epan/conversation.h>
#include <epan/conversation_table.h>
#include <epan/expert.h>
#include <epan/export_object.h>
#include <epan/follow.h>
#include <epan/plugin_if.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/stat_tap_ui.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <epan/to_str.h>
#include <wiretap/wtap.h>
#include <wsutil/crc32.h>

extern "C" {
#include <epan/dissectors/packet-infiniband.h>
#include <epan/dissectors/packet-iwarp-ddp-rdmap.h>
#include <epan/exceptions.h>
#include <epan/show_exception.h>
}
#pragma GCC diagnostic pop

#include <cstdint>
#include <type_traits>

namespace rpcrdma::plugin {

/// What dissectors, flags and switches are: gboolean until Wireshark 4.0, bool since 4.2.
using Taken = std::invoke_result_t<heur_dissector_t, tvbuff_t*, packet_info*, proto_tree*, void*>;

/// Whoever saves the packet's frame saves this one with it. Wireshark is told the packet, or in later versions its
/// frame.
template <class Told>
void needs_frame(void (*mark)(Told*, std::uint32_t), packet_info* pinfo, std::uint32_t frame) {
  if constexpr (std::is_same_v<Told, packet_info>) {
    mark(pinfo, frame);
  } else {
    mark(pinfo->fd, frame);
  }
}

}  // namespace rpcrdma::plugin
