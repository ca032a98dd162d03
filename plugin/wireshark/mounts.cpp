// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/mounts.hpp"

#include <cstdio>

#include "wireshark/fields.hpp"
#include "wireshark/preferences.hpp"
#include "wireshark/stat_table.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::MountFacts;

constexpr const char* mounts_tap_name = "rpcrdma_mounts";
int mounts_tap = -1;

// --- the window: only once the whole file has been seen

enum MountColumn : unsigned {
  mount_number,
  mount_client,
  mount_server,
  mount_state,
  mount_sentence,
  mount_attempts,
  mount_established,
  mount_refused,
  mount_unanswered,
  mount_columns
};

stat_tap_table_item mount_fields[mount_columns] = {
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Mount", "%5u"},         {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Client", "%-15s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Server", "%-15s"},     {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "State", "%-8s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "What happened", "%s"}, {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Attempts", "%8u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Established", "%11u"},  {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Refused", "%7u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Unanswered", "%10u"}};

InitResult mounts_init(stat_tap_table_ui* ui) { return open_table(ui, "NFS/RDMA mounts"); }

void add_row(stat_tap_table* table, const MountFacts& mount) {
  const stat_tap_table_item_type items[mount_columns] = {number(mount.id),
                                                         text(mount.client.c_str()),
                                                         text(mount.server.c_str()),
                                                         text(name(mount.state).data()),
                                                         text(mount.sentence.c_str()),
                                                         number(static_cast<unsigned>(mount.attempts.made)),
                                                         number(static_cast<unsigned>(mount.attempts.established)),
                                                         number(static_cast<unsigned>(mount.attempts.refused)),
                                                         number(static_cast<unsigned>(mount.attempts.unanswered))};
  stat_tap_init_table_row(table, table->num_elements, mount_columns, items);
}

tap_packet_status mounts_packet(void* data, packet_info*, epan_dissect_t*, const void*, tap_flags_t) {
  const journal::Journal* journal = finished_journal();
  stat_tap_table* table = only_table(data);
  if (journal == nullptr || table->num_elements != 0) return TAP_PACKET_DONT_REDRAW;
  for (const MountFacts& mount : journal->mounts()) add_row(table, mount);
  return TAP_PACKET_REDRAW;
}

// --- text

void print(const MountFacts& mount) {
  std::printf("%u  client %s, server %s: %s; %" PRIu64 " attempt%s, %" PRIu64 " established, %" PRIu64
              " refused, %" PRIu64 " unanswered\n   %s\n",
              mount.id, mount.client.c_str(), mount.server.c_str(), name(mount.state).data(), mount.attempts.made,
              mount.attempts.made == 1 ? "" : "s", mount.attempts.established, mount.attempts.refused,
              mount.attempts.unanswered, mount.sentence.c_str());
  if (!mount.next.empty()) std::printf("   %s\n", mount.next.c_str());
}

void print_mounts(void*) {
  // tshark asks for it once, at its end, which it does not announce in one pass; the window by the clock, while frames
  // come.
  if (!in_window()) end_of_pass();
  const journal::Journal* journal = finished_journal();
  std::printf("\nNFS over RDMA mounts:\n");
  const char* nothing = given_back()                ? "not looked at: everything is left to Wireshark's own dissector\n"
                        : journal == nullptr        ? "not known: not all frames have been looked at\n"
                        : journal->mounts().empty() ? "none\n"
                                                    : nullptr;
  if (nothing != nullptr) {
    std::printf("%s", nothing);
  } else {
    for (const MountFacts& mount : journal->mounts()) print(mount);
  }
  std::fflush(stdout);  // the window goes on
}

tap_packet_status no_packet(void*, packet_info*, epan_dissect_t*, const void*, tap_flags_t) {
  return TAP_PACKET_DONT_REDRAW;
}

/// void, and bool since Wireshark 4.6.
using StartResult = std::invoke_result_t<stat_tap_init_cb, const char*, void*>;

StartResult start_printing(const char*, void*) {
  static int listener = 0;  // Wireshark tells listeners apart by this
  GString* wrong =
      register_tap_listener(mounts_tap_name, &listener, nullptr, 0, nullptr, no_packet, print_mounts, nullptr);
  const bool good = wrong == nullptr;
  if (!good) {
    g_warning("rpcrdma: %s", wrong->str);
    g_string_free(wrong, TRUE);
  }
  return static_cast<StartResult>(good);
}

}  // namespace

void register_mounts() {
  mounts_tap = register_tap(mounts_tap_name);
  static stat_tap_table_ui table{};
  describe_table(table, "NFS over RDMA mounts", mounts_tap_name, "rpcrdma,table-of-mounts", mount_fields);
  table.stat_tap_init_cb = mounts_init;
  table.packet_func = mounts_packet;
  table.stat_tap_reset_table_cb = empty_table<free_item>;
  table.stat_tap_free_table_item_cb = free_item;
  register_stat_tap_table_ui(&table);
  static stat_tap_ui printed{};
  printed.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
  printed.cli_string = "rpcrdma,mounts";
  printed.tap_init_cb = start_printing;
  register_stat_tap_ui(&printed, nullptr);
}

bool mounts_shown() { return have_tap_listener(mounts_tap); }

void queue_mounts(const Canvas& canvas) {
  if (mounts_shown()) tap_queue_packet(mounts_tap, canvas.pinfo, canvas.drawn);
}

}  // namespace rpcrdma::plugin
