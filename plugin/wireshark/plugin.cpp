// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark looks for when it loads the plugin.
#include "wireshark/conversations.hpp"
#include "wireshark/exports.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/flow.hpp"
#include "wireshark/follow.hpp"
#include "wireshark/hooks.hpp"
#include "wireshark/mounts.hpp"
#include "wireshark/preferences.hpp"
#include "wireshark/session.hpp"
#include "wireshark/statistics.hpp"
#include "wireshark/tap.hpp"

namespace {

bool builtin = false;

void register_protoinfo() {
  using namespace rpcrdma::plugin;
  proto_rpcrdma = proto_register_protocol("NFS over RDMA analysis", "RPCRDMA", "rpcrdma");
  builtin = register_fields();
  register_preferences();
  register_taps();
  register_statistics();
  register_mounts();
  register_conversations();
  register_follower();
  register_flow();
  register_exports();
  register_init_routine(open_session);
  register_cleanup_routine(close_session);
  register_postseq_cleanup_routine(end_of_pass);
}

void register_handoff() { rpcrdma::plugin::install_hooks(builtin); }

}  // namespace

extern "C" {

#define RPCRDMA_EXPORT __attribute__((visibility("default")))

RPCRDMA_EXPORT extern const char plugin_version[];
RPCRDMA_EXPORT extern const int plugin_want_major;
RPCRDMA_EXPORT extern const int plugin_want_minor;
const char plugin_version[] = RPCRDMA_VERSION;
const int plugin_want_major = RPCRDMA_WIRESHARK_MAJOR;
const int plugin_want_minor = RPCRDMA_WIRESHARK_MINOR;

RPCRDMA_EXPORT void plugin_register() {
  static proto_plugin plugin;
  plugin.register_protoinfo = register_protoinfo;
  plugin.register_handoff = register_handoff;
  proto_register_plugin(&plugin);
}

/// Since Wireshark 4.4: a dissector plugin.
RPCRDMA_EXPORT unsigned plugin_describe() { return 1; }
}
