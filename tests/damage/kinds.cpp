// SPDX-License-Identifier: GPL-2.0-or-later
#include "damage/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "playback/mutants.hpp"

namespace damage {
namespace {

using playback::Recording;
using playback::Take;
using rpcrdma::trace::Frame;
using rpcrdma::trace::TimeNs;

constexpr TimeNs microsecond = 1'000, millisecond = 1'000'000, hour = 3'600'000'000'000;

std::size_t frames(const Source& source) { return source.recording.frames.size(); }
std::size_t frames_but_one(const Source& source) { return std::max<std::size_t>(frames(source), 1) - 1; }
template <std::size_t n>
std::size_t always(const Source& source) {
  return source.recording.frames.empty() ? 0 : n;
}

Variant kept(const Source& source, std::string name, const std::function<bool(std::size_t)>& keep) {
  Variant made{std::move(name), {}};
  for (std::size_t i = 0; i < frames(source); ++i) {
    if (keep(i)) made.recording.frames.push_back(source.recording.frames[i]);
  }
  return made;
}

void sort_by_time(Take& take) {
  std::stable_sort(take.begin(), take.end(), [](const Frame& a, const Frame& b) { return a.ref.time < b.ref.time; });
}

/// The senders of a capture, each with its peer, in the order in which they begin to send.
std::vector<std::string> senders(const Source& source) {
  std::vector<std::string> found;
  for (const Glance& seen : source.glances) {
    if (!seen.sender.empty() && std::find(found.begin(), found.end(), seen.sender) == found.end()) {
      found.push_back(seen.sender);
    }
  }
  return found;
}
std::size_t two_senders(const Source& source) { return std::min<std::size_t>(senders(source).size(), 2); }

// --- what is missing

Variant lost(const Source& source, std::size_t index) {
  return kept(source, fmt::format("without frame {}", index + 1), [=](std::size_t i) { return i != index; });
}
Variant pair_lost(const Source& source, std::size_t index) {
  return kept(source, fmt::format("without frames {} and {}", index + 1, index + 2),
              [=](std::size_t i) { return i != index && i != index + 1; });
}
std::size_t bursts(const Source& source) { return frames(source) < 40 ? 0 : frames(source) / 4; }
Variant burst_lost(const Source& source, std::size_t index) {
  const std::size_t first = index * 4, length = 3 + index % 15;
  return kept(source, fmt::format("without frames {} to {}", first + 1, first + length),
              [=](std::size_t i) { return i < first || i >= first + length; });
}
Variant one_in(const Source& source, std::size_t index, std::string_view words, std::size_t of, bool keeps) {
  std::mt19937 chance(playback::seed_of(fmt::format("{} {} {}", source.name, words, index)));
  const std::string name = fmt::format("{} one in {}, {}", words, of, index + 1);
  return kept(source, name, [&](std::size_t) { return (chance() % of == 0) == keeps; });
}
Variant some_lost(const Source& source, std::size_t index) {
  constexpr std::array<std::size_t, 4> shares{100, 50, 20, 10};
  return one_in(source, index, "without", shares.at(index % shares.size()), false);
}
Variant sampled(const Source& source, std::size_t index) {
  constexpr std::array<std::size_t, 4> shares{2, 4, 16, 64};
  return one_in(source, index, "with", shares.at(index % shares.size()), true);
}
Variant one_direction(const Source& source, std::size_t index) {
  const std::string sender = senders(source).at(index);
  return kept(source, fmt::format("only sender {}", index + 1),
              [&](std::size_t i) { return source.glances[i].sender == sender; });
}
std::size_t with_acknowledgements(const Source& source) {
  const bool any = std::any_of(source.glances.begin(), source.glances.end(),
                               [](const Glance& seen) { return seen.carries == Carries::acknowledgement; });
  return any ? 1 + two_senders(source) : 0;
}
Variant no_acknowledgements(const Source& source, std::size_t index) {
  const std::string sender = index == 0 ? "" : senders(source).at(index - 1);
  const std::string name =
      index == 0 ? "without acknowledgements" : fmt::format("without acknowledgements of sender {}", index);
  return kept(source, name, [&](std::size_t i) {
    const Glance& seen = source.glances[i];
    return seen.carries != Carries::acknowledgement || (!sender.empty() && seen.sender != sender);
  });
}
Variant no_handshake(const Source& source, std::size_t index) {
  const std::string sender = index == 0 || two_senders(source) < index ? "" : senders(source).at(index - 1);
  const std::string name = index == 0 ? "without handshakes" : fmt::format("without handshakes of sender {}", index);
  return kept(source, name, [&](std::size_t i) {
    const Glance& seen = source.glances[i];
    return seen.carries != Carries::handshake || (!sender.empty() && seen.sender != sender);
  });
}
Variant late(const Source& source, std::size_t index) {
  return kept(source, fmt::format("from frame {} on", index + 2), [=](std::size_t i) { return i > index; });
}
Variant early(const Source& source, std::size_t index) {
  return kept(source, fmt::format("up to frame {}", index + 1), [=](std::size_t i) { return i <= index; });
}
/// A file of the ring that nobody copied.
std::size_t files_of_a_ring(const Source& source) { return frames(source) < 60 ? 0 : 8; }
Variant file_missing(const Source& source, std::size_t index) {
  const std::size_t length = frames(source) / 10, first = (index + 1) * length;
  return kept(source, fmt::format("without the file from frame {} to {}", first + 1, first + length),
              [=](std::size_t i) { return i < first || i >= first + length; });
}

// --- what is cut

constexpr std::array<std::uint32_t, 20> snaps{54,  60,  64,  70,  76,  80,  88,  96,  104, 110,
                                              118, 128, 140, 150, 160, 180, 200, 256, 400, 700};
Variant cut(const Source& source, std::size_t index) {
  const std::uint32_t snap = snaps.at(index);
  Variant made{fmt::format("cut to {} octets", snap), {}};
  made.recording.frames = playback::cut(source.recording.frames, snap);
  return made;
}
/// Those for which `chosen` holds: several captures of different snap lengths in one file.
template <class Chosen>
Variant cut_there(const Source& source, std::string&& name, std::uint32_t snap, Chosen chosen) {
  Variant made{std::move(name), {}};
  const Take& take = source.recording.frames;
  const Take shorter = playback::cut(take, snap);
  for (std::size_t i = 0; i < take.size(); ++i) made.recording.frames.push_back(chosen(i) ? shorter[i] : take[i]);
  return made;
}
constexpr std::array<std::uint32_t, 2> single_snaps{64, 96};
std::size_t single_cuts(const Source& source) { return frames(source) * single_snaps.size(); }
Variant one_cut(const Source& source, std::size_t index) {
  const std::uint32_t snap = single_snaps.at(index % single_snaps.size());
  const std::size_t which = index / single_snaps.size();
  return cut_there(source, fmt::format("frame {} cut to {} octets", which + 1, snap), snap,
                   [=](std::size_t i) { return i == which; });
}
Variant some_cut(const Source& source, std::size_t index) {
  const std::uint32_t snap = snaps.at(index % snaps.size());
  std::mt19937 chance(playback::seed_of(fmt::format("{} some cut {}", source.name, index)));
  return cut_there(source, fmt::format("half of the frames cut to {} octets, {}", snap, index / snaps.size() + 1), snap,
                   [&](std::size_t) { return chance() % 2 == 0; });
}
/// A mirror session of one direction that cuts, or two interfaces of different snap lengths.
std::size_t cuts_of_one_sender(const Source& source) { return two_senders(source) * snaps.size(); }
Variant one_sender_cut(const Source& source, std::size_t index) {
  const std::uint32_t snap = snaps.at(index % snaps.size());
  const std::size_t which = index / snaps.size();
  const std::string one = senders(source).at(which);
  const std::string host = one.substr(0, one.size() / 2);
  return cut_there(source, fmt::format("what sender {} sends, cut to {} octets", which + 1, snap), snap,
                   [&](std::size_t i) { return source.glances[i].sender.starts_with(host); });
}
/// A switch cuts what it mirrors and counts its own trailer as part of the frame: the file knows of no cut.
Variant cut_by_a_switch(const Source& source, std::size_t index) {
  const std::uint32_t snap = snaps.at(index / 2 * 2), trailer = index % 2 == 0 ? 4 : 12;
  Variant made{fmt::format("cut by a switch to {} octets with {} of its own", snap, trailer), {}};
  for (const Frame& frame : source.recording.frames) {
    std::vector<std::uint8_t> octets(frame.octets.begin(), frame.octets.end());
    if (octets.size() > snap + trailer) {
      octets.resize(snap);
      for (std::uint32_t i = 0; i < trailer; ++i) octets.push_back(static_cast<std::uint8_t>(0xA7 + i * 29));
    }
    Frame like = frame;
    if (octets.size() != frame.octets.size()) like.wire_length = static_cast<std::uint32_t>(octets.size());
    made.recording.add(std::move(octets), like);
  }
  return made;
}
std::size_t on_ethernet(const Source& source) {
  const bool all =
      std::all_of(source.glances.begin(), source.glances.end(), [](const Glance& seen) { return seen.network != 0; });
  return all ? snaps.size() : 0;
}

// --- what comes in another order

std::size_t skews(const Source& source) { return senders(source).size() < 2 ? 0 : 10; }
/// What is kept, with one host's frames so much later.
Variant apart(const Source& source, std::size_t which, TimeNs skew, const std::function<bool(std::size_t)>& keep) {
  // Two hosts, whoever of them opens which connection.
  const std::string one = senders(source).at(which);
  const std::string host = one.substr(0, one.size() / 2);
  Variant made{fmt::format("sender {} {} us late", which + 1, skew / microsecond), {}, skew};
  for (std::size_t i = 0; i < frames(source); ++i) {
    if (!keep(i)) continue;
    made.recording.frames.push_back(source.recording.frames[i]);
    if (source.glances[i].sender.starts_with(host)) made.recording.frames.back().ref.time += skew;
  }
  sort_by_time(made.recording.frames);
  return made;
}
constexpr std::array<TimeNs, 5> skew_by{300 * microsecond, millisecond, 5 * millisecond, 20 * millisecond,
                                        50 * millisecond};
Variant skewed(const Source& source, std::size_t index) {
  return apart(source, index % 2, skew_by.at(index / 2), [](std::size_t) { return true; });
}
/// Nothing tells which of the two sides was first.
std::size_t unacknowledged_skews(const Source& source) {
  return with_acknowledgements(source) == 0 ? 0 : skews(source);
}
Variant skewed_unacknowledged(const Source& source, std::size_t index) {
  return apart(source, index % 2, skew_by.at(index / 2),
               [&](std::size_t i) { return source.glances[i].carries != Carries::acknowledgement; });
}
std::size_t lossy_skews(const Source& source) { return skews(source) == 0 ? 0 : 2 * frames(source); }
Variant skewed_lossy(const Source& source, std::size_t index) {
  Variant made = apart(source, index % 2, 5 * millisecond, [=](std::size_t i) { return i != index / 2; });
  made.name += fmt::format(", without frame {}", index / 2 + 1);
  return made;
}
/// Neighbours within a millisecond: queues of an adapter that are read in turn.
Variant swapped(const Source& source, std::size_t index) {
  Variant made{fmt::format("frames {} and {} exchanged", index + 1, index + 2), {}};
  const Take& take = source.recording.frames;
  const bool near = take[index + 1].ref.time - take[index].ref.time < millisecond;
  made.recording.frames = near ? playback::exchanged(take, index) : take;
  return made;
}
/// Several queues again: one frame stands a few places later, as it was stamped.
constexpr std::array<std::size_t, 3> places{2, 3, 5};
std::size_t moves(const Source& source) { return frames(source) * places.size(); }
bool story(const Source& source) { return !source.other.frames.empty(); }
std::size_t moves_in_captures(const Source& source) { return story(source) ? 0 : moves(source); }
std::size_t moves_in_stories(const Source& source) { return story(source) ? moves(source) : 0; }
Variant moved(const Source& source, std::size_t index) {
  const std::size_t which = index / places.size(), by = places.at(index % places.size());
  Variant made{fmt::format("frame {} stored {} places later", which + 1, by), {}};
  Take& take = made.recording.frames;
  take = source.recording.frames;
  const std::size_t to = which + by;
  if (to >= take.size() || take[to].ref.time - take[which].ref.time >= millisecond) return made;
  const auto first = take.begin() + static_cast<std::ptrdiff_t>(which);
  std::rotate(first, first + 1, first + static_cast<std::ptrdiff_t>(by) + 1);
  return made;
}
/// Not so with stories, where all happens within that time.
std::size_t shuffles(const Source& source) { return story(source) ? 0 : 4; }
Variant shuffled(const Source& source, std::size_t index) {
  constexpr std::array<TimeNs, 4> spans{5 * microsecond, 20 * microsecond, 50 * microsecond, 100 * microsecond};
  const TimeNs span = spans.at(index);
  std::mt19937 chance(playback::seed_of(fmt::format("{} shuffled {}", source.name, index)));
  Variant made{fmt::format("stamped up to {} us late", span / microsecond), {}};
  made.recording.frames = source.recording.frames;
  for (Frame& frame : made.recording.frames)
    frame.ref.time += static_cast<TimeNs>(chance() % static_cast<std::uint64_t>(span));
  sort_by_time(made.recording.frames);
  return made;
}

// --- what is there twice

std::vector<std::uint8_t> a_hop_later(const Frame& frame, const Glance& seen) {
  std::vector<std::uint8_t> octets(frame.octets.begin(), frame.octets.end());
  const std::size_t network = seen.network;
  if (network != 0 && octets.size() > network + 12) octets[network + (octets[network] >> 4U == 4 ? 8U : 7U)] -= 1;
  return octets;
}
constexpr std::array<TimeNs, 3> delays{0, 20 * microsecond, 300 * microsecond};
Variant again(const Source& source, std::size_t index) {
  static constexpr std::array<std::string_view, 5> how{"as it is", "a hop later", "in another class",
                                                       "to another machine's address", "in a VLAN"};
  const TimeNs delay = delays.at(index / how.size());
  const std::size_t change = index % how.size();
  Variant made{fmt::format("each frame again {} us later, {}", delay / microsecond, how.at(change)), {}};
  const Take& take = source.recording.frames;
  for (std::size_t i = 0; i < take.size(); ++i) {
    made.recording.frames.push_back(take[i]);
    std::vector<std::uint8_t> octets(take[i].octets.begin(), take[i].octets.end());
    if (change == 1) octets = a_hop_later(take[i], source.glances[i]);
    Frame like = take[i];
    like.ref.time += delay;
    const std::size_t network = source.glances[i].network;
    const bool old = network != 0 && octets.size() > network + 12 && octets[network] >> 4U == 4;
    if (network != 0 && octets.size() > network + 12) {
      if (change == 2 && old) octets[network + 1] ^= 0x68;
      if (change == 2 && !old) octets[network + 1] ^= 0x40;
      if (change == 3) octets[3] ^= 0x11, octets[9] ^= 0x22;
      if (change == 4) {
        const std::array<std::uint8_t, 4> tag{0x81, 0x00, 0x00, 0x2A};
        octets.insert(octets.begin() + 12, tag.begin(), tag.end());
        like.wire_length += 4;
      }
    }
    made.recording.add(std::move(octets), like);
  }
  sort_by_time(made.recording.frames);
  return made;
}
/// The same addresses, ports and queue pairs after an hour: a machine that was switched off, and is there again.
/// Where the first connection was not closed, because its end is missing, what it waited for may still come.
Variant another_hour(const Source& source, std::size_t index) {
  const bool open = index == 1;
  Variant made{open ? "half of it, and all an hour later" : "again an hour later", {}, hour};
  const Take& second = source.other.frames.empty() ? source.recording.frames : source.other.frames;
  made.recording.frames = source.recording.frames;
  if (open) made.recording.frames.resize(frames(source) / 2);
  for (Frame frame : second) {
    frame.ref.time += hour;
    made.recording.frames.push_back(frame);
  }
  return made;
}

/// A port of the mirror that goes down, or comes up, in the middle.
std::size_t port_changes(const Source& source) { return frames(source) * 2 * two_senders(source); }
Variant port_changed(const Source& source, std::size_t index) {
  const std::size_t n = frames(source), first = index % n;
  const bool up = index / n % 2 != 0;
  const std::size_t which = index / n / 2;
  const std::string one = senders(source).at(which);
  const std::string host = one.substr(0, one.size() / 2);
  return kept(
      source, fmt::format("sender {} only {} frame {}", which + 1, up ? "from" : "up to", first + 1),
      [&](std::size_t i) { return !source.glances[i].sender.starts_with(host) || (up ? i >= first : i <= first); });
}

/// Another mirror, of another switch, begins late: one that is behind the first, and where nothing but TCP carries
/// data, one that is ahead: there acknowledgements tell the order.
std::size_t second_mirrors(const Source& source) {
  const auto data_as = [&](bool numbered) {
    return std::any_of(source.glances.begin(), source.glances.end(), [numbered](const Glance& seen) {
      return seen.carries == Carries::data && (seen.numbered.as != Numbered::As::none) == numbered;
    });
  };
  const bool tcp = data_as(false) && !data_as(true);
  return frames(source) * (tcp ? 2 : 1);
}
Variant second_mirror(const Source& source, std::size_t index) {
  const std::size_t n = frames(source), first = index % n;
  const TimeNs delay = index < n ? 40 * microsecond : -40 * microsecond;
  Variant made{fmt::format("a second mirror from frame {} on, {} us later", first + 1, delay / microsecond), {}};
  const Take& take = source.recording.frames;
  for (std::size_t i = 0; i < n; ++i) {
    made.recording.frames.push_back(take[i]);
    if (i < first) continue;
    Frame like = take[i];
    like.ref.time += delay;
    made.recording.add(a_hop_later(take[i], source.glances[i]), like);
  }
  sort_by_time(made.recording.frames);
  return made;
}

using Waits = Kind::Waits;
using Holds = Kind::Holds;
using Damages = Kind::Damages;
constexpr std::array all_kinds{
    Kind{"a frame lost", Waits::may_be_hidden, Holds::less, frames, lost},
    Kind{"neighbours lost", Waits::may_be_hidden, Holds::less, frames_but_one, pair_lost},
    Kind{"a burst lost", Waits::may_be_hidden, Holds::less, bursts, burst_lost},
    Kind{"some lost", Waits::may_be_hidden, Holds::less, always<24>, some_lost},
    Kind{"sampled", Waits::may_be_hidden, Holds::less, always<12>, sampled},
    Kind{"one direction", Waits::may_be_hidden, Holds::less, two_senders, one_direction},
    Kind{"acknowledgements lost", Waits::may_be_hidden, Holds::less, with_acknowledgements, no_acknowledgements},
    Kind{"handshakes lost", Waits::may_be_hidden, Holds::less, always<3>, no_handshake},
    Kind{"late", Waits::may_be_hidden, Holds::less, frames_but_one, late},
    Kind{"early end", Waits::different, Holds::less, frames_but_one, early},
    Kind{"a file missing", Waits::may_be_hidden, Holds::less, files_of_a_ring, file_missing},
    Kind{"cut", Waits::may_be_hidden, Holds::less, always<snaps.size()>, cut},
    Kind{"one frame cut", Waits::may_be_hidden, Holds::less, single_cuts, one_cut},
    Kind{"some cut", Waits::may_be_hidden, Holds::less, always<2 * snaps.size()>, some_cut},
    Kind{"one sender cut", Waits::may_be_hidden, Holds::less, cuts_of_one_sender, one_sender_cut},
    Kind{"cut by a switch", Waits::may_be_hidden, Holds::less, on_ethernet, cut_by_a_switch},
    Kind{"skewed", Waits::different, Holds::everything, skews, skewed},
    Kind{"skewed, not acknowledged", Waits::different, Holds::less, unacknowledged_skews, skewed_unacknowledged,
         Damages::more},
    Kind{"skewed, a frame lost", Waits::different, Holds::less, lossy_skews, skewed_lossy, Damages::more},
    Kind{"exchanged", Waits::the_same, Holds::everything, frames_but_one, swapped},
    Kind{"moved", Waits::different, Holds::everything_elsewhere, moves_in_captures, moved},
    Kind{"moved in a story", Waits::different, Holds::everything_elsewhere, moves_in_stories, moved},
    Kind{"shuffled", Waits::different, Holds::everything, shuffles, shuffled},
    Kind{"twice", Waits::the_same, Holds::everything, always<15>, again},
    Kind{"a port changed", Waits::may_be_hidden, Holds::less, port_changes, port_changed},
    Kind{"a second mirror", Waits::the_same, Holds::everything, second_mirrors, second_mirror},
    Kind{"another hour", Waits::different, Holds::less, always<2>, another_hour},
};

}  // namespace

std::span<const Kind> kinds() { return all_kinds; }

}  // namespace damage
