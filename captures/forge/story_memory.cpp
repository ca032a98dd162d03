// SPDX-License-Identifier: GPL-2.0-or-later
// Steps that touch registered memory: read, respond, write; and how a step names a chunk.
#include <algorithm>

#include "story.hpp"

namespace forge {
namespace {

Chunk cut(const Segment& whole, std::uint32_t size) {
  Chunk out;
  for (std::uint32_t done = 0; done < whole.length;) {
    const std::uint32_t count = std::min(size, whole.length - done);
    out.push_back({whole.handle, count, whole.offset + done});
    done += count;
  }
  return out;
}

}  // namespace

Chunk read_chunk(const YAML::Node& node, const std::string& where, std::uint32_t length) {
  if (node.IsSequence()) {
    Chunk out;
    for (const YAML::Node& part : node) {
      for (const Segment& s : read_chunk(part, where, length)) out.push_back(s);
    }
    return out;
  }
  Words words(node, where);
  Segment s;
  static_cast<void>(words.has("position"));  // the Read list's business
  static_cast<void>(words.has("item"));
  if (words.has("segments")) {
    Chunk out = read_chunk(words.node("segments"), where, length);
    words.done();
    return out;
  }
  s.handle = words.need<std::uint32_t>("handle");
  s.offset = words.get<std::uint64_t>("offset", usual_offset);
  s.length = words.get<std::uint32_t>("length", length);
  const auto split = words.get<std::uint32_t>("split", 0);
  words.done();
  return split == 0 ? Chunk{s} : cut(s, split);
}

void Story::read(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::server);
  Chunk wanted;
  if (words.has("handle")) {
    Segment s;
    s.handle = words.need<std::uint32_t>("handle");
    s.offset = words.get<std::uint64_t>("offset", usual_offset);
    s.length = words.need<std::uint32_t>("length");
    wanted.push_back(s);
  } else {
    const auto of = words.maybe<std::string>("of");
    const auto& exposed = line().exposed;
    const auto found = std::find_if(exposed.rbegin(), exposed.rend(),
                                    [&](const Exposed& e) { return of ? e.label == *of : e.owner == other(by); });
    if (found == exposed.rend()) throw Mistake("there is no Read chunk to read");
    for (const Chunk& chunk : found->chunks) wanted.insert(wanted.end(), chunk.begin(), chunk.end());
  }
  const auto pieces = words.get<std::uint32_t>("pieces", 0);
  const auto answer = words.get<bool>("answer", true);
  for (const Segment& segment : wanted) {
    for (const Segment& s : pieces == 0 ? Chunk{segment} : cut(segment, pieces)) {
      Done d{step.label, "read", line().wire->read(by, s.handle, s.offset, s.length), false, s, by};
      if (answer) {
        line().wire->respond(d.op, memory(other(by)).load(s.handle, s.offset, s.length));
        d.unanswered.reset();
      }
      line().done.push_back(d);
    }
  }
}

void Story::respond(const Step& /*step*/, Words& words) {
  const auto label = words.need<std::string>("step");
  for (Done& d : line().done) {
    if (d.label != label || !d.unanswered) continue;
    const Segment s = *d.unanswered;
    line().wire->respond(d.op, memory(other(d.by)).load(s.handle, s.offset, s.length));
    if (!words.get<bool>("again", false)) d.unanswered.reset();
  }
}

void Story::write(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::server);
  Segment s;
  s.handle = words.need<std::uint32_t>("handle");
  s.offset = words.get<std::uint64_t>("offset", usual_offset);
  s.length = words.need<std::uint32_t>("length");
  const auto pieces = words.get<std::uint32_t>("pieces", 0);
  std::vector<Placement> placements;
  for (const Segment& part : pieces == 0 ? Chunk{s} : cut(s, pieces)) {
    placements.push_back({part.handle, part.offset, pattern(part.offset, part.length)});
  }
  place(step, by, placements);
  acknowledge(step, other(by));
}

void Story::atomic(const Step& step, Words& words) {
  const Side by = words.side("by").value_or(Side::server);
  const auto handle = words.need<std::uint32_t>("handle");
  const Op op = line().wire->atomic(by, handle, words.get<std::uint64_t>("offset", usual_offset));
  line().done.push_back({step.label, "atomic", op, false, std::nullopt, by});
}

void Story::place(const Step& step, Side by, const std::vector<Placement>& placements) {
  for (const Placement& p : placements) {
    const Op op = line().wire->write(by, p.handle, p.offset, p.octets);
    line().done.push_back({step.label, "write", op, false, std::nullopt, by});
  }
}

}  // namespace forge
