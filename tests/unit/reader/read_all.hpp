// SPDX-License-Identifier: GPL-2.0-or-later
// A capture read to its end, kept for looking at.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define RPCRDMA_LEAKS_ARE_SEEN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RPCRDMA_LEAKS_ARE_SEEN
#endif
#endif
#ifdef RPCRDMA_LEAKS_ARE_SEEN
#include <sanitizer/lsan_interface.h>
#endif

#include <cstdint>
#include <string>
#include <vector>

#include "capture_writer.hpp"
#include "reader/capture.hpp"

namespace rpcrdma::reader::test {

struct Got {
  trace::TimeNs time = 0;
  trace::LinkType link = trace::LinkType::ethernet;
  Octets octets;
  std::uint32_t wire_length = 0;
  std::uint8_t fcs_length = 0;
  bool packet = true;

  bool operator==(const Got&) const = default;
};

struct Reading {
  std::string error;  ///< open() failed
  std::vector<Got> frames;
  InputFacts facts;

  bool operator==(const Reading&) const = default;
};

inline Reading read_all(const std::string& path, Ways ways = Ways::all) {
#ifdef RPCRDMA_LEAKS_ARE_SEEN
  const __lsan::ScopedDisabler libwiretap_loses_a_buffer_of_some_damaged_blocks;
#endif
  Reading out;
  auto capture = Capture::open(path, 1, ways);
  if (!capture) {
    out.error = capture.error();
    return out;
  }
  while (const trace::Frame* frame = (*capture)->next()) {
    out.frames.push_back({frame->ref.time, frame->link, Octets(frame->octets.begin(), frame->octets.end()),
                          frame->wire_length, frame->fcs_length, (*capture)->packet()});
  }
  out.facts = (*capture)->facts();
  return out;
}

}  // namespace rpcrdma::reader::test
