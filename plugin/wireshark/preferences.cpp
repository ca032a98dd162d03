// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/preferences.hpp"

#include <cmath>

#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::Profile;

constexpr int engine_plugin = 0;
constexpr int engine_builtin = 1;
constexpr std::size_t most_ports = 256;
constexpr double most_seconds = 1e9;

int engine = engine_plugin;
range_t* ports = nullptr;
int profile = static_cast<int>(Profile::automatic);
const char* pull_timeout = "60";  // seconds, as the program takes them: Wireshark has no preference for decimals
const char* wait_seconds = "5";
Taken check_crc = static_cast<Taken>(false);

/// `otherwise` where the text is no number of seconds.
[[nodiscard]] referee::TimeNs seconds(const char* text, referee::TimeNs otherwise) {
  char* end = nullptr;
  const double value = g_ascii_strtod(text, &end);
  if (end == text || *end != 0 || !(value >= 0 && value <= most_seconds)) {
    g_warning("rpcrdma: \"%s\" is not a number of seconds from 0 to 1000000000", text);
    return otherwise;
  }
  return std::llround(value * 1e9);
}

}  // namespace

void register_preferences() {
  module_t* module = prefs_register_protocol(proto_rpcrdma, nullptr);
  static const enum_val_t engines[] = {{"plugin", "This plugin", engine_plugin},
                                       {"builtin", "Wireshark's own dissector", engine_builtin},
                                       {nullptr, nullptr, 0}};
  prefs_register_enum_preference(module, "engine", "RPC-over-RDMA is decoded by",
                                 "Wireshark's own dissector knows neither findings nor private data", &engine, engines,
                                 false);
  ports = range_empty(wmem_epan_scope());
  prefs_register_range_preference(module, "port", "Further service ports",
                                  "Beside 20049: they tell which side is the server, and where to look for iWARP "
                                  "connections whose beginning was not captured",
                                  &ports, 65535);
  static const enum_val_t profiles[] = {
      {"auto", "Where a Reply offers a Read chunk", static_cast<int>(Profile::automatic)},
      {"rfc8166", "Never", static_cast<int>(Profile::rfc8166)},
      {"reliable-reply", "Always", static_cast<int>(Profile::reliable_reply)},
      {nullptr, nullptr, 0}};
  prefs_register_enum_preference(module, "profile", "Pull completion is judged",
                                 "Whether a client that has read an offered chunk owes an RDMA_DONE", &profile,
                                 profiles, false);
  prefs_register_string_preference(module, "pull_timeout", "An offered chunk may wait for its RDMA_DONE (seconds)",
                                   "After that long it is missing", &pull_timeout);
  prefs_register_string_preference(module, "wait", "The shortest wait that is a symptom (seconds)",
                                   "A Call without an answer for that long hangs", &wait_seconds);
  prefs_register_bool_preference(module, "check_crc", "Verify ICRC and MPA CRC of every packet",
                                 "Else only those of the first packets of each connection", &check_crc);
}

bool given_back() { return engine == engine_builtin || !proto_is_protocol_enabled(find_protocol_by_id(proto_rpcrdma)); }

journal::Options options() {
  journal::Options chosen;
  chosen.referee.profile = static_cast<Profile>(profile);
  chosen.referee.pull_timeout = seconds(pull_timeout, chosen.referee.pull_timeout);
  chosen.referee.wait = seconds(wait_seconds, chosen.referee.wait);
  chosen.trace.check_crc = check_crc != 0;
  std::vector<std::uint16_t>& all = chosen.referee.service_ports;
  for (unsigned i = 0; ports != nullptr && i < ports->nranges; ++i) {
    for (std::uint32_t port = ports->ranges[i].low; port <= ports->ranges[i].high && all.size() < most_ports; ++port) {
      if (port != 0) all.push_back(static_cast<std::uint16_t>(port));
    }
  }
  chosen.trace.service_ports = all;
  return chosen;
}

}  // namespace rpcrdma::plugin
