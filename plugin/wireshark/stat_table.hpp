// SPDX-License-Identifier: GPL-2.0-or-later
// What the tables of the Statistics menu have in common.
#pragma once

#include "wireshark/api.hpp"

namespace rpcrdma::plugin {

/// void, and bool in versions to come.
using InitResult = std::invoke_result_t<decltype(stat_tap_table_ui::stat_tap_init_cb), stat_tap_table_ui*>;

[[nodiscard]] inline stat_tap_table_item_type number(unsigned value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_UINT;
  item.value.uint_value = value;
  return item;
}
[[nodiscard]] inline stat_tap_table_item_type text(const char* value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_STRING;
  item.value.string_value = g_strdup(value);
  return item;
}
[[nodiscard]] inline stat_tap_table_item_type decimal(double value) {
  stat_tap_table_item_type item{};
  item.type = TABLE_ITEM_FLOAT;
  item.value.float_value = value;
  return item;
}

/// All texts in rows are ours.
inline void free_item(stat_tap_table*, unsigned, unsigned, stat_tap_table_item_type* item) {
  if (item->type != TABLE_ITEM_STRING) return;
  g_free(const_cast<char*>(item->value.string_value));  // NOLINT(cppcoreguidelines-pro-type-const-cast): ours
  item->value.string_value = nullptr;
}

inline void set_text(const stat_tap_table* table, unsigned row, unsigned column, const char* value) {
  stat_tap_table_item_type* item = stat_tap_get_field_data(table, row, column);
  if (g_strcmp0(item->value.string_value, value) == 0) return;
  free_item(nullptr, row, column, item);
  item->value.string_value = g_strdup(value);
}

template <auto free_one>
void empty_table(stat_tap_table* table) {
  for (unsigned row = 0; row < table->num_elements; ++row) {
    for (unsigned column = 0; column < table->num_fields; ++column) {
      free_one(table, row, column, stat_tap_get_field_data(table, row, column));
    }
    g_free(table->elements[row]);
  }
  table->num_elements = 0;
}

/// What a window is called, whom it listens to, and its columns; `option` stands behind -z.
template <std::size_t columns>
void describe_table(stat_tap_table_ui& table, const char* title, const char* tap, const char* option,
                    stat_tap_table_item (&fields)[columns]) {
  table.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
  table.title = title;
  table.tap_name = tap;
  table.cli_string = option;
  table.nfields = columns;
  table.fields = fields;
}

/// Finds the one table of a window, or makes it.
inline InitResult open_table(stat_tap_table_ui* ui, const char* title) {
  stat_tap_table* table = stat_tap_find_table(ui, title);
  if (table == nullptr) {
    stat_tap_add_table(ui, stat_tap_init_table(title, static_cast<int>(ui->nfields), 0, nullptr));
  } else if (ui->stat_tap_reset_table_cb != nullptr) {
    ui->stat_tap_reset_table_cb(table);
  }
  return static_cast<InitResult>(true);
}

[[nodiscard]] inline stat_tap_table* only_table(void* data) {
  return g_array_index(static_cast<stat_data_t*>(data)->stat_tap_data->tables, stat_tap_table*, 0);
}

}  // namespace rpcrdma::plugin
