// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/statistics.hpp"

#include <array>

#include "referee/rules/table.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::MessageSeen;

/// What one tap call tells; in the packet's memory.
struct TapItem {
  enum class Kind : std::uint8_t { message, operation, finding } kind = Kind::message;
  std::uint32_t connection = 0;
  const journal::Connection* facts = nullptr;
  const journal::Message* message = nullptr;
  const journal::Operation* operation = nullptr;
  const char* rule = nullptr;
  double took_ms = -1;  ///< of a Reply or RDMA_ERROR, from its Call
};

int tap = -1;

TapItem* fresh(const Canvas& canvas, TapItem::Kind kind, std::uint32_t connection) {
  auto* item = static_cast<TapItem*>(wmem_alloc0(canvas.pinfo->pool, sizeof(TapItem)));
  item->kind = kind;
  item->connection = connection;
  item->facts = canvas.drawn->journal->connection(connection);
  item->took_ms = -1;
  return item;
}

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

[[nodiscard]] const char* kind_name(MessageSeen::Kind kind) {
  switch (kind) {
    case MessageSeen::Kind::call:
      return "Call";
    case MessageSeen::Kind::reply:
      return "Reply";
    case MessageSeen::Kind::done:
      return wire::proc_name(wire::Proc::done).data();
    case MessageSeen::Kind::error:
      return wire::proc_name(wire::Proc::error).data();
    case MessageSeen::Kind::other:
      break;
  }
  return "Other";
}

[[nodiscard]] const char* size_class(const TapItem& item) {
  if (item.facts == nullptr) return "threshold not known";
  const auto& limit =
      item.message->sender == trace::Side::active ? item.facts->client_to_server : item.facts->server_to_client;
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
  tick_under(st, "Messages", node_messages, kind_name(message.kind));
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
  static const char* const operations[] = {"RDMA Write", "RDMA Read request", "RDMA Read response"};
  switch (item.kind) {
    case TapItem::Kind::message:
      tree_message(st, item);
      break;
    case TapItem::Kind::operation:
      tick_under(st, "RDMA operations (packets)", node_operations,
                 operations[static_cast<std::size_t>(item.operation->kind)]);
      break;
    case TapItem::Kind::finding:
      tick_under(st, "Findings", node_findings, item.rule);
      break;
  }
  return TAP_PACKET_REDRAW;
}

// --- -z rpcrdma,connections

enum Column : unsigned {
  col_connection,
  col_transport,
  col_to_server,
  col_to_client,
  col_granted,
  col_calls,
  col_replies,
  col_errors,
  col_reads,
  col_writes,
  col_average,
  col_longest,
  columns
};

stat_tap_table_item table_fields[columns] = {{TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Connection", "%10u"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Transport", "%-10s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "To server", "%9s"},
                                             {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "To client", "%9s"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Credits", "%7u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Calls", "%9u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Replies", "%9u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Errors", "%6u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Read packets", "%12u"},
                                             {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Write packets", "%13u"},
                                             {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Average ms", "%10.3f"},
                                             {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Longest ms", "%10.3f"}};

/// void, and bool in versions to come.
using InitResult = std::invoke_result_t<decltype(stat_tap_table_ui::stat_tap_init_cb), stat_tap_table_ui*>;

InitResult table_init(stat_tap_table_ui* ui) {
  const char* title = "NFS/RDMA connections";
  stat_tap_table* table = stat_tap_find_table(ui, title);
  if (table != nullptr) {
    if (ui->stat_tap_reset_table_cb != nullptr) ui->stat_tap_reset_table_cb(table);
  } else {
    stat_tap_add_table(ui, stat_tap_init_table(title, columns, 0, nullptr));
  }
  return static_cast<InitResult>(true);
}

[[nodiscard]] stat_tap_table_item_type number(unsigned value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_UINT;
  item.value.uint_value = value;
  return item;
}
[[nodiscard]] stat_tap_table_item_type text(const char* value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_STRING;
  item.value.string_value = g_strdup(value);
  return item;
}
[[nodiscard]] stat_tap_table_item_type decimal(double value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_FLOAT;
  item.value.float_value = value;
  return item;
}

void free_item(stat_tap_table*, unsigned, unsigned column, stat_tap_table_item_type* item) {
  if (item->type == TABLE_ITEM_STRING &&
      (column == col_transport || column == col_to_server || column == col_to_client)) {
    g_free(const_cast<char*>(item->value.string_value));  // NOLINT(cppcoreguidelines-pro-type-const-cast): ours
    item->value.string_value = nullptr;
  }
}

void set_text(const stat_tap_table* table, unsigned row, unsigned column, const char* value) {
  stat_tap_table_item_type* item = stat_tap_get_field_data(table, row, column);
  g_free(const_cast<char*>(item->value.string_value));  // NOLINT(cppcoreguidelines-pro-type-const-cast): ours
  item->value.string_value = g_strdup(value);
}
void set_threshold(const stat_tap_table* table, unsigned row, unsigned column,
                   const std::optional<std::uint32_t>& value) {
  char buffer[16] = "?";
  if (value) g_snprintf(buffer, sizeof buffer, "%u", *value);
  set_text(table, row, column, buffer);
}

[[nodiscard]] const char* transport_name(trace::Transport transport) {
  static const char* const names[] = {"RoCEv2", "RoCEv1", "InfiniBand", "iWARP"};
  return names[static_cast<std::size_t>(transport)];
}

void count(const stat_tap_table* table, unsigned row, unsigned column) {
  ++stat_tap_get_field_data(table, row, column)->value.uint_value;
}

void table_message(const stat_tap_table* table, unsigned row, const TapItem& item) {
  const journal::Message& message = *item.message;
  if (message.granted) stat_tap_get_field_data(table, row, col_granted)->value.uint_value = *message.granted;
  switch (message.kind) {
    case MessageSeen::Kind::call:
      count(table, row, col_calls);
      break;
    case MessageSeen::Kind::reply:
      count(table, row, col_replies);
      break;
    case MessageSeen::Kind::error:
      count(table, row, col_errors);
      break;
    case MessageSeen::Kind::done:
    case MessageSeen::Kind::other:
      break;
  }
  if (item.took_ms < 0) return;
  stat_tap_table_item_type* average = stat_tap_get_field_data(table, row, col_average);
  stat_tap_table_item_type* longest = stat_tap_get_field_data(table, row, col_longest);
  // The number of answers with a Call is kept beside the average.
  const double n = ++average->user_data.uint_value;
  average->value.float_value += (item.took_ms - average->value.float_value) / n;
  if (item.took_ms > longest->value.float_value) longest->value.float_value = item.took_ms;
}

tap_packet_status table_packet(void* data, packet_info*, epan_dissect_t*, const void* tapped, tap_flags_t) {
  const auto& item = *static_cast<const TapItem*>(tapped);
  if (item.kind == TapItem::Kind::finding || item.connection == 0) return TAP_PACKET_DONT_REDRAW;
  auto* stat = static_cast<stat_data_t*>(data);
  auto* table = g_array_index(stat->stat_tap_data->tables, stat_tap_table*, 0);
  unsigned row = 0;
  while (row < table->num_elements &&
         stat_tap_get_field_data(table, row, col_connection)->value.uint_value != item.connection) {
    ++row;
  }
  if (row == table->num_elements) {
    const stat_tap_table_item_type items[columns] = {
        number(item.connection),
        text(item.facts != nullptr ? transport_name(item.facts->transport) : "?"),
        text("?"),
        text("?"),
        number(0),
        number(0),
        number(0),
        number(0),
        number(0),
        number(0),
        decimal(0),
        decimal(0)};
    stat_tap_init_table_row(table, row, columns, items);
  }
  if (item.facts != nullptr) {
    set_threshold(table, row, col_to_server, item.facts->client_to_server);
    set_threshold(table, row, col_to_client, item.facts->server_to_client);
  }
  if (item.kind == TapItem::Kind::message) {
    table_message(table, row, item);
  } else {
    count(table, row, item.operation->kind == referee::OperationSeen::Kind::write ? col_writes : col_reads);
  }
  return TAP_PACKET_REDRAW;
}

void table_reset(stat_tap_table* table) {
  for (unsigned row = 0; row < table->num_elements; ++row) {
    for (unsigned column = 0; column < table->num_fields; ++column) {
      free_item(table, row, column, stat_tap_get_field_data(table, row, column));
    }
    g_free(table->elements[row]);
  }
  table->num_elements = 0;
}

}  // namespace

void register_statistics() {
  tap = register_tap("rpcrdma");
  stats_tree_register_plugin("rpcrdma", "rpcrdma", "NFS over RDMA/Messages and findings", 0, tree_packet, tree_init,
                             nullptr);
  static stat_tap_table_ui table{};
  table.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
  table.title = "NFS over RDMA connections";
  table.tap_name = "rpcrdma";
  table.cli_string = "rpcrdma,connections";
  table.stat_tap_init_cb = table_init;
  table.packet_func = table_packet;
  table.stat_tap_reset_table_cb = table_reset;
  table.stat_tap_free_table_item_cb = free_item;
  table.nfields = columns;
  table.fields = table_fields;
  register_stat_tap_table_ui(&table);
}

void queue_message(const Canvas& canvas, const journal::Message& message) {
  if (!have_tap_listener(tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::message, message.connection);
  item->message = &message;
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(message.connection, message.exchange);
  const bool answer = message.kind == MessageSeen::Kind::reply || message.kind == MessageSeen::Kind::error;
  if (exchange != nullptr && exchange->call.number != 0 && answer) {
    item->took_ms = static_cast<double>(exchange->reply.time - exchange->call.time) / 1e6;
  }
  tap_queue_packet(tap, canvas.pinfo, item);
}

void queue_operation(const Canvas& canvas, const journal::Operation& operation) {
  if (!have_tap_listener(tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::operation, operation.connection);
  item->operation = &operation;
  tap_queue_packet(tap, canvas.pinfo, item);
}

void queue_finding(const Canvas& canvas, const referee::Finding& finding) {
  if (!have_tap_listener(tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::finding, finding.connection);
  item->rule = referee::rule(finding.rule).name.data();
  tap_queue_packet(tap, canvas.pinfo, item);
}

}  // namespace rpcrdma::plugin
