// SPDX-License-Identifier: GPL-2.0-or-later
#include "playback/recording.hpp"

#include <pcap/pcap.h>

#include <memory>
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

Recording read(const std::string& path, End end) {
  auto capture = rpcrdma::reader::Capture::open(path);
  if (!capture) throw std::runtime_error(path + ": " + capture.error());
  Recording recording;
  while (const Frame* frame = (*capture)->next()) {
    if ((*capture)->packet()) recording.add({frame->octets.begin(), frame->octets.end()}, *frame);
  }
  const auto& damaged = (*capture)->facts().damaged;
  if (damaged && end == End::whole) throw std::runtime_error(path + ": " + damaged->reason);
  return recording;
}

void write(const Take& frames, const std::string& path) {
  constexpr int longest = 262144;
  constexpr std::int64_t second = 1'000'000'000;
  const int link = static_cast<int>(frames.empty() ? LinkType::ethernet : frames.front().link);
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> handle(
      pcap_open_dead_with_tstamp_precision(link, longest, PCAP_TSTAMP_PRECISION_NANO), pcap_close);
  const std::unique_ptr<pcap_dumper_t, decltype(&pcap_dump_close)> file(pcap_dump_open(handle.get(), path.c_str()),
                                                                        pcap_dump_close);
  if (file == nullptr) throw std::runtime_error(pcap_geterr(handle.get()));
  for (const Frame& frame : frames) {
    pcap_pkthdr header{};
    header.ts.tv_sec = frame.ref.time / second;
    header.ts.tv_usec = frame.ref.time % second;
    header.caplen = static_cast<bpf_u_int32>(frame.octets.size());
    header.len = frame.wire_length;
    pcap_dump(reinterpret_cast<u_char*>(file.get()), &header, frame.octets.data());
  }
}

}  // namespace playback
