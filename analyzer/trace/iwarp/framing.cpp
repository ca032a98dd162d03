// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/iwarp/framing.hpp"

#include <algorithm>
#include <array>

#include "wire/crc32c.hpp"
#include "wire/ddp.hpp"

namespace rpcrdma::trace::iwarp {
namespace {

/// FPDUs of each direction whose CRC is verified without being asked to.
constexpr std::uint32_t verify_first = 32;
/// Room for an FPDU's octets that a direction keeps while idle.
constexpr std::size_t buffer_kept = 16U << 10U;

/// The length word, and the control octets if they are there, could open an FPDU.
bool head_possible(Bytes octets) noexcept {
  const std::uint16_t length = wire::load_be16(octets.data());
  if (length < wire::ddp_tagged_length) return false;
  if (octets.size() < 4) return true;
  const wire::DdpControl control = wire::ddp_control(octets.data() + 2);
  return control.plausible() && length >= control.header_length();
}

/// A marker says how far back its FPDU begins. Do those behind `first` say so, too, up to `end`, as far as they are
/// here?
bool more_markers(Bytes fpdu, std::uint64_t first, std::uint64_t end) noexcept {
  for (std::uint64_t at = first + wire::Markers::interval; at < end && at + 4 <= fpdu.size();
       at += wire::Markers::interval) {
    if (wire::load_be32(fpdu.data() + at) != at) return false;
  }
  return true;
}

/// The first word at `from` or behind it, in octets from the length word, that is what a marker there would say; the
/// size of `fpdu` when there is none. With a marker in front of the length word the next one may count from that.
std::size_t like_a_marker(Bytes fpdu, std::size_t from) noexcept {
  constexpr auto last = static_cast<std::size_t>(wire::Markers::interval - wire::Markers::octets);
  for (std::size_t at = from; at <= last && at + wire::Markers::octets <= fpdu.size(); at += wire::Markers::octets) {
    const std::uint32_t value = wire::load_be32(fpdu.data() + at);
    if (value == at || (at == last && value == wire::Markers::interval)) return at;
  }
  return fpdu.size();
}

/// Where markers stand in an FPDU of so many `plain` octets besides, which begins at `start`: its CRC agrees when they
/// are no part of them. That CRC covers what is a marker in any case, so it cannot tell one place from another.
std::optional<wire::Markers> markers_by_crc(Bytes fpdu, std::size_t plain, Position start) noexcept {
  constexpr auto marker = static_cast<std::size_t>(wire::Markers::octets);
  std::optional<wire::Markers> only;
  for (std::size_t at = like_a_marker(fpdu, marker); at < plain; at = like_a_marker(fpdu, at + marker)) {
    const wire::Markers seen{true, (start + at) % wire::Markers::interval};
    const Position ulpdu_end = seen.after(start, plain - wire::fpdu_crc_octets);
    const auto covered = static_cast<std::size_t>(ulpdu_end - start);
    // One right before the CRC field may be covered, or not.
    const std::size_t field = covered + static_cast<std::size_t>(seen.inside(ulpdu_end));
    if (field + wire::fpdu_crc_octets > fpdu.size() || !more_markers(fpdu, at, field)) continue;
    const std::uint32_t crc = wire::load_le32(fpdu.data() + field);
    if (crc != wire::crc32c(fpdu.first(covered)) && crc != wire::crc32c(fpdu.first(field))) continue;
    if (only) return std::nullopt;
    only = seen;
  }
  return only;
}

/// What is known of the octets from its length word on.
void give_octets(Fpdu& fpdu, Bytes octets) noexcept {
  fpdu.ulpdu_length = wire::load_be16(octets.data());
  const Bytes behind = octets.subspan(wire::fpdu_length_octets);
  fpdu.ulpdu = behind.first(std::min<std::size_t>(fpdu.ulpdu_length, behind.size()));
  const std::size_t pad = wire::fpdu_size(static_cast<std::uint16_t>(fpdu.ulpdu_length)) - wire::fpdu_crc_octets -
                          wire::fpdu_length_octets - fpdu.ulpdu_length;
  const Bytes rest = behind.subspan(fpdu.ulpdu.size());
  fpdu.pad = rest.first(std::min(pad, rest.size()));
}

}  // namespace

bool Framing::verifying() const noexcept {
  return crc_ != Crc::unused && (check_all_ || !markers_known_ || verified_ < verify_first);
}

bool Framing::in_doubt(bool crc_good, Bytes fpdu) const noexcept {
  if (crc_good || markers_known_) return false;
  return crc_ == Crc::used || like_a_marker(fpdu, wire::Markers::octets) < fpdu.size();
}

/// Where CRCs are used, one that does not agree says more than a plausible head behind it.
void Framing::count_plain(std::uint32_t octets, bool undecided) noexcept {
  plain_run_ = undecided && crc_ == Crc::used ? 0 : plain_run_ + octets;
}

void Framing::judge_crc(bool good, FrameRef frame, FpduHandler& handler) {
  ++verified_;
  if (crc_ == Crc::unknown) {
    if (good) crc_ = Crc::used;
    if (!good && markers_known_) crc_ = Crc::unused;  // or a marker is part of what it covers
  } else if (!good) {
    handler.crc_bad(frame);
  }
}

void Framing::open_at(Position position, bool markers_expected, Crc crc) {
  (void)window_.drop_before(position);
  state_ = State::framed;
  opened_at_ = position;
  settled_ = false;
  markers_expected_ = markers_expected;
  markers_known_ = true;
  crc_ = crc;
}

bool Framing::open_if_possible(Position position) {
  std::array<std::uint8_t, 4> head{};
  if (window_.read(position, head.size(), {}, head.data()) != Window::Have::yes) return false;
  const bool marker = wire::load_be16(head.data()) == 0;
  if (marker && window_.read(position + head.size(), head.size(), {}, head.data()) != Window::Have::yes) return false;
  if (!head_possible(head)) return false;
  open_at(position, markers_expected_, crc_);
  return true;
}

void Framing::fpdus_begin_at(std::uint32_t sequence) noexcept {
  begin_ = sequence;
  if (state_ != State::framed || markers_known_) return;
  // A marker is the first thing there, or nowhere.
  const auto found_behind = static_cast<std::uint32_t>(aligned_at_) - sequence;
  if (found_behind != 0 && found_behind != wire::Markers::octets) return;
  markers_known_ = true;
  if (found_behind == 0) return;
  markers_ = {true, (aligned_at_ - wire::Markers::octets) % wire::Markers::interval};
  behind_first_marker_ = aligned_at_;
}

void Framing::expect_markers(bool expected) noexcept {
  markers_expected_ = expected;
  expectation_told_ = true;
  if (state_ == State::search && !expected) markers_known_ = true;
}

void Framing::begin_search(Position from) {
  state_ = State::search;
  if (expectation_told_ && !markers_expected_) markers_known_ = true;
  alignment_.restart(from);
}

void Framing::silence() {
  state_ = State::silent;
  window_.clear();
  partial_ = {};
  buffer_ = std::vector<std::uint8_t>();
}

void Framing::make_room() {
  const std::size_t pieces = window_.pieces() / 2;
  for (std::size_t i = 0; i <= pieces && !window_.empty(); ++i) {
    const Window::Front front = window_.front();
    skipped_ += front.piece.wire_length;
    window_.pop_front();
  }
}

Framing::Kept Framing::keep(const Piece& piece) {
  if (window_.append(piece)) return Kept::all;
  if (state_ != State::search) return Kept::none;
  make_room();
  if (window_.append(piece)) return Kept::room_made;
  // Others hold all that may be held.
  skipped_ += piece.wire_length;
  if (!window_.empty()) (void)window_.append_hole(piece.start, piece.wire_length, piece.ref, piece.turn);
  return Kept::room_made;
}

Framing::Kept Framing::keep_hole(const Piece& hole, std::uint64_t count) {
  if (window_.append_hole(hole.start, count, hole.ref, hole.turn)) return Kept::all;
  if (state_ != State::search) return Kept::none;
  make_room();
  (void)window_.append_hole(hole.start, count, hole.ref, hole.turn);
  return Kept::room_made;
}

Framing::Kept Framing::push(const Piece& piece, bool live, FpduHandler& handler) {
  if (state_ == State::silent || piece.wire_length == 0) return Kept::all;
  if (!live || !direct()) return keep(piece);
  const Position reached = consume(piece, handler);
  if (reached == piece.end()) return Kept::all;
  Piece rest = piece;
  rest.drop_front(reached - piece.start);
  return keep(rest);
}

Framing::Kept Framing::hole(const Piece& hole, std::uint64_t count, bool live, FpduHandler& handler) {
  if (state_ == State::silent) return Kept::all;
  if (!live || !direct()) return keep_hole(hole, count);
  missing(hole.start, count, hole.ref, handler);
  return Kept::all;
}

void Framing::drain_one(FpduHandler& handler) {
  if (!settled_) {
    settled_ = true;
    std::array<std::uint8_t, 2> first{};
    const bool known = window_.read(opened_at_, first.size(), {}, first.data()) == Window::Have::yes;
    markers_.used = known ? wire::load_be16(first.data()) == 0 : markers_expected_;
    markers_.base = opened_at_;
    markers_known_ = known || expectation_told_;
  }
  const Window::Front front = window_.front();
  if (front.hole != 0) {
    const Position end = front.piece.start + front.hole;
    missing(front.piece.start, front.hole, front.piece.ref, handler);
    (void)window_.drop_before(end);
  } else {
    (void)window_.drop_before(consume(front.piece, handler));
  }
  if (window_.empty()) window_.clear();
}

bool Framing::align(Expectation expected, const Thresholds& thresholds, bool last, FpduHandler& handler) {
  if (state_ != State::search) return false;
  expected.markers_known = markers_known_;
  expected.markers_used = markers_expected_;
  expected.markers = markers_;
  if (begin_ && markers_expected_) expected.told = {true, *begin_ % wire::Markers::interval};
  if (crc_ != Crc::unknown) expected.crc = crc_ == Crc::used;
  const auto found = alignment_.look(window_, expected, thresholds, last);
  if (!found) return false;
  skipped_ += window_.drop_before(found->position);
  aligned_at_ = found->position;
  markers_ = found->markers;
  markers_known_ = markers_known_ || markers_.used;
  state_ = State::framed;
  settled_ = true;
  if (skipped_ != 0) handler.skipped(skipped_, window_.front().piece.ref);
  skipped_ = 0;
  return true;
}

void Framing::lose(Position from, Lost why, FrameRef frame, FpduHandler& handler) {
  skipped_ += partial_.have;
  partial_ = {};
  plain_run_ = 0;
  state_ = State::search;
  // Whatever made the search believe in a position must not do so twice.
  alignment_.restart(from == aligned_at_ ? from + 1 : from);
  if (why == Lost::broken) handler.mpa_bad(frame);
  if (why == Lost::cut) handler.mpa_cut(frame);
}

Position Framing::consume(Piece piece, FpduHandler& handler) {
  while (piece.wire_length > 0 && state_ == State::framed) {
    if (partial_.active || !in_place(piece, handler)) feed(piece, handler);
  }
  return piece.start;
}

/// A stream that was adopted without its handshake: are there markers after all? Every 512 octets there would be one.
/// False: there are, and it cannot be told which of two places is theirs.
bool Framing::look_for_markers(const Piece& piece) noexcept {
  const Bytes octets = piece.octets;
  if (octets.size() < 8) return true;
  if (wire::load_be32(octets.data()) == 0 && head_possible(octets.subspan(4))) {
    markers_ = {true, piece.start % wire::Markers::interval};
    markers_known_ = true;
    return true;
  }
  if (!head_possible(octets)) return true;
  const std::uint32_t size = wire::fpdu_size(wire::load_be16(octets.data()));
  if (plain_run_ > wire::Markers::interval) {
    markers_known_ = true;
    return true;
  }
  auto head_at = [&](std::uint64_t end) { return octets.subspan(static_cast<std::size_t>(end)); };
  // Only where the next FPDU should be and is not: file data may well hold what looks like a marker.
  if (size + 4 > piece.wire_length || (size + 4 <= octets.size() && head_possible(head_at(size)))) return true;
  const std::uint64_t all = std::min<std::uint64_t>(size + 4, wire::Markers::interval);
  const std::uint64_t reach = std::min<std::uint64_t>(all, octets.size() - 4);
  for (std::uint64_t distance = 4; distance < reach; distance += 4) {
    if (wire::load_be32(octets.data() + distance) != distance) continue;
    const wire::Markers seen{true, (piece.start + distance) % wire::Markers::interval};
    const std::uint64_t end = seen.after(piece.start, size) - piece.start;
    const std::uint64_t head = end + seen.inside(piece.start + end);
    const bool ends_well = end == piece.wire_length || (head + 4 <= octets.size() && head_possible(head_at(head)));
    if (!ends_well || !more_markers(octets, distance, end)) continue;
    // Two that fit, and one is none: a message number, a credit. Or the true one is what the capture lacks.
    if (markers_known_ || octets.size() < all) {
      markers_ = {};
      markers_known_ = false;
      return false;
    }
    markers_ = seen;
    markers_known_ = true;
  }
  return true;
}

bool Framing::in_place(Piece& piece, FpduHandler& handler) {
  if (!markers_known_ && !look_for_markers(piece)) {
    lose(piece.start, Lost::undecided, piece.ref, handler);
    return true;
  }
  // The head must be readable without looking for markers in it.
  if (piece.start == behind_first_marker_) return false;
  if (piece.octets.size() < wire::fpdu_length_octets || markers_.inside(piece.start) != 0) return false;
  if (markers_.until_next(piece.start) < 4) return false;
  const std::uint16_t length = wire::load_be16(piece.octets.data());
  const std::uint32_t size = wire::fpdu_size(length);
  const bool possible = head_possible(piece.octets);
  if (size > piece.wire_length || size > markers_.until_next(piece.start)) {
    if (possible) return false;
    lose(piece.start, Lost::broken, piece.ref, handler);
    return true;
  }
  bool crc_good = false;
  bool undecided = false;
  if (piece.octets.size() >= size && (verifying() || !possible)) {
    const std::uint32_t covered = size - static_cast<std::uint32_t>(wire::fpdu_crc_octets);
    crc_good = wire::crc32c(piece.octets.first(covered)) == wire::load_le32(piece.octets.data() + covered);
    undecided = possible && in_doubt(crc_good, piece.octets.first(size));
    if (possible && !undecided) judge_crc(crc_good, piece.ref, handler);
  }
  if (!possible) {
    // Where the CRC vouches for the frame, only what is inside it is wrong.
    if (crc_ != Crc::used || !crc_good || length < wire::ddp_tagged_length) {
      lose(piece.start, Lost::broken, piece.ref, handler);
      return true;
    }
    handler.mpa_bad(piece.ref);
    piece.drop_front(size);
    return true;
  }
  Fpdu fpdu;
  fpdu.start = piece.start;
  fpdu.end = piece.start + size;
  fpdu.first = fpdu.last = piece.ref;
  give_octets(fpdu, piece.octets);
  fpdu.undecided = undecided;
  count_plain(size, undecided);
  handler.fpdu(fpdu);
  piece.drop_front(size);
  return true;
}

void Framing::feed(Piece& piece, FpduHandler& handler) {
  if (!partial_.active) {
    partial_ = {};
    partial_.active = true;
    partial_.start = piece.start;
    partial_.first = piece.ref;
    partial_.verify = verifying();
    constexpr std::array<std::uint8_t, wire::Markers::octets> says_zero{};
    if (piece.start == behind_first_marker_) partial_.crc = wire::crc32c(says_zero);
    buffer_.clear();
  }
  if (markers_.inside(piece.start) != 0) {
    feed_marker(piece);
  } else {
    feed_octets(piece, handler);
  }
}

void Framing::feed_marker(Piece& piece) {
  const auto run = static_cast<std::uint32_t>(std::min<std::uint64_t>(markers_.inside(piece.start), piece.wire_length));
  const Bytes known = piece.octets.first(std::min<std::size_t>(run, piece.octets.size()));
  if (known.size() < run) partial_.verify = false;
  const std::uint32_t covered = partial_.need - static_cast<std::uint32_t>(wire::fpdu_crc_octets);
  if (partial_.verify && (partial_.need == 0 || partial_.have < covered)) {
    partial_.crc = wire::crc32c(known, partial_.crc);
    if (partial_.have != 0) partial_.crc_plain = wire::crc32c(known, partial_.crc_plain);
  } else if (partial_.verify && partial_.have == covered) {
    partial_.crc_tail = wire::crc32c(known, partial_.tail ? partial_.crc_tail : partial_.crc);
    partial_.tail = true;
  }
  piece.drop_front(run);
}

void Framing::feed_octets(Piece& piece, FpduHandler& handler) {
  if (partial_.have == 0) {
    partial_.start = piece.start;
    partial_.first = piece.ref;
  }
  const std::uint32_t wanted =
      (partial_.need != 0 ? partial_.need : static_cast<std::uint32_t>(wire::fpdu_length_octets)) - partial_.have;
  const auto run = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({wanted, piece.wire_length, markers_.until_next(piece.start)}));
  const Bytes known = piece.octets.first(std::min<std::size_t>(run, piece.octets.size()));
  if (!partial_.cut) {
    buffer_.insert(buffer_.end(), known.begin(), known.end());
    if (partial_.verify) {
      const std::size_t covered = partial_.need == 0 ? known.size() : partial_.need - wire::fpdu_crc_octets;
      const std::size_t left = partial_.need == 0 ? covered : (covered > partial_.have ? covered - partial_.have : 0);
      const Bytes part = known.first(std::min(known.size(), left));
      partial_.crc = wire::crc32c(part, partial_.crc);
      partial_.crc_plain = wire::crc32c(part, partial_.crc_plain);
    }
  }
  if (known.size() < run) {
    partial_.cut = true;
    partial_.verify = false;
  }
  partial_.have += run;
  const FrameRef frame = piece.ref;
  piece.drop_front(run);
  if (partial_.need == 0) {
    if (partial_.cut) {
      lose(piece.start, Lost::cut, frame, handler);
      return;
    }
    if (partial_.have < wire::fpdu_length_octets) return;
    const std::uint16_t length = wire::load_be16(buffer_.data());
    if (length < wire::ddp_tagged_length) {
      lose(piece.start, Lost::broken, frame, handler);
      return;
    }
    partial_.need = wire::fpdu_size(length);
  }
  if (!partial_.checked && buffer_.size() >= 4) {
    partial_.checked = true;
    if (!head_possible(buffer_)) {
      lose(piece.start, Lost::broken, frame, handler);
      return;
    }
    if (plain_run_ > wire::Markers::interval) markers_known_ = true;
  }
  if (partial_.have != partial_.need) return;
  find_markers_inside(piece);
  complete(frame, piece.start, handler);
}

/// An FPDU in pieces was read as if there were no markers, and its CRC says that this was wrong. If it agrees when
/// there are, they are taken out, and what they took the place of is taken from `rest`.
void Framing::find_markers_inside(Piece& rest) {
  if (markers_known_ || !partial_.verify) return;
  const std::size_t plain = buffer_.size();
  if (partial_.crc == wire::load_le32(buffer_.data() + plain - wire::fpdu_crc_octets)) return;
  const std::size_t most = (plain / (wire::Markers::interval - wire::Markers::octets) + 1) * wire::Markers::octets;
  const Bytes behind = rest.octets.first(std::min(rest.octets.size(), most));
  buffer_.insert(buffer_.end(), behind.begin(), behind.end());
  const auto seen = markers_by_crc(buffer_, plain, partial_.start);
  if (seen) {
    markers_ = *seen;
    markers_known_ = true;
    rest.drop_front(markers_.after(partial_.start, plain) - partial_.start - plain);
    std::size_t kept = 0;
    for (std::size_t at = 0; at < buffer_.size(); ++at) {
      if (markers_.inside(partial_.start + at) == 0) buffer_[kept++] = buffer_[at];
    }
  }
  buffer_.resize(plain);
  if (seen) partial_.crc = wire::load_le32(buffer_.data() + plain - wire::fpdu_crc_octets);
}

void Framing::complete(FrameRef last, Position end, FpduHandler& handler) {
  bool undecided = partial_.cut && !markers_known_;
  if (!partial_.cut) {
    const std::uint32_t crc = wire::load_le32(buffer_.data() + partial_.need - wire::fpdu_crc_octets);
    // Whether markers right before the length word and right before the CRC field belong to what is covered is read
    // both ways; any reading that agrees proves the octets good.
    const bool good = partial_.verify &&
                      (crc == partial_.crc || crc == partial_.crc_plain || (partial_.tail && crc == partial_.crc_tail));
    undecided = in_doubt(good, buffer_);
    if (partial_.verify && !undecided) judge_crc(good, partial_.first, handler);
  }
  Fpdu fpdu;
  fpdu.start = partial_.start;
  fpdu.end = end;
  fpdu.first = partial_.first;
  fpdu.last = last;
  give_octets(fpdu, buffer_);
  fpdu.undecided = undecided;
  count_plain(partial_.need, undecided);
  partial_ = {};
  handler.fpdu(fpdu);
  if (buffer_.capacity() > buffer_kept) buffer_ = std::vector<std::uint8_t>();
}

void Framing::missing(Position start, std::uint64_t count, FrameRef frame, FpduHandler& handler) {
  const Position hole_end = start + count;
  if (partial_.active && partial_.need != 0) {
    const Position end = markers_.after(start, partial_.need - partial_.have);
    partial_.cut = true;
    partial_.verify = false;
    if (hole_end < end) {
      partial_.have += static_cast<std::uint32_t>(markers_.plain(start, hole_end));
      return;
    }
    // Its length is known, so it counts, and when the hole ends with it, nothing else is lost.
    complete(frame, end, handler);
    if (hole_end == end) return;
  }
  lose(hole_end, Lost::behind_a_hole, frame, handler);
}

}  // namespace rpcrdma::trace::iwarp
