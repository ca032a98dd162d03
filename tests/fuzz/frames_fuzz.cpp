// SPDX-License-Identifier: GPL-2.0-or-later
// A whole trace from one input: one octet for the link type (0x80: check the checksums of every packet), then
// frames. Each frame: one octet of time since the frame
// before, two octets how much of it was captured, two octets how much the capture did not keep, the captured octets.
#include <algorithm>

#include "fuzz_input.hpp"
#include "link_types.hpp"
#include "referee/referee.hpp"
#include "trace/trace.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace trace = rpcrdma::trace;

constexpr std::size_t frame_header = 5;

// Squared milliseconds reach over every timeout; the last value goes back in time.
trace::TimeNs time_step(std::uint8_t value) {
  if (value == 255) return -1'000'000'000;
  return static_cast<trace::TimeNs>(value) * value * 1'000'000;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  rpcrdma::wire::Bytes rest(data, size);
  const auto link = rpcrdma::fuzz::link_type(rest[0] & 0x7FU);
  const bool check_crc = rest[0] >= 128;
  rest = rest.subspan(1);

  rpcrdma::referee::Referee referee{{}};
  trace::Options options;
  options.check_crc = check_crc;
  trace::Trace trace(options, referee);

  trace::Frame frame;
  frame.link = link;
  frame.ref.time = 1'700'000'000'000'000'000;
  while (rest.size() >= frame_header) {
    ++frame.ref.number;
    frame.ref.time += time_step(rest[0]);
    const std::size_t captured =
        std::min<std::size_t>(rpcrdma::wire::load_be16(rest.data() + 1), rest.size() - frame_header);
    frame.octets = rest.subspan(frame_header, captured);
    frame.wire_length = static_cast<std::uint32_t>(captured) + rpcrdma::wire::load_be16(rest.data() + 3);
    trace.frame(frame);
    rest = rest.subspan(frame_header + captured);
  }
  trace.finish();
  require(trace.statistics().frames == frame.ref.number);

  const auto report = referee.finish(frame.ref);
  for (const auto& finding : report.findings) {
    for (const auto number : finding.frames) require(number >= 1 && number <= frame.ref.number);
    require(finding.occurrences >= 1 && !finding.message.empty());
  }
  for (const auto& connection : report.connections) require(connection.id != 0);
  return 0;
}
