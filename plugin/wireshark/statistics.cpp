// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/statistics.hpp"

#include <array>

#include "referee/rules/table.hpp"
#include "wireshark/stat_table.hpp"
#include "wireshark/tap.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::MessageSeen;

// --- -z rpcrdma,tree

int node_messages = -1;
int node_headers = -1;
int node_chunks = -1;
int node_sizes = -1;
int node_operations = -1;
int node_findings = -1;

void tree_init(stats_tree* st) {
  node_messages = stats_tree_create_node(st, "Messages", 0, STAT_DT_INT, 1);
  node_headers = stats_tree_create_node(st, "Header types", 0, STAT_DT_INT, 1);
  node_chunks = stats_tree_create_node(st, "Chunks", 0, STAT_DT_INT, 1);
  node_sizes = stats_tree_create_node(st, "Size of the Send against the inline threshold", 0, STAT_DT_INT, 1);
  node_operations = stats_tree_create_node(st, "RDMA operations (packets)", 0, STAT_DT_INT, 1);
  node_findings = stats_tree_create_node(st, "Findings", 0, STAT_DT_INT, 1);
}

void tick(stats_tree* st, const char* node, int parent) {
  (void)stats_tree_manip_node_int(MN_INCREASE, st, node, parent, 0, 1);
}
void tick_under(stats_tree* st, const char* parent_name, int parent, const char* node) {
  (void)stats_tree_manip_node_int(MN_INCREASE, st, parent_name, 0, 1, 1);
  tick(st, node, parent);
}

[[nodiscard]] const char* size_class(const TapItem& item) {
  if (item.facts == nullptr) return "threshold not known";
  const auto& limit = item.message->sender == trace::Side::active ? item.message->thresholds.client_to_server
                                                                  : item.message->thresholds.server_to_client;
  if (!limit) return "threshold not known";
  const std::uint64_t percent = item.message->octets.wire_length * 100 / (*limit == 0 ? 1 : *limit);
  if (item.message->octets.wire_length > *limit) return "above it";
  if (percent > 75) return "76 % to 100 %";
  if (percent > 50) return "51 % to 75 %";
  if (percent > 25) return "26 % to 50 %";
  return "up to 25 %";
}

void tree_message(stats_tree* st, const TapItem& item) {
  const journal::Message& message = *item.message;
  // A Call or a Reply is one message, in however many pieces it comes.
  const char* what = message.kind == MessageSeen::Kind::other ? "Other" : message_name(message.kind);
  tick_under(st, "Messages", node_messages, message.continued ? "Further pieces (version 2)" : what);
  const std::string_view proc = message.version == 1 ? wire::proc_name(message.proc) : std::string_view{};
  const char* header = message.version == 2 ? "version 2" : proc.empty() ? "unknown" : proc.data();
  tick_under(st, "Header types", node_headers, header);
  if (message.read_segments != 0) tick_under(st, "Chunks", node_chunks, "Messages with a Read list");
  if (message.write_chunks != 0) tick_under(st, "Chunks", node_chunks, "Messages with a Write list");
  if (message.reply_chunk) tick_under(st, "Chunks", node_chunks, "Messages with a Reply chunk");
  tick_under(st, "Size of the Send against the inline threshold", node_sizes, size_class(item));
}

tap_packet_status tree_packet(stats_tree* st, packet_info*, epan_dissect_t*, const void* data, tap_flags_t) {
  const auto& item = *static_cast<const TapItem*>(data);
  switch (item.kind) {
    case TapItem::Kind::message:
      tree_message(st, item);
      break;
    case TapItem::Kind::operation:
      tick_under(st, "RDMA operations (packets)", node_operations, operation_name(item.operation->kind));
      break;
    case TapItem::Kind::finding:
      tick_under(st, "Findings", node_findings, referee::rule(item.finding->rule).name.data());
      break;
  }
  return TAP_PACKET_REDRAW;
}

// --- -z rpcrdma,connections

enum Column : unsigned {
  col_connection,
  col_client,
  col_server,
  col_transport,
  col_to_server,
  col_to_client,
  col_granted,
  col_calls,
  col_replies,
  col_errors,
  col_read,
  col_written,
  col_average,
  col_longest,
  columns
};

stat_tap_table_item table_fields[columns] = {{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Connection", "%10u"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Client", "%-15s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Server", "%-15s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Transport", "%-10s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "To server", "%9s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "To client", "%9s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "Credits", "%7s"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Calls", "%9u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Replies", "%9u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Errors", "%6u"},
                                             {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Octets read", "%14.0f"},
                                             {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Octets written", "%14.0f"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "Average ms", "%10s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "Longest ms", "%10s"}};

InitResult table_init(stat_tap_table_ui* ui) { return open_table(ui, "NFS/RDMA connections"); }

void set_number(const stat_tap_table* table, unsigned row, unsigned column, const std::optional<std::uint32_t>& value) {
  char buffer[16] = "?";
  if (value) g_snprintf(buffer, sizeof buffer, "%u", *value);
  set_text(table, row, column, buffer);
}

/// As wide as the column: Wireshark sorts texts.
void set_milliseconds(const stat_tap_table* table, unsigned row, unsigned column, double value) {
  char buffer[32];
  g_snprintf(buffer, sizeof buffer, "%10.3f", value);
  set_text(table, row, column, buffer);
}

[[nodiscard]] const char* transport_name(trace::Transport transport) {
  static const char* const names[] = {"RoCEv2", "RoCEv1", "InfiniBand", "iWARP"};
  return names[static_cast<std::size_t>(transport)];
}

void count(const stat_tap_table* table, unsigned row, unsigned column) {
  ++stat_tap_get_field_data(table, row, column)->value.uint_value;
}

/// Callbacks have credits of their own (RFC 8167 section 4.1).
[[nodiscard]] bool clients_call(const TapItem& item) {
  const std::uint32_t id = item.message->exchange;
  if (id == 0) return item.message->kind == MessageSeen::Kind::reply && item.message->sender == trace::Side::passive;
  const journal::Exchange* exchange = item.facts != nullptr ? item.facts->exchange(id) : nullptr;
  return exchange != nullptr && exchange->requester == trace::Side::active;
}

void table_message(const stat_tap_table* table, unsigned row, const TapItem& item) {
  const journal::Message& message = *item.message;
  if (message.granted && clients_call(item)) set_number(table, row, col_granted, message.granted);
  switch (message.kind) {
    case MessageSeen::Kind::call:
      if (!message.continued) count(table, row, col_calls);
      break;
    case MessageSeen::Kind::reply:
      if (!message.continued) count(table, row, col_replies);
      break;
    case MessageSeen::Kind::error:
      count(table, row, col_errors);
      break;
    case MessageSeen::Kind::done:
    case MessageSeen::Kind::other:
      break;
  }
  if (!item.first_answer) return;  // how long the Call was waited for
  // Numbers are kept beside the texts: how many answers have a Call, their average, and the longest.
  const double n = ++stat_tap_get_field_data(table, row, col_replies)->user_data.uint_value;
  double& average = stat_tap_get_field_data(table, row, col_average)->user_data.float_value;
  double& longest = stat_tap_get_field_data(table, row, col_longest)->user_data.float_value;
  average += (item.took_ms - average) / n;
  if (item.took_ms > longest) longest = item.took_ms;
  set_milliseconds(table, row, col_average, average);
  set_milliseconds(table, row, col_longest, longest);
}

void table_operation(const stat_tap_table* table, unsigned row, const journal::Operation& operation) {
  // As the report counts them: what an RDMA Read asks for.
  if (operation.kind == referee::OperationSeen::Kind::read_response) return;
  const bool write = operation.kind == referee::OperationSeen::Kind::write;
  stat_tap_get_field_data(table, row, write ? col_written : col_read)->value.float_value +=
      static_cast<double>(operation.length);
}

/// Connection to row; kept beside the first row's number.
[[nodiscard]] GHashTable* rows_of(const stat_tap_table* table) {
  return static_cast<GHashTable*>(stat_tap_get_field_data(table, 0, col_connection)->user_data.ptr_value);
}

void free_cell(stat_tap_table* table, unsigned row, unsigned column, stat_tap_table_item_type* item) {
  if (row == 0 && column == col_connection && item->user_data.ptr_value != nullptr) {
    g_hash_table_destroy(static_cast<GHashTable*>(item->user_data.ptr_value));
    item->user_data.ptr_value = nullptr;
  }
  free_item(table, row, column, item);
}

[[nodiscard]] unsigned row_of(stat_tap_table* table, const TapItem& item) {
  const unsigned end = table->num_elements;
  void* row = nullptr;
  if (end != 0 && g_hash_table_lookup_extended(rows_of(table), GUINT_TO_POINTER(item.connection), nullptr, &row) != 0) {
    return GPOINTER_TO_UINT(row);
  }
  const stat_tap_table_item_type items[columns] = {number(item.connection),
                                                   text("?"),
                                                   text("?"),
                                                   text("?"),
                                                   text("?"),
                                                   text("?"),
                                                   text("?"),
                                                   number(0),
                                                   number(0),
                                                   number(0),
                                                   decimal(0),
                                                   decimal(0),
                                                   text("?"),
                                                   text("?")};
  stat_tap_init_table_row(table, end, columns, items);
  if (end == 0) {
    stat_tap_get_field_data(table, 0, col_connection)->user_data.ptr_value =
        g_hash_table_new(g_direct_hash, g_direct_equal);
  }
  g_hash_table_insert(rows_of(table), GUINT_TO_POINTER(item.connection), GUINT_TO_POINTER(end));
  return end;
}

tap_packet_status table_packet(void* data, packet_info*, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  if (item.kind == TapItem::Kind::finding || item.connection == 0) return TAP_PACKET_DONT_REDRAW;
  stat_tap_table* table = only_table(data);
  const unsigned row = row_of(table, item);
  if (item.facts != nullptr) {
    set_text(table, row, col_client, item.facts->client.address.c_str());
    set_text(table, row, col_server, item.facts->server.address.c_str());
    set_text(table, row, col_transport, transport_name(item.facts->transport));
    set_number(table, row, col_to_server, item.facts->thresholds.client_to_server);
    set_number(table, row, col_to_client, item.facts->thresholds.server_to_client);
  }
  if (item.kind == TapItem::Kind::message) {
    table_message(table, row, item);
  } else {
    table_operation(table, row, *item.operation);
  }
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_statistics() {
  stats_tree_register_plugin(tap_name, "rpcrdma", "NFS over RDMA/Messages and findings", 0, tree_packet, tree_init,
                             nullptr);
  static stat_tap_table_ui table{};
  describe_table(table, "NFS over RDMA connections", tap_name, "rpcrdma,connections", table_fields);
  table.stat_tap_init_cb = table_init;
  table.packet_func = table_packet;
  table.stat_tap_reset_table_cb = empty_table<free_cell>;
  table.stat_tap_free_table_item_cb = free_cell;
  register_stat_tap_table_ui(&table);
}

}  // namespace rpcrdma::plugin
