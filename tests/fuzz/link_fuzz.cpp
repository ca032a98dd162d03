// SPDX-License-Identifier: GPL-2.0-or-later
// One frame through the link and network layers: one octet whose low half is the link type and whose high half times 16
// is how many octets the capture did not keep, then the octets that it kept.
#include "fuzz_input.hpp"
#include "link_types.hpp"
#include "trace/link/open_frame.hpp"

namespace {

using rpcrdma::fuzz::require;
namespace trace = rpcrdma::trace;
namespace wire = rpcrdma::wire;

/// `part` lies in the frame, and says what it was on the wire.
void check(wire::Bytes part, wire::Bytes frame, std::size_t wire_length) {
  require(part.size() <= wire_length);
  if (!part.empty()) {
    require(part.data() >= frame.data() && part.data() + part.size() <= frame.data() + frame.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  trace::Frame frame;
  frame.ref = {1, 1'700'000'000'000'000'000};
  frame.link = rpcrdma::fuzz::link_type(data[0] & 0x0FU);
  frame.octets = wire::Bytes(data + 1, size - 1);
  frame.wire_length = static_cast<std::uint32_t>(size - 1 + (data[0] & 0xF0U));

  trace::Opened opened;
  trace::open_frame(frame, opened);
  switch (opened.content) {
    case trace::Content::infiniband:
      require(opened.ib.ref.number == 1);
      require(opened.ib.wire_length >= 12);
      require(opened.ib.source.kind == opened.ib.destination.kind);
      require(!opened.ib.source.text().empty());
      check(opened.ib.network, frame.octets, frame.octets.size());
      check(opened.ib.octets, frame.octets, opened.ib.wire_length);
      break;
    case trace::Content::tcp:
      require(opened.tcp.ref.number == 1);
      require(opened.tcp.source.kind == opened.tcp.destination.kind);
      require(!opened.tcp.source.text().empty());
      check(opened.tcp.payload, frame.octets, opened.tcp.wire_length);
      break;
    case trace::Content::undelivered:
      require(opened.undelivered.ref.number == 1);
      require(opened.undelivered.source.kind == opened.undelivered.destination.kind);
      require(!opened.undelivered.destination.text().empty());
      break;
    case trace::Content::tunnel:
    case trace::Content::nothing:
    case trace::Content::unknown_link:
      break;
  }
  return 0;
}
