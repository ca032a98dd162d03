// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/tap.hpp"

#include <cstring>

#include "referee/rules/table.hpp"
#include "wireshark/fields.hpp"

namespace rpcrdma::plugin {

namespace {

using referee::MessageSeen;
using referee::OperationSeen;

int items_tap = -1;

TapItem* fresh(const Canvas& canvas, TapItem::Kind kind, std::uint32_t connection) {
  auto* item = static_cast<TapItem*>(wmem_alloc0(canvas.pinfo->pool, sizeof(TapItem)));
  item->kind = kind;
  item->connection = connection;
  item->facts = canvas.drawn->journal->connection(connection);
  item->took_ms = -1;
  return item;
}

void append_credits(wmem_strbuf_t* text, const journal::Message& message) {
  switch (message.kind) {
    case MessageSeen::Kind::call:
      wmem_strbuf_append_printf(text, message.version == 1 ? ", asks for %u credits" : ", credit word %u",
                                message.credit);
      break;
    case MessageSeen::Kind::reply:
    case MessageSeen::Kind::error:
      wmem_strbuf_append_printf(text, message.version == 1 ? ", grants %u credits" : ", credit word %u",
                                message.credit);
      break;
    case MessageSeen::Kind::done:
    case MessageSeen::Kind::other:
      break;
  }
}

void append_chunk(wmem_strbuf_t* text, const char* name, bool there, std::uint64_t octets) {
  if (there) wmem_strbuf_append_printf(text, "; %s of %" PRIu64 " octets", name, octets);
}

const char* message_sentence(const TapItem& item, packet_info* pinfo) {
  const journal::Message& message = *item.message;
  wmem_strbuf_t* text = wmem_strbuf_new(pinfo->pool, message_name(message));
  wmem_strbuf_append_printf(text, " 0x%08x", message.xid);
  if (!message.operation.empty()) {
    wmem_strbuf_append_printf(text, " %.*s", static_cast<int>(message.operation.size()), message.operation.data());
  }
  const std::string_view type =
      message.version == 2 ? wire::htype_name_v2(message.proc) : wire::proc_name(message.proc);
  const bool named = message.kind == MessageSeen::Kind::call || message.kind == MessageSeen::Kind::reply;
  if (named && !type.empty()) wmem_strbuf_append_printf(text, ", %.*s", static_cast<int>(type.size()), type.data());
  wmem_strbuf_append_printf(text, ", %" PRIu64 " octets", message.octets.wire_length);
  append_credits(text, message);
  append_chunk(text, "Read list", message.read_segments != 0, message.read_octets);
  append_chunk(text, "Write list", message.write_chunks != 0, message.write_octets);
  append_chunk(text, "Reply chunk", message.reply_chunk, message.reply_octets);
  if (item.took_ms >= 0) wmem_strbuf_append_printf(text, "; %.3f ms after its Call", item.took_ms);
  return wmem_strbuf_get_str(text);
}

const char* operation_sentence(const journal::Operation& operation, packet_info* pinfo) {
  wmem_strbuf_t* text = wmem_strbuf_new(pinfo->pool, operation_name(operation.kind));
  wmem_strbuf_append_printf(text, ": %" PRIu64 " octets", operation.packets > 1 ? operation.total : operation.length);
  if (operation.packets > 1) wmem_strbuf_append_printf(text, " in %u packets", operation.packets);
  wmem_strbuf_append_printf(text, ", handle 0x%08x, offset 0x%" PRIx64, operation.handle, operation.offset);
  return wmem_strbuf_get_str(text);
}

}  // namespace

void register_taps() { items_tap = register_tap(tap_name); }

void queue_message(const Canvas& canvas, const journal::Message& message) {
  if (!have_tap_listener(items_tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::message, message.connection);
  item->message = &message;
  const journal::Exchange* exchange = canvas.drawn->journal->exchange(message.connection, message.exchange);
  if (const auto took = journal::took(message, exchange)) {
    item->took_ms = static_cast<double>(*took) / 1e6;
    item->first_answer = journal::first_answer(message, *exchange);
  }
  tap_queue_packet(items_tap, canvas.pinfo, item);
}

void queue_operation(const Canvas& canvas, const journal::Operation& operation) {
  if (!have_tap_listener(items_tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::operation, operation.connection);
  item->operation = &operation;
  tap_queue_packet(items_tap, canvas.pinfo, item);
}

void queue_finding(const Canvas& canvas, const referee::Finding& finding) {
  if (!have_tap_listener(items_tap)) return;
  TapItem* item = fresh(canvas, TapItem::Kind::finding, finding.connection);
  item->finding = &finding;
  tap_queue_packet(items_tap, canvas.pinfo, item);
}

std::uint64_t octets_of(const TapItem& item) {
  switch (item.kind) {
    case TapItem::Kind::message:
      return item.message->octets.wire_length;
    case TapItem::Kind::operation:
      // A Read request asks for octets and carries none.
      return item.operation->kind == OperationSeen::Kind::read_request ? 0 : item.operation->length;
    case TapItem::Kind::finding:
      break;
  }
  return 0;
}

trace::Side sender_of(const TapItem& item) {
  return item.kind == TapItem::Kind::message ? item.message->sender : item.operation->sender;
}

Ends ends_of(const TapItem& item, packet_info* pinfo) {
  const Ends as_sent{&pinfo->src, &pinfo->dst};
  if (item.facts == nullptr || item.kind == TapItem::Kind::finding) return as_sent;
  const char* source = address_to_str(pinfo->pool, &pinfo->src);
  const bool from_client = item.facts->client.address == source;
  const bool from_server = item.facts->server.address == source;
  if (from_client == from_server) return as_sent;
  const bool client_sent = sender_of(item) == trace::Side::active;
  return client_sent == from_client ? as_sent : Ends{&pinfo->dst, &pinfo->src};
}

const char* sentence_of(const TapItem& item, packet_info* pinfo) {
  switch (item.kind) {
    case TapItem::Kind::message:
      return message_sentence(item, pinfo);
    case TapItem::Kind::operation:
      return operation_sentence(*item.operation, pinfo);
    case TapItem::Kind::finding:
      break;
  }
  return wmem_strdup_printf(pinfo->pool, "%s: %s", referee::rule(item.finding->rule).name.data(),
                            item.finding->message.c_str());
}

}  // namespace rpcrdma::plugin
