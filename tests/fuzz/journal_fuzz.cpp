// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin keeps of a whole trace, from one input of the same form as that of `frames`: every note must point to
// something, and every RPC message must be no longer than what was sent allows.
#include <algorithm>

#include "fuzz_input.hpp"
#include "journal/journal.hpp"
#include "link_types.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace journal = rpcrdma::journal;
namespace trace = rpcrdma::trace;

constexpr std::size_t frame_header = 5;

trace::TimeNs time_step(std::uint8_t value) {
  if (value == 255) return -1'000'000'000;
  return static_cast<trace::TimeNs>(value) * value * 1'000'000;
}

void check_octets(const journal::Octets& octets, std::size_t frame_length) {
  if (octets.in_frame) {
    require(octets.copy.empty() && octets.offset + octets.captured <= frame_length);
  } else {
    require(octets.copy.size() == octets.captured);
  }
}

/// Everything that drawing a frame reads. No RPC message may hold more than `most` octets.
void check_frame(const journal::Journal& kept, std::uint32_t frame, std::size_t frame_length, std::size_t most) {
  for (std::uint32_t at = kept.first(frame); at != journal::none; at = kept.note(at).next) {
    const journal::Note& note = kept.note(at);
    switch (note.kind) {
      case journal::NoteKind::message: {
        const journal::Message& message = kept.message(note.index);
        require(kept.connection(message.connection) != nullptr);
        require(message.exchange == 0 || kept.exchange(message.connection, message.exchange) != nullptr);
        require(message.first_frame <= message.last_frame);
        require(message.header_length <= message.octets.wire_length);
        if (message.last_frame == frame) check_octets(message.octets, frame_length);
        if (message.payload != journal::none) (void)kept.payload(message.payload);
        break;
      }
      case journal::NoteKind::unplaced:
        require(!kept.finished());
        check_octets(kept.unplaced(note.index).octets, frame_length);
        break;
      case journal::NoteKind::payload: {
        const journal::Payload& payload = kept.payload(note.index);
        require(payload.octets.size() <= payload.wire_length);
        require(payload.message == journal::none || kept.message(payload.message).connection == payload.connection);
        require(payload.octets.size() <= most);
        break;
      }
      case journal::NoteKind::operation:
        require(kept.connection(kept.operation(note.index).connection) != nullptr);
        break;
      case journal::NoteKind::part:
        if (const std::uint32_t message = kept.part(note.index).message; message != journal::none) {
          require(kept.message(message).connection == kept.part(note.index).connection);
        }
        break;
      case journal::NoteKind::handshake:
        check_octets(kept.handshake(note.index).area, frame_length);
        break;
    }
  }
  for (const std::uint32_t index : kept.findings_of(frame)) {
    require(kept.finding(index).frames.front() == frame);
    (void)kept.concerns(kept.finding(index));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  rpcrdma::wire::Bytes rest(data, size);
  journal::Journal kept;
  trace::Frame frame;
  frame.link = rpcrdma::fuzz::link_type(rest[0] & 0x7FU);
  frame.ref.time = 1'700'000'000'000'000'000;
  rest = rest.subspan(1);
  std::vector<std::size_t> lengths{0};
  const std::size_t most = 16 * size + 4096;  // every octet a few times, and pads
  while (rest.size() >= frame_header) {
    ++frame.ref.number;
    frame.ref.time += time_step(rest[0]);
    const std::size_t captured =
        std::min<std::size_t>(rpcrdma::wire::load_be16(rest.data() + 1), rest.size() - frame_header);
    // A copy of its own: nothing may be kept of it.
    const std::vector<std::uint8_t> octets(rest.begin() + frame_header,
                                           rest.begin() + static_cast<std::ptrdiff_t>(frame_header + captured));
    frame.octets = octets;
    frame.wire_length = static_cast<std::uint32_t>(captured) + rpcrdma::wire::load_be16(rest.data() + 3);
    kept.feed(frame);
    lengths.push_back(captured);
    check_frame(kept, static_cast<std::uint32_t>(frame.ref.number), captured, most);
    rest = rest.subspan(frame_header + captured);
  }
  kept.finish();
  for (std::size_t number = 0; number < lengths.size(); ++number) {
    check_frame(kept, static_cast<std::uint32_t>(number), lengths[number], most);
  }
  return 0;
}
