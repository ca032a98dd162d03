// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/hooks.hpp"

#include <algorithm>
#include <cstring>

#include "wire/mpa.hpp"
#include "wire/private_data.hpp"
#include "wireshark/builtin.hpp"
#include "wireshark/data_sources.hpp"
#include "wireshark/draw.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/mounts.hpp"
#include "wireshark/preferences.hpp"
#include "wireshark/tap.hpp"

namespace rpcrdma::plugin {

namespace {

using journal::NoteKind;
using referee::OperationSeen;

/// An entry of one of Wireshark's heuristic lists, taken over.
struct Hook {
  heur_dtbl_entry_t* entry = nullptr;
  heur_dissector_t original = nullptr;  ///< null: the entry is ours
};
Hook infiniband;
Hook iwarp;
Hook managed;  ///< private data in InfiniBand's connection management

/// The trace has found no packet in this frame, Wireshark has: then it is the built-in's.
[[nodiscard]] bool not_ours(const Drawn* drawn) { return drawn == nullptr || !drawn->journal->opened(drawn->frame); }

[[nodiscard]] Taken as_taken(bool taken) { return static_cast<Taken>(taken); }

[[nodiscard]] Taken original(const Hook& hook, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  return hook.original != nullptr ? hook.original(tvb, pinfo, tree, data) : as_taken(false);
}

/// Goes through a frame's notes in order; the visitor says whether to go on.
struct Cursor {
  const journal::Journal* journal;
  std::uint32_t at;
  std::uint32_t place = 0;
  [[nodiscard]] bool end() const { return at == journal::none; }
  [[nodiscard]] const journal::Note& note() const { return journal->note(at); }
  void next() {
    at = note().next;
    ++place;
  }
};

/// From the first one that is not done.
[[nodiscard]] Cursor notes(Drawn* drawn) {
  Cursor first{drawn->journal, drawn->first_open, drawn->first_open_place};
  while (!first.end() && first.place < drawn->notes && drawn->done[first.place] != 0) first.next();
  drawn->first_open = first.at;
  drawn->first_open_place = first.place;
  return first;
}

void begin_note(const Canvas& canvas, const Cursor& c) {
  canvas.drawn->done[c.place] = 1;
  canvas.drawn->place = c.place;
}

/// What became whole with a message of this frame: right behind it.
void draw_payloads_of(const Canvas& canvas, std::uint32_t message) {
  const Drawn* drawn = canvas.drawn;
  const Behind* end = drawn->of_frame.behind + drawn->of_frame.behind_count;
  for (const Behind* at = drawn->of_frame.behind_message(message); at != end && at->message == message; ++at) {
    const Cursor c{drawn->journal, at->note, at->place};
    if (drawn->done[c.place] != 0) continue;
    begin_note(canvas, c);
    draw_payload(canvas, drawn->journal->payload(c.note().index));
  }
}

void draw_note(const Canvas& canvas, const Cursor& c, tvbuff_t* tvb) {
  const journal::Journal& journal = *canvas.drawn->journal;
  const std::uint32_t index = c.note().index;
  begin_note(canvas, c);
  switch (c.note().kind) {
    case NoteKind::message:
      draw_message(canvas, journal.message(index), tvb);
      draw_payloads_of(canvas, index);
      end_info(canvas);
      break;
    case NoteKind::unplaced:
      draw_unplaced(canvas, journal.unplaced(index), tvb);
      end_info(canvas);
      break;
    case NoteKind::part:
      draw_part(canvas, journal.part(index), tvb);
      break;
    case NoteKind::operation:
      draw_operation(canvas, journal.operation(index), tvb);
      queue_operation(canvas, journal.operation(index));
      break;
    case NoteKind::payload:
      draw_payload(canvas, journal.payload(index));
      break;
    case NoteKind::handshake:
      draw_handshake(canvas, journal.handshake(index), tvb);
      break;
  }
  canvas.drawn->place = canvas.drawn->notes;
}

[[nodiscard]] bool open_note(const Drawn* drawn, const Cursor& c) {
  return c.place < drawn->notes && drawn->done[c.place] == 0;
}

/// A Call whose data are given up when its Reply comes has to be shown before the Reply, and so has what had to wait in
/// front of it.
void draw_before(const Canvas& canvas, std::uint32_t place) {
  const journal::Journal& journal = *canvas.drawn->journal;
  for (Cursor c = notes(canvas.drawn); !c.end() && c.place < place; c.next()) {
    if (!open_note(canvas.drawn, c)) continue;
    const bool waited =
        c.note().kind == NoteKind::message && journal.message(c.note().index).last_frame != canvas.drawn->frame;
    if (waited || c.note().kind == NoteKind::payload) draw_note(canvas, c, nullptr);
  }
}

// --- InfiniBand: one packet a frame

[[nodiscard]] bool in_packet(const journal::Octets& octets, tvbuff_t* tvb) {
  const unsigned length = tvb_captured_length(tvb);
  if (octets.captured > length) return false;
  if (octets.in_frame || octets.captured == 0) return true;
  return std::memcmp(octets.copy.data(), tvb_get_ptr(tvb, 0, static_cast<int>(octets.captured)), octets.captured) == 0;
}

/// Without the pad. Null: a Send of several packets, or one that was held back, comes from the journal.
[[nodiscard]] tvbuff_t* of_packet(const journal::Octets& octets, tvbuff_t* tvb) {
  if (!in_packet(octets, tvb)) return nullptr;
  return tvb_new_subset_length_caplen(tvb, 0, static_cast<int>(octets.captured), static_cast<int>(octets.wire_length));
}

[[nodiscard]] bool whole_send(const struct infinibandinfo& packet) {
  constexpr std::uint8_t send_only = 0x04, with_immediate = 0x05, with_invalidate = 0x17;  // of RC
  return packet.opCode == send_only || packet.opCode == with_immediate || packet.opCode == with_invalidate;
}

[[nodiscard]] bool draw_repeated_send(const Canvas& canvas, tvbuff_t* tvb, const struct infinibandinfo& packet) {
  const journal::Journal& journal = *canvas.drawn->journal;
  const journal::Repeat* repeat = journal.repeat(canvas.drawn->frame);
  if (repeat == nullptr || !whole_send(packet) || journal.connection(repeat->connection) == nullptr) return false;
  if (tvb_reported_length(tvb) < packet.pad_count) return false;
  const auto length = static_cast<int>(tvb_reported_length(tvb) - packet.pad_count);
  return draw_repeated_message(canvas, *repeat, tvb_new_subset_length(tvb, 0, length));
}

Taken on_infiniband(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  if (given_back()) return original(infiniband, tvb, pinfo, tree, data);
  Drawn* drawn = look(pinfo);
  if (not_ours(drawn)) return original(infiniband, tvb, pinfo, tree, data);
  if (data == nullptr) return as_taken(false);
  const Canvas canvas{pinfo, tree, drawn};
  bool taken = false;
  for (Cursor c = notes(drawn); !c.end(); c.next()) {
    if (!open_note(drawn, c)) continue;
    const NoteKind kind = c.note().kind;
    if (kind == NoteKind::handshake) continue;
    tvbuff_t* own = tvb;
    if (kind == NoteKind::message) {
      const journal::Message& message = drawn->journal->message(c.note().index);
      own = message.last_frame == drawn->frame ? of_packet(message.octets, tvb) : nullptr;
    } else if (kind == NoteKind::unplaced) {
      own = of_packet(drawn->journal->unplaced(c.note().index).octets, tvb);
    }
    draw_note(canvas, c, own);
    taken = true;
  }
  return as_taken(taken || draw_repeated_send(canvas, tvb, *static_cast<const struct infinibandinfo*>(data)));
}

// --- iWARP: any number of FPDUs a frame; Wireshark has put Sends together

[[nodiscard]] bool same_octets(const journal::Octets& octets, tvbuff_t* tvb, tvbuff_t* frame) {
  if (octets.captured != tvb_captured_length(tvb)) return false;
  if (octets.captured == 0) return true;
  const std::uint8_t* theirs = tvb_get_ptr(tvb, 0, static_cast<int>(octets.captured));
  if (!octets.in_frame) return std::memcmp(octets.copy.data(), theirs, octets.captured) == 0;
  if (tvb_captured_length(frame) < octets.offset + octets.captured) return false;
  return std::memcmp(tvb_get_ptr(frame, static_cast<int>(octets.offset), static_cast<int>(octets.captured)), theirs,
                     octets.captured) == 0;
}

[[nodiscard]] bool fits(const Drawn* drawn, const Cursor& c, tvbuff_t* tvb, const rdmap_info_t* info, tvbuff_t* frame) {
  const journal::Journal& journal = *drawn->journal;
  switch (info->opcode) {
    case RDMA_SEND:
    case RDMA_SEND_INVALIDATE:
    case RDMA_SEND_SE:
    case RDMA_SEND_SE_INVALIDATE:
      return c.note().kind == NoteKind::message && same_octets(journal.message(c.note().index).octets, tvb, frame);
    default:
      break;
  }
  if (c.note().kind != NoteKind::operation) return false;
  const journal::Operation& operation = journal.operation(c.note().index);
  if (info->opcode == RDMA_READ_REQUEST) return operation.kind == OperationSeen::Kind::read_request;
  const auto kind = info->opcode == RDMA_WRITE ? OperationSeen::Kind::write : OperationSeen::Kind::read_response;
  return operation.kind == kind && operation.length == tvb_reported_length(tvb);
}

Taken on_iwarp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  if (given_back()) return original(iwarp, tvb, pinfo, tree, data);
  Drawn* drawn = look(pinfo);
  if (not_ours(drawn)) return original(iwarp, tvb, pinfo, tree, data);
  if (data == nullptr || drawn->notes == 0) return as_taken(false);
  const auto* info = static_cast<const rdmap_info_t*>(data);
  tvbuff_t* frame = frame_octets(pinfo);
  const Canvas canvas{pinfo, tree, drawn};
  for (Cursor c = notes(drawn); !c.end(); c.next()) {
    if (!open_note(drawn, c) || !fits(drawn, c, tvb, info, frame)) continue;
    draw_before(canvas, c.place);
    draw_note(canvas, c, tvb);
    return as_taken(true);
  }
  return as_taken(false);
}

// --- CM private data

[[nodiscard]] PrivateDataView view_of(const wire::PrivateDataFields& found) {
  return {found.offset, found.reserved, found.remote_invalidation, found.send_size, found.receive_size};
}

/// Before the answer is known a REQ has no note yet: its octets speak for themselves.
[[nodiscard]] bool draw_unanswered(const Canvas& canvas, tvbuff_t* tvb, const void* data) {
  if (data == nullptr) return false;
  const unsigned attribute = static_cast<const struct infinibandinfo*>(data)->cm_attribute_id;
  if (attribute != ATTR_CM_REQ && attribute != ATTR_CM_REP) return false;
  const unsigned captured = tvb_captured_length(tvb);
  if (captured < 8) return false;
  const wire::Bytes octets(tvb_get_ptr(tvb, 0, static_cast<int>(captured)), captured);
  const wire::PrivateDataSearch search = wire::find_private_data(octets, tvb_reported_length(tvb));
  if (!search.found) return false;
  using Repeated = trace::Repeated::Kind;
  const journal::Repeat* repeat = canvas.drawn->journal->repeat(canvas.drawn->frame);
  if (repeat != nullptr && (repeat->kind == Repeated::handshake || repeat->kind == Repeated::handshake_copy)) {
    (void)proto_tree_add_protocol_format(canvas.tree, proto_rpcordma, tvb, 0, 0,
                                         "RPC over RDMA: the same private data, sent again");
    return true;
  }
  const trace::Side sender = attribute == ATTR_CM_REQ ? trace::Side::active : trace::Side::passive;
  (void)draw_private_data(canvas, sender, view_of(*search.found), tvb);
  return true;
}

Taken on_private_data(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  if (given_back()) return as_taken(false);
  Drawn* drawn = look(pinfo);
  if (drawn == nullptr) return as_taken(false);
  const Canvas canvas{pinfo, tree, drawn};
  for (Cursor c = notes(drawn); !c.end(); c.next()) {
    if (!open_note(drawn, c) || c.note().kind != NoteKind::handshake) continue;
    const journal::Handshake& handshake = drawn->journal->handshake(c.note().index);
    if (!handshake.private_data) continue;
    const auto offset = static_cast<int>(handshake.private_data->offset);
    const bool here = tvb_captured_length(tvb) >= static_cast<unsigned>(offset) + 8 &&
                      tvb_get_ntohl(tvb, offset) == wire::private_data_identifier;
    if (!here) continue;
    draw_note(canvas, c, tvb);
    return as_taken(true);
  }
  return as_taken(draw_unanswered(canvas, tvb, data));
}

// --- MPA private data of a stream of which the trace is not sure yet

constexpr std::size_t mpa_within = 256;  // of a frame: headers of links and tunnels stand in front

/// One side of a handshake may be all that was captured: what that means is told later, in a frame that one pass has
/// shown by then. The octets speak for themselves, as those of a REQ, where the trace has found that a stream begins
/// with them: files and quotations hold the same octets.
void draw_unsettled_mpa(const Canvas& canvas, tvbuff_t* frame) {
  const journal::Journal& journal = *canvas.drawn->journal;
  if (!journal.mpa_begins(canvas.drawn->frame) || canvas.drawn->notes != 0) return;
  if (journal.repeat(canvas.drawn->frame) != nullptr) return;
  const unsigned captured = tvb_captured_length(frame);
  const wire::Bytes octets(captured == 0 ? nullptr : tvb_get_ptr(frame, 0, static_cast<int>(captured)), captured);
  static constexpr std::string_view key = "MPA ID Re";
  const wire::Bytes near = octets.first(std::min<std::size_t>(octets.size(), mpa_within));
  const auto found = std::search(near.begin(), near.end(), key.begin(), key.end());
  if (found == near.end()) return;
  const auto at = static_cast<std::size_t>(found - near.begin());
  const auto mpa = wire::decode_mpa_frame(octets.subspan(at), tvb_reported_length(frame) - at);
  if (!mpa) return;
  const wire::PrivateDataSearch search = wire::find_private_data(mpa->private_data, mpa->private_data_wire_length);
  if (!search.found) return;
  tvbuff_t* area = tvb_new_subset_length_caplen(frame, static_cast<int>(mpa->private_data.data() - octets.data()),
                                                static_cast<int>(mpa->private_data.size()),
                                                static_cast<int>(mpa->private_data_wire_length));
  const trace::Side sender = mpa->header.request ? trace::Side::active : trace::Side::passive;
  (void)draw_private_data(canvas, sender, view_of(*search.found), area);
}

// --- the frames, and the parts of them, that no hook sees

[[nodiscard]] bool is_iwarp(const journal::Journal& journal, std::uint32_t connection) {
  const journal::Connection* known = journal.connection(connection);
  return known != nullptr && known->transport == trace::Transport::iwarp;
}

[[nodiscard]] bool off(const Hook& hook) { return hook.entry != nullptr && !hook.entry->enabled; }

[[nodiscard]] bool wanted(const Drawn* drawn, const Cursor& c) {
  const journal::Journal& journal = *drawn->journal;
  const NoteKind kind = c.note().kind;
  if (kind == NoteKind::unplaced) return !off(infiniband);
  const std::uint32_t connection = journal.connection_of(c.note());
  if (kind == NoteKind::handshake && !is_iwarp(journal, connection) && off(managed)) return false;
  return !left_out(journal, connection);
}

/// What only some packets are saved for must not lack the others that it is made of.
void mark_needed(const Canvas& canvas) {
  const std::vector<std::uint32_t>& needed = canvas.drawn->journal->needed_by(canvas.drawn->frame);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const std::uint32_t frame = shown_number(needed[i]);
    if (frame != 0) needs_frame(mark_frame_as_depended_upon, canvas.pinfo, frame);
  }
}

int on_frame_end(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  if (given_back() || !proto_is_protocol_enabled(find_protocol_by_id(proto_rpcordma))) return 0;
  // (the table of mounts is filled with the first frame that there is, whatever it holds)
  Drawn* drawn = mounts_shown() ? look(pinfo) : look_for_more(pinfo);
  if (drawn == nullptr) return 0;
  const Canvas canvas{pinfo, tree, drawn};
  for (Cursor c = notes(drawn); !c.end(); c.next()) {
    if (open_note(drawn, c) && wanted(drawn, c)) draw_note(canvas, c, nullptr);
  }
  mark_needed(canvas);
  draw_unsettled_mpa(canvas, tvb);
  draw_repeat(canvas, tvb);
  draw_findings(canvas, tvb);
  queue_mounts(canvas);
  return static_cast<int>(tvb_captured_length(tvb));
}

/// An entry that has another name, but is the built-in protocol's.
void keep_if_builtin(const char*, heur_dtbl_entry_t* entry, void* found) {
  if (proto_get_id(entry->protocol) == proto_rpcordma) *static_cast<heur_dtbl_entry_t**>(found) = entry;
}

/// The built-in's entry leads to us from now on; false: there was none, and we have one of our own (or, in a Wireshark
/// without such a list, none: then the post-dissector does it all).
[[nodiscard]] bool take_over(Hook& hook, const char* list, const char* title, const char* name, heur_dissector_t ours) {
  const bool have_list = has_heur_dissector_list(list) != 0;
  hook.entry = find_heur_dissector_by_unique_short_name(name);
  if (hook.entry == nullptr && have_list) heur_dissector_table_foreach(list, keep_if_builtin, &hook.entry);
  if (hook.entry != nullptr) {
    hook.original = hook.entry->dissector;
    hook.entry->dissector = ours;
    return true;
  }
  if (have_list) {
    heur_dissector_add(list, ours, title, name, proto_rpcordma, HEURISTIC_ENABLE);
    hook.entry = find_heur_dissector_by_unique_short_name(name);
  }
  return false;
}

}  // namespace

bool left_out(const journal::Journal& journal, std::uint32_t connection) {
  return journal.connection(connection) != nullptr && off(is_iwarp(journal, connection) ? iwarp : infiniband);
}

void install_hooks(bool builtin_protocol) {
  const bool ib =
      take_over(infiniband, "infiniband.payload", "RPC-over-RDMA on InfiniBand", builtin::infiniband, on_infiniband);
  const bool tcp = take_over(iwarp, "iwarp_ddp_rdmap", "RPC-over-RDMA on iWARP", builtin::iwarp, on_iwarp);
  const bool cm = has_heur_dissector_list("infiniband.mad.cm.private") != 0;
  if (cm) {
    heur_dissector_add("infiniband.mad.cm.private", on_private_data, "RPC-over-RDMA private data in InfiniBand CM",
                       "rpcrdma_cm", proto_rpcordma, HEURISTIC_ENABLE);
    managed.entry = find_heur_dissector_by_unique_short_name("rpcrdma_cm");
  }
  if (!builtin_protocol || !ib || !tcp || !cm) {
    g_message("rpcrdma: this Wireshark is not as expected:%s%s%s%s; the plugin registers what it needs itself",
              builtin_protocol ? "" : " no protocol rpcordma", ib ? "" : " no entry for InfiniBand",
              tcp ? "" : " no entry for iWARP", cm ? "" : " no list for private data");
  }
  register_postdissector(create_dissector_handle(on_frame_end, proto_rpcrdma));
  find_rpc();
}

}  // namespace rpcrdma::plugin
