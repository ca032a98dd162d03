// SPDX-License-Identifier: GPL-2.0-or-later
#include "wireshark/session.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "wireshark/data_sources.hpp"
#include "wireshark/fields.hpp"
#include "wireshark/preferences.hpp"

namespace rpcrdma::plugin {

namespace {

/// How the frames of the open file come.
enum class Stage : std::uint8_t {
  none,       ///< no file is open, or its journal was given up
  reading,    ///< for the first time: Wireshark says when that is over
  rereading,  ///< once more, all of them in order, because a preference has changed for example: nobody says the end
  read
};
Stage stage = Stage::none;
std::unique_ptr<journal::Journal> open_journal;  ///< null in Stage::none

/// What the window says of its file. Nobody answers in tshark and sharkd: they dissect nothing anew.
struct WindowsFile {
  enum class State : std::uint8_t { no_window, comes, here } state = State::no_window;
  std::uint32_t frames = 0;  ///< by now
};

void* take_state(capture_file* file, void* into) {
  const auto state = file->state == FILE_READ_DONE ? WindowsFile::State::here : WindowsFile::State::comes;
  *static_cast<WindowsFile*>(into) = {state, file->count};
  return into;
}

[[nodiscard]] WindowsFile windows_file() {
  WindowsFile file;
  plugin_if_get_capture_file(take_state, &file);
  return file;
}
std::uint32_t to_reread = 0;  ///< in Stage::rereading: so many frames

/// With a read filter (-2 -R) Wireshark gives the number of a frame that it leaves out to the next one as well. The
/// journal counts them all.
struct FrameNumbers {
  struct Shift {
    std::uint32_t from = 0;      ///< Wireshark's numbers from this on
    std::uint32_t left_out = 0;  ///< so many frames were left out before
  };
  std::vector<Shift> shifts;
  std::uint32_t newest = 0;  ///< Wireshark's number
  std::int64_t stands_at = 0;
};
FrameNumbers frame_numbers;

constexpr std::uint32_t drawn_key = 0x8797;

/// The journal fails for good rather than half: what it says of a file is whole or nothing.
template <class Action>
void guarded(Action action) noexcept {
  try {
    action();
  } catch (...) {
    close_session();
    g_warning("rpcrdma: out of memory; this file is shown without the referee");
  }
}

[[nodiscard]] std::optional<trace::LinkType> link_type(const packet_info* pinfo) noexcept {
  switch (pinfo->rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
      return trace::LinkType::ethernet;
    case WTAP_ENCAP_NULL:
      return trace::LinkType::null_loopback;
    case WTAP_ENCAP_LOOP:
      return trace::LinkType::loop;
    case WTAP_ENCAP_RAW_IP:
      return trace::LinkType::raw_ip;
    case WTAP_ENCAP_RAW_IP4:
      return trace::LinkType::ipv4;
    case WTAP_ENCAP_RAW_IP6:
      return trace::LinkType::ipv6;
    case WTAP_ENCAP_SLL:
      return trace::LinkType::linux_sll;
    case WTAP_ENCAP_SLL2:
      return trace::LinkType::linux_sll2;
    case WTAP_ENCAP_INFINIBAND:
      return trace::LinkType::infiniband;
    case WTAP_ENCAP_ERF:
      break;
    default:
      return std::nullopt;
  }
  switch (pinfo->pseudo_header->erf.phdr.type & 0x7fU) {
    case 2:  // ETH, and its kinds
    case 11:
    case 16:
    case 20:
      return trace::LinkType::ethernet;
    case 21:  // INFINIBAND
    case 25:  // INFINIBAND_LINK
      return trace::LinkType::infiniband;
    case 22:
      return trace::LinkType::ipv4;
    case 23:
      return trace::LinkType::ipv6;
    default:
      return std::nullopt;
  }
}

/// While frames come for the first time: is this one another than the newest, with its number?
void count_frame(const packet_info* pinfo) {
  const std::int64_t at = pinfo->fd->file_off;
  const bool again = pinfo->num == frame_numbers.newest && at != frame_numbers.stands_at;
  if (pinfo->num < frame_numbers.newest) return;
  frame_numbers.newest = pinfo->num;
  frame_numbers.stands_at = at;
  if (!again) return;
  std::vector<FrameNumbers::Shift>& shifts = frame_numbers.shifts;
  const std::uint32_t left_out = shifts.empty() ? 1 : shifts.back().left_out + 1;
  if (shifts.empty() || shifts.back().from != pinfo->num) shifts.push_back({pinfo->num, 0});
  shifts.back().left_out = left_out;
}

[[nodiscard]] std::uint32_t as_counted(std::uint32_t number) {
  const std::vector<FrameNumbers::Shift>& shifts = frame_numbers.shifts;
  const auto behind =
      std::upper_bound(shifts.begin(), shifts.end(), number,
                       [](std::uint32_t n, const FrameNumbers::Shift& shift) { return n < shift.from; });
  return behind == shifts.begin() ? number : number + std::prev(behind)->left_out;
}

void feed(packet_info* pinfo) {
  if (pinfo->data_src == nullptr || pinfo->rec->rec_type != REC_TYPE_PACKET) return;
  tvbuff_t* tvb = frame_octets(pinfo);
  const auto captured = static_cast<std::size_t>(tvb_captured_length(tvb));
  const std::uint8_t* octets = captured == 0 ? nullptr : tvb_get_ptr(tvb, 0, static_cast<int>(captured));
  const auto link = link_type(pinfo);
  trace::Frame frame;
  frame.ref.number = as_counted(pinfo->num);
  frame.ref.time = trace::time_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
  frame.link = link.value_or(static_cast<trace::LinkType>(UINT32_MAX));
  frame.octets = wire::Bytes(octets, captured);
  frame.wire_length = tvb_reported_length(tvb);
  if (pinfo->rec->rec_header.packet_header.pkt_encap == WTAP_ENCAP_ETHERNET) {
    frame.fcs_length = trace::fcs_octets(pinfo->pseudo_header->eth.fcs_len);
  }
  guarded([&] { open_journal->feed(frame); });
}

/// A frame that may be new.
void take(packet_info* pinfo) {
  if (frame_numbers.newest == 0) {
    const WindowsFile file = windows_file();
    if (file.state == WindowsFile::State::here) stage = Stage::rereading;
    to_reread = file.frames;
  }
  // Wireshark leaves out what its user ignores, perhaps the last one: then the end is where it comes back to one.
  if (stage == Stage::rereading && pinfo->num <= frame_numbers.newest) return end_of_pass();
  guarded([&] { count_frame(pinfo); });
  if (stage != Stage::none) feed(pinfo);
  if (stage == Stage::rereading && pinfo->num >= to_reread) end_of_pass();
}

}  // namespace

void open_session() noexcept {
  frame_numbers = {};
  stage = Stage::reading;
  guarded([] { open_journal = std::make_unique<journal::Journal>(options()); });
}
void close_session() noexcept {
  stage = Stage::none;
  open_journal.reset();
}
void end_of_pass() noexcept {
  if (stage == Stage::none) return;
  stage = Stage::read;
  guarded([] { open_journal->finish(); });
}

bool in_window() { return windows_file().state != WindowsFile::State::no_window; }

const journal::Journal* finished_journal() { return stage == Stage::read ? open_journal.get() : nullptr; }

std::uint32_t shown_number(std::uint64_t frame) {
  const std::vector<FrameNumbers::Shift>& shifts = frame_numbers.shifts;
  const auto behind = std::upper_bound(
      shifts.begin(), shifts.end(), frame,
      [](std::uint64_t n, const FrameNumbers::Shift& shift) { return n < std::uint64_t{shift.from} + shift.left_out; });
  const auto number = static_cast<std::uint32_t>(frame - (behind == shifts.begin() ? 0 : std::prev(behind)->left_out));
  return behind != shifts.end() && number >= behind->from ? 0 : number;
}

namespace {

[[nodiscard]] Drawn* drawn_before(packet_info* pinfo) {
  return static_cast<Drawn*>(p_get_proto_data(pinfo->pool, pinfo, proto_rpcrdma, drawn_key));
}

[[nodiscard]] Drawn* begin_to_draw(packet_info* pinfo) {
  const std::uint32_t number = as_counted(pinfo->num);
  auto* drawn = static_cast<Drawn*>(wmem_alloc0(pinfo->pool, sizeof(Drawn)));
  drawn->journal = open_journal.get();
  drawn->frame = number;
  drawn->of_frame = notes_of(*open_journal, number, pinfo->pool);
  drawn->notes = drawn->of_frame.count;
  drawn->first_open = open_journal->first(number);
  drawn->place = drawn->notes;
  drawn->done = static_cast<std::uint8_t*>(wmem_alloc0(pinfo->pool, drawn->notes + 1U));
  drawn->trees = static_cast<proto_tree**>(wmem_alloc0(pinfo->pool, (drawn->notes + 1U) * sizeof(proto_tree*)));
  p_add_proto_data(pinfo->pool, pinfo, proto_rpcrdma, drawn_key, drawn);
  return drawn;
}

/// False: no journal is open (any more).
[[nodiscard]] bool taken(packet_info* pinfo) {
  if (stage != Stage::none && stage != Stage::read) take(pinfo);
  return stage != Stage::none;
}

}  // namespace

Drawn* look(packet_info* pinfo) {
  if (stage == Stage::none) return nullptr;
  if (Drawn* drawn = drawn_before(pinfo)) return drawn;
  return taken(pinfo) ? begin_to_draw(pinfo) : nullptr;
}

Drawn* look_for_more(packet_info* pinfo) {
  if (stage == Stage::none) return nullptr;
  if (Drawn* drawn = drawn_before(pinfo)) return drawn;
  return taken(pinfo) && !open_journal->blank(as_counted(pinfo->num)) ? begin_to_draw(pinfo) : nullptr;
}

}  // namespace rpcrdma::plugin
