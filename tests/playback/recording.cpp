// SPDX-License-Identifier: GPL-2.0-or-later
#include "playback/recording.hpp"

#include <stdexcept>
#include <utility>

#include "forge/capture_file.hpp"
#include "reader/capture.hpp"

namespace playback {

using rpcrdma::trace::Frame;
using rpcrdma::trace::LinkType;

void Recording::add(std::vector<std::uint8_t> kept, const Frame& like) {
  octets.push_back(std::move(kept));
  frames.push_back(like);
  frames.back().octets = octets.back();
}

Recording recorded(const forge::Film& film, const forge::Transport& transport) {
  const bool infiniband = transport.fabric.link == forge::Link::infiniband;
  Recording recording;
  for (const forge::Shot& shot : film.shots) {
    if (!shot.captured) continue;
    forge::Record record = forge::record(shot, infiniband);
    Frame frame;
    frame.ref.time = shot.time;
    frame.link = infiniband ? LinkType::erf : LinkType::ethernet;
    frame.wire_length = record.length;
    recording.add(std::move(record.octets), frame);
  }
  return recording;
}

Recording read(const std::string& path) {
  auto capture = rpcrdma::reader::Capture::open(path);
  if (!capture) throw std::runtime_error(capture.error());
  Recording recording;
  while (const Frame* frame = (*capture)->next()) {
    if ((*capture)->packet()) recording.add({frame->octets.begin(), frame->octets.end()}, *frame);
  }
  if (const auto& damaged = (*capture)->facts().damaged) throw std::runtime_error(path + ": " + damaged->reason);
  return recording;
}

}  // namespace playback
