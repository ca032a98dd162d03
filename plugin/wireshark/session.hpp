// SPDX-License-Identifier: GPL-2.0-or-later
// The journal of the open file, and which of a frame's notes have been drawn. Nothing here throws, and nothing here can
// be left by longjmp.
#pragma once

#include "journal/journal.hpp"
#include "wireshark/api.hpp"
#include "wireshark/frame_notes.hpp"

namespace rpcrdma::plugin {

struct FindingPlaces;

/// Per dissected packet, in its memory.
struct Drawn {
  const journal::Journal* journal = nullptr;
  std::uint32_t frame = 0;  ///< as the file counts it, and the journal
  std::uint32_t notes = 0;  ///< how many the frame has
  FrameNotes of_frame;
  std::uint32_t first_open = 0;        ///< those in front of this one are done,
  std::uint32_t first_open_place = 0;  ///< which is so many
  std::uint8_t* done = nullptr;        ///< one for each note, in the order of the list
  proto_tree** trees = nullptr;        ///< likewise: where it is drawn, if Wireshark wants a tree
  std::uint32_t place = 0;             ///< of the note that is being drawn; `notes`: of none
  proto_item* item = nullptr;          ///< newest item of ours
  GSList* source = nullptr;            ///< where the newest data source of ours stands among the packet's
  proto_tree* tree = nullptr;
  const FindingPlaces* finding_places = nullptr;  ///< once one has been asked for: then all notes are drawn
  bool judged = false;                            ///< the frame's findings are drawn
  bool told = false;                              ///< what the Info column says is of a message that is over
};

void open_session() noexcept;
void close_session() noexcept;
void end_of_pass() noexcept;  ///< all frames have been seen once

/// Wireshark's window, and not tshark or sharkd.
[[nodiscard]] bool in_window();

/// The journal once all frames have been seen; null until then.
[[nodiscard]] const journal::Journal* finished_journal();

/// Wireshark's number of the frame that the file counts as this; 0: a read filter left it out.
[[nodiscard]] std::uint32_t shown_number(std::uint64_t frame);

/// Feeds the frame to the journal if it is new. Null when the journal cannot be used.
Drawn* look(packet_info* pinfo);
/// Likewise, at the end of the frame; null also where nothing is to be drawn, and nothing was.
[[nodiscard]] Drawn* look_for_more(packet_info* pinfo);

}  // namespace rpcrdma::plugin
